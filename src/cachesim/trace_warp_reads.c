/* What a warp's owners read: their own records, then for each point its indices, and what those
 * name. */
#include "src/cachesim/trace_owners.h"

#include "kernels/codec.h"

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

/* Lanes that take whole tiles lie side by side. */
void warp_rows(const Walk *walk, Instruction *in, const Warp *warp, const int64_t *row_byte,
               int part, int width, int bits) {
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
    for (int part = 0; part < walk->tile; part += walk->pattern->load) {
        Instruction in = memory_read(walk->memory, sm, walk->feat);
        warp_rows(walk, &in, warp, byte, part, walk->pattern->load, walk->feat_bits);
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

/* ---- owners ---------------------------------------------------------------------------------- */

void warp_read_owners(Walk *walk, int sm, const Warp *warp) {
    int32_t cell[WARP], interval[WARP], start[WARP];
    bool by_cell = walk->pattern->owner == OWN_CELL;
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        cell[s] = segment->cell;
        start[s] = segment->start;
        interval[s] = by_cell ? walk->interval_of[segment->cell] : segment->owner;
    }
    if (walk->pattern->owner == OWN_PIECE) {
        Instruction in = memory_read(walk->memory, sm, walk->records);
        for (int s = 0; s < warp->count; s++)
            memory_span(&in, warp->segments[s].owner * (int64_t)PIECE_RECORD, PIECE_RECORD);
        return;
    }
    if (walk->pattern->ranks == 1) { /* packed records: three words in one sector, or two */
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
        Place first_points = {walk->ranks_bev.base, TRACE_OWNERS};
        read_words(walk, sm, warp, first_points, start);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

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
            if (j < splat[s]->cells)
                warp_add_to(walk, sm, &warp->segments[s], splat[s]->cell[j]);
    }
}

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
    if (walk->pattern->ranks >= 2)
        read_words(walk, sm, warp, walk->ranks_feat, point);
    if (walk->pattern->ranks >= 3)
        read_words(walk, sm, warp, walk->ranks_bev, point);
    if (map->weights)
        read_words(walk, sm, warp, walk->weight, point);
    warp->index_waits += has_missed(walk);
    read_depths(walk, sm, warp, depth);
    if (walk->pattern->channels_first)
        read_feature_planes(walk, sm, warp, row);
    else
        read_features(walk, sm, warp, row);
    warp->waits += has_missed(walk);
    if (walk->pattern->sums)
        warp_add(walk, sm, warp);
}

void warp_step(Walk *walk, int sm, Warp *warp) {
    if (walk->pattern->owner == OWN_SPLAT)
        splat_step(walk, sm, warp);
    else
        point_step(walk, sm, warp);
}
