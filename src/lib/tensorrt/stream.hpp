// The plugin's own calls of CUDA; all else goes through libbevpool.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace bevpool {

// The calling thread's GPU. False: *problem has the reason why there is none.
bool current_device(std::int32_t *device, std::string *problem);

// Whether the stream is being captured into a CUDA graph.
bool is_captured(cudaStream_t stream);

// Waits until the stream's work is done.
bool wait_for(cudaStream_t stream, std::string *problem);

} // namespace bevpool
