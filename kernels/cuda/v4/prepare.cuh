// Kernels that build V4's maps, and their tools: memory, prefix sums, a stable partition. The maps
// are deterministic: what threads collect through atomic counters is counted or sorted afterwards,
// never used in order of arrival.
#pragma once

#include "kernels/cuda/v4/pieces.cuh"
#include "kernels/cuda/v4/tiles.cuh"

// ---- memory: many arrays from one allocation ---------------------------------------------------

// Run a layout once with base NULL to learn its size, then with the memory.
struct Arena {
    char *base;
    size_t used;

    template <typename T> void take(T **array, int64_t count) {
        *array = base ? (T *)(base + used) : NULL;
        used += ((size_t)count * sizeof(T) + 255) / 256 * 256;
    }
};

template <typename Layout>
static inline bool arena_allocate(void **memory, Layout layout, Err *err) {
    Arena arena = {};
    layout(arena);
    if (!cuda_allocate(memory, arena.used, "v4", err))
        return false;
    arena = {(char *)*memory, 0};
    layout(arena);
    return true;
}

template <typename T> static inline bool read_back(T *value, const T *device, Err *err) {
    TRY_CUDA("v4", cudaMemcpy(value, device, sizeof *value, cudaMemcpyDeviceToHost));
    return true;
}

// ---- two tools ---------------------------------------------------------------------------------

constexpr int TOOL_THREADS = 1024;

// Exclusive prefix sums of the block's values; *total receives their sum.
static __device__ int block_prefix(int value, int *total) {
    __shared__ int warp_sums[TOOL_THREADS / WARP];
    int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, sum = value;
    for (int step = 1; step < WARP; step *= 2) {
        int below = __shfl_up_sync(~0u, sum, step);
        sum += lane >= step ? below : 0;
    }
    __syncthreads(); // the call before this one has read warp_sums
    if (lane == WARP - 1)
        warp_sums[warp] = sum;
    __syncthreads();
    int before = 0;
    *total = 0;
    for (int i = 0; i < TOOL_THREADS / WARP; i++) {
        before += i < warp ? warp_sums[i] : 0;
        *total += warp_sums[i];
    }
    return before + sum - value;
}

// starts[i] = counts[order[i]] + ... of all before i, i in [0, n]; one block. order may be NULL.
static __global__ void __launch_bounds__(TOOL_THREADS)
    v4_scan_kernel(const int *counts, const int *order, int n, int *starts) {
    constexpr int EACH = 8;
    int before = 0, total;
    for (int base = 0; base < n; base += EACH * TOOL_THREADS) {
        int values[EACH], sum = 0, first = base + (int)threadIdx.x * EACH;
        for (int j = 0; j < EACH; j++) {
            int i = first + j;
            values[j] = i < n ? counts[order ? order[i] : i] : 0;
            sum += values[j];
        }
        int at = before + block_prefix(sum, &total);
        for (int j = 0; j < EACH && first + j < n; j++) {
            starts[first + j] = at;
            at += values[j];
        }
        before += total;
    }
    if (threadIdx.x == 0)
        starts[n] = before;
}

// Block b calls sort.put(b, rank, i) for all i in [0, n) with sort.bin(i) == b, rank counting them
// in order.
template <typename Sort>
__global__ void __launch_bounds__(TOOL_THREADS)
    v4_partition_kernel(int n, const __grid_constant__ Sort sort) {
    int before = 0, total;
    for (int base = 0; base < n; base += TOOL_THREADS) {
        int i = base + (int)threadIdx.x;
        bool mine = i < n && sort.bin(i) == (int)blockIdx.x;
        int rank = before + block_prefix(mine, &total);
        if (mine)
            sort.put((int)blockIdx.x, rank, i);
        before += total;
    }
}

// ---- what the host reads back ------------------------------------------------------------------

constexpr int LARGEST_PORTION = portion_of(PORTIONS - 1);

struct Findings {
    int irregular;              // a depth and a feature of one point are of different pixels
    int longest;                // points of the fullest cell
    int piece_classes[CLASSES]; // cells by class
    int tile_classes[PORTIONS][CLASSES]; // tiles by class, for every portion
    int tile_steps[LARGEST_PORTION + 1]; // tiles of so many steps
};

// ---- cells -------------------------------------------------------------------------------------

// cell_intervals[cell]: its interval or NO_CELL, which the array is filled with.
static __global__ void v4_cells_kernel(Pool pool, int largest, int *cell_intervals,
                                       Findings *findings) {
    int64_t i = thread_number(); // [0, intervals)
    if (i >= pool.intervals)
        return;
    cell_intervals[pool.ranks_bev[pool.starts[i]]] = (int)i;
    atomicMax(&findings->longest, pool.lengths[i]);
    atomicAdd(&findings->piece_classes[class_of(pool.lengths[i], PIECE_POINTS, largest)], 1);
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

// Place of point t in (camera, w, slab, bin, 16), for the points of one cell the order that tiles
// want: by column slab, then bin, then image row.
static __global__ void v4_places_kernel(Pool pool, Frustums f, uint32_t *places,
                                        Findings *findings) {
    int64_t t = thread_number(); // [0, points)
    if (t >= pool.points)
        return;
    int w, h, bin;
    int64_t rest = divide(pool.ranks_depth[t], f.width, &w);
    rest = divide(rest, f.height, &h);
    int64_t camera = divide(rest, f.bins, &bin);
    if ((camera * f.height + h) * f.width + w != pool.ranks_feat[t])
        findings->irregular = 1;
    int64_t slab = (camera * f.width + w) * f.slabs + h / SLAB;
    places[t] = (uint32_t)((slab * f.bins + bin) * SLAB + h % SLAB);
}

// Whether a sorted place starts an entry: another bin or slab, or the same point once more.
static __device__ bool starts_entry(const uint32_t *sorted, int64_t i, int64_t first) {
    return i == first || sorted[i] / SLAB != sorted[i - 1] / SLAB || sorted[i] == sorted[i - 1];
}

// A warp an interval: sorts its places (and weights) by counting smaller ones, n * n / 32 steps,
// and counts its entries.
static __global__ void v4_sort_kernel(Pool pool, const uint32_t *places, uint32_t *sorted,
                                      float *sorted_weights, int *entry_counts) {
    int64_t interval = thread_number() / WARP;
    int lane = (int)threadIdx.x % WARP;
    if (interval >= pool.intervals)
        return;
    int64_t first = pool.starts[interval];
    int n = pool.lengths[interval];
    for (int base = 0; base < n; base += WARP) {
        int i = base + lane, rank = 0;
        uint32_t mine = i < n ? places[first + i] : 0;
        for (int chunk = 0; chunk < n; chunk += WARP) {
            uint32_t theirs = chunk + lane < n ? places[first + chunk + lane] : 0;
            for (int j = 0; j < min(WARP, n - chunk); j++) {
                uint32_t other = __shfl_sync(~0u, theirs, j);
                rank += other < mine || (other == mine && chunk + j < i);
            }
        }
        if (i < n) {
            sorted[first + rank] = mine;
            if (pool.weights)
                sorted_weights[first + rank] = pool.weights[first + i];
        }
    }
    __syncwarp();
    int count = 0;
    for (int i = lane; i < n; i += WARP)
        count += starts_entry(sorted, first + i, first);
    count = __reduce_add_sync(~0u, count);
    if (lane == 0)
        entry_counts[interval] = count;
}

struct Entry {
    int column;    // slab of a feature column: (camera * w + w) * slabs + slab
    uint32_t code; // bin << 16 | rows
};

// A warp an interval: writes its entries, and their weights row by row (zeroed before).
static __global__ void v4_entries_kernel(Pool pool, Frustums f, const uint32_t *sorted,
                                         const float *sorted_weights, const int *entry_starts,
                                         Entry *entries, float *weights, int *column_counts) {
    int64_t interval = thread_number() / WARP;
    int lane = (int)threadIdx.x % WARP;
    if (interval >= pool.intervals)
        return;
    int64_t first = pool.starts[interval], end = first + pool.lengths[interval];
    int at = entry_starts[interval];
    for (int64_t base = first; base < end; base += WARP) {
        int64_t i = base + lane;
        bool head = i < end && starts_entry(sorted, i, first);
        unsigned heads = __ballot_sync(~0u, head);
        if (head) {
            int e = at + __popc(heads & ((1u << lane) - 1));
            uint32_t bundle = sorted[i] / SLAB, rows = 0;
            int64_t j = i;
            do {
                rows |= 1u << sorted[j] % SLAB;
                if (pool.weights)
                    weights[(int64_t)e * SLAB + sorted[j] % SLAB] = sorted_weights[j];
                j++;
            } while (j < end && !starts_entry(sorted, j, first));
            int column = (int)(bundle / (uint32_t)f.bins);
            entries[e] = {column, (bundle - (uint32_t)column * (uint32_t)f.bins) << 16 | rows};
            if (i == first)
                atomicAdd(&column_counts[column], 1);
        }
        at += __popc(heads);
    }
}

// ---- the order of cells: those that see the same columns are neighbours ------------------------

// Intervals into buckets by the column of their first entry, in any order.
static __global__ void v4_bucket_kernel(int intervals, const Entry *entries,
                                        const int *entry_starts, const int *bucket_starts,
                                        int *bucket_used, int *bucket_intervals) {
    int i = (int)thread_number();
    if (i >= intervals)
        return;
    int column = entries[entry_starts[i]].column;
    bucket_intervals[bucket_starts[column] + atomicAdd(&bucket_used[column], 1)] = i;
}

// A warp a bucket: sorts it by last column, first bin and number, by counting smaller ones.
static __global__ void v4_order_kernel(int buckets, const Entry *entries, const int *entry_starts,
                                       const int *bucket_starts, const int *bucket_intervals,
                                       int *order) {
    int bucket = (int)(thread_number() / WARP), lane = (int)threadIdx.x % WARP;
    if (bucket >= buckets)
        return;
    int first = bucket_starts[bucket], n = bucket_starts[bucket + 1] - first;
    auto key_of = [&](int i) {
        const Entry &last = entries[entry_starts[i + 1] - 1];
        return (uint64_t)last.column << 32 | entries[entry_starts[i]].code >> 16;
    };
    for (int base = 0; base < n; base += WARP) {
        int i = base + lane < n ? bucket_intervals[first + base + lane] : 0, rank = 0;
        uint64_t mine = key_of(i);
        for (int chunk = 0; chunk < n; chunk += WARP) {
            int theirs = chunk + lane < n ? bucket_intervals[first + chunk + lane] : 0;
            uint64_t key = key_of(theirs);
            for (int j = 0; j < min(WARP, n - chunk); j++) {
                uint64_t other_key = __shfl_sync(~0u, key, j);
                int other = __shfl_sync(~0u, theirs, j);
                rank += other_key < mine || (other_key == mine && other < i);
            }
        }
        if (base + lane < n)
            order[first + rank] = i;
    }
}

// ---- tiles -------------------------------------------------------------------------------------

// A warp's place in the columns of a tile: lane m < 16 holds the m-th cell's entries. A step takes
// the smallest column that any cell still has. A cell with two depth bins in that column takes two
// steps.
struct ColumnCursor {
    int e, end, interval; // of this lane; no entries from lane 16 on

    __device__ ColumnCursor(int tile, int intervals, const int *order, const int *entry_starts) {
        int i = tile * TILE_CELLS + (int)threadIdx.x % WARP;
        interval = (int)threadIdx.x % WARP < TILE_CELLS && i < intervals ? order[i] : NO_CELL;
        e = interval == NO_CELL ? 0 : entry_starts[interval];
        end = interval == NO_CELL ? 0 : entry_starts[interval + 1];
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

static __global__ void v4_count_steps_kernel(int tiles, int intervals, const int *order,
                                             const int *entry_starts, const Entry *entries,
                                             int *step_counts, Findings *findings) {
    int tile = (int)(thread_number() / WARP);
    if (tile >= tiles)
        return;
    ColumnCursor cursor(tile, intervals, order, entry_starts);
    int steps = 0, mine;
    while (cursor.next(entries, &mine) >= 0)
        steps++;
    if (threadIdx.x % WARP == 0) {
        step_counts[tile] = steps;
        if (steps <= LARGEST_PORTION)
            atomicAdd(&findings->tile_steps[steps], 1);
        for (int config = 0; config < PORTIONS; config++)
            atomicAdd(
                &findings->tile_classes[config][class_of(steps, portion_of(config), TILE_LARGEST)],
                1);
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
};

static __global__ void v4_fill_kernel(Pool pool, Frustums f, TileArrays out, int tiles,
                                      const int *order, const int *entry_starts,
                                      const Entry *entries, bool transposed) {
    int at = (int)(thread_number() / WARP), lane = (int)threadIdx.x % WARP;
    if (at >= tiles)
        return;
    ColumnCursor cursor(out.tiles[at], (int)pool.intervals, order, entry_starts);
    if (lane < TILE_CELLS)
        out.cells[at * TILE_CELLS + lane] =
            cursor.interval == NO_CELL ? NO_CELL : pool.ranks_bev[pool.starts[cursor.interval]];
    int mine, column;
    for (int64_t step = out.starts[at]; (column = cursor.next(entries, &mine)) >= 0; step++) {
        if (lane < TILE_CELLS) {
            out.entries[step * TILE_CELLS + lane] = mine < 0 ? 0 : entries[mine].code;
            if (pool.weights)
                out.weight_rows[step * TILE_CELLS + lane] = max(mine, 0);
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
