/* SPDX-License-Identifier: MIT */
/* cpu_atomic: threads that add one after the other.
 *
 * IDEA    As `cpu_race`, but read, add and write are one step that nothing can come between, so no
 *         update is lost. Right at last, and slow: every addition pays for it.
 * WHO     A real thread owns a run of points. Nobody owns a cell: where two runs meet in one, both
 *         threads add to it.
 *
 *             points    t0 t1 t2 t3 | t4 t5 t6 t7        cells   a a a b | b b c c
 *             thread    0  0  0  0  | 1  1  1  1         both threads add to b
 * MEMORY  A grid of FP32 sums in memory, read and written for every product; features and indices
 *         once a point. A core must have the sum's cache line to itself for each addition.
 * COST    P C atomics, as a compare-and-swap loop: processors have no atomic addition of floats.
 *         12 P bytes of indices, P C features, 8 P C bytes of sums, and 8 cells C bytes to clear
 *         and encode them.
 * LIMITS  Where threads share a cell the order of its additions is open, and FP32 addition is not
 *         associative: two runs may differ in the last bits.
 * TRY     schedule(static, 1) deals neighbouring points to different threads, as a GPU does: now
 *         threads meet in almost every cell, and wait. */
#include "kernels/cpu/cpu.h"

/* Adds the calling thread's run of points. Every thread of the team calls this function. */
static void add_points(const CpuStage *stage, const BevMap *map) {
#pragma omp for schedule(static)
    for (int64_t t = 0; t < map->points; t++)
        cpu_sums_add(stage, map, t, 0, stage->channels);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    return cpu_sums_launch(problem, plan, add_points);
}

static BevTraffic bytes(const BevProblem *problem) {
    return cpu_passes_traffic(problem, problem->shape.channels, BEV_SUMS_ATOMIC);
}

/* clang-format off */
const BevKernel kernel_cpu_atomic = {
    .name = "cpu_atomic", .title = "ATOMIC",
    .idea = "As RACE, but an addition is one step: nothing is lost, and every addition waits.",
    .counterpart = "atomic", .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .prepare = cpu_prepare_threads, .release = cpu_release, .workspace_bytes = cpu_sums_bytes,
    .launch = launch, .bytes = bytes,
};
/* clang-format on */
