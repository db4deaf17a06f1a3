/* Replays grad_v4: blocks of neighbouring image columns, whose warps own chunks of depth bins. The
 * first turn of a warp asks for all that needs no other load, then there is one for each chunk, and
 * the last one stores. Where columns do not serve, grad_owner's replay takes over. */
#include "src/cachesim/column_map.h"

#include <stdlib.h>

/* Instructions of a warp, disassembled for 9.0: for four bins of a chunk, of both passes, and what
 * weights and four layers add to that; around a chunk's products; its dot products, of 16 channels
 * on tensor cores and of one in FP32; for each chunk and 16 x 16 tile of grad_feat, likewise, where
 * FP32 has a tile of 2 x 4 a thread; a word of depths read, or stored; 16 bytes of features; before
 * the loads; behind the last chunk for each tile. Multiply-adds in FP32 that do not wait for each
 * other count as two thirds: they are issued that much closer than what ISSUE_SHARE in predict.c
 * stands for. */
enum {
    GROUP_INSTRUCTIONS = 115,
    LAYERS_INSTRUCTIONS = 200,
    CHUNK_INSTRUCTIONS = 290,
    DOT_INSTRUCTIONS = 10,
    DOT_FP32_INSTRUCTIONS = 12,
    TILE_INSTRUCTIONS = 12,
    TILE_BF16_INSTRUCTIONS = 15,
    TILE_FP32_INSTRUCTIONS = 107,
    WORD_INSTRUCTIONS = 10,
    PIECE_INSTRUCTIONS = 45,
    FIRST_INSTRUCTIONS = 300,
    STORE_INSTRUCTIONS = 30
};

enum { CHUNK_BYTES = 8, PIECE = 16, TILE = 16, GROUP = 4 };

typedef struct {
    Memory *memory;
    const BevProblem *problem;
    ColumnMap map;
    ColumnBlock block;
    Place feat, depth, grad_out, counts, chunks, cells, slots, weights, grad_depth, grad_feat;
    int channels, bytes;   /* of an element */
    int64_t groups, a_row; /* blocks of a slab; blocks with the same channels */
    double instructions;
} Columns;

/* A warp of column `column` (-1: past the last of its slab). */
typedef struct {
    int64_t block, column;
    int number, in_block; /* among the column's warps, and among the block's */
    int round, first_channel;
    TraceWaits loads; /* rounds that read */
    bool opened;
} ColumnWarp;

/* ---- a warp's reads and stores --------------------------------------------------------------- */

static int64_t pixel_of(const Columns *c, int64_t column, int lane) {
    const BevShape *s = &c->problem->shape;
    const ColumnMap *map = &c->map;
    int64_t strip = column % map->strips, slab = column / map->strips % map->slabs;
    int64_t camera = column / map->strips / map->slabs;
    int64_t h = slab * map->rows + lane / map->cols, w = strip * map->cols + lane % map->cols;
    bool exists = h < s->feat_h && w < s->feat_w;
    return exists ? (camera * s->feat_h + h) * s->feat_w + w : -1;
}

static int lowest_power(int64_t value) {
    int power = 0;
    while ((int64_t)1 << (power + 1) <= value)
        power++;
    return power;
}

/* The depths of the block, all bins: a warp's share of the words, 32 in an instruction. */
static void block_depths(Columns *c, int sm, const ColumnWarp *warp, bool store) {
    const BevShape *s = &c->problem->shape;
    const ColumnMap *map = &c->map;
    int width = map->cols * c->block.columns, step = 8 / c->bytes;
    while (step > 1 && (width % step != 0 || s->feat_w % step != 0))
        step = step * c->bytes > 4 ? step / 2 : 1;
    int words = WARP * c->block.columns / step;
    int warps = c->block.warps * c->block.columns, log_width = lowest_power(width);
    int64_t in_row = warp->block % c->a_row, slab = in_row / c->groups, group = in_row % c->groups;
    int64_t first = slab / map->slabs * s->depth_bins * s->feat_h * s->feat_w;
    for (int64_t i = (int64_t)warp->in_block * WARP; i < s->depth_bins * words; i += warps * WARP) {
        Instruction in = store ? memory_write(c->memory, sm, c->grad_depth)
                               : memory_read(c->memory, sm, c->depth);
        for (int64_t lane = i; lane < i + WARP && lane < s->depth_bins * words; lane++) {
            int64_t bin = lane / words, p = lane % words * step;
            int64_t h = slab % map->slabs * map->rows + (p >> log_width);
            int64_t w = group * width + (p & (width - 1));
            int64_t element = first + (bin * s->feat_h + h) * s->feat_w + w;
            if (h < s->feat_h && w < s->feat_w)
                memory_span(&in, element * c->bytes, step * c->bytes);
        }
        c->instructions += WORD_INSTRUCTIONS;
    }
}

/* Pieces of 16 bytes go to shared memory past L1: of the column's features, all channels. */
static void read_features(Columns *c, int sm, const ColumnWarp *warp) {
    int pieces = c->channels * c->bytes / PIECE, threads = c->block.warps * WARP;
    for (int i = warp->number * WARP; i < WARP * pieces; i += threads) {
        Instruction in = memory_read(c->memory, sm, c->feat);
        in.past_l1 = true;
        for (int lane = i; lane < i + WARP && lane < WARP * pieces; lane++) {
            int64_t pixel = pixel_of(c, warp->column, lane / pieces);
            if (pixel >= 0)
                memory_span(&in, pixel * c->channels * c->bytes + lane % pieces * PIECE, PIECE);
        }
        c->instructions += PIECE_INSTRUCTIONS;
    }
}

/* Rows of grad_out of a chunk's cells, channels from `first` on. */
static void read_rows(Columns *c, int sm, const ColumnChunk *chunk, int first) {
    int pieces = c->block.channels * c->bytes / PIECE;
    for (int i = 0; i < CHUNK_CELLS * pieces; i += WARP) {
        Instruction in = memory_read(c->memory, sm, c->grad_out);
        in.past_l1 = true;
        for (int lane = i; lane < i + WARP && lane / pieces < chunk->cells; lane++) {
            int64_t row = chunk->cell[lane / pieces] * (int64_t)c->channels + first;
            memory_span(&in, row * c->bytes + lane % pieces * PIECE, PIECE);
        }
    }
}

static void read_one(Columns *c, int sm, Place place, int64_t first, int64_t bytes) {
    Instruction in = memory_read(c->memory, sm, place);
    memory_span(&in, first, bytes);
}

/* What a chunk is made of, and its first piece of slots. */
static void read_chunk(Columns *c, int sm, int64_t number) {
    read_one(c, sm, c->chunks, number * CHUNK_BYTES, CHUNK_BYTES);
    read_one(c, sm, c->cells, number * CHUNK_CELLS * INDEX, CHUNK_CELLS * INDEX);
    read_one(c, sm, c->slots, number * c->map.layers * WARP * PIECE, WARP * PIECE);
}

/* Of a map with weights: those of all bins, and the slots of all but the first four. */
static void read_weights(Columns *c, int sm, int64_t number) {
    const ColumnChunk *chunk = &c->map.chunks[number];
    int64_t column = number / c->map.column_chunks, row = WARP * c->map.layers * FLOAT;
    int64_t first = column * c->problem->shape.depth_bins + chunk->first_bin;
    for (int bin = 0; bin < chunk->bins; bin++) {
        if (bin % GROUP == 0 && bin > 0)
            read_one(c, sm, c->slots, (number * c->map.layers + bin / GROUP) * WARP * PIECE,
                     WARP * PIECE);
        read_one(c, sm, c->weights, (first + bin) * row, row);
    }
}

/* Tiles of 16 pixels and 16 channels of grad_feat, dealt out to the column's warps. */
static int tiles_of(const Columns *c, const ColumnWarp *warp) {
    int tiles = WARP / TILE * c->block.channels / TILE;
    return (tiles - warp->number + c->block.warps - 1) / c->block.warps;
}

/* Pieces of 16 bytes of the column's grad_feat, from shared memory. */
static void store_features(Columns *c, int sm, const ColumnWarp *warp) {
    int pieces = c->block.channels * c->bytes / PIECE, threads = c->block.warps * WARP;
    for (int i = warp->number * WARP; i < WARP * pieces; i += threads) {
        Instruction in = memory_write(c->memory, sm, c->grad_feat);
        for (int lane = i; lane < i + WARP && lane < WARP * pieces; lane++) {
            int64_t pixel = pixel_of(c, warp->column, lane / pieces);
            int64_t first = (pixel * c->channels + warp->first_channel) * c->bytes;
            if (pixel >= 0)
                memory_span(&in, first + lane % pieces * PIECE, PIECE);
        }
        c->instructions += PIECE_INSTRUCTIONS;
    }
    c->instructions += tiles_of(c, warp) * STORE_INSTRUCTIONS;
}

/* ---- a warp's turns -------------------------------------------------------------------------- */

static bool warp_begin(void *replay, int64_t block, int number, void *state) {
    const Columns *c = replay;
    ColumnWarp *warp = state;
    int64_t in_row = block % c->a_row;
    int64_t strip = in_row % c->groups * c->block.columns + number / c->block.warps;
    int64_t column = in_row / c->groups * c->map.strips + strip;
    *warp = (ColumnWarp){.block = block,
                         .column = strip < c->map.strips ? column : -1,
                         .number = number % c->block.warps,
                         .in_block = number,
                         .first_channel = (int)(block / c->a_row) * c->block.channels};
    return true;
}

/* The warp's chunk of this round, or NULL. */
static const ColumnChunk *chunk_of(const Columns *c, const ColumnWarp *warp, int64_t *number) {
    int64_t in_column = (int64_t)warp->round * c->block.warps + warp->number;
    *number = warp->column * c->map.column_chunks + in_column;
    if (warp->column < 0 || in_column >= c->map.column_chunks || !c->map.chunks[*number].bins)
        return NULL;
    return &c->map.chunks[*number];
}

static void run_chunk(Columns *c, int sm, const ColumnWarp *warp, int64_t number) {
    const ColumnChunk *chunk = &c->map.chunks[number];
    bool weighted = c->map.layers > 1, dots = warp->first_channel == 0;
    int parts = c->channels / c->block.channels, groups = (chunk->bins + GROUP - 1) / GROUP;
    if (weighted)
        read_weights(c, sm, number);
    for (int part = 1; dots && part < parts; part++)
        read_rows(c, sm, chunk, part * c->block.channels);
    if (dots && parts > 1)
        read_rows(c, sm, chunk, 0);
    if (weighted && dots)
        read_weights(c, sm, number);
    int group = GROUP_INSTRUCTIONS + (weighted ? LAYERS_INSTRUCTIONS : 0);
    c->instructions += CHUNK_INSTRUCTIONS + (double)groups * group / (dots ? 1 : 2);
    if (dots && c->problem->dtype == BEV_FP32)
        c->instructions += c->channels * DOT_FP32_INSTRUCTIONS;
    else if (dots)
        c->instructions += c->channels / TILE * DOT_INSTRUCTIONS;
    memory_step(c->memory, sm);
}

/* What a warp does for grad_feat with the chunks of a round. */
static double tile_instructions(const Columns *c, const ColumnWarp *warp, int chunks) {
    if (c->problem->dtype == BEV_FP32) {
        int threads = c->block.warps * WARP, tiles = WARP / 2 * c->block.channels / 4;
        return (double)chunks * TILE_FP32_INSTRUCTIONS * ((tiles + threads - 1) / threads);
    }
    bool bf16 = c->problem->dtype == BEV_BF16;
    int each = bf16 ? TILE_BF16_INSTRUCTIONS : TILE_INSTRUCTIONS;
    return (double)chunks * each * tiles_of(c, warp);
}

/* Chunks of the column in this round. */
static int chunks_in_round(const Columns *c, const ColumnWarp *warp) {
    int count = 0;
    for (int other = 0; other < c->block.warps; other++) {
        ColumnWarp beside = *warp;
        int64_t number;
        beside.number = other;
        count += chunk_of(c, &beside, &number) != NULL;
    }
    return count;
}

static bool warp_turn(void *replay, int sm, void *state) {
    Columns *c = replay;
    ColumnWarp *warp = state;
    TraceCounts *counts = c->memory->counts;
    int64_t number;
    const ColumnChunk *chunk = chunk_of(c, warp, &number);
    if (!warp->opened) {
        c->instructions += FIRST_INSTRUCTIONS;
        if (chunk)
            read_chunk(c, sm, number);
        if (warp->column >= 0)
            read_one(c, sm, c->counts, warp->column * INDEX, INDEX);
        block_depths(c, sm, warp, false);
        memory_wait(c->memory, NULL, 0);
        if (chunk)
            read_rows(c, sm, chunk, warp->first_channel);
        if (warp->column >= 0)
            read_features(c, sm, warp);
        warp->opened = true;
        return true;
    }
    int64_t running = number, next_number;
    int chunks = warp->column >= 0 ? chunks_in_round(c, warp) : 0;
    warp->round++;
    const ColumnChunk *next = chunk_of(c, warp, &next_number);
    if (next)
        read_chunk(c, sm, next_number);
    if (chunk)
        run_chunk(c, sm, warp, running);
    c->instructions += tile_instructions(c, warp, chunks);
    memory_count(c->memory, &warp->loads, 1);
    if (warp->round > counts->longest) {
        counts->longest = warp->round;
        counts->indices = counts->values = warp->loads;
    }
    if (chunks == c->block.warps && warp->round * c->block.warps < c->map.column_chunks) {
        if (next)
            read_rows(c, sm, next, warp->first_channel);
        return true;
    }
    if (warp->column >= 0)
        store_features(c, sm, warp);
    if (warp->first_channel == 0)
        block_depths(c, sm, warp, true);
    return false;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static void place_arrays(Columns *c) {
    Memory *memory = c->memory;
    const BevProblem *p = c->problem;
    size_t chunks = (size_t)(c->map.columns * c->map.column_chunks);
    c->feat = memory_place(memory, TRACE_FEAT, "features", bev_tensor_bytes(&p->feat));
    c->depth = memory_place(memory, TRACE_DEPTH, "depth", bev_tensor_bytes(&p->depth));
    c->grad_out = memory_place(memory, TRACE_GRAD_OUT, "grad_out", bev_tensor_bytes(&p->grad_out));
    c->counts = memory_place(memory, TRACE_RANKS, "counts", (size_t)c->map.columns * INDEX);
    c->chunks = memory_place(memory, TRACE_RANKS, "chunks", chunks * CHUNK_BYTES);
    c->cells = memory_place(memory, TRACE_RANKS, "cells", chunks * CHUNK_CELLS * INDEX);
    c->slots =
        memory_place(memory, TRACE_RANKS, "slots", chunks * (size_t)c->map.layers * WARP * PIECE);
    size_t rows = (size_t)(c->map.columns * p->shape.depth_bins * c->map.layers);
    c->weights =
        memory_place(memory, TRACE_WEIGHT, "weights", c->map.layers > 1 ? rows * WARP * FLOAT : 0);
    c->grad_depth =
        memory_place(memory, TRACE_GRAD_DEPTH, "grad_depth", bev_tensor_bytes(&p->grad_depth));
    c->grad_feat =
        memory_place(memory, TRACE_GRAD_FEAT, "grad_feat", bev_tensor_bytes(&p->grad_feat));
}

static bool run_columns(Columns *c, bool with_reuse, const TraceWatch *watch, Err *err) {
    TraceCounts *counts = c->memory->counts;
    c->groups = (c->map.strips + c->block.columns - 1) / c->block.columns;
    c->a_row = c->problem->shape.cameras * c->map.slabs * c->groups;
    Launch launch = {.name = c->memory->kernel->name,
                     .pools = true,
                     .blocks = c->a_row * (c->channels / c->block.channels),
                     .warps = c->block.warps * c->block.columns,
                     .resident = c->block.resident,
                     .state_bytes = sizeof(ColumnWarp),
                     .begin = warp_begin,
                     .turn = warp_turn};
    place_arrays(c);
    if (!memory_start(c->memory, with_reuse, err) ||
        !launch_run(&launch, c, watch, launch.name, err))
        return false;
    memory_launched(c->memory);
    counts->step_instructions = counts->steps > 0 ? c->instructions / counts->steps : 1;
    return true;
}

bool columns_replay(Memory *memory, bool with_reuse, const TraceWatch *watch, Err *err) {
    const BevProblem *problem = memory->problem;
    Columns c = {.memory = memory,
                 .problem = problem,
                 .channels = (int)problem->shape.channels,
                 .bytes = bev_dtypes[problem->dtype].bits / 8};
    if (!column_map_build(problem, &c.map, &c.block, err))
        return false;
    if (!c.map.serves) {
        memory->access = memory->counts->form = &memory->kernel->fallback;
        return backward_replay(memory, with_reuse, watch, err);
    }
    bool ok = run_columns(&c, with_reuse, watch, err);
    column_map_free(&c.map);
    return ok;
}
