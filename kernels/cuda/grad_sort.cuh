/* SPDX-License-Identifier: MIT */
// Sorts points by pixel or by other keys: `prepare` of the backward kernels uses it.
#pragma once

#include "kernels/cuda/common.cuh"

// Device arrays of `points` elements each; the sort needs the spare ones.
struct GradKeys {
    uint64_t *keys, *spare_keys;
    int *points, *spare_points;
};

// Sorts `points` by `keys`; equal keys stay in order. No key is above `largest`. Afterwards the
// arrays may have changed places with the spare ones.
bool grad_sort(GradKeys *keys, int64_t points, uint64_t largest, const char *where, Err *err);

// Replaces values[i] by the sum of all values before i, for i in [0, count).
bool grad_scan(int *values, int64_t count, const char *where, Err *err);
