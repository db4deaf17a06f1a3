/* SPDX-License-Identifier: MIT */
/* A problem of the published size. */
#pragma once

#include "kernels/codec.h"

/* The canonical problem's shapes with the counts of a real calibration; no arrays behind them. */
static inline BevProblem canonical(BevDtype dtype) {
    const BevDtypeInfo *info = &bev_dtypes[dtype];
    int64_t pixels = 6 * 16 * 44;
    return (BevProblem){
        .shape = {6, 59, 16, 44, 80, 200, 200},
        .dtype = dtype,
        .map = {.points = 209009, .intervals = 16007},
        .depth = {.dtype = info->depth, .rows = 1, .row_len = pixels * 59, .scale = 1},
        .feat = {.dtype = dtype, .rows = pixels, .row_len = 80, .scale = 1},
        .out = {.dtype = info->out, .rows = 200 * 200, .row_len = 80, .scale = 1},
    };
}
