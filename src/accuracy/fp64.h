/* SPDX-License-Identifier: MIT */
/* FP64 pooling of the original FP32 features, fast enough for every frame. Gate B and the error
 * views compare kernels' outputs with its result. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/scene/problem.h"

/* Pools all intervals into `out` (nx * ny, channels). One thread adds all points of an interval in
 * the map's order. The bits are therefore equal to those of bev_reference over the same values.
 * The function asks `give_up` every few intervals, and returns false if the grid is given up. `out`
 * is then partly filled. `give_up` NULL: the grid is never given up. */
bool fp64_pool(const BevShape *shape, const BevMap *map, const Features *features,
               const GiveUp *give_up, double *out);

/* Returns the outputs of the problem in FP64 over the original inputs. Forward this is the grid.
 * Backward the gradients of depth come first, then the gradients of features. The caller frees the
 * result. NULL: out of memory. */
double *fp64_of(const HostProblem *problem, Err *err);

/* Returns the largest change of an output by pruning. FP64 of all points is compared with FP64 of
 * the points that are kept. The gates of a pruned map do not see this change. NaN: nothing is
 * pruned, intervals are balanced too, or there is no memory. */
double fp64_prune_change(const BuiltMap *map, const SeenFeatures *seen);

/* Pools one interval into `row` (channels). */
void fp64_pool_interval(const BevShape *shape, const BevMap *map, const Features *features,
                        int64_t interval, double *row);

/* Returns the interval of `cell`, or -1 if the cell has no point. The function searches all
 * intervals, because the intervals of a file need not be in the order of their cells. */
int64_t map_interval_of(const BevMap *map, int64_t cell);
