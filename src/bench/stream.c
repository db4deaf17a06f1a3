#include "src/bench/stream.h"

#include "kernels/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, INDEX = 4, FLOAT = 4, MERGE_BLOCK = 256, USUAL_BLOCK = 256 };

/* Places of the arrays in sectors. Some arrays are parts of one that is counted. */
typedef enum {
    PLACE_FEAT,
    PLACE_SCALES,
    PLACE_DEPTH,
    PLACE_RANKS_DEPTH,
    PLACE_RANKS_FEAT,
    PLACE_RANKS_BEV,
    PLACE_STARTS,
    PLACE_LENGTHS,
    PLACE_RECORDS,
    PLACE_OWNERS,
    PLACE_WEIGHT,
    PLACE_OUT,
    PLACE_SUMS,
    PLACE_COUNT
} Place;

static const StreamArray array_of[PLACE_COUNT] = {
    [PLACE_FEAT] = STREAM_FEAT,        [PLACE_SCALES] = STREAM_FEAT,
    [PLACE_DEPTH] = STREAM_DEPTH,      [PLACE_RANKS_DEPTH] = STREAM_RANKS,
    [PLACE_RANKS_FEAT] = STREAM_RANKS, [PLACE_RANKS_BEV] = STREAM_RANKS,
    [PLACE_STARTS] = STREAM_OWNERS,    [PLACE_LENGTHS] = STREAM_OWNERS,
    [PLACE_RECORDS] = STREAM_OWNERS,   [PLACE_OWNERS] = STREAM_OWNERS,
    [PLACE_WEIGHT] = STREAM_WEIGHT,    [PLACE_OUT] = STREAM_OUT,
    [PLACE_SUMS] = STREAM_SUMS,
};

/* Threads of a warp that share an owner: neighbours, `tile` channels each. */
typedef struct {
    int64_t cell, start, end; /* the owner's points; a cell without any has start == end */
    int64_t owner;
    int first, last; /* channels [first, last) */
} Segment;

typedef struct {
    int64_t step, steps;
    int side; /* of L2 where the warp's multiprocessor stands: blocks alternate */
    int count;
    Segment segments[WARP];
} Warp;

typedef struct {
    const StreamRung *rung;
    const BevProblem *problem;
    Reuse *reuse; /* or NULL */
    const StreamWatch *watch; /* or NULL */
    StreamCounts *counts;
    int side; /* of the warp whose turn it is */
    uint32_t base[PLACE_COUNT];
    int64_t channels, cells, owners;
    int tile, lanes; /* threads side by side on an owner, all its tiles or one */
    int64_t grid_rows, warps_a_row, warps_a_block, owners_a_block;
    double feat_bits, out_bits, depth_bytes;
    int64_t row_bytes; /* of a feature row's codes */
    int32_t *owner_of; /* [cells] interval, or -1; OWN_CELL only */
} Walk;

/* ---- layout --------------------------------------------------------------------------------- */

static size_t place_bytes(const BevProblem *problem, Place place) {
    const BevMap *map = &problem->map;
    size_t points = (size_t)map->points, intervals = (size_t)map->intervals;
    size_t cells = (size_t)(problem->shape.nx * problem->shape.ny);
    switch (place) {
    case PLACE_FEAT:
        return bev_code_bytes(problem->dtype, problem->feat.rows, problem->feat.row_len);
    case PLACE_SCALES:
        return bev_block_scale_bytes(problem->dtype, problem->feat.rows, problem->feat.row_len);
    case PLACE_DEPTH:
        return bev_tensor_bytes(&problem->depth);
    case PLACE_RANKS_DEPTH:
    case PLACE_RANKS_FEAT:
    case PLACE_RANKS_BEV:
        return points * INDEX;
    case PLACE_STARTS:
    case PLACE_LENGTHS:
        return intervals * INDEX;
    case PLACE_RECORDS:
        return intervals * 3 * INDEX;
    case PLACE_OWNERS:
        return cells * INDEX;
    case PLACE_WEIGHT:
        return map->weights ? points * FLOAT : 0;
    case PLACE_OUT:
        return bev_tensor_bytes(&problem->out);
    case PLACE_SUMS:
        return cells * (size_t)problem->shape.channels * FLOAT;
    case PLACE_COUNT:
        break;
    }
    return 0;
}

/* Sector where each place begins; returns the number of all. Only some rungs have sums. */
static uint64_t lay_out(const StreamRung *rung, const BevProblem *problem,
                        uint32_t base[PLACE_COUNT]) {
    uint64_t sectors = 0;
    for (int place = 0; place < PLACE_COUNT; place++) {
        base[place] = (uint32_t)sectors;
        if (place == PLACE_SUMS && !rung->adds)
            continue;
        sectors += (place_bytes(problem, (Place)place) + SECTOR - 1) / SECTOR;
    }
    return sectors;
}

uint32_t stream_sectors(const StreamRung *rung, const BevProblem *problem) {
    uint32_t base[PLACE_COUNT];
    uint64_t sectors = lay_out(rung, problem, base);
    return sectors < UINT32_MAX ? (uint32_t)sectors : UINT32_MAX;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void hand_on(Walk *walk, Place place, int64_t byte, int64_t bytes, ReuseKind kind,
                    int bytes_an_access) {
    if (bytes <= 0)
        return;
    for (int64_t sector = byte / SECTOR; sector <= (byte + bytes - 1) / SECTOR; sector++) {
        int64_t from = sector * SECTOR > byte ? sector * SECTOR : byte;
        int64_t to = (sector + 1) * SECTOR < byte + bytes ? (sector + 1) * SECTOR : byte + bytes;
        uint32_t repeats = bytes_an_access ? (uint32_t)((to - from) / bytes_an_access) : 1;
        walk->counts->l2_sectors += kind == REUSE_UPDATE ? 2.0 * repeats : repeats;
        if (walk->reuse)
            reuse_access(walk->reuse, walk->side, walk->base[place] + (uint32_t)sector, kind,
                         repeats);
    }
}

/* One instruction of a warp; its lanes' accesses come in ascending lane order. */
typedef struct {
    StreamCount *count;
    int64_t last_sector;
} Instruction;

static Instruction instruction(Walk *walk, Place place, ReuseKind kind) {
    StreamCount *counts = kind == REUSE_READ ? walk->counts->read : walk->counts->write;
    counts[array_of[place]].requests++;
    return (Instruction){&counts[array_of[place]], -1};
}

static void lane(Instruction *instruction, int64_t byte, int64_t bytes) {
    int64_t first = byte / SECTOR, last = (byte + bytes - 1) / SECTOR;
    instruction->count->bytes += (double)bytes;
    instruction->count->sectors += (double)(last - first + 1 - (first == instruction->last_sector));
    instruction->last_sector = last;
}

/* A linear pass of a whole array, 16 bytes a thread: clearing, encoding. */
static void whole_array(Walk *walk, Place place, ReuseKind kind) {
    int64_t bytes = (int64_t)place_bytes(walk->problem, place);
    StreamCount *counts = kind == REUSE_READ ? walk->counts->read : walk->counts->write;
    StreamCount *count = &counts[array_of[place]];
    count->bytes += (double)bytes;
    count->sectors += ceil((double)bytes / SECTOR);
    count->requests += ceil((double)bytes / (16 * WARP));
    hand_on(walk, place, 0, bytes, kind, 0);
}

/* Indices: one word an owner, from L2 once a sector. */
static void read_word(Walk *walk, const Warp *warp, Place place, const int64_t *element,
                      const bool *fresh) {
    Instruction in = instruction(walk, place, REUSE_READ);
    int64_t previous = -1;
    for (int s = 0; s < warp->count; s++) {
        if (element[s] < 0)
            continue;
        int64_t byte = element[s] * INDEX, sector = byte / SECTOR;
        lane(&in, byte, INDEX);
        if ((fresh[s] || byte % SECTOR == 0) && sector != previous)
            hand_on(walk, place, byte, INDEX, REUSE_READ, 0);
        previous = sector;
    }
}

/* Channels of a row through instructions of `width` channels a lane: counted. */
static void count_channels(Walk *walk, const Warp *warp, const int64_t *row_byte, Place place,
                           ReuseKind kind, int width, double bits) {
    for (int part = 0; part < walk->tile; part += width) {
        Instruction in = instruction(walk, place, kind);
        for (int s = 0; s < warp->count; s++) {
            if (row_byte[s] < 0)
                continue;
            const Segment *segment = &warp->segments[s];
            for (int c = segment->first + part; c < segment->last; c += walk->tile) {
                int end = c + width < segment->last ? c + width : segment->last;
                lane(&in, row_byte[s] + (int64_t)(c * bits / 8), (int64_t)((end - c) * bits / 8));
            }
        }
    }
}

/* Features (row, first .. last) of each owner's point, once from L2. */
static void read_features(Walk *walk, const Warp *warp, const int64_t *row) {
    int64_t byte[WARP];
    for (int s = 0; s < warp->count; s++)
        byte[s] = row[s] < 0 ? -1 : row[s] * walk->row_bytes;
    count_channels(walk, warp, byte, PLACE_FEAT, REUSE_READ, walk->rung->load, walk->feat_bits);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row[s] < 0)
            continue;
        int64_t from = (int64_t)(segment->first * walk->feat_bits / 8);
        int64_t to = (int64_t)ceil(segment->last * walk->feat_bits / 8);
        hand_on(walk, PLACE_FEAT, byte[s] + from, to - from, REUSE_READ, 0);
    }
    if (walk->problem->dtype != BEV_NVFP4)
        return;
    int64_t blocks = (walk->channels + BEV_BLOCK - 1) / BEV_BLOCK;
    Instruction in = instruction(walk, PLACE_SCALES, REUSE_READ);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        if (row[s] < 0)
            continue;
        int64_t from = segment->first / BEV_BLOCK, to = (segment->last - 1) / BEV_BLOCK + 1;
        lane(&in, row[s] * blocks + from, to - from);
        hand_on(walk, PLACE_SCALES, row[s] * blocks + from, to - from, REUSE_READ, 0);
    }
}

/* Channels first: lanes are a whole plane apart, so that each has a sector of its own. */
static void planes(Walk *walk, const Warp *warp, const int64_t *element, int64_t stride,
                   Place place, ReuseKind kind, double bits) {
    int64_t bytes = (int64_t)(bits / 8);
    Instruction in = instruction(walk, place, kind);
    for (int s = 0; s < warp->count; s++)
        for (int c = warp->segments[s].first; element[s] >= 0 && c < warp->segments[s].last; c++) {
            int64_t byte = (element[s] + c * stride) * bytes;
            lane(&in, byte, bytes);
            hand_on(walk, place, byte, bytes, kind, 0);
        }
}

/* Elements of camera images of `channels` planes each. */
static void read_feature_planes(Walk *walk, const Warp *warp, int64_t *row) {
    int64_t pixels = walk->problem->shape.feat_h * walk->problem->shape.feat_w;
    for (int s = 0; s < warp->count; s++)
        if (row[s] >= 0)
            row[s] += row[s] / pixels * (walk->channels - 1) * pixels;
    planes(walk, warp, row, pixels, PLACE_FEAT, REUSE_READ, walk->feat_bits);
}

/* ---- a warp's life -------------------------------------------------------------------------- */

static void read_owners(Walk *walk, const Warp *warp) {
    int64_t cell[WARP], interval[WARP];
    bool fresh[WARP];
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        cell[s] = segment->cell;
        interval[s] = walk->owner_of ? walk->owner_of[segment->cell] : segment->owner;
        fresh[s] = true;
    }
    if (walk->owner_of)
        read_word(walk, warp, PLACE_OWNERS, cell, fresh);
    if (walk->rung->ranks == 1) { /* packed records: three words in one sector, or two */
        Instruction in = instruction(walk, PLACE_RECORDS, REUSE_READ);
        for (int s = 0; s < warp->count; s++) {
            lane(&in, interval[s] * 3 * INDEX, 3 * INDEX);
            hand_on(walk, PLACE_RECORDS, interval[s] * 3 * INDEX, 3 * INDEX, REUSE_READ, 0);
        }
        return;
    }
    read_word(walk, warp, PLACE_STARTS, interval, fresh);
    read_word(walk, warp, PLACE_LENGTHS, interval, fresh);
    if (walk->owner_of)
        return;
    /* Which cell? The interval's first point knows; counted with what an owner reads. */
    Instruction in = {&walk->counts->read[STREAM_OWNERS], -1};
    in.count->requests++;
    for (int s = 0; s < warp->count; s++) {
        lane(&in, warp->segments[s].start * INDEX, INDEX);
        hand_on(walk, PLACE_RANKS_BEV, warp->segments[s].start * INDEX, INDEX, REUSE_READ, 0);
    }
}

static void add_sums(Walk *walk, const Warp *warp, const int64_t *point) {
    const BevMap *map = &walk->problem->map;
    Place place = walk->problem->out.dtype == BEV_FP32 ? PLACE_OUT : PLACE_SUMS;
    bool adds[WARP];
    for (int s = 0; s < warp->count; s++) {
        int64_t t = point[s];
        adds[s] = !walk->rung->merges || t % MERGE_BLOCK == 0 ||
                  map->ranks_bev[t] != map->ranks_bev[t - 1];
    }
    for (int part = 0; part < walk->tile; part++) {
        Instruction in = instruction(walk, place, REUSE_UPDATE);
        for (int s = 0; s < warp->count; s++)
            for (int c = warp->segments[s].first + part; adds[s] && c < warp->segments[s].last;
                 c += walk->tile) {
                lane(&in, (warp->segments[s].cell * walk->channels + c) * FLOAT, FLOAT);
                walk->counts->atomics++;
            }
    }
    for (int s = 0; s < warp->count; s++)
        if (adds[s])
            hand_on(walk, place,
                    (warp->segments[s].cell * walk->channels + warp->segments[s].first) * FLOAT,
                    (warp->segments[s].last - warp->segments[s].first) * FLOAT, REUSE_UPDATE,
                    FLOAT);
}

/* Every owner's next point. */
static void step(Walk *walk, const Warp *warp) {
    const BevMap *map = &walk->problem->map;
    int64_t point[WARP], depth[WARP], row[WARP];
    bool fresh[WARP];
    for (int s = 0; s < warp->count; s++) {
        int64_t t = warp->segments[s].start + warp->step;
        bool exists = t < warp->segments[s].end;
        point[s] = exists ? t : -1;
        depth[s] = exists ? map->ranks_depth[t] : -1;
        row[s] = exists ? map->ranks_feat[t] : -1;
        fresh[s] = warp->step == 0;
    }
    read_word(walk, warp, PLACE_RANKS_DEPTH, point, fresh);
    if (walk->rung->ranks >= 2)
        read_word(walk, warp, PLACE_RANKS_FEAT, point, fresh);
    if (walk->rung->ranks >= 3)
        read_word(walk, warp, PLACE_RANKS_BEV, point, fresh);
    if (map->weights)
        read_word(walk, warp, PLACE_WEIGHT, point, fresh);
    Instruction in = instruction(walk, PLACE_DEPTH, REUSE_READ);
    int64_t bytes = (int64_t)walk->depth_bytes;
    for (int s = 0; s < warp->count; s++)
        if (point[s] >= 0) {
            lane(&in, depth[s] * bytes, bytes);
            hand_on(walk, PLACE_DEPTH, depth[s] * bytes, bytes, REUSE_READ, 0);
        }
    if (walk->rung->channels_first)
        read_feature_planes(walk, warp, row);
    else
        read_features(walk, warp, row);
    if (walk->rung->adds)
        add_sums(walk, warp, point);
    walk->counts->steps++;
}

static void write_outputs(Walk *walk, const Warp *warp) {
    int64_t byte[WARP], cell[WARP];
    for (int s = 0; s < warp->count; s++) {
        cell[s] = warp->segments[s].cell;
        byte[s] = (int64_t)((double)(cell[s] * walk->channels) * walk->out_bits / 8);
    }
    if (walk->rung->channels_first) {
        planes(walk, warp, cell, walk->cells, PLACE_OUT, REUSE_WRITE, walk->out_bits);
        return;
    }
    count_channels(walk, warp, byte, PLACE_OUT, REUSE_WRITE, walk->rung->store, walk->out_bits);
    for (int s = 0; s < warp->count; s++) {
        const Segment *segment = &warp->segments[s];
        int64_t from = (int64_t)(segment->first * walk->out_bits / 8);
        int64_t bytes = (int64_t)(segment->last * walk->out_bits / 8) - from;
        if (!walk->rung->streams) {
            hand_on(walk, PLACE_OUT, byte[s] + from, bytes, REUSE_WRITE, 0);
            continue;
        }
        walk->counts->streamed += (double)bytes / SECTOR;
        walk->counts->l2_sectors += ceil((double)bytes / SECTOR);
    }
}

static Segment segment_of(const Walk *walk, int64_t owner, int first, int last) {
    const BevMap *map = &walk->problem->map;
    Segment segment = {.owner = owner, .first = first, .last = last};
    if (walk->rung->owner == OWN_POINT) {
        segment.start = owner;
        segment.end = owner + 1;
        segment.cell = map->ranks_bev[owner];
        return segment;
    }
    int64_t interval = walk->owner_of ? walk->owner_of[owner] : owner;
    if (interval >= 0) {
        segment.start = map->interval_starts[interval];
        segment.end = segment.start + map->interval_lengths[interval];
    }
    segment.cell = walk->owner_of ? owner : map->ranks_bev[segment.start];
    return segment;
}

/* Who the threads of warp `number` of a grid row are. */
static void warp_begin(const Walk *walk, int64_t number, Warp *warp) {
    int64_t grid_row = number / walk->warps_a_row, in_row = number % walk->warps_a_row;
    int64_t block = in_row / walk->warps_a_block;
    int64_t thread = in_row % walk->warps_a_block * WARP;
    int64_t end = thread + WARP, block_end = walk->owners_a_block * walk->lanes;
    int tile = walk->tile, base = walk->rung->tiles_outside ? (int)grid_row * tile : 0;
    int64_t block_warps = walk->rung->block ? walk->warps_a_block : USUAL_BLOCK / WARP;
    *warp = (Warp){.side = (int)(number / block_warps & 1)};
    while (thread < end && thread < block_end) {
        int64_t owner = block * walk->owners_a_block + thread / walk->lanes;
        int64_t lane_first = thread % walk->lanes;
        int64_t lane_end = lane_first + (end - thread);
        if (lane_end > walk->lanes)
            lane_end = walk->lanes;
        thread += lane_end - lane_first;
        if (owner >= walk->owners)
            break;
        int64_t first = base + lane_first * tile, last = base + lane_end * tile;
        Segment segment = segment_of(walk, owner, (int)first,
                                     (int)(last < walk->channels ? last : walk->channels));
        if (segment.end - segment.start > warp->steps)
            warp->steps = segment.end - segment.start;
        warp->segments[warp->count++] = segment;
    }
}

/* A warp's next turn; false when it was the last. */
static bool warp_turn(Walk *walk, Warp *warp) {
    walk->side = warp->side;
    if (warp->step == 0 && walk->rung->owner != OWN_POINT)
        read_owners(walk, warp);
    if (warp->step < warp->steps)
        step(walk, warp);
    if (++warp->step < warp->steps)
        return true;
    if (!walk->rung->adds)
        write_outputs(walk, warp);
    if (warp->steps > walk->counts->longest)
        walk->counts->longest = warp->steps;
    return false;
}

/* ---- the launch ----------------------------------------------------------------------------- */

static bool find_owners(Walk *walk, Err *err) {
    const BevMap *map = &walk->problem->map;
    walk->owner_of = malloc(((size_t)walk->cells + 1) * sizeof *walk->owner_of);
    if (!walk->owner_of)
        return err_set(err, ERR_FAILED, walk->rung->name, "", "no memory for %lld cells",
                       (long long)walk->cells);
    memset(walk->owner_of, 0xff, (size_t)walk->cells * sizeof *walk->owner_of);
    for (int64_t i = 0; i < map->intervals; i++)
        walk->owner_of[map->ranks_bev[map->interval_starts[i]]] = (int32_t)i;
    return true;
}

static void plan_launch(Walk *walk) {
    const StreamRung *rung = walk->rung;
    const BevProblem *problem = walk->problem;
    int64_t tiles;
    walk->channels = problem->shape.channels;
    walk->cells = problem->shape.nx * problem->shape.ny;
    walk->owners = rung->owner == OWN_POINT      ? problem->map.points
                   : rung->owner == OWN_INTERVAL ? problem->map.intervals
                                                 : walk->cells;
    walk->tile = stream_tile(rung, problem);
    tiles = (walk->channels + walk->tile - 1) / walk->tile;
    walk->lanes = rung->tiles_outside ? 1 : (int)tiles;
    walk->grid_rows = rung->tiles_outside ? tiles : 1;
    walk->owners_a_block = walk->owners;
    if (rung->block)
        walk->owners_a_block = rung->block / walk->lanes > 0 ? rung->block / walk->lanes : 1;
    int64_t blocks =
        walk->owners ? (walk->owners + walk->owners_a_block - 1) / walk->owners_a_block : 0;
    walk->warps_a_block = (walk->owners_a_block * walk->lanes + WARP - 1) / WARP;
    walk->warps_a_row = blocks * walk->warps_a_block;
    walk->feat_bits = bev_dtypes[problem->dtype].bits;
    walk->out_bits = bev_dtypes[problem->out.dtype].bits;
    walk->depth_bytes = bev_dtypes[problem->depth.dtype].bits / 8.0;
    walk->row_bytes = (int64_t)bev_code_bytes(problem->dtype, 1, walk->channels);
    lay_out(rung, problem, walk->base);
}

static bool goes_on(const Walk *walk) {
    return !walk->watch || walk->watch->go_on(walk->watch->context);
}

/* Warps under way take turns; the next in launch order fills a free place. False: told to end. */
static bool run_warps(Walk *walk, Warp *warps) {
    int64_t count = walk->grid_rows * walk->warps_a_row, next = 0;
    int active = 0;
    while (next < count && active < STREAM_WARPS)
        warp_begin(walk, next++, &warps[active++]);
    while (active > 0 && goes_on(walk))
        for (int i = 0; i < active; i++) {
            if (warp_turn(walk, &warps[i]))
                continue;
            if (next < count)
                warp_begin(walk, next++, &warps[i]);
            else
                warps[i--] = warps[--active];
        }
    return active == 0;
}

bool stream_walk(const StreamRung *rung, const BevProblem *problem, Reuse *reuse,
                 const StreamWatch *watch, StreamCounts *counts, Err *err) {
    Walk walk = {
        .rung = rung, .problem = problem, .reuse = reuse, .watch = watch, .counts = counts};
    *counts = (StreamCounts){0};
    plan_launch(&walk);
    if (rung->owner == OWN_CELL && !find_owners(&walk, err))
        return false;
    Warp *warps = calloc(STREAM_WARPS, sizeof *warps);
    bool ended = false;
    if (warps) {
        bool workspace = rung->adds && problem->out.dtype != BEV_FP32;
        if (rung->clears || rung->adds)
            whole_array(&walk, workspace ? PLACE_SUMS : PLACE_OUT, REUSE_WRITE);
        ended = !run_warps(&walk, warps);
        if (workspace) {
            whole_array(&walk, PLACE_SUMS, REUSE_READ);
            whole_array(&walk, PLACE_OUT, REUSE_WRITE);
        }
    }
    bool ok = warps != NULL;
    free(warps);
    free(walk.owner_of);
    if (ok && ended)
        return err_set(err, ERR_FAILED, rung->name, "", "the walk was ended early");
    return ok || err_set(err, ERR_FAILED, rung->name, "", "no memory for %d warps", STREAM_WARPS);
}

/* ---- formulas ------------------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* How many warps read an owner's words: its lanes begin at any multiple of what their number and a
 * warp's have in common, so this is an average over the places. */
static double passes(const StreamRung *rung, const BevProblem *problem) {
    int tile = stream_tile(rung, problem);
    int64_t tiles = (problem->shape.channels + tile - 1) / tile;
    if (rung->tiles_outside)
        return (double)tiles;
    return (double)(tiles + WARP - common_divisor(tiles, WARP)) / WARP;
}

double stream_rank_bytes(const StreamRung *rung, const BevProblem *problem) {
    return INDEX * rung->ranks * (double)problem->map.points * passes(rung, problem);
}

BevTraffic stream_formula(const StreamRung *rung, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    double points = (double)map->points, intervals = (double)map->intervals, n;
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    double channels = (double)problem->shape.channels;
    double out = (double)bev_tensor_bytes(&problem->out), sums = cells * channels * FLOAT;
    n = passes(rung, problem);
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    traffic.depth *= n;
    traffic.weight *= n;
    traffic.index = stream_rank_bytes(rung, problem);
    if (rung->owner == OWN_INTERVAL)
        traffic.index += intervals * rung->owner_bytes * n;
    if (rung->owner == OWN_CELL)
        traffic.index += (cells * rung->owner_bytes + intervals * 2 * INDEX) * n;
    if (rung->adds) {
        traffic.atomics = points * channels;
        if (rung->merges) /* a cell once, and at most once more for each block that begins in it */
            traffic.atomics = (intervals + ceil(points / MERGE_BLOCK)) * channels;
        bool workspace = problem->out.dtype != BEV_FP32;
        traffic.out_read = FLOAT * traffic.atomics + (workspace ? sums : 0);
        traffic.out_write = FLOAT * traffic.atomics + sums + (workspace ? out : 0);
    } else if (rung->clears) {
        traffic.out_write = out + intervals * channels * bev_dtypes[problem->out.dtype].bits / 8;
    }
    return traffic;
}
