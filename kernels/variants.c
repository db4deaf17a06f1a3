/* SPDX-License-Identifier: MIT */
/* THE table, in reading order. kernels/README.md says how to add a kernel, and
 * tests/house/test_add_kernel.sh follows it. No list elsewhere names all kernels: `--list`,
 * checkbev, bench, verify, regime, the live display, the help and the manual page read this
 * table. */
#include "kernels/bevpool.h"

#include <string.h>

/* clang-format off */
#define ROWS(ROW)                                                                                  \
    ROW(reference) ROW(cpu_race) ROW(cpu_atomic)                                                   \
    ROW(cpu_v2) ROW(cpu_v2_bevdet) ROW(cpu_v2_do) ROW(cpu_v3) ROW(cpu_v4)                          \
    ROW(race) ROW(atomic) ROW(block_atomic) ROW(bev_align)                                         \
    ROW(v2) ROW(v2_chw) ROW(v2_bevdet) ROW(v2_do)                                                  \
    ROW(v3_small_l2) ROW(v3_large_l2) ROW(v3) ROW(v3_compact) ROW(v4)                              \
    ROW(grad_reference) ROW(cpu_grad_owner) ROW(cpu_grad_v4)                                       \
    ROW(grad_atomic) ROW(grad_block) ROW(grad_v2_bevdet) ROW(grad_owner) ROW(grad_v4)              \
    ROW(view_reference) ROW(cpu_view_v2_bevdet) ROW(cpu_view_v4) ROW(cpu_view)                     \
    ROW(view_v2_bevdet) ROW(view_v4) ROW(view)                                                     \
    ROW(grad_view_reference) ROW(cpu_grad_view) ROW(grad_view)
/* clang-format on */

#define DECLARE(name) extern const BevKernel kernel_##name;
#define ADDRESS(name) &kernel_##name,

ROWS(DECLARE)

const BevKernel *const bev_kernels[] = {ROWS(ADDRESS) NULL};
_Static_assert(sizeof bev_kernels / sizeof *bev_kernels <= 64 + 1, "a KernelSet has 64 bits");

/* The rungs of the ladder, which screens, keys and charts show first. A row of the CPU stands on
 * the rung of its counterpart. */
static const BevKernel *const rungs[BEV_DIRECTION_COUNT][BEV_RUNGS] = {
    [BEV_FORWARD] = {&kernel_v2, &kernel_v2_do, &kernel_v3, &kernel_v4},
    [BEV_BACKWARD] = {&kernel_grad_atomic, &kernel_grad_v2_bevdet, &kernel_grad_owner,
                      &kernel_grad_v4},
};

int bev_ladder(BevWhere where, BevDirection direction, const BevKernel *ladder[BEV_RUNGS]) {
    int count = 0;
    for (int i = 0; i < BEV_RUNGS; i++)
        if ((ladder[count] = bev_counterpart(rungs[direction][i], where)))
            count++;
    return count;
}

const BevKernel *bev_kernel_find(const char *name) {
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcmp(bev_kernels[i]->name, name))
            return bev_kernels[i];
    return NULL;
}
