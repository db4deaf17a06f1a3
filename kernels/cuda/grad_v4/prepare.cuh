// Kernels that build the map of columns from the points.
#pragma once

#include "kernels/cuda/grad_v4/columns.cuh"

struct ColumnFindings {
    int irregular; // a depth and a feature of one point are of different pixels
    int crowded;   // a bin of a column has more than 16 cells or 32 entries
    int column_chunks; // of the column that has most
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

// The entries of all columns, by column, bin and cell.
struct EntryArrays {
    uint32_t *pixels;
    int *bins, *cells, *starts; // [entries], [entries], [columns + 1]
    float *weights;             // [entries * 32], or NULL
};

// Thread i: the entry that starts at point i, if one does; its number is heads[i], the entries
// before it.
static __global__ void v4_entries_kernel(Grad grad, ColumnShape s, int64_t cells, GradKeys keys,
                                         const int *heads, EntryArrays out) {
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
        if (out.weights)
            out.weights[(int64_t)e * WARP + pixel] = grad.weights[keys.points[j]];
        j++;
    } while (j < grad.points && !starts_entry(keys.keys, j));
    out.pixels[e] = pixels;
    out.bins[e] = (int)(bundle / (uint64_t)cells % (uint64_t)s.bins);
    out.cells[e] = (int)(bundle % (uint64_t)cells);
}

// Thread i in [0, columns]: the first entry of column i.
static __global__ void v4_column_entries_kernel(ColumnShape s, int64_t cells, const uint64_t *keys,
                                                int64_t points, const int *heads, int *starts) {
    int64_t i = thread_number();
    if (i <= s.count())
        starts[i] = heads[lower_bound(keys, points, (uint64_t)(i * s.bins * cells) * WARP)];
}

// What a warp knows of the chunk that it fills: lane m holds cell m and entry m.
struct ChunkDraft {
    int cell, cells, entries;
    int slot, bin;
    uint32_t pixels;

    // The slot of `wanted`, which is added if it is new; -1: no slot is free.
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
    // Adds entry e; false: no room.
    __device__ bool add(const EntryArrays &from, int e) {
        int at = entries == CHUNK_ENTRIES ? -1 : slot_of(from.cells[e]);
        if (at < 0)
            return false;
        if ((int)threadIdx.x % WARP == entries)
            slot = at, bin = from.bins[e], pixels = from.pixels[e];
        entries++;
        return true;
    }
    // This lane's entry with its fields, relative to the chunk.
    __device__ Entry packed(int first_bin) const {
        int lane = threadIdx.x % WARP, rank = 0, from = 0;
        bool last = true;
        for (int i = 0; i < entries; i++) {
            int other = __shfl_sync(~0u, slot, i);
            rank += other < slot || (other == slot && i < lane);
            last = last && !(other == slot && i > lane);
        }
        for (int i = 0; i < entries; i++)
            if (__shfl_sync(~0u, rank, i) == lane)
                from = i;
        bool exists = lane < entries;
        return {exists ? pixels : 0,
                exists ? Entry::pack(from, slot, last, bin - first_bin) : 0};
    }
};

struct ChunkArrays {
    int column_chunks;
    Chunk *chunks; // NULL: only count
    int *cells;
    Entry *entries;
};

// Writes a finished chunk.
static __device__ void put_chunk(const ChunkArrays &out, int64_t at, const ChunkDraft &draft,
                                 int first_bin, int end_bin, int first_entry) {
    int lane = threadIdx.x % WARP;
    out.entries[at * CHUNK_ENTRIES + lane] = draft.packed(first_bin);
    if (lane < CHUNK_CELLS)
        out.cells[at * CHUNK_CELLS + lane] = lane < draft.cells ? draft.cell : NO_CELL;
    if (lane == 0)
        out.chunks[at] = {first_bin, end_bin - first_bin, (int16_t)draft.entries,
                          (int16_t)draft.cells, first_entry};
}

// A warp a column: puts bin after bin into a chunk as long as its cells and entries fit.
static __global__ void v4_chunks_kernel(ColumnShape s, EntryArrays from, ChunkArrays out,
                                        ColumnFindings *findings) {
    int64_t column = thread_number() / WARP;
    if (column >= s.count())
        return;
    int e = from.starts[column], end = from.starts[column + 1];
    int first_bin = 0, first_entry = e, chunks = 0;
    ChunkDraft draft = {};
    auto close = [&](int end_bin) {
        if (out.chunks)
            put_chunk(out, column * out.column_chunks + chunks, draft, first_bin, end_bin,
                      first_entry);
        chunks++, first_bin = end_bin, first_entry = e, draft = {};
    };
    while (e < end) {
        ChunkDraft before = draft;
        int bin = from.bins[e], next = e;
        while (next < end && from.bins[next] == bin && draft.add(from, next))
            next++;
        bool fits = next == end || from.bins[next] != bin;
        if (!fits && before.entries == 0) {
            findings->crowded = 1;
            break;
        }
        if (fits) {
            e = next;
        } else {
            draft = before;
            close(bin);
        }
    }
    close(s.bins);
    if (threadIdx.x % WARP == 0)
        atomicMax(&findings->column_chunks, chunks);
}
