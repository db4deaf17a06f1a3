#include "src/scene/objects.h"

#include "kernels/codec.h"
#include "src/scene/grid_loss.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double object_band_m[OBJECT_BANDS] = {15, 30, 45, INFINITY};

/* ---- the pixels of an object ----------------------------------------------------------------- */

/* A box in the frame of its own axes, and the origin of a camera's rays. */
typedef struct {
    double center_m[3], half_m[3], c, s;
    /* rays' origin from the box's middle: in the ego frame; in the box's frame */
    double from_m[3], start_m[3];
    /* squared distance of the origin, less the squared radius of the bounding sphere */
    double outside_m2;
} Target;

static Target box_target(const TrueBox *box) {
    Target target = {.c = cos(box->yaw), .s = sin(box->yaw)};
    for (int axis = 0; axis < 3; axis++) {
        target.center_m[axis] = box->center_m[axis];
        target.half_m[axis] = box->size_m[axis] / 2;
    }
    return target;
}

static void to_box_frame(const Target *target, const double v[3], double own[3]) {
    own[0] = v[0] * target->c + v[1] * target->s;
    own[1] = v[1] * target->c - v[0] * target->s;
    own[2] = v[2];
}

static void set_ray_origin(Target *target, const double origin_m[3]) {
    const double margin = 1 + 1e-9; /* for rounding */
    target->outside_m2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        double from = target->from_m[axis] = origin_m[axis] - target->center_m[axis];
        double half = target->half_m[axis];
        target->outside_m2 += from * from - margin * half * half;
    }
    to_box_frame(target, target->from_m, target->start_m);
}

/* Whether a ray misses the sphere around the box. Most rays do, and this test is fast. */
static bool misses_sphere(const Target *target, const double direction[3], double length2) {
    const double *from = target->from_m;
    double away = from[0] * direction[0] + from[1] * direction[1] + from[2] * direction[2];
    return target->outside_m2 > 0 && (away > 0 || away * away < target->outside_m2 * length2);
}

/* Returns the ray's parameter where it enters the box. This is the latest of the three entries, if
 * no exit comes before. INFINITY: the ray misses the box or begins inside. */
static double box_entry(const Target *target, const double direction[3]) {
    const double *start = target->start_m;
    double along[3], in = 0, out = INFINITY;
    to_box_frame(target, direction, along);
    for (int axis = 0; axis < 3; axis++) {
        double a = (-target->half_m[axis] - start[axis]) / along[axis];
        double b = (target->half_m[axis] - start[axis]) / along[axis];
        if (along[axis] == 0 && fabs(start[axis]) > target->half_m[axis])
            return INFINITY;
        if (along[axis] == 0)
            continue;
        in = fmax(in, fmin(a, b));
        out = fmin(out, fmax(a, b));
    }
    return in > 0 && in < out ? in : INFINITY;
}

/* Gives the pixel of one ray to the first box that the ray meets. */
static void assign_ray(Objects *objects, const Target *targets, int64_t all, int64_t pixel,
                       const double origin_m[3], const double direction[3]) {
    double first = INFINITY, length2 = 0;
    int64_t found = -1;
    for (int axis = 0; axis < 3; axis++)
        length2 += direction[axis] * direction[axis];
    for (int64_t i = 0; i < all; i++) {
        double at = misses_sphere(&targets[i], direction, length2)
                        ? INFINITY
                        : box_entry(&targets[i], direction);
        if (at < first) {
            first = at;
            found = i;
        }
    }
    bool hides = found >= objects->count;
    objects->object_of[pixel] = (int32_t)(hides ? -1 : found);
    if (found < 0 || hides)
        return;
    objects->pixels[found]++;
    for (int axis = 0; axis < 2; axis++)
        objects->seen_m[found][axis] += origin_m[axis] + first * direction[axis];
}

static void assign_camera(Objects *objects, const Rig *rig, int camera, Target *targets,
                          int64_t all) {
    const Frustum *frustum = &rig->frustum;
    int64_t pixel = (int64_t)camera * frustum->feat_h * frustum->feat_w;
    double origin_m[3], direction[3];
    for (int64_t i = 0; i < all; i++)
        set_ray_origin(&targets[i], rig->cameras[camera].position_m);
    for (int h = 0; h < frustum->feat_h; h++)
        for (int w = 0; w < frustum->feat_w; w++, pixel++) {
            camera_ray(&rig->cameras[camera], frustum_u_px(frustum, w), frustum_v_px(frustum, h),
                       origin_m, direction);
            assign_ray(objects, targets, all, pixel, origin_m, direction);
        }
}

static void assign_rays(Objects *objects, const Rig *rig, Target *targets, int64_t all) {
    for (int camera = 0; camera < rig->camera_count; camera++)
        assign_camera(objects, rig, camera, targets, all);
    for (int64_t i = 0; i < objects->count; i++)
        for (int axis = 0; axis < 2; axis++)
            objects->seen_m[i][axis] /= (double)objects->pixels[i]; /* 0 / 0 is NaN: no pixels */
}

bool objects_find(const Rig *rig, const TrueBox *boxes, int64_t count, int64_t hidden,
                  Objects *objects, Err *err) {
    const Frustum *frustum = &rig->frustum;
    int64_t all = count + hidden;
    size_t n = (size_t)count + 1;
    *objects = (Objects){.count = count,
                         .boxes = calloc(n, sizeof *objects->boxes),
                         .seen_m = calloc(n, sizeof *objects->seen_m),
                         .pixels = calloc(n, sizeof *objects->pixels)};
    objects->pixel_count = (int64_t)rig->camera_count * frustum->feat_h * frustum->feat_w;
    objects->object_of = malloc((size_t)objects->pixel_count * sizeof *objects->object_of);
    Target *targets = malloc(((size_t)all + 1) * sizeof *targets);
    bool ok = objects->boxes && objects->seen_m && objects->pixels && objects->object_of && targets;
    for (int64_t i = 0; ok && i < all; i++)
        targets[i] = box_target(&boxes[i]);
    if (ok) {
        memcpy(objects->boxes, boxes, (size_t)count * sizeof *boxes);
        assign_rays(objects, rig, targets, all);
    } else {
        objects_free(objects);
        err_set(err, ERR_FAILED, "objects", "", "out of memory");
    }
    free(targets);
    return ok;
}

void objects_free(Objects *objects) {
    free(objects->boxes);
    free(objects->seen_m);
    free(objects->pixels);
    free(objects->object_of);
    *objects = (Objects){0};
}

/* Gives a camera's pixels to the objects where they stood at the time `then`. `seen_m` stays. */
static bool assign_delayed_camera(Objects *objects, const Rig *rig, int camera, const TrueBox *then,
                                  int64_t all, Err *err) {
    Objects earlier;
    int64_t area = (int64_t)rig->frustum.feat_h * rig->frustum.feat_w;
    if (!objects_find(rig, then, objects->count, all - objects->count, &earlier, err))
        return false;
    for (int64_t pixel = camera * area; pixel < (camera + 1) * area; pixel++) {
        int32_t *now = &objects->object_of[pixel], was = earlier.object_of[pixel];
        if (*now >= 0)
            objects->pixels[*now]--;
        if (was >= 0)
            objects->pixels[was]++;
        *now = was;
    }
    objects_free(&earlier);
    return true;
}

/* Replaces the pixels of all cameras with a delay. */
static bool assign_delayed_cameras(Objects *objects, const Rig *rig, const World *world,
                                   double time_s, Err *err) {
    bool ok = true;
    for (int camera = 0; ok && camera < rig->camera_count; camera++) {
        double delay_s = rig->cameras[camera].delay_s;
        TrueBox *then = NULL;
        int64_t count;
        if (!delay_s)
            continue;
        ok = photos_world_boxes(world, time_s - delay_s, &then, &count, err) &&
             assign_delayed_camera(objects, rig, camera, then, world->solid_count, err);
        free(then);
    }
    return ok;
}

bool objects_of_scene(const Rig *rig, const World *world, const Photos *photos, double time_s,
                      Objects *objects, Err *err) {
    TrueBox *boxes = NULL;
    int64_t count = 0;
    *objects = (Objects){0};
    if (!world)
        return !photos->box_count ||
               objects_find(rig, photos->boxes, photos->box_count, 0, objects, err);
    bool ok =
        photos_world_boxes(world, time_s, &boxes, &count, err) &&
        (!count || (objects_find(rig, boxes, count, world->solid_count - count, objects, err) &&
                    assign_delayed_cameras(objects, rig, world, time_s, err)));
    free(boxes);
    if (!ok)
        objects_free(objects);
    return ok;
}

/* ---- the mass of an object in the grid ------------------------------------------------------- */

/* The sums over the points of one object. */
typedef struct {
    double mass, in_grid, in_box, x, y;
} Sums;

/* Whether a point lies in the box or at most `margin_m`, half a cell, outside. */
static bool in_box(const TrueBox *box, const double at_m[2], double margin_m) {
    double dx = at_m[0] - box->center_m[0], dy = at_m[1] - box->center_m[1];
    double c = cos(box->yaw), s = sin(box->yaw);
    return fabs(dx * c + dy * s) <= box->size_m[0] / 2 + margin_m &&
           fabs(dy * c - dx * s) <= box->size_m[1] / 2 + margin_m;
}

static void add_point(const Objects *objects, const Grid *grid, double margin_m,
                      const BevProblem *problem, int64_t point, Sums *sums) {
    const BevMap *map = &problem->map;
    int object = objects->object_of[map->ranks_feat[point]];
    if (object < 0)
        return;
    double at_m[2];
    grid_center(grid, map->ranks_bev[point], at_m);
    double mass = bev_tensor_at(&problem->depth, 0, map->ranks_depth[point]) *
                  (map->weights ? map->weights[point] : 1);
    sums[object].in_grid += mass;
    sums[object].x += mass * at_m[0];
    sums[object].y += mass * at_m[1];
    if (mass && in_box(&objects->boxes[object], at_m, margin_m))
        sums[object].in_box += mass;
}

/* Adds the mass of all pixels of the objects. All points and cameras count. */
static void add_pixels(const Objects *objects, const BevProblem *problem, Sums *sums) {
    const BevShape *shape = &problem->shape;
    int64_t area = shape->feat_h * shape->feat_w;
    for (int64_t pixel = 0; pixel < objects->pixel_count; pixel++) {
        int object = objects->object_of[pixel];
        int64_t first = pixel / area * area * shape->depth_bins + pixel % area;
        for (int64_t bin = 0; object >= 0 && bin < shape->depth_bins; bin++)
            sums[object].mass += bev_tensor_at(&problem->depth, 0, first + bin * area);
    }
}

static ObjectError object_error(const TrueBox *box, const double seen_m[2], const Sums *sums) {
    double dx = sums->x / sums->in_grid - seen_m[0], dy = sums->y / sums->in_grid - seen_m[1];
    double away = hypot(seen_m[0], seen_m[1]);
    return (ObjectError){
        .range_m = hypot(box->center_m[0], box->center_m[1]),
        .share = sums->in_box / sums->mass,
        .in_grid = sums->in_grid / sums->mass,
        .ahead_m = (dx * seen_m[0] + dy * seen_m[1]) / away,
        .left_m = (dy * seen_m[0] - dx * seen_m[1]) / away,
        .offset_m = hypot(dx, dy),
    };
}

void objects_measure(const Objects *objects, const Grid *grid, const BevProblem *problem,
                     ObjectError *errors) {
    Sums *sums = calloc((size_t)objects->count + 1, sizeof *sums);
    const GridAxes axes = axes_of_grid(grid);
    double margin_m = fmax(axes.cell_m[0], axes.cell_m[1]) / 2;
    for (int64_t t = 0; sums && t < problem->map.points; t++)
        add_point(objects, grid, margin_m, problem, t, sums);
    if (sums)
        add_pixels(objects, problem, sums);
    for (int64_t i = 0; i < objects->count; i++)
        errors[i] =
            object_error(&objects->boxes[i], objects->seen_m[i], sums ? &sums[i] : &(Sums){0});
    free(sums);
}

/* ---- by range -------------------------------------------------------------------------------- */

void objects_bands(const ObjectError *errors, int64_t count, ObjectBand bands[OBJECT_BANDS]) {
    int placed[OBJECT_BANDS] = {0};
    memset(bands, 0, OBJECT_BANDS * sizeof *bands);
    for (int64_t i = 0; i < count; i++) {
        int band = 0;
        while (errors[i].range_m >= object_band_m[band])
            band++;
        if (!isfinite(errors[i].share))
            continue;
        bands[band].count++;
        bands[band].share += errors[i].share;
        if (isfinite(errors[i].offset_m)) {
            placed[band]++;
            bands[band].offset_m += errors[i].offset_m;
        }
    }
    for (int band = 0; band < OBJECT_BANDS; band++) {
        bands[band].lost = bands[band].count - placed[band];
        bands[band].share /= bands[band].count;
        bands[band].offset_m /= placed[band];
    }
}

void object_band_text(int band, char *text, size_t size) {
    if (!band)
        snprintf(text, size, "below %g m", object_band_m[0]);
    else if (band < OBJECT_BANDS - 1)
        snprintf(text, size, "%g to %g m", object_band_m[band - 1], object_band_m[band]);
    else
        snprintf(text, size, "beyond %g m", object_band_m[band - 1]);
}
