/* SPDX-License-Identifier: MIT */
// The plugin's own calls of CUDA; all others go through libbevpool.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace bevpool {

// Writes the calling thread's GPU to *device. False: *problem says why there is none.
bool current_device(std::int32_t *device, std::string *problem);

// Returns whether the stream is being captured into a CUDA graph.
bool is_captured(cudaStream_t stream);

// Waits until the stream's work is done.
bool wait_for_stream(cudaStream_t stream, std::string *problem);

} // namespace bevpool
