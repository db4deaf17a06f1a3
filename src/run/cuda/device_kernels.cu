// The kernels that a launch starts, read off the graph that it leaves when captured.
#include "src/run/cuda/session_cuda.cuh"

#include <cxxabi.h>
#include <stdlib.h>
#include <string>
#include <string.h>
#include <vector>

namespace {

// "void (anonymous namespace)::v2_kernel<(BevDtype)1, false>(Pool)" -> "v2_kernel<1, false>".
void kernel_name(const char *mangled, char *name, size_t size) {
    int status;
    char *full = abi::__cxa_demangle(mangled, NULL, NULL, &status);
    std::string text = full ? full : mangled;
    free(full);
    for (const char *noise : {"void ", "(anonymous namespace)::", "(BevDtype)", "(bool)", "(int)"})
        for (size_t at; (at = text.find(noise)) != std::string::npos;)
            text.erase(at, strlen(noise));
    size_t arguments = text.find('(');
    snprintf(name, size, "%s", text.substr(0, arguments).c_str());
}

bool describe_kernel(cudaGraphNode_t node, DeviceKernel *kernel, Err *err) {
    cudaKernelNodeParams launched;
    cudaFuncAttributes attributes;
    cudaDeviceProp properties;
    const char *mangled;
    TRY(cudaGraphKernelNodeGetParams(node, &launched));
    TRY(cudaFuncGetName(&mangled, launched.func));
    TRY(cudaFuncGetAttributes(&attributes, launched.func));
    TRY(cudaGetDeviceProperties(&properties, device_index()));
    dim3 block = launched.blockDim, grid = launched.gridDim;
    *kernel = {};
    kernel_name(mangled, kernel->name, sizeof kernel->name);
    kernel->blocks = (int64_t)grid.x * grid.y * grid.z;
    kernel->threads = (int)(block.x * block.y * block.z);
    kernel->registers = attributes.numRegs;
    kernel->local_bytes = (int64_t)attributes.localSizeBytes;
    kernel->shared_bytes = (int64_t)(attributes.sharedSizeBytes + launched.sharedMemBytes);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&kernel->resident_blocks, launched.func,
                                                      kernel->threads, launched.sharedMemBytes));
    int warps = (kernel->threads + WARP - 1) / WARP * kernel->resident_blocks;
    kernel->occupancy = (double)warps / (properties.maxThreadsPerMultiProcessor / WARP);
    return true;
}

bool list_kernels(cudaGraph_t graph, DeviceKernel *kernels, int capacity, int *count, Err *err) {
    size_t node_count = 0;
    TRY(cudaGraphGetNodes(graph, NULL, &node_count));
    std::vector<cudaGraphNode_t> nodes(node_count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &node_count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        TRY(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel || *count == capacity)
            continue;
        if (!describe_kernel(node, &kernels[*count], err))
            return false;
        ++*count;
    }
    return true;
}

} // namespace

bool cuda_session_kernels(void *state, DeviceKernel *kernels, int capacity, int *count, Err *err) {
    cudaGraph_t graph = NULL;
    *count = 0;
    if (!device_usable(err))
        return false;
    bool ok = cuda_capture((CudaSession *)state, cuda_enqueue_launch, 1, &graph, err) &&
              list_kernels(graph, kernels, capacity, count, err);
    if (graph && device_opened())
        cudaGraphDestroy(graph);
    return ok;
}

bool device_kernels(const BevVariant *variant, const BevProblem *host, DeviceKernel *kernels,
                    int capacity, int *count, Err *err) {
    void *state;
    double prepare_us;
    *count = 0;
    if (!cuda_session_open(&state, variant, host, true, &prepare_us, err))
        return false;
    bool ok = cuda_session_kernels(state, kernels, capacity, count, err);
    cuda_session_close(state);
    return ok;
}
