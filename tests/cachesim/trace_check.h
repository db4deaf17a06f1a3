/* SPDX-License-Identifier: MIT */
/* What the tests of the replay share, forward and backward. */
#pragma once

#include "src/cachesim/trace.h"
#include "tests/support/scenes.h"

#include <math.h>

static inline bool close_to(double value, double expected, double tolerance) {
    bool close = fabs(value - expected) <= tolerance * fabs(expected);
    if (!close)
        tap_note("%.10g instead of %.10g", value, expected);
    return close;
}

static inline TraceCounts count(const char *name, const BevProblem *problem) {
    Err err = {0};
    TraceCounts counts;
    need(trace_replay(bev_kernel_find(name), problem, NULL, &counts, NULL, &err), &err);
    return counts;
}

/* The next traced kernel that takes the problem, from number *i on; NULL: no more. */
static inline const BevKernel *next_traced(const BevProblem *problem, int *i) {
    const BevKernel *kernel;
    do
        kernel = traced_kernel((*i)++);
    while (kernel && bev_refuses(kernel, problem));
    return kernel;
}

/* A figure that is found in two ways. */
typedef struct {
    const char *what;
    double value, expected, tolerance;
} Figure;

static inline void test_figures(const char *scene, const BevKernel *kernel, BevDtype dtype,
                                const Figure *figures, size_t count) {
    for (size_t i = 0; i < count; i++)
        tap_ok(close_to(figures[i].value, figures[i].expected, figures[i].tolerance),
               "%s %s %s: %s", scene, bev_dtypes[dtype].name, kernel->name, figures[i].what);
}

/* Two pixels side by side, two bins, three cells, eight channels; three points in two intervals. */
typedef struct {
    int32_t depth[3], feat[3], bev[3], starts[2], lengths[2];
} SmallMap;

static inline BevProblem small_problem(BevDirection direction, BevDtype dtype, SmallMap *map) {
    BevTensor depth = {.dtype = dtype, .rows = 1, .row_len = 4};
    BevTensor feat = {.dtype = dtype, .rows = 2, .row_len = 8};
    BevTensor out = {.dtype = dtype, .rows = 3, .row_len = 8};
    return (BevProblem){
        .shape = {1, 2, 1, 2, 8, 3, 1},
        .direction = direction,
        .dtype = dtype,
        .map = {3, 2, map->depth, map->feat, map->bev, map->starts, map->lengths, NULL},
        .depth = depth,
        .feat = feat,
        .out = out,
        .grad_out = out,
        .grad_depth = depth,
        .grad_feat = feat,
    };
}
