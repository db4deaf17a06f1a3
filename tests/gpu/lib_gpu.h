/* SPDX-License-Identifier: MIT */
/* A problem of the judges' cases on a GPU, as a program sees it that uses the library: a call on
 * memory of the thread's current GPU, and whether its outputs are the expected ones. */
#pragma once

#include "tests/lib/lib_case.h"
#include "tests/gpu/on_gpu.h"

static inline BevpoolTensor tensor_on_device(const BevTensor *t, bool output) {
    BevpoolTensor tensor = lib_tensor_of(t);
    tensor.data = on_device(output ? NULL : t->data, tensor.bytes);
    if (output)
        CUDA(cudaMemset(tensor.data, 0xff, tensor.bytes));
    return tensor;
}

/* A call on copies of the problem's tensors, with an output and a workspace full of NaN. Waits for
 * them: streams that do not wait for the default stream use the call as well. */
static inline BevpoolCall gpu_call(const HostProblem *host, const BevpoolPlan *plan) {
    const BevProblem *view = &host->view;
    BevpoolTensor scales = lib_scales_of(&view->feat);
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bevpool_plan_workspace_bytes(plan)};
    call.tensors[BEVPOOL_DEPTH] = tensor_on_device(&view->depth, false);
    call.tensors[BEVPOOL_FEAT] = tensor_on_device(&view->feat, false);
    if (view->direction == BEV_FORWARD) {
        call.tensors[BEVPOOL_OUT] = tensor_on_device(&view->out, true);
    } else {
        call.tensors[BEVPOOL_GRAD_OUT] = tensor_on_device(&view->grad_out, false);
        call.tensors[BEVPOOL_GRAD_DEPTH] = tensor_on_device(&view->grad_depth, true);
        call.tensors[BEVPOOL_GRAD_FEAT] = tensor_on_device(&view->grad_feat, true);
    }
    if (scales.bytes) {
        scales.data = on_device(scales.data, scales.bytes);
        call.tensors[BEVPOOL_FEAT_SCALES] = scales;
    }
    call.workspace = on_device(NULL, call.workspace_bytes);
    CUDA(cudaMemset(call.workspace, 0xff, call.workspace_bytes));
    CUDA(cudaStreamSynchronize(NULL));
    return call;
}

static inline void call_free(BevpoolCall *call) {
    for (int role = 0; role < BEVPOOL_ROLES; role++)
        cudaFree(call->tensors[role].data);
    cudaFree(call->workspace);
}

/* Whether the call's outputs are `expected`, one behind the other. */
static inline bool is_output(const BevpoolCall *call, const void *expected) {
    static const BevpoolRole outputs[] = {BEVPOOL_OUT, BEVPOOL_GRAD_DEPTH, BEVPOOL_GRAD_FEAT};
    const char *next = expected;
    bool same = true;
    for (int i = 0; i < 3; i++) {
        const BevpoolTensor *out = &call->tensors[outputs[i]];
        void *found = malloc(out->bytes + 1);
        if (out->bytes)
            CUDA(cudaMemcpy(found, out->data, out->bytes, cudaMemcpyDeviceToHost));
        same = same && !memcmp(found, next, out->bytes);
        next += out->bytes;
        free(found);
    }
    return same;
}

/* Returns a copy of a map's arrays on the host. Free it with scatter_free. */
static inline BevMap fetched(const BevpoolMap *map) {
    BevpoolArrays a;
    fine(bevpool_map_arrays(map, &a, &error), "arrays of a map");
    BevMap copy = {.points = a.points, .intervals = a.intervals};
    const struct {
        const void *from;
        void **to;
        int64_t count;
    } arrays[] = {{a.ranks_depth, (void **)&copy.ranks_depth, a.points},
                  {a.ranks_feat, (void **)&copy.ranks_feat, a.points},
                  {a.ranks_bev, (void **)&copy.ranks_bev, a.points},
                  {a.interval_starts, (void **)&copy.interval_starts, a.intervals},
                  {a.interval_lengths, (void **)&copy.interval_lengths, a.intervals},
                  {a.weights, (void **)&copy.weights, a.weights ? a.points : 0}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t bytes = (size_t)arrays[i].count * 4;
        if (!arrays[i].from)
            continue;
        *arrays[i].to = malloc(bytes + 1);
        CUDA(cudaMemcpy(*arrays[i].to, arrays[i].from, bytes, cudaMemcpyDefault));
    }
    return copy;
}

/* A map and a plan of the problem on a device, and a call on a GPU for it. */
typedef struct {
    BevpoolMap *map;
    BevpoolPlan *plan;
    BevpoolCall call;
} Ready;

static inline Ready ready_on(const HostProblem *host, int32_t device, const char *kernel,
                             int32_t out_layout) {
    Ready ready = {.map = map_of(host, device)};
    ready.plan = plan_of(host, ready.map, kernel, out_layout);
    ready.call = gpu_call(host, ready.plan);
    return ready;
}

static inline void ready_free(Ready *ready) {
    call_free(&ready->call);
    bevpool_plan_destroy(ready->plan);
    bevpool_map_destroy(ready->map);
}
