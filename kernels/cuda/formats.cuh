/* SPDX-License-Identifier: MIT */
// Number formats on the GPU: a Codec for each format, and conversions of several codes at a time.
#pragma once

#include "kernels/bevpool.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <type_traits>

// Whether this architecture has instructions for the conversions of FP8 and FP4. Without them a few
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

// Decodes two E4M3 codes without an instruction, to halves of 2^-8 times their values. The codes
// are the upper bytes of the halves of `high`; the lower bytes do not matter. Sign, exponent and
// mantissa move into a half's own fields, exact for subnormals too. The biases of 7 and 15 give
// 2^-8. A NaN, the code with all seven bits set, decodes to 480 times 2^-8.
__device__ inline __half2 small_from_high_bytes(uint32_t high) {
    uint32_t bits = (high >> 1 & 0x3f803f80) | (high & 0x80008000);
    __half2 small;
    memcpy(&small, &bits, sizeof small);
    return small;
}

// Marks NaN among four E4M3 codes: (marks & NAN_MARKS) is not 0 exactly if one or more are NaN.
// Adding 1 to a NaN's code changes the upper bit of the code.
constexpr uint32_t NAN_MARKS = 0x80808080;
__device__ inline uint32_t nan_marks(uint32_t codes) {
    return (codes + 0x01010101) ^ codes;
}

// Decodes the same two codes to their values. A NaN decodes to 480, and 480 times 140 exceeds a
// half's 65,504. Zero times this infinity is NaN again.
__device__ inline __half2 half2_from_high_bytes(uint32_t high) {
    __half2 small = small_from_high_bytes(high);
    __half2 overflow = __hmul2(small, __float2half2_rn(256.0f * 140.0f));
    __half2 value = __hmul2(small, __float2half2_rn(256.0f));
    return __hfma2(overflow, __float2half2_rn(0.0f), value);
}

// Decodes a pair of E4M3 codes to a pair of halves.
__device__ inline __half2 half2_from_e4m3(uint16_t codes) {
#if BEV_HARDWARE_FP8
    return __half2(__nv_cvt_fp8x2_to_halfraw2(codes, __NV_E4M3));
#else
    return half2_from_high_bytes(__byte_perm(codes, 0, 0x1404));
#endif
}

// Spreads two half pairs to four floats: `even` holds values 0 and 2, `odd` values 1 and 3.
__device__ inline void float4_of_pairs(__half2 even, __half2 odd, float values[4]) {
    float2 evens = __half22float2(even), odds = __half22float2(odd);
    values[0] = evens.x, values[1] = odds.x, values[2] = evens.y, values[3] = odds.y;
}

// Decodes four E4M3 codes to floats of 2^-8 times their values; a NaN decodes to 480 times 2^-8.
// The high bytes of two halves are codes 1 and 3; shifted by a byte, they are codes 0 and 2.
__device__ inline void small4_from_e4m3(uint32_t codes, float values[4]) {
    float4_of_pairs(small_from_high_bytes(codes << 8), small_from_high_bytes(codes), values);
}

// Decodes four E4M3 codes to floats.
__device__ inline void float4_from_e4m3(uint32_t codes, float values[4]) {
#if BEV_HARDWARE_FP8
    float2 low = __half22float2(half2_from_e4m3((uint16_t)codes));
    float2 high = __half22float2(half2_from_e4m3((uint16_t)(codes >> 16)));
    values[0] = low.x, values[1] = low.y, values[2] = high.x, values[3] = high.y;
#else
    float4_of_pairs(half2_from_high_bytes(codes << 8), half2_from_high_bytes(codes), values);
#endif
}

// Decodes one E4M3 code. Without an instruction the code's fields move into a float, whose exponent
// bias is 127. A NaN decodes to 480. 480 times 1.125 * 2^119 overflows a float, and zero times this
// infinity is NaN again.
__device__ inline float float_from_e4m3(uint8_t code) {
#if BEV_HARDWARE_FP8
    return __low2float(half2_from_e4m3(code));
#else
    uint32_t bits = (uint32_t)(int8_t)code << 20 & 0x87f00000; // masks the copies of the sign
    float value = __uint_as_float(bits) * 0x1p120f;
    return fmaf(value * 0x1.2p119f, 0.0f, value);
#endif
}

// Encodes two floats as E4M3, `low` in the lower byte: to nearest, ties to even. Values beyond the
// range become the largest value; NaN becomes 0x7f. Without an instruction: `power` is the power of
// two below the value, at least 2^-6 as for subnormals. The last place of power * 2^20 is the
// distance of neighbouring codes. So adding this number rounds the value to a code, and the last
// bits of the sum count such distances. The sum's exponent adds 8 for each power of two. Values are
// scaled by 8, so that the exponent biases cancel in the code's seven bits.
__device__ inline uint32_t e4m3_from_floats(float low, float high) {
#if BEV_HARDWARE_FP8
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
#else
    const float scaled[2] = {low * 8.0f, high * 8.0f};
    uint32_t sums[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float size; // NaN becomes 480, whose code would be 0x7f
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

// Eight E2M1 codes (low nibble first) as the upper bytes of halves, without an instruction: sign,
// exponent and mantissa move into a half's own fields. `even` holds codes 0, 2, 4 and 6. The biases
// of 1 and 15 make the halves 2^-14 times the values.
struct E2m1Bytes {
    uint32_t even, odd;

    __device__ explicit E2m1Bytes(uint32_t codes)
        : even((codes << 1 & 0x0e0e0e0e) | (codes << 4 & 0x80808080)),
          odd((codes >> 3 & 0x0e0e0e0e) | (codes & 0x80808080)) {
    }
};

// Returns two halves whose upper bytes are byte i of `low` and of `high`.
__device__ inline __half2 half2_from_bytes(uint32_t low, uint32_t high, unsigned i) {
    uint32_t bits = __byte_perm(low, high, (4 + i) << 12 | i << 4) & 0xff00ff00;
    __half2 pair;
    memcpy(&pair, &bits, sizeof pair);
    return pair;
}

// Decodes eight E2M1 codes to four half pairs, exactly. The multiplication normalises subnormals.
__device__ inline void half2_from_e2m1x8(uint32_t codes, __half2 values[4]) {
#if BEV_HARDWARE_FP4
#pragma unroll
    for (int i = 0; i < 4; i++)
        values[i] = __half2(__nv_cvt_fp4x2_to_halfraw2((uint8_t)(codes >> 8 * i), __NV_E2M1));
#else
    E2m1Bytes bytes(codes);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        values[i] = __hmul2(half2_from_bytes(bytes.even, bytes.odd, i), __float2half2_rn(16384.0f));
#endif
}

// Packs the lowest bytes of four words into one word, the first in the lowest byte.
__device__ inline uint32_t pack_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Encodes four floats as INT8: to nearest, ties to even, saturated; -128 is not used. Adding 1.5 *
// 2^23 leaves the rounded number in the lowest bits and takes a quarter of a conversion's time.
__device__ inline uint32_t int8_from_floats(float a, float b, float c, float d) {
    const float v[4] = {a, b, c, d};
    uint32_t bits[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        bits[i] = __float_as_uint(fminf(fmaxf(v[i], -127.0f), 127.0f) + 12582912.0f);
    return pack_bytes(bits[0], bits[1], bits[2], bits[3]);
}

// Whether features are whole numbers (codes of INT8): bev_is_whole() at compile time.
template <BevDtype D> inline constexpr bool WHOLE = D == BEV_INT8 || D == BEV_INT8_FP16;

// One number format: Code is the storage of an element; decode and encode convert one element.
template <BevDtype D> struct Codec {
    static_assert(D != BEV_NVFP4);
    using Byte = std::conditional_t<WHOLE<D>, int8_t, uint8_t>;
    using Narrow = std::conditional_t<
        D == BEV_FP16, __half, std::conditional_t<D == BEV_BF16, __nv_bfloat16, Byte>>;
    using Code = std::conditional_t<D == BEV_FP32, float, Narrow>;

    __device__ static float decode(Code code) {
        if constexpr (D == BEV_FP16)
            return __half2float(code);
        else if constexpr (D == BEV_BF16)
            return __bfloat162float(code);
        else if constexpr (D == BEV_FP8)
            return float_from_e4m3(code);
        else
            return (float)code;
    }
    __device__ static Code encode(float value) {
        static_assert(D != BEV_UINT8);
        if constexpr (D == BEV_FP32)
            return value;
        else if constexpr (D == BEV_FP16)
            return __float2half_rn(value);
        else if constexpr (D == BEV_BF16)
            return __float2bfloat16_rn(value);
        else if constexpr (D == BEV_FP8)
            return e4m3_from_float(value);
        else
            return (Code)int8_from_floats(value, 0, 0, 0);
    }
};

// Decodes four INT8 codes to floats: makes the bits of 2^23 + 128 + code and subtracts 2^23 + 128.
__device__ inline void float4_from_int8(uint32_t codes, float values[4]) {
    uint32_t biased = codes ^ 0x80808080;
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        values[i] = __uint_as_float(__byte_perm(biased, 0x4b000000, 0x7440 | i)) - 8388736.0f;
}

// The formats of depth and output that go with features of format D, as in bev_dtypes[].
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
