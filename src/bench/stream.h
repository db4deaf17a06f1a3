/* The accesses of each CUDA rung, in the order in which its blocks and warps issue them, worked out
 * from a table: which threads own what, how wide they load, what they clear. Needs no GPU and no
 * CUDA. Everything that comes of it is a model.
 *
 * Threads of a warp go in step, a point a step. STREAM_WARPS warps are under way and take turns;
 * one that is done makes room for the next in launch order. What a warp instruction asks of one
 * sector is one access. L1 is modelled only as far as a thread's own neighbouring indices go, of
 * which it asks L2 for each sector once. */
#ifndef BEV_STREAM_H
#define BEV_STREAM_H

#include "kernels/bevpool.h"
#include "src/bench/reuse.h"

enum { STREAM_WARPS = 4096 }; /* about what 64 to 188 multiprocessors hold */

typedef enum { OWN_POINT, OWN_INTERVAL, OWN_CELL } StreamOwner;

/* A row: a rung as the memory system and the schedulers see it. */
typedef struct {
    const char *name; /* the kernel's row in variants.c, or a published form without one */
    const char *title;
    StreamOwner owner; /* what a run of neighbouring threads owns */
    int tile; /* channels a thread; 8 becomes 16 where 16 codes are one load, if `widens` */
    bool widens;
    bool tiles_outside; /* a grid row per tile; else the tiles of an owner are neighbours */
    int block;          /* threads a block, whole owners each; 0: no gaps between owners */
    int load, store;    /* channels a load or store instruction */
    int ranks;          /* index words a point */
    int owner_bytes;    /* index bytes an owner reads before its points */
    bool adds;          /* atomics into FP32 sums, encoded at the end */
    bool merges;        /* one atomic for points of one cell in a block of 256 */
    bool clears;        /* the output, before */
    bool streams;       /* stores leave the cache first: modelled as not kept */
    bool channels_first;
    bool halves;            /* half2 sums where the format fits a half */
    int in_flight;          /* points whose loads are under way together */
    int point_instructions; /* of a warp, per point, apart from features */
} StreamRung;

extern const StreamRung stream_rungs[];
extern const int stream_rung_count;

/* The row of that name, or NULL. */
const StreamRung *stream_find(const char *name);

/* Why the rung has no stream for this problem, or NULL. */
const char *stream_unsupported(const StreamRung *rung, const BevProblem *problem);

typedef enum {
    STREAM_FEAT,
    STREAM_DEPTH,
    STREAM_RANKS,
    STREAM_OWNERS,
    STREAM_WEIGHT,
    STREAM_OUT,
    STREAM_SUMS,
    STREAM_ARRAY_COUNT
} StreamArray;

extern const char *const stream_arrays[STREAM_ARRAY_COUNT];

typedef struct {
    double bytes;    /* that threads ask for; equal addresses in a warp instruction count once */
    double requests; /* warp instructions */
    double sectors;  /* that those touch, before any cache */
} StreamCount;

typedef struct {
    StreamCount read[STREAM_ARRAY_COUNT], write[STREAM_ARRAY_COUNT];
    double atomics;    /* additions of one float */
    double steps;      /* warps times points they walk */
    double l2_sectors; /* accesses handed on to L2, an atomic twice */
    double streamed;   /* sectors stored past the cache */
    int64_t longest;   /* points that the longest walk of one thread has */
} StreamCounts;

/* Channels a thread of the rung owns in this problem. */
int stream_tile(const StreamRung *rung, const BevProblem *problem);

/* Sectors of all arrays that the rung may touch; numbers handed to `reuse` are below this. */
uint32_t stream_sectors(const StreamRung *rung, const BevProblem *problem);

/* Asked every few thousand turns of a walk: may wait; false ends the walk, which then fails. */
typedef struct {
    bool (*go_on)(void *context);
    void *context;
} StreamWatch;

/* Walks the stream: counts it and, unless NULL, hands it to `reuse`. Host pointers. `watch` may be
 * NULL. */
bool stream_walk(const StreamRung *rung, const BevProblem *problem, Reuse *reuse,
                 const StreamWatch *watch, StreamCounts *counts, Err *err);

/* The same figures from a formula in points, intervals and cells: `index` is ranks and owners. */
BevTraffic stream_formula(const StreamRung *rung, const BevProblem *problem);

/* Index bytes that the points' ranks alone make up, from the formula. */
double stream_rank_bytes(const StreamRung *rung, const BevProblem *problem);

#endif
