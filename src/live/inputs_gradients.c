/* SPDX-License-Identifier: MIT */
/* A loss on some cells, and its gradients: which pixels and depths feed these cells. The loss's
 * gradient with respect to the grid is the pooled features in these cells. The selected kernel
 * computes the gradients of depths and features from this gradient. */
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory, points of pixels ---------------------------------------------------------------- */

LiveMemory inputs_backward_memory(const FrameInputs *inputs, const KernelConfig *config) {
    BevProblem problem = inputs_bare_problem(inputs, config);
    return (LiveMemory){.known = true,
                        .footprint = bev_footprint(&problem),
                        .gather = bev_gather_traffic(&problem, bev_dtypes[problem.out.dtype].bits),
                        .own = bev_traffic(config->kernel, &problem)};
}

bool inputs_pixel_runs(const FrameInputs *inputs, MapIntervals *intervals, Err *err) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    int32_t *counts = calloc((size_t)pixels * 4, sizeof *counts); /* the arrays of `runs` follow */
    if (!counts)
        return err_no_memory(err, "points of pixels", "choose a smaller scene");
    for (int64_t t = 0; t < map->points; t++)
        counts[map->ranks_feat[t]]++;
    BevMap runs = {.points = map->points,
                   .ranks_bev = counts + pixels,
                   .interval_starts = counts + 2 * pixels,
                   .interval_lengths = counts + 3 * pixels};
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        int64_t run = runs.intervals;
        runs.ranks_bev[run] = (int32_t)pixel;
        runs.interval_starts[run] = (int32_t)run;
        runs.interval_lengths[run] = counts[pixel]; /* the points of the pixel */
        runs.intervals += counts[pixel] > 0;
    }
    *intervals = map_intervals(&runs, pixels);
    intervals->of_pixels = true;
    free(counts);
    return true;
}

/* ---- the loss -------------------------------------------------------------------------------- */

static void destroy_gradients(void *contents) {
    Gradients *gradients = contents;
    grid_loss_free(&gradients->loss);
    free(gradients->grad_depth);
    free(gradients->grad_feat);
    ref_drop(gradients->pooled);
}

bool inputs_gradients_fit(const Gradients *have, const PooledGrid *pooled, const Job *job) {
    if (!have || have->pooled != pooled || have->kind != job->loss)
        return false;
    const bool same_cell = have->probe_cell == job->probe_cell && have->slice == job->slice;
    return (have->kind == LOSS_ALL || same_cell) &&
           kernel_config_equal(&have->config, &job->config);
}

GridContent inputs_content(const FrameInputs *with) {
    const SeenFeatures *features = with->features;
    const Scene *scene = &with->scene->scene;
    return (GridContent){.nx = features->shape.nx,
                         .ny = features->shape.ny,
                         .channels = features->shape.channels,
                         .pooled = with->pooled->values,
                         .map = &with->map->map,
                         .rig = scene->has_rig ? &with->map->rig : NULL,
                         .world = scene->has_world ? &scene->world : NULL,
                         .time_s = features->time_s,
                         .embedding = features->embedding.rows ? &features->embedding : NULL};
}

bool inputs_gradients_new(const FrameInputs *with, const KernelConfig *config, Gradients **out,
                          Err *err) {
    Gradients *made = *out = ref_new(sizeof *made, destroy_gradients);
    if (!made)
        return err_no_memory(err, "gradients", "choose a smaller scene");
    made->pooled = ref_keep(with->pooled);
    made->config = *config;
    made->waits = true;
    return true;
}

bool inputs_loss(const FrameInputs *with, const Job *job, Gradients **out, Err *err) {
    if (!inputs_gradients_new(with, &job->config, out, err))
        return false;
    Gradients *made = *out;
    made->kind = job->loss;
    made->cell = inputs_probe_cell(with, job);
    made->probe_cell = job->probe_cell;
    made->slice = job->slice;
    const GridContent content = inputs_content(with);
    const bool all = made->kind == LOSS_ALL; /* else the loss is on the cell under the cursor */
    Err why = {.kind = ERR_FAILED};
    made->waits =
        all || (made->cell >= 0 &&
                grid_loss_make(&made->loss, &content, (LossKind)made->kind, made->cell, &why));
    if (made->waits)
        snprintf(made->text, sizeof made->text, "waits for the gradients");
    else if (made->cell < 0)
        snprintf(made->text, sizeof made->text,
                 "point at a cell: which pixels would have to change?");
    else
        snprintf(made->text, sizeof made->text, "n/a: %s", why.what);
    return true;
}

/* ---- the gradients --------------------------------------------------------------------------- */

static bool run_gradients(Runner *runner, Gradients *made, Err *err) {
    const PooledGrid *pooled = made->pooled;
    const FrameInputs with = {.features = pooled->features, .map = pooled->map};
    const float *grad_out = made->loss.grad_out ? made->loss.grad_out : pooled->values;
    const BevProblem *view = &runner->problem.view;
    const void *codes;
    const bool prepared = runner_prepare(runner, &with, &made->config, NULL, err) &&
                          problem_set_grad_out(&runner->problem, grad_out, err) &&
                          session_update(runner->session, err);
    if (!prepared || !session_run(runner->session, err) ||
        !session_output(runner->session, &codes, err))
        return false;
    const void *feat_codes = (const uint8_t *)codes + bev_tensor_bytes(&view->grad_depth);
    made->grad_depth = tensor_decoded(&view->grad_depth, codes, err);
    made->grad_feat = tensor_decoded(&view->grad_feat, feat_codes, err);
    return made->grad_depth && made->grad_feat;
}

bool inputs_gradients(Runner *runner, Gradients *made, Err *err) {
    if (!made->waits)
        return true;
    made->waits = false;
    made->text[0] = '\0';
    if (run_gradients(runner, made, err))
        return true;
    snprintf(made->text, sizeof made->text, "n/a: %s", err->what);
    runner_clear(runner);
    free(made->grad_depth);
    free(made->grad_feat);
    made->grad_depth = made->grad_feat = NULL;
    return false;
}
