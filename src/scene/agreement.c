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
/* the least shares of points that count as explained; turn and shift are estimated */
static const double EXPLAINS = 0.97, FRAME_EXPLAINS = 0.85;
enum { SAMPLE = 100000 }; /* points on which conventions are tried */

/* ---- conventions ----------------------------------------------------------------------------- */

typedef enum { ROWS_FIRST, X_MAJOR, HEIGHT_LAST, ORDERS } Order;

/* A convention by which a point becomes a cell number. */
typedef struct {
    bool truncate;
    Order order;
    bool flip_x, flip_y;
    bool frame;     /* `turn` and `shift_m` change x and y first; heights are not compared */
    double turn[4]; /* (2, 2) */
    double shift_m[2];
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
    char words[160];
    text[0] = '\0';
    if (reading->frame) {
        double degrees = atan2(reading->turn[2], reading->turn[0]) * 180 / M_PI;
        bool mirrored = reading->turn[0] * reading->turn[3] < reading->turn[1] * reading->turn[2];
        snprintf(words, sizeof words,
                 "another frame, %sturned by %.4g degrees, moved by %.2f, %.2f m",
                 mirrored ? "mirrored, " : "", fabs(degrees) < 1e-9 ? 0 : degrees,
                 reading->shift_m[0], reading->shift_m[1]);
        add_words(text, size, words);
    }
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

/* Finds the cell of a point along each axis. False: the point is outside the grid. */
static bool find_cell_axes(const Both *both, const Reading *reading, const double ego_m[3],
                           int64_t at[3]) {
    double p[3] = {ego_m[0], ego_m[1], ego_m[2]};
    if (reading->frame)
        for (int i = 0; i < 2; i++)
            p[i] = reading->turn[2 * i] * ego_m[0] + reading->turn[2 * i + 1] * ego_m[1] +
                   reading->shift_m[i];
    for (int i = 0; i < 3 - reading->frame; i++) {
        double q = (p[i] - both->axes.min_m[i]) / both->axes.cell_m[i];
        if (!(reading->truncate ? q > -1 : p[i] >= both->axes.min_m[i]) ||
            !(p[i] < both->axes.max_m[i]))
            return false;
        at[i] = (int64_t)q;
    }
    return true;
}

/* Returns the number of the point's cell. Without heights, in the lowest slice. -1: outside the
 * grid. */
static int64_t cell_number(const Both *both, const Reading *reading, const double ego_m[3]) {
    const int64_t nx = both->rig->grid.nx, ny = both->rig->grid.ny;
    int64_t at[3] = {0};
    if (!find_cell_axes(both, reading, ego_m, at))
        return -1;
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

/* Acts on a point with index `rank` in depth and place `ego_m` by the calibration. */
typedef void Visit(const Both *both, int64_t rank, const double ego_m[3], void *context);

/* Visits every point of the frustum, or every `step`th pixel of each plane. */
static void each_point(const Both *both, int64_t step, Visit *visit, void *context) {
    const BevShape *s = &both->shape;
    const int64_t pixels = s->feat_h * s->feat_w;
    for (int64_t plane = 0; plane < s->cameras * s->depth_bins; plane++) {
        int64_t camera = plane / s->depth_bins;
        double depth_m = frustum_depth_m(&both->rig->frustum, (double)(plane % s->depth_bins));
        const double *origin_m = both->rig->cameras[camera].position_m;
        for (int64_t pixel = plane % step; pixel < pixels; pixel += step) {
            const double *direction = both->directions + 3 * (camera * pixels + pixel);
            double ego_m[3];
            point_on_ray(origin_m, direction, depth_m, ego_m);
            visit(both, plane * pixels + pixel, ego_m, context);
        }
    }
}

typedef struct {
    const Reading *reading;
    MapAgreement found;
} Count;

/* Counts whether the arrays and the calibration put a point into the same cell. */
static void count_point(const Both *both, int64_t rank, const double ego_m[3], void *context) {
    Count *count = context;
    int64_t mine = cell_number(both, count->reading, ego_m), its = both->cells[rank];
    /* points that are only in the calibration may lie at other heights */
    if (count->reading->frame) {
        count->found.points += its >= 0;
        count->found.same +=
            its >= 0 && its % ((int64_t)both->rig->grid.nx * both->rig->grid.ny) == mine;
        return;
    }
    if (mine < 0 && its < 0)
        return;
    bool edge = mine != its && is_at_edge(both, count->reading, ego_m, its);
    count->found.points++;
    count->found.same += mine == its || edge;
    count->found.edges += edge;
}

/* Counts the points that have the same cell in the arrays and by the calibration. */
static MapAgreement count_same(const Both *both, const Reading *reading, int64_t step) {
    Count count = {.reading = reading};
    each_point(both, step, count_point, &count);
    return count.found;
}

static double same_share(MapAgreement found) {
    return found.points ? (double)found.same / (double)found.points : 0;
}

/* ---- another ego frame: finds the turn and shift that explain the arrays' cells -------------- */

typedef struct {
    /* sums of the points' places by the calibration (p) and by the arrays (q) */
    double n, p[2], q[2], pq[4];
} Sums;

/* Adds a point's two places, by arrays and by calibration, to the sums of the fit. */
static void add_point_pair(const Both *both, int64_t rank, const double ego_m[3], void *context) {
    Sums *sums = context;
    const Grid *grid = &both->rig->grid;
    int64_t cell = both->cells[rank];
    if (cell < 0)
        return;
    const double at[2] = {(double)(cell % grid->nx), (double)(cell / grid->nx % grid->ny)};
    sums->n++;
    for (int i = 0; i < 2; i++) {
        double q = both->axes.min_m[i] + (at[i] + 0.5) * both->axes.cell_m[i];
        sums->q[i] += q;
        sums->p[i] += ego_m[i];
        for (int k = 0; k < 2; k++)
            sums->pq[2 * i + k] += q * ego_m[k];
    }
}

/* Finds the turn and shift by least squares in the plane. `whole`: rounds to degrees. */
static Reading fit_frame(const Both *both, int64_t step, bool truncate, bool whole) {
    Sums sums = {0};
    each_point(both, step, add_point_pair, &sums);
    double c[4], n = sums.n > 0 ? sums.n : 1;
    for (int i = 0; i < 4; i++)
        c[i] = sums.pq[i] / n - sums.q[i / 2] / n * (sums.p[i % 2] / n);
    double plain[2] = {c[0] + c[3], c[2] - c[1]}, mirror[2] = {c[0] - c[3], c[2] + c[1]};
    bool mirrored = hypot(mirror[0], mirror[1]) > hypot(plain[0], plain[1]);
    const double *best = mirrored ? mirror : plain;
    double degrees = atan2(best[1], best[0]) * 180 / M_PI;
    degrees = whole ? round(degrees) : degrees;
    double cosine = cos(degrees * M_PI / 180), sine = sin(degrees * M_PI / 180);
    double sign = mirrored ? -1 : 1;
    Reading reading = {
        .truncate = truncate, .frame = true, .turn = {cosine, -sign * sine, sine, sign * cosine}};
    for (int i = 0; i < 2; i++)
        reading.shift_m[i] =
            (sums.q[i] - reading.turn[2 * i] * sums.p[0] - reading.turn[2 * i + 1] * sums.p[1]) / n;
    return reading;
}

/* ---- the best reading ------------------------------------------------------------------------ */

/* Finds the convention under which most points agree. If too few agree under any, fits a turn and a
 * shift. */
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
    for (int whole = 1; most < EXPLAINS && whole >= 0; whole--) {
        Reading frame = fit_frame(both, step, given, whole);
        double its = same_share(count_same(both, &frame, step));
        if (its > most)
            best = frame;
        most = fmax(most, its);
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
    if (words[0] && same_share(then) > (reading.frame ? FRAME_EXPLAINS : EXPLAINS))
        snprintf(remark + used, size - (size_t)used, ", %lld of %lld with %s", (long long)then.same,
                 (long long)then.points, words);
    else
        snprintf(remark + used, size - (size_t)used, ": they are of another rig or another moment");
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
    const int32_t slice = (int32_t)(s->nx * s->ny / shape_slices(s));
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
    const int64_t ny = shape->ny / shape_slices(shape);
    int32_t *cells = cells_by_rank(map, shape);
    if (!cells)
        return false;
    const double said = right_share(count_turns(cells, shape, shape->nx)),
                 other = right_share(count_turns(cells, shape, ny));
    free(cells);
    return said < 1 - CLEAR || (said < CLEAR && other < 1 - CLEAR);
}
