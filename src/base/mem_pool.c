#include "src/base/mem_pool.h"

#include <stdlib.h>

void *recycle_take(Recycler *recycler, size_t bytes) {
    void *block = NULL;
    pthread_mutex_lock(&recycler->lock);
    while (recycler->bytes != bytes && recycler->count)
        free(recycler->kept[--recycler->count]);
    recycler->bytes = bytes;
    if (recycler->count)
        block = recycler->kept[--recycler->count];
    pthread_mutex_unlock(&recycler->lock);
    return block ? block : malloc(bytes);
}

void recycle_give(Recycler *recycler, void *block, size_t bytes) {
    pthread_mutex_lock(&recycler->lock);
    if (block && bytes == recycler->bytes && recycler->count < RECYCLED) {
        recycler->kept[recycler->count++] = block;
        block = NULL;
    }
    pthread_mutex_unlock(&recycler->lock);
    free(block);
}

void recycle_empty(Recycler *recycler) {
    pthread_mutex_lock(&recycler->lock);
    while (recycler->count)
        free(recycler->kept[--recycler->count]);
    recycler->bytes = 0;
    pthread_mutex_unlock(&recycler->lock);
}
