/* SPDX-License-Identifier: MIT */
/* Replays kernels whose threads own points, splats, intervals, cells or pieces. A warp's owners
 * read their records, and for each point the indices, the depth and the features. Owners add to
 * sums in memory with each point, or store sums at the end. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"
#include "kernels/regime.h"

#include <stdlib.h>
#include <sys/param.h>

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

/* For each owner of a warp the number of an element in an array, or -1. */
typedef int64_t Elements[WARP];

typedef struct {
    Memory *memory;
    const BevAccess *access;
    const BevProblem *problem;
    Place ranks_depth, ranks_feat, ranks_bev, starts, lengths, records, cells, weight, out, sums,
        splat_ranks, splat_weights;
    int64_t owners;            /* points, splats, intervals, cells or pieces */
    int channels, tile, lanes; /* channels, channels of a thread, threads of an owner */
    int64_t threads_a_block;   /* if access->whole is set, threads of whole owners only */
    int64_t blocks_a_row;      /* a row of blocks takes all owners once */
    int32_t *interval_of; /* [cells] or -1; BEV_OWNS_CELL, BEV_OWNS_PIECE and channels first only */
    Splat *splats;        /* [owners]; BEV_OWNS_SPLAT only */
    Piece *pieces;        /* [owners]; BEV_OWNS_PIECE only */
} OwnersReplay;

/* ---- BEV Align's splats ---------------------------------------------------------------------- */

/* Sorts the points by their frustum point, and joins neighbours with equal ranks to splats of at
 * most four points. next[d] is the place of the next point with depth rank d. Returns the number of
 * splats. */
static int64_t splats_gather(OwnersReplay *replay) {
    const BevMap *map = &replay->problem->map;
    const int64_t depths = replay->problem->depth.row_len;
    CpuArrays *arrays = &replay->memory->arrays;
    int32_t *next = cpu_take_zeroed(arrays, depths, sizeof *next);
    int32_t *order = cpu_take(arrays, map->points, sizeof *order);
    Splat *splat = replay->splats = cpu_take(arrays, map->points, sizeof *splat);
    if (arrays->failed)
        return 0;
    for (int64_t t = 0; t < map->points; t++)
        next[map->ranks_depth[t] + 1]++;
    for (int64_t d = 1; d <= depths; d++)
        next[d] += next[d - 1];
    for (int64_t t = 0; t < map->points; t++)
        order[next[map->ranks_depth[t]]++] = (int32_t)t;
    for (int64_t i = 0; i < map->points; i++) {
        int32_t t = order[i], depth = map->ranks_depth[t], feat = map->ranks_feat[t];
        const bool same_ranks = i > 0 && splat->depth == depth && splat->feat == feat;
        if (!same_ranks || splat->cells == BEV_SPLAT_CELLS) {
            splat += i > 0;
            *splat = (Splat){.depth = depth, .feat = feat};
        }
        splat->point[splat->cells] = t;
        splat->cell[splat->cells++] = map->ranks_bev[t];
    }
    return map->points ? splat + 1 - replay->splats : 0;
}

/* ---- V4's pieces ----------------------------------------------------------------------------- */

/* Instructions of a warp outside of its steps, counted in the disassembly: to find cells and store
 * sums, for a round of a join, to put sums into shared memory, and to add another warp's sums. */
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
            puts |= pieces[i].parts > half && pieces[i].part / half == 1;
            adds |= pieces[i].parts > half && pieces[i].part < half;
        }
        instructions += ROUND_INSTRUCTIONS + puts * PUT_INSTRUCTIONS + adds * ADD_INSTRUCTIONS;
    }
    return instructions;
}

/* Deals cells to workers, at most a block to a cell. Returns the number of workers. */
static int64_t pieces_deal(OwnersReplay *replay) {
    const BevMap *map = &replay->problem->map;
    const BevShape *shape = &replay->problem->shape;
    int64_t cells = shape->nx * shape->ny, owner = 0, count = 0;
    int portion = piece_points(map->points, shape->channels);
    int rows = (int)replay->threads_a_block / replay->lanes;
    int largest = class_of(rows, 1, rows); /* 2^largest is `rows` */
    /* A cell has one worker, or fewer than two workers for every PIECE_POINTS points. */
    Piece *pieces = replay->pieces =
        cpu_take(&replay->memory->arrays, cells + map->points / PIECE_POINTS * 2, sizeof *pieces);
    if (replay->memory->arrays.failed)
        return 0;
    enum { EMPTY = -1 }; /* the class of cells without points, which have one worker */
    for (int size_class = largest; size_class >= EMPTY; size_class--) {
        const int parts = size_class == EMPTY ? 1 : 1 << size_class;
        for (int64_t cell = 0; cell < cells; cell++) {
            int32_t interval = replay->interval_of[cell];
            int own_class =
                interval < 0 ? EMPTY : class_of(map->interval_lengths[interval], portion, largest);
            if (own_class != size_class)
                continue;
            for (int part = 0; part < parts; part++)
                pieces[count++] = (Piece){(int32_t)cell, (int32_t)owner, part, parts};
            owner++;
        }
    }
    return count;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Whether the kernel fills the sector of a cell in an output plane: all its cells have points. */
static bool fills_sector(const OwnersReplay *replay, int64_t cell) {
    int64_t cells = replay->problem->shape.nx * replay->problem->shape.ny;
    int64_t cells_a_sector = SECTOR * 8 / bev_dtypes[replay->problem->out.dtype].bits;
    int64_t first = cell / cells_a_sector * cells_a_sector;
    for (int64_t c = first; c < MIN(first + cells_a_sector, cells); c++)
        if (replay->interval_of[c] < 0)
            return false;
    return true;
}

/* Replays the accesses to rows with channels first. Neighbouring channels are a plane of `plane`
 * elements apart, so each lane touches a sector of its own. A camera image has `channels` planes,
 * and so has the output. */
static void access_planes(const OwnersReplay *replay, const Warp *warp, const Elements row,
                          Instruction *in, int64_t plane, int bytes) {
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row[s] < 0)
            continue;
        const int64_t image = row[s] / plane, pixel = row[s] % plane;
        const int64_t first = image * replay->channels * plane + pixel;
        if (in->kind != REUSE_READ)
            in->kind = fills_sector(replay, row[s]) ? REUSE_WRITE : REUSE_PATCH;
        for (int c = segment->first; c < segment->last; c++)
            memory_span(in, one_lane(segment->lanes.first + c - segment->first),
                        (first + c * plane) * bytes, bytes);
    }
}

/* Replays an instruction that reads or writes a part of each owner's row. A lane takes `width`
 * channels, from channel `part` of its tile on. If that is the whole tile, neighbouring lanes take
 * neighbouring bytes. */
static void access_part(const OwnersReplay *replay, const Warp *warp, const Elements row,
                        Instruction *in, BevDtype dtype, int part, int width) {
    const int bits = bev_dtypes[dtype].bits;
    const int64_t row_bytes = (int64_t)bev_code_bytes(dtype, 1, replay->channels);
    const bool whole_tiles = width == replay->tile;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row[s] < 0)
            continue;
        int step = whole_tiles ? segment->last - segment->first : replay->tile;
        StepLanes lanes = whole_tiles ? segment->lanes : one_lane(segment->lanes.first);
        for (int c = segment->first + part; c < segment->last; c += step, lanes.first++) {
            int end = whole_tiles ? segment->last : MIN(c + width, segment->last);
            int64_t from = (int64_t)c * bits / 8, to = ((int64_t)end * bits + 7) / 8;
            memory_span(in, lanes, row[s] * row_bytes + from, to - from);
        }
    }
}

/* Replays the reads of a row of features for each owner, or the writes of a row of the output.
 * row[s] < 0: owner s has no row. */
static void access_rows(const OwnersReplay *replay, const Warp *warp, const Elements row,
                        ReuseKind kind) {
    const bool writes = kind == REUSE_WRITE;
    const BevShape *shape = &replay->problem->shape;
    const BevDtype dtype = writes ? replay->problem->out.dtype : replay->problem->dtype;
    const int64_t plane = writes ? shape->nx * shape->ny : shape->feat_h * shape->feat_w;
    const int width = writes ? replay->access->store : replay->access->load;
    for (int part = 0; part < replay->tile; part += width) {
        Instruction in = writes ? memory_write(replay->memory, replay->out)
                                : memory_read(replay->memory, replay->memory->feat);
        if (replay->memory->kernel->channels_first)
            access_planes(replay, warp, row, &in, plane, bev_dtypes[dtype].bits / 8);
        else
            access_part(replay, warp, row, &in, dtype, part, width);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Reads an element of `bytes` bytes for each owner, whose lanes all request the same bytes. */
static void read_elements(const OwnersReplay *replay, const Warp *warp, Place array,
                          const Elements element, int64_t bytes) {
    Instruction in = memory_read(replay->memory, array);
    for (int s = 0; s < warp->count; s++) {
        StepLanes lanes = warp->segments[s].lanes;
        lanes.same = true;
        if (element[s] >= 0)
            memory_span(&in, lanes, element[s] * bytes, bytes);
    }
}

/* Marks a wait whose loads are not counted. */
static TraceWaits *const NOT_COUNTED = NULL;

/* Replays the reads by which the owners of a warp find their points. */
static void read_owners(const OwnersReplay *replay, const Warp *warp) {
    Elements owner, interval, start;
    const bool by_cell = replay->access->owner == BEV_OWNS_CELL;
    memory_phase(replay->memory, PHASE_OWNERS);
    for (int s = 0; s < warp->count; s++) {
        owner[s] = warp->segments[s].owner;
        interval[s] = by_cell ? replay->interval_of[owner[s]] : owner[s];
        start[s] = warp->segments[s].start;
    }
    if (replay->access->owner == BEV_OWNS_PIECE || replay->access->ranks == 1) { /* one record */
        read_elements(replay, warp, replay->records, owner, replay->access->owner_bytes);
        return;
    }
    if (by_cell) {
        read_elements(replay, warp, replay->cells, owner, INDEX);
        memory_wait(replay->memory, NOT_COUNTED);
    }
    read_elements(replay, warp, replay->starts, interval, INDEX);
    read_elements(replay, warp, replay->lengths, interval, INDEX);
    if (!by_cell) { /* the owner reads its cell from its first point */
        Place cells = replay->ranks_bev;
        cells.array = TRACE_OWNERS;
        memory_wait(replay->memory, NOT_COUNTED);
        read_elements(replay, warp, cells, start, INDEX);
    }
}

/* Tells the recorder that a segment takes point `number` of the map. */
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

/* Replays the reads of a warp's splats. A splat is a record of ten words, with up to four cells. */
static void read_splats(const OwnersReplay *replay, const Warp *warp, Elements depth,
                        Elements row) {
    Elements word;
    for (int s = 0; s < warp->count; s++) {
        const Splat *splat = &replay->splats[warp->segments[s].owner];
        depth[s] = splat->depth;
        row[s] = splat->feat;
        for (int j = 0; replay->memory->watch.recorder && j < splat->cells; j++)
            show_point(replay, &warp->segments[s], splat->point[j]);
    }
    for (int i = 0; i < BEV_SPLAT_WORDS; i++) {
        Place words = i < BEV_SPLAT_RANKS ? replay->splat_ranks : replay->splat_weights;
        for (int s = 0; s < warp->count; s++)
            word[s] = warp->segments[s].owner * (int64_t)BEV_SPLAT_WORDS + i;
        read_elements(replay, warp, words, word, INDEX);
    }
}

/* Replays the reads of the indices and weights of each owner's next point, if it has one. */
static void read_points(const OwnersReplay *replay, const Warp *warp, Elements depth,
                        Elements row) {
    const BevMap *map = &replay->problem->map;
    Elements point;
    for (int s = 0; s < warp->count; s++) {
        int32_t t = warp->segments[s].start + warp->step * warp->segments[s].stride;
        bool exists = t < warp->segments[s].end;
        point[s] = exists ? t : -1;
        depth[s] = exists ? map->ranks_depth[t] : -1;
        row[s] = exists ? map->ranks_feat[t] : -1;
        if (replay->memory->watch.recorder && exists)
            show_point(replay, &warp->segments[s], t);
    }
    read_elements(replay, warp, replay->ranks_depth, point, INDEX);
    if (replay->access->ranks >= 2)
        read_elements(replay, warp, replay->ranks_feat, point, INDEX);
    if (replay->access->ranks >= 3)
        read_elements(replay, warp, replay->ranks_bev, point, INDEX);
    if (map->weights)
        read_elements(replay, warp, replay->weight, point, INDEX);
}

/* Replays the reads of NVFP4's block scales, one byte each, of the owners' feature rows. */
static void read_scales(const OwnersReplay *replay, const Warp *warp, const Elements row) {
    int64_t blocks = (replay->channels + BEV_BLOCK - 1) / BEV_BLOCK;
    Instruction in = memory_read(replay->memory, replay->memory->scales);
    for (int s = 0; s < warp->count; s++) {
        int64_t from = warp->segments[s].first / BEV_BLOCK;
        int64_t to = (warp->segments[s].last - 1) / BEV_BLOCK + 1;
        if (row[s] >= 0)
            memory_span(&in, warp->segments[s].lanes, row[s] * blocks + from, to - from);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Instructions of a warp that adds merged sums, as disassembled. */
enum { MERGED_INSTRUCTIONS = 44 };

/* Returns the end of those channels of segment `s` that no earlier segment of the warp adds to.
 * Only these channels are loaded and stored: additions of a warp by a plain += to the same cell and
 * channel merge. Atomics do not merge. */
static int own_channels_end(const Warp *warp, int s) {
    const Segment *own = &warp->segments[s];
    int end = own->last;
    for (int before = s - 1; before >= 0 && end > own->first; before--) {
        const Segment *other = &warp->segments[before];
        if (other->cell != own->cell)
            break;
        end = MIN(end, other->first);
    }
    return end;
}

/* Adds channels [first, last) of a segment to the sums of a cell, with one instruction for each
 * channel of a thread. An instruction requests the sectors in which it has a channel. The threads
 * request all channels of the segment. */
static void add_channels(const OwnersReplay *replay, Instruction *in, const Segment *segment,
                         int64_t cell, int last) {
    const int64_t byte = (cell * replay->channels + segment->first) * FLOAT;
    const int64_t asked = (int64_t)(segment->last - segment->first) * FLOAT;
    const int64_t moved = (int64_t)(last - segment->first) * FLOAT;
    const int requests_of_sector = MIN(replay->tile, SECTOR / FLOAT);
    memory_add(in, segment->lanes, byte, asked, moved, requests_of_sector);
}

/* Adds the products of each splat to the sums of its cells. */
static void add_splats(const OwnersReplay *replay, const Warp *warp) {
    int cells = 0;
    for (int s = 0; s < warp->count; s++)
        cells = MAX(cells, replay->splats[warp->segments[s].owner].cells);
    for (int j = 0; j < cells; j++) {
        Instruction in = memory_adding(replay->memory, replay->sums, 1);
        for (int s = 0; s < warp->count; s++) {
            const Segment *segment = &warp->segments[s];
            const Splat *splat = &replay->splats[segment->owner];
            if (j < splat->cells)
                add_channels(replay, &in, segment, splat->cell[j], segment->last);
        }
    }
}

/* Adds the products of each segment to the sums of its cell, by a plain += or by atomics. In a
 * kernel that merges, only the first thread of a cell's run in the block adds. A warp without such
 * a thread ends early. */
static void add_points(const OwnersReplay *replay, const Warp *warp) {
    const BevMap *map = &replay->problem->map;
    const bool plain = replay->access->sums == BEV_SUMS_PLAIN, merges = replay->access->merges;
    Instruction in = memory_adding(replay->memory, replay->sums, replay->tile);
    bool begins = false; /* a thread has the first point of its cell in the block */
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        const int64_t t = segment->start;
        const bool first_in_block = t % replay->access->block == 0;
        if (merges && !first_in_block && map->ranks_bev[t] == map->ranks_bev[t - 1])
            continue;
        begins = true;
        const int last = plain ? own_channels_end(warp, s) : segment->last;
        add_channels(replay, &in, segment, segment->cell, last);
    }
    if (merges && begins)
        replay->memory->shares[replay->memory->sm].others += MERGED_INSTRUCTIONS;
}

/* ---- warps ----------------------------------------------------------------------------------- */

/* Returns the segment of an owner's threads that hold channels [first, last), without its lanes. A
 * cell without points has an empty range of points. A splat has one step. */
static Segment segment_of(const OwnersReplay *replay, int64_t owner, int first, int last) {
    const BevMap *map = &replay->problem->map;
    const BevOwner kind = replay->access->owner;
    Segment segment = {.owner = (int32_t)owner,
                       .stride = 1,
                       .first = (int16_t)first,
                       .last = (int16_t)last,
                       .stores = true};
    if (kind == BEV_OWNS_SPLAT || kind == BEV_OWNS_POINT) {
        bool point = kind == BEV_OWNS_POINT;
        segment.start = point ? (int32_t)owner : 0;
        segment.end = segment.start + 1;
        segment.cell = point ? map->ranks_bev[owner] : 0;
        return segment;
    }
    if (kind == BEV_OWNS_PIECE) {
        const Piece *piece = &replay->pieces[owner];
        segment.cell = piece->cell;
        segment.owner = piece->owner;
        segment.start = piece->part;
        segment.stride = piece->parts;
        segment.stores = piece->part == 0;
    } else {
        segment.cell =
            kind == BEV_OWNS_CELL ? (int32_t)owner : map->ranks_bev[map->interval_starts[owner]];
    }
    int64_t interval = kind == BEV_OWNS_INTERVAL ? owner : replay->interval_of[segment.cell];
    if (interval >= 0) {
        segment.end = map->interval_starts[interval] + map->interval_lengths[interval];
        segment.start += map->interval_starts[interval];
    }
    return segment;
}

/* Finds the owners of a warp's threads. Threads are numbered through all blocks of a row. Blocks
 * share owners unless access->whole is set. */
static bool warp_begin(void *opaque, int64_t block, int number, void *state) {
    const OwnersReplay *replay = opaque;
    Warp *warp = state;
    const int lanes = replay->lanes, tile = replay->tile;
    const int64_t block_begin = block % replay->blocks_a_row * replay->threads_a_block;
    const int64_t begin = block_begin + number * WARP, end = begin + WARP; /* the warp's threads */
    const int64_t threads_end = MIN(block_begin + replay->threads_a_block, replay->owners * lanes);
    const int row = (int)(block / replay->blocks_a_row);
    const int base = replay->access->tiles_outside ? row * tile : 0; /* the row's first channel */
    int64_t thread = begin;
    warp->step = warp->steps = warp->count = warp->others = 0;
    warp->indices = warp->values = (TraceWaits){0};
    while (thread < MIN(end, threads_end)) {
        int64_t lane = thread % lanes, lane_end = MIN(lane + (end - thread), lanes);
        int64_t first = base + lane * tile, last = MIN(base + lane_end * tile, replay->channels);
        Segment *segment = &warp->segments[warp->count++];
        *segment = segment_of(replay, thread / lanes, (int)first, (int)last);
        segment->lanes =
            (StepLanes){.first = (int8_t)(thread - begin), .count = (int8_t)(lane_end - lane)};
        int32_t points = segment->end - segment->start;
        warp->steps = MAX(warp->steps, (points + segment->stride - 1) / segment->stride);
        thread += lane_end - lane;
    }
    if (replay->access->owner == BEV_OWNS_PIECE && warp->count > 0)
        warp->others = piece_instructions(replay->pieces, block_begin / lanes, begin / lanes,
                                          (thread - 1) / lanes + 1);
    return warp->count > 0;
}

/* Returns the cycles of all steps of a warp in sequence. Misses of L1 count, because a short
 * interval that misses may take longer than a long one that hits. No fact of a GPU enters, because
 * the counts of a replay serve all GPUs. */
static double warp_cycles(const OwnersReplay *replay, const Warp *warp) {
    const BevAccess *access = replay->access;
    const BevDtype dtype = replay->problem->dtype;
    const BevGpuFacts facts = {.converts_fp8 = true};
    const double miss_cycles = BEV_L2_CYCLES - BEV_L1_CYCLES;
    double indices = BEV_L1_CYCLES * warp->steps + miss_cycles * warp->indices.beyond;
    double values = BEV_L1_CYCLES * warp->steps + miss_cycles * warp->values.beyond;
    double arithmetic =
        BEV_CHAIN_CYCLES * warp->steps * bev_step_instructions(access, replay->tile, dtype, &facts);
    return indices / bev_indices_ahead(access, dtype) +
           values / bev_points_in_flight(access, dtype) + arithmetic;
}

/* Replays one step of a warp: the reads of its owners' next points, and the additions to sums in
 * memory. */
static void warp_step(const OwnersReplay *replay, Warp *warp) {
    const bool splats = replay->access->owner == BEV_OWNS_SPLAT;
    Elements depth, row;
    memory_phase(replay->memory, PHASE_POINTS);
    if (splats)
        read_splats(replay, warp, depth, row);
    else
        read_points(replay, warp, depth, row);
    memory_wait(replay->memory, &warp->indices);
    read_elements(replay, warp, replay->memory->depth, depth,
                  bev_dtypes[replay->problem->depth.dtype].bits / 8);
    access_rows(replay, warp, row, REUSE_READ);
    if (replay->problem->dtype == BEV_NVFP4)
        read_scales(replay, warp, row);
    memory_wait(replay->memory, &warp->values);
    if (replay->access->sums && splats)
        add_splats(replay, warp);
    else if (replay->access->sums)
        add_points(replay, warp);
    memory_step(replay->memory);
}

/* Replays the stores of the sums from registers, after the last point. */
static void warp_write(const OwnersReplay *replay, const Warp *warp) {
    Elements row;
    memory_phase(replay->memory, PHASE_STORE);
    for (int s = 0; s < warp->count; s++)
        row[s] = warp->segments[s].stores ? warp->segments[s].cell : -1;
    access_rows(replay, warp, row, REUSE_WRITE);
}

/* Replays a warp's next turn. Returns false after its last step, which writes the output. */
static bool warp_turn(void *opaque, void *state) {
    const OwnersReplay *replay = opaque;
    Warp *warp = state;
    TraceCounts *counts = replay->memory->counts;
    if (warp->step == 0 && replay->access->owner_bytes)
        read_owners(replay, warp);
    memory_wait(replay->memory, NOT_COUNTED);
    if (warp->step < warp->steps)
        warp_step(replay, warp);
    if (++warp->step < warp->steps)
        return true;
    if (!replay->access->sums)
        warp_write(replay, warp);
    replay->memory->shares[replay->memory->sm].others += warp->others;
    counts->longest = MAX(counts->longest, warp->steps);
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
    int count = 0;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (replay->access->owner != BEV_OWNS_SPLAT) {
            list[count++] = segment->cell;
            continue;
        }
        const Splat *splat = &replay->splats[segment->owner];
        for (int j = 0; j < splat->cells; j++)
            list[count++] = splat->cell[j];
    }
    return count;
}

static int32_t warp_turns(const void *state) {
    const Warp *warp = state;
    return MAX(warp->steps, 1);
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Gives each other array of the kernel a place in memory, so that accesses have addresses. */
static void place_arrays(OwnersReplay *replay) {
    Memory *memory = replay->memory;
    const BevProblem *p = replay->problem;
    size_t points = (size_t)p->map.points, intervals = (size_t)p->map.intervals;
    size_t cells = (size_t)(p->shape.nx * p->shape.ny);
    size_t splats = replay->splats ? (size_t)replay->owners : 0;
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

/* Runs the clear, the kernel, and the encoding if sums have a workspace of their own. */
static bool run_launches(OwnersReplay *replay, Err *err) {
    enum { CLEAR_BYTES = 16 };
    Memory *memory = replay->memory;
    const BevProblem *problem = replay->problem;
    const BevAccess *access = replay->access;
    const size_t out = bev_tensor_bytes(&problem->out);
    const size_t sums = (size_t)(problem->shape.nx * problem->shape.ny * replay->channels) * FLOAT;
    const int64_t threads = replay->owners * replay->lanes, a_block = replay->threads_a_block;
    const int rows =
        access->tiles_outside ? (replay->channels + replay->tile - 1) / replay->tile : 1;
    const int warps = (int)((a_block + WARP - 1) / WARP);
    replay->blocks_a_row = (threads + a_block - 1) / a_block;
    const Launch launch = {.name = memory->kernel->name,
                           .pools = true,
                           .blocks = rows * replay->blocks_a_row,
                           .warps = warps,
                           .resident = MAX(access->resident / warps, 1),
                           .state_bytes = sizeof(Warp),
                           .begin = warp_begin,
                           .turn = warp_turn,
                           .cells = warp_cells,
                           .turns = warp_turns};
    if (access->sums)
        memory_pass(memory, replay->sums, REUSE_WRITE, sums, CLEAR_BYTES);
    else if (access->clears)
        memory_pass(memory, replay->out, REUSE_WRITE, out, CLEAR_BYTES);
    if (!launch_run(&launch, memory, replay, err))
        return false;
    if (access->sums && problem->out.dtype != BEV_FP32) {
        memory_pass(memory, replay->sums, REUSE_READ, sums, FLOAT);
        memory_pass(memory, replay->out, REUSE_WRITE, out, bev_dtypes[problem->out.dtype].bits / 8);
    }
    return true;
}

/* Returns the threads of a block if no owner may lie in two blocks: as many owners as fit. Of V4's
 * pieces a block takes a power of two. */
static int threads_of_whole_owners(const BevAccess *access, int lanes) {
    const int fitting = MAX(access->block / lanes, 1);
    int pieces = 1;
    while (2 * pieces <= fitting)
        pieces *= 2;
    return lanes * (access->owner == BEV_OWNS_PIECE ? pieces : fitting);
}

bool owners_replay(Memory *memory, Err *err) {
    const BevProblem *problem = memory->problem;
    const BevMap *map = &problem->map;
    const BevAccess *access = memory->access;
    const BevOwner owner = access->owner;
    const int64_t cells = problem->shape.nx * problem->shape.ny;
    OwnersReplay replay = {.memory = memory,
                           .access = access,
                           .problem = problem,
                           .channels = (int)problem->shape.channels,
                           .tile = bev_access_tile(access, problem),
                           .threads_a_block = access->block};
    replay.lanes = access->tiles_outside ? 1 : (replay.channels + replay.tile - 1) / replay.tile;
    if (access->whole)
        replay.threads_a_block = threads_of_whole_owners(access, replay.lanes);
    if (owner == BEV_OWNS_CELL || owner == BEV_OWNS_PIECE || memory->kernel->channels_first) {
        replay.interval_of = bev_intervals_of_cells(map, cells);
        memory->arrays.failed |= !replay.interval_of;
    }
    replay.owners = owner == BEV_OWNS_POINT      ? map->points
                    : owner == BEV_OWNS_SPLAT    ? splats_gather(&replay)
                    : owner == BEV_OWNS_INTERVAL ? map->intervals
                    : owner == BEV_OWNS_CELL     ? cells
                                                 : pieces_deal(&replay);
    place_arrays(&replay);
    bool ok = memory_start(memory, err) && run_launches(&replay, err);
    free(replay.interval_of);
    return ok;
}
