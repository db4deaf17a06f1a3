/* Maps from outside: a kernel reads and writes wherever they point, so nothing is believed. */
#include "src/scene/scatter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuses array[element]. */
__attribute__((format(printf, 6, 7))) static bool refuse(Err *err, const char *where,
                                                         const char *array, int64_t element,
                                                         const char *hint, const char *what, ...) {
    char place[sizeof err->where], text[sizeof err->what];
    snprintf(place, sizeof place, "%s: %s[%lld]", where, array, (long long)element);
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return err_set(err, ERR_FAILED, place, hint, "%s", text);
}

/* Every rank in [0, bound). Either the rank or its distance to the last one allowed has the sign
 * bit set where it is outside; only a bad array is walked again for the culprit. */
static bool check_ranks(const int32_t *ranks, int64_t count, int64_t bound, const char *array,
                        const char *where, Err *err) {
    uint32_t last = (uint32_t)(bound - 1 < INT32_MAX ? bound - 1 : INT32_MAX), signs = 0;
#pragma omp simd reduction(| : signs)
    for (int64_t t = 0; t < count; t++)
        signs |= (uint32_t)ranks[t] | (last - (uint32_t)ranks[t]);
    if (!(signs >> 31))
        return true;
    int64_t bad = 0;
    while (ranks[bad] >= 0 && ranks[bad] < bound)
        bad++;
    return refuse(err, where, array, bad, "", "%d is outside 0 to %lld", ranks[bad],
                  (long long)bound - 1);
}

/* NaN and infinity have an exponent of all ones: one more carries into the sign bit. */
static bool check_weights(const BevMap *map, const char *where, Err *err) {
    if (!map->weights)
        return true;
    const uint32_t exponent = 0x7f800000, one = 0x00800000;
    const float *weights = map->weights;
    int64_t points = map->points;
    uint32_t signs = 0;
#pragma omp simd reduction(| : signs)
    for (int64_t t = 0; t < points; t++) {
        uint32_t bits;
        memcpy(&bits, &weights[t], sizeof bits);
        signs |= (bits & exponent) + one;
    }
    if (!(signs >> 31))
        return true;
    int64_t bad = 0;
    while (isfinite(map->weights[bad]))
        bad++;
    return refuse(err, where, "weights", bad, "", "%g, must be finite", map->weights[bad]);
}

/* Interval i must take up at point `expected`, have a point at least and end within the points. */
static bool check_interval(const BevMap *map, int64_t i, int64_t expected, const char *where,
                           Err *err) {
    int64_t start = map->interval_starts[i], length = map->interval_lengths[i];
    if (start != expected)
        return refuse(err, where, "interval_starts", i,
                      start < expected ? "intervals overlap" : "intervals leave a hole",
                      "%lld, must be %lld, where the interval before ends", (long long)start,
                      (long long)expected);
    if (length < 1)
        return refuse(err, where, "interval_lengths", i, "an interval has at least one point",
                      "%lld, must be at least 1", (long long)length);
    if (length > map->points - start)
        return refuse(err, where, "interval_lengths", i, "", "%lld, but only %lld points are left",
                      (long long)length, (long long)(map->points - start));
    return true;
}

/* No cell in two intervals. */
static bool check_unseen(const BevMap *map, int64_t i, uint8_t *seen, const char *where, Err *err) {
    int64_t start = map->interval_starts[i];
    int32_t cell = map->ranks_bev[start];
    uint8_t bit = (uint8_t)(1u << (cell & 7));
    if (seen[cell >> 3] & bit)
        return refuse(err, where, "ranks_bev", start, "one interval a cell",
                      "interval %lld is of cell %d, which had one before", (long long)i, cell);
    seen[cell >> 3] |= bit;
    return true;
}

/* One cell an interval. In a partition the cell may change only where an interval starts, so all
 * changes together must be as many as those at starts; only a bad map is walked for the culprit. */
static bool check_one_cell(const BevMap *map, const char *where, Err *err) {
    const int32_t *cells = map->ranks_bev;
    int32_t changes = 0, changes_at_starts = 0; /* at most as many as points, which are int32 */
    int64_t points = map->points;
#pragma omp simd reduction(+ : changes)
    for (int64_t t = 1; t < points; t++)
        changes += cells[t] != cells[t - 1];
    for (int64_t i = 1; i < map->intervals; i++)
        changes_at_starts += cells[map->interval_starts[i]] != cells[map->interval_starts[i] - 1];
    if (changes == changes_at_starts)
        return true;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t start = map->interval_starts[i], t = start + 1;
        while (t < start + map->interval_lengths[i] && cells[t] == cells[start])
            t++;
        if (t < start + map->interval_lengths[i])
            return refuse(err, where, "ranks_bev", t, "one cell an interval",
                          "%d, but interval %lld is of cell %d", cells[t], (long long)i,
                          cells[start]);
    }
    return false;
}

static bool check_intervals(const BevMap *map, int64_t cells, const char *where, Err *err) {
    uint8_t *seen = calloc((size_t)(cells / 8 + 1), 1);
    int64_t end = 0;
    bool good = seen != NULL;
    if (!good)
        err_set(err, ERR_FAILED, where, "", "out of memory for %lld cells", (long long)cells);
    for (int64_t i = 0; good && i < map->intervals; i++) {
        good = check_interval(map, i, end, where, err) && check_unseen(map, i, seen, where, err);
        end += map->interval_lengths[i];
    }
    free(seen);
    if (good && end != map->points)
        return refuse(err, where, "ranks_bev", end, "intervals leave a hole",
                      "no interval holds points %lld to %lld", (long long)end,
                      (long long)map->points - 1);
    return good && check_one_cell(map, where, err);
}

bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    int64_t cells = shape->nx * shape->ny;
    return check_ranks(map->ranks_depth, map->points, pixels * shape->depth_bins, "ranks_depth",
                       where, err) &&
           check_ranks(map->ranks_feat, map->points, pixels, "ranks_feat", where, err) &&
           check_ranks(map->ranks_bev, map->points, cells, "ranks_bev", where, err) &&
           check_weights(map, where, err) && check_intervals(map, cells, where, err);
}
