/* The way back: problems whose kernels compute gradients, and what the panels say of them. */
#include "src/live/inputs.h"

#include <stdlib.h>

bool inputs_encode(HostProblem *problem, const SeenFeatures *features, const BuiltMap *map,
                   const KernelConfig *config, Err *err) {
    if (!problem_encode(problem, &features->shape, config->dtype, config->align, &features->values,
                        &map->map, err))
        return false;
    if (config->kernel->direction == BEV_FORWARD || problem_turn_backward(problem, err))
        return true;
    problem_free(problem);
    return false;
}

KernelConfig inputs_forward_config(const KernelConfig *config) {
    KernelConfig forward = *config;
    if (config->kernel->direction == BEV_BACKWARD)
        forward.kernel = bev_default(config->kernel->where, BEV_FORWARD);
    return forward;
}

LiveMemory inputs_backward_memory(const FrameInputs *inputs, const KernelConfig *config) {
    BevProblem problem = bev_bare_problem(&inputs->features->shape, &inputs->map->map,
                                          config->kernel->direction, config->dtype, config->align);
    return (LiveMemory){.known = true,
                        .footprint = bev_footprint(&problem),
                        .gather = bev_gather_traffic(&problem, bev_dtypes[problem.out.dtype].bits),
                        .own = bev_traffic(config->kernel, &problem)};
}

/* A pixel is to these lengths what a cell is to those of intervals: `runs` has an "interval" for
 * each pixel with points. `counts` are the points of each pixel. */
static void runs_of_pixels(const int32_t *counts, int64_t pixels, BevMap *runs) {
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        if (!counts[pixel])
            continue;
        runs->ranks_bev[runs->intervals] = (int32_t)pixel;
        runs->interval_starts[runs->intervals] = (int32_t)runs->intervals;
        runs->interval_lengths[runs->intervals++] = counts[pixel];
    }
}

bool inputs_pixel_runs(const FrameInputs *inputs, MapIntervals *intervals, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    int32_t *memory = calloc((size_t)pixels * 4, sizeof *memory);
    if (!memory)
        return inputs_no_memory("points of pixels", err);
    for (int64_t t = 0; t < map->points; t++)
        memory[map->ranks_feat[t]]++;
    BevMap runs = {.points = map->points,
                   .ranks_bev = memory + pixels,
                   .interval_starts = memory + 2 * pixels,
                   .interval_lengths = memory + 3 * pixels};
    runs_of_pixels(memory, pixels, &runs);
    *intervals = map_intervals(&runs, pixels);
    intervals->of_pixels = true;
    free(memory);
    return true;
}
