/* SPDX-License-Identifier: MIT */
/* The library's calls of CUDA, which exist only in builds with CUDA. Each function does on a GPU
 * what its namesake in lib_internal.h does. They return true for success. */
#pragma once

#include "kernels/bevpool.h"
#include "kernels/err.h"
#include "src/lib/pose.h"
#include "src/scene/geometry.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory that a pointer points to. */
typedef enum { LIB_ON_HOST, LIB_ON_DEVICE, LIB_ON_OTHER_DEVICE } LibPlace;

/* Returns false without an error text if there is no such GPU. */
bool lib_cuda_enter(int device, int *before, Err *err);
void lib_cuda_leave(int before);
bool lib_cuda_allocate(void **memory, size_t bytes, Err *err);
void lib_cuda_free(void *memory);
bool lib_cuda_copy(void *to, const void *from, size_t bytes, Err *err);
bool lib_cuda_build(BevMap *map, void **memory, int64_t batch, const Rig *rigs, int32_t align,
                    Err *err); /* map_gpu.cu */

/* Copies a map of arrays on the GPU that was entered into one block of its memory, and finds the
 * intervals if they are NULL. *sound: it is what scatter_check() accepts, and its cells ascend; it
 * counts as that where `trusted`. An unsound map leaves no memory. Waits once. (map_gpu.cu) */
bool lib_cuda_take(const BevMap *given, const BevShape *shape, bool trusted, BevMap *map,
                   void **memory, bool *sound, Err *err);
LibPlace lib_cuda_place(const void *pointer, int device);
/* Enqueues the poses of `count` cameras. */
bool lib_cuda_compose(const PoseArrays *arrays, int count, int cameras, BevPose *poses,
                      void *stream, Err *err);
bool lib_cuda_current(int *device, Err *err);
bool lib_cuda_ready(void *stream, Err *err);
bool lib_cuda_load(const void *kernel, Err *err);

/* Returns the GPU on which a stream was created; -1: unknown. */
int lib_cuda_stream_gpu(void *stream);

#ifdef __cplusplus
}
#endif
