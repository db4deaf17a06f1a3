/* SPDX-License-Identifier: MIT */
// Makes maps on the GPU: of several calibrations, sample by sample, or of arrays on this GPU.
#include "src/lib/lib_cuda.h"

#include "kernels/cuda/common.cuh"
#include "src/scene/scatter_gpu.h"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace {

constexpr int THREADS = 256, NO_CELL = -1;

// The offsets of a sample: the numbers added to its ranks, and the points and intervals before it.
struct Before {
    int64_t depths, feats, cells, points, intervals;
};

// Thread t appends point t of a sample's map, and interval t if there is one.
__global__ void append_kernel(BevMap one, Before before, BevMap all) {
    int64_t t = thread_number();
    if (t >= one.points)
        return;
    int64_t to = before.points + t;
    all.ranks_depth[to] = (int32_t)(one.ranks_depth[t] + before.depths);
    all.ranks_feat[to] = (int32_t)(one.ranks_feat[t] + before.feats);
    all.ranks_bev[to] = (int32_t)(one.ranks_bev[t] + before.cells);
    if (all.weights)
        all.weights[to] = one.weights[t];
    if (t >= one.intervals)
        return;
    to = before.intervals + t;
    all.interval_starts[to] = (int32_t)(one.interval_starts[t] + before.points);
    all.interval_lengths[to] = one.interval_lengths[t];
}

// Allocates one block for all arrays. Set are points, intervals and whether there are weights.
bool allocate_map(BevMap *map, void **memory, Err *err) {
    if (!cuda_allocate(memory, bev_map_place(map, NULL), "map", err))
        return false;
    bev_map_place(map, *memory);
    return true;
}

// Builds each map twice, since the first build tells its counts; a build takes no memory.
bool build_all(ScatterGpu *builder, BevMap *map, void **memory, int64_t batch, const Rig *rigs,
               Err *err) {
    BevMap one = {};
    BevShape shape = rig_shape(&rigs[0], 1);
    int64_t feats = shape.cameras * shape.feat_h * shape.feat_w;
    Before before = {};
    for (int64_t b = 0; b < batch; b++) {
        if (!scatter_gpu_build(builder, &rigs[b], ~0u, &one, NULL, err))
            return false;
        map->points += one.points;
        map->intervals += one.intervals;
    }
    if (map->points > INT32_MAX)
        return err_set(err, ERR_FAILED, "rigs", "", "more than 2147483647 points");
    map->weights = one.weights;
    if (!allocate_map(map, memory, err))
        return false;
    for (int64_t b = 0; b < batch; b++) {
        if (batch > 1 && !scatter_gpu_build(builder, &rigs[b], ~0u, &one, NULL, err))
            return false;
        before.depths = b * feats * shape.depth_bins;
        before.feats = b * feats;
        before.cells = b * shape.nx * shape.ny;
        if (one.points)
            append_kernel<<<blocks_for(one.points, THREADS), THREADS>>>(one, before, *map);
        TRY_CUDA("map", cudaGetLastError());
        before.points += one.points;
        before.intervals += one.intervals;
    }
    TRY_CUDA("map", cudaStreamSynchronize(0));
    return true;
}

// ---- of arrays ----------------------------------------------------------------------------------

// The bounds of ranks, as in scatter_check.c: ranks must be smaller than `depths` and `cells`. A
// camera has `plane` pixels, each with `bins` depths.
struct Bounds {
    uint32_t depths, cells, plane, bins;
};

Bounds bounds_of(const BevShape *shape) {
    int64_t plane = shape->feat_h * shape->feat_w;
    return {(uint32_t)(shape->cameras * plane * shape->depth_bins),
            (uint32_t)(shape->nx * shape->ny), (uint32_t)plane, (uint32_t)shape->depth_bins};
}

// Returns whether point t agrees with the shape. Its cell must not be below the cell of the point
// before, unless the map has no intervals.
__device__ bool point_sound(const BevMap &map, const Bounds &bounds, int64_t t) {
    uint32_t depth = (uint32_t)map.ranks_depth[t], cell = (uint32_t)map.ranks_bev[t];
    uint32_t feat = depth / (bounds.plane * bounds.bins) * bounds.plane + depth % bounds.plane;
    return depth < bounds.depths && (uint32_t)map.ranks_feat[t] == feat && cell < bounds.cells &&
           (t == 0 || !map.interval_starts || map.ranks_bev[t - 1] <= map.ranks_bev[t]) &&
           (!map.weights || isfinite(map.weights[t]));
}

// Returns whether interval i begins where the last interval ends, and has all points of one cell.
// Cells ascend, so comparing the first and the last point of the interval is enough.
__device__ bool interval_sound(const BevMap &map, int64_t i) {
    int64_t start = map.interval_starts[i], length = map.interval_lengths[i];
    int64_t next = i + 1 < map.intervals ? map.interval_starts[i + 1] : map.points;
    if (start < 0 || length < 1 || start + length != next || next > map.points)
        return false;
    int cell = map.ranks_bev[start];
    bool begins_cell = i == 0 ? start == 0 : start > 0 && map.ranks_bev[start - 1] != cell;
    return begins_cell && map.ranks_bev[next - 1] == cell;
}

// Thread t checks point t, and interval t if there is one.
__global__ void check_kernel(BevMap map, Bounds bounds, int *unsound) {
    int64_t t = thread_number();
    if (t >= map.points)
        return;
    if (!point_sound(map, bounds, t) || (t < map.intervals && !interval_sound(map, t)))
        *unsound = 1;
}

// Thread t notes the cell of point t, which no other point of its depth may have noted.
__global__ void cells_kernel(BevMap map, Bounds bounds, uint32_t width, int *wrong, int *cells) {
    int64_t t = thread_number();
    if (t >= map.points)
        return;
    bool sound = point_sound(map, bounds, t) && (t >= map.intervals || interval_sound(map, t));
    if (sound) {
        uint32_t depth = (uint32_t)map.ranks_depth[t], pixel = depth % bounds.plane;
        uint32_t bin = depth / bounds.plane % bounds.bins;
        uint32_t camera = depth / bounds.plane / bounds.bins;
        uint32_t height = bounds.plane / width, w = pixel % width, h = pixel / width;
        int64_t at = (((int64_t)camera * width + w) * height + h) * bounds.bins + bin;
        sound = atomicExch(&cells[at], map.ranks_bev[t]) == NO_CELL;
    }
    if (!sound)
        *wrong = 1;
}

// Whether a point is the first of its cell.
struct StartsCell {
    const int *cells;
    __device__ bool operator()(int t) const {
        return t == 0 || cells[t] != cells[t - 1];
    }
};

__global__ void lengths_kernel(BevMap map) {
    int64_t i = thread_number();
    if (i < map.intervals)
        map.interval_lengths[i] =
            (int)(i + 1 < map.intervals ? map.interval_starts[i + 1] : map.points) -
            map.interval_starts[i];
}

// Finds the first point of each interval. `starts` receives these points, then their number.
bool find_starts(const BevMap *given, Pooled *starts, int64_t *intervals, Err *err) {
    int points = (int)given->points, count;
    StartsCell starts_cell = {given->ranks_bev};
    thrust::counting_iterator<int> number(0);
    if (!cuda_allocate_pooled(&starts->memory, ((size_t)points + 1) * sizeof(int), "map", err))
        return false;
    int *found = (int *)starts->memory, *found_count = found + points;
    auto select = [&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::If(memory, bytes, number, found, found_count, points,
                                     starts_cell);
    };
    if (!run_cub("map", err, select) || !read_back(&count, found_count, "map", err))
        return false;
    *intervals = count;
    return true;
}

// Copies the arrays. If `starts` is not NULL, the arrays of intervals are made from it.
bool copy_arrays(const BevMap *given, const int *starts, BevMap *map, Err *err) {
    BevMap source = *given;
    if (starts)
        source.interval_starts = (int32_t *)starts;
    const BevMapArrays from = bev_map_arrays(&source), to = bev_map_arrays(map);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        if (*from.array[i])
            TRY_CUDA("map", cudaMemcpyAsync(*to.array[i], *from.array[i], (size_t)to.count[i] * 4,
                                            cudaMemcpyDeviceToDevice, 0));
    if (!starts)
        return true;
    lengths_kernel<<<blocks_for(map->intervals, THREADS), THREADS>>>(*map);
    return cuda_ok(cudaGetLastError(), "map", err);
}

bool check(const BevMap *map, const BevShape *shape, bool *sound, Err *err) {
    Pooled flag;
    int unsound;
    if (!cuda_allocate_pooled(&flag.memory, sizeof unsound, "map", err))
        return false;
    TRY_CUDA("map", cudaMemsetAsync(flag.memory, 0, sizeof unsound, 0));
    check_kernel<<<blocks_for(map->points, THREADS), THREADS>>>(*map, bounds_of(shape),
                                                                (int *)flag.memory);
    TRY_CUDA("map", cudaGetLastError());
    if (!read_back(&unsound, (const int *)flag.memory, "map", err))
        return false;
    *sound = !unsound;
    return true;
}

} // namespace

bool lib_cuda_take(const BevMap *given, const BevShape *shape, bool trusted, BevMap *map,
                   void **memory, bool *sound, Err *err) {
    Pooled starts;
    *map = *given;
    *memory = NULL;
    *sound = true;
    bool found = !given->interval_starts && !given->interval_lengths;
    bool ok = (!found || find_starts(given, &starts, &map->intervals, err)) &&
              allocate_map(map, memory, err) &&
              copy_arrays(given, (const int *)starts.memory, map, err) &&
              ((trusted && !found) || check(map, shape, sound, err)) &&
              cuda_ok(cudaStreamSynchronize(0), "map", err);
    if (!ok || !*sound)
        cudaFree(*memory);
    return ok;
}

bool lib_cuda_take_cells(const BevMap *arrays, const BevProblem *problem, void *stream_, Err *err) {
    cudaStream_t stream = (cudaStream_t)stream_;
    const BevShape *shape = &problem->shape;
    int *flags = (int *)problem->map.memory, *cells = flags + BEV_MOVING_SOURCE / sizeof(int);
    Bounds bounds = bounds_of(shape);
    TRY_CUDA("map", cudaMemsetAsync(flags, 0, BEV_MOVING_SOURCE, stream));
    TRY_CUDA("map", cudaMemsetAsync(cells, 0xff, bounds.depths * sizeof(int), stream)); // NO_CELL
    if (arrays->points)
        cells_kernel<<<blocks_for(arrays->points, THREADS), THREADS, 0, stream>>>(
            *arrays, bounds, (uint32_t)shape->feat_w, flags + 1, cells);
    return cuda_ok(cudaGetLastError(), "map", err);
}

bool lib_cuda_build(BevMap *map, void **memory, int64_t batch, const Rig *rigs, int32_t align,
                    Err *err) {
    ScatterGpu *builder = NULL;
    *map = {};
    *memory = NULL;
    bool ok = scatter_gpu_open(&builder, &rigs[0], (BevAlign)align, err) &&
              build_all(builder, map, memory, batch, rigs, err);
    scatter_gpu_close(builder);
    return ok;
}
