/* What the tests of the replay share, forward and backward. */
#pragma once

#include "src/cachesim/trace.h"
#include "tests/support/tap.h"

#include <math.h>

static inline void need(bool ok, const Err *err) {
    if (ok)
        return;
    printf("Bail out! %s: %s\n", err->where, err->what);
    exit(EXIT_FAILURE);
}

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
