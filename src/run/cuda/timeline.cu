// Time lines: the same launches, one by one, in a row, in a graph and with copies, and when each of
// them begins and ends.
//
// A stop on the way would change what is measured: an event between two launches costs about as
// much as the gap that is looked for. So the end of launch k is the end of a run of k launches, the
// median of some runs, and each run has one event in front and one behind. A launch begins when the
// one before it ends, or its own duration before its end, whichever is later; the duration is that
// within a graph. Copies take tens of microseconds: events stand between those.
//
// The host's calls have the host's clock. Both clocks begin with the call that records the first
// event, and may be some microseconds apart.
#include "src/base/clock.h"
#include "src/cachesim/timeline.h"
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <string.h>

namespace {

constexpr int REPEATS = 15;
constexpr int MOST = TIMELINE_LAUNCHES;

// All that a time line allocates.
struct Recorder {
    CudaSession *s;
    cudaEvent_t begin, end;
    cudaEvent_t marks[LANE_COUNT][2]
                     [MOST]; // begin and end of copies and of the kernels behind them
    cudaGraphExec_t graph;
    cudaStream_t copies;
    char *host, *second; // pinned inputs, and the second set of them on the device
    size_t bytes;
};

void recorder_free(Recorder *r) {
    if (!device_opened())
        return;
    cudaStreamSynchronize(r->s->stream);
    if (r->graph)
        cudaGraphExecDestroy(r->graph);
    for (cudaEvent_t event : {r->begin, r->end})
        if (event)
            cudaEventDestroy(event);
    for (int i = 0; i < LANE_COUNT * 2 * MOST; i++)
        if ((&r->marks[0][0][0])[i])
            cudaEventDestroy((&r->marks[0][0][0])[i]);
    if (r->copies)
        cudaStreamDestroy(r->copies);
    cudaFreeHost(r->host);
    cudaFree(r->second);
}

bool elapsed_us(cudaEvent_t from, cudaEvent_t to, double *us, Err *err) {
    float ms;
    TRY(cudaEventElapsedTime(&ms, from, to));
    *us = ms * 1e3;
    return true;
}

bool enqueue(Recorder *r, Err *err) {
    return cuda_enqueue_launch(r->s, err) || device_failed(err);
}

// ---- launches alone ----------------------------------------------------------------------------

struct Calls {
    double from[MOST], to[MOST]; // host's clock, since the run began
    int count;
};

bool call_graph(Recorder *r, double zero, Calls *calls, Err *err) {
    calls->count = 1;
    calls->from[0] = clock_us() - zero;
    TRY(cudaGraphLaunch(r->graph, r->s->stream));
    calls->to[0] = clock_us() - zero;
    TRY(cudaEventRecord(r->end, r->s->stream));
    return true;
}

bool call_launches(Recorder *r, TimelineWay way, int launches, double zero, Calls *calls,
                   Err *err) {
    calls->count = launches;
    for (int i = 0; i < launches; i++) {
        calls->from[i] = clock_us() - zero;
        if (!enqueue(r, err))
            return false;
        if (i == launches - 1)
            TRY(cudaEventRecord(r->end, r->s->stream));
        if (way == TIMELINE_WAITED)
            TRY(cudaStreamSynchronize(r->s->stream));
        calls->to[i] = clock_us() - zero;
    }
    return true;
}

// One run of `launches`; *us: until the last one ended.
bool run_launches(Recorder *r, TimelineWay way, int launches, Calls *calls, double *us, Err *err) {
    TRY(cudaStreamSynchronize(r->s->stream));
    TRY(cudaEventRecord(r->begin, r->s->stream));
    double zero = clock_us();
    bool ok = way == TIMELINE_GRAPH ? call_graph(r, zero, calls, err)
                                    : call_launches(r, way, launches, zero, calls, err);
    if (!ok)
        return false;
    TRY(cudaEventSynchronize(r->end));
    return elapsed_us(r->begin, r->end, us, err);
}

bool build_graph(Recorder *r, int launches, Err *err) {
    cudaGraph_t graph;
    if (r->graph)
        cudaGraphExecDestroy(r->graph);
    r->graph = NULL;
    if (!cuda_capture(r->s, cuda_enqueue_launch, launches, &graph, err))
        return false;
    cudaError_t status = cudaGraphInstantiate(&r->graph, graph, 0);
    cudaGraphDestroy(graph);
    TRY(status);
    TRY(cudaGraphUpload(r->graph, r->s->stream));
    return true;
}

double median_of(double values[REPEATS]) {
    return timing_median(values, REPEATS);
}

void note_calls(const Calls calls[REPEATS], TimelineRun *run) {
    run->count[LANE_HOST] = calls[0].count;
    for (int i = 0; i < calls[0].count; i++) {
        double from[REPEATS], to[REPEATS];
        for (int j = 0; j < REPEATS; j++)
            from[j] = calls[j].from[i], to[j] = calls[j].to[i];
        TimelineSpan *span = &run->spans[LANE_HOST][i];
        span->begin_us = median_of(from);
        span->end_us = std::max(median_of(to), span->begin_us);
        run->calls_us = span->end_us;
    }
}

// The ends of launches 1 to `launches`, and the host's calls of the longest run.
bool time_way(Recorder *r, TimelineWay way, int launches, TimelineRun *run, Err *err) {
    Calls calls[REPEATS];
    run->count[LANE_KERNEL] = launches;
    for (int k = 1; k <= launches; k++) {
        double ends[REPEATS], ignored;
        if (way == TIMELINE_GRAPH && !build_graph(r, k, err))
            return false;
        if (!run_launches(r, way, k, &calls[0], &ignored, err)) // the first one warms up
            return false;
        for (int j = 0; j < REPEATS; j++)
            if (!run_launches(r, way, k, &calls[j], &ends[j], err))
                return false;
        double before = k > 1 ? run->spans[LANE_KERNEL][k - 2].end_us : 0;
        run->end_us = run->spans[LANE_KERNEL][k - 1].end_us = std::max(median_of(ends), before);
    }
    note_calls(calls, run);
    return true;
}

void set_begins(TimelineRun *run, double kernel_us) {
    for (int k = 0; k < run->count[LANE_KERNEL]; k++) {
        TimelineSpan *span = &run->spans[LANE_KERNEL][k];
        double before = k ? span[-1].end_us : 0;
        span->begin_us = std::max(before, span->end_us - kernel_us);
    }
}

// ---- copies and launches -----------------------------------------------------------------------

size_t input_end(const CudaSession *s) {
    const Buffer &last = s->buffers[s->value_buffers - 1];
    return last.offset + last.bytes;
}

// The inputs in pinned memory, as they lie in the arena, and their second place on the device.
bool begin_copies(Recorder *r, Err *err) {
    CudaSession *s = r->s;
    r->bytes = input_end(s);
    TRY(cudaMallocHost((void **)&r->host, r->bytes));
    if (!cuda_allocate((void **)&r->second, r->bytes, "time line", err))
        return device_failed(err);
    TRY(cudaMemcpy(r->host, s->arena, r->bytes, cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(r->second, r->host, r->bytes, cudaMemcpyHostToDevice));
    TRY(cudaStreamCreateWithFlags(&r->copies, cudaStreamNonBlocking));
    for (int i = 0; i < LANE_COUNT * 2 * MOST; i++)
        TRY(cudaEventCreate(&(&r->marks[0][0][0])[i]));
    return true;
}

// Points the problem's inputs into the arena or into their second place.
void use_inputs(CudaSession *s, char *base) {
    for (size_t i = 0; i < s->value_buffers; i++)
        *s->buffers[i].pointer = base + s->buffers[i].offset;
}

bool copy_inputs(Recorder *r, char *base, cudaStream_t stream, Err *err) {
    for (size_t i = 0; i < r->s->value_buffers; i++) {
        const Buffer &b = r->s->buffers[i];
        TRY(cudaMemcpyAsync(base + b.offset, r->host + b.offset, b.bytes, cudaMemcpyHostToDevice,
                            stream));
    }
    return true;
}

// Copy `i`, then launch `i`. Overlapped, copy i waits for launch i - 2, which read the same buffer.
bool call_frame(Recorder *r, bool overlap, int i, Err *err) {
    CudaSession *s = r->s;
    cudaStream_t copies = overlap ? r->copies : s->stream;
    cudaEvent_t(*copy)[MOST] = r->marks[LANE_COPY], (*kernel)[MOST] = r->marks[LANE_KERNEL];
    char *base = overlap && i % 2 ? r->second : s->arena;
    if (overlap && i > 1)
        TRY(cudaStreamWaitEvent(copies, kernel[1][i - 2], 0));
    TRY(cudaEventRecord(copy[0][i], copies));
    if (!copy_inputs(r, base, copies, err))
        return false;
    TRY(cudaEventRecord(copy[1][i], copies));
    if (overlap)
        TRY(cudaStreamWaitEvent(s->stream, copy[1][i], 0));
    TRY(cudaEventRecord(kernel[0][i], s->stream));
    use_inputs(s, base);
    if (!enqueue(r, err))
        return false;
    TRY(cudaEventRecord(kernel[1][i], s->stream));
    return true;
}

bool run_frames(Recorder *r, bool overlap, int launches, Calls *calls, Err *err) {
    TRY(cudaStreamSynchronize(r->s->stream));
    TRY(cudaEventRecord(r->begin, r->s->stream));
    double zero = clock_us();
    if (overlap)
        TRY(cudaStreamWaitEvent(r->copies, r->begin, 0));
    calls->count = launches;
    for (int i = 0; i < launches; i++) {
        calls->from[i] = clock_us() - zero;
        if (!call_frame(r, overlap, i, err))
            return false;
        calls->to[i] = clock_us() - zero;
    }
    TRY(cudaStreamSynchronize(r->s->stream));
    return true;
}

bool time_copies(Recorder *r, bool overlap, int launches, TimelineRun *run, Err *err) {
    double times[LANE_COUNT][2][MOST][REPEATS];
    Calls calls[REPEATS];
    for (int j = -1; j < REPEATS; j++) { // the first one warms up
        if (!run_frames(r, overlap, launches, &calls[std::max(j, 0)], err))
            return false;
        for (int lane = LANE_COPY; j >= 0 && lane <= LANE_KERNEL; lane++)
            for (int i = 0; i < 2 * launches; i++)
                if (!elapsed_us(r->begin, r->marks[lane][i % 2][i / 2],
                                &times[lane][i % 2][i / 2][j], err))
                    return false;
    }
    note_calls(calls, run);
    for (int lane = LANE_COPY; lane <= LANE_KERNEL; lane++) {
        run->count[lane] = launches;
        for (int i = 0; i < launches; i++) {
            TimelineSpan *span = &run->spans[lane][i];
            span->begin_us = median_of(times[lane][0][i]);
            span->end_us = std::max(median_of(times[lane][1][i]), span->begin_us);
            run->end_us = std::max(run->end_us, span->end_us);
        }
    }
    return true;
}

bool record(Recorder *r, Timeline *t, Err *err) {
    TRY(cudaEventCreate(&r->begin));
    TRY(cudaEventCreate(&r->end));
    for (int way = TIMELINE_WAITED; way <= TIMELINE_GRAPH; way++)
        if (!time_way(r, (TimelineWay)way, t->launches, &t->runs[way], err))
            return false;
    const TimelineSpan *graph = t->runs[TIMELINE_GRAPH].spans[LANE_KERNEL];
    t->kernel_us = (graph[t->launches - 1].end_us - graph[0].end_us) / (t->launches - 1);
    for (int way = TIMELINE_WAITED; way <= TIMELINE_GRAPH; way++)
        set_begins(&t->runs[way], t->kernel_us);
    bool ok = begin_copies(r, err) &&
              time_copies(r, false, t->launches, &t->runs[TIMELINE_COPIES], err) &&
              time_copies(r, true, t->launches, &t->runs[TIMELINE_OVERLAP], err);
    use_inputs(r->s, r->s->arena);
    return ok;
}

} // namespace

bool cuda_session_timeline(void *state, Timeline *timeline, Err *err) {
    CudaSession *s = (CudaSession *)state;
    DeviceInfo info;
    if (!device_usable(err) || !device_info(&info, err))
        return false;
    Range range("time line");
    Recorder r = {};
    r.s = s;
    *timeline = {};
    timeline->source = SOURCE_MEASURED;
    timeline->launches = TIMELINE_LAUNCHES;
    snprintf(timeline->label, sizeof timeline->label, "%s, driver %s, CUDA %s", info.name,
             info.driver, info.runtime);
    snprintf(timeline->kernel, sizeof timeline->kernel, "%s", s->kernel->name);
    snprintf(timeline->dtype, sizeof timeline->dtype, "%s", bev_dtypes[s->host->dtype].name);
    snprintf(timeline->align, sizeof timeline->align, "%s", bev_aligns[s->host->align].name);
    bool ok = record(&r, timeline, err);
    recorder_free(&r);
    return ok;
}
