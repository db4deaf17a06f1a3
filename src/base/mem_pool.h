/* Blocks as large as a grid or as features, which come and go with every frame: what the last frame
 * let go of is there for the next one, without a page fault for every 4 KB.
 *
 * Kept are at most MEM_POOL_KEPT blocks of the size asked for last; those of another size go back
 * to the system at once. Any thread may call. */
#ifndef BEV_MEM_POOL_H
#define BEV_MEM_POOL_H

#include <pthread.h>
#include <stddef.h>

enum { MEM_POOL_KEPT = 2 };

/* For blocks of one kind, which have one size at a time: a static one starts as MEM_POOL. */
typedef struct {
    pthread_mutex_t lock;
    void *kept[MEM_POOL_KEPT];
    int count;
    size_t bytes; /* of each */
} MemPool;

#define MEM_POOL                                                                                   \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Contents are left over from before. NULL: no memory. */
void *mem_pool_take(MemPool *pool, size_t bytes);

/* A block that was taken with that many bytes; accepts NULL. */
void mem_pool_give(MemPool *pool, void *block, size_t bytes);

/* Nothing is kept until the next block is taken: its size will be another one. */
void mem_pool_empty(MemPool *pool);

#endif
