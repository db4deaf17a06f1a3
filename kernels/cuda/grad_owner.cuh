/* SPDX-License-Identifier: MIT */
// grad_v4 runs grad_owner's kernel, a warp a pixel, for maps that columns do not serve.
#pragma once

#include "kernels/cuda/grad.cuh"

// Enqueues both gradients. `points` must come from a regular PixelOrder.
void grad_owner_run(const BevProblem *problem, const PixelPoints &points, cudaStream_t stream);
