/* SPDX-License-Identifier: MIT */
/* A kernel with a number format and an align, and the checks which of them fit together. */
#pragma once

#include "kernels/bevpool.h"
#include "src/base/units.h"

typedef struct {
    const BevKernel *kernel;
    BevDtype dtype;
    BevAlign align;
} KernelConfig;

/* A set of kernels: bit i stands for row i of bev_kernels[]. */
typedef uint64_t KernelSet;

/* Returns the bit of a row. 0: the kernel is no row of bev_kernels[]. */
KernelSet kernel_bit(const BevKernel *kernel);

bool kernel_config_equal(const KernelConfig *a, const KernelConfig *b);

/* Writes the name that titles show: "V3 FP16 nearest", "V4 FP16 nearest backward". */
ShortText kernel_config_label(const KernelConfig *config);

/* Writes the name of the launch's NVTX range: "v4.canonical.fp16.nearest". Blanks become "_", and
 * so do signs with a meaning in a shell or in Nsight Compute's filters. */
void kernel_config_range(const KernelConfig *config, const char *scene, char *text, size_t size);

/* Lists the kernels that this build can launch, in the order of bev_kernels[]. Returns the number
 * of listed kernels, at most `max`. */
int kernels_of(BevWhere where, BevDirection direction, const BevKernel **kernels, int max);

/* Finds the row that a user means by `name`, on that backend and in that direction. `name` may be
 * the row's own name ("cpu_v3"), the other backend's ("v3"), or a title ("V2+DO"). The name of a
 * row in the other direction with the same title also works. Upper and lower case are alike. NULL:
 * there is no such row. */
const BevKernel *kernel_named(BevWhere where, BevDirection direction, const char *name);

/* Returns the name that both backends accept: "v4" for "cpu_v4". */
const char *kernel_word(const BevKernel *kernel);

/* Returns the row of backend `where` that corresponds to `kernel`. Without such a row, returns that
 * backend's default for the same direction. */
const BevKernel *kernel_counterpart(const BevKernel *kernel, BevWhere where);

/* Returns the corresponding row of the same backend in the other direction. The first choice has
 * the same title, the second is the default, the last is any row. NULL: this build has none. */
const BevKernel *kernel_in_direction(const BevKernel *kernel, BevDirection direction);

/* Returns the end of a title that names the direction: " backward"; "" for a forward kernel. */
const char *kernel_way(const BevKernel *kernel);

/* Returns the backend's default baseline, with the format and align of `config`. */
KernelConfig kernel_config_baseline(const KernelConfig *config);

/* Changes format and align where the kernel or the scene does not support them. `aligns`, not 0, is
 * the bit mask of the scene's aligns. A kernel without any of these aligns is replaced, too. Each
 * change is appended to the text `said` ("; V4 has no NVFP4: FP8"); NULL: nothing is written. */
void kernel_config_make_valid(KernelConfig *config, unsigned aligns, char *said, size_t size);
