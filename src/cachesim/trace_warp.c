/* SPDX-License-Identifier: MIT */
/* Replays the accesses of a warp. Its owners read their records, and for each point the indices,
 * the depth and the features. Owners add to sums in memory with each point, or store sums at the
 * end. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"

/* Returns the lanes of an owner, which all request the same bytes. */
static StepLanes lanes_together(const Segment *segment) {
    return (StepLanes){.first = segment->lane, .count = segment->lanes, .stride = 1, .same = true};
}

/* Returns the lanes of an owner, which request a share of the bytes each. */
static StepLanes lanes_in_shares(const Segment *segment) {
    return (StepLanes){.first = segment->lane, .count = segment->lanes, .stride = 1};
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
        StepLanes lanes =
            width == replay->tile ? lanes_in_shares(segment) : one_lane(segment->lane);
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
            memory_span(&in, lanes_in_shares(&warp->segments[s]), row[s] * blocks + from,
                        to - from);
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

/* Reads features with channels first. A camera image has `channels` planes. Lanes read from
 * different planes, so each lane touches a sector of its own. */
static void read_feature_planes(OwnersReplay *replay, const Warp *warp, const int32_t *row) {
    int64_t pixels = replay->problem->shape.feat_h * replay->problem->shape.feat_w;
    int bytes = replay->feat_bits / 8;
    Instruction in = memory_read(replay->memory, replay->feat);
    for (int s = 0; s < warp->count; s++) {
        int64_t element = row[s] + row[s] / pixels * (replay->channels - 1) * pixels;
        for (int c = warp->segments[s].first; row[s] >= 0 && c < warp->segments[s].last; c++) {
            memory_span(&in, one_lane(warp->segments[s].lane + c - warp->segments[s].first),
                        (element + c * pixels) * bytes, bytes);
        }
    }
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
    memory_add(in, lanes_in_shares(segment), (cell * replay->channels + segment->first) * FLOAT,
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

void warp_read_owners(OwnersReplay *replay, const Warp *warp) {
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
                                                                .lanes = lanes_in_shares(segment)});
}

/* Replays the splats of a warp. A splat is a record of ten words, with up to four cells. */
static void splat_step(OwnersReplay *replay, Warp *warp) {
    const Splat *splat[WARP];
    int32_t depth[WARP], row[WARP], cells = 0;
    for (int s = 0; s < warp->count; s++) {
        splat[s] = &replay->splats.splats[warp->segments[s].owner];
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

void warp_step(OwnersReplay *replay, Warp *warp) {
    memory_phase(replay->memory, PHASE_POINTS);
    if (replay->access->owner == BEV_OWNS_SPLAT)
        splat_step(replay, warp);
    else
        point_step(replay, warp);
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

/* Writes an output with channels first. Lanes are a whole plane apart. */
static void write_planes(OwnersReplay *replay, const Warp *warp) {
    int64_t plane = replay->problem->shape.nx * replay->problem->shape.ny;
    Instruction in = memory_write(replay->memory, replay->out);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        in.kind = fills_sector(replay, segment->cell) ? REUSE_WRITE : REUSE_PATCH;
        for (int c = segment->first; c < segment->last; c++) {
            memory_span(&in, one_lane(segment->lane + c - segment->first),
                        (segment->cell + c * plane) * replay->out_bits / 8, replay->out_bits / 8);
        }
    }
}

void warp_write(OwnersReplay *replay, const Warp *warp) {
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
