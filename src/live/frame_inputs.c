/* SPDX-License-Identifier: MIT */
/* Counts the owners of a frame's inputs, and fills the frame that the views show. */
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <math.h>
#include <string.h>

FrameInputs frame_inputs_keep(const FrameInputs *inputs) {
    for (int i = 0; i < FRAME_INPUTS; i++)
        ref_keep(inputs->each[i]);
    return *inputs;
}

void frame_inputs_drop(FrameInputs *inputs) {
    for (int i = FRAME_INPUTS - 1; i >= 0; i--)
        ref_drop(inputs->each[i]);
    *inputs = (FrameInputs){.scene = NULL};
}

void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs) {
    FrameInputs kept = frame_inputs_keep(
        &(FrameInputs){.scene = inputs->scene, .features = inputs->features, .map = inputs->map});
    frame_inputs_drop(held);
    *held = kept;
}

BevProblem inputs_bare_problem(const FrameInputs *inputs, const KernelConfig *config) {
    return bev_bare_problem(&inputs->features->shape, &inputs->map->map, config->kernel->direction,
                            config->dtype, config->align);
}

const char *inputs_unsupported(const FrameInputs *inputs, const KernelConfig *config) {
    BevProblem problem = inputs_bare_problem(inputs, config);
    return bev_unsupported(config->kernel, &problem);
}

/* Returns the distance, seen from above, between a point of a camera's optical axis and the same
 * point by the other calibration. */
static double moved_m(const Rig *a, const Rig *b, int camera) {
    const Frustum *frustum = &a->frustum;
    double u = frustum->input_w / 2.0, v = frustum->input_h / 2.0, from[3], along[3], other[3],
           other_along[3];
    camera_ray(&a->cameras[camera], u, v, from, along);
    camera_ray(&b->cameras[camera], u, v, other, other_along);
    double x = from[0] - other[0] + LIVE_MOVED_AT_M * (along[0] - other_along[0]);
    double y = from[1] - other[1] + LIVE_MOVED_AT_M * (along[1] - other_along[1]);
    return hypot(x, y);
}

/* Counts the cells that differ, and finds the largest difference of a value. */
static void count_differences(const PooledGrid *a, const PooledGrid *b, LiveDifference *found) {
    const BevShape *shape = &a->features->shape;
    float most = 0;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++) {
        const float *x = a->values + cell * shape->channels,
                    *y = b->values + cell * shape->channels;
        if (!memcmp(x, y, (size_t)shape->channels * sizeof *x))
            continue;
        found->cells++;
        for (int64_t c = 0; c < shape->channels; c++) {
            float apart = fabsf(x[c] - y[c]);
            most = apart > most ? apart : most;
        }
    }
    found->most = most;
}

void inputs_difference(const FrameInputs *inputs, LiveDifference *difference) {
    const PooledGrid *ours = inputs->pooled, *theirs = inputs->baseline;
    *difference = (LiveDifference){.known = theirs != NULL, .moved_m = NAN};
    if (!theirs)
        return;
    difference->alike = ours == theirs;
    if (!difference->alike)
        count_differences(ours, theirs, difference);
    const Rig *a = &ours->map->rig, *b = &theirs->map->rig;
    for (int i = 0; inputs->scene->scene.has_rig && i < a->camera_count && i < b->camera_count; i++)
        difference->moved_m = fmax(difference->moved_m, moved_m(a, b, i));
}

void inputs_fill_frame(const FrameInputs *inputs, LiveFrame *frame) {
    const Fp64Grid *fp64 = inputs->fp64_original;
    const SeenFeatures *features = inputs->features;
    const Scene *scene = inputs_scene_at(features);
    *frame = (LiveFrame){
        .nx = features->shape.nx,
        .ny = features->shape.ny,
        .channels = features->shape.channels,
        .shape = features->shape,
        .pooled = inputs->pooled->values,
        .baseline = inputs->baseline ? inputs->baseline->values : NULL,
        .pooled_by = inputs->pooled->config.kernel,
        .baseline_by = inputs->baseline ? inputs->baseline->config.kernel : NULL,
        .fp64_original = fp64 ? fp64->values : NULL,
        .baseline_fp64 = fp64 ? fp64->values : NULL,
        .map = &inputs->map->map,
        .steps = inputs->steps ? &inputs->steps->steps : NULL,
        .baseline_map = inputs->baseline ? &inputs->baseline->map->map : NULL,
        .embedding = features->embedding.rows ? &features->embedding : NULL,
        .features = &features->values,
        .cameras = features->views.cameras ? &features->views
                   : features->photos.srgb ? &features->photos
                                           : NULL,
        .bars = scene->has_operator ? &inputs->map->bars : NULL,
        .rig = scene->has_rig ? &inputs->map->rig : NULL,
        .world = scene->has_world ? &scene->world : NULL,
        .photos = &scene->photos,
        .baseline_depth = inputs->baseline ? inputs->baseline->features->values.depth : NULL,
        .photo_features = scene->photo_features,
        .draft = features->draft || (inputs->baseline && inputs->baseline->features->draft),
        .time_s = features->time_s,
    };
    if (inputs->baseline && inputs->baseline->features->scene != inputs->scene) {
        const SceneFacts *other = &inputs->baseline->features->scene->facts;
        memcpy(frame->scene_name, inputs->scene->facts.name, sizeof frame->scene_name);
        memcpy(frame->other_name, other->name, sizeof frame->other_name);
    }
    const Gradients *made = inputs->gradients;
    if (made)
        frame->gradients =
            (LiveGradients){&made->loss, made->grad_depth, made->grad_feat, made->text};
}
