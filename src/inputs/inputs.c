/* SPDX-License-Identifier: MIT */
/* The inputs of a job: its scene with the scene's facts, the features and camera views of a moment,
 * and the scatter map. The GPU builds the map if there is a MapMaker, else the CPU. Both maps are
 * equal bit for bit. A command has all of them in a Workload. */
#include "src/inputs/workload.h"

#include "kernels/regime.h"
#include "src/base/clock.h"
#include "src/base/mem_pool.h"
#include "src/base/ref.h"
#include "src/scene/slice.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the scene ------------------------------------------------------------------------------- */

static void loaded_destroy(void *contents) {
    LoadedScene *loaded = contents;
    moments_close(loaded->moments);
    calibration_free(loaded->calibration);
    scene_free(&loaded->scene);
    free(loaded->path);
}

static void fill_scene_facts(LoadedScene *loaded) {
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
    facts->loop_s = scene->world.loop_s;
    facts->judged_s = scene->world.judged_s;
    facts->moment_s = scene->clip ? scene->clip->period_s : 0;
    facts->moments = scene->clip ? scene->clip->count : 0;
    facts->photo_features = scene->photo_features;
    facts->has_lidar = scene->has_rig && (scene->has_world || scene->photos.sweep_count);
    facts->has_truth = scene->photos.box_count || scene->photos.sweep_count;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        if (scene->has_rig || scene_has_map(scene, (BevAlign)align))
            facts->aligns |= 1u << align;
    facts->has_operator = scene->has_operator;
    facts->operator_spec = scene->operator_spec;
    facts->camera_count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < facts->camera_count; i++)
        memcpy(facts->cameras[i], scene->rig.cameras[i].name, sizeof facts->cameras[i]);
    if (scene->has_rig)
        facts->grid = facts->whole = scene->rig.grid;
}

LoadedScene *inputs_scene(LoadedScene *have, const char *path, const Job *job, bool ahead,
                          Err *err) {
    if (have && !strcmp(have->path, path) && operator_same_change(&have->sizes, &job->sizes) &&
        have->photo_features == job->photo_features)
        return ref_keep(have);
    LoadedScene *loaded = ref_new(sizeof *loaded, loaded_destroy);
    if (!loaded || !(loaded->path = strdup(path))) {
        ref_drop(loaded);
        err_no_memory(err, "scene", "choose a smaller scene");
        return NULL;
    }
    loaded->sizes = job->sizes;
    loaded->photo_features = job->photo_features;
    Scene *scene = &loaded->scene;
    bool ok = scene_load(path, scene, err) && operator_change(scene, &loaded->sizes, err);
    if (ok && job->photo_features && !scene->has_world) /* a world makes them for each moment */
        ok = scene_use_photo_features(scene, err);
    if (ok && scene->clip)
        ok = moments_open(scene, ahead, &loaded->moments, err);
    if (!ok) {
        ref_drop(loaded);
        return NULL;
    }
    fill_scene_facts(loaded);
    return loaded;
}

/* ---- features and camera views --------------------------------------------------------------- */

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

/* Takes a moment of a clip. The first moment is loaded with the clip: *moment then stays NULL. */
static bool take_moment(const LoadedScene *loaded, int number, const GiveUp *give_up,
                        Scene **moment, Err *err) {
    if (number)
        *moment = moments_take(loaded->moments, number, give_up, err);
    return !number || *moment;
}

/* Gives each delayed camera of a clip the tensors of an earlier moment. A delay that leads before
 * the clip's begin gives the first moment. */
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

ScaleMethod scales_method(int scales) {
    bool has_one = scales >= SCALES_METHODS && scales < SCALES_FILE;
    return has_one ? (ScaleMethod)((scales - SCALES_METHODS) % SCALE_METHOD_COUNT) : SCALE_MAX;
}

BevDtype scales_dtype(const Job *job) {
    ScaleMethod method = scales_method(job->scales);
    BevDtype dtype = job->config.dtype;
    if (method != SCALE_ENTROPY && method != SCALE_MSE)
        return BEV_FP32;
    return scale_is_single(dtype) ? dtype : BEV_FP8;
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
    const int delayed_cameras = scene->has_world || scene->clip ? (int)scene->shape.cameras : 0;
    for (int i = 0; i < delayed_cameras; i++)
        want.delays_s[i] = job->camera_errors[i].delay_ms * 1e-3;
    return want;
}

bool differ_only_by_moment(const SeenFeatures *a, const SeenFeatures *b) {
    return a->shape.channels == b->shape.channels && a->temperature == b->temperature &&
           a->outlier == b->outlier && a->scales == b->scales && a->scales_scene == b->scales_scene;
}

/* Whether existing features serve in place of wanted features. */
static bool features_are_valid(const SeenFeatures *have, const SeenFeatures *want) {
    if (!have || have->scene != want->scene || have->time_s != want->time_s ||
        memcmp(have->delays_s, want->delays_s, sizeof want->delays_s) != 0)
        return false;
    return differ_only_by_moment(have, want) && have->scales_dtype == want->scales_dtype &&
           (want->draft || !have->draft) && (have->pictures || !want->pictures);
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

/* ---- the scatter map ------------------------------------------------------------------------- */

MapIntervals map_intervals(const BevMap *map, int64_t cells) {
    MapIntervals lengths = {.known = true, .stats = scatter_stats(map, cells)};
    for (int64_t i = 0; i < map->intervals; i++) {
        const int32_t length = map->interval_lengths[i];
        int bucket = 31 - __builtin_clz((unsigned)length | 1); /* floor(log2(length)) */
        bucket = bucket < LENGTH_BUCKETS ? bucket : LENGTH_BUCKETS - 1;
        lengths.intervals[bucket]++;
        lengths.points[bucket] += length;
    }
    return lengths;
}

static void map_destroy(void *contents) {
    BuiltMap *built = contents;
    if (built->release)
        built->release(built->held);
    else if (!built->borrowed)
        scatter_free(&built->map);
    ref_drop(built->pruned_by);
    ref_drop(built->whole);
    ref_drop(built->moment);
    ref_drop(built->scene);
}

static bool maps_equal(BevMap a, BevMap b) {
    const BevMapArrays left = bev_map_arrays(&a), right = bev_map_arrays(&b);
    bool equal = a.points == b.points && a.intervals == b.intervals && !a.weights == !b.weights;
    for (int i = 0; equal && i < BEV_MAP_ARRAYS; i++)
        equal = !left.count[i] ||
                !memcmp(*left.array[i], *right.array[i], (size_t)left.count[i] * sizeof(int32_t));
    return equal;
}

/* Whether two moments of a clip have the same map. This is usual in a drive. */
static bool moments_share_map(const Scene *a, const Scene *b, BevAlign align) {
    if (a == b)
        return true;
    if (scene_has_map(a, align) != scene_has_map(b, align) ||
        (a->has_rig && memcmp(&a->rig, &b->rig, sizeof a->rig)))
        return false;
    return !scene_has_map(a, align) || maps_equal(a->map, b->map);
}

bool inputs_as_calibrated(const Scene *scene, const Job *job) {
    Grid grid = scene->rig.grid; /* a copy, which tells whether the rounding changes it */
    if (!scene->has_rig)
        return true;
    for (int i = 0; i < scene->rig.camera_count; i++)
        if (!camera_error_keeps_map(&job->camera_errors[i]) || !(job->camera_mask >> i & 1))
            return false;
    return !grid_use_rounding(&grid, job->rounding);
}

/* Makes the map of the rig, or takes that of the scene. A map that is changed later is copied. */
static bool build_whole(BuiltMap *built, const MapMaker *maker, const GiveUp *give_up, Err *err) {
    const Scene *scene = moment_or_scene(built->scene, built->moment);
    bool own = scene_has_map(scene, built->align) && built->as_calibrated;
    built->borrowed = own && !built->balance;
    if (built->borrowed)
        built->map = scene->map;
    if (own)
        return built->borrowed || scatter_copy(&scene->map, &built->map, err);
    if (!scene->has_rig)
        return err_set(err, ERR_USAGE, scene->name, "export the scene with its calibration instead",
                       "its index arrays have %s weights: there is no map for %s",
                       scene->map.weights ? "" : "no", bev_aligns[built->align].name);
    return (maker->build && maker->build(maker->gpu, built)) ||
           scatter_build(&built->rig, built->align, built->camera_mask, give_up, &built->map, err);
}

/* Makes the arrays of a described map, balances its intervals, and counts intervals and bars. */
static bool build_map(BuiltMap *built, const MapMaker *maker, const GiveUp *give_up, Err *err) {
    const Scene *scene = moment_or_scene(built->scene, built->moment);
    const SeenFeatures *seen = built->pruned_by;
    Pruned pruned = {.points = 0};
    built->changed = !built->as_calibrated || built->balance || !prune_is_off(&built->prune);
    bool ok = built->whole ? scatter_prune(&built->whole->map, &seen->shape, seen->values.depth,
                                           &built->prune, &built->map, &pruned, err)
                           : build_whole(built, maker, give_up, err);
    if (!ok || !scatter_even(&built->map, built->balance, err))
        return false;
    built->intervals = map_intervals(&built->map, scene->shape.nx * scene->shape.ny);
    built->intervals.pruned = pruned;
    return !scene->has_operator ||
           operator_bars(&scene->operator_spec, &built->map, &built->bars, err);
}

/* Whether an existing map serves in place of a wanted map. */
static bool map_is_valid(const BuiltMap *have, const BuiltMap *want) {
    for (int i = 0; i < have->rig.camera_count; i++)
        if (!camera_error_same_map(&have->errors[i], &want->errors[i]))
            return false;
    const bool same_changes =
        have->camera_mask == want->camera_mask && have->balance == want->balance &&
        have->rig.grid.truncate == want->rig.grid.truncate &&
        prune_equal(&have->prune, &want->prune) && have->pruned_by == want->pruned_by;
    return have->scene == want->scene && have->align == want->align && same_changes &&
           moments_share_map(moment_or_scene(have->scene, have->moment),
                             moment_or_scene(want->scene, want->moment), have->align);
}

bool maps_differ_by_moment(const BuiltMap *a, const BuiltMap *b) {
    const bool same_whole = a && b && a->whole && a->whole == b->whole;
    return a == b || (same_whole && a->balance == b->balance && prune_equal(&a->prune, &b->prune));
}

/* Returns the map before pruning. The last one is reused, because depths change no whole map. */
static BuiltMap *find_whole_map(BuiltMap *last, const MapMaker *maker, const Job *job,
                                SeenFeatures *features, const GiveUp *give_up, Err *err) {
    BuiltMap *have = ref_keep(last && last->whole ? last->whole : last);
    Job whole = *job;
    whole.prune = (Prune){0};
    whole.balance = 0;
    BuiltMap *map = inputs_map(&have, maker, &whole, features, give_up, err);
    ref_drop(have);
    return map;
}

/* Describes the map that the job asks for. Its arrays are made later. */
static BuiltMap describe_map(const Job *job, SeenFeatures *features) {
    const Scene *scene = inputs_scene_at(features);
    BuiltMap want = {.scene = features->scene,
                     .moment = features->moment,
                     .align = job->config.align,
                     .as_calibrated = inputs_as_calibrated(scene, job),
                     .balance = job->balance,
                     .prune = job->prune,
                     .pruned_by = prune_is_off(&job->prune) ? NULL : features};
    if (scene->has_rig) {
        want.rig = job_rig(job, &scene->rig);
        want.camera_mask = job->camera_mask;
        memcpy(want.errors, job->camera_errors, sizeof want.errors);
    }
    return want;
}

BuiltMap *inputs_map(BuiltMap **have, const MapMaker *maker, const Job *job, SeenFeatures *features,
                     const GiveUp *give_up, Err *err) {
    BuiltMap want = describe_map(job, features);
    if (*have && map_is_valid(*have, &want))
        return ref_keep(*have);
    if (want.pruned_by && !(want.whole = find_whole_map(*have, maker, job, features, give_up, err)))
        return NULL;
    BuiltMap *made = ref_new(sizeof *made, map_destroy);
    double start = clock_us();
    if (!made) {
        ref_drop(want.whole);
        err_no_memory(err, "map", "choose a smaller scene");
        return NULL;
    }
    *made = want; /* with the reference want.whole, which `made` now owns */
    ref_keep(made->scene);
    ref_keep(made->moment);
    ref_keep(made->pruned_by);
    if (!build_map(made, maker, give_up, err)) {
        ref_drop(made);
        return NULL;
    }
    made->took_us = made->borrowed ? 0 : clock_us() - start;
    *have = ref_swap(*have, made);
    return made;
}

/* ---- the inputs of a command: opening and closing -------------------------------------------- */

bool workload_use(Workload *workload, const Job *job, Err *err) {
    workload->job = *job;
    SeenFeatures *seen = inputs_features(workload->seen, workload->loaded, &workload->job,
                                         &(SeenNeeds){.draft = false}, err);
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
    const int64_t channels = workload->job.channels;
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

/* ---- its moments ----------------------------------------------------------------------------- */

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

/* ---- its words ------------------------------------------------------------------------------- */

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

/* ---- its maps and problems ------------------------------------------------------------------- */

const BuiltMap *workload_built(Workload *workload, BevAlign align, Err *err) {
    BuiltMap **map = &workload->maps[align];
    Job job = workload->job;
    job.config.align = align;
    BuiltMap *made = inputs_map(map, &(MapMaker){.build = NULL}, &job, workload->seen, NULL, err);
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
