/* SPDX-License-Identifier: MIT */
#include "src/base/ref.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    atomic_int owners;
    void (*destroy)(void *contents);
    _Alignas(max_align_t) unsigned char contents[];
} Counted;

static Counted *counted_header(void *contents) {
    return (Counted *)(void *)((char *)contents - offsetof(Counted, contents));
}

void *ref_new(size_t size, void (*destroy)(void *contents)) {
    Counted *counted = calloc(1, sizeof *counted + size);
    if (!counted)
        return NULL;
    atomic_init(&counted->owners, 1);
    counted->destroy = destroy;
    return counted->contents;
}

void *ref_keep(void *contents) {
    if (contents)
        atomic_fetch_add(&counted_header(contents)->owners, 1);
    return contents;
}

void ref_drop(void *contents) {
    if (!contents || atomic_fetch_sub(&counted_header(contents)->owners, 1) > 1)
        return;
    if (counted_header(contents)->destroy)
        counted_header(contents)->destroy(contents);
    free(counted_header(contents));
}

void *ref_swap(void *old, void *next) {
    ref_keep(next);
    ref_drop(old);
    return next;
}
