// Builds the map of several calibrations on the GPU: the maps of all samples, one after the other.
#include "src/lib/lib_cuda.h"

#include "kernels/cuda/common.cuh"
#include "src/scene/scatter_gpu.h"

namespace {

constexpr int THREADS = 256;
constexpr int64_t ALIGNMENT = 64; // elements of 4 bytes: each array begins on 256 bytes

// The offsets of a sample: what its ranks grow by, and the points and intervals before it.
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

int64_t padded(int64_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Allocates one block for all arrays; map->points and map->intervals are set.
bool allocate_map(BevMap *map, void **memory, bool weighted, Err *err) {
    int64_t points = padded(map->points), intervals = padded(map->intervals);
    size_t count = (size_t)((weighted ? 4 : 3) * points + 2 * intervals);
    if (!cuda_allocate(memory, count * sizeof(int32_t), "map", err))
        return false;
    map->ranks_depth = (int32_t *)*memory;
    map->ranks_feat = map->ranks_depth + points;
    map->ranks_bev = map->ranks_feat + points;
    map->interval_starts = map->ranks_bev + points;
    map->interval_lengths = map->interval_starts + intervals;
    map->weights = weighted ? (float *)(map->interval_lengths + intervals) : NULL;
    return true;
}

// Builds each map twice, since the first build tells its counts; a build takes no memory.
bool build_all(ScatterGpu *builder, BevMap *map, void **memory, int64_t batch, const Rig *rigs,
               bool weighted, Err *err) {
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
    if (!allocate_map(map, memory, weighted, err))
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

} // namespace

bool lib_cuda_build(BevMap *map, void **memory, int64_t batch, const Rig *rigs, int32_t align,
                    Err *err) {
    ScatterGpu *builder = NULL;
    *map = {};
    *memory = NULL;
    bool ok = scatter_gpu_open(&builder, &rigs[0], (BevAlign)align, err) &&
              build_all(builder, map, memory, batch, rigs, align != BEV_NEAREST, err);
    scatter_gpu_close(builder);
    return ok;
}
