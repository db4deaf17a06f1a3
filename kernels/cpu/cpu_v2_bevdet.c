/* SPDX-License-Identifier: MIT */
/* cpu_v2_bevdet: a cell has an owner, as in BEVDet's V2; the channel tiles are outside.
 *
 * IDEA    Pool interval by interval instead of point by point: the sum of a cell stays in registers
 *         and the output is written once, not once a point. Channels are cut into tiles of 8,
 *         and the tile loop is the outermost: every tile reads the whole map again.
 * WHO     A thread owns (tile, interval): 8 channels of one cell.
 *
 *             for each tile of 8 channels        tile 0   tile 1   ...   tile 9   (C = 80)
 *                 for each interval                 |        |              |
 *                     for each point                t        t              t     same t, again
 * MEMORY  Feature rows as in `cpu_v2`. Outputs are written in pieces of 8 channels. The grid is
 *         cleared first, since cells without points have no interval.
 * COST    Tiles n = ceil(C / 8): 12 P n bytes of indices and n P depths instead of 12 P and P; P C
 *         features; cells C outputs for the clearing and intervals C for the sums. No atomics.
 * LIMITS  More channels, more passes over the same indices: C = 256 reads them 32 times. A long
 *         interval keeps its thread busy while others have finished.
 * TRY     Raise TILE to 16: by how much do the time and the traffic of `bench` fall? */
#include "kernels/cpu/cpu.h"

enum { TILE = 8 };

/* Sums channels [first, first + width) of the points [start, end). 1 <= width <= TILE. */
CPU_CLONES
static void pool_tile(const BevMap *map, const CpuStage *stage, int64_t start, int64_t end,
                      int64_t first, int64_t width, float sums[TILE]) {
    for (int64_t c = 0; c < TILE; c++)
        sums[c] = 0;
    for (int64_t t = start; t < end; t++) {
        const float *feat = stage->feat + map->ranks_feat[t] * stage->channels + first;
        cpu_add_scaled(sums, feat, cpu_depth(stage, map, t), width);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const BevMap *map = &problem->map;
    const CpuStage laid_out = cpu_stage(problem, cpu_plan_threads(plan)), *stage = &laid_out;
#pragma omp parallel num_threads(stage->threads)
    {
        cpu_stage_fill(stage, problem);
        cpu_clear(stage, &problem->out);
        for (int64_t first = 0; first < stage->channels; first += TILE) {
            int64_t left = stage->channels - first, width = left < TILE ? left : TILE;
#pragma omp for schedule(dynamic, CPU_CHUNK) nowait
            for (int64_t i = 0; i < map->intervals; i++) {
                int64_t start = map->interval_starts[i], end = start + map->interval_lengths[i];
                float sums[TILE];
                pool_tile(map, stage, start, end, first, width, sums);
                cpu_store_sums(problem, map->ranks_bev[start], first, width, sums);
            }
        }
    }
    return true;
}

/* The output is cleared, which cpu_passes_traffic counts, and then written once an interval. */
static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = cpu_passes_traffic(problem, TILE, BEV_SUMS_OWNED);
    traffic.out_write += (double)problem->map.intervals * (double)problem->shape.channels *
                         bev_dtypes[problem->out.dtype].bits / 8;
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_v2_bevdet = {
    .name = "cpu_v2_bevdet", .title = "V2 (BEVDet)",
    .idea = "A thread owns a cell, 8 channels a pass: no atomics, indices read again in each pass.",
    .counterpart = "v2_bevdet", .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES,
    .aligns = BEV_ALL_ALIGNS, .deterministic = true, .prepare = cpu_prepare_threads,
    .release = cpu_release, .workspace_bytes = cpu_workspace_bytes, .launch = launch,
    .bytes = bytes,
};
/* clang-format on */
