#include "src/base/ref.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    atomic_int owners;
    void (*destroy)(void *contents);
    _Alignas(max_align_t) unsigned char contents[];
} Shared;

static Shared *ref_of(void *contents) {
    return (Shared *)(void *)((char *)contents - offsetof(Shared, contents));
}

void *ref_new(size_t size, void (*destroy)(void *contents)) {
    Shared *shared = calloc(1, sizeof *shared + size);
    if (!shared)
        return NULL;
    atomic_init(&shared->owners, 1);
    shared->destroy = destroy;
    return shared->contents;
}

void *ref_keep(void *contents) {
    if (contents)
        atomic_fetch_add(&ref_of(contents)->owners, 1);
    return contents;
}

void ref_drop(void *contents) {
    if (!contents || atomic_fetch_sub(&ref_of(contents)->owners, 1) > 1)
        return;
    ref_of(contents)->destroy(contents);
    free(ref_of(contents));
}
