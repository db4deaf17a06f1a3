/* SPDX-License-Identifier: MIT */
/* Memory of a GPU, and launches there in a CUDA graph: captured, replayed, timed. */
#pragma once

#include "src/run/session.h"
#include "tests/support/scenes.h"

#include <cuda_runtime_api.h>

#define CUDA(call) tap_need((call) == cudaSuccess, #call)

static inline void *on_device(const void *host, size_t bytes) {
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, bytes + 1));
    if (host && bytes)
        CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

/* Checks that a kernel gives the same bits in a hundred runs, or says that it does not. */
static inline void check_same_bits(const BevKernel *kernel, const BevProblem *problem) {
    enum { REPEATS = 100 };
    Err err = {0};
    Session *session = NULL;
    size_t bytes = bev_output_bytes(problem);
    char *want = malloc(bytes), *got = malloc(bytes);
    bool ok = want && got && session_open(&session, kernel, problem, &err), same = true;
    int runs = 0;
    for (; ok && same && runs < REPEATS; runs++) {
        ok = session_poison(session, &err) && session_run(session, &err) &&
             session_read(session, runs ? got : want, &err);
        same = !ok || !runs || !memcmp(want, got, bytes);
    }
    ok = ok && session_inputs_untouched(session, &err);
    session_close(session);
    tap_ok(ok_or_note(ok, &err) && (same || !kernel->deterministic), "%s %s %s: %s %d runs",
           kernel->name, bev_dtypes[problem->dtype].name, bev_aligns[problem->align].name,
           same ? "the same bits in" : "other bits, as it says, after", runs);
    free(want);
    free(got);
}

/* Enqueues a launch, or ends the suite. */
typedef void Launcher(void *context, cudaStream_t stream);

typedef struct {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
} Graph;

static inline Graph captured(Launcher *launch, void *context, int launches) {
    Graph g;
    CUDA(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(g.stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches; i++)
        launch(context, g.stream);
    CUDA(cudaStreamEndCapture(g.stream, &g.graph));
    CUDA(cudaGraphInstantiate(&g.replay, g.graph, 0));
    return g;
}

static inline void graph_free(Graph *g) {
    cudaGraphExecDestroy(g->replay);
    cudaGraphDestroy(g->graph);
    cudaStreamDestroy(g->stream);
}

enum { IN_GRAPH = 200, SAMPLES = 25 };

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds a launch: the median, of replays of a graph of many, or of as many one by one. */
static inline double time_launches(Launcher *launch, void *context, bool in_graph) {
    cudaEvent_t begin, end;
    double us[SAMPLES];
    Graph g = captured(launch, context, IN_GRAPH);
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int i = -10; i < SAMPLES; i++) {
        float ms;
        CUDA(cudaEventRecord(begin, g.stream));
        if (in_graph)
            CUDA(cudaGraphLaunch(g.replay, g.stream));
        for (int n = 0; !in_graph && n < IN_GRAPH; n++)
            launch(context, g.stream);
        CUDA(cudaEventRecord(end, g.stream));
        CUDA(cudaStreamSynchronize(g.stream));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 0)
            us[i] = (double)ms * 1e3 / IN_GRAPH;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    graph_free(&g);
    qsort(us, SAMPLES, sizeof *us, ascending);
    return us[SAMPLES / 2];
}

/* The same of the bare kernel, as bench times it. */
static inline double time_kernel(const BevProblem *problem, const char *kernel) {
    Err err = {0};
    Session *session;
    Timing timing;
    need(session_open(&session, bev_kernel_find(kernel), problem, &err) &&
             session_time(session, CACHE_WARM, &timing_default, &timing, &err),
         &err);
    session_close(session);
    return timing.median_us;
}
