/* A launch as it goes over the multiprocessors of an H200: blocks in order, each to the first that
 * has room; a block's place is free when its last warp is done. Warps take turns. */
#ifndef BEV_TRACE_LAUNCH_H
#define BEV_TRACE_LAUNCH_H

#include "src/cachesim/trace.h"

typedef struct {
    int64_t blocks;
    int warps;          /* of a block */
    int resident;       /* blocks that a multiprocessor holds */
    size_t state_bytes; /* of a warp */
    /* Makes the state of a warp that begins; false: its threads own nothing. */
    bool (*begin)(void *walk, int64_t block, int warp, void *state);
    /* Its next turn, on multiprocessor `sm`; false: that was the last. */
    bool (*turn)(void *walk, int sm, void *state);
    void (*round)(void *walk); /* all warps under way have had a turn; or NULL */
} Launch;

/* `where` is named in errors. */
bool launch_run(const Launch *launch, void *walk, const TraceWatch *watch, const char *where,
                Err *err);

#endif
