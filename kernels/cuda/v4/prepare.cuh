// Kernels that build V4's maps. The maps are deterministic: what threads collect through atomic
// counters is counted or sorted afterwards, never used in order of arrival.
#pragma once

#include "kernels/cuda/v4/pieces.cuh"
#include "kernels/cuda/v4/tiles.cuh"
#include "kernels/cuda/v4/tools.cuh"

// ---- what the host reads back ------------------------------------------------------------------

constexpr int LARGEST_PORTION = portion_of(PORTIONS - 1);
// From so many steps on, a tile is in the largest class whatever the portion.
constexpr int MANY_STEPS = (LARGEST_PORTION << (TILE_LARGEST - 1)) + 1;

struct Findings {
    int irregular;                  // a depth and a feature of one point are of different pixels
    int longest;                    // points of the fullest cell
    int piece_classes[CLASSES];     // cells by class
    int entries, steps;             // in all; entries of weighted maps only
    int tile_steps[MANY_STEPS + 1]; // tiles of so many steps; the last: or more
};

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
        atomicAdd(&classes[class_of(pool.lengths[i], PIECE_POINTS, largest)], 1);
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
    int largest, first_empty;
    int4 *owners;

    __device__ int bin(int cell) const {
        int i = cell_intervals[cell];
        return i == NO_CELL ? CLASSES : class_of(lengths[i], PIECE_POINTS, largest);
    }
    __device__ void put(int bin, int rank, int cell) const {
        int i = cell_intervals[cell];
        if (bin == CLASSES)
            owners[first_empty + rank] = make_int4(0, 0, cell, 0);
        else
            owners[shares.first_owner[bin] + rank] = make_int4(starts[i], lengths[i], cell, 0);
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

// ---- points: their place in transposed depth, and entries ---------------------------------------

struct Entry {
    int column;    // slab of a feature column: (camera * w + w) * slabs + slab
    uint32_t code; // bin << 16 | rows
};

// Whether a sorted key starts an entry: another bin or slab, or the same point once more.
static __device__ bool starts_entry(const uint64_t *keys, int i) {
    if (i == 0)
        return true;
    uint32_t place = (uint32_t)(keys[i] >> 32), before = (uint32_t)(keys[i - 1] >> 32);
    return place / SLAB != before / SLAB || place == before;
}

// The points of a cell as a list to sort: place << 32 | number in the cell. Places of one cell are
// in the order that tiles want: by column slab, then bin, then image row.
struct CellPoints {
    Pool pool;
    Frustums f;
    Findings *findings;
    Entry *entries;     // of a cell from where its points start; at most one a point
    int *entry_counts;  // [intervals]
    uint16_t *slots;    // [points]: entry of the cell << 4 | row; NULL: no weights
    int *column_counts; // cells by the column of their first entry

    // Cells too full to sort get an entry of nothing; the map is not used then.
    __device__ int size(int interval) const {
        int n = pool.lengths[interval];
        return n <= LONGEST_SORTED ? n : 0;
    }
    // Place of the point in (camera, w, slab, bin, 16).
    __device__ uint64_t key(int interval, int i) const {
        int64_t t = (int64_t)pool.starts[interval] + i;
        int w, h, bin;
        int64_t rest = divide(pool.ranks_depth[t], f.width, &w);
        rest = divide(rest, f.height, &h);
        int64_t camera = divide(rest, f.bins, &bin);
        if ((camera * f.height + h) * f.width + w != pool.ranks_feat[t])
            findings->irregular = 1;
        int64_t slab = (camera * f.width + w) * f.slabs + h / SLAB;
        return (uint64_t)((slab * f.bins + bin) * SLAB + h % SLAB) << 32 | (uint32_t)i;
    }
    __device__ uint64_t *room(int) const {
        return NULL; // BLOCK_KEYS are enough
    }
    // The entry that starts at key i; `number` of the cell.
    __device__ void put_entry(int64_t first, int number, const uint64_t *keys, int i, int n) const {
        uint32_t bundle = (uint32_t)(keys[i] >> 32) / SLAB, rows = 0;
        do {
            int row = (int)(keys[i] >> 32) % SLAB;
            rows |= 1u << row;
            if (slots)
                slots[first + (uint32_t)keys[i]] = (uint16_t)(number * SLAB + row);
            i++;
        } while (i < n && !starts_entry(keys, i));
        uint32_t column = bundle / (uint32_t)f.bins;
        entries[first + number] = {(int)column, (bundle - column * (uint32_t)f.bins) << 16 | rows};
    }
    __device__ void put(int interval, const uint64_t *keys, int n) const {
        int64_t first = pool.starts[interval];
        int lane = (int)threadIdx.x % WARP, count = 0;
        for (int base = 0; base < n; base += WARP) {
            int i = base + lane;
            bool head = i < n && starts_entry(keys, i);
            unsigned heads = __ballot_sync(~0u, head);
            if (head)
                put_entry(first, count + __popc(heads & ((1u << lane) - 1)), keys, i, n);
            count += __popc(heads);
        }
        if (lane)
            return;
        if (count == 0)
            entries[first] = {};
        entry_counts[interval] = max(count, 1);
        int column = count ? (int)((uint32_t)(keys[0] >> 32) / SLAB / (uint32_t)f.bins) : 0;
        atomicAdd(&column_counts[column], 1);
    }
};
static_assert(LONGEST_SORTED <= BLOCK_KEYS && LONGEST_SORTED * SLAB <= 65536);

// Weights row by row, 16 an entry (zeroed before). A thread a point.
static __global__ void v4_weights_kernel(Pool pool, const int *cell_intervals,
                                         const int *entry_starts, const uint16_t *slots,
                                         float *weights) {
    int64_t t = thread_number(); // [0, points)
    if (t >= pool.points)
        return;
    int64_t entry = entry_starts[cell_intervals[pool.ranks_bev[t]]];
    weights[entry * SLAB + slots[t]] = pool.weights[t];
}

// ---- the order of cells: those that see the same columns are neighbours ------------------------

// Intervals into buckets by the column of their first entry, in any order, as keys to sort by: last
// column, first bin and number. column_counts are used up.
static __global__ void v4_bucket_kernel(Pool pool, Frustums f, const Entry *entries,
                                        const int *entry_counts, const int *bucket_starts,
                                        int *column_counts, uint64_t *bucket_keys) {
    int64_t i = thread_number();
    if (i >= pool.intervals)
        return;
    Entry first = entries[pool.starts[i]];
    int last = entries[pool.starts[i] + entry_counts[i] - 1].column;
    int slot = atomicSub(&column_counts[first.column], 1) - 1;
    uint32_t columns_and_bin = (uint32_t)last * (uint32_t)f.bins + (first.code >> 16);
    bucket_keys[bucket_starts[first.column] + slot] = (uint64_t)columns_and_bin << 32 | (uint32_t)i;
}

struct Buckets {
    const int *starts; // [columns + 1]
    uint64_t *keys;
    int *order;

    __device__ int size(int bucket) const {
        return starts[bucket + 1] - starts[bucket];
    }
    __device__ uint64_t key(int bucket, int i) const {
        return keys[starts[bucket] + i];
    }
    __device__ uint64_t *room(int bucket) const {
        return keys + starts[bucket];
    }
    __device__ void put(int bucket, const uint64_t *sorted, int n) const {
        for (int i = (int)threadIdx.x % WARP; i < n; i += WARP)
            order[starts[bucket] + i] = (int)(uint32_t)sorted[i];
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
    int first[LARGEST_PORTION + TILE_LARGEST + 1]; // by bin: steps in class 0, else portion + class
    const int *step_counts;
    int portion, *tiles;

    __device__ int bin(int tile) const {
        int steps = step_counts[tile], k = class_of(steps, portion, TILE_LARGEST);
        return k ? portion + k : steps;
    }
    __device__ void put(int bin, int rank, int tile) const {
        tiles[first[bin] + rank] = tile;
    }
};

static inline TileSort tile_sort(const Shares &shares, const int tile_steps[], int portion,
                                 const int *step_counts, int *tiles) {
    TileSort sort = {{}, step_counts, portion, tiles};
    for (int k = 1; k <= TILE_LARGEST; k++)
        sort.first[portion + k] = shares.first_owner[k];
    for (int steps = portion, at = shares.first_owner[0]; steps >= 0; steps--) {
        sort.first[steps] = at;
        at += tile_steps[steps];
    }
    return sort;
}

struct TileArrays {
    int *starts, *cells, *tiles; // tiles: [tiles] of the cell order, sorted by class
    int2 *slabs;
    uint32_t *entries;
    int *weight_rows;
    float *weights;
};

static __global__ void v4_fill_kernel(Pool pool, Frustums f, TileArrays out, int tiles,
                                      const int *order, const int *entry_counts,
                                      const int *entry_starts, const Entry *entries,
                                      bool transposed) {
    int at = (int)(thread_number() / WARP), lane = (int)threadIdx.x % WARP;
    if (at >= tiles)
        return;
    ColumnCursor cursor(out.tiles[at], pool, order, entry_counts);
    bool has_cell = cursor.interval != NO_CELL;
    if (lane < TILE_CELLS)
        out.cells[at * TILE_CELLS + lane] = has_cell ? pool.ranks_bev[cursor.e] : NO_CELL;
    // From an entry's place in `entries` to its number.
    int shift = pool.weights && has_cell ? entry_starts[cursor.interval] - cursor.e : 0;
    int mine, column;
    for (int64_t step = out.starts[at]; (column = cursor.next(entries, &mine)) >= 0; step++) {
        if (lane < TILE_CELLS) {
            out.entries[step * TILE_CELLS + lane] = mine < 0 ? 0 : entries[mine].code;
            if (pool.weights)
                out.weight_rows[step * TILE_CELLS + lane] = mine < 0 ? 0 : mine + shift;
        }
        if (lane == 0) {
            int slab = column % f.slabs, w = column / f.slabs % f.width;
            int camera = column / f.slabs / f.width;
            int row = (camera * f.height + slab * SLAB) * f.width + w;
            int depth = (camera * f.bins * f.height + slab * SLAB) * f.width + w;
            out.slabs[step] = make_int2(row, transposed ? column * f.bins : depth);
        }
    }
}
