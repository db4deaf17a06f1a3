/* SPDX-License-Identifier: MIT */
/* The steps of single warps of a CUDA kernel. A step lists what each instruction reads, adds or
 * writes, lane by lane. The replay of trace.h records the steps, so the steps of all warps add up
 * to its counts. Steps are a model: a warp takes one point a step, although a compiled kernel has
 * several points in flight. */
#pragma once

#include "kernels/bevpool.h"
#include "src/cachesim/trace.h"

/* The work of a warp in a step. */
typedef enum {
    PHASE_OWNERS,    /* the threads find their intervals or cells */
    PHASE_POINTS,    /* each owner takes its next point */
    PHASE_STORE,     /* the warp stores finished sums */
    PHASE_TILE,      /* V4: the warp finds its tile of 16 cells and its first step */
    PHASE_MULTIPLY,  /* V4: 16 cells x 16 image rows times 16 image rows x channels */
    PHASE_JOIN,      /* V4: the warp adds the sums of another warp, through shared memory */
    PHASE_MEET,      /* V4: the two blocks of a tile add their sums, through the workspace */
    PHASE_CLEAR,     /* V4: the warp clears cells without a point */
    PHASE_TRANSPOSE, /* V4: a launch before the kernel transposes the depth */
    PHASE_PASS,      /* a separate launch clears an array, or encodes sums */
    PHASE_COUNT
} StepPhase;
extern const char *const step_phases[PHASE_COUNT]; /* "find owners", "points", ... */

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ADD, ACCESS_ATOMIC } StepAccess;
extern const char *const step_accesses[]; /* "read", "write", "+=", "atomic" */

/* The lanes first, first + 1, ... of a warp. With `same` each lane requests all bytes of a span.
 * Otherwise each lane requests its share of the bytes, in order. */
typedef struct {
    int8_t first, count;
    bool same;
} StepLanes;

/* Bytes [byte, byte + bytes) of an array, which some lanes request. */
typedef struct {
    int64_t byte;
    int32_t bytes;
    StepLanes lanes;
} StepSpan;

/* A sector of 32 bytes that an instruction touches. An instruction requests a sector more than once
 * only where several lanes add to it. */
typedef struct {
    int64_t sector; /* the number of the sector in its array */
    uint32_t used;  /* bit i is set if byte i is requested */
    int32_t times;  /* the number of requests */
} StepSector;

typedef struct {
    const char *name; /* the name of the array */
    TraceArray array;
    StepAccess access;
    int repeats; /* the number of instructions; above 1 only for additions */
    int wave;    /* 0: needs no load of this step; n: needs the loads of wave n - 1 */
    int first_span, span_count, first_sector, sector_count;
    double bytes;   /* requested bytes */
    double sectors; /* touched sectors, as TraceCount counts them */
} StepInstruction;

/* A point that a step works on. */
typedef struct {
    int32_t number;      /* the point's number in the map */
    int32_t depth, feat; /* the point's ranks_depth and ranks_feat */
    int32_t cell;
    float weight;
    int16_t first, last; /* `lanes` take channels [first, last) of the point */
    int8_t row, column;  /* V4: the image row in the slab, and the cell in the tile */
    StepLanes lanes;
} StepPoint;

typedef struct {
    StepPhase phase;
    int warp;   /* the index in Steps.warps */
    bool waits; /* the step's first loads need the loads of the step before */
    int first_instruction, instruction_count, first_point, point_count;
} Step;

typedef struct {
    const char *launch; /* the kernel's name, or the work of a launch before or after it */
    int64_t block;
    int number; /* the warp's number in its block */
    int first_step, step_count;
} StepWarp;

/* Totals of all steps up to one step. */
typedef struct {
    double points;      /* a point counts once for each thread group that takes it */
    double index_loads; /* load instructions of ranks and of owners' records */
    double index_bytes, read_bytes, written_bytes; /* requested; additions count as written */
    double sectors;                                /* sectors read, written and added to */
    double lines;       /* lines of 128 bytes, added up over the instructions */
    double used, moved; /* bytes requested by reads and writes; bytes of their sectors */
    double atomics;     /* additions of one float, by an atomic or a plain += */
    double waits;       /* rounds of loads; each round waits for the round before */
} StepTotals;

/* The warps to record. */
typedef struct {
    int64_t cell;  /* only warps that work on this cell; -1: any cell */
    int64_t block; /* only warps of this block; -1: any block */
    int warp;      /* only warps with this number in their block; -1: any number */
    int most;      /* the largest number of warps; 0: no limit */
    bool passes;   /* record launches before and after the kernel, too */
} StepChoice;

/* Recorded steps. Warps, steps and instructions have first indices and counts into the arrays. */
typedef struct {
    StepChoice choice; /* the caller's choice */
    const BevKernel *kernel;
    const BevAccess *form; /* the recorded accesses: the row's `access` or its `fallback` */
    BevShape shape;
    BevDtype out;      /* format of the output */
    int64_t blocks;    /* blocks of the kernel's launch */
    int passes;        /* times that all points are gone through, once for each tile of channels */
    int warps_a_block; /* warps of a block of the kernel's launch */
    double in_flight;  /* points that the compiled kernel loads together */
    int64_t asked;     /* the number of warps that the choice fits; choice.most may record fewer */
    StepWarp *warps;
    Step *steps;
    StepInstruction *instructions;
    StepSpan *spans;
    StepSector *sectors;
    StepPoint *points;
    int warp_count, step_count, instruction_count, span_count, sector_count, point_count;
} Steps;

/* Returns the reason why the steps of a kernel cannot be recorded on a problem (static text), or
 * NULL if they can be. */
const char *steps_unavailable(const BevKernel *kernel, const BevProblem *problem);

/* Records the steps of the chosen warps on host pointers. ERR_USAGE: the cell, block or warp does
 * not exist, or the warp owns no work. Call steps_free after a failure, too. */
bool steps_record(const BevKernel *kernel, const BevProblem *problem, const StepChoice *choice,
                  Steps *steps, Err *err);
void steps_free(Steps *steps);

/* Returns the totals of steps [0, end). */
StepTotals steps_totals(const Steps *steps, int end);

/* Writes the totals of steps [0, number] as a sentence. */
void steps_totals_text(const Steps *steps, int number, char *text, size_t size);

/* Returns how many instructions in a row access the same array in the same way. The row begins with
 * instruction `from` of the step. */
int step_alike(const Steps *steps, const Step *step, int from);

/* Returns the number of lines of 128 bytes that an instruction touches. */
int step_lines(const Steps *steps, const StepInstruction *in);

/* Finds the bytes [*from, *to) that a lane requests in a span. False: the lane requests none. */
bool step_lane_bytes(const StepSpan *span, int lane, int64_t *from, int64_t *to);

/* Returns the cell with the longest interval, or -1 if the map has no points. */
int64_t steps_longest_cell(const BevMap *map);

/* Returns the cell whose first ten points have the most depth weight, or -1 if the map has no
 * points. The first steps of the longest interval may add zeros, those of this cell do not.
 * `depth`: FP32, by ranks_depth. */
int64_t steps_heaviest_cell(const BevMap *map, const float *depth);

/* Returns the cell of the first point that the recorded warps take, or -1 without points. */
int64_t steps_first_cell(const Steps *steps);

/* The place of a point in the frustum. */
typedef struct {
    int64_t camera, bin, h, w;
} StepPixel;
StepPixel step_pixel(const BevShape *shape, int32_t depth);

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The registers of a recorded warp's lanes after a step, and the way in which lanes add up their
 * sums: one after the other at an atomic, or in the shuffles of a reduction. The values are
 * computed from FP32 inputs as the kernel does, for the first channel of each lane only. */
enum { WARP_LANES = 32, TREE_LEVELS = 6 };

/* The inputs in FP32. The caller owns the arrays. */
typedef struct {
    const float *depth; /* (camera, depth, h, w) */
    const float *feat;  /* (camera, h, w, c) */
} StepValues;

/* The registers of a lane. */
typedef struct {
    const StepPoint *point; /* the first point that the lane takes in this step; NULL: none */
    int terms;              /* the number of products that this step adds to the sum */
    int channel;            /* the lane's first channel; -1: no point so far */
    int32_t cell;           /* the cell of the sum; -1: no point so far */
    float depth, feature;   /* the depth of `point` times its weight, and the feature */
    float sum;              /* the sum after the step, or the product if sums are in memory */
    int32_t upper_cell;     /* V4: the second cell of the lane; -1: none */
    float upper_sum;        /* V4: the sum of upper_cell */
    bool joined;            /* the sums include those of the cell's other warps */
} LaneRegisters;

bool step_has_lane(const StepLanes *lanes, int lane);

/* Returns the first channel that a lane takes of a point. The lane must be one of the point's. */
int step_lane_channel(const Steps *steps, const StepPoint *point, int lane);

/* Returns the first point of a step that a lane takes. NULL: the lane takes none. */
const StepPoint *step_lane_point(const Steps *steps, const Step *step, int lane);

/* Computes the registers of all lanes after step `number`. */
void steps_lanes(const Steps *steps, const StepValues *values, int number,
                 LaneRegisters lanes[WARP_LANES]);

/* The reduction of the kernel block_atomic. Level 0 has the products of the lanes. Five shuffles,
 * by 1, 2, 4, 8 and 16 lanes, make the other levels. */
typedef struct {
    int32_t cells[WARP_LANES]; /* the cell of each lane; -1: the lane has no point */
    float sums[TREE_LEVELS][WARP_LANES];
    uint32_t counts[TREE_LEVELS]; /* bit i: the sum of lane i is part of the result of its cell */
    uint32_t adds;                /* bit i: lane i adds its sum to memory at the end */
} StepTree;

/* Computes the reduction of step `number`. False: the kernel does not reduce, or the step takes no
 * points. `values` may be NULL: the sums are then 0. */
bool steps_tree(const Steps *steps, const StepValues *values, int number, StepTree *tree);

/* Returns the lanes that add to the same sum in memory as `lane` in this step, bit i for lane i.
 * Their atomics wait for each other. `lane` is one of them. 0: `lane` adds nothing. */
uint32_t steps_queue(const Steps *steps, int number, int lane);

/* Finds the interval [*first, *end) of the map that point `number` belongs to. */
void steps_interval(const BevMap *map, int32_t number, int32_t *first, int32_t *end);

/* Returns how often the recorded warps have read the indices of point `number` before this step.
 * -1: this step reads these indices. */
int steps_read_before(const Steps *steps, const Step *step, int32_t number);

/* Returns the pass over the points, from 1, that the warp of step `number` belongs to. */
int steps_pass(const Steps *steps, int number);
