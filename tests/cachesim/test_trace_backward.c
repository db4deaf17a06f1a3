/* Replays of the way back: bytes by counting against bytes by formula, and small cases by hand. */
#include "tests/cachesim/trace_check.h"

static double grads_written(const TraceCounts *counts) {
    return counts->write[TRACE_GRAD_DEPTH].bytes + counts->write[TRACE_GRAD_FEAT].bytes;
}

/* How far an average may be from a count: places in a warp, ends of blocks, points of a
 * pixel, pixels without points. grad_v4's formula takes usual numbers of points a row and an entry.
 */
static double average(const BevKernel *kernel) {
    return kernel->access.owner == BEV_OWNS_COLUMN ? 0.4 : 0.06;
}

static void test_kernel(const char *scene, const BevKernel *kernel, const BevProblem *problem) {
    TraceCounts counts = count(kernel->name, problem);
    BevTraffic formula = bev_traffic(kernel, problem);
    double near = average(kernel), added = 4 * counts.atomics;
    const TraceCount *read = counts.read, *write = counts.write;
    /* Lanes of grad_v2 that ask for one element of grad_out do so once. */
    double merged = kernel->access.owner == BEV_OWNS_PIXEL ? 0.2 : near;
    double indices = read[TRACE_RANKS].bytes + read[TRACE_OWNERS].bytes;
    const Figure figures[] = {
        {"features", read[TRACE_FEAT].bytes, formula.feat, near},
        {"grad_out", read[TRACE_GRAD_OUT].bytes, formula.out_read, merged},
        {"depth", read[TRACE_DEPTH].bytes, formula.depth, near},
        {"weights", read[TRACE_WEIGHT].bytes, formula.weight, near},
        {"indices", indices, formula.index, near},
        {"atomics", counts.atomics, formula.atomics, near},
        {"sums of gradients", read[TRACE_SUMS].bytes + added, formula.grad_read, near},
        {"gradients", grads_written(&counts) + write[TRACE_SUMS].bytes, formula.grad_write, near},
    };
    test_figures(scene, kernel, problem->dtype, figures, sizeof figures / sizeof *figures);
}

static void test_formulas(const char *scene, BevDtype dtype, BevAlign align) {
    OpenProblem *opened = open_problem(scene, dtype, align, 0, BEV_BACKWARD);
    const BevKernel *kernel;
    int tested = 0;
    for (int i = 0; (kernel = next_traced(opened->view, &i)); tested++)
        test_kernel(scene, kernel, opened->view);
    tap_ok(tested == 5, "%d kernels go back", tested);
    close_problem(opened);
}

/* Two pixels side by side, two bins, three cells, eight channels of FP16: rows 16 bytes. Points in
 * the order of cells: pixel 0 bin 0, pixel 1 bin 0 (both in cell 1), pixel 0 bin 1 (cell 2). */
static SmallMap small = {{0, 1, 2}, {0, 1, 0}, {1, 1, 2}, {0, 2}, {2, 1}};

static void test_points(const BevProblem *half, const BevProblem *single) {
    TraceCounts atomic = count("grad_atomic", half), block = count("grad_block", half);
    tap_ok(atomic.steps == 1 && atomic.read[TRACE_RANKS].bytes == 3 * 12 &&
               atomic.read[TRACE_GRAD_OUT].bytes == 3 * 16 &&
               atomic.read[TRACE_FEAT].bytes == 3 * 16,
           "grad_atomic: a warp, three words and two rows a point");
    tap_ok(atomic.atomics == 3 * 9 && atomic.additions == 3 * 8 + 3,
           "and nine additions: a sector for each channel, one for the depth element");
    tap_ok(block.atomics == 3 + 2 * 8, "grad_block: one atomic a depth element, one row a pixel");
    tap_ok(block.read[TRACE_FEAT].bytes == 2 * 16 && block.read[TRACE_RANKS].bytes == 3 * 12,
           "features once a run, three words a point");
    tap_ok(block.write[TRACE_SUMS].bytes == (4 + 16) * 4 + 19 * 4 &&
               block.read[TRACE_SUMS].bytes == (4 + 16) * 4 && grads_written(&block) == 2 * 20,
           "sums are cleared, added to and encoded, every element");
    TraceCounts wide = count("grad_block", single);
    tap_ok(wide.read[TRACE_SUMS].bytes == 0 && grads_written(&wide) == (4 + 16) * 4 + 19 * 4,
           "in FP32 the gradients are the sums");
}

static void test_pixels(const BevProblem *half) {
    TraceCounts owner = count("grad_owner", half), lane = count("grad_v2", half);
    tap_ok(owner.steps == 3 && owner.longest == 2 && owner.atomics == 0,
           "grad_owner: a step a point, two for pixel 0");
    tap_ok(owner.read[TRACE_GRAD_OUT].bytes == 8 * 16 && owner.read[TRACE_GRAD_OUT].requests == 8,
           "four rows of grad_out a batch: the last point again");
    tap_ok(grads_written(&owner) == 2 * 20 && owner.write[TRACE_GRAD_DEPTH].requests == 2 &&
               owner.write[TRACE_GRAD_DEPTH].sectors == 2,
           "every element is written once, a pixel's bins together");
    tap_ok(lane.longest == 2 * 2 * 8 && lane.steps == 2 * 2 * 8,
           "grad_v2: one warp, two points and eight channels, twice");
    tap_ok(lane.read[TRACE_FEAT].bytes == 3 * 16 && lane.read[TRACE_DEPTH].bytes == 3 * 8 * 2,
           "features and depths for each point and channel");
    tap_ok(lane.read[TRACE_GRAD_OUT].bytes == 2 * 2 * 16,
           "the lanes share cell 1: one element of grad_out for both, twice");
    tap_ok(grads_written(&lane) == 2 * 20 + 3 * 2 + 16 * 2,
           "cleared, then written where points are");
}

static void test_none(BevProblem problem) {
    problem.map.points = problem.map.intervals = 0;
    TraceCounts owner = count("grad_v4", &problem), atomic = count("grad_atomic", &problem);
    tap_ok(owner.steps == 0 && grads_written(&owner) == 2 * 20,
           "no points: grad_v4 takes a warp a pixel, which writes zeros");
    tap_ok(atomic.steps == 0 && atomic.atomics == 0 && grads_written(&atomic) == 2 * 20,
           "grad_atomic: only the clear and the encoding");
}

TAP_SUITE(trace_backward) {
    BevProblem half = small_problem(BEV_BACKWARD, BEV_FP16, &small),
               single = small_problem(BEV_BACKWARD, BEV_FP32, &small);
    test_points(&half, &single);
    test_pixels(&half);
    test_none(half);
    test_formulas("small", BEV_FP16, BEV_NEAREST);
}

TAP_HARD_SUITE(trace_backward_scenes) {
    test_formulas("canonical", BEV_FP16, BEV_NEAREST);
    test_formulas("small", BEV_FP32, BEV_BILINEAR);
}
