/* SPDX-License-Identifier: MIT */
#include "src/run/cuda/device.h"

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

// Copies all arrays of `map` to the arrays of `host`.
static bool fetch_all(BevMap map, BevMap *host, Err *err) {
    const BevMapArrays from = bev_map_arrays(&map), to = bev_map_arrays(host);
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        if (from.count[i])
            TRY_MAP(cudaMemcpyAsync(*to.array[i], *from.array[i], (size_t)from.count[i] * 4,
                                    cudaMemcpyDeviceToHost, 0));
    TRY_MAP(cudaStreamSynchronize(0));
    return true;
}

bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err) {
    BevMap placed = *map;
    *host = {};
    *memory = {};
    if (!device_usable(err) || !staging_take(memory, bev_map_place(&placed, NULL), err))
        return false;
    bev_map_place(&placed, memory->memory);
    *host = placed;
    return fetch_all(*map, host, err) || device_failed(err);
}
