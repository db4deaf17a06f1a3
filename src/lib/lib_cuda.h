/* SPDX-License-Identifier: MIT */
/* The library's calls of CUDA, which exist only in builds with CUDA. Each function does on a GPU
 * what its namesake in lib_internal.h does. They return true for success. */
#pragma once

#include "kernels/bevpool.h"
#include "src/lib/bevpool.h"
#include "src/lib/pose.h"
#include "src/scene/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The memory that a pointer points to. */
typedef enum { LIB_ON_HOST, LIB_ON_DEVICE, LIB_ON_OTHER_DEVICE } LibPlace;

bool lib_cuda_enter(int device, int *before, Err *err);
bool lib_cuda_leave(int before);
bool lib_cuda_allocate(void **memory, size_t bytes, Err *err);
bool lib_cuda_free(void *memory);
bool lib_cuda_copy(void *to, const void *from, size_t bytes, Err *err);

/* Builds the map of one rig for each sample, in one block of memory. (map_gpu.cu) */
bool lib_cuda_build(BevMap *map, void **memory, int64_t batch, const Rig *rigs, int32_t align,
                    Err *err);

/* Copies a map of arrays on the entered GPU into one block of this GPU's memory. Finds the
 * intervals if they are NULL. *sound: scatter_check() would accept the map, and its cells ascend. A
 * `trusted` map counts as sound. An unsound map leaves no memory. Waits once. (map_gpu.cu) */
bool lib_cuda_take(const BevMap *given, const BevShape *shape, bool trusted, BevMap *map,
                   void **memory, bool *sound, Err *err);

/* As bevpool_prepare_bytes() and bevpool_prepare(), without their checks. (prepare_gpu.cu) */
bool lib_cuda_prepare_bytes(const BevpoolShape *shape, size_t *bytes, Err *err);
bool lib_cuda_prepare(const BevpoolShape *shape, const BevpoolPoints *points,
                      const BevpoolPrepared *out, void *workspace, void *stream, Err *err);

LibPlace lib_cuda_place(const void *pointer, int device);

/* Enqueues the poses of `count` cameras. */
bool lib_cuda_compose(const PoseArrays *arrays, int count, int cameras, BevPose *poses,
                      void *stream, Err *err);
bool lib_cuda_current(int *device, Err *err);
bool lib_cuda_ready(void *stream, Err *err);

/* Loads all kernels of the file of a kernel (BevKernel.code). */
bool lib_cuda_load(const void *kernel, Err *err);

/* Returns the GPU on which a stream was created; -1: unknown. */
int lib_cuda_stream_gpu(void *stream);

/* The updates of a moving plan as graphs, one for each memory: up to 8 that came more than once. */
typedef struct LibReplays LibReplays;
bool lib_cuda_replays_open(LibReplays **replays);
bool lib_cuda_replays_close(LibReplays *replays);

/* Enqueues the kernel's update of problem->map.memory, by a graph if there is one. Any thread may
 * call it. */
bool lib_cuda_update(LibReplays *replays, const BevKernel *kernel, const BevProblem *problem,
                     const BevPlan *plan, void *stream, Err *err);

/* Enqueues the source of that update: a copy of poses, or the cells of arrays (map_gpu.cu).
 * The second word of the memory becomes 1 where arrays contradict themselves or the shape, or hold
 * a depth twice, else 0. Without intervals points may come in any order. */
bool lib_cuda_take_poses(const BevPose *poses, const BevProblem *problem, void *stream, Err *err);
bool lib_cuda_take_cells(const BevMap *arrays, const BevProblem *problem, void *stream, Err *err);

#ifdef __cplusplus
}
#endif
