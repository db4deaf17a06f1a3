/* Builds and checks the scatter map: which pairs of depth value and feature vector are added to
 * which BEV cell, sorted by cell. */
#pragma once

#include "src/base/give_up.h"
#include "src/scene/geometry.h"

/* Builds the map of `rig` by a counting sort by cell; within a cell ranks_depth ascends. Nearest
 * keeps each point inside the grid. Bilinear and lattice split each point inside the z range among
 * its four neighbour cells of the same slice, leaving out cells outside the grid and weights of 0.
 * Cameras whose bit
 * in `camera_mask` is 0 contribute nothing. The caller frees with scatter_free. Fails without
 * memory or when the number of points exceeds int32. A map of 0 points is no error. */
bool scatter_build(const Rig *rig, BevAlign align, uint32_t camera_mask, BevMap *map, Err *err);

/* The same, unless `give_up` (asked for each camera and depth) says that the map is no longer
 * wanted: then it returns false, leaves `err` unchanged and the map empty. */
bool scatter_build_or_give_up(const Rig *rig, BevAlign align, uint32_t camera_mask,
                              const GiveUp *give_up, BevMap *map, Err *err);

/* Makes the lengths of the intervals more even: at `evenness` 0 they stay, at 1 all are the mean,
 * to a point; between, each is between its own and the mean. Points move to the next cells in
 * order; their number, depths, features and weights stay, and so do the cells that have points.
 * Within a cell ranks_depth ascends. Fails without memory. */
bool scatter_even(BevMap *map, double evenness, Err *err);

/* What pruning left: points and their mass, the sum of |depth| times |weight|. */
typedef struct {
    int64_t points, points_kept; /* 0 points: nothing was pruned */
    double mass, mass_kept;
} Pruned;

/* The share of a mass that is kept; of no mass nothing is lost. */
static inline double kept_share(double kept, double all) {
    return all != 0 ? kept / all : 1;
}

/* Which points are left out, by the magnitude of their depth: those of a smaller one, or those
 * outside of the pixel's `top` bins of the largest ones. Zeroed: none. */
typedef struct {
    double below;
    int64_t top; /* 0: by depth */
} Prune;

/* "0.001", "top4". */
typedef struct {
    char text[32];
} PruneText;

/* The reverse of prune_text. False: `text` is neither a number from 0 to 1 nor "top" and a whole
 * number from 1 on. */
bool prune_parse(const char *text, Prune *prune);
PruneText prune_text(const Prune *prune);

bool prune_is_off(const Prune *prune);
bool prune_equal(const Prune *a, const Prune *b);

/* A map without some points of `whole`; cells that lose all of theirs lose their interval. The
 * order of the others stays. The caller frees `map`, which is empty after a failure. `depth` is
 * (camera, bin, h, w). Of equal depths of a pixel the nearer bins are kept first. The largest error
 * in a cell is the mass it loses times the largest feature. Fails without memory, and where a pixel
 * has fewer bins than `top`. */
bool scatter_prune(const BevMap *whole, const BevShape *shape, const float *depth,
                   const Prune *prune, BevMap *map, Pruned *pruned, Err *err);

/* Copies the arrays of a map. The caller frees with scatter_free. Fails without memory. */
bool scatter_copy(const BevMap *map, BevMap *copy, Err *err);

/* A number that differs where the maps do. */
uint64_t scatter_hash(const BevMap *map);

/* The cell with points that is nearest to `cell` of a grid `nx` wide: the cell itself where it has
 * any. -1: the map has none. */
int64_t scatter_nearest_cell(const BevMap *map, int64_t nx, int64_t cell);

/* Why a map of 0 points has none, for every screen and command: all of them were pruned, or none
 * falls into the grid. */
const char *scatter_empty(const Pruned *pruned);

/* Arrays for so many points and intervals, at least one of each. The caller frees with
 * scatter_free, also after a failure: there was no memory. */
bool scatter_allocate(BevMap *map, int64_t points, int64_t intervals, bool weighted, Err *err);

/* Frees the arrays and zeroes the map. Accepts an empty map. */
void scatter_free(BevMap *map);

/* Computes interval_starts and interval_lengths anew, for a map whose ranks_bev ascends. */
bool scatter_find_intervals(BevMap *map, Err *err);

/* Checks a map from a file: ranks within `shape`, ranks_depth and ranks_feat of the same camera and
 * pixel, finite weights, intervals of at least one point
 * that follow each other without gaps and contain all points, one ranks_bev value per interval, one
 * interval per cell. Errors name `where`, array, element, value and bound. Time O(points). */
bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err);

typedef struct {
    int64_t points, intervals, cells;
    int32_t median, p90, p99, longest;
    int64_t longest_cell; /* cell with the longest interval; -1: no intervals */
} ScatterStats;

/* Statistics of the interval lengths; percentiles by nearest rank. `cells` is nx * ny. */
ScatterStats scatter_stats(const BevMap *map, int64_t cells);
