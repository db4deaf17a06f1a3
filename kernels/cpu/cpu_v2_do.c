/* SPDX-License-Identifier: MIT */
/* cpu_v2_do: V2 with the depth loop outside, as in CUDA-BEVFusion.
 *
 * IDEA    Swap the loops: go through an interval's points once and add all C channels of each. The
 *         indices shrink with it. A record {start, end, cell} replaces three arrays, and the
 *         camera and the pixel are decoded from ranks_depth while running.
 * WHO     A thread owns an interval: all channels of one cell.
 *
 *             record 0 {start, end, cell}   for each point:  depth, then channels 0 1 2 ... C-1
 *             record 1 {start, end, cell}   for each point:  depth, then channels 0 1 2 ... C-1
 * MEMORY  A feature row is read whole, C values side by side; the sums stay in the first cache. The
 *         grid is still cleared first: cells with points are written twice.
 * COST    4 P bytes of ranks_depth and 12 bytes an interval; P depths, P C features; cells C
 *         outputs for the clearing and intervals C for the sums. One integer division and one
 *         remainder a point, by numbers the compiler does not know. No atomics.
 * LIMITS  Only maps in which the feature's number follows from the depth's: ranks_feat = camera *
 *         h * w + pixel. `prepare` refuses others. 12 bytes are no size a vector load likes.
 * TRY     Replace the division by ranks_feat[t]: is a division dearer than 4 bytes? */
#include "kernels/cpu/cpu.h"

typedef struct {
    int32_t start, end, cell;
} Record;

struct BevPlan {
    CpuPlan base;
    Record *records; /* one of each interval */
};

/* Returns the number of the feature (camera, h, w) that goes with a depth (camera, depth, h, w). */
CPU_INLINE int32_t feat_rank(int32_t rank_depth, int32_t bins_by_pixels, int32_t pixels) {
    return rank_depth / bins_by_pixels * pixels + rank_depth % pixels;
}

static bool check_ranks(const BevProblem *problem, Err *err) {
    const BevMap *map = &problem->map;
    int32_t pixels = (int32_t)(problem->shape.feat_h * problem->shape.feat_w);
    int32_t bins_by_pixels = (int32_t)problem->shape.depth_bins * pixels;
    for (int64_t t = 0; t < map->points; t++) {
        int32_t want = feat_rank(map->ranks_depth[t], bins_by_pixels, pixels);
        if (map->ranks_feat[t] != want)
            return err_set(err, ERR_USAGE, "cpu_v2_do", "use a kernel that reads ranks_feat",
                           "ranks_feat[%lld] is %d, but ranks_depth says %d", (long long)t,
                           map->ranks_feat[t], want);
    }
    return true;
}

static bool fill_records(BevPlan *plan, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    plan->records = cpu_take(&plan->base.arrays, map->intervals, sizeof *plan->records);
    for (int64_t i = 0; plan->records && i < map->intervals; i++) {
        int32_t start = map->interval_starts[i], end = start + map->interval_lengths[i];
        plan->records[i] = (Record){start, end, map->ranks_bev[start]};
    }
    return plan->records != NULL;
}

static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return check_ranks(problem, err) &&
           cpu_prepare(problem, plan, sizeof **plan, fill_records, "cpu_v2_do", err);
}

CPU_CLONES
static void pool_record(const BevProblem *problem, const CpuStage *stage, Record record,
                        float *sums) {
    int32_t pixels = (int32_t)(problem->shape.feat_h * problem->shape.feat_w);
    int32_t bins_by_pixels = (int32_t)problem->shape.depth_bins * pixels;
    for (int64_t c = 0; c < stage->channels; c++)
        sums[c] = 0;
    for (int32_t t = record.start; t < record.end; t++) {
        int32_t rank_depth = problem->map.ranks_depth[t];
        float depth = stage->depth[rank_depth];
        if (problem->map.weights)
            depth *= problem->map.weights[t];
        int64_t row = feat_rank(rank_depth, bins_by_pixels, pixels);
        cpu_add_scaled(sums, stage->feat + row * stage->channels, depth, stage->channels);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const CpuStage laid_out = cpu_stage(problem, plan->base.threads), *stage = &laid_out;
#pragma omp parallel num_threads(stage->threads)
    {
        float *sums = cpu_sums(stage);
        cpu_stage_fill(stage, problem);
        cpu_clear(stage, &problem->out);
#pragma omp for schedule(dynamic, CPU_CHUNK)
        for (int64_t i = 0; i < problem->map.intervals; i++) {
            pool_record(problem, stage, plan->records[i], sums);
            cpu_store_sums(problem, plan->records[i].cell, 0, stage->channels, sums);
        }
    }
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    int out_bits = bev_dtypes[problem->out.dtype].bits;
    double intervals = (double)problem->map.intervals;
    BevTraffic traffic = bev_gather_traffic(problem, out_bits);
    traffic.index = (double)problem->map.points * sizeof(int32_t) + intervals * sizeof(Record);
    traffic.out_write += intervals * (double)problem->shape.channels * out_bits / 8;
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_v2_do = {
    .name = "cpu_v2_do", .title = "V2+DO",
    .idea = "Depth loop outside: one pass over the points, packed records, camera by division.",
    .counterpart = "v2_do", .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = cpu_workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
