/* The accesses of each CUDA kernel, in the order in which its blocks and warps issue them, worked
 * out from a table: which threads own what, how wide they load, what they clear. Needs no GPU and
 * no CUDA. Everything that comes of it is a model.
 *
 * Blocks go over the multiprocessors of an H200 in launch order. Threads of a warp go in step, a
 * point a step, and warps take turns. What a warp instruction asks of one sector is one access. */
#ifndef BEV_TRACE_H
#define BEV_TRACE_H

#include "kernels/bevpool.h"
#include "src/cachesim/reuse.h"

enum { TRACE_MULTIPROCESSORS = 132 };

/* What a run of neighbouring threads owns. A splat is a frustum point with up to four cells, a
 * piece a share of a cell's points, a tile 16 cells that see the same image columns. */
typedef enum { OWN_POINT, OWN_SPLAT, OWN_INTERVAL, OWN_CELL, OWN_PIECE, OWN_TILE } TraceOwner;

/* Where sums are: in the owner's registers until they are stored, or in memory, FP32, added to by
 * atomics or by a plain +=, and encoded at the end. */
typedef enum { SUMS_OWNED, SUMS_ATOMIC, SUMS_PLAIN } TraceSums;

/* A row: a kernel as the memory system and the schedulers see it. */
typedef struct {
    const char *name; /* the kernel's row in kernels.c, or a published form without one */
    const char *title;
    TraceOwner owner;
    TraceSums sums;
    int tile; /* channels a thread; 8 becomes 16 where 16 codes are one load, if `widens` */
    bool widens;
    bool tiles_outside; /* a grid row per tile; else the tiles of an owner are neighbours */
    int block;          /* threads a block */
    bool whole;         /* blocks hold whole owners; else an owner may lie across two */
    int resident;       /* warps that a multiprocessor of 65,536 registers has room for */
    int load, store;    /* channels a load or store instruction */
    int ranks;          /* index words a point */
    int owner_bytes;    /* index bytes an owner reads before its points */
    bool merges;        /* one atomic for points of one cell in a block of 256 */
    bool clears;        /* the output, before */
    bool stays;         /* sums are the output, FP32, and never encoded */
    bool channels_first;
    bool leaves_first;      /* the output, by evict-first stores */
    bool halves;            /* half2 sums where the format fits a half */
    int indices_ahead;      /* points whose indices are loaded together, and */
    int in_flight;          /* points whose depths and features are; both as disassembled */
    int in_flight_fp8;      /* the same for FP8, where it is another number, or 0 */
    int point_instructions; /* of a warp, per point, apart from features, likewise */
} AccessPattern;

extern const AccessPattern access_patterns[];
extern const int access_pattern_count;

/* The row of that name, or NULL. */
const AccessPattern *access_pattern_find(const char *name);

/* Why the kernel has no stream for this problem, or NULL. */
const char *trace_unsupported(const AccessPattern *pattern, const BevProblem *problem);

typedef enum {
    TRACE_FEAT,
    TRACE_DEPTH,
    TRACE_RANKS,
    TRACE_OWNERS,
    TRACE_WEIGHT,
    TRACE_OUT,
    TRACE_SUMS,
    TRACE_ARRAY_COUNT
} TraceArray;

extern const char *const trace_arrays[TRACE_ARRAY_COUNT];

typedef struct {
    double bytes;    /* that threads ask for; equal addresses in a warp instruction count once */
    double requests; /* warp instructions */
    double sectors;  /* that those touch, before any cache */
} TraceCount;

typedef struct {
    const AccessPattern
        *form; /* the row that was followed: V4 has one more, for maps without tiles */
    TraceCount read[TRACE_ARRAY_COUNT], write[TRACE_ARRAY_COUNT];
    double atomics;    /* additions of one float */
    double steps;      /* warps times points they walk, or V4's turns */
    double busy_steps; /* the same if all multiprocessors had as many as the busiest one; and so */
    double busy_lines; /* lines of 128 bytes that warp instructions touch: L1 takes one a cycle */
    double l2_sectors; /* accesses handed on to L2, an addition twice */
    double l2_reads;   /* those of them that read */
    double l2_partial; /* and those that write a part of a sector, additions apart */
    double additions;  /* to sums in memory, a sector and instruction; each is read and written */
    double busiest;    /* the same, waits included, if all slices of the L2 had as many as one */
    int64_t longest;   /* points, or turns of V4's warps, that the longest walk has */
    int64_t index_waits, waits; /* of it, for L2: for indices, and for what they name */
} TraceCounts;

/* Channels a thread of the kernel owns in this problem. */
int trace_tile(const AccessPattern *pattern, const BevProblem *problem);

/* Where a stream's arrays are larger than this, one line in so many is followed through L2.
 * Canonical's are not. */
enum { TRACE_ONE_IN = 8, TRACE_EXACT_MB = 40 };

/* How to walk. */
typedef struct {
    bool (*go_on)(void *context); /* asked each time that all warps under way have had a turn: may
                                     wait; false ends the walk, which then fails. NULL: go on */
    void *context;
    uint32_t one_in; /* line is followed through L2; 0: as many as the size calls for */
} TraceWatch;

/* Walks the stream and counts it. `reuse`, unless NULL, receives an analysis of what reaches L2, to
 * be ended or freed. Host pointers. `watch` may be NULL. */
bool trace_replay(const AccessPattern *pattern, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err);

/* The same figures from a formula in points, intervals and cells: `index` is ranks and owners. */
BevTraffic trace_formula(const AccessPattern *pattern, const BevProblem *problem);

/* Index bytes that the points' ranks alone make up, from the formula. */
double trace_rank_bytes(const AccessPattern *pattern, const BevProblem *problem);

#endif
