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

// Collects the cells without points: they are bin 0.
struct EmptySort {
    const int *cell_intervals;
    int *empty;

    __device__ int bin(int cell) const {
        return cell_intervals[cell] == NO_CELL ? 0 : 1;
    }
    __device__ void put(int, int rank, int cell) const {
        empty[rank] = cell;
    }
};

// ---- the order of cells: those that see the same columns are neighbours ------------------------

// Puts sort keys of intervals into their strips, in any order; strip_counts end as 0.
static __global__ void v4_strip_kernel(Pool pool, Frustums f, int columns, const Entry *entries,
                                       const int *entry_counts, const int *strip_starts,
                                       int *strip_counts, uint64_t *keys) {
    int64_t i = thread_number();
    if (i >= pool.intervals)
        return;
    int count = entry_counts[i], first = entries[pool.starts[i]].column;
    int last = entries[pool.starts[i] + count - 1].column, strip = v4_strip(first, f.slabs);
    int slot = atomicSub(&strip_counts[strip], 1) - 1;
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

// A warp's place among the steps of a tile: lane m < 16 holds the entries of cell m. A step takes
// the smallest column that any cell still has. A cell with two depth bins in that column takes two
// steps.
struct ColumnCursor {
    int e, end, interval; // of this lane; lanes from 16 on have no entries

    __device__ ColumnCursor(int tile, const Pool &pool, const int *order, const int *entry_counts) {
        int lane = (int)threadIdx.x % WARP;
        int64_t i = (int64_t)tile * TILE_CELLS + lane;
        interval = lane < TILE_CELLS && i < pool.intervals ? order[i] : NO_CELL;
        e = interval == NO_CELL ? 0 : pool.starts[interval];
        end = interval == NO_CELL ? 0 : e + entry_counts[interval];
    }

    // Returns the next step's column; -1: no more steps. *mine: this lane's entry in it, or -1.
    __device__ int next(const Entry *entries, int *mine) {
        unsigned column = e < end ? (unsigned)entries[e].column : ~0u;
        unsigned smallest = __reduce_min_sync(~0u, column);
        bool takes = column == smallest && column != ~0u;
        *mine = takes ? e : -1;
        e += takes;
        return (int)smallest; // ~0u is -1
    }
};

static __global__ void v4_count_steps_kernel(Pool pool, int tiles, const int *order,
                                             const int *entry_counts, const Entry *entries,
                                             int *step_counts, Findings *findings) {
    int tile = (int)(thread_number() / WARP);
    if (tile >= tiles)
        return;
    ColumnCursor cursor(tile, pool, order, entry_counts);
    int steps = 0, mine;
    while (cursor.next(entries, &mine) >= 0)
        steps++;
    if (threadIdx.x % WARP == 0) {
        step_counts[tile] = steps;
        atomicAdd(&findings->steps, steps);
        atomicAdd(&findings->tile_steps[min(steps, MANY_STEPS)], 1);
    }
}

// Sorts tiles by class, and tiles of class 0 by steps, the most steps first. They have a warp each,
// and the warps of a block should end together.
struct TileSort {
    // The first tile of each bin. The bin is the number of steps in class 0, else portion + class.
    int first[portion_of(PORTIONS - 1) + PAIR_CLASS + 1];
    const int *step_counts;
    int portion, largest, *tiles;

    __device__ int bin(int tile) const {
        int steps = step_counts[tile], k = class_of(steps, portion, largest);
        return k ? portion + k : steps;
    }
    __device__ void put(int bin, int rank, int tile) const {
        tiles[first[bin] + rank] = tile;
    }
};

static inline TileSort tile_sort(const Shares &shares, const int tile_steps[],
                                 const V4Schedule &schedule, const int *step_counts, int *tiles) {
    TileSort sort = {{}, step_counts, schedule.portion, schedule.largest, tiles};
    for (int k = 1; k <= schedule.largest; k++)
        sort.first[schedule.portion + k] = shares.first_owner[k];
    for (int steps = schedule.portion, at = shares.first_owner[0]; steps >= 0; steps--) {
        sort.first[steps] = at;
        at += tile_steps[steps];
    }
    return sort;
}

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

// Each warp writes the map of one tile. starts[at]: the steps of all tiles before it.
static __global__ void v4_fill_kernel(Pool pool, Frustums f, TileArrays out, Numbers numbers,
                                      const int *starts, const int *order, const int *entry_counts,
                                      const int *entry_starts, const Entry *entries,
                                      bool transposed) {
    int at = (int)(thread_number() / WARP), lane = (int)threadIdx.x % WARP;
    const Shares &shares = numbers.shares;
    int workers = numbers.blocks * TILE_WARPS;
    if (at >= shares.owners)
        return;
    int first = first_worker_of(shares, at), parts = first_worker_of(shares, at + 1) - first;
    int other = workers + starts[at] - first, end = workers + starts[at + 1] - first - parts;
    if (lane < parts)
        out.work[numbers.of_worker(first + lane)] = {at, other + lane, end, lane << 8 | parts};
    ColumnCursor cursor(out.tiles[at], pool, order, entry_counts);
    bool has_cell = cursor.interval != NO_CELL;
    if (lane < TILE_CELLS)
        out.cells[at * TILE_CELLS + lane] = has_cell ? pool.ranks_bev[cursor.e] : NO_CELL;
    // An entry's index in `entries` plus `shift` is its row of weights.
    int shift = pool.weights && has_cell ? entry_starts[cursor.interval] - cursor.e : 0;
    int mine, column;
    auto put_entries = [&](int64_t step) {
        if (lane >= TILE_CELLS)
            return;
        out.entries[step * TILE_CELLS + lane] = mine < 0 ? 0 : entries[mine].code;
        if (pool.weights)
            out.weight_rows[step * TILE_CELLS + lane] = mine < 0 ? 0 : mine + shift;
    };
    for (int i = 0; (column = cursor.next(entries, &mine)) >= 0; i++) {
        int64_t step = i < parts ? numbers.of_worker(first + i) : other + i - parts;
        put_entries(step);
        if (lane == 0) {
            int slab = column % f.slabs, w = column / f.slabs % f.width;
            int camera = column / f.slabs / f.width;
            int row = (camera * f.height + slab * SLAB) * f.width + w;
            int depth = (camera * f.bins * f.height + slab * SLAB) * f.width + w;
            out.slabs[step] = make_int2(row, transposed ? column * f.bins : depth);
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
