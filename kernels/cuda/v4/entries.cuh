/* SPDX-License-Identifier: MIT */
// Entries: the points of a cell, bundled by column slab and depth bin. Tiles consist of entries.
#pragma once

#include "kernels/cuda/v4/pieces.cuh"
#include "kernels/cuda/v4/tiles.cuh"
#include "kernels/cuda/v4/tools.cuh"

// ---- what the host reads back ------------------------------------------------------------------

struct Findings {
    int irregular;                  // a point's depth and feature belong to different pixels
    int longest;                    // points of the fullest cell
    int piece_classes[CLASSES];     // number of cells by class
    int entries, steps;             // total numbers; entries only for weighted maps
    int tile_steps[MANY_STEPS + 1]; // tiles by number of steps; the last element: or more
};

// ---- points: their place in transposed depth, and entries ---------------------------------------

struct Entry {
    int column;    // slab column: (camera * width + w) * slabs + slab
    uint32_t code; // bin << 16 | rows, a bit mask by place (v4_place)
};

// Adds a point to a hash table of bundles, a bundle being the points of a cell in one bin of a
// column slab. A slot is (bundle + 1) << 32 | rows, or 0. `slots` is a power of two and at least
// the number of bundles. Returns false if the row was there already.
static __device__ bool insert_point(uint64_t *table, int slots, uint32_t bundle, int row) {
    uint32_t at = (bundle * 0x9e3779b1u >> 16) & (uint32_t)(slots - 1);
    for (;; at = (at + 1) & (uint32_t)(slots - 1)) {
        uint32_t *halves = (uint32_t *)(table + at); // the lower half comes first
        uint32_t found = atomicCAS(halves + 1, 0u, bundle + 1);
        if (found == 0 || found == bundle + 1)
            return !(atomicOr(halves, 1u << row) >> row & 1);
    }
}

// Moves the used slots to the front and returns their number. A whole warp calls it.
static __device__ int compact_table(uint64_t *table, int slots) {
    int lane = (int)threadIdx.x % WARP, count = 0;
    for (int base = 0; base < slots; base += WARP) {
        uint64_t mine = base + lane < slots ? table[base + lane] : 0;
        unsigned used = __ballot_sync(~0u, mine != 0);
        __syncwarp();
        if (mine)
            table[count + __popc(used & ((1u << lane) - 1))] = mine;
        count += __popc(used);
        __syncwarp();
    }
    return count;
}

// Returns the index of `wanted`, which must exist, among n ascending values keys[i] >> 32.
static __device__ int place_in(const uint64_t *keys, int n, uint32_t wanted) {
    int low = 0;
    while (n > 1) {
        int half = n / 2;
        low += (uint32_t)(keys[low + half] >> 32) <= wanted ? half : 0;
        n -= half;
    }
    return low;
}

// Returns whether sorted key i starts an entry: it has another bundle, or repeats the last point.
static __device__ bool starts_entry(const uint64_t *keys, int i) {
    if (i == 0)
        return true;
    uint32_t place = (uint32_t)(keys[i] >> 32), before = (uint32_t)(keys[i - 1] >> 32);
    return place / SLAB != before / SLAB || place == before;
}

// The lists that sort_lists() sorts here: the points of each cell. They are sorted by place, so
// that a cell's entries have the order of tiles: by column slab, then bin.
struct CellPoints {
    static constexpr bool FEW_AND_LONG = false;
    Pool pool;
    Frustums f;
    Findings *findings;
    Entry *entries;    // a cell's entries begin where its points do; at most one a point
    int *entry_counts; // [intervals]
    uint16_t *slots;   // [points]: entry of the cell << 4 | row; NULL: no weights
    int *strip_counts; // number of cells by the strip of their first entry

    // A cell that is too full to sort gets one empty entry. The map is then not used.
    __device__ int size(int interval) const {
        int n = pool.lengths[interval];
        return n <= LONGEST_SORTED ? n : 0;
    }
    __device__ uint64_t *room(int) const {
        return NULL; // BLOCK_KEYS are enough
    }
    // Returns the place of point t in (camera, w, slab, bin, 16). Sets *irregular for a wrong
    // pixel.
    __device__ uint32_t place(int64_t t, bool *irregular) const {
        int w, h, bin;
        int64_t rest = divide(pool.ranks_depth[t], f.width, &w);
        rest = divide(rest, f.height, &h);
        int64_t camera = divide(rest, f.bins, &bin);
        *irregular |= (camera * f.height + h) * f.width + w != pool.ranks_feat[t];
        int64_t slab = (camera * f.width + w) * f.slabs + h / SLAB;
        return (uint32_t)((slab * f.bins + bin) * SLAB + v4_place(h % SLAB));
    }
    __device__ int column(uint32_t bundle) const {
        return (int)(bundle / (uint32_t)f.bins);
    }
    __device__ Entry entry(uint32_t bundle, uint32_t rows) const {
        return {column(bundle), bundle % (uint32_t)f.bins << 16 | rows};
    }
    __device__ void put_slot(int64_t t, int number, int row) const {
        if (slots)
            slots[t] = (uint16_t)(number * SLAB + row);
    }
    __device__ void put_count(int interval, int count, int first_column) const {
        entry_counts[interval] = count;
        atomicAdd(&strip_counts[v4_strip(first_column, f.slabs)], 1);
    }
    // Stores the entry that starts at sorted key i, as entry `number` of the cell.
    __device__ void put_sorted(int64_t first, int number, const uint64_t *keys, int i,
                               int n) const {
        uint32_t bundle = (uint32_t)(keys[i] >> 32) / SLAB, rows = 0;
        do {
            int row = (int)(keys[i] >> 32) % SLAB;
            rows |= 1u << row;
            put_slot(first + (uint32_t)keys[i], number, row);
            i++;
        } while (i < n && !starts_entry(keys, i));
        entries[first + number] = entry(bundle, rows);
    }
    // Makes the entries of an interval where a point occurs twice: sorts keys of place << 32 |
    // number in the cell. The first warp writes the entries, the others wait at the caller's
    // barrier. What place() says of irregular points is ignored here.
    __device__ void work_sorted(const Team &team, int interval, uint64_t *keys, int n) const {
        int64_t first = pool.starts[interval];
        bool irregular = false;
        for (int i = team.thread; i < n; i += team.threads)
            keys[i] = (uint64_t)place(first + i, &irregular) << 32 | (uint32_t)i;
        sort_keys(keys, n, team);
        if (team.thread >= WARP)
            return;
        int lane = team.thread, count = 0;
        for (int base = 0; base < n; base += WARP) {
            int i = base + lane;
            bool head = i < n && starts_entry(keys, i);
            unsigned heads = __ballot_sync(~0u, head);
            if (head)
                put_sorted(first, count + __popc(heads & ((1u << lane) - 1)), keys, i, n);
            count += __popc(heads);
        }
        if (lane == 0)
            put_count(interval, count, column((uint32_t)(keys[0] >> 32) / SLAB));
    }
    // Inserts the points into a hash table, four at a time so that their loads overlap. Returns
    // false if a point was there already.
    __device__ bool collect_bundles(const Team &team, int64_t first, uint64_t *table, int size,
                                    int n) const {
        constexpr uint32_t NONE = ~0u;
        bool once = true, irregular = false;
        for (int base = team.thread; base < n; base += 4 * team.threads) {
            uint32_t places[4];
            for (int j = 0; j < 4; j++) {
                int i = base + j * team.threads;
                places[j] = i < n ? place(first + i, &irregular) : NONE;
            }
            for (uint32_t at : places)
                if (at != NONE)
                    once &= insert_point(table, size, at / SLAB, (int)(at % SLAB));
        }
        if (irregular)
            findings->irregular = 1;
        return once;
    }
    // Makes the entries of a cell: collects its bundles, a tenth of the points, and sorts them.
    __device__ void work(const Team &team, int interval, uint64_t *keys, int n) const {
        int64_t first = pool.starts[interval];
        int table = 1, count = 0;
        bool irregular = false;
        while (table < n)
            table *= 2;
        for (int i = team.thread; i < table; i += team.threads)
            keys[i] = 0;
        team.wait();
        if (team.any(!collect_bundles(team, first, keys, table, n)))
            return work_sorted(team, interval, keys, n);
        if (team.thread < WARP)
            count = compact_table(keys, table);
        count = team.from_first(count);
        sort_keys(keys, count, team);
        for (int i = team.thread; i < count; i += team.threads)
            entries[first + i] = entry((uint32_t)(keys[i] >> 32) - 1, (uint32_t)keys[i]);
        if (slots)
            for (int i = team.thread; i < n; i += team.threads) {
                uint32_t at = place(first + i, &irregular);
                put_slot(first + i, place_in(keys, count, at / SLAB + 1), (int)(at % SLAB));
            }
        if (team.thread)
            return;
        if (count == 0)
            entries[first] = {};
        put_count(interval, max(count, 1), count ? column((uint32_t)(keys[0] >> 32) - 1) : 0);
    }
};
static_assert(LONGEST_SORTED <= BLOCK_KEYS && LONGEST_SORTED * SLAB <= 65536);

// Thread t stores the weight of point t in its entry's 16 weights, which begin as zeros.
static __global__ void v4_weights_kernel(Pool pool, const int *cell_intervals,
                                         const int *entry_starts, const uint16_t *slots,
                                         float *weights) {
    int64_t t = thread_number(); // [0, points)
    if (t >= pool.points)
        return;
    int64_t entry = entry_starts[cell_intervals[pool.ranks_bev[t]]];
    weights[entry * SLAB + slots[t]] = pool.weights[t];
}
