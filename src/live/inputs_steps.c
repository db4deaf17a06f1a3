/* SPDX-License-Identifier: MIT */
/* Records the steps of warps for the display. The warps are those of a chosen block or warp, else
 * those of the pinned cell, of the cell under the cursor, or of steps_heaviest_cell(). */
#include "src/live/inputs.h"

#include "kernels/regime.h"
#include "src/base/ref.h"
#include "src/cachesim/gpus.h"

#include <string.h>

static void destroy_steps(void *contents) {
    RecordedSteps *recorded = contents;
    steps_free(&recorded->steps.selection);
    steps_free(&recorded->steps.baseline);
    ref_drop(recorded->map);
}

/* Returns the CUDA kernel whose steps are recorded: `named`, or without it the CUDA kernel of the
 * same idea. V3 is returned as the form that it takes on this GPU. NULL: there is none. */
static const BevKernel *recorded_kernel(const KernelConfig *config, const BevKernel *named,
                                        const BevProblem *problem, const BevGpuFacts *gpu) {
    const BevKernel *kernel = named ? named : bev_counterpart(config->kernel, BEV_CUDA);
    if (!kernel || !kernel->small_l2)
        return kernel;
    BevWorkload workload = bev_workload(problem, bev_longest_interval(&problem->map));
    return bev_v3_choose(&workload, gpu).kernel;
}

/* Records the steps of the selection or of the baseline. False: error_text says why there are none.
 */
static bool record_steps(const FrameInputs *inputs, const KernelConfig *config,
                         const BevKernel *named, const StepChoice *choice, const BevGpuFacts *gpu,
                         Steps *steps, char *error_text, size_t size) {
    const KernelConfig forward = inputs_forward_config(config);
    BevProblem problem = inputs_bare_problem(inputs, &forward);
    const BevKernel *kernel = recorded_kernel(config, named, &problem, gpu);
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

static bool same_request(const RecordedSteps *a, const RecordedSteps *b) {
    bool baseline = a->baseline.kernel == b->baseline.kernel &&
                    (!a->baseline.kernel || kernel_config_equal(&a->baseline, &b->baseline));
    return baseline && a->map == b->map && !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           kernel_config_equal(&a->config, &b->config) && a->probe_cell == b->probe_cell &&
           a->kernels[0] == b->kernels[0] && a->kernels[1] == b->kernels[1] &&
           a->block == b->block && a->warp == b->warp && !memcmp(&a->gpu, &b->gpu, sizeof a->gpu);
}

/* Returns a description of the steps to record. A baseline whose map has other points, by align or
 * rig, is left out. */
static RecordedSteps request_of(const State *state, const FrameInputs *inputs) {
    const Job *job = &state->job;
    Gpu gpu = state_gpu(state);
    RecordedSteps request = {.map = inputs->map,
                             .shape = inputs->features->shape,
                             .config = job->config,
                             .probe_cell = inputs_probe_cell(inputs, job),
                             .kernels = {job->steps_kernels[0], job->steps_kernels[1]},
                             .block = job->steps_block,
                             .warp = job->steps_warp,
                             .gpu = gpu_facts(&gpu)};
    if (request.kernels[0]) {
        if (request.kernels[1])
            request.baseline = job->config;
        return request;
    }
    if (job->baseline_pinned && !job_rigs_differ(job) && job->baseline.align == job->config.align &&
        !kernel_config_equal(&job->baseline, &job->config))
        request.baseline = job->baseline;
    return request;
}

/* Records the steps of selection and baseline. The baseline's steps are of the selection's cell, or
 * of the first cell of the chosen block. */
static void record_both(RecordedSteps *made, const FrameInputs *inputs) {
    LiveSteps *steps = &made->steps;
    bool own = made->block >= 0;
    const BevMap *map = &inputs->map->map;
    steps->cell = made->probe_cell >= 0 ? made->probe_cell
                                        : steps_heaviest_cell(map, inputs->features->values.depth);
    StepChoice choice = {own ? -1 : steps->cell, made->block, made->warp, MOST_SHOWN_WARPS, false};
    if (steps->cell < 0) {
        snprintf(steps->error_text, sizeof steps->error_text, "the map has no points");
        return;
    }
    if (!record_steps(inputs, &made->config, made->kernels[0], &choice, &made->gpu,
                      &steps->selection, steps->error_text, sizeof steps->error_text))
        return;
    if (own)
        steps->cell = steps_first_cell(&steps->selection);
    choice = (StepChoice){steps->cell, -1, -1, MOST_SHOWN_WARPS, false};
    if (made->baseline.kernel && steps->cell >= 0)
        record_steps(inputs, &made->baseline, made->kernels[1], &choice, &made->gpu,
                     &steps->baseline, steps->baseline_text, sizeof steps->baseline_text);
}

bool inputs_steps(RecordedSteps *have, const State *state, FrameInputs *next, Err *err) {
    if (!state->job.steps)
        return true;
    RecordedSteps request = request_of(state, next);
    if (have && same_request(have, &request)) {
        next->steps = ref_keep(have);
        return true;
    }
    RecordedSteps *made = ref_new(sizeof *made, destroy_steps);
    if (!made)
        return err_no_memory(err, "steps", "choose a smaller scene");
    *made = request;
    made->map = ref_keep(next->map);
    record_both(made, next);
    next->steps = made;
    return true;
}
