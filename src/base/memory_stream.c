/* SPDX-License-Identifier: MIT */
#include "src/base/memory_stream.h"

#include <stdlib.h>
#include <string.h>

static ssize_t append_bytes(void *cookie, const char *bytes, size_t count) {
    MemoryStream *memory = cookie;
    size_t needed = memory->length + count + 1;
    if (needed > memory->capacity && !memory->failed) {
        size_t capacity = 2 * memory->capacity > needed ? 2 * memory->capacity : needed;
        char *grown = realloc(memory->bytes, capacity);
        memory->failed = grown == NULL;
        if (grown) {
            memory->bytes = grown;
            memory->capacity = capacity;
        }
    }
    if (memory->failed)
        return 0; /* the stream reports 0 as an error */
    memcpy(memory->bytes + memory->length, bytes, count);
    memory->length += count;
    return (ssize_t)count;
}

static bool refuse_no_memory(const char *where, Err *err) {
    return err_set(err, ERR_FAILED, where, "", "out of memory");
}

bool memory_stream_open(MemoryStream *memory, Err *err) {
    enum { FIRST = 16384 };
    *memory = (MemoryStream){.bytes = malloc(FIRST), .capacity = FIRST};
    if (memory->bytes)
        memory->stream = fopencookie(memory, "w", (cookie_io_functions_t){.write = append_bytes});
    if (memory->stream)
        return true;
    free(memory->bytes);
    *memory = (MemoryStream){0};
    return refuse_no_memory("output", err);
}

bool memory_stream_close(MemoryStream *memory, const char *where, Err *err) {
    bool whole = !ferror(memory->stream);
    whole = fclose(memory->stream) == 0 && whole && !memory->failed;
    memory->stream = NULL;
    if (whole) {
        memory->bytes[memory->length] = '\0';
        return true;
    }
    free(memory->bytes);
    *memory = (MemoryStream){0};
    return refuse_no_memory(where, err);
}
