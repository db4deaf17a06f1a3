/* SPDX-License-Identifier: MIT */
/* Builds and checks the scatter map. The map lists which pairs of depth value and feature vector
 * are added to which BEV cell, sorted by cell. */
#pragma once

#include "src/base/give_up.h"
#include "src/base/units.h"
#include "src/scene/geometry.h"

/* Builds the map of `rig` by a counting sort by cell. Within a cell ranks_depth ascends. Nearest
 * keeps each point inside the grid. Bilinear and BEV Align split each point inside the z range
 * among its four neighbour cells of the same slice. Cells outside the grid and weights of 0 are
 * left out. Cameras whose bit in `camera_mask` is 0 contribute nothing. The caller frees with
 * scatter_free. Fails without memory, or when the number of points exceeds int32. 0 points are no
 * error. `give_up` (NULL: never) is asked for each camera and depth. If it ends the work, the map
 * is empty, the result false, and `err` stays as it was. */
bool scatter_build(const Rig *rig, BevAlign align, uint32_t camera_mask, const GiveUp *give_up,
                   BevMap *map, Err *err);

/* Makes the lengths of the intervals more even. At `balance` 0 the lengths stay. At 1 all lengths
 * are the mean, to a point. Between 0 and 1 each length lies between its own and the mean. Points
 * move to the next cells in order. Their number, depths, features and weights stay, and so do the
 * cells that have points. Within a cell ranks_depth ascends. Fails without memory. */
bool scatter_even(BevMap *map, double balance, Err *err);

/* The result of pruning. The mass of points is the sum of |depth| times |weight|. */
typedef struct {
    int64_t points, points_kept; /* 0 points: nothing was pruned */
    double mass, mass_kept;
} Pruned;

/* Returns the share of a mass that is kept. Of a mass of 0 everything is kept. */
static inline double kept_share(double kept, double all) {
    return all != 0 ? kept / all : 1;
}

/* The rule that prunes points. The magnitude of a pruned point's depth is smaller than `below`, or
 * not among the `top` largest magnitudes of its pixel. Zeroed: no point is pruned. */
typedef struct {
    double below;
    int64_t top; /* 0: `below` decides */
} Prune;

/* Parses the text of a Prune: a number from 0 to 1, or "top" and a whole number from 1 on. */
bool prune_parse(const char *text, Prune *prune);
/* Returns the text of a Prune: "0.001", "top4". */
ShortText prune_text(const Prune *prune);

static inline bool prune_is_off(const Prune *prune) {
    return !prune->top && !(prune->below > 0);
}
static inline bool prune_equal(const Prune *a, const Prune *b) {
    return a->below == b->below && a->top == b->top;
}

/* Makes a map without the pruned points of `whole`. A cell that loses all its points loses its
 * interval. The order of the other points stays. The caller frees `map`, which is empty after a
 * failure. `depth` is (camera, bin, h, w). Where depths of a pixel are equal, nearer bins are kept
 * first. The largest error in a cell is its lost mass times the largest feature. Fails without
 * memory, and where a pixel has fewer bins than `top`. */
bool scatter_prune(const BevMap *whole, const BevShape *shape, const float *depth,
                   const Prune *prune, BevMap *map, Pruned *pruned, Err *err);

/* Copies a map. Fails without memory. The caller frees with scatter_free, also after a failure. */
bool scatter_copy(const BevMap *map, BevMap *copy, Err *err);

uint64_t scatter_hash(const BevMap *map);

/* Returns the cell with points that is nearest to `cell` in a grid `nx` wide. This is `cell` itself
 * where it has points. -1: the map has no points. */
int64_t scatter_nearest_cell(const BevMap *map, int64_t nx, int64_t cell);

/* Returns the reason why a map has 0 points: all were pruned, or none falls into the grid. */
static inline const char *scatter_empty_reason(const Pruned *pruned) {
    return pruned->points ? "every point is pruned: every cell stays empty"
                          : "no point falls into the grid: every cell stays empty";
}

/* Allocates arrays for `points` and `intervals`, at least one of each. False: no memory. The caller
 * frees with scatter_free, also after a failure. */
bool scatter_allocate(BevMap *map, int64_t points, int64_t intervals, bool weighted, Err *err);

/* Frees the arrays and zeroes the map. Accepts an empty map. */
void scatter_free(BevMap *map);

/* Computes interval_starts and interval_lengths anew for a map with ascending ranks_bev. */
bool scatter_find_intervals(BevMap *map, Err *err);

/* Checks a map from a file. Ranks lie within `shape`; ranks_depth and ranks_feat have the same
 * camera and pixel; weights are finite. Intervals have at least one point and contain all points
 * without gaps. Each interval has one value of ranks_bev, and each cell one interval. Errors name
 * `where`, array, element, value and bound. The time is O(points). */
bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err);

typedef struct {
    int64_t points, intervals, cells;
    int32_t median, p90, p99, longest;
    int64_t longest_cell;     /* cell with the longest interval; -1: no intervals */
    int64_t longest_interval; /* number of the longest interval; -1: none */
} ScatterStats;

/* Returns the share, 0 to 1, of the frustum's points that no point of the map reads. Without
 * pruning these are the points outside the grid. NaN: no memory. */
double scatter_share_outside(const BevMap *map, const BevShape *shape);

/* Computes statistics of the interval lengths. Percentiles: nearest rank. `cells`: nx * ny. */
ScatterStats scatter_stats(const BevMap *map, int64_t cells);
