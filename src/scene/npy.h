/* The .npy header: what an array file says about its element type, order and shape. */
#ifndef BEV_NPY_H
#define BEV_NPY_H

#include "kernels/err.h"

#include <stddef.h>
#include <stdint.h>

/* The element types read here; all little-endian. */
typedef enum { NPY_F2, NPY_F4, NPY_F8, NPY_I4, NPY_I8, NPY_TYPE_COUNT } NpyType;

typedef struct {
    const char *descr; /* in headers: "<f4" */
    const char *name;  /* in messages: "float32" */
    size_t bytes;
} NpyTypeInfo;

extern const NpyTypeInfo npy_types[NPY_TYPE_COUNT];

enum {
    NPY_MAX_RANK = 8,
    NPY_PREFIX_BYTES = 12,           /* magic, version and length, at most */
    NPY_MAX_HEADER_BYTES = 64 * 1024 /* NumPy's own are below 1 KiB */
};

typedef struct {
    NpyType type;
    int rank; /* 0: a scalar */
    int64_t shape[NPY_MAX_RANK];
    int64_t count; /* elements */
} NpyArray;

/* Reads the prefix of a file: how many bytes of text follow, and where they start. */
bool npy_read_prefix(const unsigned char prefix[NPY_PREFIX_BYTES], const char *where,
                     size_t *text_start, size_t *text_bytes, Err *err);

/* Reads the header's text. Refuses, by name, every type and order but those above, and shapes whose
 * product wraps. Allocates nothing. `where` heads errors. */
bool npy_read_header(const char *text, size_t length, const char *where, NpyArray *array, Err *err);

/* Writes prefix and text, padded so that the data that follows is aligned to 64 bytes. Returns its
 * length; `header` has room for NPY_WRITTEN_BYTES. */
enum { NPY_WRITTEN_BYTES = 256 };
size_t npy_write_header(const NpyArray *array, char header[NPY_WRITTEN_BYTES]);

/* "(6, 59, 16, 44)" */
void npy_shape_text(const NpyArray *array, char *text, size_t size);

#endif
