#include "src/base/ref.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    atomic_int owners;
    void (*destroy)(void *contents);
    _Alignas(max_align_t) unsigned char contents[];
} Shared;

static Shared *shared_of(void *contents) {
    return (Shared *)(void *)((char *)contents - offsetof(Shared, contents));
}

void *shared_new(size_t size, void (*destroy)(void *contents)) {
    Shared *shared = calloc(1, sizeof *shared + size);
    if (!shared)
        return NULL;
    atomic_init(&shared->owners, 1);
    shared->destroy = destroy;
    return shared->contents;
}

void *shared_keep(void *contents) {
    if (contents)
        atomic_fetch_add(&shared_of(contents)->owners, 1);
    return contents;
}

void shared_drop(void *contents) {
    if (!contents || atomic_fetch_sub(&shared_of(contents)->owners, 1) > 1)
        return;
    shared_of(contents)->destroy(contents);
    free(shared_of(contents));
}
