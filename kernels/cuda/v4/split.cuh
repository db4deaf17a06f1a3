/* SPDX-License-Identifier: MIT */
// Splits numbers with more bits than a tensor-core operand into operands that add up to them.
#pragma once

#include "kernels/cuda/v4/operands.cuh"

// PART_OF: the format of operands. SPLIT: the number of operands that a depth becomes. depth x
// weight is split into two halves, which hold 22 of its 24 bits, or into three BF16, which hold all
// bits. An FP32 number is exactly the sum of three BF16.
template <BevDtype D> constexpr BevDtype PART_OF = D == BEV_FP32 ? BEV_BF16 : D;
template <BevDtype D, bool W>
constexpr int SPLIT = D == BEV_FP32   ? 3
                      : !W            ? 1
                      : D == BEV_BF16 ? 3
                                      : 2;

// Numbers are scaled first so that the smaller parts do not underflow. In FP32 features are scaled
// too: BF16 then has a place for the last bit of the smallest number. The output's scale undoes the
// scaling.
constexpr float FLOAT_SCALE = 65536.0f;
template <BevDtype D, bool W>
constexpr float DEPTH_SCALE = D == BEV_FP32               ? FLOAT_SCALE
                              : !W || D == BEV_BF16       ? 1.0f
                              : sizeof(DepthCode<D>) == 1 ? 128.0f
                                                          : 4096.0f;
template <BevDtype D, bool W>
constexpr float SPLIT_SCALE = DEPTH_SCALE<D, W> *(D == BEV_FP32 ? FLOAT_SCALE : 1.0f);

// Splits two numbers into N pairs of operands, the largest first. Each part is the rounded rest.
template <BevDtype D, int N> __device__ inline void split_pair(float2 left, uint32_t parts[N]) {
#pragma unroll
    for (int n = 0; n < N; n++) {
        parts[n] = pair_from_floats<D>(left);
        float2 taken = floats_from_pair<D>(parts[n]);
        left.x -= taken.x, left.y -= taken.y;
    }
}

// Splits four depths times their weights into registers `row` and `row` + 2 of left operands.
template <BevDtype D, bool W, int N>
__device__ inline void split_depths(const DepthPair *pairs, float4 weights, int row,
                                    uint32_t (&depth)[N][4]) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float2 d;
        if constexpr (D == BEV_FP32)
            d = make_float2(__uint_as_float(pairs[2 * j]), __uint_as_float(pairs[2 * j + 1]));
        else if constexpr (WHOLE<D>)
            d = make_float2((float)(pairs[0] >> 16 * j & 0xff),
                            (float)(pairs[0] >> (16 * j + 8) & 0xff));
        else
            d = floats_from_pair<D>(pairs[j]);
        d.x *= (j ? weights.z : weights.x) * DEPTH_SCALE<D, W>;
        d.y *= (j ? weights.w : weights.y) * DEPTH_SCALE<D, W>;
        uint32_t parts[N];
        split_pair<PART_OF<D>, N>(d, parts);
#pragma unroll
        for (int n = 0; n < N; n++)
            depth[n][row + 2 * j] = parts[n];
    }
}

// FP32 features of two image rows, V channels of each row.
template <int V> struct Features<BEV_FP32, V> {
    uint32_t raw[2][V];

    __device__ void load(int i, const LaneFeatures<BEV_FP32> &lane, int channels, int row, int c) {
        load_words<4 * V>(raw[i], lane.codes + (int64_t)row * (channels * 4) + c * 4);
    }

    // Adds depth x features to sums[j]. Part n, counted from 0, has at most 2^-8n of a number.
    // Products of parts m and n with m + n > 2 are left out: together at most 2^-23 of the whole
    // product, less than gate A allows for rounding. Tensor cores truncate instead of rounding, so
    // the smallest products come first and a step has its own sum.
    __device__ void multiply(float (*sums)[4], const uint32_t (&depth)[3][4]) const {
#pragma unroll
        for (int j = 0; j < V / 2; j++) {
            uint32_t parts[2][3];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float low = __uint_as_float(raw[h][2 * j]) * FLOAT_SCALE;
                float high = __uint_as_float(raw[h][2 * j + 1]) * FLOAT_SCALE;
                split_pair<BEV_BF16, 3>(make_float2(low, high), parts[h]);
#pragma unroll
                for (int n = 0; n < 3; n++)
                    parts[h][n] = transpose_pairs(parts[h][n]);
            }
            float step[4] = {};
#pragma unroll
            for (int order = 2; order >= 0; order--)
#pragma unroll
                for (int n = 0; n <= order; n++)
                    multiply_add<BEV_BF16>(step, depth[n], parts[0][order - n],
                                           parts[1][order - n]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sums[j][i] += step[i];
        }
    }
};
