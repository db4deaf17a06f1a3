#include "src/view/draw/bytes.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(Bytes *bytes, size_t extra) {
    if (extra > SIZE_MAX / 2 - bytes->length)
        return false;
    size_t need = bytes->length + extra;
    if (need <= bytes->capacity)
        return true;
    size_t capacity = bytes->capacity ? bytes->capacity : 4096;
    while (capacity < need)
        capacity *= 2;
    uint8_t *data = realloc(bytes->data, capacity);
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void bytes_append(Bytes *bytes, const void *data, size_t length) {
    if (bytes->failed || !length)
        return;
    if (!reserve(bytes, length)) {
        bytes->failed = true;
        return;
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void bytes_free(Bytes *bytes) {
    free(bytes->data);
    *bytes = (Bytes){0};
}
