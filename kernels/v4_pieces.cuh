// V4 where tensor cores do not help: FP32, odd channel counts, maps without a camera's structure.
// A row of threads, 8 channels each, walks a share of a cell's points; long cells have many rows.
#ifndef BEV_V4_PIECES_CUH
#define BEV_V4_PIECES_CUH

#include "kernels/v4.cuh"

constexpr int PIECE_THREADS = 512; // at most
constexpr int PIECE_POINTS = 8;    // points a worker should get

// Workers of a block: rows of ceil(channels / 8) threads, a power of two of them.
static inline dim3 piece_block(int channels) {
    unsigned lanes = blocks_for(channels, 8), rows = 1;
    while (2 * rows * lanes <= PIECE_THREADS)
        rows *= 2;
    return dim3(lanes, rows);
}

// Largest class: all rows of a block for one cell.
static inline int piece_largest(int channels) {
    int k = 0;
    while (2u << k <= piece_block(channels).y)
        k++;
    return k;
}

// Block (lanes, rows): lane owns channels [8 lane, 8 lane + 8).
template <BevDtype D, bool A>
__global__ void __launch_bounds__(PIECE_THREADS, 3)
    v4_pieces_kernel(const __grid_constant__ Pool pool, const __grid_constant__ PieceMap map) {
    extern __shared__ float partial[]; // [rows / 2][8][lanes]
    int row = (int)threadIdx.y, rows = (int)blockDim.y, lanes = (int)blockDim.x;
    int c = (int)threadIdx.x * 8; // [0, channels)
    Share share = share_of<CLASSES - 1>(map.shares, (int)blockIdx.x * rows + row);
    int4 owner = make_int4(0, 0, NO_CELL, 0);
    if (share.owner < map.shares.owners)
        owner = __ldg(map.owners + share.owner);
    float sums[8] = {};
    // Codes of one byte leave room for several points in flight; wider ones do better with more
    // threads.
    constexpr int UNROLL = sizeof(OutCode<D>) == 1 ? 4 : 1;
#pragma unroll UNROLL
    for (int64_t t = owner.x + share.part; t < (int64_t)owner.x + owner.y;
         t += 1 << share.log_parts) {
        float f[8], d = pool.weights ? depth_at<D, true>(pool, t) : depth_at<D, false>(pool, t);
        feat8<D, A>(pool, pool.ranks_feat[t], c, f);
#pragma unroll
        for (int j = 0; j < 8; j++)
            sums[j] += d * f[j];
    }
    if ((int)blockIdx.x * rows < map.shares.first_worker[0]) // the block has a shared cell
        join_parts(
            share, row, rows,
            [&](int slot) {
#pragma unroll
                for (int j = 0; j < 8; j++)
                    partial[(slot * 8 + j) * lanes + (int)threadIdx.x] = sums[j];
            },
            [&](int slot) {
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sums[j] += partial[(slot * 8 + j) * lanes + (int)threadIdx.x];
            });
    if (share.part == 0 && owner.z != NO_CELL)
        out8<D, A>(pool, owner.z, c, sums);
}

template <BevDtype D>
static inline void pieces_launch(const BevProblem *problem, const PieceMap &map,
                                 cudaStream_t stream) {
    Pool pool = pool_of(problem);
    dim3 block = piece_block(pool.channels);
    unsigned blocks = blocks_for(map.shares.workers, block.y);
    size_t partial_bytes = block.y / 2 * block.x * 8 * sizeof(float);
    with_flag(rows_aligned(problem), [&]<bool A>() {
        v4_pieces_kernel<D, A><<<blocks, block, partial_bytes, stream>>>(pool, map);
    });
}

#endif
