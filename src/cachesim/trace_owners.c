/* SPDX-License-Identifier: MIT */
/* Replays kernels whose threads own points, splats, intervals, cells or pieces. A warp's owners
 * read their records, and for each point the indices, the depth and the features. Owners add to
 * sums in memory with each point, or store sums at the end. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"
#include "kernels/regime.h"

#include <stdlib.h>
#include <string.h>

/* A frustum point of a weighted map with all its cells, as bev_align gathers them. On the device it
 * is a record of BEV_SPLAT_WORDS words. */
typedef struct {
    int32_t depth, feat, cells; /* `cells`: their number */
    int32_t cell[BEV_SPLAT_CELLS], point[BEV_SPLAT_CELLS];
} Splat;

/* A piece of a cell: the points of one worker. V4's map of pieces is built as in
 * kernels/cuda/v4/build.cuh. A cell of class k has 2^k workers, and each takes every 2^k-th point.
 * Cells are sorted by class, the largest class first. */
typedef struct {
    int32_t cell, owner; /* owner: the place of the cell in the sorted order */
    int32_t part, parts; /* the worker is number `part` of the cell's `parts` workers */
} Piece;

/* The threads of a warp that share an owner. They are neighbours with `tile` channels each. */
typedef struct {
    int32_t cell, start, end; /* the owner's points are [start, end) */
    int32_t owner, stride;    /* the owner takes every stride-th point */
    int16_t first, last;      /* the threads hold channels [first, last) */
    StepLanes lanes;          /* the threads, each with a share of the channels */
    bool stores;              /* the threads store the finished sums */
} Segment;

typedef struct {
    int32_t step, steps; /* the next step; the steps of the warp's longest owner */
    TraceWaits indices, values;
    int count;  /* the number of segments */
    int others; /* instructions outside of steps */
    Segment segments[WARP];
} Warp;

typedef struct {
    Memory *memory;
    const BevAccess *access;
    const BevProblem *problem;
    Place feat, scales, depth, ranks_depth, ranks_feat, ranks_bev, starts, lengths, records, cells,
        weight, out, sums, splat_ranks, splat_weights;
    int64_t owners;
    int channels, tile, lanes;            /* channels, channels of a thread, threads of an owner */
    int64_t blocks_a_row, owners_a_block; /* a row of blocks takes all owners once */
    int feat_bits, out_bits, depth_bytes;
    int64_t row_bytes;    /* bytes of a feature row's codes */
    int32_t *interval_of; /* [cells] or -1; BEV_OWNS_CELL, BEV_OWNS_PIECE and channels first only */
    Splat *splats;        /* [owners]; BEV_OWNS_SPLAT only */
    Piece *pieces;        /* [owners]; BEV_OWNS_PIECE only */
} OwnersReplay;

/* ---- BEV Align's splats ---------------------------------------------------------------------- */

/* Joins neighbours with equal ranks to splats of at most four points. Returns their number. */
static int64_t join_points(const BevMap *map, const int32_t *order, Splat *splats) {
    int64_t count = 0;
    for (int64_t i = 0; i < map->points; i++) {
        int32_t t = order[i], depth = map->ranks_depth[t], feat = map->ranks_feat[t];
        Splat *last = &splats[count - 1];
        if (!count || last->cells == BEV_SPLAT_CELLS || last->depth != depth ||
            last->feat != feat) {
            last = &splats[count++];
            *last = (Splat){.depth = depth, .feat = feat};
        }
        last->point[last->cells] = t;
        last->cell[last->cells++] = map->ranks_bev[t];
    }
    return count;
}

/* Sorts the points by their frustum point, and joins the neighbours of one into a splat. next[d] is
 * the place of the next point with depth rank d. Returns the number of splats. */
static int64_t splats_gather(OwnersReplay *replay) {
    const BevMap *map = &replay->problem->map;
    const int64_t depths = replay->problem->depth.row_len;
    CpuArrays *arrays = &replay->memory->arrays;
    int32_t *next = cpu_take_zeroed(arrays, depths, sizeof *next);
    int32_t *order = cpu_take(arrays, map->points, sizeof *order);
    replay->splats = cpu_take(arrays, map->points, sizeof *replay->splats);
    if (arrays->failed)
        return 0;
    for (int64_t t = 0; t < map->points; t++)
        next[map->ranks_depth[t] + 1]++;
    for (int64_t d = 1; d <= depths; d++)
        next[d] += next[d - 1];
    for (int64_t t = 0; t < map->points; t++)
        order[next[map->ranks_depth[t]]++] = (int32_t)t;
    return join_points(map, order, replay->splats);
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
static int piece_instructions(const Piece *pieces, int64_t block, int64_t from, int64_t to) {
    int instructions = PIECE_INSTRUCTIONS;
    for (int half = pieces[block].parts / 2; half >= 1; half /= 2) {
        bool puts = false, adds = false;
        for (int64_t i = from; i < to; i++) {
            const Piece *piece = &pieces[i];
            bool joins = piece->parts > half;
            puts = puts || (joins && piece->part >= half && piece->part < 2 * half);
            adds = adds || (joins && piece->part < half);
        }
        instructions +=
            ROUND_INSTRUCTIONS + (puts ? PUT_INSTRUCTIONS : 0) + (adds ? ADD_INSTRUCTIONS : 0);
    }
    return instructions;
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

/* Deals cells to workers, at most a block to a cell. Returns the number of workers. */
static int64_t pieces_deal(OwnersReplay *replay) {
    const BevMap *map = &replay->problem->map;
    const BevShape *shape = &replay->problem->shape;
    int64_t cells = shape->nx * shape->ny, owner = 0, count = 0;
    int portion = piece_points(map->points, shape->channels), rows = owners_a_block(replay);
    int largest = class_of(rows, 1, rows); /* 2^largest is `rows` */
    /* A cell has one worker, or fewer than two workers for every PIECE_POINTS points. */
    Piece *pieces = replay->pieces =
        cpu_take(&replay->memory->arrays, cells + map->points / PIECE_POINTS * 2, sizeof *pieces);
    if (replay->memory->arrays.failed)
        return 0;
    for (int parts = rows; parts >= 0; parts = parts ? parts / 2 : -1) { /* 0: empty cells */
        for (int64_t cell = 0; cell < cells; cell++) {
            int32_t interval = replay->interval_of[cell];
            int own =
                interval < 0 ? 0 : 1 << class_of(map->interval_lengths[interval], portion, largest);
            if (own != parts)
                continue;
            for (int part = 0; part < (parts ? parts : 1); part++)
                pieces[count++] = (Piece){(int32_t)cell, (int32_t)owner, part, parts ? parts : 1};
            owner++;
        }
    }
    return count;
}

enum { CLEAR_BYTES = 16 };

/* ---- reads of a warp ------------------------------------------------------------------------- */

/* Returns the lanes of an owner, which all request the same bytes. */
static StepLanes lanes_together(const Segment *segment) {
    StepLanes lanes = segment->lanes;
    lanes.same = true;
    return lanes;
}

/* Reads an element of `bytes` bytes for each owner. An owner with element -1 reads none. */
static void read_elements(OwnersReplay *replay, const Warp *warp, Place array,
                          const int32_t *element, int64_t bytes) {
    Instruction in = memory_read(replay->memory, array);
    for (int s = 0; s < warp->count; s++) {
        if (element[s] >= 0)
            memory_span(&in, lanes_together(&warp->segments[s]), element[s] * bytes, bytes);
    }
}

static void read_words(OwnersReplay *replay, const Warp *warp, Place array,
                       const int32_t *element) {
    read_elements(replay, warp, array, element, INDEX);
}

/* Replays an instruction that reads or writes a part of each owner's row, which begins at
 * `row_byte` (below 0: no row). A lane takes `width` channels of `bits` bits, from channel `part`
 * of its tile on. Lanes that take whole tiles are neighbours. */
static void warp_rows(const OwnersReplay *replay, Instruction *in, const Warp *warp,
                      const int64_t *row_byte, int part, int width, int bits) {
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row_byte[s] < 0)
            continue;
        int step = width == replay->tile ? segment->last - segment->first : replay->tile;
        StepLanes lanes = width == replay->tile ? segment->lanes : one_lane(segment->lanes.first);
        for (int c = segment->first + part; c < segment->last; c += step, lanes.first++) {
            int end = width == replay->tile ? segment->last : c + width;
            if (end > segment->last)
                end = segment->last;
            int64_t from = (int64_t)c * bits / 8, to = ((int64_t)end * bits + 7) / 8;
            memory_span(in, lanes, row_byte[s] + from, to - from);
        }
    }
}

static void read_scales(OwnersReplay *replay, const Warp *warp, const int32_t *row) {
    int64_t blocks = (replay->channels + BEV_BLOCK - 1) / BEV_BLOCK;
    Instruction in = memory_read(replay->memory, replay->scales);
    for (int s = 0; s < warp->count; s++) {
        int64_t from = warp->segments[s].first / BEV_BLOCK;
        int64_t to = (warp->segments[s].last - 1) / BEV_BLOCK + 1;
        if (row[s] >= 0)
            memory_span(&in, warp->segments[s].lanes, row[s] * blocks + from, to - from);
    }
}

static void read_features(OwnersReplay *replay, const Warp *warp, const int32_t *row) {
    int64_t byte[WARP];
    for (int s = 0; s < warp->count; s++)
        byte[s] = row[s] < 0 ? -1 : row[s] * replay->row_bytes;
    for (int part = 0; part < replay->tile; part += replay->access->load) {
        Instruction in = memory_read(replay->memory, replay->feat);
        warp_rows(replay, &in, warp, byte, part, replay->access->load, replay->feat_bits);
    }
    if (replay->problem->dtype == BEV_NVFP4)
        read_scales(replay, warp, row);
}

/* Replays the accesses of an owner's lanes to a row with channels first, which begins at `element`.
 * Channels are whole planes apart, so each lane touches a sector of its own. */
static void access_planes(Instruction *in, const Segment *segment, int64_t element, int64_t plane,
                          int bits) {
    for (int c = segment->first; c < segment->last; c++)
        memory_span(in, one_lane(segment->lanes.first + c - segment->first),
                    (element + c * plane) * bits / 8, bits / 8);
}

/* Reads features with channels first. A camera image has `channels` planes. */
static void read_feature_planes(OwnersReplay *replay, const Warp *warp, const int32_t *row) {
    int64_t pixels = replay->problem->shape.feat_h * replay->problem->shape.feat_w;
    Instruction in = memory_read(replay->memory, replay->feat);
    for (int s = 0; s < warp->count; s++)
        if (row[s] >= 0)
            access_planes(&in, &warp->segments[s],
                          row[s] + row[s] / pixels * (replay->channels - 1) * pixels, pixels,
                          replay->feat_bits);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Instructions of a warp that adds merged sums, as disassembled. */
enum { MERGED_INSTRUCTIONS = 44 };

/* Returns the end of the segment's channels that no thread before it in the warp adds to. The loads
 * and stores of a plain += merge if cell and channel are the same. Atomics do not merge. */
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

/* Adds channels [first, last) of a segment to the sums of a cell, with one instruction for each
 * channel of a thread. An instruction requests the sectors in which it has a channel. The threads
 * request all channels of the segment. */
static void add_channels(const OwnersReplay *replay, Instruction *in, const Segment *segment,
                         int64_t cell, int last) {
    int floats = SECTOR / FLOAT, adds = replay->tile < floats ? replay->tile : floats;
    memory_add(in, segment->lanes, (cell * replay->channels + segment->first) * FLOAT,
               (int64_t)(segment->last - segment->first) * FLOAT,
               (int64_t)(last - segment->first) * FLOAT, adds);
}

/* Adds the products of each segment to the sums of its cell, by a plain += or by atomics. Of a
 * kernel that merges, a warp ends early if none of its threads adds. */
static void warp_add(OwnersReplay *replay, const Warp *warp) {
    const BevMap *map = &replay->problem->map;
    bool plain = replay->access->sums == BEV_SUMS_PLAIN;
    Instruction in = memory_adding(replay->memory, replay->sums, replay->tile);
    bool begins = false; /* a thread has the first point of its cell in the block */
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        int64_t t = segment->start;
        if (replay->access->merges && t % replay->access->block &&
            map->ranks_bev[t] == map->ranks_bev[t - 1])
            continue;
        begins = true;
        add_channels(replay, &in, segment, segment->cell,
                     plain ? own_channels_end(warp, s) : segment->last);
    }
    if (replay->access->merges && begins)
        replay->memory->shares[replay->memory->sm].others += MERGED_INSTRUCTIONS;
}

/* ---- owners ---------------------------------------------------------------------------------- */

/* Replays the reads by which the owners of a warp find their points. */
static void warp_read_owners(OwnersReplay *replay, const Warp *warp) {
    int32_t cell[WARP], owner[WARP], interval[WARP], start[WARP];
    bool by_cell = replay->access->owner == BEV_OWNS_CELL;
    memory_phase(replay->memory, PHASE_OWNERS);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        cell[s] = segment->cell;
        start[s] = segment->start;
        owner[s] = segment->owner;
        interval[s] = by_cell ? replay->interval_of[segment->cell] : segment->owner;
    }
    if (replay->access->owner == BEV_OWNS_PIECE || replay->access->ranks == 1) { /* one record */
        read_elements(replay, warp, replay->records, owner, replay->access->owner_bytes);
        return;
    }
    if (by_cell) {
        read_words(replay, warp, replay->cells, cell);
        memory_wait(replay->memory, NULL);
    }
    read_words(replay, warp, replay->starts, interval);
    read_words(replay, warp, replay->lengths, interval);
    if (!by_cell) { /* the owner reads its cell from its first point */
        Place cells = replay->ranks_bev;
        cells.array = TRACE_OWNERS;
        memory_wait(replay->memory, NULL);
        read_words(replay, warp, cells, start);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

static void show_point(const OwnersReplay *replay, const Segment *segment, int32_t number) {
    const BevMap *map = &replay->problem->map;
    recorder_point(replay->memory->watch.recorder, &(StepPoint){.depth = map->ranks_depth[number],
                                                                .feat = map->ranks_feat[number],
                                                                .cell = map->ranks_bev[number],
                                                                .number = number,
                                                                .first = segment->first,
                                                                .last = segment->last,
                                                                .lanes = segment->lanes});
}

/* Replays the splats of a warp. A splat is a record of ten words, with up to four cells. */
static void splat_step(OwnersReplay *replay, Warp *warp) {
    const Splat *splat[WARP];
    int32_t depth[WARP], row[WARP], cells = 0;
    for (int s = 0; s < warp->count; s++) {
        splat[s] = &replay->splats[warp->segments[s].owner];
        depth[s] = splat[s]->depth;
        row[s] = splat[s]->feat;
        cells = splat[s]->cells > cells ? splat[s]->cells : cells;
        for (int j = 0; replay->memory->watch.recorder && j < splat[s]->cells; j++)
            show_point(replay, &warp->segments[s], splat[s]->point[j]);
    }
    for (int word = 0; word < BEV_SPLAT_WORDS; word++) {
        bool rank = word < BEV_SPLAT_RANKS;
        Instruction in =
            memory_read(replay->memory, rank ? replay->splat_ranks : replay->splat_weights);
        for (int s = 0; s < warp->count; s++) {
            memory_span(&in, lanes_together(&warp->segments[s]),
                        (warp->segments[s].owner * (int64_t)BEV_SPLAT_WORDS + word) * INDEX, INDEX);
        }
    }
    memory_wait(replay->memory, &warp->indices);
    read_elements(replay, warp, replay->depth, depth, replay->depth_bytes);
    read_features(replay, warp, row);
    memory_wait(replay->memory, &warp->values);
    for (int j = 0; j < cells; j++) {
        Instruction in = memory_adding(replay->memory, replay->sums, 1);
        for (int s = 0; s < warp->count; s++)
            if (j < splat[s]->cells)
                add_channels(replay, &in, &warp->segments[s], splat[s]->cell[j],
                             warp->segments[s].last);
    }
}

static void point_step(OwnersReplay *replay, Warp *warp) {
    const BevMap *map = &replay->problem->map;
    int32_t point[WARP], depth[WARP], row[WARP];
    for (int s = 0; s < warp->count; s++) {
        int32_t t = warp->segments[s].start + warp->step * warp->segments[s].stride;
        bool exists = t < warp->segments[s].end;
        point[s] = exists ? t : -1;
        depth[s] = exists ? map->ranks_depth[t] : -1;
        row[s] = exists ? map->ranks_feat[t] : -1;
        if (replay->memory->watch.recorder && exists)
            show_point(replay, &warp->segments[s], t);
    }
    read_words(replay, warp, replay->ranks_depth, point);
    if (replay->access->ranks >= 2)
        read_words(replay, warp, replay->ranks_feat, point);
    if (replay->access->ranks >= 3)
        read_words(replay, warp, replay->ranks_bev, point);
    if (map->weights)
        read_words(replay, warp, replay->weight, point);
    memory_wait(replay->memory, &warp->indices);
    read_elements(replay, warp, replay->depth, depth, replay->depth_bytes);
    if (replay->memory->kernel->channels_first)
        read_feature_planes(replay, warp, row);
    else
        read_features(replay, warp, row);
    memory_wait(replay->memory, &warp->values);
    if (replay->access->sums)
        warp_add(replay, warp);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Whether the kernel fills the sector of a cell in an output plane: all its cells have points. */
static bool fills_sector(const OwnersReplay *replay, int64_t cell) {
    int64_t cells = replay->problem->shape.nx * replay->problem->shape.ny;
    int64_t a_sector = SECTOR * 8 / replay->out_bits, first = cell / a_sector * a_sector;
    for (int64_t c = first; c < first + a_sector && c < cells; c++)
        if (replay->interval_of[c] < 0)
            return false;
    return true;
}

/* Writes an output with channels first. */
static void write_planes(OwnersReplay *replay, const Warp *warp) {
    int64_t plane = replay->problem->shape.nx * replay->problem->shape.ny;
    Instruction in = memory_write(replay->memory, replay->out);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        in.kind = fills_sector(replay, segment->cell) ? REUSE_WRITE : REUSE_PATCH;
        access_planes(&in, segment, segment->cell, plane, replay->out_bits);
    }
}

/* Replays the stores of the sums from registers, after the last point. */
static void warp_write(OwnersReplay *replay, const Warp *warp) {
    int64_t byte[WARP];
    memory_phase(replay->memory, PHASE_STORE);
    if (replay->memory->kernel->channels_first) {
        write_planes(replay, warp);
        return;
    }
    for (int s = 0; s < warp->count; s++) {
        int64_t row = warp->segments[s].cell * (int64_t)replay->channels;
        byte[s] = warp->segments[s].stores ? row * replay->out_bits / 8 : -1;
    }
    for (int part = 0; part < replay->tile; part += replay->access->store) {
        Instruction in = memory_write(replay->memory, replay->out);
        warp_rows(replay, &in, warp, byte, part, replay->access->store, replay->out_bits);
    }
}

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
        segment.cell = replay->pieces[owner].cell;
        segment.owner = replay->pieces[owner].owner;
        segment.stride = replay->pieces[owner].parts;
        segment.stores = replay->pieces[owner].part == 0;
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
        segment.start += replay->pieces[owner].part;
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
        segment.lanes =
            (StepLanes){(int8_t)(WARP - (end - thread)), (int8_t)(lane_end - lane), 1, false};
        if (steps_of(&segment) > warp->steps)
            warp->steps = steps_of(&segment);
        warp->segments[warp->count++] = segment;
        thread += lane_end - lane;
    }
    if (access->owner == BEV_OWNS_PIECE && warp->count > 0) {
        int64_t from = first_owner + number * WARP / replay->lanes;
        int64_t to = first_owner + (thread - 1) / replay->lanes + 1;
        warp->others = piece_instructions(replay->pieces, first_owner, from, to);
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
        memory_phase(replay->memory, PHASE_POINTS);
        (replay->access->owner == BEV_OWNS_SPLAT ? splat_step : point_step)(replay, warp);
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
        const Splat *splat = splats ? &replay->splats[segment->owner] : NULL;
        for (int j = 0; j < (splat ? splat->cells : 1); j++)
            list[count++] = splat ? splat->cell[j] : segment->cell;
    }
    return count;
}

static int32_t warp_turns(const void *state) {
    const Warp *warp = state;
    return warp->steps > 1 ? warp->steps : 1;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Gives each array of the kernel a place in memory, so that accesses have addresses. */
static void place_arrays(OwnersReplay *replay) {
    Memory *memory = replay->memory;
    const BevProblem *p = replay->problem;
    size_t points = (size_t)p->map.points, intervals = (size_t)p->map.intervals;
    size_t cells = (size_t)(p->shape.nx * p->shape.ny);
    size_t splats = replay->splats ? (size_t)replay->owners : 0;
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

/* Counts the owners that share the work: points, splats, intervals, cells or pieces. */
static bool find_owners(OwnersReplay *replay, Err *err) {
    Memory *memory = replay->memory;
    const BevMap *map = &replay->problem->map;
    const BevOwner owner = replay->access->owner;
    int64_t cells = replay->problem->shape.nx * replay->problem->shape.ny;
    if (owner == BEV_OWNS_CELL || owner == BEV_OWNS_PIECE || memory->kernel->channels_first) {
        replay->interval_of = bev_intervals_of_cells(map, cells);
        memory->arrays.failed |= !replay->interval_of;
    }
    replay->owners = owner == BEV_OWNS_POINT      ? map->points
                     : owner == BEV_OWNS_SPLAT    ? splats_gather(replay)
                     : owner == BEV_OWNS_INTERVAL ? map->intervals
                     : owner == BEV_OWNS_CELL     ? cells
                                                  : pieces_deal(replay);
    return memory_taken(memory, err);
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
    place_arrays(&replay);
    ok = ok && memory_start(memory, err) && run_launches(&replay, err);
    free(replay.interval_of);
    return ok;
}
