/* SPDX-License-Identifier: MIT */
/* FP64 pooling of the original FP32 features, fast enough for every frame. Gate B and the error
 * views compare kernels' outputs with its result. */
#pragma once

#include "src/base/give_up.h"
#include "src/inputs/inputs.h"
#include "src/scene/problem.h"

/* Pools all intervals into `out` (nx * ny, channels). A thread adds the points of a whole interval
 * in the map's order, so the bits are those of bev_reference over the same values. Asks `give_up`
 * every few intervals whether the grid is still wanted; NULL: it is. If not, the function returns
 * false and leaves `out` partly filled. */
bool fp64_pool(const BevShape *shape, const BevMap *map, const Features *features,
               const GiveUp *give_up, double *out);

/* Returns the problem's outputs in FP64 over its original inputs. Forward this is the grid.
 * Backward the gradients of depth come first, then those of features. The caller frees the result.
 * NULL: out of memory. */
double *fp64_of(const HostProblem *problem, Err *err);

/* Returns by how much the pruned points of a map change an output at most: FP64 of all points
 * against FP64 of those that are kept. The gates of a pruned map do not see that. NaN: nothing is
 * pruned, intervals are balanced besides, or there is no memory. */
double fp64_prune_change(const BuiltMap *map, const SeenFeatures *seen);

/* Pools one interval into `row` (channels). */
void fp64_pool_interval(const BevShape *shape, const BevMap *map, const Features *features,
                        int64_t interval, double *row);

/* Returns the interval of `cell`, or -1 if the cell has no point. It searches all intervals, since
 * those of a file need not be in the order of their cells. */
int64_t map_interval_of(const BevMap *map, int64_t cell);
