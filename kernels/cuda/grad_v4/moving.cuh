/* SPDX-License-Identifier: MIT */
// The columns of moving cameras, made again on the stream. A column is cut into chunks of bins,
// whatever its cells are. So one warp makes a whole column, and no sort or count comes first.
#pragma once

#include "kernels/cuda/grad_v4/prepare.cuh"
#include "kernels/cuda/v4/poses.cuh"

// The arrays of the map, written anew at each update.
struct MovingColumns {
    ColumnShape shape;
    int column_chunks; // room for the chunks of a column
    int *flags;  // the head of the memory; the first word is 0: the map is never made empty
    int *counts; // [columns]: chunks; 0: a column that does not fit, done point by point
    Chunk *chunks;
    int *cells;
    uint8_t *slots;
    float *weights; // NULL: nearest, with one layer
};

// The chunk that a warp fills, and each lane's slots in it.
template <bool W> struct MovingChunk {
    static constexpr int LAYERS = W ? WEIGHTED_LAYERS : 1;
    static constexpr uint32_t NONE = 0x01010101u * NO_SLOT;
    ChunkDraft draft;
    int first_bin, bins;
    uint32_t words[4]; // nearest: this lane's slots of 16 bins

    __device__ void begin(int bin) {
        draft = {NO_CELL, 0};
        first_bin = bin, bins = 0;
        words[0] = words[1] = words[2] = words[3] = NONE;
    }
    // Writes the slots of bin `b` of the chunk, one layer a byte. A lane has the word of its pixel.
    __device__ void put_word(const MovingColumns &out, int64_t number, int b, uint32_t word) {
        if constexpr (W) {
            int64_t piece = (number * LAYERS + b / GROUP_BINS) * WARP + threadIdx.x % WARP;
            ((uint32_t *)out.slots)[piece * 4 + b % GROUP_BINS] = word;
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (b / 4 == i)
                    words[i] = (words[i] & ~(255u << b % 4 * 8)) | (word & 255) << b % 4 * 8;
        }
    }
    static constexpr int GROUP_BINS = 4; // bins whose slots the kernel reads together
};

// The cells of one bin: the slot of each of this lane's points, and its weight.
template <bool W> struct BinSlots {
    uint32_t word;
    float weight[WEIGHTED_LAYERS];

    // Takes slots for all cells of the bin. False: the chunk has no room for them.
    __device__ bool take(CellTaker<W ? 4 : 1> taker, ChunkDraft *draft) {
        int layer = 0;
        word = MovingChunk<W>::NONE;
        for (float &w : weight)
            w = 0;
        while (taker.next()) {
            int slot = draft->slot_of(taker.cell);
            if (slot < 0)
                return false;
            if (taker.neighbour < 0)
                continue;
            word = (word & ~(255u << layer * 8)) | (uint32_t)slot << layer * 8;
#pragma unroll
            for (int i = 0; i < WEIGHTED_LAYERS; i++)
                if (layer == i)
                    weight[i] = taker.mine.weight_of(taker.neighbour);
            layer++;
        }
        return true;
    }
};

// Writes the cells, bins and slots of the finished chunk. With weights (W) the slots are written
// already, bin by bin: only the last group of bins is filled up.
template <bool W>
static __device__ void put_moving_chunk(const MovingColumns &out, MovingChunk<W> &chunk,
                                        int64_t number) {
    int lane = (int)threadIdx.x % WARP;
    if (lane < CHUNK_CELLS)
        out.cells[number * CHUNK_CELLS + lane] =
            lane < chunk.draft.cells ? chunk.draft.cell : NO_CELL;
    if (lane == 0)
        out.chunks[number] = {chunk.first_bin, chunk.bins};
    if constexpr (W)
        for (int b = chunk.bins; b % chunk.GROUP_BINS; b++)
            chunk.put_word(out, number, b, chunk.NONE);
    else
        ((uint4 *)out.slots)[number * WARP + lane] =
            make_uint4(chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]);
}

// A warp that cuts one column into chunks.
template <bool W> struct ColumnCutter {
    static constexpr int N = W ? 4 : 1;
    const MovingColumns &out;
    int64_t column, first; // first: number of the column's first chunk
    int chunks;            // number of finished chunks
    bool column_fits;      // false: a bin has too many cells, or the column too many chunks
    MovingChunk<W> chunk;

    // A chunk takes bin after bin as long as their cells fit.
    __device__ void take_bin(int bin, const PointCells<N> &cells) {
        CellTaker<N> taker = {~0u, cells, NO_CELL, -1, 0, false};
        ChunkDraft before = chunk.draft;
        BinSlots<W> slots;
        if (chunk.bins == CHUNK_BINS || !slots.take(taker, &chunk.draft)) { // into the next chunk
            chunk.draft = before;
            put_moving_chunk(out, chunk, first + chunks);
            chunks++;
            chunk.begin(bin);
            column_fits = chunks < out.column_chunks && slots.take(taker, &chunk.draft);
            if (!column_fits)
                return;
        }
        chunk.put_word(out, first + chunks, chunk.bins++, slots.word);
        if constexpr (W)
            ((float4 *)out.weights)[(column * out.shape.bins + bin) * WARP + threadIdx.x % WARP] =
                make_float4(slots.weight[0], slots.weight[1], slots.weight[2], slots.weight[3]);
    }
    // The chunks of a column that does not fit are not used.
    __device__ void end_column() {
        int lane = (int)threadIdx.x % WARP;
        if (column_fits)
            put_moving_chunk(out, chunk, first + chunks++);
        else
            chunks = 0;
        __syncwarp(); // another lane may have written the chunks of a column that does not fit
        if (lane == 0)
            out.counts[column] = chunks;
        for (int i = chunks + lane; i < out.column_chunks; i += WARP) // those that do not exist
            out.chunks[first + i] = {0, 0};
    }
};

// Each warp cuts one column. It computes the cells of a few bins together, whose latencies overlap.
template <bool W>
static __global__ void v4_moving_columns_kernel(const __grid_constant__ MovingFrame frame,
                                                const __grid_constant__ MovingColumns out) {
    constexpr int TOGETHER = 4, N = ColumnCutter<W>::N;
    const ColumnShape &s = out.shape;
    int64_t column = thread_number() / WARP;
    int lane = (int)threadIdx.x % WARP, strip, slab;
    if (thread_number() == 0)
        *out.flags = 0;
    if (column >= s.count())
        return;
    int camera = (int)divide(divide(column, s.strips, &strip), s.slabs, &slab);
    int h = slab * s.rows + (lane >> s.log_cols);
    int w = (strip << s.log_cols) + (lane & (s.cols() - 1));
    bool exists = h < s.height && w < s.width;
    PixelRay ray = ray_of(frame, camera, h, w);
    ColumnCutter<W> cutter = {out, column, column * out.column_chunks, 0, true, {}};
    cutter.chunk.begin(0);
    for (int bin = 0; cutter.column_fits && bin < s.bins; bin += TOGETHER) {
        PointCells<N> cells[TOGETHER];
#pragma unroll
        for (int i = 0; i < TOGETHER; i++)
            cells[i] = exists && bin + i < s.bins ? cells_of<N>(frame, ray, bin + i)
                                                  : PointCells<N>{};
#pragma unroll
        for (int i = 0; i < TOGETHER; i++)
            if (cutter.column_fits && bin + i < s.bins)
                cutter.take_bin(bin + i, cells[i]);
    }
    cutter.end_column();
}

// Computes both gradients of the columns that have no chunks, point by point: a warp has a pixel.
template <BevDtype D, int N>
static __global__ void grad_v4_crowded_kernel(Grad grad, MovingFrame frame, ColumnShape s,
                                              const int *counts) {
    int64_t column = blockIdx.x, plane = (int64_t)s.height * s.width;
    int pixel = (int)(blockIdx.y * blockDim.x + threadIdx.x) / WARP, strip, slab;
    int lane = (int)threadIdx.x % WARP;
    if (counts[column] > 0)
        return;
    int camera = (int)divide(divide(column, s.strips, &strip), s.slabs, &slab);
    ColumnPlace place = {camera, slab * s.rows, strip << s.log_cols};
    ColumnPixel at = place.pixel(s, pixel);
    if (!at.exists)
        return;
    int h = place.h0 + (pixel >> s.log_cols), w = place.w0 + (pixel & (s.cols() - 1));
    PixelRay ray = ray_of(frame, camera, h, w);
    auto each_cell = [&](int bin, auto take) {
        PointCells<N> cells = cells_of<N>(frame, ray, bin);
        for (int i = 0; i < N; i++)
            if (cells.left >> i & 1)
                take((int64_t)cells.cell[i] * grad.channels, cells.weight[i]);
    };
    for (int bin = 0; bin < s.bins; bin++) {
        float sum = 0;
        each_cell(bin, [&](int64_t row, float weight) {
            for (int c = lane; c < grad.channels; c += WARP)
                sum += weight * value_at<D>(grad.feat, at.row * grad.channels + c) *
                       value_at<D>(grad.grad_out, row + c);
        });
        for (int step = WARP / 2; step; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            value_put<D>(grad.grad_depth, at.element + bin * plane, sum);
    }
    for (int c = lane; c < grad.channels; c += WARP) {
        float sum = 0;
        for (int bin = 0; bin < s.bins; bin++) {
            float depth = value_at<D>(grad.depth, at.element + bin * plane);
            each_cell(bin, [&](int64_t row, float weight) {
                sum += depth * weight * value_at<D>(grad.grad_out, row + c);
            });
        }
        value_put<D>(grad.grad_feat, at.row * grad.channels + c, sum);
    }
}

// Lays the arrays out in `memory`, behind its head. If `memory` is NULL, only counts their bytes.
static inline MovingColumns moving_columns(const ColumnShape &s, const BevMoving *moving,
                                           void *memory, size_t *bytes = NULL) {
    bool weighted = moving->align != BEV_NEAREST;
    MovingColumns map = {};
    Arena arena = {(char *)memory, 0};
    map.shape = s;
    map.column_chunks = s.bins; // a bin a chunk: cameras that roll see many cells at once
    int64_t columns = s.count(), chunks = columns * map.column_chunks;
    arena.take(&map.flags, (int64_t)(bev_moving_head(moving) / sizeof(int)));
    arena.take(&map.counts, columns);
    arena.take(&map.chunks, chunks);
    arena.take(&map.cells, chunks * CHUNK_CELLS);
    arena.take(&map.slots, chunks * (weighted ? WEIGHTED_LAYERS : 1) * WARP * 16);
    arena.take(&map.weights, weighted ? columns * s.bins * WARP * WEIGHTED_LAYERS : 0);
    if (bytes)
        *bytes = arena.used;
    return map;
}
