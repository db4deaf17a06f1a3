/* SPDX-License-Identifier: MIT */
/* Makes the recording of a car in a world. */
#include "kernels/threads.h"
#include "src/base/srgb.h"
#include "src/scene/features.h"
#include "src/scene/photos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- photographs ----------------------------------------------------------------------------- */

static bool take_pictures(const Rig *rig, const World *world, double time_s, Photos *photos,
                          Err *err) {
    CameraViews views;
    photos_kept_size(rig->frustum.input_h, rig->frustum.input_w, &photos->h, &photos->w);
    if (!camera_views_render(rig, world, photos->h, photos->w, time_s, NULL, &views, err))
        return false;
    photos->cameras = rig->camera_count;
    int64_t values = photos->cameras * photos->h * photos->w * 3;
    photos->srgb = malloc((size_t)values);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t i = 0; i < (photos->srgb ? values : 0); i++)
        photos->srgb[i] = srgb_level(views.color[i]);
    camera_views_free(&views);
    return photos->srgb || err_no_memory(err, "photos", "choose a smaller scene");
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static TrueBox solid_box(const World *world, int solid, double time_s) {
    const Solid *s = &world->solids[solid];
    TrueBox box = {.yaw = s->yaw_deg * M_PI / 180,
                   .velocity_mps = {s->velocity_mps[0], s->velocity_mps[1]}};
    world_solid_center(world, solid, time_s, box.center_m);
    box.center_m[2] = s->z_m + s->size_m[2] / 2;
    box.size_m[0] = s->size_m[0];
    box.size_m[1] = s->size_m[solid_is_round(s->kind) ? 0 : 1];
    box.size_m[2] = s->size_m[2];
    snprintf(box.label, sizeof box.label, "%s", world_classes[s->class].name);
    return box;
}

bool photos_is_object(const Solid *solid) {
    return solid->class == CLASS_CAR || solid->class == CLASS_TRUCK ||
           solid->class == CLASS_PEDESTRIAN;
}

bool photos_world_boxes(const World *world, double time_s, TrueBox **boxes, int64_t *count,
                        Err *err) {
    *boxes = malloc((size_t)world->solid_count * sizeof **boxes + 1);
    *count = 0;
    if (!*boxes)
        return err_no_memory(err, "photos", "choose a smaller scene");
    for (int i = 0; i < world->solid_count; i++)
        if (photos_is_object(&world->solids[i]))
            (*boxes)[(*count)++] = solid_box(world, i, time_s);
    return true;
}

/* ---- LiDAR ----------------------------------------------------------------------------------- */

/* The beams have the elevations of the nuScenes vehicle's sensor, above the rear axle. */
enum { BEAMS = 32, TURNS = 1080 };
static const double sensor_m[3] = {0.94, 0, 1.84}, lowest_deg = -30.67, highest_deg = 10.67,
                    reach_m = 100;

bool photos_world_sweep(const World *world, double time_s, Photos *photos, Err *err) {
    WorldSnapshot *snapshot;
    if (!world_snapshot(world, time_s, &snapshot, err))
        return false;
    const WorldSight all = {.count = -1};
    float *points = malloc(sizeof(float[BEAMS * TURNS][3]));
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int i = 0; i < (points ? BEAMS * TURNS : 0); i++) {
        double up = lowest_deg + (highest_deg - lowest_deg) * (i % BEAMS) / (BEAMS - 1);
        double around = 2 * M_PI * (i / BEAMS) / TURNS, rise = up * M_PI / 180;
        const double ray[3] = {cos(rise) * cos(around), cos(rise) * sin(around), sin(rise)};
        WorldHit hit = world_cast(snapshot, &all, sensor_m, ray, reach_m);
        for (int axis = 0; axis < 3; axis++)
            points[3 * i + axis] =
                hit.hit ? (float)(sensor_m[axis] + hit.depth_m * ray[axis]) : NAN;
    }
    world_snapshot_free(snapshot);
    if (!points)
        return err_no_memory(err, "photos", "choose a smaller scene");
    photos->sweep_m = points;
    for (int i = 0; i < BEAMS * TURNS; i++)
        if (!isnan(points[3 * i])) {
            for (int axis = 0; axis < 3; axis++)
                points[3 * photos->sweep_count + axis] = points[3 * i + axis];
            photos->sweep_count++;
        }
    return true;
}

bool photos_of_world(const Rig *rig, const World *world, double time_s, Photos *photos, Err *err) {
    *photos = (Photos){.has_time = true, .time_s = time_s};
    if (take_pictures(rig, world, time_s, photos, err) &&
        photos_world_boxes(world, time_s, &photos->boxes, &photos->box_count, err) &&
        photos_world_sweep(world, time_s, photos, err))
        return true;
    photos_free(photos);
    return false;
}
