/* Builds the scatter map on the GPU: the same map as scatter_build, bit for bit, and fast enough
 * that a changed calibration takes effect in the next frame. Only in builds with CUDA. */
#pragma once

#include "src/run/cuda/device.h"
#include "src/scene/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ScatterCuda ScatterCuda;

/* Allocates device memory for maps of rigs of the same sizes as `rig`. */
bool scatter_cuda_open(ScatterCuda **builder, const Rig *rig, BevAlign align, Err *err);
void scatter_cuda_close(ScatterCuda *builder); /* accepts NULL */

/* Builds the map of `rig`: its sizes are those given to scatter_cuda_open; poses, intrinsics and
 * ranges may have changed. Only cameras whose bit is set in camera_mask have points. The arrays of
 * *map are on the device and valid until the next build or the close. *build_us (may be NULL) is
 * the whole time, with the host's part. */
bool scatter_cuda_build(ScatterCuda *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                        double *build_us, Err *err);

/* Copies a map from the device to the host. All arrays of *host are in `memory`, which the caller
 * gives back with staging_give. */
bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err);

#ifdef __cplusplus
}
#endif
