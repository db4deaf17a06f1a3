/* Archives for tests, byte by byte: also those that no honest program writes. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static inline uint32_t crc32_of(const unsigned char *bytes, size_t length) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

typedef struct {
    Buffer archive, directory;
    int count;
} ZipMaker;

/* `data` as it lies in the archive; method 0 stored, 8 deflated; `size` and `crc` of what it
 * inflates to. */
static inline void zip_entry(ZipMaker *zip, const char *name, const void *data, size_t length,
                             int method, int flags, uint32_t size, uint32_t crc) {
    uint32_t offset = (uint32_t)zip->archive.length;
    Buffer *parts[] = {&zip->archive, &zip->directory};
    for (int central = 0; central < 2; central++) {
        buffer_add(parts[central], central ? "PK\1\2\24\0" : "PK\3\4", central ? 6 : 4);
        buffer_add_le(parts[central], 20, 2);
        buffer_add_le(parts[central], (uint64_t)flags, 2);
        buffer_add_le(parts[central], (uint64_t)method, 2);
        buffer_add_le(parts[central], 0x00210000, 4); /* 1980-01-01 */
        buffer_add_le(parts[central], crc, 4);
        buffer_add_le(parts[central], length, 4);
        buffer_add_le(parts[central], size, 4);
        buffer_add_le(parts[central], strlen(name), 2);
        buffer_add_le(parts[central], 0, 2);
        if (central) {
            buffer_add(parts[central], "\0\0\0\0\0\0\0\0\0", 10); /* comment, disk, attributes */
            buffer_add_le(parts[central], offset, 4);
        }
        buffer_add(parts[central], name, strlen(name));
    }
    buffer_add(&zip->archive, data, length);
    zip->count++;
}

static inline void zip_stored(ZipMaker *zip, const char *name, const void *data, size_t length) {
    zip_entry(zip, name, data, length, 0, 0, (uint32_t)length, crc32_of(data, length));
}

/* Directory and end record. The caller frees zip->archive.bytes. */
static inline void zip_end(ZipMaker *zip) {
    uint32_t offset = (uint32_t)zip->archive.length;
    buffer_add(&zip->archive, zip->directory.bytes, zip->directory.length);
    buffer_add(&zip->archive, "PK\5\6\0\0\0\0", 8);
    buffer_add_le(&zip->archive, (uint64_t)zip->count, 2);
    buffer_add_le(&zip->archive, (uint64_t)zip->count, 2);
    buffer_add_le(&zip->archive, zip->directory.length, 4);
    buffer_add_le(&zip->archive, offset, 4);
    buffer_add_le(&zip->archive, 0, 2);
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
