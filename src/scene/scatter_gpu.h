/* SPDX-License-Identifier: MIT */
/* Builds the scatter map on the calling thread's current GPU. The map is bit for bit that of
 * scatter_build. A changed calibration takes effect in the next frame. Only in builds with CUDA. */
#pragma once

#include "src/scene/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ScatterGpu ScatterGpu;

/* Allocates device memory for maps of rigs that have the sizes of `rig`. */
bool scatter_gpu_open(ScatterGpu **builder, const Rig *rig, BevAlign align, Err *err);
void scatter_gpu_close(ScatterGpu *builder); /* accepts NULL */

/* Builds the map of `rig`, whose sizes are those given to scatter_gpu_open. Poses, intrinsics and
 * ranges may have changed. Only cameras whose bit is set in camera_mask have points. The arrays of
 * *map are on the device and stay valid until the next build or the close. *build_us is the whole
 * time, including the host's part. `build_us` may be NULL. */
bool scatter_gpu_build(ScatterGpu *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                       double *build_us, Err *err);

#ifdef __cplusplus
}
#endif
