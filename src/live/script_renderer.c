#include "src/live/script_renderer.h"

#include "src/live/background_job.h"
#include "src/live/timed_kernel.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ScriptRenderer {
    Pipeline *pipeline;
    LiveModel *model;
    LiveTrainer trainer;
    RecordedSet recorded;
    /* What the accuracy figures belong to. */
    KernelConfig checked;
    FrameInputs checked_inputs;
};

bool script_renderer_open(ScriptRenderer **out, Err *err) {
    ScriptRenderer *renderer = calloc(1, sizeof *renderer);
    if (!renderer)
        return err_set(err, ERR_FAILED, "script", "", "out of memory");
    if (!pipeline_open(&renderer->pipeline, err) || !live_model_open(&renderer->model, err)) {
        script_renderer_close(renderer);
        return false;
    }
    renderer->trainer.untimed = true;
    recorded_load_samples(&renderer->recorded, NULL);
    *out = renderer;
    return true;
}

void script_renderer_close(ScriptRenderer *renderer) {
    if (!renderer)
        return;
    frame_inputs_drop(&renderer->checked_inputs);
    live_trainer_clear(&renderer->trainer);
    pipeline_close(renderer->pipeline);
    live_model_close(renderer->model);
    recorded_free(&renderer->recorded);
    free(renderer);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static void forget_accuracy(LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        live->accuracy[dtype] = (LiveAccuracy){.worst_cell = -1};
}

static bool check_accuracy(ScriptRenderer *renderer, const KernelConfig *config, LiveData *live,
                           Err *err) {
    const FrameInputs *inputs = pipeline_inputs(renderer->pipeline),
                      *before = &renderer->checked_inputs;
    if (before->map != inputs->map || before->features != inputs->features ||
        renderer->checked.kernel != config->kernel || renderer->checked.align != config->align)
        forget_accuracy(live);
    if (live->accuracy[config->dtype].source == SOURCE_UNKNOWN &&
        !background_accuracy(inputs, config, NULL, &live->accuracy[config->dtype], err))
        return false;
    renderer->checked = *config;
    frame_inputs_drop(&renderer->checked_inputs);
    renderer->checked_inputs = frame_inputs_keep(inputs);
    return true;
}

static bool only_time_passed(const ScriptRenderer *renderer, const KernelConfig *config) {
    const FrameInputs *inputs = pipeline_inputs(renderer->pipeline),
                      *before = &renderer->checked_inputs;
    return before->features && before->map == inputs->map &&
           kernel_config_equal(&renderer->checked, config) &&
           before->features->shape.channels == inputs->features->shape.channels &&
           before->features->temperature == inputs->features->temperature;
}

bool script_renderer_check_accuracy(ScriptRenderer *renderer, const State *state, LiveData *live,
                                    Err *err) {
    return check_accuracy(renderer, &state->job.config, live, err);
}

/* ---- timings --------------------------------------------------------------------------------- */

static void fill_recorded(const ScriptRenderer *renderer, const KernelConfig *config,
                          LiveKernel *row) {
    const FrameInputs *inputs = pipeline_inputs(renderer->pipeline);
    timed_kernel_show_recorded(&renderer->recorded, timed_kernel_scene(inputs),
                               inputs->features->shape.channels, config->dtype, config->align, row);
}

static void fill_kernels(const ScriptRenderer *renderer, const Job *job, LiveData *live) {
    const FrameInputs *inputs = pipeline_inputs(renderer->pipeline);
    LiveKernel baseline = {.kernel = job->baseline.kernel};
    live->kernel_count = 0;
    for (int i = 0; bev_kernels[i] && live->kernel_count < LIVE_MAX_KERNELS; i++) {
        if (!bev_kernels[i]->launch ||
            bev_kernels[i]->direction != job->config.kernel->direction)
            continue;
        LiveKernel *row = &live->kernels[live->kernel_count++];
        KernelConfig config = {bev_kernels[i], job->config.dtype, job->config.align};
        BevProblem problem = {.shape = inputs->features->shape,
                              .direction = config.kernel->direction,
                              .dtype = config.dtype,
                              .align = config.align,
                              .map = inputs->map->map};
        *row = (LiveKernel){.kernel = config.kernel,
                            .skipped = bev_unsupported(config.kernel, &problem)};
        fill_recorded(renderer, &config, row);
    }
    timed_kernel_fill_elsewhere(&renderer->recorded, timed_kernel_scene(inputs),
                                inputs->features->shape.channels, &job->config, live);
    fill_recorded(renderer, &job->baseline, &baseline);
    live->baseline_us = baseline.median_us;
}

/* ---- memory model ---------------------------------------------------------------------------- */

static bool fill_model(ScriptRenderer *renderer, const State *state, LiveData *live, Err *err) {
    const FrameInputs *inputs = pipeline_inputs(renderer->pipeline);
    ModelDepth depth = live_model_depth(state);
    if (!live_model_aim(renderer->model, &inputs->features->shape, inputs->map, &state->job.config,
                        err))
        return false;
    live_model_want(renderer->model, state->lesson.open ? state->lesson.model_kernels : 0);
    while (live_model_step(renderer->model, depth, NULL)) {
    }
    live->model = live_model_known(renderer->model);
    return true;
}

/* ---- a frame --------------------------------------------------------------------------------- */

/* Says nothing about this machine, as pictures of a script are the same on every machine. */
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

/* Takes all steps that the job asks for, and renders what they lead to. */
static bool train(ScriptRenderer *renderer, State *state, PipelineNeeds needs, LiveData *live,
                  Err *err) {
    Training *training;
    if (!pipeline_lacks_training(renderer->pipeline, &state->job))
        return true;
    if (!live_trainer_run(&renderer->trainer, pipeline_inputs(renderer->pipeline), &state->job,
                          (TrainBudget){INFINITY, INT_MAX}, &training, err))
        return false;
    pipeline_offer_training(renderer->pipeline, training);
    return pipeline_run(renderer->pipeline, state, needs, live, err) == PIPELINE_DONE;
}

bool script_renderer_run(ScriptRenderer *renderer, const State *asked, LiveData *live,
                         SceneFacts *facts, Err *err) {
    State valid = *asked, *state = &valid;
    PipelineNeeds needs = {.fp64_original = state_shows_errors(state)};
    if (pipeline_run(renderer->pipeline, state, needs, live, err) != PIPELINE_DONE)
        return false;
    if (!train(renderer, state, needs, live, err))
        return false;
    *facts = pipeline_inputs(renderer->pipeline)->scene->facts;
    if (!only_time_passed(renderer, &state->job.config) &&
        !check_accuracy(renderer, &state->job.config, live, err))
        return false;
    fill_kernels(renderer, &state->job, live);
    describe_device(&state->job, live);
    return fill_model(renderer, state, live, err);
}
