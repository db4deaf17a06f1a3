/* SPDX-License-Identifier: MIT */
/* Archives for tests, byte by byte: also those that no honest program writes. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct {
    unsigned char *bytes;
    size_t length, capacity;
} Buffer;

static inline void buffer_add(Buffer *buffer, const void *bytes, size_t length) {
    if (buffer->length + length > buffer->capacity) {
        buffer->capacity = 2 * (buffer->length + length);
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    }
    if (length > 0)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
}

static inline void buffer_add_le(Buffer *buffer, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        buffer_add(buffer, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

/* Numbers one after another; widths "224": of 2, 2 and 4 bytes. */
static inline void buffer_add_fields(Buffer *buffer, const char *widths, const uint64_t *values) {
    for (int i = 0; widths[i]; i++)
        buffer_add_le(buffer, values[i], widths[i] - '0');
}

/* An unnamed file of these bytes, which reading closes. */
static inline FILE *file_of(const void *bytes, size_t length) {
    FILE *file = tmpfile();
    if (!file || (length && fwrite(bytes, 1, length, file) != length))
        abort();
    rewind(file);
    return file;
}

typedef struct {
    Buffer archive, directory;
    int count;
} ZipMaker;

/* `data` as it lies in the archive; method 0 stored, 8 deflated; `size` and `crc` of what it
 * inflates to. */
static inline void zip_entry(ZipMaker *zip, const char *name, const void *data, size_t length,
                             int method, int flags, uint32_t size, uint32_t crc) {
    const uint64_t offset = zip->archive.length, name_length = strlen(name);
    const uint64_t dated = 0x00210000; /* 1980-01-01 */
    const uint64_t fields[] = {
        20, (uint64_t)flags, (uint64_t)method, dated, crc, length, size, name_length, 0};
    for (int central = 0; central < 2; central++) {
        Buffer *part = central ? &zip->directory : &zip->archive;
        buffer_add(part, central ? "PK\1\2\24\0" : "PK\3\4", central ? 6 : 4);
        buffer_add_fields(part, "222444422", fields);
        if (central) {
            buffer_add(part, "\0\0\0\0\0\0\0\0\0", 10); /* comment, disk, attributes */
            buffer_add_le(part, offset, 4);
        }
        buffer_add(part, name, name_length);
    }
    buffer_add(&zip->archive, data, length);
    zip->count++;
}

static inline void zip_stored(ZipMaker *zip, const char *name, const void *data, size_t length) {
    zip_entry(zip, name, data, length, 0, 0, (uint32_t)length,
              (uint32_t)crc32(0, data, (uInt)length));
}

/* Directory and end record. The caller frees zip->archive.bytes. */
static inline void zip_end(ZipMaker *zip) {
    const uint64_t count = (uint64_t)zip->count, offset = zip->archive.length;
    buffer_add(&zip->archive, zip->directory.bytes, zip->directory.length);
    buffer_add(&zip->archive, "PK\5\6\0\0\0\0", 8);
    buffer_add_fields(&zip->archive, "22442",
                      (uint64_t[]){count, count, zip->directory.length, offset, 0});
    free(zip->directory.bytes);
    zip->directory = (Buffer){0};
}

/* An .npy with that dictionary as its header. */
static inline void npy_add(Buffer *npy, const char *header, const void *data, size_t length) {
    buffer_add(npy, "\x93NUMPY\1\0", 8);
    buffer_add_le(npy, strlen(header), 2);
    buffer_add(npy, header, strlen(header));
    buffer_add(npy, data, length);
}
