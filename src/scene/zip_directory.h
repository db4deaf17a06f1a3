/* A zip's directory, checked before libzip sees it.
 *
 * libzip allocates what an end record declares, up to 65,536 entries at a time, before it can know
 * better, and tries every end record in the file's last 64 KiB. So the one record that np.savez
 * writes is read here first: no comment after it, the directory right before it, as many entries in
 * that as it says, no name twice and no entry longer than the file. */
#ifndef BEV_ZIP_DIRECTORY_H
#define BEV_ZIP_DIRECTORY_H

#include "kernels/err.h"

#include <stdint.h>

enum { ZIP_MAX_ENTRIES = 64 };

/* An archive in memory, or where `memory` is NULL in an open file. */
typedef struct {
    const unsigned char *memory;
    int fd;
    uint64_t length;
} ZipBytes;

bool zip_check_directory(const ZipBytes *bytes, const char *where, Err *err);

#endif
