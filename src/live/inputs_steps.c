/* The steps of warps, recorded for the display: of the pinned cell or the one under the cursor,
 * else of the one with the most points. */
#include "src/live/pipeline_internal.h"

#include "kernels/regime.h"
#include "src/base/ref.h"
#include "src/cachesim/gpus.h"

#include <string.h>

enum { MOST_WARPS = 128 };

static void destroy_steps(void *contents) {
    RecordedSteps *recorded = contents;
    steps_free(&recorded->steps.selection);
    steps_free(&recorded->steps.baseline);
    ref_drop(recorded->map);
}

/* The CUDA kernel that does the same, in the form that it takes for this L2. NULL: none. */
static const BevKernel *kernel_of(const KernelConfig *config, const BevProblem *problem,
                                  double l2_bytes) {
    const BevKernel *kernel = bev_twin(config->kernel, BEV_CUDA);
    return kernel && kernel->small_l2 ? bev_v3_choose(problem, l2_bytes).kernel : kernel;
}

/* False: no steps, and `error_text` says why. */
static bool record(const FrameInputs *inputs, const KernelConfig *config, int64_t cell,
                   double l2_bytes, Steps *steps, char *error_text, size_t size) {
    BevProblem problem = inputs_bare_problem(inputs, config);
    const BevKernel *kernel = kernel_of(config, &problem, l2_bytes);
    StepChoice choice = {.cell = cell, .block = -1, .warp = -1, .most = MOST_WARPS};
    Err err;
    if (problem.direction == BEV_BACKWARD)
        snprintf(error_text, size, "the steps follow forward kernels only");
    else if (!kernel)
        snprintf(error_text, size, "%s has no twin on a GPU, and so no steps",
                 config->kernel->title);
    else if (steps_record(kernel, &problem, &choice, steps, &err))
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
           a->l2_bytes == b->l2_bytes;
}

/* A baseline with another align or rig has another map, and so other points: it has no place
 * here. */
static RecordedSteps request_of(const State *state, const FrameInputs *inputs) {
    const Job *job = &state->job;
    RecordedSteps request = {.map = inputs->map,
                             .shape = inputs->features->shape,
                             .config = job->config,
                             .probe_cell = job->probe_cell,
                             .l2_bytes = gpu_edited(&gpus[state->gpu], &state->edit).l2_bytes};
    if (job->baseline_pinned && !job_rigs_differ(job) &&
        job->baseline.align == job->config.align &&
        !kernel_config_equal(&job->baseline, &job->config))
        request.baseline = job->baseline;
    return request;
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
        return inputs_no_memory("steps", err);
    *made = request;
    made->map = ref_keep(next->map);
    LiveSteps *steps = &made->steps;
    char unused[sizeof steps->error_text];
    const BevMap *map = &next->map->map;
    steps->cell = request.probe_cell >= 0 ? request.probe_cell : steps_longest_cell(map);
    if (steps->cell < 0)
        snprintf(steps->error_text, sizeof steps->error_text, "the map has no points");
    else if (record(next, &request.config, steps->cell, request.l2_bytes, &steps->selection,
                    steps->error_text, sizeof steps->error_text) &&
             request.baseline.kernel)
        record(next, &request.baseline, steps->cell, request.l2_bytes, &steps->baseline, unused,
               sizeof unused);
    next->steps = made;
    return true;
}
