/* SPDX-License-Identifier: MIT */
// The kernels that build V4's maps. The maps are deterministic: values that threads collect by
// atomic counters are counted or sorted afterwards, never used in their order of arrival.
#pragma once

#include "kernels/cuda/v4/entries.cuh"

// ---- cells -------------------------------------------------------------------------------------

// Thread i writes cell_intervals[cell] of interval i; the array was filled with NO_CELL.
static __global__ void v4_cells_kernel(Pool pool, int largest, int *cell_intervals,
                                       Findings *findings) {
    __shared__ int classes[CLASSES], longest; // of the block: fewer atomics in memory
    int64_t i = thread_number();              // [0, intervals)
    if (threadIdx.x < CLASSES)
        classes[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        longest = 0;
    __syncthreads();
    if (i < pool.intervals) {
        cell_intervals[pool.ranks_bev[pool.starts[i]]] = (int)i;
        atomicMax(&longest, pool.lengths[i]);
        int portion = piece_points(pool.points, pool.channels);
        atomicAdd(&classes[class_of(pool.lengths[i], portion, largest)], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(&findings->longest, longest);
    if (threadIdx.x < CLASSES && classes[threadIdx.x])
        atomicAdd(&findings->piece_classes[threadIdx.x], classes[threadIdx.x]);
}

// Sorts cells by class. Cells without points, bin CLASSES, come last.
struct CellSort {
    Shares shares;
    const int *cell_intervals, *starts, *lengths;
    int portion, largest, first_empty;
    int4 *owners;

    __device__ int bin(int cell) const {
        int i = cell_intervals[cell];
        return i == NO_CELL ? CLASSES : class_of(lengths[i], portion, largest);
    }
    __device__ void put(int bin, int rank, int cell) const {
        int i = cell_intervals[cell];
        if (bin == CLASSES)
            owners[first_empty + rank] = make_int4(0, 0, cell, 1);
        else
            owners[shares.first_owner[bin] + rank] =
                make_int4(starts[i], lengths[i], cell, 1 << bin);
    }
};

// Collects the cells without points, as bin 0. `of` has `value` for a cell without points.
struct EmptySort {
    const int *of;
    int value;
    int *empty;

    __device__ int bin(int cell) const {
        return of[cell] == value ? 0 : 1;
    }
    __device__ void put(int, int rank, int cell) const {
        empty[rank] = cell;
    }
};

// ---- the order of cells: those that see the same columns are neighbours ------------------------

// The entries of all cells, in lists. List i belongs to interval i. In a moving map it belongs to
// cell i and may be empty.
struct CellLists {
    int lists;
    const Entry *entries;
    const int *starts, *counts; // [lists]

    __device__ int end(int i) const {
        return starts[i] + counts[i];
    }
};

// Puts the sort key of each list into its strip, in any order, and counts strip_counts down to 0.
static __global__ void v4_strip_kernel(CellLists lists, Frustums f, int columns,
                                       const int *strip_starts, int *strip_counts, uint64_t *keys) {
    int64_t i = thread_number();
    int count = i < lists.lists ? lists.counts[i] : 0, first = 0, strip = 0;
    if (count) {
        first = lists.entries[lists.starts[i]].column;
        strip = v4_strip(first, f.slabs);
    }
    int slot = warp_add(strip_counts, strip, count > 0, -1) - 1;
    if (!count)
        return;
    int last = lists.entries[lists.end((int)i) - 1].column;
    uint64_t key = v4_cell_key(first, last, count, f.slabs, columns);
    keys[strip_starts[strip] + slot] = key << 32 | (uint32_t)i;
}

// The lists that sort_lists() sorts here: the cells of each strip.
struct Strips {
    static constexpr bool FEW_AND_LONG = true;
    const int *starts; // [strips + 1]
    uint64_t *keys;
    int *order;

    __device__ int size(int strip) const {
        return starts[strip + 1] - starts[strip];
    }
    __device__ uint64_t *room(int strip) const {
        return keys + starts[strip];
    }
    __device__ void work(const Team &team, int strip, uint64_t *sorted, int n) const {
        int first = starts[strip];
        for (int i = team.thread; i < n; i += team.threads)
            sorted[i] = keys[first + i];
        sort_keys(sorted, n, team);
        for (int i = team.thread; i < n; i += team.threads)
            order[first + i] = (int)(uint32_t)sorted[i];
    }
};

// ---- tiles -------------------------------------------------------------------------------------

// The lists in the order of tiles: tile i takes 16 of them from 16 i on.
struct TileOrder {
    CellLists lists;
    const int *order;
    const int *count; // lists that are not empty

    __device__ int tiles() const {
        return (*count + TILE_CELLS - 1) / TILE_CELLS;
    }
};

// A warp's place among the steps of a tile: lane m < 16 holds the entries of cell m. A step takes
// the smallest column that any cell still has. A cell with two depth bins in that column takes two
// steps.
struct ColumnCursor {
    int e, end, list;         // of this lane; lanes from 16 on have no entries
    unsigned column, ahead;   // of this entry and of the one after it; ~0u: there is none
    const Entry *entries;

    __device__ ColumnCursor(int tile, const TileOrder &from) : entries(from.lists.entries) {
        int lane = (int)threadIdx.x % WARP;
        int64_t i = (int64_t)tile * TILE_CELLS + lane;
        list = lane < TILE_CELLS && i < *from.count ? from.order[i] : NO_CELL;
        e = list == NO_CELL ? 0 : from.lists.starts[list];
        end = list == NO_CELL ? 0 : from.lists.end(list);
        column = column_of(e), ahead = column_of(e + 1);
    }
    __device__ unsigned column_of(int entry) const {
        return entry < end ? (unsigned)entries[entry].column : ~0u;
    }

    // Returns the next step's column; -1: no more steps. *mine: this lane's entry in it, or -1.
    __device__ int next(int *mine) {
        unsigned smallest = __reduce_min_sync(~0u, column);
        bool takes = column == smallest && column != ~0u;
        *mine = takes ? e : -1;
        if (takes)
            column = ahead, ahead = column_of(++e + 1);
        return (int)smallest; // ~0u is -1
    }
};

static __global__ void v4_count_steps_kernel(TileOrder order, int *step_counts,
                                             Findings *findings) {
    int tile = (int)(thread_number() / WARP);
    if (tile >= order.tiles())
        return;
    ColumnCursor cursor(tile, order);
    int steps = 0, mine;
    while (cursor.next(&mine) >= 0)
        steps++;
    if (threadIdx.x % WARP == 0) {
        step_counts[tile] = steps;
        atomicAdd(&findings->steps, steps);
        atomicAdd(&findings->tile_steps[min(steps, MANY_STEPS)], 1);
    }
}

// The bins by which tiles are sorted: tiles of class 0 by steps, the most steps first, then the
// tiles of each class. Tiles of class 0 have a warp each, and the warps of a block should end
// together.
constexpr int STEP_BINS = portion_of(PORTIONS - 1), ABSENT_BIN = STEP_BINS + PAIR_CLASS + 1;

struct TileBins {
    int first[ABSENT_BIN + 1]; // the first tile of each bin
    int portion, largest;

    __host__ __device__ int bin(int steps) const {
        int k = class_of(steps, portion, largest);
        return k ? STEP_BINS + k : min(steps, STEP_BINS);
    }
    // tile_steps: tiles by number of steps, as in Findings; class 0 is the only one where a tile
    // may have more than STEP_BINS steps.
    __host__ __device__ void set(const Shares &shares, const int *tile_steps) {
        for (int k = 1; k <= PAIR_CLASS; k++)
            first[STEP_BINS + k] = shares.first_owner[k];
        first[ABSENT_BIN] = shares.owners;
        int at = shares.first_owner[0], most = largest ? portion : STEP_BINS;
        for (int steps = STEP_BINS; steps >= 0; steps--) {
            first[steps] = at;
            at += steps < most    ? tile_steps[steps]
                  : steps == most ? at_least(tile_steps, most)
                                  : 0;
        }
    }
    // Returns the tiles of class 0 in the bin of `most` steps.
    __host__ __device__ int at_least(const int *tile_steps, int most) const {
        int tiles = tile_steps[most];
        for (int steps = most + 1; !largest && steps <= MANY_STEPS; steps++)
            tiles += tile_steps[steps];
        return tiles;
    }
};

// Sorts tiles into bins. Tile numbers that a moving map does not use come last.
struct TileSort {
    TileBins fixed;
    const TileBins *moving; // NULL: `fixed`
    TileOrder order;
    const int *step_counts;
    int *tiles;

    __device__ const TileBins &bins() const {
        return moving ? *moving : fixed;
    }
    __device__ int bin(int tile) const {
        return tile < order.tiles() ? bins().bin(step_counts[tile]) : ABSENT_BIN;
    }
    __device__ void put(int bin, int rank, int tile) const {
        tiles[bins().first[bin] + rank] = tile;
    }
};

struct TileArrays {
    TileWork *work;
    int *cells, *tiles; // tiles: [tiles] numbers, sorted by class
    int2 *slabs;
    uint32_t *entries;
    int *weight_rows;
    float *weights;
};

// Returns the first worker of an owner; for the owner past the last one, the number of workers.
__device__ inline int first_worker_of(const Shares &shares, int owner) {
    int k = 0;
    while (owner < shares.first_owner[k])
        k++;
    return shares.first_worker[k] + ((owner - shares.first_owner[k]) << k);
}

// Workers are numbered in the order in which their blocks start (v4_start_order).
struct Numbers {
    Shares shares;
    int blocks, round;

    __device__ int of_worker(int worker) const {
        return v4_start_order(worker / TILE_WARPS, blocks, round) * TILE_WARPS +
               worker % TILE_WARPS;
    }
};

// The arrays from which the cells and the weights of a tile are read.
struct TileSource {
    TileOrder order;
    const int *ranks_bev; // cell of the point where a list starts; NULL: list i is cell i
    const int *weight_rows; // row of weights of an entry; NULL: `first_rows`
    const int *first_rows;  // row of a list's first entry; NULL: no weights
    bool transposed;

    __device__ int cell(int list) const {
        return ranks_bev ? ranks_bev[order.lists.starts[list]] : list;
    }
    __device__ bool weighted() const {
        return weight_rows || first_rows;
    }
    __device__ int weight_row(int list, int entry) const {
        return weight_rows ? weight_rows[entry]
                           : first_rows[list] + entry - order.lists.starts[list];
    }
};

// Each warp writes the map of one tile. starts[at]: the steps of all tiles before this tile.
// `moving`: the numbers of a moving map. Without `moving` the numbers are `fixed`.
static __global__ void v4_fill_kernel(TileSource source, Frustums f, TileArrays out,
                                      const __grid_constant__ Numbers fixed, const Numbers *moving,
                                      const int *starts) {
    int at = (int)(thread_number() / WARP), lane = (int)threadIdx.x % WARP;
    const Numbers &numbers = moving ? *moving : fixed;
    const Shares &shares = numbers.shares;
    int workers = numbers.blocks * TILE_WARPS;
    if (at >= shares.owners)
        return;
    int first = first_worker_of(shares, at), parts = first_worker_of(shares, at + 1) - first;
    int other = workers + starts[at] - first, end = workers + starts[at + 1] - first - parts;
    if (lane < parts)
        out.work[numbers.of_worker(first + lane)] = {at, other + lane, end, lane << 8 | parts};
    ColumnCursor cursor(out.tiles[at], source.order);
    bool has_cell = cursor.list != NO_CELL, weighted = source.weighted();
    if (lane < TILE_CELLS)
        out.cells[at * TILE_CELLS + lane] = has_cell ? source.cell(cursor.list) : NO_CELL;
    int mine, column;
    auto put_entries = [&](int64_t step) {
        if (lane >= TILE_CELLS)
            return;
        out.entries[step * TILE_CELLS + lane] = mine < 0 ? 0 : cursor.entries[mine].code;
        if (weighted)
            out.weight_rows[step * TILE_CELLS + lane] =
                mine < 0 ? 0 : source.weight_row(cursor.list, mine);
    };
    for (int i = 0; (column = cursor.next(&mine)) >= 0; i++) {
        int64_t step = i < parts ? numbers.of_worker(first + i) : other + i - parts;
        put_entries(step);
        if (lane == 0) {
            int slab = column % f.slabs, w = column / f.slabs % f.width;
            int camera = column / f.slabs / f.width;
            int row = (camera * f.height + slab * SLAB) * f.width + w;
            int depth = (camera * f.bins * f.height + slab * SLAB) * f.width + w;
            out.slabs[step] = make_int2(row, source.transposed ? column * f.bins : depth);
        }
    }
    // The last block may have workers without a tile, which still read a step.
    for (int w = shares.workers; at == shares.owners - 1 && w < workers; w++) {
        put_entries(numbers.of_worker(w)); // mine is -1
        if (lane == 0) {
            out.work[numbers.of_worker(w)] = {NO_TILE};
            out.slabs[numbers.of_worker(w)] = make_int2(0, 0);
        }
    }
}
