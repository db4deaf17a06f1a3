/* SPDX-License-Identifier: MIT */
/* Makes the features of a moment, and the camera views. */
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/inputs/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MemPool depths = MEM_POOL, feats = MEM_POOL;

void inputs_free_feature_memory(void) {
    mem_pool_empty(&depths);
    mem_pool_empty(&feats);
}

static size_t depth_bytes(const SeenFeatures *seen) {
    return features_depth_count(&seen->shape) * sizeof *seen->values.depth;
}

static size_t feat_bytes(const SeenFeatures *seen) {
    return features_feat_count(&seen->shape) * sizeof *seen->values.feat;
}

static void features_destroy(void *contents) {
    SeenFeatures *seen = contents;
    const Features *lent = &inputs_scene_at(seen)->tensors; /* a world has no tensors */
    if (seen->values.depth != lent->depth)
        mem_pool_give(&depths, seen->values.depth, depth_bytes(seen));
    if (seen->values.feat != lent->feat)
        mem_pool_give(&feats, seen->values.feat, feat_bytes(seen));
    free(seen->ranges);
    free(seen->own_srgb);
    photos_free(&seen->taken);
    camera_views_free(&seen->views);
    objects_free(&seen->objects);
    embedding_free(&seen->embedding);
    ref_drop(seen->moment);
    ref_drop(seen->scene);
}

static bool allocate_feat(SeenFeatures *seen, Err *err) {
    seen->values.feat = mem_pool_take(&feats, feat_bytes(seen));
    return seen->values.feat || err_no_memory(err, "features", "choose a smaller scene");
}

static bool allocate_tensors(SeenFeatures *seen, Err *err) {
    seen->values.depth = mem_pool_take(&depths, depth_bytes(seen));
    return (seen->values.depth || err_no_memory(err, "features", "choose a smaller scene")) &&
           allocate_feat(seen, err);
}

static bool has_delays(const SeenFeatures *seen) {
    for (int i = 0; i < RIG_MAX_CAMERAS; i++)
        if (seen->delays_s[i])
            return true;
    return false;
}

Rig inputs_rig_at(const SeenFeatures *features) {
    Rig rig = inputs_scene_at(features)->rig;
    for (int i = 0; i < rig.camera_count; i++)
        rig.cameras[i].delay_s = features->delays_s[i];
    return rig;
}

/* Copies the moment's tensors and photographs, so that they can be changed. */
static bool copy_tensors(SeenFeatures *seen, Err *err) {
    const Scene *scene = inputs_scene_at(seen);
    const Photos *photos = &scene->photos;
    size_t bytes = (size_t)(photos->cameras * photos->h * photos->w * 3);
    if (!allocate_tensors(seen, err))
        return false;
    if (photos->srgb && !(seen->own_srgb = malloc(bytes)))
        return err_no_memory(err, "features", "choose a smaller scene");
    memcpy(seen->values.depth, scene->tensors.depth, depth_bytes(seen));
    memcpy(seen->values.feat, scene->tensors.feat, feat_bytes(seen));
    if (photos->srgb)
        memcpy(seen->own_srgb, photos->srgb, bytes);
    seen->photos.srgb = seen->own_srgb;
    return true;
}

/* Takes a moment of a clip. The first one is loaded with the clip: `*moment` stays NULL. */
static bool take_moment(const LoadedScene *loaded, int number, const GiveUp *give_up,
                        Scene **moment, Err *err) {
    if (number)
        *moment = moments_take(loaded->moments, number, give_up, err);
    return !number || *moment;
}

/* Gives each delayed camera of a clip the tensors of an earlier moment, the first at least. */
static bool take_delayed(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const LoadedScene *loaded = seen->scene;
    bool ok = copy_tensors(seen, err);
    for (int i = 0; ok && i < (int)seen->shape.cameras; i++) {
        double at_s = fmax(seen->time_s - seen->delays_s[i], 0);
        if (!seen->delays_s[i])
            continue;
        Scene *earlier = NULL;
        ok = take_moment(loaded, clip_moment_at(loaded->scene.clip, at_s), give_up, &earlier, err);
        if (ok)
            scene_copy_camera(moment_or_scene(loaded, earlier), i, &seen->values, seen->own_srgb);
        ref_drop(earlier);
    }
    return ok;
}

/* Takes the tensors of the scene or of a clip's moment, with the cameras' delays. */
static bool take_tensors(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const LoadedScene *loaded = seen->scene;
    const Clip *clip = loaded->scene.clip;
    if (clip &&
        !take_moment(loaded, clip_moment_at(clip, seen->time_s), give_up, &seen->moment, err))
        return false;
    const Scene *scene = inputs_scene_at(seen);
    seen->values = scene->tensors;
    seen->photos = camera_views_of_photos(&scene->photos);
    return !clip || !has_delays(seen) || take_delayed(seen, give_up, err);
}

/* Multiplies feature channel 0 by the job's outlier, in a copy if features are borrowed. */
static bool add_outlier(SeenFeatures *seen, Err *err) {
    const float *lent = inputs_scene_at(seen)->tensors.feat;
    if (seen->outlier <= 1)
        return true;
    if (seen->values.feat == lent) {
        if (!allocate_feat(seen, err))
            return false;
        memcpy(seen->values.feat, lent, feat_bytes(seen));
    }
    features_add_outlier(&seen->shape, &seen->values, seen->outlier);
    if (seen->embedding.channels)
        embedding_add_outlier(&seen->embedding, seen->outlier);
    return true;
}

static bool render_world(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const Scene *scene = &seen->scene->scene;
    const Rig rig = inputs_rig_at(seen);
    const FeaturesRequest request = {.rig = &rig,
                                     .world = &scene->world,
                                     .channels = seen->shape.channels,
                                     .seed = scene->seed,
                                     .temperature = seen->temperature,
                                     .time_s = seen->time_s,
                                     .rays = seen->draft ? sub_rays_draft : sub_rays_full,
                                     .give_up = give_up};
    return allocate_tensors(seen, err) &&
           embedding_init(&seen->embedding, seen->shape.channels, scene->seed, err) &&
           features_render(&request, &seen->values, seen->pictures ? &seen->views : NULL, err);
}

/* Replaces a world's rendered features by features made from its cameras' pictures. */
static bool use_pictures(SeenFeatures *seen, Err *err) {
    const Rig rig = inputs_rig_at(seen);
    if (!photos_of_world(&rig, &seen->scene->scene.world, seen->time_s, &seen->taken, err))
        return false;
    seen->photos = camera_views_of_photos(&seen->taken);
    embedding_free(&seen->embedding);
    mem_pool_give(&feats, seen->values.feat, feat_bytes(seen));
    seen->shape.channels = PHOTO_CHANNELS;
    if (!allocate_feat(seen, err))
        return false;
    photos_features(&seen->taken, &rig.frustum, seen->values.feat);
    return true;
}

/* Makes depth and features: rendered for a world, else taken from the scene. */
static bool make_tensors(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const Scene *scene = &seen->scene->scene;
    if (scene->has_world)
        return render_world(seen, give_up, err) &&
               (!seen->scene->photo_features || use_pictures(seen, err));
    return take_tensors(seen, give_up, err) &&
           (!scene_has_embedding(scene) ||
            embedding_init(&seen->embedding, scene->channels, scene->seed, err));
}

/* Finds the ranges of the job's scales, if the job has scales. */
static bool take_scales(SeenFeatures *seen, const Job *job, const GiveUp *give_up, Err *err) {
    if (!job->scales)
        return true;
    seen->ranges = malloc(sizeof *seen->ranges);
    seen->values.scales = seen->ranges;
    return seen->ranges
               ? inputs_scales(seen->scene, job, seen->shape.channels, give_up, seen->ranges, err)
               : err_no_memory(err, "scales", "choose a smaller scene");
}

/* Finds the ground-truth objects of the moment and their pixels, if the scene has a rig. A clip
 * with delayed cameras gets none: its boxes do not say where objects stood earlier. */
static bool find_objects(SeenFeatures *seen, Err *err) {
    const Scene *scene = inputs_scene_at(seen);
    if (!scene->has_rig || (!scene->has_world && has_delays(seen)))
        return true;
    const Rig rig = inputs_rig_at(seen);
    return objects_of_scene(&rig, scene->has_world ? &scene->world : NULL, &scene->photos,
                            seen->time_s, &seen->objects, err);
}

/* Describes the features that the job asks for. Their tensors are made later. */
static SeenFeatures describe_features(LoadedScene *loaded, const Job *job, const SeenNeeds *needs) {
    const Scene *scene = &loaded->scene;
    SeenFeatures want = {.scene = loaded,
                         .shape = scene->shape,
                         .outlier = job->outlier,
                         .scales = job->scales,
                         .scales_scene = job->scales_scene,
                         .scales_dtype = scales_dtype(job),
                         .pictures = needs->pictures};
    if (scene->has_world) {
        want.time_s = job->time_s;
        want.temperature = scene->temperature * job->temperature;
        want.shape.channels = job->channels ? job->channels : scene->channels;
        want.draft = needs->draft;
    }
    if (scene->clip) /* all times of one moment give the same features */
        want.time_s = clip_moment_at(scene->clip, job->time_s) * scene->clip->period_s;
    for (int i = 0; (scene->has_world || scene->clip) && i < (int)scene->shape.cameras; i++)
        want.delays_s[i] = job->camera_errors[i].delay_ms * 1e-3;
    return want;
}

static bool features_are_valid(const SeenFeatures *have, const SeenFeatures *want) {
    return have && have->scene == want->scene &&
           !memcmp(have->delays_s, want->delays_s, sizeof want->delays_s) &&
           have->time_s == want->time_s && have->temperature == want->temperature &&
           have->outlier == want->outlier && have->scales == want->scales &&
           have->scales_scene == want->scales_scene && have->scales_dtype == want->scales_dtype &&
           have->shape.channels == want->shape.channels && (want->draft || !have->draft) &&
           (have->pictures || !want->pictures);
}

SeenFeatures *inputs_features(SeenFeatures *have, LoadedScene *scene, const Job *job,
                              const SeenNeeds *needs, Err *err) {
    const SeenFeatures want = describe_features(scene, job, needs);
    const GiveUp *give_up = needs->give_up;
    if (features_are_valid(have, &want))
        return ref_keep(have);
    SeenFeatures *made = ref_new(sizeof want, features_destroy);
    if (!made) {
        err_no_memory(err, "features", "choose a smaller scene");
        return NULL;
    }
    *made = want;
    ref_keep(want.scene);
    if (make_tensors(made, give_up, err) && add_outlier(made, err) &&
        take_scales(made, job, give_up, err) && (!want.pictures || find_objects(made, err)))
        return made;
    ref_drop(made);
    return NULL;
}
