/* SPDX-License-Identifier: MIT */
// All CUDA kernels share this file: vector loads, the kernel's arguments, errors. For .cu files
// only. Kernels add products of *codes*, which are decoded but not scaled. They multiply the
// finished sum by Pool::scale: one multiplication an output instead of two a product.
#pragma once

#include "kernels/codec.h"
#include "kernels/cuda/formats.cuh"
#include "kernels/cuda/row.h"

constexpr int WARP = 32;

// ---- errors ---------------------------------------------------------------------------------

// 100 * major + 10 * minor of the architectures that the compiler makes code for, ascending.
constexpr int ARCHITECTURES[] = {__CUDA_ARCH_LIST__}, OLDEST_ARCHITECTURE = ARCHITECTURES[0];

// Returns whether `status` is success; else fills `err`.
static inline bool cuda_ok(cudaError_t status, const char *where, Err *err) {
    if (status == cudaSuccess)
        return true;
    return err_set(err, ERR_DEVICE, where, "", "CUDA error %d, %s", (int)status,
                   cudaGetErrorString(status));
}

// Makes the enclosing function, which has an `Err *err`, return false if the call fails.
#define TRY_CUDA(where, call)                                                                      \
    do {                                                                                           \
        if (!cuda_ok((call), (where), err))                                                        \
            return false;                                                                          \
    } while (0)

// Finds a fact of the thread's device.
static inline bool device_fact(cudaDeviceAttr fact, int *value, const char *where, Err *err) {
    int device;
    TRY_CUDA(where, cudaGetDevice(&device));
    TRY_CUDA(where, cudaDeviceGetAttribute(value, fact, device));
    return true;
}

// Calls cudaMalloc. After a failure *pointer is NULL, and the error tells the bytes that were
// needed and the bytes that are free.
static inline bool cuda_allocate(void **pointer, size_t bytes, const char *where, Err *err) {
    size_t free_bytes = 0, total_bytes = 0;
    *pointer = NULL;
    TRY_CUDA(where, cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaError_t status =
        bytes <= free_bytes ? cudaMalloc(pointer, bytes ? bytes : 1) : cudaErrorMemoryAllocation;
    if (status != cudaErrorMemoryAllocation)
        return cuda_ok(status, where, err);
    cudaGetLastError(); // clears the error, which does not last
    return err_set(err, ERR_DEVICE, where, "close other programs, or choose a smaller problem",
                   "needs %.1f MB of GPU memory, %.1f MB are free", (double)bytes * 1e-6,
                   (double)free_bytes * 1e-6);
}

// Allocates from the device's memory pool, for work on the default stream; cudaFree may free it.
// This is fast if the pool keeps freed memory: the application sets its release threshold.
static inline bool cuda_allocate_pooled(void **pointer, size_t bytes, const char *where, Err *err) {
    if (cudaMallocAsync(pointer, bytes ? bytes : 1, 0) == cudaSuccess)
        return true;
    cudaGetLastError(); // there is no pool, or no room in it
    return cuda_allocate(pointer, bytes, where, err);
}

// Frees memory of cuda_allocate_pooled after the work enqueued so far on the default stream. The
// host does not wait.
static inline void cuda_free_pooled(void *pointer) {
    if (!pointer || cudaFreeAsync(pointer, 0) == cudaSuccess)
        return;
    cudaGetLastError(); // the memory is not from the pool
    cudaFree(pointer);
}

// Memory of cuda_allocate_pooled that is freed at the end of its scope.
struct Pooled {
    void *memory = NULL;
    ~Pooled() {
        cuda_free_pooled(memory);
    }
};

// Runs a function of CUB on the default stream. Its first call counts the bytes of its memory.
template <typename Call> static inline bool run_cub(const char *where, Err *err, Call call) {
    Pooled scratch;
    size_t bytes = 0;
    TRY_CUDA(where, call(NULL, bytes));
    if (!cuda_allocate_pooled(&scratch.memory, bytes, where, err))
        return false;
    TRY_CUDA(where, call(scratch.memory, bytes));
    return true;
}

// Lays out many arrays in one allocation. With base NULL an arena only counts the arrays' bytes in
// `used`. An array of no elements is NULL.
struct Arena {
    char *base;
    size_t used;

    template <typename T> void take(T **array, int64_t count) {
        *array = base && count ? (T *)(base + used) : NULL;
        used += ((size_t)count * sizeof(T) + 255) / 256 * 256;
    }
};

// Allocates the arrays that `layout` takes: a first call counts bytes, a second places the arrays.
template <typename Layout>
static inline bool arena_allocate(void **memory, const char *where, Layout layout, Err *err) {
    Arena arena = {};
    layout(arena);
    if (!cuda_allocate_pooled(memory, arena.used, where, err))
        return false;
    arena = {(char *)*memory, 0};
    layout(arena);
    return true;
}

template <typename T>
static inline bool read_back(T *value, const T *device, const char *where, Err *err) {
    TRY_CUDA(where, cudaMemcpy(value, device, sizeof *value, cudaMemcpyDeviceToHost));
    return true;
}

// ---- arguments ----------------------------------------------------------------------------------

// A BevProblem as the argument of a kernel. It is passed by value, has no formats (these are
// template parameters), and one scale.
struct Pool {
    const void *depth, *feat;
    const uint8_t *feat_scales;  // NVFP4 only
    const float *channel_scales; // INT8 only
    void *out;
    const int32_t *ranks_depth, *ranks_feat, *ranks_bev, *starts, *lengths;
    const float *weights; // NULL: all 1
    int64_t points, intervals, cells;
    int channels;
    float scale; // bev_tensors_factor()
};

static inline Pool pool_of(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    Pool pool = {};
    pool.depth = problem->depth.data;
    pool.feat = problem->feat.data;
    pool.feat_scales = problem->feat.block_scales;
    pool.channel_scales = problem->feat.channel_scales;
    pool.out = problem->out.data;
    pool.ranks_depth = map->ranks_depth;
    pool.ranks_feat = map->ranks_feat;
    pool.ranks_bev = map->ranks_bev;
    pool.starts = map->interval_starts;
    pool.lengths = map->interval_lengths;
    pool.weights = map->weights;
    pool.points = map->points;
    pool.intervals = map->intervals;
    pool.cells = problem->shape.nx * problem->shape.ny;
    pool.channels = (int)problem->shape.channels;
    pool.scale = bev_tensors_factor(problem);
    return pool;
}

// Returns depth * weight of point t. W: the map has weights.
template <BevDtype D, bool W> __device__ inline float depth_at(const Pool &pool, int64_t t) {
    using Depth = Codec<DEPTH_OF<D>>;
    float d = Depth::decode(((const DepthCode<D> *)pool.depth)[pool.ranks_depth[t]]);
    return W ? d * pool.weights[t] : d;
}

// ---- features: one and eight at a time ---------------------------------------------------------

// Ranks are int32, but the first element of a row may lie beyond 2^31: the row number is widened
// before it is multiplied.

// NVFP4: returns the number of the block of 16 channels that holds (row, c).
__device__ inline int64_t block_at(const Pool &pool, int row, int c) {
    return (int64_t)row * ((pool.channels + BEV_BLOCK - 1) / BEV_BLOCK) + c / BEV_BLOCK;
}

// Returns feature (row, c), 0 <= c < channels, without the tensor scale.
template <BevDtype D> __device__ inline float feat_at(const Pool &pool, int row, int c) {
    if constexpr (D == BEV_NVFP4) {
        int64_t block = block_at(pool, row, c);
        uint8_t pair = ((const uint8_t *)pool.feat)[block * (BEV_BLOCK / 2) + c % BEV_BLOCK / 2];
        __half2 values[4];
        half2_from_e2m1x8(c & 1 ? pair >> 4 : pair & 0xf, values);
        return __low2float(values[0]) * float_from_e4m3(pool.feat_scales[block]);
    } else {
        return Codec<D>::decode(
            ((const typename Codec<D>::Code *)pool.feat)[(int64_t)row * pool.channels + c]);
    }
}

__device__ inline void float8_from_half2(const __half2 pairs[4], float values[8]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float2 pair = __half22float2(pairs[i]);
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
    }
}

// Returns whether rows can be read eight channels at a time: every row starts on a multiple of
// eight elements. Rows of NVFP4 always do, because they are padded to whole blocks of 16.
static inline bool rows_aligned(const BevProblem *problem) {
    return problem->shape.channels % 8 == 0;
}

// Loads features (row, c .. c + 7) as one Word; c is a multiple of 8 and c + 7 < channels.
template <typename Word, typename Code>
__device__ inline Word load_codes(const Pool &pool, int row, int c) {
    return __ldg((const Word *)((const Code *)pool.feat + (int64_t)row * pool.channels + c));
}

// Loads features (row, c .. c + 7) one by one, without the tensor scale. The first `n` exist, the
// others read as 0.
template <BevDtype D>
__device__ inline void feat8_single(const Pool &pool, int row, int c, int n, float values[8]) {
#pragma unroll
    for (int i = 0; i < 8; i++)
        values[i] = i < n ? feat_at<D>(pool, row, c + i) : 0.0f;
}

// Loads eight features as half pairs, exactly, in formats that fit a half. NVFP4's block scale is
// left out: the caller multiplies the depth by this scale. A: rows_aligned(), and the features are
// one load of 16, 8 or 4 bytes.
template <BevDtype D, bool A>
__device__ inline void feat8_half2(const Pool &pool, int row, int c, __half2 pairs[4]) {
    static_assert(D == BEV_FP16 || D == BEV_FP8 || D == BEV_NVFP4);
    if constexpr (D == BEV_NVFP4) {
        int64_t block = block_at(pool, row, c);
        half2_from_e2m1x8(__ldg((const uint32_t *)pool.feat + block * 2 + c % BEV_BLOCK / 8),
                          pairs);
    } else if constexpr (!A) {
        float values[8];
        feat8_single<D>(pool, row, c, pool.channels - c, values);
#pragma unroll
        for (int i = 0; i < 4; i++)
            pairs[i] = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
    } else if constexpr (D == BEV_FP16) {
        uint4 raw = load_codes<uint4, __half>(pool, row, c);
        memcpy(pairs, &raw, sizeof raw);
    } else {
        uint2 raw = load_codes<uint2, uint8_t>(pool, row, c);
        pairs[0] = half2_from_e4m3(raw.x & 0xffff), pairs[1] = half2_from_e4m3(raw.x >> 16);
        pairs[2] = half2_from_e4m3(raw.y & 0xffff), pairs[3] = half2_from_e4m3(raw.y >> 16);
    }
}

// Loads features (row, c .. c + 7) without the tensor scale. A: rows_aligned(), and all eight are
// one load (FP32: two). Without A features past the last channel read as 0.
template <BevDtype D, bool A>
__device__ inline void feat8(const Pool &pool, int row, int c, float values[8]) {
    if constexpr (!A && D != BEV_NVFP4) {
        feat8_single<D>(pool, row, c, pool.channels - c, values);
    } else if constexpr (D == BEV_FP32) {
        const float4 *p =
            (const float4 *)((const float *)pool.feat + (int64_t)row * pool.channels + c);
        float4 low = __ldg(p), high = __ldg(p + 1);
        values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
        values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
    } else if constexpr (D == BEV_BF16) { // BF16 is the upper half of a float
        uint4 raw = load_codes<uint4, __nv_bfloat16>(pool, row, c);
        const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            values[2 * i] = __uint_as_float(words[i] << 16);
            values[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
        }
    } else if constexpr (D == BEV_FP8) {
        uint2 raw = load_codes<uint2, uint8_t>(pool, row, c);
        float4_from_e4m3(raw.x, values), float4_from_e4m3(raw.y, values + 4);
    } else if constexpr (WHOLE<D>) {
        uint2 raw = load_codes<uint2, int8_t>(pool, row, c);
        float4_from_int8(raw.x, values), float4_from_int8(raw.y, values + 4);
    } else {
        __half2 pairs[4];
        feat8_half2<D, A>(pool, row, c, pairs);
        float8_from_half2(pairs, values);
        if constexpr (D == BEV_NVFP4) {
            float scale = float_from_e4m3(__ldg(pool.feat_scales + block_at(pool, row, c)));
#pragma unroll
            for (int i = 0; i < 8; i++)
                values[i] *= scale;
        }
    }
}

// ---- outputs ------------------------------------------------------------------------------------

// Returns the factor of a finished sum of channel c.
template <BevDtype D> __device__ inline float sum_factor(const Pool &pool, int c) {
    if constexpr (WHOLE<D>)
        return pool.scale * __ldg(pool.channel_scales + c);
    return pool.scale;
}

// Encodes four numbers as bytes of a word, the first in the lowest byte.
template <BevDtype OUT> __device__ inline uint32_t four_codes(float a, float b, float c, float d) {
    if constexpr (OUT == BEV_INT8)
        return int8_from_floats(a, b, c, d);
    else
        return e4m3_from_floats(a, b) | e4m3_from_floats(c, d) << 16;
}

// Scales, encodes and stores the finished sum of (cell, c). D is the problem's format.
template <BevDtype D>
__device__ inline void out_put(const Pool &pool, int64_t cell, int c, float sum) {
    using Out = Codec<OUT_OF<D>>;
    ((OutCode<D> *)pool.out)[cell * pool.channels + c] = Out::encode(sum * sum_factor<D>(pool, c));
}

// Encodes eight sums and stores them at (cell, c .. c + 7) by one or two stores of up to 16 bytes.
// Rows are aligned, c is a multiple of 8. STREAM: the L2 may evict the stored lines first.
template <BevDtype D, bool STREAM = false>
__device__ inline void out8_put(const Pool &pool, int64_t cell, int c, const float sums[8]) {
    using Out = Codec<OUT_OF<D>>;
    alignas(16) OutCode<D> codes[8];
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        float v[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            v[j] = sums[i + j] * sum_factor<D>(pool, c + i + j);
        if constexpr (sizeof(OutCode<D>) == 1) {
            uint32_t four = four_codes<OUT_OF<D>>(v[0], v[1], v[2], v[3]);
            memcpy(codes + i, &four, sizeof four);
        } else {
#pragma unroll
            for (int j = 0; j < 4; j++)
                codes[i + j] = Out::encode(v[j]);
        }
    }
    OutCode<D> *p = (OutCode<D> *)pool.out + cell * pool.channels + c;
    if constexpr (sizeof codes == 8) {
        uint2 raw;
        memcpy(&raw, codes, sizeof raw);
        if constexpr (STREAM)
            __stcs((uint2 *)p, raw);
        else
            *(uint2 *)p = raw;
    } else {
#pragma unroll
        for (unsigned i = 0; i < sizeof codes / 16; i++) {
            uint4 raw;
            memcpy(&raw, (const char *)codes + 16 * i, sizeof raw);
            if constexpr (STREAM)
                __stcs((uint4 *)p + i, raw);
            else
                ((uint4 *)p)[i] = raw;
        }
    }
}

// Stores the first `n` of eight sums one by one.
template <BevDtype D>
__device__ inline void out8_single(const Pool &pool, int64_t cell, int c, int n,
                                   const float sums[8]) {
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (i < n)
            out_put<D>(pool, cell, c + i, sums[i]);
}

template <BevDtype D, bool A, bool STREAM = false>
__device__ inline void out8(const Pool &pool, int64_t cell, int c, const float sums[8]) {
    if constexpr (A)
        out8_put<D, STREAM>(pool, cell, c, sums);
    else
        out8_single<D>(pool, cell, c, pool.channels - c, sums);
}

// ---- plans ------------------------------------------------------------------------------------

// Define `release` and `prepare` of a row. A Plan begins zeroed, `build` fills it, and its
// destructor frees its memory.
template <typename Plan> static inline void release_plan(BevPlan *plan) {
    delete (Plan *)plan;
}

template <typename Plan, bool (*build)(const BevProblem *, Plan *, Err *)>
static inline bool make_plan(const BevProblem *problem, BevPlan **plan, Err *err) {
    Plan *made = new Plan();
    bool ok = build(problem, made, err);
    if (!ok)
        delete made;
    *plan = ok ? (BevPlan *)made : NULL;
    return ok;
}

// ---- launching ---------------------------------------------------------------------------------

// Returns i / n and the remainder, for 0 <= i and 0 < n. Nearly every i fits 32 bits, where a
// division is several times cheaper; all threads of a block then take the same branch.
__device__ inline int64_t divide(int64_t i, int n, int *remainder) {
    int64_t quotient = i >> 32 ? i / n : (int64_t)((uint32_t)i / (uint32_t)n);
    *remainder = (int)(i - quotient * n);
    return quotient;
}

// Returns the number of this thread in a one-dimensional grid.
__device__ inline int64_t thread_number() {
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Sets the whole output to zero, whose code is 0 in every format. For kernels that write only cells
// with points.
static inline bool out_clear(const BevProblem *problem, const char *where, cudaStream_t stream,
                             Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(problem->out.data, 0, bev_tensor_bytes(&problem->out), stream));
    return true;
}

// Returns how many blocks of `per_block` cover `count` items: 2^31 blocks are a terabyte.
static inline unsigned blocks_for(int64_t count, int64_t per_block) {
    return (unsigned)((count + per_block - 1) / per_block);
}

// Calls f.operator()<D>() with the format D of the list FORMATS that equals `dtype`.
template <BevDtype... FORMATS, typename F> static inline void with_one_of(BevDtype dtype, F f) {
    ((dtype == FORMATS ? f.template operator()<FORMATS>() : void()), ...);
}

// Calls f.operator()<D>() for kernels that have all formats except NVFP4.
template <typename F> static inline void with_dtype(BevDtype dtype, F f) {
    with_one_of<BEV_FP32, BEV_FP16, BEV_BF16, BEV_FP8, BEV_INT8, BEV_INT8_FP16>(dtype, f);
}

// Calls f.operator()<D>() for kernels that have all formats.
template <typename F> static inline void with_dtype_or_fp4(BevDtype dtype, F f) {
    with_one_of<BEV_NVFP4>(dtype, f);
    with_dtype(dtype, f);
}

// Calls f.operator()<D>() for the formats without scales. Only these have gradients and view
// transforms.
template <typename F> static inline void with_unscaled_dtype(BevDtype dtype, F f) {
    with_one_of<BEV_FP32, BEV_FP16, BEV_BF16>(dtype, f);
}

// Returns f.operator()<true>() or <false>().
template <typename F> static inline auto with_flag(bool flag, F f) {
    return flag ? f.template operator()<true>() : f.template operator()<false>();
}

// Calls f.operator()<W, A>(). W: the map has weights. A: rows_aligned().
template <typename F> static inline void with_weights_and_rows(const BevProblem *problem, F f) {
    with_flag(problem->map.weights, [&]<bool W>() {
        with_flag(rows_aligned(problem), [&]<bool A>() { f.template operator()<W, A>(); });
    });
}

// Clears the output and calls launch.operator()<D, W>(pool, stream) if there are intervals. For
// kernels that write only cells with points.
template <typename Launch>
static inline bool clear_and_launch(const BevProblem *problem, const char *where, void *stream_,
                                    Err *err, Launch launch) {
    cudaStream_t stream = (cudaStream_t)stream_;
    if (!out_clear(problem, where, stream, err))
        return false;
    Pool pool = pool_of(problem);
    with_dtype(problem->dtype, [&]<BevDtype D>() {
        with_flag(pool.weights, [&]<bool W>() {
            if (pool.intervals)
                launch.template operator()<D, W>(pool, stream);
        });
    });
    return cuda_ok(cudaGetLastError(), where, err);
}
