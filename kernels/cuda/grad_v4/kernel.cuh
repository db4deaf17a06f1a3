// grad_v4 on columns: a block owns a column of 32 pixels, its warps own chunks of its depth bins.
#pragma once

#include "kernels/cuda/grad_v4/products.cuh"

constexpr int ENTRY_BATCH = 4; // entries whose depths are loaded together

template <BevDtype D, bool W, int CHANNELS, int WARPS> struct ColumnBlock {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    const Grad &grad;
    const ColumnMap &map;
    Shared &shared;
    ColumnPixel pixel; // this lane's
    int64_t plane;     // from bin to bin in depth

    __device__ int feat_stride() const {
        return Shared::feat_stride(grad.channels);
    }
    __device__ Code<D> *feat() const {
        return (Code<D> *)(&shared + 1);
    }

    // The column's features, all channels; every thread of the block takes part.
    __device__ void load_features(int column) {
        constexpr int EACH = Shared::PAD; // codes of 16 bytes
        int words = grad.channels / EACH;
        for (int i = threadIdx.x; i < WARP * words; i += WARPS * WARP) {
            ColumnPixel p = column_pixel(map.shape, column, i / words);
            int c = i % words * EACH;
            const Code<D> *from = (const Code<D> *)grad.feat;
            copy_async(feat() + i / words * feat_stride() + c,
                       p.exists ? from + p.row * grad.channels + c : from, p.exists);
        }
    }

    // Rows of grad_out of a chunk, channels [c0, c0 + CHANNELS).
    __device__ void load_rows(int cell, int c0) {
        constexpr int EACH = Shared::PAD, WORDS = CHANNELS / EACH;
        int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll
        for (int i = 0; i < CHUNK_CELLS * WORDS; i += WARP) {
            int slot = (i + lane) / WORDS, c = (i + lane) % WORDS * EACH;
            int row = __shfl_sync(~0u, cell, slot);
            const Code<D> *from = (const Code<D> *)grad.grad_out;
            copy_async(&shared.out[warp * CHUNK_CELLS + slot][c],
                       row == NO_CELL ? from : from + (int64_t)row * grad.channels + c0 + c,
                       row != NO_CELL);
        }
    }

    // depth x weight of the chunk's entries, summed by slot, split into operands.
    __device__ void load_factors(const Chunk &chunk) {
        int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        float(*sums)[SUMS_STRIDE] = shared.sums[warp];
#pragma unroll
        for (int slot = 0; slot < CHUNK_CELLS; slot++)
            sums[slot][lane] = 0;
        for (int e = chunk.first_entry; e < chunk.end_entry; e += ENTRY_BATCH) {
            float factors[ENTRY_BATCH];
            int slots[ENTRY_BATCH];
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH; b++) {
                bool exists = e + b < chunk.end_entry;
                Entry entry = map.entries[exists ? e + b : e];
                slots[b] = entry.slot, factors[b] = 0;
                if (exists && entry.pixels >> lane & 1) {
                    factors[b] = value_at<D>(grad.depth, pixel.element + entry.bin * plane);
                    if (W)
                        factors[b] *= __ldg(map.weights + (int64_t)(e + b) * WARP + lane);
                }
            }
#pragma unroll
            for (int b = 0; b < ENTRY_BATCH; b++)
                sums[slots[b]][lane] += factors[b];
        }
#pragma unroll
        for (int slot = 0; slot < CHUNK_CELLS; slot++) {
            float rest = sums[slot][lane];
#pragma unroll
            for (int n = 0; n < PARTS<D>; n++) {
                Code<D> part = Codec<D>::encode(rest);
                shared.factors[n][warp * CHUNK_CELLS + slot][lane] = part;
                rest = (rest - Codec<D>::decode(part)) * PART_SCALE<D>;
            }
        }
    }

    // grad_depth of the chunk's bins from the dots of its cells; bins without an entry get 0.
    __device__ void store_depths(const Chunk &chunk) {
        const float(*sums)[SUMS_STRIDE] = shared.sums[threadIdx.x / WARP];
        int lane = threadIdx.x % WARP, bin = chunk.first_bin;
        float sum = 0;
        auto store = [&] {
            if (pixel.exists)
                value_put<D>(grad.grad_depth, pixel.element + bin * plane, sum);
            bin++, sum = 0;
        };
        for (int e = chunk.first_entry; e < chunk.end_entry; e++) {
            Entry entry = map.entries[e];
            while (bin < entry.bin)
                store();
            if (entry.pixels >> lane & 1)
                sum += W ? __ldg(map.weights + (int64_t)e * WARP + lane) * sums[entry.slot][lane]
                         : sums[entry.slot][lane];
        }
        while (bin < chunk.end_bin)
            store();
    }

    // All that one warp does for a chunk. WITH_DEPTH: the block also computes grad_depth.
    __device__ void chunk(int number, int c0, bool with_depth) {
        int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        Chunk chunk = map.chunks[number];
        int cell = lane < CHUNK_CELLS ? map.cells[(int64_t)number * CHUNK_CELLS + lane] : NO_CELL;
        Dots<D> dots = {};
        for (int c = with_depth ? grad.channels - CHANNELS : c0; c > c0; c -= CHANNELS) {
            load_rows(cell, c); // those of other blocks' channels
            wait_for_copies();
            __syncwarp();
            dots.template add<CHANNELS>(shared.out[warp * CHUNK_CELLS], Shared::STRIDE, feat() + c,
                                        feat_stride());
            __syncwarp();
        }
        load_rows(cell, c0);
        load_factors(chunk);
        wait_for_copies();
        __syncwarp();
        if (!with_depth)
            return;
        dots.template add<CHANNELS>(shared.out[warp * CHUNK_CELLS], Shared::STRIDE, feat() + c0,
                                    feat_stride());
        dots.store(shared.sums[warp]);
        __syncwarp();
        store_depths(chunk);
    }
};

// One element of grad_feat point by point: multiplying whole chunks lets an infinite or NaN gradient
// reach pixels that do not see its cell, as 0 x infinity, and factors may overflow a half.
template <BevDtype D, bool W>
__device__ float feat_point_by_point(const Grad &grad, const ColumnMap &map, int column, int lane,
                                     int c) {
    ColumnPixel pixel = column_pixel(map.shape, column, lane);
    int64_t plane = (int64_t)map.shape.height * map.shape.width;
    float sum = 0;
    for (int number = map.chunk_starts[column]; number < map.chunk_starts[column + 1]; number++) {
        Chunk chunk = map.chunks[number];
        for (int e = chunk.first_entry; e < chunk.end_entry; e++) {
            Entry entry = map.entries[e];
            if (!(entry.pixels >> lane & 1))
                continue;
            int64_t cell = map.cells[(int64_t)number * CHUNK_CELLS + entry.slot];
            float depth = value_at<D>(grad.depth, pixel.element + entry.bin * plane);
            if (W)
                depth *= map.weights[(int64_t)e * WARP + lane];
            sum += depth * value_at<D>(grad.grad_out, cell * grad.channels + c);
        }
    }
    return sum;
}

// blockIdx.x: the column; blockIdx.y: which CHANNELS channels. The first block of a column also
// computes grad_depth, for which it reads all channels.
template <BevDtype D, bool W, int CHANNELS, int WARPS>
__global__ void __launch_bounds__(WARPS *WARP)
    grad_v4_kernel(const __grid_constant__ Grad grad, const __grid_constant__ ColumnMap map) {
    using Block = ColumnBlock<D, W, CHANNELS, WARPS>;
    extern __shared__ uint4 memory[];
    int column = blockIdx.x, c0 = (int)blockIdx.y * CHANNELS;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    Block block = {grad, map, *(typename Block::Shared *)memory,
                   column_pixel(map.shape, column, lane),
                   (int64_t)map.shape.height * map.shape.width};
    int first = map.chunk_starts[column], end = map.chunk_starts[column + 1];
    FeatSums<D, CHANNELS, WARPS> sums = {};
    block.load_features(column);
    wait_for_copies();
    __syncthreads();
    for (; first < end; first += WARPS) {
        if (first + warp < end)
            block.chunk(first + warp, c0, c0 == 0);
        __syncthreads();
        sums.add(block.shared, min(end - first, WARPS) * CHUNK_CELLS);
        if (first + WARPS < end)
            __syncthreads();
    }
    sums.each([&](int p, int c, float pair[2]) {
        ColumnPixel at = column_pixel(map.shape, column, p);
        if (!at.exists)
            return;
        for (int u = 0; u < 2; u++)
            if (0 * pair[u] != 0)
                pair[u] = feat_point_by_point<D, W>(grad, map, column, p, c0 + c + u);
        pair_put<D>(grad.grad_feat, at.row * grad.channels + c0 + c, pair);
    });
}
