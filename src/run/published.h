/* Latencies that the article published for its two GPUs, of the TensorRT plugin path. Only
 * canonical's point count was published: the other configurations are our definitions. */
#ifndef BEV_PUBLISHED_H
#define BEV_PUBLISHED_H

#include "kernels/bevpool.h"

typedef struct {
    const char *gpu, *config; /* rows of gpus[] and presets[] */
    const char *column;       /* as the article calls the kernel: "V2+DO" */
    BevDtype dtype;
    double latency_us;
} Published;

extern const Published published[];
extern const int published_count;

/* The published column that a kernel on a GPU stands for, or NULL: "V3" is the form that the choice
 * takes there. */
const char *published_column(const char *kernel, const char *v3_choice);

/* The row, or NULL. */
const Published *published_find(const char *gpu, const char *config, const char *column,
                                BevDtype dtype);

#endif
