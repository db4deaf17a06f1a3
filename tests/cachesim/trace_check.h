/* SPDX-License-Identifier: MIT */
/* What the tests of the replay share. */
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
