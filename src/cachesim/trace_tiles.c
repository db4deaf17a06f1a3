/* SPDX-License-Identifier: MIT */
/* Replays V4 on tensor cores: warps that take steps of tiles, and warps that clear empty cells. A
 * turn is the work of a warp between two waits for loads. A warp finds its tile and reads the map
 * of its first step, does a step, adds the sums of another warp, or stores. If a tile has two
 * blocks, the replay assumes that the second block ends last. The replay leaves out three things:
 * the cells that blocks of 128 channels (FP32: 64) read after their steps, the reads of warps
 * without a tile, and the counters by which two blocks meet. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"
#include "kernels/regime.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/param.h>

enum { HALF = TILE_CELLS / 2, QUADS = 4, WORD = 16, SLAB_BYTES = 8 };
enum { WORK_BYTES = TILE_WORK_WORDS * INDEX };

/* Warp instructions of a worker's turns. */
typedef struct {
    int find, step, put, add, wait, meet, store, clear;
} TurnCosts;

/* A form of V4's kernel: `groups` full groups of channels, then a smaller group (`tail`). */
typedef struct {
    BevDtype dtype;
    int groups;
    bool tail, transposed, weighted;
    TurnCosts costs;
} TileForm;
static const TileForm tile_instructions[] = {
#include "src/cachesim/tile_instructions.inc"
};

/* A worker's work: the step with the worker's number, then next, next + parts, ... before end. */
typedef struct {
    int32_t tile;        /* the tile's number in the order of the launch; -1: no tile, which happens
                            in the last block */
    int32_t draft;       /* the tile's number in the draft */
    int32_t next, end;   /* steps are numbered tile by tile after the workers' first steps */
    int32_t part, parts; /* the worker is number `part` of the tile's `parts` workers */
} TileWork;

typedef struct {
    StepPhase next;   /* the warp's next turn */
    int turns;        /* the number of turns so far */
    int instructions; /* the instructions of these turns */
    TraceWaits loads; /* the turns whose reads missed L1 */
    int joins;        /* the number of joins that still follow */
    int first_channel;
    int32_t step;      /* the warp has read the map of this step */
    TileWork work;     /* `next` is the step after `step`; of a warp that clears, the tile is the
                          first empty cell */
    TileCursor cursor; /* at `step` */
} TileWarp;

typedef struct {
    Memory *memory;
    const BevProblem *problem;
    TileDraft draft;
    int64_t workers, steps, empties; /* workers of whole blocks */
    TileWork *work;                  /* [workers] in the order of the launch */
    int32_t *empty;                  /* [empties] cells without a point */
    Place transposed, work_place, cells, slabs, entries, weight_rows, weights, out, halves,
        empty_place;
    int passes;   /* each pass takes a part of the channels, by blocks of its own */
    int channels; /* channels of a block */
    TurnCosts costs;
    int feat_bits, out_bytes, depth_bytes;
} TilesReplay;

/* ---- the map --------------------------------------------------------------------------------- */

/* V4's map of tiles is built on the device by kernels/cuda/v4/prepare.cuh. A step is one slab: 16
 * image rows of a feature column. It has an entry for each cell of the tile: bin << 16 | rows, or
 * 0. The replay needs the places of steps only, and takes their contents from the draft. */

/* Returns the rank of a tile in the order of the launch. Tiles of a larger class come first. Tiles
 * of class 0 are sorted by their number of steps, the largest first. */
static int rank_of(const TileDraft *draft, int64_t tile) {
    int portion = draft->schedule.portion, steps = draft->step_counts[tile];
    int k = class_of(steps, portion, draft->schedule.largest);
    return k > 0 ? portion + k : steps;
}

/* Deals the tiles to workers, in the order of the launch. */
static void deal_tiles(TilesReplay *replay, int round) {
    const TileDraft *draft = &replay->draft;
    const V4Schedule *schedule = &draft->schedule;
    int blocks = (int)(replay->workers / TILE_WARPS), worker = 0;
    int32_t launch_number = 0;               /* of the tile */
    int32_t step = (int32_t)replay->workers; /* the tile's next step behind the first steps */
    for (int64_t i = 0; i < replay->workers; i++)
        replay->work[i] = (TileWork){.tile = -1};
    for (int rank = schedule->portion + schedule->largest; rank >= 0; rank--)
        for (int64_t tile = 0; tile < draft->tiles; tile++) {
            if (rank_of(draft, tile) != rank)
                continue;
            int32_t count = draft->step_counts[tile];
            int parts = 1 << class_of(count, schedule->portion, schedule->largest);
            for (int part = 0; part < parts; part++, worker++) {
                int block = v4_start_order(worker / TILE_WARPS, blocks, round);
                replay->work[block * TILE_WARPS + worker % TILE_WARPS] =
                    (TileWork){.tile = launch_number,
                               .draft = (int32_t)tile,
                               .next = step + part,
                               .end = step + count - parts,
                               .part = part,
                               .parts = parts};
            }
            step += count - parts;
            launch_number++;
        }
}

/* Makes the work of all workers from the draft. False: out of memory. */
static bool make_work(TilesReplay *replay, int multiprocessors) {
    const V4Schedule *schedule = &replay->draft.schedule;
    const BevProblem *problem = replay->problem;
    int64_t cells = problem->shape.nx * problem->shape.ny;
    CpuArrays *arrays = &replay->memory->arrays;
    int32_t *interval_of = bev_intervals_of_cells(&problem->map, cells);
    replay->workers = (schedule->workers + TILE_WARPS - 1) / TILE_WARPS * TILE_WARPS;
    replay->steps = replay->draft.steps + replay->workers - schedule->workers;
    replay->work = cpu_take(arrays, replay->workers, sizeof *replay->work);
    replay->empty = cpu_take(arrays, cells, sizeof *replay->empty);
    bool ok = interval_of && !arrays->failed;
    if (ok)
        deal_tiles(replay, multiprocessors / (int)schedule->passes);
    for (int64_t cell = 0; ok && cell < cells; cell++)
        if (interval_of[cell] < 0)
            replay->empty[replay->empties++] = (int32_t)cell;
    free(interval_of);
    return ok;
}

/* Returns the entry of cell m of the tile in the cursor's step; 0: the cell has none. */
static uint32_t entry_of(const TilesReplay *replay, const TileCursor *cursor, int m) {
    return cursor->mine[m] < 0 ? 0 : replay->draft.entries[cursor->mine[m]].code;
}

/* Returns cell m of the tile, or -1. */
static int32_t cell_of(const TilesReplay *replay, const TileCursor *cursor, int m) {
    const BevMap *map = &replay->problem->map;
    int32_t interval = cursor->interval[m];
    return interval < 0 ? -1 : map->ranks_bev[map->interval_starts[interval]];
}

/* ---- reads ----------------------------------------------------------------------------------- */

/* Either all lanes request the same bytes, or each lane requests a share. */
static const StepLanes all_the_same = {.count = WARP, .same = true};
static const StepLanes shares = {.count = WARP};

/* Returns lanes 4 g ... 4 g + 3, which hold cells g and g + 8 of the tile. */
static StepLanes lanes_of_cell(int g) {
    return (StepLanes){.first = (int8_t)(g * QUADS), .count = QUADS};
}

static void read_once(TilesReplay *replay, Place place, StepLanes lanes, int64_t byte,
                      int64_t bytes) {
    Instruction in = memory_read(replay->memory, place);
    memory_span(&in, lanes, byte, bytes);
}

/* Reads one word for each cell of a tile, in two instructions. */
static void read_by_cell(TilesReplay *replay, Place place, int64_t row) {
    for (int half = 0; half < 2; half++)
        read_once(replay, place, shares, (row * TILE_CELLS + half * HALF) * INDEX, HALF * INDEX);
}

static void read_map(TilesReplay *replay, int64_t step) {
    read_once(replay, replay->slabs, all_the_same, step * SLAB_BYTES, SLAB_BYTES);
    read_by_cell(replay, replay->entries, step);
    if (replay->problem->map.weights)
        read_by_cell(replay, replay->weight_rows, step);
}

/* The place of a slab: camera, first image row, image column. */
typedef struct {
    int64_t camera, row, w;
} Slab;

/* Returns the feature row that lanes 4 k to 4 k + 3 read in instruction i of a slab. The row is of
 * the slab's image column. Rows behind the last row count as the last row. */
static int64_t feature_row(const BevShape *s, Slab slab, int i, int k) {
    const int64_t last = s->cameras * s->feat_h * s->feat_w - 1;
    const int64_t image_row = slab.row + HALF * i + k / 2 + k % 2 * QUADS;
    return MIN((slab.camera * s->feat_h + image_row) * s->feat_w + slab.w, last);
}

typedef enum { CODES, BLOCK_SCALES } RowPart;

/* Replays instruction i of the reads of channels [c, c + count) of a slab. The instruction reads
 * eight image rows, each by four lanes: their codes, or their block scales. */
static void read_rows(TilesReplay *replay, Slab slab, int i, int c, int count, RowPart part) {
    const BevShape *s = &replay->problem->shape;
    int64_t row_bytes = (int64_t)bev_code_bytes(replay->problem->dtype, 1, s->channels);
    Memory *memory = replay->memory;
    Instruction in = memory_read(memory, part == BLOCK_SCALES ? memory->scales : memory->feat);
    for (int k = 0; k < HALF; k++) {
        const int64_t row = feature_row(s, slab, i, k);
        if (part == BLOCK_SCALES)
            memory_span(&in, lanes_of_cell(k), (row * s->channels + c) / BEV_BLOCK,
                        (count + BEV_BLOCK - 1) / BEV_BLOCK);
        else
            memory_span(&in, lanes_of_cell(k), row * row_bytes + c * replay->feat_bits / 8,
                        count * replay->feat_bits / 8);
    }
}

/* Returns the number of channels that four lanes load side by side. */
static int chunk_channels(const TilesReplay *replay) {
    return QUADS * v4_lane_channels(replay->problem->dtype);
}

/* Replays the reads of a slab's rows. A lane loads 16 bytes twice: of a row, and of the row 8
 * below. NVFP4 has its block scales read, too. */
static void read_features(TilesReplay *replay, Slab slab, int first_channel) {
    const bool has_scales = replay->problem->dtype == BEV_NVFP4;
    const int chunk = chunk_channels(replay);
    for (int c = 0; c < replay->channels; c += chunk) {
        const int count = MIN(replay->channels - c, chunk);
        for (int i = 0; i < 2; i++) {
            read_rows(replay, slab, i, first_channel + c, count, CODES);
            if (has_scales)
                read_rows(replay, slab, i, first_channel + c, count, BLOCK_SCALES);
        }
    }
}

/* Reads depths from (camera, bin, h, w), without a transpose. In instruction i lane q of a cell
 * loads one depth, that of image row 4i + q. */
static void gather_depths(TilesReplay *replay, Slab slab, const TileCursor *cursor) {
    const BevShape *s = &replay->problem->shape;
    int64_t plane = s->feat_h * s->feat_w;
    int64_t slab_depth = slab.camera * s->depth_bins * plane + slab.row * s->feat_w + slab.w;
    for (int load = 0; load < 2 * QUADS; load++) {
        Instruction in = memory_read(replay->memory, replay->memory->depth);
        for (int lane = 0; lane < WARP; lane++) {
            uint32_t entry = entry_of(replay, cursor, load / QUADS * HALF + lane / QUADS);
            int row = v4_place(lane % QUADS * 4 + load % QUADS);
            int64_t depth = slab_depth + (entry >> SLAB) * plane + row * s->feat_w;
            if (entry >> row & 1)
                memory_span(&in, one_lane(lane), depth * replay->depth_bytes, replay->depth_bytes);
        }
    }
}

/* Reads depths from the transpose (camera, w, slab, bin, place). Lane q loads rows q, q + 4 ... */
static void read_transposed(TilesReplay *replay, const TileCursor *cursor) {
    int64_t first_bin = cursor->column * replay->problem->shape.depth_bins;
    for (int half = 0; half < 2; half++) {
        Instruction in = memory_read(replay->memory, replay->transposed);
        for (int lane = 0; lane < WARP; lane++) {
            uint32_t entry = entry_of(replay, cursor, half * HALF + lane / QUADS);
            int q = lane % QUADS;
            const bool has_rows = entry & 0x1111u << q;
            int64_t depth = (first_bin + (entry >> SLAB)) * SLAB + 4 * q;
            if (has_rows)
                memory_span(&in, one_lane(lane), depth * replay->depth_bytes,
                            4 * replay->depth_bytes);
        }
    }
}

/* Replays the reads of the weights. A cell without an entry reads the weights of entry 0. */
static void read_weights(TilesReplay *replay, const TileCursor *cursor) {
    for (int half = 0; half < 2; half++) {
        Instruction in = memory_read(replay->memory, replay->weights);
        for (int g = 0; g < HALF; g++)
            memory_span(&in, lanes_of_cell(g),
                        MAX(cursor->mine[half * HALF + g], 0) * (int64_t)SLAB * FLOAT,
                        SLAB * FLOAT);
    }
}

/* ---- a warp's turns -------------------------------------------------------------------------- */

/* Names the points of a step to the recorder: up to 16 image rows of a column for each of the
 * tile's 16 cells. */
static void show_points(const TilesReplay *replay, const TileWarp *warp, Slab slab) {
    const BevShape *s = &replay->problem->shape;
    int64_t plane = s->feat_h * s->feat_w;
    for (int k = 0; k < TILE_CELLS; k++) {
        uint32_t entry = entry_of(replay, &warp->cursor, k);
        for (int row = 0; row < SLAB; row++) {
            int64_t pixel = (slab.row + row) * s->feat_w + slab.w;
            int64_t bin = slab.camera * s->depth_bins + (entry >> SLAB);
            StepPoint point = {.depth = (int32_t)(bin * plane + pixel),
                               .feat = (int32_t)(slab.camera * plane + pixel),
                               .cell = cell_of(replay, &warp->cursor, k),
                               .number = -1, /* the map of tiles has none */
                               .first = (int16_t)warp->first_channel,
                               .last = (int16_t)(warp->first_channel + replay->channels),
                               .row = (int8_t)row,
                               .column = (int8_t)k,
                               .lanes = lanes_of_cell(k % HALF)};
            if (entry >> row & 1)
                recorder_point(replay->memory->watch.recorder, &point);
        }
    }
}

/* Moves the cursor of a warp by `count` steps of its tile. */
static void skip_steps(const TilesReplay *replay, TileWarp *warp, int count) {
    for (int i = 0; i < count; i++)
        tile_cursor_step(&replay->draft, &warp->cursor);
}

/* Replays a step, and reads the map of the warp's next step. */
static void replay_step(TilesReplay *replay, TileWarp *warp) {
    const BevShape *s = &replay->problem->shape;
    const TileCursor *cursor = &warp->cursor;
    int64_t slabs = v4_slabs(s), column = cursor->column;
    const Slab slab = {column / slabs / s->feat_w, column % slabs * SLAB,
                       column / slabs % s->feat_w};
    if (warp->turns == 1) /* the warp has found its tile in the turn before */
        read_by_cell(replay, replay->cells, warp->work.tile);
    if (replay->memory->watch.recorder)
        show_points(replay, warp, slab);
    read_features(replay, slab, warp->first_channel);
    if (replay->draft.transposed)
        read_transposed(replay, cursor);
    else
        gather_depths(replay, slab, cursor);
    if (replay->problem->map.weights)
        read_weights(replay, cursor);
    warp->step = warp->work.next;
    if (warp->step < warp->work.end) {
        read_map(replay, warp->step);
        skip_steps(replay, warp, warp->work.parts);
    }
    warp->work.next += warp->work.parts;
}

/* Stores a tile. Four lanes write the channels of a cell, in the chunks of their loads. */
static void store_tile(TilesReplay *replay, const TileWarp *warp) {
    int64_t row = replay->problem->shape.channels * replay->out_bytes;
    const int chunk = chunk_channels(replay);
    for (int half = 0; half < 2; half++) {
        for (int c = 0; c < replay->channels; c += chunk) {
            const int count = MIN(replay->channels - c, chunk);
            const int64_t first_byte = (warp->first_channel + c) * replay->out_bytes;
            Instruction in = memory_write(replay->memory, replay->out);
            for (int g = 0; g < HALF; g++) {
                int32_t cell = cell_of(replay, &warp->cursor, half * HALF + g);
                if (cell >= 0)
                    memory_span(&in, lanes_of_cell(g), cell * row + first_byte,
                                count * replay->out_bytes);
            }
        }
    }
}

/* Writes a warp's sums to the workspace in which the two blocks of a tile meet, or reads the sums
 * there. `half` is the number of the block that wrote the sums, 0 or 1. */
static void move_sums(TilesReplay *replay, const TileWarp *warp, int half, ReuseKind kind) {
    int64_t bytes = TILE_CELLS * (int64_t)replay->channels * FLOAT;
    int64_t reduction =
        warp->work.tile * (int64_t)replay->passes + warp->first_channel / replay->channels;
    int64_t first_byte = (2 * reduction + half) * bytes;
    for (int64_t byte = 0; byte < bytes; byte += WARP * WORD) {
        Instruction in = kind == REUSE_READ ? memory_read(replay->memory, replay->halves)
                                            : memory_write(replay->memory, replay->halves);
        memory_span(&in, shares, first_byte + byte, WARP * WORD);
    }
}

/* Clears a warp's empty cells. Each lane of an instruction writes 16 bytes. */
static void clear_cells(TilesReplay *replay, const TileWarp *warp) {
    const int64_t first = warp->work.tile;
    const int32_t *empty = replay->empty + first;
    int64_t count = MIN(replay->empties - first, WARP);
    int64_t row = replay->problem->shape.channels * replay->out_bytes;
    int words = replay->channels * replay->out_bytes / WORD;
    read_once(replay, replay->empty_place, (StepLanes){.count = (int8_t)count}, first * INDEX,
              count * INDEX);
    for (int base = 0; base < count * words; base += WARP) {
        Instruction in = memory_write(replay->memory, replay->out);
        for (int i = base; i < base + WARP && i < count * words; i++) {
            int64_t cell = empty[i / words];
            int64_t first_byte = cell * row + warp->first_channel * replay->out_bytes;
            memory_span(&in, one_lane(i - base), first_byte + i % words * WORD, WORD);
        }
    }
}

/* Whether the warp adds the sums of its block to those of the tile's other block. */
static bool meets_block(const TileWarp *warp) {
    return warp->work.parts > TILE_WARPS && warp->work.part % TILE_WARPS == 0;
}

/* Replays a join, in which the warps of a block add up their sums. The upper half of the remaining
 * parts writes sums to shared memory, the lower half adds them. Returns the turn's instructions. */
static int join_sums(TileWarp *warp, const TurnCosts *costs) {
    const int part = warp->work.part % TILE_WARPS, half = 1 << --warp->joins;
    if (part < half)
        return costs->add;
    return part < 2 * half ? costs->put : costs->wait;
}

/* Replays the work of a warp's turn and returns the turn's instructions. */
static int replay_phase(TilesReplay *replay, TileWarp *warp) {
    enum { FIRST_BLOCK, SECOND_BLOCK };
    const TurnCosts *costs = &replay->costs;
    const int own_block = warp->work.part > 0 ? SECOND_BLOCK : FIRST_BLOCK;
    const int storing_part = warp->work.parts > TILE_WARPS ? TILE_WARPS : 0;
    switch (warp->next) {
    case PHASE_TILE:
        /* The worker's first step has the worker's number. */
        read_once(replay, replay->work_place, all_the_same, warp->step * WORK_BYTES, WORK_BYTES);
        read_map(replay, warp->step);
        return costs->find;
    case PHASE_MULTIPLY:
        replay_step(replay, warp);
        return costs->step;
    case PHASE_JOIN:
        return join_sums(warp, costs);
    case PHASE_MEET: /* each block writes its sums; the last block adds those of the first block */
        move_sums(replay, warp, own_block, REUSE_WRITE);
        if (own_block == SECOND_BLOCK)
            move_sums(replay, warp, FIRST_BLOCK, REUSE_READ);
        return costs->meet;
    case PHASE_STORE: /* of two blocks the first part of the second block stores */
        if (warp->work.part != storing_part)
            return 0;
        store_tile(replay, warp);
        return costs->store;
    default: /* PHASE_CLEAR */
        clear_cells(replay, warp);
        return costs->clear;
    }
}

static StepPhase phase_after(const TileWarp *warp, StepPhase phase) {
    return phase == PHASE_MEET           ? PHASE_STORE
           : warp->step < warp->work.end ? PHASE_MULTIPLY
           : warp->joins                 ? PHASE_JOIN
           : meets_block(warp)           ? PHASE_MEET
                                         : PHASE_STORE;
}

/* Replays one turn of a warp of V4: find the tile, step, join, store, or clear. */
static bool tile_turn(void *opaque, void *state) {
    TilesReplay *replay = opaque;
    TileWarp *warp = state;
    TraceCounts *counts = replay->memory->counts;
    const StepPhase phase = warp->next;
    memory_phase(replay->memory, phase);
    const int instructions = replay_phase(replay, warp);
    warp->next = phase_after(warp, phase);
    warp->instructions += instructions;
    memory_step(replay->memory);
    replay->memory->shares[replay->memory->sm].others += instructions;
    memory_wait(replay->memory, &warp->loads);
    if (++warp->turns > counts->longest) {
        counts->longest = counts->slowest = warp->turns;
        counts->values = warp->loads;
        counts->slowest_instructions = warp->instructions;
    }
    return phase != PHASE_STORE && phase != PHASE_CLEAR;
}

/* Begins a warp of V4 with its part of a tile, or with empty cells to clear. False: no work. */
static bool tile_begin(void *opaque, int64_t block, int number, void *state) {
    const TilesReplay *replay = opaque;
    TileWarp *warp = state;
    int64_t worker = block / replay->passes * TILE_WARPS + number;
    *warp = (TileWarp){.first_channel = (int)block % replay->passes * replay->channels,
                       .step = (int32_t)worker};
    if (worker >= replay->workers) {
        int64_t first_empty = (worker - replay->workers) * WARP;
        warp->next = PHASE_CLEAR;
        warp->work.tile = (int32_t)first_empty;
        return first_empty < replay->empties;
    }
    warp->next = PHASE_TILE;
    warp->work = replay->work[worker];
    if (warp->work.tile < 0)
        return false;
    warp->joins = class_of(warp->work.parts, 1, TILE_LARGEST);
    warp->cursor = tile_cursor(&replay->draft, warp->work.draft);
    skip_steps(replay, warp, warp->work.part + 1);
    return true;
}

static int tile_cells(const void *opaque, const void *state, WarpCells list) {
    const TilesReplay *replay = opaque;
    const TileWarp *warp = state;
    bool clears = warp->next == PHASE_CLEAR;
    int64_t most = clears ? MIN(replay->empties - warp->work.tile, WARP) : TILE_CELLS;
    int count = 0;
    for (int i = 0; i < most; i++) {
        list[count] =
            clears ? replay->empty[warp->work.tile + i] : cell_of(replay, &warp->cursor, i);
        count += list[count] >= 0;
    }
    return count;
}

/* Returns the turns that are left: finding the tile, its first and other steps, joins, the meeting
 * of two blocks, the store. */
static int32_t tile_turns(const void *state) {
    const TileWarp *warp = state;
    const TileWork *work = &warp->work;
    enum { FIND = 1, FIRST_STEP = 1, STORE = 1 };
    if (warp->next == PHASE_CLEAR)
        return 1;
    int32_t other_steps = (MAX(work->end - work->next, 0) + work->parts - 1) / work->parts;
    return FIND + FIRST_STEP + other_steps + warp->joins + meets_block(warp) + STORE;
}

/* ---- transposing the depth ------------------------------------------------------------------- */

/* A block transposes 32 columns by TRANSPOSE_BINS bins of a slab. Each warp gathers the 16 image
 * rows of a bin, four rows at once if a lane loads four columns. Then the block writes the bins of
 * each column side by side. */
enum { TRANSPOSE_RESIDENT = 16 };
typedef struct {
    Slab slab; /* the slab of the block's first column */
    int64_t columns, first_bin, bins;
    int number;
    bool gathered;
} TransposeWarp;

static int64_t blocks_across(const BevShape *s) {
    return (s->feat_w + WARP - 1) / WARP;
}

static bool transpose_begin(void *opaque, int64_t block, int number, void *state) {
    const TilesReplay *replay = opaque;
    const BevShape *s = &replay->problem->shape;
    int64_t across = blocks_across(s), slabs = v4_slabs(s), images = s->cameras * slabs * across;
    int64_t first_w = block % across * WARP, image = block % images / across;
    TransposeWarp *warp = state;
    *warp = (TransposeWarp){.slab = {image / slabs, image % slabs * SLAB, first_w},
                            .columns = MIN(s->feat_w - first_w, WARP),
                            .first_bin = block / images * TRANSPOSE_BINS,
                            .number = number};
    warp->bins = MIN(s->depth_bins - warp->first_bin, TRANSPOSE_BINS);
    return true;
}

/* Reads the rows of depth that a warp transposes. An instruction reads `across` rows, because a
 * lane loads so many columns at once. */
static void gather_rows(TilesReplay *replay, const TransposeWarp *warp) {
    const BevShape *s = &replay->problem->shape;
    int across = v4_across(s->feat_w), lanes = WARP / across;
    int64_t plane = warp->slab.camera * s->depth_bins + warp->first_bin + warp->number;
    for (int i = 0; warp->number < warp->bins && i < SLAB / across; i++) {
        Instruction in = memory_read(replay->memory, replay->memory->depth);
        int first_group = i / ROW_GROUPS * across;
        for (int group = 0; group < across; group++) {
            int64_t h = warp->slab.row + first_group + group + i % ROW_GROUPS * ROW_GROUPS;
            int64_t row = (plane * s->feat_h + h) * s->feat_w + warp->slab.w;
            const StepLanes some = {.first = (int8_t)(group * lanes),
                                    .count = (int8_t)(warp->columns / across)};
            if (h < s->feat_h)
                memory_span(&in, some, row * replay->depth_bytes,
                            warp->columns * replay->depth_bytes);
        }
    }
}

/* Replays the writes of the transposed columns, in words of 16 bytes. Each lane writes one word;
 * the warps of the block take the groups of 32 words in rotation. */
static void write_columns(TilesReplay *replay, const TransposeWarp *warp) {
    const BevShape *s = &replay->problem->shape;
    int64_t words = SLAB * replay->depth_bytes / WORD, column_words = TRANSPOSE_BINS * words;
    for (int64_t base = warp->number * WARP; base < WARP * column_words;
         base += TRANSPOSE_BINS * WARP) {
        Instruction in = memory_write(replay->memory, replay->transposed);
        for (int lane = 0; lane < WARP; lane++) {
            int64_t word = (base + lane) % column_words;
            int64_t column =
                v4_column_of((int)((base + lane) / column_words), v4_across(s->feat_w));
            int64_t w = warp->slab.camera * s->feat_w + warp->slab.w + column;
            int64_t to =
                (w * v4_slabs(s) + warp->slab.row / SLAB) * s->depth_bins + warp->first_bin;
            if (column < warp->columns && word < warp->bins * words)
                memory_span(&in, one_lane(lane), (to * words + word) * WORD, WORD);
        }
    }
}

static bool transpose_turn(void *opaque, void *state) {
    TilesReplay *replay = opaque;
    TransposeWarp *warp = state;
    memory_phase(replay->memory, PHASE_TRANSPOSE);
    if (warp->gathered) {
        write_columns(replay, warp);
        return false;
    }
    gather_rows(replay, warp);
    warp->gathered = true;
    return true;
}

/* ---- the launches ---------------------------------------------------------------------------- */

/* Gives each other array of V4 a place in memory, so that accesses have addresses. */
static void place_arrays(TilesReplay *replay) {
    Memory *memory = replay->memory;
    const BevProblem *p = replay->problem;
    size_t tiles = (size_t)replay->draft.tiles, slots = (size_t)replay->steps * TILE_CELLS;
    size_t weights = (size_t)replay->draft.entry_starts[p->map.intervals] * SLAB * FLOAT;
    replay->transposed = memory_place(memory, TRACE_DEPTH, "depth by column",
                                      replay->draft.transposed ? tile_transposed_bytes(p) : 0);
    replay->work_place =
        memory_place(memory, TRACE_OWNERS, "work", (size_t)replay->workers * WORK_BYTES);
    replay->cells = memory_place(memory, TRACE_OWNERS, "tile cells", tiles * TILE_CELLS * INDEX);
    replay->empty_place =
        memory_place(memory, TRACE_OWNERS, "empty cells", (size_t)replay->empties * INDEX);
    replay->slabs = memory_place(memory, TRACE_RANKS, "slabs", (size_t)replay->steps * SLAB_BYTES);
    replay->entries = memory_place(memory, TRACE_RANKS, "entries", slots * INDEX);
    replay->weight_rows =
        memory_place(memory, TRACE_RANKS, "weight rows", p->map.weights ? slots * INDEX : 0);
    replay->weights = memory_place(memory, TRACE_WEIGHT, "weights", p->map.weights ? weights : 0);
    replay->out = memory_place(memory, TRACE_OUT, "output", bev_tensor_bytes(&p->out));
    replay->halves = memory_place(
        memory, TRACE_SUMS, "sums of pairs",
        (size_t)(2 * replay->draft.schedule.counts[PAIR_CLASS] * TILE_CELLS * p->shape.channels) *
            FLOAT);
}

/* Replays V4's launches: the transposition of the depth if the map wants one, then the tiles. */
static bool run_launches(TilesReplay *replay, Err *err) {
    const BevShape *s = &replay->problem->shape;
    int64_t a_block = TILE_WARPS * WARP; /* empty cells */
    int64_t bin_groups = (s->depth_bins + TRANSPOSE_BINS - 1) / TRANSPOSE_BINS;
    Launch transpose = {.name = "transpose the depth",
                        .blocks = s->cameras * v4_slabs(s) * blocks_across(s) * bin_groups,
                        .warps = TRANSPOSE_BINS,
                        .resident = TRANSPOSE_RESIDENT,
                        .state_bytes = sizeof(TransposeWarp),
                        .begin = transpose_begin,
                        .turn = transpose_turn};
    int64_t tile_blocks = replay->workers / TILE_WARPS;
    int64_t clear_blocks = (replay->empties + a_block - 1) / a_block;
    Launch tiles = {.name = replay->memory->kernel->name,
                    .pools = true,
                    .blocks = (tile_blocks + clear_blocks) * replay->passes,
                    .warps = TILE_WARPS,
                    .resident = TILE_BLOCKS,
                    .state_bytes = sizeof(TileWarp),
                    .begin = tile_begin,
                    .turn = tile_turn,
                    .cells = tile_cells,
                    .turns = tile_turns};
    replay->memory->counts->transposed = replay->draft.transposed;
    if (replay->draft.transposed && !launch_run(&transpose, replay->memory, replay, err))
        return false;
    return launch_run(&tiles, replay->memory, replay, err);
}

/* Returns the counted instructions of the form of V4 that this problem takes. */
static TurnCosts costs_of(const TilesReplay *replay) {
    const BevProblem *problem = replay->problem;
    int group = v4_group(problem->dtype);
    const int groups = replay->channels / group;
    const bool has_tail = replay->channels % group > 0, has_weights = problem->map.weights != NULL;
    for (size_t i = 0; i < sizeof tile_instructions / sizeof *tile_instructions; i++) {
        const TileForm *form = &tile_instructions[i];
        if (form->dtype == problem->dtype && form->groups == groups && form->tail == has_tail &&
            form->transposed == replay->draft.transposed && form->weighted == has_weights)
            return form->costs;
    }
    assert(!"a form of V4's tiles without its row");
    return (TurnCosts){0};
}

bool tiles_replay(Memory *memory, Err *err) {
    const BevProblem *problem = memory->problem;
    const TraceWatch *watch = &memory->watch;
    const int multiprocessors = watch->scheduler ? watch->multiprocessors : TRACE_MULTIPROCESSORS;
    TilesReplay replay = {.memory = memory,
                          .problem = problem,
                          .feat_bits = bev_dtypes[problem->dtype].bits,
                          .out_bytes = bev_dtypes[problem->out.dtype].bits / 8,
                          .depth_bytes = bev_dtypes[problem->depth.dtype].bits / 8};
    bool ok = tile_draft_make(problem, multiprocessors, &replay.draft);
    const bool serves = ok && replay.draft.serves;
    ok = ok && (!serves || make_work(&replay, multiprocessors));
    if (!ok) {
        err_no_memory(err, "V4's tiles", "choose a smaller scene");
    } else if (serves) {
        replay.passes = (int)replay.draft.schedule.passes;
        replay.channels = (int)problem->shape.channels / replay.passes;
        replay.costs = costs_of(&replay);
        place_arrays(&replay);
        ok = memory_start(memory, err) && run_launches(&replay, err);
    }
    tile_draft_free(&replay.draft);
    if (!ok || serves)
        return ok;
    memory->access = memory->counts->form = &memory->kernel->fallback;
    return owners_replay(memory, err);
}
