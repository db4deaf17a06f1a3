/* SPDX-License-Identifier: MIT */
/* The registers of a recorded warp's lanes after a step, and the way in which lanes add up their
 * sums: one after the other at an atomic, or in the shuffles of a reduction. The values are
 * computed from FP32 inputs as the kernel does, for the first channel of each lane only. */
#pragma once

#include "src/cachesim/steps.h"

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

/* Whether `lane` is one of `lanes`. */
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
