// What grad_owner lends to grad_v4: a warp a pixel, for maps that columns do not serve.
#pragma once

#include "kernels/cuda/grad.cuh"

// Enqueues both gradients. `points` are those of a regular PixelOrder.
void grad_owner_run(const BevProblem *problem, const PixelPoints &points, cudaStream_t stream);
