/* SPDX-License-Identifier: MIT */
/* A pool of large memory blocks, such as grids and features, which every frame takes and gives
 * back. The next frame gets the last frame's block again, which saves a page fault for every 4 KB.
 * malloc is set to return large blocks to the system at once (see mallopt() in cmd_live.c).
 * Otherwise malloc would keep a GB after scenes of several sizes were shown. A pool keeps at most
 * MEM_POOL_KEPT blocks, all of the size of the last request. The pool frees blocks of other sizes.
 * It also frees blocks above MEM_POOL_LARGEST, whose memory matters more than page faults. Any
 * thread may call these functions. */
#pragma once

#include <pthread.h>
#include <stddef.h>

enum { MEM_POOL_KEPT = 2, MEM_POOL_LARGEST = 16 << 20 };

/* A pool for blocks that have one size at a time. A static pool starts as MEM_POOL. */
typedef struct {
    pthread_mutex_t lock;
    void *kept[MEM_POOL_KEPT];
    int count;
    size_t bytes; /* size of each kept block */
} MemPool;

#define MEM_POOL                                                                                   \
    { .lock = PTHREAD_MUTEX_INITIALIZER }

/* Returns a block with undefined contents. NULL: out of memory. */
void *mem_pool_take(MemPool *pool, size_t bytes);

/* Gives back a block that was taken with `bytes` bytes. Accepts NULL. */
void mem_pool_give(MemPool *pool, void *block, size_t bytes);

/* Frees all kept blocks, because the next block will have another size. */
void mem_pool_empty(MemPool *pool);
