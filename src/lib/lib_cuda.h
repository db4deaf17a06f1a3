/* The library's calls of CUDA. These functions exist only in builds with CUDA; each does on a GPU
 * what its namesake in lib_internal.h does. A true result is success. */
#pragma once

#include "kernels/bevpool.h"
#include "kernels/err.h"
#include "src/scene/geometry.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where CUDA says that a pointer is. */
typedef enum { LIB_ON_HOST, LIB_ON_DEVICE, LIB_ON_OTHER_DEVICE } LibPlace;

/* False and no error text: there is no such GPU. */
bool lib_cuda_enter(int device, int *before, Err *err);
void lib_cuda_leave(int before);
bool lib_cuda_allocate(void **memory, size_t bytes, Err *err);
void lib_cuda_free(void *memory);
bool lib_cuda_copy(void *to, const void *from, size_t bytes, Err *err);
bool lib_cuda_build(BevMap *map, void **memory, int64_t batch, const Rig *rigs, int32_t align,
                    Err *err); /* map_gpu.cu */
LibPlace lib_cuda_place(const void *pointer, int device);
bool lib_cuda_current(int *device, Err *err);
bool lib_cuda_ready(void *stream, Err *err);

/* The GPU that a stream was created on; -1: it cannot be told. */
int lib_cuda_stream_gpu(void *stream);

#ifdef __cplusplus
}
#endif
