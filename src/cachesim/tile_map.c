/* Lays out V4's map of tiles on the host, in the order of kernels/cuda/v4/prepare.cuh. Addresses
 * only, no weights. */
#include "src/cachesim/trace_internal.h"

#include <stdlib.h>

/* Tiles by class, the largest first, those of class 0 by steps; equal ones in order. */
static void sort_tiles(const TileDraft *draft, int32_t *sorted) {
    int64_t at = 0;
    for (int k = TILE_LARGEST; k > 0; k--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (class_of(draft->step_counts[tile], draft->portion, TILE_LARGEST) == k)
                sorted[at++] = (int32_t)tile;
    for (int32_t steps = draft->portion; steps >= 0; steps--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (draft->step_counts[tile] == steps)
                sorted[at++] = (int32_t)tile;
}

/* `tile` as drafted, `at` as launched. Its workers' first steps are written from *first on, its other
 * steps from *other on; both then stand where the next tile's begin. */
static void fill_tile(const TileDraft *draft, int64_t tile, int64_t at, int32_t *first,
                      int32_t *other, TileMap *map) {
    const BevMap *points = &draft->problem->map;
    TileCursor cursor = tile_cursor(draft, tile);
    int parts = 1 << class_of(draft->step_counts[tile], draft->portion, TILE_LARGEST);
    map->starts[at] = *other;
    for (int m = 0; m < TILE_CELLS; m++)
        map->cells[at * TILE_CELLS + m] =
            cursor.interval[m] < 0 ? -1
                                   : points->ranks_bev[points->interval_starts[cursor.interval[m]]];
    for (int i = 0; tile_cursor_step(draft, &cursor); i++) {
        int64_t step = i < parts ? (*first)++ : (*other)++;
        map->columns[step] = cursor.column;
        for (int m = 0; m < TILE_CELLS; m++) {
            int64_t slot = step * TILE_CELLS + m;
            map->entries[slot] = cursor.mine[m] < 0 ? 0 : draft->entries[cursor.mine[m]].code;
            map->weight_rows[slot] = cursor.mine[m] < 0 ? 0 : cursor.mine[m];
        }
    }
}

/* Cells that no interval names; `used` has a byte for each. */
static void find_empty(const BevProblem *problem, uint8_t *used, TileMap *map) {
    const BevMap *points = &problem->map;
    for (int64_t i = 0; i < points->intervals; i++)
        used[points->ranks_bev[points->interval_starts[i]]] = 1;
    for (int64_t cell = 0, at = 0; cell < problem->shape.nx * problem->shape.ny; cell++)
        if (!used[cell])
            map->empty[at++] = (int32_t)cell;
}

static bool fill(const TileDraft *draft, TileMap *map) {
    const BevProblem *problem = draft->problem;
    size_t cells = (size_t)(problem->shape.nx * problem->shape.ny), tiles = (size_t)draft->tiles;
    size_t slots = (size_t)draft->steps * TILE_CELLS;
    uint8_t *used = calloc(cells + 1, 1);
    int32_t *sorted = malloc((tiles + 1) * sizeof *sorted);
    map->shares = draft->shares;
    map->tiles = draft->tiles;
    map->steps = draft->steps;
    map->entry_count = draft->entry_starts[problem->map.intervals];
    map->empties = (int64_t)cells - problem->map.intervals;
    map->starts = malloc((tiles + 1) * sizeof *map->starts);
    map->cells = malloc(tiles * TILE_CELLS * sizeof *map->cells);
    map->columns = malloc((size_t)draft->steps * sizeof *map->columns);
    map->entries = malloc(slots * sizeof *map->entries);
    map->weight_rows = malloc(slots * sizeof *map->weight_rows);
    map->empty = malloc(cells * sizeof *map->empty);
    bool ok = used && sorted && map->starts && map->cells && map->columns && map->entries &&
              map->weight_rows && map->empty;
    if (ok) {
        int32_t first = 0, other = (int32_t)draft->shares.workers;
        sort_tiles(draft, sorted);
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            fill_tile(draft, sorted[tile], tile, &first, &other, map);
        map->starts[draft->tiles] = other;
        find_empty(problem, used, map);
    }
    free(used);
    free(sorted);
    return ok;
}

bool tile_map_build(const BevProblem *problem, int multiprocessors, TileMap *map, Err *err) {
    TileDraft draft;
    *map = (TileMap){0};
    bool ok = tile_draft_make(problem, multiprocessors, &draft);
    map->serves = draft.serves;
    map->transposed = draft.transposed;
    ok = ok && (!draft.serves || fill(&draft, map));
    tile_draft_free(&draft);
    if (ok)
        return true;
    tile_map_free(map);
    return err_set(err, ERR_FAILED, "V4's tiles", "choose a smaller scene",
                   "no memory for %lld points", (long long)problem->map.points);
}

void tile_map_free(TileMap *map) {
    free(map->starts);
    free(map->cells);
    free(map->columns);
    free(map->entries);
    free(map->weight_rows);
    free(map->empty);
    *map = (TileMap){0};
}
