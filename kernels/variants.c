/* THE table, in lesson order. A rung is one file with one row, `<name>_variant`, named here once.
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

#define DECLARE(name) extern const BevVariant name##_variant;
#define ADDRESS(name) &name##_variant,

CPU_ROWS(DECLARE)
CUDA_ROWS(DECLARE)

const BevVariant *const bev_variants[] = {CPU_ROWS(ADDRESS) CUDA_ROWS(ADDRESS) NULL};

const BevVariant *bev_variant_find(const char *name) {
    for (int i = 0; bev_variants[i]; i++)
        if (!strcmp(bev_variants[i]->name, name))
            return bev_variants[i];
    return NULL;
}
