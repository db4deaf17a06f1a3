/* The engine of a script: a frame at once, on the caller's thread, and the same on every machine.
 * Nothing is measured: timings come from recordings or stay unknown. */
#include "src/live/engine_internal.h"

#include "src/base/ref.h"
#include "src/live/timed_kernel.h"

#include <string.h>

bool engine_open_script(Engine *engine, Err *err) {
    return live_model_open(&engine->live_model, &engine->recorded, err);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

/* Of the selection, at this moment of the world: other formats are not checked. */
static bool check_accuracy(Engine *engine, Err *err) {
    const FrameInputs *inputs = pipeline_inputs(engine->pipeline), *before = &engine->shown;
    const KernelConfig *config = &engine->state.job.config, *checked = &engine->shown_config;
    LiveAccuracy *accuracy = engine->live.accuracy;
    bool same = before->map == inputs->map && before->features == inputs->features &&
                checked->kernel == config->kernel && checked->align == config->align;
    for (int dtype = 0; !same && dtype < BEV_DTYPE_COUNT; dtype++)
        accuracy[dtype] = (LiveAccuracy){.worst_cell = -1};
    return accuracy[config->dtype].source != SOURCE_UNKNOWN ||
           background_accuracy(inputs, config, &accuracy[config->dtype], err);
}

/* ---- device ---------------------------------------------------------------------------------- */

/* Names no facts of this machine: pictures of a script are the same on every machine. */
static void fill_device(Engine *engine) {
    const LiveKernel *row = live_kernel(&engine->live, engine->state.job.config.kernel);
    engine->cpu = (LiveDevice){.where = BEV_CPU};
    if (row && row->recorded_on[0])
        snprintf(engine->cpu.name, sizeof engine->cpu.name, "recorded on %.80s", row->recorded_on);
    else
        snprintf(engine->cpu.name, sizeof engine->cpu.name, "script, nothing measured");
    memset(engine->live.stages_us, 0, sizeof engine->live.stages_us);
}

/* ---- memory model ---------------------------------------------------------------------------- */

static bool fill_model(Engine *engine, Err *err) {
    const FrameInputs *inputs = pipeline_inputs(engine->pipeline);
    const State *state = &engine->state;
    ModelDepth depth = live_model_depth(state);
    if (!live_model_aim(engine->live_model, &inputs->features->shape, inputs->map,
                        &state->job.config, err))
        return false;
    live_model_want(engine->live_model, state->lesson.open ? state->lesson.model_kernels : 0);
    while (live_model_step(engine->live_model, depth, NULL)) {
    }
    ref_drop(engine->model);
    engine->live.model = engine->model = ref_keep(live_model_known(engine->live_model));
    return true;
}

/* ---- a frame --------------------------------------------------------------------------------- */

static bool run_pipeline(Engine *engine, Err *err) {
    const PipelineNeeds needs = {.fp64_original = state_shows_errors(&engine->state)};
    return pipeline_run(engine->pipeline, &engine->state, needs, &engine->live, err) ==
           PIPELINE_DONE;
}

/* The scene, and the subject of the accuracy. */
static void note_inputs(Engine *engine) {
    const FrameInputs *inputs = pipeline_inputs(engine->pipeline);
    engine->loads += inputs->scene != engine->shown.scene;
    frame_inputs_hold(&engine->shown, inputs);
    engine->shown_config = engine->state.job.config;
}

void engine_render_script(Engine *engine, const State *request) {
    Err err = {.kind = ERR_FAILED};
    engine->answered++;
    engine->state = *request;
    bool ok = run_pipeline(engine, &err) && check_accuracy(engine, &err);
    if (ok) {
        note_inputs(engine);
        timed_kernel_fill_recorded(&engine->recorded, pipeline_inputs(engine->pipeline),
                                   &engine->state.job, &engine->live);
        fill_device(engine);
    }
    if (!ok || !fill_model(engine, &err) || !engine_draw(engine, NULL, &err))
        engine_report_error(engine, &err);
    engine_publish(engine);
}
