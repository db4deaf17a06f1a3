/* The map of a rig with its errors and its cameras, built when one of them changes. */
#include "src/live/frame_inputs_internal.h"

#include "src/base/ref.h"
#include "src/state/calibration.h"

#include <string.h>

static void map_destroy(void *contents) {
    BuiltMap *built = contents;
    if (!built->borrowed)
        map_free(&built->map, &built->pinned);
    ref_drop(built->scene);
}

static bool same_errors(const BuiltMap *a, const BuiltMap *b) {
    for (int i = 0; i < a->rig.camera_count; i++)
        if (a->errors[i].yaw_deg != b->errors[i].yaw_deg ||
            a->errors[i].pitch_deg != b->errors[i].pitch_deg ||
            a->errors[i].height_m != b->errors[i].height_m)
            return false;
    return true;
}

static bool as_calibrated(const BuiltMap *built) {
    for (int i = 0; i < built->rig.camera_count; i++)
        if (!camera_error_is_zero(&built->errors[i]) || !(built->camera_mask >> i & 1))
            return false;
    return true;
}

static bool build(BuiltMap *built, MapBuilder *builder, BevWhere where, Err *err) {
    const Scene *scene = &built->scene->scene;
    built->borrowed = scene_has_own_map(scene, built->align) && as_calibrated(built);
    if (built->borrowed)
        built->map = scene->map;
    else if (!scene->has_rig)
        return err_set(err, ERR_FAILED, scene->name, "export the scene with its calibration",
                       "its index arrays have no map for %s", bev_aligns[built->align].title);
    else {
        for (int i = 0; i < built->rig.camera_count; i++)
            camera_bend(&built->rig.cameras[i], &built->errors[i]);
        if (!map_build(builder, where, &built->rig, built->align, built->camera_mask, &built->map,
                       &built->pinned, err))
            return false;
    }
    live_intervals(&built->intervals, &built->map, scene->shape.nx * scene->shape.ny);
    return true;
}

bool want_map(BuiltMap **kept, MapBuilder *builder, const Job *job, FrameInputs *next, Err *err) {
    const Scene *scene = &next->scene->scene;
    BuiltMap want = {.scene = next->scene, .align = job->config.align};
    if (scene->has_rig) {
        want.rig = scene->rig;
        want.camera_mask = job->camera_mask;
        memcpy(want.errors, job->camera_errors, sizeof want.errors);
    }
    const BuiltMap *have = *kept;
    if (have && have->scene == want.scene && have->camera_mask == want.camera_mask &&
        same_errors(have, &want)) {
        next->map = ref_keep(*kept);
        return true;
    }
    next->map = ref_new(sizeof want, map_destroy);
    if (!next->map)
        return no_memory("map", err);
    *next->map = want;
    ref_keep(want.scene);
    if (!build(next->map, builder, job->config.kernel->where, err))
        return false;
    ref_drop(*kept);
    *kept = ref_keep(next->map);
    return true;
}
