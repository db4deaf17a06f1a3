/* SPDX-License-Identifier: MIT */
/* Makes the scatter map of a rig with its calibration errors and its cameras, when one of them
 * changes. The GPU builds the map if there is a MapMaker, else the CPU. Both maps are equal bit for
 * bit. */
#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/inputs/inputs.h"

#include <string.h>

MapIntervals map_intervals(const BevMap *map, int64_t cells) {
    MapIntervals lengths = {.known = true, .stats = scatter_stats(map, cells)};
    for (int64_t i = 0; i < map->intervals; i++) {
        int bucket = 31 - __builtin_clz((unsigned)map->interval_lengths[i] | 1);
        bucket = bucket < LENGTH_BUCKETS ? bucket : LENGTH_BUCKETS - 1;
        lengths.intervals[bucket]++;
        lengths.points[bucket] += map->interval_lengths[i];
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
    Grid grid = scene->rig.grid;
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

static bool build_map(BuiltMap *built, const MapMaker *maker, const GiveUp *give_up, Err *err) {
    const Scene *scene = moment_or_scene(built->scene, built->moment);
    Pruned pruned = {.points = 0};
    built->changed = !built->as_calibrated || built->balance || !prune_is_off(&built->prune);
    if (!(built->whole ? scatter_prune(&built->whole->map, &built->pruned_by->shape,
                                       built->pruned_by->values.depth, &built->prune, &built->map,
                                       &pruned, err)
                       : build_whole(built, maker, give_up, err)) ||
        !scatter_even(&built->map, built->balance, err))
        return false;
    built->intervals = map_intervals(&built->map, scene->shape.nx * scene->shape.ny);
    built->intervals.pruned = pruned;
    return !scene->has_operator ||
           operator_bars(&scene->operator_spec, &built->map, &built->bars, err);
}

static bool map_is_valid(const BuiltMap *a, const BuiltMap *b) {
    for (int i = 0; i < a->rig.camera_count; i++)
        if (!camera_error_same_map(&a->errors[i], &b->errors[i]))
            return false;
    return a->scene == b->scene && a->align == b->align &&
           moments_share_map(moment_or_scene(a->scene, a->moment),
                             moment_or_scene(b->scene, b->moment), a->align) &&
           a->camera_mask == b->camera_mask && a->balance == b->balance &&
           prune_equal(&a->prune, &b->prune) && a->pruned_by == b->pruned_by &&
           a->rig.grid.truncate == b->rig.grid.truncate;
}

bool maps_differ_by_moment(const BuiltMap *a, const BuiltMap *b) {
    return a == b || (a && b && a->whole && a->whole == b->whole && a->balance == b->balance &&
                      prune_equal(&a->prune, &b->prune));
}

/* Returns the map before pruning. The last such map is reused, because depths do not change it. */
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
    *made = want; /* takes over the reference want.whole */
    ref_keep(made->scene);
    ref_keep(made->moment);
    ref_keep(made->pruned_by);
    if (!build_map(made, maker, give_up, err)) {
        ref_drop(made);
        return NULL;
    }
    made->took_us = made->borrowed ? 0 : clock_us() - start;
    ref_drop(*have);
    *have = ref_keep(made);
    return made;
}
