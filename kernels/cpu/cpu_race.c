/* SPDX-License-Identifier: MIT */
/* cpu_race: threads that add without asking each other.
 *
 * IDEA    A thread takes a point and adds it to the cell with a plain +=, as `race` does on a GPU.
 *         += is three steps: read the sum, add, write it back. Two threads that read the same old
 *         sum both add to it, and the second write wipes out the first. It is wrong, and shows why.
 * WHO     Four threads draw points from one list. They are simulated: a seeded schedule chooses the
 *         thread that takes the next step, so that every run loses the same updates, also on one
 *         core, and the program itself has no data race. Here one of two updates is lost:
 *
 *             thread 0   reads 5                      writes 5 + 3
 *             thread 1            reads 5                            writes 5 + 4
 *             sum        5        5                   8              9      (12 was wanted)
 * MEMORY  Points are sorted by cell, so threads that draw neighbouring points want the same sum.
 *         Each tile of 8 channels has its own schedule and grid of FP32 sums, as blocks of a GPU
 *         have. The machine's real threads own whole tiles and share nothing.
 * COST    Tiles n = ceil(C / 8): 12 P n bytes of indices, n P depths, P C features, 8 P C bytes of
 *         sums read and written, 8 cells C bytes to clear and encode them. No atomics.
 * LIMITS  WRONG ON PURPOSE wherever a cell has more than one point; the gates must fail it. A cell
 *         with one point is right. The order of real threads is less random than this schedule: a
 *         GPU loses other updates, and in each run others.
 * TRY     THREADS = 1: nothing is lost. THREADS = 32: of a long interval little remains. Look at
 *         the error view: cells with many points of large depth, 6 to 10 m off, lose most. The
 *         longest intervals have depths of 0, and nothing to lose. */
#include "kernels/cpu/cpu.h"

#include <string.h>

enum { TILE = 8, THREADS = 4 };

/* Returns the workspace bytes; the kernel's own floats are its sums (real thread, cell, TILE). */
static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    int threads = cpu_plan_threads(plan);
    return cpu_stage_bytes(problem, threads, threads * problem->out.rows * TILE);
}

/* A simulated thread. Between its read and its write it holds a point and the sum that it read. */
typedef struct {
    int64_t point; /* -1: no point */
    float sum[TILE];
} Thread;

/* Draws the thread of the next step, by the high bits of a linear congruential generator. */
static int next_thread(uint64_t *schedule) {
    *schedule = *schedule * 6364136223846793005u + 1442695040888963407u;
    return (int)((*schedule >> 33) % THREADS);
}

/* The tile of channels that is being summed. */
typedef struct {
    const BevMap *map;
    const CpuStage *stage;
    int64_t first, width; /* channels */
    float *sums;          /* (cell, TILE) */
} Tile;

/* Does the second half of +=: adds the thread's point to the sum that the thread has read, and
 * stores the new sum. */
static void write_back(const Tile *tile, Thread *thread) {
    const BevMap *map = tile->map;
    int64_t t = thread->point;
    float depth = cpu_depth(tile->stage, map, t);
    const float *feat =
        tile->stage->feat + map->ranks_feat[t] * tile->stage->channels + tile->first;
    cpu_add_scaled(thread->sum, feat, depth, tile->width);
    memcpy(tile->sums + (int64_t)map->ranks_bev[t] * TILE, thread->sum, sizeof thread->sum);
    thread->point = -1;
}

/* Adds all points of a tile in the order of the schedule. A step is a read or a write. */
static void race_points(const Tile *tile) {
    Thread threads[THREADS];
    uint64_t schedule = (uint64_t)tile->first;
    int64_t next = 0, left = tile->map->points;
    for (int i = 0; i < THREADS; i++)
        threads[i].point = -1;
    while (left > 0) {
        Thread *thread = &threads[next_thread(&schedule)];
        if (thread->point >= 0) {
            write_back(tile, thread);
            left--;
        } else if (next < tile->map->points) {
            thread->point = next++;
            memcpy(thread->sum, tile->sums + (int64_t)tile->map->ranks_bev[thread->point] * TILE,
                   sizeof thread->sum);
        }
    }
}

static void pool_tile(const BevProblem *problem, const CpuStage *stage, int64_t first,
                      float *sums) {
    int64_t left = stage->channels - first, cells = problem->out.rows;
    const Tile tile = {&problem->map, stage, first, left < TILE ? left : TILE, sums};
    memset(sums, 0, (size_t)cells * TILE * sizeof *sums);
    race_points(&tile);
    for (int64_t cell = 0; cell < cells; cell++)
        cpu_store_sums(problem, cell, first, tile.width, sums + cell * TILE);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    const CpuStage laid_out = cpu_stage(problem, cpu_plan_threads(plan)), *stage = &laid_out;
    int64_t cells = problem->out.rows;
#pragma omp parallel num_threads(stage->threads)
    {
        cpu_stage_fill(stage, problem);
        float *sums = stage->own_sums + cpu_thread() * cells * TILE;
#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < stage->channels; first += TILE)
            pool_tile(problem, stage, first, sums);
    }
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    return cpu_passes_traffic(problem, TILE, BEV_SUMS_PLAIN);
}

/* clang-format off */
const BevKernel kernel_cpu_race = {
    .name = "cpu_race", .title = "RACE",
    .idea = "Four simulated threads, plain +=: loses updates, on purpose, the same in every run.",
    .counterpart = "race", .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .wrong_on_purpose = true, .prepare = cpu_prepare_threads,
    .release = cpu_release, .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
