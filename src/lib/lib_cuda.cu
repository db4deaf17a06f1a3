// The library on a GPU: the current device, memory, and where pointers lie.
#include "src/lib/lib_cuda.h"

#include "kernels/cuda/common.cuh"

bool lib_cuda_enter(int device, int *before, Err *err) {
    int count = 0;
    TRY_CUDA("cuda", cudaGetDeviceCount(&count));
    if (device >= count)
        return err_set(err, ERR_DEVICE, "cuda", "", "there are %d GPUs", count);
    TRY_CUDA("cuda", cudaGetDevice(before));
    TRY_CUDA("cuda", cudaSetDevice(device));
    return true;
}

void lib_cuda_leave(int before) {
    cudaSetDevice(before);
}

bool lib_cuda_allocate(void **memory, size_t bytes, Err *err) {
    return cuda_allocate(memory, bytes, "map", err);
}

void lib_cuda_free(void *memory) {
    cudaFree(memory);
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

bool lib_cuda_current(int *device, Err *err) {
    TRY_CUDA("cuda", cudaGetDevice(device));
    return true;
}

// Checks that a launch can start. An error of an earlier call is forgotten if it passes and
// reported if it stays. A stream whose capture has failed takes no launch.
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
    if (stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread &&
        cudaStreamIsCapturing((cudaStream_t)stream, &capture) == cudaSuccess &&
        capture == cudaStreamCaptureStatusNone &&
        cudaStreamGetDevice((cudaStream_t)stream, &device) == cudaSuccess)
        return device;
    cudaGetLastError(); // not a lasting error
#endif
    (void)stream;
    return -1;
}
