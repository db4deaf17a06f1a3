/* SPDX-License-Identifier: MIT */
#include "src/inputs/workload.h"

#include "kernels/regime.h"
#include "src/base/ref.h"
#include "src/base/units.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- opening and closing --------------------------------------------------------------------- */

bool workload_use(Workload *workload, const Job *job, Err *err) {
    const SeenNeeds needs = {.draft = false};
    workload->job = *job;
    SeenFeatures *seen =
        inputs_features(workload->seen, workload->loaded, &workload->job, &needs, err);
    ref_drop(workload->seen);
    workload->seen = seen;
    if (!seen)
        return false;
    workload->scene = inputs_scene_at(seen);
    workload->features = &seen->values;
    return true;
}

bool workload_open(Workload *workload, const char *name, const Job *job, Err *err) {
    *workload = (Workload){.job = job ? *job : job_plain()};
    workload->from_s = workload->job.time_s;
    workload->loaded = inputs_scene(NULL, name, &workload->job, false, err);
    const Scene *scene = workload->loaded ? &workload->loaded->scene : NULL;
    int64_t channels = workload->job.channels;
    bool ok = scene && (!channels || scene->has_world || channels == scene->channels ||
                        err_set(err, ERR_USAGE, scene->name, "leave --channels out",
                                "its tensors have %lld channels, not %lld",
                                (long long)scene->channels, (long long)channels));
    if (ok && workload_move(workload, 0, err))
        return true;
    workload_close(workload);
    return false;
}

void workload_close(Workload *workload) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        ref_drop(workload->maps[align]);
    ref_drop(workload->seen);
    ref_drop(workload->loaded);
    if (!workload->grad_file)
        free(workload->grad_out);
    *workload = (Workload){.loaded = NULL};
}

/* ---- moments --------------------------------------------------------------------------------- */

int workload_moments(const Workload *workload) {
    const Clip *clip = workload->loaded->scene.clip;
    if (clip)
        return clip->count - clip_moment_at(clip, workload->from_s);
    return workload->loaded->scene.has_world ? INT_MAX : 1;
}

bool workload_move(Workload *workload, int number, Err *err) {
    const Clip *clip = workload->loaded->scene.clip;
    Job job = workload->job;
    /* All moments of a clip last equally long. */
    job.time_s = clip ? (clip_moment_at(clip, workload->from_s) + number) * clip->period_s
                      : workload->from_s + number * clip_period_s;
    workload->moment = number;
    return workload_use(workload, &job, err);
}

/* ---- words ----------------------------------------------------------------------------------- */

void workload_label(const Job *job, const char *scene, char *text, size_t size) {
    snprintf(text, size, "%s", scene);
    if (job->balance > 0)
        text_add(text, size, ", load balance %g", job->balance);
    if (!prune_is_off(&job->prune))
        text_add(text, size, ", pruned %s %s", job->prune.top ? "to" : "below",
                 prune_text(&job->prune).text);
    if (job->outlier > 1)
        text_add(text, size, ", outlier %g", job->outlier);
    operator_label(&job->sizes, text, size);
}

void workload_title(const Workload *workload, char *text, size_t size) {
    const Scene *scene = workload->scene;
    const Job *job = &workload->job;
    char faults[160];
    snprintf(text, size, "%s", scene->title[0] ? scene->title : scene->name);
    if (job->outlier > 1)
        text_add(text, size, " (outlier %g)", job->outlier);
    for (int i = 0; i < scene->rig.camera_count; i++)
        if (camera_faults(job, i, faults, sizeof faults))
            text_add(text, size, " (%s%s)", scene->rig.cameras[i].name, faults);
}

Photos workload_photos(const Workload *workload) {
    const SeenFeatures *seen = workload->seen;
    Photos photos = seen->taken.srgb ? seen->taken : workload->scene->photos;
    if (seen->own_srgb)
        photos.srgb = seen->own_srgb;
    return photos;
}

Rig workload_rig(const Workload *workload) {
    Rig right = inputs_rig_at(workload->seen);
    return job_rig(&workload->job, &right);
}

bool workload_as_recorded(const Workload *workload) {
    const Job *job = &workload->job;
    return !job->balance && prune_is_off(&job->prune) && !operator_is_changed(&job->sizes) &&
           inputs_as_calibrated(workload->scene, job);
}

/* ---- maps and problems ----------------------------------------------------------------------- */

const BuiltMap *workload_built(Workload *workload, BevAlign align, Err *err) {
    BuiltMap **map = &workload->maps[align];
    const MapMaker maker = {.build = NULL};
    Job job = workload->job;
    job.config.align = align;
    BuiltMap *made = inputs_map(map, &maker, &job, workload->seen, NULL, err);
    ref_drop(made); /* `*map` holds a reference of its own */
    return made;
}

const BevMap *workload_map(Workload *workload, BevAlign align, Err *err) {
    const BuiltMap *built = workload_built(workload, align, err);
    return built ? &built->map : NULL;
}

bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err) {
    const BevMap *map = workload_map(workload, align, err);
    return map && problem_encode(problem, &workload->seen->shape, dtype, align, workload->features,
                                 map, err);
}

static bool count_outputs(Workload *workload, BevAlign align, Histogram *out, Err *err) {
    HostProblem problem = {0};
    const BevTensor *tensor = &problem.view.out;
    bool ok = workload_problem(workload, BEV_FP32, align, &problem, err) &&
              problem_pool(bev_counterpart(bev_v3(), BEV_CPU), &problem.view, err) &&
              (histogram_add(out, tensor->data, tensor->rows * tensor->row_len, 1) ||
               err_no_memory(err, "histograms", ""));
    problem_free(&problem);
    return ok;
}

bool workload_count(Workload *workload, unsigned aligns, TensorHistograms *histograms, Err *err) {
    const BevShape *shape = &workload->seen->shape;
    const Features *features = workload->features;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    if (!histogram_add(&histograms->depth, features->depth, pixels * shape->depth_bins, 1) ||
        !tensor_histograms_add_feat(histograms, features->feat, pixels))
        return err_no_memory(err, "histograms", "");
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (aligns >> align & 1 && !count_outputs(workload, (BevAlign)align, &histograms->out, err))
            return false;
    histograms->moments++;
    return true;
}

bool workload_draw_grad_out(Workload *workload, Err *err) {
    const BevShape *shape = &workload->seen->shape;
    const GradOutFile *file = workload->grad_file;
    if (workload->grad_out)
        return true;
    if (file && !grad_out_check_shape(file, shape, err))
        return false;
    workload->grad_out = file ? file->values : random_grad_out(shape, GRAD_OUT_SEED);
    return workload->grad_out || err_no_memory(err, "grad_out", "choose a smaller grid");
}

bool workload_problem_backward(Workload *workload, BevDtype dtype, BevAlign align,
                               HostProblem *problem, Err *err) {
    if (!workload_draw_grad_out(workload, err) ||
        !workload_problem(workload, dtype, align, problem, err))
        return false;
    if (problem_set_grad_out(problem, workload->grad_out, err))
        return true;
    problem_free(problem);
    return false;
}
