/* What the cameras see: the scene, its features at a moment, the camera views. */
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/live/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scene ----------------------------------------------------------------------------------- */

static void scene_destroy(void *contents) {
    LoadedScene *loaded = contents;
    moments_close(loaded->moments);
    calibration_free(loaded->calibration);
    scene_free(&loaded->scene);
}

bool inputs_scene_has_map(const Scene *scene, BevAlign align) {
    return scene->has_map && (align == BEV_NEAREST) == (scene->map.weights == NULL);
}

static void fill_facts(LoadedScene *loaded) {
    const Scene *scene = &loaded->scene;
    SceneFacts *facts = &loaded->facts;
    snprintf(facts->name, sizeof facts->name, "%s", scene->name);
    snprintf(facts->title, sizeof facts->title, "%s", scene->title);
    Slice whole = slice_of(&scene->shape, SLICE_MAX);
    facts->nx = facts->cells_x = whole.cells_x;
    facts->ny = facts->rows = whole.rows;
    facts->slices = whole.slices;
    facts->channels = scene->channels;
    facts->depth_bins = scene->shape.depth_bins;
    facts->has_rig = scene->has_rig;
    facts->has_world = scene->has_world;
    facts->moment_s = scene->clip ? scene->clip->period_s : 0;
    facts->moments = scene->clip ? scene->clip->count : 0;
    facts->photo_features = scene->photo_features;
    facts->has_lidar = scene->has_rig && (scene->has_world || scene->photos.sweep_count);
    facts->has_truth = scene->photos.box_count || scene->photos.sweep_count;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (scene->has_rig || inputs_scene_has_map(scene, (BevAlign)align))
            facts->aligns |= 1u << align;
    facts->has_operator = scene->has_operator;
    facts->operator_spec = scene->operator_spec;
    facts->camera_count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < facts->camera_count; i++)
        memcpy(facts->cameras[i], scene->rig.cameras[i].name, sizeof facts->cameras[i]);
    if (scene->has_rig)
        facts->grid = facts->whole = scene->rig.grid;
}

bool inputs_scene(LoadedScene *have, const State *state, FrameInputs *next, Err *err) {
    int number = state->job.scene;
    const char *name = state->menu.scenes.names[number];
    const OperatorChange *sizes = &state->job.sizes;
    if (have && have->number == number && operator_same_change(&have->sizes, sizes)) {
        next->scene = ref_keep(have);
        return true;
    }
    LoadedScene *loaded = ref_new(sizeof *loaded, scene_destroy);
    if (!loaded)
        return inputs_no_memory("scene", err);
    loaded->number = number;
    loaded->path = name;
    loaded->sizes = *sizes;
    loaded->is_file = stat(name, &loaded->file) == 0 && S_ISREG(loaded->file.st_mode);
    if (!scene_load(name, &loaded->scene, err) || !operator_change(&loaded->scene, sizes, err) ||
        (loaded->scene.clip && !moments_open(loaded->scene.clip, &loaded->moments, err))) {
        ref_drop(loaded);
        return false;
    }
    fill_facts(loaded);
    next->scene = loaded;
    return true;
}

/* ---- features -------------------------------------------------------------------------------- */

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
    const Features *lent = &inputs_scene_at(seen)->tensors; /* empty of a world */
    if (seen->values.depth != lent->depth)
        mem_pool_give(&depths, seen->values.depth, depth_bytes(seen));
    if (seen->values.feat != lent->feat)
        mem_pool_give(&feats, seen->values.feat, feat_bytes(seen));
    free(seen->ranges);
    free(seen->own_srgb);
    camera_views_free(&seen->views);
    objects_free(&seen->objects);
    embedding_free(&seen->embedding);
    ref_drop(seen->moment);
    ref_drop(seen->scene);
}

const Scene *inputs_scene_at(const SeenFeatures *features) {
    return features->moment ? &features->moment->scene : &features->scene->scene;
}

static bool is_delayed(const SeenFeatures *seen) {
    for (int i = 0; i < RIG_MAX_CAMERAS; i++)
        if (seen->delays_s[i])
            return true;
    return false;
}

/* The scene's rig with the delays of its cameras. */
static Rig delayed_rig(const SeenFeatures *seen) {
    Rig rig = inputs_scene_at(seen)->rig;
    for (int i = 0; i < rig.camera_count; i++)
        rig.cameras[i].delay_s = seen->delays_s[i];
    return rig;
}

/* Copies of the moment's tensors and photographs, so that they can be changed. */
static bool copy_tensors(SeenFeatures *seen, Err *err) {
    const Scene *scene = inputs_scene_at(seen);
    const Photos *photos = &scene->photos;
    size_t bytes = (size_t)(photos->cameras * photos->h * photos->w * 3);
    seen->values.depth = mem_pool_take(&depths, depth_bytes(seen));
    seen->values.feat = mem_pool_take(&feats, feat_bytes(seen));
    seen->own_srgb = photos->srgb ? malloc(bytes) : NULL;
    if (!seen->values.depth || !seen->values.feat || (photos->srgb && !seen->own_srgb))
        return inputs_no_memory("features", err);
    memcpy(seen->values.depth, scene->tensors.depth, depth_bytes(seen));
    memcpy(seen->values.feat, scene->tensors.feat, feat_bytes(seen));
    if (photos->srgb)
        memcpy(seen->own_srgb, photos->srgb, bytes);
    seen->photos.srgb = seen->own_srgb;
    return true;
}

/* Delayed cameras of a clip see an earlier moment, the first one at the earliest. */
static bool take_delayed(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const LoadedScene *loaded = seen->scene;
    bool ok = copy_tensors(seen, err);
    for (int i = 0; ok && i < (int)seen->shape.cameras; i++) {
        double at_s = fmax(seen->time_s - seen->delays_s[i], 0);
        if (!seen->delays_s[i])
            continue;
        Moment *earlier =
            moments_take(loaded->moments, clip_played_at(loaded->scene.clip, at_s), give_up, err);
        ok = earlier != NULL;
        if (ok)
            scene_copy_camera(&earlier->scene, i, &seen->values, seen->own_srgb);
        ref_drop(earlier);
    }
    return ok;
}

/* Takes the tensors of the scene, or of the moment of a clip. */
static bool take_tensors(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const LoadedScene *loaded = seen->scene;
    const Clip *clip = loaded->scene.clip;
    if (clip) {
        int number = clip_played_at(clip, seen->time_s);
        seen->moment = moments_take(loaded->moments, number, give_up, err);
    }
    if (clip && !seen->moment)
        return false;
    const Scene *scene = inputs_scene_at(seen);
    seen->values = scene->tensors;
    seen->photos = camera_views_of_photos(&scene->photos);
    return !clip || !is_delayed(seen) || take_delayed(seen, give_up, err);
}

/* Features from a file get an outlier in a copy. */
static bool add_outlier(SeenFeatures *seen, Err *err) {
    const float *lent = inputs_scene_at(seen)->tensors.feat;
    if (seen->outlier <= 1)
        return true;
    if (seen->values.feat == lent) {
        seen->values.feat = mem_pool_take(&feats, feat_bytes(seen));
        if (!seen->values.feat)
            return inputs_no_memory("features", err);
        memcpy(seen->values.feat, lent, feat_bytes(seen));
    }
    features_add_outlier(&seen->shape, &seen->values, seen->outlier);
    if (seen->embedding.channels)
        embedding_add_outlier(&seen->embedding, seen->outlier);
    return true;
}

static bool render(SeenFeatures *seen, const GiveUp *give_up, Err *err) {
    const Scene *scene = &seen->scene->scene;
    if (!scene->has_world)
        return take_tensors(seen, give_up, err) &&
               (!scene_has_embedding(scene) ||
                embedding_init(&seen->embedding, scene->channels, scene->seed, err));
    seen->values.depth = mem_pool_take(&depths, depth_bytes(seen));
    seen->values.feat = mem_pool_take(&feats, feat_bytes(seen));
    if (!seen->values.depth || !seen->values.feat)
        return inputs_no_memory("features", err);
    const Rig rig = delayed_rig(seen);
    const FeaturesRequest request = {.rig = &rig,
                                     .world = &scene->world,
                                     .channels = seen->shape.channels,
                                     .seed = scene->seed,
                                     .temperature = seen->temperature,
                                     .time_s = seen->time_s,
                                     .rays = seen->draft ? sub_rays_draft : sub_rays_full,
                                     .give_up = give_up};
    return embedding_init(&seen->embedding, seen->shape.channels, scene->seed, err) &&
           features_render_into(&request, &seen->values, &seen->views, err);
}

/* The ranges of the job's scales. */
static bool take_scales(SeenFeatures *seen, const Job *job, const GiveUp *give_up, Err *err) {
    if (!job->scales)
        return true;
    seen->ranges = malloc(sizeof *seen->ranges);
    seen->values.scales = seen->ranges;
    return seen->ranges
               ? inputs_scales(seen->scene, job, seen->shape.channels, give_up, seen->ranges, err)
               : inputs_no_memory("scales", err);
}

/* The true objects of the moment, where a rig says which pixels they have. Boxes of a clip do not
 * say where their objects stood before. */
static bool find_objects(SeenFeatures *seen, Err *err) {
    const Scene *scene = inputs_scene_at(seen);
    if (!scene->has_rig || (!scene->has_world && is_delayed(seen)))
        return true;
    const Rig rig = delayed_rig(seen);
    return objects_of_scene(&rig, scene->has_world ? &scene->world : NULL, &scene->photos,
                            seen->time_s, &seen->objects, err);
}

bool inputs_features(SeenFeatures *have, const Job *job, bool draft, const GiveUp *give_up,
                     FrameInputs *next, Err *err) {
    const Scene *scene = &next->scene->scene;
    SeenFeatures want = {.scene = next->scene,
                         .shape = scene->shape,
                         .outlier = job->outlier,
                         .scales = job->scales,
                         .scales_scene = job->scales_scene,
                         .scales_dtype = scales_dtype(job)};
    if (scene->has_world) {
        want.time_s = job->time_s;
        want.temperature = scene->temperature * job->temperature;
        want.shape.channels = job->channels ? job->channels : scene->channels;
        want.draft = draft;
    }
    if (scene->clip) /* the same for all times of a moment */
        want.time_s = clip_played_at(scene->clip, job->time_s) * scene->clip->period_s;
    for (int i = 0; scene->has_world || scene->clip ? i < (int)scene->shape.cameras : false; i++)
        want.delays_s[i] = job->camera_errors[i].delay_ms * 1e-3;
    if (have && have->scene == want.scene &&
        !memcmp(have->delays_s, want.delays_s, sizeof want.delays_s) &&
        have->time_s == want.time_s && have->temperature == want.temperature &&
        have->outlier == want.outlier && have->scales == want.scales &&
        have->scales_scene == want.scales_scene && have->scales_dtype == want.scales_dtype &&
        have->shape.channels == want.shape.channels && (want.draft || !have->draft)) {
        next->features = ref_keep(have);
        return true;
    }
    next->features = ref_new(sizeof want, features_destroy);
    if (!next->features)
        return inputs_no_memory("features", err);
    *next->features = want;
    ref_keep(want.scene);
    if (render(next->features, give_up, err) && add_outlier(next->features, err) &&
        take_scales(next->features, job, give_up, err) && find_objects(next->features, err))
        return true;
    ref_drop(next->features);
    next->features = NULL;
    return false;
}

/* ---- camera views ---------------------------------------------------------------------------- */

enum { SHARPER = 4 }; /* times the resolution of the feature map, in each direction */

static void views_destroy(void *contents) {
    SharpViews *sharp = contents;
    camera_views_free(&sharp->views);
    ref_drop(sharp->scene);
}

bool inputs_views(SharpViews *have, bool sharp, const GiveUp *give_up, FrameInputs *next,
                  Err *err) {
    const Scene *scene = &next->scene->scene;
    if (have && have->scene == next->scene && have->time_s == next->features->time_s &&
        !memcmp(have->delays_s, next->features->delays_s, sizeof have->delays_s)) {
        next->views = ref_keep(have);
        return true;
    }
    if (!sharp || !scene->has_world)
        return true;
    next->views = ref_new(sizeof *next->views, views_destroy);
    if (!next->views)
        return inputs_no_memory("camera views", err);
    next->views->scene = ref_keep(next->scene);
    next->views->time_s = next->features->time_s;
    memcpy(next->views->delays_s, next->features->delays_s, sizeof next->views->delays_s);
    const Rig rig = delayed_rig(next->features);
    if (camera_views_render(&rig, &scene->world, SHARPER * scene->rig.frustum.feat_h,
                            SHARPER * scene->rig.frustum.feat_w, next->features->time_s, give_up,
                            &next->views->views, err))
        return true;
    ref_drop(next->views);
    next->views = NULL;
    return false;
}
