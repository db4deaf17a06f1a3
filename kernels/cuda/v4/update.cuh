/* SPDX-License-Identifier: MIT */
// The map of moving cameras, made again on the stream: poses, entries, tiles and their schedule. No
// allocation and no wait: all sizes are bounds, and what differs from step to step stays in device
// memory.
#pragma once

#include "kernels/cuda/v4/moving.cuh"

// The numbers that a launch and the kernels behind the schedule read.
struct MovingSchedule {
    Numbers numbers;
    TileBins bins;
    TileCounts counts;
};

// The rules of v4_best_schedule() that do not depend on the map.
struct MovingRules {
    double step_time, resident; // v4_step_time(); blocks that the GPU holds at once
    int passes, round;          // over the channels; multiprocessors of a pass
    bool twice, pairs;          // as in v4_time(); tiles may have two blocks
    int most_workers, most_entries, cells;
};

// Returns the schedule's workers for a portion, and counts its tiles by class. *eighths receives
// the time of the longest tile in eighths of a step. All lanes of a warp call this function.
static __device__ int moving_workers(const int *tile_steps, int portion, int largest,
                                     int counts[CLASSES], int *eighths) {
    int lane = (int)threadIdx.x % WARP, longest = 0, workers = 0;
    if (lane < CLASSES)
        counts[lane] = 0;
    __syncwarp();
    for (int steps = lane; steps <= MANY_STEPS; steps += WARP) {
        int k = class_of(steps, portion, largest), warps = 1 << k;
        if (tile_steps[steps] == 0)
            continue;
        atomicAdd(&counts[k], tile_steps[steps]);
        longest = max(longest, 8 * ((steps + warps - 1) / warps) + k * k);
    }
    __syncwarp();
    *eighths = __reduce_max_sync(~0u, longest);
    for (int k = 0; k < CLASSES; k++)
        workers += counts[k] << k;
    return workers;
}

// Chooses the schedule: each warp tries a portion. If a map needs more workers than there is room
// for, tiles get fewer workers.
static __global__ void v4_moving_schedule_kernel(MovingRules rules, const Findings *findings,
                                                 const int *lists, const int *entries,
                                                 MovingSchedule *out, int *flags) {
    __shared__ int counts[PORTIONS][CLASSES], largest[PORTIONS];
    __shared__ double times[PORTIONS];
    int i = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP, longest = 0, eighths, workers;
    const int *tile_steps = findings->tile_steps;
    for (int steps = portion_of(i) * TILE_WARPS + 1 + lane; steps <= MANY_STEPS; steps += WARP)
        longest += tile_steps[steps];
    longest = __reduce_add_sync(~0u, longest);
    int most = rules.pairs && longest <= PAIRS ? PAIR_CLASS : TILE_LARGEST;
    for (;; most--) {
        workers = moving_workers(tile_steps, portion_of(i), most, counts[i], &eighths);
        if (workers <= rules.most_workers || most <= 0)
            break;
    }
    if (lane == 0) {
        double blocks = (double)((workers + TILE_WARPS - 1) / TILE_WARPS) * rules.passes;
        times[i] = v4_time(eighths / 8.0, blocks, (double)findings->steps * rules.passes,
                           rules.resident, rules.step_time, rules.twice);
        largest[i] = most;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    int best = 0;
    for (int other = 1; other < PORTIONS; other++)
        if (times[other] < times[best])
            best = other;
    Shares shares = shares_from(counts[best]);
    out->numbers = {shares, (shares.workers + TILE_WARPS - 1) / TILE_WARPS, rules.round};
    out->bins.portion = portion_of(best);
    out->bins.largest = largest[best];
    out->bins.set(shares, tile_steps);
    out->counts = {out->numbers.blocks * TILE_WARPS, rules.cells - *lists};
    *flags = *entries > rules.most_entries ? BEV_MOVING_FULL : 0;
}

// The arrays of a moving map: arrays that a launch reads, and arrays that only pass from one kernel
// of an update to the next.
struct MovingMap {
    int *flags; // the head of the memory comes first
    MovingSchedule *schedule;
    TileArrays tiles;
    int *empty;
    uint32_t *occupied;

    // The first arrays begin as zeros.
    Findings *findings;
    int *found_count, *cell_counts, *strip_counts, *step_counts;
    int *cell_starts, *entry_counts, *strip_starts, *order, *step_starts;
    uint64_t *strip_keys;
    FoundEntry *found;
    Entry *unsorted, *entries;
    int *unsorted_rows, *slots;
    size_t zeroed; // bytes from `findings` on
};

// The sizes of a moving map.
struct MovingSizes {
    int cells, tiles, strips, columns, entries, workers;
    bool weighted;
    size_t head; // bytes
};

static inline MovingSizes moving_sizes(const BevMoving *moving) {
    const BevShape *shape = &moving->shape;
    Frustums f = frustums_of(*shape);
    MovingSizes sizes = {};
    sizes.head = bev_moving_head(moving);
    sizes.cells = (int)(shape->nx * shape->ny);
    sizes.tiles = (int)blocks_for(sizes.cells, TILE_CELLS);
    sizes.columns = f.cameras * f.width * f.slabs;
    sizes.strips = v4_strip(sizes.columns - 1, f.slabs) + 1;
    sizes.weighted = moving->align != BEV_NEAREST;
    int64_t bundles = (int64_t)sizes.columns * f.bins, most = sizes.weighted ? 12 : 6;
    sizes.entries = (int)(moving->most_entries ? moving->most_entries : most * bundles);
    sizes.workers = sizes.tiles + (PAIRS << PAIR_CLASS); // a launch has blocks for all of them
    return sizes;
}

// Lays the arrays out in `memory`. If `memory` is NULL, only counts their bytes.
static inline MovingMap moving_map(const MovingSizes &sizes, void *memory, size_t *bytes = NULL) {
    Arena arena = {(char *)memory, 0};
    MovingMap result = {}, *map = &result;
    int64_t steps = (int64_t)sizes.entries + TILE_WARPS, weighted = sizes.weighted;
    arena.take(&map->flags, (int64_t)(sizes.head / sizeof(int)));
    arena.take(&map->schedule, 1);
    arena.take(&map->tiles.work, sizes.workers + TILE_WARPS);
    arena.take(&map->tiles.cells, (int64_t)sizes.tiles * TILE_CELLS);
    arena.take(&map->tiles.tiles, sizes.tiles);
    arena.take(&map->tiles.slabs, steps);
    arena.take(&map->tiles.entries, steps * TILE_CELLS);
    Arena early = {(char *)map->tiles.entries, 0}; // its arrays are read before steps are written
    early.take(&map->found, sizes.entries);
    early.take(&map->unsorted, sizes.entries);
    arena.take(&map->tiles.weight_rows, weighted * steps * TILE_CELLS);
    arena.take(&map->tiles.weights, weighted * sizes.entries * SLAB);
    arena.take(&map->empty, sizes.cells);
    arena.take(&map->occupied, blocks_for(sizes.cells, WARP));
    size_t before = arena.used;
    arena.take(&map->findings, 1);
    arena.take(&map->found_count, 1);
    arena.take(&map->cell_counts, sizes.cells);
    arena.take(&map->strip_counts, sizes.strips);
    arena.take(&map->step_counts, sizes.tiles);
    map->zeroed = arena.used - before;
    arena.take(&map->cell_starts, sizes.cells + 1);
    arena.take(&map->entry_counts, sizes.cells);
    arena.take(&map->strip_starts, sizes.strips + 1);
    arena.take(&map->order, sizes.cells);
    arena.take(&map->step_starts, sizes.tiles + 1);
    arena.take(&map->strip_keys, sizes.cells);
    arena.take(&map->entries, sizes.entries);
    arena.take(&map->unsorted_rows, weighted * sizes.entries);
    arena.take(&map->slots, weighted * sizes.entries);
    if (bytes)
        *bytes = arena.used;
    return result;
}

// Enqueues three kernels. They find all entries, gather them by cell, and sort those of each cell.
static inline void update_entries(const MovingFrame &frame, const MovingSizes &sizes,
                                  const MovingMap &map, cudaStream_t stream) {
    constexpr unsigned GATHERERS = 1024; // blocks: most maps have far fewer entries than room
    unsigned blocks = blocks_for((int64_t)sizes.columns * frame.f.bins * SLAB, 256);
    MovingEntries entries = {sizes.cells,       sizes.entries,   map.found_count,
                             map.cell_counts,   map.cell_starts, map.found,
                             map.tiles.weights, map.unsorted,    map.unsorted_rows};
    MovingCells cells = {entries,          frame.f.slabs,    map.entries, map.slots,
                         map.entry_counts, map.strip_counts, map.occupied};
    with_flag(sizes.weighted, [&]<bool W>() {
        v4_moving_entries_kernel<W ? 4 : 1><<<blocks, 256, 0, stream>>>(frame, entries);
    });
    scan(map.cell_counts, NULL, sizes.cells, map.cell_starts, NULL, stream);
    v4_moving_gather_kernel<<<min(blocks_for(sizes.entries, 256), GATHERERS), 256, 0, stream>>>(
        entries);
    v4_moving_cells_kernel<<<blocks_for(sizes.cells, 256), 256, 0, stream>>>(cells);
}

// Enqueues the tiles of sorted entries.
static inline void update_tiles(const Frustums &f, const MovingSizes &sizes,
                                const MovingRules &rules, const MovingMap &map,
                                cudaStream_t stream) {
    const int *lists = map.strip_starts + sizes.strips;
    unsigned tile_blocks = blocks_for((int64_t)sizes.tiles * WARP, 256);
    TileOrder order = {
        {sizes.cells, map.entries, map.cell_starts, map.entry_counts}, map.order, lists};
    TileSource source = {order, NULL, map.slots, NULL, true};
    Scan strips = scan_of(map.strip_counts, NULL, sizes.strips, map.strip_starts, NULL);
    partition(1, sizes.cells, EmptySort{map.entry_counts, 0, map.empty}, stream, &strips);
    v4_strip_kernel<<<blocks_for(sizes.cells, 256), 256, 0, stream>>>(
        order.lists, f, sizes.columns, map.strip_starts, map.strip_counts, map.strip_keys);
    sort_lists(sizes.strips, Strips{map.strip_starts, map.strip_keys, map.order}, stream);
    v4_count_steps_kernel<<<tile_blocks, 256, 0, stream>>>(order, map.step_counts, map.findings);
    v4_moving_schedule_kernel<<<1, PORTIONS * WARP, 0, stream>>>(
        rules, map.findings, lists, map.cell_starts + sizes.cells, map.schedule, map.flags);
    partition(ABSENT_BIN + 1, sizes.tiles,
              TileSort{{}, &map.schedule->bins, order, map.step_counts, map.tiles.tiles}, stream);
    scan(map.step_counts, map.tiles.tiles, sizes.tiles, map.step_starts, NULL, stream);
    v4_fill_kernel<<<tile_blocks, 256, 0, stream>>>(source, f, map.tiles, {},
                                                    &map.schedule->numbers, map.step_starts);
}

// Returns the arguments of a launch that follow from the arrays of a map.
static inline TileMap tile_map(const TileArrays &arrays, const Frustums &f, bool weighted) {
    TileMap map = {};
    map.work = arrays.work;
    map.cells = arrays.cells;
    map.slabs = arrays.slabs;
    map.entries = arrays.entries;
    map.weight_rows = arrays.weight_rows;
    map.weights = weighted ? (const float4 *)arrays.weights : NULL;
    map.feat_w = f.width;
    map.bin_stride = f.height * f.width;
    map.last_feat_row = f.cameras * f.height * f.width - 1;
    return map;
}

// Returns the arguments of a launch on a moving map.
static inline TileMap tiles_of(const MovingSizes &sizes, const MovingMap &map, const Frustums &f) {
    TileMap tiles = tile_map(map.tiles, f, sizes.weighted);
    tiles.empty = map.empty;
    tiles.workers = sizes.workers;
    tiles.empties = sizes.cells;
    tiles.counts = &map.schedule->counts;
    return tiles;
}
