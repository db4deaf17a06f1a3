/* SPDX-License-Identifier: MIT */
#include "src/scene/npz.h"

#include "kernels/codec.h"
#include "src/base/data.h"
#include "src/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "array files are little-endian; this code does not swap bytes"
#endif

const NpyTypeInfo npy_types[NPY_TYPE_COUNT] = {
    [NPY_F2] = {"<f2", "float16", 2}, [NPY_F4] = {"<f4", "float32", 4},
    [NPY_F8] = {"<f8", "float64", 8}, [NPY_I4] = {"<i4", "int32", 4},
    [NPY_I8] = {"<i8", "int64", 8},   [NPY_U1] = {"|u1", "uint8", 1},
    [NPY_U4] = {"<u4", "uint32", 4},  [NPY_S] = {"|S", "bytes", 1},
    [NPY_U] = {"<U", "str", 4},
};

bool npy_is_float(NpyType type) {
    return type == NPY_F2 || type == NPY_F4 || type == NPY_F8;
}

static bool npy_is_whole(NpyType type) {
    return type >= NPY_I4 && type <= NPY_U4;
}

size_t npy_element_bytes(const NpyArray *array) {
    return npy_types[array->type].bytes * (size_t)array->characters;
}

#define SPACES " \n"

/* The first bytes: magic, version 1.0, and the length of the header's text. */
enum { PREFIX = 10 };
static const char magic[6] = "\x93NUMPY";

/* ---- the header's text: a Python dictionary of three keys in NumPy's order ------------------- */

/* Refuses a dtype, with a hint how to save the array instead. Returns false. */
static bool refuse_type(const char *descr, const char *where, Err *err) {
    const char *hint = "known: float16 to float64, int32, int64, uint8, uint32, str";
    const char *kind = "unknown dtype";
    if (strchr(descr, 'O')) {
        kind = "object dtype";
        hint = "objects are Python pickles, which are not read; save an array of numbers, or "
               "numpy.array(names, dtype=str)";
    } else if (descr[0] == '>') {
        kind = "big-endian dtype";
        hint = "save array.astype(array.dtype.newbyteorder('<'))";
    } else if (strchr(descr, 'V')) {
        kind = "raw dtype";
        hint = "bfloat16? save array.astype(numpy.float32)";
    }
    return err_set(err, ERR_FAILED, where, hint, "%s \"%.40s\"", kind, descr);
}

/* Sets the type of a dtype such as "<f4". Behind "<U" and "|S" stands the number of characters. */
static bool set_type(const char *descr, const char *where, NpyArray *array, Err *err) {
    int type = 0;
    while (type < NPY_S && strcmp(descr, npy_types[type].descr) != 0)
        type++;
    while (type >= NPY_S && type < NPY_TYPE_COUNT && strncmp(descr, npy_types[type].descr, 2) != 0)
        type++;
    if (type == NPY_TYPE_COUNT)
        return refuse_type(descr, where, err);
    array->type = (NpyType)type;
    array->characters = 1;
    if (type < NPY_S)
        return true;
    char *end;
    long count = isdigit((unsigned char)descr[2]) ? strtol(descr + 2, &end, 10) : -1;
    if (count < 0 || *end || count > NPY_MAX_TEXT)
        return err_set(err, ERR_FAILED, where, "",
                       "text of \"%.40s\" characters, must be at most %d", descr + 2, NPY_MAX_TEXT);
    array->characters = (int)count;
    return true;
}

/* Reads the extents of a shape up to its closing bracket. Yields the text behind it. NULL: an
 * error. */
static const char *read_shape(const char *text, const char *where, NpyArray *array, Err *err) {
    for (text += strspn(text, SPACES); *text != ')'; text += strspn(text, SPACES)) {
        char *end;
        errno = 0;
        long long extent = strtoll(text, &end, 10);
        end += strspn(end, SPACES);
        const char *what = !isdigit((unsigned char)*text) || (*end != ',' && *end != ')')
                               ? "broken npy header: shape is not a tuple of whole numbers"
                           : array->rank == NPY_MAX_RANK ? "shape has more than 8 axes"
                           : errno ? "shape has a size that does not fit 64 bits"
                                   : NULL;
        if (what) {
            err_set(err, ERR_FAILED, where, "", "%s", what);
            return NULL;
        }
        array->shape[array->rank++] = extent;
        text = end + (*end == ',');
    }
    return text + 1;
}

/* Computes the number of elements. Refuses a shape whose bytes do not fit 64 bits. */
static bool multiply_shape(const char *where, NpyArray *array, Err *err) {
    int64_t bytes = (int64_t)npy_element_bytes(array);
    array->count = 1;
    bool wraps = false;
    for (int i = 0; i < array->rank; i++)
        wraps |= __builtin_mul_overflow(array->count, array->shape[i], &array->count) ||
                 __builtin_mul_overflow(bytes, array->shape[i], &bytes);
    char text[128];
    npy_shape_text(array, text, sizeof text);
    return !wraps ||
           err_set(err, ERR_FAILED, where, "", "shape %s: the product does not fit 64 bits", text);
}

bool npy_read_header(const char *text, size_t length, const char *where, NpyArray *array,
                     Err *err) {
    char descr[64] = "", order[8] = "";
    int at = 0;
    *array = (NpyArray){.rank = 0};
    if (sscanf(text, " { 'descr' : %1[[]", order) == 1)
        return err_set(err, ERR_FAILED, where, "save one array per field", "structured dtype");
    sscanf(text, " { 'descr' : '%63[^']' , 'fortran_order' : %7[A-Za-z] , 'shape' : (%n", descr,
           order, &at);
    if (descr[0] && !set_type(descr, where, array, err))
        return false;
    if (!strcmp(order, "True"))
        return err_set(err, ERR_FAILED, where, "save numpy.ascontiguousarray(array)",
                       "an array in Fortran order");
    const char *end = text + at;
    if (at && !strcmp(order, "False") && !(end = read_shape(end, where, array, err)))
        return false;
    end += strspn(end, " ,\n");
    if (strcmp(order, "False") || *end != '}' || end + 1 + strspn(end + 1, SPACES) != text + length)
        return err_set(err, ERR_FAILED, where, "write it with numpy.save",
                       "broken npy header: no dictionary of descr, fortran_order and shape");
    return multiply_shape(where, array, err);
}

void npy_shape_text(const NpyArray *array, char *text, size_t size) {
    snprintf(text, size, "(");
    for (int i = 0; i < array->rank; i++)
        text_add(text, size, i ? ", %lld" : "%lld", (long long)array->shape[i]);
    text_add(text, size, array->rank == 1 ? ",)" : ")"); /* as Python writes a single element */
}

/* Checks that `bytes` of elements follow a header. */
static bool check_bytes(const NpyArray *array, uint64_t bytes, const char *where, Err *err) {
    uint64_t needed = (uint64_t)array->count * npy_element_bytes(array);
    char shape[128];
    npy_shape_text(array, shape, sizeof shape);
    return needed == bytes ||
           err_set(err, ERR_FAILED, where, "", "shape %s of %s needs %llu bytes, but has %llu",
                   shape, npy_types[array->type].name, (unsigned long long)needed,
                   (unsigned long long)bytes);
}

bool npy_read_start(const char *start, size_t got, uint64_t bytes, const char *where,
                    NpyArray *array, Err *err) {
    char text[NPY_START];
    if (got < PREFIX || memcmp(start, magic, sizeof magic))
        return err_set(err, ERR_FAILED, where, "", "not an .npy array: %s",
                       got < PREFIX ? "truncated" : "wrong magic bytes");
    if (start[6] != 1)
        return err_set(err, ERR_FAILED, where, "", "npy version %d, must be 1", start[6]);
    size_t length = (unsigned char)start[8] | (size_t)(unsigned char)start[9] << 8;
    if (length > got - PREFIX)
        return err_set(err, ERR_FAILED, where, "", "truncated: its header has no end");
    memcpy(text, start + PREFIX, length);
    text[length] = '\0';
    if (!npy_read_header(text, length, where, array, err))
        return false;
    array->start = PREFIX + length;
    return check_bytes(array, bytes - array->start, where, err);
}

size_t npy_write_header(const NpyArray *array, char header[NPY_WRITTEN_BYTES]) {
    enum { ALIGN = 64 };
    char shape[NPY_MAX_RANK * 22], length[16] = "";
    npy_shape_text(array, shape, sizeof shape);
    if (array->type == NPY_S || array->type == NPY_U)
        snprintf(length, sizeof length, "%d", array->characters);
    int text = snprintf(header + PREFIX, NPY_WRITTEN_BYTES - PREFIX,
                        "{'descr': '%s%s', 'fortran_order': False, 'shape': %s, }",
                        npy_types[array->type].descr, length, shape);
    size_t total = ((size_t)PREFIX + (size_t)text + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(header + PREFIX + text, ' ', total - PREFIX - (size_t)text);
    header[total - 1] = '\n';
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((total - PREFIX) & 0xff);
    header[9] = (char)((total - PREFIX) >> 8);
    return total;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double npy_element(NpyType type, const unsigned char *bytes) {
    union {
        uint16_t u2;
        float f4;
        double f8;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint32_t u4;
    } value;
    memcpy(&value, bytes, npy_types[type].bytes);
    switch (type) {
    case NPY_F2:
        return bev_fp16_decode(value.u2);
    case NPY_F4:
        return value.f4;
    case NPY_F8:
        return value.f8;
    case NPY_I4:
        return value.i4;
    case NPY_I8:
        return (double)value.i8; /* rounded beyond 2^53, but still above int32 */
    case NPY_U4:
        return value.u4;
    default:
        return value.u1;
    }
}

NpzPlace npz_place(const char *name, const NpyArray *array, int64_t i) {
    int64_t index[NPY_MAX_RANK] = {0};
    for (int axis = array->rank - 1; axis >= 0; axis--) {
        index[axis] = i % array->shape[axis];
        i /= array->shape[axis];
    }
    NpzPlace place;
    snprintf(place.text, sizeof place.text, "%s", name);
    for (int axis = 0; axis < array->rank; axis++)
        text_add(place.text, sizeof place.text, "%s%lld%s", axis ? ", " : "[",
                 (long long)index[axis], axis == array->rank - 1 ? "]" : "");
    return place;
}

bool npy_convert(const NpyArray *array, const unsigned char *bytes, NpyType type, void *elements,
                 const char *where, const char *name, Err *err) {
    for (int64_t i = 0; i < array->count; i++, bytes += npy_types[array->type].bytes) {
        double value = npy_element(array->type, bytes);
        if (type == NPY_F4)
            ((float *)elements)[i] = (float)value;
        else if (type == NPY_F8)
            ((double *)elements)[i] = value;
        else if (value >= INT32_MIN && value <= INT32_MAX)
            ((int32_t *)elements)[i] = (int32_t)value;
        else
            return data_refuse(err, where, npz_place(name, array, i).text, "",
                               "%.0f does not fit int32", value);
    }
    return true;
}

/* ---- a file of one array --------------------------------------------------------------------- */

/* Reads the header of a file, and checks the type of its elements. */
static bool read_file_header(FILE *file, const char *where, NpyType type, NpyArray *array,
                             Err *err) {
    char start[NPY_START];
    bool whole = type == NPY_I4;
    fseek(file, 0, SEEK_END);
    uint64_t bytes = (uint64_t)ftell(file);
    rewind(file);
    if (!npy_read_start(start, fread(start, 1, sizeof start, file), bytes, where, array, err))
        return false;
    fseek(file, (long)array->start, SEEK_SET);
    return (whole ? npy_is_whole : npy_is_float)(array->type) ||
           err_set(err, ERR_FAILED, where, whole ? "" : "save array.astype(numpy.float32)",
                   "dtype %s, must be %s", npy_types[array->type].name,
                   whole ? "any whole number" : "float16, float32 or float64");
}

bool npy_read_file(FILE *file, const char *where, NpyType type, NpyArray *array, void **elements,
                   Err *err) {
    *elements = NULL;
    if (!read_file_header(file, where, type, array, err))
        return false;
    size_t size = (size_t)array->count * npy_element_bytes(array);
    void *bytes = malloc(size + 1);
    *elements = malloc((size_t)array->count * npy_types[type].bytes + 1);
    bool ok = (bytes && *elements) || err_no_memory(err, where, "");
    if (ok && fread(bytes, 1, size, file) != size)
        ok = err_set(err, ERR_FAILED, where, "", "cannot read its elements");
    ok = ok && npy_convert(array, bytes, type, *elements, where, "", err);
    free(bytes);
    if (!ok) {
        free(*elements);
        *elements = NULL;
    }
    return ok;
}
