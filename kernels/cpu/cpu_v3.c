/* SPDX-License-Identifier: MIT */
/* cpu_v3: the loop order of BEVPoolV3.
 *
 * IDEA    Keep V2+DO's single pass and take the arithmetic out of it: five plain index arrays, each
 *         read in a straight line, so that nothing is divided; every depth is loaded once a
 *         point; every output row has one owner, which writes it once. With the indices of the
 *         next points at hand, four points are added in one sweep over the sums.
 * WHO     A thread owns a cell, with all channels of its interval. Cells without points have owners
 *         too, by a list that `prepare` makes, so that the grid is not cleared first.
 *
 *             interval_starts[i] -> t     ranks_depth[t]  ranks_feat[t]      t+1   t+2  ...
 *                                              |               |
 *                                           depth      channels 0 1 2 ... C-1
 * MEMORY  Indices stream in order, feature rows are read whole, the sums of C channels stay in the
 *         first cache until the row is written, and no output line is touched twice.
 * COST    12 P bytes of indices in the published count (ranks_bev is read once an interval only), P
 *         depths, P C features, cells C outputs. No atomics, no divisions.
 * LIMITS  One thread adds a whole interval: the longest one (real rigs: 30 times the median)
 *         bounds the time from below once there are more threads than work.
 * TRY     Set GROUP's sweep to one point: how much of the gain over V2+DO was the division? */
#include "kernels/cpu/cpu.h"
#include "kernels/regime.h"

enum { GROUP = 4 }; /* points that are added in one sweep */

struct BevPlan {
    CpuPlan base;
    int32_t *interval_of; /* [cells]: number of the cell's interval; -1: it has no point */
};

static bool build_plan(BevPlan *plan, const BevProblem *problem) {
    int64_t cells = problem->shape.nx * problem->shape.ny;
    plan->interval_of = cpu_keep(&plan->base.arrays, bev_intervals_of_cells(&problem->map, cells));
    return plan->interval_of;
}
CPU_PREPARE(build_plan, "cpu_v3")

/* Returns the feature row of point t. */
CPU_INLINE const float *feat_of(const BevMap *map, const CpuStage *stage, int64_t t) {
    return stage->feat + map->ranks_feat[t] * stage->channels;
}

/* Adds points [t, t + GROUP) to `sums`. Each sum is loaded and stored once for all of them; the
 * order of additions stays that of the points. */
CPU_INLINE void add_group(const BevMap *map, const CpuStage *stage, int64_t t,
                          float *restrict sums) {
    const float *restrict f0 = feat_of(map, stage, t), *restrict f1 = feat_of(map, stage, t + 1);
    const float *restrict f2 = feat_of(map, stage, t + 2), *restrict f3 =
                                                               feat_of(map, stage, t + 3);
    float d0 = cpu_depth(stage, map, t), d1 = cpu_depth(stage, map, t + 1);
    float d2 = cpu_depth(stage, map, t + 2), d3 = cpu_depth(stage, map, t + 3);
    CPU_SIMD
    for (int64_t c = 0; c < stage->channels; c++)
        sums[c] = sums[c] + d0 * f0[c] + d1 * f1[c] + d2 * f2[c] + d3 * f3[c];
}

CPU_CLONES
static void pool_interval(const BevMap *map, const CpuStage *stage, int64_t start, int64_t end,
                          float *sums) {
    for (int64_t c = 0; c < stage->channels; c++)
        sums[c] = 0;
    int64_t t = start;
    for (; t + GROUP <= end; t += GROUP)
        add_group(map, stage, t, sums);
    for (; t < end; t++)
        cpu_add_scaled(sums, feat_of(map, stage, t), cpu_depth(stage, map, t), stage->channels);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const BevMap *map = &problem->map;
    const CpuStage laid_out = cpu_stage(problem, plan->base.threads), *stage = &laid_out;
#pragma omp parallel num_threads(stage->threads)
    {
        float *sums = cpu_sums(stage);
        cpu_stage_fill(stage, problem);
#pragma omp for schedule(dynamic, CPU_CHUNK)
        for (int64_t cell = 0; cell < problem->out.rows; cell++) {
            int64_t i = plan->interval_of[cell];
            if (i < 0) {
                cpu_clear_cell(&problem->out, cell);
                continue;
            }
            int64_t start = map->interval_starts[i], end = start + map->interval_lengths[i];
            pool_interval(map, stage, start, end, sums);
            cpu_store_sums(problem, cell, 0, stage->channels, sums);
        }
    }
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    return bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
}

/* clang-format off */
const BevKernel kernel_cpu_v3 = {
    .name = "cpu_v3", .title = "V3",
    .idea = "Five index arrays, no division, each cell written once.",
    .counterpart = "v3", .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = cpu_workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
