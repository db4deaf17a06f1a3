#include "src/run/backend.h"

#include "kernels/codec.h"
#include "src/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SETTLE = 0.15;        /* a CPU shared with other programs drifts by less */
static const double MIN_SAMPLE_US = 20;   /* reading the clock costs little of this */
static const size_t MAX_FLUSH = 64 << 20; /* flushing more takes longer than a launch */

typedef struct {
    const BevKernel *kernel;
    const BevProblem *problem;
    BevPlan *plan;
    bool watched;    /* inputs_untouched may be asked */
    uint64_t inputs; /* fingerprint of the inputs at the last open or update */
} State;

/* ---- inputs ---------------------------------------------------------------------------------- */

enum { LANES = 4 }; /* independent chains: a core overlaps their multiplications */

static uint64_t mix(uint64_t state, uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15;
    return state ^ state >> 32;
}

/* Each step is a bijection of the state: a change of one word is always seen, and any other change
 * is missed with a probability of about 2^-64. */
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

static bool cpu_prepare(void *state, double *us, Err *err) {
    State *s = state;
    s->kernel->release(s->plan);
    s->plan = NULL;
    double start = clock_us();
    bool ok = s->kernel->prepare(s->problem, &s->plan, err);
    *us = clock_us() - start;
    return ok;
}

/* The kernel reads the host problem itself, so nothing is copied. */
static bool cpu_update(void *state, Err *err) {
    (void)err;
    State *s = state;
    if (s->watched)
        s->inputs = inputs_fingerprint(s->problem);
    return true;
}

static bool cpu_open(void **state, const BevKernel *kernel, const BevProblem *host, bool once,
                     Err *err) {
    State *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_FAILED, kernel->name, "", "out of memory");
    *s = (State){.kernel = kernel, .problem = host, .watched = !once};
    *state = s;
    return cpu_update(s, err);
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

/* Twice the last-level cache if its size is known, at most MAX_FLUSH: with a larger cache, "cold"
 * means only that the cores' own caches are cold. */
static size_t flush_bytes(void) {
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return cache > 0 && (size_t)cache < MAX_FLUSH / 2 ? (size_t)cache * 2 : MAX_FLUSH;
}

/* Every thread writes a part, so that the own caches of every core are flushed too. */
static void flush(unsigned char *bytes, size_t count) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i += 64)
        bytes[i]++;
}

/* Launches for min_warm_ms, so that caches, clock frequency and threads are warm. *launch_us is the
 * time of one launch. */
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

/* What is timed: `inner` launches a sample. */
typedef struct {
    State *s;
    int inner;
    unsigned char *flushed; /* memory to write before each sample; NULL: warm */
} Timed;

static bool sample(void *context, double *launch_us, Err *err) {
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

/* How many launches make a sample long enough for the clock. */
static int enough_launches(double launch_us) {
    return launch_us < MIN_SAMPLE_US ? (int)(MIN_SAMPLE_US / launch_us) + 1 : 1;
}

/* Chooses t->inner. The warm-up overestimates the time of a launch, because it reads the clock
 * after each one and may be interrupted, so a first sample that is not kept corrects it. */
static bool choose_inner(Timed *t, double launch_us, Err *err) {
    t->inner = enough_launches(launch_us);
    if (!sample(t, &launch_us, err))
        return false;
    if (t->inner < enough_launches(launch_us) / 2)
        t->inner = enough_launches(launch_us);
    return true;
}

static bool cpu_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                     Err *err) {
    Timed t = {.s = state, .inner = 1};
    double launch_us, start = clock_us();
    if (cache == CACHE_COLD && !(t.flushed = calloc(1, flush_bytes())))
        return err_set(err, ERR_FAILED, t.s->kernel->name, "", "out of memory");
    bool ok = warm_up(t.s, options->min_warm_ms, &launch_us, err) &&
              (t.flushed || choose_inner(&t, launch_us, err)) &&
              timing_collect(options, start, SETTLE, sample, &t, timing, err);
    timing->inner = t.inner;
    free(t.flushed);
    return ok;
}

const SessionBackend session_cpu_backend = {
    .open = cpu_open,
    .close = cpu_close,
    .prepare = cpu_prepare,
    .update = cpu_update,
    .poison = cpu_poison,
    .run = cpu_run,
    .read = cpu_read,
    .output = cpu_output,
    .inputs_untouched = cpu_inputs_untouched,
    .time = cpu_time,
};
