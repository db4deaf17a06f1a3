/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/lib/tensorrt/stream.hpp"

namespace bevpool {

#ifdef HAVE_CUDA

static bool is_ok(cudaError_t status, std::string *problem) {
    if (status != cudaSuccess)
        *problem = std::string("CUDA: ") + cudaGetErrorString(status);
    return status == cudaSuccess;
}

bool current_device(std::int32_t *device, std::string *problem) {
    return is_ok(cudaGetDevice(device), problem);
}

bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
           status != cudaStreamCaptureStatusNone;
}

bool wait_for_stream(cudaStream_t stream, std::string *problem) {
    return is_ok(cudaStreamSynchronize(stream), problem);
}

#else

static bool no_cuda(std::string *problem) {
    *problem = "this library was built without CUDA and cannot pool on a GPU";
    return false;
}

bool current_device(std::int32_t *, std::string *problem) {
    return no_cuda(problem);
}

bool is_captured(cudaStream_t) {
    return false;
}

bool wait_for_stream(cudaStream_t, std::string *problem) {
    return no_cuda(problem);
}

#endif

} // namespace bevpool
