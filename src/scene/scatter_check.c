/* SPDX-License-Identifier: MIT */
/* Checks scatter maps from files, because kernels use their ranks as addresses. */
#include "kernels/threads.h"
#include "src/base/data.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdlib.h>

/* A map, what its ranks must be smaller than, and where errors are reported. */
typedef struct {
    const BevMap *map;
    int64_t depths, cells, pixels; /* their numbers in all cameras */
    uint32_t plane, bins;          /* pixels of a camera; depth bins */
    const char *where;
    Err *err; /* NULL: errors are found and not described */
} MapCheck;

/* Reports element i of an array: "ranks_bev[12]". Yields false. */
#define REFUSE(check_, array_, i_, ...)                                                            \
    ((check_)->err &&                                                                              \
     data_refuse((check_)->err, (check_)->where,                                                   \
                 short_text("%s[%lld]", array_, (long long)(i_)).text, __VA_ARGS__))

static bool check_rank(const MapCheck *check, const char *array, int64_t i, int32_t rank,
                       int64_t bound) {
    return (rank >= 0 && rank < bound) ||
           REFUSE(check, array, i, "", "%d is outside 0 to %lld", rank, (long long)bound - 1);
}

/* Checks that the ranks of depth (camera, bin, h, w) and feat (camera, h, w) have one pixel. Some
 * kernels read ranks_feat, others compute the pixel from ranks_depth. */
static bool check_pixel(const MapCheck *check, int64_t t) {
    const uint32_t depth = (uint32_t)check->map->ranks_depth[t], plane = check->plane;
    int32_t want = (int32_t)(depth / (plane * check->bins) * plane + depth % plane);
    int32_t feat = check->map->ranks_feat[t];
    return feat == want ||
           (check_rank(check, "ranks_feat", t, feat, check->pixels) &&
            REFUSE(check, "ranks_feat", t, "depth and feature of a point have one camera and pixel",
                   "%d, but ranks_depth[%lld] = %d belongs to feature %d", feat, (long long)t,
                   (int32_t)depth, want));
}

/* Checks point t of interval i, whose first point has the interval's cell. */
static bool check_point(const MapCheck *check, int64_t t, int64_t i) {
    const BevMap *map = check->map;
    const int32_t cell = map->ranks_bev[t], first = map->ranks_bev[map->interval_starts[i]];
    if (!check_rank(check, "ranks_depth", t, map->ranks_depth[t], check->depths) ||
        !check_pixel(check, t) || !check_rank(check, "ranks_bev", t, cell, check->cells))
        return false;
    if (cell != first)
        return REFUSE(check, "ranks_bev", t, "an interval has one cell",
                      "%d, but interval %lld belongs to cell %d", cell, (long long)i, first);
    return !map->weights || isfinite(map->weights[t]) ||
           REFUSE(check, "weights", t, "", "%g, must be finite", map->weights[t]);
}

/* Checks that interval i begins where interval i - 1 ends, its length, and then its points. */
static bool check_interval(const MapCheck *check, int64_t i) {
    const BevMap *map = check->map;
    int64_t start = map->interval_starts[i], length = map->interval_lengths[i];
    int64_t expected = i ? (int64_t)map->interval_starts[i - 1] + map->interval_lengths[i - 1] : 0;
    if (start != expected)
        return REFUSE(check, "interval_starts", i,
                      start < expected ? "intervals overlap" : "intervals leave a gap",
                      "%lld, must be %lld, where the interval before ends", (long long)start,
                      (long long)expected);
    if (length < 1)
        return REFUSE(check, "interval_lengths", i, "an interval has at least one point",
                      "%lld, must be at least 1", (long long)length);
    if (start < 0 || length > map->points - start)
        return REFUSE(check, "interval_lengths", i, "", "%lld, but only %lld points are left",
                      (long long)length, (long long)(map->points - start));
    for (int64_t t = start; t < start + length; t++)
        if (!check_point(check, t, i))
            return false;
    return true;
}

/* Checks that no cell has two intervals. `seen` has one bit for each cell. */
static bool check_cells_once(const MapCheck *check, uint8_t *seen) {
    const BevMap *map = check->map;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t start = map->interval_starts[i];
        int32_t cell = map->ranks_bev[start];
        uint8_t bit = (uint8_t)(1u << (cell & 7));
        if (seen[cell >> 3] & bit)
            return REFUSE(check, "ranks_bev", start, "a cell has one interval",
                          "interval %lld is the second one of cell %d", (long long)i, cell);
        seen[cell >> 3] |= bit;
    }
    return true;
}

bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err) {
    const int64_t plane = shape->feat_h * shape->feat_w, pixels = shape->cameras * plane;
    MapCheck check = {.map = map,
                      .depths = pixels * shape->depth_bins,
                      .cells = shape->nx * shape->ny,
                      .pixels = pixels,
                      .plane = (uint32_t)plane,
                      .bins = (uint32_t)shape->depth_bins,
                      .where = where};
    int64_t bad = map->intervals;
#pragma omp parallel for num_threads(bev_threads()) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < map->intervals; i++)
        if (i < bad && !check_interval(&check, i))
            bad = i;
    check.err = err;
    if (bad < map->intervals)
        return check_interval(&check, bad);
    int64_t last = map->intervals - 1;
    int64_t end = map->intervals ? map->interval_starts[last] + map->interval_lengths[last] : 0;
    if (end != map->points)
        return REFUSE(&check, "ranks_bev", end, "intervals leave a gap",
                      "no interval holds points %lld to %lld", (long long)end,
                      (long long)map->points - 1);
    uint8_t *seen = calloc((size_t)(check.cells / 8 + 1), 1);
    bool good = seen ? check_cells_once(&check, seen) : err_no_memory(err, where, "");
    free(seen);
    return good;
}
