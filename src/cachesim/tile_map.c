/* SPDX-License-Identifier: MIT */
/* Builds V4's map of tiles on the host, in the order of kernels/cuda/v4/prepare.cuh. The replay
 * needs addresses only, so the map has no weights. */
#include "src/cachesim/trace_internal.h"

#include "kernels/regime.h"

#include <stdlib.h>

/* Sorts the tiles by class, the largest class first. Tiles of class 0 are sorted by their number of
 * steps, the largest first. Equal tiles keep their order. */
static void sort_tiles(const TileDraft *draft, int32_t *sorted) {
    int portion = draft->schedule.portion, largest = draft->schedule.largest;
    int64_t at = 0;
    for (int k = largest; k > 0; k--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (class_of(draft->step_counts[tile], portion, largest) == k)
                sorted[at++] = (int32_t)tile;
    for (int32_t steps = portion; steps >= 0; steps--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (draft->step_counts[tile] == steps)
                sorted[at++] = (int32_t)tile;
}

/* The state of fill_tiles. */
typedef struct {
    int32_t worker;    /* the first worker of the next tile */
    int32_t other;     /* the step of the next tile after its workers' first steps */
    int blocks, round; /* arguments of v4_start_order */
} TileFill;

/* Returns the place of a worker in the order of the launch. */
static int32_t place_of_worker(const TileFill *fill, int32_t worker) {
    return (int32_t)(v4_start_order(worker / TILE_WARPS, fill->blocks, fill->round) * TILE_WARPS +
                     worker % TILE_WARPS);
}

/* Writes tile number `tile` of the draft to the map, as number `at` of the launch. */
static void fill_tile(const TileDraft *draft, int64_t tile, int64_t at, TileFill *fill,
                      TileMap *map) {
    const BevMap *points = &draft->problem->map;
    TileCursor cursor = tile_cursor(draft, tile);
    int32_t count = draft->step_counts[tile];
    int parts = 1 << class_of(count, draft->schedule.portion, draft->schedule.largest);
    for (int m = 0; m < TILE_CELLS; m++)
        map->cells[at * TILE_CELLS + m] =
            cursor.interval[m] < 0 ? -1
                                   : points->ranks_bev[points->interval_starts[cursor.interval[m]]];
    for (int part = 0; part < parts; part++)
        map->work[place_of_worker(fill, fill->worker + part)] =
            (TileWork){(int32_t)at, fill->other + part, fill->other + count - parts, part, parts};
    for (int i = 0; tile_cursor_step(draft, &cursor); i++) {
        int64_t step =
            i < parts ? place_of_worker(fill, fill->worker + i) : fill->other + i - parts;
        map->columns[step] = cursor.column;
        for (int m = 0; m < TILE_CELLS; m++) {
            int64_t slot = step * TILE_CELLS + m;
            map->entries[slot] = cursor.mine[m] < 0 ? 0 : draft->entries[cursor.mine[m]].code;
            map->weight_rows[slot] = cursor.mine[m] < 0 ? 0 : cursor.mine[m];
        }
    }
    fill->worker += parts;
    fill->other += count - parts;
}

static void fill_tiles(const TileDraft *draft, const int32_t *sorted, int round, TileMap *map) {
    TileFill fill = {0, (int32_t)map->workers, (int)(map->workers / TILE_WARPS), round};
    for (int64_t i = 0; i < map->workers; i++)
        map->work[i] = (TileWork){.tile = -1};
    for (int64_t tile = 0; tile < draft->tiles; tile++)
        fill_tile(draft, sorted[tile], tile, &fill, map);
}

/* Allocates the arrays of V4's map and fills them from the draft. False: no memory. */
static bool fill_map(const TileDraft *draft, int multiprocessors, TileMap *map) {
    const BevProblem *problem = draft->problem;
    size_t cells = (size_t)(problem->shape.nx * problem->shape.ny), tiles = (size_t)draft->tiles;
    int64_t blocks = (draft->schedule.workers + TILE_WARPS - 1) / TILE_WARPS;
    int32_t *interval_of = bev_intervals_of_cells(&problem->map, (int64_t)cells);
    int32_t *sorted = malloc((tiles + 1) * sizeof *sorted);
    map->workers = blocks * TILE_WARPS;
    map->pairs = draft->schedule.counts[PAIR_CLASS];
    map->passes = draft->schedule.passes;
    map->tiles = draft->tiles;
    map->steps = draft->steps + map->workers - draft->schedule.workers;
    size_t slots = (size_t)map->steps * TILE_CELLS;
    map->entry_count = draft->entry_starts[problem->map.intervals];
    map->empties = (int64_t)cells - problem->map.intervals;
    map->work = malloc((size_t)map->workers * sizeof *map->work);
    map->cells = malloc(tiles * TILE_CELLS * sizeof *map->cells);
    map->columns = malloc((size_t)map->steps * sizeof *map->columns);
    map->entries = malloc(slots * sizeof *map->entries);
    map->weight_rows = malloc(slots * sizeof *map->weight_rows);
    map->empty = malloc(cells * sizeof *map->empty);
    bool ok = interval_of && sorted && map->work && map->cells && map->columns && map->entries &&
              map->weight_rows && map->empty;
    if (ok) {
        sort_tiles(draft, sorted);
        fill_tiles(draft, sorted, multiprocessors / (int)draft->schedule.passes, map);
    }
    for (size_t cell = 0, at = 0; ok && cell < cells; cell++)
        if (interval_of[cell] < 0)
            map->empty[at++] = (int32_t)cell;
    free(interval_of);
    free(sorted);
    return ok;
}

bool tile_map_build(const BevProblem *problem, int multiprocessors, TileMap *map, Err *err) {
    TileDraft draft;
    *map = (TileMap){0};
    bool ok = tile_draft_make(problem, multiprocessors, &draft);
    map->serves = draft.serves;
    map->transposed = draft.transposed;
    ok = ok && (!draft.serves || fill_map(&draft, multiprocessors, map));
    tile_draft_free(&draft);
    if (ok)
        return true;
    tile_map_free(map);
    return err_no_memory(err, "V4's tiles", "choose a smaller scene");
}

void tile_map_free(TileMap *map) {
    free(map->work);
    free(map->cells);
    free(map->columns);
    free(map->entries);
    free(map->weight_rows);
    free(map->empty);
    *map = (TileMap){0};
}
