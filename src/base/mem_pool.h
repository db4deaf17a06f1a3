/* A pool of memory blocks as large as a grid or the features, allocated and freed for every frame.
 * The next frame uses the last frame's block again, which avoids a page fault for every 4 KB.
 * malloc would return large blocks to the system at once (see mallopt() in cmd_live.c); else malloc
 * would keep a GB after a scene of each size was shown. A pool keeps at most MEM_POOL_KEPT blocks,
 * all of the size that was asked for last. Blocks of other sizes, and blocks above
 * MEM_POOL_LARGEST, are freed: the memory of such a scene matters more than page faults, which are
 * a small part of its frame. Any thread may call. */
#pragma once

#include <pthread.h>
#include <stddef.h>

enum { MEM_POOL_KEPT = 2, MEM_POOL_LARGEST = 16 << 20 };

/* A pool for blocks of one kind, which have one size at a time. A static one starts as MEM_POOL. */
typedef struct {
    pthread_mutex_t lock;
    void *kept[MEM_POOL_KEPT];
    int count;
    size_t bytes; /* of each */
} MemPool;

#define MEM_POOL                                                                                   \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

/* The contents are undefined. NULL: out of memory. */
void *mem_pool_take(MemPool *pool, size_t bytes);

/* Gives back a block that was taken with that many bytes; accepts NULL. */
void mem_pool_give(MemPool *pool, void *block, size_t bytes);

/* Frees all that is kept: the next block will have another size. */
void mem_pool_empty(MemPool *pool);
