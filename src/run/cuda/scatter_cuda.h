/* SPDX-License-Identifier: MIT */
/* The builder of scatter_gpu.h on the open device. It exists only in builds with CUDA. */
#pragma once

#include "src/run/cuda/device.h"
#include "src/scene/scatter_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These do the same as scatter_gpu.h, after device_usable(). Errors go to device_failed(). */
bool scatter_cuda_open(ScatterGpu **builder, const Rig *rig, BevAlign align, Err *err);
void scatter_cuda_close(ScatterGpu *builder); /* accepts NULL */
bool scatter_cuda_build(ScatterGpu *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                        double *build_us, Err *err);

/* Copies a map from the device to the host. All arrays of *host are in `memory`, which the caller
 * gives back with staging_give. */
bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err);

#ifdef __cplusplus
}
#endif
