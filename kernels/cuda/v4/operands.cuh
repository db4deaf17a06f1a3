/* SPDX-License-Identifier: MIT */
// The operands of V4's tensor-core kernel: features of a slab, and depths of 16 cells in it.
#pragma once

#include "kernels/cuda/v4/v4.cuh"

#include <type_traits>

// ---- operands: BF16 as BF16; INT8 on a map without bilinear weights as whole numbers; FP16, FP8,
// NVFP4, and INT8 on a map with weights as halves, which hold each of their codes exactly ---------

// Computes c (16 x 8, FP32) += a (16 x 16) b (16 x 8). Lane 4 g + q holds rows g and g + 8 of a and
// c and column g of b; of a's columns and b's rows it holds 2q, 2q + 1, 2q + 8 and 2q + 9. The
// callers put places 4q to 4q + 3 of a slab there, in a and in b, so that each product pairs equal
// places.
template <BevDtype D>
__device__ inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                    uint32_t b1) {
    if constexpr (D == BEV_BF16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Does the same for whole numbers, exactly: a is unsigned, b signed, c INT32. A register holds the
// four places [4q, 4q + 4) of a row or column.
__device__ inline void multiply_add_bytes(int (&c)[4], const uint32_t (&a)[4], uint32_t b) {
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}

// The type of sums: INT8 has whole sums unless the map has weights.
template <BevDtype D, bool W>
using SumOf = typename std::conditional<WHOLE<D> && !W, int, float>::type;

__device__ inline uint32_t bits_of(__half2 pair) {
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Round two floats to a pair of operands, and decode a pair.
template <BevDtype D> __device__ inline uint32_t pair_from_floats(float2 pair) {
    if constexpr (D == BEV_BF16) {
        __nv_bfloat162 rounded = __floats2bfloat162_rn(pair.x, pair.y);
        uint32_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        return bits;
    } else {
        return bits_of(__floats2half2_rn(pair.x, pair.y));
    }
}

template <BevDtype D> __device__ inline float2 floats_from_pair(uint32_t bits) {
    if constexpr (D == BEV_BF16) {
        return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
    } else {
        __half2 pair;
        memcpy(&pair, &bits, sizeof pair);
        return __half22float2(pair);
    }
}

// Decodes four E4M3 codes to two pairs of halves. The assembly reads the upper two codes in place.
// The compiler would shift these codes first.
__device__ inline void pairs_from_e4m3(uint32_t codes, uint32_t &low, uint32_t &high) {
#if BEV_HARDWARE_FP8
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2;"
        "  cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; }"
        : "=r"(low), "=r"(high)
        : "r"(codes));
#else
    low = bits_of(half2_from_e4m3((uint16_t)codes));
    high = bits_of(half2_from_e4m3((uint16_t)(codes >> 16)));
#endif
}

// A plain load. The compiler could move __ldg before the wait for the previous kernel
// (overlap.cuh).
template <int BYTES> __device__ inline void load_words(uint32_t *words, const void *p) {
    if constexpr (BYTES == 16) {
        uint4 raw = *(const uint4 *)p;
        words[0] = raw.x, words[1] = raw.y, words[2] = raw.z, words[3] = raw.w;
    } else if constexpr (BYTES == 8) {
        uint2 raw = *(const uint2 *)p;
        words[0] = raw.x, words[1] = raw.y;
    } else if constexpr (BYTES == 4) {
        words[0] = *(const uint32_t *)p;
    } else if constexpr (BYTES == 2) {
        words[0] = *(const uint16_t *)p;
    } else {
        words[0] = *(const uint8_t *)p;
    }
}

// Returns p, an address in global memory, and makes the compiler keep the address in registers.
// Otherwise the compiler would compute the address again in each step.
template <typename T> __device__ inline const T *keep_in_register(const T *p) {
    asm("" : "+l"(p));
    __builtin_assume(__isGlobal(p));
    return p;
}

// Decodes two INT8 codes of a word, bytes 0 and 2 or (ODD) 1 and 3, to halves: makes the bits of
// 1024 + 128 + code and subtracts 1152.
template <bool ODD> __device__ inline uint32_t pair_from_int8(uint32_t codes) {
    uint32_t biased = __byte_perm(codes ^ 0x80808080, 0x64646464, ODD ? 0x4341 : 0x4240);
    __half2 pair;
    memcpy(&pair, &biased, sizeof pair);
    return bits_of(__hsub2(pair, __float2half2_rn(1152.0f)));
}

template <BevDtype D> constexpr int LANE_CHANNELS = v4_lane_channels(D);

// Features are multiplied by this factor if that saves decoding instructions. The output's scale
// undoes it.
template <BevDtype D>
constexpr float FEATURE_SCALE = D == BEV_NVFP4                      ? 1.0f / 128
                                : D == BEV_FP8 && !BEV_HARDWARE_FP8 ? 1.0f / 256
                                                                    : 1.0f;

// ---- features of two image rows, V channels of each --------------------------------------------

// Transposes an 8 x 8 matrix of 16-bit numbers across the warp: lane 4 i + j gives elements 2j and
// 2j + 1 of row i and gets elements 2j and 2j + 1 of column i.
__device__ inline uint32_t transpose_pairs(uint32_t pair) {
    uint32_t transposed;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(pair));
    return transposed;
}

template <BevDtype D>
constexpr int FEATURE_BITS = D == BEV_NVFP4 ? 4 : 8 * (int)sizeof(DepthCode<D>);

// The addresses of a lane's channels, from c on, in feature row 0.
template <BevDtype D> struct LaneFeatures {
    const char *codes;
    const uint8_t *scales; // NVFP4

    __device__ LaneFeatures(const Pool &pool, int c)
        : codes(keep_in_register((const char *)pool.feat + c * FEATURE_BITS<D> / 8)),
          scales(D == BEV_NVFP4 ? keep_in_register(pool.feat_scales + c / BEV_BLOCK) : NULL) {}
};

// Four lanes hold V channels each of an image row. sum_of(j) and column_of(j) say which sum, and
// which of its two columns, a lane's channel j belongs to. Neighbouring channels are transposed in
// pairs. A pair of byte codes is one 16-bit number then, so that its channels go to two sums.
template <BevDtype D> constexpr bool IN_BYTES = FEATURE_BITS<D> == 8;
template <BevDtype D> __device__ constexpr int sum_of(int j) {
    return IN_BYTES<D> ? j / 4 * 2 + j % 2 : j / 2;
}
template <BevDtype D> __device__ constexpr int column_of(int j) {
    return IN_BYTES<D> ? j / 2 % 2 : j % 2;
}

// The features of two image rows: a lane holds V channels of each row, four lanes hold 4 V.
template <BevDtype D, int V> struct Features {
    static constexpr int BYTES = V * FEATURE_BITS<D> / 8;
    uint32_t raw[2][(BYTES + 3) / 4];
    uint8_t scale[2]; // NVFP4: of the block that holds the V channels

    // Loads the lane's channels [c, c + V) of feature row `row` into raw[i].
    __device__ void load(int i, const LaneFeatures<D> &lane, int channels, int row, int c) {
        load_words<BYTES>(raw[i], lane.codes + (int64_t)row * (channels * FEATURE_BITS<D> / 8) +
                                      c * FEATURE_BITS<D> / 8);
        if constexpr (D == BEV_NVFP4)
            scale[i] = lane.scales[(int64_t)row * (channels / BEV_BLOCK) + c / BEV_BLOCK];
    }

    // Decodes channels 4j to 4j + 3 of row i to two pairs of operands.
    __device__ void unpack(int i, int j, uint32_t pairs[2]) const {
        if constexpr (D == BEV_NVFP4) { // 2 bits times 4 bits of mantissa: exact in a half
            __half2 factor = __half2half2(__low2half(half2_from_e4m3(scale[i])));
            factor = __hmul2(factor, __float2half2_rn(FEATURE_SCALE<D>));
            __half2 values[4];
            half2_from_e2m1x8(raw[i][j / 2], values);
            pairs[0] = bits_of(__hmul2(values[j % 2 * 2], factor));
            pairs[1] = bits_of(__hmul2(values[j % 2 * 2 + 1], factor));
        } else {
            pairs[0] = raw[i][2 * j];
            pairs[1] = raw[i][2 * j + 1];
        }
    }

    // Returns whether a NaN is among codes for which transpose() loses it.
    __device__ bool has_lost_nan() const {
        uint32_t marks = 0;
        if constexpr (D == BEV_FP8 && !BEV_HARDWARE_FP8)
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < (BYTES + 3) / 4; j++)
                    marks |= nan_marks(raw[i][j]);
        return marks & NAN_MARKS;
    }

    // Makes the operands of sums 2j and 2j + 1. sum_of and column_of say where each channel goes.
    __device__ void transpose(int j, uint32_t operands[2][2]) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if constexpr (D == BEV_FP8) { // transposed first: two codes are one 16-bit number
                uint32_t codes = transpose_pairs(raw[i][j]);
#if BEV_HARDWARE_FP8
                pairs_from_e4m3(__byte_perm(codes, 0, 0x3120), operands[0][i], operands[1][i]);
#else
                operands[0][i] = bits_of(small_from_high_bytes(codes << 8));
                operands[1][i] = bits_of(small_from_high_bytes(codes));
#endif
            } else if constexpr (WHOLE<D>) {
                uint32_t codes = transpose_pairs(raw[i][j]);
                operands[0][i] = pair_from_int8<false>(codes);
                operands[1][i] = pair_from_int8<true>(codes);
            } else {
                uint32_t pairs[2];
                unpack(i, j, pairs);
                operands[0][i] = transpose_pairs(pairs[0]);
                operands[1][i] = transpose_pairs(pairs[1]);
            }
        }
    }

    // Adds depth x features to sums[j] (16 cells x 8 channels).
    template <int N>
    __device__ void multiply(float (*sums)[4], const uint32_t (&depth)[N][4]) const {
        if (has_lost_nan())
            sums[0][0] = NAN; // makes the tile start again, point by point
#pragma unroll
        for (int j = 0; j < V / 4; j++) {
            uint32_t operands[2][2];
            transpose(j, operands);
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int n = 0; n < N; n++)
                    multiply_add<D>(sums[2 * j + e], depth[n], operands[e][0], operands[e][1]);
        }
    }

    // Adds whole INT8 numbers. A transposed word has two channels of two places.
    __device__ void multiply(int (*sums)[4], const uint32_t (&depth)[1][4]) const {
#pragma unroll
        for (int j = 0; j < V / 4; j++) {
            uint32_t low = transpose_pairs(raw[0][j]), high = transpose_pairs(raw[1][j]);
            multiply_add_bytes(sums[2 * j], depth[0], __byte_perm(low, high, 0x6420));
            multiply_add_bytes(sums[2 * j + 1], depth[0], __byte_perm(low, high, 0x7531));
        }
    }
};

// ---- depths of a step --------------------------------------------------------------------------

using DepthPair = uint32_t; // two depths as operands, one FP32 depth, or four INT8 codes

// DepthPairs that hold the depths of four image rows.
template <BevDtype D> constexpr int DEPTH_PAIRS = D == BEV_FP32 ? 4 : WHOLE<D> ? 1 : 2;

// An unsigned integer as wide as a depth code.
template <BevDtype D>
using DepthBits = typename std::conditional<
    sizeof(DepthCode<D>) == 1, uint8_t,
    typename std::conditional<sizeof(DepthCode<D>) == 2, uint16_t, uint32_t>::type>::type;

// Returns the code at `p`, or 0 if `wanted` is 0. A predicate saves computing the address again, as
// behind a branch. Volatile: not before the wait for the previous kernel (overlap.cuh).
template <typename Bits> __device__ inline uint32_t load_if(const Bits *p, uint32_t wanted) {
    uint32_t code;
    asm volatile("{ .reg .pred w; setp.ne.u32 w, %2, 0; mov.u32 %0, 0;"
                 "  @w ld.global.u%3 %0, [%1]; }"
                 : "=r"(code)
                 : "l"(p), "r"(wanted), "n"(8 * sizeof(Bits)));
    return code;
}

// Converts four depth codes to pairs.
template <BevDtype D>
__device__ inline void pairs_from_codes(const uint32_t codes[4], DepthPair pairs[DEPTH_PAIRS<D>]) {
#pragma unroll
    for (int j = 0; j < DEPTH_PAIRS<D>; j++) {
        if constexpr (D == BEV_FP32) {
            pairs[j] = codes[j];
        } else if constexpr (WHOLE<D>) {
            pairs[j] = pack_bytes(codes[0], codes[1], codes[2], codes[3]);
        } else if constexpr (DEPTH_OF<D> == BEV_FP8) {
            uint32_t bytes = __byte_perm(codes[2 * j], codes[2 * j + 1], 0x0040);
            pairs[j] = bits_of(half2_from_e4m3((uint16_t)bytes));
        } else {
            pairs[j] = __byte_perm(codes[2 * j], codes[2 * j + 1], 0x5410);
        }
    }
}

// Loads the depths at places [4q, 4q + 4) from (camera, bin, h, w), each by its own load. The first
// is first[at]. Bit i of `wanted` tells that place 4q + i is in the entry.
template <BevDtype D>
__device__ inline void gather_depths(const DepthBits<D> *first, uint32_t at, uint32_t row_distance,
                                     uint32_t wanted, DepthPair pairs[DEPTH_PAIRS<D>]) {
    uint32_t codes[4];
#pragma unroll
    for (int i = 0; i < 4; i++, at += row_distance)
        codes[i] = load_if(first + at, wanted & 1u << i);
    pairs_from_codes<D>(codes, pairs);
}

// Returns a mask of whole bytes. Digit 8 + j of SELECTOR repeats the upper bit of byte j of
// `marks`.
template <int SELECTOR> __device__ inline uint32_t mask_bytes(uint32_t marks) {
    uint32_t mask;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(mask) : "r"(marks), "n"(SELECTOR));
    return mask;
}

// Loads the depths at places [4q, 4q + 4) from transposed depth (camera, w, slab, bin, place) with
// one load at `p`. Rows that are not in the entry become 0.
template <BevDtype D>
__device__ inline void load_transposed(const DepthBits<D> *p, uint32_t wanted,
                                       DepthPair pairs[DEPTH_PAIRS<D>]) {
    uint32_t rows = wanted & 0xf, marks = rows * 0x10204080; // bit i -> upper bit of byte i
#pragma unroll
    for (int j = 0; j < DEPTH_PAIRS<D>; j++)
        pairs[j] = 0;
    if (!rows)
        return;
    if constexpr (D == BEV_FP32) {
        uint4 codes = *(const uint4 *)p;
        pairs[0] = rows & 1 ? codes.x : 0;
        pairs[1] = rows & 2 ? codes.y : 0;
        pairs[2] = rows & 4 ? codes.z : 0;
        pairs[3] = rows & 8 ? codes.w : 0;
    } else if constexpr (sizeof(DepthCode<D>) == 1) {
        uint32_t codes = *(const uint32_t *)p & mask_bytes<0xba98>(marks);
        if constexpr (WHOLE<D>)
            pairs[0] = codes;
        else
            pairs_from_e4m3(codes, pairs[0], pairs[1]);
    } else {
        uint2 codes = *(const uint2 *)p;
        pairs[0] = codes.x & mask_bytes<0x9988>(marks);
        pairs[1] = codes.y & mask_bytes<0xbbaa>(marks);
    }
}
