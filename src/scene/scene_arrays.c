#include "src/scene/scene_internal.h"

#include "src/base/nearest.h"
#include "src/scene/clip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the tables ------------------------------------------------------------------------------ */

#define ARRAY_ROW(id, name, group, types, written, ...)                                            \
    {name, GROUP_##group, types, NPY_##written, __VA_ARGS__},
const ArrayRow scene_arrays[ARRAY_COUNT] = {SCENE_ARRAYS(ARRAY_ROW)};

static const char letters[] = "NDhwCPIHWBLKTbl"; /* by ArraySize */

static const struct {
    const char *title;
    int64_t min, max;
} sizes[SIZE_COUNT] = {
    [SIZE_CAMERAS] = {"cameras", 1, RIG_MAX_CAMERAS},
    [SIZE_BINS] = {"depth bins", 1, SCENE_MAX_BINS},
    [SIZE_ROWS] = {"feature rows", 1, SCENE_MAX_FEATURES},
    [SIZE_COLUMNS] = {"feature columns", 1, SCENE_MAX_FEATURES},
    [SIZE_CHANNELS] = {"channels", 1, SCENE_MAX_CHANNELS},
    [SIZE_POINTS] = {"points", 0, INT32_MAX},
    [SIZE_INTERVALS] = {"intervals", 0, INT32_MAX},
    [SIZE_IMAGE_ROWS] = {"image rows", 1, PHOTOS_MAX_PIXELS},
    [SIZE_IMAGE_COLUMNS] = {"image columns", 1, PHOTOS_MAX_PIXELS},
    [SIZE_BOXES] = {"boxes", 0, PHOTOS_MAX_BOXES},
    [SIZE_SWEEP] = {"LiDAR points", 0, PHOTOS_MAX_SWEEP},
    [SIZE_SWEEP_COLUMNS] = {"LiDAR columns", 3, 16},
    [SIZE_MOMENTS] = {"moments", 1, CLIP_MAX_MOMENTS},
    [SIZE_ALL_BOXES] = {"boxes of all moments", 0, INT32_MAX},
    [SIZE_ALL_SWEEP] = {"LiDAR points of all moments", 0, INT32_MAX},
};

/* The ArraySize of a letter; -1 for a digit. */
static int size_of(char letter) {
    const char *at = strchr(letters, letter);
    return at ? (int)(at - letters) : -1;
}

int arrays_axes(ArrayId id, const int64_t values[SIZE_COUNT], int64_t axes[NPY_MAX_RANK]) {
    int rank = 0;
    for (const char *s = scene_arrays[id].shape; *s; s++)
        axes[rank++] = size_of(*s) >= 0 ? values[size_of(*s)] : *s - '0';
    return rank;
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool refuse_unknown(const ArrayReader *reader) {
    const char *names[ARRAY_COUNT];
    for (int id = 0; id < ARRAY_COUNT; id++)
        names[id] = scene_arrays[id].name;
    for (int m = 0; m < reader->npz->count; m++) {
        const char *name = reader->npz->members[m].name;
        const char *nearest = nearest_name(name, names, ARRAY_COUNT);
        char hint[256];
        if (nearest && strcmp(name, nearest) == 0)
            continue;
        nearest_hint(name, names, ARRAY_COUNT, NULL, hint, sizeof hint);
        return data_refuse(reader->err, reader->npz->where, name, hint, "unknown array");
    }
    return true;
}

/* "(cameras, depth bins, 3)" for the shape "ND3". */
static void describe_shape(const char *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (const char *s = shape; *s; s++) {
        const char digit[2] = {*s, '\0'};
        int size_id = size_of(*s);
        used += (size_t)snprintf(text + used, size - used, "%s%s", s == shape ? "" : ", ",
                                 size_id >= 0 ? sizes[size_id].title : digit);
    }
    snprintf(text + used, size - used, ")");
}

enum { SHAPES = 3 };

/* The shapes that an array can have in this file; those behind the last one are NULL. */
static void wanted_shapes(const ArrayReader *reader, int id, const char *shapes[SHAPES]) {
    const ArrayRow *row = &scene_arrays[id];
    const char *const alone[SHAPES] = {row->shape, row->other_shape};
    memcpy(shapes, reader->is_clip && row->clip_shapes[0] ? row->clip_shapes : alone, sizeof alone);
}

static bool refuse_shape(const ArrayReader *reader, int id, const char *const shapes[SHAPES]) {
    char found[96], wanted[192], depth[96], why[144] = "";
    const char *hint = "";
    size_t used = 0;
    npy_shape_text(&reader->whole[id], found, sizeof found);
    npy_shape_text(&reader->whole[ARRAY_DEPTH], depth, sizeof depth);
    for (int i = 0; i < SHAPES && shapes[i]; i++) {
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, i ? " or " : "");
        describe_shape(shapes[i], wanted + used, sizeof wanted - used);
        used += strlen(wanted + used);
    }
    if (reader->is_clip && id != ARRAY_DEPTH) {
        snprintf(why, sizeof why, ", because depth %s has an axis of moments", depth);
        hint = "save one sample, without a batch axis, or all of its moments";
    } else if (reader->whole[id].rank == (int)strlen(shapes[0]) + 1)
        hint = "save one sample, without a batch axis";
    return ARRAYS_REFUSE(reader, id, hint, "shape %s, must be %s%s", found, wanted, why);
}

bool arrays_bind_size(ArrayReader *reader, ArrayId id, ArraySize e, int64_t value) {
    if (value < sizes[e].min || value > sizes[e].max)
        return ARRAYS_REFUSE(reader, id, "", "%lld %s, must be %lld to %lld", (long long)value,
                             sizes[e].title, (long long)sizes[e].min, (long long)sizes[e].max);
    if (reader->size[e] >= 0 && reader->size[e] != value)
        return ARRAYS_REFUSE(reader, id,
                             id == ARRAY_FEAT ? "depth is (camera, D, h, w), feat (camera, h, w, C)"
                                              : "",
                             "%lld %s, but %s has %lld", (long long)value,
                             sizes[e].title, reader->first[e], (long long)reader->size[e]);
    if (reader->size[e] < 0) {
        reader->size[e] = value;
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
    const NpyArray *array = &reader->whole[id];
    const char *shapes[SHAPES], *shape = NULL;
    wanted_shapes(reader, id, shapes);
    if (!shapes[0])
        return ARRAYS_REFUSE(reader, id, "give depth an axis of moments, or leave this array out",
                             "only a file of several moments has it");
    for (int i = 0; i < SHAPES; i++)
        if (fits(array, shapes[i])) /* of two that fit the second is the more exact one */
            shape = shapes[i];
    if (!shape)
        return refuse_shape(reader, id, shapes);
    reader->shape[id] = shape;
    for (int i = 0; i < array->rank; i++) {
        int size = size_of(shape[i]);
        if (size >= 0 && !arrays_bind_size(reader, (ArrayId)id, (ArraySize)size, array->shape[i]))
            return false;
    }
    return true;
}

static bool check_type(const ArrayReader *reader, int id) {
    unsigned types = scene_arrays[id].types;
    if (types & 1u << reader->whole[id].type)
        return true;
    char wanted[128];
    int used = 0;
    for (int type = 0; type < NPY_TYPE_COUNT; type++)
        if (types & 1u << type)
            used += snprintf(wanted + used, sizeof wanted - (size_t)used, " %s%s",
                             npy_types[type].name, types >> (type + 1) ? " or" : "");
    return ARRAYS_REFUSE(reader, id, "convert it with astype", "dtype %s, must be%s",
                         npy_types[reader->whole[id].type].name, wanted);
}

static bool read_header(ArrayReader *reader, int id) {
    NpyArray *array = &reader->whole[id];
    if (!npz_read_array(reader->npz, reader->member[id], array, reader->err))
        return false;
    if (id == ARRAY_DEPTH)
        reader->is_clip = array->rank == (int)strlen(scene_arrays[id].clip_shapes[0]);
    return check_type(reader, id) && check_shape(reader, id);
}

/* Depth is the first: its axes say whether the file has several moments. */
static bool read_headers(ArrayReader *reader) {
    for (int e = 0; e < SIZE_COUNT; e++)
        reader->size[e] = -1;
    if (!refuse_unknown(reader))
        return false;
    for (int id = 0; id < ARRAY_COUNT; id++) {
        reader->member[id] = npz_find(reader->npz, scene_arrays[id].name);
        if (reader->member[id] >= 0 && !read_header(reader, id))
            return false;
    }
    return true;
}

/* Checks that all arrays of a group are present or all are missing. */
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
        return ARRAYS_REFUSE(reader, missing, others, "is missing");
    return true;
}

bool arrays_has(const ArrayReader *reader, ArrayId id) {
    return reader->member[id] >= 0;
}

/* Depth and features; the features of photographs can be made from them. */
static bool check_tensors(const ArrayReader *reader) {
    bool photos = arrays_has(reader, ARRAY_IMAGES) && reader->has_calibration;
    if (!arrays_has(reader, ARRAY_DEPTH))
        return ARRAYS_REFUSE(reader, ARRAY_DEPTH, "a scene needs both depth and feat",
                             "is missing");
    if (!arrays_has(reader, ARRAY_FEAT) && !photos)
        return ARRAYS_REFUSE(reader, ARRAY_FEAT,
                             "a scene needs both depth and feat; feat may be missing where images "
                             "and a calibration are there",
                             "is missing");
    return true;
}

static bool check_groups(ArrayReader *reader) {
    if (!check_group(reader, GROUP_CALIBRATION, "other arrays of the calibration are present",
                     &reader->has_calibration) ||
        !check_group(reader, GROUP_INDEX, "other index arrays are present", &reader->has_index))
        return false;
    if (!check_tensors(reader))
        return false;
    if (!reader->has_calibration && !reader->has_index)
        return ARRAYS_REFUSE(reader, ARRAY_INTRINSICS,
                             "save the calibration, or the five index arrays and bev_shape",
                             "is missing: neither a calibration nor index arrays");
    if (reader->member[ARRAY_WEIGHTS] >= 0 && !reader->has_index)
        return ARRAYS_REFUSE(reader, ARRAY_WEIGHTS, "save the index arrays too",
                             "weights without index arrays");
    if (arrays_has(reader, ARRAY_BOX_LABELS) && !arrays_has(reader, ARRAY_BOXES))
        return ARRAYS_REFUSE(reader, ARRAY_BOX_LABELS, "save the boxes too",
                             "labels without boxes");
    return true;
}

bool arrays_open(ArrayReader *reader, Npz *npz, Err *err) {
    *reader = (ArrayReader){.npz = npz, .err = err};
    return read_headers(reader) && check_groups(reader) && arrays_choose_moment(reader, 0);
}

/* ---- elements -------------------------------------------------------------------------------- */

static NpzPart part_of(const ArrayReader *reader, ArrayId id) {
    return (NpzPart){reader->member[id], &reader->whole[id], reader->before[id],
                     reader->array[id].count};
}

bool arrays_read(const ArrayReader *reader, ArrayId id, NpyType type, void *elements) {
    const NpzPart part = part_of(reader, id);
    return npz_read(reader->npz, &part, type, elements, reader->err);
}

bool arrays_read_pieces(const ArrayReader *reader, ArrayId id, int64_t most, NpzTake *take,
                        void *context) {
    const NpzPart part = part_of(reader, id);
    return npz_read_pieces(reader->npz, &part, most, take, context, reader->err);
}

bool arrays_read_texts(const ArrayReader *reader, ArrayId id, char *texts, size_t size) {
    const NpzPart part = part_of(reader, id);
    return npz_read_texts(reader->npz, &part, texts, size, reader->err);
}

bool arrays_read_doubles(const ArrayReader *reader, ArrayId id, double *values) {
    const ArrayRow *row = &scene_arrays[id];
    const NpyArray *array = &reader->array[id];
    if (!arrays_read(reader, id, NPY_F8, values))
        return false;
    for (int64_t i = 0; i < array->count; i++) {
        if (!isfinite(values[i]))
            return ARRAYS_REFUSE_ELEMENT(reader, id, i, "%g, must be finite", values[i]);
        if (row->max > row->min &&
            !arrays_check_between(reader, id, i, values[i], row->min, row->max))
            return false;
    }
    return true;
}

bool arrays_check_between(const ArrayReader *reader, ArrayId id, int64_t i, double value,
                          double min, double max) {
    if (value >= min && value <= max)
        return true;
    return ARRAYS_REFUSE_ELEMENT(reader, id, i, "%.9g is outside %.9g to %.9g", value, min, max);
}
