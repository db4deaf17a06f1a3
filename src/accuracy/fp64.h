/* FP64 pooling of the original FP32 features, fast enough for every frame. Gate B and the error
 * views compare with it. */
#pragma once

#include "src/base/give_up.h"
#include "src/scene/problem.h"

/* Fills out (nx * ny, channels). Threads own whole intervals and add a cell's points in the map's
 * order, so the bits are those of bev_reference over the same values. */
void fp64_pool(const BevShape *shape, const BevMap *map, const Features *features, double *out);

/* As fp64_pool, unless `give_up`, asked every few intervals, tells that the grid is no longer
 * wanted: then it returns false, and `out` is partly filled. */
bool fp64_pool_or_give_up(const BevShape *shape, const BevMap *map, const Features *features,
                          const GiveUp *give_up, double *out);

/* The problem's outputs in FP64 over its original inputs, as gates take them: the grid, or
 * backward the gradients of depth, then those of features. The caller frees the result. NULL
 * with an error. */
double *fp64_of(const HostProblem *problem, Err *err);

/* Pools one interval into row (channels). */
void fp64_pool_interval(const BevShape *shape, const BevMap *map, const Features *features,
                        int64_t interval, double *row);

/* The interval of `cell`, or -1 where no point falls into it. Searches all intervals: those of a
 * file need not be in the order of the cells. */
int64_t map_interval_of(const BevMap *map, int64_t cell);
