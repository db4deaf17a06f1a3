/* Latencies that the article published for its two GPUs, of the TensorRT plugin path. Only
 * canonical's point count was published: the other configurations are our definitions. */
#ifndef BEV_PUBLISHED_H
#define BEV_PUBLISHED_H

#include "kernels/bevpool.h"

typedef struct {
    const char *gpu, *config; /* rows of gpus[] and configs[] */
    const char *column;       /* as the article calls the kernel: "V2+DO" */
    BevDtype dtype;
    double latency_us;
} Published;

extern const Published published[];
extern const int published_count;

/* The published column that a row stands for, or NULL. `v3_choice` is the form that V3 takes on that
 * GPU (NULL: unknown): it stands for V3's column. */
const char *published_column(const BevKernel *kernel, const BevKernel *v3_choice);

/* The column that the model's chain is calibrated by: the kernel that waits for little else. */
extern const char published_calibrated[];

/* The row, or NULL. */
const Published *published_find(const char *gpu, const char *config, const char *column,
                                BevDtype dtype);

#endif
