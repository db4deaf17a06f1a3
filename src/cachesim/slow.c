#include "src/cachesim/slow.h"

#include "src/base/random.h"

#include <math.h>
#include <string.h>

/* One block of 256 threads on a multiprocessor, each thread with one load of 16 bytes in flight.
 * Bytes in flight over the latency of L2 are its rate (Little's law); an H200's L2 gives
 * L2_BYTES a cycle to a multiprocessor (predict.c). */
static const double BLOCK_WARPS = 8, FLIGHT_BYTES = 8 * 32 * 16, L2_BYTES = 35.4;

/* A launch of V4 from the host, waited for, against one in a graph: 13.3 and 5.0 us as recorded on
 * an H200 (canonical, FP16). */
static const double SYNC_US = 8.2;

/* A map is sorted by cell: a radix sort in four passes reads and writes a key and a value of four
 * bytes each; with counting and writing the intervals these are so many launches. */
static const double MAP_BYTES = 4 * 2 * 8, MAP_LAUNCH_US = 0.6;
enum { MAP_LAUNCHES = 14 };

/* Two divisions of 64-bit integers by a number that the compiler does not know, for each point. The
 * lanes of a warp divide for different points. */
enum { DIVISION_INSTRUCTIONS = 2 * 70 };

/* A warp alone that goes through an interval: four points in flight, 16 instructions each. */
static const double ALONE_IN_FLIGHT = 4, ALONE_INSTRUCTIONS = 16;

/* What a fault may change, before and after the prediction. */
typedef struct {
    const MemoryModel *model;
    const PredictedKernel *kernel;
    const IntervalLengths *lengths;
    const Gpu *gpu;
    Profile profile;
    BevAccess form;
    L2Answer l2;
    const L2Answer *cold; /* of the GPU's own L2 */
} Case;

/* Each channel of a point stands in a sector of its own. */
static void channels_first(Case *c) {
    TraceCounts *counts = &c->profile.counts;
    double all = 0, bytes = bev_dtypes[c->profile.dtype].bits / 8.0;
    for (int i = 0; i < TRACE_ARRAY_COUNT; i++)
        all += counts->read[i].sectors;
    double use = c->kernel->sector_use > 0 ? c->kernel->sector_use : 1;
    double share = counts->read[TRACE_FEAT].sectors / all;
    double more = fmax(MODEL_SECTOR / bytes * use - 1, 0) * share;
    counts->l2_sectors += counts->l2_reads * more;
    counts->l2_reads += counts->l2_reads * more;
    counts->busy_lines += counts->busy_lines * more;
}

static void clear_apart(Case *c) {
    double bytes = c->kernel->requested.out_write;
    c->profile.clears = 1;
    c->profile.cleared_bytes = bytes;
    c->profile.counts.l2_sectors += bytes / MODEL_SECTOR;
}

static void divided_index(Case *c) {
    c->form.point_instructions += DIVISION_INSTRUCTIONS;
    if (c->profile.counts.step_instructions > 0)
        c->profile.counts.step_instructions += DIVISION_INSTRUCTIONS;
}

/* An L2 that was made smaller may miss more when warm than its GPU's own does when cold. */
static void cold_caches(Case *c) {
    if (c->cold->misses > c->l2.misses)
        c->l2 = *c->cold;
}

/* One warp goes through all points of the fullest cell. */
static void longest_unsplit(const Case *c, SlowView *view) {
    double cycles = BEV_L2_CYCLES / ALONE_IN_FLIGHT + BEV_CHAIN_CYCLES * ALONE_INSTRUCTIONS;
    double us = (double)c->lengths->longest * cycles / (gpu_clock_ghz(c->gpu) * 1e3);
    double *chain = &view->prediction.term_us[TERM_CHAIN];
    *chain = fmax(*chain, us);
}

static void one_block(const Case *c, SlowView *view) {
    (void)c;
    view->warps = (int)BLOCK_WARPS;
    view->prediction.term_us[TERM_L2] *= fmax(1, L2_BYTES * BEV_L2_CYCLES / FLIGHT_BYTES);
}

static void synchronises(const Case *c, SlowView *view) {
    (void)c;
    view->idle_us = SYNC_US;
}

static void map_each_frame(const Case *c, SlowView *view) {
    double bytes = MAP_BYTES * (double)c->model->points;
    view->launches += MAP_LAUNCHES;
    view->before_us += MAP_LAUNCHES * MAP_LAUNCH_US + bytes / (predict_l2_gbps(c->gpu) * 1e3);
}

static const struct {
    void (*before)(Case *c);                      /* changes what is predicted */
    void (*after)(const Case *c, SlowView *view); /* changes the prediction, or the frame */
} plants[SLOW_COUNT] = {{.before = channels_first}, {.before = clear_apart},
                        {.after = one_block},       {.after = synchronises},
                        {.after = map_each_frame},  {.before = cold_caches},
                        {.before = divided_index},  {.after = longest_unsplit}};

const SlowFault slow_faults[SLOW_COUNT] = {
    {"channels-first", "channels first", "many more L2 sectors for the same bytes",
     "The channels of a point lie far apart: each has a sector of 32 bytes of its own, of which 2 "
     "are used. Store channels last, or transpose once."},
    {"clear-apart", "a clear that is not fused", "one short launch before the kernel",
     "The output is set to 0 by a launch of its own, and written again by the kernel. Let the "
     "kernel "
     "write the empty cells."},
    {"one-block", "one block a multiprocessor", "few warps; the L2 term grows, its sectors do not",
     "Registers or shared memory leave room for one block. Too few loads are in flight to hide the "
     "latency of L2. Use smaller blocks, or fewer registers a thread."},
    {"synchronise", "a synchronise in the loop", "the terms are healthy, and the GPU idles",
     "The host waits for each frame before it launches the next one. Queue the frames in a stream, "
     "or launch a graph."},
    {"map-each-frame", "the map rebuilt each frame", "many launches before the kernel",
     "The map depends on the calibration alone, but is sorted again in every frame. Build it "
     "once."},
    {"cold-caches", "cold caches", "the DRAM term and the chain grow, L2 hits fall",
     "Nothing of the frame before is left in L2, as a benchmark that flushes it, or a large "
     "network "
     "in between, leaves it. Say which of the two you measure."},
    {"divided-index", "a divided index", "the issue term grows, bytes and sectors do not",
     "Cell and pixel are computed by two divisions of 64 bits for each point, 70 instructions "
     "each. "
     "Store what does not change, or divide 32 bits."},
    {"unsplit-interval", "an unsplit longest interval", "the chain term grows alone",
     "One warp goes through all points of the fullest cell, and all others wait for it. Split "
     "intervals, or share them among warps."},
};

int slow_find(const char *name) {
    for (int i = 0; i < SLOW_COUNT; i++)
        if (!strcmp(slow_faults[i].name, name))
            return i;
    return -1;
}

int slow_behind(int letter, uint64_t seed) {
    int order[SLOW_COUNT];
    for (int i = 0; i < SLOW_COUNT; i++)
        order[i] = i;
    for (int i = SLOW_COUNT - 1; i > 0; i--) {
        int other = (int)random_below(&seed, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order[letter];
}

const PredictedKernel *slow_kernel(const MemoryModel *model, const Gpu *gpu) {
    return model_of_kernel(model, bev_default(BEV_CPU, BEV_FORWARD), gpu);
}

SlowView slow_view(const MemoryModel *model, const PredictedKernel *kernel, int gpu,
                   const GpuEdit *edit, const IntervalLengths *lengths, int fault) {
    const Gpu on = model_gpu(model, gpu, edit);
    Case c = {.model = model,
              .kernel = kernel,
              .lengths = lengths,
              .gpu = &on,
              .profile = kernel->profile,
              .form = *kernel->profile.counts.form,
              .l2 = model_l2(model, kernel, gpu, edit),
              .cold = &kernel->cold_l2[gpu]};
    c.profile.counts.form = &c.form;
    double launch_us = predict_at(&c.profile, &on, &c.l2).launch_us;
    SlowView view = {.launches = 0};
    if (fault >= 0 && plants[fault].before)
        plants[fault].before(&c);
    view.prediction = predict_at(&c.profile, &on, &c.l2);
    view.l2_sectors = c.profile.counts.l2_sectors;
    view.launches = c.profile.clears;
    view.before_us = view.prediction.launch_us - launch_us;
    if (fault >= 0 && plants[fault].after)
        plants[fault].after(&c, &view);
    predict_combine(&view.prediction);
    view.kernel_us = view.prediction.latency_us - (view.prediction.launch_us - launch_us);
    view.frame_us = view.before_us + view.kernel_us + view.idle_us;
    return view;
}
