/* A kernel with a number format and an align, and which of them fit together. */
#ifndef BEV_KERNEL_CONFIG_H
#define BEV_KERNEL_CONFIG_H

#include "kernels/bevpool.h"

typedef struct {
    const BevKernel *kernel;
    BevDtype dtype;
    BevAlign align;
} KernelConfig;

bool kernel_config_equal(const KernelConfig *a, const KernelConfig *b);

/* "V3 FP16 nearest", as titles name them. */
void kernel_config_label(const KernelConfig *config, char *text, size_t size);

/* Lists at most `max` kernels of a backend in lesson order. Returns their number. */
int kernels_of(BevWhere where, const BevKernel **kernels, int max);

/* Finds a kernel of that backend by its name ("cpu_v3"), its name without the backend ("v3") or its
 * title ("V2+DO"), in upper or lower case. NULL when there is none. */
const BevKernel *kernel_named(BevWhere where, const char *name);

/* The same kernel on the other backend; else that backend's V3; else its last kernel. */
const BevKernel *kernel_twin(const BevKernel *kernel, BevWhere where);

/* The default baseline: kernel V2 of the same backend, with the same format and align. */
KernelConfig kernel_config_baseline(const KernelConfig *config);

/* Changes format and align where the kernel or the scene (`aligns`, a bit mask) does not support
 * them. Appends each change to the text `said` ("; V4 has no NVFP4: FP8"). */
void kernel_config_settle(KernelConfig *config, unsigned aligns, char *said, size_t size);

#endif
