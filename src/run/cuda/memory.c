/* Memory of the open device for callers that keep arrays there themselves. */
#include "src/run/cuda/device.h"

#include <cuda_runtime_api.h>

static bool passed(cudaError_t status, Err *err) {
    if (status == cudaSuccess)
        return true;
    bool full = status == cudaErrorMemoryAllocation;
    err_set(err, ERR_DEVICE, "cuda",
            full ? "close other programs, or choose a smaller problem" : "", "CUDA error %d, %s",
            (int)status, cudaGetErrorString(status));
    return device_failed(err);
}

bool device_bring(void **copy, const void *host, size_t bytes, Err *err) {
    *copy = NULL;
    return device_usable(err) && passed(cudaMalloc(copy, bytes), err) &&
           passed(cudaMemcpy(*copy, host, bytes, cudaMemcpyHostToDevice), err);
}

bool device_fetch(void *host, const void *copy, size_t bytes, Err *err) {
    return device_usable(err) && passed(cudaMemcpy(host, copy, bytes, cudaMemcpyDeviceToHost), err);
}

void device_drop(void *copy) {
    if (copy && device_opened())
        cudaFree(copy);
}
