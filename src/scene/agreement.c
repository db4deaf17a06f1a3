/* SPDX-License-Identifier: MIT */
#include "src/scene/agreement.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ENOUGH = 0.999;
/* of the largest coordinate: the rounding error of FP32 */
static const double EDGE = 4 * FLT_EPSILON;
/* the least share of points that counts as explained */
static const double EXPLAINS = 0.97;
enum { SAMPLE = 100000 }; /* points on which conventions are tried */

/* ---- conventions ----------------------------------------------------------------------------- */

typedef enum { ROWS_FIRST, X_MAJOR, HEIGHT_LAST, ORDERS } Order;

/* A convention by which a point becomes a cell number. */
typedef struct {
    bool truncate;
    Order order;
    bool flip_x, flip_y;
} Reading;

static const char *const order_names[ORDERS] = {
    [X_MAJOR] = "cells numbered x * ny + y, transposed",
    [HEIGHT_LAST] = "cells numbered (x * ny + y) * nz + z",
};

static void add_words(char *text, size_t size, const char *words) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", words);
}

/* Writes in words how a reading of the arrays differs from the rig's own conventions. */
static void describe_reading(const Rig *rig, const Reading *reading, char *text, size_t size) {
    static const char *const flips[] = {"", "mirrored in x", "mirrored in y",
                                        "turned by 180 degrees"};
    const int flip = reading->flip_x + 2 * reading->flip_y;
    text[0] = '\0';
    if (order_names[reading->order])
        add_words(text, size, order_names[reading->order]);
    if (flip)
        add_words(text, size, flips[flip]);
    if (reading->truncate != rig->grid.truncate)
        add_words(text, size, reading->truncate ? "rounding truncate" : "rounding floor");
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct {
    const Rig *rig;
    BevShape shape;
    int slices;
    GridAxes axes;
    double edge_m;      /* a point that is nearer to a cell's edge may be in either cell */
    int32_t *cells;     /* by ranks_depth: the cell of each point in the arrays; -1: none */
    double *directions; /* (camera, h, w, 3) */
} Both;

/* Returns the number of the point's cell. -1: outside the grid. */
static int64_t cell_number(const Both *both, const Reading *reading, const double ego_m[3]) {
    const int64_t nx = both->rig->grid.nx, ny = both->rig->grid.ny;
    int64_t at[3];
    for (int i = 0; i < 3; i++) {
        double q = (ego_m[i] - both->axes.min_m[i]) / both->axes.cell_m[i];
        if (!(reading->truncate ? q > -1 : ego_m[i] >= both->axes.min_m[i]) ||
            !(ego_m[i] < both->axes.max_m[i]))
            return -1;
        at[i] = (int64_t)q;
    }
    int64_t x = reading->flip_x ? nx - 1 - at[0] : at[0],
            y = reading->flip_y ? ny - 1 - at[1] : at[1];
    if (reading->order == X_MAJOR)
        return (at[2] * nx + x) * ny + y;
    if (reading->order == HEIGHT_LAST)
        return (x * ny + y) * both->slices + at[2];
    return (at[2] * ny + y) * nx + x;
}

/* Whether rounding to FP32 may move the point into that cell, or out of the grid (-1). Tests
 * whether a corner of a small box around the point lies in the cell. */
static bool is_at_edge(const Both *both, const Reading *reading, const double ego_m[3],
                       int64_t cell) {
    for (int corner = 0; corner < 8; corner++) {
        double near_m[3];
        for (int axis = 0; axis < 3; axis++)
            near_m[axis] = ego_m[axis] + (corner >> axis & 1 ? both->edge_m : -both->edge_m);
        if (cell_number(both, reading, near_m) == cell)
            return true;
    }
    return false;
}

/* Counts whether the arrays and the calibration put a point into the same cell. */
static void count_point(const Both *both, const Reading *reading, int64_t rank,
                        const double ego_m[3], MapAgreement *found) {
    int64_t mine = cell_number(both, reading, ego_m), its = both->cells[rank];
    if (mine < 0 && its < 0)
        return;
    bool edge = mine != its && is_at_edge(both, reading, ego_m, its);
    found->points++;
    found->same += mine == its || edge;
    found->edges += edge;
}

/* Counts the points of the frustum, or of every `step`th pixel of each plane, that have the same
 * cell in the arrays and by the calibration. */
static MapAgreement count_same(const Both *both, const Reading *reading, int64_t step) {
    const BevShape *s = &both->shape;
    const int64_t pixels = s->feat_h * s->feat_w;
    MapAgreement found = {0};
    for (int64_t plane = 0; plane < s->cameras * s->depth_bins; plane++) {
        int64_t camera = plane / s->depth_bins;
        double depth_m = frustum_depth_m(&both->rig->frustum, (double)(plane % s->depth_bins));
        const double *origin_m = both->rig->cameras[camera].position_m;
        for (int64_t pixel = plane % step; pixel < pixels; pixel += step) {
            const double *direction = both->directions + 3 * (camera * pixels + pixel);
            double ego_m[3];
            for (int axis = 0; axis < 3; axis++)
                ego_m[axis] = origin_m[axis] + depth_m * direction[axis];
            count_point(both, reading, plane * pixels + pixel, ego_m, &found);
        }
    }
    return found;
}

/* Returns the share of points with the same cell. */
static double same_share(MapAgreement found) {
    return found.points ? (double)found.same / (double)found.points : 0;
}

/* ---- the best reading ------------------------------------------------------------------------ */

/* Finds the convention under which most points agree. */
static Reading find_best_reading(const Both *both, int64_t step) {
    const bool given = both->rig->grid.truncate;
    Reading best = {.truncate = given};
    double most = same_share(count_same(both, &best, step));
    for (int i = 0; i < 2 * ORDERS * 4; i++) {
        Reading reading = {.truncate = (i & 1) != given,
                           .flip_x = i >> 1 & 1,
                           .flip_y = i >> 2 & 1,
                           .order = (Order)(i >> 3)};
        double its = same_share(count_same(both, &reading, step));
        if ((reading.order == HEIGHT_LAST && both->slices < 2) || its <= most)
            continue;
        most = its;
        best = reading;
    }
    return best;
}

/* Writes how many points agree, and which convention would explain the others. */
static void describe_difference(const Both *both, MapAgreement found, char *remark, size_t size) {
    const BevShape *s = &both->shape;
    int64_t all = s->cameras * s->depth_bins * s->feat_h * s->feat_w;
    Reading reading = find_best_reading(both, 1 + all / SAMPLE);
    MapAgreement then = count_same(both, &reading, 1);
    char words[256];
    describe_reading(both->rig, &reading, words, sizeof words);
    int used =
        snprintf(remark, size, "%lld of %lld points of the index arrays agree with the calibration",
                 (long long)found.same, (long long)found.points);
    if (words[0] && same_share(then) > EXPLAINS)
        snprintf(remark + used, size - (size_t)used, ", %lld of %lld with %s", (long long)then.same,
                 (long long)then.points, words);
    else
        snprintf(remark + used, size - (size_t)used,
                 ": they are of another rig, moment or ego frame");
}

/* Returns the cell of each frustum point by the arrays, -1 without one. The caller frees. */
static int32_t *cells_by_rank(const BevMap *map, const BevShape *s) {
    size_t bytes = (size_t)(s->cameras * s->depth_bins * s->feat_h * s->feat_w) * sizeof(int32_t);
    int32_t *cells = malloc(bytes);
    if (!cells)
        return NULL;
    memset(cells, -1, bytes);
    for (int64_t i = 0; i < map->points; i++)
        cells[map->ranks_depth[i]] = map->ranks_bev[i];
    return cells;
}

/* Finds each frustum point's cell by the arrays, and its ray by the calibration. */
static bool compare_open(Both *both, const Rig *rig, const BevMap *map) {
    const BevShape *s = &both->shape;
    *both = (Both){.rig = rig,
                   .shape = rig_shape(rig, 1),
                   .slices = grid_slices(&rig->grid),
                   .axes = axes_of_grid(&rig->grid)};
    for (int i = 0; i < 3; i++)
        both->edge_m =
            fmax(both->edge_m, EDGE * fmax(fabs(both->axes.min_m[i]), fabs(both->axes.max_m[i])));
    both->cells = cells_by_rank(map, s);
    both->directions =
        malloc(3 * (size_t)(s->cameras * s->feat_h * s->feat_w) * sizeof *both->directions);
    if (!both->cells || !both->directions)
        return false;
    rig_directions(rig, both->directions);
    return true;
}

MapAgreement agreement_find(const Rig *rig, const BevMap *map, char *remark, size_t size) {
    Both both;
    MapAgreement found = {0};
    remark[0] = '\0';
    if (compare_open(&both, rig, map)) {
        found = count_same(&both, &(Reading){.truncate = rig->grid.truncate}, 1);
        if (found.points && same_share(found) < ENOUGH)
            describe_difference(&both, found, remark, size);
    }
    free(both.cells);
    free(both.directions);
    return found;
}

/* ---- numbering, without a calibration ---------------------------------------------------------
 * Seen from above, the rays of a picture turn to the right from column to column. Cells of a
 * transposed grid turn them to the left. */

enum { LEAST_TURNS = 64 };       /* fewer turns decide nothing */
static const double CLEAR = 0.9; /* the least share of turns that go one way */

/* Turns between rays, and how many of them go to the right. */
typedef struct {
    int64_t all, right;
} Turns;

/* Adds a turn: from the ray through `near` and `far` to the ray through `beside`. A cell's number
 * is row * stride + column. */
static void add_turn(Turns *turns, int32_t near, int32_t far, int32_t beside, int32_t stride) {
    int64_t forward[] = {far % stride - near % stride, far / stride - near / stride},
            aside[] = {beside % stride - near % stride, beside / stride - near / stride};
    int64_t cross = forward[0] * aside[1] - forward[1] * aside[0];
    turns->all += cross != 0;
    turns->right += cross < 0;
}

/* Counts the turns of all cameras. Steps are an eighth of the bins and of the columns. */
static Turns count_turns(const int32_t *cells, const BevShape *s, int64_t stride) {
    const int64_t plane = s->feat_h * s->feat_w, deeper = 1 + s->depth_bins / 8;
    const int64_t further = 1 + s->feat_w / 8;
    const int32_t slice = (int32_t)(s->nx * s->ny / (s->nz ? s->nz : 1));
    Turns turns = {0};
    for (int64_t image = 0; image < s->cameras * s->depth_bins; image++)
        for (int64_t i = 0; i < plane; i++) {
            if (image % s->depth_bins + deeper >= s->depth_bins ||
                i % s->feat_w + further >= s->feat_w)
                continue;
            const int32_t *at = cells + image * plane + i;
            int32_t near = at[0], far = at[deeper * plane], beside = at[further];
            if (near >= 0 && far >= 0 && beside >= 0)
                add_turn(&turns, near % slice, far % slice, beside % slice, (int32_t)stride);
        }
    return turns;
}

/* Returns the share of turns to the right. Without enough turns it is 1. */
static double right_share(Turns turns) {
    return turns.all < LEAST_TURNS ? 1 : (double)turns.right / (double)turns.all;
}

bool numbering_is_transposed(const BevMap *map, const BevShape *shape) {
    const int64_t ny = shape->ny / (shape->nz ? shape->nz : 1);
    int32_t *cells = cells_by_rank(map, shape);
    if (!cells)
        return false;
    const double said = right_share(count_turns(cells, shape, shape->nx)),
                 other = right_share(count_turns(cells, shape, ny));
    free(cells);
    return said < 1 - CLEAR || (said < CLEAR && other < 1 - CLEAR);
}
