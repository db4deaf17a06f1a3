#include "src/scene/scene_arrays.h"

#include "src/base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the tables ------------------------------------------------------------------------------ */

enum { HALF = 1u << NPY_F2, SINGLE = 1u << NPY_F4, DOUBLES = SINGLE | 1u << NPY_F8 };
enum { WHOLE = 1u << NPY_I4 | 1u << NPY_I8, NUMBERS = DOUBLES | WHOLE };

const ArrayRow scene_arrays[ARRAY_COUNT] = {
    [ARRAY_DEPTH] = {"depth", GROUP_TENSORS, HALF | SINGLE, "NDhw", NULL},
    [ARRAY_FEAT] = {"feat", GROUP_TENSORS, HALF | SINGLE, "NhwC", NULL},
    [ARRAY_INTRINSICS] = {"intrinsics", GROUP_CALIBRATION, DOUBLES, "N33", NULL},
    [ARRAY_CAM2EGO] = {"cam2ego", GROUP_CALIBRATION, DOUBLES, "N44", NULL},
    [ARRAY_IMAGE_SIZE] = {"image_size", GROUP_CALIBRATION, WHOLE, "2", NULL},
    [ARRAY_RESIZE] = {"resize", GROUP_CALIBRATION, NUMBERS, "", "1"},
    [ARRAY_CROP] = {"crop", GROUP_CALIBRATION, NUMBERS, "2", "4"},
    [ARRAY_DEPTH_RANGE] = {"depth_range", GROUP_CALIBRATION, NUMBERS, "3", NULL},
    [ARRAY_GRID] = {"grid", GROUP_CALIBRATION, NUMBERS, "33", NULL},
    [ARRAY_RANKS_DEPTH] = {"ranks_depth", GROUP_INDEX, WHOLE, "P", NULL},
    [ARRAY_RANKS_FEAT] = {"ranks_feat", GROUP_INDEX, WHOLE, "P", NULL},
    [ARRAY_RANKS_BEV] = {"ranks_bev", GROUP_INDEX, WHOLE, "P", NULL},
    [ARRAY_INTERVAL_STARTS] = {"interval_starts", GROUP_INDEX, WHOLE, "I", NULL},
    [ARRAY_INTERVAL_LENGTHS] = {"interval_lengths", GROUP_INDEX, WHOLE, "I", NULL},
    [ARRAY_BEV_SHAPE] = {"bev_shape", GROUP_INDEX, WHOLE, "2", "5"},
    [ARRAY_WEIGHTS] = {"weights", GROUP_EXTRA, SINGLE, "P", NULL},
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
_Static_assert(sizeof extents / sizeof *extents == ARRAY_EXTENTS, "a row for each extent");

/* ---- headers --------------------------------------------------------------------------------- */

bool arrays_refuse(const ArrayReader *reader, const char *name, const char *hint,
                   const char *what) {
    char where[256];
    snprintf(where, sizeof where, "%s: %s", reader->npz->where, name);
    return err_set(reader->err, ERR_FAILED, where, hint, "%s", what);
}

static bool refuse_unknown(const ArrayReader *reader) {
    const char *names[ARRAY_COUNT];
    for (int id = 0; id < ARRAY_COUNT; id++)
        names[id] = scene_arrays[id].name;
    for (int m = 0; m < reader->npz->count; m++) {
        const char *name = reader->npz->members[m].name;
        const char *nearest = nearest_name(name, names, ARRAY_COUNT);
        char what[128];
        snprintf(what, sizeof what, "unknown array, the nearest known is \"%s\"", nearest);
        if (strcmp(name, nearest) != 0)
            return arrays_refuse(reader, name, "", what);
    }
    return true;
}

static const Extent *find_extent(char letter) {
    for (int e = 0; e < ARRAY_EXTENTS; e++)
        if (extents[e].letter == letter)
            return &extents[e];
    return NULL; /* a digit */
}

/* "(cameras, depth bins, 3)" for a row's "ND3". */
static void describe_shape(const char *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (const char *s = shape; *s; s++) {
        const Extent *row = find_extent(*s);
        const char digit[2] = {*s, '\0'};
        used += (size_t)snprintf(text + used, size - used, "%s%s", s == shape ? "" : ", ",
                                 row ? row->title : digit);
    }
    snprintf(text + used, size - used, ")");
}

static bool refuse_shape(const ArrayReader *reader, int id) {
    const ArrayRow *row = &scene_arrays[id];
    char found[96], wanted[112], other[16] = "", what[256];
    npy_shape_text(&reader->array[id], found, sizeof found);
    describe_shape(row->shape, wanted, sizeof wanted);
    if (row->other_shape)
        describe_shape(row->other_shape, other, sizeof other);
    snprintf(what, sizeof what, "shape %s, must be %s%s%s", found, wanted, other[0] ? " or " : "",
             other);
    bool batch = reader->array[id].rank == (int)strlen(row->shape) + 1;
    return arrays_refuse(reader, row->name,
                         batch ? "one sample at a time: leave the batch out" : "", what);
}

/* An extent named by a letter: within its bounds, and what the arrays before it said. */
static bool bind_extent(ArrayReader *reader, int id, int e, int64_t value) {
    const Extent *row = &extents[e];
    char what[200];
    if (value < row->min || value > row->max) {
        snprintf(what, sizeof what, "%lld %s, must be %lld to %lld", (long long)value, row->title,
                 (long long)row->min, (long long)row->max);
        return arrays_refuse(reader, scene_arrays[id].name, "", what);
    }
    if (reader->extent[e] >= 0 && reader->extent[e] != value) {
        snprintf(what, sizeof what, "%lld %s, but %s has %lld", (long long)value, row->title,
                 reader->first[e], (long long)reader->extent[e]);
        return arrays_refuse(reader, scene_arrays[id].name, "", what);
    }
    if (reader->extent[e] < 0) {
        reader->extent[e] = value;
        reader->first[e] = scene_arrays[id].name;
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

static bool check_shape(ArrayReader *reader, int id) {
    const NpyArray *array = &reader->array[id];
    const char *shape =
        fits(array, scene_arrays[id].shape) ? scene_arrays[id].shape : scene_arrays[id].other_shape;
    if (!fits(array, shape))
        return refuse_shape(reader, id);
    for (int i = 0; i < array->rank; i++)
        for (int e = 0; e < ARRAY_EXTENTS; e++)
            if (extents[e].letter == shape[i] && !bind_extent(reader, id, e, array->shape[i]))
                return false;
    return true;
}

static bool check_type(const ArrayReader *reader, int id) {
    unsigned types = scene_arrays[id].types;
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
    return arrays_refuse(reader, scene_arrays[id].name, "convert it with astype", what);
}

static bool read_headers(ArrayReader *reader) {
    for (int e = 0; e < ARRAY_EXTENTS; e++)
        reader->extent[e] = -1;
    if (!refuse_unknown(reader))
        return false;
    for (int id = 0; id < ARRAY_COUNT; id++) {
        reader->member[id] = npz_find(reader->npz, scene_arrays[id].name);
        if (reader->member[id] >= 0 &&
            (!npz_read_array(reader->npz, reader->member[id], &reader->array[id], reader->err) ||
             !check_type(reader, id) || !check_shape(reader, id)))
            return false;
    }
    return true;
}

/* A group is there as a whole or not at all. */
static bool check_group(const ArrayReader *reader, ArrayGroup group, const char *others,
                        bool *present) {
    int missing = -1;
    *present = false;
    for (int id = ARRAY_COUNT - 1; id >= 0; id--) {
        if (scene_arrays[id].group != group)
            continue;
        if (reader->member[id] >= 0)
            *present = true;
        else
            missing = id;
    }
    if (*present && missing >= 0)
        return arrays_refuse(reader, scene_arrays[missing].name, others, "is missing");
    return true;
}

static bool check_groups(ArrayReader *reader) {
    bool tensors;
    if (!check_group(reader, GROUP_TENSORS, "depth and feat make a scene", &tensors) ||
        !check_group(reader, GROUP_CALIBRATION, "the other arrays of a calibration are there",
                     &reader->has_calibration) ||
        !check_group(reader, GROUP_INDEX, "the other index arrays are there", &reader->has_index))
        return false;
    if (!tensors)
        return arrays_refuse(reader, scene_arrays[ARRAY_DEPTH].name, "depth and feat make a scene",
                             "is missing");
    if (!reader->has_calibration && !reader->has_index)
        return arrays_refuse(reader, scene_arrays[ARRAY_INTRINSICS].name,
                             "or the five index arrays with bev_shape",
                             "is missing: neither a calibration nor index arrays");
    if (reader->member[ARRAY_WEIGHTS] >= 0 && !reader->has_index)
        return arrays_refuse(reader, scene_arrays[ARRAY_WEIGHTS].name, "",
                             "weights without index arrays");
    return true;
}

int64_t arrays_extent(const ArrayReader *reader, char letter) {
    return reader->extent[find_extent(letter) - extents];
}

bool arrays_open(ArrayReader *reader, const Npz *npz, Err *err) {
    *reader = (ArrayReader){.npz = npz, .err = err};
    return read_headers(reader) && check_groups(reader);
}

/* ---- small arrays ---------------------------------------------------------------------------- */

bool arrays_read_doubles(const ArrayReader *reader, ArrayId id, double *values) {
    const NpyArray *array = &reader->array[id];
    if (!npz_read(reader->npz, reader->member[id], array, NPY_F8, values, reader->err))
        return false;
    for (int64_t i = 0; i < array->count; i++)
        if (!isfinite(values[i]))
            return ARRAYS_REFUSE_ELEMENT(reader, id, i, "%g, must be finite", values[i]);
    return true;
}

bool arrays_check_between(const ArrayReader *reader, ArrayId id, int64_t i, double value,
                          double min, double max) {
    if (value >= min && value <= max)
        return true;
    return ARRAYS_REFUSE_ELEMENT(reader, id, i, "%.9g is outside %.9g to %.9g", value, min, max);
}
