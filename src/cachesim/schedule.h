/* SPDX-License-Identifier: MIT */
/* A schedule of a kernel's blocks: when each block begins and ends, and on which multiprocessor.
 * Views must label a schedule as a model.
 *
 * Blocks start in launch order, each on the multiprocessor that has room first. A multiprocessor
 * issues one warp step at a time, and a warp waits after each step for its dependent loads. Both
 * times follow from the kernel's Prediction. A warp writes its cells after its last step. At the
 * end all times are scaled: the last block ends at the kernel's latency, recorded or predicted. So
 * the launches before and after the kernel are spread over the blocks. A block takes as many places
 * as on an H200, but a GPU of fewer warps a multiprocessor holds fewer blocks. */
#pragma once

#include "kernels/cpu/cpu.h"
#include "src/base/kernel_config.h"
#include "src/cachesim/memory_model.h"

typedef struct {
    int multiprocessor;
    int32_t steps; /* of all its warps */
    float begin_us, end_us;
} BlockSpan;

typedef struct {
    const BevKernel *kernel; /* the kernel; of V3 the form that it takes */
    const BevKernel *rung;   /* of a race: the kernel that runs, V3 itself; else NULL */
    LatencyTerm limiter;
    char reason[64];   /* findings_reason() */
    int64_t longest;   /* steps of the warp with the longest interval */
    double latency_us; /* when the last block ends */
    double own_us;     /* the same before scaling */
    int multiprocessors;
    int64_t block_count, cell_count;
    BlockSpan *blocks; /* [block_count], in launch order */
    float *first_us;   /* [cell_count] when a cell is written first; NaN: never */
    float *last_us;    /* [cell_count] when a cell is written last; NaN: never */
    CpuArrays arrays;  /* these three arrays */
} Schedule;

/* Returns the share of a cell's writes that are done at `us`: 0 before the first write, 1 from the
 * last write on. Between them the share is assumed to grow evenly. */
double schedule_written(const Schedule *schedule, int64_t cell, double us);

/* Returns the share of all written cells' writes that are done at `us`. */
double schedule_done(const Schedule *schedule, double us);

/* Returns when this share of the multiprocessors has ended its last block. A multiprocessor without
 * a block ends at 0. NaN: no memory. */
double schedule_ended_us(const Schedule *schedule, double share);
const BlockSpan *schedule_last_block(const Schedule *schedule);

/* ---- a race of several kernels --------------------------------------------------------------- */

enum { RACE_KERNELS = BEV_RUNGS };

/* The articles' kernels and the default one, on the same problem and GPU. */
typedef struct {
    Gpu gpu;
    FigureSource source; /* of all latencies: recorded, or the model */
    int64_t nx, ny;
    int64_t longest_cell, longest_points; /* the cell with the longest interval; -1: no points */
    int32_t *points;                      /* [ny][nx] of each cell */
    int count;
    Schedule lanes[RACE_KERNELS];
} Race;

/* Returns the kernel in a place of the race. NULL: the race has fewer kernels. */
const BevKernel *race_kernel(int place);

/* Returns all kernels of the race as a set: bits by place in bev_kernels[]. */
KernelSet race_kernels(void);

/* Makes the schedules on GPU number `gpu` of the model, changed by `edit`. `known_us` has a
 * recorded latency for each place; NaN: none. The model's latencies are taken unless all are known.
 * Kernels that have not been replayed are left out. Free the race with race_free, also after a
 * failure. */
bool race_make(const MemoryModel *model, const BevProblem *problem, int gpu, const GpuEdit *edit,
               const double known_us[RACE_KERNELS], Race *race, Err *err);
void race_free(Race *race);

/* Returns the latency of the slowest kernel. */
double race_end_us(const Race *race);

/* Returns the slowest latency-bound kernel of the race, or its slowest kernel if there is none.
 * NULL: the race has no kernel. */
const Schedule *race_straggler(const Race *race);
