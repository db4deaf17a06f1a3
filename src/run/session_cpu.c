#include "src/run/backend.h"

#include "kernels/codec.h"
#include "src/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PREPARE_REPEATS = 3, MIN_SAMPLES = 5 };

static const double SETTLE = 0.15;         /* a machine shared with others drifts by less */
static const double LONG_PREPARE_US = 5e3; /* far above the noise: once is enough */
static const double MIN_SAMPLE_US = 20;    /* the clock's own cost disappears in this */
static const size_t MAX_FLUSH = 64 << 20;  /* more takes longer than what it is to measure */

typedef struct {
    const BevKernel *kernel;
    const BevProblem *problem;
    BevPlan *plan;
    bool watched;    /* whether the inputs are */
    uint64_t inputs; /* their fingerprint when they were last taken over */
} State;

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { LANES = 4 }; /* multiplications that a core keeps going side by side */

static uint64_t mix(uint64_t state, uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15;
    return state ^ state >> 32;
}

/* Each step is a bijection of the state, so a change of one word is seen with certainty, and any
 * other change missed with odds of about 2^-64. */
static uint64_t fingerprint(uint64_t state, const void *bytes, size_t count) {
    const unsigned char *p = bytes;
    uint64_t words[LANES] = {0}, lanes[LANES] = {state, 1, 2, 3};
    for (; bytes && count >= sizeof words; count -= sizeof words, p += sizeof words) {
        memcpy(words, p, sizeof words);
        for (int i = 0; i < LANES; i++)
            lanes[i] = mix(lanes[i], words[i]);
    }
    memset(words, 0, sizeof words);
    if (bytes)
        memcpy(words, p, count);
    for (int i = 0; i < LANES; i++)
        state = mix(state, mix(lanes[i], words[i]));
    return state;
}

static uint64_t tensor_fingerprint(uint64_t state, const BevTensor *t) {
    state = fingerprint(state, t->data, bev_code_bytes(t->dtype, t->rows, t->row_len));
    return fingerprint(state, t->block_scales,
                       bev_block_scale_bytes(t->dtype, t->rows, t->row_len));
}

static uint64_t inputs_fingerprint(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    size_t points = (size_t)map->points, intervals = (size_t)map->intervals;
    uint64_t state = tensor_fingerprint(1, &problem->depth);
    state = tensor_fingerprint(state, &problem->feat);
    state = fingerprint(state, map->ranks_depth, points * sizeof *map->ranks_depth);
    state = fingerprint(state, map->ranks_feat, points * sizeof *map->ranks_feat);
    state = fingerprint(state, map->ranks_bev, points * sizeof *map->ranks_bev);
    state = fingerprint(state, map->interval_starts, intervals * sizeof *map->interval_starts);
    state = fingerprint(state, map->interval_lengths, intervals * sizeof *map->interval_lengths);
    return fingerprint(state, map->weights, points * sizeof *map->weights);
}

static bool cpu_inputs_untouched(void *state, Err *err) {
    const State *s = state;
    if (inputs_fingerprint(s->problem) == s->inputs)
        return true;
    return err_set(err, ERR_FAILED, s->kernel->name, "", "the kernel changed its inputs");
}

/* ---- one launch ------------------------------------------------------------------------------ */

static void cpu_close(void *state) {
    State *s = state;
    if (s && s->kernel->release)
        s->kernel->release(s->plan);
    free(s);
}

static bool cpu_prepare(State *s, int repeats, double *prepare_us, Err *err) {
    *prepare_us = 0;
    if (!s->kernel->prepare)
        return true;
    double times[PREPARE_REPEATS];
    int taken = 0;
    while (taken < repeats && (taken == 0 || times[taken - 1] < LONG_PREPARE_US)) {
        s->kernel->release(s->plan);
        s->plan = NULL;
        double start = clock_us();
        if (!s->kernel->prepare(s->problem, &s->plan, err))
            return false;
        times[taken++] = clock_us() - start;
    }
    *prepare_us = timing_median(times, taken);
    return true;
}

/* The values are shared. */
static bool cpu_update(void *state, Err *err) {
    (void)err;
    State *s = state;
    if (s->watched)
        s->inputs = inputs_fingerprint(s->problem);
    return true;
}

static bool cpu_open(void **state, const BevKernel *kernel, const BevProblem *host, bool once,
                     double *prepare_us, Err *err) {
    State *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_FAILED, kernel->name, "", "out of memory");
    s->kernel = kernel;
    s->problem = host;
    s->watched = !once;
    cpu_update(s, err);
    if (!cpu_prepare(s, once ? 1 : PREPARE_REPEATS, prepare_us, err)) {
        cpu_close(s);
        return false;
    }
    *state = s;
    return true;
}

static bool cpu_poison(void *state, Err *err) {
    (void)err;
    const State *s = state;
    memset(s->problem->out.data, 0xff, bev_tensor_bytes(&s->problem->out));
    return true;
}

static bool cpu_run(void *state, Err *err) {
    const State *s = state;
    return s->kernel->launch(s->problem, s->plan, NULL, err);
}

static bool cpu_read(void *state, void *codes, Err *err) {
    (void)err;
    const State *s = state;
    memcpy(codes, s->problem->out.data, bev_tensor_bytes(&s->problem->out));
    return true;
}

static bool cpu_output(void *state, const void **codes, Err *err) {
    (void)err;
    const State *s = state;
    *codes = s->problem->out.data;
    return true;
}

/* ---- timing ---------------------------------------------------------------------------------- */

/* Twice the last-level cache where the system says its size, but not more than MAX_FLUSH: on
 * machines with larger caches "cold" means out of the cores' own caches. */
static size_t flush_bytes(void) {
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 && (size_t)cache < MAX_FLUSH / 2 ? (size_t)cache * 2 : MAX_FLUSH;
}

/* Every thread writes its share, so that each core's own caches are flushed as well. */
static void flush(unsigned char *bytes, size_t count) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i += 64)
        bytes[i]++;
}

/* Runs until the caches, the clock frequency and the thread team are warm; gives the time of one
 * launch. */
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

static bool sample(State *s, int inner, double *sample_us, Err *err) {
    double start = clock_us();
    for (int i = 0; i < inner; i++)
        if (!cpu_run(s, err))
            return false;
    *sample_us = (clock_us() - start) / inner;
    return true;
}

/* Launches that make a sample long enough for the clock. */
static int enough_launches(double launch_us) {
    return launch_us < MIN_SAMPLE_US ? (int)(MIN_SAMPLE_US / launch_us) + 1 : 1;
}

static bool collect(State *s, const TimingOptions *options, unsigned char *flushed, double *samples,
                    Timing *timing, Err *err) {
    double launch_us, start = clock_us();
    if (!warm_up(s, options->min_warm_ms, &launch_us, err))
        return false;
    int inner = flushed ? 1 : enough_launches(launch_us), count = 0;
    while (count < options->samples) {
        if (flushed)
            flush(flushed, flush_bytes());
        if (!sample(s, inner, &samples[count], err))
            return false;
        /* The warm-up reads the clock after each launch, and may have been interrupted: either
         * makes launches look longer than they are. */
        if (count == 0 && !flushed && inner < enough_launches(samples[0]) / 2) {
            inner = enough_launches(samples[0]);
            continue;
        }
        count++;
        if (count >= MIN_SAMPLES && clock_us() - start > options->max_s * 1e6)
            break;
    }
    timing->inner = inner;
    timing_summarize(samples, count, SETTLE, timing);
    return true;
}

static bool time_launches(void *state, CacheState cache, const TimingOptions *options,
                          Timing *timing, Err *err) {
    State *s = state;
    double *samples = malloc((size_t)options->samples * sizeof *samples);
    unsigned char *flushed = cache == CACHE_COLD ? calloc(1, flush_bytes()) : NULL;
    bool ok = samples && (flushed || cache == CACHE_WARM);
    if (ok)
        ok = collect(s, options, flushed, samples, timing, err);
    else
        err_set(err, ERR_FAILED, s->kernel->name, "", "out of memory");
    free(samples);
    free(flushed);
    return ok;
}

const SessionBackend session_cpu_backend = {
    .open = cpu_open,
    .close = cpu_close,
    .update = cpu_update,
    .poison = cpu_poison,
    .run = cpu_run,
    .read = cpu_read,
    .output = cpu_output,
    .inputs_untouched = cpu_inputs_untouched,
    .time = time_launches,
};
