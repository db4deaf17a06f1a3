/* What the lanes of a recorded warp hold after a step, and how their sums meet: one after the other
 * at an atomic, or in the shuffles of a reduction. Computed from FP32 inputs as the kernel does it,
 * for one channel of each lane: its first one. */
#pragma once

#include "src/cachesim/steps.h"

enum { WARP_LANES = 32, TREE_LEVELS = 6 };

/* The inputs in FP32; borrowed. */
typedef struct {
    const float *depth; /* (camera, depth, h, w) */
    const float *feat;  /* (camera, h, w, c) */
} StepValues;

/* The registers of a lane. */
typedef struct {
    const StepPoint *point; /* the first point that the lane takes in this step; NULL: none */
    int terms;              /* products that this step adds to the sum */
    int channel;            /* first channel of the lane; -1: no point so far */
    int32_t cell;           /* cell of the sum; -1: no point so far */
    float depth, feature;   /* of `point`; the depth times its weight */
    float sum;          /* after the step; where a kernel has no sum in registers, the product */
    int32_t upper_cell; /* V4: a lane holds a second cell; -1: none */
    float upper_sum;
    bool joined; /* the sum includes those of the cell's other warps */
} LaneRegisters;

/* Whether a lane is among the lanes of a span. */
bool step_has_lane(const StepLanes *lanes, int lane);

/* The channel that a lane takes first of a point; the lane must be one of the point's. */
int step_lane_channel(const Steps *steps, const StepPoint *point, int lane);

/* The point of a step that a lane takes, the first one. NULL: none. */
const StepPoint *step_lane_point(const Steps *steps, const Step *step, int lane);

/* The registers of all lanes after step `number`. */
void steps_lanes(const Steps *steps, const StepValues *values, int number,
                 LaneRegisters lanes[WARP_LANES]);

/* The shuffles of block_atomic: sums after 0, 1, ... 5 of them, by 1, 2, 4, 8 and 16 lanes. */
typedef struct {
    int32_t cells[WARP_LANES]; /* -1: the lane has no point */
    float sums[TREE_LEVELS][WARP_LANES];
    uint32_t counts[TREE_LEVELS]; /* bit i: lane i's sum is still part of its cell's */
    uint32_t adds;                /* bit i: lane i then adds to memory */
} StepTree;

/* False: the kernel does not reduce, or the step takes no points. */
bool steps_tree(const Steps *steps, const StepValues *values, int number, StepTree *tree);

/* The lanes that add to the same sum in memory as `lane` in this step, itself included: bit i for
 * lane i. They queue. 0: the lane adds nothing. */
uint32_t steps_queue(const Steps *steps, int number, int lane);

/* The points of the interval that a point of the map belongs to: [*first, *end). */
void steps_interval(const BevMap *map, int32_t number, int32_t *first, int32_t *end);

/* How often these warps have read the indices of a point of the map before this step; -1: in this
 * step. */
int steps_read_before(const Steps *steps, const Step *step, int32_t number);

/* Which of the kernel's passes over the points the warp of a step belongs to, from 1. */
int steps_pass(const Steps *steps, int number);
