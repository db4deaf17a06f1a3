/* SPDX-License-Identifier: MIT */
/* Finds the program's own files (samples, recorded results, assets); reads and writes any file. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes the full path of `relative`, a file ("samples/intersection.json") or a folder ("samples").
 * Searches in this order: $BEVSCOPE_DATA, the folder of the executable, ../share/bevscope next to
 * that folder, the installed data folder. In a build the folder of the executable has a link to the
 * sources. */
bool data_path(const char *relative, char *path, size_t size, Err *err);

/* Returns the name of a file without its folder; points into `path`. */
const char *data_file_name(const char *path);

/* Whether the name ends with `suffix` (".npz") and has more characters before it. */
bool data_has_suffix(const char *path, const char *suffix);

/* Copies the name of a file without its folder and suffix, cut to `size`. ".name" has no suffix. */
void data_stem(const char *path, char *stem, size_t size);

/* Reads a whole file of at most `limit` bytes. The caller frees *bytes; a NUL follows the last byte
 * and is not counted in *length. */
bool data_read(const char *path, size_t limit, char **bytes, size_t *length, Err *err);

/* Opens a regular file for reading. Does not wait for a pipe. NULL: `err` and errno say why. */
FILE *data_open(const char *path, Err *err);

/* Replaces the contents of `path`; "-" is standard output. A reader sees either the old file or the
 * complete new one. After a failure the old file is unchanged and no temporary file remains. For a
 * symbolic link, the file it points to is replaced. Devices and pipes are written directly. */
bool data_write(const char *path, const void *bytes, size_t length, Err *err);

/* Writes all bytes to an open file; may be called in signal handlers. False: errno says why. */
bool data_write_all(int fd, const char *bytes, size_t length);

/* Writes the bytes as base64, with its padding. */
void data_base64(FILE *out, const uint8_t *bytes, size_t length);

/* ---- streams into memory (open_memstream) ---------------------------------------------------- */

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

/* ---- errors in files ------------------------------------------------------------------------- */

/* Where a check reports its errors; see data_refuse. */
typedef struct {
    const char *where; /* file name, at the start of error messages */
    Err *err;
} Check;

/* Reports an error at `place` of `file`: err->where becomes "file: place". Returns false. */
bool data_refuse(Err *err, const char *file, const char *place, const char *hint, const char *what,
                 ...) __attribute__((format(printf, 5, 6)));
