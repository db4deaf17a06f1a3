/* Scenes to .npz. */
#include "src/base/data.h"
#include "src/scene/scene_arrays.h"

#include "kernels/codec.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    NpzWriter npz;
    Err *err;
} Writer;

/* `shape`: the extents of the array, ended by -1. */
static bool add(Writer *writer, ArrayId id, NpyType type, const int64_t *shape,
                const void *elements) {
    int rank = 0;
    while (shape[rank] >= 0)
        rank++;
    return npz_writer_add(&writer->npz, scene_arrays[id].name, type, rank, shape, elements,
                          writer->err);
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, -1})

static bool add_tensor(Writer *writer, ArrayId id, const int64_t shape[5], const float *values,
                       bool half) {
    if (!half)
        return add(writer, id, NPY_F4, shape, values);
    size_t count = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
    uint16_t *codes = malloc(count * sizeof *codes);
    if (!codes)
        return err_set(writer->err, ERR_FAILED, scene_arrays[id].name, "", "out of memory");
    for (size_t i = 0; i < count; i++)
        codes[i] = bev_fp16_encode(values[i]);
    bool ok = add(writer, id, NPY_F2, shape, codes);
    free(codes);
    return ok;
}

static bool add_cameras(Writer *writer, const Rig *rig) {
    double k[RIG_MAX_CAMERAS * 9], pose[RIG_MAX_CAMERAS * 16] = {0};
    for (int i = 0; i < rig->camera_count; i++) {
        const Camera *camera = &rig->cameras[i];
        memcpy(k + 9 * i, camera->intrinsics, sizeof camera->intrinsics);
        for (int row = 0; row < 3; row++) {
            memcpy(pose + 16 * i + 4 * row, &camera->rotation[3 * row], 3 * sizeof(double));
            pose[16 * i + 4 * row + 3] = camera->position_m[row];
        }
        pose[16 * i + 15] = 1;
    }
    return add(writer, ARRAY_INTRINSICS, NPY_F8, SHAPE(rig->camera_count, 3, 3), k) &&
           add(writer, ARRAY_CAM2EGO, NPY_F8, SHAPE(rig->camera_count, 4, 4), pose);
}

static bool add_calibration(Writer *writer, const Rig *rig) {
    const Frustum *f = &rig->frustum;
    const Grid *g = &rig->grid;
    const int32_t image_size[] = {f->input_h, f->input_w};
    const double crop[] = {f->crop_x, f->crop_y, f->crop_x + f->input_w, f->crop_y + f->input_h};
    const double depth_range[] = {f->depth_start_m, f->depth_stop_m, f->depth_step_m};
    const double grid[] = {
        g->x_min_m, g->x_max_m, (g->x_max_m - g->x_min_m) / g->nx,
        g->y_min_m, g->y_max_m, (g->y_max_m - g->y_min_m) / g->ny,
        g->z_min_m, g->z_max_m, g->z_max_m - g->z_min_m,
    };
    return add_cameras(writer, rig) &&
           add(writer, ARRAY_IMAGE_SIZE, NPY_I4, SHAPE(2), image_size) &&
           add(writer, ARRAY_RESIZE, NPY_F8, (const int64_t[]){-1}, &f->resize) &&
           add(writer, ARRAY_CROP, NPY_F8, SHAPE(4), crop) &&
           add(writer, ARRAY_DEPTH_RANGE, NPY_F8, SHAPE(3), depth_range) &&
           add(writer, ARRAY_GRID, NPY_F8, SHAPE(3, 3), grid);
}

static bool add_map(Writer *writer, const BevShape *shape, const BevMap *map) {
    const int32_t bev_shape[] = {(int32_t)shape->ny, (int32_t)shape->nx};
    return add(writer, ARRAY_RANKS_DEPTH, NPY_I4, SHAPE(map->points), map->ranks_depth) &&
           add(writer, ARRAY_RANKS_FEAT, NPY_I4, SHAPE(map->points), map->ranks_feat) &&
           add(writer, ARRAY_RANKS_BEV, NPY_I4, SHAPE(map->points), map->ranks_bev) &&
           add(writer, ARRAY_INTERVAL_STARTS, NPY_I4, SHAPE(map->intervals),
               map->interval_starts) &&
           add(writer, ARRAY_INTERVAL_LENGTHS, NPY_I4, SHAPE(map->intervals),
               map->interval_lengths) &&
           add(writer, ARRAY_BEV_SHAPE, NPY_I4, SHAPE(2), bev_shape) &&
           (!map->weights || add(writer, ARRAY_WEIGHTS, NPY_F4, SHAPE(map->points), map->weights));
}

static bool add_scene(Writer *writer, const Scene *scene, const Features *features,
                      const BevMap *map, bool half) {
    const BevShape *s = &scene->shape;
    return add_tensor(writer, ARRAY_DEPTH, SHAPE(s->cameras, s->depth_bins, s->feat_h, s->feat_w),
                      features->depth, half) &&
           add_tensor(writer, ARRAY_FEAT, SHAPE(s->cameras, s->feat_h, s->feat_w, s->channels),
                      features->feat, half) &&
           (!scene->has_rig || add_calibration(writer, &scene->rig)) && add_map(writer, s, map);
}

bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err) {
    Writer writer = {.err = err};
    char *bytes = NULL;
    size_t length = 0;
    if (!npz_writer_open(&writer.npz, err))
        return false;
    if (!add_scene(&writer, scene, features, map, half)) {
        npz_writer_abort(&writer.npz);
        return false;
    }
    bool ok = npz_writer_finish(&writer.npz, &bytes, &length, err) &&
              data_write(path, bytes, length, err);
    free(bytes);
    return ok;
}
