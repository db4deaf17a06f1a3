/* The scatter map built on the GPU: the same map as scatter_build's, bit for bit, fast enough that
 * a changed calibration takes effect within a frame. Only in builds with CUDA. */
#ifndef BEV_SCATTER_CUDA_H
#define BEV_SCATTER_CUDA_H

#include "src/run/cuda/staging.h"
#include "src/scene/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ScatterCuda ScatterCuda;

/* Allocates everything for maps of a rig of these sizes on the open device, once. */
bool scatter_cuda_open(ScatterCuda **builder, const Rig *rig, BevAlign align, Err *err);
void scatter_cuda_close(ScatterCuda *builder); /* accepts NULL */

/* Builds the map of `rig`, whose sizes are those given to scatter_cuda_open and whose poses,
 * intrinsics and ranges may have changed. The arrays of *map lie on the device and stay valid
 * until the next build or the close. *build_us (may be NULL): from the rig to the finished map,
 * the host's part included. */
bool scatter_cuda_build(ScatterCuda *builder, const Rig *rig, uint32_t camera_mask, BevMap *map,
                        double *build_us, Err *err);

/* Copies a map that lies on the device into host memory, all of it `memory`, which the caller gives
 * back with staging_give. */
bool scatter_cuda_download(const BevMap *map, BevMap *host, Staging *memory, Err *err);

#ifdef __cplusplus
}
#endif
#endif
