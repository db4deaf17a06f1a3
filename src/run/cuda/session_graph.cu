/* SPDX-License-Identifier: MIT */
// A session's launches captured in a CUDA graph: their time, replayed between events with warm or
// flushed caches, and the CUDA functions that they start. The host's clock times single launches.
#include "src/base/clock.h"
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <cxxabi.h>
#include <stdlib.h>
#include <string>
#include <string.h>

namespace {

// Work that is captured and timed: a kernel's launch, or anything else that can be enqueued.
struct Work {
    Enqueue *enqueue;
    void *context;
    cudaStream_t stream;

    bool start(Err *err) const {
        return enqueue(context, stream, err);
    }
};

// Captures the work `count` times. No work runs. The caller destroys *graph.
bool capture(const Work &work, int count, cudaGraph_t *graph, Err *err) {
    TRY(cudaStreamBeginCapture(work.stream, cudaStreamCaptureModeThreadLocal));
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = work.start(err);
    cudaError_t status = cudaStreamEndCapture(work.stream, graph);
    if (!ok)
        return device_failed(err);
    TRY(status);
    return true;
}

// ---- CUDA functions ----------------------------------------------------------------------------

// "void (anonymous namespace)::v2_kernel<(BevDtype)1, false>(Pool)" becomes "v2_kernel<1, false>".
void kernel_name(const char *mangled, char *name, size_t size) {
    int status;
    char *full = abi::__cxa_demangle(mangled, NULL, NULL, &status);
    std::string text = full ? full : mangled;
    free(full);
    for (const char *noise : {"void ", "(anonymous namespace)::", "(BevDtype)", "(bool)", "(int)"})
        for (size_t at; (at = text.find(noise)) != std::string::npos;)
            text.erase(at, strlen(noise));
    size_t arguments = text.find('(');
    snprintf(name, size, "%s", text.substr(0, arguments).c_str());
}

bool describe_function(cudaGraphNode_t node, CudaFunction *function, Err *err) {
    cudaKernelNodeParams launched;
    cudaFuncAttributes attributes;
    cudaDeviceProp properties;
    const char *mangled;
    TRY(cudaGraphKernelNodeGetParams(node, &launched));
    TRY(cudaFuncGetName(&mangled, launched.func));
    TRY(cudaFuncGetAttributes(&attributes, launched.func));
    TRY(cudaGetDeviceProperties(&properties, device_index()));
    dim3 block = launched.blockDim, grid = launched.gridDim;
    *function = {};
    kernel_name(mangled, function->name, sizeof function->name);
    function->blocks = (int64_t)grid.x * grid.y * grid.z;
    function->threads = (int)(block.x * block.y * block.z);
    function->registers = attributes.numRegs;
    function->local_bytes = (int64_t)attributes.localSizeBytes;
    function->shared_bytes = (int64_t)(attributes.sharedSizeBytes + launched.sharedMemBytes);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&function->resident_blocks, launched.func,
                                                      function->threads, launched.sharedMemBytes));
    int warps = (function->threads + WARP - 1) / WARP * function->resident_blocks;
    function->occupancy = (double)warps / (properties.maxThreadsPerMultiProcessor / WARP);
    return true;
}

bool list_functions(cudaGraph_t graph, CudaFunction *functions, int capacity, int *count,
                    Err *err) {
    size_t node_count = 0;
    TRY(cudaGraphGetNodes(graph, NULL, &node_count));
    std::vector<cudaGraphNode_t> nodes(node_count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &node_count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        TRY(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel || *count == capacity)
            continue;
        if (!describe_function(node, &functions[*count], err))
            return false;
        ++*count;
    }
    return true;
}

// ---- time --------------------------------------------------------------------------------------

constexpr double SETTLE = 0.05;   // the halves of the samples may differ by this
constexpr double SAMPLE_US = 500; // samples this long hide the resolution of events
constexpr int MAX_INNER = 256;    // launches in a graph, at most

struct Timed {
    Work work;
    cudaEvent_t start, stop;
    cudaGraphExec_t graph; // `inner` launches
    int inner;
    char *flush; // memory larger than the L2, written between cold samples; NULL: warm
    size_t flush_bytes;
};

void timed_free(Timed *t) {
    if (!device_opened())
        return;
    if (t->graph)
        cudaGraphExecDestroy(t->graph);
    for (cudaEvent_t event : {t->start, t->stop})
        if (event)
            cudaEventDestroy(event);
    cudaFree(t->flush);
}

// Gives the time from the start event to the stop event, divided by `launches`.
bool elapsed_us(const Timed *t, int launches, double *us, Err *err) {
    float ms;
    TRY(cudaEventSynchronize(t->stop));
    TRY(cudaEventElapsedTime(&ms, t->start, t->stop));
    *us = ms * 1e3 / launches;
    return true;
}

// Launches back to back for min_warm_ms, so that clocks and caches are warm. *launch_us receives
// the time of one launch. Fast launches are timed in batches.
bool warm_up(Timed *t, double min_warm_ms, double *launch_us, Err *err) {
    constexpr int BATCH = 10;
    double begun = clock_us();
    int batch = 1;
    do {
        TRY(cudaEventRecord(t->start, t->work.stream));
        for (int i = 0; i < batch; i++)
            if (!t->work.start(err))
                return device_failed(err);
        TRY(cudaEventRecord(t->stop, t->work.stream));
        if (!elapsed_us(t, batch, launch_us, err))
            return false;
        batch = *launch_us < SAMPLE_US ? BATCH : 1;
    } while (clock_us() - begun < min_warm_ms * 1e3);
    return true;
}

bool build_graph(Timed *t, Err *err) {
    cudaGraph_t graph;
    if (!capture(t->work, t->inner, &graph, err))
        return false;
    cudaError_t status = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    TRY(status);
    TRY(cudaGraphUpload(t->graph, t->work.stream));
    return true;
}

// One replay of the graph. When cold, the host enqueues the graph while the flush still runs, so
// that host time is not measured.
bool sample_graph(void *context, double *us, Err *err) {
    Timed *t = (Timed *)context;
    cudaStream_t stream = t->work.stream;
    if (t->flush)
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, stream));
    TRY(cudaEventRecord(t->start, stream));
    TRY(cudaGraphLaunch(t->graph, stream));
    TRY(cudaEventRecord(t->stop, stream));
    return elapsed_us(t, t->inner, us, err);
}

// Times one launch by the host's clock, and waits for it: a caller without graphs sees this time.
bool sample_single(void *context, double *us, Err *err) {
    Timed *t = (Timed *)context;
    if (t->flush)
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, t->work.stream));
    TRY(cudaStreamSynchronize(t->work.stream));
    double start = clock_us();
    if (!t->work.start(err))
        return device_failed(err);
    TRY(cudaStreamSynchronize(t->work.stream));
    *us = clock_us() - start;
    return true;
}

bool collect(Timed *t, const TimingOptions *options, Timing *timing, Err *err) {
    double launch_us, begun = clock_us();
    TRY(cudaEventCreate(&t->start));
    TRY(cudaEventCreate(&t->stop));
    if (!warm_up(t, options->min_warm_ms, &launch_us, err))
        return false;
    const bool single = options->single, several = !t->flush && !single;
    t->inner = several ? std::clamp((int)(SAMPLE_US / launch_us), 1, MAX_INNER) : 1;
    if (!single && !build_graph(t, err))
        return false;
    auto sample = single ? sample_single : sample_graph;
    double us;
    timing->inner = t->inner;
    return sample(t, &us, err) && // not counted: the first replay includes the upload
           timing_collect(options, begun, SETTLE, sample, t, timing, err);
}

bool time_work(const Work &work, CacheState cache, const TimingOptions *options, Timing *timing,
               Err *err) {
    if (!device_usable(err))
        return false;
    Range range("timing");
    Timed t = {};
    t.work = work;
    bool ok = true;
    if (cache == CACHE_COLD) {
        int l2_bytes = 0;
        ok = cuda_ok(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device_index()),
                     "cuda", err);
        t.flush_bytes = 2 * (size_t)l2_bytes;
        ok = ok && cuda_allocate((void **)&t.flush, t.flush_bytes, "cold timing", err);
    }
    ok = ok ? collect(&t, options, timing, err) : device_failed(err);
    timed_free(&t);
    return ok;
}

// Returns one launch of a session's kernel.
Work launch_of(void *session) {
    return {cuda_enqueue_launch, session, ((CudaSession *)session)->stream};
}

struct Memory {
    char *first;
    size_t bytes;
};

// Times `enqueue` on `bytes` bytes of the device. Its context is a Memory with these bytes.
bool time_memory(Enqueue *enqueue, size_t bytes, const TimingOptions *options, Timing *timing,
                 Err *err) {
    Memory memory = {NULL, bytes};
    bool ok = device_take((void **)&memory.first, NULL, bytes, err) &&
              device_time(enqueue, &memory, options, timing, err);
    device_give(memory.first);
    return ok;
}

bool enqueue_clear(void *context, void *stream, Err *err) {
    const Memory *memory = (const Memory *)context;
    TRY(cudaMemsetAsync(memory->first, 0, memory->bytes, (cudaStream_t)stream));
    return true;
}

// Copies the first half to the second.
bool enqueue_copy(void *context, void *stream, Err *err) {
    const Memory *memory = (const Memory *)context;
    size_t half = memory->bytes / 2;
    TRY(cudaMemcpyAsync(memory->first + half, memory->first, half, cudaMemcpyDeviceToDevice,
                        (cudaStream_t)stream));
    return true;
}

} // namespace

bool cuda_session_functions(void *state, CudaFunction *functions, int capacity, int *count,
                            Err *err) {
    cudaGraph_t graph = NULL;
    *count = 0;
    if (!device_usable(err))
        return false;
    bool ok = capture(launch_of(state), 1, &graph, err) &&
              list_functions(graph, functions, capacity, count, err);
    if (graph && device_opened())
        cudaGraphDestroy(graph);
    return ok;
}

bool cuda_session_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                       Err *err) {
    return time_work(launch_of(state), cache, options, timing, err);
}

bool device_time_clear(const BevProblem *host, const TimingOptions *options, Timing *timing,
                       Err *err) {
    return time_memory(enqueue_clear, bev_tensor_bytes(&host->out), options, timing, err);
}

bool device_time(bool (*enqueue)(void *context, void *stream, Err *err), void *context,
                 const TimingOptions *options, Timing *timing, Err *err) {
    Work work = {enqueue, context, NULL};
    bool ok =
        device_usable(err) &&
        cuda_ok(cudaStreamCreateWithFlags(&work.stream, cudaStreamNonBlocking), "cuda", err) &&
        time_work(work, CACHE_WARM, options, timing, err);
    if (work.stream && device_opened())
        cudaStreamDestroy(work.stream);
    return ok;
}

bool device_take(void **memory, const void *from, size_t bytes, Err *err) {
    if (!device_usable(err) || !cuda_allocate(memory, bytes, "cuda", err))
        return device_failed(err);
    TRY(from ? cudaMemcpy(*memory, from, bytes, cudaMemcpyHostToDevice)
             : cudaMemset(*memory, 0, bytes));
    return true;
}

void device_give(void *memory) {
    if (device_opened())
        cudaFree(memory);
}

bool device_time_copy(int64_t bytes, const TimingOptions *options, Timing *timing, Err *err) {
    return time_memory(enqueue_copy, 2 * (size_t)bytes, options, timing, err);
}
