/* A kernel with a number format and an align, and which of them fit together. */
#pragma once

#include "kernels/bevpool.h"

typedef struct {
    const BevKernel *kernel;
    BevDtype dtype;
    BevAlign align;
} KernelConfig;

/* Rows of bev_kernels[] as bits by their position. */
typedef uint64_t KernelSet;

/* The bit of a row; 0: no row of bev_kernels[]. */
KernelSet kernel_bit(const BevKernel *kernel);

bool kernel_config_equal(const KernelConfig *a, const KernelConfig *b);

/* "V3 FP16 nearest", "V4 FP16 nearest backward", as titles name them. */
void kernel_config_label(const KernelConfig *config, char *text, size_t size);

/* "v4.canonical.fp16.nearest", the NVTX range of a launch. Blanks, and signs that a shell or Nsight
 * Compute's filters read as their own, are _. */
void kernel_config_range(const KernelConfig *config, const char *scene, char *text, size_t size);

/* The rows of a backend and a direction that this build can launch, in reading order. Returns their
 * number. */
int kernels_of(BevWhere where, BevDirection direction, const BevKernel **kernels, int max);

/* The row that a person means by `name` on that backend, in that direction: its name ("cpu_v3"),
 * the name of its twin ("v3"), its title ("V2+DO") or the name of a row of that title in the other
 * direction, in any case. NULL: none. */
const BevKernel *kernel_named(BevWhere where, BevDirection direction, const char *name);

/* The name that both backends take: "v4" of "cpu_v4". */
const char *kernel_word(const BevKernel *kernel);

/* The row of that backend that does the same as the named one; else that backend's default of the
 * direction. */
const BevKernel *kernel_twin(const BevKernel *kernel, BevWhere where);

/* The row of the same backend in the other direction: of the same title, else the default, else the
 * first. NULL: this build has none. */
const BevKernel *kernel_in_direction(const BevKernel *kernel, BevDirection direction);

/* " backward", or "" for a forward kernel: what a title adds to its name. */
const char *kernel_way(const BevKernel *kernel);

/* The default baseline: that of the backend, at the same format and align. */
KernelConfig kernel_config_baseline(const KernelConfig *config);

/* Changes format and align where the kernel or the scene (`aligns`, a bit mask, not 0) does not
 * support them; changes the kernel where none of its aligns fits. Appends each change to the text
 * `said` ("; V4 has no NVFP4: FP8"); `said` NULL: silently. */
void kernel_config_make_valid(KernelConfig *config, unsigned aligns, char *said, size_t size);
