/* A stream into memory that never loses a byte in silence. (open_memstream does: where memory runs
 * out, the C library's stream still closes without an error.) */
#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <stdio.h>

/* Must not move while the stream is open. */
typedef struct {
    FILE *stream;
    char *bytes;
    size_t length, capacity;
    bool failed; /* some bytes are missing */
} MemoryStream;

/* False: out of memory, and there is nothing to close. */
bool memory_stream_open(MemoryStream *memory, Err *err);

/* Closes the stream. On success the caller frees memory->bytes; a NUL follows the last byte and is
 * not counted. Else everything is freed; `where` heads the error. */
bool memory_stream_close(MemoryStream *memory, const char *where, Err *err);
