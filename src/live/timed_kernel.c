#include "src/live/timed_kernel.h"

#include "src/run/backend.h"
#include "src/base/clock.h"

#include <string.h>

enum {
    LANE_SAMPLES = 5, /* of one that takes the lane */
    REFRESH_MS = 1000 /* figures that are complete are taken again at this pace */
};
static const double SLOW_US = 30e3;     /* beyond, a figure that is complete is not taken again */
static const double PATIENCE_US = 10e3; /* for a launch that frames and keys wait for */
static const double SETTLE = 0.15;

static void go_stale(LiveKernel *live) {
    Reading *readings[] = {&live->median_us,      &live->p95_us,     &live->p99_us,
                           &live->effective_gbps, &live->prepare_us, &live->registers,
                           &live->occupancy};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        readings[i]->stale = readings[i]->source != SOURCE_UNKNOWN;
}

/* What a launch at this align would take; 0: unknown. */
static double cost_us(const TimedKernel *timed, BevAlign align) {
    bool before = timed->config.align != BEV_NEAREST, weighted = align != BEV_NEAREST;
    return timed->cost_us * (before == weighted ? 1 : weighted ? 4 : 0.25);
}

void timed_kernel_restart(TimedKernel *timed, const KernelConfig *config) {
    const BevKernel *kernel = timed->config.kernel;
    timed->cost_us = cost_us(timed, config->align);
    timed->config = *config;
    if (kernel)
        timed->config.kernel = kernel;
    timed->count = 0;
    timed->complete = timed->failed = timed->disturbed = false;
    timed->done_ms = 0;
    go_stale(&timed->live);
}

void timed_kernel_begin(TimedKernel *timed) {
    timed->count = 0;
    timed->disturbed = false;
}

void timed_kernel_add_sample(TimedKernel *timed, double us) {
    double *samples = timed->samples_us;
    if (timed->count == TIMED_KERNEL_SAMPLES)
        memmove(samples, samples + 1, (TIMED_KERNEL_SAMPLES - 1) * sizeof *samples);
    else
        timed->count++;
    samples[timed->count - 1] = us;
}

void timed_kernel_publish(TimedKernel *timed, const Timing *timing, double own_bytes) {
    LiveKernel *live = &timed->live;
    live->median_us = reading(timing->median_us, SOURCE_MEASURED);
    live->p95_us = reading(timing->p95_us, SOURCE_MEASURED);
    live->p99_us = reading(timing->p99_us, SOURCE_MEASURED);
    live->unsettled = !timing->settled;
    live->recorded_on[0] = '\0';
    if (own_bytes > 0)
        live->effective_gbps = reading(own_bytes / timing->median_us * 1e-3, SOURCE_MEASURED);
}

void timed_kernel_publish_samples(TimedKernel *timed, double own_bytes) {
    double sorted[TIMED_KERNEL_SAMPLES];
    Timing timing;
    memcpy(sorted, timed->samples_us, (size_t)timed->count * sizeof *sorted);
    timing_summarize(sorted, timed->count, SETTLE, &timing);
    timed_kernel_publish(timed, &timing, own_bytes);
}

void timed_kernel_done(TimedKernel *timed) {
    timed->done_ms = clock_ms();
    live_remember(&timed->live, timed->live.median_us.value);
}

/* The clock would count the time of pictures beside it as its own, so that it counts the time for
 * which the lane's thread had a core. */
void timed_kernel_add_lane_sample(TimedKernel *timed, const LaneSample *sample, bool disturbed) {
    if (disturbed && timed->count && !timed->disturbed)
        return;
    if (timed->disturbed && !disturbed)
        timed->count = 0;
    timed->disturbed = disturbed;
    timed_kernel_add_sample(timed, disturbed ? sample->busy_us : sample->launch_us);
    timed->live.prepare_us = reading(sample->prepare_us, SOURCE_MEASURED);
    timed_kernel_publish_samples(timed, sample->own_bytes);
    timed->complete = timed->count >= LANE_SAMPLES;
    timed->live.unsettled |= disturbed || !timed->complete;
    timed_kernel_done(timed);
}

bool timed_kernel_has_figure(const TimedKernel *timed) {
    return timed->live.median_us.source == SOURCE_MEASURED && !timed->live.median_us.stale;
}

bool timed_kernel_due(const TimedKernel *timed, bool still) {
    if (timed->live.skipped || timed->failed)
        return false;
    bool slow = timed->cost_us > SLOW_US;
    return !timed->complete || (still && timed->disturbed) ||
           (!slow && clock_ms() - timed->done_ms > REFRESH_MS);
}

bool timed_kernel_is_slow(const TimedKernel *timed, BevAlign align) {
    double cost = cost_us(timed, align);
    return timed->config.kernel->where == BEV_CPU && (cost == 0 || cost > PATIENCE_US);
}

bool timed_kernel_needs_lane(const TimedKernel *timed) {
    return timed_kernel_is_slow(timed, timed->config.align);
}
