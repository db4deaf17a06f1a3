/* The steps of single warps of a CUDA kernel: what each instruction reads, adds or writes, lane by
 * lane. trace.h's replay records them, so that the steps of all warps add up to its counts. Steps
 * are a model: a warp takes one point a step, although a compiled kernel has several points under
 * way. */
#pragma once

#include "kernels/bevpool.h"
#include "src/cachesim/trace.h"

/* What a warp does in a step. */
typedef enum {
    PHASE_OWNERS,    /* its threads find their intervals or cells */
    PHASE_POINTS,    /* each owner takes its next point */
    PHASE_STORE,     /* finished sums are stored */
    PHASE_TILE,      /* V4: finds its tile of 16 cells and its first step */
    PHASE_MULTIPLY,  /* V4: 16 cells x 16 image rows times 16 image rows x channels */
    PHASE_JOIN,      /* V4: adds the sums of another warp, through shared memory */
    PHASE_MEET,      /* V4: the two blocks of a tile add their sums, through the workspace */
    PHASE_CLEAR,     /* V4: clears cells without a point */
    PHASE_TRANSPOSE, /* V4: a launch before it transposes the depth */
    PHASE_PASS,      /* a launch of its own goes over an array: clears it, or encodes sums */
    PHASE_COUNT
} StepPhase;

extern const char *const step_phases[PHASE_COUNT]; /* "find owners", "points", ... */

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ADD, ACCESS_ATOMIC } StepAccess;

extern const char *const step_accesses[]; /* "read", "write", "+=", "atomic" */

/* Lanes first, first + stride, ... of a warp. `same`: each lane asks for all bytes; else each lane
 * asks for its share, in order. */
typedef struct {
    int8_t first, count, stride;
    bool same;
} StepLanes;

/* Bytes that some lanes ask for, from offset `byte` of the array on. */
typedef struct {
    int64_t byte;
    int32_t bytes;
    StepLanes lanes;
} StepSpan;

/* A sector of 32 bytes that an instruction touches: the requested bytes, and the number of
 * requests. An instruction requests a sector more than once only where lanes add to it. */
typedef struct {
    int64_t sector; /* of the array */
    uint32_t used;  /* bit i: byte i */
    int32_t times;
} StepSector;

typedef struct {
    const char *name; /* of the array */
    TraceArray array;
    StepAccess access;
    int repeats; /* instructions; more than one only for additions */
    int wave;    /* 0: needs no load of this step; n: needs the loads of wave n - 1 */
    int first_span, span_count, first_sector, sector_count;
    double bytes;   /* asked for */
    double sectors; /* sectors, counted as TraceCount counts them */
} StepInstruction;

/* A point that a step works on. */
typedef struct {
    int32_t number;      /* in the map */
    int32_t depth, feat; /* ranks_depth and ranks_feat of it */
    int32_t cell;
    float weight;
    int16_t first, last; /* channels [first, last) are taken by `lanes` */
    int8_t row, column;  /* V4: of the small matrix: image row of the slab, cell of the tile */
    StepLanes lanes;
} StepPoint;

typedef struct {
    StepPhase phase;
    int warp;   /* of Steps.warps */
    bool waits; /* its first loads need those of the step before */
    int first_instruction, instruction_count, first_point, point_count;
} Step;

typedef struct {
    const char *launch; /* the kernel's name, or what a pass before or after it does */
    int64_t block;
    int number; /* in its block */
    int first_step, step_count;
} StepWarp;

/* What the warps have done up to a step. */
typedef struct {
    double points;      /* point and thread group pairs: a point that three warps take
                           counts three times */
    double index_loads; /* load instructions of ranks and of owners' records */
    double index_bytes, read_bytes, written_bytes; /* asked for, additions as written */
    double sectors;                                /* read, written and added to */
    double lines;       /* of 128 bytes: those that each instruction touches */
    double used, moved; /* bytes, of reads and writes; moved: 32 a sector */
    double atomics;     /* additions of one float, or plain += of one */
    double waits;       /* loads one after the other: each waits for the one before */
} StepTotals;

/* Which warps to record. */
typedef struct {
    int64_t cell;  /* those that work on this cell; -1: any */
    int64_t block; /* of this block; -1: any */
    int warp;      /* with this number in its block; -1: any */
    int most;      /* warps at most; 0: all */
    bool passes;   /* also those of launches before and after the kernel */
} StepChoice;

typedef struct {
    StepChoice choice; /* as asked for */
    const BevKernel *kernel;
    const BevAccess *form; /* what was recorded: the row's `access` or its `fallback` */
    BevShape shape;
    BevDtype out;      /* format of the output */
    int64_t blocks;    /* of the kernel's launch */
    int passes;        /* over the points: more than one where tiles of channels are outside */
    int warps_a_block; /* of the kernel's launch */
    double in_flight;  /* points that the compiled kernel loads together */
    int64_t asked;     /* warps that were asked for; more than warp_count where `most` cut them */
    StepWarp *warps;
    Step *steps;
    StepInstruction *instructions;
    StepSpan *spans;
    StepSector *sectors;
    StepPoint *points;
    int warp_count, step_count, instruction_count, span_count, sector_count, point_count;
} Steps;

/* Why the steps of a kernel cannot be recorded on a problem, or NULL. Static text. */
const char *steps_unavailable(const BevKernel *kernel, const BevProblem *problem);

/* Records the steps; host pointers. ERR_USAGE: cell, block or warp do not exist, or the warp owns
 * nothing. Free the result with steps_free, also after a failure. */
bool steps_record(const BevKernel *kernel, const BevProblem *problem, const StepChoice *choice,
                  Steps *steps, Err *err);
void steps_free(Steps *steps);

/* Sums over steps [0, end). */
StepTotals steps_totals(const Steps *steps, int end);

/* The counters up to and with step `number`, as a sentence. */
void steps_totals_text(const Steps *steps, int number, char *text, size_t size);

/* How many instructions of a step, from its instruction `from` on, access the same array alike. */
int step_alike(const Steps *steps, const Step *step, int from);

/* The lines of 128 bytes that an instruction touches. */
int step_lines(const Steps *steps, const StepInstruction *in);

/* The bytes that a lane asks for in a span: [*from, *to). False: none. */
bool step_lane_bytes(const StepSpan *span, int lane, int64_t *from, int64_t *to);

/* The cell with the longest interval; -1: the map has no points. */
int64_t steps_longest_cell(const BevMap *map);

/* The cell of the first point that the warps take; -1: no points. */
int64_t steps_first_cell(const Steps *steps);

/* Where a point lies in the frustum. */
typedef struct {
    int64_t camera, bin, h, w;
} StepPixel;
StepPixel step_pixel(const BevShape *shape, int32_t depth);
