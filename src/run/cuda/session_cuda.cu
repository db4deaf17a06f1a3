// Sessions on the GPU: a problem's buffers with guard bands between them, launches, and the outputs
// copied back.
#include "kernels/codec.h"
#include "src/base/clock.h"
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <string.h>

namespace {

// ---- a problem on the device -------------------------------------------------------------------

constexpr size_t GUARD = 256; // bytes before and after every buffer; keeps buffers aligned
constexpr int GUARD_BYTE = 0xa5;

size_t round_up(size_t bytes) {
    return (bytes + GUARD - 1) / GUARD * GUARD;
}

// Calls `action` with a value of the unsigned type that is as wide as a code of the format.
template <typename Action> void with_code_type(BevDtype dtype, Action action) {
    switch (bev_dtypes[dtype].bits) {
    case 8:
        return action(uint8_t());
    case 16:
        return action(uint16_t());
    default:
        return action(uint32_t());
    }
}

// (outer, a, b) -> (outer, b, a), in squares that fit the first cache on both sides.
template <typename T> void transpose(const T *from, T *to, int64_t outer, int64_t a, int64_t b) {
    constexpr int64_t EDGE = 32;
    for (int64_t o = 0; o < outer; o++, from += a * b, to += a * b)
        for (int64_t i0 = 0; i0 < a; i0 += EDGE)
            for (int64_t j0 = 0; j0 < b; j0 += EDGE)
                for (int64_t j = j0; j < std::min(j0 + EDGE, b); j++)
                    for (int64_t i = i0; i < std::min(i0 + EDGE, a); i++)
                        to[j * a + i] = from[i * b + j];
}

// Whether the kernel reads features, and writes its output, with channels first.
bool first_in(const CudaSession *s) {
    return s->kernel->channels_first || s->host->stage == BEV_VIEW;
}

bool first_out(const CudaSession *s, const BevTensor *output) {
    if (output == &s->problem.grad_feat)
        return s->host->stage == BEV_VIEW;
    return output == &s->problem.out && (s->kernel->channels_first || s->host->out_samples);
}

// A copy of the host's rows of channels with channels first, in `copy`.
const void *with_first(const BevTensor *tensor, int64_t outer, std::vector<char> *copy) {
    copy->resize(bev_code_bytes(tensor->dtype, tensor->rows, tensor->row_len));
    with_code_type(tensor->dtype, [&](auto code) {
        using Code = decltype(code);
        transpose((const Code *)tensor->data, (Code *)copy->data(), outer, tensor->rows / outer,
                  tensor->row_len);
    });
    return copy->data();
}

// What to upload: arrays of the host, or, with channels first, transposed copies.
const void *feat_source(CudaSession *s) {
    return first_in(s) ? with_first(&s->host->feat, s->host->shape.cameras, &s->transposed_feat)
                       : s->host->feat.data;
}

const void *grad_out_source(CudaSession *s) {
    const BevTensor *grad_out = &s->host->grad_out;
    return grad_out->data && s->host->out_samples
               ? with_first(grad_out, s->host->out_samples, &s->transposed_grad_out)
               : grad_out->data;
}

// Adds a buffer for `pointer` to the arena; no source and not the output: none is needed.
template <typename T>
void place(CudaSession *s, T **pointer, const void *source, size_t bytes, bool output = false) {
    if (!source && !output)
        return;
    size_t offset = s->arena_bytes ? s->arena_bytes : GUARD;
    s->buffers.push_back({offset, bytes, source, (void **)pointer});
    s->arena_bytes = offset + round_up(bytes) + GUARD;
}

// Places a tensor that the kernel writes.
void place_output(CudaSession *s, BevTensor *tensor) {
    place(s, &tensor->data, NULL, bev_tensor_bytes(tensor), true);
}

// Decides where in the arena each array of the problem will be, the outputs last.
void plan_arena(CudaSession *s) {
    BevProblem *p = &s->problem;
    const BevProblem *host = s->host;
    size_t points = (size_t)host->map.points * 4, intervals = (size_t)host->map.intervals * 4;
    *p = *host;
    int64_t pixels = host->shape.feat_h * host->shape.feat_w;
    p->view.feat = {host->shape.channels * pixels, pixels, host->shape.feat_w, 1};
    const BevTensor *feat = &host->feat, *depth = &host->depth;
    place(s, &p->depth.data, depth->data,
          bev_code_bytes(depth->dtype, depth->rows, depth->row_len));
    place(s, &p->feat.data, feat_source(s), bev_code_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->feat.block_scales, feat->block_scales,
          bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->feat.channel_scales, feat->channel_scales,
          feat->channel_scales ? feat->row_len * sizeof(float) : 0);
    place(s, &p->grad_out.data, grad_out_source(s), bev_tensor_bytes(&host->grad_out));
    s->value_buffers = s->buffers.size();
    place(s, &p->map.ranks_depth, host->map.ranks_depth, points);
    place(s, &p->map.ranks_feat, host->map.ranks_feat, points);
    place(s, &p->map.ranks_bev, host->map.ranks_bev, points);
    place(s, &p->map.interval_starts, host->map.interval_starts, intervals);
    place(s, &p->map.interval_lengths, host->map.interval_lengths, intervals);
    place(s, &p->map.weights, host->map.weights, points);
    if (host->direction == BEV_FORWARD)
        return place_output(s, &p->out);
    place_output(s, &p->grad_depth);
    place_output(s, &p->grad_feat);
}

// Copies the first `count` buffers from the host.
bool upload(CudaSession *s, size_t count, Err *err) {
    for (size_t i = 0; i < count; i++) {
        const Buffer &b = s->buffers[i];
        if (b.source && b.bytes)
            TRY(cudaMemcpyAsync(s->arena + b.offset, b.source, b.bytes, cudaMemcpyHostToDevice,
                                s->stream));
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

// Gives the kernel the scratch that it asks for with its present plan.
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
    feat_source(s);
    grad_out_source(s);
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
    if (!cuda_enqueue_launch(s, err) ||
        !cuda_ok(cudaStreamSynchronize(s->stream), s->kernel->name, err))
        return device_failed(err);
    return true;
}

constexpr int TILE = 32, TILE_ROWS = 8;

// blockIdx.z: (a, b) -> (b, a), square by square through shared memory, so that reads and writes
// are whole rows.
template <typename T> __global__ void transpose_kernel(const T *from, T *to, int64_t a, int64_t b) {
    __shared__ T tile[TILE][TILE + 1];
    int64_t column = (int64_t)blockIdx.x * TILE + threadIdx.x, row = (int64_t)blockIdx.y * TILE;
    from += blockIdx.z * a * b, to += blockIdx.z * a * b;
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < a && column < b)
            tile[i][threadIdx.x] = from[(row + i) * b + column];
    __syncthreads();
    column = row + threadIdx.x;
    row = (int64_t)blockIdx.x * TILE;
    for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < b && column < a)
            to[(row + i) * a + column] = tile[threadIdx.x][i];
}

// An output with channels first in the order of all others: of a grid (c, cell) -> (cell, c), of
// features likewise, camera by camera.
bool transpose_output(CudaSession *s, const BevTensor *output, Err *err) {
    int64_t outer = output == &s->problem.grad_feat ? s->problem.shape.cameras : 1;
    int64_t channels = output->row_len, rows = output->rows / outer;
    if (!s->transposed_out &&
        !cuda_allocate((void **)&s->transposed_out, bev_tensor_bytes(output), s->kernel->name, err))
        return device_failed(err);
    dim3 blocks((unsigned)((rows + TILE - 1) / TILE), (unsigned)((channels + TILE - 1) / TILE),
                (unsigned)outer);
    with_code_type(output->dtype, [&](auto code) {
        using Code = decltype(code);
        transpose_kernel<<<blocks, dim3(TILE, TILE_ROWS), 0, s->stream>>>(
            (const Code *)output->data, (Code *)s->transposed_out, channels, rows);
    });
    TRY(cudaGetLastError());
    return true;
}

bool read(void *state, void *codes, Err *err) {
    CudaSession *s = (CudaSession *)state;
    const BevProblem *p = &s->problem;
    if (!device_usable(err))
        return false;
    Range range("download");
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    int count = bev_outputs(p, outputs);
    char *to = (char *)codes;
    for (int i = 0; i < count; to += bev_tensor_bytes(outputs[i++])) {
        bool first = first_out(s, outputs[i]);
        if (first && !transpose_output(s, outputs[i], err))
            return false;
        TRY(cudaMemcpyAsync(to, first ? s->transposed_out : outputs[i]->data,
                            bev_tensor_bytes(outputs[i]), cudaMemcpyDeviceToHost, s->stream));
    }
    TRY(cudaStreamSynchronize(s->stream));
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

// Whether nothing was written behind the workspace.
bool workspace_whole(const CudaSession *s, bool *whole, Err *err) {
    char band[GUARD];
    *whole = true;
    if (!s->workspace)
        return true;
    TRY(cudaMemcpy(band, s->workspace + s->workspace_bytes, GUARD, cudaMemcpyDeviceToHost));
    *whole = std::all_of(band, band + GUARD, [](char byte) { return byte == (char)GUARD_BYTE; });
    return true;
}

// Everything in the arena except the outputs must be as it was filled: inputs, and the guards
// between buffers.
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
        cudaFree(s->transposed_out);
        cudaFree(s->workspace);
        if (s->stream)
            cudaStreamDestroy(s->stream);
    }
    if (s)
        staging_give(&s->staging);
    delete s;
}

bool cuda_enqueue_launch(CudaSession *s, Err *err) {
    return s->kernel->launch(&s->problem, s->plan, s->stream, err);
}

// clang-format off
const SessionBackend session_cuda_backend = {
    .open = cuda_session_open, .close = cuda_session_close, .prepare = prepare, .update = update,
    .poison = poison, .run = run, .read = read, .output = output,
    .inputs_untouched = inputs_untouched, .functions = cuda_session_functions,
    .time = cuda_session_time,
};
// clang-format on
