/* SPDX-License-Identifier: MIT */
// From poses to entries, without points: the 16 rows of a slab at one depth fall into a few cells.
#pragma once

#include "kernels/cuda/v4/poses.cuh"
#include "kernels/cuda/v4/prepare.cuh"

// A found entry. `place` is its number among the entries of its cell, in the order of arrival.
struct FoundEntry {
    int cell, place;
    Entry entry;
};

// The entries of all cells. A map that needs more than `most` of them is made empty.
struct MovingEntries {
    int cells, most;
    int *total;         // entries found
    int *counts;        // [cells]
    const int *starts;  // [cells + 1]: prefix sums of counts
    FoundEntry *found;  // [most], in any order
    float *weights;     // [most * 16]: of a found entry's rows by place (v4_place); or NULL
    Entry *unsorted;    // [most], by cell
    int *unsorted_rows; // [most]: rows of weights; NULL without weights

    __device__ bool fits() const {
        return starts[cells] <= most;
    }
};

// Returns 16 rows as a mask by place: bit row becomes bit v4_place(row), a transposition of 4 x 4.
__device__ inline uint32_t rows_by_place(uint32_t rows) {
    uint32_t swap = (rows ^ rows >> 3) & 0x0a0a;
    rows ^= swap ^ swap << 3;
    swap = (rows ^ rows >> 6) & 0x00cc;
    return rows ^ swap ^ swap << 6;
}

// Returns where a warp puts `count` entries. The entries of a block lie together. All threads of
// the block call this function.
static __device__ int room_for(int count, int *total) {
    __shared__ int block_count, block_first;
    int lane = (int)threadIdx.x % WARP, before = 0;
    if (threadIdx.x == 0)
        block_count = 0;
    __syncthreads();
    if (lane == 0 && count)
        before = atomicAdd(&block_count, count);
    __syncthreads();
    if (threadIdx.x == 0 && block_count)
        block_first = atomicAdd(total, block_count);
    __syncthreads();
    return __shfl_sync(~0u, before, 0) + block_first;
}

// 16 lanes take the rows of a slab in one bin, and find the entries of each cell.
template <int N>
static __global__ void v4_moving_entries_kernel(MovingFrame frame, MovingEntries out) {
    const Frustums &f = frame.f;
    int lane = (int)threadIdx.x % WARP, row = lane % SLAB, bin, slab, w, count = 0;
    int64_t column = divide(thread_number() / SLAB, f.bins, &bin);
    int camera = (int)divide(divide(column, f.slabs, &slab), f.width, &w), h = slab * SLAB + row;
    CellTaker<N> taker = {0xffffu << (lane - row), {}, NO_CELL, -1, 0, false};
    if (camera < f.cameras && h < f.height)
        taker.mine = cells_of<N>(frame, ray_of(frame, camera, h, w), bin);
    for (CellTaker<N> counter = taker; counter.next();)
        count += __popc(__ballot_sync(~0u, counter.leads));
    int at = room_for(count, out.total);
    while (taker.next()) {
        unsigned leaders = __ballot_sync(~0u, taker.leads);
        int mine = at + __popc(leaders & ((1u << lane) - 1));
        at += __popc(leaders);
        if (taker.leads) {
            int place = atomicAdd(&out.counts[taker.cell], 1);
            uint32_t rows = rows_by_place(taker.took >> (lane - row) & 0xffff);
            if (mine < out.most)
                out.found[mine] = {taker.cell, place, {(int)column, (uint32_t)bin << 16 | rows}};
        }
        if (N > 1) {
            int leader = taker.took ? __ffs(taker.took) - 1 : lane;
            int entry = __shfl_sync(~0u, mine, leader);
            if (taker.took && entry < out.most)
                out.weights[(int64_t)entry * SLAB + v4_place(row)] =
                    taker.mine.weight_of(taker.neighbour);
        }
    }
}

// Puts the entries of a cell together.
static __global__ void v4_moving_gather_kernel(MovingEntries m) {
    int threads = (int)(gridDim.x * blockDim.x), count = m.fits() ? *m.total : 0;
    for (int i = (int)thread_number(); i < count; i += threads) {
        FoundEntry found = m.found[i];
        int at = m.starts[found.cell] + found.place;
        m.unsorted[at] = found.entry;
        if (m.unsorted_rows)
            m.unsorted_rows[at] = i;
    }
}

// Sorts each list by column and bin, by counting the smaller keys of each key. A thread sorts a
// short list, a warp a longer list. Also counts the cells of each strip, and notes the cells that
// have entries.
struct MovingCells {
    MovingEntries from;
    int slabs;
    Entry *entries;     // [most], by cell
    int *slots;         // [most]: row of weights of an entry; NULL: no weights
    int *entry_counts;  // [cells]
    int *strip_counts;
    uint32_t *occupied; // a bit a cell

    // A list has one entry of a column and bin: the rows in the code decide nothing.
    __device__ uint64_t key(int i) const {
        return (uint64_t)from.unsorted[i].column << 32 | from.unsorted[i].code;
    }
    __device__ void sort(int start, int n, int thread, int threads) const {
        for (int i = thread; i < n; i += threads) {
            uint64_t mine = key(start + i);
            int rank = start;
            for (int j = 0; j < n; j++)
                rank += key(start + j) < mine;
            entries[rank] = {(int)(mine >> 32), (uint32_t)mine};
            if (slots)
                slots[rank] = from.unsorted_rows[start + i];
        }
    }
};

static __global__ void v4_moving_cells_kernel(MovingCells m) {
    constexpr int SHORT = 6; // entries that a thread sorts alone
    int64_t cell = thread_number();
    int lane = (int)threadIdx.x % WARP, start = 0, n = 0;
    if (cell < m.from.cells && m.from.fits()) {
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
    warp_add(m.strip_counts, n > 0 ? v4_strip(m.entries[start].column, m.slabs) : 0, n > 0, 1);
    if (cell >= m.from.cells)
        return;
    m.entry_counts[cell] = n;
    if (lane == 0)
        m.occupied[cell / WARP] = word;
}
