/* SPDX-License-Identifier: MIT */
/* A problem on the GPU as a test of the TensorRT plugin holds it: inputs in the order and layout of
 * the plugin, its workspace, the FP64 reference that outputs are judged by. */
#pragma once

#include "src/accuracy/gates.h"
#include "kernels/codec.h"
#include "src/run/cuda/device.h"
#include "tests/gpu/on_gpu.h"
#include "tests/gpu/trt_host.h"

typedef struct {
    const HostProblem *host;
    TrtLayout layout;
    void *inputs[TRT_INPUTS];
    void *out, *workspace;
    size_t out_bytes, workspace_bytes;
    double *reference, *abs_sum;
    int32_t *points;
} Case;

static inline size_t code_bytes(const BevTensor *t) {
    return (size_t)bev_dtypes[t->dtype].bits / 8;
}

/* (rows, columns) -> (columns, rows), `count` times. */
static inline void transpose(const char *from, char *to, size_t bytes, int64_t count, int64_t rows,
                             int64_t columns) {
    for (int64_t o = 0; o < count;
         o++, from += (size_t)(rows * columns) * bytes, to += (size_t)(rows * columns) * bytes)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++)
                memcpy(to + (size_t)(c * rows + r) * bytes,
                       from + (size_t)(r * columns + c) * bytes, bytes);
}

static inline void *feat_on_device(const HostProblem *host, TrtLayout layout) {
    const BevTensor *feat = &host->view.feat;
    const BevShape *s = &host->view.shape;
    size_t bytes = bev_tensor_bytes(feat);
    if (layout != TRT_NCHW)
        return on_device(feat->data, bytes);
    char *first = malloc(bytes + 1);
    transpose(feat->data, first, code_bytes(feat), s->cameras, s->feat_h * s->feat_w, s->channels);
    void *memory = on_device(first, bytes);
    free(first);
    return memory;
}

static inline void map_to_device(void *inputs[TRT_INPUTS], const BevMap *map) {
    size_t points = (size_t)map->points * 4, intervals = (size_t)map->intervals * 4;
    const void *arrays[] = {map->ranks_depth,     map->ranks_feat,       map->ranks_bev,
                            map->interval_starts, map->interval_lengths, map->weights};
    for (int i = 0; i < 6; i++)
        if (arrays[i])
            CUDA(cudaMemcpy(inputs[i + 2], arrays[i], i == 3 || i == 4 ? intervals : points,
                            cudaMemcpyHostToDevice));
}

static inline void judge_by(Case *c, const BevProblem *problem) {
    Err err;
    free(c->points);
    c->points = gate_terms(problem, &err);
    tap_need(c->points != NULL, "terms");
    gate_reference(problem, c->reference, c->abs_sum);
}

static inline Case case_of(const HostProblem *host, TrtLayout layout, const TrtPlugin *plugin) {
    const BevProblem *view = &host->view;
    Case c = {.host = host, .layout = layout, .out_bytes = bev_tensor_bytes(&view->out)};
    size_t values = (size_t)gate_values(view) * sizeof(double);
    c.inputs[0] = on_device(view->depth.data, bev_tensor_bytes(&view->depth));
    c.inputs[1] = feat_on_device(host, layout);
    for (int i = 2; i < TRT_INPUTS; i++)
        CUDA(cudaMalloc(&c.inputs[i], (size_t)view->map.points * 4 + 1));
    map_to_device(c.inputs, &view->map);
    c.workspace_bytes = trt_host_workspace(plugin);
    CUDA(cudaMalloc(&c.out, c.out_bytes + 1));
    CUDA(cudaMalloc(&c.workspace, c.workspace_bytes + 1));
    CUDA(cudaMemset(c.out, 0xff, c.out_bytes));
    CUDA(cudaMemset(c.workspace, 0xff, c.workspace_bytes));
    c.reference = malloc(values);
    c.abs_sum = malloc(values);
    tap_need(c.reference && c.abs_sum, "memory");
    judge_by(&c, view);
    return c;
}

static inline void case_free(Case *c) {
    for (int i = 0; i < TRT_INPUTS; i++)
        cudaFree(c->inputs[i]);
    cudaFree(c->out);
    cudaFree(c->workspace);
    free(c->reference);
    free(c->abs_sum);
    free(c->points);
}

/* The output with channels last; the caller frees it. */
static inline void *fetch(const Case *c, void *out) {
    const BevTensor *t = &c->host->view.out;
    char *codes = malloc(c->out_bytes + 1), *last = malloc(c->out_bytes + 1);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(codes, out, c->out_bytes, cudaMemcpyDeviceToHost));
    if (c->layout == TRT_NCHW)
        transpose(codes, last, code_bytes(t), 1, t->row_len, t->rows);
    else
        memcpy(last, codes, c->out_bytes);
    free(codes);
    return last;
}

/* Passes gate A with the sums of `kernel`, NULL: of the least exact that there is. */
static inline bool passes(const Case *c, const BevProblem *problem, const char *kernel) {
    BevDtype accumulate = BEV_FP16;
    if (kernel)
        accumulate = bev_kernel_find(kernel)->accumulate[problem->dtype];
    void *codes = fetch(c, c->out);
    GateResult result =
        gate_kernel(problem, accumulate, codes, c->reference, c->abs_sum, c->points, NULL);
    if (result.verdict != GATE_PASS)
        tap_note("%lld of %lld wrong: got %g, want %g", (long long)result.bad,
                 (long long)result.checked, result.got, result.want);
    free(codes);
    return result.verdict == GATE_PASS;
}

static inline bool ran(bool enqueued) {
    if (!enqueued)
        tap_note("%s", trt_host_said());
    return enqueued;
}

static inline bool launch(TrtPlugin *plugin, const Case *c, void *stream) {
    return ran(
        trt_host_enqueue(plugin, (const void *const *)c->inputs, c->out, c->workspace, stream));
}

/* The plugin and what it is enqueued on. */
typedef struct {
    TrtPlugin *plugin;
    const Case *c;
} Enqueued;

static inline void enqueue_again(void *context, cudaStream_t stream) {
    const Enqueued *e = context;
    tap_need(ran(trt_host_again(e->plugin, (const void *const *)e->c->inputs, e->c->out,
                                e->c->workspace, stream)),
             "enqueue while a graph is captured");
}

/* Why there is nothing to test here, or NULL. */
static inline const char *nothing_to_test(void) {
    static Err err;
    return device_open(0, &err) ? trt_host_open() : err.what;
}
