/* What a warp's owners read (their own records, then for each point its indices, and what those
 * name), and where its sums go: into memory, with each point, or out of registers at the end. */
#include "src/cachesim/trace_internal.h"

#include "kernels/codec.h"

/* One word of `array` an owner; elements below 0: none. */
static void read_words(OwnersReplay *replay, int sm, const Warp *warp, Place array,
                       const int32_t *element) {
    Instruction in = memory_read(replay->memory, sm, array);
    for (int s = 0; s < warp->count; s++)
        if (element[s] >= 0)
            memory_span(&in, (int64_t)element[s] * INDEX, INDEX);
}

static void read_depths(OwnersReplay *replay, int sm, const Warp *warp, const int32_t *element) {
    Instruction in = memory_read(replay->memory, sm, replay->depth);
    for (int s = 0; s < warp->count; s++)
        if (element[s] >= 0)
            memory_span(&in, (int64_t)element[s] * replay->depth_bytes, replay->depth_bytes);
}

/* Channels of each owner's row, at `row_byte` (below 0: none), by an instruction that takes `width`
 * channels of `bits` a lane, from channel `part` of every tile on. Lanes that take whole tiles are
 * neighbours. */
static void warp_rows(const OwnersReplay *replay, Instruction *in, const Warp *warp,
                      const int64_t *row_byte, int part, int width, int bits) {
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row_byte[s] < 0)
            continue;
        int step = width == replay->tile ? segment->last - segment->first : replay->tile;
        for (int c = segment->first + part; c < segment->last; c += step) {
            int end = width == replay->tile ? segment->last : c + width;
            if (end > segment->last)
                end = segment->last;
            int64_t from = (int64_t)c * bits / 8, to = ((int64_t)end * bits + 7) / 8;
            memory_span(in, row_byte[s] + from, to - from);
        }
    }
}

static void read_scales(OwnersReplay *replay, int sm, const Warp *warp, const int32_t *row) {
    int64_t blocks = (replay->channels + BEV_BLOCK - 1) / BEV_BLOCK;
    Instruction in = memory_read(replay->memory, sm, replay->scales);
    for (int s = 0; s < warp->count; s++) {
        int64_t from = warp->segments[s].first / BEV_BLOCK;
        int64_t to = (warp->segments[s].last - 1) / BEV_BLOCK + 1;
        if (row[s] >= 0)
            memory_span(&in, row[s] * blocks + from, to - from);
    }
}

static void read_features(OwnersReplay *replay, int sm, const Warp *warp, const int32_t *row) {
    int64_t byte[WARP];
    for (int s = 0; s < warp->count; s++)
        byte[s] = row[s] < 0 ? -1 : row[s] * replay->row_bytes;
    for (int part = 0; part < replay->tile; part += replay->access->load) {
        Instruction in = memory_read(replay->memory, sm, replay->feat);
        warp_rows(replay, &in, warp, byte, part, replay->access->load, replay->feat_bits);
    }
    if (replay->problem->dtype == BEV_NVFP4)
        read_scales(replay, sm, warp, row);
}

/* Channels first: camera images of `channels` planes each, lanes a whole plane apart, so that each
 * has a sector of its own. */
static void read_feature_planes(OwnersReplay *replay, int sm, const Warp *warp,
                                const int32_t *row) {
    int64_t pixels = replay->problem->shape.feat_h * replay->problem->shape.feat_w;
    int bytes = replay->feat_bits / 8;
    Instruction in = memory_read(replay->memory, sm, replay->feat);
    for (int s = 0; s < warp->count; s++) {
        int64_t element = row[s] + row[s] / pixels * (replay->channels - 1) * pixels;
        for (int c = warp->segments[s].first; row[s] >= 0 && c < warp->segments[s].last; c++)
            memory_span(&in, (element + c * pixels) * bytes, bytes);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

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
static void add_channels(OwnersReplay *replay, int sm, int64_t cell, int first, int last) {
    int floats = SECTOR / FLOAT, adds = replay->tile < floats ? replay->tile : floats;
    if (first < last)
        memory_add(replay->memory, sm, replay->sums, (cell * replay->channels + first) * FLOAT,
                   (int64_t)(last - first) * FLOAT, adds);
}

/* What the threads of a segment ask for when they add to a cell. */
static void count_adds(OwnersReplay *replay, const Segment *segment) {
    TraceCounts *counts = replay->memory->counts;
    int channels = segment->last - segment->first;
    counts->write[replay->sums.array].bytes += channels * FLOAT;
    if (replay->access->sums == BEV_SUMS_ATOMIC)
        counts->atomics += channels;
    else
        counts->read[replay->sums.array].bytes += channels * FLOAT;
}

/* Adds what a segment has to the sums of one cell. */
static void warp_add_to(OwnersReplay *replay, int sm, const Segment *segment, int64_t cell) {
    count_adds(replay, segment);
    add_channels(replay, sm, cell, segment->first, segment->last);
}

/* Adds what each segment has to the sums of its own cell: by a plain += or by atomics. */
static void warp_add(OwnersReplay *replay, int sm, const Warp *warp) {
    const BevMap *map = &replay->problem->map;
    TraceCounts *counts = replay->memory->counts;
    counts->write[replay->sums.array].requests += replay->tile;
    if (replay->access->sums == BEV_SUMS_PLAIN)
        counts->read[replay->sums.array].requests += replay->tile;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        int64_t t = segment->start;
        if (replay->access->merges && t % replay->access->block &&
            map->ranks_bev[t] == map->ranks_bev[t - 1])
            continue;
        count_adds(replay, segment);
        add_channels(replay, sm, segment->cell, segment->first,
                     replay->access->sums == BEV_SUMS_PLAIN ? own_channels_end(warp, s)
                                                            : segment->last);
    }
}

/* ---- owners ---------------------------------------------------------------------------------- */

void warp_read_owners(OwnersReplay *replay, int sm, const Warp *warp) {
    int32_t cell[WARP], interval[WARP], start[WARP];
    bool by_cell = replay->access->owner == BEV_OWNS_CELL;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        cell[s] = segment->cell;
        start[s] = segment->start;
        interval[s] = by_cell ? replay->interval_of[segment->cell] : segment->owner;
    }
    if (replay->access->owner == BEV_OWNS_PIECE) {
        Instruction in = memory_read(replay->memory, sm, replay->records);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, warp->segments[s].owner * (int64_t)BEV_PIECE_BYTES, BEV_PIECE_BYTES);
        return;
    }
    if (replay->access->ranks == 1) { /* packed records: three words in one sector, or two */
        Instruction in = memory_read(replay->memory, sm, replay->records);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, interval[s] * 3LL * INDEX, 3 * INDEX);
        return;
    }
    if (by_cell)
        read_words(replay, sm, warp, replay->cells, cell);
    read_words(replay, sm, warp, replay->starts, interval);
    read_words(replay, sm, warp, replay->lengths, interval);
    if (!by_cell) { /* which cell? Its first point knows */
        Place first_points = {replay->ranks_bev.base, TRACE_OWNERS};
        read_words(replay, sm, warp, first_points, start);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Whether what was read since the last time has to come from L2. */
static bool has_missed(OwnersReplay *replay) {
    bool missed = replay->memory->missed;
    replay->memory->missed = false;
    return missed;
}

/* A warp's splats: a record of ten words each, then as many cells as it says. */
static void splat_step(OwnersReplay *replay, int sm, Warp *warp) {
    const Splat *splat[WARP];
    int32_t depth[WARP], row[WARP], cells = 0;
    for (int s = 0; s < warp->count; s++) {
        splat[s] = &replay->splats.splats[warp->segments[s].owner];
        depth[s] = splat[s]->depth;
        row[s] = splat[s]->feat;
        cells = splat[s]->cells > cells ? splat[s]->cells : cells;
    }
    for (int word = 0; word < BEV_SPLAT_WORDS; word++) {
        bool rank = word < BEV_SPLAT_RANKS;
        Instruction in =
            memory_read(replay->memory, sm, rank ? replay->splat_ranks : replay->splat_weights);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, (warp->segments[s].owner * (int64_t)BEV_SPLAT_WORDS + word) * INDEX,
                        INDEX);
    }
    warp->index_waits += has_missed(replay);
    read_depths(replay, sm, warp, depth);
    read_features(replay, sm, warp, row);
    warp->waits += has_missed(replay);
    for (int j = 0; j < cells; j++) {
        replay->memory->counts->write[replay->sums.array].requests++;
        for (int s = 0; s < warp->count; s++)
            if (j < splat[s]->cells)
                warp_add_to(replay, sm, &warp->segments[s], splat[s]->cell[j]);
    }
}

/* Every owner's next point. */
static void point_step(OwnersReplay *replay, int sm, Warp *warp) {
    const BevMap *map = &replay->problem->map;
    int32_t point[WARP], depth[WARP], row[WARP];
    for (int s = 0; s < warp->count; s++) {
        int32_t t = warp->segments[s].start + warp->step * warp->segments[s].stride;
        bool exists = t < warp->segments[s].end;
        point[s] = exists ? t : -1;
        depth[s] = exists ? map->ranks_depth[t] : -1;
        row[s] = exists ? map->ranks_feat[t] : -1;
    }
    read_words(replay, sm, warp, replay->ranks_depth, point);
    if (replay->access->ranks >= 2)
        read_words(replay, sm, warp, replay->ranks_feat, point);
    if (replay->access->ranks >= 3)
        read_words(replay, sm, warp, replay->ranks_bev, point);
    if (map->weights)
        read_words(replay, sm, warp, replay->weight, point);
    warp->index_waits += has_missed(replay);
    read_depths(replay, sm, warp, depth);
    if (replay->memory->kernel->channels_first)
        read_feature_planes(replay, sm, warp, row);
    else
        read_features(replay, sm, warp, row);
    warp->waits += has_missed(replay);
    if (replay->access->sums)
        warp_add(replay, sm, warp);
}

void warp_step(OwnersReplay *replay, int sm, Warp *warp) {
    if (replay->access->owner == BEV_OWNS_SPLAT)
        splat_step(replay, sm, warp);
    else
        point_step(replay, sm, warp);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* A sector of an output plane is filled if all its cells have points. */
static bool fills_sector(const OwnersReplay *replay, int64_t cell) {
    int64_t cells = replay->problem->shape.nx * replay->problem->shape.ny;
    int64_t a_sector = SECTOR * 8 / replay->out_bits, first = cell / a_sector * a_sector;
    for (int64_t c = first; c < first + a_sector && c < cells; c++)
        if (replay->interval_of[c] < 0)
            return false;
    return true;
}

/* Channels first: lanes are a whole plane apart. */
static void write_planes(OwnersReplay *replay, int sm, const Warp *warp) {
    int64_t plane = replay->problem->shape.nx * replay->problem->shape.ny;
    Instruction in = memory_write(replay->memory, sm, replay->out);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        in.kind = fills_sector(replay, segment->cell) ? REUSE_WRITE : REUSE_PATCH;
        for (int c = segment->first; c < segment->last; c++)
            memory_span(&in, (segment->cell + c * plane) * replay->out_bits / 8,
                        replay->out_bits / 8);
    }
}

void warp_write(OwnersReplay *replay, int sm, const Warp *warp) {
    int64_t byte[WARP];
    if (replay->memory->kernel->channels_first) {
        write_planes(replay, sm, warp);
        return;
    }
    for (int s = 0; s < warp->count; s++) {
        int64_t row = warp->segments[s].cell * (int64_t)replay->channels;
        byte[s] = warp->segments[s].stores ? row * replay->out_bits / 8 : -1;
    }
    for (int part = 0; part < replay->tile; part += replay->access->store) {
        Instruction in = memory_write(replay->memory, sm, replay->out);
        warp_rows(replay, &in, warp, byte, part, replay->access->store, replay->out_bits);
    }
}
