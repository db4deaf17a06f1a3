/* Checks scatter maps from files: kernels use their ranks as addresses. */
#include "src/base/data.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "ranks_bev[12]" */
typedef struct {
    char text[64];
} Element;

static Element element(const char *array, int64_t i) {
    Element place;
    snprintf(place.text, sizeof place.text, "%s[%lld]", array, (long long)i);
    return place;
}

#define REFUSE(check_, array_, i_, ...)                                                            \
    data_refuse((check_)->err, (check_)->where, element(array_, i_).text, __VA_ARGS__)

/* Checks that 0 <= rank < bound. For a rank outside, the rank or its distance to the last valid
 * rank is negative: the loop collects sign bits, so that it becomes vector code. Only a bad array
 * is searched for the element. */
static bool check_ranks(const int32_t *ranks, int64_t count, int64_t bound, const char *array,
                        const Check *check) {
    uint32_t last = (uint32_t)(bound - 1 < INT32_MAX ? bound - 1 : INT32_MAX), signs = 0;
#pragma omp simd reduction(| : signs)
    for (int64_t t = 0; t < count; t++)
        signs |= (uint32_t)ranks[t] | (last - (uint32_t)ranks[t]);
    if (!(signs >> 31))
        return true;
    int64_t bad = 0;
    while (ranks[bad] >= 0 && ranks[bad] < bound)
        bad++;
    return REFUSE(check, array, bad, "", "%d is outside 0 to %lld", ranks[bad],
                  (long long)bound - 1);
}

/* Checks that all weights are finite. NaN and infinity have an exponent of all ones, so adding 1 to
 * the exponent sets the sign bit. */
static bool check_weights(const BevMap *map, const Check *check) {
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
    return REFUSE(check, "weights", bad, "", "%g, must be finite", map->weights[bad]);
}

/* Interval i must start at point `expected`, have at least one point and end within the points. */
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

/* No cell may have two intervals. `seen` has one bit per cell. */
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

/* All points of an interval must have the same cell. In a sound map the cell changes only where an
 * interval starts, so it is enough to compare two counts: all changes, and the changes at starts.
 * Only a bad map is searched for the element. */
static bool check_one_cell(const BevMap *map, const Check *check) {
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
            return REFUSE(check, "ranks_bev", t, "an interval has one cell",
                          "%d, but interval %lld belongs to cell %d", cells[t], (long long)i,
                          cells[start]);
    }
    return false;
}

static bool check_intervals(const BevMap *map, int64_t cells, const Check *check) {
    uint8_t *seen = calloc((size_t)(cells / 8 + 1), 1);
    int64_t end = 0;
    bool good = seen != NULL;
    if (!good)
        err_set(check->err, ERR_FAILED, check->where, "", "out of memory for %lld cells",
                (long long)cells);
    for (int64_t i = 0; good && i < map->intervals; i++) {
        good = check_interval(map, i, end, check) && check_unseen(map, i, seen, check);
        end += map->interval_lengths[i];
    }
    free(seen);
    if (good && end != map->points)
        return REFUSE(check, "ranks_bev", end, "intervals leave a gap",
                      "no interval holds points %lld to %lld", (long long)end,
                      (long long)map->points - 1);
    return good && check_one_cell(map, check);
}

bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    int64_t cells = shape->nx * shape->ny;
    const Check check = {where, err};
    return check_ranks(map->ranks_depth, map->points, pixels * shape->depth_bins, "ranks_depth",
                       &check) &&
           check_ranks(map->ranks_feat, map->points, pixels, "ranks_feat", &check) &&
           check_ranks(map->ranks_bev, map->points, cells, "ranks_bev", &check) &&
           check_weights(map, &check) && check_intervals(map, cells, &check);
}
