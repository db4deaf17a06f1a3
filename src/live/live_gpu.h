/* The GPU's part of LiveData: what it is, what it says about itself, how fast it can read and copy.
 * What cannot be found out stays unknown; in builds without CUDA that is all of it. */
#ifndef BEV_LIVE_GPU_H
#define BEV_LIVE_GPU_H

#include "src/cachesim/limits.h"
#include "src/run/session.h"
#include "src/state/live_data.h"

typedef struct LiveGpu LiveGpu;

/* Asks the device that is open, on the thread that runs kernels. NULL: there is none. */
LiveGpu *live_gpu_open(void);
void live_gpu_close(LiveGpu *gpu); /* accepts NULL */

/* Finds out its ceilings, once: bandwidths within the L2 and far beyond it, FP32, tensor cores.
 * Takes a tenth of a second. */
void live_gpu_probe(LiveGpu *gpu);

/* What that found, of the GPU in row `*row` of gpus[]. NULL: nothing, or a GPU that is in no row.
 */
const Limits *live_gpu_limits(const LiveGpu *gpu, int *row);

/* Whether there are new facts since the last time. */
bool live_gpu_refresh(LiveGpu *gpu);

/* All that is known; `memory` decides which ceiling applies. */
void live_gpu_describe(const LiveGpu *gpu, const LiveMemory *memory, LiveDevice *device);

/* Registers and theoretical occupancy of the session's launches. */
void live_gpu_kernel(Session *session, LiveKernel *row);

#endif
