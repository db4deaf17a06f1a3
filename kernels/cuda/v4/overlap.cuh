/* SPDX-License-Identifier: MIT */
// Programmatic dependent launch: in a stream V4's kernels start while the previous kernel still
// runs, and most let the next kernel start early too. In a graph a kernel starts early only behind
// another kernel of the same launch.
//
// Each kernel waits until the previous kernel has ended and its writes can be read. Only then the
// kernel touches memory that launches share: depth, features, output and workspace. Before the wait
// it reads only the plan, which nobody writes after `prepare`. This is safe for these reasons:
//
// - The compiler moves no plain load or store across the wait. It may move __ldg, so these kernels
//   use __ldg only for the plan's arrays.
// - Every kernel here has threads that wait, so no kernel ends before the previous kernel. A kernel
//   that waits for the previous kernel thus waits for all kernels before. So it may overwrite the
//   output and the workspace, which the last launch read and wrote.
// - The transposing kernel lets the tiles start only after its own wait. Before the transposing
//   kernel has ended, tiles may read features and clear empty cells, but read neither depth nor
//   workspace. Tiles let only spread.cuh's kernel start early: small maps were slower otherwise.
// - Kernels launched without the attribute, copies, memsets and events start after the end of all
//   blocks, as ever. After a memset or a copy, as the first node of a graph, and where two streams
//   join, the launch itself waits for all work before it.
// - Launches of one plan on several streams share only the plan, and nobody writes the plan. The
//   kernel before the tiles writes a moving map. The tiles start behind this kernel as usual, or
//   behind another kernel that waited for it.
// - The first kernel of a backward view transform starts as usual. So the gradients behind it may
//   read their map before they wait.
// - Where grad_out has channels first, that first kernel brings it to channels last. The second
//   kernel, in front of the gradients, runs beside the first: it reads only what the network wrote,
//   and waits at its own end. So a kernel that waits for the second waits for both.
// - Code compiled for architectures before SM90 has neither instruction. Its launches carry no
//   attribute, also on newer devices.
#pragma once

#include "kernels/cuda/common.cuh"

#include <type_traits>

__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Finds whether `kernel` was compiled for an architecture that has these instructions.
static inline bool knows_overlap(const void *kernel, const char *who, bool *known, Err *err) {
    cudaFuncAttributes code;
    TRY_CUDA(who, cudaFuncGetAttributes(&code, kernel));
    *known = code.ptxVersion >= 90;
    return true;
}

// Returns whether an early start behind another launch saves time. It saves 1.1 us in a stream, but
// costs 0.2 us in a graph. Captured launches become a graph (samples/experiments/v4.md).
static inline bool gains_by_overlap(cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &capture) == cudaSuccess &&
           capture == cudaStreamCaptureStatusNone;
}

// Enqueues a kernel with `shared` bytes of dynamic memory. `overlap`: it may start before the
// previous kernel has ended.
template <typename... Args>
static inline cudaError_t launch_overlapped(void (*kernel)(Args...), dim3 grid, dim3 block,
                                            size_t shared, bool overlap, cudaStream_t stream,
                                            const std::type_identity_t<Args> &...args) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap;
    return cudaLaunchKernelEx(&config, kernel, args...);
}
