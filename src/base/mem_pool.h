/* Blocks as large as a grid or as features, which come and go with every frame: what the last frame
 * let go of is there for the next one, without a page fault for every 4 KB.
 *
 * Kept are at most RECYCLED blocks of the size asked for last; those of another size go back to the
 * system at once. Any thread may call. */
#ifndef BEV_MEM_POOL_H
#define BEV_MEM_POOL_H

#include <pthread.h>
#include <stddef.h>

enum { RECYCLED = 2 };

/* For blocks of one kind, which have one size at a time: a static one starts as RECYCLER. */
typedef struct {
    pthread_mutex_t lock;
    void *kept[RECYCLED];
    int count;
    size_t bytes; /* of each */
} Recycler;

#define RECYCLER {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Contents are left over from before. NULL: no memory. */
void *recycle_take(Recycler *recycler, size_t bytes);

/* A block that was taken with that many bytes; accepts NULL. */
void recycle_give(Recycler *recycler, void *block, size_t bytes);

/* Nothing is kept until the next block is taken: its size will be another one. */
void recycle_empty(Recycler *recycler);

#endif
