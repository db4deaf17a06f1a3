/* SPDX-License-Identifier: MIT */
/* Scans a sample's world by LiDAR. The result is the points of `voxelize`. */
#include "src/scene/operator/operator_internal.h"

#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>

enum { BEAMS = 64 };
#define SENSOR_M   1.8  /* height above the ground, over the ego's origin */
#define NEAREST_M  2.5  /* radius of the ring of the lowest beam */
#define RANGE_M    70.0 /* range of the other rings beyond NEAREST_M */
#define FARTHEST_M 120.0

/* Computes the ray of a beam at an azimuth. Its length along the ground is 1. At skew 0 the rings
 * have equal distances. A larger skew makes them denser near the car. */
static void beam_ray(int64_t beam, int64_t turn, int64_t turns, double skew, double direction[3]) {
    double ring_m = NEAREST_M + RANGE_M * pow((double)beam / BEAMS, 1 + skew);
    double angle = 2 * M_PI * (double)turn / (double)turns;
    direction[0] = cos(angle);
    direction[1] = sin(angle);
    direction[2] = -SENSOR_M / ring_m;
}

/* Casts one ray. Returns the cell of the hit point and fills its row of features. -1: no cell. */
static int32_t scan_ray(const WorldSnapshot *world, const Embedding *embedding, const Grid *grid,
                        const double direction[3], float *row) {
    static const WorldSight all = {.count = -1};
    static const double sensor_m[3] = {0, 0, SENSOR_M};
    WorldHit hit = world_cast(world, &all, sensor_m, direction, FARTHEST_M);
    if (!hit.hit)
        return -1;
    double at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = sensor_m[axis] + hit.depth_m * direction[axis];
    float parts[EMBED_DIMS] = {0};
    parts[hit.class] = 1;
    for (int i = 0; i < 3; i++)
        parts[EMBED_R + i] = hit.color[i];
    parts[EMBED_HEIGHT] = (float)(hit.height_m / EMBED_HEIGHT_M);
    embedding_encode(embedding, parts, row);
    return (int32_t)grid_cell(grid, at);
}

bool operator_sweep(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                    float *feat, Err *err) {
    Scene scene;
    WorldSnapshot *world = NULL;
    Embedding embedding = {.channels = 0};
    if (!scene_load_sample(spec->world, &scene, err))
        return false;
    /* The forms of solids become the boxes and cylinders around them. Recorded results belong to
     * this sweep. */
    Solid *const solids = scene.world.solids;
    for (int i = 0; i < scene.world.solid_count; i++)
        solids[i].kind = solid_is_round(solids[i].kind) ? SOLID_CYLINDER : SOLID_BOX;
    bool ok = (scene.has_world ||
               data_refuse(err, where, "world", "bevscope --list shows them",
                           "%s is an operator, must be a scene with cameras", spec->world)) &&
              world_snapshot(&scene.world, 0, &world, err) &&
              embedding_init(&embedding, spec->channels, spec->seed, err);
    Grid grid = scene.rig.grid;
    grid.nx = grid.ny = (int)lround(sqrt((double)spec->cells));
    grid.nz = 1;
    int64_t turns = (points->count + BEAMS - 1) / BEAMS;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 256)
    for (int64_t t = 0; t < (ok ? points->count : 0); t++) {
        double direction[3];
        beam_ray(t % BEAMS, t / BEAMS, turns, spec->skew, direction);
        points->rows[t] = (int32_t)t;
        points->cells[t] = scan_ray(world, &embedding, &grid, direction, feat + t * spec->channels);
    }
    world_snapshot_free(world);
    embedding_free(&embedding);
    scene_free(&scene);
    return ok;
}
