/* SPDX-License-Identifier: MIT */
/* The functions that differ between the CPU (here) and a GPU (lib_cuda.cu). */
#include "kernels/cpu/cpu_view.h"
#include "kernels/cuda/transpose.h"
#include "kernels/threads.h"
#include "src/lib/lib_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Ends the function with the status of a call for GPUs, unless the device is the CPU. */
#define RETURN_ON_GPU(device, call)                                                                \
    do {                                                                                           \
        if ((device) != BEVPOOL_CPU) {                                                             \
            TRY_GPU(call);                                                                         \
            return BEVPOOL_OK;                                                                     \
        }                                                                                          \
    } while (0)

BevpoolStatus lib_enter(LibEntered *entered, int32_t device, BevpoolError *error) {
    Err err = {.what = "the library was built without CUDA"};
    FAIL_ON(device < BEVPOOL_CPU, BEVPOOL_BAD_ARGUMENT,
            "device %d: expected BEVPOOL_CPU (-1) or the number of a GPU", (int)device);
    FAIL_ON(device != BEVPOOL_CPU && !ON_GPU(lib_cuda_enter(device, &entered->before, &err)),
            BEVPOOL_NO_DEVICE, "device %d: %s", (int)device, err.what);
    entered->device = device;
    return BEVPOOL_OK;
}

void lib_leave(const LibEntered *entered) {
    if (entered->device != BEVPOOL_CPU)
        (void)ON_GPU(lib_cuda_leave(entered->before));
}

BevpoolStatus lib_allocate(int32_t device, void **memory, size_t bytes, BevpoolError *error) {
    RETURN_ON_GPU(device, lib_cuda_allocate(memory, bytes, &err));
    *memory = malloc(bytes ? bytes : 1);
    FAIL_ON(!*memory, BEVPOOL_NO_MEMORY, "out of memory: %zu bytes", bytes);
    return BEVPOOL_OK;
}

void lib_free(int32_t device, void *memory) {
    if (device == BEVPOOL_CPU)
        free(memory);
    else
        (void)ON_GPU(lib_cuda_free(memory));
}

BevpoolStatus lib_copy(int32_t device, void *to, const void *from, size_t bytes,
                       BevpoolError *error) {
    RETURN_ON_GPU(device, lib_cuda_copy(to, from, bytes, &err));
    memcpy(to, from, bytes);
    return BEVPOOL_OK;
}

BevpoolStatus lib_compose(const PoseArrays *arrays, int64_t batch, int32_t cameras,
                          BevpoolPose *poses, int32_t device, void *stream, BevpoolError *error) {
    RETURN_ON_GPU(device, lib_cuda_compose(arrays, (int)(batch * cameras), cameras,
                                           (BevPose *)poses, stream, &err));
    for (int64_t i = 0; i < batch * cameras; i++) {
        PoseParts parts = pose_parts(arrays, i, i / cameras);
        pose_compose(&parts, poses[i].matrix, poses[i].origin_m);
    }
    return BEVPOOL_OK;
}

/* ---- where a pointer is ---------------------------------------------------------------------- */

/* Returns whether the CPU would crash on `pointer`. Asks the driver only if the process has loaded
 * the driver. Without the driver there is no GPU memory, and the library must not start CUDA. */
static bool only_gpus_read(const void *pointer) {
    typedef int Attribute(void *value, int attribute, uintptr_t pointer);
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_MEMORY = 2 };
    unsigned type = 0, managed = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return false;
    Attribute *ask = (Attribute *)(uintptr_t)dlsym(driver, "cuPointerGetAttribute");
    const bool on_device =
        ask && !ask(&type, MEMORY_TYPE, (uintptr_t)pointer) && type == DEVICE_MEMORY;
    const bool not_managed =
        on_device && !ask(&managed, IS_MANAGED, (uintptr_t)pointer) && !managed;
    dlclose(driver);
    return not_managed;
}

BevpoolStatus lib_check_place(int32_t device, const void *pointer, const char *name,
                              LibAllowed allowed, BevpoolError *error) {
    const bool or_host = allowed == LIB_OR_HOST;
    if (device == BEVPOOL_CPU) {
        FAIL_ON(only_gpus_read(pointer), BEVPOOL_BAD_ARGUMENT,
                "%s: is memory of a GPU, expected that of the host", name);
        return BEVPOOL_OK;
    }
    int place = ON_GPU(lib_cuda_place(pointer, device));
    if (place == LIB_ON_DEVICE || (or_host && place == LIB_ON_HOST))
        return BEVPOOL_OK;
    return lib_fail(error, BEVPOOL_BAD_ARGUMENT, "%s: is memory of %s, expected that of GPU %d%s",
                    name, place == LIB_ON_HOST ? "the host" : "another GPU", (int)device,
                    or_host ? " or of the host" : "");
}

BevpoolStatus lib_check_arrays(int32_t device, const LibNamed *arrays, int count,
                               BevpoolError *error) {
    for (int i = 0; i < count; i++) {
        FAIL_ON(!arrays[i].array, BEVPOOL_BAD_ARGUMENT, "%s is NULL", arrays[i].name);
        TRY(lib_check_place(device, arrays[i].array, arrays[i].name, LIB_DEVICE_ONLY, error));
    }
    return BEVPOOL_OK;
}

BevpoolStatus lib_check_stream(int32_t device, void *stream, BevpoolError *error) {
    int current = 0;
    if (device == BEVPOOL_CPU)
        return BEVPOOL_OK;
    TRY_GPU(lib_cuda_current(&current, &err));
    FAIL_ON(current != device, BEVPOOL_WRONG_DEVICE,
            "the plan is for GPU %d, but the thread's current one is GPU %d: call "
            "cudaSetDevice first",
            (int)device, current);
    TRY_GPU(lib_cuda_ready(stream, &err));
    int its_gpu = ON_GPU(lib_cuda_stream_gpu(stream));
    FAIL_ON(its_gpu >= 0 && its_gpu != device, BEVPOOL_WRONG_DEVICE,
            "stream: it is of GPU %d, the plan of GPU %d: create it on the plan's GPU", its_gpu,
            (int)device);
    return BEVPOOL_OK;
}

BevpoolStatus lib_transpose(int32_t device, const void *from, void *to, size_t bytes, int64_t outer,
                            int64_t a, int64_t b, void *stream, BevpoolError *error) {
    RETURN_ON_GPU(device, cuda_transpose(from, to, bytes, outer, a, b, stream, &err));
    enum { ROWS = 32 }; /* of a thread at a time */
    int64_t parts = (a + ROWS - 1) / ROWS;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t k = 0; k < outer * parts; k++) {
        int64_t sample = k / parts * a * b, row = k % parts * ROWS, left = a - row;
        const CpuPlane plane = {.rows = left < ROWS ? left : ROWS, .from_row = b, .to_row = 1,
                                .columns = b, .from_column = 1, .to_column = a};
        cpu_transpose(&plane, bytes, from, sample + row * b, to, sample + row, CPU_CACHED);
    }
    return BEVPOOL_OK;
}
