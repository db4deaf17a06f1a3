/* SPDX-License-Identifier: MIT */
/* Changes maps: makes the lengths of intervals more even, or prunes points of small depth. */
#include "src/scene/scatter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* A point that moves into another interval. */
typedef struct {
    int32_t depth, feat;
    float weight;
} Point;

static int compare_depths(const void *a, const void *b) {
    const Point *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Returns the new end of interval i, which begins at `start`. The new end lies between own_end and
 * the end of equal lengths. Interval i and each later interval get at least one point. */
static int64_t balanced_end(const BevMap *map, double balance, int64_t i, int64_t own_end,
                            int64_t start) {
    double equal_end = (double)map->points * (double)(i + 1) / (double)map->intervals;
    int64_t end = llround((1 - balance) * (double)own_end + balance * equal_end);
    int64_t last = map->points - (map->intervals - 1 - i);
    return MIN(MAX(end, start + 1), last);
}

/* Sorts the points of an interval by ranks_depth, as in every map. `scratch` has room for them. */
static void sort_points(BevMap *map, int64_t start, int64_t end, Point *scratch) {
    for (int64_t t = start; t < end; t++)
        scratch[t - start] =
            (Point){map->ranks_depth[t], map->ranks_feat[t], map->weights ? map->weights[t] : 1};
    qsort(scratch, (size_t)(end - start), sizeof *scratch, compare_depths);
    for (int64_t t = start; t < end; t++) {
        map->ranks_depth[t] = scratch[t - start].depth;
        map->ranks_feat[t] = scratch[t - start].feat;
        if (map->weights)
            map->weights[t] = scratch[t - start].weight;
    }
}

bool scatter_even(BevMap *map, double balance, Err *err) {
    if (!(balance > 0) || !map->points)
        return true;
    Point *scratch = malloc((size_t)map->points * sizeof *scratch);
    int32_t *cells = malloc((size_t)map->intervals * sizeof *cells);
    bool ok = scratch && cells;
    for (int64_t i = 0; ok && i < map->intervals; i++)
        cells[i] = map->ranks_bev[map->interval_starts[i]];
    int64_t own_end = 0, end = 0;
    for (int64_t i = 0; ok && i < map->intervals; i++) {
        const int64_t start = end;
        own_end += map->interval_lengths[i];
        end = balanced_end(map, balance, i, own_end, start);
        map->interval_starts[i] = (int32_t)start;
        map->interval_lengths[i] = (int32_t)(end - start);
        for (int64_t t = start; t < end; t++)
            map->ranks_bev[t] = cells[i];
        sort_points(map, start, end, scratch);
    }
    free(scratch);
    free(cells);
    return ok || err_no_memory(err, "even intervals", "choose a smaller scene");
}

bool scatter_copy(const BevMap *map, BevMap *copy, Err *err) {
    BevMap given = *map;
    if (!scatter_allocate(copy, map->points, map->intervals, map->weights != NULL, err))
        return false;
    const BevMapArrays from = bev_map_arrays(&given), to = bev_map_arrays(copy);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        if (from.count[i])
            memcpy(*to.array[i], *from.array[i], (size_t)from.count[i] * sizeof(int32_t));
    return true;
}

/* ---- pruning --------------------------------------------------------------------------------- */

bool prune_parse(const char *text, Prune *prune) {
    char *end;
    if (!strncmp(text, "top", 3)) {
        *prune = (Prune){.top = strtoll(text + 3, &end, 10)};
        return isdigit((unsigned char)text[3]) && !*end && prune->top >= 1;
    }
    *prune = (Prune){.below = strtod(text, &end)};
    return end != text && !*end && prune->below >= 0 && prune->below <= 1;
}

ShortText prune_text(const Prune *prune) {
    return prune->top ? short_text("top%lld", (long long)prune->top)
                      : short_text("%.9g", prune->below);
}

/* Returns a depth's magnitude. NaN counts as the largest: errors in depths must show in cells. */
static float depth_magnitude(float depth) {
    return isnan(depth) ? INFINITY : fabsf(depth);
}

/* Inserts the depth of a rank into a list of the `count` largest depths, which has room for `top`
 * ranks. The magnitudes of the list descend. */
static void insert_depth(int64_t *largest, int64_t count, int64_t top, const float *depth,
                         int64_t rank) {
    const float magnitude = depth_magnitude(depth[rank]);
    if (count == top && !(magnitude > depth_magnitude(depth[largest[top - 1]])))
        return;
    int64_t at = MIN(count, top - 1);
    for (; at > 0 && depth_magnitude(depth[largest[at - 1]]) < magnitude; at--)
        largest[at] = largest[at - 1];
    largest[at] = rank;
}

/* Marks the `top` largest depths of every pixel. The caller frees. NULL: no memory. Uses one
 * thread: on a busy machine a team of threads waits for its last thread longer than it saves. */
static bool *mark_largest(const BevShape *shape, const float *depth, int64_t top) {
    const int64_t area = shape->feat_h * shape->feat_w, bins = shape->depth_bins;
    const int64_t pixels = shape->cameras * area;
    int64_t *largest = malloc((size_t)top * sizeof *largest);
    bool *marks = largest ? calloc((size_t)(pixels * bins), sizeof *marks) : NULL;
    for (int64_t pixel = 0; marks && pixel < pixels; pixel++) {
        int64_t rank = pixel / area * bins * area + pixel % area;
        for (int64_t bin = 0; bin < bins; bin++, rank += area)
            insert_depth(largest, MIN(bin, top), top, depth, rank);
        for (int64_t i = 0; i < top; i++)
            marks[largest[i]] = true;
    }
    free(largest);
    return marks;
}

/* Copies the points that are kept: the marked points, or without marks the points whose depth is
 * not below a bound. The intervals are found later. */
static void copy_kept_points(const BevMap *whole, const float *depth, const bool *marks,
                             double below, BevMap *map, Pruned *pruned) {
    for (int64_t t = 0; t < whole->points; t++) {
        const int32_t rank = whole->ranks_depth[t];
        double mass = fabs(depth[rank] * (whole->weights ? whole->weights[t] : 1.0));
        const bool is_pruned = marks ? !marks[rank] : fabsf(depth[rank]) < below;
        pruned->mass += mass;
        if (is_pruned)
            continue;
        const int64_t kept = pruned->points_kept++;
        pruned->mass_kept += mass;
        map->ranks_depth[kept] = rank;
        map->ranks_feat[kept] = whole->ranks_feat[t];
        map->ranks_bev[kept] = whole->ranks_bev[t];
        if (map->weights)
            map->weights[kept] = whole->weights[t];
    }
    map->points = pruned->points_kept;
}

bool scatter_prune(const BevMap *whole, const BevShape *shape, const float *depth,
                   const Prune *prune, BevMap *map, Pruned *pruned, Err *err) {
    *pruned = (Pruned){.points = whole->points};
    *map = (BevMap){0};
    if (prune->top > shape->depth_bins)
        return err_set(err, ERR_USAGE, "prune", "choose fewer, or leave it out",
                       "top%lld, but a pixel of this scene has %lld depth bins",
                       (long long)prune->top, (long long)shape->depth_bins);
    bool *marks = prune->top ? mark_largest(shape, depth, prune->top) : NULL;
    if (prune->top && !marks)
        return err_no_memory(err, "prune", "choose a smaller scene");
    bool ok = scatter_allocate(map, whole->points, 0, whole->weights != NULL, err);
    if (ok)
        copy_kept_points(whole, depth, marks, prune->below, map, pruned);
    ok = ok && scatter_find_intervals(map, err);
    if (!ok)
        scatter_free(map);
    free(marks);
    return ok;
}
