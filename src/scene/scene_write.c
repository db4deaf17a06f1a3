/* SPDX-License-Identifier: MIT */
/* Writes a scene as .npz. */
#include "src/scene/scene_internal.h"

#include <string.h>

/* Whether any camera has a name of its own, unlike "camera 0". */
static bool cameras_have_names(const Scene *scene) {
    for (int i = 0; scene->has_rig && i < scene->rig.camera_count; i++)
        if (strncmp(scene->rig.cameras[i].name, "camera ", 7))
            return true;
    return false;
}

/* The arrays of a calibration that the rig holds in another form. */
typedef struct {
    double cam2ego[RIG_MAX_CAMERAS * 16], crop[RIG_MAX_CAMERAS * 4], own_size[RIG_MAX_CAMERAS * 2];
    double image_size[2], grid[9];
    bool sizes_differ; /* own_size is needed: the cameras' images have several sizes */
} WrittenRig;

/* Fills a zeroed struct. */
static void fill_written_rig(const Rig *rig, WrittenRig *written) {
    const Frustum *f = &rig->frustum;
    const GridAxes axes = axes_of_grid(&rig->grid);
    written->image_size[0] = f->input_h;
    written->image_size[1] = f->input_w;
    for (int i = 0; i < rig->camera_count; i++) {
        const Camera *camera = &rig->cameras[i];
        const ImageCut *cut = &camera->cut;
        const double crop[] = {cut->crop_x, cut->crop_y, cut->crop_x + f->input_w,
                               cut->crop_y + f->input_h};
        double *m = written->cam2ego + 16 * i, *size = written->own_size + 2 * i;
        for (int row = 0; row < 3; row++) {
            memcpy(m + 4 * row, &camera->rotation[3 * row], 3 * sizeof *m);
            m[4 * row + 3] = camera->position_m[row];
        }
        m[15] = 1;
        memcpy(written->crop + 4 * i, crop, sizeof crop);
        size[0] = cut->image_h;
        size[1] = cut->image_w;
        written->sizes_differ |= memcmp(size, written->own_size, 2 * sizeof *size) != 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        const double row[] = {axes.min_m[axis], axes.max_m[axis], axes.cell_m[axis]};
        memcpy(written->grid + 3 * axis, row, sizeof row);
    }
}

bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err) {
    const BevShape *s = &scene->shape;
    const Photos *photos = &scene->photos;
    const int64_t sizes[SIZE_COUNT] = {s->cameras,        s->depth_bins,       s->feat_h,
                                       s->feat_w,         s->channels,         map->points,
                                       map->intervals,    photos->h,           photos->w,
                                       photos->box_count, photos->sweep_count, 3};
    const Rig *rig = &scene->rig;
    const Camera *first = rig->cameras;
    const bool by_camera = !rig_has_one_cut(rig) || first->cut.resize_x != first->cut.resize_y;
    const double nz = (double)shape_slices(s);
    const double bev_shape[] = {1, nz, (double)s->ny / nz, (double)s->nx, (double)s->channels};
    const char truncate[NPZ_TEXT] = "truncate";
    WrittenRig written = {.sizes_differ = false};
    if (scene->has_rig)
        fill_written_rig(rig, &written);
    /* clang-format off */
    const void *const elements[ARRAY_COUNT] = {
        [ARRAY_DEPTH] = features->depth, [ARRAY_FEAT] = features->feat,
        [ARRAY_INTRINSICS] = first->intrinsics, [ARRAY_CAM2EGO] = written.cam2ego,
        [ARRAY_IMAGE_SIZE] = written.image_size, [ARRAY_RESIZE] = &first->cut.resize_x,
        [ARRAY_CROP] = written.crop, [ARRAY_DEPTH_RANGE] = &rig->frustum.depth_start_m,
        [ARRAY_GRID] = written.grid, [ARRAY_BEV_SHAPE] = bev_shape + (nz > 1 ? 0 : 2),
        [ARRAY_RANKS_DEPTH] = map->ranks_depth, [ARRAY_RANKS_FEAT] = map->ranks_feat,
        [ARRAY_RANKS_BEV] = map->ranks_bev, [ARRAY_INTERVAL_STARTS] = map->interval_starts,
        [ARRAY_INTERVAL_LENGTHS] = map->interval_lengths, [ARRAY_WEIGHTS] = map->weights,
        [ARRAY_DEPTH_BINS] = rig->frustum.bins.count ? rig->frustum.bins.m : NULL,
        [ARRAY_OWN_SIZE] = written.sizes_differ ? written.own_size : NULL,
        [ARRAY_IMAGES] = photos->srgb,
        [ARRAY_CAMERA_NAMES] = cameras_have_names(scene) ? first->name : NULL,
        [ARRAY_BOXES] = photos->box_count ? photos->boxes : NULL,
        [ARRAY_BOX_LABELS] = photos->box_count ? photos->boxes->label : NULL,
        [ARRAY_LIDAR] = photos->sweep_count ? photos->sweep_m : NULL,
        [ARRAY_TIMESTAMPS] = photos->has_time ? &photos->time_s : NULL,
        [ARRAY_ROUNDING] = rig->grid.truncate ? truncate : NULL,
    };
    /* The index of each array's shape in the table. A grid with slices has BEVDet's shape. */
    const int which[ARRAY_COUNT] = {
        [ARRAY_RESIZE] = by_camera ? 3 : 0, [ARRAY_CROP] = by_camera ? 2 : 0,
        [ARRAY_BEV_SHAPE] = nz > 1, [ARRAY_ROUNDING] = 1,
    };
    const size_t strides[ARRAY_COUNT] = {
        [ARRAY_INTRINSICS] = sizeof(Camera), [ARRAY_RESIZE] = sizeof(Camera),
        [ARRAY_CAMERA_NAMES] = sizeof(Camera),
        [ARRAY_BOXES] = sizeof(TrueBox), [ARRAY_BOX_LABELS] = sizeof(TrueBox),
    };
    /* clang-format on */
    NpzEntry entries[ARRAY_COUNT];
    int count = 0;
    for (ArrayId id = 0; id < ARRAY_COUNT; id++) {
        const ArrayRow *row = &scene_arrays[id];
        if ((row->group == GROUP_CALIBRATION && !scene->has_rig) ||
            (row->group == GROUP_EXTRA && !elements[id]))
            continue;
        NpyType type = row->group == GROUP_TENSORS && half ? NPY_F2 : row->written;
        entries[count++] = (NpzEntry){row->name, arrays_layout(id, which[id], type, sizes),
                                      elements[id], arrays_is_small(id), strides[id]};
    }
    return npz_write(path, entries, count, err);
}
