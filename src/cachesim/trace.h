/* SPDX-License-Identifier: MIT */
/* Replays the memory accesses of a CUDA kernel in the order in which its blocks and warps issue
 * them. The kernel's row (BevAccess) describes the accesses: what a thread owns, how wide it loads,
 * what is cleared. A replay needs no GPU and no CUDA. All results are a model. Blocks are spread
 * over the multiprocessors of an H200 in launch order. All threads of a warp take one point a step,
 * and warps take turns. A warp instruction accesses each touched sector once. */
#pragma once

#include "kernels/bevpool.h"
#include "src/cachesim/reuse.h"

enum { TRACE_MULTIPROCESSORS = BEV_MULTIPROCESSORS };

/* Returns row number `place` of those whose accesses can be replayed, in the order of
 * bev_kernels[]. All are forward kernels. NULL: there is no further row. */
const BevKernel *traced_kernel(int place);

/* Returns the number of a row among those of traced_kernel(), or -1. */
int traced_place(const BevKernel *kernel);

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

typedef struct {
    double bytes;    /* bytes that threads request; threads of one owner that request the same
                        address in an instruction count once */
    double requests; /* warp instructions */
    double sectors;  /* sectors that these instructions touch, before any cache */
} TraceCount;

/* Dependent loads of a warp that L1 does not serve. */
typedef struct {
    int32_t beyond; /* loads that L1 does not hold */
    int32_t first;  /* loads that touch a sector first, so that a cold L2 does not hold it either */
} TraceWaits;

/* Returns the waits of a warp that takes `factor` times as many steps. */
static inline TraceWaits trace_waits_scaled(TraceWaits waits, double factor) {
    return (TraceWaits){.beyond = (int32_t)(factor * waits.beyond),
                        .first = (int32_t)(factor * waits.first)};
}

/* The busy_... counts are TRACE_MULTIPROCESSORS times the count of the busiest multiprocessor. */
typedef struct {
    const BevAccess *form; /* the replayed accesses: the row's `access` or its `fallback` */
    TraceCount read[TRACE_ARRAY_COUNT], write[TRACE_ARRAY_COUNT];
    double atomics;        /* additions of one float */
    double steps;          /* points, added up over the warps; for V4's tiles, turns */
    double busy_steps;     /* steps of the busiest multiprocessor */
    double busy_others;    /* the same for instructions outside of steps; V4's tiles: for all */
    double busy_lines;     /* cycles of L1: one for each line of 128 bytes that an instruction
                              touches, or HIT_LINE (trace_memory.c) if L1 holds the line; at
                              least one for each sector at the same place of its line */
    double l2_sectors;     /* accesses that reach L2; an addition counts twice */
    double l2_reads;       /* accesses of l2_sectors that read */
    double l2_partial;     /* accesses that write a part of a sector, without additions */
    double additions;      /* additions to sums in memory; one for a sector and instruction */
    double busiest;        /* SLICES times the additions and waits of the busiest L2 slice */
    int64_t longest;       /* steps of the warp with the longest interval */
    int64_t slowest;       /* steps of the warp whose dependent loads take the longest */
    int64_t rounds;        /* the most steps in sequence; blocks follow each other in one place */
    int64_t waves;         /* the most blocks that follow each other in one place */
    double slowest_cycles; /* cycles of the slowest warp, in a warm L2 of an H200 */
    int32_t slowest_instructions; /* V4's tiles: all instructions of the slowest warp; else 0 */
    bool transposed;              /* V4's tiles behind a launch that transposes the depth */
    TraceWaits indices, values;   /* the slowest warp's loads: of indices; of depths, features */
} TraceCounts;

/* If the arrays of a trace are larger than TRACE_EXACT_MB, one line in TRACE_ONE_IN is followed
 * through L2. The arrays of the canonical scene are smaller. */
enum { TRACE_ONE_IN = 8, TRACE_EXACT_MB = 40 };

/* Records single warps (steps.c); schedules all blocks (schedule.c). */
typedef struct StepRecorder StepRecorder;
typedef struct Scheduler Scheduler;

/* Options of a replay. */
typedef struct {
    bool (*go_on)(void *context); /* called after each turn of all active warps; it may wait. False
                                     ends the replay, which then fails. NULL: it is not called */
    void *context;
    uint32_t one_in; /* one line in `one_in` is followed through L2; 0: the arrays' size decides */
    /* One multiprocessor in `sample`, a divisor of TRACE_MULTIPROCESSORS, is replayed, and the
     * counts are scaled up. 0: all multiprocessors are replayed. */
    int sample;
    /* NULL: all warps are replayed. Otherwise only the warps that the recorder wants are replayed,
     * one after the other, and the recorder sees their instructions. The counts are then those of
     * these warps, and only bytes, requests, sectors, atomics and steps are valid. */
    StepRecorder *recorder;
    /* NULL: accesses are replayed. Otherwise the scheduler takes the blocks of the kernel's launch,
     * no access is replayed, and the counts are not valid. */
    Scheduler *scheduler;
    int multiprocessors; /* for the scheduler: V4 builds its map for them */
} TraceWatch;

/* Replays and counts the accesses of a row on host pointers. *reuse receives the analysis of the
 * accesses that reach L2, which the caller ends or frees. `reuse` and `watch` may be NULL. */
bool trace_replay(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err);
