// Points in another order than the map's, by cell: what `prepare` of the backward kernels builds.
#pragma once

#include "kernels/cuda/common.cuh"

// Device arrays of `points` elements each; the spare ones are room for the sort.
struct GradKeys {
    uint64_t *keys, *spare_keys;
    int *points, *spare_points;
};

// Sorts `points` by `keys`; equal keys stay in order. No key is above `largest`. The arrays may
// have changed places with the spare ones.
bool grad_sort(GradKeys *keys, int64_t points, uint64_t largest, const char *where, Err *err);

// values[i] becomes the sum of all values before i, i in [0, count).
bool grad_scan(int *values, int64_t count, const char *where, Err *err);
