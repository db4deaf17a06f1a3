/* SPDX-License-Identifier: MIT */
#include "src/run/backend.h"

#include "kernels/cpu/cpu_view.h"
#include "kernels/threads.h"
#include "src/base/clock.h"

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
} State;

/* ---- one launch ------------------------------------------------------------------------------ */

static void cpu_close(void *state) {
    State *s = state;
    if (s->kernel->release)
        s->kernel->release(s->plan);
    free(s->workspace);
    free(s->codes);
    free(s);
}

/* Allocates the workspace that the kernel needs with its current plan. */
static bool allocate_workspace(State *s, Err *err) {
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
    State *s = state;
    s->kernel->release(s->plan);
    s->plan = NULL;
    double start = clock_us();
    bool ok = s->kernel->prepare(s->problem, &s->plan, err);
    *us = clock_us() - start;
    return ok && allocate_workspace(s, err);
}

static bool cpu_open(void **state, const BevKernel *kernel, const BevProblem *host, Err *err) {
    State *s = calloc(1, sizeof *s);
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
    const State *s = state;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    for (int i = bev_outputs(s->problem, outputs); i-- > 0;)
        memset(outputs[i]->data, 0xff, bev_tensor_bytes(outputs[i]));
    if (s->workspace)
        memset(s->workspace, 0xff, s->workspace_bytes);
    return true;
}

static bool cpu_run(void *state, Err *err) {
    const State *s = state;
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
        cpu_transpose(&plane, bytes, problem->out.data, at, to, at, false);
}

static bool cpu_read(void *state, void *codes, Err *err) {
    (void)err;
    const State *s = state;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    int count = bev_outputs(s->problem, outputs);
    unsigned char *to = codes;
    if (s->problem->direction == BEV_FORWARD && s->problem->out_samples) {
        read_channels_first(s->problem, to);
        return true;
    }
    for (int i = 0; i < count; to += bev_tensor_bytes(outputs[i++]))
        memcpy(to, outputs[i]->data, bev_tensor_bytes(outputs[i]));
    return true;
}

static bool cpu_output(void *state, const void **codes, Err *err) {
    State *s = state;
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
    const State *s = state;
    for (size_t i = 0; s->workspace && i < BAND; i++)
        if (s->workspace[s->workspace_bytes + i] != BAND_BYTE)
            return err_set(err, ERR_FAILED, s->kernel->name, "",
                           "the kernel wrote past the end of its workspace");
    return true;
}

/* ---- timing ---------------------------------------------------------------------------------- */

/* Returns twice the size of the last-level cache, but at most MAX_FLUSH, which also stands for an
 * unknown size. With a larger cache, "cold" means that only the cores' own caches are cold. */
static size_t flush_bytes(void) {
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 && (size_t)cache < MAX_FLUSH / 2 ? (size_t)cache * 2 : MAX_FLUSH;
}

/* Flushes the caches. Every thread writes a part, which flushes every core's own caches. */
static void flush(unsigned char *bytes, size_t count) {
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (size_t i = 0; i < count; i += 64)
        bytes[i]++;
}

/* Launches for min_warm_ms, so that caches, clock frequency and threads are warm. *launch_us
 * receives the time of one launch. */
static bool warm_up(State *s, double min_warm_ms, double *launch_us, Err *err) {
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
    State *s;
    int inner;
    unsigned char *flushed; /* memory to write before each sample; NULL: warm */
} Timed;

static bool time_sample(void *context, double *launch_us, Err *err) {
    const Timed *t = context;
    if (t->flushed)
        flush(t->flushed, flush_bytes());
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

/* Chooses t->inner. The warm-up overestimates the time of a launch: it reads the clock after each
 * launch, and it may be interrupted. A sample of few launches overestimates it, too. Samples that
 * are not kept correct the number, until a sample is at least half as long as it should be. */
static bool choose_inner(Timed *t, double launch_us, Err *err) {
    do {
        t->inner = enough_launches(launch_us);
        if (!time_sample(t, &launch_us, err))
            return false;
    } while (t->inner < enough_launches(launch_us) / 2);
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
const SessionBackend session_cpu_backend = {
    .open = cpu_open, .close = cpu_close, .prepare = cpu_prepare_again, .update = cpu_update,
    .poison = cpu_poison, .run = cpu_run, .read = cpu_read, .output = cpu_output,
    .inputs_untouched = cpu_inputs_untouched, .time = cpu_time,
};
// clang-format on
