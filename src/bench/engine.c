#include "src/bench/engine.h"

#include "src/bench/judge.h"
#include "src/bench/live_counters.h"
#include "src/bench/live_gpu.h"
#include "src/bench/machine.h"
#include "src/bench/measure.h"
#include "src/bench/model_lane.h"
#include "src/bench/shared.h"
#include "src/model/choice.h"
#include "src/model/clock.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    STILL_MS = 200,      /* without a new wish: time for what takes longer */
    LONG_STILL_MS = 800, /* the same for a launch that no key can wait for */
    NEWS_MS = 200,       /* figures alone are handed over at most this often */
    FILE_CHECK_MS = 1000, /* whether the scene's file has changed */
    MODEL_FIRST_MS = 1000 /* so long the selection's model comes before timings */
};
static const double MOVING_REST = 5; /* moving: this many times as long no slice as one took */
static const double HURRY_US = 10e3; /* a key waits for a launch of so much */

struct Engine {
    EngineOptions options;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ready_fd;

    /* Under the lock. */
    bool stop, has_wish, woken;
    State wish;
    uint64_t wishes; /* so far */
    EngineFrame *ready, *front, *retired;

    /* The worker's own. */
    Pipeline *pipeline;
    Measure *measure;
    Judge *judge;
    ModelLane *model_lane;
    MemoryModel *model;
    LiveDevice cpu;
    LiveGpu *gpu;
    bool probed; /* the GPU's ceilings are known */
    State state; /* of the newest job */
    uint64_t answered; /* number of its wish */
    uint64_t counted;  /* of state.counts, those that were answered */
    LiveData live;
    void *picture;
    Err err; /* of live.problem */
    uint64_t notes;
    char note[sizeof((EngineFrame *)0)->note];
    bool device_lost, has_frame, news;
    bool passed_over; /* the newest frame was: a newer wish came */
    enum { ROUGH, REFINED, SHARP } quality;
    uint64_t loads, epoch;   /* epoch: of accuracy; grows when its figures go stale */
    LoadedScene *seen_scene; /* not owned: only compared */
    Choice seen_choice;
    const BuiltMap *seen_map;
    double wish_ms, news_ms, file_ms, delivered_ms, measure_ms;
    struct stat file;
    bool has_file;
};

/* ---- frames over the fence --------------------------------------------------------------------
 */

static void frame_free(EngineFrame *frame) {
    if (!frame)
        return;
    frame_parts_drop(&frame->parts);
    shared_drop(frame->picture);
    shared_drop(frame->model);
    free(frame);
}

static void set_ready(Engine *engine) {
    uint64_t one = 1;
    ssize_t n = write(engine->ready_fd, &one, sizeof one);
    assert(n == sizeof one);
    (void)n;
}

static void describe_device(Engine *engine) {
    const BevVariant *variant = engine->state.job.choice.variant;
    if (variant->where == BEV_CUDA && engine->gpu)
        live_gpu_describe(engine->gpu, &engine->live.memory, &engine->live.device);
    else
        engine->live.device =
            variant->where == BEV_CPU ? engine->cpu : (LiveDevice){.where = variant->where};
}

static void deliver(Engine *engine) {
    EngineFrame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return; /* the last one stays on the screen */
    const FrameParts *parts = pipeline_parts(engine->pipeline);
    frame->state = engine->state;
    frame->wish = engine->answered;
    describe_device(engine);
    if (engine->measure)
        measure_fill(engine->measure, &engine->live);
    frame->live = engine->live;
    frame->loads = engine->loads;
    frame->err = engine->err;
    frame->notes = engine->notes;
    memcpy(frame->note, engine->note, sizeof frame->note);
    frame->device_lost = engine->device_lost;
    frame->parts = frame_parts_keep(parts);
    frame->picture = shared_keep(engine->picture);
    frame->model = shared_keep(engine->model);
    if (parts->scene)
        frame->facts = parts->scene->facts;
    pthread_mutex_lock(&engine->lock);
    EngineFrame *unseen = engine->ready, *retired = engine->retired;
    frame->live.busy = engine->has_wish;
    engine->ready = frame;
    engine->retired = NULL;
    if (!unseen)
        set_ready(engine);
    pthread_mutex_unlock(&engine->lock);
    frame_free(unseen);
    frame_free(retired);
    engine->news = false;
    engine->news_ms = clock_ms();
}

const EngineFrame *engine_take(Engine *engine) {
    pthread_mutex_lock(&engine->lock);
    EngineFrame *frame = engine->ready, *old = NULL;
    if (frame) {
        uint64_t count;
        ssize_t n = read(engine->ready_fd, &count, sizeof count);
        assert(n == sizeof count);
        (void)n;
        old = engine->retired;
        engine->retired = engine->front; /* the worker frees it: that can take a while */
        engine->front = frame;
        engine->ready = NULL;
    }
    pthread_mutex_unlock(&engine->lock);
    frame_free(old);
    return frame;
}

int engine_fd(const Engine *engine) {
    return engine->ready_fd;
}

uint64_t engine_submit(Engine *engine, const State *state) {
    pthread_mutex_lock(&engine->lock);
    engine->wish = *state;
    engine->has_wish = true;
    uint64_t number = ++engine->wishes;
    pthread_cond_signal(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
    return number;
}

/* ---- a wish
 * -------------------------------------------------------------------------------------- */

static void watch_file(Engine *engine, const char *name) {
    engine->has_file = stat(name, &engine->file) == 0 && S_ISREG(engine->file.st_mode);
    engine->file_ms = clock_ms();
}

static void go_stale(Engine *engine) {
    engine->epoch++;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        engine->live.accuracy[dtype].stale = engine->live.accuracy[dtype].source != SOURCE_UNKNOWN;
    engine->live.counters.stale = engine->live.counters.source != SOURCE_UNKNOWN;
}

/* What the pipeline's new parts mean for the figures that stay. */
static void notice_changes(Engine *engine) {
    const FrameParts *parts = pipeline_parts(engine->pipeline);
    const Choice *choice = &engine->state.job.choice;
    if (parts->scene != engine->seen_scene) {
        engine->loads++;
        watch_file(engine, engine->state.menu.scenes.names[engine->state.job.scene]);
    }
    if (parts->map != engine->seen_map || choice->variant != engine->seen_choice.variant)
        go_stale(engine);
    engine->seen_scene = parts->scene;
    engine->seen_map = parts->map;
    engine->seen_choice = *choice;
}

static void complain(Engine *engine, const Err *err) {
    char line[sizeof engine->live.problem + 1];
    err_line(err, line, (int)sizeof engine->live.problem);
    memcpy(engine->live.problem, line, sizeof engine->live.problem);
    engine->err = *err;
    engine->device_lost = err->kind == ERR_DEVICE;
}

static void dress(Engine *engine) {
    Err err = {.kind = ERR_FAILED};
    if (!engine->options.dress)
        return;
    double begun = clock_ms();
    void *picture = engine->options.dress(&engine->state, &engine->live, engine->picture, &err);
    if (!picture) {
        complain(engine, &err);
        return;
    }
    if (picture != engine->picture)
        engine->live.stages_us[STAGE_DRAW] = reading((clock_ms() - begun) * 1e3, SOURCE_MEASURED);
    shared_drop(engine->picture);
    engine->picture = picture;
}

/* Frames a second, over about the last second; unknown while nothing moves. */
static void count_frame(Engine *engine) {
    double now = clock_ms(), gap = now - engine->delivered_ms;
    engine->delivered_ms = now;
    if (gap > 1000 || gap <= 0) {
        engine->live.fps = (Reading){.value = 0};
        return;
    }
    double before = engine->live.fps.value, weight = 1 - exp(-gap / 500);
    double rate = 1000 / gap;
    engine->live.fps =
        reading(before > 0 ? 1 / (weight / rate + (1 - weight) / before) : rate, SOURCE_MEASURED);
}

static void take_model(Engine *engine) {
    MemoryModel *model;
    engine->news |= model_lane_take(engine->model_lane, &model);
    shared_drop(engine->model);
    engine->live.model = engine->model = model;
}

static void aim_model(Engine *engine) {
    const FrameParts *parts = pipeline_parts(engine->pipeline);
    if (!engine->model_lane)
        return;
    model_lane_aim(engine->model_lane, parts->features, parts->map, &engine->state.job.choice,
                   live_model_depth(&engine->state));
    take_model(engine);
}

/* In the place of a rung that no key can wait for, or of which that is not known yet, the last one
 * of the ladder pools until the picture comes to rest. The screens say so. */
static void take_stand_in(Engine *engine, Choice *choice) {
    const BevVariant *rungs[LIVE_MAX_KERNELS];
    const BevVariant *last = rungs[choice_rungs(BEV_CPU, rungs, LIVE_MAX_KERNELS) - 1];
    double cost_us = measure_cost_us(engine->measure, choice->variant);
    bool fits = last->dtypes & 1u << choice->dtype && last->aligns & 1u << choice->align;
    bool quick = cost_us > 0 && cost_us <= HURRY_US;
    if (fits && !quick && choice->variant->where == BEV_CPU && choice->variant != last)
        choice->variant = engine->live.stand_in = last;
}

static bool pool(Engine *engine, PipelineNeeds needs, Err *err) {
    State state = engine->state;
    engine->live.stand_in = NULL;
    if (engine->quality == ROUGH && engine->measure) {
        take_stand_in(engine, &state.job.choice);
        if (state.job.pool_baseline)
            take_stand_in(engine, &state.job.baseline);
    }
    if (!pipeline_run(engine->pipeline, &state, needs, &engine->live, err))
        return false;
    engine->live.job = engine->state.job;
    return true;
}

/* All but the picture. */
static bool compute(Engine *engine) {
    Err err = {.kind = ERR_FAILED};
    const PipelineNeeds needs = {.draft = engine->quality == ROUGH,
                                 .sharp = engine->quality == SHARP,
                                 .truth = engine->state.view == engine->state.menu.error_view};
    Reading pooled = engine->live.stages_us[STAGE_POOL];
    engine->live.stages_us[STAGE_POOL].source = SOURCE_UNKNOWN; /* set again where it was run */
    bool ok = pool(engine, needs, &err);
    bool launched = engine->live.stages_us[STAGE_POOL].source != SOURCE_UNKNOWN;
    if (!launched)
        engine->live.stages_us[STAGE_POOL] = pooled;
    if (!ok) {
        complain(engine, &err);
        return false;
    }
    engine->live.problem[0] = '\0';
    engine->has_frame = true;
    notice_changes(engine);
    if (engine->measure) {
        measure_aim(engine->measure, pipeline_parts(engine->pipeline), &engine->state.job);
        if (launched && !engine->live.stand_in)
            measure_observe(engine->measure, engine->live.stages_us[STAGE_POOL].value);
    }
    aim_model(engine);
    return true;
}

static bool run(Engine *engine) {
    bool ok = compute(engine);
    if (ok)
        dress(engine);
    return ok;
}

/* Of two wishes in a row at most one is passed over: something is always shown. */
static bool pass_over(Engine *engine) {
    pthread_mutex_lock(&engine->lock);
    engine->passed_over = engine->has_wish && !engine->passed_over;
    pthread_mutex_unlock(&engine->lock);
    return engine->passed_over;
}

static void answer(Engine *engine, const State *wish) {
    bool moved = wish->job.time_s != engine->state.job.time_s;
    engine->state = *wish;
    engine->wish_ms = clock_ms();
    engine->device_lost = false;
    engine->quality = ROUGH;
    if (compute(engine)) {
        if (pass_over(engine))
            return;
        dress(engine);
    }
    if (moved)
        count_frame(engine);
    else if (!wish->playing)
        engine->live.fps = (Reading){.value = 0};
    deliver(engine);
}

/* ---- in between
 * ------------------------------------------------------------------------------------ */

/* Formats in the order in which they matter: the selected one first. False: all are known. */
static bool next_format(const Engine *engine, BevDtype *dtype) {
    const Choice *choice = &engine->state.job.choice;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++) {
        *dtype = (BevDtype)((choice->dtype + i) % BEV_DTYPE_COUNT);
        const LiveAccuracy *known = &engine->live.accuracy[*dtype];
        bool possible =
            choice->variant->dtypes & 1u << *dtype && choice->variant->aligns & 1u << choice->align;
        if (possible && (known->source == SOURCE_UNKNOWN || known->stale))
            return true;
    }
    return false;
}

/* The selection's own verdict comes before the timing of other rungs and, while nothing moves,
 * after its own timing; those of other formats never run beside a slow launch. */
static bool may_ask(const Engine *engine, BevDtype dtype, bool still) {
    if (still)
        return measure_knows_selection(engine->measure) && !measure_busy(engine->measure);
    return dtype == engine->state.job.choice.dtype || !measure_busy(engine->measure);
}

static void consult_judge(Engine *engine, bool still) {
    Verdict verdict;
    if (judge_take(engine->judge, &verdict) && verdict.epoch == engine->epoch) {
        if (verdict.failed) {
            complain(engine, &verdict.err);
            /* Not asked again until something changes. */
            verdict.accuracy.source = SOURCE_MEASURED;
            verdict.accuracy.gate_a = LIVE_SKIP;
        }
        engine->live.accuracy[verdict.choice.dtype] = verdict.accuracy;
        engine->news = true;
    }
    Choice choice = engine->state.job.choice;
    if (next_format(engine, &choice.dtype) && may_ask(engine, choice.dtype, still))
        judge_ask(engine->judge, pipeline_parts(engine->pipeline), &choice, engine->epoch);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ino == b->st_ino && a->st_size == b->st_size;
}

static void tell(Engine *engine, const Err *err) {
    err_line(err, engine->note, sizeof engine->note);
    engine->notes++;
    engine->news = true;
}

static void tell_of_file(Engine *engine, const char *what) {
    Err err;
    err_set(&err, ERR_FAILED, "the scene's file", "", "%s", what);
    tell(engine, &err);
}

static void check_file(Engine *engine) {
    struct stat now;
    if (!engine->has_file || clock_ms() - engine->file_ms < FILE_CHECK_MS)
        return;
    engine->file_ms = clock_ms();
    if (stat(engine->state.menu.scenes.names[engine->state.job.scene], &now) != 0) {
        engine->has_file = false;
        tell_of_file(engine, "it has vanished, the copy in memory stays");
    } else if (!same_file(&now, &engine->file)) {
        engine->file = now;
        pipeline_forget_scene(engine->pipeline);
        engine->quality = ROUGH;
        if (run(engine))
            tell_of_file(engine, "it has changed, read again");
        engine->news = true;
    }
}

static bool model_comes_first(const Engine *engine) {
    return model_lane_first(engine->model_lane) && clock_ms() - engine->wish_ms < MODEL_FIRST_MS;
}

/* Beside timings walks rest. */
static void consult_model(Engine *engine, bool still, bool timing) {
    bool rests = still && (timing || measure_busy(engine->measure));
    model_lane_hold(engine->model_lane, rests && !model_comes_first(engine));
    take_model(engine);
}

static MeasureStep measure(Engine *engine, bool still) {
    Err err;
    bool failed;
    double begun = clock_ms();
    if (still ? judge_busy(engine->judge) || model_comes_first(engine)
              : begun < engine->measure_ms)
        return MEASURE_REST;
    MeasureStep step = measure_step(engine->measure, still, &failed, &err);
    if (failed)
        complain(engine, &err);
    engine->news |= step == MEASURE_NEWS;
    engine->measure_ms = clock_ms() + MOVING_REST * (clock_ms() - begun);
    return step;
}

static void look_at_gpu(Engine *engine) {
    if (!engine->gpu)
        return;
    if (!engine->probed)
        live_gpu_probe(engine->gpu);
    engine->probed = true;
    engine->news |= live_gpu_refresh(engine->gpu);
}

/* Hardware counters count whoever uses the GPU, so nobody else may. */
static bool count_selection(Engine *engine) {
    Err err;
    if (engine->counted == engine->state.counts || measure_busy(engine->measure) ||
        judge_busy(engine->judge))
        return false;
    engine->counted = engine->state.counts;
    if (live_counters_take(pipeline_parts(engine->pipeline), &engine->state.job.choice,
                           &engine->live.counters, &err)) {
        char line[160];
        live_counters_line(&engine->live.counters, &engine->state.job, line, sizeof line);
        err_set(&err, ERR_FAILED, "counters, measured", "", "%s", line);
    }
    tell(engine, &err);
    return true;
}

/* The rung for which another one stands in would keep a key waiting. */
static bool may_refine(const Engine *engine) {
    return !engine->live.stand_in || clock_ms() - engine->wish_ms > LONG_STILL_MS;
}

/* One short piece of work; false: nothing to do for the moment. While somebody types at a picture
 * that stands, the next key is all that counts. */
static bool background(Engine *engine) {
    bool still = !engine->state.playing && clock_ms() - engine->wish_ms > STILL_MS;
    if (!engine->has_frame)
        return false;
    check_file(engine);
    if (still && engine->quality != SHARP && may_refine(engine)) {
        engine->quality++; /* one at a time: a wish that comes now waits for one only */
        run(engine);
        deliver(engine);
        return true;
    }
    if (!engine->options.background || !(still || engine->state.playing))
        return false;
    look_at_gpu(engine);
    if (count_selection(engine))
        return true;
    consult_judge(engine, still);
    bool more = measure(engine, still) != MEASURE_REST;
    consult_model(engine, still, more);
    return more;
}

/* ---- the thread
 * -------------------------------------------------------------------------------------- */

static void wake(void *context) {
    Engine *engine = context;
    pthread_mutex_lock(&engine->lock);
    engine->woken = true;
    pthread_cond_signal(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

/* Waits for a wish, a verdict, or until it is time to look around again. */
static void rest(Engine *engine) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&engine->lock);
    if (!engine->stop && !engine->has_wish && !engine->woken)
        pthread_cond_timedwait(&engine->changed, &engine->lock, &until);
    engine->woken = false;
    pthread_mutex_unlock(&engine->lock);
}

static bool take_wish(Engine *engine, State *wish, bool *stop) {
    pthread_mutex_lock(&engine->lock);
    bool has_wish = engine->has_wish;
    if (has_wish) {
        *wish = engine->wish;
        engine->answered = engine->wishes;
    }
    engine->has_wish = false;
    *stop = engine->stop;
    pthread_mutex_unlock(&engine->lock);
    return has_wish;
}

static void work(Engine *engine) {
    State wish;
    bool stop;
    for (;;) {
        bool has_wish = take_wish(engine, &wish, &stop);
        if (stop)
            return;
        if (has_wish)
            answer(engine, &wish);
        bool busy = background(engine);
        if (engine->news && clock_ms() - engine->news_ms > NEWS_MS)
            deliver(engine);
        if (!busy)
            rest(engine);
    }
}

static void *engine_main(void *argument) {
    Engine *engine = argument;
    Err err;
    if (engine->options.thread_begin && !engine->options.thread_begin(&err))
        complain(engine, &err);
    if (engine->options.where & 1u << BEV_CUDA)
        engine->gpu = live_gpu_open();
    work(engine);
    live_gpu_close(engine->gpu);
    if (engine->options.thread_end)
        engine->options.thread_end();
    return NULL;
}

/* ---- opening and closing
 * -------------------------------------------------------------------------------- */

static void describe_cpu(LiveDevice *device) {
    Machine machine;
    machine_read(&machine);
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, machine.cpu);
    device->where = BEV_CPU;
    device->threads = machine.threads;
    int64_t cache = machine.l3_bytes ? machine.l3_bytes : machine.l2_bytes;
    if (cache)
        device->l2_bytes = reading((double)cache, SOURCE_MEASURED);
}

static void init_lock(Engine *engine) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&engine->lock, NULL);
}

bool engine_open(Engine **out, const EngineOptions *options, Err *err) {
    Engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return err_set(err, ERR_FAILED, "engine", "", "out of memory");
    *out = engine;
    engine->options = *options;
    live_init(&engine->live);
    describe_cpu(&engine->cpu);
    init_lock(engine);
    engine->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = engine->ready_fd >= 0 || err_set(err, ERR_FAILED, "engine", "", "no eventfd");
    ok = ok && pipeline_open(&engine->pipeline, err);
    if (ok && options->background)
        ok = measure_open(&engine->measure, options->where, wake, engine, err) &&
             judge_open(&engine->judge, wake, engine, err) &&
             model_lane_open(&engine->model_lane, wake, engine, err);
    if (ok && pthread_create(&engine->thread, NULL, engine_main, engine) != 0)
        ok = err_set(err, ERR_FAILED, "engine", "", "no thread");
    engine->running = ok;
    if (!ok) {
        engine_close(engine);
        *out = NULL;
    }
    return ok;
}

void engine_close(Engine *engine) {
    if (!engine)
        return;
    if (engine->running) {
        pthread_mutex_lock(&engine->lock);
        engine->stop = true;
        pthread_cond_signal(&engine->changed);
        pthread_mutex_unlock(&engine->lock);
        pthread_join(engine->thread, NULL);
    }
    model_lane_close(engine->model_lane); /* its walk ends early, and leaves the core to gates */
    judge_close(engine->judge);
    measure_close(engine->measure);
    pipeline_close(engine->pipeline);
    shared_drop(engine->picture);
    shared_drop(engine->model);
    frame_free(engine->ready);
    frame_free(engine->front);
    frame_free(engine->retired);
    if (engine->ready_fd >= 0)
        close(engine->ready_fd);
    pthread_cond_destroy(&engine->changed);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}
