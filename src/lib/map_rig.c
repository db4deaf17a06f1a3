/* SPDX-License-Identifier: MIT */
/* Maps from calibrations: the maps of all samples, one after the other. */
#include "src/lib/lib_internal.h"

#include "src/scene/scatter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Rig rig_of(const BevpoolRig *from) {
    Rig rig = {
        .camera_count = from->camera_count,
        .frustum = {.input_w = from->input_w,
                    .input_h = from->input_h,
                    .feat_w = from->feat_w,
                    .feat_h = from->feat_h,
                    .depth_start_m = from->depth_start_m,
                    .depth_stop_m = from->depth_stop_m,
                    .depth_step_m = from->depth_step_m},
        .grid = {from->x_min_m, from->x_max_m, from->y_min_m, from->y_max_m, from->z_min_m,
                 from->z_max_m, from->nx, from->ny, from->nz, 0},
    };
    for (int i = 0; i < from->camera_count; i++) {
        Camera *camera = &rig.cameras[i];
        camera->cut = (ImageCut){from->image_w, from->image_h, from->resize,
                                 from->resize,  from->crop_x,  from->crop_y};
        snprintf(camera->name, sizeof camera->name, "cameras[%d]", i);
        memcpy(camera->intrinsics, from->cameras[i].intrinsics, sizeof camera->intrinsics);
        memcpy(camera->rotation, from->cameras[i].rotation, sizeof camera->rotation);
        memcpy(camera->position_m, from->cameras[i].position_m, sizeof camera->position_m);
    }
    return rig;
}

/* Checks a caller's rig, and converts it to a Rig. */
static BevpoolStatus check_rig(const BevpoolRig *from, int64_t sample, Rig *rig,
                               BevpoolError *error) {
    char where[32];
    Err err = {0};
    snprintf(where, sizeof where, "rigs[%lld]", (long long)sample);
    FAIL_ON(from->size != sizeof *from, BEVPOOL_BAD_ARGUMENT, "%s.size is %zu, expected %zu", where,
            from->size, sizeof *from);
    FAIL_ON(!from->cameras, BEVPOOL_BAD_ARGUMENT, "%s.cameras is NULL", where);
    TRY(lib_check_range(where, ".camera_count", from->camera_count, 1, RIG_MAX_CAMERAS, error));
    FAIL_ON(from->nz < 0, BEVPOOL_BAD_ARGUMENT, "%s.nz is %d, expected at least 0", where,
            (int)from->nz);
    *rig = rig_of(from);
    return rig_check(rig, where, &err) ? BEVPOOL_OK : lib_pass(error, BEVPOOL_BAD_MAP, &err);
}

static BevpoolShape shape_of(const Rig *rig, int64_t batch) {
    BevShape one = rig_shape(rig, 1);
    return (BevpoolShape){batch,      one.cameras, one.depth_bins,  one.feat_h,
                          one.feat_w, one.nz,      one.ny / one.nz, one.nx};
}

/* ---- joining the samples --------------------------------------------------------------------- */

static void append_ranks(int32_t *to, const int32_t *from, int64_t count, int64_t add) {
    for (int64_t i = 0; i < count; i++)
        to[i] = (int32_t)(from[i] + add);
}

void lib_append_map(BevMap *all, const BevMap *one, const BevpoolShape *shape, int64_t sample) {
    int64_t feats = shape->cameras * shape->feat_h * shape->feat_w;
    append_ranks(all->ranks_depth + all->points, one->ranks_depth, one->points,
                 sample * feats * shape->depth_bins);
    append_ranks(all->ranks_feat + all->points, one->ranks_feat, one->points, sample * feats);
    append_ranks(all->ranks_bev + all->points, one->ranks_bev, one->points,
                 sample * shape->nz * shape->ny * shape->nx);
    append_ranks(all->interval_starts + all->intervals, one->interval_starts, one->intervals,
                 all->points);
    append_ranks(all->interval_lengths + all->intervals, one->interval_lengths, one->intervals, 0);
    if (one->weights)
        memcpy(all->weights + all->points, one->weights, (size_t)one->points * sizeof(float));
    all->points += one->points;
    all->intervals += one->intervals;
}

/* Checks all calibrations, and converts them to the rigs of scene/geometry.h. */
static BevpoolStatus take_rigs(const BevpoolRig *from, int64_t batch, Rig *rigs,
                               BevpoolShape *shape, BevpoolError *error) {
    for (int64_t b = 0; b < batch; b++) {
        TRY(check_rig(&from[b], b, &rigs[b], error));
        BevpoolShape its = shape_of(&rigs[b], batch);
        if (b == 0)
            *shape = its;
        FAIL_ON(memcmp(shape, &its, sizeof its) != 0, BEVPOOL_BAD_MAP,
                "rigs[%lld] has other sizes than rigs[0]", (long long)b);
    }
    return lib_check_shape(shape, error);
}

/* Builds the map of each sample, and joins them. */
static BevpoolStatus build_on_cpu(BevpoolMap **map, const BevpoolShape *shape, const Rig *rigs,
                                  int32_t align, BevpoolError *error) {
    BevMap *ones = calloc((size_t)shape->batch, sizeof *ones), all = {0};
    int64_t points = 0, intervals = 0;
    Err err = {0};
    bool ok = ones || err_no_memory(&err, "rigs", "");
    for (int64_t b = 0; ok && b < shape->batch; b++) {
        ok = scatter_build(&rigs[b], (BevAlign)align, ~0u, NULL, &ones[b], &err);
        points += ones[b].points;
        intervals += ones[b].intervals;
    }
    if (ok && points > INT32_MAX)
        ok = err_set(&err, ERR_FAILED, "rigs", "", "more than 2147483647 points");
    ok = ok && scatter_allocate(&all, points, intervals, align != BEV_NEAREST, &err);
    all.points = all.intervals = 0;
    for (int64_t b = 0; ones && b < shape->batch; b++) {
        if (ok)
            lib_append_map(&all, &ones[b], shape, b);
        scatter_free(&ones[b]);
    }
    free(ones);
    BevpoolStatus status = ok ? lib_map_keep(map, shape, &all, NULL, BEVPOOL_CPU, error)
                              : lib_pass(error, BEVPOOL_BAD_MAP, &err);
    if (status)
        scatter_free(&all);
    return status;
}

static BevpoolStatus build_on_gpu(BevpoolMap **map, const BevpoolShape *shape, const Rig *rigs,
                                  int32_t align, int32_t device, BevpoolError *error) {
    BevMap built = {0};
    void *memory = NULL;
    Err err = {0};
    ENTER(device);
    if (ON_GPU(lib_cuda_build(&built, &memory, shape->batch, rigs, align, &err)))
        return lib_map_keep(map, shape, &built, memory, device, error);
    lib_free(device, memory);
    return lib_pass(error, BEVPOOL_BAD_MAP, &err);
}

BevpoolStatus bevpool_map_from_rigs(BevpoolMap **map, const BevpoolRig *rigs, int64_t batch,
                                    int32_t align, int32_t device, BevpoolError *error) {
    FAIL_ON(!map, BEVPOOL_BAD_ARGUMENT, "map is NULL");
    *map = NULL;
    FAIL_ON(!rigs, BEVPOOL_BAD_ARGUMENT, "rigs is NULL");
    TRY(lib_check_range("", "batch", batch, 1, INT32_MAX, error));
    FAIL_ON(align < 0 || align >= BEV_ALIGN_COUNT, BEVPOOL_BAD_ARGUMENT,
            "align is %d, expected a BevpoolAlign", (int)align);
    Rig *taken = calloc((size_t)batch, sizeof *taken);
    FAIL_ON(!taken, BEVPOOL_NO_MEMORY, "rigs: out of memory");
    BevpoolShape shape = {0};
    BevpoolStatus status = take_rigs(rigs, batch, taken, &shape, error);
    if (!status)
        status = device == BEVPOOL_CPU ? build_on_cpu(map, &shape, taken, align, error)
                                       : build_on_gpu(map, &shape, taken, align, device, error);
    free(taken);
    return status;
}
