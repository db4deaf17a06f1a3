/* SPDX-License-Identifier: MIT */
// Every frustum point writes its cells as sort keys, in the order of ranks_depth. A stable radix
// sort brings the points of a cell together, and the runs of equal keys are the intervals. A point
// outside the grid gets the key `cells` (their number), which sorts it behind all others.
#include "src/scene/scatter_gpu.h"

#include "kernels/cuda/common.cuh"
#include "src/base/clock.h"
#include "src/scene/splat.h"

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <limits.h>
#include <string.h>
#include <vector>

#define TRY_MAP(call) TRY_CUDA("scatter map", call)

namespace {

constexpr int THREADS = 256;

// The data with which a point finds its cells.
struct Frame {
    BevShape shape;
    SplatGrid grid;
    int splats; // keys for each point: 1, or NEIGHBOURS for bilinear weights
    uint32_t camera_mask;
    const double *origins;    // (camera, 3)
    const double *directions; // (camera, h, w, 3)
    const double *depths;     // (depth)
};

struct Totals {
    int64_t points, intervals;
};

} // namespace

// Pointers are to device memory, except `pinned`. An entry is one cell of one point.
struct ScatterGpu {
    Frame frame;
    int64_t entries;          // frustum points * splats
    std::vector<double> rays; // origins, directions and depths on the host
    double *geometry;         // `rays` on the device
    uint32_t *keys, *cells;   // the cell of each entry, before and after the sort
    uint32_t *ids, *order;    // the number of each entry, before and after the sort
    float *weights;           // by entry number; NULL for nearest
    BevMap map;               // the result; `cells` is its ranks_bev
    uint32_t *unique;         // the cell of each run
    int *run_count;
    Totals *totals, *pinned; // on the device, and copied to the host
    void *scratch;           // scratch memory for CUB
    size_t scratch_bytes;
    std::vector<void *> allocated; // all device memory above
};

namespace {

// One thread per frustum point, rank in [0, cameras * depth_bins * h * w).
__global__ void splat_kernel(Frame frame, int64_t ranks, uint32_t *keys, uint32_t *ids,
                             float *weights) {
    int64_t rank = thread_number();
    if (rank >= ranks)
        return;
    int pixels = (int)(frame.shape.feat_h * frame.shape.feat_w), pixel, bin;
    int64_t camera = divide(divide(rank, pixels, &pixel), (int)frame.shape.depth_bins, &bin);
    const double *origin_m = frame.origins + 3 * camera;
    const double *direction = frame.directions + 3 * (camera * pixels + pixel);
    double ego_m[3];
    // Rounds twice, as the host does. A fused multiply-add would move points across cell borders.
    for (int axis = 0; axis < 3; axis++)
        ego_m[axis] = __dadd_rn(origin_m[axis], __dmul_rn(frame.depths[bin], direction[axis]));
    Splat splat;
    splat_point(&frame.grid, ego_m, &splat);
    bool seen = frame.camera_mask >> camera & 1;
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (i >= frame.splats)
            return;
        int64_t entry = rank * frame.splats + i, cells = frame.shape.nx * frame.shape.ny;
        keys[entry] = (uint32_t)(seen && splat.cells[i] >= 0 ? splat.cells[i] : cells);
        ids[entry] = (uint32_t)entry;
        if (weights)
            weights[entry] = splat.weights[i];
    }
}

// ---- from sorted entries to the map ------------------------------------------------------------

// Counts points and intervals. The last run has the points outside the grid, if there are any.
__global__ void totals_kernel(const uint32_t *unique, const int *lengths, const int *run_count,
                              uint32_t cells, int64_t entries, Totals *totals) {
    int last = *run_count - 1;
    bool outside = unique[last] == cells;
    totals->points = entries - (outside ? lengths[last] : 0);
    totals->intervals = last + !outside;
}

// Computes ranks and weight from the entry number. One thread for each sorted entry.
__global__ void unpack_kernel(Frame frame, const Totals *totals, const uint32_t *order,
                              const float *weights, BevMap map) {
    int64_t t = thread_number();
    if (t >= totals->points)
        return;
    int rank = (int)(order[t] / (unsigned)frame.splats);
    int pixels = (int)(frame.shape.feat_h * frame.shape.feat_w);
    map.ranks_depth[t] = rank;
    map.ranks_feat[t] = rank / ((int)frame.shape.depth_bins * pixels) * pixels + rank % pixels;
    if (weights)
        map.weights[t] = weights[order[t]];
}

// ---- the steps ---------------------------------------------------------------------------------

// Uploads the origins, directions and depths of a rig. The host computes them by the functions that
// scatter_build uses.
bool upload_geometry(ScatterGpu *b, const Rig *rig, Err *err) {
    const Frustum *frustum = &rig->frustum;
    size_t rays = 3 * (size_t)rig->camera_count;
    size_t next = rays + rays * (size_t)frustum->feat_h * (size_t)frustum->feat_w;
    for (size_t camera = 0; camera < (size_t)rig->camera_count; camera++)
        memcpy(&b->rays[3 * camera], rig->cameras[camera].position_m, 3 * sizeof(double));
    rig_directions(rig, &b->rays[rays]);
    b->frame.origins = b->geometry;
    b->frame.directions = b->geometry + rays;
    b->frame.depths = b->geometry + next;
    for (int64_t bin = 0; bin < b->frame.shape.depth_bins; bin++)
        b->rays[next++] = frustum_depth_m(frustum, (double)bin);
    TRY_MAP(cudaMemcpyAsync(b->geometry, b->rays.data(), next * sizeof(double),
                            cudaMemcpyHostToDevice, 0));
    return true;
}

uint32_t cell_count(const ScatterGpu *b) {
    return (uint32_t)(b->frame.shape.nx * b->frame.shape.ny);
}

// CUB does the next three steps. With scratch == NULL each step only sets *bytes, the scratch
// memory that it needs.
cudaError_t sort_entries(ScatterGpu *b, void *scratch, size_t *bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, *bytes, b->keys, b->cells, b->ids, b->order,
                                           b->entries, 0, std::bit_width(cell_count(b)));
}

cudaError_t find_runs(ScatterGpu *b, void *scratch, size_t *bytes) {
    return cub::DeviceRunLengthEncode::Encode(scratch, *bytes, b->cells, b->unique,
                                              b->map.interval_lengths, b->run_count, b->entries);
}

cudaError_t find_starts(ScatterGpu *b, void *scratch, size_t *bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, *bytes, b->map.interval_lengths,
                                         b->map.interval_starts, (int64_t)cell_count(b) + 1);
}

// Makes the map from the keys of splat_kernel, and waits until the host has its totals.
bool sort_and_encode(ScatterGpu *b, Err *err) {
    size_t bytes = b->scratch_bytes;
    TRY_MAP(sort_entries(b, b->scratch, &bytes));
    TRY_MAP(find_runs(b, b->scratch, &bytes));
    TRY_MAP(find_starts(b, b->scratch, &bytes));
    totals_kernel<<<1, 1>>>(b->unique, b->map.interval_lengths, b->run_count, cell_count(b),
                            b->entries, b->totals);
    unpack_kernel<<<blocks_for(b->entries, THREADS), THREADS>>>(b->frame, b->totals, b->order,
                                                                b->weights, b->map);
    TRY_MAP(cudaGetLastError());
    TRY_MAP(cudaMemcpyAsync(b->pinned, b->totals, sizeof *b->totals, cudaMemcpyDeviceToHost, 0));
    TRY_MAP(cudaStreamSynchronize(0));
    return true;
}

bool allocate_bytes(ScatterGpu *b, void **pointer, size_t bytes, Err *err) {
    if (!cuda_allocate(pointer, bytes, "scatter map", err))
        return false;
    b->allocated.push_back(*pointer);
    return true;
}

template <typename T> bool allocate(ScatterGpu *b, T **pointer, int64_t count, Err *err) {
    return allocate_bytes(b, (void **)pointer, (size_t)count * sizeof **pointer, err);
}

bool allocate_scratch(ScatterGpu *b, Err *err) {
    size_t sort = 0, runs = 0, starts = 0;
    TRY_MAP(sort_entries(b, NULL, &sort));
    TRY_MAP(find_runs(b, NULL, &runs));
    TRY_MAP(find_starts(b, NULL, &starts));
    b->scratch_bytes = max(sort, max(runs, starts));
    return allocate_bytes(b, &b->scratch, b->scratch_bytes, err);
}

// Allocates all device memory. There are at most as many runs as cells, and one for the points
// outside.
bool allocate_all(ScatterGpu *b, Err *err) {
    int64_t entries = b->entries, runs = (int64_t)cell_count(b) + 1;
    BevMap *map = &b->map;
    bool weighted = b->frame.grid.align != BEV_NEAREST;
    bool ok = allocate(b, &b->geometry, (int64_t)b->rays.size(), err) &&
              allocate(b, &b->keys, entries, err) && allocate(b, &b->cells, entries, err) &&
              allocate(b, &b->ids, entries, err) && allocate(b, &b->order, entries, err) &&
              allocate(b, &map->ranks_depth, entries, err) &&
              allocate(b, &map->ranks_feat, entries, err) && allocate(b, &b->unique, runs, err) &&
              allocate(b, &map->interval_starts, runs, err) &&
              allocate(b, &map->interval_lengths, runs, err) &&
              allocate(b, &b->run_count, 1, err) && allocate(b, &b->totals, 1, err);
    if (ok && weighted)
        ok = allocate(b, &b->weights, entries, err) && allocate(b, &map->weights, entries, err);
    if (!ok)
        return false;
    // The scan reads beyond the last run, so the lengths are cleared.
    TRY_MAP(cudaMemset(map->interval_lengths, 0, (size_t)runs * sizeof(int32_t)));
    TRY_MAP(cudaMallocHost((void **)&b->pinned, sizeof *b->pinned));
    map->ranks_bev = (int32_t *)b->cells;
    return allocate_scratch(b, err);
}

} // namespace

extern "C" {

bool scatter_gpu_open(ScatterGpu **builder, const Rig *rig, BevAlign align, Err *err) {
    *builder = NULL;
    ScatterGpu *b = new ScatterGpu();
    b->frame.shape = rig_shape(rig, 1);
    b->frame.grid.align = align;
    b->frame.splats = align == BEV_NEAREST ? 1 : NEIGHBOURS;
    const BevShape *shape = &b->frame.shape;
    int64_t rays = shape->cameras * shape->feat_h * shape->feat_w;
    b->rays.resize((size_t)(3 * (shape->cameras + rays) + shape->depth_bins));
    b->entries = rays * shape->depth_bins * b->frame.splats;
    bool ok = b->entries <= INT_MAX
                  ? allocate_all(b, err)
                  : err_set(err, ERR_FAILED, "scatter map", "ranks are int32",
                            "up to %lld points, at most %d", (long long)b->entries, INT_MAX);
    if (ok)
        *builder = b;
    else
        scatter_gpu_close(b);
    return ok;
}

void scatter_gpu_close(ScatterGpu *b) {
    if (!b)
        return;
    for (void *array : b->allocated)
        cudaFree(array);
    cudaFreeHost(b->pinned);
    delete b;
}

bool scatter_gpu_build(ScatterGpu *b, const Rig *rig, uint32_t camera_mask, BevMap *map,
                       double *build_us, Err *err) {
    double begun = clock_us();
    b->frame.grid = splat_grid(&rig->grid, b->frame.grid.align);
    b->frame.camera_mask = camera_mask;
    int64_t ranks = b->entries / b->frame.splats;
    if (!upload_geometry(b, rig, err))
        return false;
    splat_kernel<<<blocks_for(ranks, THREADS), THREADS>>>(b->frame, ranks, b->keys, b->ids,
                                                          b->weights);
    if (!sort_and_encode(b, err))
        return false;
    *map = b->map;
    map->points = b->pinned->points;
    map->intervals = b->pinned->intervals;
    if (build_us)
        *build_us = clock_us() - begun;
    return true;
}

} // extern "C"
