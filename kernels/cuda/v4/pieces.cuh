/* SPDX-License-Identifier: MIT */
// V4 in pieces, where tensor cores do not help: odd channel counts, maps without a camera's
// structure. A row of threads, 8 or 16 channels each, adds a share of a cell's points. Long cells
// have many rows.
#pragma once

#include "kernels/cuda/v4/v4.cuh"

// Returns the channels of a thread: 16 if their codes are one load, else 8.
static inline int piece_channels(BevDtype dtype, int64_t channels) {
    return channels % 16 == 0 && dtype > BEV_BF16 ? 16 : 8;
}

// Returns the block shape (lanes, workers). A worker is a row of threads with a cell's channels.
static inline dim3 piece_block(BevDtype dtype, int64_t channels) {
    unsigned lanes = blocks_for(channels, piece_channels(dtype, channels)), rows = 1;
    while (2 * rows * lanes <= PIECE_THREADS)
        rows *= 2;
    return dim3(lanes, rows);
}

// Returns the largest class. In class k a cell has 2^k rows of a block; in the largest it has all.
static inline int piece_largest(BevDtype dtype, int64_t channels) {
    int k = 0;
    while (2u << k <= piece_block(dtype, channels).y)
        k++;
    return k;
}

// Loads features (row, c .. c + TILE - 1). A: rows start on a multiple of TILE elements.
template <BevDtype D, bool A, int TILE>
__device__ inline void piece_features(const Pool &pool, int row, int c, float f[TILE]) {
    if constexpr (TILE == 8) {
        feat8<D, A>(pool, row, c, f);
    } else if constexpr (D == BEV_FP8) {
        uint4 raw = load_codes<uint4, uint8_t>(pool, row, c);
        float4_from_e4m3(raw.x, f), float4_from_e4m3(raw.y, f + 4);
        float4_from_e4m3(raw.z, f + 8), float4_from_e4m3(raw.w, f + 12);
    } else if constexpr (WHOLE<D>) {
        uint4 raw = load_codes<uint4, int8_t>(pool, row, c);
        float4_from_int8(raw.x, f), float4_from_int8(raw.y, f + 4);
        float4_from_int8(raw.z, f + 8), float4_from_int8(raw.w, f + 12);
    } else { // NVFP4: one block of codes and its scale
        int64_t block = ((int64_t)row * pool.channels + c) / BEV_BLOCK;
        uint2 raw = __ldg((const uint2 *)pool.feat + block);
        float scale = float_from_e4m3(__ldg(pool.feat_scales + block));
        __half2 pairs[8];
        half2_from_e2m1x8(raw.x, pairs);
        half2_from_e2m1x8(raw.y, pairs + 4);
        float8_from_half2(pairs, f);
        float8_from_half2(pairs + 4, f + 8);
#pragma unroll
        for (int j = 0; j < TILE; j++)
            f[j] *= scale;
    }
}

// A block has (lanes, rows) threads. A lane owns channels [TILE lane, TILE (lane + 1)).
template <BevDtype D, bool A, int TILE>
__global__ void __launch_bounds__(PIECE_THREADS, TILE == 8 ? 3 : 2)
    v4_pieces_kernel(const __grid_constant__ Pool pool, const __grid_constant__ PieceMap map) {
    extern __shared__ float partial[]; // [rows / 2][TILE][lanes]
    int row = (int)threadIdx.y, rows = (int)blockDim.y, lanes = (int)blockDim.x;
    int lane = (int)threadIdx.x, c = lane * TILE; // c in [0, channels)
    Share share = share_of(map.shares, (int)blockIdx.x * rows + row);
    int4 owner = make_int4(0, 0, NO_CELL, 1);
    if (share.owner < map.shares.owners)
        owner = __ldg(map.owners + share.owner);
    share.parts = owner.w; // else the compiler computes it again for every point
    float sums[TILE] = {};
    int64_t t = (int64_t)owner.x + share.part;
    // Wide codes are faster with more threads than with more points in flight.
    constexpr int UNROLL = TILE == 8 ? 1 : 2;
#pragma unroll UNROLL
    for (int left = owner.y - share.part; left > 0; left -= share.parts, t += share.parts) {
        float f[TILE], d = pool.weights ? depth_at<D, true>(pool, t) : depth_at<D, false>(pool, t);
        piece_features<D, A, TILE>(pool, pool.ranks_feat[t], c, f);
#pragma unroll
        for (int j = 0; j < TILE; j++)
            sums[j] += d * f[j];
    }
    if ((int)blockIdx.x * rows < map.shares.first_worker[0]) { // a cell has several rows
        __shared__ int most; // most parts of a cell: those of the block's first cell
        if (row == 0 && lane == 0)
            most = share.parts;
        __syncthreads();
        join_parts(
            share, row, most, [] { __syncthreads(); },
            [&](int slot) {
#pragma unroll
                for (int j = 0; j < TILE; j++)
                    partial[(slot * TILE + j) * lanes + lane] = sums[j];
            },
            [&](int slot) {
#pragma unroll
                for (int j = 0; j < TILE; j++)
                    sums[j] += partial[(slot * TILE + j) * lanes + lane];
            });
    }
    if (share.part > 0 || owner.z == NO_CELL)
        return;
    constexpr bool STREAM = sizeof(OutCode<D>) > 1; // stores of 16 bytes; shorter ones leave holes
#pragma unroll
    for (int j = 0; j < TILE; j += 8)
        out8<D, A, STREAM>(pool, owner.z, c + j, sums + j);
}

template <BevDtype D, bool A, int TILE>
static inline void enqueue_pieces(const Pool &pool, const PieceMap &map, cudaStream_t stream) {
    dim3 block = piece_block(D, pool.channels);
    size_t partial_bytes = block.y / 2 * block.x * TILE * sizeof(float);
    v4_pieces_kernel<D, A, TILE>
        <<<blocks_for(map.shares.workers, block.y), block, partial_bytes, stream>>>(pool, map);
}

template <BevDtype D>
static inline void pieces_launch(const BevProblem *problem, const PieceMap &map,
                                 cudaStream_t stream) {
    Pool pool = pool_of(problem);
    if constexpr (D > BEV_BF16)
        if (piece_channels(D, pool.channels) == 16)
            return enqueue_pieces<D, true, 16>(pool, map, stream);
    with_flag(rows_aligned(problem), [&]<bool A>() { enqueue_pieces<D, A, 8>(pool, map, stream); });
}
