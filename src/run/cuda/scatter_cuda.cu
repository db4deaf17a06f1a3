/* SPDX-License-Identifier: MIT */
#include "src/run/cuda/scatter_cuda.h"

#include "kernels/cuda/common.cuh"

#define TRY_MAP(call) TRY_CUDA("scatter map", call)

bool scatter_cuda_open(ScatterGpu **builder, const Rig *rig, BevAlign align, Err *err) {
    *builder = NULL;
    return device_usable(err) && scatter_gpu_open(builder, rig, align, err);
}

// After an error that ended CUDA for the process nothing can be freed any more.
void scatter_cuda_close(ScatterGpu *builder) {
    if (builder && device_usable(NULL))
        scatter_gpu_close(builder);
}

bool scatter_cuda_build(ScatterGpu *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                        double *build_us, Err *err) {
    if (!device_usable(err))
        return false;
    return scatter_gpu_build(builder, rig, camera_mask, map, build_us, err) || device_failed(err);
}

// Copies all arrays of `map`, one behind the other, to `memory`. Every element has 4 bytes.
static bool fetch_all(const BevMap *map, BevMap *host, const Staging *memory, Err *err) {
    const struct {
        void *from, **to;
        int64_t count;
    } arrays[] = {
        {map->ranks_depth, (void **)&host->ranks_depth, map->points},
        {map->ranks_feat, (void **)&host->ranks_feat, map->points},
        {map->ranks_bev, (void **)&host->ranks_bev, map->points},
        {map->interval_starts, (void **)&host->interval_starts, map->intervals},
        {map->interval_lengths, (void **)&host->interval_lengths, map->intervals},
        {map->weights, (void **)&host->weights, map->weights ? map->points : 0},
    };
    char *next = (char *)memory->memory;
    for (const auto &array : arrays) {
        size_t bytes = (size_t)array.count * sizeof(int32_t);
        *array.to = array.from ? next : NULL;
        TRY_MAP(cudaMemcpyAsync(next, array.from, bytes, cudaMemcpyDeviceToHost, 0));
        next += bytes;
    }
    TRY_MAP(cudaStreamSynchronize(0));
    return true;
}

bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err) {
    size_t arrays = map->weights ? 4 : 3;
    size_t words = arrays * (size_t)map->points + 2 * (size_t)map->intervals;
    *host = {};
    *memory = {};
    if (!device_usable(err) || !staging_take(memory, words * sizeof(int32_t), err))
        return false;
    host->points = map->points;
    host->intervals = map->intervals;
    return fetch_all(map, host, memory, err) || device_failed(err);
}
