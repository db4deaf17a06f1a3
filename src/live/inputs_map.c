/* The scatter map of a rig with its calibration errors and its cameras, built when one of them
 * changes: on the GPU where the kernel runs there, else on the CPU; the same map, bit for bit. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/base/ref.h"
#include "src/live/inputs.h"
#include "src/scene/scatter.h"
#include "src/state/state.h"

#include <string.h>

/* ---- on the GPU ------------------------------------------------------------------------------ */

#ifdef HAVE_CUDA

#include "src/run/cuda/device.h"
#include "src/run/cuda/scatter_cuda.h"

void map_builder_clear(MapBuilder *builder) {
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        scatter_cuda_close(builder->gpu[align]);
    *builder = (MapBuilder){.gpu = {NULL}};
}

static bool builder_fits(MapBuilder *builder, const Rig *rig, BevAlign align) {
    BevShape shape = rig_shape(rig, 1);
    if (memcmp(&builder->shape, &shape, sizeof shape) != 0)
        map_builder_clear(builder);
    builder->shape = shape;
    Err err;
    return builder->gpu[align] || scatter_cuda_open(&builder->gpu[align], rig, align, &err);
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map, Staging *pinned) {
    BevMap on_device;
    Err err;
    if (!device_opened() || !builder_fits(builder, rig, align))
        return false;
    if (scatter_cuda_build(builder->gpu[align], rig, camera_mask, &on_device, NULL, &err) &&
        scatter_cuda_download(&on_device, map, pinned, &err))
        return true;
    staging_give(pinned);
    *pinned = (Staging){.memory = NULL};
    return false;
}

static void give_back(const Staging *pinned) {
    staging_give(pinned);
}

#else

void map_builder_clear(MapBuilder *builder) {
    *builder = (MapBuilder){.gpu = {NULL}};
}

static bool build_on_gpu(MapBuilder *builder, const Rig *rig, BevAlign align, uint32_t camera_mask,
                         BevMap *map, Staging *pinned) {
    (void)builder, (void)rig, (void)align, (void)camera_mask, (void)map, (void)pinned;
    return false;
}

static void give_back(const Staging *pinned) {
    (void)pinned;
}

#endif

/* ---- on either ------------------------------------------------------------------------------- */

/* The map of the rig in host memory: pinned where the GPU builds it, else malloc's. Where the GPU
 * cannot build it, for lack of memory for example, the CPU does. */
static bool build_map(MapBuilder *builder, BevWhere where, BuiltMap *built, const GiveUp *give_up,
                      Err *err) {
    return (where == BEV_CUDA && build_on_gpu(builder, &built->rig, built->align,
                                              built->camera_mask, &built->map, &built->pinned)) ||
           scatter_build_or_give_up(&built->rig, built->align, built->camera_mask, give_up,
                                    &built->map, err);
}

static void map_destroy(void *contents) {
    BuiltMap *built = contents;
    if (!built->pinned.memory && !built->borrowed)
        scatter_free(&built->map);
    give_back(&built->pinned);
    ref_drop(built->pruned_by);
    ref_drop(built->whole);
    ref_drop(built->moment);
    ref_drop(built->scene);
}

static bool same_errors(const BuiltMap *a, const BuiltMap *b) {
    for (int i = 0; i < a->rig.camera_count; i++)
        if (!camera_error_same_map(&a->errors[i], &b->errors[i]))
            return false;
    return true;
}

static bool same_maps(const BevMap *a, const BevMap *b) {
    size_t points = (size_t)a->points * sizeof *a->ranks_bev;
    size_t intervals = (size_t)a->intervals * sizeof *a->interval_starts;
    return a->points == b->points && a->intervals == b->intervals && !a->weights == !b->weights &&
           !memcmp(a->ranks_depth, b->ranks_depth, points) &&
           !memcmp(a->ranks_feat, b->ranks_feat, points) &&
           !memcmp(a->ranks_bev, b->ranks_bev, points) &&
           !memcmp(a->interval_lengths, b->interval_lengths, intervals) &&
           (!a->weights || !memcmp(a->weights, b->weights, points));
}

/* Whether a map of one moment of a clip is that of another: in a drive they rarely change. */
static bool same_moments(const Scene *a, const Scene *b, BevAlign align) {
    if (a == b)
        return true;
    if (inputs_scene_has_map(a, align) != inputs_scene_has_map(b, align) ||
        (a->has_rig && memcmp(&a->rig, &b->rig, sizeof a->rig)))
        return false;
    return !inputs_scene_has_map(a, align) || same_maps(&a->map, &b->map);
}

static const Scene *scene_of(const BuiltMap *built) {
    return built->moment ? &built->moment->scene : &built->scene->scene;
}

static bool as_calibrated(const BuiltMap *built) {
    const Scene *scene = scene_of(built);
    if (scene->has_rig && built->rig.grid.truncate != scene->rig.grid.truncate)
        return false;
    for (int i = 0; i < built->rig.camera_count; i++)
        if (!camera_error_keeps_map(&built->errors[i]) || !(built->camera_mask >> i & 1))
            return false;
    return true;
}

/* The map of the rig, or a copy of the scene's own that can be changed. */
static bool build_whole(BuiltMap *built, MapBuilder *builder, BevWhere where, const GiveUp *give_up,
                        Err *err) {
    const Scene *scene = scene_of(built);
    bool own = inputs_scene_has_map(scene, built->align) && as_calibrated(built);
    built->borrowed = own && !built->evenness;
    if (built->borrowed)
        built->map = scene->map;
    if (own)
        return built->borrowed || scatter_copy(&scene->map, &built->map, err);
    if (!scene->has_rig)
        return err_set(err, ERR_FAILED, scene->name, "export the scene with its calibration",
                       "its index arrays have no map for %s", bev_aligns[built->align].title);
    for (int i = 0; i < built->rig.camera_count; i++)
        camera_apply_error(&built->rig.cameras[i], &built->errors[i]);
    return build_map(builder, where, built, give_up, err);
}

/* The points of the whole map that pruning keeps. */
static bool prune(BuiltMap *built, Pruned *pruned, Err *err) {
    built->rig = built->whole->rig;
    return scatter_prune(&built->whole->map, &built->pruned_by->shape,
                         built->pruned_by->values.depth, &built->prune, &built->map, pruned, err);
}

static bool build(BuiltMap *built, MapBuilder *builder, BevWhere where, const GiveUp *give_up,
                  Err *err) {
    const Scene *scene = scene_of(built);
    Pruned pruned = {.points = 0};
    built->changed = !as_calibrated(built) || built->evenness || !prune_is_off(&built->prune);
    if (!(built->whole ? prune(built, &pruned, err)
                       : build_whole(built, builder, where, give_up, err)) ||
        !scatter_even(&built->map, built->evenness, err))
        return false;
    live_intervals(&built->intervals, &built->map, scene->shape.nx * scene->shape.ny);
    built->intervals.pruned = pruned;
    return !scene->has_operator ||
           operator_bars(&scene->operator_spec, &built->map, &built->bars, err);
}

static bool same_map(const BuiltMap *a, const BuiltMap *b) {
    return a->scene == b->scene && a->align == b->align &&
           same_moments(scene_of(a), scene_of(b), a->align) && a->camera_mask == b->camera_mask &&
           a->evenness == b->evenness && prune_equal(&a->prune, &b->prune) &&
           a->pruned_by == b->pruned_by && a->rig.grid.truncate == b->rig.grid.truncate &&
           same_errors(a, b);
}

/* Depths change with each frame, the whole map does not: the last whole map is used again. */
static bool find_whole(BuiltMap *last, BuiltMap *want, MapBuilder *builder, const Job *job,
                       const GiveUp *give_up, const FrameInputs *next, Err *err) {
    BuiltMap *have = ref_keep(last && last->whole ? last->whole : last);
    FrameInputs with = *next;
    Job whole = *job;
    whole.prune = (Prune){0};
    whole.evenness = 0;
    bool ok = inputs_map(&have, builder, &whole, give_up, &with, err);
    want->whole = ok ? with.map : NULL;
    ref_drop(have);
    return ok;
}

bool inputs_map(BuiltMap **have, MapBuilder *builder, const Job *job, const GiveUp *give_up,
                FrameInputs *next, Err *err) {
    const Scene *scene = inputs_scene_at(next->features);
    BuiltMap want = {.scene = next->scene,
                     .moment = next->features->moment,
                     .align = job->config.align,
                     .evenness = job->evenness,
                     .prune = job->prune,
                     .pruned_by = prune_is_off(&job->prune) ? NULL : next->features};
    if (scene->has_rig) {
        want.rig = scene->rig;
        grid_use_rounding(&want.rig.grid, job->rounding);
        want.camera_mask = job->camera_mask;
        memcpy(want.errors, job->camera_errors, sizeof want.errors);
    }
    if (*have && same_map(*have, &want)) {
        next->map = ref_keep(*have);
        return true;
    }
    if (want.pruned_by && !find_whole(*have, &want, builder, job, give_up, next, err))
        return false;
    next->map = ref_new(sizeof want, map_destroy);
    if (!next->map) {
        ref_drop(want.whole);
        return inputs_no_memory("map", err);
    }
    *next->map = want;
    ref_keep(want.scene);
    ref_keep(want.moment);
    ref_keep(want.pruned_by);
    if (!build(next->map, builder, job->config.kernel->where, give_up, err)) {
        ref_drop(next->map);
        next->map = NULL;
        return false;
    }
    ref_drop(*have);
    *have = ref_keep(next->map);
    return true;
}
