/* Tensor scenes from and to .npz. One table of arrays: names, element types and shapes, whose
 * letters are extents that must agree between arrays. */
#include "src/model/data.h"
#include "src/model/nearest.h"
#include "src/model/npz.h"
#include "src/model/scatter.h"
#include "src/model/scene.h"

#include "kernels/codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables -------------------------------------------------------------------------------
 */

typedef enum {
    DEPTH,
    FEAT,
    INTRINSICS,
    CAM2EGO,
    IMAGE_SIZE,
    RESIZE,
    CROP,
    DEPTH_RANGE,
    GRID,
    RANKS_DEPTH,
    RANKS_FEAT,
    RANKS_BEV,
    INTERVAL_STARTS,
    INTERVAL_LENGTHS,
    BEV_SHAPE,
    WEIGHTS,
    ARRAY_COUNT
} ArrayId;

/* Arrays that make sense only together. */
typedef enum { TENSORS, CALIBRATION, INDEX, EXTRA } Group;

enum { HALF = 1u << NPY_F2, SINGLE = 1u << NPY_F4, DOUBLES = SINGLE | 1u << NPY_F8 };
enum { WHOLE = 1u << NPY_I4 | 1u << NPY_I8, NUMBERS = DOUBLES | WHOLE };

typedef struct {
    const char *name;
    Group group;
    unsigned types; /* bits of NpyType */
    /* Extents in order: a letter of extents[], or a digit. The empty shape is a scalar. */
    const char *shape, *other_shape;
} ArrayRow;

static const ArrayRow arrays[ARRAY_COUNT] = {
    [DEPTH] = {"depth", TENSORS, HALF | SINGLE, "NDhw", NULL},
    [FEAT] = {"feat", TENSORS, HALF | SINGLE, "NhwC", NULL},
    [INTRINSICS] = {"intrinsics", CALIBRATION, DOUBLES, "N33", NULL},
    [CAM2EGO] = {"cam2ego", CALIBRATION, DOUBLES, "N44", NULL},
    [IMAGE_SIZE] = {"image_size", CALIBRATION, WHOLE, "2", NULL}, /* of the network input: H, W */
    [RESIZE] = {"resize", CALIBRATION, NUMBERS, "", "1"},
    [CROP] = {"crop", CALIBRATION, NUMBERS, "2", "4"},                /* x, y or x, y, x2, y2 */
    [DEPTH_RANGE] = {"depth_range", CALIBRATION, NUMBERS, "3", NULL}, /* start, stop, step */
    [GRID] = {"grid", CALIBRATION, NUMBERS, "33", NULL}, /* rows x, y, z: lower, upper, cell */
    [RANKS_DEPTH] = {"ranks_depth", INDEX, WHOLE, "P", NULL},
    [RANKS_FEAT] = {"ranks_feat", INDEX, WHOLE, "P", NULL},
    [RANKS_BEV] = {"ranks_bev", INDEX, WHOLE, "P", NULL},
    [INTERVAL_STARTS] = {"interval_starts", INDEX, WHOLE, "I", NULL},
    [INTERVAL_LENGTHS] = {"interval_lengths", INDEX, WHOLE, "I", NULL},
    [BEV_SHAPE] = {"bev_shape", INDEX, WHOLE, "2", "5"}, /* ny, nx or 1, 1, ny, nx, C */
    [WEIGHTS] = {"weights", EXTRA, SINGLE, "P", NULL},
};

typedef struct {
    char letter;
    const char *title;
    int64_t min, max;
} Extent;

static const Extent extents[] = {
    {'N', "cameras", 1, RIG_MAX_CAMERAS},
    {'D', "depth bins", 1, SCENE_MAX_BINS},
    {'h', "feature rows", 1, SCENE_MAX_FEATURES},
    {'w', "feature columns", 1, SCENE_MAX_FEATURES},
    {'C', "channels", 1, SCENE_MAX_CHANNELS},
    {'P', "points", 0, INT32_MAX},
    {'I', "intervals", 0, INT32_MAX},
};
enum { EXTENTS = sizeof extents / sizeof *extents };

/* ---- headers: everything about shapes, before any element is read
 * -------------------------------- */

typedef struct {
    const Npz *npz;
    Err *err;
    int member[ARRAY_COUNT]; /* -1: not in the archive */
    NpyArray array[ARRAY_COUNT];
    int64_t extent[EXTENTS];    /* -1: not known yet */
    const char *first[EXTENTS]; /* the array that made it known */
    bool has_calibration, has_index;
} Reader;

static bool refuse(const Reader *reader, const char *name, const char *hint, const char *what) {
    char where[256];
    snprintf(where, sizeof where, "%s: %s", reader->npz->where, name);
    return err_set(reader->err, ERR_FAILED, where, hint, "%s", what);
}

static bool refuse_unknown(const Reader *reader) {
    const char *names[ARRAY_COUNT];
    for (int id = 0; id < ARRAY_COUNT; id++)
        names[id] = arrays[id].name;
    for (int m = 0; m < reader->npz->count; m++) {
        const char *name = reader->npz->members[m].name;
        const char *nearest = nearest_name(name, names, ARRAY_COUNT);
        char what[128];
        snprintf(what, sizeof what, "unknown array, the nearest known is \"%s\"", nearest);
        if (strcmp(name, nearest) != 0)
            return refuse(reader, name, "", what);
    }
    return true;
}

static bool refuse_shape(const Reader *reader, int id) {
    char shape[96], what[256];
    npy_shape_text(&reader->array[id], shape, sizeof shape);
    int used = snprintf(what, sizeof what, "shape %s, must be (", shape);
    for (const char *s = arrays[id].shape; *s; s++)
        for (int e = 0; e <= EXTENTS; e++)
            if (e == EXTENTS || extents[e].letter == *s) {
                used += snprintf(what + used, sizeof what - (size_t)used, "%s%.*s",
                                 s == arrays[id].shape ? "" : ", ", e == EXTENTS ? 1 : 20,
                                 e == EXTENTS ? s : extents[e].title);
                break;
            }
    const char *other = arrays[id].other_shape;
    snprintf(what + used, sizeof what - (size_t)used, other ? ") or (%s)" : ")", other);
    bool batch = reader->array[id].rank == (int)strlen(arrays[id].shape) + 1;
    return refuse(reader, arrays[id].name, batch ? "one sample at a time: leave the batch out" : "",
                  what);
}

/* An extent named by a letter: within its bounds, and what the arrays before said. */
static bool bind_extent(Reader *reader, int id, int e, int64_t value) {
    const Extent *row = &extents[e];
    char what[200];
    if (value < row->min || value > row->max) {
        snprintf(what, sizeof what, "%lld %s, must be %lld to %lld", (long long)value, row->title,
                 (long long)row->min, (long long)row->max);
        return refuse(reader, arrays[id].name, "", what);
    }
    if (reader->extent[e] >= 0 && reader->extent[e] != value) {
        snprintf(what, sizeof what, "%lld %s, but %s has %lld", (long long)value, row->title,
                 reader->first[e], (long long)reader->extent[e]);
        return refuse(reader, arrays[id].name, "", what);
    }
    if (reader->extent[e] < 0) {
        reader->extent[e] = value;
        reader->first[e] = arrays[id].name;
    }
    return true;
}

static bool fits(const NpyArray *array, const char *shape) {
    if (!shape || array->rank != (int)strlen(shape))
        return false;
    for (int i = 0; i < array->rank; i++)
        if (shape[i] >= '0' && shape[i] <= '9' && array->shape[i] != shape[i] - '0')
            return false;
    return true;
}

static bool check_shape(Reader *reader, int id) {
    const NpyArray *array = &reader->array[id];
    const char *shape = fits(array, arrays[id].shape) ? arrays[id].shape : arrays[id].other_shape;
    if (!fits(array, shape))
        return refuse_shape(reader, id);
    for (int i = 0; i < array->rank; i++)
        for (int e = 0; e < EXTENTS; e++)
            if (extents[e].letter == shape[i] && !bind_extent(reader, id, e, array->shape[i]))
                return false;
    return true;
}

static bool check_type(const Reader *reader, int id) {
    unsigned types = arrays[id].types;
    if (types & 1u << reader->array[id].type)
        return true;
    char what[200];
    int used =
        snprintf(what, sizeof what, "dtype %s, must be", npy_types[reader->array[id].type].name);
    for (int type = 0; type < NPY_TYPE_COUNT; type++)
        if (types & 1u << type) {
            used += snprintf(what + used, sizeof what - (size_t)used, " %s%s", npy_types[type].name,
                             types >> (type + 1) ? " or" : "");
        }
    return refuse(reader, arrays[id].name, "convert it with astype", what);
}

static bool read_headers(Reader *reader) {
    for (int e = 0; e < EXTENTS; e++)
        reader->extent[e] = -1;
    if (!refuse_unknown(reader))
        return false;
    for (int id = 0; id < ARRAY_COUNT; id++) {
        reader->member[id] = npz_find(reader->npz, arrays[id].name);
        if (reader->member[id] >= 0 &&
            (!npz_read_array(reader->npz, reader->member[id], &reader->array[id], reader->err) ||
             !check_type(reader, id) || !check_shape(reader, id)))
            return false;
    }
    return true;
}

/* A group is there as a whole or not at all. */
static bool check_group(const Reader *reader, Group group, const char *others, bool *present) {
    int missing = -1;
    *present = false;
    for (int id = ARRAY_COUNT - 1; id >= 0; id--) {
        if (arrays[id].group != group)
            continue;
        if (reader->member[id] >= 0)
            *present = true;
        else
            missing = id;
    }
    if (*present && missing >= 0)
        return refuse(reader, arrays[missing].name, others, "is missing");
    return true;
}

static bool check_groups(Reader *reader) {
    bool tensors;
    if (!check_group(reader, TENSORS, "depth and feat make a scene", &tensors) ||
        !check_group(reader, CALIBRATION, "the other arrays of a calibration are there",
                     &reader->has_calibration) ||
        !check_group(reader, INDEX, "the other index arrays are there", &reader->has_index))
        return false;
    if (!tensors)
        return refuse(reader, arrays[DEPTH].name, "depth and feat make a scene", "is missing");
    if (!reader->has_calibration && !reader->has_index)
        return refuse(reader, arrays[INTRINSICS].name, "or the five index arrays with bev_shape",
                      "is missing: neither a calibration nor index arrays");
    if (reader->member[WEIGHTS] >= 0 && !reader->has_index)
        return refuse(reader, arrays[WEIGHTS].name, "", "weights without index arrays");
    return true;
}

static int64_t extent(const Reader *reader, char letter) {
    int e = 0;
    while (extents[e].letter != letter)
        e++;
    return reader->extent[e];
}

/* ---- calibration ----------------------------------------------------------------------------- */

/* Refuses element i of an array. */
#define REFUSE_ELEMENT(reader_, id_, i_, ...)                                                      \
    npz_refuse_element((reader_)->npz, arrays[id_].name, &(reader_)->array[id_], i_,               \
                       (reader_)->err, __VA_ARGS__)

/* The elements of a small array, `count` at most; all must be finite. */
static bool read_doubles(const Reader *reader, ArrayId id, double *values) {
    const NpyArray *array = &reader->array[id];
    if (!npz_read(reader->npz, reader->member[id], array, NPY_F8, values, reader->err))
        return false;
    for (int64_t i = 0; i < array->count; i++)
        if (!isfinite(values[i]))
            return REFUSE_ELEMENT(reader, id, i, "%g, must be finite", values[i]);
    return true;
}

static bool check_between(const Reader *reader, ArrayId id, int64_t i, double value, double min,
                          double max) {
    if (value >= min && value <= max)
        return true;
    return REFUSE_ELEMENT(reader, id, i, "%.9g is outside %.9g to %.9g", value, min, max);
}

static bool check_matrix_row(const Reader *reader, ArrayId id, int64_t first, const double *row,
                             int columns) {
    for (int i = 0; i < columns; i++) {
        double wanted = i == columns - 1;
        if (fabs(row[i] - wanted) > 1e-6)
            return REFUSE_ELEMENT(reader, id, first + i, "%.9g, must be %g in a last row", row[i],
                                  wanted);
    }
    return true;
}

static bool read_cameras(const Reader *reader, Rig *rig) {
    double k[RIG_MAX_CAMERAS * 9], pose[RIG_MAX_CAMERAS * 16];
    if (!read_doubles(reader, INTRINSICS, k) || !read_doubles(reader, CAM2EGO, pose))
        return false;
    rig->camera_count = (int)extent(reader, 'N');
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        const double *m = pose + 16 * i;
        snprintf(camera->name, sizeof camera->name, "camera %d", i);
        if (!check_matrix_row(reader, INTRINSICS, 9 * i + 6, k + 9 * i + 6, 3) ||
            !check_matrix_row(reader, CAM2EGO, 16 * i + 12, m + 12, 4))
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
static bool check_crop(const Reader *reader, const double *crop, const Frustum *frustum) {
    if (reader->array[CROP].count == 2)
        return true;
    const double size[2] = {frustum->input_w, frustum->input_h};
    for (int axis = 0; axis < 2; axis++)
        if (fabs(crop[2 + axis] - crop[axis] - size[axis]) > 0.5)
            return REFUSE_ELEMENT(reader, CROP, 2 + axis,
                                  "%g ends a crop of %g pixels, but image_size says %g",
                                  crop[2 + axis], crop[2 + axis] - crop[axis], size[axis]);
    return true;
}

static bool read_depth_range(const Reader *reader, Frustum *frustum) {
    double range[3];
    if (!read_doubles(reader, DEPTH_RANGE, range) ||
        !check_between(reader, DEPTH_RANGE, 0, range[0], 1e-3, 1e4) ||
        !check_between(reader, DEPTH_RANGE, 1, range[1], 1e-3, 1e4) ||
        !check_between(reader, DEPTH_RANGE, 2, range[2], 1e-3, 1e4))
        return false;
    if (!(range[0] < range[1]))
        return REFUSE_ELEMENT(reader, DEPTH_RANGE, 1,
                              "empty range: the stop %g is not above the start %g", range[1],
                              range[0]);
    frustum->depth_start_m = range[0];
    frustum->depth_stop_m = range[1];
    frustum->depth_step_m = range[2];
    int64_t bins = frustum_depth_bins(frustum);
    if (bins == extent(reader, 'D'))
        return true;
    return REFUSE_ELEMENT(reader, DEPTH_RANGE, 2,
                          "step %g gives %lld depth bins, but depth has %lld", range[2],
                          (long long)bins, (long long)extent(reader, 'D'));
}

static bool read_frustum(const Reader *reader, Frustum *frustum) {
    double size[2], resize, crop[4];
    if (!read_doubles(reader, IMAGE_SIZE, size) || !read_doubles(reader, RESIZE, &resize) ||
        !read_doubles(reader, CROP, crop) ||
        !check_between(reader, IMAGE_SIZE, 0, size[0], 1, 65536) ||
        !check_between(reader, IMAGE_SIZE, 1, size[1], 1, 65536) ||
        !check_between(reader, RESIZE, 0, resize, 1e-3, 1e3) ||
        !check_between(reader, CROP, 0, crop[0], -65536, 65536) ||
        !check_between(reader, CROP, 1, crop[1], -65536, 65536))
        return false;
    frustum->input_h = (int)size[0];
    frustum->input_w = (int)size[1];
    frustum->resize = resize;
    frustum->crop_x = crop[0];
    frustum->crop_y = crop[1];
    /* The file does not say how large the camera's image was: what crop and input reach. */
    frustum->image_w = (int)fmax(1, round((crop[0] + size[1]) / resize));
    frustum->image_h = (int)fmax(1, round((crop[1] + size[0]) / resize));
    frustum->feat_h = (int)extent(reader, 'h');
    frustum->feat_w = (int)extent(reader, 'w');
    return check_crop(reader, crop, frustum) && read_depth_range(reader, frustum);
}

/* One row of `grid`: lower, upper, cell size; the cells must fill the range. */
static bool read_axis(const Reader *reader, int axis, const double *row, int max_cells,
                      int *cells) {
    for (int i = 0; i < 3; i++)
        if (!check_between(reader, GRID, 3 * axis + i, row[i], -1e4, 2e4))
            return false;
    if (!(row[0] < row[1]))
        return REFUSE_ELEMENT(reader, GRID, 3 * axis + 1,
                              "empty range: the upper end %g is not above the lower end %g", row[1],
                              row[0]);
    double count = (row[1] - row[0]) / row[2];
    if (!(row[2] > 0) || !(round(count) >= 1 && round(count) <= max_cells) ||
        fabs(count - round(count)) > 1e-3)
        return REFUSE_ELEMENT(reader, GRID, 3 * axis + 2,
                              "cells of %g m: %g of them, must be a whole number, 1 to %d", row[2],
                              count, max_cells);
    *cells = (int)round(count);
    return true;
}

static bool read_grid(const Reader *reader, Grid *grid) {
    double rows[9];
    int nz;
    if (!read_doubles(reader, GRID, rows) ||
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

/* ---- index arrays ------------------------------------------------------------------------------
 */

static bool read_bev_shape(const Reader *reader, BevShape *shape) {
    double values[5];
    if (!read_doubles(reader, BEV_SHAPE, values))
        return false;
    int at = 0; /* of ny */
    if (reader->array[BEV_SHAPE].count == 5) {
        at = 2;
        if (!check_between(reader, BEV_SHAPE, 0, values[0], 1, 1) ||
            !check_between(reader, BEV_SHAPE, 1, values[1], 1, 1) ||
            !check_between(reader, BEV_SHAPE, 4, values[4], (double)extent(reader, 'C'),
                           (double)extent(reader, 'C')))
            return false;
    }
    if (!check_between(reader, BEV_SHAPE, at, values[at], 1, SCENE_MAX_CELLS) ||
        !check_between(reader, BEV_SHAPE, at + 1, values[at + 1], 1, SCENE_MAX_CELLS))
        return false;
    int64_t ny = (int64_t)values[at], nx = (int64_t)values[at + 1];
    if (reader->has_calibration && (ny != shape->ny || nx != shape->nx))
        return REFUSE_ELEMENT(reader, BEV_SHAPE, ny != shape->ny ? at : at + 1,
                              "%lld x %lld cells (ny, nx), but grid has %lld x %lld", (long long)ny,
                              (long long)nx, (long long)shape->ny, (long long)shape->nx);
    shape->ny = ny;
    shape->nx = nx;
    return true;
}

/* `*elements` is the caller's to free, also on failure. */
static bool read_elements(const Reader *reader, ArrayId id, NpyType type, void **elements) {
    const NpyArray *array = &reader->array[id];
    size_t count = array->count > 0 ? (size_t)array->count : 1;
    *elements = malloc(count * npy_types[type].bytes);
    if (!*elements)
        return refuse(reader, arrays[id].name, "", "out of memory");
    return npz_read(reader->npz, reader->member[id], array, type, *elements, reader->err);
}

static bool read_map(const Reader *reader, const BevShape *shape, BevMap *map) {
    const struct {
        ArrayId id;
        NpyType type;
        void **elements;
    } parts[] = {
        {RANKS_DEPTH, NPY_I4, (void **)&map->ranks_depth},
        {RANKS_FEAT, NPY_I4, (void **)&map->ranks_feat},
        {RANKS_BEV, NPY_I4, (void **)&map->ranks_bev},
        {INTERVAL_STARTS, NPY_I4, (void **)&map->interval_starts},
        {INTERVAL_LENGTHS, NPY_I4, (void **)&map->interval_lengths},
        {WEIGHTS, NPY_F4, (void **)&map->weights},
    };
    map->points = extent(reader, 'P');
    map->intervals = extent(reader, 'I');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (reader->member[parts[i].id] >= 0 &&
            !read_elements(reader, parts[i].id, parts[i].type, parts[i].elements))
            return false;
    return scatter_check(map, shape, reader->npz->where, reader->err);
}

/* ---- the scene ----------------------------------------------------------------------------------
 */

static int64_t count_non_finite(const float *values, int64_t count) {
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++)
        bad += !isfinite(values[i]);
    return bad;
}

static bool read_rig(const Reader *reader, Scene *scene) {
    Rig *rig = &scene->rig;
    if (!read_cameras(reader, rig) || !read_frustum(reader, &rig->frustum) ||
        !read_grid(reader, &rig->grid) || !rig_check(rig, reader->npz->where, reader->err))
        return false;
    scene->has_rig = true;
    scene->shape = rig_shape(rig, scene->channels);
    return true;
}

/* Which maps count is told in scene.h. */
static bool read_index(const Reader *reader, Scene *scene) {
    if (!read_map(reader, &scene->shape, &scene->map))
        return false;
    scene->has_map = !scene->has_rig || !scene->map.weights;
    if (!scene->has_map)
        scatter_free(&scene->map);
    return true;
}

/* From the small to the large: a broken file is refused before its tensors take memory. */
static bool read_scene(Reader *reader, Scene *scene) {
    if (!read_headers(reader) || !check_groups(reader))
        return false;
    scene->channels = extent(reader, 'C');
    scene->temperature = 1;
    scene->shape = (BevShape){.cameras = extent(reader, 'N'),
                              .depth_bins = extent(reader, 'D'),
                              .feat_h = extent(reader, 'h'),
                              .feat_w = extent(reader, 'w'),
                              .channels = scene->channels};
    if ((reader->has_calibration && !read_rig(reader, scene)) ||
        (reader->has_index && !read_bev_shape(reader, &scene->shape)) ||
        !scene_check_size(&scene->shape, reader->npz->where, reader->err) ||
        (reader->has_index && !read_index(reader, scene)) ||
        !read_elements(reader, DEPTH, NPY_F4, (void **)&scene->tensors.depth) ||
        !read_elements(reader, FEAT, NPY_F4, (void **)&scene->tensors.feat))
        return false;
    scene->non_finite = count_non_finite(scene->tensors.depth, reader->array[DEPTH].count) +
                        count_non_finite(scene->tensors.feat, reader->array[FEAT].count);
    return true;
}

static bool read_archive(const Npz *npz, Scene *scene, Err *err) {
    Reader reader = {.npz = npz, .err = err};
    bool ok = read_scene(&reader, scene);
    if (!ok)
        scene_free(scene);
    return ok;
}

bool scene_read_npz(const void *bytes, size_t length, const char *where, Scene *scene, Err *err) {
    Npz npz;
    memset(scene, 0, sizeof *scene);
    bool ok = npz_open_memory(&npz, bytes, length, where, err) && read_archive(&npz, scene, err);
    npz_close(&npz);
    return ok;
}

bool scene_load_npz(const char *path, Scene *scene, Err *err) {
    Npz npz;
    memset(scene, 0, sizeof *scene);
    bool ok =
        npz_open_file(&npz, path, SCENE_MAX_FILE_BYTES, err) && read_archive(&npz, scene, err);
    npz_close(&npz);
    return ok;
}

/* ---- writing ------------------------------------------------------------------------------------
 */

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
    return npz_writer_add(&writer->npz, arrays[id].name, type, rank, shape, elements, writer->err);
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, -1})

static bool add_tensor(Writer *writer, ArrayId id, const int64_t shape[5], const float *values,
                       bool half) {
    if (!half)
        return add(writer, id, NPY_F4, shape, values);
    size_t count = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
    uint16_t *codes = malloc(count * sizeof *codes);
    if (!codes)
        return err_set(writer->err, ERR_FAILED, arrays[id].name, "", "out of memory");
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
    return add(writer, INTRINSICS, NPY_F8, SHAPE(rig->camera_count, 3, 3), k) &&
           add(writer, CAM2EGO, NPY_F8, SHAPE(rig->camera_count, 4, 4), pose);
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
    return add_cameras(writer, rig) && add(writer, IMAGE_SIZE, NPY_I4, SHAPE(2), image_size) &&
           add(writer, RESIZE, NPY_F8, (const int64_t[]){-1}, &f->resize) &&
           add(writer, CROP, NPY_F8, SHAPE(4), crop) &&
           add(writer, DEPTH_RANGE, NPY_F8, SHAPE(3), depth_range) &&
           add(writer, GRID, NPY_F8, SHAPE(3, 3), grid);
}

static bool add_map(Writer *writer, const BevShape *shape, const BevMap *map) {
    const int32_t bev_shape[] = {(int32_t)shape->ny, (int32_t)shape->nx};
    return add(writer, RANKS_DEPTH, NPY_I4, SHAPE(map->points), map->ranks_depth) &&
           add(writer, RANKS_FEAT, NPY_I4, SHAPE(map->points), map->ranks_feat) &&
           add(writer, RANKS_BEV, NPY_I4, SHAPE(map->points), map->ranks_bev) &&
           add(writer, INTERVAL_STARTS, NPY_I4, SHAPE(map->intervals), map->interval_starts) &&
           add(writer, INTERVAL_LENGTHS, NPY_I4, SHAPE(map->intervals), map->interval_lengths) &&
           add(writer, BEV_SHAPE, NPY_I4, SHAPE(2), bev_shape) &&
           (!map->weights || add(writer, WEIGHTS, NPY_F4, SHAPE(map->points), map->weights));
}

static bool add_scene(Writer *writer, const Scene *scene, const Features *features,
                      const BevMap *map, bool half) {
    const BevShape *s = &scene->shape;
    return add_tensor(writer, DEPTH, SHAPE(s->cameras, s->depth_bins, s->feat_h, s->feat_w),
                      features->depth, half) &&
           add_tensor(writer, FEAT, SHAPE(s->cameras, s->feat_h, s->feat_w, s->channels),
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
