/* SPDX-License-Identifier: MIT */
/* The functions that differ between the CPU (here) and a GPU (lib_cuda.cu). */
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

BevpoolStatus lib_enter(int32_t device, int *before, BevpoolError *error) {
    Err err = {.what = "the library was built without CUDA"};
    *before = BEVPOOL_CPU;
    if (device == BEVPOOL_CPU)
        return BEVPOOL_OK;
    FAIL_ON(device < BEVPOOL_CPU, BEVPOOL_BAD_ARGUMENT,
            "device %d: expected BEVPOOL_CPU (-1) or the number of a GPU", (int)device);
    return ON_GPU(lib_cuda_enter(device, before, &err))
               ? BEVPOOL_OK
               : lib_fail(error, BEVPOOL_NO_DEVICE, "device %d: %s", (int)device, err.what);
}

void lib_leave(int32_t device, int before) {
    if (device != BEVPOOL_CPU)
        (void)ON_GPU(lib_cuda_leave(before));
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
 * it: else there is no GPU memory, and the library must not start CUDA. */
static bool only_gpus_read(const void *pointer) {
    typedef int Attribute(void *value, int attribute, uintptr_t pointer);
    enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_MEMORY = 2 };
    unsigned type = 0, managed = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return false;
    Attribute *ask = (Attribute *)(uintptr_t)dlsym(driver, "cuPointerGetAttribute");
    bool device = ask && !ask(&type, MEMORY_TYPE, (uintptr_t)pointer) && type == DEVICE_MEMORY &&
                  !ask(&managed, IS_MANAGED, (uintptr_t)pointer) && !managed;
    dlclose(driver);
    return device;
}

BevpoolStatus lib_check_readable(int32_t device, const void *pointer, const char *name,
                                 bool from_host, BevpoolError *error) {
    if (device == BEVPOOL_CPU) {
        FAIL_ON(only_gpus_read(pointer), BEVPOOL_BAD_ARGUMENT,
                "%s: is memory of a GPU, expected that of the host", name);
        return BEVPOOL_OK;
    }
    int place = ON_GPU(lib_cuda_place(pointer, device));
    if (place == LIB_ON_DEVICE || (from_host && place == LIB_ON_HOST))
        return BEVPOOL_OK;
    return lib_fail(error, BEVPOOL_BAD_ARGUMENT, "%s: is memory of %s, expected that of GPU %d%s",
                    name, place == LIB_ON_HOST ? "the host" : "another GPU", (int)device,
                    from_host ? " or of the host" : "");
}

BevpoolStatus lib_check_place(int32_t device, const void *pointer, const char *name,
                              BevpoolError *error) {
    return lib_check_readable(device, pointer, name, false, error);
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

/* ---- transposing ----------------------------------------------------------------------------- */

enum { EDGE = 32 }; /* edge of a square that fits the first cache on both sides */

#define TRANSPOSE_SQUARE(Type)                                                                     \
    static void transpose_##Type(const Type *from, Type *to, int64_t a, int64_t b, int64_t i0,     \
                                 int64_t j0) {                                                     \
        for (int64_t j = j0; j < b && j < j0 + EDGE; j++)                                          \
            for (int64_t i = i0; i < a && i < i0 + EDGE; i++)                                      \
                to[j * a + i] = from[i * b + j];                                                   \
    }
TRANSPOSE_SQUARE(uint8_t)
TRANSPOSE_SQUARE(uint16_t)
TRANSPOSE_SQUARE(uint32_t)

static void transpose_square(const void *from, void *to, size_t bytes, int64_t first, int64_t a,
                             int64_t b, int64_t i0, int64_t j0) {
    if (bytes == 1)
        transpose_uint8_t((const uint8_t *)from + first, (uint8_t *)to + first, a, b, i0, j0);
    else if (bytes == 2)
        transpose_uint16_t((const uint16_t *)from + first, (uint16_t *)to + first, a, b, i0, j0);
    else
        transpose_uint32_t((const uint32_t *)from + first, (uint32_t *)to + first, a, b, i0, j0);
}

BevpoolStatus lib_transpose(int32_t device, const void *from, void *to, size_t bytes, int64_t outer,
                            int64_t a, int64_t b, void *stream, BevpoolError *error) {
    RETURN_ON_GPU(device, cuda_transpose(from, to, bytes, outer, a, b, stream, &err));
    int64_t rows = (a + EDGE - 1) / EDGE;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t k = 0; k < outer * rows; k++)
        for (int64_t j0 = 0; j0 < b; j0 += EDGE)
            transpose_square(from, to, bytes, k / rows * a * b, a, b, k % rows * EDGE, j0);
    return BEVPOOL_OK;
}
