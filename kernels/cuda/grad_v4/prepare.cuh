// Kernels that build the map of columns from the points.
#pragma once

#include "kernels/cuda/grad_v4/columns.cuh"

struct ColumnFindings {
    int irregular; // a depth and a feature of one point are of different pixels
    int crowded;   // a bin of a column has more than 16 cells
};

// A point's key: column, bin, cell and pixel, from the highest bits to the lowest.
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
    int64_t column = (camera * s.slabs + h / s.rows) * s.strips + w / s.cols;
    int pixel = h % s.rows * s.cols + w % s.cols;
    keys.keys[t] =
        (uint64_t)((column * s.bins + bin) * cells + grad.ranks_bev[t]) * WARP + pixel;
    keys.points[t] = (int)t;
}

// Whether sorted point i starts an entry: another bin or cell, or the same point once more.
static __device__ bool starts_entry(const uint64_t *keys, int64_t i) {
    return i == 0 || keys[i] / WARP != keys[i - 1] / WARP || keys[i] == keys[i - 1];
}

// Thread i in [0, points]: 1 where an entry starts.
static __global__ void v4_heads_kernel(const uint64_t *keys, int64_t points, int *heads) {
    int64_t i = thread_number();
    if (i <= points)
        heads[i] = i < points && starts_entry(keys, i);
}

// Thread i: the entry that starts at point i, if one does; its number is heads[i], the entries
// before it. Its slot is not known yet.
static __global__ void v4_entries_kernel(Grad grad, ColumnShape s, int64_t cells, GradKeys keys,
                                         const int *heads, Entry *entries, int *entry_cells,
                                         float *weights) {
    int64_t i = thread_number();
    if (i >= grad.points || !starts_entry(keys.keys, i))
        return;
    int e = heads[i];
    uint64_t bundle = keys.keys[i] / WARP;
    uint32_t pixels = 0;
    int64_t j = i;
    do {
        int pixel = (int)(keys.keys[j] % WARP);
        pixels |= 1u << pixel;
        if (weights)
            weights[(int64_t)e * WARP + pixel] = grad.weights[keys.points[j]];
        j++;
    } while (j < grad.points && !starts_entry(keys.keys, j));
    entries[e] = {pixels, (uint16_t)(bundle / (uint64_t)cells % (uint64_t)s.bins), 0};
    entry_cells[e] = (int)(bundle % (uint64_t)cells);
}

// Thread i in [0, columns]: the first entry of column i.
static __global__ void v4_column_entries_kernel(ColumnShape s, int64_t cells, const uint64_t *keys,
                                                int64_t points, const int *heads, int *starts) {
    int64_t i = thread_number();
    if (i <= s.count())
        starts[i] = heads[lower_bound(keys, points, (uint64_t)(i * s.bins * cells) * WARP)];
}

// What a warp knows while it cuts a column into chunks: lane m < 16 holds the m-th cell.
struct ChunkDraft {
    int cell, used;

    // The slot of `wanted`, which is added if it is new; -1: no slot is free.
    __device__ int slot_of(int wanted) {
        int lane = threadIdx.x % WARP;
        unsigned found = __ballot_sync(~0u, lane < used && cell == wanted);
        if (found)
            return __ffs(found) - 1;
        if (used == CHUNK_CELLS)
            return -1;
        if (lane == used)
            cell = wanted;
        return used++;
    }
};

struct ChunkArrays {
    const int *entry_starts, *entry_cells; // [columns + 1], [entries]
    Entry *entries;
    int *counts;    // [columns + 1]: chunks of a column; after grad_scan: those before it
    Chunk *chunks;  // NULL: only count
    int *cells;
};

// A warp a column: puts bin after bin into a chunk as long as its cells fit.
static __global__ void v4_chunks_kernel(ColumnShape s, ChunkArrays out, ColumnFindings *findings) {
    int64_t column = thread_number() / WARP;
    int lane = threadIdx.x % WARP;
    if (column >= s.count())
        return;
    int e = out.entry_starts[column], end = out.entry_starts[column + 1];
    int first_bin = 0, first_entry = e, chunks = 0, at = out.chunks ? out.counts[column] : 0;
    ChunkDraft draft = {NO_CELL, 0};
    auto close = [&](int end_bin) {
        if (out.chunks && lane < CHUNK_CELLS)
            out.cells[(int64_t)(at + chunks) * CHUNK_CELLS + lane] =
                lane < draft.used ? draft.cell : NO_CELL;
        if (out.chunks && lane == 0)
            out.chunks[at + chunks] = {first_bin, end_bin, first_entry, e};
        chunks++, first_bin = end_bin, first_entry = e, draft = {NO_CELL, 0};
    };
    while (e < end) {
        ChunkDraft before = draft;
        int bin = out.entries[e].bin, next = e, slot = 0;
        for (; next < end && out.entries[next].bin == bin; next++) {
            slot = draft.slot_of(out.entry_cells[next]);
            if (slot < 0)
                break;
            if (out.chunks && lane == 0)
                out.entries[next].slot = (uint16_t)slot;
        }
        if (slot < 0 && before.used == 0) {
            findings->crowded = 1;
            break;
        }
        if (slot < 0) {
            draft = before;
            close(bin);
        } else {
            e = next;
        }
    }
    close(s.bins);
    if (!out.chunks && lane == 0)
        out.counts[column] = chunks;
}
