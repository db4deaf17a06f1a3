// From poses to entries, without points: the 16 rows of a slab at one depth fall into a few cells.
#pragma once

#include "kernels/cuda/v4/poses.cuh"
#include "kernels/cuda/v4/prepare.cuh"

// The lists of entries that are made of poses; list i is that of cell i.
struct MovingEntries {
    int cells;
    int *counts;       // [cells]: counted by the first pass, counted down by the second
    const int *starts; // [cells + 1]
    int most;          // room in the arrays below; a map that needs more is made empty
    uint64_t *keys;    // column << 40 | bin << 24 | place in the list
    uint16_t *rows;    // by place (v4_place)
    float *weights;    // [most * 16], or NULL
};

// Returns 16 rows as a mask by place: bit row becomes bit v4_place(row), a transposition of 4 x 4.
__device__ inline uint32_t rows_by_place(uint32_t rows) {
    uint32_t swap = (rows ^ rows >> 3) & 0x0a0a;
    rows ^= swap ^ swap << 3;
    swap = (rows ^ rows >> 6) & 0x00cc;
    return rows ^ swap ^ swap << 6;
}

// 16 lanes take the rows of a slab in one bin. The first pass (FILLS false) counts the entries of
// each cell, the second one writes them in any order.
template <bool FILLS>
static __global__ void v4_moving_entries_kernel(MovingFrame frame, MovingEntries out) {
    const Frustums &f = frame.f;
    int lane = (int)threadIdx.x % WARP, row = lane % SLAB, bin, slab, w;
    int64_t column = divide(thread_number() / SLAB, f.bins, &bin);
    int camera = (int)divide(divide(column, f.slabs, &slab), f.width, &w), h = slab * SLAB + row;
    CellTaker taker = {0xffffu << (lane - row), {}, NO_CELL, -1, 0, false};
    if (camera < f.cameras && h < f.height)
        taker.mine = cells_of(frame, camera, bin, h, w);
    if (FILLS && out.starts[out.cells] > out.most)
        return;
    while (taker.next()) {
        int at = 0;
        if (taker.leads && !FILLS)
            atomicAdd(&out.counts[taker.cell], 1);
        if (taker.leads && FILLS) {
            int place = atomicSub(&out.counts[taker.cell], 1) - 1;
            at = out.starts[taker.cell] + place;
            out.keys[at] = (uint64_t)column << 40 | (uint64_t)bin << 24 | (uint32_t)place;
            out.rows[at] = (uint16_t)rows_by_place(taker.took >> (lane - row) & 0xffff);
        }
        if (FILLS && out.weights) {
            int leader = taker.took ? __ffs(taker.took) - 1 : lane;
            at = __shfl_sync(~0u, at, leader);
            float weight = taker.neighbour >= 0 ? taker.mine.weight[taker.neighbour] : 0;
            if (taker.took)
                out.weights[(int64_t)at * SLAB + v4_place(row)] = weight;
        }
    }
}

// Sorts each list by column and bin, by counting the smaller keys of each: a thread sorts a short
// list, a warp a longer one. Also counts the cells of each strip, and notes which have entries.
struct MovingCells {
    MovingEntries from;
    int slabs;
    Entry *entries;     // [most], by cell
    int *slots;         // [most]: row of weights of an entry; NULL: no weights
    int *entry_counts;  // [cells]
    int *strip_counts;
    uint32_t *occupied; // a bit a cell

    __device__ void put(int start, int rank, uint64_t key) const {
        int slot = start + (int)(key & 0xffffff);
        entries[start + rank] = {(int)(key >> 40),
                                 (uint32_t)(key >> 24 & 0xffff) << 16 | from.rows[slot]};
        if (slots)
            slots[start + rank] = slot;
    }
    __device__ void sort(int start, int n, int thread, int threads) const {
        for (int i = thread; i < n; i += threads) {
            uint64_t key = from.keys[start + i];
            int rank = 0;
            for (int j = 0; j < n; j++)
                rank += from.keys[start + j] < key;
            put(start, rank, key);
        }
    }
};

static __global__ void v4_moving_cells_kernel(MovingCells m) {
    constexpr int SHORT = 6; // entries that a thread sorts alone
    int64_t cell = thread_number();
    int lane = (int)threadIdx.x % WARP, start = 0, n = 0;
    bool fits = m.from.starts[m.from.cells] <= m.from.most;
    if (cell < m.from.cells && fits) {
        start = m.from.starts[cell];
        n = m.from.starts[cell + 1] - start;
    }
    if (n <= SHORT)
        m.sort(start, n, 0, 1);
    for (unsigned others = __ballot_sync(~0u, n > SHORT); others; others &= others - 1) {
        int owner = __ffs(others) - 1;
        m.sort(__shfl_sync(~0u, start, owner), __shfl_sync(~0u, n, owner), lane, WARP);
    }
    unsigned word = __ballot_sync(~0u, n > 0);
    __syncwarp(); // other lanes may have written this lane's entries
    if (cell >= m.from.cells)
        return;
    m.entry_counts[cell] = n;
    if (lane == 0)
        m.occupied[cell / WARP] = word;
    if (n > 0)
        atomicAdd(&m.strip_counts[v4_strip(m.entries[start].column, m.slabs)], 1);
}
