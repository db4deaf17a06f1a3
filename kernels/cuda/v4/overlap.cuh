// Programmatic dependent launch: in a stream V4's kernels start while the kernel in front of them
// still runs, and most let the next one do so. In a graph only kernels behind another one of the
// same launch do.
//
// They wait for its end, and for all that it wrote, before they touch memory that a launch shares
// with others: depth, features, output and workspace. Before that they read only what the plan
// owns, which nobody writes after `prepare`. This is safe because
//
// - no read can be moved before the wait: it is a barrier for plain loads and stores. It does not
//   hold back __ldg, so these kernels use __ldg for nothing but the plan's arrays.
// - who waits for the kernel in front waits for all before it: every kernel here has threads that
//   wait, so none ends before the one in front of it. So the output may be written again, and the
//   workspace, which the launch before this one read and wrote.
// - the transposing kernel lets the tiles start only after it has waited itself. They may then read
//   features, and clear empty cells, before it has ended, but neither read the depth nor touch
//   where blocks meet. These tiles let nobody start but spread.cuh's kernel: small
//   maps were slower so.
// - kernels launched without the attribute, copies, memsets and events start after the end of all
//   blocks, as ever. After a memset or a copy, as the first node of a graph, and where two streams
//   join, the launch itself waits for all that is in front of it.
// - launches of one plan on several streams share only the plan, and nobody writes it.
// - code compiled for less than SM90 has neither instruction; its launches carry no attribute, on
//   newer devices neither.
#pragma once

#include "kernels/cuda/common.cuh"

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

// Behind an ordinary kernel an early start saves 1.1 us in a stream, and costs 0.2 us in a graph
// (samples/experiments/v4.md). So launches that are captured start as usual.
static inline bool gains_by_overlap(cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &capture) == cudaSuccess &&
           capture == cudaStreamCaptureStatusNone;
}

// `overlap`: the kernel may start before the one in front of it has ended.
template <typename... Args>
static inline cudaError_t launch_overlapped(void (*kernel)(Args...), dim3 grid, int block,
                                            bool overlap, cudaStream_t stream, Args... args) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = (unsigned)block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap;
    return cudaLaunchKernelEx(&config, kernel, args...);
}
