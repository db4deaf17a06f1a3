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
static double cost_us(const TimedRung *rung, BevAlign align) {
    bool before = rung->choice.align != BEV_NEAREST, weighted = align != BEV_NEAREST;
    return rung->cost_us * (before == weighted ? 1 : weighted ? 4 : 0.25);
}

void rung_restart(TimedRung *rung, const Choice *choice) {
    const BevVariant *variant = rung->choice.variant;
    rung->cost_us = cost_us(rung, choice->align);
    rung->choice = *choice;
    if (variant)
        rung->choice.variant = variant;
    rung->count = 0;
    rung->complete = rung->failed = rung->disturbed = false;
    rung->done_ms = 0;
    go_stale(&rung->live);
}

void rung_begin(TimedRung *rung) {
    rung->count = 0;
    rung->disturbed = false;
}

void rung_add_sample(TimedRung *rung, double us) {
    double *samples = rung->samples_us;
    if (rung->count == RUNG_SAMPLES)
        memmove(samples, samples + 1, (RUNG_SAMPLES - 1) * sizeof *samples);
    else
        rung->count++;
    samples[rung->count - 1] = us;
}

void rung_publish(TimedRung *rung, const Timing *timing, double own_bytes) {
    LiveKernel *live = &rung->live;
    live->median_us = reading(timing->median_us, SOURCE_MEASURED);
    live->p95_us = reading(timing->p95_us, SOURCE_MEASURED);
    live->p99_us = reading(timing->p99_us, SOURCE_MEASURED);
    live->unsettled = !timing->settled;
    live->recorded_on[0] = '\0';
    if (own_bytes > 0)
        live->effective_gbps = reading(own_bytes / timing->median_us * 1e-3, SOURCE_MEASURED);
}

void rung_publish_samples(TimedRung *rung, double own_bytes) {
    double sorted[RUNG_SAMPLES];
    Timing timing;
    memcpy(sorted, rung->samples_us, (size_t)rung->count * sizeof *sorted);
    timing_summarize(sorted, rung->count, SETTLE, &timing);
    rung_publish(rung, &timing, own_bytes);
}

void rung_done(TimedRung *rung) {
    rung->done_ms = clock_ms();
    live_remember(&rung->live, rung->live.median_us.value);
}

/* The clock would count the time of pictures beside it as its own, so that it counts the time for
 * which the lane's thread had a core. */
void rung_add_lane_sample(TimedRung *rung, const LaneSample *sample, bool disturbed) {
    if (disturbed && rung->count && !rung->disturbed)
        return;
    if (rung->disturbed && !disturbed)
        rung->count = 0;
    rung->disturbed = disturbed;
    rung_add_sample(rung, disturbed ? sample->busy_us : sample->launch_us);
    rung->live.prepare_us = reading(sample->prepare_us, SOURCE_MEASURED);
    rung_publish_samples(rung, sample->own_bytes);
    rung->complete = rung->count >= LANE_SAMPLES;
    rung->live.unsettled |= disturbed || !rung->complete;
    rung_done(rung);
}

bool rung_has_figure(const TimedRung *rung) {
    return rung->live.median_us.source == SOURCE_MEASURED && !rung->live.median_us.stale;
}

bool rung_due(const TimedRung *rung, bool still) {
    if (rung->live.skipped || rung->failed)
        return false;
    bool slow = rung->cost_us > SLOW_US;
    return !rung->complete || (still && rung->disturbed) ||
           (!slow && clock_ms() - rung->done_ms > REFRESH_MS);
}

bool rung_is_slow(const TimedRung *rung, BevAlign align) {
    double cost = cost_us(rung, align);
    return rung->choice.variant->where == BEV_CPU && (cost == 0 || cost > PATIENCE_US);
}

bool rung_needs_lane(const TimedRung *rung) {
    return rung_is_slow(rung, rung->choice.align);
}
