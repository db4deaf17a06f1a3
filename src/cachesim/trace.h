/* Replays the memory accesses of a CUDA kernel in the order in which its blocks and warps issue
 * them. The kernel's row (BevAccess) gives the accesses: which threads own what, how wide they
 * load, what they clear. Needs no GPU and no CUDA. All results are a model.
 *
 * Blocks go over the multiprocessors of an H200 in launch order. The threads of a warp go in step,
 * one point a step, and warps take turns. The request of a warp instruction to one sector is one
 * access. */
#pragma once

#include "kernels/bevpool.h"
#include "src/cachesim/reuse.h"

enum { TRACE_MULTIPROCESSORS = BEV_MULTIPROCESSORS };

/* The rows whose accesses can be replayed, numbered in the order of bev_kernels[]; NULL past the
 * last. All go forward. */
const BevKernel *traced_kernel(int place);

/* The number of a row among those, or -1. */
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

extern const char *const trace_arrays[TRACE_ARRAY_COUNT];

typedef struct {
    double bytes;    /* that threads ask for; equal addresses of an owner's threads in a warp
                        instruction count once */
    double requests; /* warp instructions */
    double sectors;  /* that those touch, before any cache */
} TraceCount;

/* Loads of a warp, one after the other. */
typedef struct {
    int32_t beyond; /* its L1 lacks what they ask for */
    int32_t first;  /* of those: nobody had asked for it, so that a cold L2 lacks it, too */
} TraceWaits;

typedef struct {
    const BevAccess *form; /* what was replayed: the row's `access`, or its `fallback` */
    TraceCount read[TRACE_ARRAY_COUNT], write[TRACE_ARRAY_COUNT];
    double atomics;             /* additions of one float */
    double steps;               /* points of all warps; of V4's warps, turns */
    double step_instructions;   /* instructions of a warp and step, where the replay counts them;
                                   else 0 */
    double busy_steps;          /* steps if all multiprocessors had as many as the busiest one */
    double busy_others; /* instructions that belong to no step, where the replay counts them,
                           if all multiprocessors had as many as the busiest one */
    double busy_lines;          /* lines of 128 bytes that warp instructions touch, if all
                                   multiprocessors had as many as the busiest one. L1 takes one line
                                   a cycle; a line that L1 holds counts half */
    double l2_sectors;          /* accesses handed on to L2; an addition counts twice */
    double l2_reads;            /* reads among those accesses */
    double l2_partial;          /* those that write a part of a sector, additions apart */
    double additions;           /* to sums in memory, one a sector and instruction */
    double busiest;             /* additions and waits, if all slices of the L2 had as many as the
                                   busiest one */
    int64_t longest;            /* steps of the warp with the most: the longest interval */
    TraceWaits indices, values; /* loads of that warp: of indices, and of depths and features */
} TraceCounts;

/* Where the arrays of a trace are larger than TRACE_EXACT_MB, one line in TRACE_ONE_IN is followed
 * through L2. Those of the canonical scene are smaller. */
enum { TRACE_ONE_IN = 8, TRACE_EXACT_MB = 40 };

/* Records single warps (steps.c). */
typedef struct StepRecorder StepRecorder;

/* How to replay. */
typedef struct {
    bool (*go_on)(void *context); /* called each time all active warps have had a turn; may wait.
                                     False ends the replay, which then fails. NULL: nobody waits */
    void *context;
    uint32_t one_in; /* one line in so many is followed through L2; 0: chosen by the size of the
                        arrays */
    /* NULL: all warps are replayed. Else only those that the recorder asks for, one after the
     * other, and it sees their instructions. Only bytes, requests, sectors, atomics and steps of
     * the counts are then meant, and are those of these warps. */
    StepRecorder *recorder;
} TraceWatch;

/* Replays and counts the accesses of a row that has them. `reuse`, unless NULL, receives an
 * analysis of what reaches L2; the caller ends or frees it. Host pointers. `watch` may be NULL. */
bool trace_replay(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  TraceCounts *counts, Reuse **reuse, Err *err);
