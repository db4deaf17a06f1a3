/* The rig of a tensor scene, from its calibration: BEVDet's and CUDA-BEVFusion's terms. */
#include "src/scene/scene_arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool check_matrix_row(const ArrayReader *reader, ArrayId id, int64_t first,
                             const double *row, int columns) {
    for (int i = 0; i < columns; i++) {
        double wanted = i == columns - 1;
        if (fabs(row[i] - wanted) > 1e-6)
            return ARRAYS_REFUSE_ELEMENT(reader, id, first + i, "%.9g, must be %g in a last row",
                                         row[i], wanted);
    }
    return true;
}

static bool read_cameras(const ArrayReader *reader, Rig *rig) {
    double k[RIG_MAX_CAMERAS * 9], pose[RIG_MAX_CAMERAS * 16];
    if (!arrays_read_doubles(reader, ARRAY_INTRINSICS, k) ||
        !arrays_read_doubles(reader, ARRAY_CAM2EGO, pose))
        return false;
    rig->camera_count = (int)arrays_extent(reader, 'N');
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        const double *m = pose + 16 * i;
        snprintf(camera->name, sizeof camera->name, "camera %d", i);
        if (!check_matrix_row(reader, ARRAY_INTRINSICS, 9 * i + 6, k + 9 * i + 6, 3) ||
            !check_matrix_row(reader, ARRAY_CAM2EGO, 16 * i + 12, m + 12, 4))
            return false;
        memcpy(camera->intrinsics, k + 9 * i, sizeof camera->intrinsics);
        for (int row = 0; row < 3; row++) {
            memcpy(&camera->rotation[3 * row], m + 4 * row, 3 * sizeof(double));
            camera->position_m[row] = m[4 * row + 3];
        }
    }
    return true;
}

/* BEVDet's crop is the rectangle kept after the resize: its size is the network input's. */
static bool check_crop(const ArrayReader *reader, const double *crop, const Frustum *frustum) {
    if (reader->array[ARRAY_CROP].count == 2)
        return true;
    const double size[2] = {frustum->input_w, frustum->input_h};
    for (int axis = 0; axis < 2; axis++)
        if (fabs(crop[2 + axis] - crop[axis] - size[axis]) > 0.5)
            return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_CROP, 2 + axis,
                                         "%g ends a crop of %g pixels, but image_size says %g",
                                         crop[2 + axis], crop[2 + axis] - crop[axis], size[axis]);
    return true;
}

static bool read_depth_range(const ArrayReader *reader, Frustum *frustum) {
    double range[3];
    if (!arrays_read_doubles(reader, ARRAY_DEPTH_RANGE, range) ||
        !arrays_check_between(reader, ARRAY_DEPTH_RANGE, 0, range[0], 1e-3, 1e4) ||
        !arrays_check_between(reader, ARRAY_DEPTH_RANGE, 1, range[1], 1e-3, 1e4) ||
        !arrays_check_between(reader, ARRAY_DEPTH_RANGE, 2, range[2], 1e-3, 1e4))
        return false;
    if (!(range[0] < range[1]))
        return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_DEPTH_RANGE, 1,
                                     "empty range: the stop %g is not above the start %g", range[1],
                                     range[0]);
    frustum->depth_start_m = range[0];
    frustum->depth_stop_m = range[1];
    frustum->depth_step_m = range[2];
    int64_t bins = frustum_depth_bins(frustum);
    if (bins == arrays_extent(reader, 'D'))
        return true;
    return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_DEPTH_RANGE, 2,
                                 "step %g gives %lld depth bins, but depth has %lld", range[2],
                                 (long long)bins, (long long)arrays_extent(reader, 'D'));
}

static bool read_frustum(const ArrayReader *reader, Frustum *frustum) {
    double size[2], resize, crop[4];
    if (!arrays_read_doubles(reader, ARRAY_IMAGE_SIZE, size) ||
        !arrays_read_doubles(reader, ARRAY_RESIZE, &resize) ||
        !arrays_read_doubles(reader, ARRAY_CROP, crop) ||
        !arrays_check_between(reader, ARRAY_IMAGE_SIZE, 0, size[0], 1, 65536) ||
        !arrays_check_between(reader, ARRAY_IMAGE_SIZE, 1, size[1], 1, 65536) ||
        !arrays_check_between(reader, ARRAY_RESIZE, 0, resize, 1e-3, 1e3) ||
        !arrays_check_between(reader, ARRAY_CROP, 0, crop[0], -65536, 65536) ||
        !arrays_check_between(reader, ARRAY_CROP, 1, crop[1], -65536, 65536))
        return false;
    frustum->input_h = (int)size[0];
    frustum->input_w = (int)size[1];
    frustum->resize = resize;
    frustum->crop_x = crop[0];
    frustum->crop_y = crop[1];
    /* The file does not say how large the camera's image was: what crop and input reach. */
    frustum->image_w = (int)fmax(1, round((crop[0] + size[1]) / resize));
    frustum->image_h = (int)fmax(1, round((crop[1] + size[0]) / resize));
    frustum->feat_h = (int)arrays_extent(reader, 'h');
    frustum->feat_w = (int)arrays_extent(reader, 'w');
    return check_crop(reader, crop, frustum) && read_depth_range(reader, frustum);
}

/* One row of `grid`: lower, upper, cell size; the cells must fill the range. */
static bool read_axis(const ArrayReader *reader, int axis, const double *row, int max_cells,
                      int *cells) {
    for (int i = 0; i < 3; i++)
        if (!arrays_check_between(reader, ARRAY_GRID, 3 * axis + i, row[i], -1e4, 2e4))
            return false;
    if (!(row[0] < row[1]))
        return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_GRID, 3 * axis + 1,
                                     "empty range: the upper end %g is not above the lower end %g",
                                     row[1], row[0]);
    double count = (row[1] - row[0]) / row[2];
    if (!(row[2] > 0) || !(round(count) >= 1 && round(count) <= max_cells) ||
        fabs(count - round(count)) > 1e-3)
        return ARRAYS_REFUSE_ELEMENT(reader, ARRAY_GRID, 3 * axis + 2,
                                     "cells of %g m: %g of them, must be a whole number, 1 to %d",
                                     row[2], count, max_cells);
    *cells = (int)round(count);
    return true;
}

static bool read_grid(const ArrayReader *reader, Grid *grid) {
    double rows[9];
    int nz;
    if (!arrays_read_doubles(reader, ARRAY_GRID, rows) ||
        !read_axis(reader, 0, rows, SCENE_MAX_CELLS, &grid->nx) ||
        !read_axis(reader, 1, rows + 3, SCENE_MAX_CELLS, &grid->ny) ||
        !read_axis(reader, 2, rows + 6, 1, &nz)) /* one layer: BEV, not voxels */
        return false;
    grid->x_min_m = rows[0];
    grid->x_max_m = rows[1];
    grid->y_min_m = rows[3];
    grid->y_max_m = rows[4];
    grid->z_min_m = rows[6];
    grid->z_max_m = rows[7];
    return true;
}

bool arrays_read_rig(const ArrayReader *reader, Rig *rig) {
    return read_cameras(reader, rig) && read_frustum(reader, &rig->frustum) &&
           read_grid(reader, &rig->grid) && rig_check(rig, reader->npz->where, reader->err);
}
