/* SPDX-License-Identifier: MIT */
/* Records the steps of warps for the display. The warps are those of a chosen block or warp, else
 * those of the pinned cell, of the cell under the cursor, or of steps_heaviest_cell(). */
#include "src/live/inputs.h"

#include "src/base/ref.h"

#include <string.h>

static void destroy_steps(void *contents) {
    RecordedSteps *recorded = contents;
    steps_free(&recorded->steps.selection);
    steps_free(&recorded->steps.baseline);
    ref_drop(recorded->request.map);
}

/* Records the steps of the selection or of the baseline. The steps are of the kernel `named`. NULL:
 * of the CUDA kernel of the same idea. V3 is recorded as the form that V3 takes on this GPU. False:
 * error_text says why no steps were recorded. */
static bool record_steps(const FrameInputs *inputs, const KernelConfig *config,
                         const BevKernel *named, const StepChoice *choice, const BevGpuFacts *gpu,
                         Steps *steps, char *error_text, size_t size) {
    const KernelConfig forward = inputs_forward_config(config);
    BevProblem problem = inputs_bare_problem(inputs, &forward);
    const BevKernel *kernel = named ? named : bev_counterpart(config->kernel, BEV_CUDA);
    if (kernel && kernel->small_l2) {
        BevWorkload workload = bev_workload(&problem, bev_longest_interval(&problem.map));
        kernel = bev_v3_choose(&workload, gpu).kernel;
    }
    Err err;
    if ((named ? named : config->kernel)->direction == BEV_BACKWARD)
        snprintf(error_text, size, "the steps follow forward kernels only");
    else if (!kernel)
        snprintf(error_text, size, "%s has no CUDA kernel of its idea, and so no steps",
                 config->kernel->title);
    else if (steps_record(kernel, &problem, choice, steps, &err))
        return true;
    else
        err_line(&err, error_text, (int)size);
    steps_free(steps);
    return false;
}

/* Returns a description of the steps to record. A baseline of another align or rig is left out,
 * because its map has other points. */
static StepsRequest request_of(const State *state, const FrameInputs *inputs) {
    const Job *job = &state->job;
    const Gpu gpu = state_gpu(state);
    StepsRequest request;
    memset(&request, 0, sizeof request);
    request.map = inputs->map;
    request.shape = inputs->features->shape;
    request.config = job->config;
    request.probe_cell = inputs_probe_cell(inputs, job);
    request.kernels[0] = job->steps_kernels[0];
    request.kernels[1] = job->steps_kernels[1];
    request.block = job->steps_block;
    request.warp = job->steps_warp;
    request.gpu = gpu_facts(&gpu);
    const bool same_map = !job_rigs_differ(job) && job->baseline.align == job->config.align;
    const bool differs = job->baseline_pinned && !kernel_config_equal(&job->baseline, &job->config);
    if (request.kernels[0] && request.kernels[1])
        request.baseline = job->config;
    else if (!request.kernels[0] && same_map && differs)
        request.baseline = job->baseline;
    return request;
}

/* Records the steps of selection and baseline. The baseline's steps are of the selection's cell, or
 * of the first cell of the chosen block. */
static void record_both(RecordedSteps *made, const FrameInputs *inputs) {
    const StepsRequest *want = &made->request;
    LiveSteps *steps = &made->steps;
    const bool has_block = want->block >= 0;
    steps->cell = want->probe_cell;
    if (steps->cell < 0)
        steps->cell = steps_heaviest_cell(&inputs->map->map, inputs->features->values.depth);
    StepChoice choice = {.cell = has_block ? -1 : steps->cell,
                         .block = want->block,
                         .warp = (int)want->warp,
                         .most = MOST_SHOWN_WARPS};
    if (steps->cell < 0) {
        snprintf(steps->error_text, sizeof steps->error_text, "the map has no points");
        return;
    }
    if (!record_steps(inputs, &want->config, want->kernels[0], &choice, &want->gpu,
                      &steps->selection, steps->error_text, sizeof steps->error_text))
        return;
    if (has_block)
        steps->cell = steps_first_cell(&steps->selection);
    choice = (StepChoice){.cell = steps->cell, .block = -1, .warp = -1, .most = MOST_SHOWN_WARPS};
    if (want->baseline.kernel && steps->cell >= 0)
        record_steps(inputs, &want->baseline, want->kernels[1], &choice, &want->gpu,
                     &steps->baseline, steps->baseline_text, sizeof steps->baseline_text);
}

bool inputs_steps(RecordedSteps *have, const State *state, FrameInputs *next, Err *err) {
    if (!state->job.steps)
        return true;
    const StepsRequest request = request_of(state, next);
    if (have && !memcmp(&have->request, &request, sizeof request)) {
        next->steps = ref_keep(have);
        return true;
    }
    RecordedSteps *made = next->steps = ref_new(sizeof *made, destroy_steps);
    if (!made)
        return err_no_memory(err, "steps", "choose a smaller scene");
    made->request = request;
    ref_keep(request.map);
    record_both(made, next);
    return true;
}
