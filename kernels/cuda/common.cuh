// What every CUDA kernel shares: vector loads, number formats, the kernel's arguments, errors. For
// .cu files only. Kernels add products of *codes*, decoded but not scaled, and multiply the
// finished sum by Pool::scale: one multiplication an output instead of two a product.
#pragma once

#include "kernels/cuda/row.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

constexpr int WARP = 32;

// ---- errors ---------------------------------------------------------------------------------

// True when `status` is success; else fills `err`.
static inline bool cuda_ok(cudaError_t status, const char *where, Err *err) {
    if (status == cudaSuccess)
        return true;
    return err_set(err, ERR_DEVICE, where, "", "CUDA error %d, %s", (int)status,
                   cudaGetErrorString(status));
}

// Returns false from the enclosing function, which has an `Err *err`, when the call failed.
#define TRY_CUDA(where, call)                                                                      \
    do {                                                                                           \
        if (!cuda_ok((call), (where), err))                                                        \
            return false;                                                                          \
    } while (0)

// cudaMalloc with an error that tells the bytes needed and the bytes free. *pointer is NULL on
// failure.
static inline bool cuda_allocate(void **pointer, size_t bytes, const char *where, Err *err) {
    size_t free_bytes = 0, total_bytes = 0;
    *pointer = NULL;
    TRY_CUDA(where, cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaError_t status =
        bytes <= free_bytes ? cudaMalloc(pointer, bytes ? bytes : 1) : cudaErrorMemoryAllocation;
    if (status != cudaErrorMemoryAllocation)
        return cuda_ok(status, where, err);
    cudaGetLastError(); // clears the error, which is not a lasting one
    return err_set(err, ERR_DEVICE, where, "close other programs, or choose a smaller problem",
                   "needs %.1f MB of GPU memory, %.1f MB are free", (double)bytes * 1e-6,
                   (double)free_bytes * 1e-6);
}

// cudaMalloc from the device's memory pool, for work on the default stream; cudaFree takes it back.
// Quick where the pool keeps freed memory: the application sets its release threshold.
static inline bool cuda_allocate_pooled(void **pointer, size_t bytes, const char *where, Err *err) {
    if (cudaMallocAsync(pointer, bytes ? bytes : 1, 0) == cudaSuccess)
        return true;
    cudaGetLastError(); // no pool, or no room in it
    return cuda_allocate(pointer, bytes, where, err);
}

// Frees such memory once the work so far on the default stream is done. The host does not wait.
static inline void cuda_free_pooled(void *pointer) {
    if (!pointer || cudaFreeAsync(pointer, 0) == cudaSuccess)
        return;
    cudaGetLastError(); // not from the pool
    cudaFree(pointer);
}

// ---- number formats ---------------------------------------------------------------------------

// Conversions that the code of this architecture has as instructions. Without an instruction a few
// integer operations give the same result.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define BEV_HARDWARE_FP8 1
#else
#define BEV_HARDWARE_FP8 0
#endif
#if defined(__CUDA_ARCH__) && defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH__ >= 1000
#define BEV_HARDWARE_FP4 1
#else
#define BEV_HARDWARE_FP4 0
#endif

// E4M3 without an instruction for it: two codes, in the upper bytes of the halves of `high`, whose
// lower bytes do not matter. Sign, exponent and mantissa move into a half's own fields, exact for
// subnormals too. The exponent biases are 7 and 15: the halves are 2^-8 times the values. NaN, the
// code with all seven bits set, looks like 480.
__device__ inline __half2 small_from_high_bytes(uint32_t high) {
    uint32_t bits = (high >> 1 & 0x3f803f80) | (high & 0x80008000);
    __half2 small;
    memcpy(&small, &bits, sizeof small);
    return small;
}

// One or more of four codes are NaN exactly if their marks have one of these bits: the upper bit of
// a code, which adding 1 to the code changes.
constexpr uint32_t NAN_MARKS = 0x80808080;
__device__ inline uint32_t nan_marks(uint32_t codes) {
    return (codes + 0x01010101) ^ codes;
}

// The same two codes as their values. Only 480 times 140 is beyond a half's 65,504; 0 times that
// infinity is NaN.
__device__ inline __half2 half2_from_high_bytes(uint32_t high) {
    __half2 small = small_from_high_bytes(high);
    __half2 overflow = __hmul2(small, __float2half2_rn(256.0f * 140.0f));
    __half2 value = __hmul2(small, __float2half2_rn(256.0f));
    return __hfma2(overflow, __float2half2_rn(0.0f), value);
}

// A pair of E4M3 codes -> a pair of halves.
__device__ inline __half2 half2_from_e4m3(uint16_t codes) {
#if BEV_HARDWARE_FP8
    return __half2(__nv_cvt_fp8x2_to_halfraw2(codes, __NV_E4M3));
#else
    return half2_from_high_bytes(__byte_perm(codes, 0, 0x1404));
#endif
}

// Four of them -> floats. Without an instruction codes 1 and 3 are taken as they lie, 0 and 2 after
// one shift. small4_from_e4m3: 2^-8 times the values and without NaN.
__device__ inline void float4_of_pairs(__half2 even, __half2 odd, float values[4]) {
    float2 evens = __half22float2(even), odds = __half22float2(odd);
    values[0] = evens.x, values[1] = odds.x, values[2] = evens.y, values[3] = odds.y;
}

__device__ inline void small4_from_e4m3(uint32_t codes, float values[4]) {
    float4_of_pairs(small_from_high_bytes(codes << 8), small_from_high_bytes(codes), values);
}

__device__ inline void float4_from_e4m3(uint32_t codes, float values[4]) {
#if BEV_HARDWARE_FP8
    float2 low = __half22float2(half2_from_e4m3((uint16_t)codes));
    float2 high = __half22float2(half2_from_e4m3((uint16_t)(codes >> 16)));
    values[0] = low.x, values[1] = low.y, values[2] = high.x, values[3] = high.y;
#else
    float4_of_pairs(half2_from_high_bytes(codes << 8), half2_from_high_bytes(codes), values);
#endif
}

// One of them. Without an instruction: the same with the fields and the range of a float, whose
// exponent bias is 127 and which 480 * 1.125 * 2^119 overflows.
__device__ inline float float_from_e4m3(uint8_t code) {
#if BEV_HARDWARE_FP8
    return __low2float(half2_from_e4m3(code));
#else
    uint32_t bits = (uint32_t)(int8_t)code << 20 & 0x87f00000; // the sign's copies are masked out
    float value = __uint_as_float(bits) * 0x1p120f;
    return fmaf(value * 0x1.2p119f, 0.0f, value);
#endif
}

// Two floats -> E4M3, `low` in the lower byte: to nearest, ties to even; beyond the format's range
// its largest value; NaN is 0x7f. Without an instruction: take the power of two below a value, at
// least that of subnormals (2^-6), times 2^20. The last place of this number is the distance of
// neighbouring codes there, so adding it rounds the value to 8 to 16 such distances (subnormals to
// fewer), which are the sum's last bits. The sum's exponent adds 8 for each power of two. All of it
// times 8, so that the exponent biases cancel in the code's seven bits.
__device__ inline uint32_t e4m3_from_floats(float low, float high) {
#if BEV_HARDWARE_FP8
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
#else
    const float scaled[2] = {low * 8.0f, high * 8.0f};
    uint32_t sums[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float size; // NaN becomes 480, which would be the code 0x7f
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(size) : "f"(fabsf(scaled[i])), "f"(8 * 448.0f));
        size = fminf(size, 8 * 480.0f);
        float power = fmaxf(__uint_as_float(__float_as_uint(size) & 0x7f800000), 8 * 0x1p-6f);
        sums[i] = __float_as_uint(fmaf(power, 0x1p20f, size));
        sums[i] += sums[i] >> 20;
    }
    uint32_t sizes = __byte_perm(sums[0], sums[1], 0x0040);
    uint32_t signs = __byte_perm(__float_as_uint(scaled[0]), __float_as_uint(scaled[1]), 0x0073);
    return (sizes & 0x7f7f) | (signs & 0x8080);
#endif
}

__device__ inline uint8_t e4m3_from_float(float value) {
#if BEV_HARDWARE_FP8
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
#else
    return (uint8_t)e4m3_from_floats(value, 0.0f);
#endif
}

// Eight E2M1 codes (low nibble first), without an instruction for it -> the upper bytes of eight
// halves: a code's sign, exponent and mantissa in a half's own fields. `even` holds codes 0, 2, 4
// and 6. The exponent biases are 1 and 15: the halves are 2^-14 times the values.
struct E2m1Bytes {
    uint32_t even, odd;

    __device__ explicit E2m1Bytes(uint32_t codes)
        : even((codes << 1 & 0x0e0e0e0e) | (codes << 4 & 0x80808080)),
          odd((codes >> 3 & 0x0e0e0e0e) | (codes & 0x80808080)) {
    }
};

// Byte i of `low` and of `high` as the upper bytes of two halves.
__device__ inline __half2 half2_from_bytes(uint32_t low, uint32_t high, unsigned i) {
    uint32_t bits = __byte_perm(low, high, (4 + i) << 12 | i << 4) & 0xff00ff00;
    __half2 pair;
    memcpy(&pair, &bits, sizeof pair);
    return pair;
}

// Eight E2M1 codes -> four half pairs; exact. The multiplication normalises subnormals.
__device__ inline void half2_from_e2m1x8(uint32_t codes, __half2 values[4]) {
#if BEV_HARDWARE_FP4
#pragma unroll
    for (int i = 0; i < 4; i++)
        values[i] = __half2(__nv_cvt_fp4x2_to_halfraw2((uint8_t)(codes >> 8 * i), __NV_E2M1));
#else
    E2m1Bytes bytes(codes);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        values[i] =
            __hmul2(half2_from_bytes(bytes.even, bytes.odd, i), __float2half2_rn(16384.0f));
#endif
}

// One number format: Code is its storage, decode and encode work on one element.
template <BevDtype D> struct Codec;

template <> struct Codec<BEV_FP32> {
    using Code = float;
    __device__ static float decode(Code code) {
        return code;
    }
    __device__ static Code encode(float value) {
        return value;
    }
};

template <> struct Codec<BEV_FP16> {
    using Code = __half;
    __device__ static float decode(Code code) {
        return __half2float(code);
    }
    __device__ static Code encode(float value) {
        return __float2half_rn(value);
    }
};

template <> struct Codec<BEV_BF16> {
    using Code = __nv_bfloat16;
    __device__ static float decode(Code code) {
        return __bfloat162float(code);
    }
    __device__ static Code encode(float value) {
        return __float2bfloat16_rn(value);
    }
};

template <> struct Codec<BEV_FP8> {
    using Code = uint8_t;
    __device__ static float decode(Code code) {
        return float_from_e4m3(code);
    }
    __device__ static Code encode(float value) {
        return e4m3_from_float(value);
    }
};

// 1.5 * 2^23: its bits plus a whole number from -2^22 to 2^22 - 1 are those of their sum as floats.
// Adding takes a quarter of the time of a conversion.
constexpr float WHOLE_BIAS = 12582912.0f;
constexpr int WHOLE_BITS = 0x4b400000;

// Four floats as codes of INT8: to nearest, ties to even, saturated; -128 is not used.
__device__ inline uint32_t int8_from_floats(float a, float b, float c, float d) {
    const float v[4] = {a, b, c, d};
    uint32_t bits[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        bits[i] = __float_as_uint(fminf(fmaxf(v[i], -127.0f), 127.0f) + WHOLE_BIAS);
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040),
                       0x5410);
}

template <> struct Codec<BEV_INT8> {
    using Code = int8_t;
    __device__ static float decode(Code code) {
        return (float)code;
    }
    __device__ static Code encode(float value) {
        return (Code)int8_from_floats(value, 0, 0, 0);
    }
};

template <> struct Codec<BEV_INT8_FP16> : Codec<BEV_INT8> {};

template <> struct Codec<BEV_UINT8> {
    using Code = uint8_t;
    __device__ static float decode(Code code) {
        return (float)code;
    }
};

// Four codes of INT8 -> floats: 2^23 + 128 + the code, as bits, less what was added.
__device__ inline void float4_from_int8(uint32_t codes, float values[4]) {
    uint32_t biased = codes ^ 0x80808080;
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        values[i] = __uint_as_float(__byte_perm(biased, 0x4b000000, 0x7440 | i)) - 8388736.0f;
}

// Formats that travel together; the same pairing as bev_dtypes[], known at compile time.
// WHOLE: codes of INT8, features as whole numbers.
template <BevDtype D> inline constexpr bool WHOLE = D == BEV_INT8 || D == BEV_INT8_FP16;
template <BevDtype D>
inline constexpr BevDtype DEPTH_OF = D == BEV_NVFP4 ? BEV_FP8
                                     : WHOLE<D>     ? BEV_UINT8
                                                    : D;
template <BevDtype D>
inline constexpr BevDtype OUT_OF = D == BEV_NVFP4       ? BEV_FP8
                                   : D == BEV_INT8_FP16 ? BEV_FP16
                                                        : D;
template <BevDtype D> using DepthCode = typename Codec<DEPTH_OF<D>>::Code;
template <BevDtype D> using OutCode = typename Codec<OUT_OF<D>>::Code;

// ---- arguments ----------------------------------------------------------------------------------

// A BevProblem as a kernel wants it: passed by value, no format fields, one scale.
struct Pool {
    const void *depth, *feat;
    const uint8_t *feat_scales;  // NVFP4 only
    const float *channel_scales; // INT8 only
    void *out;
    const int32_t *ranks_depth, *ranks_feat, *ranks_bev, *starts, *lengths;
    const float *weights; // or NULL
    int64_t points, intervals, cells;
    int channels;
    float scale; // depth.scale * feat.scale / out.scale; times channel_scales[c]
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
    pool.scale = problem->depth.scale * problem->feat.scale / problem->out.scale;
    return pool;
}

// depth * weight of point t. W: the map has weights.
template <BevDtype D, bool W> __device__ inline float depth_at(const Pool &pool, int64_t t) {
    using Depth = Codec<DEPTH_OF<D>>;
    float d = Depth::decode(((const DepthCode<D> *)pool.depth)[pool.ranks_depth[t]]);
    return W ? d * pool.weights[t] : d;
}

// ---- features: one and eight at a time ---------------------------------------------------------

// Rows are numbered by int32 ranks; a row's first element may lie beyond 2^31. One widening
// multiplication does for that.

// NVFP4: the block of sixteen that holds (row, c).
__device__ inline int64_t block_at(const Pool &pool, int row, int c) {
    return (int64_t)row * ((pool.channels + BEV_BLOCK - 1) / BEV_BLOCK) + c / BEV_BLOCK;
}

// Feature (row, c), 0 <= c < channels, without the tensor scale.
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

// Whether rows of `channels` features can be read eight at a time: every row starts on a multiple
// of eight elements. NVFP4 rows always can, padded to whole blocks of sixteen.
static inline bool rows_aligned(const BevProblem *problem) {
    return problem->shape.channels % 8 == 0;
}

// Features (row, c) and on, c + 7 < channels, c a multiple of 8, as one load of a Word.
template <typename Word, typename Code>
__device__ inline Word load_codes(const Pool &pool, int row, int c) {
    return __ldg((const Word *)((const Code *)pool.feat + (int64_t)row * pool.channels + c));
}

// Features (row, c .. c + 7) without the tensor scale, for any number of channels: `n` of the eight
// exist, the others read as 0.
template <BevDtype D>
__device__ inline void feat8_tail(const Pool &pool, int row, int c, int n, float values[8]) {
#pragma unroll
    for (int i = 0; i < 8; i++)
        values[i] = i < n ? feat_at<D>(pool, row, c + i) : 0.0f;
}

// Eight features as half pairs, exact; for NVFP4 without the block scale, which the caller folds
// into the depth. Formats that fit a half only. A: rows_aligned(); then one load of 16, 8 or 4
// bytes.
template <BevDtype D, bool A>
__device__ inline void feat8_half2(const Pool &pool, int row, int c, __half2 pairs[4]) {
    static_assert(D == BEV_FP16 || D == BEV_FP8 || D == BEV_NVFP4);
    if constexpr (D == BEV_NVFP4) {
        int64_t block = block_at(pool, row, c);
        half2_from_e2m1x8(__ldg((const uint32_t *)pool.feat + block * 2 + c % BEV_BLOCK / 8),
                          pairs);
    } else if constexpr (!A) {
        float values[8];
        feat8_tail<D>(pool, row, c, pool.channels - c, values);
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

// Features (row, c .. c + 7) without the tensor scale. A: rows_aligned(); then all eight are one
// load (FP32: two). Else those past the last channel read as 0.
template <BevDtype D, bool A>
__device__ inline void feat8(const Pool &pool, int row, int c, float values[8]) {
    if constexpr (!A && D != BEV_NVFP4) {
        feat8_tail<D>(pool, row, c, pool.channels - c, values);
    } else if constexpr (D == BEV_FP32) {
        const float4 *p =
            (const float4 *)((const float *)pool.feat + (int64_t)row * pool.channels + c);
        float4 low = __ldg(p), high = __ldg(p + 1);
        values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
        values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
    } else if constexpr (D == BEV_BF16) { // the upper half of a float
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

// What a finished sum of channel c is multiplied by.
template <BevDtype D> __device__ inline float sum_factor(const Pool &pool, int c) {
    if constexpr (WHOLE<D>)
        return pool.scale * __ldg(pool.channel_scales + c);
    return pool.scale;
}

// Four numbers as codes of a byte, the first in the lowest one.
template <BevDtype OUT> __device__ inline uint32_t four_codes(float a, float b, float c, float d) {
    if constexpr (OUT == BEV_INT8)
        return int8_from_floats(a, b, c, d);
    else
        return e4m3_from_floats(a, b) | e4m3_from_floats(c, d) << 16;
}

// Writes the finished sum of (cell, c), scaled and encoded. D is the problem's format.
template <BevDtype D>
__device__ inline void out_put(const Pool &pool, int64_t cell, int c, float sum) {
    using Out = Codec<OUT_OF<D>>;
    ((OutCode<D> *)pool.out)[cell * pool.channels + c] = Out::encode(sum * sum_factor<D>(pool, c));
}

// Writes eight sums at (cell, c), c a multiple of 8 and rows aligned, with one store of 32 (two),
// 16 or 8 bytes. STREAM: marked as not to be read again soon, so that it leaves the L2 cache first.
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

template <BevDtype D>
__device__ inline void out8_tail(const Pool &pool, int64_t cell, int c, int n,
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
        out8_tail<D>(pool, cell, c, pool.channels - c, sums);
}

// ---- plans ------------------------------------------------------------------------------------

// The `release` and `prepare` of a row. A Plan begins zeroed, `build` fills it, and its destructor
// frees what it holds.
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

// i / n with the remainder, for 0 <= i and 0 < n. Nearly every i fits 32 bits, where a division is
// several times cheaper. Whole blocks take the branch the same way.
__device__ inline int64_t divide(int64_t i, int n, int *remainder) {
    int64_t quotient = i >> 32 ? i / n : (int64_t)((uint32_t)i / (uint32_t)n);
    *remainder = (int)(i - quotient * n);
    return quotient;
}

// Number of this thread in a one-dimensional grid.
__device__ inline int64_t thread_number() {
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Zeroes the whole output: the all-zero code is 0 in every format. For kernels that write only the
// cells that have points.
static inline bool out_clear(const BevProblem *problem, const char *where, cudaStream_t stream,
                             Err *err) {
    TRY_CUDA(where, cudaMemsetAsync(problem->out.data, 0, bev_tensor_bytes(&problem->out), stream));
    return true;
}

// Blocks of `per_block` that cover `count` items. 2^31 blocks of 256 would need a terabyte.
static inline unsigned blocks_for(int64_t count, int64_t per_block) {
    return (unsigned)((count + per_block - 1) / per_block);
}

// Calls f.operator()<D>() for a run-time format: turns the format into a template argument.
template <typename F> static inline void with_dtype(BevDtype dtype, F f) {
    switch (dtype) {
    case BEV_FP32:
        f.template operator()<BEV_FP32>();
        break;
    case BEV_FP16:
        f.template operator()<BEV_FP16>();
        break;
    case BEV_BF16:
        f.template operator()<BEV_BF16>();
        break;
    case BEV_FP8:
        f.template operator()<BEV_FP8>();
        break;
    case BEV_INT8:
        f.template operator()<BEV_INT8>();
        break;
    case BEV_INT8_FP16:
        f.template operator()<BEV_INT8_FP16>();
        break;
    case BEV_NVFP4: // with_dtype_or_fp4
    case BEV_DTYPE_COUNT:
    case BEV_ELEMENT_COUNT:
        break;
    }
}

// The same, for kernels that have NVFP4 too.
template <typename F> static inline void with_dtype_or_fp4(BevDtype dtype, F f) {
    if (dtype == BEV_NVFP4)
        f.template operator()<BEV_NVFP4>();
    else
        with_dtype(dtype, f);
}

// Calls f.operator()<true>() or <false>().
template <typename F> static inline void with_flag(bool flag, F f) {
    if (flag)
        f.template operator()<true>();
    else
        f.template operator()<false>();
}

// Calls f.operator()<W, A>(). W: the map has weights. A: rows_aligned().
template <typename F> static inline void with_weights_and_rows(const BevProblem *problem, F f) {
    with_flag(problem->map.weights, [&]<bool W>() {
        with_flag(rows_aligned(problem), [&]<bool A>() { f.template operator()<W, A>(); });
    });
}
