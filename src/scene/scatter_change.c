/* SPDX-License-Identifier: MIT */
/* Changes maps: makes the lengths of intervals more even, or prunes points of small depth. */
#include "src/scene/scatter.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
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

/* Returns the new end of interval i. It lies between its own end and the end that it has when all
 * lengths are equal. At least one point is left for this interval and for each later one. */
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
    for (int64_t i = 0, own = 0, start = 0, end; ok && i < map->intervals; i++, start = end) {
        own += map->interval_lengths[i];
        end = balanced_end(map, balance, i, own, start);
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
    size_t points = (size_t)map->points * sizeof(int32_t);
    size_t intervals = (size_t)map->intervals * sizeof(int32_t);
    if (!scatter_allocate(copy, map->points, map->intervals, map->weights != NULL, err)) {
        scatter_free(copy);
        return false;
    }
    memcpy(copy->ranks_depth, map->ranks_depth, points);
    memcpy(copy->ranks_feat, map->ranks_feat, points);
    memcpy(copy->ranks_bev, map->ranks_bev, points);
    memcpy(copy->interval_starts, map->interval_starts, intervals);
    memcpy(copy->interval_lengths, map->interval_lengths, intervals);
    if (map->weights)
        memcpy(copy->weights, map->weights, points);
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

PruneText prune_text(const Prune *prune) {
    PruneText text;
    if (prune->top)
        snprintf(text.text, sizeof text.text, "top%lld", (long long)prune->top);
    else
        snprintf(text.text, sizeof text.text, "%.9g", prune->below);
    return text;
}

/* The smallest depth that a pixel keeps: its magnitude and its bin. */
typedef struct {
    float depth;
    int32_t bin;
} SmallestKept;

/* Inserts a value into the list `best` of the largest depths, which descends. NaN counts as the
 * largest: errors in the depths must show in the cells. */
static void insert_depth(SmallestKept *best, int64_t *count, int64_t top, SmallestKept next) {
    next.depth = isnan(next.depth) ? INFINITY : fabsf(next.depth);
    if (*count == top && !(next.depth > best[top - 1].depth))
        return;
    int64_t at = *count < top ? (*count)++ : top - 1;
    for (; at > 0 && best[at - 1].depth < next.depth; at--)
        best[at] = best[at - 1];
    best[at] = next;
}

/* Finds the smallest kept depth of every pixel. NULL: no memory. Uses one thread: on a busy machine
 * a team of threads waits for its last thread longer than the team saves. */
static SmallestKept *find_smallest_kept(const BevShape *shape, const float *depth, int64_t top) {
    const int64_t area = shape->feat_h * shape->feat_w, bins = shape->depth_bins;
    const int64_t pixels = shape->cameras * area;
    SmallestKept *smallest = malloc((size_t)(pixels + top) * sizeof *smallest),
                 *best = smallest + pixels;
    for (int64_t pixel = 0; smallest && pixel < pixels; pixel++) {
        const float *first = depth + pixel / area * bins * area + pixel % area;
        int64_t count = 0;
        for (int64_t bin = 0; bin < bins; bin++)
            insert_depth(best, &count, top, (SmallestKept){first[bin * area], (int32_t)bin});
        smallest[pixel] = best[top - 1];
    }
    return smallest;
}

typedef struct {
    const float *depth;
    double below;
    const SmallestKept *smallest; /* [pixel]; NULL: `below` decides */
    int64_t area, bins;           /* pixels of a camera's features; bins of a pixel */
} PruneRule;

static bool rule_keeps_point(const PruneRule *rule, const BevMap *map, int64_t point) {
    int64_t rank = map->ranks_depth[point];
    float depth = fabsf(rule->depth[rank]);
    if (!rule->smallest)
        return !(depth < rule->below);
    const SmallestKept *least = &rule->smallest[map->ranks_feat[point]];
    int64_t bin = rank / rule->area % rule->bins;
    return isnan(depth) ? least->depth < INFINITY || bin <= least->bin
                        : depth > least->depth || (depth == least->depth && bin <= least->bin);
}

/* Copies the points that are kept. The intervals are found later. */
static void copy_kept_points(const BevMap *whole, const PruneRule *rule, BevMap *map,
                             Pruned *pruned) {
    for (int64_t t = 0; t < whole->points; t++) {
        const int32_t rank = whole->ranks_depth[t];
        double mass = fabs(rule->depth[rank] * (whole->weights ? whole->weights[t] : 1.0));
        pruned->mass += mass;
        if (!rule_keeps_point(rule, whole, t))
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
    SmallestKept *smallest = prune->top ? find_smallest_kept(shape, depth, prune->top) : NULL;
    if (prune->top && !smallest)
        return err_no_memory(err, "prune", "choose a smaller scene");
    const PruneRule rule = {depth, prune->below, smallest, shape->feat_h * shape->feat_w,
                            shape->depth_bins};
    bool ok = scatter_allocate(map, whole->points, 0, whole->weights != NULL, err);
    if (ok)
        copy_kept_points(whole, &rule, map, pruned);
    ok = ok && scatter_find_intervals(map, err);
    if (!ok)
        scatter_free(map);
    free(smallest);
    return ok;
}
