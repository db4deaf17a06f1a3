/* The scatter map: which (depth, feature) pairs belong to which cell, sorted by cell. */
#ifndef BEV_SCATTER_H
#define BEV_SCATTER_H

#include "src/scene/geometry.h"

/* Builds the map of `rig` by counting sort, stable in the order of ranks_depth. Nearest keeps a
 * point that lies inside the grid. Bilinear expands each point inside the z range to those of its
 * four neighbours that exist and weigh more than 0. A camera whose bit in `camera_mask` is 0 (a
 * dirty lens) contributes nothing. The caller frees with scatter_free. Fails when memory or int32
 * does not suffice; a map of 0 points is no error. */
bool scatter_build(const Rig *rig, BevAlign align, uint32_t camera_mask, BevMap *map, Err *err);

/* Frees the arrays and zeroes the map. Accepts an empty map. */
void scatter_free(BevMap *map);

/* Checks a map from outside against `shape`: ranks in range, finite weights, intervals that
 * partition the points exactly in order, each of length >= 1, one rank_bev per interval, no cell
 * twice. The error names `where`, the array, the element, its value and the bound. O(points). */
bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err);

/* Fills interval_starts and interval_lengths of a map whose ranks_bev is sorted. */
bool scatter_find_intervals(BevMap *map, Err *err);

typedef struct {
    int64_t points, intervals, cells;
    int32_t median, p90, p99, longest;
    int64_t longest_cell; /* cell number of the longest interval, -1 without intervals */
} ScatterStats;

/* Lengths of a map's intervals; percentiles by nearest rank. `cells` = nx * ny. */
ScatterStats scatter_stats(const BevMap *map, int64_t cells);

#endif
