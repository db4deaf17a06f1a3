/* The rungs of the table whose threads own points, intervals or cells: each warp walks its owners'
 * points in step. */
#include "src/bench/stream_walks.h"

#include "kernels/codec.h"
#include "src/bench/stream_launch.h"
#include "src/bench/stream_pieces.h"
#include "src/bench/stream_splats.h"

#include <stdlib.h>
#include <string.h>

enum { MERGE_BLOCK = 256, CLEAR_BYTES = 16, PIECE_RECORD = 16 };

/* Threads of a warp that share an owner: neighbours, `tile` channels each. */
typedef struct {
    int32_t cell, start, end; /* the owner's points; a cell without any has start == end */
    int32_t owner, stride;    /* takes every stride-th point */
    int16_t first, last;      /* channels [first, last) */
    bool stores;
} Segment;

typedef struct {
    int32_t step, steps, index_waits, waits;
    int count;
    Segment segments[WARP];
} Warp;

typedef struct {
    Memory *memory;
    const StreamRung *rung;
    const BevProblem *problem;
    Place feat, scales, depth, ranks_depth, ranks_feat, ranks_bev, starts, lengths, records, cells,
        weight, out, sums, splat_ranks, splat_weights;
    int64_t owners;
    int channels, tile, lanes; /* threads side by side on an owner, all its tiles or one */
    int64_t blocks_a_row, owners_a_block;
    int feat_bits, out_bits, depth_bytes;
    int64_t row_bytes;    /* of a feature row's codes */
    int32_t *interval_of; /* [cells] or -1; OWN_CELL, OWN_PIECE and channels first only */
    Splats splats;        /* OWN_SPLAT only */
    Pieces pieces;        /* OWN_PIECE only */
} Walk;

/* ---- reads ---------------------------------------------------------------------------------- */

/* One word of `array` an owner; elements below 0: none. */
static void read_words(Walk *walk, int sm, const Warp *warp, Place array, const int32_t *element) {
    Instruction in = memory_read(walk->memory, sm, array);
    for (int s = 0; s < warp->count; s++)
        if (element[s] >= 0)
            memory_span(&in, (int64_t)element[s] * INDEX, INDEX);
}

static void read_depths(Walk *walk, int sm, const Warp *warp, const int32_t *element) {
    Instruction in = memory_read(walk->memory, sm, walk->depth);
    for (int s = 0; s < warp->count; s++)
        if (element[s] >= 0)
            memory_span(&in, (int64_t)element[s] * walk->depth_bytes, walk->depth_bytes);
}

/* Channels of each owner's row through an instruction of `width` channels a lane, from the part-th
 * channel of every tile on. Lanes that take whole tiles lie side by side. */
static void row_instruction(const Walk *walk, Instruction *in, const Warp *warp,
                            const int64_t *row_byte, int part, int width, int bits) {
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row_byte[s] < 0)
            continue;
        int step = width == walk->tile ? segment->last - segment->first : walk->tile;
        for (int c = segment->first + part; c < segment->last; c += step) {
            int end = width == walk->tile ? segment->last : c + width;
            if (end > segment->last)
                end = segment->last;
            int64_t from = (int64_t)c * bits / 8, to = ((int64_t)end * bits + 7) / 8;
            memory_span(in, row_byte[s] + from, to - from);
        }
    }
}

static void read_scales(Walk *walk, int sm, const Warp *warp, const int32_t *row) {
    int64_t blocks = (walk->channels + BEV_BLOCK - 1) / BEV_BLOCK;
    Instruction in = memory_read(walk->memory, sm, walk->scales);
    for (int s = 0; s < warp->count; s++) {
        int64_t from = warp->segments[s].first / BEV_BLOCK;
        int64_t to = (warp->segments[s].last - 1) / BEV_BLOCK + 1;
        if (row[s] >= 0)
            memory_span(&in, row[s] * blocks + from, to - from);
    }
}

static void read_features(Walk *walk, int sm, const Warp *warp, const int32_t *row) {
    int64_t byte[WARP];
    for (int s = 0; s < warp->count; s++)
        byte[s] = row[s] < 0 ? -1 : row[s] * walk->row_bytes;
    for (int part = 0; part < walk->tile; part += walk->rung->load) {
        Instruction in = memory_read(walk->memory, sm, walk->feat);
        row_instruction(walk, &in, warp, byte, part, walk->rung->load, walk->feat_bits);
    }
    if (walk->problem->dtype == BEV_NVFP4)
        read_scales(walk, sm, warp, row);
}

/* Channels first: camera images of `channels` planes each, lanes a whole plane apart, so that each
 * has a sector of its own. */
static void read_feature_planes(Walk *walk, int sm, const Warp *warp, const int32_t *row) {
    int64_t pixels = walk->problem->shape.feat_h * walk->problem->shape.feat_w;
    int bytes = walk->feat_bits / 8;
    Instruction in = memory_read(walk->memory, sm, walk->feat);
    for (int s = 0; s < warp->count; s++) {
        int64_t element = row[s] + row[s] / pixels * (walk->channels - 1) * pixels;
        for (int c = warp->segments[s].first; row[s] >= 0 && c < warp->segments[s].last; c++)
            memory_span(&in, (element + c * pixels) * bytes, bytes);
    }
}

static void read_owners(Walk *walk, int sm, const Warp *warp) {
    int32_t cell[WARP], interval[WARP], start[WARP];
    bool by_cell = walk->rung->owner == OWN_CELL;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        cell[s] = segment->cell;
        start[s] = segment->start;
        interval[s] = by_cell ? walk->interval_of[segment->cell] : segment->owner;
    }
    if (walk->rung->owner == OWN_PIECE) {
        Instruction in = memory_read(walk->memory, sm, walk->records);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, warp->segments[s].owner * (int64_t)PIECE_RECORD, PIECE_RECORD);
        return;
    }
    if (walk->rung->ranks == 1) { /* packed records: three words in one sector, or two */
        Instruction in = memory_read(walk->memory, sm, walk->records);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, interval[s] * 3LL * INDEX, 3 * INDEX);
        return;
    }
    if (by_cell)
        read_words(walk, sm, warp, walk->cells, cell);
    read_words(walk, sm, warp, walk->starts, interval);
    read_words(walk, sm, warp, walk->lengths, interval);
    if (!by_cell) { /* which cell? Its first point knows */
        Place first_points = {walk->ranks_bev.base, STREAM_OWNERS};
        read_words(walk, sm, warp, first_points, start);
    }
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Channels of the segment that no thread before it in the warp adds to as well: the loads and
 * stores of a plain += merge where cell and channel are the same, atomics do not. */
static int own_channels_end(const Warp *warp, int s) {
    int end = warp->segments[s].last;
    for (int before = s - 1; before >= 0 && end > warp->segments[s].first; before--) {
        if (warp->segments[before].cell != warp->segments[s].cell)
            break;
        if (warp->segments[before].first < end)
            end = warp->segments[before].first;
    }
    return end;
}

/* One instruction for each of a thread's channels. A sector is asked for by as many of them as
 * have a channel in it. */
static void add_channels(Walk *walk, int sm, int64_t cell, int first, int last) {
    int floats = SECTOR / FLOAT, adds = walk->tile < floats ? walk->tile : floats;
    if (first < last)
        memory_add(walk->memory, sm, walk->sums, (cell * walk->channels + first) * FLOAT,
                   (int64_t)(last - first) * FLOAT, adds);
}

/* What the threads of a segment ask for when they add to a cell. */
static void count_adds(Walk *walk, const Segment *segment) {
    StreamCounts *counts = walk->memory->counts;
    int channels = segment->last - segment->first;
    counts->write[walk->sums.array].bytes += channels * FLOAT;
    if (walk->rung->sums == SUMS_ATOMIC)
        counts->atomics += channels;
    else
        counts->read[walk->sums.array].bytes += channels * FLOAT;
}

static void add_sums(Walk *walk, int sm, const Warp *warp) {
    const BevMap *map = &walk->problem->map;
    StreamCounts *counts = walk->memory->counts;
    counts->write[walk->sums.array].requests += walk->tile;
    if (walk->rung->sums == SUMS_PLAIN)
        counts->read[walk->sums.array].requests += walk->tile;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        int64_t t = segment->start;
        if (walk->rung->merges && t % MERGE_BLOCK && map->ranks_bev[t] == map->ranks_bev[t - 1])
            continue;
        count_adds(walk, segment);
        add_channels(walk, sm, segment->cell, segment->first,
                     walk->rung->sums == SUMS_PLAIN ? own_channels_end(warp, s) : segment->last);
    }
}

/* Whether what was read since the last time has to come from L2. */
static bool has_missed(Walk *walk) {
    bool missed = walk->memory->missed;
    walk->memory->missed = false;
    return missed;
}

/* A warp's splats: a record of ten words each, then as many cells as it says. */
static void splat_step(Walk *walk, int sm, Warp *warp) {
    const Splat *splat[WARP];
    int32_t depth[WARP], row[WARP], cells = 0;
    for (int s = 0; s < warp->count; s++) {
        splat[s] = &walk->splats.splats[warp->segments[s].owner];
        depth[s] = splat[s]->depth;
        row[s] = splat[s]->feat;
        cells = splat[s]->cells > cells ? splat[s]->cells : cells;
    }
    for (int word = 0; word < SPLAT_WORDS; word++) {
        bool rank = word < SPLAT_RANKS;
        Instruction in =
            memory_read(walk->memory, sm, rank ? walk->splat_ranks : walk->splat_weights);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, (warp->segments[s].owner * (int64_t)SPLAT_WORDS + word) * INDEX,
                        INDEX);
    }
    warp->index_waits += has_missed(walk);
    read_depths(walk, sm, warp, depth);
    read_features(walk, sm, warp, row);
    warp->waits += has_missed(walk);
    for (int j = 0; j < cells; j++) {
        walk->memory->counts->write[walk->sums.array].requests++;
        for (int s = 0; s < warp->count; s++)
            if (j < splat[s]->cells) {
                const Segment *segment = &warp->segments[s];
                count_adds(walk, segment);
                add_channels(walk, sm, splat[s]->cell[j], segment->first, segment->last);
            }
    }
}

/* ---- a warp's life -------------------------------------------------------------------------- */

/* Every owner's next point. */
static void point_step(Walk *walk, int sm, Warp *warp) {
    const BevMap *map = &walk->problem->map;
    int32_t point[WARP], depth[WARP], row[WARP];
    for (int s = 0; s < warp->count; s++) {
        int32_t t = warp->segments[s].start + warp->step * warp->segments[s].stride;
        bool exists = t < warp->segments[s].end;
        point[s] = exists ? t : -1;
        depth[s] = exists ? map->ranks_depth[t] : -1;
        row[s] = exists ? map->ranks_feat[t] : -1;
    }
    read_words(walk, sm, warp, walk->ranks_depth, point);
    if (walk->rung->ranks >= 2)
        read_words(walk, sm, warp, walk->ranks_feat, point);
    if (walk->rung->ranks >= 3)
        read_words(walk, sm, warp, walk->ranks_bev, point);
    if (map->weights)
        read_words(walk, sm, warp, walk->weight, point);
    warp->index_waits += has_missed(walk);
    read_depths(walk, sm, warp, depth);
    if (walk->rung->channels_first)
        read_feature_planes(walk, sm, warp, row);
    else
        read_features(walk, sm, warp, row);
    warp->waits += has_missed(walk);
    if (walk->rung->sums)
        add_sums(walk, sm, warp);
}

/* A sector of an output plane is filled if all its cells have points. */
static bool fills_sector(const Walk *walk, int64_t cell) {
    int64_t cells = walk->problem->shape.nx * walk->problem->shape.ny;
    int64_t a_sector = SECTOR * 8 / walk->out_bits, first = cell / a_sector * a_sector;
    for (int64_t c = first; c < first + a_sector && c < cells; c++)
        if (walk->interval_of[c] < 0)
            return false;
    return true;
}

/* Channels first: lanes are a whole plane apart. */
static void write_planes(Walk *walk, int sm, const Warp *warp) {
    int64_t plane = walk->problem->shape.nx * walk->problem->shape.ny;
    Instruction in = memory_write(walk->memory, sm, walk->out);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        in.kind = fills_sector(walk, segment->cell) ? REUSE_WRITE : REUSE_PATCH;
        for (int c = segment->first; c < segment->last; c++)
            memory_span(&in, (segment->cell + c * plane) * walk->out_bits / 8, walk->out_bits / 8);
    }
}

static void write_outputs(Walk *walk, int sm, const Warp *warp) {
    int64_t byte[WARP];
    if (walk->rung->channels_first) {
        write_planes(walk, sm, warp);
        return;
    }
    for (int s = 0; s < warp->count; s++) {
        int64_t row = warp->segments[s].cell * (int64_t)walk->channels;
        byte[s] = warp->segments[s].stores ? row * walk->out_bits / 8 : -1;
    }
    for (int part = 0; part < walk->tile; part += walk->rung->store) {
        Instruction in = memory_write(walk->memory, sm, walk->out);
        row_instruction(walk, &in, warp, byte, part, walk->rung->store, walk->out_bits);
    }
}

static Segment segment_of(const Walk *walk, int64_t owner, int first, int last) {
    const BevMap *map = &walk->problem->map;
    Segment segment = {.owner = (int32_t)owner,
                       .stride = 1,
                       .first = (int16_t)first,
                       .last = (int16_t)last,
                       .stores = true};
    int64_t interval = owner;
    switch (walk->rung->owner) {
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
    if (walk->rung->owner == OWN_PIECE)
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
    const StreamRung *rung = walk->rung;
    int64_t in_row = block % walk->blocks_a_row, first_owner = 0;
    int64_t thread = number * WARP, thread_end = walk->owners * walk->lanes;
    int tile = walk->tile, base = 0;
    if (rung->tiles_outside)
        base = (int)(block / walk->blocks_a_row) * tile;
    if (rung->whole) {
        first_owner = in_row * walk->owners_a_block;
        thread_end = walk->owners_a_block * walk->lanes;
    } else {
        thread += in_row * rung->block;
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
    StreamCounts *counts = walk->memory->counts;
    if (warp->step == 0 && walk->rung->owner_bytes)
        read_owners(walk, sm, warp);
    walk->memory->missed = false;
    if (warp->step < warp->steps) {
        if (walk->rung->owner == OWN_SPLAT)
            splat_step(walk, sm, warp);
        else
            point_step(walk, sm, warp);
        memory_step(walk->memory, sm);
    }
    if (++warp->step < warp->steps)
        return true;
    if (!walk->rung->sums)
        write_outputs(walk, sm, warp);
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
        memory_place(memory, STREAM_FEAT, bev_code_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    walk->scales = memory_place(memory, STREAM_FEAT,
                                bev_block_scale_bytes(p->dtype, p->feat.rows, p->feat.row_len));
    walk->depth = memory_place(memory, STREAM_DEPTH, bev_tensor_bytes(&p->depth));
    walk->ranks_depth = memory_place(memory, STREAM_RANKS, points * INDEX);
    walk->ranks_feat = memory_place(memory, STREAM_RANKS, points * INDEX);
    walk->ranks_bev = memory_place(memory, STREAM_RANKS, points * INDEX);
    walk->starts = memory_place(memory, STREAM_OWNERS, intervals * INDEX);
    walk->lengths = memory_place(memory, STREAM_OWNERS, intervals * INDEX);
    walk->records =
        memory_place(memory, STREAM_OWNERS,
                     walk->rung->owner == OWN_PIECE ? cells * PIECE_RECORD : intervals * 3 * INDEX);
    walk->cells = memory_place(memory, STREAM_OWNERS, cells * INDEX);
    walk->weight = memory_place(memory, STREAM_WEIGHT, p->map.weights ? points * FLOAT : 0);
    walk->out = memory_place(memory, STREAM_OUT, bev_tensor_bytes(&p->out));
    walk->sums = walk->out;
    if (walk->rung->sums && p->out.dtype != BEV_FP32)
        walk->sums = memory_place(memory, STREAM_SUMS, cells * (size_t)walk->channels * FLOAT);
    walk->splat_ranks = memory_place(memory, STREAM_RANKS, splats * SPLAT_WORDS * INDEX);
    walk->splat_weights = (Place){walk->splat_ranks.base, STREAM_WEIGHT};
}

static bool find_intervals(Walk *walk, Err *err) {
    const BevMap *map = &walk->problem->map;
    size_t cells = (size_t)(walk->problem->shape.nx * walk->problem->shape.ny);
    walk->interval_of = malloc((cells + 1) * sizeof *walk->interval_of);
    if (!walk->interval_of)
        return err_set(err, ERR_FAILED, walk->rung->name, "", "no memory for %zu cells", cells);
    memset(walk->interval_of, 0xff, cells * sizeof *walk->interval_of);
    for (int64_t i = 0; i < map->intervals; i++)
        walk->interval_of[map->ranks_bev[map->interval_starts[i]]] = (int32_t)i;
    return true;
}

/* Whole ones; V4's pieces want a power of two. */
static int owners_a_block(const Walk *walk) {
    int fit = walk->rung->block / walk->lanes, count = 1;
    if (walk->rung->owner != OWN_PIECE)
        return fit > 0 ? fit : 1;
    while (2 * count <= fit)
        count *= 2;
    return count;
}

static bool find_owners(Walk *walk, Err *err) {
    const BevMap *map = &walk->problem->map;
    switch (walk->rung->owner) {
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
        return !walk->rung->channels_first || find_intervals(walk, err);
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
    const StreamRung *rung = walk->rung;
    int64_t rows = rung->tiles_outside ? (walk->channels + walk->tile - 1) / walk->tile : 1;
    int64_t threads = walk->owners * walk->lanes;
    int warps = rung->block / WARP;
    walk->blocks_a_row = (threads + rung->block - 1) / rung->block;
    if (rung->whole) {
        walk->owners_a_block = owners_a_block(walk);
        warps = (int)((walk->owners_a_block * walk->lanes + WARP - 1) / WARP);
        walk->blocks_a_row = (walk->owners + walk->owners_a_block - 1) / walk->owners_a_block;
    }
    return (Launch){.blocks = rows * walk->blocks_a_row,
                    .warps = warps,
                    .resident = rung->resident / warps > 0 ? rung->resident / warps : 1,
                    .state_bytes = sizeof(Warp),
                    .begin = warp_begin,
                    .turn = warp_turn,
                    .round = rung->sums ? warps_round : NULL};
}

/* The clear, the kernel, and where sums have a workspace of their own, the encoding. */
static bool run_launches(Walk *walk, const StreamWatch *watch, Err *err) {
    const BevProblem *problem = walk->problem;
    size_t out = bev_tensor_bytes(&problem->out);
    size_t sums = (size_t)(problem->shape.nx * problem->shape.ny * walk->channels) * FLOAT;
    Launch launch = plan_launch(walk);
    if (walk->rung->sums)
        memory_pass(walk->memory, walk->sums, REUSE_WRITE, sums, CLEAR_BYTES);
    else if (walk->rung->clears)
        memory_pass(walk->memory, walk->out, REUSE_WRITE, out, CLEAR_BYTES);
    if (!launch_run(&launch, walk, watch, walk->rung->name, err))
        return false;
    memory_launched(walk->memory);
    if (walk->rung->sums && !walk->rung->stays && problem->out.dtype != BEV_FP32) {
        memory_pass(walk->memory, walk->sums, REUSE_READ, sums, FLOAT);
        memory_pass(walk->memory, walk->out, REUSE_WRITE, out, walk->out_bits / 8);
    }
    return true;
}

bool owners_walk(Memory *memory, bool with_reuse, const StreamWatch *watch, Err *err) {
    const BevProblem *problem = memory->problem;
    Walk walk = {.memory = memory,
                 .rung = memory->rung,
                 .problem = problem,
                 .channels = (int)problem->shape.channels,
                 .tile = stream_tile(memory->rung, problem),
                 .feat_bits = bev_dtypes[problem->dtype].bits,
                 .out_bits = bev_dtypes[problem->out.dtype].bits,
                 .depth_bytes = bev_dtypes[problem->depth.dtype].bits / 8,
                 .row_bytes = (int64_t)bev_code_bytes(problem->dtype, 1, problem->shape.channels)};
    walk.lanes = walk.rung->tiles_outside ? 1 : (walk.channels + walk.tile - 1) / walk.tile;
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
