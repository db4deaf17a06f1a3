/* SPDX-License-Identifier: MIT */
/* Compares index arrays with a calibration. Reports whether both mean the same cells, and which
 * other convention explains a difference. */
#include "src/scene/scene_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AGREES = 0.999; /* the share of points from which on a map agrees */
static const double EDGE_SHARE = 4 * FLT_EPSILON; /* FP32's error / the largest coordinate */
/* the least shares of points that count as explained; turn and shift are estimated */
static const double EXPLAINS = 0.97, FRAME_EXPLAINS = 0.85;
enum { SAMPLE = 100000 }; /* points on which conventions are tried */

/* ---- conventions ----------------------------------------------------------------------------- */

typedef enum { ROWS_FIRST, X_MAJOR, HEIGHT_LAST, ORDERS } Order;

/* A rule by which a point becomes a cell number. */
typedef struct {
    bool truncate;
    Order order;
    bool flip_x, flip_y;
    bool frame;     /* `turn` and `shift_m` change x and y first; heights are not compared */
    double turn[4]; /* (2, 2) */
    double shift_m[2];
} NumberingRule;
static const char *const order_names[ORDERS] = {
    [X_MAJOR] = "cells numbered x * ny + y, transposed",
    [HEIGHT_LAST] = "cells numbered (x * ny + y) * nz + z",
};

static void add_phrase(char *text, size_t size, const char *words) {
    text_add(text, size, "%s%s", text[0] ? ", " : "", words);
}

/* Writes in words how a rule differs from the rig's own conventions. */
static void describe_rule(const Rig *rig, const NumberingRule *rule, char *text, size_t size) {
    static const char *const flips[] = {"", "mirrored in x", "mirrored in y",
                                        "turned by 180 degrees"};
    const int flip = rule->flip_x + 2 * rule->flip_y;
    text[0] = '\0';
    if (rule->frame) {
        double degrees = atan2(rule->turn[2], rule->turn[0]) * 180 / M_PI;
        const bool mirrored = rule->turn[0] * rule->turn[3] < rule->turn[1] * rule->turn[2];
        if (fabs(degrees) < 1e-9)
            degrees = 0;
        snprintf(text, size, "another frame, %sturned by %.4g degrees, moved by %.2f, %.2f m",
                 mirrored ? "mirrored, " : "", degrees, rule->shift_m[0], rule->shift_m[1]);
    }
    if (order_names[rule->order])
        add_phrase(text, size, order_names[rule->order]);
    if (flip)
        add_phrase(text, size, flips[flip]);
    if (rule->truncate != rig->grid.truncate)
        add_phrase(text, size, rule->truncate ? "rounding truncate" : "rounding floor");
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct {
    const Rig *rig;
    BevShape shape;
    GridAxes axes;
    double edge_m;      /* a point that is nearer to an edge between cells may lie in either cell */
    int32_t *cells;     /* [ranks_depth]: the cell of the point in the arrays; -1: none */
    double *directions; /* (camera, h, w, 3) */
} Comparison;

/* Finds the cell of a point along each axis. False: the point is outside the grid. */
static bool find_cell_axes(const Comparison *pair, const NumberingRule *rule, const double ego_m[3],
                           int64_t at[3]) {
    double p[3] = {ego_m[0], ego_m[1], ego_m[2]};
    const int compared_axes = rule->frame ? 2 : 3;
    if (rule->frame)
        for (int i = 0; i < 2; i++)
            p[i] =
                rule->turn[2 * i] * ego_m[0] + rule->turn[2 * i + 1] * ego_m[1] + rule->shift_m[i];
    for (int i = 0; i < compared_axes; i++) {
        double q = (p[i] - pair->axes.min_m[i]) / pair->axes.cell_m[i];
        const bool above_min = rule->truncate ? q > -1 : p[i] >= pair->axes.min_m[i];
        const bool below_max = p[i] < pair->axes.max_m[i];
        if (!above_min || !below_max)
            return false;
        at[i] = (int64_t)q;
    }
    return true;
}

/* Returns the number of the point's cell. Where heights are not compared, the slice is the lowest.
 * -1: the point is outside the grid. */
static int64_t cell_number(const Comparison *pair, const NumberingRule *rule,
                           const double ego_m[3]) {
    const int64_t nx = pair->rig->grid.nx, ny = pair->rig->grid.ny;
    int64_t at[3] = {0};
    if (!find_cell_axes(pair, rule, ego_m, at))
        return -1;
    int64_t x = rule->flip_x ? nx - 1 - at[0] : at[0], y = rule->flip_y ? ny - 1 - at[1] : at[1];
    if (rule->order == X_MAJOR)
        return (at[2] * nx + x) * ny + y;
    if (rule->order == HEIGHT_LAST)
        return (x * ny + y) * pair->axes.count[2] + at[2];
    return (at[2] * ny + y) * nx + x;
}

/* Whether rounding to FP32 may move the point into `cell` (-1: out of the grid). Tests whether a
 * corner of a small box around the point lies there. */
static bool is_at_edge(const Comparison *pair, const NumberingRule *rule, const double ego_m[3],
                       int64_t cell) {
    for (int corner = 0; corner < 8; corner++) {
        double near_m[3];
        for (int axis = 0; axis < 3; axis++)
            near_m[axis] = ego_m[axis] + (corner >> axis & 1 ? pair->edge_m : -pair->edge_m);
        if (cell_number(pair, rule, near_m) == cell)
            return true;
    }
    return false;
}

/* A walk over the points of the frustum. A plane is one depth of a camera. The walk takes every
 * `step`th pixel of each plane, and begins with plane -1. */
typedef struct {
    int64_t step, plane, pixel;
    double depth_m;
    int64_t rank;    /* index of the point in depth */
    double ego_m[3]; /* the point's place by the calibration */
} Walk;

/* Moves the walk to its next point. False: the walk has ended. */
static bool next_point(const Comparison *pair, Walk *walk) {
    const BevShape *s = &pair->shape;
    const int64_t pixels = s->feat_h * s->feat_w;
    walk->pixel += walk->step;
    while (walk->plane < 0 || walk->pixel >= pixels) {
        if (++walk->plane == s->cameras * s->depth_bins)
            return false;
        walk->pixel = walk->plane % walk->step;
        walk->depth_m = frustum_depth_m(&pair->rig->frustum, (double)(walk->plane % s->depth_bins));
    }
    const int64_t camera = walk->plane / s->depth_bins;
    walk->rank = walk->plane * pixels + walk->pixel;
    point_on_ray(pair->rig->cameras[camera].position_m,
                 pair->directions + 3 * (camera * pixels + walk->pixel), walk->depth_m,
                 walk->ego_m);
    return true;
}

/* Counts the points that have the same cell in the arrays and by the calibration. */
static MapAgreement count_agreeing(const Comparison *pair, const NumberingRule *rule,
                                   int64_t step) {
    const int64_t plane = (int64_t)pair->rig->grid.nx * pair->rig->grid.ny;
    MapAgreement found = {0};
    for (Walk walk = {.step = step, .plane = -1}; next_point(pair, &walk);) {
        int64_t by_rig = cell_number(pair, rule, walk.ego_m), by_arrays = pair->cells[walk.rank];
        /* With another frame, a point without a cell in the arrays may lie at another height. */
        if (by_arrays < 0 && (rule->frame || by_rig < 0))
            continue;
        const int64_t compared_cell = rule->frame ? by_arrays % plane : by_arrays;
        const bool same = by_rig == compared_cell;
        const bool only_rounded =
            !rule->frame && !same && is_at_edge(pair, rule, walk.ego_m, by_arrays);
        found.points++;
        found.same += same || only_rounded;
        found.edges += only_rounded;
    }
    return found;
}

static double same_share(MapAgreement found) {
    return found.points ? (double)found.same / (double)found.points : 0;
}

/* ---- another ego frame: finds the turn and shift that explain the arrays' cells -------------- */

typedef struct {
    /* the number of points, and sums of their places by calibration (p) and by arrays (q) */
    double n, p[2], q[2], pq[4];
} Sums;

static Sums sum_places(const Comparison *pair, int64_t step) {
    Sums sums = {0};
    const Grid *grid = &pair->rig->grid;
    for (Walk walk = {.step = step, .plane = -1}; next_point(pair, &walk);) {
        int64_t cell = pair->cells[walk.rank];
        if (cell < 0)
            continue;
        const double at[2] = {(double)(cell % grid->nx), (double)(cell / grid->nx % grid->ny)};
        sums.n++;
        for (int i = 0; i < 2; i++) {
            double q = pair->axes.min_m[i] + (at[i] + 0.5) * pair->axes.cell_m[i];
            sums.q[i] += q;
            sums.p[i] += walk.ego_m[i];
            for (int k = 0; k < 2; k++)
                sums.pq[2 * i + k] += q * walk.ego_m[k];
        }
    }
    return sums;
}

typedef enum { EXACT_ANGLE, WHOLE_DEGREES } Angles;

/* Finds the turn and shift by least squares in the plane. The turn follows from the covariance of
 * the places by the calibration and by the arrays. */
static NumberingRule fit_frame(const Comparison *pair, int64_t step, bool truncate, Angles angles) {
    const Sums sums = sum_places(pair, step);
    double c[4], n = sums.n > 0 ? sums.n : 1; /* c: the covariance */
    for (int i = 0; i < 4; i++)
        c[i] = sums.pq[i] / n - sums.q[i / 2] / n * (sums.p[i % 2] / n);
    /* the best turn, as a direction: without a mirror and with a mirror */
    double plain[2] = {c[0] + c[3], c[2] - c[1]}, mirror[2] = {c[0] - c[3], c[2] + c[1]};
    const bool mirrored = hypot(mirror[0], mirror[1]) > hypot(plain[0], plain[1]);
    const double *best = mirrored ? mirror : plain;
    double degrees = atan2(best[1], best[0]) * 180 / M_PI;
    if (angles == WHOLE_DEGREES)
        degrees = round(degrees);
    double cosine = cos(degrees * M_PI / 180), sine = sin(degrees * M_PI / 180);
    double sign = mirrored ? -1 : 1;
    NumberingRule rule = {
        .truncate = truncate, .frame = true, .turn = {cosine, -sign * sine, sine, sign * cosine}};
    for (int i = 0; i < 2; i++)
        rule.shift_m[i] =
            (sums.q[i] - rule.turn[2 * i] * sums.p[0] - rule.turn[2 * i + 1] * sums.p[1]) / n;
    return rule;
}

/* ---- the best rule ------------------------------------------------------------------------ */

/* Replaces the best rule so far by `rule` if more points agree under it. */
static void try_rule(const Comparison *pair, int64_t step, const NumberingRule *rule,
                     NumberingRule *best, double *best_share) {
    const double share = same_share(count_agreeing(pair, rule, step));
    if (share > *best_share) {
        *best = *rule;
        *best_share = share;
    }
}

/* Finds the convention under which most points agree. If too few agree under any convention, also
 * fits a turn and a shift: first in whole degrees, then exactly. */
static NumberingRule find_best_rule(const Comparison *pair, int64_t step) {
    const bool given = pair->rig->grid.truncate, has_slices = pair->axes.count[2] >= 2;
    NumberingRule best = {.truncate = given};
    double share = same_share(count_agreeing(pair, &best, step));
    for (Order order = 0; order < ORDERS; order++)
        for (int flips = 0; flips < 4; flips++)
            for (int other_rounding = 0; other_rounding <= 1; other_rounding++) {
                const NumberingRule rule = {.truncate = other_rounding ? !given : given,
                                            .flip_x = flips & 1,
                                            .flip_y = flips >> 1 & 1,
                                            .order = order};
                if (order != HEIGHT_LAST || has_slices)
                    try_rule(pair, step, &rule, &best, &share);
            }
    static const Angles tries[] = {WHOLE_DEGREES, EXACT_ANGLE};
    for (int i = 0; i < 2 && share < EXPLAINS; i++) {
        const NumberingRule frame = fit_frame(pair, step, given, tries[i]);
        try_rule(pair, step, &frame, &best, &share);
    }
    return best;
}

/* Writes how many points agree, and which convention would explain the others. */
static void describe_difference(const Comparison *pair, MapAgreement found, char *remark,
                                size_t size) {
    const BevShape *s = &pair->shape;
    int64_t all = s->cameras * s->depth_bins * s->feat_h * s->feat_w;
    NumberingRule rule = find_best_rule(pair, 1 + all / SAMPLE);
    MapAgreement then = count_agreeing(pair, &rule, 1);
    char words[256];
    describe_rule(pair->rig, &rule, words, sizeof words);
    snprintf(remark, size, "%lld of %lld points of the index arrays agree with the calibration",
             (long long)found.same, (long long)found.points);
    if (words[0] && same_share(then) > (rule.frame ? FRAME_EXPLAINS : EXPLAINS))
        text_add(remark, size, ", %lld of %lld with %s", (long long)then.same,
                 (long long)then.points, words);
    else
        text_add(remark, size, ": they are of another rig or another moment");
}

/* Returns each frustum point's cell by the arrays, or -1. The caller frees. NULL: no memory. */
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
static bool open_comparison(Comparison *pair, const Rig *rig, const BevMap *map) {
    const BevShape *s = &pair->shape;
    *pair = (Comparison){.rig = rig, .shape = rig_shape(rig, 1), .axes = axes_of_grid(&rig->grid)};
    for (int i = 0; i < 3; i++)
        pair->edge_m = fmax(
            pair->edge_m, EDGE_SHARE * fmax(fabs(pair->axes.min_m[i]), fabs(pair->axes.max_m[i])));
    pair->cells = cells_by_rank(map, s);
    pair->directions =
        malloc(3 * (size_t)(s->cameras * s->feat_h * s->feat_w) * sizeof *pair->directions);
    if (!pair->cells || !pair->directions)
        return false;
    rig_directions(rig, pair->directions);
    return true;
}

MapAgreement agreement_find(const Rig *rig, const BevMap *map, char *remark, size_t size) {
    Comparison pair;
    MapAgreement found = {0};
    remark[0] = '\0';
    if (open_comparison(&pair, rig, map)) {
        found = count_agreeing(&pair, &(NumberingRule){.truncate = rig->grid.truncate}, 1);
        if (found.points && same_share(found) < AGREES)
            describe_difference(&pair, found, remark, size);
    }
    free(pair.cells);
    free(pair.directions);
    return found;
}

/* ---- numbering, without a calibration ---------------------------------------------------------
 * Seen from above, the rays of a picture turn to the right from column to column. Cells of a
 * transposed grid turn them to the left. */

enum { LEAST_TURNS = 64 };             /* fewer turns decide nothing */
static const double CLEAR_SHARE = 0.9; /* the least share of turns that go one way */

/* Returns the cross product of the directions from cell `near` to the cells `far` and `beside`. The
 * product is positive if `beside` lies to the left. A cell's number is row * stride + column. */
static int64_t turn_between(int32_t near, int32_t far, int32_t beside, int32_t stride) {
    int64_t forward[] = {far % stride - near % stride, far / stride - near / stride},
            aside[] = {beside % stride - near % stride, beside / stride - near / stride};
    return forward[0] * aside[1] - forward[1] * aside[0];
}

/* Returns the share of turns to the right, in all cameras. A turn is measured over an eighth of the
 * bins and an eighth of the columns. Without enough turns the share is 1. */
static double right_share(const int32_t *cells, const BevShape *s, int64_t stride) {
    const int64_t plane = s->feat_h * s->feat_w, deeper = 1 + s->depth_bins / 8;
    const int64_t further = 1 + s->feat_w / 8;
    const int32_t slice = (int32_t)(s->nx * s->ny / shape_slices(s));
    int64_t turns = 0, right = 0;
    for (int64_t image = 0; image < s->cameras * s->depth_bins; image++)
        for (int64_t i = 0; i < plane; i++) {
            const int64_t bin = image % s->depth_bins, column = i % s->feat_w;
            if (bin + deeper >= s->depth_bins || column + further >= s->feat_w)
                continue;
            const int32_t *at = cells + image * plane + i;
            int32_t near = at[0], far = at[deeper * plane], beside = at[further];
            if (near < 0 || far < 0 || beside < 0)
                continue;
            int64_t turn = turn_between(near % slice, far % slice, beside % slice, (int32_t)stride);
            turns += turn != 0;
            right += turn < 0;
        }
    return turns < LEAST_TURNS ? 1 : (double)right / (double)turns;
}

bool numbering_is_transposed(const BevMap *map, const BevShape *shape) {
    const int64_t ny = shape->ny / shape_slices(shape);
    int32_t *cells = cells_by_rank(map, shape);
    if (!cells)
        return false;
    const double by_rows = right_share(cells, shape, shape->nx);
    const double by_columns = right_share(cells, shape, ny); /* as if the grid was transposed */
    free(cells);
    const bool turns_left = by_rows < 1 - CLEAR_SHARE, unclear = by_rows < CLEAR_SHARE;
    return turns_left || (unclear && by_columns < 1 - CLEAR_SHARE);
}
