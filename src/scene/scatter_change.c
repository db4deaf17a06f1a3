/* Maps that are changed: lengths of intervals made more even; points of small depth left out. */
#include "src/scene/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point on its way into another interval. */
typedef struct {
    int32_t depth, feat;
    float weight;
} Point;

static int by_depth(const void *a, const void *b) {
    const Point *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* The end of interval i: between its own end and that of intervals of equal lengths. It is later
 * than the end before, and early enough for one point in each later interval. */
static int64_t even_end(const BevMap *map, double evenness, int64_t i, int64_t own,
                        int64_t before) {
    double equal = (double)map->points * (double)(i + 1) / (double)map->intervals;
    int64_t end = llround((1 - evenness) * (double)own + evenness * equal);
    int64_t last = map->points - (map->intervals - 1 - i);
    end = end > before ? end : before + 1;
    return end < last ? end : last;
}

/* Sorts the points of an interval by depth, as in every map. `scratch` has room for them. */
static void sort_points(BevMap *map, int64_t start, int64_t end, Point *scratch) {
    for (int64_t t = start; t < end; t++)
        scratch[t - start] =
            (Point){map->ranks_depth[t], map->ranks_feat[t], map->weights ? map->weights[t] : 1};
    qsort(scratch, (size_t)(end - start), sizeof *scratch, by_depth);
    for (int64_t t = start; t < end; t++) {
        map->ranks_depth[t] = scratch[t - start].depth;
        map->ranks_feat[t] = scratch[t - start].feat;
        if (map->weights)
            map->weights[t] = scratch[t - start].weight;
    }
}

bool scatter_even(BevMap *map, double evenness, Err *err) {
    if (!(evenness > 0) || !map->points)
        return true;
    Point *scratch = malloc((size_t)map->points * sizeof *scratch);
    int32_t *cells = malloc((size_t)map->intervals * sizeof *cells);
    bool ok = scratch && cells;
    for (int64_t i = 0; ok && i < map->intervals; i++)
        cells[i] = map->ranks_bev[map->interval_starts[i]];
    for (int64_t i = 0, own = 0, start = 0, end; ok && i < map->intervals; i++, start = end) {
        own += map->interval_lengths[i];
        end = even_end(map, evenness, i, own, start);
        map->interval_starts[i] = (int32_t)start;
        map->interval_lengths[i] = (int32_t)(end - start);
        for (int64_t t = start; t < end; t++)
            map->ranks_bev[t] = cells[i];
        sort_points(map, start, end, scratch);
    }
    free(scratch);
    free(cells);
    return ok ||
           err_set(err, ERR_FAILED, "even intervals", "choose a smaller scene", "out of memory");
}

bool scatter_copy(const BevMap *map, BevMap *copy, Err *err) {
    size_t points = (size_t)map->points * sizeof(int32_t);
    size_t intervals = (size_t)map->intervals * sizeof(int32_t);
    const void *from[] = {map->ranks_depth, map->ranks_feat,      map->ranks_bev,
                          map->weights,     map->interval_starts, map->interval_lengths};
    const size_t bytes[] = {points, points, points, points, intervals, intervals};
    enum { ARRAYS = sizeof bytes / sizeof *bytes };
    void *to[ARRAYS] = {NULL};
    bool ok = true;
    for (int i = 0; i < ARRAYS; i++) {
        to[i] = from[i] ? malloc(bytes[i] + 1) : NULL; /* never 0 bytes */
        ok = ok && (to[i] || !from[i]);
        if (to[i])
            memcpy(to[i], from[i], bytes[i]);
    }
    *copy = (BevMap){map->points, map->intervals, to[0], to[1], to[2], to[4], to[5], to[3]};
    if (ok)
        return true;
    scatter_free(copy);
    return err_set(err, ERR_FAILED, "scatter map", "choose a smaller scene", "out of memory");
}

void scatter_prune(BevMap *map, const float *depth, double threshold, Pruned *pruned) {
    *pruned = (Pruned){.points = map->points};
    int64_t kept = 0, intervals = 0;
    for (int64_t i = 0, end = 0; i < map->intervals; i++) {
        int64_t start = kept, own = end;
        end = own + map->interval_lengths[i];
        for (int64_t t = own; t < end; t++) {
            double weight = depth[map->ranks_depth[t]] * (map->weights ? map->weights[t] : 1.0);
            pruned->mass += weight;
            if (depth[map->ranks_depth[t]] < threshold)
                continue;
            pruned->mass_kept += weight;
            map->ranks_depth[kept] = map->ranks_depth[t];
            map->ranks_feat[kept] = map->ranks_feat[t];
            map->ranks_bev[kept] = map->ranks_bev[t];
            if (map->weights)
                map->weights[kept] = map->weights[t];
            kept++;
        }
        if (kept == start)
            continue;
        map->interval_starts[intervals] = (int32_t)start;
        map->interval_lengths[intervals++] = (int32_t)(kept - start);
    }
    map->points = pruned->points_kept = kept;
    map->intervals = intervals;
}
