/* SPDX-License-Identifier: MIT */
/* cpu_v2: channel tiles outside, atomics inside, as NVIDIA's article has V2.
 *
 * IDEA    As `cpu_atomic`, but the channels are cut into tiles of 8, and the tile loop is the
 *         outermost: each tile goes through all points again, and reads the indices again.
 * WHO     A thread owns a run of points in each tile. Nobody owns a cell:
 *
 *             for each tile of 8 channels        tile 0   tile 1   ...   tile 9   (C = 80)
 *                 for each point                    t        t              t     same t, again
 * MEMORY  Of a feature row of C values a tile uses 8; by the time the next tile wants the rest, the
 *         cache may have forgotten it. Sums as in `cpu_atomic`: FP32, a cache line for each tile.
 * COST    Tiles n = ceil(C / 8): 12 P n bytes of indices and n P depths instead of 12 P and P. P C
 *         atomics and features, sums as in `cpu_atomic`.
 * LIMITS  More channels, more passes over the same indices. Two runs may differ in the last bits.
 * TRY     Raise TILE to 80: how much of the time was indices, and how much was atomics? */
#include "kernels/cpu/cpu.h"

enum { TILE = 8 };

/* Each thread of the team calls this function, and adds its run of points in each tile. */
static void add_points(const CpuStage *stage, const BevMap *map) {
    for (int64_t first = 0; first < stage->channels; first += TILE) {
        int64_t left = stage->channels - first;
#pragma omp for schedule(static) nowait
        for (int64_t t = 0; t < map->points; t++)
            cpu_sums_add(stage, map, t, first, left < TILE ? left : TILE);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    return cpu_sums_launch(problem, plan, add_points);
}

static BevTraffic bytes(const BevProblem *problem) {
    return cpu_passes_traffic(problem, TILE, BEV_SUMS_ATOMIC);
}

/* clang-format off */
const BevKernel kernel_cpu_v2 = {
    .name = "cpu_v2", .title = "V2",
    .idea = "The article's: each tile of 8 channels is a pass over all points, by atomics.",
    .counterpart = "v2", .where = BEV_CPU, .is_baseline = true, .dtypes = BEV_ALL_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .prepare = cpu_prepare_threads, .release = cpu_release,
    .workspace_bytes = cpu_sums_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
