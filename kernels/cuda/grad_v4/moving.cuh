// The columns of moving cameras, made again on the stream. A column is chunks of bins whatever the
// cells are, so that a warp makes all of it alone: no sort, and nothing is counted first.
#pragma once

#include "kernels/cuda/grad_v4/prepare.cuh"
#include "kernels/cuda/v4/poses.cuh"

// The arrays of the map, written anew at each update.
struct MovingColumns {
    ColumnShape shape;
    int column_chunks; // room for the chunks of a column
    int *counts;       // [columns]: chunks; 0: more than there is room for, or a bin of too many cells
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
    __device__ bool take(CellTaker taker, ChunkDraft *draft) {
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
                    weight[i] = taker.mine.weight[taker.neighbour];
            layer++;
        }
        return true;
    }
};

// Writes what the finished chunk has besides the slots of W.
template <bool W>
static __device__ void put_moving_chunk(const MovingColumns &out, MovingChunk<W> &chunk,
                                        int64_t number) {
    int lane = (int)threadIdx.x % WARP;
    if (lane < CHUNK_CELLS)
        out.cells[number * CHUNK_CELLS + lane] = lane < chunk.draft.cells ? chunk.draft.cell : NO_CELL;
    if (lane == 0)
        out.chunks[number] = {chunk.first_bin, chunk.bins};
    if constexpr (W)
        for (int b = chunk.bins; b % chunk.GROUP_BINS; b++)
            chunk.put_word(out, number, b, chunk.NONE);
    else
        ((uint4 *)out.slots)[number * WARP + lane] =
            make_uint4(chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]);
}

// Each warp cuts one column into chunks: a chunk takes bin after bin as long as the cells fit.
template <bool W>
static __global__ void v4_moving_columns_kernel(MovingFrame frame, MovingColumns out) {
    const ColumnShape &s = out.shape;
    int64_t column = thread_number() / WARP;
    int lane = (int)threadIdx.x % WARP, strip, slab, chunks = 0;
    if (column >= s.count())
        return;
    int camera = (int)divide(divide(column, s.strips, &strip), s.slabs, &slab);
    int h = slab * s.rows + (lane >> s.log_cols);
    int w = (strip << s.log_cols) + (lane & (s.cols() - 1));
    int64_t first = column * out.column_chunks;
    MovingChunk<W> chunk;
    chunk.begin(0);
    bool fits = true;
    for (int bin = 0; fits && bin < s.bins; bin++) {
        CellTaker taker = {~0u, {}, NO_CELL, -1, 0, false};
        if (h < s.height && w < s.width)
            taker.mine = cells_of(frame, camera, bin, h, w);
        ChunkDraft before = chunk.draft;
        BinSlots<W> slots;
        bool taken = chunk.bins < CHUNK_BINS && slots.take(taker, &chunk.draft);
        if (!taken) { // again, into the next chunk
            chunk.draft = before;
            put_moving_chunk(out, chunk, first + chunks);
            chunks++;
            chunk.begin(bin);
            fits = chunks < out.column_chunks && slots.take(taker, &chunk.draft);
        }
        if (!fits)
            break;
        chunk.put_word(out, first + chunks, chunk.bins++, slots.word);
        if constexpr (W)
            ((float4 *)out.weights)[(column * s.bins + bin) * WARP + lane] =
                make_float4(slots.weight[0], slots.weight[1], slots.weight[2], slots.weight[3]);
    }
    if (fits)
        put_moving_chunk(out, chunk, first + chunks++);
    else
        chunks = 0;
    __syncwarp(); // another lane may have written the chunks of a column that does not fit
    if (lane == 0)
        out.counts[column] = chunks;
    for (int i = chunks + lane; i < out.column_chunks; i += WARP) // those that do not exist
        out.chunks[first + i] = {0, 0};
}
