/* THE table, in lesson order. A kernel is one file with one row, `kernel_<name>`, named here once.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "kernels/bevpool.h"

#include <string.h>

#define CPU_ROWS(ROW) ROW(reference) ROW(cpu_v2) ROW(cpu_v2_do) ROW(cpu_v3) ROW(cpu_v4)

#ifdef HAVE_CUDA
/* clang-format off */
#define CUDA_ROWS(ROW)                                                                             \
    ROW(race) ROW(atomic) ROW(block_atomic) ROW(bev_align)                                         \
    ROW(v2_chw) ROW(v2) ROW(v2_do)                                                                 \
    ROW(v3_small_l2) ROW(v3_large_l2) ROW(v3)                                                     \
    ROW(v4)
/* clang-format on */
#else
#define CUDA_ROWS(ROW)
#endif

#define DECLARE(name) extern const BevKernel kernel_##name;
#define ADDRESS(name) &kernel_##name,

CPU_ROWS(DECLARE)
CUDA_ROWS(DECLARE)

const BevKernel *const bev_kernels[] = {CPU_ROWS(ADDRESS) CUDA_ROWS(ADDRESS) NULL};

const BevKernel *bev_kernel_find(const char *name) {
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcmp(bev_kernels[i]->name, name))
            return bev_kernels[i];
    return NULL;
}
