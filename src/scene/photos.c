/* SPDX-License-Identifier: MIT */
#include "src/scene/photos.h"
#include "kernels/threads.h"
#include "src/base/srgb.h"
#include "src/scene/features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const strip_names[STRIP_COUNT] = {"image", "norm", "depth", "dropped"};
const char *const truth_names[TRUTH_COUNT] = {"off", "boxes", "lidar", "both"};

void photos_free(Photos *photos) {
    free(photos->srgb);
    free(photos->boxes);
    free(photos->sweep_m);
    memset(photos, 0, sizeof *photos);
}

void photos_box_corners(const TrueBox *box, double corners[4][2]) {
    static const double unit[4][2] = {{0.5, 0.5}, {-0.5, 0.5}, {-0.5, -0.5}, {0.5, -0.5}};
    double c = cos(box->yaw), s = sin(box->yaw);
    for (int i = 0; i < 4; i++) {
        double along = unit[i][0] * box->size_m[0], across = unit[i][1] * box->size_m[1];
        corners[i][0] = box->center_m[0] + along * c - across * s;
        corners[i][1] = box->center_m[1] + along * s + across * c;
    }
}

void photos_kept_size(int64_t input_h, int64_t input_w, int64_t *h, int64_t *w) {
    double scale = fmin(1, (double)PHOTOS_KEPT_W / (double)(input_w > input_h ? input_w : input_h));
    *h = (int64_t)fmax(1, round((double)input_h * scale));
    *w = (int64_t)fmax(1, round((double)input_w * scale));
}

/* ---- features of photographs ----------------------------------------------------------------- */

/* Finds the part of a photograph, along one axis, that belongs to feature pixel `at` of `count`.
 * `size` and `input` are the axis lengths of the photograph and of the network's input. The feature
 * pixels lie at linspace(0, input - 1, count). A part is nearer to its own pixel than to others. */
static void find_photo_part(int64_t size, int input, int count, int at, int64_t part[2]) {
    const bool single = count == 1; /* the pixel stands for the whole input */
    double gap = single ? input : (double)(input - 1) / (count - 1);
    double middle = single ? input / 2.0 : at * gap + 0.5;
    double scale = (double)size / input; /* photograph pixels in a pixel of the input */
    int64_t first = (int64_t)fmax(0, floor((middle - gap / 2) * scale));
    int64_t end = (int64_t)fmin((double)size, ceil((middle + gap / 2) * scale));
    part[0] = first < size ? first : size - 1;
    part[1] = end > part[0] ? end : part[0] + 1; /* at least one pixel */
}

typedef struct {
    const uint8_t *srgb; /* pixels of one camera */
    int64_t h, w;
} Photo;

/* Returns the brightness of a pixel. Beyond the photograph the last row and column are repeated. */
static double brightness(const Photo *photo, int64_t y, int64_t x) {
    const int64_t row = y < photo->h ? y : photo->h - 1, column = x < photo->w ? x : photo->w - 1;
    const uint8_t *rgb = photo->srgb + 3 * (row * photo->w + column);
    return (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]) / 255;
}

/* Computes a feature pixel from its part of a photograph: colour, edges and contrast. */
static void pixel_features(const Photo *photo, const int64_t rows[2], const int64_t columns[2],
                           float *feat) {
    double color[3] = {0}, right = 0, down = 0, sum = 0, squares = 0;
    double count = (double)((rows[1] - rows[0]) * (columns[1] - columns[0]));
    for (int64_t y = rows[0]; y < rows[1]; y++)
        for (int64_t x = columns[0]; x < columns[1]; x++) {
            double here = brightness(photo, y, x);
            for (int i = 0; i < 3; i++)
                color[i] += srgb_light(photo->srgb[3 * (y * photo->w + x) + i]);
            right += brightness(photo, y, x + 1) - here;
            down += brightness(photo, y + 1, x) - here;
            sum += here;
            squares += here * here;
        }
    double mean = sum / count;
    const double values[PHOTO_CHANNELS] = {color[0] / count,
                                           color[1] / count,
                                           color[2] / count,
                                           1,
                                           right / count,
                                           down / count,
                                           hypot(right, down) / count,
                                           sqrt(fmax(squares / count - mean * mean, 0))};
    for (int c = 0; c < PHOTO_CHANNELS; c++)
        feat[c] = (float)values[c];
}

void photos_features(const Photos *photos, const Frustum *frustum, float *feat) {
    Photo photo = {.h = photos->h, .w = photos->w};
#pragma omp parallel for num_threads(bev_threads()) schedule(static) firstprivate(photo)
    for (int64_t row = 0; row < photos->cameras * frustum->feat_h; row++) {
        int64_t camera = row / frustum->feat_h, rows[2], columns[2];
        photo.srgb = photos->srgb + 3 * camera * photos->h * photos->w;
        find_photo_part(photos->h, frustum->input_h, frustum->feat_h, (int)(row % frustum->feat_h),
                        rows);
        for (int x = 0; x < frustum->feat_w; x++) {
            find_photo_part(photos->w, frustum->input_w, frustum->feat_w, x, columns);
            pixel_features(&photo, rows, columns,
                           feat + (row * frustum->feat_w + x) * PHOTO_CHANNELS);
        }
    }
}

/* ---- photographs ----------------------------------------------------------------------------- */

static bool take_pictures(const Rig *rig, const World *world, double time_s, Photos *photos,
                          Err *err) {
    CameraViews views;
    photos_kept_size(rig->frustum.input_h, rig->frustum.input_w, &photos->h, &photos->w);
    if (!camera_views_render(rig, world, photos->h, photos->w, time_s, &views, err))
        return false;
    photos->cameras = rig->camera_count;
    int64_t values = photos->cameras * photos->h * photos->w * 3;
    photos->srgb = malloc((size_t)values);
    if (!photos->srgb)
        values = 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t i = 0; i < values; i++)
        photos->srgb[i] = srgb_level(views.color[i]);
    camera_views_free(&views);
    return photos->srgb || err_no_memory(err, "photos", "choose a smaller scene");
}

/* ---- boxes and LiDAR ------------------------------------------------------------------------- */

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
    const int rays = points ? BEAMS * TURNS : 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int i = 0; i < rays; i++) {
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
    for (int i = 0; i < BEAMS * TURNS; i++) /* keeps the rays that hit */
        if (!isnan(points[3 * i]))
            memmove(points + 3 * photos->sweep_count++, points + 3 * i, 3 * sizeof *points);
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
