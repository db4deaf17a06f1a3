/* SPDX-License-Identifier: MIT */
// The library on a GPU: the current device, memory, and where pointers lie.
#include "src/lib/lib_cuda.h"

#include "kernels/cuda/common.cuh"

#include <cuda.h>
#include <mutex>
#include <new>
#include <vector>

bool lib_cuda_enter(int device, int *before, Err *err) {
    int count = 0;
    TRY_CUDA("cuda", cudaGetDeviceCount(&count));
    if (device >= count)
        return err_set(err, ERR_DEVICE, "cuda", "", "there are %d GPUs", count);
    int major = 0, minor = 0;
    TRY_CUDA("cuda", cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    TRY_CUDA("cuda", cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (100 * major + 10 * minor < OLDEST_ARCHITECTURE)
        return err_set(err, ERR_DEVICE, "cuda", "",
                       "has compute capability %d.%d, and the library was compiled for %d.%d and "
                       "newer: choose another GPU or the CPU",
                       major, minor, OLDEST_ARCHITECTURE / 100, OLDEST_ARCHITECTURE / 10 % 10);
    TRY_CUDA("cuda", cudaGetDevice(before));
    TRY_CUDA("cuda", cudaSetDevice(device));
    return true;
}

bool lib_cuda_leave(int before) {
    return cudaSetDevice(before) == cudaSuccess;
}

bool lib_cuda_allocate(void **memory, size_t bytes, Err *err) {
    return cuda_allocate(memory, bytes, "map", err);
}

bool lib_cuda_free(void *memory) {
    return cudaFree(memory) == cudaSuccess;
}

bool lib_cuda_copy(void *to, const void *from, size_t bytes, Err *err) {
    TRY_CUDA("map", cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    return true;
}

// Mapped host memory and managed memory count as the GPU's own.
LibPlace lib_cuda_place(const void *pointer, int device) {
    cudaPointerAttributes found = {};
    if (cudaPointerGetAttributes(&found, pointer) != cudaSuccess) {
        cudaGetLastError(); // not a lasting error
        return LIB_ON_HOST;
    }
    if (found.type == cudaMemoryTypeManaged ||
        (found.type == cudaMemoryTypeHost && found.devicePointer == pointer))
        return LIB_ON_DEVICE;
    if (found.type != cudaMemoryTypeDevice)
        return LIB_ON_HOST;
    return found.device == device ? LIB_ON_DEVICE : LIB_ON_OTHER_DEVICE;
}

static __global__ void poses_kernel(PoseArrays arrays, int count, int cameras, BevPose *poses) {
    int i = (int)thread_number();
    if (i >= count)
        return;
    PoseParts parts = pose_parts(&arrays, i, i / cameras);
    pose_compose(&parts, poses[i].matrix, poses[i].origin_m);
}

bool lib_cuda_compose(const PoseArrays *arrays, int count, int cameras, BevPose *poses,
                      void *stream, Err *err) {
    poses_kernel<<<blocks_for(count, 32), 32, 0, (cudaStream_t)stream>>>(*arrays, count, cameras,
                                                                         poses);
    return cuda_ok(cudaGetLastError(), "poses", err);
}

bool lib_cuda_current(int *device, Err *err) {
    TRY_CUDA("cuda", cudaGetDevice(device));
    return true;
}

// Checks that a launch can start. cudaGetLastError() clears an old error; an error that CUDA keeps
// is reported. A stream whose capture has failed takes no launch.
bool lib_cuda_ready(void *stream, Err *err) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaGetLastError();
    TRY_CUDA("before the launch", cudaPeekAtLastError());
    TRY_CUDA("stream", cudaStreamIsCapturing((cudaStream_t)stream, &capture));
    if (capture == cudaStreamCaptureStatusInvalidated)
        return err_set(err, ERR_DEVICE, "stream", "end it and begin again",
                       "its capture into a graph has failed before");
    return true;
}

// Does not ask a stream that is being captured, which would end the capture. The default streams
// (NULL, 1 and 2) belong to every GPU. Drivers older than CUDA 12.8 cannot tell.
int lib_cuda_stream_gpu(void *stream) {
#if CUDART_VERSION >= 12080
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    int device;
    const bool own = stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
    const bool askable = own &&
                         cudaStreamIsCapturing((cudaStream_t)stream, &capture) == cudaSuccess &&
                         capture == cudaStreamCaptureStatusNone;
    if (askable && cudaStreamGetDevice((cudaStream_t)stream, &device) == cudaSuccess)
        return device;
    cudaGetLastError(); // not a lasting error
#endif
    (void)stream;
    return -1;
}

// The first allocation from the device's memory pool takes milliseconds, too. Drivers older than
// CUDA 12.4 have none of these functions: there the code is loaded at its first use, as ever.
bool lib_cuda_load(const void *kernel, Err *err) {
    auto find = [](auto **function, const char *name) {
        cudaDriverEntryPointQueryResult found;
        return cudaGetDriverEntryPointByVersion(name, (void **)function, 12040, cudaEnableDefault,
                                                &found) == cudaSuccess &&
               found == cudaDriverEntryPointSuccess;
    };
    decltype(cuFuncGetModule) *module_of;
    decltype(cuModuleGetFunctionCount) *count_of;
    decltype(cuModuleEnumerateFunctions) *list;
    decltype(cuFuncLoad) *load;
    cudaFunction_t function;
    void *memory;
    if (!cuda_allocate_pooled(&memory, 1, "code", err))
        return false;
    cuda_free_pooled(memory);
    TRY_CUDA("code", cudaGetFuncBySymbol(&function, kernel));
    if (!find(&module_of, "cuFuncGetModule") || !find(&count_of, "cuModuleGetFunctionCount") ||
        !find(&list, "cuModuleEnumerateFunctions") || !find(&load, "cuFuncLoad"))
        return true;
    CUmodule module;
    unsigned count = 0;
    CUresult status = module_of(&module, function);
    if (!status)
        status = count_of(&count, module);
    std::vector<CUfunction> functions(count);
    if (!status)
        status = list(functions.data(), count, module);
    for (unsigned i = 0; !status && i < count; i++)
        status = load(functions[i]);
    return !status ||
           err_set(err, ERR_DEVICE, "code", "", "cannot be loaded: CUDA error %d", (int)status);
}

// ---- updates of moving maps ---------------------------------------------------------------------

// The host launches a graph faster than all of its kernels. An update reads only the map's memory,
// so one graph serves all updates of the same memory.
struct LibReplays {
    static constexpr int MOST = 8; // memories that may have a graph
    struct {
        const void *memory;
        cudaGraphExec_t graph; // NULL: this memory has come once
    } kept[MOST];
    int count;
    std::mutex mutex;
};

bool lib_cuda_replays_open(LibReplays **replays) {
    return (*replays = new (std::nothrow) LibReplays());
}

bool lib_cuda_replays_close(LibReplays *replays) {
    for (int i = 0; replays && i < replays->count; i++)
        if (replays->kept[i].graph)
            cudaGraphExecDestroy(replays->kept[i].graph);
    delete replays;
    return true;
}

// Returns the graph of what `enqueue` puts into a stream; NULL: there is none.
template <typename Enqueue> static cudaGraphExec_t record(Enqueue enqueue) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; // others may capture meanwhile
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess) {
        bool fine = enqueue(stream);
        if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && fine &&
            cudaGraphInstantiate(&made, graph, 0) != cudaSuccess)
            made = NULL;
    }
    if (graph)
        cudaGraphDestroy(graph);
    if (stream)
        cudaStreamDestroy(stream);
    cudaThreadExchangeStreamCaptureMode(&mode);
    cudaGetLastError(); // without a graph the kernels are launched
    return made;
}

bool lib_cuda_update(LibReplays *replays, const BevKernel *kernel, const BevProblem *problem,
                     const BevPlan *plan, void *stream, Err *err) {
    auto enqueue = [&](void *to) { return kernel->update(problem, plan, to, err); };
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    TRY_CUDA("update", cudaStreamIsCapturing((cudaStream_t)stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        return enqueue(stream);
    std::lock_guard<std::mutex> one_thread(replays->mutex);
    int i = 0;
    while (i < replays->count && replays->kept[i].memory != problem->map.memory)
        i++;
    if (i == replays->count && i < replays->MOST)
        replays->kept[replays->count++] = {problem->map.memory, NULL};
    else if (i < replays->count && !replays->kept[i].graph)
        replays->kept[i].graph = record(enqueue);
    if (i == replays->MOST || !replays->kept[i].graph)
        return enqueue(stream);
    TRY_CUDA("update", cudaGraphLaunch(replays->kept[i].graph, (cudaStream_t)stream));
    return true;
}

bool lib_cuda_take_poses(const BevPose *poses, const BevProblem *problem, void *stream, Err *err) {
    void *to = (char *)problem->map.memory + BEV_MOVING_SOURCE;
    TRY_CUDA("poses", cudaMemcpyAsync(to, poses, (size_t)problem->shape.cameras * sizeof *poses,
                                      cudaMemcpyDefault, (cudaStream_t)stream));
    return true;
}
