/* SPDX-License-Identifier: MIT */
/* Builds the map by a counting sort by cell, in two passes over the frustum points: count, then
 * place. The cells of each point are computed twice, which is cheaper than storing them. Maps with
 * weights need four times the work, so the frustum is cut into one part for each thread. The points
 * of a cell stay in the order of the parts. So the map does not depend on the number of threads. */
#include "src/scene/scatter.h"

#include "kernels/threads.h"
#include "src/base/hash.h"
#include "src/scene/splat.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

typedef struct {
    const Rig *rig;
    SplatGrid grid;
    int splats; /* elements of a Splat that are used */
    uint32_t camera_mask;
    BevShape shape;
    double *directions; /* (camera, h, w, 3) */
    int64_t parts;      /* number of parts of the frustum's planes (camera, depth) */
    int32_t *counts; /* (part, cell): number of points, later the index of the cell's next point */
    const GiveUp *give_up;
    atomic_bool unwanted; /* the caller gave up */
} Sort;

/* ---- the two passes ------------------------------------------------------------------------- */

/* Counts a point in its cells. With a map, also stores the point there. */
static void sort_point(int32_t *counts, const Splat *splat, int splats, int64_t ranks_depth,
                       int64_t ranks_feat, BevMap *map) {
    for (int i = 0; i < splats; i++) {
        if (splat->cells[i] < 0)
            continue;
        int32_t place = counts[splat->cells[i]]++;
        if (!map)
            continue;
        map->ranks_depth[place] = (int32_t)ranks_depth;
        map->ranks_feat[place] = (int32_t)ranks_feat;
        if (map->weights)
            map->weights[place] = splat->weights[i];
    }
}

/* Sorts the points of a part. Points of a cell keep the order of ranks_depth. */
static void sort_part(Sort *sort, int64_t part, BevMap *map) {
    const BevShape *shape = &sort->shape;
    int64_t planes = shape->cameras * shape->depth_bins, pixels = shape->feat_h * shape->feat_w;
    int32_t *counts = sort->counts + part * shape->nx * shape->ny;
    int64_t end = planes * (part + 1) / sort->parts;
    for (int64_t plane = planes * part / sort->parts; plane < end; plane++) {
        int64_t camera = plane / shape->depth_bins;
        if (!(sort->camera_mask >> camera & 1))
            continue;
        if (sort->unwanted || given_up(sort->give_up)) {
            sort->unwanted = true;
            return;
        }
        const double *origin_m = sort->rig->cameras[camera].position_m;
        const double *direction = sort->directions + camera * pixels * 3;
        double depth_m = frustum_depth_m(&sort->rig->frustum, (double)(plane % shape->depth_bins));
        for (int64_t pixel = 0; pixel < pixels; pixel++, direction += 3) {
            double ego_m[3];
            Splat splat;
            point_on_ray(origin_m, direction, depth_m, ego_m);
            splat_point(&sort->grid, ego_m, &splat);
            sort_point(counts, &splat, sort->splats, plane * pixels + pixel,
                       camera * pixels + pixel, map);
        }
    }
}

/* Runs one pass over all parts. False: the caller gave up. */
static bool sort_pass(Sort *sort, BevMap *map) {
#pragma omp parallel for num_threads(bev_threads()) schedule(static, 1) if (sort->parts > 1)
    for (int64_t part = 0; part < sort->parts; part++)
        sort_part(sort, part, map);
    return !sort->unwanted;
}

/* Turns counts into the index of each cell's first point, and counts all points into map->points,
 * which the caller must compare with INT32_MAX: beyond it the indices are wrong. */
static void counts_to_places(const Sort *sort, BevMap *map) {
    int64_t cells = sort->shape.nx * sort->shape.ny;
    for (int64_t cell = 0; cell < cells; cell++)
        for (int64_t part = 0; part < sort->parts; part++) {
            int32_t *count = &sort->counts[part * cells + cell], points = *count;
            *count = (int32_t)map->points;
            map->points += points;
        }
}

/* Fills ranks_bev. After the second pass, the last part's counts are the ends of cells' points. */
static void fill_cells(const Sort *sort, BevMap *map) {
    int64_t cells = sort->shape.nx * sort->shape.ny;
    const int32_t *ends = sort->counts + (sort->parts - 1) * cells;
    for (int64_t cell = 0, next = 0; cell < cells; cell++)
        for (; next < ends[cell]; next++)
            map->ranks_bev[next] = (int32_t)cell;
}

/* ---- building ------------------------------------------------------------------------------- */

/* Allocates `count` numbers of four bytes, at least one. */
static void *allocate_array(int64_t count) {
    return malloc((size_t)(count > 0 ? count : 1) * sizeof(int32_t));
}

bool scatter_allocate(BevMap *map, int64_t points, int64_t intervals, bool weighted, Err *err) {
    *map = (BevMap){.points = points,
                    .intervals = intervals,
                    .ranks_depth = allocate_array(points),
                    .ranks_feat = allocate_array(points),
                    .ranks_bev = allocate_array(points),
                    .interval_starts = allocate_array(intervals),
                    .interval_lengths = allocate_array(intervals),
                    .weights = weighted ? allocate_array(points) : NULL};
    return (map->ranks_depth && map->ranks_feat && map->ranks_bev && map->interval_starts &&
            map->interval_lengths && (map->weights || !weighted)) ||
           err_no_memory(err, "scatter map", "use fewer cells, bins or pixels");
}

/* Counts the points, allocates the map for their number, then stores them. */
static bool sort_points(Sort *sort, BevMap *map, Err *err) {
    rig_directions(sort->rig, sort->directions);
    if (!sort_pass(sort, NULL))
        return false;
    counts_to_places(sort, map);
    if (map->points > INT32_MAX)
        return err_set(err, ERR_FAILED, "scatter map", "ranks are int32", "%lld points, at most %d",
                       (long long)map->points, INT32_MAX);
    if (!scatter_allocate(map, map->points, 0, sort->grid.align != BEV_NEAREST, err) ||
        !sort_pass(sort, map))
        return false;
    fill_cells(sort, map);
    return scatter_find_intervals(map, err);
}

bool scatter_build(const Rig *rig, BevAlign align, uint32_t camera_mask, const GiveUp *give_up,
                   BevMap *map, Err *err) {
    Sort sort = {.rig = rig,
                 .grid = splat_grid(&rig->grid, align),
                 .splats = align == BEV_NEAREST ? 1 : NEIGHBOURS,
                 .camera_mask = camera_mask,
                 .shape = rig_shape(rig, 1),
                 .give_up = give_up};
    size_t cells = (size_t)(sort.shape.nx * sort.shape.ny);
    size_t rays = (size_t)(sort.shape.cameras * sort.shape.feat_h * sort.shape.feat_w);
    *map = (BevMap){.points = 0};
    sort.directions = malloc(rays * 3 * sizeof *sort.directions);
    /* Without weights a second thread does not pay, with weights not more than 8 threads. */
    sort.parts = align == BEV_NEAREST ? 1 : MIN(bev_threads(), 8);
    sort.counts = calloc((size_t)sort.parts * cells, sizeof *sort.counts);
    bool done = sort.directions && sort.counts
                    ? sort_points(&sort, map, err)
                    : err_no_memory(err, "scatter map", "use fewer cells, bins or pixels");
    free(sort.directions);
    free(sort.counts);
    if (!done)
        scatter_free(map);
    return done;
}

void scatter_free(BevMap *map) {
    if (!map)
        return;
    const BevMapArrays list = bev_map_arrays(map);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        free(*list.array[i]);
    *map = (BevMap){.points = 0};
}

bool scatter_find_intervals(BevMap *map, Err *err) {
    free(map->interval_starts);
    free(map->interval_lengths);
    map->interval_starts = allocate_array(map->points);
    map->interval_lengths = allocate_array(map->points);
    map->intervals = 0;
    if (!map->interval_starts || !map->interval_lengths)
        return err_no_memory(err, "intervals", "");
    for (int64_t t = 0; t < map->points; t++) {
        if (t == 0 || map->ranks_bev[t] != map->ranks_bev[t - 1]) {
            map->interval_starts[map->intervals] = (int32_t)t;
            map->interval_lengths[map->intervals++] = 0;
        }
        map->interval_lengths[map->intervals - 1]++;
    }
    return true;
}

int64_t scatter_nearest_cell(const BevMap *map, int64_t nx, int64_t cell) {
    int64_t best = -1, least = INT64_MAX;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t at = map->ranks_bev[map->interval_starts[i]];
        int64_t x = at % nx - cell % nx, y = at / nx - cell / nx, away = x * x + y * y;
        if (away < least) {
            least = away;
            best = at;
        }
    }
    return best;
}

uint64_t scatter_hash(const BevMap *map) {
    BevMap given = *map;
    const BevMapArrays list = bev_map_arrays(&given);
    uint64_t hash = HASH_BEGIN ^ (uint64_t)map->points ^ (map->weights ? 1 : 0);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        for (int64_t k = 0; k < list.count[i]; k++) {
            uint32_t word;
            memcpy(&word, (const char *)*list.array[i] + k * (int64_t)sizeof word, sizeof word);
            hash = hash_add(hash, word);
        }
    return hash;
}

/* ---- statistics ----------------------------------------------------------------------------- */

/* Returns the smallest length that at least `percent` of the intervals do not exceed (nearest
 * rank). Bisection needs no sorting and no memory. */
static int32_t length_percentile(const BevMap *map, int32_t longest, int64_t percent) {
    int64_t wanted = (map->intervals * percent + 99) / 100;
    int32_t low = 0, high = longest;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int64_t within = 0;
        for (int64_t i = 0; i < map->intervals; i++)
            within += map->interval_lengths[i] <= middle;
        if (within >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double scatter_share_outside(const BevMap *map, const BevShape *shape) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w, inside = 0;
    int64_t frustum = pixels * shape->depth_bins;
    bool *seen = calloc((size_t)frustum + 1, sizeof *seen);
    if (!seen)
        return NAN;
    for (int64_t t = 0; t < map->points; t++) { /* bilinear: up to four points read one depth */
        inside += !seen[map->ranks_depth[t]];
        seen[map->ranks_depth[t]] = true;
    }
    free(seen);
    return 1 - (double)inside / (double)frustum;
}

ScatterStats scatter_stats(const BevMap *map, int64_t cells) {
    ScatterStats stats = {.points = map->points, .intervals = map->intervals, .cells = cells};
    stats.longest_cell = stats.longest_interval = -1;
    for (int64_t i = 0; i < map->intervals; i++)
        if (map->interval_lengths[i] > stats.longest) {
            stats.longest = map->interval_lengths[i];
            stats.longest_cell = map->ranks_bev[map->interval_starts[i]];
            stats.longest_interval = i;
        }
    stats.median = length_percentile(map, stats.longest, 50);
    stats.p90 = length_percentile(map, stats.longest, 90);
    stats.p99 = length_percentile(map, stats.longest, 99);
    return stats;
}
