/* FP64 pooling of the original FP32 features, fast enough for every frame: gate B's truth. */
#ifndef BEV_FP64_H
#define BEV_FP64_H

#include "src/scene/workload.h"

/* Fills out (nx * ny, channels). Interval-owned and threaded, yet the same bits as bev_reference
 * over the same values: a cell's points are added in the same order, cells do not meet. */
void fp64_pool(const BevShape *shape, const BevMap *map, const Features *features, double *out);

/* The same of a workload, malloc'd; NULL with an error. */
double *fp64_of(Workload *workload, BevAlign align, Err *err);

/* One cell of it. */
void fp64_pool_interval(const BevShape *shape, const BevMap *map, const Features *features,
                        int64_t interval, double *row);

/* The interval of `cell`, or -1: nothing falls into it. Looks at all of them: a file's intervals
 * need not be in the order of the cells. */
int64_t map_interval_of(const BevMap *map, int64_t cell);

#endif
