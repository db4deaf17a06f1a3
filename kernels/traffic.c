/* SPDX-License-Identifier: MIT */
/* The traffic that a kernel requests, by the accesses of its row. */
#include "kernels/codec.h"
#include "kernels/tiles.h"

#include <math.h>

double bev_traffic_total(BevTraffic traffic) {
    return traffic.feat + traffic.depth + traffic.index + traffic.weight + traffic.out_read +
           traffic.out_write + traffic.grad_read + traffic.grad_write;
}

BevTraffic bev_gather_traffic(const BevProblem *problem, int out_bits) {
    double points = (double)problem->map.points;
    double outputs = (double)problem->out.rows * (double)problem->out.row_len;
    return (BevTraffic){
        .feat =
            points * (double)(bev_code_bytes(problem->feat.dtype, 1, problem->feat.row_len) +
                              bev_block_scale_bytes(problem->feat.dtype, 1, problem->feat.row_len)),
        .depth = points * bev_dtypes[problem->depth.dtype].bits / 8,
        .index = points * 3 * sizeof(int32_t),
        .weight = problem->map.weights ? points * sizeof(float) : 0,
        .out_write = outputs * out_bits / 8,
    };
}

/* ---- traffic that follows from accesses ------------------------------------------------------ */

enum { WARP = 32, WORD = 4 };

int bev_access_tile(const BevAccess *access, const BevProblem *problem) {
    const bool eight_bits = bev_dtypes[problem->dtype].bits == 8;
    bool sixteens = problem->dtype == BEV_NVFP4;
    if (access->owner == BEV_OWNS_PIECE)
        sixteens = (sixteens || eight_bits) && problem->shape.channels % 16 == 0;
    return access->widens && sixteens ? 16 : access->tile;
}

double bev_points_in_flight(const BevAccess *access, BevDtype dtype) {
    float own = access->in_flight_of[dtype];
    return own > 0 ? own : access->in_flight;
}

double bev_indices_ahead(const BevAccess *access, BevDtype dtype) {
    float own = access->indices_ahead_of[dtype];
    return own > 0 ? own : access->indices_ahead;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

double bev_warps_an_owner(const BevAccess *access, const BevProblem *problem) {
    int tile = bev_access_tile(access, problem);
    int64_t tiles = (problem->shape.channels + tile - 1) / tile;
    if (access->tiles_outside)
        return (double)tiles;
    return (double)(tiles + WARP - common_divisor(tiles, WARP)) / WARP;
}

/* Returns the index bytes that the kernel reads for its points. */
static double access_rank_bytes(const BevAccess *access, const BevProblem *problem) {
    double points = (double)problem->map.points;
    if (access->owner == BEV_OWNS_SPLAT)
        points /= BEV_SPLAT_CELLS; /* the four points of a splat share its record */
    return WORD * access->ranks * points * bev_warps_an_owner(access, problem);
}

/* Counts the pairs of a cell and a block of threads that holds points of this cell. */
static double cells_of_blocks(const BevMap *map, int block) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t start = map->interval_starts[i], last = start + map->interval_lengths[i] - 1;
        pairs += last / block - start / block + 1;
    }
    return (double)pairs;
}

/* Adds the traffic of sums in memory: they are cleared, each point (or each cell of a block) adds
 * to every channel, and the finished sums are encoded. */
static void add_sums_traffic(const BevAccess *access, const BevProblem *problem,
                             BevTraffic *traffic) {
    double points = (double)problem->map.points, channels = (double)problem->shape.channels;
    double cells = (double)(problem->shape.nx * problem->shape.ny), adds = points * channels;
    double sums = cells * channels * WORD;
    bool workspace = problem->out.dtype != BEV_FP32;
    if (access->merges)
        adds = cells_of_blocks(&problem->map, access->block) * channels;
    traffic->atomics = access->sums == BEV_SUMS_ATOMIC ? adds : 0;
    traffic->out_read = WORD * adds + (workspace ? sums : 0);
    traffic->out_write =
        WORD * adds + sums + (workspace ? (double)bev_tensor_bytes(&problem->out) : 0);
}

/* Counts V4's pieces. A cell of class k has 2^k pieces, and a cell without points has one piece. A
 * block holds the pieces of a cell, whose number is a power of two. */
static double count_pieces(const BevAccess *access, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    int tile = bev_access_tile(access, problem), largest_class = 0;
    int portion = piece_points(map->points, problem->shape.channels);
    int64_t lanes = (problem->shape.channels + tile - 1) / tile;
    int64_t pieces = problem->shape.nx * problem->shape.ny - map->intervals;
    while ((2 << largest_class) * lanes <= access->block)
        largest_class++;
    for (int64_t i = 0; i < map->intervals; i++)
        pieces += (int64_t)1 << class_of(map->interval_lengths[i], portion, largest_class);
    return (double)pieces;
}

/* Returns the bytes of a feature row that a kernel reads. NVFP4's padding to whole blocks of 16
 * channels is not read. */
static double read_row_bytes(const BevTensor *feat) {
    double codes = ceil((double)feat->row_len * bev_dtypes[feat->dtype].bits / 8);
    return codes + (double)bev_block_scale_bytes(feat->dtype, 1, feat->row_len);
}

/* Returns the traffic that follows from a kernel's accesses. */
static BevTraffic access_traffic(const BevAccess *access, const BevProblem *problem) {
    double intervals = (double)problem->map.intervals, warps = bev_warps_an_owner(access, problem);
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    int out_bits = bev_dtypes[problem->out.dtype].bits;
    BevTraffic traffic = bev_gather_traffic(problem, out_bits);
    traffic.feat = (double)problem->map.points * read_row_bytes(&problem->feat);
    traffic.depth *= warps;
    traffic.weight *= warps;
    traffic.index = access_rank_bytes(access, problem);
    if (access->owner == BEV_OWNS_INTERVAL)
        traffic.index += intervals * access->owner_bytes * warps;
    if (access->owner == BEV_OWNS_CELL)
        traffic.index += (cells * access->owner_bytes + intervals * 2 * WORD) * warps;
    if (access->owner == BEV_OWNS_PIECE)
        traffic.index += count_pieces(access, problem) * access->owner_bytes * warps;
    /* A splat stands for BEV_SPLAT_CELLS points of the map, each with its weight. The feature row
     * and the depth of a splat are read once. */
    if (access->owner == BEV_OWNS_SPLAT) {
        traffic.feat /= BEV_SPLAT_CELLS;
        traffic.depth /= BEV_SPLAT_CELLS;
    }
    if (access->sums)
        add_sums_traffic(access, problem, &traffic);
    else if (access->clears) /* the output is cleared, and each cell with points is written again */
        traffic.out_write += intervals * (double)problem->shape.channels * out_bits / 8;
    return traffic;
}

/* ---- V4's traffic ---------------------------------------------------------------------------- */

/* Returns the index bytes of one step of a tile. A step says where its column's slab begins, and
 * has one entry a cell. With weights each cell has the place of its weights besides. */
static double step_bytes(const BevProblem *problem) {
    return WORD * (2 + TILE_CELLS * (problem->map.weights ? 2 : 1));
}

/* Counts the depths that the lanes of a warp request in one pass over the channels: one depth a
 * point. From a transposed depth lane q reads the image rows q, q + 4, q + 8 and q + 12 together.
 * The lane requests all four as soon as one of them has a point. */
static double count_tile_depths(const TileDraft *draft) {
    const BevMap *map = &draft->problem->map;
    int64_t lanes = 0;
    if (!draft->transposed)
        return (double)map->points;
    for (int32_t e = 0; e < draft->entry_starts[map->intervals]; e++)
        for (int lane = 0; lane < 4; lane++)
            lanes += (draft->entries[e].code & 0x1111u << lane) != 0;
    return 4 * (double)lanes;
}

/* Returns V4's traffic with tiles. */
static BevTraffic tile_traffic(const TileDraft *draft) {
    const BevProblem *problem = draft->problem;
    const BevMap *map = &problem->map;
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    /* A tile's map is read once a pass over the channels. */
    double passes = (double)draft->schedule.passes, steps = (double)draft->steps;
    double empties = (double)(problem->shape.nx * problem->shape.ny - map->intervals);
    double owners = (double)draft->schedule.workers * (TILE_WORK_WORDS + TILE_CELLS) + empties;
    double sums =
        (double)(draft->schedule.counts[PAIR_CLASS] * TILE_CELLS * problem->shape.channels) * WORD;
    traffic.index = passes * (steps * step_bytes(problem) + WORD * owners);
    traffic.out_write += 2 * sums; /* both blocks of a pair write their sums */
    traffic.out_read += sums;      /* one block reads the sums of the other */
    traffic.feat *= SLAB * steps / (double)map->points;
    traffic.depth *= passes * count_tile_depths(draft) / (double)map->points;
    if (draft->transposed)
        traffic.depth +=
            (double)(bev_tensor_bytes(&problem->depth) + tile_transposed_bytes(problem));
    if (map->weights) /* each step reads weights for each cell, even without an entry */
        traffic.weight = passes * steps * TILE_CELLS * SLAB * WORD;
    return traffic;
}

/* Drafts V4's tiles for the traffic formula. Returns false where the map's arrays are NULL or
 * memory is short. A map without points needs no draft. */
static bool make_v4_draft(const BevProblem *problem, TileDraft *draft) {
    *draft = (TileDraft){0};
    return problem->map.points == 0 ||
           (problem->map.ranks_depth && problem->map.interval_lengths &&
            tile_draft_make(problem, BEV_MULTIPROCESSORS, draft));
}

/* Returns V4's traffic. `*transposes` tells whether V4 transposes the depths first; the traffic
 * then includes that pass. */
static BevTraffic v4_bytes(const BevKernel *kernel, const BevProblem *problem, bool *transposes) {
    TileDraft draft;
    BevTraffic traffic = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (make_v4_draft(problem, &draft))
        traffic = draft.serves ? tile_traffic(&draft) : access_traffic(&kernel->fallback, problem);
    *transposes = draft.serves && draft.transposed;
    tile_draft_free(&draft);
    return traffic;
}

static double v4_rank_bytes(const BevKernel *kernel, const BevProblem *problem) {
    TileDraft draft;
    double bytes = NAN;
    if (make_v4_draft(problem, &draft))
        bytes = draft.serves ? (double)(draft.schedule.passes * draft.steps) * step_bytes(problem)
                             : access_rank_bytes(&kernel->fallback, problem);
    tile_draft_free(&draft);
    return bytes;
}

/* The first kernel of a view reads logits and writes depths. Where V4 transposes depths, the first
 * kernel does it in the same pass, which V4's traffic includes already. */
BevTraffic bev_view_traffic(const BevProblem *problem) {
    bool transposes;
    BevTraffic traffic = v4_bytes(bev_kernel_find("v4"), problem, &transposes);
    traffic.depth += transposes ? 0 : 2 * (double)bev_tensor_bytes(&problem->depth);
    traffic.feat += 2 * (double)bev_tensor_bytes(&problem->feat);
    if (problem->out_samples) { /* the rows of cells with points are read and written again */
        double rows = (double)problem->map.intervals / (double)problem->out.rows;
        traffic.out_read += rows * (double)bev_tensor_bytes(&problem->out);
        traffic.out_write += rows * (double)bev_tensor_bytes(&problem->out);
    }
    return traffic;
}

/* Returns the traffic of a view transform that runs as several kernels around the row `pools`.
 * Logits are read three times, and depths written once. Features are read and written once more
 * than by pooling alone; a grid with channels first too. */
static BevTraffic parts_traffic(const BevKernel *pools, const BevProblem *problem) {
    BevProblem pooling = *problem;
    pooling.stage = BEV_POOL;
    BevTraffic traffic = bev_traffic(pools, &pooling);
    traffic.depth += 4 * (double)bev_tensor_bytes(&problem->depth);
    traffic.feat += 2 * (double)bev_tensor_bytes(&problem->feat);
    if (problem->out_samples) {
        traffic.out_read += (double)bev_tensor_bytes(&problem->out);
        traffic.out_write += (double)bev_tensor_bytes(&problem->out);
    }
    return traffic;
}

/* ---- the traffic of any kernel --------------------------------------------------------------- */

bool bev_traffic_counts(const BevKernel *kernel) {
    return kernel->skips ? bev_traffic_counts(bev_kernel_find(kernel->skips))
                         : kernel->access.owner == BEV_OWNS_TILE;
}

double bev_rank_bytes(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->direction == BEV_BACKWARD)
        return bev_traffic(kernel, problem).index;
    /* V4 reads arrays that it has made of the ranks. */
    if (bev_traffic_counts(kernel))
        return v4_rank_bytes(kernel, problem);
    return access_rank_bytes(&kernel->access, problem);
}

BevTraffic bev_traffic(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->bytes)
        return kernel->bytes(problem);
    if (kernel->pools)
        return parts_traffic(bev_kernel_find(kernel->pools), problem);
    if (kernel->skips)
        return bev_traffic(bev_kernel_find(kernel->skips), problem);
    if (kernel->large_l2) /* the traffic of V3 is that of its large-L2 form */
        return bev_traffic(kernel->large_l2, problem);
    bool transposes;
    if (bev_traffic_counts(kernel))
        return v4_bytes(kernel, problem, &transposes);
    return access_traffic(&kernel->access, problem);
}
