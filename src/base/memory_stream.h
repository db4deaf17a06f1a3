/* SPDX-License-Identifier: MIT */
/* A stream into memory (open_memstream) whose failures are errors. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <stdio.h>

/* A stream and its memory. The struct must not move while the stream is open. */
typedef struct {
    FILE *stream;
    char *bytes;
    size_t length;
} MemoryStream;

/* Opens the stream. False: out of memory, and there is nothing to close. */
bool memory_stream_open(MemoryStream *memory, Err *err);

/* Closes the stream. On success the caller frees memory->bytes; a NUL follows the last byte and is
 * not counted. On failure everything is freed, and `where` stands first in the error. */
bool memory_stream_close(MemoryStream *memory, const char *where, Err *err);
