/* From a wish to the frame that answers it. */
#include "src/live/engine_internal.h"

#include "src/base/ref.h"
#include "src/base/kernel_config.h"
#include "src/base/clock.h"

#include <math.h>
#include <string.h>

enum { SETTLED_MS = 50 }; /* what a key has waited for so long does not give way to the next one */

/* ---- what a frame means for the figures that stay -------------------------------------------- */

static void go_stale(Engine *engine) {
    engine->epoch++;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        engine->live.accuracy[dtype].stale = engine->live.accuracy[dtype].source != SOURCE_UNKNOWN;
    engine->live.counters.stale = engine->live.counters.source != SOURCE_UNKNOWN;
}

/* What the pipeline's new parts mean for them. */
static void notice_changes(Engine *engine) {
    const FrameInputs *parts = pipeline_parts(engine->pipeline);
    const KernelConfig *config = &engine->state.job.config;
    if (parts->scene != engine->seen_scene) {
        engine->loads++;
        scene_file_watch(&engine->file, engine->state.menu.scenes.names[engine->state.job.scene]);
    }
    if (parts->map != engine->seen_map || config->kernel != engine->seen_choice.kernel)
        go_stale(engine);
    engine->seen_scene = parts->scene;
    engine->seen_map = parts->map;
    engine->seen_choice = *config;
}

void complain(Engine *engine, const Err *err) {
    char line[sizeof engine->live.error_text + 1];
    err_line(err, line, (int)sizeof engine->live.error_text);
    memcpy(engine->live.error_text, line, sizeof engine->live.error_text);
    engine->err = *err;
    engine->device_lost = err->kind == ERR_DEVICE;
}

void take_model(Engine *engine) {
    MemoryModel *model;
    engine->news |= model_lane_take(engine->model_lane, &model);
    ref_drop(engine->model);
    engine->live.model = engine->model = model;
}

static void aim_model(Engine *engine) {
    const FrameInputs *parts = pipeline_parts(engine->pipeline);
    if (!engine->model_lane)
        return;
    model_lane_aim(engine->model_lane, parts->features, parts->map, &engine->state.job.config,
                   live_model_depth(&engine->state));
    take_model(engine);
}

static void aim(Engine *engine, bool launched) {
    const FrameInputs *parts = pipeline_parts(engine->pipeline);
    if (engine->measure) {
        measure_aim(engine->measure, parts, &engine->state.job);
        if (launched && !engine->live.stand_in)
            measure_observe(engine->measure, engine->live.stages_us[STAGE_POOL].value);
    }
    aim_model(engine);
}

/* ---- contents -------------------------------------------------------------------------------- */

/* Of two wishes in a row at most one is passed over: something is always shown. */
static bool gives_way(void *context) {
    Engine *engine = context;
    return !engine->passed_over && wish_waits(engine, engine->settled_ms);
}

/* In the place of a kernel that no key can wait for, the default one pools until the slow one has
 * left its grid. The screens say so. */
static const BevKernel *stand_in_for(const Engine *engine, const KernelConfig *config) {
    const BevKernel *fast = bev_default(BEV_CPU);
    bool fits = fast->dtypes & 1u << config->dtype && fast->aligns & 1u << config->align;
    bool slow = engine->measure && config->kernel->where == BEV_CPU && config->kernel != fast &&
                measure_is_slow(engine->measure, config);
    return slow && fits ? fast : NULL;
}

static PipelineNeeds needs_of(Engine *engine) {
    const State *state = &engine->state;
    return (PipelineNeeds){
        .draft = engine->quality == ROUGH,
        .sharp = engine->quality == SHARP,
        .fp64_original = state_shows_errors(state),
        .stand_in = stand_in_for(engine, &state->job.config),
        .baseline_stand_in =
            state->job.pool_baseline ? stand_in_for(engine, &state->job.baseline) : NULL,
        .give_up = {gives_way, engine},
    };
}

/* All but the picture. */
static PipelineEnd compute(Engine *engine) {
    Err err = {.kind = ERR_FAILED};
    LiveData *live = &engine->live;
    Reading pooled = live->stages_us[STAGE_POOL];
    live->stages_us[STAGE_POOL].source = SOURCE_UNKNOWN; /* set again where it was run */
    PipelineEnd end = pipeline_run(engine->pipeline, &engine->state, needs_of(engine), live, &err);
    bool launched = live->stages_us[STAGE_POOL].source != SOURCE_UNKNOWN;
    if (!launched)
        live->stages_us[STAGE_POOL] = pooled;
    if (end == PIPELINE_FAILED)
        complain(engine, &err);
    if (end != PIPELINE_DONE)
        return end;
    live->error_text[0] = '\0';
    engine->has_frame = true;
    notice_changes(engine);
    aim(engine, launched);
    return end;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* False: given up. */
static bool dress(Engine *engine) {
    const GiveUp give_up = {gives_way, engine};
    Err err = {.kind = ERR_FAILED};
    if (!engine->options.dress)
        return true;
    double begun = clock_ms();
    void *picture =
        engine->options.dress(&engine->state, &engine->live, engine->picture, &give_up, &err);
    if (!picture && given_up(&give_up))
        return false;
    if (!picture) {
        complain(engine, &err);
        return true;
    }
    if (picture != engine->picture)
        engine->live.stages_us[STAGE_DRAW] = reading((clock_ms() - begun) * 1e3, SOURCE_MEASURED);
    ref_drop(engine->picture);
    engine->picture = picture;
    return true;
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

/* Contents and picture; GIVEN_UP: neither is to be shown. */
static PipelineEnd make(Engine *engine, Quality quality) {
    engine->quality = quality;
    PipelineEnd end = compute(engine);
    engine->passed_over =
        end == PIPELINE_GIVEN_UP || (end == PIPELINE_DONE && (gives_way(engine) || !dress(engine)));
    return engine->passed_over ? PIPELINE_GIVEN_UP : end;
}

PipelineEnd remake(Engine *engine, Quality quality) {
    engine->settled_ms = INFINITY;
    PipelineEnd end = make(engine, quality);
    if (end != PIPELINE_GIVEN_UP)
        deliver(engine);
    return end;
}

/* Walks rest while a picture is on its way: its teams wait for the last of their threads, and that
 * one for a core. */
static void hold_walks(Engine *engine, bool hold) {
    if (engine->model_lane)
        model_lane_hold(engine->model_lane, hold);
}

void answer(Engine *engine, const State *wish) {
    bool moved = wish->job.time_s != engine->state.job.time_s;
    engine->state = *wish;
    engine->wish_ms = clock_ms();
    bool key = !moved || engine->taken > 1; /* moments alone do not come in a row */
    engine->settled_ms = key ? engine->wish_ms + SETTLED_MS : INFINITY;
    engine->device_lost = false;
    hold_walks(engine, true);
    if (make(engine, ROUGH) == PIPELINE_GIVEN_UP)
        return;
    if (moved)
        count_frame(engine);
    else if (!wish->playing)
        engine->live.fps = (Reading){.value = 0};
    deliver(engine);
    hold_walks(engine, false);
}
