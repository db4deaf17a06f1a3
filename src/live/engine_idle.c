/* What the worker does between frames: finer pictures, accuracy, timings, the model of memory. */
#include "src/live/engine_internal.h"

#include "src/live/live_counters.h"
#include "src/base/clock.h"

enum {
    STILL_MS = 200,       /* without a new wish: time for what takes longer */
    MODEL_FIRST_MS = 1000 /* so long the selection's model comes before timings */
};
static const double MOVING_REST = 5; /* moving: this many times as long no slice as one took */

static void tell(Engine *engine, const Err *err) {
    err_line(err, engine->note, sizeof engine->note);
    engine->notes++;
    engine->news = true;
}

/* ---- finer pictures -------------------------------------------------------------------------- */

/* One at a time: a wish that comes now waits for one only. */
static bool refine(Engine *engine) {
    if (engine->quality == SHARP)
        return false;
    remake(engine, engine->quality + 1);
    return true;
}

/* Asks for the grid of a kernel for which another one stands in, and shows it when it comes. */
static bool bring_slow_grid(Engine *engine) {
    measure_want_grid(engine->measure, pipeline_lacks(engine->pipeline));
    PooledGrid *grid = measure_take_grid(engine->measure);
    if (!grid)
        return false;
    pipeline_offer(engine->pipeline, grid);
    remake(engine, engine->quality);
    return true;
}

static void tell_of_file(Engine *engine, const char *what) {
    Err err;
    err_set(&err, ERR_FAILED, "the scene's file", "", "%s", what);
    tell(engine, &err);
}

static void look_at_file(Engine *engine) {
    const State *state = &engine->state;
    switch (scene_file_look(&engine->file, state->menu.scenes.names[state->job.scene])) {
    case SCENE_FILE_SAME:
        return;
    case SCENE_FILE_GONE:
        tell_of_file(engine, "it has vanished, the copy in memory stays");
        return;
    case SCENE_FILE_CHANGED:
        pipeline_forget_scene(engine->pipeline);
        if (remake(engine, ROUGH) != PIPELINE_FAILED)
            tell_of_file(engine, "it has changed, read again");
        engine->news = true;
    }
}

/* ---- accuracy -------------------------------------------------------------------------------- */

/* Formats in the order in which they matter: the selected one first. False: all are known. */
static bool next_format(const Engine *engine, BevDtype *dtype) {
    const KernelConfig *config = &engine->state.job.config;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++) {
        *dtype = (BevDtype)((config->dtype + i) % BEV_DTYPE_COUNT);
        const LiveAccuracy *known = &engine->live.accuracy[*dtype];
        bool possible =
            config->kernel->dtypes & 1u << *dtype && config->kernel->aligns & 1u << config->align;
        if (possible && (known->source == SOURCE_UNKNOWN || known->stale))
            return true;
    }
    return false;
}

/* The selection's own verdict comes before the timing of other kernels and, while nothing moves,
 * after its own timing and its own picture; those of other formats never run beside a slow
 * launch. */
static bool may_ask(const Engine *engine, BevDtype dtype, bool still) {
    if (still)
        return measure_knows_selection(engine->measure) && !measure_owes_grid(engine->measure) &&
               !measure_busy(engine->measure);
    return dtype == engine->state.job.config.dtype || !measure_busy(engine->measure);
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
        engine->live.accuracy[verdict.config.dtype] = verdict.accuracy;
        engine->news = true;
    }
    KernelConfig config = engine->state.job.config;
    if (next_format(engine, &config.dtype) && may_ask(engine, config.dtype, still))
        judge_ask(engine->judge, pipeline_inputs(engine->pipeline), &config, engine->epoch);
}

/* ---- timings, the model, counters ------------------------------------------------------------ */

static bool model_comes_first(const Engine *engine) {
    return model_lane_first(engine->model_lane) && clock_ms() - engine->wish_ms < MODEL_FIRST_MS;
}

/* Beside timings walks rest, while nothing moves from one timing to the next. */
static void consult_model(Engine *engine, bool still, bool timing) {
    bool rests = still && (timing || measure_busy(engine->measure));
    model_lane_hold(engine->model_lane, rests && !model_comes_first(engine));
    take_model(engine);
}

static MeasureStep measure(Engine *engine, bool still) {
    Err err;
    bool failed;
    double begun = clock_ms();
    if (still ? judge_busy(engine->judge) || model_comes_first(engine) : begun < engine->measure_ms)
        return MEASURE_REST;
    model_lane_hold(engine->model_lane, true);
    MeasureStep step = measure_step(engine->measure, still, &failed, &err);
    if (failed)
        complain(engine, &err);
    engine->news |= step == MEASURE_NEWS;
    engine->measure_ms = clock_ms() + MOVING_REST * (clock_ms() - begun);
    return step;
}

static void probe_gpu(Engine *engine) {
    int row;
    live_gpu_probe(engine->gpu);
    engine->probed = true;
    const Limits *limits = live_gpu_limits(engine->gpu, &row);
    if (limits)
        model_lane_measured(engine->model_lane, row, limits);
}

static void look_at_gpu(Engine *engine) {
    if (!engine->gpu)
        return;
    if (!engine->probed)
        probe_gpu(engine);
    engine->news |= live_gpu_refresh(engine->gpu);
}

/* Hardware counters count whoever uses the GPU, so nobody else may. */
static bool count_selection(Engine *engine) {
    Err err;
    if (engine->counted == engine->state.counts || measure_busy(engine->measure) ||
        judge_busy(engine->judge))
        return false;
    engine->counted = engine->state.counts;
    if (live_counters_take(pipeline_inputs(engine->pipeline), &engine->state.job.config,
                           &engine->live.counters, &err)) {
        char line[160];
        live_counters_line(&engine->live.counters, &engine->state.job, line, sizeof line);
        err_set(&err, ERR_FAILED, "counters, measured", "", "%s", line);
    }
    tell(engine, &err);
    return true;
}

/* ---- in turn --------------------------------------------------------------------------------- */

/* While somebody types at a picture that stands, the next key is all that counts. */
bool work_in_between(Engine *engine) {
    bool still = !engine->state.playing && clock_ms() - engine->wish_ms > STILL_MS;
    if (!engine->has_frame)
        return false;
    look_at_file(engine);
    if (still && refine(engine))
        return true;
    if (!engine->options.background || !(still || engine->state.playing))
        return false;
    look_at_gpu(engine);
    if ((still && bring_slow_grid(engine)) || count_selection(engine))
        return true;
    consult_judge(engine, still);
    bool more = measure(engine, still) != MEASURE_REST;
    consult_model(engine, still, more);
    return more;
}
