/* SPDX-License-Identifier: MIT */
/* Replays of accesses: bytes by counting against bytes by formula, and toy traces by hand. */
#include "src/cachesim/trace_internal.h"
#include "tests/cachesim/trace_check.h"

static double written(const TraceCounts *counts) {
    return counts->write[TRACE_OUT].bytes + counts->write[TRACE_SUMS].bytes;
}

/* Averages over places in a warp and ends of blocks: 1 percent. Where no average is in it: exact.
 * V4's formula counts; test_traffic holds it to scenes of all kinds. */
static void test_formulas(const char *scene, const BevProblem *problem) {
    const BevKernel *kernel;
    for (int i = 0; (kernel = next_traced(problem, &i));) {
        TraceCounts counts = count(kernel->name, problem);
        BevTraffic formula = bev_traffic(kernel, problem);
        const TraceCount *read = counts.read;
        double near = 0.01, exact = kernel->access.owner == BEV_OWNS_SPLAT ? near : 1e-9;
        double depth = read[TRACE_DEPTH].bytes + counts.write[TRACE_DEPTH].bytes;
        const Figure figures[] = {
            {"features", read[TRACE_FEAT].bytes, formula.feat, exact},
            {"depth", depth, formula.depth, near},
            {"weights", read[TRACE_WEIGHT].bytes, formula.weight, near},
            {"ranks", read[TRACE_RANKS].bytes, bev_rank_bytes(kernel, problem), near},
            {"writes", written(&counts), formula.out_write, near},
            {"atomics", counts.atomics, formula.atomics, exact},
        };
        test_figures(scene, kernel, problem->dtype, figures, sizeof figures / sizeof *figures);
    }
}

static void test_published_index_traffic(const BevProblem *problem) {
    TraceCounts tiles = count("v2", problem), once = count("atomic", problem);
    double points = (double)problem->map.points;
    tap_ok(tiles.read[TRACE_RANKS].bytes == 120 * points &&
               lround(tiles.read[TRACE_RANKS].bytes / 1e5) == 251,
           "V2 (article), counted: ten passes over the ranks, 25.1 MB");
    tap_ok(bev_rank_bytes(bev_kernel_find("v2"), problem) == 120 * points,
           "and so says the kernel's formula");
    tap_ok(lround(12 * points / 1e4) == 251 &&
               once.read[TRACE_RANKS].bytes / points < 12 * 1.3 + 1e-9,
           "one pass is 2.51 MB");
    tap_ok(tiles.atomics == 80 * points && once.atomics == tiles.atomics,
           "and an addition for each point and channel");
    TraceCounts v2 = count("v2_bevdet", problem);
    tap_ok(v2.longest == 352 && once.longest == 1, "the longest chain is the longest interval");
}

static void test_coalescing(const BevProblem *problem) {
    TraceCounts last = count("v2_bevdet", problem), first = count("v2_chw", problem);
    double per_last = last.read[TRACE_FEAT].sectors / last.read[TRACE_FEAT].requests;
    double per_first = first.read[TRACE_FEAT].sectors / first.read[TRACE_FEAT].requests;
    tap_ok(per_last > 1.5 && per_last < 2.5, "channels last: two sectors a request, not %.2f",
           per_last);
    tap_ok(per_first > 20, "channels first: a sector a lane (%.1f)", per_first);
    TraceCounts large = count("v3_large_l2", problem);
    double cells = (double)(problem->shape.nx * problem->shape.ny * problem->shape.channels);
    tap_ok(written(&large) == 2 * cells, "V3 writes each output once");
    tap_ok(large.read[TRACE_FEAT].bytes == last.read[TRACE_FEAT].bytes,
           "both gather the same feature bytes");
    /* 25 cells of ten threads a block, three blocks on each multiprocessor at once. */
    double blocks = (double)(problem->shape.nx * problem->shape.ny) / 25;
    tap_ok((double)large.waves >= blocks / (3 * TRACE_MULTIPROCESSORS) &&
               large.rounds > large.longest && last.rounds >= last.longest,
           "blocks follow each other: %lld, %lld steps of them", (long long)large.waves,
           (long long)large.rounds);
}

/* Sectors that the multiprocessors read from L2 at canonical, FP16, nearest, counted on an H200
 * (samples/experiments/model.md); the encoding of sums not among them. */
static void test_counted(const BevProblem *problem) {
    static const struct {
        const char *kernel;
        double sectors;
    } counted[] = {
        {"race", 6555583},        {"block_atomic", 3556097},
        {"v2_chw", 7063653},      {"v2_bevdet", 1120071},
        {"v2_do", 867218},        {"v3_small_l2", 1056351},
        {"v3_large_l2", 1022873}, {"v4", 227596},
    };
    double sums = (double)(problem->shape.nx * problem->shape.ny * problem->shape.channels) / 8;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        TraceCounts counts = count(counted[i].kernel, problem);
        double read = counts.l2_reads - counts.atomics; /* here an atomic is a sector each */
        read -= bev_kernel_find(counted[i].kernel)->access.sums ? sums : 0;
        tap_ok(close_to(read, counted[i].sectors, 0.1), "%s: L2 reads within 10 %% of the counters",
               counted[i].kernel);
    }
}

/* Two pixels side by side, two bins, three cells, eight channels of FP16; three points in two
 * intervals: every sector can be named. */
static void test_by_hand(void) {
    int32_t depth[] = {0, 1, 2}, feat[] = {0, 0, 1}, cells[] = {1, 1, 2}, starts[] = {0, 2},
            lengths[] = {2, 1};
    BevProblem problem = {.shape = {1, 2, 1, 2, 8, 3, 1},
                          .dtype = BEV_FP16,
                          .map = {3, 2, depth, feat, cells, starts, lengths, NULL},
                          .depth = {.dtype = BEV_FP16, .rows = 1, .row_len = 4},
                          .feat = {.dtype = BEV_FP16, .rows = 2, .row_len = 8},
                          .out = {.dtype = BEV_FP16, .rows = 3, .row_len = 8}};
    TraceCounts counts = count("v3_large_l2", &problem);
    tap_ok(counts.steps == 2 && counts.longest == 2, "one warp, two steps");
    tap_ok(counts.busy_steps == 2 * TRACE_MULTIPROCESSORS, "all by one multiprocessor");
    tap_ok(counts.read[TRACE_RANKS].bytes == 3 * 8, "eight bytes of ranks a point");
    tap_ok(counts.read[TRACE_FEAT].bytes == 3 * 16 && counts.read[TRACE_FEAT].requests == 2,
           "sixteen feature bytes a point in one load");
    tap_ok(counts.read[TRACE_FEAT].sectors == 2, "rows 0 and 1 lie in one sector: one a request");
    tap_ok(counts.read[TRACE_OWNERS].bytes == 3 * 4 + 2 * 8, "every cell asks who owns it");
    tap_ok(counts.write[TRACE_OUT].bytes == 48 && counts.write[TRACE_OUT].sectors == 2,
           "48 bytes written, two sectors");
    TraceCounts atomic = count("block_atomic", &problem);
    tap_ok(atomic.atomics == 16, "one atomic a cell and channel");
    atomic = count("atomic", &problem);
    tap_ok(atomic.additions == 24 && atomic.busiest == SLICES * 24,
           "three rows of a sector in one slice: 24 additions, and as many as all slices could do");
    TraceCounts race = count("race", &problem);
    tap_ok(race.additions == 16 && race.busiest == SLICES * 16 * (1 + SLICE_WAIT),
           "plain ones merge where two points share a cell, and wait for each other in one line");
    problem.map.points = problem.map.intervals = 0;
    TraceCounts none = count("v2_do", &problem);
    tap_ok(none.steps == 0 && written(&none) == 48, "no points: only the clear");
}

TAP_SUITE(trace) {
    OpenProblem *half = open_problem("small", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    test_by_hand();
    test_coalescing(half->view);
    test_formulas("small", half->view);
    close_problem(half);
}

TAP_HARD_SUITE(trace_scenes) {
    OpenProblem *half = open_problem("canonical", BEV_FP16, BEV_NEAREST, 0, BEV_FORWARD);
    OpenProblem *single = open_problem("asymmetric", BEV_FP32, BEV_BILINEAR, 0, BEV_FORWARD);
    OpenProblem *four = open_problem("asymmetric", BEV_NVFP4, BEV_NEAREST, 0, BEV_FORWARD);
    test_published_index_traffic(half->view);
    test_coalescing(half->view);
    test_counted(half->view);
    test_formulas("canonical", half->view);
    test_formulas("asymmetric, bilinear", single->view);
    test_formulas("asymmetric", four->view);
    close_problem(half);
    close_problem(single);
    close_problem(four);
}
