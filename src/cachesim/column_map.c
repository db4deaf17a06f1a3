#include "src/cachesim/column_map.h"

#include <stdlib.h>

enum { POINTS_AN_ENTRY = 3, POINTS_A_CHUNK = 24, SMS = TRACE_MULTIPROCESSORS };

/* Shared memory of an H200: of a block, and of a multiprocessor, of which each block costs 1 KiB
 * more. The kernel has 111 to 128 registers a thread. */
enum { BLOCK_SHARED = 232448, SHARED = 233472, BLOCK_OWN = 1024, REGISTERS = 65536 / 128 };

/* ---- blocks ---------------------------------------------------------------------------------- */

static void shape_columns(const BevShape *s, ColumnMap *map) {
    map->rows = WARP;
    while (map->rows > 1 && map->rows / 2 >= s->feat_h)
        map->rows /= 2;
    map->cols = WARP / map->rows;
    map->slabs = (int)((s->feat_h + map->rows - 1) / map->rows);
    map->strips = (int)((s->feat_w + map->cols - 1) / map->cols);
    map->columns = s->cameras * map->slabs * map->strips;
}

/* As ColumnShared of kernels/cuda/grad_v4/products.cuh. */
static int64_t shared_bytes(const BevProblem *problem, const ColumnBlock *block) {
    int64_t bytes = bev_dtypes[problem->dtype].bits / 8, slots = block->warps * CHUNK_CELLS;
    int64_t parts = problem->dtype == BEV_FP32 ? 1 : problem->dtype == BEV_BF16 ? 3 : 2;
    int64_t pad = 16 / bytes, sums = WARP + 8;
    int64_t of_warps = slots * ((block->channels + pad) * bytes + parts * sums * bytes) +
                       block->warps * (CHUNK_CELLS + 1) * sums * 4;
    int64_t features = WARP * (problem->shape.channels + pad) * bytes;
    return block->columns * (of_warps + features + problem->shape.depth_bins * WARP * bytes);
}

/* False: channels or shared memory do not suit columns. */
static bool choose_block(const BevProblem *problem, const ColumnMap *map, ColumnBlock *block) {
    int channels = (int)problem->shape.channels;
    bool fp32 = problem->dtype == BEV_FP32;
    const ColumnBlock one = {1, 16, 0, 0}, pair = {2, fp32 ? 8 : 4, 0, 0}, four = {4, 4, 0, 0};
    const ColumnBlock wanted[] = {map->columns <= 2 * SMS          ? one
                                  : map->columns < 4 * SMS || fp32 ? pair
                                                                   : four,
                                  pair,
                                  {1, 8, 0, 0},
                                  {1, 4, 0, 0}};
    for (int i = 0; i < 4 && (channels == 80 || channels % 64 == 0); i++) {
        *block = wanted[i];
        block->channels = channels == 80 ? 80 : 64;
        int64_t bytes = shared_bytes(problem, block);
        int by_shared = (int)(SHARED / (bytes + BLOCK_OWN));
        int by_registers = REGISTERS / (block->columns * block->warps * WARP);
        block->resident = by_shared < by_registers ? by_shared : by_registers;
        if (bytes <= BLOCK_SHARED)
            return true;
    }
    return false;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The points in the order of their entries, and what they are sorted by. */
typedef struct {
    int32_t *spare, *order;
    int32_t *lane, *bundle; /* pixel of the column; column * bins + bin */
    int32_t *bin, *cell;    /* [entries] the points of a column in one bin and one cell */
    uint32_t *pixels;       /* [entries] a bit a pixel of the column */
    int32_t *starts;        /* [columns + 1] first entry */
    int64_t entries;
} Draft;

static void draft_free(Draft *draft) {
    free(draft->spare);
    free(draft->order);
    free(draft->lane);
    free(draft->bundle);
    free(draft->bin);
    free(draft->cell);
    free(draft->pixels);
    free(draft->starts);
}

static bool draft_begin(Draft *draft, const ColumnMap *map, int64_t points) {
    size_t size = ((size_t)points + 1) * sizeof(int32_t);
    *draft = (Draft){malloc(size),
                     malloc(size),
                     malloc(size),
                     malloc(size),
                     malloc(size),
                     malloc(size),
                     calloc((size_t)points + 1, sizeof(uint32_t)),
                     calloc((size_t)map->columns + 1, sizeof(int32_t)),
                     0};
    return draft->spare && draft->order && draft->lane && draft->bundle && draft->bin &&
           draft->cell && draft->pixels && draft->starts;
}

/* False: depth and feature of a point are of different pixels. */
static bool place_points(const BevProblem *problem, const ColumnMap *map, Draft *draft) {
    const BevShape *s = &problem->shape;
    for (int64_t t = 0; t < problem->map.points; t++) {
        int64_t rest = problem->map.ranks_depth[t], w = rest % s->feat_w;
        rest /= s->feat_w;
        int64_t h = rest % s->feat_h, bin = rest / s->feat_h % s->depth_bins;
        int64_t camera = rest / s->feat_h / s->depth_bins;
        if ((camera * s->feat_h + h) * s->feat_w + w != problem->map.ranks_feat[t])
            return false;
        int64_t column = (camera * map->slabs + h / map->rows) * map->strips + w / map->cols;
        draft->lane[t] = (int32_t)(h % map->rows * map->cols + w % map->cols);
        draft->bundle[t] = (int32_t)(column * s->depth_bins + bin);
    }
    return true;
}

/* Points by column, bin, cell and pixel. */
static bool sort_points(const BevProblem *problem, const ColumnMap *map, Draft *draft) {
    int64_t points = problem->map.points, cells = problem->shape.nx * problem->shape.ny;
    int64_t bundles = map->columns * problem->shape.depth_bins;
    return order_by(draft->lane, WARP, points, NULL, draft->order) &&
           order_by(problem->map.ranks_bev, cells, points, draft->order, draft->spare) &&
           order_by(draft->bundle, bundles, points, draft->spare, draft->order);
}

static void join_points(const BevProblem *problem, const ColumnMap *map, Draft *draft) {
    int64_t bins = problem->shape.depth_bins, e = -1;
    for (int64_t i = 0; i < problem->map.points; i++) {
        int32_t t = draft->order[i], cell = problem->map.ranks_bev[t];
        int32_t before = i ? draft->order[i - 1] : t;
        if (!i || draft->bundle[t] != draft->bundle[before] || cell != draft->cell[e] ||
            draft->lane[t] == draft->lane[before]) {
            e++;
            draft->bin[e] = (int32_t)(draft->bundle[t] % bins);
            draft->cell[e] = cell;
            draft->starts[draft->bundle[t] / bins + 1] = (int32_t)e + 1;
        }
        draft->pixels[e] |= 1u << draft->lane[t];
    }
    draft->entries = e + 1;
    for (int64_t c = 0; c < map->columns; c++) /* columns without points */
        if (draft->starts[c + 1] < draft->starts[c])
            draft->starts[c + 1] = draft->starts[c];
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* False: no room. */
static bool chunk_add(ColumnChunk *chunk, int32_t cell) {
    int slot = 0;
    while (slot < chunk->cells && chunk->cell[slot] != cell)
        slot++;
    if (slot == CHUNK_CELLS)
        return false;
    chunk->cell[slot] = cell;
    chunk->cells += slot == chunk->cells;
    return true;
}

/* The largest number of points of a pixel among the entries [e, end) of a bin. */
static int layers_of(const Draft *draft, int32_t e, int32_t end) {
    int of_lane[WARP] = {0}, layers = 0;
    for (; e < end; e++)
        for (int lane = 0; lane < WARP; lane++)
            of_lane[lane] += draft->pixels[e] >> lane & 1;
    for (int lane = 0; lane < WARP; lane++)
        layers = of_lane[lane] > layers ? of_lane[lane] : layers;
    return layers;
}

/* Cuts a column: bin after bin as long as a chunk has room. Returns the number of chunks, which go
 * to `chunks` unless it is NULL; -1: a bin is too large. *layers grows to those of the column. */
static int64_t cut_column(const Draft *draft, int64_t column, int bins, ColumnChunk *chunks,
                          int *layers) {
    int32_t e = draft->starts[column], end = draft->starts[column + 1];
    int64_t count = 0;
    ColumnChunk chunk = {0};
    for (int bin = 0; bin < bins; bin++) {
        ColumnChunk before = chunk;
        int32_t next = e;
        while (next < end && draft->bin[next] == bin && chunk_add(&chunk, draft->cell[next]))
            next++;
        bool fits = next == end || draft->bin[next] != bin;
        if (!fits && before.cells == 0)
            return -1;
        if (!fits || bin - before.first_bin == CHUNK_BINS) {
            if (chunks)
                chunks[count] = before;
            count++;
            chunk = (ColumnChunk){.first_bin = bin};
            bin--; /* again, into the next chunk */
            continue;
        }
        int of_bin = layers_of(draft, e, next);
        *layers = of_bin > *layers ? of_bin : *layers;
        chunk.bins = bin + 1 - chunk.first_bin;
        e = next;
    }
    if (chunks)
        chunks[count] = chunk;
    return count + 1;
}

/* False: no memory. */
static bool cut_columns(const BevProblem *problem, const Draft *draft, ColumnMap *map) {
    int bins = (int)problem->shape.depth_bins, layers = 0;
    for (int64_t c = 0; c < map->columns; c++) {
        int64_t count = cut_column(draft, c, bins, NULL, &layers);
        if (count < 0)
            return true;
        map->column_chunks = count > map->column_chunks ? count : map->column_chunks;
    }
    int64_t chunks = map->columns * map->column_chunks;
    if (problem->map.points < POINTS_A_CHUNK * chunks || layers > WEIGHTED_LAYERS)
        return true;
    map->layers = problem->map.weights || layers > 1 ? WEIGHTED_LAYERS : 1;
    map->chunks = calloc((size_t)chunks, sizeof *map->chunks);
    for (int64_t c = 0; map->chunks && c < map->columns; c++)
        cut_column(draft, c, bins, map->chunks + c * map->column_chunks, &layers);
    map->serves = map->chunks != NULL;
    return map->serves;
}

bool column_map_build(const BevProblem *problem, ColumnMap *map, ColumnBlock *block, Err *err) {
    Draft draft = {0};
    *map = (ColumnMap){0};
    shape_columns(&problem->shape, map);
    double places = (double)map->columns * (double)problem->shape.depth_bins * WARP;
    if (!choose_block(problem, map, block) || problem->map.points == 0 || places >= INT32_MAX)
        return true;
    bool ok = draft_begin(&draft, map, problem->map.points);
    if (ok && place_points(problem, map, &draft)) {
        ok = sort_points(problem, map, &draft);
        if (ok)
            join_points(problem, map, &draft);
        if (ok && problem->map.points >= POINTS_AN_ENTRY * draft.entries)
            ok = cut_columns(problem, &draft, map);
    }
    draft_free(&draft);
    if (!ok || !map->serves)
        column_map_free(map);
    return ok || err_set(err, ERR_FAILED, "grad_v4's columns", "", "no memory for %lld points",
                         (long long)problem->map.points);
}

void column_map_free(ColumnMap *map) {
    free(map->chunks);
    *map = (ColumnMap){0};
}
