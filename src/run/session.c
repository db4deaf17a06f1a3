/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/run/session.h"

#include "src/base/clock.h"
#include "src/base/units.h"
#include "src/run/backend.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const TimingOptions timing_default = {.samples = 100, .min_warm_ms = 50, .max_s = 2};
const TimingOptions timing_quick = {.samples = 20, .min_warm_ms = 5, .max_s = 0.25};

static const SessionBackend *const backends[BEV_CUDA + 1] = {
    [BEV_CPU] = &session_cpu_backend,
#ifdef HAVE_CUDA
    [BEV_CUDA] = &session_cuda_backend,
#endif
};

enum { PREPARE_REPEATS = 3 };

struct Session {
    const SessionBackend *backend;
    void *state;
    double prepare_us[PREPARE_REPEATS]; /* the times of the prepare steps that were run */
    int prepared;                       /* their number; 0: the kernel has no prepare step */
};

static const double LONG_PREPARE_US = 5e3; /* longer steps run twice: noise is small in them */

static bool run_prepare_step(Session *s, Err *err) {
    return s->backend->prepare(s->state, &s->prepare_us[s->prepared++], err);
}

bool session_open(Session **session, const BevKernel *kernel, const BevProblem *host, Err *err) {
    *session = NULL;
    const SessionBackend *backend = backends[kernel->where];
    if (!backend)
        return err_set(err, ERR_DEVICE, kernel->name, "choose --device cpu",
                       "this program was built without CUDA");
    const char *reason = bev_unsupported(kernel, host);
    if (reason)
        return err_set(err, ERR_FAILED, kernel->name, "", "%s", reason);
    Session *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(err, kernel->name, "");
    s->backend = backend;
    bool opened = backend->open(&s->state, kernel, host, err);
    if (!opened || (kernel->prepare && !run_prepare_step(s, err))) {
        if (opened)
            backend->close(s->state);
        free(s);
        return false;
    }
    *session = s;
    return true;
}

bool session_open_or_skip(Session **session, const BevKernel *kernel, const BevProblem *host,
                          char *skipped, Err *err) {
    const char *reason = bev_unsupported(kernel, host);
    Err refused = {0};
    *session = NULL;
    snprintf(skipped, REFUSAL_SIZE, "%s", reason ? reason : "");
    if (reason || session_open(session, kernel, host, &refused))
        return true;
    if (refused.kind == ERR_USAGE) {
        snprintf(skipped, REFUSAL_SIZE, "%s", refused.what);
        return true;
    }
    if (err)
        *err = refused;
    return false;
}

void session_close(Session *session) {
    if (session)
        session->backend->close(session->state);
    free(session);
}

bool session_prepare_us(Session *session, double *us, Err *err) {
    Session *s = session;
    /* A long first run may have been interrupted, so a second run always follows. */
    while (s->prepared && s->prepared < PREPARE_REPEATS &&
           (s->prepared == 1 || s->prepare_us[s->prepared - 1] < LONG_PREPARE_US))
        if (!run_prepare_step(s, err))
            return false;
    *us = s->prepared ? timing_median(s->prepare_us, s->prepared) : 0;
    return true;
}

/* Defines session_<name>, which calls the backend's function on the backend's own state. */
#define BACKEND_CALL(name, arguments, ...)                                                         \
    bool session_##name(Session *session, __VA_ARGS__) {                                           \
        return session->backend->name arguments;                                                   \
    }
BACKEND_CALL(update, (session->state, err), Err *err)
BACKEND_CALL(poison, (session->state, err), Err *err)
BACKEND_CALL(run, (session->state, err), Err *err)
BACKEND_CALL(read, (session->state, codes, err), void *codes, Err *err)
BACKEND_CALL(output, (session->state, codes, err), const void **codes, Err *err)
BACKEND_CALL(inputs_untouched, (session->state, err), Err *err)
BACKEND_CALL(time, (session->state, cache, options, timing, err), CacheState cache,
             const TimingOptions *options, Timing *timing, Err *err)

bool session_functions(Session *session, CudaFunction *functions, int capacity, int *count,
                       Err *err) {
    *count = 0;
    return !session->backend->functions ||
           session->backend->functions(session->state, functions, capacity, count, err);
}

/* ---- times of launches: their median, and whether they settled ------------------------------- */

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
