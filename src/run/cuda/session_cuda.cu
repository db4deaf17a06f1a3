// Sessions on the GPU: a problem's buffers with guard bands, poison, launches, the output's way
// back.
#include "src/run/cuda/session_cuda.cuh"

#include "kernels/codec.h"
#include "src/base/clock.h"

#include <algorithm>
#include <string.h>

namespace {

// ---- a problem on the device -------------------------------------------------------------------

constexpr size_t GUARD = 256; // bytes before and after every buffer; keeps buffers aligned
constexpr int GUARD_BYTE = 0xa5;

size_t round_up(size_t bytes) {
    return (bytes + GUARD - 1) / GUARD * GUARD;
}

// Element (outer, a, b) -> (outer, b, a), in squares that fit the first cache on both sides.
template <typename T> void transpose(const T *from, T *to, int64_t outer, int64_t a, int64_t b) {
    constexpr int64_t EDGE = 32;
    for (int64_t o = 0; o < outer; o++, from += a * b, to += a * b)
        for (int64_t i0 = 0; i0 < a; i0 += EDGE)
            for (int64_t j0 = 0; j0 < b; j0 += EDGE)
                for (int64_t j = j0; j < std::min(j0 + EDGE, b); j++)
                    for (int64_t i = i0; i < std::min(i0 + EDGE, a); i++)
                        to[j * a + i] = from[i * b + j];
}

void transpose_codes(BevDtype dtype, const void *from, void *to, int64_t outer, int64_t a,
                     int64_t b) {
    switch (bev_dtypes[dtype].bits) {
    case 8:
        transpose((const uint8_t *)from, (uint8_t *)to, outer, a, b);
        break;
    case 16:
        transpose((const uint16_t *)from, (uint16_t *)to, outer, a, b);
        break;
    default:
        transpose((const uint32_t *)from, (uint32_t *)to, outer, a, b);
        break;
    }
}

const void *feat_source(CudaSession *s) {
    const BevProblem *host = s->host;
    if (!s->kernel->channels_first)
        return host->feat.data;
    const BevShape *shape = &host->shape;
    s->transposed_feat.resize(
        bev_code_bytes(host->feat.dtype, host->feat.rows, host->feat.row_len));
    transpose_codes(host->feat.dtype, host->feat.data, s->transposed_feat.data(), shape->cameras,
                    shape->feat_h * shape->feat_w, shape->channels);
    return s->transposed_feat.data();
}

// Plans the arena: every buffer of the problem, the output last.
size_t add_buffer(CudaSession *s, const void *source, size_t bytes) {
    size_t offset = s->arena_bytes ? s->arena_bytes : GUARD;
    s->buffers.push_back({offset, bytes, source});
    s->arena_bytes = offset + round_up(bytes) + GUARD;
    return offset;
}

template <typename T> void place(CudaSession *s, T **pointer, const void *source, size_t bytes) {
    *pointer = source ? (T *)add_buffer(s, source, bytes) : NULL;
}

// Offsets first, in the pointers' place; `rebase` adds the arena's address.
void plan_arena(CudaSession *s) {
    BevProblem *p = &s->problem;
    const BevProblem *host = s->host;
    size_t points = (size_t)host->map.points * 4, intervals = (size_t)host->map.intervals * 4;
    *p = *host;
    const BevTensor *feat = &host->feat, *depth = &host->depth;
    place(s, (char **)&p->depth.data, depth->data,
          bev_code_bytes(depth->dtype, depth->rows, depth->row_len));
    place(s, (char **)&p->feat.data, feat_source(s),
          bev_code_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->feat.block_scales, feat->block_scales,
          bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len));
    s->value_buffers = s->buffers.size();
    place(s, &p->map.ranks_depth, host->map.ranks_depth, points);
    place(s, &p->map.ranks_feat, host->map.ranks_feat, points);
    place(s, &p->map.ranks_bev, host->map.ranks_bev, points);
    place(s, &p->map.interval_starts, host->map.interval_starts, intervals);
    place(s, &p->map.interval_lengths, host->map.interval_lengths, intervals);
    place(s, &p->map.weights, host->map.weights, points);
    p->out.data = (void *)add_buffer(s, NULL, bev_tensor_bytes(&host->out));
}

template <typename T> void rebase(const CudaSession *s, T **pointer) {
    if (*pointer)
        *pointer = (T *)(s->arena + (size_t)*pointer);
}

// The first `count` buffers, from the host.
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
    BevProblem *p = &s->problem;
    rebase(s, (char **)&p->depth.data);
    rebase(s, (char **)&p->feat.data);
    rebase(s, &p->feat.block_scales);
    rebase(s, &p->map.ranks_depth);
    rebase(s, &p->map.ranks_feat);
    rebase(s, &p->map.ranks_bev);
    rebase(s, &p->map.interval_starts);
    rebase(s, &p->map.interval_lengths);
    rebase(s, &p->map.weights);
    rebase(s, (char **)&p->out.data);
    TRY(cudaMemsetAsync(s->arena, GUARD_BYTE, s->arena_bytes, s->stream));
    return upload(s, s->buffers.size(), err);
}

// ---- the session's functions -------------------------------------------------------------------

constexpr int PREPARE_REPEATS = 3;
constexpr double LONG_PREPARE_US = 5000; // far above the clock's noise: once is enough

bool prepare(CudaSession *s, int repeats, double *prepare_us, Err *err) {
    Range range("prepare");
    *prepare_us = 0;
    if (!s->kernel->prepare)
        return true;
    double times[PREPARE_REPEATS] = {};
    int taken = 0;
    while (taken < repeats && times[0] < LONG_PREPARE_US) {
        s->kernel->release(s->plan);
        s->plan = NULL;
        double start = clock_us();
        if (!s->kernel->prepare(&s->problem, &s->plan, err))
            return device_failed(err);
        TRY(cudaStreamSynchronize(NULL));
        times[taken++] = clock_us() - start;
    }
    *prepare_us = timing_median(times, taken);
    return true;
}

bool begin(CudaSession *s, int prepare_repeats, double *prepare_us, Err *err) {
    if (!device_usable(err))
        return false;
    plan_arena(s);
    if (!cuda_allocate((void **)&s->arena, s->arena_bytes, s->kernel->name, err))
        return device_failed(err);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    return fill_arena(s, err) && prepare(s, prepare_repeats, prepare_us, err);
}

bool update(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    Range range("update");
    feat_source(s);
    s->problem.depth.scale = s->host->depth.scale;
    s->problem.feat.scale = s->host->feat.scale;
    s->problem.out.scale = s->host->out.scale;
    return upload(s, s->value_buffers, err);
}

bool poison(void *state, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    TRY(cudaMemsetAsync(s->problem.out.data, 0xff, bev_tensor_bytes(&s->problem.out), s->stream));
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

// (a, b) -> (b, a), a square at a time through shared memory, whole rows of it on both sides.
template <typename T> __global__ void turn_kernel(const T *from, T *to, int64_t a, int64_t b) {
    __shared__ T tile[TILE][TILE + 1];
    int64_t column = (int64_t)blockIdx.x * TILE + threadIdx.x, row = (int64_t)blockIdx.y * TILE;
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

template <typename T> void turn(CudaSession *s, int64_t a, int64_t b) {
    dim3 blocks((unsigned)((b + TILE - 1) / TILE), (unsigned)((a + TILE - 1) / TILE));
    turn_kernel<<<blocks, dim3(TILE, TILE_ROWS), 0, s->stream>>>((const T *)s->problem.out.data,
                                                                 (T *)s->transposed_out, a, b);
}

// The output of a channels-first kernel as all others have it: (c, cell) -> (cell, c).
bool transpose_output(CudaSession *s, Err *err) {
    const BevProblem *p = &s->problem;
    int64_t channels = p->shape.channels, cells = p->shape.nx * p->shape.ny;
    if (!s->transposed_out && !cuda_allocate((void **)&s->transposed_out, bev_tensor_bytes(&p->out),
                                             s->kernel->name, err))
        return device_failed(err);
    switch (bev_dtypes[p->out.dtype].bits) {
    case 8:
        turn<uint8_t>(s, channels, cells);
        break;
    case 16:
        turn<uint16_t>(s, channels, cells);
        break;
    default:
        turn<uint32_t>(s, channels, cells);
        break;
    }
    TRY(cudaGetLastError());
    return true;
}

bool read(void *state, void *codes, Err *err) {
    CudaSession *s = (CudaSession *)state;
    const BevProblem *p = &s->problem;
    if (!device_usable(err))
        return false;
    Range range("download");
    bool transposed = s->kernel->channels_first;
    if (transposed && !transpose_output(s, err))
        return false;
    TRY(cudaMemcpyAsync(codes, transposed ? s->transposed_out : p->out.data,
                        bev_tensor_bytes(&p->out), cudaMemcpyDeviceToHost, s->stream));
    TRY(cudaStreamSynchronize(s->stream));
    return true;
}

bool output(void *state, const void **codes, Err *err) {
    CudaSession *s = (CudaSession *)state;
    if (!device_usable(err))
        return false;
    if (!s->staging.memory && !staging_take(&s->staging, bev_tensor_bytes(&s->problem.out), err))
        return false;
    *codes = s->staging.memory;
    return read(s, s->staging.memory, err);
}

// The arena must hold what it was filled with, everywhere but in the output.
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
    guards = guards && intact(next, s->arena_bytes);
    if (!inputs)
        return err_set(err, ERR_FAILED, s->kernel->name, "", "the kernel changed its inputs");
    return guards ||
           err_set(err, ERR_FAILED, s->kernel->name, "", "the kernel wrote outside its buffers");
}

} // namespace

bool cuda_session_open(void **state, const BevKernel *kernel, const BevProblem *host, bool once,
                       double *prepare_us, Err *err) {
    CudaSession *s = new CudaSession();
    s->kernel = kernel;
    s->host = host;
    if (!begin(s, once ? 1 : PREPARE_REPEATS, prepare_us, err)) {
        cuda_session_close(s);
        return false;
    }
    *state = s;
    return true;
}

void cuda_session_close(void *state) {
    CudaSession *s = (CudaSession *)state;
    if (s && device_opened()) {
        if (s->kernel->release)
            s->kernel->release(s->plan);
        cudaFree(s->arena);
        cudaFree(s->transposed_out);
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

const SessionBackend session_cuda_backend = {
    .open = cuda_session_open,
    .close = cuda_session_close,
    .update = update,
    .poison = poison,
    .run = run,
    .read = read,
    .output = output,
    .inputs_untouched = inputs_untouched,
    .functions = cuda_session_functions,
    .time = cuda_session_time,
};
