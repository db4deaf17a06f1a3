/* SPDX-License-Identifier: MIT */
/* Summarizes the times of launches: their median, and whether they settled. */
#include "src/run/backend.h"

#include "src/base/clock.h"
#include "src/base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Returns a percentile by nearest rank. `sorted` has count >= 1 values; 0 < part <= 1. */
static double percentile(const double *sorted, int count, double part) {
    int rank = (int)ceil(part * count);
    return sorted[rank < 1 ? 0 : rank - 1];
}

bool timing_waited(double busy_us, double elapsed_us) {
    const double least_busy = 0.75;
    return busy_us < least_busy * elapsed_us;
}

double timing_median(double *values, int count) {
    assert(count >= 1);
    sort_ascending(values, count);
    return percentile(values, count, 0.5);
}

/* A median far above the least sample is mostly time spent waiting, for example for a core that
 * another program has. Such waits last whole scheduler ticks and differ little from each other. */
static const double MOST_OVER_LEAST = 3;

void timing_summarize(double *samples_us, int count, double settle, Timing *timing) {
    assert(count >= 1);
    int half = count / 2;
    double drift = 0;
    if (half) {
        double early = timing_median(samples_us, half);
        double late = timing_median(samples_us + half, count - half);
        drift = fabs(late - early) / fmin(early, late);
    }
    double median = timing_median(samples_us, count);
    double spread = percentile(samples_us, count, 0.75) - percentile(samples_us, count, 0.25);
    timing->median_us = median;
    timing->p95_us = percentile(samples_us, count, 0.95);
    timing->p99_us = percentile(samples_us, count, 0.99);
    timing->min_us = samples_us[0];
    timing->noise = spread / median;
    timing->settled = drift <= settle && median <= MOST_OVER_LEAST * samples_us[0];
    timing->drift_limit = settle;
    timing->samples = count;
}

double timing_ratio(const Timing *a, const Timing *b) {
    bool known = a->settled && b->settled && a->median_us > 0 && b->median_us > 0;
    return known ? a->median_us / b->median_us : NAN;
}

Timing timing_join(const Timing *a, const Timing *b) {
    const Timing *faster = a->median_us < b->median_us ? a : b;
    double drift = fabs(a->median_us - b->median_us) / faster->median_us;
    Timing joined = *faster;
    joined.settled = false;
    if (drift > a->drift_limit)
        return joined;
    return (Timing){
        .median_us = (a->median_us + b->median_us) / 2,
        .p95_us = (a->p95_us + b->p95_us) / 2,
        .p99_us = (a->p99_us + b->p99_us) / 2,
        .min_us = fmin(a->min_us, b->min_us),
        .noise = fmax(a->noise, b->noise),
        .settled = a->settled && b->settled,
        .drift_limit = a->drift_limit,
        .samples = a->samples + b->samples,
        .inner = a->inner,
    };
}

bool timing_collect(const TimingOptions *options, double begun_us, double settle,
                    bool (*sample)(void *context, double *us, Err *err), void *context,
                    Timing *timing, Err *err) {
    enum { MIN_SAMPLES = 5 };
    double *samples = malloc((size_t)options->samples * sizeof *samples);
    bool ok = samples || err_no_memory(err, "timing", "");
    int count = 0;
    while (ok && count < options->samples &&
           (count < MIN_SAMPLES || clock_us() - begun_us <= options->max_s * 1e6))
        ok = sample(context, &samples[count++], err);
    if (ok)
        timing_summarize(samples, count, settle, timing);
    free(samples);
    return ok;
}
