/* The bytes of one array in an archive, read from its begin to its end. */
#pragma once

#include "src/scene/npz.h"

#include <zip.h>

typedef struct NpzStream {
    zip_file_t *file;
    uint64_t left;   /* bytes that were not read yet */
    bool stored;     /* not deflated */
    char where[256]; /* start of error messages */
} NpzStream;

bool npz_stream_open(NpzStream *stream, const Npz *npz, int member, Err *err);

/* Reads exactly `count` bytes. Never inflates beyond the declared size (zip bombs). */
bool npz_stream_read(NpzStream *stream, void *to, size_t count, Err *err);

/* Passes over `count` bytes, at most `left`: at once in a stored array, inflating them in a deflated one. */
bool npz_stream_skip(NpzStream *stream, uint64_t count, Err *err);

/* At the end of the data reads past it, where libzip verifies the checksum. */
bool npz_stream_finish(NpzStream *stream, Err *err);

void npz_stream_close(NpzStream *stream);
void npz_stream_free(NpzStream *stream); /* closes it as well; accepts NULL */
