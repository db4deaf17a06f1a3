/* cpu_atomic: threads that add one after the other.
 *
 * IDEA    As `cpu_race`, but read, add and write are one step that nothing can come between, so no
 *         update is lost. Right at last, and slow: every addition pays for it.
 *
 * WHO     A real thread owns a run of points. Nobody owns a cell: where two runs meet in one, both
 *         threads add to it.
 *
 *             points    t0 t1 t2 t3 | t4 t5 t6 t7        cells   a a a b | b b c c
 *             thread    0  0  0  0  | 1  1  1  1         both threads add to b
 *
 * MEMORY  A grid of FP32 sums in memory, read and written for every product; features and indices
 *         once a point. A core must have the sum's cache line to itself for each addition.
 *
 * COST    P C atomics, as a compare-and-swap loop: processors have no atomic addition of floats.
 *         12 P bytes of indices, P C features, 8 P C bytes of sums, and 8 cells C bytes to clear
 *         and encode them.
 *
 * LIMITS  Where threads share a cell the order of its additions is open, and FP32 addition is not
 *         associative: two runs may differ in the last bits.
 *
 * TRY     schedule(static, 1) deals neighbouring points to different threads, as a GPU does: now
 *         threads meet in almost every cell, and wait. */
#include "kernels/cpu/cpu.h"

struct BevPlan {
    int threads;
};

static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    (void)problem;
    return cpu_plan_new(plan, sizeof **plan, "cpu_atomic", err);
}

/* Returns the workspace bytes; the kernel's own floats are its sums (cell, c). */
static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    return cpu_stage_bytes(problem, plan->threads, problem->out.rows * problem->out.row_len);
}

static void add_point(const BevMap *map, const CpuStage *stage, int64_t t) {
    int64_t channels = stage->channels;
    float depth = stage->depth[map->ranks_depth[t]];
    if (map->weights)
        depth *= map->weights[t];
    const float *feat = stage->feat + map->ranks_feat[t] * channels;
    float *sums = stage->own_sums + map->ranks_bev[t] * channels;
    for (int64_t c = 0; c < channels; c++) {
        float term = depth * feat[c];
#pragma omp atomic update
        sums[c] += term;
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const CpuStage laid_out = cpu_stage(problem, plan->threads), *stage = &laid_out;
    int64_t channels = stage->channels, cells = problem->out.rows;
#pragma omp parallel num_threads(stage->threads)
    {
        cpu_stage_fill(stage, problem);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < cells * channels; i++)
            stage->own_sums[i] = 0;
#pragma omp for schedule(static)
        for (int64_t t = 0; t < problem->map.points; t++)
            add_point(&problem->map, stage, t);
#pragma omp for schedule(static)
        for (int64_t cell = 0; cell < cells; cell++)
            cpu_store_sums(problem, cell, 0, channels, stage->own_sums + cell * channels);
    }
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    double terms = (double)problem->map.points * (double)problem->shape.channels;
    double outputs = (double)problem->out.rows * (double)problem->out.row_len;
    traffic.out_read = (terms + outputs) * sizeof(float);
    traffic.out_write += (terms + outputs) * sizeof(float);
    traffic.atomics = terms;
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_atomic = {
    .name = "cpu_atomic", .title = "ATOMIC",
    .idea = "As RACE, but an addition is one step: nothing is lost, and every addition waits.",
    .counterpart = "atomic", .where = BEV_CPU, .dtypes = CPU_ALL_DTYPES, .aligns = CPU_ALL_ALIGNS,
    .prepare = prepare, .release = cpu_plan_free, .workspace_bytes = workspace_bytes,
    .launch = launch, .bytes = bytes,
};
/* clang-format on */
