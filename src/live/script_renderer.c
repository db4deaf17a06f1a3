#include "src/live/script_renderer.h"

#include "src/live/judge.h"
#include "src/live/live_model.h"
#include "src/live/recorded_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ScriptRenderer {
    Pipeline *pipeline;
    LiveModel *model;
    RecordedSet recorded;
    /* What the accuracy figures belong to. */
    KernelConfig judged;
    FrameInputs judged_parts;
};

bool script_renderer_open(ScriptRenderer **out, Err *err) {
    ScriptRenderer *still = calloc(1, sizeof *still);
    if (!still)
        return err_set(err, ERR_FAILED, "script", "", "out of memory");
    if (!pipeline_open(&still->pipeline, err) || !live_model_open(&still->model, err)) {
        script_renderer_close(still);
        return false;
    }
    recorded_load_samples(&still->recorded);
    *out = still;
    return true;
}

void script_renderer_close(ScriptRenderer *still) {
    if (!still)
        return;
    frame_inputs_drop(&still->judged_parts);
    pipeline_close(still->pipeline);
    live_model_close(still->model);
    recorded_free(&still->recorded);
    free(still);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static void forget_accuracy(LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        live->accuracy[dtype] = (LiveAccuracy){.worst_cell = -1};
}

static bool judge(ScriptRenderer *still, const KernelConfig *config, LiveData *live, Err *err) {
    const FrameInputs *parts = pipeline_parts(still->pipeline), *before = &still->judged_parts;
    if (before->map != parts->map || before->features != parts->features ||
        still->judged.kernel != config->kernel || still->judged.align != config->align)
        forget_accuracy(live);
    if (live->accuracy[config->dtype].source == SOURCE_UNKNOWN &&
        !judge_now(parts, config, &live->accuracy[config->dtype], err))
        return false;
    still->judged = *config;
    frame_inputs_drop(&still->judged_parts);
    still->judged_parts = frame_inputs_keep(parts);
    return true;
}

static bool only_time_passed(const ScriptRenderer *still, const KernelConfig *config) {
    const FrameInputs *parts = pipeline_parts(still->pipeline), *before = &still->judged_parts;
    return before->features && before->map == parts->map &&
           kernel_config_equal(&still->judged, config) &&
           before->features->shape.channels == parts->features->shape.channels &&
           before->features->temperature == parts->features->temperature;
}

bool still_catch_up(ScriptRenderer *still, const State *state, LiveData *live, Err *err) {
    return judge(still, &state->job.config, live, err);
}

/* ---- timings --------------------------------------------------------------------------------- */

static void fill_recorded(const ScriptRenderer *still, const KernelConfig *config,
                          LiveKernel *row) {
    const FrameInputs *parts = pipeline_parts(still->pipeline);
    recorded_show(&still->recorded, parts->scene->scene.name, parts->features->shape.channels,
                  config->dtype, config->align, row);
}

static void fill_kernels(const ScriptRenderer *still, const Job *job, LiveData *live) {
    const FrameInputs *parts = pipeline_parts(still->pipeline);
    LiveKernel baseline = {.kernel = job->baseline.kernel};
    live->kernel_count = 0;
    for (int i = 0; bev_kernels[i] && live->kernel_count < LIVE_MAX_KERNELS; i++) {
        if (!bev_kernels[i]->launch)
            continue;
        LiveKernel *row = &live->kernels[live->kernel_count++];
        KernelConfig config = {bev_kernels[i], job->config.dtype, job->config.align};
        BevProblem problem = {.shape = parts->features->shape,
                              .dtype = config.dtype,
                              .align = config.align,
                              .map = parts->map->map};
        *row = (LiveKernel){.kernel = config.kernel,
                            .skipped = bev_unsupported(config.kernel, &problem)};
        fill_recorded(still, &config, row);
    }
    fill_recorded(still, &job->baseline, &baseline);
    live->baseline_us = baseline.median_us;
}

/* ---- memory model ---------------------------------------------------------------------------- */

static bool fill_model(ScriptRenderer *still, const State *state, LiveData *live, Err *err) {
    const FrameInputs *parts = pipeline_parts(still->pipeline);
    ModelDepth depth = live_model_depth(state);
    if (!live_model_aim(still->model, &parts->features->shape, parts->map, &state->job.config, err))
        return false;
    while (live_model_step(still->model, depth, NULL)) {
    }
    live->model = live_model_known(still->model);
    return true;
}

/* ---- a frame --------------------------------------------------------------------------------- */

/* Whose timings are shown is all that is said about a machine: the rest would differ elsewhere. */
static void describe_device(const Job *job, LiveData *live) {
    const LiveKernel *row = live_kernel(live, job->config.kernel);
    live->device = (LiveDevice){.where = job->config.kernel->where};
    if (row && row->recorded_on[0])
        snprintf(live->device.name, sizeof live->device.name, "recorded on %.80s",
                 row->recorded_on);
    else
        snprintf(live->device.name, sizeof live->device.name, "script, nothing measured");
    live->fps = (Reading){0};
    memset(live->stages_us, 0, sizeof live->stages_us);
}

bool script_renderer_run(ScriptRenderer *still, const State *state, LiveData *live,
                         SceneFacts *facts, Err *err) {
    PipelineNeeds needs = {.fp64_original = state_shows_errors(state)};
    if (!pipeline_run(still->pipeline, state, needs, live, err))
        return false;
    *facts = pipeline_parts(still->pipeline)->scene->facts;
    if (!only_time_passed(still, &state->job.config) &&
        !judge(still, &state->job.config, live, err))
        return false;
    fill_kernels(still, &state->job, live);
    describe_device(&state->job, live);
    return fill_model(still, state, live, err);
}
