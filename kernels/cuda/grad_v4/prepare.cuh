/* SPDX-License-Identifier: MIT */
// The kernels that build the map of columns from the points.
#pragma once

#include "kernels/cuda/grad_v4/columns.cuh"

struct ColumnFindings {
    int irregular; // a point's depth and feature belong to different pixels
    int crowded;   // a bin of a column has more than 16 cells
    int layers;    // most points of a pixel in one bin
    int column_chunks; // most chunks of a column
};

// Thread t makes the key of point t: ((column * bins + bin) * cells + cell) * WARP + pixel. Points
// sorted by this key are sorted by column, then bin, then cell, then pixel. The key / WARP
// identifies the entry.
static __global__ void v4_point_keys_kernel(Grad grad, ColumnShape s, int64_t cells, GradKeys keys,
                                            ColumnFindings *findings) {
    int64_t t = thread_number();
    if (t >= grad.points)
        return;
    int w, h, bin;
    int64_t rest = divide(grad.ranks_depth[t], s.width, &w);
    rest = divide(rest, s.height, &h);
    int64_t camera = divide(rest, s.bins, &bin);
    if ((camera * s.height + h) * s.width + w != grad.ranks_feat[t])
        findings->irregular = 1;
    int64_t column = (camera * s.slabs + h / s.rows) * s.strips + (w >> s.log_cols);
    int pixel = (h % s.rows << s.log_cols) + w % s.cols();
    keys.keys[t] = (uint64_t)((column * s.bins + bin) * cells + grad.ranks_bev[t]) * WARP + pixel;
    keys.points[t] = (int)t;
}

// Returns whether sorted point i starts an entry: another bin or cell, or the same point again.
static __device__ bool starts_entry(const uint64_t *keys, int64_t i) {
    return i == 0 || keys[i] / WARP != keys[i - 1] / WARP || keys[i] == keys[i - 1];
}

// Thread i in [0, points] sets heads[i] to 1 if an entry starts at sorted point i, else to 0.
static __global__ void v4_heads_kernel(const uint64_t *keys, int64_t points, int *heads) {
    int64_t i = thread_number();
    if (i <= points)
        heads[i] = i < points && starts_entry(keys, i);
}

// The entries of all columns, sorted by column, bin and cell.
struct EntryArrays {
    uint32_t *pixels;
    int *bins, *cells, *starts; // [entries], [entries], [columns + 1]
    float *weights;             // [entries * 32], or NULL
};

// Thread i writes the entry that starts at sorted point i, if there is one. Its number is heads[i],
// the number of entries before it.
static __global__ void v4_entries_kernel(Grad grad, ColumnShape s, int64_t cells, GradKeys keys,
                                         const int *heads, EntryArrays out) {
    int64_t i = thread_number();
    if (i >= grad.points || !starts_entry(keys.keys, i))
        return;
    int e = heads[i];
    uint64_t entry_key = keys.keys[i] / WARP;
    uint32_t pixels = 0;
    int64_t j = i;
    do {
        int pixel = (int)(keys.keys[j] % WARP);
        pixels |= 1u << pixel;
        if (out.weights)
            out.weights[(int64_t)e * WARP + pixel] = grad.weights[keys.points[j]];
        j++;
    } while (j < grad.points && !starts_entry(keys.keys, j));
    out.pixels[e] = pixels;
    out.bins[e] = (int)(entry_key / (uint64_t)cells % (uint64_t)s.bins);
    out.cells[e] = (int)(entry_key % (uint64_t)cells);
}

// Thread i in [0, columns] finds the first entry of column i.
static __global__ void v4_column_entries_kernel(ColumnShape s, int64_t cells, const uint64_t *keys,
                                                int64_t points, const int *heads, int *starts) {
    int64_t i = thread_number();
    if (i <= s.count())
        starts[i] = heads[first_at_least(keys, points, (uint64_t)(i * s.bins * cells) * WARP)];
}

// The cells of the chunk that a warp fills: lane m holds cell m.
struct ChunkDraft {
    int cell, cells;

    // Returns the slot of cell `wanted`, which is added if it is new; -1: no slot is free.
    __device__ int slot_of(int wanted) {
        int lane = threadIdx.x % WARP;
        unsigned found = __ballot_sync(~0u, lane < cells && cell == wanted);
        if (found)
            return __ffs(found) - 1;
        if (cells == CHUNK_CELLS)
            return -1;
        if (lane == cells)
            cell = wanted;
        return cells++;
    }
};

struct ChunkArrays {
    int column_chunks, layers;
    int *counts;   // [columns]
    Chunk *chunks; // NULL: only count
    int *cells;
    uint8_t *slots; // [chunks][layers][32][16], filled with NO_SLOT
    float *weights; // [columns * bins][32][4], filled with 0; or NULL
};

// Writes the slots of a bin's entries [e, end). The finished chunk has all their cells. Each lane
// writes for its pixel.
static __device__ void put_slots(const ChunkArrays &out, const EntryArrays &from, int64_t number,
                                 int64_t weight_row, ChunkDraft draft, int first_bin, int e,
                                 int end) {
    int lane = threadIdx.x % WARP, layer = 0;
    for (; e < end; e++) {
        int slot = draft.slot_of(from.cells[e]);
        if (!(from.pixels[e] >> lane & 1))
            continue;
        int at = (from.bins[e] - first_bin) * out.layers + layer;
        out.slots[((number * out.layers + at / 16) * WARP + lane) * 16 + at % 16] = (uint8_t)slot;
        if (out.weights)
            out.weights[((weight_row + from.bins[e]) * WARP + lane) * WEIGHTED_LAYERS + layer] =
                from.weights ? from.weights[(int64_t)e * WARP + lane] : 1;
        layer++;
    }
}

// The range of bins and of entries of a chunk.
struct ChunkRange {
    int first_bin, end_bin, first_entry, end_entry;
};

// Writes the cells, the bins and the table of a finished chunk.
static __device__ void put_chunk(const ChunkArrays &out, const EntryArrays &from,
                                 const ColumnShape &s, int64_t column, int number_in_column,
                                 const ChunkDraft &draft, const ChunkRange &range) {
    int64_t number = column * out.column_chunks + number_in_column;
    int lane = threadIdx.x % WARP, next;
    if (lane < CHUNK_CELLS)
        out.cells[number * CHUNK_CELLS + lane] = lane < draft.cells ? draft.cell : NO_CELL;
    if (lane == 0)
        out.chunks[number] = {range.first_bin, range.end_bin - range.first_bin};
    for (int e = range.first_entry; e < range.end_entry; e = next) {
        for (next = e; next < range.end_entry && from.bins[next] == from.bins[e];)
            next++;
        put_slots(out, from, number, column * s.bins, draft, range.first_bin, e, next);
    }
}

// Returns the most points of a pixel among a bin's entries [e, end).
static __device__ int layers_of(const EntryArrays &from, int e, int end) {
    int layers = 0;
    for (; e < end; e++)
        layers += from.pixels[e] >> threadIdx.x % WARP & 1;
    return __reduce_max_sync(~0u, layers);
}

// Each warp cuts one column into chunks. A chunk takes bin after bin as long as the cells fit. The
// first bin that does not fit begins the next chunk.
static __global__ void v4_chunks_kernel(ColumnShape s, EntryArrays from, ChunkArrays out,
                                        ColumnFindings *findings) {
    int64_t column = thread_number() / WARP;
    if (column >= s.count())
        return;
    int e = from.starts[column], end = from.starts[column + 1], chunks = 0, layers = 0;
    ChunkRange range = {0, 0, e, e};
    ChunkDraft draft = {};
    auto close = [&](int end_bin) {
        range.end_bin = end_bin, range.end_entry = e;
        if (out.chunks)
            put_chunk(out, from, s, column, chunks, draft, range);
        chunks++, range = {end_bin, end_bin, e, e}, draft = {};
    };
    for (int bin = 0; bin < s.bins; bin++) {
        ChunkDraft before = draft;
        int next = e;
        while (next < end && from.bins[next] == bin && draft.slot_of(from.cells[next]) >= 0)
            next++;
        bool fits = next == end || from.bins[next] != bin;
        if (!fits && before.cells == 0) {
            findings->crowded = 1;
            return;
        }
        if (!fits || bin - range.first_bin == CHUNK_BINS) {
            draft = before;
            close(bin);
            bin--; // again, into the next chunk
            continue;
        }
        layers = max(layers, layers_of(from, e, next));
        e = next;
    }
    close(s.bins);
    if (threadIdx.x % WARP == 0) {
        atomicMax(&findings->column_chunks, chunks);
        atomicMax(&findings->layers, layers);
        if (out.counts)
            out.counts[column] = chunks;
    }
}
