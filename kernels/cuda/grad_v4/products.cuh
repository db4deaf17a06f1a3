/* SPDX-License-Identifier: MIT */
// The two matrix products of a chunk: on tensor cores for FP16 and BF16, by plain arithmetic for
// FP32.
#pragma once

#include "kernels/cuda/grad_v4/columns.cuh"
#include "kernels/cuda/v4/operands.cuh"

// ---- shared memory of a block -------------------------------------------------------------------

// A sum of depth x weight has more bits than an operand. So the sum is split into parts that add up
// to it: two halves hold 22 of the 24 bits, three BF16 hold all bits. The second half is multiplied
// by PART_SCALE so that it does not underflow, and has its own sums.
template <BevDtype D> constexpr int PARTS = D == BEV_FP32 ? 1 : D == BEV_BF16 ? 3 : 2;
template <BevDtype D> constexpr float PART_SCALE = D == BEV_FP16 ? 4096.0f : 1.0f;

constexpr int SUMS_STRIDE = WARP + 8; // floats or codes from cell to cell: no bank conflicts

// A column's shared memory: WARPS warps with a chunk each. Padding brings rows to different banks.
template <BevDtype D, int CHANNELS, int WARPS> struct ColumnShared {
    static constexpr int PAD = 16 / (int)sizeof(Code<D>);
    static constexpr int STRIDE = CHANNELS + PAD, SLOTS = WARPS * CHUNK_CELLS;
    alignas(16) Code<D> out[SLOTS][STRIDE]; // rows of grad_out, by slot
    // Arrays of a warp's chunk, by slot and pixel. `factors` is depth x weight as operands. `sums`
    // holds the FP32 sums that become factors, and later the dots; its last row is for NO_SLOT.
    alignas(16) Code<D> factors[WARPS][PARTS<D>][CHUNK_CELLS][SUMS_STRIDE];
    alignas(16) float sums[WARPS][CHUNK_CELLS + 1][SUMS_STRIDE];

    // The column's features follow the struct: [32][channels + PAD]. The block's depths follow all
    // columns.
    __host__ __device__ static constexpr int feat_stride(int channels) {
        return channels + PAD;
    }
    __host__ __device__ static constexpr size_t column_bytes(int channels) {
        return sizeof(ColumnShared) + WARP * feat_stride(channels) * sizeof(Code<D>);
    }
    static size_t bytes(int columns, int channels, int64_t bins) {
        return columns * (column_bytes(channels) + (size_t)bins * WARP * sizeof(Code<D>));
    }
};

// ---- copies to shared memory without registers --------------------------------------------------

// Copies 4 or 8 bytes to shared memory without waiting.
template <int BYTES> __device__ inline void copy_word_async(void *to, const void *from) {
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from), "n"(BYTES)
        : "memory");
}

// Copies 16 bytes to shared memory without waiting; zeros if `exists` is false.
__device__ inline void copy_async(void *to, const void *from, bool exists) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(exists ? 16 : 0)
                 : "memory");
}

__device__ inline void wait_for_copies() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// ---- fragments ----------------------------------------------------------------------------------

// Loads four 8 x 8 matrices; lane i has a row's address of matrix i / 8. TRANSPOSED: by columns.
template <bool TRANSPOSED> __device__ inline void load_matrices(uint32_t (&m)[4], const void *row) {
    uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                     : "r"(at)
                     : "memory");
}

// ---- dots[cell][pixel] += grad_out[cell] . feat[pixel], for the 16 cells of a warp --------------

// By tensor cores: v[n] has cells g and g + 8, pixels 8n + 2q and 8n + 2q + 1 (lane 4 g + q).
template <BevDtype D> struct Dots {
    float v[4][4];

    template <int CHANNELS>
    __device__ void add(const Code<D> *out, int out_stride, const Code<D> *feat, int feat_stride) {
        int lane = threadIdx.x % WARP;
        const Code<D> *a_row = out + lane % 16 * out_stride + lane / 16 * 8;
        const Code<D> *b_row = feat + (lane % 8 + lane / 16 * 8) * feat_stride + lane / 8 % 2 * 8;
#pragma unroll
        for (int k = 0; k < CHANNELS; k += 16) {
            uint32_t a[4], b[2][4];
            load_matrices<false>(a, a_row + k);
            load_matrices<false>(b[0], b_row + k);
            load_matrices<false>(b[1], b_row + 16 * feat_stride + k);
#pragma unroll
            for (int n = 0; n < 4; n++)
                multiply_add<D>(v[n], a, b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
        }
    }
    __device__ void store(float (*sums)[SUMS_STRIDE]) const {
        int g = threadIdx.x % WARP / 4, q = threadIdx.x % 4;
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int r = 0; r < 2; r++)
                *(float2 *)&sums[g + 8 * r][8 * n + 2 * q] =
                    make_float2(v[n][2 * r], v[n][2 * r + 1]);
    }
};

// In FP32: v[i][j] is cell 4i + lane / 8, pixel 8j + lane % 8.
template <> struct Dots<BEV_FP32> {
    float v[4][4];

    template <int CHANNELS>
    __device__ void add(const float *out, int out_stride, const float *feat, int feat_stride) {
        int lane = threadIdx.x % WARP;
        out += lane / 8 * out_stride, feat += lane % 8 * feat_stride;
#pragma unroll 1
        for (int k = 0; k < CHANNELS; k += 4) {
            float4 a[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                a[i] = *(const float4 *)(out + 4 * i * out_stride + k);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float4 b = *(const float4 *)(feat + 8 * j * feat_stride + k);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    v[i][j] += a[i].x * b.x + a[i].y * b.y + a[i].z * b.z + a[i].w * b.w;
            }
        }
    }
    __device__ void store(float (*sums)[SUMS_STRIDE]) const {
        int lane = threadIdx.x % WARP;
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[4 * i + lane / 8][8 * j + lane % 8] = v[i][j];
    }
};

// ---- gradient of features: [pixel][channel] += factors[slot][pixel] * grad_out[slot][channel] ---

// By tensor cores: a warp has tiles of 16 pixels x 16 channels, over all slots of the block.
template <BevDtype D, int CHANNELS, int WARPS> struct FeatSums {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    static constexpr int TILES = 2 * CHANNELS / 16, MINE = (TILES + WARPS - 1) / WARPS;
    static constexpr int SUMS = D == BEV_FP16 ? 2 : 1; // the second half has its own sums
    float v[MINE][SUMS][2][4];

    __device__ static int tile_of(int i) {
        return (int)threadIdx.x / WARP + i * WARPS;
    }
    // Adds `chunks` chunks. All tiles of a warp have the same pixels: factors are loaded once.
    __device__ void add(const Shared &shared, int chunks) {
        static_assert(WARPS % 2 == 0);
        int lane = threadIdx.x % WARP, p0 = tile_of(0) % 2 * 16;
#pragma unroll(MINE == 1 ? 4 : PARTS <D> == 3 ? 1 : 2)
        for (int k = 0; k < chunks; k++) {
            uint32_t a[PARTS<D>][4];
#pragma unroll
            for (int n = 0; n < PARTS<D>; n++)
                load_matrices<true>(
                    a[n], &shared.factors[k][n][lane % 8 + lane / 16 * 8][p0 + lane / 8 % 2 * 8]);
#pragma unroll
            for (int i = 0; i < MINE; i++) {
                if (tile_of(i) >= TILES)
                    break;
                uint32_t b[4];
                load_matrices<true>(
                    b,
                    &shared.out[k * CHUNK_CELLS + lane % 16][tile_of(i) / 2 * 16 + lane / 16 * 8]);
#pragma unroll
                for (int n = 0; n < PARTS<D>; n++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        multiply_add<D>(v[i][n < SUMS ? n : 0][j], a[n], b[2 * j], b[2 * j + 1]);
            }
        }
    }
    // Calls f(pixel, channel, values) for all pairs of neighbouring channels.
    template <typename F> __device__ void each(F f) {
        int g = threadIdx.x % WARP / 4, q = threadIdx.x % 4;
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            int tile = tile_of(i);
            if (tile >= TILES)
                break;
#pragma unroll
            for (int j = 0; j < 2; j++)
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    float pair[2];
#pragma unroll
                    for (int u = 0; u < 2; u++) {
                        pair[u] = v[i][0][j][2 * r + u];
                        if constexpr (SUMS == 2)
                            pair[u] += v[i][1][j][2 * r + u] * (1 / PART_SCALE<D>);
                    }
                    f(tile % 2 * 16 + g + 8 * r, tile / 2 * 16 + 8 * j + 2 * q, pair);
                }
        }
    }
};

// In FP32: a thread has two pixels and four channels.
template <int CHANNELS, int WARPS> struct FeatSums<BEV_FP32, CHANNELS, WARPS> {
    using Shared = ColumnShared<BEV_FP32, CHANNELS, WARPS>;
    static constexpr int TILES = 16 * CHANNELS / 4, THREADS = WARPS * WARP;
    static constexpr int MINE = (TILES + THREADS - 1) / THREADS;
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 860 // else registers spill there
    static constexpr int TOGETHER = MINE == 2 ? 1 : 4; // slots that are loaded together
#else
    static constexpr int TOGETHER = 4;
#endif
    float v[MINE][2][4];

    __device__ void add(const Shared &shared, int chunks) {
        int slots = chunks * CHUNK_CELLS;
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            int tile = threadIdx.x + i * THREADS;
            if (tile >= TILES)
                break;
            const float *factors = &shared.factors[0][0][0][tile % 16 * 2];
            const float *out = &shared.out[0][tile / 16 * 4];
#pragma unroll(TOGETHER)
            for (int k = 0; k < slots; k++) {
                float2 a = *(const float2 *)(factors + k * SUMS_STRIDE);
                float4 b = *(const float4 *)(out + k * Shared::STRIDE);
                v[i][0][0] += a.x * b.x, v[i][0][1] += a.x * b.y;
                v[i][0][2] += a.x * b.z, v[i][0][3] += a.x * b.w;
                v[i][1][0] += a.y * b.x, v[i][1][1] += a.y * b.y;
                v[i][1][2] += a.y * b.z, v[i][1][3] += a.y * b.w;
            }
        }
    }
    template <typename F> __device__ void each(F f) {
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            int tile = threadIdx.x + i * THREADS;
            if (tile >= TILES)
                break;
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int c = 0; c < 4; c += 2)
                    f(tile % 16 * 2 + p, tile / 16 * 4 + c, &v[i][p][c]);
        }
    }
};
