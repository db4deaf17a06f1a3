/* The model of a view transform: its launches one after the other, each with the four terms. The
 * launch that pools has the profile of its row. The others have no map, and all their warps do the
 * same: what they read and write is counted by formula, what they execute in their PTX for SM90
 * (branches that are not taken left out), loads that wait for each other in their source.
 * Predictions beside recorded figures: samples/experiments/view.md. */
#include "src/cachesim/predict.h"

#include <math.h>
#include <string.h>

enum { RESIDENT_WARPS = 64, LANES = 32 };

/* kernels/cuda/view_parts.cu. A thread of the softmax goes down its bins three times. The first
 * pass loads four bins at once; the division of the others has a branch between two loads. A
 * division is 9 instructions. */
static const double SOFTMAX_LOADS = 2.25, SOFTMAX_INSTRUCTIONS = 70; /* for each bin */
enum { SOFTMAX_WARPS = 8, SQUARE = 32, SQUARE_WARPS = 8, SQUARE_ROWS = 4 };
static const double SQUARE_INSTRUCTIONS = 200;

/* kernels/cuda/v4/front.cuh: blocks of depths with up to 64 bins, or in rounds of 128; blocks of
 * features. */
enum { FRONT_WARPS = 32, FRONT_COLUMNS = 8, FRONT_ROWS = 16, FRONT_BINS = 64, FRONT_PIXELS = 128 };
enum { FRONT_CHANNELS = 80 };
static const double FRONT_FEW = 470, FRONT_MANY = 700, FRONT_FEATURES = 260;

/* kernels/cuda/v4/spread.cuh */
enum { SPREAD_CELLS = 64, SPREAD_WARPS = 10, SPREAD_WORDS = 40 };
static const double SPREAD_INSTRUCTIONS = 300;

static double blocks_of(int64_t count, int each) {
    return ceil((double)count / each);
}

/* ---- kernel by kernel ------------------------------------------------------------------------ */

static ViewLaunch softmax(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    const double bins = (double)s->depth_bins, bytes = (double)bev_tensor_bytes(&problem->depth);
    ViewLaunch launch = {.name = "softmax", .read_bytes = 3 * bytes, .write_bytes = bytes};
    launch.resident = RESIDENT_WARPS / SOFTMAX_WARPS;
    launch.work[0].blocks = blocks_of(s->cameras * s->feat_h * s->feat_w, SOFTMAX_WARPS * LANES);
    launch.work[0].warps = SOFTMAX_WARPS;
    launch.work[0].instructions = SOFTMAX_INSTRUCTIONS * bins;
    launch.work[0].lines = 4 * bins;
    launch.work[0].loads = SOFTMAX_LOADS * bins;
    return launch;
}

/* (image, row, column) to (image, column, row). `strided`: neighbours of a row are far apart, and a
 * warp touches as many lines as it has lanes. */
static ViewLaunch transposition(const char *name, int64_t images, int64_t rows, int64_t columns,
                                double bytes, bool strided) {
    ViewLaunch launch = {.name = name, .read_bytes = bytes, .write_bytes = bytes};
    launch.resident = RESIDENT_WARPS / SQUARE_WARPS;
    launch.work[0].blocks = (double)images * blocks_of(rows, SQUARE) * blocks_of(columns, SQUARE);
    launch.work[0].warps = SQUARE_WARPS;
    launch.work[0].instructions = SQUARE_INSTRUCTIONS;
    launch.work[0].lines = SQUARE_ROWS * (strided ? LANES + 1 : 2);
    launch.work[0].loads = 1;
    return launch;
}

static ViewLaunch pooling(const BevKernel *pools) {
    return (ViewLaunch){.name = "pooling", .pools = pools};
}

static bool reads_strided(const BevProblem *problem) {
    return problem->view.feat.channel == 1;
}

static int parts(const BevKernel *pools, const BevProblem *problem, ViewLaunch *launches) {
    const BevShape *s = &problem->shape;
    const int64_t samples = problem->out_samples;
    int count = 0;
    launches[count++] = softmax(problem);
    launches[count++] =
        transposition("features", s->cameras, s->channels, s->feat_h * s->feat_w,
                      (double)bev_tensor_bytes(&problem->feat), reads_strided(problem));
    launches[count++] = pooling(pools);
    if (samples)
        launches[count++] = transposition("grid", samples, problem->out.rows / samples, s->channels,
                                          (double)bev_tensor_bytes(&problem->out), false);
    return count;
}

/* ---- fused ----------------------------------------------------------------------------------- */

static ViewLaunch front(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    const double depth = (double)bev_tensor_bytes(&problem->depth);
    const double feat = (double)bev_tensor_bytes(&problem->feat);
    const double rounds = ceil((double)s->depth_bins / (2 * FRONT_BINS));
    const bool few = s->depth_bins <= FRONT_BINS;
    ViewLaunch launch = {.name = "front", .resident = RESIDENT_WARPS / FRONT_WARPS};
    launch.read_bytes = depth * (rounds > 1 ? 3 : 1) + feat; /* further rounds load logits again */
    launch.write_bytes = depth + feat;
    launch.work[0].blocks =
        (double)s->cameras * blocks_of(s->feat_h, FRONT_ROWS) * blocks_of(s->feat_w, FRONT_COLUMNS);
    launch.work[0].warps = launch.work[1].warps = FRONT_WARPS;
    launch.work[0].instructions = rounds * (few ? FRONT_FEW : FRONT_MANY);
    launch.work[0].loads = rounds > 1 ? 3 * rounds : 1;
    launch.work[1].blocks = (double)s->cameras * blocks_of(s->feat_h * s->feat_w, FRONT_PIXELS) *
                            blocks_of(s->channels, FRONT_CHANNELS);
    launch.work[1].instructions = FRONT_FEATURES;
    launch.work[1].lines = (reads_strided(problem) ? LANES : 1) * FRONT_CHANNELS * FRONT_PIXELS /
                           (FRONT_WARPS * LANES);
    launch.work[1].loads = 2;
    return launch;
}

/* Reads rows of cells with points, writes all cells. */
static ViewLaunch spread(const BevProblem *problem) {
    const double bytes = (double)bev_tensor_bytes(&problem->out);
    const double rows = (double)problem->map.intervals / (double)problem->out.rows;
    const int channels = SPREAD_WORDS * 32 / bev_dtypes[problem->out.dtype].bits;
    ViewLaunch launch = {.name = "grid", .read_bytes = rows * bytes, .write_bytes = bytes};
    launch.resident = floor((double)RESIDENT_WARPS / SPREAD_WARPS);
    launch.work[0].blocks =
        blocks_of(problem->out.rows, SPREAD_CELLS) * blocks_of(problem->shape.channels, channels);
    launch.work[0].warps = SPREAD_WARPS;
    launch.work[0].instructions = SPREAD_INSTRUCTIONS;
    launch.work[0].loads = 1;
    return launch;
}

static int fused(const BevProblem *problem, ViewLaunch *launches) {
    int count = 0;
    launches[count++] = front(problem);
    launches[count++] = pooling(bev_kernel_find("v4"));
    if (problem->out_samples)
        launches[count++] = spread(problem);
    return count;
}

const BevKernel *view_pools(const BevKernel *kernel) {
    if (kernel->where != BEV_CUDA || kernel->stage != BEV_VIEW || kernel->direction != BEV_FORWARD)
        return NULL;
    return kernel->pools        ? bev_kernel_find(kernel->pools)
           : kernel->is_default ? bev_kernel_find("v4")
                                : NULL;
}

int view_launches(const BevKernel *kernel, const BevProblem *problem,
                  ViewLaunch launches[VIEW_LAUNCHES]) {
    const BevKernel *pools = view_pools(kernel);
    memset(launches, 0, VIEW_LAUNCHES * sizeof *launches);
    return !pools ? 0 : kernel->pools ? parts(pools, problem, launches) : fused(problem, launches);
}

/* ---- a launch on a GPU ----------------------------------------------------------------------- */

/* All arrays of the transform, each once, what it keeps in between too. */
static double working_bytes(const BevProblem *problem) {
    const double grids = problem->out_samples ? 2 : 1;
    return bev_footprint_total(bev_footprint(problem)) + (double)bev_tensor_bytes(&problem->depth) +
           (double)bev_tensor_bytes(&problem->feat) +
           (grids - 1) * (double)bev_tensor_bytes(&problem->out);
}

/* Of the busiest multiprocessor: what it issues, or the lines that its L1 takes. Blocks of the
 * first kind come first; those of the second fill its other places. */
static double issue_cycles(const ViewLaunch *launch, const Gpu *gpu) {
    double first = launch->work[0].blocks, second = launch->work[1].blocks;
    double places = ceil((first + second) / gpu->sms), instructions = 0, lines = 0;
    const double blocks[2] = {ceil(first / gpu->sms), places - ceil(first / gpu->sms)};
    for (int i = 0; i < 2; i++) {
        double warps = blocks[i] * launch->work[i].warps;
        instructions += warps * launch->work[i].instructions;
        lines += warps * launch->work[i].lines;
    }
    return fmax(instructions / (4 * BEV_ISSUE_SHARE), lines);
}

/* Of a thread, as often as its multiprocessor's places are filled. */
static double chain_cycles(const ViewLaunch *launch, const Gpu *gpu) {
    double longest = 0, blocks = launch->work[0].blocks + launch->work[1].blocks;
    for (int i = 0; i < 2; i++)
        longest = fmax(longest, launch->work[i].loads * predict_load_cycles(gpu) +
                                    launch->work[i].instructions * BEV_CHAIN_CYCLES);
    return longest * ceil(blocks / (gpu->sms * launch->resident));
}

Prediction predict_view_launch(const ViewLaunch *launch, const BevProblem *problem,
                               const Profile *profile, const Gpu *gpu) {
    if (launch->pools)
        return predict(profile, gpu, true);
    const double cycles_a_us = gpu_clock_ghz(gpu) * 1e3;
    /* The share of the arrays that the L2 does not hold comes from DRAM and goes there. */
    const double missed = fmax(0, 1 - gpu->l2_bytes / working_bytes(problem));
    Prediction p = {.hit_rate = 1 - missed, .launch_us = predict_launch_us};
    p.dram_read_bytes = missed * launch->read_bytes;
    p.dram_write_bytes = missed * launch->write_bytes;
    p.term_us[TERM_DRAM] =
        (p.dram_read_bytes + p.dram_write_bytes) / (predict_dram_gbps(gpu) * 1e3);
    p.term_us[TERM_L2] = launch->read_bytes / (predict_l2_gbps(gpu) * 1e3) +
                         predict_write_us(gpu, launch->write_bytes);
    p.term_us[TERM_ISSUE] = issue_cycles(launch, gpu) / cycles_a_us;
    p.term_us[TERM_CHAIN] = chain_cycles(launch, gpu) / cycles_a_us;
    predict_combine(&p);
    return p;
}

Prediction predict_view(const BevKernel *kernel, const BevProblem *problem, const Profile *profile,
                        const Gpu *gpu) {
    ViewLaunch launches[VIEW_LAUNCHES];
    Prediction all = {.hit_rate = NAN};
    int count = view_launches(kernel, problem, launches);
    for (int i = 0; i < count; i++) {
        Prediction one = predict_view_launch(&launches[i], problem, profile, gpu);
        all.dram_read_bytes += one.dram_read_bytes;
        all.dram_write_bytes += one.dram_write_bytes;
        for (int term = 0; term < TERM_COUNT; term++)
            all.term_us[term] += one.term_us[term];
        all.launch_us += one.launch_us;
        all.latency_us += one.latency_us;
    }
    all.binding = predict_binding(&all);
    return all;
}
