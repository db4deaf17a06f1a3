/* SPDX-License-Identifier: MIT */
// Sessions on the GPU. They hold a problem's buffers with guard bands between them, launch kernels
// and copy the outputs back.
#include "kernels/codec.h"
#include "kernels/cuda/transpose.h"
#include "src/base/clock.h"
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <string.h>

namespace {

// ---- a problem on the device -------------------------------------------------------------------

constexpr size_t GUARD = 256; // bytes before and after every buffer; keeps buffers aligned
constexpr int GUARD_BYTE = 0xa5;
enum Use { INPUT, OUTPUT }; // of a buffer by the kernel

size_t round_up(size_t bytes) {
    return (bytes + GUARD - 1) / GUARD * GUARD;
}

// Returns the bytes of an element. Only formats of whole bytes have tensors with channels first.
size_t code_bytes(const BevTensor *tensor) {
    return bev_dtypes[tensor->dtype].bits / 8;
}

// Adds a buffer for `pointer` to the arena. An input without a source needs no buffer.
template <typename T>
void place(CudaSession *s, T **pointer, const void *source, size_t bytes, Use use = INPUT) {
    if (!source && use == INPUT)
        return;
    size_t offset = s->arena_bytes ? s->arena_bytes : GUARD;
    s->buffers.push_back({offset, bytes, source, (void **)pointer, NULL, 0});
    s->arena_bytes = offset + round_up(bytes) + GUARD;
}

// Places a tensor of the host. With `outer` > 0 it has channels first, in `outer` samples.
void place_tensor(CudaSession *s, BevTensor *tensor, const BevTensor *host, int64_t outer,
                  Use use = INPUT) {
    size_t bytes = bev_code_bytes(host->dtype, host->rows, host->row_len);
    place(s, &tensor->data, use == OUTPUT ? NULL : host->data, bytes, use);
    if ((host->data || use == OUTPUT) && outer)
        s->buffers.back().last = host, s->buffers.back().outer = outer;
}

// Decides where in the arena each array of the problem will be, the outputs last.
void plan_arena(CudaSession *s) {
    BevProblem *p = &s->problem;
    const BevProblem *host = s->host;
    BevMap map = host->map;
    const BevMapArrays from = bev_map_arrays(&map), to = bev_map_arrays(&p->map);
    *p = *host;
    int64_t pixels = host->shape.feat_h * host->shape.feat_w;
    p->view.feat = {host->shape.channels * pixels, pixels, host->shape.feat_w, 1};
    const BevTensor *feat = &host->feat;
    bool first = s->kernel->channels_first, view = host->stage == BEV_VIEW;
    place_tensor(s, &p->depth, &host->depth, 0);
    place_tensor(s, &p->feat, feat, first || view ? host->shape.cameras : 0);
    place(s, &p->feat.block_scales, feat->block_scales,
          bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->feat.channel_scales, feat->channel_scales,
          feat->channel_scales ? feat->row_len * sizeof(float) : 0);
    place_tensor(s, &p->grad_out, &host->grad_out, host->out_samples);
    s->value_buffers = s->buffers.size();
    for (int i = 0; i < BEV_MAP_ARRAYS; i++)
        place(s, to.array[i], *from.array[i], (size_t)from.count[i] * 4);
    if (host->direction == BEV_FORWARD)
        return place_tensor(s, &p->out, &host->out, first ? 1 : host->out_samples, OUTPUT);
    place_tensor(s, &p->grad_depth, &host->grad_depth, 0, OUTPUT);
    place_tensor(s, &p->grad_feat, &host->grad_feat, view ? host->shape.cameras : 0, OUTPUT);
}

// Allocates device memory for a tensor in the other order of channels and rows.
bool take_other_order(CudaSession *s, size_t bytes, Err *err) {
    if (bytes <= s->other_order_bytes)
        return true;
    cudaFree(s->other_order);
    s->other_order = NULL;
    s->other_order_bytes = 0;
    if (!cuda_allocate((void **)&s->other_order, bytes, s->kernel->name, err))
        return device_failed(err);
    s->other_order_bytes = bytes;
    return true;
}

// Copies the first `count` buffers from the host.
bool upload(CudaSession *s, size_t count, Err *err) {
    for (size_t i = 0; i < count; i++) {
        const Buffer &b = s->buffers[i];
        if (!b.source || !b.bytes)
            continue;
        if (b.last && !take_other_order(s, b.bytes, err))
            return false;
        char *to = s->arena + b.offset;
        TRY(cudaMemcpyAsync(b.last ? s->other_order : to, b.source, b.bytes, cudaMemcpyHostToDevice,
                            s->stream));
        if (b.last && !cuda_transpose(s->other_order, to, code_bytes(b.last), b.outer,
                                      b.last->rows / b.outer, b.last->row_len, s->stream, err))
            return device_failed(err);
    }
    TRY(cudaStreamSynchronize(s->stream));
    return true;
}

bool fill_arena(CudaSession *s, Err *err) {
    Range range("upload");
    for (const Buffer &b : s->buffers)
        *b.pointer = s->arena + b.offset;
    TRY(cudaMemsetAsync(s->arena, GUARD_BYTE, s->arena_bytes, s->stream));
    return upload(s, s->buffers.size(), err);
}

// Allocates the workspace that the kernel needs with its current plan.
bool take_workspace(CudaSession *s, Err *err) {
    size_t bytes =
        s->kernel->workspace_bytes ? s->kernel->workspace_bytes(&s->problem, s->plan) : 0;
    if (s->workspace && bytes == s->workspace_bytes)
        return true;
    cudaFree(s->workspace);
    s->problem.workspace = s->workspace = NULL;
    s->workspace_bytes = bytes;
    if (!bytes)
        return true;
    if (!cuda_allocate((void **)&s->workspace, bytes + GUARD, s->kernel->name, err))
        return device_failed(err);
    s->problem.workspace = s->workspace;
    TRY(cudaMemsetAsync(s->workspace, GUARD_BYTE, bytes + GUARD, s->stream));
    TRY(cudaStreamSynchronize(s->stream));
    return true;
}

// ---- the session's functions -------------------------------------------------------------------

bool begin(CudaSession *s, Err *err) {
    if (!device_usable(err))
        return false;
    plan_arena(s);
    if (!cuda_allocate((void **)&s->arena, s->arena_bytes, s->kernel->name, err))
        return device_failed(err);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    return fill_arena(s, err) && (s->kernel->prepare || take_workspace(s, err));
}

bool prepare(void *state, double *us, Err *err) {
    CudaSession *s = (CudaSession *)state;
    Range range("prepare");
    s->kernel->release(s->plan);
    s->plan = NULL;
    double start = clock_us();
    if (!s->kernel->prepare(&s->problem, &s->plan, err))
        return device_failed(err);
    TRY(cudaStreamSynchronize(NULL));
    *us = clock_us() - start;
    return take_workspace(s, err);
}

bool update(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    Range range("update");
    s->problem.depth.scale = s->host->depth.scale;
    s->problem.feat.scale = s->host->feat.scale;
    s->problem.out.scale = s->host->out.scale;
    return upload(s, s->value_buffers, err);
}

bool poison(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    for (int i = bev_outputs(&s->problem, outputs); i-- > 0;)
        TRY(cudaMemsetAsync(outputs[i]->data, 0xff, bev_tensor_bytes(outputs[i]), s->stream));
    if (s->workspace)
        TRY(cudaMemsetAsync(s->workspace, 0xff, s->workspace_bytes, s->stream));
    return true;
}

bool run(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    Range range(s->kernel->name);
    if (!cuda_enqueue_launch(s, s->stream, err) ||
        !cuda_ok(cudaStreamSynchronize(s->stream), s->kernel->name, err))
        return device_failed(err);
    return true;
}

// Copies a buffer from the arena, in the host's order of channels.
bool download(CudaSession *s, const Buffer &b, char *to, Err *err) {
    const char *from = s->arena + b.offset;
    if (b.last) {
        if (!take_other_order(s, b.bytes, err))
            return false;
        if (!cuda_transpose(from, s->other_order, code_bytes(b.last), b.outer, b.last->row_len,
                            b.last->rows / b.outer, s->stream, err))
            return device_failed(err);
        from = s->other_order;
    }
    TRY(cudaMemcpyAsync(to, from, b.bytes, cudaMemcpyDeviceToHost, s->stream));
    TRY(cudaStreamSynchronize(s->stream));
    return true;
}

bool read(void *state, void *codes, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    Range range("download");
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    char *to = (char *)codes;
    size_t i = s->buffers.size() - bev_outputs(&s->problem, outputs);
    for (; i < s->buffers.size(); i++) {
        if (!download(s, s->buffers[i], to, err))
            return false;
        to += s->buffers[i].bytes;
    }
    return true;
}

bool output(void *state, const void **codes, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    if (!s->staging.memory && !staging_take(&s->staging, bev_output_bytes(&s->problem), err))
        return false;
    *codes = s->staging.memory;
    return read(s, s->staging.memory, err);
}

// Sets *whole to whether the band behind the workspace is unchanged.
bool workspace_whole(const CudaSession *s, bool *whole, Err *err) {
    char band[GUARD];
    *whole = true;
    if (!s->workspace)
        return true;
    TRY(cudaMemcpy(band, s->workspace + s->workspace_bytes, GUARD, cudaMemcpyDeviceToHost));
    *whole = std::all_of(band, band + GUARD, [](char byte) { return byte == (char)GUARD_BYTE; });
    return true;
}

// Checks that a launch has changed only outputs: neither inputs nor the guards between buffers.
bool inputs_untouched(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    std::vector<char> found(s->arena_bytes);
    TRY(cudaMemcpy(found.data(), s->arena, s->arena_bytes, cudaMemcpyDeviceToHost));
    size_t next = 0;
    bool guards = true, inputs = true;
    auto intact = [&](size_t from, size_t to) {
        return std::all_of(&found[0] + from, &found[0] + to,
                           [](char byte) { return byte == (char)GUARD_BYTE; });
    };
    for (const Buffer &b : s->buffers) {
        guards = guards && intact(next, b.offset);
        if (b.last && b.source && !download(s, b, &found[b.offset], err))
            return false;
        inputs = inputs && (!b.source || !memcmp(&found[b.offset], b.source, b.bytes));
        next = b.offset + b.bytes;
    }
    bool whole;
    if (!workspace_whole(s, &whole, err))
        return false;
    guards = guards && whole && intact(next, s->arena_bytes);
    if (!inputs)
        return err_set(err, ERR_FAILED, s->kernel->name, "", "the kernel changed its inputs");
    return guards ||
           err_set(err, ERR_FAILED, s->kernel->name, "", "the kernel wrote outside its buffers");
}

} // namespace

bool cuda_session_open(void **state, const BevKernel *kernel, const BevProblem *host, Err *err) {
    CudaSession *s = new CudaSession();
    s->kernel = kernel;
    s->host = host;
    if (!begin(s, err)) {
        cuda_session_close(s);
        return false;
    }
    *state = s;
    return true;
}

void cuda_session_close(void *state) {
    CudaSession *s = (CudaSession *)state;
    if (s && device_opened()) {
        if (s->stream)
            cudaStreamSynchronize(s->stream); // a plan's memory is freed without waiting
        if (s->kernel->release)
            s->kernel->release(s->plan);
        cudaFree(s->arena);
        cudaFree(s->other_order);
        cudaFree(s->workspace);
        if (s->stream)
            cudaStreamDestroy(s->stream);
    }
    if (s)
        staging_give(&s->staging);
    delete s;
}

bool cuda_enqueue_launch(void *context, void *stream, Err *err) {
    const CudaSession *s = (const CudaSession *)context;
    return s->kernel->launch(&s->problem, s->plan, stream, err);
}

// clang-format off
const SessionBackend session_cuda_backend = {
    .open = cuda_session_open, .close = cuda_session_close, .prepare = prepare, .update = update,
    .poison = poison, .run = run, .read = read, .output = output,
    .inputs_untouched = inputs_untouched, .functions = cuda_session_functions,
    .time = cuda_session_time,
};
// clang-format on
