/* Where the program's own files are: samples, recorded results, assets. */
#ifndef BEV_DATA_H
#define BEV_DATA_H

#include "kernels/err.h"

#include <stddef.h>

/* Path of `relative` ("samples/intersection.json") under the first of: $BEVSCOPE_DATA, the folder
 * of the executable, the installed data folder, the source folder of the build. */
bool data_path(const char *relative, char *path, size_t size, Err *err);

/* Folder that holds `relative` directories, for listings; same search. */
bool data_exists(const char *relative);

/* Whole file into malloc'd memory, at most `limit` bytes; *length excludes the added NUL. */
bool data_read(const char *path, size_t limit, char **bytes, size_t *length, Err *err);

/* Replaces `path` with `bytes` atomically: temporary file in the same folder, fsync, rename. On
 * any failure the old file survives and no temporary is left behind. */
bool data_write(const char *path, const void *bytes, size_t length, Err *err);

#endif
