/* SPDX-License-Identifier: MIT */
// grad_v4 on columns: WARPS warps own a column of 32 pixels, and each warp owns chunks of its depth
// bins. A block has one or more neighbouring columns.
#pragma once

#include "kernels/cuda/grad_v4/depths.cuh"
#include "kernels/cuda/v4/overlap.cuh"

// ---- a warp's chunk ----------------------------------------------------------------------------

// The part of the map that a lane reads for a chunk.
struct ChunkPart {
    Chunk chunk;
    int cell;
    uint4 slots; // of the first piece

    __device__ void read(const ColumnMap &map, int64_t number, int layers) {
        int lane = threadIdx.x % WARP;
        chunk = map.chunks[number];
        cell = lane < CHUNK_CELLS ? map.cells[number * CHUNK_CELLS + lane] : NO_CELL;
        slots = __ldg(map.slots + number * layers * WARP + lane);
    }
};

constexpr int GROUP = 4; // bins whose slots are read together

// The slots of a group of four bins.
template <int LAYERS> struct GroupSlots {
    uint32_t words[LAYERS];

    __device__ int slot_of(int bin, int layer) const {
        int i = bin * LAYERS + layer;
        return words[i / 4] >> i % 4 * 8 & 255;
    }
};

// Waits for all warps of this thread's column, whose threads have the same threadIdx.y.
template <int WARPS> __device__ inline void column_barrier() {
    asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "n"(WARPS * WARP) : "memory");
}

// Sums one element of grad_feat point by point. In a product of whole chunks an infinite or NaN
// gradient also reaches pixels that do not see its cell: 0 x infinity is NaN. Factors may also
// overflow a half.
template <BevDtype D, bool W>
__device__ float feat_point_by_point(const Grad &grad, const ColumnMap &map, int column, int lane,
                                     int64_t element, int c) {
    constexpr int LAYERS = W ? WEIGHTED_LAYERS : 1;
    int64_t plane = (int64_t)map.shape.height * map.shape.width;
    float sum = 0;
    for (int i = 0; i < map.counts[column]; i++) {
        int64_t number = (int64_t)column * map.column_chunks + i;
        Chunk chunk = map.chunks[number];
        for (int j = 0; j < chunk.bins * LAYERS; j++) {
            const uint4 *piece = map.slots + (number * LAYERS + j / 16) * WARP + lane;
            int slot = ((const uint8_t *)piece)[j % 16], bin = chunk.first_bin + j / LAYERS;
            if (slot == NO_SLOT)
                continue;
            float depth = value_at<D>(grad.depth, element + bin * plane);
            if (W) {
                int64_t row = (int64_t)column * map.shape.bins + bin;
                depth *= ((const float *)(map.weights + row * WARP + lane))[j % LAYERS];
            }
            int64_t cell = map.cells[number * CHUNK_CELLS + slot];
            sum += depth * value_at<D>(grad.grad_out, cell * grad.channels + c);
        }
    }
    return sum;
}

// Stores 16 bytes of grad_feat, summed point by point, from channel c of a pixel on.
template <BevDtype D, bool W>
__device__ __noinline__ void put_point_by_point(const Grad &grad, const ColumnMap &map, int column,
                                                int lane, ColumnPixel pixel, int c) {
    for (int i = 0; i < 16 / (int)sizeof(Code<D>); i++)
        value_put<D>(grad.grad_feat, pixel.row * grad.channels + c + i,
                     feat_point_by_point<D, W>(grad, map, column, lane, pixel.element, c + i));
}

template <BevDtype D, bool W, int CHANNELS, int WARPS> struct ColumnWarp {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    static constexpr int LAYERS = W ? WEIGHTED_LAYERS : 1;
    using Slots = GroupSlots<LAYERS>;
    const Grad &grad;
    const ColumnMap &map;
    Shared &shared;    // of this column
    ColumnPlace place; // of this column
    int column;
    Code<D> *depths; // of this lane's pixel
    int depth_step;  // codes from bin to bin
    int warp, lane;

    // Returns 80, known to the compiler, or a multiple of 64.
    __device__ int channels() const {
        return CHANNELS == 80 ? CHANNELS : grad.channels;
    }
    __device__ int feat_stride() const {
        return Shared::feat_stride(channels());
    }
    __device__ Code<D> *feat() const {
        return (Code<D> *)(&shared + 1);
    }

    // Loads all channels of the column's features; every warp of the column takes part.
    __device__ void load_features() {
        constexpr int EACH = Shared::PAD; // codes of 16 bytes
        int words = channels() / EACH;
#pragma unroll 1
        for (int i = threadIdx.x; i < WARP * words; i += WARPS * WARP) {
            ColumnPixel p = place.pixel(map.shape, i / words);
            int c = i % words * EACH;
            const Code<D> *from = (const Code<D> *)grad.feat;
            copy_async(feat() + i / words * feat_stride() + c,
                       p.exists ? from + p.row * channels() + c : from, p.exists);
        }
    }

    // Loads the rows of grad_out of a chunk's cells, channels [c0, c0 + CHANNELS).
    __device__ void load_rows(int cell, int c0) {
        constexpr int EACH = Shared::PAD, WORDS = CHANNELS / EACH;
#pragma unroll
        for (int i = 0; i < CHUNK_CELLS * WORDS; i += WARP) {
            int slot = (i + lane) / WORDS, c = (i + lane) % WORDS * EACH;
            int row = __shfl_sync(~0u, cell, slot);
            const Code<D> *from = (const Code<D> *)grad.grad_out;
            copy_async(&shared.out[warp * CHUNK_CELLS + slot][c],
                       row == NO_CELL ? from : from + (int64_t)row * channels() + c0 + c,
                       row != NO_CELL);
        }
    }

    // Calls f(first bin, slots) for every four bins of the chunk.
    template <typename F> __device__ void each_group(const ChunkPart &part, int64_t number, F f) {
        uint4 piece = part.slots;
#pragma unroll 1
        for (int bin = 0; bin < part.chunk.bins; bin += GROUP) {
            if constexpr (W) {
                if (bin > 0)
                    piece = __ldg(map.slots + (number * LAYERS + bin / GROUP) * WARP + lane);
                f(bin, Slots{piece.x, piece.y, piece.z, piece.w});
            } else {
                f(bin, Slots{piece.x});
                piece = {piece.y, piece.z, piece.w, 0};
            }
        }
    }

    // Converts the chunk's FP32 sums of depth x weight to operands.
    __device__ void put_factors() {
        const float(*sums)[SUMS_STRIDE] = shared.sums[warp];
#pragma unroll
        for (int i = 0; i < CHUNK_CELLS; i += 2) {
            int slot = i + lane / 16, pixel = lane % 16 * 2;
            float2 rest = *(const float2 *)&sums[slot][pixel];
            if constexpr (D == BEV_FP32) {
                *(float2 *)&shared.factors[warp][0][slot][pixel] = rest;
            } else {
#pragma unroll
                for (int n = 0; n < PARTS<D>; n++) {
                    uint32_t pair = pair_from_floats<D>(rest);
                    float2 part = floats_from_pair<D>(pair);
                    *(uint32_t *)&shared.factors[warp][n][slot][pixel] = pair;
                    rest.x = (rest.x - part.x) * PART_SCALE<D>;
                    rest.y = (rest.y - part.y) * PART_SCALE<D>;
                }
            }
        }
    }

    // Loads the weights of bins [bin, bin + 4) of the chunk; they are 1 if the map has none.
    __device__ void load_weights(const ChunkPart &part, int bin, float (&w)[GROUP][LAYERS]) const {
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            if constexpr (W) {
                int64_t row = (int64_t)column * map.shape.bins + part.chunk.first_bin + bin + i;
                float4 all = bin + i < part.chunk.bins ? __ldg(map.weights + row * WARP + lane)
                                                       : make_float4(0, 0, 0, 0);
                w[i][0] = all.x, w[i][1] = all.y, w[i][2] = all.z, w[i][3] = all.w;
            } else {
                w[i][0] = 1;
            }
    }

    // Sums depth x weight of the chunk by cell and pixel, for grad_feat.
    __device__ void sum_factors(const ChunkPart &part, int64_t number) {
        float(*sums)[SUMS_STRIDE] = shared.sums[warp];
        constexpr int WORDS = CHUNK_CELLS * SUMS_STRIDE / 4;
#pragma unroll
        for (int i = 0; i < WORDS; i += WARP)
            if (i + lane < WORDS)
                ((float4 *)sums)[i + lane] = make_float4(0, 0, 0, 0);
        __syncwarp();
        const Code<D> *own = depths + part.chunk.first_bin * depth_step;
        each_group(part, number, [&](int bin, Slots slots) {
            float w[GROUP][LAYERS], depth[GROUP];
            load_weights(part, bin, w);
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                depth[i] = bin + i < part.chunk.bins ? Codec<D>::decode(own[(bin + i) * depth_step])
                                                     : 0.0f;
#pragma unroll
            for (int i = 0; i < GROUP; i++)
#pragma unroll
                for (int l = 0; l < LAYERS; l++)
                    sums[slots.slot_of(i, l)][lane] += depth[i] * w[i][l];
        });
        __syncwarp();
        put_factors();
        sums[NO_SLOT][lane] = 0;
    }

    // Makes grad_depth of the chunk's bins from the dots of its cells. Bins without a point get 0.
    __device__ void put_depths(const ChunkPart &part, int64_t number) {
        const float(*sums)[SUMS_STRIDE] = shared.sums[warp];
        Code<D> *own = depths + part.chunk.first_bin * depth_step;
        each_group(part, number, [&](int bin, Slots slots) {
            float w[GROUP][LAYERS], sum[GROUP] = {};
            load_weights(part, bin, w);
#pragma unroll
            for (int i = 0; i < GROUP; i++) {
#pragma unroll
                for (int l = 0; l < LAYERS; l++)
                    sum[i] += sums[slots.slot_of(i, l)][lane] * w[i][l];
            }
            // All loads come first: the compiler would put each behind the branch of its store.
            asm volatile("" : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]));
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                if (bin + i < part.chunk.bins)
                    own[(bin + i) * depth_step] = Codec<D>::encode(sum[i]);
        });
    }

    __device__ void add_dots(Dots<D> *dots, int c) {
        dots->template add<CHANNELS>(shared.out[warp * CHUNK_CELLS], Shared::STRIDE, feat() + c,
                                     feat_stride());
    }

    // Computes a chunk. The copies of its rows, channels from c0 on, are in flight. grad_depth
    // needs all channels: the channels of other blocks are added first.
    __device__ void run_chunk(const ChunkPart &part, int64_t number, int c0, bool with_depth) {
        Dots<D> dots = {};
        sum_factors(part, number);
        wait_for_copies();
        __syncwarp();
        if (!with_depth)
            return;
        for (int c = CHANNELS; c < channels(); c += CHANNELS) {
            load_rows(part.cell, c);
            wait_for_copies();
            __syncwarp();
            add_dots(&dots, c);
            __syncwarp();
            if (c + CHANNELS == channels())
                load_rows(part.cell, c0);
        }
        wait_for_copies();
        __syncwarp();
        add_dots(&dots, c0);
        dots.store(shared.sums[warp]);
        __syncwarp();
        put_depths(part, number);
    }

    // Stores the column's grad_feat. It first replaces the features in shared memory, which no warp
    // needs any more. From there grad_feat leaves in pieces of 16 bytes.
    __device__ void put_features(FeatSums<D, CHANNELS, WARPS> &sums, int c0) {
        constexpr int EACH = Shared::PAD, WORDS = CHANNELS / EACH;
        sums.each([&](int p, int c, const float pair[2]) {
            pair_put<D>(feat(), p * feat_stride() + c, pair);
        });
        column_barrier<WARPS>();
#pragma unroll 1
        for (int i = threadIdx.x; i < WARP * WORDS; i += WARPS * WARP) {
            ColumnPixel p = place.pixel(map.shape, i / WORDS);
            int c = i % WORDS * EACH;
            if (!p.exists)
                continue;
            const Code<D> *codes = feat() + i / WORDS * feat_stride() + c;
            float finite = 0;
#pragma unroll
            for (int j = 0; j < EACH; j++)
                finite += 0 * Codec<D>::decode(codes[j]);
            if (finite != 0)
                put_point_by_point<D, W>(grad, map, column, i / WORDS, p, c0 + c);
            else
                *(uint4 *)((Code<D> *)grad.grad_feat + p.row * channels() + c0 + c) =
                    *(const uint4 *)codes;
        }
    }
};

// Computes all chunks of a column, then its grad_feat. The copies of features, depths and the first
// rows are in flight when the block reaches its barrier.
template <BevDtype D, bool W, int CHANNELS, int WARPS>
__device__ void column_run(ColumnWarp<D, W, CHANNELS, WARPS> &self, const BlockDepths<D> &depths,
                           bool exists, int c0) {
    const ColumnMap &map = self.map;
    int64_t first = (int64_t)self.column * map.column_chunks;
    FeatSums<D, CHANNELS, WARPS> sums = {};
    auto read = [&](int i) {
        ChunkPart part = {};
        if (exists && i + self.warp < map.column_chunks)
            part.read(map, first + i + self.warp, self.LAYERS);
        return part;
    };
    ChunkPart part = read(0);
    int chunks = exists ? map.counts[self.column] : 0;
    wait_for_previous_kernel();
    depths.load(self.grad.depth);
    for (int i = 0; i == 0 || i < chunks; i += WARPS) {
        if (part.chunk.bins)
            self.load_rows(part.cell, c0);
        if (i == 0) {
            if (exists)
                self.load_features();
            wait_for_copies();
            __syncthreads();
        }
        ChunkPart next = read(i + WARPS);
        if (part.chunk.bins)
            self.run_chunk(part, first + i + self.warp, c0, c0 == 0);
        column_barrier<WARPS>();
        sums.add(self.shared, min(chunks - i, WARPS));
        if (i + WARPS < chunks)
            column_barrier<WARPS>(); // before the next chunks replace these
        part = next;
    }
    if (exists)
        self.put_features(sums, c0);
}

// blockIdx.x counts groups of neighbouring columns, and threadIdx.y is the column in the group.
// blockIdx.y counts the slabs of all cameras, blockIdx.z the groups of CHANNELS channels. The
// blocks of the first channels also compute grad_depth, for which they read all channels.
template <BevDtype D, bool W, int CHANNELS, int WARPS>
__global__ void __launch_bounds__(16 * WARP, 1)
    grad_v4_kernel(const __grid_constant__ Grad grad, const __grid_constant__ ColumnMap map) {
    using Shared = ColumnShared<D, CHANNELS, WARPS>;
    extern __shared__ uint4 memory[];
    let_next_kernel_start();
    const ColumnShape &s = map.shape;
    int columns = blockDim.y, strip = blockIdx.x * columns + threadIdx.y;
    int camera = s.slabs == 1 ? blockIdx.y : blockIdx.y / s.slabs;
    int h0 = ((int)blockIdx.y - camera * s.slabs) * s.rows;
    int w0 = (blockIdx.x * columns) << s.log_cols;
    size_t bytes = Shared::column_bytes(grad.channels);
    Code<D> *codes = (Code<D> *)((char *)memory + columns * bytes);
    int lane = threadIdx.x % WARP, c0 = (int)blockIdx.z * CHANNELS;
    int64_t first = (int64_t)camera * s.bins * s.height * s.width;
    BlockDepths<D> depths = {s, codes, columns << s.log_cols, WARP * columns, h0, w0, first};
    ColumnWarp<D, W, CHANNELS, WARPS> self = {grad,
                                              map,
                                              *(Shared *)((char *)memory + threadIdx.y * bytes),
                                              {camera, h0, strip << s.log_cols},
                                              (int)blockIdx.y * s.strips + strip,
                                              depths.pixel_codes(threadIdx.y, lane),
                                              depths.pixels,
                                              (int)threadIdx.x / WARP,
                                              lane};
    column_run(self, depths, strip < s.strips, c0);
    if (c0 > 0)
        return;
    __syncthreads();
    depths.store(grad.grad_depth);
}
