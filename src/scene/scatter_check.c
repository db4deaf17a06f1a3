/* SPDX-License-Identifier: MIT */
/* Checks scatter maps from files, because kernels use their ranks as addresses. */
#include "kernels/threads.h"
#include "src/base/data.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of an element: "ranks_bev[12]". */
typedef struct {
    char text[64];
} Element;

static Element element_name(const char *array, int64_t i) {
    Element place;
    snprintf(place.text, sizeof place.text, "%s[%lld]", array, (long long)i);
    return place;
}

#define REFUSE(check_, array_, i_, ...)                                                            \
    data_refuse((check_)->err, (check_)->where, element_name(array_, i_).text, __VA_ARGS__)

/* ---- all points in one pass ------------------------------------------------------------------ */

/* The bounds of ranks. */
typedef struct {
    uint32_t depths, cells; /* ranks must be smaller than these */
    uint32_t pixels, bins;  /* pixels of a camera; depth bins */
} Bounds;

/* Returns the rank of feat (camera, h, w) that belongs to a rank of depth (camera, bin, h, w). */
static uint32_t feat_rank(uint32_t depth, const Bounds *bounds) {
    return depth / (bounds->pixels * bounds->bins) * bounds->pixels + depth % bounds->pixels;
}

/* The result of a pass over the points: the arrays with an error. Only these are searched. */
typedef struct {
    bool depth, feat, cell, weight;
    int32_t changes; /* number of points with another cell than the point before */
} Found;

static Found scan_points(const BevMap *map, const Bounds *bounds) {
    bool depth = false, feat = false, cell = false, weight = false;
    int32_t changes = 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)                               \
    reduction(|| : depth, feat, cell, weight) reduction(+ : changes)
    for (int64_t t = 0; t < map->points; t++) {
        const uint32_t rank = (uint32_t)map->ranks_depth[t];
        depth = depth || rank >= bounds->depths;
        feat = feat || feat_rank(rank, bounds) != (uint32_t)map->ranks_feat[t];
        cell = cell || (uint32_t)map->ranks_bev[t] >= bounds->cells;
        weight = weight || (map->weights && !isfinite(map->weights[t]));
        changes += t > 0 && map->ranks_bev[t] != map->ranks_bev[t - 1];
    }
    return (Found){depth, feat, cell, weight, changes};
}

/* ---- finds the element with the error -------------------------------------------------------- */

static bool refuse_rank(const int32_t *ranks, int64_t bound, const char *array,
                        const Check *check) {
    int64_t bad = 0;
    while (ranks[bad] >= 0 && ranks[bad] < bound)
        bad++;
    return REFUSE(check, array, bad, "", "%d is outside 0 to %lld", ranks[bad],
                  (long long)bound - 1);
}

/* Refuses a point whose ranks_feat does not belong to its ranks_depth. Some kernels read
 * ranks_feat, others compute the pixel from ranks_depth: they would give different pictures. */
static bool refuse_feat(const BevMap *map, int64_t pixels, const Bounds *bounds,
                        const Check *check) {
    int64_t bad = 0;
    while (map->ranks_feat[bad] == (int32_t)feat_rank((uint32_t)map->ranks_depth[bad], bounds))
        bad++;
    int32_t rank = map->ranks_feat[bad],
            want = (int32_t)feat_rank((uint32_t)map->ranks_depth[bad], bounds);
    if (rank < 0 || rank >= pixels)
        return REFUSE(check, "ranks_feat", bad, "", "%d is outside 0 to %lld", rank,
                      (long long)pixels - 1);
    return REFUSE(check, "ranks_feat", bad,
                  "depth and feature of a point have one camera and pixel",
                  "%d, but ranks_depth[%lld] = %d belongs to feature %d", rank, (long long)bad,
                  map->ranks_depth[bad], want);
}

static bool refuse_weight(const BevMap *map, const Check *check) {
    int64_t bad = 0;
    while (isfinite(map->weights[bad]))
        bad++;
    return REFUSE(check, "weights", bad, "", "%g, must be finite", map->weights[bad]);
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Checks that interval i starts at point `expected`, is not empty and ends within the points. */
static bool check_interval(const BevMap *map, int64_t i, int64_t expected, const Check *check) {
    int64_t start = map->interval_starts[i], length = map->interval_lengths[i];
    if (start != expected)
        return REFUSE(check, "interval_starts", i,
                      start < expected ? "intervals overlap" : "intervals leave a gap",
                      "%lld, must be %lld, where the interval before ends", (long long)start,
                      (long long)expected);
    if (length < 1)
        return REFUSE(check, "interval_lengths", i, "an interval has at least one point",
                      "%lld, must be at least 1", (long long)length);
    if (length > map->points - start)
        return REFUSE(check, "interval_lengths", i, "", "%lld, but only %lld points are left",
                      (long long)length, (long long)(map->points - start));
    return true;
}

/* Checks that the cell of interval i has no other interval. `seen` has one bit for each cell. */
static bool check_unseen(const BevMap *map, int64_t i, uint8_t *seen, const Check *check) {
    int64_t start = map->interval_starts[i];
    int32_t cell = map->ranks_bev[start];
    uint8_t bit = (uint8_t)(1u << (cell & 7));
    if (seen[cell >> 3] & bit)
        return REFUSE(check, "ranks_bev", start, "a cell has one interval",
                      "interval %lld is the second one of cell %d", (long long)i, cell);
    seen[cell >> 3] |= bit;
    return true;
}

/* Checks that all points of an interval have the same cell. Compares all `changes` of the cell with
 * those at interval starts. Only where they differ, the map is searched for the element. */
static bool check_one_cell(const BevMap *map, int32_t changes, const Check *check) {
    const int32_t *cells = map->ranks_bev;
    int32_t changes_at_starts = 0;
    for (int64_t i = 1; i < map->intervals; i++)
        changes_at_starts += cells[map->interval_starts[i]] != cells[map->interval_starts[i] - 1];
    if (changes == changes_at_starts)
        return true;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t start = map->interval_starts[i], t = start + 1;
        while (t < start + map->interval_lengths[i] && cells[t] == cells[start])
            t++;
        if (t < start + map->interval_lengths[i])
            return REFUSE(check, "ranks_bev", t, "an interval has one cell",
                          "%d, but interval %lld belongs to cell %d", cells[t], (long long)i,
                          cells[start]);
    }
    return false;
}

static bool check_intervals(const BevMap *map, int64_t cells, int32_t changes, const Check *check) {
    uint8_t *seen = calloc((size_t)(cells / 8 + 1), 1);
    int64_t end = 0;
    bool good = seen != NULL;
    if (!good)
        err_no_memory(check->err, check->where, "");
    for (int64_t i = 0; good && i < map->intervals; i++) {
        good = check_interval(map, i, end, check) && check_unseen(map, i, seen, check);
        end += map->interval_lengths[i];
    }
    free(seen);
    if (good && end != map->points)
        return REFUSE(check, "ranks_bev", end, "intervals leave a gap",
                      "no interval holds points %lld to %lld", (long long)end,
                      (long long)map->points - 1);
    return good && check_one_cell(map, changes, check);
}

/* Returns the bound of ranks into `count` elements. Ranks are INT32: a larger count bounds none. */
static uint32_t rank_bound(int64_t count) {
    return (uint32_t)(count <= INT32_MAX ? count : (int64_t)INT32_MAX + 1);
}

bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err) {
    int64_t plane = shape->feat_h * shape->feat_w, pixels = shape->cameras * plane;
    int64_t cells = shape->nx * shape->ny, depths = pixels * shape->depth_bins;
    const Check check = {where, err};
    const Bounds bounds = {rank_bound(depths), rank_bound(cells), (uint32_t)plane,
                           (uint32_t)shape->depth_bins};
    Found found = scan_points(map, &bounds);
    if (found.depth)
        return refuse_rank(map->ranks_depth, depths, "ranks_depth", &check);
    if (found.feat)
        return refuse_feat(map, pixels, &bounds, &check);
    if (found.cell)
        return refuse_rank(map->ranks_bev, cells, "ranks_bev", &check);
    if (found.weight)
        return refuse_weight(map, &check);
    return check_intervals(map, cells, found.changes, &check);
}
