// Kernels that build V4's maps. The maps are deterministic: what threads collect through atomic
// counters is counted or sorted afterwards, never used in order of arrival.
#pragma once

#include "kernels/cuda/v4/entries.cuh"

// ---- cells -------------------------------------------------------------------------------------

// cell_intervals[cell]: its interval or NO_CELL, which the array is filled with.
static __global__ void v4_cells_kernel(Pool pool, int largest, int *cell_intervals,
                                       Findings *findings) {
    __shared__ int classes[CLASSES], longest; // of the block, so that few atomics meet in memory
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

// Cells by class; those without a point, bin CLASSES, behind them.
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

// Cells without a point: bin 0.
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

// Intervals into strips, in any order, as keys to sort by. strip_counts are used up.
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

// A warp's place in the columns of a tile: lane m < 16 holds the m-th cell's entries. A step takes
// the smallest column that any cell still has. A cell with two depth bins in that column takes two
// steps.
struct ColumnCursor {
    int e, end, interval; // of this lane; no entries from lane 16 on

    __device__ ColumnCursor(int tile, const Pool &pool, const int *order, const int *entry_counts) {
        int lane = (int)threadIdx.x % WARP;
        int64_t i = (int64_t)tile * TILE_CELLS + lane;
        interval = lane < TILE_CELLS && i < pool.intervals ? order[i] : NO_CELL;
        e = interval == NO_CELL ? 0 : pool.starts[interval];
        end = interval == NO_CELL ? 0 : e + entry_counts[interval];
    }

    // The next step's column, or -1 after the last. *mine: this lane's entry in it, or -1.
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

// Tiles by class; those of class 0, which have a warp each, by steps, the most first: warps that
// share a block should end together.
struct TileSort {
    // By bin: steps in class 0, else portion + class.
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
    int *cells, *tiles; // tiles: [tiles] of the cell order, sorted by class
    int2 *slabs;
    uint32_t *entries;
    int *weight_rows;
    float *weights;
};

// The first of an owner's workers; of Shares::owners, one past the last, it is Shares::workers.
__device__ inline int first_worker_of(const Shares &shares, int owner) {
    int k = 0;
    while (owner < shares.first_owner[k])
        k++;
    return shares.first_worker[k] + ((owner - shares.first_owner[k]) << k);
}

// How workers are numbered: in the order in which their blocks start (v4_start_order).
struct Numbers {
    Shares shares;
    int blocks, round;

    __device__ int of(int worker) const {
        return v4_start_order(worker / TILE_WARPS, blocks, round) * TILE_WARPS +
               worker % TILE_WARPS;
    }
};

// A warp a tile. starts[at]: steps of the tiles before.
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
        out.work[numbers.of(first + lane)] = {at, other + lane, end, lane << 8 | parts};
    ColumnCursor cursor(out.tiles[at], pool, order, entry_counts);
    bool has_cell = cursor.interval != NO_CELL;
    if (lane < TILE_CELLS)
        out.cells[at * TILE_CELLS + lane] = has_cell ? pool.ranks_bev[cursor.e] : NO_CELL;
    // From an entry's place in `entries` to its number.
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
        int64_t step = i < parts ? numbers.of(first + i) : other + i - parts;
        put_entries(step);
        if (lane == 0) {
            int slab = column % f.slabs, w = column / f.slabs % f.width;
            int camera = column / f.slabs / f.width;
            int row = (camera * f.height + slab * SLAB) * f.width + w;
            int depth = (camera * f.bins * f.height + slab * SLAB) * f.width + w;
            out.slabs[step] = make_int2(row, transposed ? column * f.bins : depth);
        }
    }
    // The last block may have workers without a tile; they still read a step.
    for (int w = shares.workers; at == shares.owners - 1 && w < workers; w++) {
        put_entries(numbers.of(w)); // mine is -1
        if (lane == 0) {
            out.work[numbers.of(w)] = {NO_TILE};
            out.slabs[numbers.of(w)] = make_int2(0, 0);
        }
    }
}
