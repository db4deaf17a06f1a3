/* The LiDAR's own pillars, pooled by the cameras' operation: a point is a row of features (1,
 * height) with a single depth of 1, and goes to its cell of the cameras' grid. */
#include "src/scene/clip.h"
#include "src/scene/operator/operator_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = SCENE_MAX_FEATURES * SCENE_MAX_FEATURES };

/* Takes the sweep of a moment: the file's, or that of a car in the world. */
static bool take_sweep(Scene *scene, double time_s, Err *err) {
    if (scene->has_operator || !scene->has_rig)
        return err_set(err, ERR_USAGE, scene->name, "pillars take the grid of a calibration",
                       "a scene without cameras has no LiDAR's pillars");
    if (!clip_move(scene, time_s, err))
        return false;
    if (scene->has_world && !scene->photos.sweep_count &&
        !photos_world_sweep(&scene->world, time_s, &scene->photos, err))
        return false;
    return scene->photos.sweep_count || err_set(err, ERR_USAGE, scene->name, "add the array lidar",
                                                "came without a LiDAR's points: it has no pillars");
}

/* Keeps the points in the grid: their cells, and their heights as the features' second channel. */
static void take_points(const Photos *photos, const Grid *grid, OperatorPoints *points,
                        float *heights) {
    for (int64_t i = 0; i < photos->sweep_count; i++) {
        const float *p = photos->sweep_m + 3 * i;
        int64_t cell = grid_cell(grid, (const double[]){p[0], p[1], p[2]});
        if (cell < 0)
            continue;
        points->cells[points->count] = (int32_t)cell;
        points->rows[points->count] = (int32_t)points->count;
        heights[points->count++] = p[2];
    }
}

/* The scene of these points. */
static bool fill_scene(Scene *next, const Grid *grid, const OperatorPoints *points,
                       const float *heights, Err *err) {
    BevShape *shape = &next->shape;
    *shape = (BevShape){.cameras = 1, .depth_bins = 1, .channels = PILLAR_CHANNELS};
    shape->nz = grid_slices(grid);
    shape->ny = (int64_t)grid->ny * shape->nz;
    shape->nx = grid->nx;
    operator_rectangle(points->count ? points->count : 1, SCENE_MAX_FEATURES, &shape->feat_h,
                       &shape->feat_w);
    next->channels = PILLAR_CHANNELS;
    next->temperature = 1;
    next->has_map = true;
    next->tensors.depth = calloc(features_depth_count(shape), sizeof(float));
    next->tensors.feat = calloc(features_feat_count(shape), sizeof(float));
    if (!next->tensors.depth || !next->tensors.feat)
        return err_set(err, ERR_FAILED, "pillars", "", "out of memory");
    for (int64_t i = 0; i < points->count; i++) {
        next->tensors.depth[i] = 1;
        next->tensors.feat[PILLAR_CHANNELS * i + PILLAR_COUNT] = 1;
        next->tensors.feat[PILLAR_CHANNELS * i + PILLAR_HEIGHT] = heights[i];
    }
    return operator_map(points, shape->ny * shape->nx, &next->map, err);
}

bool scene_use_pillars(Scene *scene, double time_s, Err *err) {
    Scene next = {.channels = 0};
    if (!take_sweep(scene, time_s, err))
        return false;
    size_t count = (size_t)scene->photos.sweep_count;
    OperatorPoints points = {.cells = malloc(count * sizeof *points.cells),
                             .rows = malloc(count * sizeof *points.rows)};
    float *heights = malloc(count * sizeof *heights);
    bool ok = (points.cells && points.rows && heights) ||
              err_set(err, ERR_FAILED, "pillars", "", "out of memory");
    if (ok)
        take_points(&scene->photos, &scene->rig.grid, &points, heights);
    if (ok && points.count > MOST_POINTS)
        ok = err_set(err, ERR_FAILED, scene->name, "save fewer points",
                     "%lld LiDAR points in the grid, must be at most %d", (long long)points.count,
                     MOST_POINTS);
    ok = ok && fill_scene(&next, &scene->rig.grid, &points, heights, err);
    free(points.cells);
    free(points.rows);
    free(heights);
    if (!ok) {
        scene_free(&next);
        return false;
    }
    memcpy(next.name, scene->name, sizeof next.name);
    snprintf(next.title, sizeof next.title, "LiDAR pillars: %.100s",
             scene->title[0] ? scene->title : scene->name);
    scene_free(scene);
    *scene = next;
    return true;
}
