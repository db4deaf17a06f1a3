/* Who owns what, and the launches: kernels whose threads own points, intervals or cells. */
#include "src/cachesim/trace_owners.h"

#include "kernels/codec.h"
#include "src/cachesim/trace_launch.h"

#include <stdlib.h>
#include <string.h>

enum { CLEAR_BYTES = 16 };

/* ---- a warp's life --------------------------------------------------------------------------- */

static Segment segment_of(const Walk *walk, int64_t owner, int first, int last) {
    const BevMap *map = &walk->problem->map;
    Segment segment = {.owner = (int32_t)owner,
                       .stride = 1,
                       .first = (int16_t)first,
                       .last = (int16_t)last,
                       .stores = true};
    int64_t interval = owner;
    switch (walk->pattern->owner) {
    case OWN_SPLAT:
        segment.end = 1;
        return segment;
    case OWN_POINT:
        segment.start = (int32_t)owner;
        segment.end = segment.start + 1;
        segment.cell = map->ranks_bev[owner];
        return segment;
    case OWN_INTERVAL:
        segment.cell = map->ranks_bev[map->interval_starts[owner]];
        break;
    case OWN_CELL:
        segment.cell = (int32_t)owner;
        interval = walk->interval_of[owner];
        break;
    case OWN_PIECE:
        segment.cell = walk->pieces.workers[owner].cell;
        segment.owner = walk->pieces.workers[owner].owner;
        segment.stride = walk->pieces.workers[owner].parts;
        segment.stores = walk->pieces.workers[owner].part == 0;
        interval = walk->interval_of[segment.cell];
        break;
    case OWN_TILE:
        break;
    }
    if (interval < 0)
        return segment;
    segment.start = map->interval_starts[interval];
    segment.end = segment.start + map->interval_lengths[interval];
    if (walk->pattern->owner == OWN_PIECE)
        segment.start += walk->pieces.workers[owner].part;
    return segment;
}

static int32_t steps_of(const Segment *segment) {
    return (segment->end - segment->start + segment->stride - 1) / segment->stride;
}

/* Who the threads of a warp are. Without `whole` owners a block's threads go on where those of the
 * block before ended. */
static bool warp_begin(void *opaque, int64_t block, int number, void *state) {
    const Walk *walk = opaque;
    Warp *warp = state;
    const AccessPattern *pattern = walk->pattern;
    int64_t in_row = block % walk->blocks_a_row, first_owner = 0;
    int64_t thread = number * WARP, thread_end = walk->owners * walk->lanes;
    int tile = walk->tile, base = 0;
    if (pattern->tiles_outside)
        base = (int)(block / walk->blocks_a_row) * tile;
    if (pattern->whole) {
        first_owner = in_row * walk->owners_a_block;
        thread_end = walk->owners_a_block * walk->lanes;
    } else {
        thread += in_row * pattern->block;
    }
    warp->step = warp->steps = warp->index_waits = warp->waits = warp->count = 0;
    for (int64_t end = thread + WARP; thread < end && thread < thread_end;) {
        int64_t owner = first_owner + thread / walk->lanes, lane = thread % walk->lanes;
        int64_t lane_end =
            lane + (end - thread) < walk->lanes ? lane + (end - thread) : walk->lanes;
        int64_t last = base + lane_end * tile;
        if (owner >= walk->owners)
            break;
        Segment segment = segment_of(walk, owner, (int)(base + lane * tile),
                                     (int)(last < walk->channels ? last : walk->channels));
        if (steps_of(&segment) > warp->steps)
            warp->steps = steps_of(&segment);
        warp->segments[warp->count++] = segment;
        thread += lane_end - lane;
    }
    return warp->count > 0;
}

static bool warp_turn(void *opaque, int sm, void *state) {
    Walk *walk = opaque;
    Warp *warp = state;
    TraceCounts *counts = walk->memory->counts;
    if (warp->step == 0 && walk->pattern->owner_bytes)
        warp_read_owners(walk, sm, warp);
    walk->memory->missed = false;
    if (warp->step < warp->steps) {
        warp_step(walk, sm, warp);
        memory_step(walk->memory, sm);
    }
    if (++warp->step < warp->steps)
        return true;
    if (!walk->pattern->sums)
        warp_write(walk, sm, warp);
    if (warp->steps > counts->longest) {
        counts->longest = warp->steps;
        counts->index_waits = warp->index_waits;
        counts->waits = warp->waits;
    }
    return false;
}

static void warps_round(void *opaque) {
    Walk *walk = opaque;
    slices_turn(&walk->memory->slices);
}

/* ---- the launch ----------------------------------------------------------------------------- */

static void place_arrays(Walk *walk) {
    Memory *memory = walk->memory;
    const BevProblem *p = walk->problem;
    size_t points = (size_t)p->map.points, intervals = (size_t)p->map.intervals;
    size_t cells = (size_t)(p->shape.nx * p->shape.ny), splats = (size_t)walk->splats.count;
    walk->feat =
        memory_place(memory, TRACE_FEAT, bev_code_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    walk->scales = memory_place(memory, TRACE_FEAT,
                                bev_block_scale_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    walk->depth = memory_place(memory, TRACE_DEPTH, bev_tensor_bytes(&p->depth));
    walk->ranks_depth = memory_place(memory, TRACE_RANKS, points * INDEX);
    walk->ranks_feat = memory_place(memory, TRACE_RANKS, points * INDEX);
    walk->ranks_bev = memory_place(memory, TRACE_RANKS, points * INDEX);
    walk->starts = memory_place(memory, TRACE_OWNERS, intervals * INDEX);
    walk->lengths = memory_place(memory, TRACE_OWNERS, intervals * INDEX);
    walk->records = memory_place(memory, TRACE_OWNERS,
                                 walk->pattern->owner == OWN_PIECE ? cells * PIECE_RECORD
                                                                   : intervals * 3 * INDEX);
    walk->cells = memory_place(memory, TRACE_OWNERS, cells * INDEX);
    walk->weight = memory_place(memory, TRACE_WEIGHT, p->map.weights ? points * FLOAT : 0);
    walk->out = memory_place(memory, TRACE_OUT, bev_tensor_bytes(&p->out));
    walk->sums = walk->out;
    if (walk->pattern->sums && p->out.dtype != BEV_FP32)
        walk->sums = memory_place(memory, TRACE_SUMS, cells * (size_t)walk->channels * FLOAT);
    walk->splat_ranks = memory_place(memory, TRACE_RANKS, splats * SPLAT_WORDS * INDEX);
    walk->splat_weights = (Place){walk->splat_ranks.base, TRACE_WEIGHT};
}

static bool find_intervals(Walk *walk, Err *err) {
    const BevMap *map = &walk->problem->map;
    size_t cells = (size_t)(walk->problem->shape.nx * walk->problem->shape.ny);
    walk->interval_of = malloc((cells + 1) * sizeof *walk->interval_of);
    if (!walk->interval_of)
        return err_set(err, ERR_FAILED, walk->pattern->name, "", "no memory for %zu cells", cells);
    memset(walk->interval_of, 0xff, cells * sizeof *walk->interval_of);
    for (int64_t i = 0; i < map->intervals; i++)
        walk->interval_of[map->ranks_bev[map->interval_starts[i]]] = (int32_t)i;
    return true;
}

/* Whole ones; V4's pieces want a power of two. */
static int owners_a_block(const Walk *walk) {
    int fit = walk->pattern->block / walk->lanes, count = 1;
    if (walk->pattern->owner != OWN_PIECE)
        return fit > 0 ? fit : 1;
    while (2 * count <= fit)
        count *= 2;
    return count;
}

static bool find_owners(Walk *walk, Err *err) {
    const BevMap *map = &walk->problem->map;
    switch (walk->pattern->owner) {
    case OWN_POINT:
        walk->owners = map->points;
        return true;
    case OWN_SPLAT:
        if (!splats_gather(walk->problem, &walk->splats, err))
            return false;
        walk->owners = walk->splats.count;
        return true;
    case OWN_INTERVAL:
        walk->owners = map->intervals;
        return !walk->pattern->channels_first || find_intervals(walk, err);
    case OWN_CELL:
        walk->owners = walk->problem->shape.nx * walk->problem->shape.ny;
        return find_intervals(walk, err);
    case OWN_PIECE:
        if (!find_intervals(walk, err) || !pieces_deal(walk->problem, walk->interval_of,
                                                       owners_a_block(walk), &walk->pieces, err))
            return false;
        walk->owners = walk->pieces.count;
        return true;
    case OWN_TILE:
        break;
    }
    return false;
}

static Launch plan_launch(Walk *walk) {
    const AccessPattern *pattern = walk->pattern;
    int64_t rows = pattern->tiles_outside ? (walk->channels + walk->tile - 1) / walk->tile : 1;
    int64_t threads = walk->owners * walk->lanes;
    int warps = pattern->block / WARP;
    walk->blocks_a_row = (threads + pattern->block - 1) / pattern->block;
    if (pattern->whole) {
        walk->owners_a_block = owners_a_block(walk);
        warps = (int)((walk->owners_a_block * walk->lanes + WARP - 1) / WARP);
        walk->blocks_a_row = (walk->owners + walk->owners_a_block - 1) / walk->owners_a_block;
    }
    return (Launch){.blocks = rows * walk->blocks_a_row,
                    .warps = warps,
                    .resident = pattern->resident / warps > 0 ? pattern->resident / warps : 1,
                    .state_bytes = sizeof(Warp),
                    .begin = warp_begin,
                    .turn = warp_turn,
                    .round = pattern->sums ? warps_round : NULL};
}

/* The clear, the kernel, and where sums have a workspace of their own, the encoding. */
static bool run_launches(Walk *walk, const TraceWatch *watch, Err *err) {
    const BevProblem *problem = walk->problem;
    size_t out = bev_tensor_bytes(&problem->out);
    size_t sums = (size_t)(problem->shape.nx * problem->shape.ny * walk->channels) * FLOAT;
    Launch launch = plan_launch(walk);
    if (walk->pattern->sums)
        memory_pass(walk->memory, walk->sums, REUSE_WRITE, sums, CLEAR_BYTES);
    else if (walk->pattern->clears)
        memory_pass(walk->memory, walk->out, REUSE_WRITE, out, CLEAR_BYTES);
    if (!launch_run(&launch, walk, watch, walk->pattern->name, err))
        return false;
    memory_launched(walk->memory);
    if (walk->pattern->sums && !walk->pattern->stays && problem->out.dtype != BEV_FP32) {
        memory_pass(walk->memory, walk->sums, REUSE_READ, sums, FLOAT);
        memory_pass(walk->memory, walk->out, REUSE_WRITE, out, walk->out_bits / 8);
    }
    return true;
}

bool owners_walk(Memory *memory, bool with_reuse, const TraceWatch *watch, Err *err) {
    const BevProblem *problem = memory->problem;
    Walk walk = {.memory = memory,
                 .pattern = memory->pattern,
                 .problem = problem,
                 .channels = (int)problem->shape.channels,
                 .tile = trace_tile(memory->pattern, problem),
                 .feat_bits = bev_dtypes[problem->dtype].bits,
                 .out_bits = bev_dtypes[problem->out.dtype].bits,
                 .depth_bytes = bev_dtypes[problem->depth.dtype].bits / 8,
                 .row_bytes = (int64_t)bev_code_bytes(problem->dtype, 1, problem->shape.channels)};
    walk.lanes = walk.pattern->tiles_outside ? 1 : (walk.channels + walk.tile - 1) / walk.tile;
    bool ok = find_owners(&walk, err);
    if (ok) {
        place_arrays(&walk);
        ok = memory_start(memory, with_reuse, err) && run_launches(&walk, watch, err);
    }
    free(walk.interval_of);
    splats_free(&walk.splats);
    pieces_free(&walk.pieces);
    return ok;
}
