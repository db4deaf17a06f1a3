#include "src/live/script_renderer.h"

#include "src/live/judge.h"
#include "src/live/live_model.h"
#include "src/live/recorded_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Still {
    Pipeline *pipeline;
    LiveModel *model;
    RecordedSet recorded;
    /* What the accuracy figures belong to. */
    Choice judged;
    FrameParts judged_parts;
};

bool still_open(Still **out, Err *err) {
    Still *still = calloc(1, sizeof *still);
    if (!still)
        return err_set(err, ERR_FAILED, "script", "", "out of memory");
    if (!pipeline_open(&still->pipeline, err) || !live_model_open(&still->model, err)) {
        still_close(still);
        return false;
    }
    recorded_load_samples(&still->recorded);
    *out = still;
    return true;
}

void still_close(Still *still) {
    if (!still)
        return;
    frame_parts_drop(&still->judged_parts);
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

static bool judge(Still *still, const Choice *choice, LiveData *live, Err *err) {
    const FrameParts *parts = pipeline_parts(still->pipeline), *before = &still->judged_parts;
    if (before->map != parts->map || before->features != parts->features ||
        still->judged.variant != choice->variant || still->judged.align != choice->align)
        forget_accuracy(live);
    if (live->accuracy[choice->dtype].source == SOURCE_UNKNOWN &&
        !judge_now(parts, choice, &live->accuracy[choice->dtype], err))
        return false;
    still->judged = *choice;
    frame_parts_drop(&still->judged_parts);
    still->judged_parts = frame_parts_keep(parts);
    return true;
}

static bool only_time_passed(const Still *still, const Choice *choice) {
    const FrameParts *parts = pipeline_parts(still->pipeline), *before = &still->judged_parts;
    return before->features && before->map == parts->map && choice_equal(&still->judged, choice) &&
           before->features->shape.channels == parts->features->shape.channels &&
           before->features->temperature == parts->features->temperature;
}

bool still_catch_up(Still *still, const State *state, LiveData *live, Err *err) {
    return judge(still, &state->job.choice, live, err);
}

/* ---- timings --------------------------------------------------------------------------------- */

static void fill_recorded(const Still *still, const Choice *choice, LiveKernel *kernel) {
    const FrameParts *parts = pipeline_parts(still->pipeline);
    recorded_show(&still->recorded, parts->scene->scene.name, parts->features->shape.channels,
                  choice->dtype, choice->align, kernel);
}

static void fill_kernels(const Still *still, const Job *job, LiveData *live) {
    const FrameParts *parts = pipeline_parts(still->pipeline);
    LiveKernel baseline = {.variant = job->baseline.variant};
    live->kernel_count = 0;
    for (int i = 0; bev_variants[i] && live->kernel_count < LIVE_MAX_KERNELS; i++) {
        LiveKernel *kernel = &live->kernels[live->kernel_count++];
        Choice choice = {bev_variants[i], job->choice.dtype, job->choice.align};
        BevProblem problem = {.shape = parts->features->shape,
                              .dtype = choice.dtype,
                              .align = choice.align,
                              .map = parts->map->map};
        *kernel = (LiveKernel){.variant = choice.variant,
                               .skipped = bev_unsupported(choice.variant, &problem)};
        fill_recorded(still, &choice, kernel);
    }
    fill_recorded(still, &job->baseline, &baseline);
    live->baseline_us = baseline.median_us;
}

/* ---- memory model ---------------------------------------------------------------------------- */

static bool fill_model(Still *still, const State *state, LiveData *live, Err *err) {
    const FrameParts *parts = pipeline_parts(still->pipeline);
    ModelDepth depth = live_model_depth(state);
    if (!live_model_aim(still->model, &parts->features->shape, parts->map, &state->job.choice, err))
        return false;
    while (live_model_step(still->model, depth, NULL)) {
    }
    live->model = live_model_known(still->model);
    return true;
}

/* ---- a frame --------------------------------------------------------------------------------- */

/* Whose timings are shown is all that is said about a machine: the rest would differ elsewhere. */
static void describe_device(const Job *job, LiveData *live) {
    const LiveKernel *kernel = live_kernel(live, job->choice.variant);
    live->device = (LiveDevice){.where = job->choice.variant->where};
    if (kernel && kernel->recorded_on[0])
        snprintf(live->device.name, sizeof live->device.name, "recorded on %.80s",
                 kernel->recorded_on);
    else
        snprintf(live->device.name, sizeof live->device.name, "script, nothing measured");
    live->fps = (Reading){0};
    memset(live->stages_us, 0, sizeof live->stages_us);
}

bool still_run(Still *still, const State *state, LiveData *live, SceneFacts *facts, Err *err) {
    PipelineNeeds needs = {.truth = state_shows_errors(state)};
    if (!pipeline_run(still->pipeline, state, needs, live, err))
        return false;
    *facts = pipeline_parts(still->pipeline)->scene->facts;
    if (!only_time_passed(still, &state->job.choice) &&
        !judge(still, &state->job.choice, live, err))
        return false;
    fill_kernels(still, &state->job, live);
    describe_device(&state->job, live);
    return fill_model(still, state, live, err);
}
