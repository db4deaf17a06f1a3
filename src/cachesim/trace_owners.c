/* SPDX-License-Identifier: MIT */
/* Replays kernels whose threads own points, splats, intervals, cells or pieces. This file deals the
 * owners to threads and runs the launches. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"
#include "kernels/regime.h"

#include <stdlib.h>
#include <string.h>

/* ---- BEV Align's splats ---------------------------------------------------------------------- */

/* Joins neighbours with equal ranks to splats of at most four points. */
static void join_points(const BevMap *map, const int32_t *order, Splats *splats) {
    Splat *last = NULL;
    for (int64_t i = 0; i < map->points; i++) {
        int32_t t = order[i], depth = map->ranks_depth[t], feat = map->ranks_feat[t];
        if (!last || last->cells == BEV_SPLAT_CELLS || last->depth != depth || last->feat != feat) {
            last = &splats->splats[splats->count++];
            *last = (Splat){.depth = depth, .feat = feat};
        }
        last->point[last->cells] = t;
        last->cell[last->cells++] = map->ranks_bev[t];
    }
}

/* Sorts the points by their frustum point, and joins the neighbours of one into a splat. next[d] is
 * the place of the next point with depth rank d. */
static bool splats_gather(const BevProblem *problem, Splats *splats, Err *err) {
    const BevMap *map = &problem->map;
    size_t points = (size_t)map->points, depths = (size_t)problem->depth.row_len;
    int32_t *next = calloc(depths + 1, sizeof *next);
    int32_t *order = malloc((points + 1) * sizeof *order);
    *splats = (Splats){.splats = malloc((points + 1) * sizeof *splats->splats)};
    bool ok = next && order && splats->splats;
    for (int64_t t = 0; ok && t < map->points; t++)
        next[map->ranks_depth[t] + 1]++;
    for (size_t d = 1; ok && d <= depths; d++)
        next[d] += next[d - 1];
    for (int64_t t = 0; ok && t < map->points; t++)
        order[next[map->ranks_depth[t]]++] = (int32_t)t;
    if (ok)
        join_points(map, order, splats);
    free(next);
    free(order);
    return ok || err_no_memory(err, "splats", "");
}

/* ---- V4's pieces ----------------------------------------------------------------------------- */

/* Instructions of a warp outside of its steps, counted in the disassembly. The warp finds its cells
 * and stores. In each round of the join it may put its sums down, or add others to its own. */
enum {
    PIECE_INSTRUCTIONS = 145,
    ROUND_INSTRUCTIONS = 17,
    PUT_INSTRUCTIONS = 26,
    ADD_INSTRUCTIONS = 33
};

/* Returns the instructions of a warp with workers [from, to) outside of its steps. The first cell
 * of the block has the most parts and decides the rounds, as join_parts() in v4.cuh does. */
static int piece_instructions(const Pieces *pieces, int64_t block, int64_t from, int64_t to) {
    int instructions = PIECE_INSTRUCTIONS;
    for (int half = pieces->workers[block].parts / 2; half >= 1; half /= 2) {
        bool puts = false, adds = false;
        for (int64_t i = from; i < to; i++) {
            const Piece *piece = &pieces->workers[i];
            bool joins = piece->parts > half;
            puts = puts || (joins && piece->part >= half && piece->part < 2 * half);
            adds = adds || (joins && piece->part < half);
        }
        instructions +=
            ROUND_INSTRUCTIONS + (puts ? PUT_INSTRUCTIONS : 0) + (adds ? ADD_INSTRUCTIONS : 0);
    }
    return instructions;
}

/* Deals cells to workers. `rows`, a power of two, is the number of workers of a block, and the most
 * that a cell can have. `interval_of` has the interval of each cell, or -1. */
static bool pieces_deal(const BevProblem *problem, const int32_t *interval_of, int rows,
                        Pieces *pieces, Err *err) {
    const BevMap *map = &problem->map;
    int64_t cells = problem->shape.nx * problem->shape.ny, owner = 0;
    int portion = piece_points(map->points, problem->shape.channels);
    int largest = class_of(rows, 1, rows); /* 2^largest is `rows` */
    /* A cell has one worker, or fewer than two workers for every PIECE_POINTS points. */
    size_t most = (size_t)cells + (size_t)map->points / PIECE_POINTS * 2;
    *pieces = (Pieces){.workers = malloc((most + 1) * sizeof *pieces->workers)};
    if (!pieces->workers)
        return err_no_memory(err, "V4's pieces", "");
    for (int parts = rows; parts >= 0; parts = parts ? parts / 2 : -1) { /* 0: empty cells */
        for (int64_t cell = 0; cell < cells; cell++) {
            int32_t interval = interval_of[cell];
            int own =
                interval < 0 ? 0 : 1 << class_of(map->interval_lengths[interval], portion, largest);
            if (own != parts)
                continue;
            for (int part = 0; part < (parts ? parts : 1); part++)
                pieces->workers[pieces->count++] =
                    (Piece){(int32_t)cell, (int32_t)owner, part, parts ? parts : 1};
            owner++;
        }
    }
    return true;
}

enum { CLEAR_BYTES = 16 };

/* ---- warps ----------------------------------------------------------------------------------- */

/* Returns the points [start, end) that an owner adds up for its channels first to last, each one
 * `stride` behind the one before. A cell without points has none, and a splat is one step. */
static Segment segment_of(const OwnersReplay *replay, int64_t owner, int first, int last) {
    const BevMap *map = &replay->problem->map;
    Segment segment = {.owner = (int32_t)owner,
                       .stride = 1,
                       .first = (int16_t)first,
                       .last = (int16_t)last,
                       .stores = true};
    int64_t interval = owner;
    switch (replay->access->owner) {
    case BEV_OWNS_SPLAT:
        segment.end = 1;
        return segment;
    case BEV_OWNS_POINT:
        segment.start = (int32_t)owner;
        segment.end = segment.start + 1;
        segment.cell = map->ranks_bev[owner];
        return segment;
    case BEV_OWNS_INTERVAL:
        segment.cell = map->ranks_bev[map->interval_starts[owner]];
        break;
    case BEV_OWNS_CELL:
        segment.cell = (int32_t)owner;
        interval = replay->interval_of[owner];
        break;
    case BEV_OWNS_PIECE:
        segment.cell = replay->pieces.workers[owner].cell;
        segment.owner = replay->pieces.workers[owner].owner;
        segment.stride = replay->pieces.workers[owner].parts;
        segment.stores = replay->pieces.workers[owner].part == 0;
        interval = replay->interval_of[segment.cell];
        break;
    default:
        break;
    }
    if (interval < 0)
        return segment;
    segment.start = map->interval_starts[interval];
    segment.end = segment.start + map->interval_lengths[interval];
    if (replay->access->owner == BEV_OWNS_PIECE)
        segment.start += replay->pieces.workers[owner].part;
    return segment;
}

static int32_t steps_of(const Segment *segment) {
    return (segment->end - segment->start + segment->stride - 1) / segment->stride;
}

/* Finds the owners of a warp's threads. Blocks share owners unless access->whole is set. */
static bool warp_begin(void *opaque, int64_t block, int number, void *state) {
    const OwnersReplay *replay = opaque;
    Warp *warp = state;
    const BevAccess *access = replay->access;
    int64_t in_row = block % replay->blocks_a_row, first_owner = 0;
    int64_t thread = number * WARP, thread_end = replay->owners * replay->lanes;
    int tile = replay->tile, base = 0;
    if (access->tiles_outside)
        base = (int)(block / replay->blocks_a_row) * tile;
    if (access->whole) {
        first_owner = in_row * replay->owners_a_block;
        thread_end = replay->owners_a_block * replay->lanes;
    } else {
        thread += in_row * access->block;
    }
    warp->step = warp->steps = warp->count = warp->others = 0;
    warp->indices = warp->values = (TraceWaits){0};
    for (int64_t end = thread + WARP; thread < end && thread < thread_end;) {
        int64_t owner = first_owner + thread / replay->lanes, lane = thread % replay->lanes;
        int64_t lane_end =
            lane + (end - thread) < replay->lanes ? lane + (end - thread) : replay->lanes;
        int64_t last = base + lane_end * tile;
        if (owner >= replay->owners)
            break;
        Segment segment = segment_of(replay, owner, (int)(base + lane * tile),
                                     (int)(last < replay->channels ? last : replay->channels));
        segment.lane = (int8_t)(WARP - (end - thread));
        segment.lanes = (int8_t)(lane_end - lane);
        if (steps_of(&segment) > warp->steps)
            warp->steps = steps_of(&segment);
        warp->segments[warp->count++] = segment;
        thread += lane_end - lane;
    }
    if (access->owner == BEV_OWNS_PIECE && warp->count > 0) {
        int64_t from = first_owner + number * WARP / replay->lanes;
        int64_t to = first_owner + (thread - 1) / replay->lanes + 1;
        warp->others = piece_instructions(&replay->pieces, first_owner, from, to);
    }
    return warp->count > 0;
}

/* Returns the cycles of a warp's steps, one after the other. A short interval whose loads miss L1
 * may take longer than a long interval whose loads hit. The estimate must not depend on the GPU. */
static double warp_cycles(const OwnersReplay *replay, const Warp *warp) {
    const BevAccess *access = replay->access;
    const BevDtype dtype = replay->problem->dtype;
    const BevGpuFacts facts = {.converts_fp8 = true};
    const double beyond = BEV_L2_CYCLES - BEV_L1_CYCLES;
    double indices = BEV_L1_CYCLES * warp->steps + beyond * warp->indices.beyond;
    double values = BEV_L1_CYCLES * warp->steps + beyond * warp->values.beyond;
    return indices / bev_indices_ahead(access, dtype) +
           values / bev_points_in_flight(access, dtype) +
           BEV_CHAIN_CYCLES * warp->steps *
               bev_step_instructions(access, replay->tile, dtype, &facts);
}

/* Replays one step of a warp. Returns false after its last step, which writes the output. */
static bool warp_turn(void *opaque, void *state) {
    OwnersReplay *replay = opaque;
    Warp *warp = state;
    TraceCounts *counts = replay->memory->counts;
    if (warp->step == 0 && replay->access->owner_bytes)
        warp_read_owners(replay, warp);
    memory_wait(replay->memory, NULL);
    if (warp->step < warp->steps) {
        warp_step(replay, warp);
        memory_step(replay->memory);
    }
    if (++warp->step < warp->steps)
        return true;
    if (!replay->access->sums)
        warp_write(replay, warp);
    replay->memory->shares[replay->memory->sm].others += warp->others;
    if (warp->steps > counts->longest)
        counts->longest = warp->steps;
    const double cycles = warp_cycles(replay, warp);
    if (cycles > counts->slowest_cycles) {
        counts->slowest_cycles = cycles;
        counts->slowest = warp->steps;
        counts->indices = warp->indices;
        counts->values = warp->values;
    }
    return false;
}

static int warp_cells(const void *opaque, const void *state, WarpCells list) {
    const OwnersReplay *replay = opaque;
    const Warp *warp = state;
    bool splats = replay->access->owner == BEV_OWNS_SPLAT;
    int count = 0;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        const Splat *splat = splats ? &replay->splats.splats[segment->owner] : NULL;
        for (int j = 0; j < (splat ? splat->cells : 1); j++)
            list[count++] = splat ? splat->cell[j] : segment->cell;
    }
    return count;
}

static int32_t warp_turns(const void *state) {
    const Warp *warp = state;
    return warp->steps > 1 ? warp->steps : 1;
}

/* ---- the launch ----------------------------------------------------------------------------- */

/* Gives each array of the kernel a place in memory, so that accesses have addresses. */
static void place_arrays(OwnersReplay *replay) {
    Memory *memory = replay->memory;
    const BevProblem *p = replay->problem;
    size_t points = (size_t)p->map.points, intervals = (size_t)p->map.intervals;
    size_t cells = (size_t)(p->shape.nx * p->shape.ny), splats = (size_t)replay->splats.count;
    replay->feat = memory_place(memory, TRACE_FEAT, "features",
                                bev_code_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    replay->scales = memory_place(memory, TRACE_FEAT, "block scales",
                                  bev_block_scale_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    replay->depth = memory_place(memory, TRACE_DEPTH, "depth", bev_tensor_bytes(&p->depth));
    replay->ranks_depth = memory_place(memory, TRACE_RANKS, "ranks_depth", points * INDEX);
    replay->ranks_feat = memory_place(memory, TRACE_RANKS, "ranks_feat", points * INDEX);
    replay->ranks_bev = memory_place(memory, TRACE_RANKS, "ranks_bev", points * INDEX);
    replay->starts = memory_place(memory, TRACE_OWNERS, "starts", intervals * INDEX);
    replay->lengths = memory_place(memory, TRACE_OWNERS, "lengths", intervals * INDEX);
    replay->records =
        memory_place(memory, TRACE_OWNERS, "records",
                     replay->access->owner == BEV_OWNS_PIECE ? cells * BEV_PIECE_BYTES
                                                             : intervals * BEV_INTERVAL_BYTES);
    replay->cells = memory_place(memory, TRACE_OWNERS, "cell intervals", cells * INDEX);
    replay->weight =
        memory_place(memory, TRACE_WEIGHT, "weights", p->map.weights ? points * FLOAT : 0);
    replay->out = memory_place(memory, TRACE_OUT, "output", bev_tensor_bytes(&p->out));
    replay->sums = replay->out;
    if (replay->access->sums && p->out.dtype != BEV_FP32)
        replay->sums =
            memory_place(memory, TRACE_SUMS, "sums", cells * (size_t)replay->channels * FLOAT);
    replay->splat_ranks =
        memory_place(memory, TRACE_RANKS, "splat ranks", splats * BEV_SPLAT_WORDS * INDEX);
    replay->splat_weights = (Place){replay->splat_ranks.base, TRACE_WEIGHT, "splat weights"};
}

/* Returns the number of whole owners of a block. V4's pieces need a power of two. */
static int owners_a_block(const OwnersReplay *replay) {
    int fit = replay->access->block / replay->lanes, count = 1;
    if (replay->access->owner != BEV_OWNS_PIECE)
        return fit > 0 ? fit : 1;
    while (2 * count <= fit)
        count *= 2;
    return count;
}

/* Counts the owners that share the work: points, splats, intervals, cells or pieces. */
static bool find_owners(OwnersReplay *replay, Err *err) {
    const BevProblem *problem = replay->problem;
    BevOwner owner = replay->access->owner;
    bool wants_intervals =
        owner == BEV_OWNS_CELL || owner == BEV_OWNS_PIECE || replay->memory->kernel->channels_first;
    int64_t cells = problem->shape.nx * problem->shape.ny;
    if (wants_intervals && !(replay->interval_of = bev_intervals_of_cells(&problem->map, cells)))
        return err_no_memory(err, replay->memory->kernel->name, "");
    if ((owner == BEV_OWNS_SPLAT && !splats_gather(problem, &replay->splats, err)) ||
        (owner == BEV_OWNS_PIECE &&
         !pieces_deal(problem, replay->interval_of, owners_a_block(replay), &replay->pieces, err)))
        return false;
    replay->owners = owner == BEV_OWNS_POINT      ? problem->map.points
                     : owner == BEV_OWNS_SPLAT    ? replay->splats.count
                     : owner == BEV_OWNS_INTERVAL ? problem->map.intervals
                     : owner == BEV_OWNS_CELL     ? cells
                                                  : replay->pieces.count;
    return true;
}

static Launch plan_launch(OwnersReplay *replay) {
    const BevAccess *access = replay->access;
    int64_t rows = access->tiles_outside ? (replay->channels + replay->tile - 1) / replay->tile : 1;
    int64_t threads = replay->owners * replay->lanes;
    int warps = access->block / WARP;
    replay->blocks_a_row = (threads + access->block - 1) / access->block;
    if (access->whole) {
        replay->owners_a_block = owners_a_block(replay);
        warps = (int)((replay->owners_a_block * replay->lanes + WARP - 1) / WARP);
        replay->blocks_a_row =
            (replay->owners + replay->owners_a_block - 1) / replay->owners_a_block;
    }
    return (Launch){.name = replay->memory->kernel->name,
                    .pools = true,
                    .blocks = rows * replay->blocks_a_row,
                    .warps = warps,
                    .resident = access->resident / warps > 0 ? access->resident / warps : 1,
                    .state_bytes = sizeof(Warp),
                    .begin = warp_begin,
                    .turn = warp_turn,
                    .cells = warp_cells,
                    .turns = warp_turns};
}

/* Runs the clear, the kernel, and the encoding if sums have a workspace of their own. */
static bool run_launches(OwnersReplay *replay, Err *err) {
    const BevProblem *problem = replay->problem;
    size_t out = bev_tensor_bytes(&problem->out);
    size_t sums = (size_t)(problem->shape.nx * problem->shape.ny * replay->channels) * FLOAT;
    Memory *memory = replay->memory;
    Launch launch = plan_launch(replay);
    if (replay->access->sums)
        memory_pass(memory, replay->sums, REUSE_WRITE, sums, CLEAR_BYTES);
    else if (replay->access->clears)
        memory_pass(memory, replay->out, REUSE_WRITE, out, CLEAR_BYTES);
    if (!launch_run(&launch, memory, replay, err))
        return false;
    memory_launched(memory);
    if (replay->access->sums && problem->out.dtype != BEV_FP32) {
        memory_pass(memory, replay->sums, REUSE_READ, sums, FLOAT);
        memory_pass(memory, replay->out, REUSE_WRITE, out, replay->out_bits / 8);
    }
    return true;
}

bool owners_replay(Memory *memory, Err *err) {
    const BevProblem *problem = memory->problem;
    OwnersReplay replay = {.memory = memory,
                           .access = memory->access,
                           .problem = problem,
                           .channels = (int)problem->shape.channels,
                           .tile = bev_access_tile(memory->access, problem),
                           .feat_bits = bev_dtypes[problem->dtype].bits,
                           .out_bits = bev_dtypes[problem->out.dtype].bits,
                           .depth_bytes = bev_dtypes[problem->depth.dtype].bits / 8,
                           .row_bytes =
                               (int64_t)bev_code_bytes(problem->dtype, 1, problem->shape.channels)};
    replay.lanes =
        replay.access->tiles_outside ? 1 : (replay.channels + replay.tile - 1) / replay.tile;
    bool ok = find_owners(&replay, err);
    if (ok) {
        place_arrays(&replay);
        ok = memory_start(memory, err) && run_launches(&replay, err);
    }
    free(replay.interval_of);
    free(replay.splats.splats);
    free(replay.pieces.workers);
    return ok;
}
