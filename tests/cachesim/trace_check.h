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

/* Two pixels side by side, two bins, three cells, eight channels; three points in two intervals. */
typedef struct {
    int32_t depth[3], feat[3], bev[3], starts[2], lengths[2];
} SmallMap;

static inline BevProblem small_problem(BevDirection direction, BevDtype dtype, SmallMap *map) {
    BevTensor depth = {.dtype = dtype, .rows = 1, .row_len = 4};
    BevTensor feat = {.dtype = dtype, .rows = 2, .row_len = 8};
    BevTensor out = {.dtype = dtype, .rows = 3, .row_len = 8};
    return (BevProblem){
        .shape = {.cameras = 1,
                  .depth_bins = 2,
                  .feat_h = 1,
                  .feat_w = 2,
                  .channels = 8,
                  .nx = 3,
                  .ny = 1},
        .direction = direction,
        .dtype = dtype,
        .map = {.points = 3,
                .intervals = 2,
                .ranks_depth = map->depth,
                .ranks_feat = map->feat,
                .ranks_bev = map->bev,
                .interval_starts = map->starts,
                .interval_lengths = map->lengths},
        .depth = depth,
        .feat = feat,
        .out = out,
        .grad_out = out,
        .grad_depth = depth,
        .grad_feat = feat,
    };
}
