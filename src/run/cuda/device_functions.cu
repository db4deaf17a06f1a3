// The functions that a launch starts, read off the graph that it leaves when captured.
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

bool describe_function(cudaGraphNode_t node, CudaFunction *function, Err *err) {
    cudaKernelNodeParams launched;
    cudaFuncAttributes attributes;
    cudaDeviceProp properties;
    const char *mangled;
    TRY(cudaGraphKernelNodeGetParams(node, &launched));
    TRY(cudaFuncGetName(&mangled, launched.func));
    TRY(cudaFuncGetAttributes(&attributes, launched.func));
    TRY(cudaGetDeviceProperties(&properties, device_index()));
    dim3 block = launched.blockDim, grid = launched.gridDim;
    *function = {};
    kernel_name(mangled, function->name, sizeof function->name);
    function->blocks = (int64_t)grid.x * grid.y * grid.z;
    function->threads = (int)(block.x * block.y * block.z);
    function->registers = attributes.numRegs;
    function->local_bytes = (int64_t)attributes.localSizeBytes;
    function->shared_bytes = (int64_t)(attributes.sharedSizeBytes + launched.sharedMemBytes);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&function->resident_blocks, launched.func,
                                                      function->threads, launched.sharedMemBytes));
    int warps = (function->threads + WARP - 1) / WARP * function->resident_blocks;
    function->occupancy = (double)warps / (properties.maxThreadsPerMultiProcessor / WARP);
    return true;
}

bool list_functions(cudaGraph_t graph, CudaFunction *functions, int capacity, int *count,
                    Err *err) {
    size_t node_count = 0;
    TRY(cudaGraphGetNodes(graph, NULL, &node_count));
    std::vector<cudaGraphNode_t> nodes(node_count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &node_count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        TRY(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel || *count == capacity)
            continue;
        if (!describe_function(node, &functions[*count], err))
            return false;
        ++*count;
    }
    return true;
}

} // namespace

bool cuda_session_functions(void *state, CudaFunction *functions, int capacity, int *count,
                            Err *err) {
    cudaGraph_t graph = NULL;
    *count = 0;
    if (!device_usable(err))
        return false;
    bool ok = cuda_capture((CudaSession *)state, cuda_enqueue_launch, 1, &graph, err) &&
              list_functions(graph, functions, capacity, count, err);
    if (graph && device_opened())
        cudaGraphDestroy(graph);
    return ok;
}

bool device_functions(const BevKernel *kernel, const BevProblem *host, CudaFunction *functions,
                      int capacity, int *count, Err *err) {
    void *state;
    double prepare_us;
    *count = 0;
    if (!cuda_session_open(&state, kernel, host, true, &prepare_us, err))
        return false;
    bool ok = cuda_session_functions(state, functions, capacity, count, err);
    cuda_session_close(state);
    return ok;
}
