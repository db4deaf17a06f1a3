/* Where the program's own files are (samples, recorded results, assets), and how it reads and
 * replaces files. */
#ifndef BEV_DATA_H
#define BEV_DATA_H

#include "kernels/err.h"

#include <stddef.h>

/* Path of `relative` ("samples/intersection.json", or a folder: "samples") under the first of these
 * that has it: $BEVSCOPE_DATA, the folder of the executable, ../share/bevscope from there, the
 * installed data folder, the source folder of the build. */
bool data_path(const char *relative, char *path, size_t size, Err *err);

/* Whether data_path would find it. */
bool data_exists(const char *relative);

/* Whole file into malloc'd memory, at most `limit` bytes; *length excludes the added NUL. */
bool data_read(const char *path, size_t limit, char **bytes, size_t *length, Err *err);

/* Replaces `path` with `bytes`: a reader sees the old file or the whole new one. On any failure the
 * old file survives and no temporary is left behind; data.c says what each signal can do. A
 * symbolic link keeps pointing at what is replaced. Devices and pipes are written to as they are.
 */
bool data_write(const char *path, const void *bytes, size_t length, Err *err);

#endif
