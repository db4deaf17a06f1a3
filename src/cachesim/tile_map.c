/* V4's map of tiles on the host: what kernels/cuda/v4/prepare.cuh builds on the device, in its
 * order. Addresses only, no weights. */
#include "src/cachesim/trace_internal.h"

#include <math.h>
#include <stdlib.h>

/* A bin of a column slab that falls into a cell. */
typedef struct {
    int32_t column;
    uint32_t code; /* bin << 16 | rows */
} Entry;

typedef struct {
    const BevProblem *problem;
    uint32_t *places;      /* [points] by interval: (column * bins + bin) * 16 + row, ascending */
    Entry *entries;        /* by interval */
    int32_t *entry_starts; /* [intervals + 1] */
    int32_t *order;        /* [intervals] those that see the same columns are neighbours */
    int32_t *step_counts;  /* [tiles] of that order */
    int32_t *sorted;       /* [tiles] as launched */
    int64_t tiles, steps;
    int portion; /* steps that a warp should get */
} Draft;

/* ---- points and entries --------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* False: a depth and a feature of one point are of different pixels. */
static bool find_places(Draft *draft) {
    const BevShape *s = &draft->problem->shape;
    const BevMap *map = &draft->problem->map;
    int64_t slabs = v4_slabs(s);
    for (int64_t t = 0; t < map->points; t++) {
        int64_t rest = map->ranks_depth[t], w = rest % s->feat_w,
                h = (rest /= s->feat_w) % s->feat_h;
        int64_t bin = (rest /= s->feat_h) % s->depth_bins, camera = rest / s->depth_bins;
        if ((camera * s->feat_h + h) * s->feat_w + w != map->ranks_feat[t])
            return false;
        int64_t column = (camera * s->feat_w + w) * slabs + h / SLAB;
        draft->places[t] = (uint32_t)((column * s->depth_bins + bin) * SLAB + h % SLAB);
    }
    for (int64_t i = 0; i < map->intervals; i++) {
        if (map->interval_lengths[i] > LONGEST_SORTED)
            return false;
        qsort(draft->places + map->interval_starts[i], (size_t)map->interval_lengths[i],
              sizeof *draft->places, by_place);
    }
    return true;
}

/* Points of one bin and slab are an entry; the same point once more starts another. */
static void find_entries(Draft *draft) {
    const BevMap *map = &draft->problem->map;
    uint32_t bins = (uint32_t)draft->problem->shape.depth_bins;
    int32_t count = 0;
    for (int64_t i = 0; i < map->intervals; i++) {
        const uint32_t *places = draft->places + map->interval_starts[i];
        draft->entry_starts[i] = count;
        for (int32_t p = 0; p < map->interval_lengths[i]; p++) {
            uint32_t bundle = places[p] / SLAB, row = 1u << places[p] % SLAB;
            if (p == 0 || bundle != places[p - 1] / SLAB || places[p] == places[p - 1])
                draft->entries[count++] = (Entry){(int32_t)(bundle / bins), bundle % bins << SLAB};
            draft->entries[count - 1].code |= row;
        }
    }
    draft->entry_starts[map->intervals] = count;
}

/* ---- the order of cells --------------------------------------------------------------------- */

typedef struct {
    int32_t first, last, bin, interval;
} OrderKey;

static int compare(int32_t a, int32_t b) {
    return (a > b) - (a < b);
}

/* By first column, last column, first bin and number. */
static int by_columns(const void *a, const void *b) {
    const OrderKey *x = a, *y = b;
    if (x->first != y->first)
        return compare(x->first, y->first);
    if (x->last != y->last)
        return compare(x->last, y->last);
    return x->bin != y->bin ? compare(x->bin, y->bin) : compare(x->interval, y->interval);
}

static void order_intervals(Draft *draft, OrderKey *keys) {
    int64_t intervals = draft->problem->map.intervals;
    for (int64_t i = 0; i < intervals; i++) {
        const Entry *first = &draft->entries[draft->entry_starts[i]];
        const Entry *last = &draft->entries[draft->entry_starts[i + 1] - 1];
        keys[i] =
            (OrderKey){first->column, last->column, (int32_t)(first->code >> SLAB), (int32_t)i};
    }
    qsort(keys, (size_t)intervals, sizeof *keys, by_columns);
    for (int64_t i = 0; i < intervals; i++)
        draft->order[i] = keys[i].interval;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* A cursor over the columns of a tile: a step takes the smallest column that any of its cells still
 * has; a cell with two bins in it takes two steps. */
typedef struct {
    int32_t interval[TILE_CELLS], next[TILE_CELLS], end[TILE_CELLS];
    int32_t mine[TILE_CELLS]; /* entries of the step, or -1 */
    int32_t column;
} ColumnCursor;

static ColumnCursor tile_begin(const Draft *draft, int64_t tile) {
    ColumnCursor cursor;
    for (int m = 0; m < TILE_CELLS; m++) {
        int64_t i = tile * TILE_CELLS + m;
        cursor.interval[m] = i < draft->problem->map.intervals ? draft->order[i] : -1;
        cursor.next[m] = cursor.interval[m] < 0 ? 0 : draft->entry_starts[cursor.interval[m]];
        cursor.end[m] = cursor.interval[m] < 0 ? 0 : draft->entry_starts[cursor.interval[m] + 1];
    }
    return cursor;
}

static bool tile_step(const Draft *draft, ColumnCursor *cursor) {
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

static void count_steps(Draft *draft) {
    for (int64_t tile = 0; tile < draft->tiles; tile++) {
        ColumnCursor cursor = tile_begin(draft, tile);
        while (tile_step(draft, &cursor))
            draft->step_counts[tile]++;
        draft->steps += draft->step_counts[tile];
    }
}

/* How tiles are dealt out to warps when a warp should get `portion` steps. */
static void share_out(const Draft *draft, int portion, TileMap *map) {
    int64_t counts[TILE_LARGEST + 1] = {0}, tiles = 0;
    for (int64_t tile = 0; tile < draft->tiles; tile++)
        counts[class_of(draft->step_counts[tile], portion, TILE_LARGEST)]++;
    map->workers = 0;
    for (int k = TILE_LARGEST; k >= 0; k--) {
        map->first_worker[k] = map->workers;
        map->first_tile[k] = tiles;
        map->workers += counts[k] << k;
        tiles += counts[k];
    }
}

static void choose_portion(Draft *draft, int multiprocessors, TileMap *map) {
    int64_t passes = draft->problem->shape.channels / v4_tile_channels(draft->problem);
    double least = INFINITY;
    for (int i = 0; i < PORTIONS; i++) {
        int portion = portion_of(i);
        share_out(draft, portion, map);
        double time = v4_tiles_time(portion, map->workers, draft->steps, passes, multiprocessors);
        if (time <= least) { /* of equal ones the largest, as the kernel */
            least = time;
            draft->portion = portion;
        }
    }
    share_out(draft, draft->portion, map);
}

/* Tiles by class, the largest first, those of class 0 by steps; equal ones in order. */
static void sort_tiles(Draft *draft) {
    int64_t at = 0;
    for (int k = TILE_LARGEST; k > 0; k--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (class_of(draft->step_counts[tile], draft->portion, TILE_LARGEST) == k)
                draft->sorted[at++] = (int32_t)tile;
    for (int32_t steps = draft->portion; steps >= 0; steps--)
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            if (draft->step_counts[tile] == steps)
                draft->sorted[at++] = (int32_t)tile;
}

/* ---- all together --------------------------------------------------------------------------- */

static void fill_tile(const Draft *draft, int64_t tile, int32_t *step, TileMap *map) {
    const BevMap *points = &draft->problem->map;
    ColumnCursor cursor = tile_begin(draft, draft->sorted[tile]);
    map->starts[tile] = *step;
    for (int m = 0; m < TILE_CELLS; m++)
        map->cells[tile * TILE_CELLS + m] =
            cursor.interval[m] < 0 ? -1
                                   : points->ranks_bev[points->interval_starts[cursor.interval[m]]];
    for (; tile_step(draft, &cursor); ++*step) {
        map->columns[*step] = cursor.column;
        for (int m = 0; m < TILE_CELLS; m++) {
            int64_t at = (int64_t)*step * TILE_CELLS + m;
            map->entries[at] = cursor.mine[m] < 0 ? 0 : draft->entries[cursor.mine[m]].code;
            map->weight_rows[at] = cursor.mine[m] < 0 ? 0 : cursor.mine[m];
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

static bool fill(const Draft *draft, TileMap *map) {
    const BevProblem *problem = draft->problem;
    size_t cells = (size_t)(problem->shape.nx * problem->shape.ny), tiles = (size_t)draft->tiles;
    size_t slots = (size_t)draft->steps * TILE_CELLS;
    uint8_t *used = calloc(cells + 1, 1);
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
    bool ok = used && map->starts && map->cells && map->columns && map->entries &&
              map->weight_rows && map->empty;
    if (ok) {
        int32_t step = 0;
        for (int64_t tile = 0; tile < draft->tiles; tile++)
            fill_tile(draft, tile, &step, map);
        map->starts[draft->tiles] = step;
        find_empty(problem, used, map);
    }
    free(used);
    return ok;
}

/* False: no memory. */
static bool build(Draft *draft, int multiprocessors, TileMap *map) {
    const BevMap *points = &draft->problem->map;
    size_t count = (size_t)points->points, intervals = (size_t)points->intervals;
    draft->tiles = (points->intervals + TILE_CELLS - 1) / TILE_CELLS;
    draft->places = malloc((count + 1) * sizeof *draft->places);
    draft->entries = malloc((count + 1) * sizeof *draft->entries);
    draft->entry_starts = malloc((intervals + 1) * sizeof *draft->entry_starts);
    draft->order = malloc((intervals + 1) * sizeof *draft->order);
    draft->step_counts = calloc((size_t)draft->tiles + 1, sizeof *draft->step_counts);
    draft->sorted = malloc(((size_t)draft->tiles + 1) * sizeof *draft->sorted);
    OrderKey *keys = malloc((intervals + 1) * sizeof *keys);
    bool ok = draft->places && draft->entries && draft->entry_starts && draft->order &&
              draft->step_counts && draft->sorted && keys;
    if (ok && find_places(draft)) {
        find_entries(draft);
        order_intervals(draft, keys);
        count_steps(draft);
        map->serves = points->points >= POINTS_A_STEP * draft->steps;
    }
    if (map->serves) {
        choose_portion(draft, multiprocessors, map);
        sort_tiles(draft);
        ok = fill(draft, map);
    }
    free(keys);
    return ok;
}

bool tile_map_build(const BevProblem *problem, int multiprocessors, TileMap *map, Err *err) {
    Draft draft = {.problem = problem};
    *map = (TileMap){0};
    if (!v4_tiles_possible(problem))
        return true;
    map->transposed = v4_transposes(&problem->map, multiprocessors);
    bool ok = build(&draft, multiprocessors, map);
    free(draft.places);
    free(draft.entries);
    free(draft.entry_starts);
    free(draft.order);
    free(draft.step_counts);
    free(draft.sorted);
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
