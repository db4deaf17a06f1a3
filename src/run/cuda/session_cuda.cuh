// A session's inside, for what times its launches or looks at them. Seen by .cu files only.
#ifndef BEV_SESSION_CUDA_CUH
#define BEV_SESSION_CUDA_CUH

#include "src/run/cuda/device.cuh"
#include "src/run/cuda/staging.h"

#include <vector>

// One of a problem's arrays: its place in the arena, and what it was filled with (NULL: output).
struct Buffer {
    size_t offset, bytes;
    const void *source;
};

// What SessionBackend calls its state.
struct CudaSession {
    const BevKernel *kernel;
    const BevProblem *host;
    BevProblem problem; // device pointers
    BevPlan *plan;
    cudaStream_t stream;
    char *arena; // one allocation: guard, buffer, guard, buffer, ... guard
    size_t arena_bytes;
    std::vector<Buffer> buffers;
    size_t value_buffers; // the first of them; the others are the map's, then the output
    std::vector<char> transposed_feat; // channels-first copy, where the kernel wants one
    char *transposed_out;              // on the device: its output channels last, once it was read
    Staging staging;                   // the output for the host, once it was asked for
};

// SessionBackend's open and close.
bool cuda_session_open(void **state, const BevKernel *kernel, const BevProblem *host, bool once,
                       double *prepare_us, Err *err);
void cuda_session_close(void *state);

// Something that can be enqueued on the session's stream. On failure the caller asks
// device_failed(), once no capture is under way.
using Enqueue = bool(CudaSession *s, Err *err);

// One launch of the kernel.
Enqueue cuda_enqueue_launch;

// `count` times the same as a graph; nothing runs. *graph is the caller's.
bool cuda_capture(CudaSession *s, Enqueue *enqueue, int count, cudaGraph_t *graph, Err *err);

// SessionBackend's kernels and time.
bool cuda_session_functions(void *state, CudaFunction *functions, int capacity, int *count, Err *err);
bool cuda_session_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                       Err *err);

#endif
