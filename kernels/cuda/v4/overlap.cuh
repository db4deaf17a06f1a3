/* SPDX-License-Identifier: MIT */
// Programmatic dependent launch: in a stream V4's kernels start while the previous kernel still
// runs, and most let the next kernel do so. In a graph only kernels behind another kernel of the
// same launch do.
//
// Each kernel waits for the end of the previous one, and for all that it wrote, before it touches
// memory that launches share: depth, features, output and workspace. Before that it reads only
// the plan, which nobody writes after `prepare`. This is safe because
//
// - no read can be moved before the wait: it is a barrier for plain loads and stores. It does not
//   hold back __ldg, so these kernels use __ldg only for the plan's arrays.
// - a kernel that waits for the previous one waits for all before it: every kernel here has threads
//   that wait, so none ends before the previous one. So a kernel may write the output and the
//   workspace again, which the last launch read and wrote.
// - the transposing kernel lets the tiles start only after its own wait. The tiles may read
//   features and clear empty cells before the transposing kernel has ended. They read the depth and
//   the workspace only after it. They let only spread.cuh's kernel start early: small maps were
//   slower otherwise.
// - kernels launched without the attribute, copies, memsets and events start after the end of all
//   blocks, as ever. After a memset or a copy, as the first node of a graph, and where two streams
//   join, the launch itself waits for all work before it.
// - launches of one plan on several streams share only the plan, and nobody writes it. A moving map
//   is written by the kernel before: tiles start behind it as usual, or behind a kernel that
//   waited.
// - the first kernel of a backward view transform starts as usual. So the gradients behind it may
//   read their map before they wait.
// - where grad_out has channels first, that kernel brings it to channels last, and the one in front
//   of the gradients runs beside it: it reads what the network wrote, and waits at its own end. So
//   what waits for its end waits for both.
// - code compiled for less than SM90 has neither instruction; its launches carry no attribute, on
//   newer devices neither.
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

// Returns whether an early start gains after an ordinary kernel. It saves 1.1 us in a stream, and
// costs 0.2 us in a graph (samples/experiments/v4.md): captured launches start as usual.
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
