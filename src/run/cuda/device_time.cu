// Time of what is enqueued on a stream: graphs of launches between events, the caches warm or
// flushed; or single launches by the host's clock.
#include "src/run/cuda/l2_carveout.cuh"
#include "src/run/cuda/session_cuda.cuh"

#include "src/base/clock.h"

#include <algorithm>
#include <vector>

namespace {

constexpr double SETTLE = 0.05;   // halves of the samples may differ by this
constexpr double SAMPLE_US = 500; // a sample this long hides the events' resolution
constexpr int MAX_INNER = 256;    // launches a graph holds
constexpr int MIN_SAMPLES = 5;

// What is timed: a kernel's launch, or anything else that can be enqueued.
struct Timed {
    CudaSession *s;
    Enqueue *enqueue;
    cudaEvent_t start, stop;
    cudaGraphExec_t graph; // `inner` launches
    int inner;
    char *flush; // larger than L2; NULL: warm
    size_t flush_bytes;
};

void timed_free(Timed *t) {
    if (!device_opened())
        return;
    if (t->graph)
        cudaGraphExecDestroy(t->graph);
    if (t->start)
        cudaEventDestroy(t->start);
    if (t->stop)
        cudaEventDestroy(t->stop);
    cudaFree(t->flush);
}

bool elapsed_us(const Timed *t, double *us, Err *err) {
    float ms;
    TRY(cudaEventSynchronize(t->stop));
    TRY(cudaEventElapsedTime(&ms, t->start, t->stop));
    *us = ms * 1e3;
    return true;
}

// Launches back to back until clocks and caches are warm; gives the time of one. Slow ones need no
// batch to be timed.
bool warm_up(Timed *t, double min_warm_ms, double *launch_us, Err *err) {
    constexpr int BATCH = 10;
    double begun = clock_us();
    int batch = 1;
    do {
        TRY(cudaEventRecord(t->start, t->s->stream));
        for (int i = 0; i < batch; i++)
            if (!t->enqueue(t->s, err))
                return device_failed(err);
        TRY(cudaEventRecord(t->stop, t->s->stream));
        if (!elapsed_us(t, launch_us, err))
            return false;
        *launch_us /= batch;
        batch = *launch_us < SAMPLE_US ? BATCH : 1;
    } while (clock_us() - begun < min_warm_ms * 1e3);
    return true;
}

bool build_graph(Timed *t, Err *err) {
    cudaGraph_t graph;
    if (!cuda_capture(t->s, t->enqueue, t->inner, &graph, err))
        return false;
    cudaError_t status = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    TRY(status);
    TRY(cudaGraphUpload(t->graph, t->s->stream));
    return true;
}

// One sample. Cold: the flush runs while the graph is being enqueued behind it, so that the host
// is not in the measured time.
bool sample_graph(Timed *t, double *us, Err *err) {
    cudaStream_t stream = t->s->stream;
    if (t->flush)
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, stream));
    if (!l2_carveout_fill(stream, err))
        return false;
    TRY(cudaEventRecord(t->start, stream));
    TRY(cudaGraphLaunch(t->graph, stream));
    TRY(cudaEventRecord(t->stop, stream));
    return elapsed_us(t, us, err);
}

// One launch from the host, waited for, by the host's clock: what a caller without graphs sees.
bool sample_single(Timed *t, double *us, Err *err) {
    if (t->flush)
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, t->s->stream));
    if (!l2_carveout_fill(t->s->stream, err))
        return false;
    TRY(cudaStreamSynchronize(t->s->stream));
    double start = clock_us();
    if (!t->enqueue(t->s, err))
        return device_failed(err);
    TRY(cudaStreamSynchronize(t->s->stream));
    *us = clock_us() - start;
    return true;
}

bool collect(Timed *t, const TimingOptions *options, Timing *timing, Err *err) {
    double launch_us, begun = clock_us();
    TRY(cudaEventCreate(&t->start));
    TRY(cudaEventCreate(&t->stop));
    if (!warm_up(t, options->min_warm_ms, &launch_us, err))
        return false;
    bool several = !t->flush && !options->single;
    t->inner = several ? std::clamp((int)(SAMPLE_US / launch_us), 1, MAX_INNER) : 1;
    if (!options->single && !build_graph(t, err))
        return false;
    auto sample = options->single ? sample_single : sample_graph;
    double us;
    if (!sample(t, &us, err)) // the first replay pays for the upload
        return false;
    std::vector<double> samples;
    while ((int)samples.size() < options->samples) {
        if (!sample(t, &us, err))
            return false;
        samples.push_back(us / t->inner);
        if ((int)samples.size() >= MIN_SAMPLES && clock_us() - begun > options->max_s * 1e6)
            break;
    }
    timing->inner = t->inner;
    timing_summarize(samples.data(), (int)samples.size(), SETTLE, timing);
    return true;
}

bool time_enqueued(CudaSession *s, Enqueue *enqueue, CacheState cache, const TimingOptions *options,
                   Timing *timing, Err *err) {
    if (!device_usable(err))
        return false;
    Range range("timing");
    Timed t = {};
    t.s = s;
    t.enqueue = enqueue;
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

bool enqueue_clear(CudaSession *s, Err *err) {
    return out_clear(&s->problem, "clear", s->stream, err);
}

// The first half of the arena over the second.
bool enqueue_copy(CudaSession *s, Err *err) {
    size_t bytes = s->arena_bytes / 2;
    TRY(cudaMemcpyAsync(s->arena + bytes, s->arena, bytes, cudaMemcpyDeviceToDevice, s->stream));
    return true;
}

bool begin_copy(CudaSession *s, int64_t bytes, Err *err) {
    if (!device_usable(err))
        return false;
    s->arena_bytes = 2 * (size_t)bytes;
    if (!cuda_allocate((void **)&s->arena, s->arena_bytes, "copy", err))
        return device_failed(err);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    TRY(cudaMemsetAsync(s->arena, 0, s->arena_bytes, s->stream));
    return true;
}

} // namespace

bool cuda_capture(CudaSession *s, Enqueue *enqueue, int count, cudaGraph_t *graph, Err *err) {
    TRY(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = enqueue(s, err);
    cudaError_t status = cudaStreamEndCapture(s->stream, graph);
    if (!ok)
        return device_failed(err);
    TRY(status);
    return true;
}

bool cuda_session_time(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                       Err *err) {
    return time_enqueued((CudaSession *)state, cuda_enqueue_launch, cache, options, timing, err);
}

bool device_time_clear(const BevProblem *host, const TimingOptions *options, Timing *timing,
                       Err *err) {
    // Any row will do: only the buffers of the session are used.
    BevKernel none = {};
    none.name = "clear";
    void *state;
    double prepare_us;
    if (!cuda_session_open(&state, &none, host, true, &prepare_us, err))
        return false;
    bool ok = time_enqueued((CudaSession *)state, enqueue_clear, CACHE_WARM, options, timing, err);
    cuda_session_close(state);
    return ok;
}

bool device_time_copy(int64_t bytes, const TimingOptions *options, Timing *timing, Err *err) {
    BevKernel none = {};
    none.name = "copy";
    CudaSession *s = new CudaSession();
    s->kernel = &none;
    bool ok = begin_copy(s, bytes, err) &&
              time_enqueued(s, enqueue_copy, CACHE_WARM, options, timing, err);
    cuda_session_close(s);
    return ok;
}
