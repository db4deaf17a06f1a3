/* SPDX-License-Identifier: MIT */
#include "src/scene/operator/operator_internal.h"

#include "src/base/random.h"
#include "src/base/units.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const OperatorInfo operator_kinds[OPERATOR_COUNT] = {
    [OPERATOR_HISTOGRAM] = {"histogram", "Histogram", "values", "bins", BARS_CELLS,
                            "values of a bin"},
    [OPERATOR_EMBEDDING_BAG] = {"embedding_bag", "Embedding bag", "look-ups", "bags",
                                BARS_SORTED_ROWS, "uses of a row, most first"},
    [OPERATOR_VOXELIZE] = {"voxelize", "Voxelisation", "rays", "pillars", BARS_SORTED_CELLS,
                           "returns of a pillar, most first"},
    [OPERATOR_SEGMENTS] = {"segments", "Segmented sum", "rows", "segments", BARS_SORTED_CELLS,
                           "rows of a segment, most first"},
};

/* ---- checks ---------------------------------------------------------------------------------- */

/* Refuses sizes that do not go together. Each one is within its bounds. */
static bool check_spec(const OperatorSpec *spec, const char *where, Err *err) {
    double side = floor(sqrt((double)spec->cells) + 0.5);
    if (spec->kind == OPERATOR_HISTOGRAM && spec->channels != 1)
        return data_refuse(err, where, "channels", "", "%lld, but a histogram counts one",
                           (long long)spec->channels);
    if (spec->kind == OPERATOR_VOXELIZE && side * side != (double)spec->cells)
        return data_refuse(err, where, "cells", "such as 40000, for 200 x 200",
                           "%lld pillars are no square grid", (long long)spec->cells);
    if (spec->kind == OPERATOR_VOXELIZE && spec->channels < EMBED_DIMS)
        return data_refuse(err, where, "channels", "",
                           "%lld, must be %d at least: class, colour, "
                           "height",
                           (long long)spec->channels, EMBED_DIMS);
    if (spec->kind == OPERATOR_EMBEDDING_BAG && spec->points < spec->cells)
        return data_refuse(err, where, "points", "",
                           "%lld look-ups for %lld bags, must be one a "
                           "bag at least",
                           (long long)spec->points, (long long)spec->cells);
    return true;
}

void operator_rectangle(int64_t count, int64_t most, int64_t *lines, int64_t *columns) {
    *columns = count < most ? count : most;
    *lines = (count + *columns - 1) / *columns;
}

/* ---- drawing points -------------------------------------------------------------------------- */

/* Returns cumulative sums of (rank + 1)^-skew. By these sums, zipf_draw draws ranks 0 to count - 1.
 * The caller frees. NULL: no memory. */
static double *zipf_sums(int64_t count, double skew) {
    double *sums = malloc((size_t)count * sizeof *sums), sum = 0;
    for (int64_t r = 0; sums && r < count; r++)
        sums[r] = sum += pow((double)(r + 1), -skew);
    return sums;
}

static int64_t zipf_draw(const double *sums, int64_t count, uint64_t *random) {
    double at = random_unit(random) * sums[count - 1];
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Each value draws the rank of a bin by Zipf's law. Rank 0 is the middle bin, and the next ranks
 * lie on both sides of it. At skew 0 all bins are alike. */
static bool draw_values(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *sums = zipf_sums(spec->cells, spec->skew);
    for (int64_t t = 0; sums && t < points->count; t++) {
        int64_t rank = zipf_draw(sums, spec->cells, &random), step = (rank + 1) / 2;
        points->cells[t] = (int32_t)((spec->cells - 1) / 2 + (rank % 2 ? step : -step));
        points->rows[t] = (int32_t)t;
    }
    free(sums);
    return sums != NULL;
}

/* Returns the numbers 0 to count - 1 in random order. The caller frees. NULL: no memory. */
static int32_t *shuffled_numbers(int64_t count, uint64_t *random) {
    int32_t *order = malloc((size_t)count * sizeof *order);
    for (int64_t i = 0; order && i < count; i++) {
        int64_t j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    return order;
}

static int compare_values(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Bags have equal lengths. Each look-up draws the rank of a row by Zipf's law, as words of a text;
 * the ranks are shuffled over the table. The rows of a bag ascend. */
static bool draw_lookups(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *sums = zipf_sums(spec->rows, spec->skew);
    int32_t *order = shuffled_numbers(spec->rows, &random);
    bool ok = sums && order;
    for (int64_t t = 0; ok && t < points->count; t++) {
        points->cells[t] = (int32_t)(t * spec->cells / points->count);
        points->rows[t] = order[zipf_draw(sums, spec->rows, &random)];
    }
    for (int64_t first = 0, t = 1; ok && t <= points->count; t++)
        if (t == points->count || points->cells[t] != points->cells[first]) {
            qsort(points->rows + first, (size_t)(t - first), sizeof *points->rows, compare_values);
            first = t;
        }
    free(sums);
    free(order);
    return ok;
}

/* Rows lie segment after segment. A segment's length is in proportion to E^skew, E exponentially
 * distributed: at skew 0 all are equal, at 1 geometric. */
static bool draw_lengths(const OperatorSpec *spec, OperatorPoints *points) {
    uint64_t random = spec->seed;
    double *ends = malloc((size_t)spec->cells * sizeof *ends), sum = 0;
    for (int64_t i = 0; ends && i < spec->cells; i++)
        ends[i] = sum += pow(-log1p(-random_unit(&random)), spec->skew);
    int64_t row = 0;
    for (int64_t i = 0; ends && i < spec->cells; i++) {
        int64_t end = llround(ends[i] / sum * (double)points->count);
        for (; row < end; row++) {
            points->cells[row] = (int32_t)i;
            points->rows[row] = (int32_t)row;
        }
    }
    free(ends);
    return ends != NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* In a histogram the depth of each point is a power of two: sums in any order have the same bits.
 */
static void fill_depth(const OperatorSpec *spec, const BevMap *map, float *depth) {
    double unit = exp2(round(log2((double)spec->cells / (double)spec->points)));
    double each = spec->kind == OPERATOR_HISTOGRAM ? unit : 1;
    for (int64_t row = 0; row < spec->rows; row++)
        depth[row] = (float)each;
    if (spec->kind != OPERATOR_VOXELIZE)
        return;
    for (int64_t i = 0; i < map->intervals; i++)
        for (int32_t k = 0; k < map->interval_lengths[i]; k++)
            depth[map->ranks_depth[map->interval_starts[i] + k]] =
                1 / (float)map->interval_lengths[i];
}

/* ---- the map --------------------------------------------------------------------------------- */

/* Sorts the points by cell; within a cell they keep their order. `starts` (cells + 1) is 0. */
static void sort_points(const OperatorPoints *points, int64_t cells, int32_t *starts, BevMap *map) {
    const int32_t *depths = points->depths ? points->depths : points->rows;
    for (int64_t t = 0; t < points->count; t++)
        if (points->cells[t] >= 0)
            starts[points->cells[t] + 1]++;
    for (int64_t cell = 0; cell < cells; cell++)
        starts[cell + 1] += starts[cell];
    map->points = starts[cells];
    for (int64_t t = 0; t < points->count; t++) {
        if (points->cells[t] < 0)
            continue;
        int32_t at = starts[points->cells[t]]++;
        map->ranks_bev[at] = points->cells[t];
        map->ranks_feat[at] = points->rows[t];
        map->ranks_depth[at] = depths[t];
        if (map->weights)
            map->weights[at] = points->weights[t];
    }
}

bool operator_map(const OperatorPoints *points, int64_t cells, BevMap *map, Err *err) {
    int32_t *starts = calloc((size_t)cells + 1, sizeof *starts);
    bool ok = starts ? scatter_allocate(map, points->count, 0, points->weights != NULL, err)
                     : err_no_memory(err, "scatter map", "choose fewer points");
    if (ok)
        sort_points(points, cells, starts, map);
    free(starts);
    return ok && scatter_find_intervals(map, err);
}

/* ---- the whole scene ------------------------------------------------------------------------- */

/* Draws the random points and features of an operator. */
static bool draw_points(const OperatorSpec *spec, const char *where, OperatorPoints *points,
                        float *feat, Err *err) {
    static bool (*const draws[OPERATOR_COUNT])(const OperatorSpec *, OperatorPoints *) = {
        [OPERATOR_HISTOGRAM] = draw_values,
        [OPERATOR_EMBEDDING_BAG] = draw_lookups,
        [OPERATOR_SEGMENTS] = draw_lengths,
    };
    /* another random sequence than that of the points */
    uint64_t random = spec->seed ^ 0x6665617475726573;
    if (spec->kind == OPERATOR_VOXELIZE)
        return operator_sweep(spec, where, points, feat, err);
    for (int64_t i = 0; i < spec->rows * spec->channels; i++)
        feat[i] = spec->kind == OPERATOR_HISTOGRAM ? 1 : (float)(2 * random_unit(&random) - 1);
    return draws[spec->kind](spec, points) || err_no_memory(err, where, "choose fewer points");
}

bool operator_build(const OperatorSpec *wanted, const char *where, Scene *scene, Err *err) {
    OperatorSpec spec = *wanted;
    if (spec.kind != OPERATOR_EMBEDDING_BAG)
        spec.rows = spec.points;
    if (!check_spec(&spec, where, err))
        return false;
    scene->has_operator = scene->has_map = true;
    scene->operator_spec = spec;
    scene->channels = spec.channels;
    scene->seed = spec.seed;
    scene->temperature = 1;
    BevShape *shape = &scene->shape;
    *shape = (BevShape){.cameras = 1, .depth_bins = 1, .channels = spec.channels};
    operator_rectangle(spec.rows, SCENE_MAX_FEATURES, &shape->feat_h, &shape->feat_w);
    operator_rectangle(spec.cells, (int64_t)ceil(sqrt((double)spec.cells) - 1e-9), &shape->ny,
                       &shape->nx);
    if (!scene_check_size(&scene->shape, where, err))
        return false;
    size_t count = (size_t)spec.points;
    OperatorPoints points = {.count = spec.points,
                             .cells = malloc(count * sizeof *points.cells),
                             .rows = malloc(count * sizeof *points.rows)};
    scene->tensors.depth = calloc(features_depth_count(&scene->shape), sizeof(float));
    scene->tensors.feat = calloc(features_feat_count(&scene->shape), sizeof(float));
    bool ok = points.cells && points.rows && scene->tensors.depth && scene->tensors.feat;
    ok = ok ? draw_points(&spec, where, &points, scene->tensors.feat, err) &&
                  operator_map(&points, spec.cells, &scene->map, err)
            : err_no_memory(err, where, "choose fewer points");
    if (ok)
        fill_depth(&spec, &scene->map, scene->tensors.depth);
    free(points.cells);
    free(points.rows);
    return ok;
}

bool operator_change(Scene *scene, const OperatorChange *change, Err *err) {
    Scene next = {.channels = 0};
    OperatorSpec spec = scene->operator_spec;
    if (change->skewed)
        spec.skew = change->skew;
    if (change->points)
        spec.points = change->points;
    if (!scene->has_operator && (change->skewed || change->points))
        return err_set(err, ERR_USAGE, scene->name, "such as bevscope bench histogram --skew 1",
                       "--skew and --points are for operator scenes; this one has %s",
                       scene->has_rig ? "cameras" : "a map from a file");
    if (spec.skew == scene->operator_spec.skew && spec.points == scene->operator_spec.points)
        return true;
    if (!operator_build(&spec, scene->name, &next, err)) {
        scene_free(&next);
        return false;
    }
    memcpy(next.name, scene->name, sizeof next.name);
    memcpy(next.title, scene->title, sizeof next.title);
    scene_free(scene);
    *scene = next;
    return true;
}

void operator_label(const OperatorChange *change, char *text, size_t size) {
    if (change->skewed)
        text_add(text, size, ", skew %g", change->skew);
    if (change->points)
        text_add(text, size, ", %lld points", (long long)change->points);
}

void operator_describe(const OperatorSpec *spec, char *text, size_t size) {
    const OperatorInfo *info = &operator_kinds[spec->kind];
    snprintf(text, size, "%s, no cameras: %s %s", info->title,
             text_of_unit(UNIT_COUNT, (double)spec->points).text, info->points);
    if (spec->kind == OPERATOR_EMBEDDING_BAG)
        text_add(text, size, " of %s rows", text_of_unit(UNIT_COUNT, (double)spec->rows).text);
    text_add(text, size, ", %s %s, skew %g", text_of_unit(UNIT_COUNT, (double)spec->cells).text,
             info->cells, spec->skew);
}
