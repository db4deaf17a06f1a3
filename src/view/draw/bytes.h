/* A byte buffer that grows; remembers that memory ran out, so that writers need not check. */
#ifndef BEV_BYTES_H
#define BEV_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *data;
    size_t length, capacity;
    bool failed;
} Bytes;

void bytes_append(Bytes *bytes, const void *data, size_t length);
void bytes_free(Bytes *bytes);

#endif
