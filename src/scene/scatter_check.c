/* Checks scatter maps from files: kernels use their ranks as addresses. */
#include "kernels/vector.h"
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

/* ---- all points in one pass ------------------------------------------------------------------ */

/* Division by a number that stays the same, as a multiplication: n / d = n * factor >> shift for
 * 0 <= n < 2^31 (Granlund, Montgomery 1994), which becomes vector code. */
typedef struct {
    uint32_t factor;
    int shift;
} Divisor;

static Divisor divisor(uint32_t d) {
    int bits = 0;
    while ((uint64_t)1 << bits < d)
        bits++;
    return (Divisor){(uint32_t)(((uint64_t)1 << (31 + bits)) / d + 1), 31 + bits};
}

/* What the ranks are checked against. */
typedef struct {
    uint32_t last_depth, last_cell; /* the largest valid ranks */
    uint32_t pixels;                /* of a camera */
    Divisor by_pixels, by_camera;   /* by_camera: depth bins times pixels */
} Bounds;

/* A rank of depth (camera, bin, h, w) gives that of feat (camera, h, w): without its bin. */
CPU_INLINE uint32_t feat_of(uint32_t rank_depth, const Bounds *bounds) {
    uint32_t planes =
        (uint32_t)((uint64_t)rank_depth * bounds->by_pixels.factor >> bounds->by_pixels.shift);
    uint32_t camera =
        (uint32_t)((uint64_t)rank_depth * bounds->by_camera.factor >> bounds->by_camera.shift);
    return rank_depth - (planes - camera) * bounds->pixels;
}

/* What a pass over the points finds. A sign bit (bit 31) says that some element is bad; the loops
 * collect bits, so that they become vector code. Only a bad array is searched for the element. */
typedef struct {
    uint32_t depth_signs, cell_signs, weight_signs;
    uint32_t feat_differs; /* not 0: some ranks_feat is not feat_of its ranks_depth */
    int32_t changes;       /* how often a point has another cell than the point before */
} Found;

/* For a rank outside 0 to `last`, the rank or its distance to `last` is negative. */
CPU_CLONES
static void scan_ranks(const BevMap *map, int64_t first, int64_t end, const Bounds *given,
                       Found *found) {
    const Bounds bounds = *given; /* in registers */
    const int32_t *depths = map->ranks_depth, *feats = map->ranks_feat;
    uint32_t signs = 0, differs = 0;
#pragma omp simd reduction(| : signs, differs)
    for (int64_t t = first; t < end; t++) {
        uint32_t depth = (uint32_t)depths[t];
        signs |= depth | (bounds.last_depth - depth);
        differs |= feat_of(depth, &bounds) ^ (uint32_t)feats[t];
    }
    found->depth_signs |= signs;
    found->feat_differs |= differs;
}

CPU_CLONES
static void scan_cells(const BevMap *map, int64_t first, int64_t end, uint32_t last, Found *found) {
    const int32_t *cells = map->ranks_bev;
    uint32_t signs = (uint32_t)cells[first] | (last - (uint32_t)cells[first]);
    int32_t changes = first > 0 && cells[first] != cells[first - 1];
#pragma omp simd reduction(| : signs) reduction(+ : changes)
    for (int64_t t = first + 1; t < end; t++) {
        uint32_t cell = (uint32_t)cells[t];
        signs |= cell | (last - cell);
        changes += cells[t] != cells[t - 1];
    }
    found->cell_signs |= signs;
    found->changes += changes;
}

/* NaN and infinity have an exponent of all ones: adding 1 to the exponent sets the sign bit. */
CPU_CLONES
static void scan_weights(const float *weights, int64_t first, int64_t end, Found *found) {
    const uint32_t exponent = 0x7f800000, one = 0x00800000;
    uint32_t signs = 0;
#pragma omp simd reduction(| : signs)
    for (int64_t t = first; t < end; t++) {
        uint32_t bits;
        memcpy(&bits, &weights[t], sizeof bits);
        signs |= (bits & exponent) + one;
    }
    found->weight_signs |= signs;
}

enum { SCAN_POINTS = 1 << 15 }; /* that a thread takes at a time: they stay in its cache */

static Found scan_all(const BevMap *map, const Bounds *bounds) {
    Found all = {0};
#pragma omp parallel
    {
        Found part = {0};
#pragma omp for schedule(static)
        for (int64_t first = 0; first < map->points; first += SCAN_POINTS) {
            int64_t end = first + SCAN_POINTS < map->points ? first + SCAN_POINTS : map->points;
            scan_ranks(map, first, end, bounds, &part);
            scan_cells(map, first, end, bounds->last_cell, &part);
            if (map->weights)
                scan_weights(map->weights, first, end, &part);
        }
#pragma omp critical
        {
            all.depth_signs |= part.depth_signs;
            all.cell_signs |= part.cell_signs;
            all.weight_signs |= part.weight_signs;
            all.feat_differs |= part.feat_differs;
            all.changes += part.changes;
        }
    }
    return all;
}

/* ---- the element that is bad ----------------------------------------------------------------- */

static bool refuse_rank(const int32_t *ranks, int64_t bound, const char *array,
                        const Check *check) {
    int64_t bad = 0;
    while (ranks[bad] >= 0 && ranks[bad] < bound)
        bad++;
    return REFUSE(check, array, bad, "", "%d is outside 0 to %lld", ranks[bad],
                  (long long)bound - 1);
}

/* Kernels that compute the pixel from ranks_depth would give another picture than those that read
 * ranks_feat. */
static bool refuse_feat(const BevMap *map, int64_t pixels, const Bounds *bounds,
                        const Check *check) {
    int64_t bad = 0;
    while (map->ranks_feat[bad] == (int32_t)feat_of((uint32_t)map->ranks_depth[bad], bounds))
        bad++;
    int32_t rank = map->ranks_feat[bad],
            want = (int32_t)feat_of((uint32_t)map->ranks_depth[bad], bounds);
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
 * interval starts, so it is enough to compare two counts: all `changes`, and those at starts. Only
 * a bad map is searched for the element. */
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
    return good && check_one_cell(map, changes, check);
}

static uint32_t last_rank(int64_t count) {
    return (uint32_t)(count - 1 < INT32_MAX ? count - 1 : INT32_MAX);
}

bool scatter_check(const BevMap *map, const BevShape *shape, const char *where, Err *err) {
    int64_t plane = shape->feat_h * shape->feat_w, pixels = shape->cameras * plane;
    int64_t cells = shape->nx * shape->ny, depths = pixels * shape->depth_bins;
    const Check check = {where, err};
    const Bounds bounds = {last_rank(depths), last_rank(cells), (uint32_t)plane,
                           divisor((uint32_t)plane),
                           divisor((uint32_t)(plane * shape->depth_bins))};
    Found found = scan_all(map, &bounds);
    if (found.depth_signs >> 31)
        return refuse_rank(map->ranks_depth, depths, "ranks_depth", &check);
    if (found.feat_differs)
        return refuse_feat(map, pixels, &bounds, &check);
    if (found.cell_signs >> 31)
        return refuse_rank(map->ranks_bev, cells, "ranks_bev", &check);
    if (found.weight_signs >> 31)
        return refuse_weight(map, &check);
    return check_intervals(map, cells, found.changes, &check);
}
