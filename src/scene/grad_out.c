/* SPDX-License-Identifier: MIT */
#include "src/scene/grad_out.h"

#include "src/base/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3 };
static const size_t MOST_BYTES = (size_t)2 << 30;

static bool refuse_truncated(const GradOutFile *file, Err *err) {
    return err_set(err, ERR_FAILED, file->where, "", "truncated: its header has no end");
}

/* Reads the header of the file. *start becomes the offset of the data. */
static bool read_header(GradOutFile *file, const char *bytes, size_t length, size_t *start,
                        Err *err) {
    unsigned char prefix[NPY_PREFIX_BYTES] = {0};
    size_t text_start, text_bytes;
    memcpy(prefix, bytes, length < sizeof prefix ? length : sizeof prefix);
    if (!npy_read_prefix(prefix, file->where, &text_start, &text_bytes, err))
        return false;
    if (length < text_start || length - text_start < text_bytes)
        return refuse_truncated(file, err);
    *start = text_start + text_bytes;
    return npy_read_header(bytes + text_start, text_bytes, file->where, &file->array, err);
}

/* Refuses an array of another type, rank or length than a gradient of the output has. */
static bool check_header(const GradOutFile *file, size_t data_bytes, Err *err) {
    const NpyArray *array = &file->array;
    const NpyTypeInfo *type = &npy_types[array->type];
    char shape[128];
    npy_shape_text(array, shape, sizeof shape);
    if (!npy_is_float(array->type))
        return err_set(err, ERR_FAILED, file->where, "save grad_out.astype(numpy.float32)",
                       "grad_out is of %s, must be float16, float32 or float64", type->name);
    if (array->rank != AXES || array->count < 1)
        return err_set(err, ERR_FAILED, file->where, "",
                       "grad_out has the shape %s, must be (ny, nx, channels)", shape);
    uint64_t needed = (uint64_t)array->count * type->bytes;
    return needed == data_bytes ||
           err_set(err, ERR_FAILED, file->where, "", "shape %s of %s needs %llu bytes, but has %zu",
                   shape, type->name, (unsigned long long)needed, data_bytes);
}

static void take_values(GradOutFile *file, const unsigned char *bytes) {
    size_t size = npy_types[file->array.type].bytes;
    file->first = -1;
    for (int64_t i = 0; i < file->array.count; i++) {
        const unsigned char *at = bytes + (size_t)npy_place(&file->array, i) * size;
        float value = (float)npy_element(file->array.type, at);
        file->values[i] = value;
        file->nan += isnan(value) != 0;
        file->infinite += isinf(value) != 0;
        if (!isfinite(value) && file->first < 0)
            file->first = i;
    }
}

bool grad_out_read(GradOutFile *file, const void *bytes, size_t length, const char *where,
                   Err *err) {
    size_t start = 0, named = strlen(where), most = sizeof file->where - 1;
    *file = (GradOutFile){.first = -1};
    snprintf(file->where, sizeof file->where, "%s", named > most ? where + named - most : where);
    if (!read_header(file, bytes, length, &start, err) || !check_header(file, length - start, err))
        return false;
    file->values = malloc((size_t)file->array.count * sizeof *file->values);
    if (!file->values)
        return err_set(err, ERR_FAILED, file->where, "", "out of memory");
    take_values(file, (const unsigned char *)bytes + start);
    return true;
}

/* Returns the size of the file that begins with these bytes. 0: the bytes are no such file. */
static size_t most_bytes(const char *bytes, size_t length, const char *path, Err *err) {
    GradOutFile file = {.first = -1};
    size_t text_start, text_bytes, start;
    snprintf(file.where, sizeof file.where, "%s", path);
    if (!npy_read_prefix((const unsigned char *)bytes, file.where, &text_start, &text_bytes, err))
        return 0;
    if (length < text_start + text_bytes)
        return MOST_BYTES;
    if (!read_header(&file, bytes, length, &start, err))
        return 0;
    size_t whole = start + (size_t)file.array.count * npy_element_bytes(&file.array);
    return whole < MOST_BYTES ? whole : MOST_BYTES;
}

bool grad_out_load(GradOutFile *file, const char *path, Err *err) {
    char *bytes;
    size_t length;
    *file = (GradOutFile){.first = -1};
    if (!data_read_headed(path, MOST_BYTES, most_bytes, &bytes, &length, err))
        return false;
    bool ok = grad_out_read(file, bytes, length, path, err);
    free(bytes);
    return ok;
}

void grad_out_free(GradOutFile *file) {
    free(file->values);
    *file = (GradOutFile){.first = -1};
}

bool grad_out_fits(const GradOutFile *file, const BevShape *shape, Err *err) {
    const NpyArray *array = &file->array;
    const int64_t want[AXES] = {shape->ny, shape->nx, shape->channels};
    char has[128];
    if (!memcmp(array->shape, want, sizeof want))
        return true;
    npy_shape_text(array, has, sizeof has);
    return err_set(err, ERR_FAILED, file->where, "",
                   "grad_out has the shape %s, must be (ny, nx, channels) = (%lld, %lld, %lld)",
                   has, (long long)want[0], (long long)want[1], (long long)want[2]);
}

void grad_out_describe(const GradOutFile *file, char *text, size_t size) {
    snprintf(text, size, "%s", "");
    if (file->first < 0)
        return;
    NpzPlace place = npz_place("", &file->array, file->first);
    snprintf(text, size,
             "%s: grad_out: %lld of %lld values are NaN, %lld infinite, the first at %s",
             file->where, (long long)file->nan, (long long)file->array.count,
             (long long)file->infinite, place.text);
}
