/* SPDX-License-Identifier: MIT */
/* NumPy's .npz: a zip file of .npy arrays, stored or deflated. Before memory is allocated, each
 * size that a file declares is checked against the other sizes and the file's length. */
#pragma once

#include "kernels/err.h"
#include "src/base/units.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ends the enclosing function, which has an `Err *err` and returns false, with an error if the
 * condition holds. Arguments: its place, a hint, a printf format, values. */
#define BAD_FILE_IF(condition_, ...)                                                               \
    do {                                                                                           \
        if (condition_)                                                                            \
            return err_set(err, ERR_FAILED, __VA_ARGS__);                                          \
    } while (0)

/* ---- .npy: the header of one array ----------------------------------------------------------- */

/* The element types that can be read, all little-endian. NPY_S are texts of bytes. NPY_U are texts
 * of code points with 4 bytes each. Both are padded with zeros. */
/* clang-format off */
typedef enum {
    NPY_F2, NPY_F4, NPY_F8, NPY_I4, NPY_I8, NPY_U1, NPY_U4, NPY_S, NPY_U, NPY_TYPE_COUNT
} NpyType;
/* clang-format on */

typedef struct {
    const char *descr; /* type in headers: "<f4"; for texts the part before their length */
    const char *name;  /* type in messages: "float32" */
    size_t bytes;      /* bytes of an element; for texts of a character */
} NpyTypeInfo;
extern const NpyTypeInfo npy_types[NPY_TYPE_COUNT];

enum {
    NPY_MAX_RANK = 8,
    NPY_START = 4096,        /* the greatest size of a header that can be read */
    NPY_WRITTEN_BYTES = 256, /* the greatest size of a header that npy_write_header writes */
    NPY_MAX_TEXT = 1024      /* the most characters of a text */
};

typedef struct {
    NpyType type;
    int rank; /* 0: a scalar */
    int64_t shape[NPY_MAX_RANK];
    int64_t count;  /* elements */
    int characters; /* characters of a text; 1 for numbers */
    size_t start;   /* bytes of the header, before the elements; 0: the array was not read */
    int member;     /* npz_read_array: index in the archive */
} NpyArray;

/* Whether a type is float16, float32 or float64. */
static inline bool npy_is_float(NpyType type) {
    return type == NPY_F2 || type == NPY_F4 || type == NPY_F8;
}

static inline size_t npy_element_bytes(const NpyArray *array) {
    return npy_types[array->type].bytes * (size_t)array->characters;
}

/* Reads the header of a file of `bytes` bytes. `start` holds its first `got` bytes, at most
 * NPY_START. Checks that all elements follow. */
bool npy_read_start(const char *start, size_t got, uint64_t bytes, const char *where,
                    NpyArray *array, Err *err);

/* Reads the header's text into *array. A zero follows the text. Types other than NpyType, Fortran
 * order, and shapes whose product does not fit 64 bits are errors. Allocates nothing. Error
 * messages start with `where`. */
bool npy_read_header(const char *text, size_t length, const char *where, NpyArray *array, Err *err);

/* Writes a header, padded so that the data after it is aligned to 64 bytes. Returns its length. */
size_t npy_write_header(const NpyArray *array, char header[NPY_WRITTEN_BYTES]);

/* Reads a whole .npy file as `type`: F4 of a floating-point array, I4 of a whole-number one. Takes
 * over `file`; NULL: `err` says already why. The caller frees *elements (NULL after a failure). */
bool npy_read_file(FILE *file, const char *where, NpyType type, NpyArray *array, void **elements,
                   Err *err);

/* Returns the shape as Python prints it: "(6, 59, 16, 44)". */
ShortText npy_shape_text(const NpyArray *array);

/* ---- reading an archive ---------------------------------------------------------------------- */

enum { NPZ_MAX_MEMBERS = 64, NPZ_MAX_NAME = 64 };
#define NPZ_MAX_BYTES ((uint64_t)4 << 30) /* the most bytes of an archive file */

typedef struct {
    char name[NPZ_MAX_NAME]; /* name without ".npy" */
    uint64_t bytes;          /* bytes of the .npy file, uncompressed */
} NpzMember;

typedef struct {
    struct zip *zip;
    char where[128]; /* start of error messages: the end of the path */
    int count;
    NpzMember members[NPZ_MAX_MEMBERS];
} Npz;

/* Opens an archive as numpy.savez writes it. Checks the directory: at most NPZ_MAX_MEMBERS arrays,
 * all with different names. None is encrypted, each is stored or deflated, and no size exceeds what
 * the file can hold. Takes over `file`, even when it fails. */
bool npz_open(Npz *npz, FILE *file, const char *where, Err *err);
void npz_close(Npz *npz);

/* Returns the index of the member with that name. -1: there is none. */
int npz_find(const Npz *npz, const char *name);

/* Reads a member's header and checks that the data after it has exactly the declared size. */
bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err);

/* Reads all elements of an array (npz_read_array) in C order, converts them to `type` and verifies
 * the checksum. F4 and F8 are read from any number, I4 where each value fits, each from itself. */
bool npz_read(const Npz *npz, const NpyArray *array, NpyType type, void *elements, Err *err);

/* Reads texts of at most NPZ_TEXT - 1 bytes as clean UTF-8 (kernels/clean.h), `stride` bytes apart.
 * A longer text is an error. */
enum { NPZ_TEXT = 32 };
bool npz_read_texts(const Npz *npz, const NpyArray *array, char *texts, size_t stride, Err *err);

/* Returns the name of an element in error messages: "name[c, d, h, w]" for element i in C order. */
ShortText npz_place(const char *name, const NpyArray *array, int64_t i);

/* ---- writing an archive ---------------------------------------------------------------------- */

/* An array to write. F2 is encoded from FP32. Texts (U) are of NPZ_TEXT bytes in UTF-8. */
typedef struct {
    const char *name;
    NpyArray array;
    const void *elements;
    bool doubles;  /* the elements are doubles, which are converted to the array's type */
    size_t stride; /* bytes from text to text, or from one first index to the next; 0: no gaps */
} NpzEntry;

/* Writes an archive of at most NPZ_MAX_MEMBERS arrays, as data_write does. Members have a fixed
 * date: the same arrays give the same bytes. */
bool npz_write(const char *path, const NpzEntry *entries, int count, Err *err);
