// What keeps the set-aside part of the L2 full. Seen by .cu files only.
#ifndef BEV_L2_CARVEOUT_CUH
#define BEV_L2_CARVEOUT_CUH

#include "src/run/cuda/device.cuh"
#include "src/run/cuda/l2_carveout.h"

// Enqueues a look at how many of the unused lines are left, and a walk over all of them, so that
// they are there when what follows starts: allocations and releases of memory make the device
// forget them. Nothing when nothing is set aside.
bool l2_carveout_fill(cudaStream_t stream, Err *err);

#endif
