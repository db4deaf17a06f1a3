#include "src/scene/workload.h"

#include "kernels/regime.h"
#include "src/base/clock.h"
#include "src/scene/clip.h"
#include "src/scene/scatter.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool override_scene(Scene *scene, const WorkloadOptions *options, Err *err) {
    if (options->channels > 0 && options->channels != scene->channels) {
        if (!scene->has_world)
            return err_set(err, ERR_USAGE, scene->name, "leave --channels out",
                           "its tensors have %lld channels, not %lld",
                           (long long)scene->channels, (long long)options->channels);
        scene->channels = options->channels;
        scene->shape.channels = options->channels;
    }
    return true;
}

/* A world's features were rendered into `features`, those of a file belong to the scene. */
static bool use_photo_features(Workload *workload, Err *err) {
    Scene *scene = &workload->scene;
    if (!scene_take_photos(scene, workload_time_s(workload), err) ||
        !scene_use_photo_features(scene, err))
        return false;
    if (scene->has_world) {
        free(workload->features.feat);
        workload->features.feat = scene->tensors.feat;
        scene->tensors.feat = NULL;
    } else
        workload->features = scene->tensors;
    return true;
}

/* The features of the moment that the workload is at, rendered or of the file. */
static bool take_features(Workload *workload, Err *err) {
    Scene *scene = &workload->scene;
    const double times = workload->options.temperature;
    const FeaturesRequest request = {.rig = &scene->rig,
                                     .world = &scene->world,
                                     .channels = scene->channels,
                                     .seed = scene->seed,
                                     .temperature = scene->temperature * (times > 0 ? times : 1),
                                     .time_s = workload_time_s(workload),
                                     .rays = sub_rays_full};
    if (!scene->has_world)
        workload->features = scene->tensors;
    else if (!features_render(&request, &workload->features,
                              workload->options.views ? &workload->views : NULL, err))
        return false;
    if (workload->options.photo_features && !use_photo_features(workload, err))
        return false;
    if (workload->options.outlier > 0)
        features_add_outlier(&scene->shape, &workload->features, workload->options.outlier);
    workload->features.scales = workload->scales;
    return true;
}

/* Reads the file of ranges, where there is one. */
static bool take_scales(Workload *workload, Err *err) {
    if (!workload->options.scales)
        return true;
    workload->scales = malloc(sizeof *workload->scales);
    return (workload->scales || err_set(err, ERR_FAILED, "scales", "", "out of memory")) &&
           ranges_take(workload->scales, workload->options.scales, workload->scene.shape.channels,
                       err);
}

bool workload_embedding(const Workload *workload, Embedding *embedding, Err *err) {
    const Scene *scene = &workload->scene;
    *embedding = (Embedding){.channels = 0};
    if (!scene_has_embedding(scene))
        return true;
    if (!embedding_init(embedding, scene->channels, scene->seed, err))
        return false;
    if (workload->options.outlier > 0)
        embedding_add_outlier(embedding, workload->options.outlier);
    return true;
}

bool workload_open(Workload *workload, const char *name, const WorkloadOptions *options, Err *err) {
    memset(workload, 0, sizeof *workload);
    if (options)
        workload->options = *options;
    Scene *scene = &workload->scene;
    if (!scene_load(name, scene, err))
        return false;
    bool ok = operator_change(scene, &workload->options.sizes, err) &&
              clip_move(scene, workload->options.time_s, err) &&
              override_scene(scene, &workload->options, err) && take_scales(workload, err) &&
              take_features(workload, err);
    if (!ok)
        workload_close(workload);
    return ok;
}

/* ---- moments --------------------------------------------------------------------------------- */

int workload_moments(const Workload *workload) {
    const Clip *clip = workload->scene.clip;
    if (clip)
        return clip->count - clip_at(clip, workload->options.time_s);
    return workload->scene.has_world ? INT_MAX : 1;
}

double workload_time_s(const Workload *workload) {
    const Clip *clip = workload->scene.clip;
    double from_s = workload->options.time_s;
    if (clip && workload->moment)
        return clip->starts_s[clip_at(clip, from_s) + workload->moment];
    return from_s + workload->moment * clip_period_s;
}

static void drop_features(Workload *workload) {
    if (workload->scene.has_world)
        features_free(&workload->features);
    camera_views_free(&workload->views);
}

static void drop_maps(Workload *workload) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (workload->map_us[align] > 0) {
            scatter_free(&workload->maps[align]);
            scatter_free(&workload->whole[align]);
        }
    memset(workload->map_us, 0, sizeof workload->map_us);
}

bool workload_move(Workload *workload, int number, Err *err) {
    if (number == workload->moment)
        return true;
    drop_features(workload);
    workload->features = (Features){0};
    if (workload->scene.has_world)
        photos_free(&workload->scene.photos);
    workload->moment = number;
    if (workload->scene.clip || !prune_is_off(&workload->options.prune))
        drop_maps(workload);
    return clip_move(&workload->scene, workload_time_s(workload), err) &&
           override_scene(&workload->scene, &workload->options, err) &&
           take_features(workload, err);
}

/* The tensors and the photograph of one camera of a clip, as of a moment before. */
static bool take_earlier(Workload *workload, int camera, double time_s, Err *err) {
    Scene *scene = &workload->scene, earlier;
    if (!clip_load(scene->clip, clip_at(scene->clip, fmax(time_s, 0)), &earlier, err))
        return false;
    bool ok = !workload->options.photo_features || scene_use_photo_features(&earlier, err);
    if (ok && workload->options.outlier > 0)
        features_add_outlier(&earlier.shape, &earlier.tensors, workload->options.outlier);
    if (ok)
        scene_copy_camera(&earlier, camera, &scene->tensors, scene->photos.srgb);
    scene_free(&earlier);
    return ok;
}

bool workload_delay(Workload *workload, int camera, double delay_s, Err *err) {
    Scene *scene = &workload->scene;
    const Clip *clip = scene->clip;
    double lasts_s = clip ? clip->starts_s[clip->count - 1] + clip->period_s : 0;
    if (scene->rig.cameras[camera].delay_s == delay_s)
        return true;
    if (!scene->has_world && (!clip || clip->count < 2))
        return err_set(err, ERR_USAGE, "delay", "choose a world or a clip",
                       "this scene has one moment: nothing in it moves");
    if (clip && delay_s >= lasts_s)
        return err_set(err, ERR_USAGE, "delay", "choose less", "%g ms, but the clip lasts %g ms",
                       delay_s * 1e3, lasts_s * 1e3);
    scene->rig.cameras[camera].delay_s = delay_s;
    if (!prune_is_off(&workload->options.prune))
        drop_maps(workload);
    if (clip)
        return take_earlier(workload, camera, workload_time_s(workload) - delay_s, err);
    bool photos = scene->photos.srgb != NULL;
    photos_free(&scene->photos);
    drop_features(workload);
    workload->features = (Features){0};
    return take_features(workload, err) &&
           (!photos || scene_take_photos(scene, workload_time_s(workload), err));
}

void workload_close(Workload *workload) {
    if (!workload)
        return;
    drop_features(workload);
    drop_maps(workload);
    free(workload->grad_out);
    free(workload->scales);
    scene_free(&workload->scene);
    memset(workload, 0, sizeof *workload);
}

void workload_label(const WorkloadOptions *options, const char *scene, char *text, size_t size) {
    snprintf(text, size, "%s", scene);
    size_t length = strlen(text);
    if (options->evenness > 0)
        snprintf(text + length, size - length, ", evenness %g", options->evenness);
    length = strlen(text);
    const Prune *prune = &options->prune;
    if (!prune_is_off(prune))
        snprintf(text + length, size - length, ", pruned %s %s", prune->top ? "to" : "below",
                 prune_text(prune).text);
    length = strlen(text);
    if (options->outlier > 0)
        snprintf(text + length, size - length, ", outlier %g", options->outlier);
    operator_label(&options->sizes, text, size);
}

/* True when the map from the scene's file is the map for `align`. */
static bool has_own_map(const Scene *scene, BevAlign align) {
    return scene->has_map && (align == BEV_NEAREST) == (scene->map.weights == NULL);
}

bool workload_as_recorded(const Workload *workload) {
    return !workload->options.evenness && prune_is_off(&workload->options.prune) &&
           !operator_is_changed(&workload->options.sizes) && !workload->dirty &&
           !workload->miscalibrated;
}

bool workload_has_align(const Workload *workload, BevAlign align) {
    const Scene *scene = &workload->scene;
    return scene->has_rig || has_own_map(scene, align);
}

const BevMap *workload_map(Workload *workload, BevAlign align, Err *err) {
    Scene *scene = &workload->scene;
    double evenness = workload->options.evenness;
    const Prune *prune = &workload->options.prune;
    bool own = has_own_map(scene, align) && !(workload->miscalibrated || workload->dirty);
    if (own && !evenness && prune_is_off(prune))
        return &scene->map;
    if (!own && !scene->has_rig) {
        err_set(err, ERR_USAGE, scene->name, "export the scene with its calibration instead",
                "its index arrays %s weights, so --align %s is not possible",
                scene->map.weights ? "have" : "have no", bev_aligns[align].name);
        return NULL;
    }
    BevMap *map = &workload->maps[align];
    if (workload->map_us[align] == 0) {
        double start = clock_us();
        bool ok = own ? scatter_copy(&scene->map, map, err)
                      : scatter_build(&scene->rig, align, ~workload->dirty, map, err);
        if (ok && !prune_is_off(prune)) {
            workload->whole[align] = *map;
            ok = scatter_prune(&workload->whole[align], &scene->shape, workload->features.depth,
                               prune, map, &workload->pruned[align], err);
        }
        if (!ok || !scatter_even(map, evenness, err)) {
            scatter_free(map);
            scatter_free(&workload->whole[align]);
            return NULL;
        }
        workload->map_us[align] = clock_us() - start;
    }
    return map;
}

void workload_let_prune(const Workload *workload, const BevKernel *kernel, BevProblem *problem) {
    const BevMap *whole = &workload->whole[problem->align];
    double below = workload->options.prune.below;
    if (!kernel->skips || !(below > 0) || workload->options.evenness || !whole->ranks_depth)
        return;
    problem->map = *whole;
    problem->prune = nextafterf((float)below, 0); /* kernels keep what is larger, maps from it up */
}

bool workload_problem(Workload *workload, BevDtype dtype, BevAlign align, HostProblem *problem,
                      Err *err) {
    const BevMap *map = workload_map(workload, align, err);
    return map && problem_encode(problem, &workload->scene.shape, dtype, align, &workload->features,
                                 map, err);
}

static bool count_out(Workload *workload, BevAlign align, Histogram *out, Err *err) {
    HostProblem problem = {0};
    bool ok = workload_problem(workload, BEV_FP32, align, &problem, err) &&
              problem_pool(bev_twin(bev_v3(), BEV_CPU), &problem.view, err);
    const BevTensor *tensor = &problem.view.out;
    if (ok && !histogram_add(out, tensor->data, tensor->rows * tensor->row_len, 1))
        ok = err_set(err, ERR_FAILED, "histograms", "", "out of memory");
    problem_free(&problem);
    return ok;
}

bool workload_count(Workload *workload, unsigned aligns, TensorHistograms *histograms, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    const Features *features = &workload->features;
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    if (!histogram_add(&histograms->depth, features->depth, pixels * shape->depth_bins, 1) ||
        !tensor_histograms_add_feat(histograms, features->feat, pixels))
        return err_set(err, ERR_FAILED, "histograms", "", "out of memory");
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (aligns >> align & 1 && !count_out(workload, (BevAlign)align, &histograms->out, err))
            return false;
    histograms->moments++;
    return true;
}

bool workload_draw_grad_out(Workload *workload, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    const GradOutFile *file = workload->options.grad_out;
    if (workload->grad_out)
        return true;
    if (file && !grad_out_fits(file, shape, err))
        return false;
    workload->grad_out = file ? malloc((size_t)file->array.count * sizeof(float))
                              : random_grad_out(shape, GRAD_OUT_SEED);
    if (file && workload->grad_out)
        memcpy(workload->grad_out, file->values, (size_t)file->array.count * sizeof(float));
    return workload->grad_out ||
           err_set(err, ERR_FAILED, "grad_out", "choose a smaller grid", "out of memory");
}

bool workload_problem_backward(Workload *workload, BevDtype dtype, BevAlign align,
                               HostProblem *problem, Err *err) {
    const BevShape *shape = &workload->scene.shape;
    if (!workload_draw_grad_out(workload, err))
        return false;
    const GradOut grad_out = {workload->grad_out, shape->ny, shape->nx, shape->channels};
    if (!workload_problem(workload, dtype, align, problem, err))
        return false;
    if (problem_set_grad_out(problem, &grad_out, err))
        return true;
    problem_free(problem);
    return false;
}
