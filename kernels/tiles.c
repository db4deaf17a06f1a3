/* SPDX-License-Identifier: MIT */
#include "kernels/tiles.h"

#include "kernels/codec.h"

#include <stdlib.h>

/* ---- points and entries --------------------------------------------------------------------- */

enum { SHORT = 32 }; /* lists up to this length are sorted by insertion */

static int by_place(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_places(uint32_t *places, int32_t count) {
    if (count > SHORT) {
        qsort(places, (size_t)count, sizeof *places, by_place);
        return;
    }
    for (int32_t i = 1; i < count; i++) {
        uint32_t place = places[i];
        int32_t at = i;
        for (; at > 0 && places[at - 1] > place; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
}

/* Computes the place of each point, (column * bins + bin) * 16 + place in the slab, and sorts the
 * places of each interval. Returns false where a depth and a feature of one point belong to
 * different pixels, or an interval is too long. */
static bool find_places(const TileDraft *draft, uint32_t *places) {
    const BevShape *s = &draft->problem->shape;
    const BevMap *map = &draft->problem->map;
    /* 32 bits suffice (v4_tiles_possible), and they divide faster. */
    uint32_t width = (uint32_t)s->feat_w, height = (uint32_t)s->feat_h;
    uint32_t bins = (uint32_t)s->depth_bins, slabs = (uint32_t)v4_slabs(s);
    for (int64_t t = 0; t < map->points; t++) {
        const uint32_t rank = (uint32_t)map->ranks_depth[t], w = rank % width;
        const uint32_t line = rank / width, h = line % height;
        const uint32_t plane = line / height, bin = plane % bins, camera = plane / bins;
        if ((camera * height + h) * width + w != (uint32_t)map->ranks_feat[t])
            return false;
        uint32_t column = (camera * width + w) * slabs + h / SLAB;
        places[t] = (column * bins + bin) * SLAB + (uint32_t)v4_place((int)(h % SLAB));
    }
    for (int64_t i = 0; i < map->intervals; i++) {
        if (map->interval_lengths[i] > LONGEST_SORTED)
            return false;
        sort_places(places + map->interval_starts[i], map->interval_lengths[i]);
    }
    return true;
}

/* Makes the entries: the points of one bin and slab in a cell are one entry. A point that occurs
 * twice starts another entry. */
static void find_entries(TileDraft *draft, const uint32_t *all) {
    const BevMap *map = &draft->problem->map;
    uint32_t bins = (uint32_t)draft->problem->shape.depth_bins;
    int32_t count = 0;
    for (int64_t i = 0; i < map->intervals; i++) {
        const uint32_t *places = all + map->interval_starts[i];
        draft->entry_starts[i] = count;
        for (int32_t p = 0; p < map->interval_lengths[i]; p++) {
            const uint32_t column_and_bin = places[p] / SLAB;
            const bool same_entry = p > 0 && column_and_bin == places[p - 1] / SLAB;
            const bool repeated = p > 0 && places[p] == places[p - 1];
            if (!same_entry || repeated)
                draft->entries[count++] =
                    (TileEntry){(int32_t)(column_and_bin / bins), column_and_bin % bins << SLAB};
            draft->entries[count - 1].code |= 1u << v4_place((int)(places[p] % SLAB));
        }
    }
    draft->entry_starts[map->intervals] = count;
}

/* ---- the order of cells --------------------------------------------------------------------- */

typedef struct {
    int32_t strip, interval;
    uint32_t key;
} OrderKey;

/* Compares by strip, then by key, then by interval number, so that no two are equal. */
static int by_strip_and_key(const void *a, const void *b) {
    const OrderKey *x = a, *y = b;
    if (x->strip != y->strip)
        return x->strip < y->strip ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->interval - y->interval;
}

/* Sorts the cells so that neighbours see nearly the same columns: 16 neighbours become a tile. */
static void order_intervals(TileDraft *draft, OrderKey *keys) {
    const BevShape *s = &draft->problem->shape;
    int64_t intervals = draft->problem->map.intervals;
    int slabs = (int)v4_slabs(s), columns = (int)(s->cameras * s->feat_w) * slabs;
    for (int64_t i = 0; i < intervals; i++) {
        int32_t start = draft->entry_starts[i], end = draft->entry_starts[i + 1];
        int first = draft->entries[start].column, last = draft->entries[end - 1].column;
        keys[i] = (OrderKey){v4_strip(first, slabs), (int32_t)i,
                             v4_cell_key(first, last, end - start, slabs, columns)};
    }
    qsort(keys, (size_t)intervals, sizeof *keys, by_strip_and_key);
    for (int64_t i = 0; i < intervals; i++)
        draft->order[i] = keys[i].interval;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

TileCursor tile_cursor(const TileDraft *draft, int64_t tile) {
    TileCursor cursor;
    for (int m = 0; m < TILE_CELLS; m++) {
        int64_t i = tile * TILE_CELLS + m;
        const int32_t interval = i < draft->problem->map.intervals ? draft->order[i] : -1;
        cursor.interval[m] = interval;
        cursor.next[m] = interval < 0 ? 0 : draft->entry_starts[interval];
        cursor.end[m] = interval < 0 ? 0 : draft->entry_starts[interval + 1];
    }
    return cursor;
}

bool tile_cursor_step(const TileDraft *draft, TileCursor *cursor) {
    cursor->column = INT32_MAX;
    for (int m = 0; m < TILE_CELLS; m++)
        if (cursor->next[m] < cursor->end[m] &&
            draft->entries[cursor->next[m]].column < cursor->column)
            cursor->column = draft->entries[cursor->next[m]].column;
    for (int m = 0; m < TILE_CELLS; m++) {
        bool takes = cursor->next[m] < cursor->end[m] &&
                     draft->entries[cursor->next[m]].column == cursor->column;
        cursor->mine[m] = takes ? cursor->next[m]++ : -1;
    }
    return cursor->column < INT32_MAX;
}

/* Counts the steps of all tiles. Returns false as soon as pieces would be faster. */
static bool count_steps(TileDraft *draft) {
    for (int64_t tile = 0; tile < draft->tiles; tile++) {
        TileCursor cursor = tile_cursor(draft, tile);
        while (tile_cursor_step(draft, &cursor))
            draft->step_counts[tile]++;
        draft->steps += draft->step_counts[tile];
        if (draft->problem->map.points < POINTS_A_STEP * draft->steps)
            return false;
    }
    return true;
}

static void schedule_tiles(TileDraft *draft, int multiprocessors) {
    V4Load load = {draft->problem, draft->steps, draft->transposed, multiprocessors};
    int tile_steps[MANY_STEPS + 1] = {0};
    for (int64_t tile = 0; tile < draft->tiles; tile++) {
        int32_t steps = draft->step_counts[tile];
        tile_steps[steps < MANY_STEPS ? steps : MANY_STEPS]++;
    }
    draft->schedule = v4_best_schedule(tile_steps, &load);
}

size_t tile_transposed_bytes(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    int64_t rows = s->cameras * s->feat_w * v4_slabs(s) * s->depth_bins;
    return bev_code_bytes(problem->depth.dtype, rows, SLAB);
}

/* ---- all together --------------------------------------------------------------------------- */

static bool build_draft(TileDraft *draft, int multiprocessors) {
    const BevMap *map = &draft->problem->map;
    CpuArrays *arrays = &draft->arrays, own = {.count = 0};
    draft->tiles = (map->intervals + TILE_CELLS - 1) / TILE_CELLS;
    draft->entries = cpu_take(arrays, map->points, sizeof *draft->entries);
    draft->entry_starts = cpu_take(arrays, map->intervals, sizeof *draft->entry_starts);
    draft->order = cpu_take(arrays, map->intervals, sizeof *draft->order);
    draft->step_counts = cpu_take_zeroed(arrays, draft->tiles, sizeof *draft->step_counts);
    uint32_t *places = cpu_take(&own, map->points, sizeof *places);
    OrderKey *keys = cpu_take(&own, map->intervals, sizeof *keys);
    bool ok = !arrays->failed && !own.failed;
    if (ok && find_places(draft, places)) {
        find_entries(draft, places);
        order_intervals(draft, keys);
        draft->serves = count_steps(draft);
    }
    if (draft->serves)
        schedule_tiles(draft, multiprocessors);
    cpu_free(&own);
    return ok;
}

bool tile_draft_make(const BevProblem *problem, int multiprocessors, TileDraft *draft) {
    *draft = (TileDraft){.problem = problem};
    if (!v4_tiles_possible(problem))
        return true;
    draft->transposed = v4_transposes(problem, multiprocessors);
    return build_draft(draft, multiprocessors);
}

void tile_draft_free(TileDraft *draft) {
    cpu_free(&draft->arrays);
    *draft = (TileDraft){0};
}
