/* SPDX-License-Identifier: MIT */
/* Sessions, with the CPU as their backend, and the figures of timed launches. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/run/session.h"

#include "kernels/cpu/cpu_view.h"
#include "kernels/threads.h"
#include "src/base/clock.h"
#include "src/base/units.h"
#include "src/run/backend.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SETTLE = 0.15;        /* a CPU shared with other programs drifts by less */
static const double MIN_SAMPLE_US = 20;   /* reading the clock takes a small part of this time */
static const size_t MAX_FLUSH = 64 << 20; /* flushing more bytes takes longer than a launch */
enum { ALIGNMENT = 256, BAND = 256, BAND_BYTE = 0xa5 }; /* the workspace and its guard band */

typedef struct {
    const BevKernel *kernel;
    const BevProblem *problem;
    BevPlan *plan;
    unsigned char *workspace; /* the kernel's scratch, then a guard band; NULL: no scratch */
    size_t workspace_bytes;
    void *codes; /* all outputs in one block, made by session_output; NULL before */
} CpuState;

/* ---- the CPU: one launch --------------------------------------------------------------------- */

static void cpu_close(void *state) {
    CpuState *s = state;
    if (s->kernel->release)
        s->kernel->release(s->plan);
    free(s->workspace);
    free(s->codes);
    free(s);
}

/* Allocates the workspace that the kernel needs with its current plan. */
static bool allocate_workspace(CpuState *s, Err *err) {
    size_t bytes = s->kernel->workspace_bytes ? s->kernel->workspace_bytes(s->problem, s->plan) : 0;
    free(s->workspace);
    s->workspace = NULL;
    s->workspace_bytes = bytes;
    if (!bytes)
        return true;
    s->workspace = aligned_alloc(ALIGNMENT, (bytes + BAND) / ALIGNMENT * ALIGNMENT + ALIGNMENT);
    if (!s->workspace)
        return err_no_memory(err, s->kernel->name, "choose a smaller scene");
    memset(s->workspace + bytes, BAND_BYTE, BAND);
    return true;
}

static bool cpu_prepare_again(void *state, double *us, Err *err) {
    CpuState *s = state;
    s->kernel->release(s->plan);
    s->plan = NULL;
    double start = clock_us();
    bool ok = s->kernel->prepare(s->problem, &s->plan, err);
    *us = clock_us() - start;
    return ok && allocate_workspace(s, err);
}

static bool cpu_open(void **state, const BevKernel *kernel, const BevProblem *host, Err *err) {
    CpuState *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(err, kernel->name, "");
    s->kernel = kernel;
    s->problem = host;
    if (!kernel->prepare && !allocate_workspace(s, err)) {
        free(s);
        return false;
    }
    *state = s;
    return true;
}

/* The kernel reads the host problem itself, so nothing is copied. */
static bool cpu_update(void *state, Err *err) {
    (void)state, (void)err;
    return true;
}

static bool cpu_poison(void *state, Err *err) {
    (void)err;
    const CpuState *s = state;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    for (int i = bev_outputs(s->problem, outputs); i-- > 0;)
        memset(outputs[i]->data, 0xff, bev_tensor_bytes(outputs[i]));
    if (s->workspace)
        memset(s->workspace, 0xff, s->workspace_bytes);
    return true;
}

static bool cpu_run(void *state, Err *err) {
    const CpuState *s = state;
    BevProblem problem = *s->problem;
    problem.workspace = s->workspace;
    return s->kernel->launch(&problem, s->plan, NULL, err);
}

/* Copies an output that has channels first, so that the copy has channels last. */
static void read_channels_first(const BevProblem *problem, unsigned char *to) {
    size_t bytes = (size_t)bev_dtypes[problem->out.dtype].bits / 8;
    int64_t channels = problem->shape.channels, cells = problem->out.rows / problem->out_samples;
    const CpuPlane plane = {channels, cells, cells, 1, 1, channels};
    for (int64_t at = 0; at < problem->out.rows * channels; at += cells * channels)
        cpu_transpose(&plane, bytes, problem->out.data, at, to, at, CPU_CACHED);
}

static bool cpu_read(void *state, void *codes, Err *err) {
    (void)err;
    const CpuState *s = state;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    int count = bev_outputs(s->problem, outputs);
    unsigned char *to = codes;
    if (s->problem->direction == BEV_FORWARD && s->problem->out_samples) {
        read_channels_first(s->problem, to);
        return true;
    }
    for (int i = 0; i < count; i++) {
        const size_t bytes = bev_tensor_bytes(outputs[i]);
        memcpy(to, outputs[i]->data, bytes);
        to += bytes;
    }
    return true;
}

static bool cpu_output(void *state, const void **codes, Err *err) {
    CpuState *s = state;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    if (bev_outputs(s->problem, outputs) == 1 && !s->problem->out_samples) {
        *codes = outputs[0]->data;
        return true;
    }
    if (!s->codes && !(s->codes = malloc(bev_output_bytes(s->problem))))
        return err_no_memory(err, s->kernel->name, "choose a smaller scene");
    *codes = s->codes;
    return cpu_read(s, s->codes, err);
}

static bool cpu_inputs_untouched(void *state, Err *err) {
    const CpuState *s = state;
    for (size_t i = 0; s->workspace && i < BAND; i++)
        if (s->workspace[s->workspace_bytes + i] != BAND_BYTE)
            return err_set(err, ERR_FAILED, s->kernel->name, "",
                           "the kernel wrote past the end of its workspace");
    return true;
}

/* ---- the CPU: timing ------------------------------------------------------------------------- */

/* Returns twice the size of the last-level cache, at most MAX_FLUSH. Returns MAX_FLUSH also for an
 * unknown size. With a larger cache, "cold" means that only the cores' own caches are cold. */
static size_t flush_bytes(void) {
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE); /* bytes; not above 0: unknown */
    return cache > 0 && (size_t)cache < MAX_FLUSH / 2 ? (size_t)cache * 2 : MAX_FLUSH;
}

/* Flushes the caches by writing other memory. Every thread writes, for the caches of each core. */
static void flush_caches(unsigned char *bytes, size_t count) {
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (size_t i = 0; i < count; i += 64)
        bytes[i]++;
}

/* Launches for min_warm_ms, so that caches, clock frequency and threads are warm. *launch_us
 * receives the time of one launch. */
static bool warm_up(CpuState *s, double min_warm_ms, double *launch_us, Err *err) {
    double start = clock_us(), elapsed = 0;
    int launches = 0;
    do {
        if (!cpu_run(s, err))
            return false;
        launches++;
        elapsed = clock_us() - start;
    } while (elapsed < min_warm_ms * 1e3);
    *launch_us = elapsed / launches;
    return true;
}

/* The timed work: `inner` launches a sample. */
typedef struct {
    CpuState *s;
    int inner;
    unsigned char *flushed; /* memory to write before each sample; NULL: warm */
} Timed;

static bool time_sample(void *context, double *launch_us, Err *err) {
    const Timed *t = context;
    if (t->flushed)
        flush_caches(t->flushed, flush_bytes());
    double start = clock_us();
    for (int i = 0; i < t->inner; i++)
        if (!cpu_run(t->s, err))
            return false;
    *launch_us = (clock_us() - start) / t->inner;
    return true;
}

/* Returns the number of launches that make a sample long enough for the clock. */
static int enough_launches(double launch_us) {
    return launch_us < MIN_SAMPLE_US ? (int)(MIN_SAMPLE_US / launch_us) + 1 : 1;
}

/* Chooses the number of launches in a sample. `launch_us`, from the warm-up, is too long: the
 * warm-up reads the clock after each launch, and may be interrupted. Samples of few launches give
 * too long a time, too. So trial samples repeat, until one is at least half as long as it should
 * be. */
static bool choose_inner(Timed *timed, double launch_us, Err *err) {
    do {
        timed->inner = enough_launches(launch_us);
        if (!time_sample(timed, &launch_us, err))
            return false;
    } while (timed->inner < enough_launches(launch_us) / 2);
    return true;
}

static bool cpu_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                     Err *err) {
    Timed t = {.s = state, .inner = 1};
    const TeamTime begun = clock_team();
    double launch_us, start = clock_us();
    if (cache == CACHE_COLD && !(t.flushed = calloc(1, flush_bytes())))
        return err_no_memory(err, t.s->kernel->name, "");
    bool ok = warm_up(t.s, options->min_warm_ms, &launch_us, err) &&
              (t.flushed || choose_inner(&t, launch_us, err)) &&
              timing_collect(options, start, SETTLE, time_sample, &t, timing, err);
    const double busy_us = clock_team_since_us(begun), elapsed_us = clock_us() - start;
    if (ok && timing_waited(busy_us, elapsed_us))
        timing->settled = false;
    timing->inner = t.inner;
    free(t.flushed);
    return ok;
}

// clang-format off
static const SessionBackend cpu_backend = {
    .open = cpu_open, .close = cpu_close, .prepare = cpu_prepare_again, .update = cpu_update,
    .poison = cpu_poison, .run = cpu_run, .read = cpu_read, .output = cpu_output,
    .inputs_untouched = cpu_inputs_untouched, .time = cpu_time,
};
// clang-format on

/* ---- sessions -------------------------------------------------------------------------------- */

const TimingOptions timing_default = {.samples = 100, .min_warm_ms = 50, .max_s = 2};
const TimingOptions timing_quick = {.samples = 20, .min_warm_ms = 5, .max_s = 0.25};

static const SessionBackend *const backends[BEV_CUDA + 1] = {
    [BEV_CPU] = &cpu_backend,
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

/* Whether another run of the prepare step makes the median better. A long first run may have been
 * interrupted, so a second run always follows. */
static bool needs_another_prepare(const Session *s) {
    const bool has_step = s->prepared > 0, is_first = s->prepared == 1;
    return has_step && s->prepared < PREPARE_REPEATS &&
           (is_first || s->prepare_us[s->prepared - 1] < LONG_PREPARE_US);
}

bool session_prepare_us(Session *session, double *us, Err *err) {
    while (needs_another_prepare(session))
        if (!run_prepare_step(session, err))
            return false;
    *us = session->prepared ? timing_median(session->prepare_us, session->prepared) : 0;
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
