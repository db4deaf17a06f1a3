/* SPDX-License-Identifier: MIT */
/* Reads tensor scenes from .npz: checks the archive by the table of arrays, and makes the scene. */
#include "src/scene/scene_internal.h"

#include "src/base/nearest.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables ------------------------------------------------------------------------------ */

#define ARRAY_ROW(id, name, group, types, written, ...)                                            \
    {name, GROUP_##group, types, NPY_##written, __VA_ARGS__},
const ArrayRow scene_arrays[ARRAY_COUNT] = {SCENE_ARRAYS(ARRAY_ROW)};

static const char letters[] = "NDhwCPIHWBLK"; /* indexed by ArraySize */

/* `name` is the name of the axis in shapes, `title` what its elements are in messages. */
static const struct {
    const char *name, *title;
    int64_t min, max;
} sizes[SIZE_COUNT] = {
    [SIZE_CAMERAS] = {"camera", "cameras", 1, RIG_MAX_CAMERAS},
    [SIZE_BINS] = {"D", "depth bins", 1, SCENE_MAX_BINS},
    [SIZE_ROWS] = {"h", "feature rows", 1, SCENE_MAX_FEATURES},
    [SIZE_COLUMNS] = {"w", "feature columns", 1, SCENE_MAX_FEATURES},
    [SIZE_CHANNELS] = {"C", "channels", 1, SCENE_MAX_CHANNELS},
    [SIZE_POINTS] = {"point", "points", 0, INT32_MAX},
    [SIZE_INTERVALS] = {"interval", "intervals", 0, INT32_MAX},
    [SIZE_IMAGE_ROWS] = {"H", "image rows", 1, PHOTOS_MAX_PIXELS},
    [SIZE_IMAGE_COLUMNS] = {"W", "image columns", 1, PHOTOS_MAX_PIXELS},
    [SIZE_BOXES] = {"box", "boxes", 0, PHOTOS_MAX_BOXES},
    [SIZE_SWEEP] = {"point", "LiDAR points", 0, PHOTOS_MAX_SWEEP},
    [SIZE_SWEEP_COLUMNS] = {"3 or more", "LiDAR columns", 3, 16},
};

/* Returns the ArraySize of a letter. -1: the character is a digit. */
static int size_of_letter(char letter) {
    const char *at = strchr(letters, letter);
    return at ? (int)(at - letters) : -1;
}

NpyArray arrays_layout(ArrayId id, int which, NpyType type, const int64_t values[SIZE_COUNT]) {
    NpyArray array = {.type = type, .count = 1, .characters = type == NPY_U ? NPZ_TEXT : 1};
    for (const char *s = scene_arrays[id].shapes[which]; *s; s++) {
        const int size = size_of_letter(*s);
        const int64_t extent = size >= 0 ? values[size] : *s - '0';
        array.shape[array.rank++] = extent;
        array.count *= extent;
    }
    return array;
}

/* ---- the archive and its headers ------------------------------------------------------------- */

static bool refuse_unknown(const ArrayReader *reader) {
    const char *names[ARRAY_COUNT];
    for (int id = 0; id < ARRAY_COUNT; id++)
        names[id] = scene_arrays[id].name;
    for (int m = 0; m < reader->npz.count; m++) {
        const char *name = reader->npz.members[m].name;
        const char *nearest = nearest_name(name, names, ARRAY_COUNT);
        char hint[256];
        if (nearest && strcmp(name, nearest) == 0)
            continue;
        nearest_hint(name, names, ARRAY_COUNT, NULL, hint, sizeof hint);
        return data_refuse(reader->err, reader->npz.where, name, hint, "unknown array");
    }
    return true;
}

/* Writes "() or (camera, 2)": the shapes that an array may have. */
static void shapes_text(int id, char *text, size_t size) {
    text[0] = '\0';
    for (const char *const *shape = scene_arrays[id].shapes; *shape; shape++) {
        text_add(text, size, text[0] ? " or (" : "(");
        for (const char *s = *shape; *s; s++) {
            const char digit[2] = {*s, '\0'};
            int axis = size_of_letter(*s);
            text_add(text, size, "%s%s", s == *shape ? "" : ", ",
                     axis >= 0 ? sizes[axis].name : digit);
        }
        text_add(text, size, ")");
    }
}

/* Returns what to do about a wrong shape, where there is one clear answer. */
static const char *shape_hint(const ArrayReader *reader, int id) {
    const NpyArray *array = &reader->array[id];
    const char *shape = scene_arrays[id].shapes[0];
    const int axes = (int)strlen(shape);
    const int64_t cameras = reader->size[SIZE_CAMERAS];
    if (id == ARRAY_INTRINSICS && array->rank == 3 && array->shape[1] >= 3 && array->shape[2] == 4)
        return "save intrinsics[:, :3, :3]";
    if (id == ARRAY_CAM2EGO && array->rank == 3 && array->shape[1] == 3 && array->shape[2] == 4)
        return "add the row 0 0 0 1";
    if (array->rank == axes + 1 && array->shape[0] == 1)
        return "save one sample, without a batch axis";
    if (array->rank == axes + 1 && array->shape[0] == cameras && shape[0] != 'N')
        return "one for all cameras";
    if (array->rank == axes - 1 && shape[0] == 'N')
        return "the camera axis is missing";
    return "";
}

/* Checks a size of an array against its bounds and against earlier arrays. Records new sizes. */
static bool bind_size(ArrayReader *reader, ArrayId id, ArraySize which, int64_t value) {
    const int64_t min = sizes[which].min, max = sizes[which].max, known = reader->size[which];
    REFUSE_IF(value < min || value > max, id, "", "%lld %s, must be %lld to %lld", (long long)value,
              sizes[which].title, (long long)min, (long long)max);
    REFUSE_IF(known >= 0 && known != value, id,
              id == ARRAY_FEAT ? "depth is (camera, D, h, w), feat (camera, h, w, C)" : "",
              "%lld %s, but %s has %lld", (long long)value, sizes[which].title,
              reader->first[which], (long long)known);
    if (known < 0) {
        reader->size[which] = value;
        reader->first[which] = scene_arrays[id].name;
    }
    return true;
}

/* Whether an array has a shape of the table, whose letters stand for any size. */
static bool shape_matches(const NpyArray *array, const char *shape) {
    if (array->rank != (int)strlen(shape))
        return array->rank == 0 && !strcmp(shape, "1"); /* a number counts as a list of one */
    for (int i = 0; i < array->rank; i++) {
        const bool is_digit = size_of_letter(shape[i]) < 0;
        if (is_digit && array->shape[i] != shape[i] - '0')
            return false;
    }
    return true;
}

static bool check_shape(ArrayReader *reader, int id) {
    const NpyArray *array = &reader->array[id];
    const char *const *shape = scene_arrays[id].shapes;
    const ShortText found = npy_shape_text(array);
    char wanted[96];
    /* A fifth axis has the moments of a clip, or the samples of a batch. */
    REFUSE_IF(id == ARRAY_DEPTH && array->rank == 5, id,
              array->shape[0] > 1 ? "save moment t with its arrays[t] as clip/00000.npz, "
                                    "clip/00001.npz"
                                  : "save one sample, depth[0] and feat[0]",
              "shape %s: %lld moments or samples in one file; a clip is a folder of files",
              found.text, (long long)array->shape[0]);
    while (*shape && !shape_matches(array, *shape))
        shape++;
    shapes_text(id, wanted, sizeof wanted);
    REFUSE_IF(!*shape, id, shape_hint(reader, id), "shape %s, must be %s", found.text, wanted);
    for (int i = 0; i < array->rank; i++) {
        int size = size_of_letter((*shape)[i]);
        if (size >= 0 && !bind_size(reader, (ArrayId)id, (ArraySize)size, array->shape[i]))
            return false;
    }
    return true;
}

static const char *types_text(unsigned types) {
    return types == NUMBERS   ? "any number"
           : types == FLOATS  ? "float16, float32 or float64"
           : types == PRECISE ? "float32 or float64"
           : types == WHOLE   ? "any whole number"
           : types == BYTES   ? "uint8"
                              : "bytes or str";
}

/* Returns what to do about a wrong type if that is clear. No conversion may lose data. */
static const char *type_hint(int id, NpyType found) {
    const unsigned wanted = scene_arrays[id].types;
    const bool number = 1u << found & NUMBERS;
    if (id == ARRAY_IMAGES && npy_is_float(found))
        return "of 0 to 1: save (255 * images).round().astype(numpy.uint8)";
    if (wanted == TEXTS && number)
        return "save names, numpy.array([\"car\", ...])";
    if (wanted == WHOLE && npy_is_float(found))
        return "save whole numbers; float32 is exact up to 16777216 only";
    if (wanted & 1u << NPY_F4 && number)
        return "save array.astype(numpy.float32)";
    return "";
}

static bool read_header(ArrayReader *reader, int id, int member) {
    if (!npz_read_array(&reader->npz, member, &reader->array[id], reader->err))
        return false;
    NpyType type = reader->array[id].type;
    REFUSE_IF(!(scene_arrays[id].types & 1u << type), id, type_hint(id, type),
              "dtype %s, must be %s", npy_types[type].name, types_text(scene_arrays[id].types));
    return check_shape(reader, id);
}

/* Returns the number of elements of each camera. 0: one row serves all cameras. */
static int64_t arrays_by_camera(const ArrayReader *reader, ArrayId id) {
    const NpyArray *array = &reader->array[id];
    const int rank_by_camera = id == ARRAY_RESIZE ? 1 : 2;
    const bool one_number = array->rank == 1 && array->count == 1;
    if (array->rank < rank_by_camera || (one_number && reader->size[SIZE_CAMERAS] > 1))
        return 0;
    return array->count / reader->size[SIZE_CAMERAS];
}

/* Checks that the arrays of a group are either all present or all missing. */
static bool check_group(const ArrayReader *reader, ArrayGroup group, const char *others,
                        bool *present) {
    int missing = -1;
    *present = false;
    for (int id = ARRAY_COUNT - 1; id >= 0; id--) {
        if (scene_arrays[id].group != group)
            continue;
        if (arrays_has(reader, (ArrayId)id))
            *present = true;
        else if (id != ARRAY_DEPTH_RANGE || !arrays_has(reader, ARRAY_DEPTH_BINS))
            missing = id;
    }
    REFUSE_IF(*present && missing >= 0, missing, others, "is missing");
    return true;
}

static bool check_groups(ArrayReader *reader) {
    if (!check_group(reader, GROUP_CALIBRATION, "other arrays of the calibration are present",
                     &reader->has_calibration) ||
        !check_group(reader, GROUP_INDEX, "other index arrays are present", &reader->has_index))
        return false;
    REFUSE_IF(!arrays_has(reader, ARRAY_DEPTH), ARRAY_DEPTH, "a scene needs both depth and feat",
              "is missing");
    REFUSE_IF(!arrays_has(reader, ARRAY_FEAT) &&
                  !(arrays_has(reader, ARRAY_IMAGES) && reader->has_calibration),
              ARRAY_FEAT,
              "a scene needs both depth and feat; feat may be missing where images "
              "and a calibration are there",
              "is missing");
    REFUSE_IF(!reader->has_calibration && !reader->has_index, ARRAY_INTRINSICS,
              "save the calibration, or the five index arrays and bev_shape",
              "is missing: neither a calibration nor index arrays");
    REFUSE_IF(arrays_has(reader, ARRAY_WEIGHTS) && !reader->has_index, ARRAY_WEIGHTS,
              "save the index arrays too", "weights without index arrays");
    REFUSE_IF(arrays_has(reader, ARRAY_BOX_LABELS) && !arrays_has(reader, ARRAY_BOXES),
              ARRAY_BOX_LABELS, "save the boxes too", "labels without boxes");
    return true;
}

static bool check_headers(ArrayReader *reader) {
    for (int e = 0; e < SIZE_COUNT; e++)
        reader->size[e] = -1;
    if (!refuse_unknown(reader))
        return false;
    for (int id = 0; id < ARRAY_COUNT; id++) {
        int member = npz_find(&reader->npz, scene_arrays[id].name);
        if (member >= 0 && !read_header(reader, id, member))
            return false;
    }
    return check_groups(reader);
}

bool arrays_read_file(FILE *file, const char *where, bool (*read)(ArrayReader *, void *), void *to,
                      Err *err) {
    ArrayReader reader = {.err = err};
    if (!file || !npz_open(&reader.npz, file, where, err))
        return false;
    bool ok = check_headers(&reader) && read(&reader, to);
    for (int id = 0; id < ARRAY_COUNT; id++)
        free(reader.numbers[id]);
    npz_close(&reader.npz);
    return ok;
}

/* ---- elements -------------------------------------------------------------------------------- */

void *arrays_take(ArrayReader *reader, ArrayId id, NpyType type) {
    const NpyArray *array = &reader->array[id];
    void *elements = malloc((size_t)array->count * npy_types[type].bytes + 1);
    if (!elements)
        err_no_memory(reader->err, scene_arrays[id].name, "");
    else if (npz_read(&reader->npz, array, type, elements, reader->err))
        return elements;
    free(elements);
    return NULL;
}

bool arrays_read_texts(ArrayReader *reader, ArrayId id, char *texts, size_t stride) {
    return !arrays_has(reader, id) ||
           npz_read_texts(&reader->npz, &reader->array[id], texts, stride, reader->err);
}

bool arrays_read_numbers(ArrayReader *reader, ArrayId id) {
    const ArrayRow *row = &scene_arrays[id];
    const double *values = NULL;
    if (arrays_has(reader, id) && !(values = reader->numbers[id] = arrays_take(reader, id, NPY_F8)))
        return false;
    for (int64_t i = 0; i < reader->array[id].count; i++) {
        REFUSE_ELEMENT_IF(!isfinite(values[i]), id, i, "%g, must be finite", values[i]);
        if (row->max > row->min &&
            !arrays_check_between(reader, id, i, values[i], row->min, row->max))
            return false;
    }
    return true;
}

bool arrays_is_small(ArrayId id) {
    return scene_arrays[id].types != TEXTS && !strpbrk(scene_arrays[id].shapes[0], "hHPIL");
}

bool arrays_check_between(ArrayReader *reader, ArrayId id, int64_t i, double value, double min,
                          double max) {
    bool late = id == ARRAY_TIMESTAMPS && value > max;
    REFUSE_ELEMENT_IF(!(value >= min && value <= max), id, i, "%.9g is outside %.9g to %.9g%s",
                      value, min, max,
                      late ? " seconds (of microseconds save timestamps / 1e6)" : "");
    return true;
}

static const char *const groups[] = {
    [GROUP_TENSORS] = "Tensors",
    [GROUP_CALIBRATION] = "Calibration, all of it or none",
    [GROUP_INDEX] = "Index arrays, all of them or none; a file without a calibration needs them",
    [GROUP_EXTRA] = "May be missing",
};

bool scene_array_help(int i, SceneArrayHelp *help) {
    if (i < 0 || i >= ARRAY_COUNT)
        return false;
    const ArrayRow *row = &scene_arrays[i];
    *help = (SceneArrayHelp){.name = row->name,
                             .group = groups[row->group],
                             .meaning = row->meaning,
                             .types = types_text(row->types)};
    shapes_text(i, help->shapes, sizeof help->shapes);
    return true;
}

/* ---- calibration: the terms of BEVDet and CUDA-BEVFusion ------------------------------------- */

/* Checks that the last row of a matrix is 0 ... 0 1. */
static bool check_matrix_row(ArrayReader *reader, ArrayId id, int64_t first, const double *row,
                             int columns) {
    for (int i = 0; i < columns; i++) {
        double wanted = i == columns - 1;
        REFUSE_ELEMENT_IF(fabs(row[i] - wanted) > 1e-6, id, first + i,
                          "%.9g, must be %g in the last row", row[i], wanted);
    }
    return true;
}

/* Names the cameras, for error messages. A camera without a name gets its number. */
static bool read_names(ArrayReader *reader, Rig *rig) {
    Camera *cameras = rig->cameras;
    bool ok = arrays_read_texts(reader, ARRAY_CAMERA_NAMES, cameras->name, sizeof *cameras);
    for (int i = 0; i < reader->size[SIZE_CAMERAS]; i++)
        if (!cameras[i].name[0])
            snprintf(cameras[i].name, sizeof cameras[i].name, "camera %d", i);
    return ok;
}

static bool set_cameras(ArrayReader *reader, Rig *rig) {
    rig->camera_count = (int)reader->size[SIZE_CAMERAS];
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        const double *k = reader->numbers[ARRAY_INTRINSICS] + 9 * i,
                     *m = reader->numbers[ARRAY_CAM2EGO] + 16 * i;
        if (!check_matrix_row(reader, ARRAY_INTRINSICS, 9 * i + 6, k + 6, 3) ||
            !check_matrix_row(reader, ARRAY_CAM2EGO, 16 * i + 12, m + 12, 4))
            return false;
        memcpy(camera->intrinsics, k, 6 * sizeof(double)); /* the last row becomes exactly 0 0 1 */
        camera->intrinsics[8] = 1;
        for (int row = 0; row < 3; row++) {
            memcpy(&camera->rotation[3 * row], m + 4 * row, 3 * sizeof(double));
            camera->position_m[row] = m[4 * row + 3];
        }
    }
    return true;
}

/* Sets the sizes of input and features. The array may repeat the input's size for each camera. */
static bool set_input(ArrayReader *reader, Rig *rig) {
    Frustum *frustum = &rig->frustum;
    const double *input = reader->numbers[ARRAY_IMAGE_SIZE];
    for (int64_t i = 0; i < reader->array[ARRAY_IMAGE_SIZE].count; i++) {
        REFUSE_ELEMENT_IF(input[i] != floor(input[i]), ARRAY_IMAGE_SIZE, i,
                          "%.9g, must be a whole number", input[i]);
        REFUSE_IF(input[i] != input[i % 2], ARRAY_IMAGE_SIZE,
                  "sizes of the cameras' own images are the array own_size",
                  "%s has %g, but %s has %g: a network takes inputs of one size",
                  rig->cameras[i / 2].name, input[i], rig->cameras[0].name, input[i % 2]);
    }
    frustum->input_h = (int)input[0];
    frustum->input_w = (int)input[1];
    frustum->feat_h = (int)reader->size[SIZE_ROWS];
    frustum->feat_w = (int)reader->size[SIZE_COLUMNS];
    return true;
}

/* Sets the crop of a camera. BEVDet's crop is the rectangle that is kept after the resize. The size
 * of this rectangle must be image_size. */
static bool set_crop(ArrayReader *reader, int camera, const Frustum *frustum, ImageCut *cut) {
    const double size[2] = {frustum->input_w, frustum->input_h};
    const int64_t by_camera = arrays_by_camera(reader, ARRAY_CROP), first = camera * by_camera;
    const int64_t numbers = by_camera ? by_camera : reader->array[ARRAY_CROP].count;
    const bool has_ends = numbers == 4;
    const double *crop = reader->numbers[ARRAY_CROP] + first;
    for (int axis = 0; axis < 2; axis++) {
        if (!arrays_check_between(reader, ARRAY_CROP, first + axis, crop[axis], -65536, 65536))
            return false;
        REFUSE_ELEMENT_IF(has_ends && fabs(crop[2 + axis] - crop[axis] - size[axis]) > 0.5,
                          ARRAY_CROP, first + 2 + axis,
                          "%g ends a crop of %g pixels, but image_size has %g", crop[2 + axis],
                          crop[2 + axis] - crop[axis], size[axis]);
    }
    cut->crop_x = crop[0];
    cut->crop_y = crop[1];
    return true;
}

/* Sets how the cameras' own images are cut. By default an image is as small as the crop allows. */
static bool set_cuts(ArrayReader *reader, Rig *rig) {
    const int64_t by_camera = arrays_by_camera(reader, ARRAY_RESIZE);
    const int64_t y = by_camera == 2 ? 1 : 0; /* x and y, or one number for both */
    for (int i = 0; i < rig->camera_count; i++) {
        ImageCut *cut = &rig->cameras[i].cut;
        cut->resize_x = reader->numbers[ARRAY_RESIZE][i * by_camera];
        cut->resize_y = reader->numbers[ARRAY_RESIZE][i * by_camera + y];
        if (!set_crop(reader, i, &rig->frustum, cut))
            return false;
        cut->image_w = (int)fmax(1, round((cut->crop_x + rig->frustum.input_w) / cut->resize_x));
        cut->image_h = (int)fmax(1, round((cut->crop_y + rig->frustum.input_h) / cut->resize_y));
        const double *size = reader->numbers[ARRAY_OWN_SIZE];
        if (!size)
            continue;
        size += i * arrays_by_camera(reader, ARRAY_OWN_SIZE);
        cut->image_h = (int)size[0];
        cut->image_w = (int)size[1];
        if (!camera_check_cut(&rig->cameras[i], &rig->frustum, reader->npz.where, "crop",
                              reader->err))
            return false;
    }
    return true;
}

static bool set_depth(ArrayReader *reader, Frustum *frustum) {
    const double *range = reader->numbers[ARRAY_DEPTH_RANGE];
    if (arrays_has(reader, ARRAY_DEPTH_BINS)) {
        frustum_set_bins(frustum, reader->numbers[ARRAY_DEPTH_BINS], reader->size[SIZE_BINS]);
        return true;
    }
    REFUSE_ELEMENT_IF(!(range[0] < range[1]), ARRAY_DEPTH_RANGE, 1,
                      "empty range: the stop %g is not above the start %g", range[1], range[0]);
    frustum->depth_start_m = range[0];
    frustum->depth_stop_m = range[1];
    frustum->depth_step_m = range[2];
    /* In float32 the range can end slightly behind the last bin, which would give one bin more. */
    const double found = (double)reader->size[SIZE_BINS];
    if (frustum_depth_bins(frustum) != reader->size[SIZE_BINS] &&
        fabs((range[1] - range[0]) / range[2] - found) < 1e-4)
        frustum->depth_stop_m = range[0] + (found - 0.5) * range[2];
    int64_t bins = frustum_depth_bins(frustum);
    REFUSE_ELEMENT_IF(bins != reader->size[SIZE_BINS], ARRAY_DEPTH_RANGE, 2,
                      "step %g gives %lld depth bins, but depth has %lld", range[2],
                      (long long)bins, (long long)reader->size[SIZE_BINS]);
    return true;
}

/* Sets one axis of the grid. The axis has a row of the array: lower end, upper end, size of a cell.
 * The range must have a whole number of cells. */
static bool set_grid_axis(ArrayReader *reader, int axis, double *min_m, double *max_m, int *cells) {
    const double *row = reader->numbers[ARRAY_GRID] + 3 * axis;
    REFUSE_ELEMENT_IF(!(row[0] < row[1]), ARRAY_GRID, 3 * axis + 1,
                      "empty range: the upper end %g is not above the lower end %g", row[1],
                      row[0]);
    const double count = (row[1] - row[0]) / row[2], whole = round(count);
    const bool in_bounds = whole >= 1 && whole <= SCENE_MAX_CELLS;
    REFUSE_ELEMENT_IF(!(row[2] > 0) || !in_bounds || fabs(count - whole) > 1e-3, ARRAY_GRID,
                      3 * axis + 2, "cells of %g m: %g of them, must be a whole number, 1 to %d",
                      row[2], count, SCENE_MAX_CELLS);
    *min_m = row[0];
    *max_m = row[1];
    *cells = (int)round(count);
    return true;
}

static bool read_rounding(ArrayReader *reader, Grid *grid) {
    char word[NPZ_TEXT] = "floor";
    if (!arrays_read_texts(reader, ARRAY_ROUNDING, word, sizeof word))
        return false;
    grid->truncate = !strcmp(word, rounding_names[ROUNDING_TRUNCATE]);
    REFUSE_IF(strcmp(word, rounding_names[ROUNDING_FLOOR + grid->truncate]) != 0, ARRAY_ROUNDING,
              "LSS, BEVDet and CUDA-BEVFusion truncate", "'%.20s', must be floor or truncate",
              word);
    return true;
}

static bool read_grid(ArrayReader *reader, Grid *grid) {
    return set_grid_axis(reader, 0, &grid->x_min_m, &grid->x_max_m, &grid->nx) &&
           set_grid_axis(reader, 1, &grid->y_min_m, &grid->y_max_m, &grid->ny) &&
           set_grid_axis(reader, 2, &grid->z_min_m, &grid->z_max_m, &grid->nz) &&
           read_rounding(reader, grid);
}

static bool read_rig(ArrayReader *reader, Scene *scene) {
    Rig *rig = &scene->rig;
    if (!set_cameras(reader, rig) || !set_input(reader, rig) || !set_depth(reader, &rig->frustum) ||
        !set_cuts(reader, rig) || !read_grid(reader, &rig->grid) ||
        !rig_check(rig, reader->npz.where, reader->err))
        return false;
    scene->has_rig = true;
    scene->shape = rig_shape(rig, scene->channels);
    return true;
}

/* ---- index arrays ---------------------------------------------------------------------------- */

/* Reads bev_shape: (ny, nx), or BEVDet's (1, nz, ny, nx, C). It equals the calibration's grid. */
static bool read_bev_shape(ArrayReader *reader, BevShape *shape) {
    const double channels = (double)shape->channels, most = SCENE_MAX_CELLS;
    const double bounds[5][2] = {{1, 1}, {1, most}, {1, most}, {1, most}, {channels, channels}};
    double all[5] = {1, 1, 0, 0, channels}; /* samples, nz, ny, nx, channels */
    const int count = (int)reader->array[ARRAY_BEV_SHAPE].count, first = count == 5 ? 0 : 2;
    memcpy(all + first, reader->numbers[ARRAY_BEV_SHAPE], (size_t)count * sizeof *all);
    REFUSE_IF(all[0] > 1, ARRAY_BEV_SHAPE,
              "ranks number the cells of all samples: run the network with one",
              "a batch of %g samples, must be 1", all[0]);
    for (int i = first; i < first + count; i++)
        if (!arrays_check_between(reader, ARRAY_BEV_SHAPE, i - first, all[i], bounds[i][0],
                                  bounds[i][1]))
            return false;
    const int64_t cells[3] = {(int64_t)all[1], (int64_t)all[2], (int64_t)all[3]};
    const int64_t slices = shape_slices(shape);
    const int64_t grid[3] = {slices, shape->ny / slices, shape->nx};
    for (int i = 0; reader->has_calibration && i < 3; i++) {
        const int element = i + 1 > first ? i + 1 - first : 0; /* (ny, nx) has no nz */
        REFUSE_ELEMENT_IF(cells[i] != grid[i], ARRAY_BEV_SHAPE, element,
                          "%lld x %lld x %lld cells (nz, ny, nx), but grid has "
                          "%lld x %lld x %lld",
                          (long long)cells[0], (long long)cells[1], (long long)cells[2],
                          (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    }
    shape->nz = cells[0];
    shape->ny = cells[0] * cells[1];
    shape->nx = cells[2];
    return true;
}

/* Reads the index arrays. scene.h says when the map from the file is used. */
static bool read_map(ArrayReader *reader, Scene *scene) {
    BevMap *map = &scene->map;
    const BevMapArrays list = bev_map_arrays(map);
    static const ArrayId ids[BEV_MAP_ARRAYS] = {ARRAY_RANKS_DEPTH,      ARRAY_RANKS_FEAT,
                                                ARRAY_RANKS_BEV,        ARRAY_INTERVAL_STARTS,
                                                ARRAY_INTERVAL_LENGTHS, ARRAY_WEIGHTS};
    map->points = reader->size[SIZE_POINTS];
    map->intervals = reader->size[SIZE_INTERVALS];
    for (int i = 0; i < BEV_MAP_ARRAYS; i++) {
        if (ids[i] == ARRAY_WEIGHTS && !arrays_has(reader, ARRAY_WEIGHTS))
            continue;
        *list.array[i] = arrays_take(reader, ids[i], ids[i] == ARRAY_WEIGHTS ? NPY_F4 : NPY_I4);
        if (!*list.array[i])
            return false;
    }
    if (!scatter_check(map, &scene->shape, reader->npz.where, reader->err))
        return false;
    if (scene->has_rig && !map->weights)
        scene->agreement = agreement_find(&scene->rig, map, scene->remark, sizeof scene->remark);
    if (!scene->has_rig && numbering_is_transposed(map, &scene->shape))
        snprintf(scene->remark, sizeof scene->remark,
                 "the cells seem to be numbered x * ny + y, as BEVFusion does, and the picture is "
                 "mirrored: export_ranks(..., x_major=True) of samples/export_scene.py turns them");
    scene->has_map = !scene->has_rig || !map->weights;
    if (!scene->has_map)
        scatter_free(map);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int64_t count_non_finite(const float *values, size_t count) {
    int64_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += !isfinite(values[i]);
    return bad;
}

/* Remarks on poses of another frame or unit. Cameras stand above the ego frame's ground. */
static void remark_rig(Scene *scene) {
    enum { HIGHEST_M = 20 };
    for (int i = 0; scene->has_rig && i < scene->rig.camera_count; i++) {
        const double height_m = scene->rig.cameras[i].position_m[2];
        const bool below = height_m < 0;
        if (!below && height_m <= HIGHEST_M)
            continue;
        text_add(scene->remark, sizeof scene->remark, "%s%s stands %.4g m %s the ground: %s",
                 scene->remark[0] ? "; " : "", scene->rig.cameras[i].name, fabs(height_m),
                 below ? "below" : "above",
                 below ? "is cam2ego inverted, or the frame that of a LiDAR? (bevscope info "
                         "shows headings)"
                       : "are poses in mm, or in the world's frame?");
        return;
    }
}

/* Remarks on depth that is no distribution over the bins of a pixel, as before a network's softmax.
 * Pixels without depth are usual. */
static void remark_depth(Scene *scene) {
    const BevShape *s = &scene->shape;
    const int64_t pixels = s->feat_h * s->feat_w;
    double *sums = calloc((size_t)pixels, sizeof *sums), largest = 0;
    float least = 0;
    for (int64_t camera = 0; sums && camera < s->cameras; camera++) {
        const float *depth = scene->tensors.depth + camera * s->depth_bins * pixels;
        memset(sums, 0, (size_t)pixels * sizeof *sums);
        for (int64_t bin = 0; bin < s->depth_bins; bin++, depth += pixels)
            for (int64_t i = 0; i < pixels; i++) {
                least = depth[i] < least ? depth[i] : least;
                sums[i] += depth[i];
            }
        for (int64_t i = 0; i < pixels; i++)
            largest = sums[i] > largest ? sums[i] : largest;
    }
    free(sums);
    const char *between = scene->remark[0] ? "; " : "";
    if (least < 0)
        text_add(scene->remark, sizeof scene->remark,
                 "%sdepth: values down to %.3g: logits? (save depth after its softmax)", between,
                 (double)least);
    else if (largest > 1.05)
        text_add(scene->remark, sizeof scene->remark,
                 "%sdepth: a pixel's bins sum up to %.4g, not to 1: logits? (save depth after its "
                 "softmax)",
                 between, largest);
}

/* Reads the tensors. Features that are missing are made from the photographs. */
static bool read_tensors(ArrayReader *reader, Scene *scene) {
    scene->tensors.depth = arrays_take(reader, ARRAY_DEPTH, NPY_F4);
    if (!scene->tensors.depth)
        return false;
    if (!arrays_has(reader, ARRAY_FEAT))
        return scene_use_photo_features(scene, reader->err);
    scene->tensors.feat = arrays_take(reader, ARRAY_FEAT, NPY_F4);
    return scene->tensors.feat;
}

/* Reads a scene. Small arrays come first: a bad file fails before tensors are allocated. The rig is
 * known before the photographs, which are cut to the network's input and reduced. */
static bool read_scene(ArrayReader *reader, void *to) {
    Scene *scene = to;
    const bool has_feat = arrays_has(reader, ARRAY_FEAT);
    scene->channels = has_feat ? reader->size[SIZE_CHANNELS] : PHOTO_CHANNELS;
    scene->temperature = 1;
    scene->shape = (BevShape){.cameras = reader->size[SIZE_CAMERAS],
                              .depth_bins = reader->size[SIZE_BINS],
                              .feat_h = reader->size[SIZE_ROWS],
                              .feat_w = reader->size[SIZE_COLUMNS],
                              .channels = scene->channels};
    for (ArrayId id = 0; id < ARRAY_COUNT; id++)
        if (arrays_is_small(id) && !arrays_read_numbers(reader, id))
            return false;
    if (!read_names(reader, &scene->rig) || (reader->has_calibration && !read_rig(reader, scene)) ||
        (reader->has_index && !read_bev_shape(reader, &scene->shape)) ||
        !scene_check_size(&scene->shape, reader->npz.where, reader->err) ||
        (reader->has_index && !read_map(reader, scene)) || !scene_read_recorded(reader, scene) ||
        !read_tensors(reader, scene))
        return false;
    remark_rig(scene);
    remark_depth(scene);
    scene->non_finite =
        count_non_finite(scene->tensors.depth, features_depth_count(&scene->shape)) +
        count_non_finite(scene->tensors.feat, features_feat_count(&scene->shape));
    return true;
}

bool scene_read_npz(FILE *file, const char *where, Scene *scene, Err *err) {
    memset(scene, 0, sizeof *scene);
    if (arrays_read_file(file, where, read_scene, scene, err))
        return true;
    scene_free(scene);
    return false;
}
