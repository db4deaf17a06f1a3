/* SPDX-License-Identifier: MIT */
/* Sorts points for the backward kernels. This file has no row. It is apart because the library's
 * sort takes long to compile. */
#include "kernels/cuda/row.h"

#ifdef __CUDACC__
#include "kernels/cuda/grad_sort.cuh"

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

bool grad_sort(GradKeys *keys, int64_t points, uint64_t largest, const char *where, Err *err) {
    int bits = std::bit_width(largest);
    cub::DoubleBuffer<uint64_t> sorted_keys(keys->keys, keys->spare_keys);
    cub::DoubleBuffer<int> sorted_points(keys->points, keys->spare_points);
    bool ok = run_cub(where, err, [&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, sorted_keys, sorted_points, points, 0,
                                               bits);
    });
    *keys = {sorted_keys.Current(), sorted_keys.Alternate(), sorted_points.Current(),
             sorted_points.Alternate()};
    return ok;
}

bool grad_scan(int *values, int64_t count, const char *where, Err *err) {
    return run_cub(where, err, [&](void *memory, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, bytes, values, values, count);
    });
}
#else
typedef int grad_sort_is_cuda; /* a file of plain C must declare something */
#endif
