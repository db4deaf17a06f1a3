/* SPDX-License-Identifier: MIT */
#include "src/base/mem_pool.h"

#include <stdlib.h>

void *mem_pool_take(MemPool *pool, size_t bytes) {
    void *block = NULL;
    pthread_mutex_lock(&pool->lock);
    while (pool->bytes != bytes && pool->count)
        free(pool->kept[--pool->count]);
    pool->bytes = bytes;
    if (pool->count)
        block = pool->kept[--pool->count];
    pthread_mutex_unlock(&pool->lock);
    return block ? block : malloc(bytes);
}

void mem_pool_give(MemPool *pool, void *block, size_t bytes) {
    pthread_mutex_lock(&pool->lock);
    if (block && bytes == pool->bytes && bytes <= MEM_POOL_LARGEST && pool->count < MEM_POOL_KEPT) {
        pool->kept[pool->count++] = block;
        block = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    free(block);
}

void mem_pool_empty(MemPool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->count)
        free(pool->kept[--pool->count]);
    pool->bytes = 0;
    pthread_mutex_unlock(&pool->lock);
}
