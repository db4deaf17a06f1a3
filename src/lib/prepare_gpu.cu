/* SPDX-License-Identifier: MIT */
// BEVDet's voxel_pooling_prepare_v2 on the GPU: points sorted by cell, and their intervals.
#include "src/lib/lib_cuda.h"

#include "kernels/cuda/common.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace {

constexpr int THREADS = 256;

// The numbers that turn a point into its cell: the grid of a sample, and the points of a sample.
template <typename T> struct Cells {
    const T *points; // (sample, ..., 3)
    T lower[3], size[3];
    int count[3], of_sample;   // cells
    int points_of_sample, all; // all: the points of all samples
    uint32_t none;             // the key of a point outside, larger than all cells

    // Cuts toward zero, which keeps what is less than a cell below the lower end. NaN is outside.
    __device__ uint32_t key(int i) const {
        int at[3];
        for (int axis = 0; axis < 3; axis++) {
            T value = (points[3 * (int64_t)i + axis] - lower[axis]) / size[axis];
            if (!(value > -1 && value < count[axis]))
                return none;
            at[axis] = (int)value;
        }
        return (uint32_t)(i / points_of_sample * of_sample + (at[2] * count[1] + at[1]) * count[0] +
                          at[0]);
    }
};

template <typename T> __global__ void keys_kernel(Cells<T> cells, uint32_t *keys, int *numbers) {
    int64_t i = thread_number();
    if (i >= cells.all)
        return;
    keys[i] = cells.key((int)i);
    numbers[i] = (int)i;
}

// Whether a sorted point is the first of its cell.
struct Starts {
    const uint32_t *keys;
    uint32_t none;
    __device__ bool operator()(int t) const {
        return keys[t] != none && (t == 0 || keys[t] != keys[t - 1]);
    }
};

// Thread t tells the feature row of sorted point t; the last one inside tells their number.
__global__ void features_kernel(BevpoolPrepared out, int points, uint32_t none, int plane,
                                int bins) {
    int t = (int)thread_number();
    if (t >= points || (uint32_t)out.ranks_bev[t] == none)
        return;
    int depth = out.ranks_depth[t];
    out.ranks_feat[t] = depth / (plane * bins) * plane + depth % plane;
    if (t == points - 1 || (uint32_t)out.ranks_bev[t + 1] == none)
        out.counts[0] = t + 1;
}

__global__ void lengths_kernel(BevpoolPrepared out, int most) {
    int i = (int)thread_number(), intervals = out.counts[1];
    if (i < most && i < intervals)
        out.interval_lengths[i] = (i + 1 < intervals ? out.interval_starts[i + 1] : out.counts[0]) -
                                  out.interval_starts[i];
}

// The workspace: keys and numbers of points in their own order, then CUB's memory.
struct Room {
    uint32_t *keys;
    int *numbers;
    void *temporary;
    size_t temporary_bytes, bytes;
};

int key_bits(uint32_t none) {
    return 32 - __builtin_clz(none | 1);
}

// Returns the number of points of one sample.
int points_of(const BevpoolShape *s) {
    return (int)(s->cameras * s->depth_bins * s->feat_h * s->feat_w);
}

int cells_of(const BevpoolShape *s) {
    return (int)(s->nz * s->ny * s->nx);
}

bool room_of(const BevpoolShape *shape, void *memory, Room *room, Err *err) {
    int points = (int)shape->batch * points_of(shape);
    uint32_t none = (uint32_t)((int)shape->batch * cells_of(shape));
    size_t sort = 0, select = 0, array = ((size_t)points * 4 + 255) / 256 * 256;
    TRY_CUDA("prepare",
             cub::DeviceRadixSort::SortPairs(NULL, sort, (uint32_t *)NULL, (uint32_t *)NULL,
                                             (int *)NULL, (int *)NULL, points, 0, key_bits(none)));
    TRY_CUDA("prepare",
             cub::DeviceSelect::If(NULL, select, thrust::counting_iterator<int>(0), (int *)NULL,
                                   (int *)NULL, points, Starts{NULL, none}));
    room->keys = (uint32_t *)memory;
    room->numbers = (int *)((char *)memory + array);
    room->temporary = (char *)memory + 2 * array;
    room->temporary_bytes = sort > select ? sort : select;
    room->bytes = 2 * array + room->temporary_bytes;
    return true;
}

template <typename T>
bool enqueue(const BevpoolShape *s, const BevpoolPoints *from, const BevpoolPrepared *out,
             const Room &room, cudaStream_t stream, Err *err) {
    int points = (int)s->batch * points_of(s), all = (int)s->batch * cells_of(s);
    int most = points < all ? points : all;
    uint32_t none = (uint32_t)all, *sorted = (uint32_t *)out->ranks_bev;
    size_t bytes = room.temporary_bytes;
    const double *lower = from->lower_m, *cell = from->cell_m;
    Cells<T> cells = {(const T *)from->points,
                      {(T)lower[0], (T)lower[1], (T)lower[2]},
                      {(T)cell[0], (T)cell[1], (T)cell[2]},
                      {(int)s->nx, (int)s->ny, (int)s->nz},
                      cells_of(s),
                      points_of(s),
                      points,
                      none};
    TRY_CUDA("prepare", cudaMemsetAsync(out->counts, 0, 2 * sizeof *out->counts, stream));
    keys_kernel<<<blocks_for(points, THREADS), THREADS, 0, stream>>>(cells, room.keys,
                                                                     room.numbers);
    TRY_CUDA("prepare",
             cub::DeviceRadixSort::SortPairs(room.temporary, bytes, room.keys, sorted, room.numbers,
                                             out->ranks_depth, points, 0, key_bits(none), stream));
    features_kernel<<<blocks_for(points, THREADS), THREADS, 0, stream>>>(
        *out, points, none, (int)(s->feat_h * s->feat_w), (int)s->depth_bins);
    bytes = room.temporary_bytes;
    TRY_CUDA("prepare",
             cub::DeviceSelect::If(room.temporary, bytes, thrust::counting_iterator<int>(0),
                                   out->interval_starts, out->counts + 1, points,
                                   Starts{sorted, none}, stream));
    lengths_kernel<<<blocks_for(most, THREADS), THREADS, 0, stream>>>(*out, most);
    return cuda_ok(cudaGetLastError(), "prepare", err);
}

} // namespace

bool lib_cuda_prepare_bytes(const BevpoolShape *shape, size_t *bytes, Err *err) {
    Room room;
    if (!room_of(shape, NULL, &room, err))
        return false;
    *bytes = room.bytes;
    return true;
}

bool lib_cuda_prepare(const BevpoolShape *shape, const BevpoolPoints *points,
                      const BevpoolPrepared *out, void *workspace, void *stream, Err *err) {
    Room room;
    if (!room_of(shape, workspace, &room, err))
        return false;
    return points->wide ? enqueue<double>(shape, points, out, room, (cudaStream_t)stream, err)
                        : enqueue<float>(shape, points, out, room, (cudaStream_t)stream, err);
}
