/* SPDX-License-Identifier: MIT */
#include "src/scene/scene_internal.h"

#include "src/base/nearest.h"
#include "src/base/units.h"

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
        int64_t axis = size_of_letter(*s) >= 0 ? values[size_of_letter(*s)] : *s - '0';
        array.shape[array.rank++] = axis;
        array.count *= axis;
    }
    return array;
}

/* ---- headers --------------------------------------------------------------------------------- */

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
static bool bind_size(ArrayReader *reader, ArrayId id, ArraySize e, int64_t value) {
    REFUSE_IF(value < sizes[e].min || value > sizes[e].max, id, "", "%lld %s, must be %lld to %lld",
              (long long)value, sizes[e].title, (long long)sizes[e].min, (long long)sizes[e].max);
    REFUSE_IF(reader->size[e] >= 0 && reader->size[e] != value, id,
              id == ARRAY_FEAT ? "depth is (camera, D, h, w), feat (camera, h, w, C)" : "",
              "%lld %s, but %s has %lld", (long long)value, sizes[e].title, reader->first[e],
              (long long)reader->size[e]);
    if (reader->size[e] < 0) {
        reader->size[e] = value;
        reader->first[e] = scene_arrays[id].name;
    }
    return true;
}

static bool shape_matches(const NpyArray *array, const char *shape) {
    if (array->rank != (int)strlen(shape))
        return array->rank == 0 && !strcmp(shape, "1"); /* a number counts as a list of one */
    for (int i = 0; i < array->rank; i++)
        if (shape[i] >= '0' && shape[i] <= '9' && array->shape[i] != shape[i] - '0')
            return false;
    return true;
}

static bool check_shape(ArrayReader *reader, int id) {
    const NpyArray *array = &reader->array[id];
    const char *const *shape = scene_arrays[id].shapes;
    const ShortText found = npy_shape_text(array);
    char wanted[96];
    /* moments of a clip, or a batch */
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

/* Returns what to do about a wrong type, where there is one clear answer. No conversion may lose
 * data. */
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

int64_t arrays_by_camera(const ArrayReader *reader, ArrayId id) {
    const NpyArray *array = &reader->array[id];
    const bool one = array->rank < (id == ARRAY_RESIZE ? 1 : 2) ||
                     (array->rank == 1 && array->count == 1 && reader->size[SIZE_CAMERAS] > 1);
    return one ? 0 : array->count / reader->size[SIZE_CAMERAS];
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

/* ---- the archive ----------------------------------------------------------------------------- */

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

bool arrays_read_small(ArrayReader *reader) {
    for (ArrayId id = 0; id < ARRAY_COUNT; id++)
        if (arrays_is_small(id) && !arrays_read_numbers(reader, id))
            return false;
    return true;
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
