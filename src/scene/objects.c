/* SPDX-License-Identifier: MIT */
#include "src/scene/objects.h"

#include "src/scene/grid_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The greatest distance of an object's middle in each band. The last band has no end. */
static const double object_band_m[OBJECT_BANDS] = {15, 30, 45, INFINITY};

/* ---- the pixels of an object ----------------------------------------------------------------- */

void objects_free(Objects *objects) {
    free(objects->boxes);
    free(objects->pixels);
    free(objects->object_of);
    free(objects->surface_m);
    *objects = (Objects){0};
}

/* Returns the index of a solid among the objects, which have the order of solids. -1: no object. */
static int64_t object_of_solid(const World *world, int solid) {
    int64_t object = 0;
    if (solid < 0 || !photos_is_object(&world->solids[solid]))
        return -1;
    for (int i = 0; i < solid; i++)
        object += photos_is_object(&world->solids[i]);
    return object;
}

/* Casts the rays of a camera's pixels into the world at the time of its picture. */
static void cast_camera(Objects *objects, const Rig *rig, int number, const World *world,
                        const WorldSnapshot *then) {
    const Frustum *frustum = &rig->frustum;
    const Camera *camera = &rig->cameras[number];
    double far_m = world->ground_class == CLASS_COUNT
                       ? INFINITY
                       : frustum_depth_m(frustum, (double)frustum_depth_bins(frustum));
    for (int w = 0; w < frustum->feat_w; w++) {
        double origin_m[3], direction[3], edges[4][3]; /* edges: around the column's rays */
        for (int corner = 0; corner < 4; corner++) {
            const double u_px = frustum_u_px(frustum, w + (corner & 1 ? 0.01 : -0.01));
            const double v_px = frustum_v_px(frustum, corner & 2 ? frustum->feat_h : -1);
            camera_ray(camera, u_px, v_px, origin_m, edges[corner]);
        }
        const WorldSight sight = world_sight(then, origin_m, edges);
        for (int h = 0; h < frustum->feat_h; h++) {
            camera_ray(camera, frustum_u_px(frustum, w), frustum_v_px(frustum, h), origin_m,
                       direction);
            WorldHit hit = world_cast(then, &sight, origin_m, direction, far_m);
            int64_t pixel = ((int64_t)number * frustum->feat_h + h) * frustum->feat_w + w;
            int64_t object = object_of_solid(world, hit.solid);
            objects->object_of[pixel] = (int32_t)object;
            objects->surface_m[pixel] = (float)hit.depth_m;
            if (object >= 0)
                objects->pixels[object]++;
        }
    }
}

/* Makes a world of the boxes of a file. The world has no ground: only boxes hide a box. */
static bool world_of_boxes(const Photos *photos, World *world, Objects *objects, Err *err) {
    size_t count = (size_t)photos->box_count;
    *world = (World){.ground_class = CLASS_COUNT, .solid_count = (int)count};
    world->solids = calloc(count + 1, sizeof *world->solids);
    objects->boxes = malloc(count * sizeof *objects->boxes + 1);
    if (!world->solids || !objects->boxes)
        return err_no_memory(err, "objects", "");
    for (size_t i = 0; i < count; i++) {
        const TrueBox *box = &photos->boxes[i];
        Solid *solid = &world->solids[i];
        *solid = (Solid){.kind = SOLID_BOX,
                         .class = CLASS_CAR,
                         .center_m = {box->center_m[0], box->center_m[1]},
                         .z_m = box->center_m[2] - box->size_m[2] / 2,
                         .yaw_deg = box->yaw * 180 / M_PI};
        memcpy(solid->size_m, box->size_m, sizeof solid->size_m);
        objects->boxes[i] = *box;
    }
    objects->count = photos->box_count;
    return true;
}

bool objects_of_scene(const Rig *rig, const World *world, const Photos *photos, double time_s,
                      Objects *objects, Err *err) {
    World boxed = {.solid_count = 0};
    *objects = (Objects){0};
    bool ok = world ? photos_world_boxes(world, time_s, &objects->boxes, &objects->count, err)
                    : world_of_boxes(photos, &boxed, objects, err);
    const World *seen = world ? world : &boxed;
    const bool has_objects = ok && objects->count;
    size_t pixels = (size_t)(rig->camera_count * rig->frustum.feat_h) * (size_t)rig->frustum.feat_w;
    if (has_objects) {
        objects->pixel_count = (int64_t)pixels;
        objects->pixels = calloc((size_t)objects->count, sizeof *objects->pixels);
        objects->object_of = malloc(pixels * sizeof *objects->object_of);
        objects->surface_m = malloc(pixels * sizeof *objects->surface_m);
        ok = (objects->pixels && objects->object_of && objects->surface_m) ||
             err_no_memory(err, "objects", "");
    }
    for (int camera = 0; ok && has_objects && camera < rig->camera_count; camera++) {
        WorldSnapshot *then;
        ok = world_snapshot(seen, time_s - rig->cameras[camera].delay_s, &then, err);
        if (ok)
            cast_camera(objects, rig, camera, seen, then);
        world_snapshot_free(then);
    }
    world_free(&boxed);
    if (!ok || !has_objects)
        objects_free(objects);
    return ok;
}

/* ---- the mass of an object in the grid ------------------------------------------------------- */

/* A pixel's ray: by the right rig, which took the picture, and by the wrong rig. A point at depth z
 * lies at from_m + z * along. `since_m`: how far the object has moved since the picture. */
typedef struct {
    double from_m[3], along[3], wrong_from_m[3], wrong_along[3], since_m[3];
} PixelRay;

/* Sums over the points of one object. `own` is the mass that the right rig puts into the object's
 * box. `kept` is the part of `own` that the map has. */
typedef struct {
    double mass, in_grid, in_box, right_in_box, own, kept, along, across, behind;
} Sums;

typedef struct {
    const Objects *objects;
    const Rig *right, *wrong;
    const float *depth;
    int64_t area, bins;
    double margin_m; /* half a cell */
    PixelRay *rays;  /* [camera, h, w]; only pixels of objects are filled */
    Sums *sums;      /* [objects->count] */
} Measure;

/* Whether a point lies in the box or at most `margin_m` outside. */
static bool point_in_box(const TrueBox *box, const double at_m[2], double margin_m) {
    double dx = at_m[0] - box->center_m[0], dy = at_m[1] - box->center_m[1];
    double c = cos(box->yaw), s = sin(box->yaw);
    return fabs(dx * c + dy * s) <= box->size_m[0] / 2 + margin_m &&
           fabs(dy * c - dx * s) <= box->size_m[1] / 2 + margin_m;
}

/* Returns a pixel's ray, by the right rig and by the wrong rig. */
static PixelRay pixel_ray(const Measure *measure, int64_t pixel) {
    const Frustum *frustum = &measure->right->frustum;
    int64_t camera = pixel / measure->area, row = pixel % measure->area / frustum->feat_w;
    double u = frustum_u_px(frustum, (double)(pixel % frustum->feat_w));
    double v = frustum_v_px(frustum, (double)row);
    const Camera *right = &measure->right->cameras[camera];
    const TrueBox *box = &measure->objects->boxes[measure->objects->object_of[pixel]];
    PixelRay ray = {
        .since_m = {box->velocity_mps[0] * right->delay_s, box->velocity_mps[1] * right->delay_s}};
    camera_ray(right, u, v, ray.from_m, ray.along);
    camera_ray(&measure->wrong->cameras[camera], u, v, ray.wrong_from_m, ray.wrong_along);
    return ray;
}

/* Writes where the right rig puts a pixel's point. */
static void right_place(const Measure *measure, int64_t pixel, int64_t bin, double at_m[3]) {
    const PixelRay *ray = &measure->rays[pixel];
    const double depth_m = frustum_depth_m(&measure->right->frustum, (double)bin);
    for (int axis = 0; axis < 3; axis++)
        at_m[axis] = ray->from_m[axis] + depth_m * ray->along[axis] + ray->since_m[axis];
}

/* Whether the right rig puts a pixel's point into the box of its object. The point stands for a
 * cell and a bin, so it may lie half a cell or half a bin outside the box. */
static bool point_is_own(const Measure *measure, int64_t pixel, int64_t bin) {
    const Frustum *frustum = &measure->right->frustum;
    double at_m[3], half_bin_m = (frustum_depth_m(frustum, (double)bin + 0.5) -
                                  frustum_depth_m(frustum, (double)bin - 0.5)) /
                                 2;
    right_place(measure, pixel, bin, at_m);
    return point_in_box(&measure->objects->boxes[measure->objects->object_of[pixel]], at_m,
                        fmax(measure->margin_m, half_bin_m));
}

/* Whether the right rig puts a pixel's point into a cell in the box of its object. */
static bool cell_is_own(const Measure *measure, int64_t pixel, int64_t bin) {
    const Grid *grid = &measure->right->grid;
    double at_m[3], center_m[2];
    right_place(measure, pixel, bin, at_m);
    const int64_t cell = grid_cell(grid, at_m);
    if (cell < 0)
        return false;
    grid_center(grid, cell, center_m);
    return point_in_box(&measure->objects->boxes[measure->objects->object_of[pixel]], center_m,
                        measure->margin_m);
}

/* Adds the mass of all bins of a pixel, inside the grid and outside. */
static void add_pixel_mass(const Measure *measure, int64_t pixel) {
    Sums *sums = &measure->sums[measure->objects->object_of[pixel]];
    const PixelRay *ray = &measure->rays[pixel];
    double level = hypot(ray->along[0], ray->along[1]);
    int64_t first = pixel / measure->area * measure->area * measure->bins + pixel % measure->area;
    for (int64_t bin = 0; bin < measure->bins; bin++) {
        double mass = measure->depth[first + bin * measure->area];
        double behind_m = frustum_depth_m(&measure->right->frustum, (double)bin) -
                          measure->objects->surface_m[pixel];
        sums->mass += mass;
        sums->right_in_box += cell_is_own(measure, pixel, bin) ? mass : 0;
        if (!point_is_own(measure, pixel, bin))
            continue;
        sums->own += mass;
        sums->behind += mass * level * behind_m;
    }
}

/* Adds point t of the map to the sums of its object. The point's mass lies in its cell. The error
 * is the distance between the point's places by the two rigs. */
static void add_point_mass(const Measure *measure, const BevMap *map, int64_t t) {
    const int64_t pixel = map->ranks_feat[t], value = map->ranks_depth[t];
    const int object = measure->objects->object_of[pixel];
    if (object < 0)
        return;
    const double mass = measure->depth[value] * (map->weights ? map->weights[t] : 1);
    if (mass == 0)
        return;
    double at_m[2], moved_m[2];
    Sums *sums = &measure->sums[object];
    grid_center(&measure->wrong->grid, map->ranks_bev[t], at_m);
    sums->in_grid += mass;
    sums->in_box +=
        point_in_box(&measure->objects->boxes[object], at_m, measure->margin_m) ? mass : 0;
    int64_t bin = value / measure->area % measure->bins;
    if (!point_is_own(measure, pixel, bin))
        return;
    const PixelRay *ray = &measure->rays[pixel];
    const double depth_m = frustum_depth_m(&measure->right->frustum, (double)bin);
    for (int axis = 0; axis < 2; axis++)
        moved_m[axis] = ray->wrong_from_m[axis] - ray->from_m[axis] - ray->since_m[axis] +
                        depth_m * (ray->wrong_along[axis] - ray->along[axis]);
    double level = hypot(ray->along[0], ray->along[1]);
    sums->kept += mass;
    sums->along += mass * (moved_m[0] * ray->along[0] + moved_m[1] * ray->along[1]) / level;
    sums->across += mass * (moved_m[1] * ray->along[0] - moved_m[0] * ray->along[1]) / level;
}

/* Returns the error of an object. An object is lost if the map has less than a tenth of the mass
 * that the right rig puts into the box. */
static ObjectError object_error(const TrueBox *box, const Sums *sums) {
    const bool enough_kept = sums->kept > 0 && sums->kept >= 0.1 * sums->own;
    const bool lost = sums->mass > 0 && !enough_kept;
    double kept = lost ? NAN : sums->kept; /* without mass 0 / 0 is NaN, too */
    double along_m = sums->along / kept, across_m = sums->across / kept;
    return (ObjectError){.range_m = hypot(box->center_m[0], box->center_m[1]),
                         .share = sums->in_box / sums->mass,
                         .right_share = sums->right_in_box / sums->mass,
                         .in_grid = sums->in_grid / sums->mass,
                         .lost = lost,
                         .along_m = along_m,
                         .across_m = across_m,
                         .error_m = hypot(along_m, across_m),
                         .behind_m = sums->behind / sums->own};
}

bool objects_measure(const Objects *objects, const Rig *right, const Rig *wrong, const BevMap *map,
                     const float *depth, ObjectError *errors) {
    const GridAxes axes = axes_of_grid(&wrong->grid);
    const Frustum *frustum = &right->frustum;
    Measure measure = {.objects = objects,
                       .right = right,
                       .wrong = wrong,
                       .depth = depth,
                       .area = (int64_t)frustum->feat_h * frustum->feat_w,
                       .bins = frustum_depth_bins(frustum),
                       .margin_m = fmax(axes.cell_m[0], axes.cell_m[1]) / 2};
    measure.rays = malloc((size_t)objects->pixel_count * sizeof *measure.rays);
    measure.sums = calloc((size_t)objects->count + 1, sizeof *measure.sums);
    bool ok = measure.rays && measure.sums;
    for (int64_t pixel = 0; ok && pixel < objects->pixel_count; pixel++)
        if (objects->object_of[pixel] >= 0) {
            measure.rays[pixel] = pixel_ray(&measure, pixel);
            add_pixel_mass(&measure, pixel);
        }
    for (int64_t t = 0; ok && t < map->points; t++)
        add_point_mass(&measure, map, t);
    for (int64_t i = 0; ok && i < objects->count; i++)
        errors[i] = object_error(&objects->boxes[i], &measure.sums[i]);
    free(measure.rays);
    free(measure.sums);
    return ok;
}

/* ---- by range -------------------------------------------------------------------------------- */

void objects_bands(const ObjectError *errors, int64_t count, ObjectBand bands[OBJECT_BANDS]) {
    memset(bands, 0, OBJECT_BANDS * sizeof *bands);
    for (int64_t i = 0; i < count; i++) {
        const ObjectError *error = &errors[i];
        ObjectBand *band = bands;
        while (error->range_m >= object_band_m[band - bands])
            band++;
        if (!isfinite(error->share) || error->right_share == 0)
            continue; /* the right rig puts none of the object's mass into its box, either */
        band->count++;
        band->lost += error->lost;
        band->share += error->share;
        band->right_share += error->right_share;
        if (error->lost)
            continue;
        band->error_m += error->error_m;
        band->along_m += error->along_m;
        band->across_m += error->across_m;
    }
    for (ObjectBand *band = bands; band < bands + OBJECT_BANDS; band++) {
        int placed = band->count - band->lost;
        band->share /= band->count;
        band->right_share /= band->count;
        band->error_m /= placed;
        band->along_m /= placed;
        band->across_m /= placed;
    }
}

ShortText object_band_text(int band) {
    if (!band)
        return short_text("below %g m", object_band_m[0]);
    if (band == OBJECT_BANDS - 1)
        return short_text("beyond %g m", object_band_m[band - 1]);
    return short_text("%g to %g m", object_band_m[band - 1], object_band_m[band]);
}
