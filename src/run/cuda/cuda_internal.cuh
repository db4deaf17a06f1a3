/* SPDX-License-Identifier: MIT */
// The .cu files of this folder share this header: error handling and the fields of a session.
#pragma once

#include "kernels/cuda/common.cuh"
#include "src/run/backend.h"
#include "src/run/cuda/device.h"

#include <nvtx3/nvToolsExt.h>
#include <vector>

// ---- the open device (device.cu) ---------------------------------------------------------------

// Like TRY_CUDA, for code outside kernels/. It also notices errors that end CUDA for the process.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!cuda_ok((call), "cuda", err))                                                         \
            return device_failed(err);                                                             \
    } while (0)

// A named range on a profiler's timeline.
struct Range {
    explicit Range(const char *name) {
        nvtxRangePushA(name);
    }
    ~Range() {
        nvtxRangePop();
    }
};

// Index of the open device.
int device_index();

// ---- sessions (session_cuda.cu, session_graph.cu) ----------------------------------------------

// One array of a problem in the arena.
struct Buffer {
    size_t offset, bytes;
    const void *source;    // the host data it is filled with; NULL: an output
    void **pointer;        // the pointer in CudaSession::problem that points to the array
    const BevTensor *last; // the host's tensor if channels come first here and last there; or NULL
    int64_t outer;         // the number of samples of such a tensor
};

// The `state` of SessionBackend.
struct CudaSession {
    const BevKernel *kernel;
    const BevProblem *host;
    BevProblem problem; // device pointers
    BevPlan *plan;
    cudaStream_t stream;
    char *arena; // one allocation: guard, buffer, guard, buffer, ... guard
    size_t arena_bytes;
    std::vector<Buffer> buffers;
    size_t value_buffers; // the first buffers: depth, features, grad_out; map and outputs follow
    char *other_order;    // device memory for a tensor in the other order of channels and rows
    size_t other_order_bytes;
    Staging staging;      // the outputs on the host, made by session_output
    char *workspace;                   // the kernel's scratch, then a guard band; NULL: none
    size_t workspace_bytes;
};

// SessionBackend's open, close, functions and time.
bool cuda_session_open(void **state, const BevKernel *kernel, const BevProblem *host, Err *err);
void cuda_session_close(void *state);
bool cuda_session_functions(void *state, CudaFunction *functions, int capacity, int *count,
                            Err *err);
bool cuda_session_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                       Err *err);

// Enqueues work on a stream. After a failure the caller ends a capture in progress, and then calls
// device_failed().
using Enqueue = bool(void *context, void *stream, Err *err);

// Enqueues one launch of the kernel of the session `context`.
Enqueue cuda_enqueue_launch;
