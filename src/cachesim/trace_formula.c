/* What the walks count, from shapes alone. */
#include "src/cachesim/trace.h"

#include "src/cachesim/trace_splats.h"
#include "src/cachesim/tile_map.h"

#include <math.h>

enum { WARP = 32, INDEX = 4, FLOAT = 4, MERGE_BLOCK = 256 };

static int64_t common_divisor(int64_t a, int64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* How many warps read an owner's words: its lanes begin at any multiple of what their number and a
 * warp's have in common, so this is an average over the places. */
static double passes(const AccessPattern *pattern, const BevProblem *problem) {
    int tile = trace_tile(pattern, problem);
    int64_t tiles = (problem->shape.channels + tile - 1) / tile;
    if (pattern->tiles_outside)
        return (double)tiles;
    return (double)(tiles + WARP - common_divisor(tiles, WARP)) / WARP;
}

/* V4 on camera rigs, as its kernel's own formula takes it. */
enum { USUAL_POINTS_A_STEP = 90 };

static double tile_passes(const BevProblem *problem) {
    return (double)(problem->shape.channels / tile_channels(problem));
}

/* A column's slab, and for each cell an entry and, weighted, a row of weights. */
static double tile_rank_bytes(const BevProblem *problem) {
    int words = problem->map.weights ? 2 : 1;
    double steps = (double)problem->map.points / USUAL_POINTS_A_STEP;
    if (!tile_channels(problem))
        return 2 * INDEX * (double)problem->map.points;
    return tile_passes(problem) * steps * (2 * INDEX + TILE_CELLS * words * INDEX);
}

static BevTraffic tile_formula(const BevProblem *problem) {
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    traffic.index = tile_rank_bytes(problem);
    if (!tile_channels(problem)) {
        traffic.index += 4 * INDEX * cells;
        return traffic;
    }
    traffic.index += INDEX * cells;
    traffic.feat *= (double)TILE_SLAB / USUAL_POINTS_A_STEP;
    traffic.depth *= tile_passes(problem);
    traffic.weight *= tile_passes(problem);
    if (problem->map.weights) /* turned: all read and all written before */
        traffic.depth += 2 * (double)bev_tensor_bytes(&problem->depth);
    return traffic;
}

double trace_rank_bytes(const AccessPattern *pattern, const BevProblem *problem) {
    double points = (double)problem->map.points;
    if (pattern->owner == OWN_TILE)
        return tile_rank_bytes(problem);
    if (pattern->owner == OWN_SPLAT)
        points /= SPLAT_CELLS; /* all four cells inside the grid */
    return INDEX * pattern->ranks * points * passes(pattern, problem);
}

BevTraffic trace_formula(const AccessPattern *pattern, const BevProblem *problem) {
    const BevMap *map = &problem->map;
    double points = (double)map->points, intervals = (double)map->intervals, n;
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    double channels = (double)problem->shape.channels;
    double out = (double)bev_tensor_bytes(&problem->out), sums = cells * channels * FLOAT;
    if (pattern->owner == OWN_TILE)
        return tile_formula(problem);
    n = passes(pattern, problem);
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    traffic.depth *= n;
    traffic.weight *= n;
    traffic.index = trace_rank_bytes(pattern, problem);
    if (pattern->owner == OWN_INTERVAL)
        traffic.index += intervals * pattern->owner_bytes * n;
    if (pattern->owner == OWN_CELL)
        traffic.index += (cells * pattern->owner_bytes + intervals * 2 * INDEX) * n;
    if (pattern->owner == OWN_SPLAT) {
        traffic.feat /= SPLAT_CELLS;
        traffic.depth /= SPLAT_CELLS; /* as many weights a splat as it has points */
    }
    if (pattern->sums) {
        double adds = points * channels;
        if (pattern
                ->merges) /* a cell once, and at most once more for each block that begins in it */
            adds = (intervals + ceil(points / MERGE_BLOCK)) * channels;
        bool workspace = !pattern->stays && problem->out.dtype != BEV_FP32;
        traffic.atomics = pattern->sums == SUMS_ATOMIC ? adds : 0;
        traffic.out_read = FLOAT * adds + (workspace ? sums : 0);
        traffic.out_write = FLOAT * adds + sums + (workspace ? out : 0);
    } else if (pattern->clears) {
        traffic.out_write = out + intervals * channels * bev_dtypes[problem->out.dtype].bits / 8;
    }
    return traffic;
}
