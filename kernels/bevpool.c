#include "kernels/bevpool.h"

#include "kernels/codec.h"
#include "kernels/cuda/v4/choices.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const BevDtypeInfo bev_dtypes[BEV_DTYPE_COUNT] = {
    [BEV_FP32] = {"fp32", "FP32", 32, BEV_FP32, BEV_FP32, 0x1p-24, 0x1p-149, FLT_MAX, "none"},
    [BEV_FP16] = {"fp16", "FP16", 16, BEV_FP16, BEV_FP16, 0x1p-11, 0x1p-24, 65504, "none"},
    [BEV_BF16] = {"bf16", "BF16", 16, BEV_BF16, BEV_BF16, 0x1p-8, 0x1p-133, 0x1.fep127, "none"},
    [BEV_FP8] = {"fp8", "FP8", 8, BEV_FP8, BEV_FP8, 0x1p-4, 0x1p-9, 448, "per tensor"},
    [BEV_NVFP4] = {"nvfp4", "NVFP4", 4, BEV_FP8, BEV_FP8, 0x1p-2, 0.5, 6,
                   "per 16 values and per tensor"},
};

const BevAlignInfo bev_aligns[BEV_ALIGN_COUNT] = {
    [BEV_NEAREST] = {"nearest", "Nearest", "A point goes into the cell that holds it."},
    [BEV_BILINEAR] = {"bilinear", "Bilinear", "A point is shared out to the four nearest cells."},
    [BEV_LATTICE] = {"lattice", "Lattice",
                     "As published: shared out to lower cell corners, half a cell off."},
};

const BevDirectionInfo bev_directions[BEV_DIRECTION_COUNT] = {
    [BEV_FORWARD] = {"forward", "Forward", "Points add features to cells."},
    [BEV_BACKWARD] = {"backward", "Backward",
                      "Points bring the cells' gradients back to depth and features."},
};

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_twin(const BevKernel *cpu, const BevKernel *cuda) {
    return cpu->where == BEV_CPU && cpu->twin && !strcmp(cpu->twin, cuda->name);
}

const BevKernel *bev_twin(const BevKernel *kernel, BevWhere where) {
    if (kernel->where == where)
        return kernel;
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i]->where == where &&
            (is_twin(bev_kernels[i], kernel) || is_twin(kernel, bev_kernels[i])))
            return bev_kernels[i];
    return NULL;
}

static const BevKernel *marked(BevWhere where, BevDirection direction, bool baseline) {
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *row = bev_kernels[i];
        if (row->where == where && row->direction == direction && row->launch &&
            (baseline ? row->is_baseline : row->is_default))
            return row;
    }
    return NULL;
}

const BevKernel *bev_default(BevWhere where, BevDirection direction) {
    return marked(where, direction, false);
}

const BevKernel *bev_baseline(BevWhere where, BevDirection direction) {
    return marked(where, direction, true);
}

const char *bev_unavailable(const BevKernel *kernel) {
    if (kernel->launch)
        return NULL;
    return kernel->model_only ? "is a model only: there is no code for it"
                              : "needs a build with CUDA";
}

const char *bev_refuses(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->direction != problem->direction)
        return "goes the other direction";
    if (!(kernel->dtypes & 1u << problem->dtype))
        return "has no kernel for this format";
    if (!(kernel->aligns & 1u << problem->align))
        return "has no kernel for this align";
    return kernel->unsupported ? kernel->unsupported(problem) : NULL;
}

const char *bev_unsupported(const BevKernel *kernel, const BevProblem *problem) {
    const char *why = bev_unavailable(kernel);
    return why ? why : bev_refuses(kernel, problem);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t bev_tensor_bytes(const BevTensor *tensor) {
    return bev_code_bytes(tensor->dtype, tensor->rows, tensor->row_len) +
           bev_block_scale_bytes(tensor->dtype, tensor->rows, tensor->row_len);
}

int bev_outputs(const BevProblem *problem, const BevTensor *outputs[BEV_MAX_OUTPUTS]) {
    bool backward = problem->direction == BEV_BACKWARD;
    outputs[0] = backward ? &problem->grad_depth : &problem->out;
    outputs[1] = backward ? &problem->grad_feat : NULL;
    return backward ? 2 : 1;
}

size_t bev_output_bytes(const BevProblem *problem) {
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    size_t bytes = 0;
    for (int i = bev_outputs(problem, outputs); i-- > 0;)
        bytes += bev_tensor_bytes(outputs[i]);
    return bytes;
}

BevFootprint bev_footprint(const BevProblem *problem) {
    const BevMap *map = &problem->map;
    return (BevFootprint){
        .feat = (double)bev_tensor_bytes(&problem->feat),
        .depth = (double)bev_tensor_bytes(&problem->depth),
        .index =
            (double)sizeof(int32_t) * (3.0 * (double)map->points + 2.0 * (double)map->intervals),
        .weight = map->weights ? (double)sizeof(float) * (double)map->points : 0,
        .out = (double)bev_tensor_bytes(&problem->out),
        .grads = problem->direction == BEV_BACKWARD ? (double)bev_output_bytes(problem) : 0,
    };
}

double bev_footprint_total(BevFootprint footprint) {
    return footprint.feat + footprint.depth + footprint.index + footprint.weight + footprint.out +
           footprint.grads;
}

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
    int64_t channels = problem->shape.channels;
    bool sixteens =
        access->owner == BEV_OWNS_PIECE ? channels % 16 == 0 : channels == 128 || channels == 256;
    bool whole_words = problem->dtype == BEV_NVFP4 || (problem->dtype == BEV_FP8 && sixteens);
    return access->widens && whole_words ? 16 : access->tile;
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

/* V4 on tensor cores: how often a step's words are read. */
static double tile_passes(const BevProblem *problem) {
    return (double)(problem->shape.channels / v4_tile_channels(problem));
}

/* V4: a column's slab, and for each cell an entry and, weighted, a row of weights. */
static double tile_rank_bytes(const BevProblem *problem) {
    int words = problem->map.weights ? 2 : 1;
    double steps = (double)problem->map.points / USUAL_POINTS_A_STEP;
    if (!v4_tiles_possible(problem))
        return 2 * WORD * (double)problem->map.points;
    return tile_passes(problem) * steps * (2 * WORD + TILE_CELLS * words * WORD);
}

/* V4: tiles with the usual number of points a step, else pieces. */
static BevTraffic tile_traffic(const BevProblem *problem) {
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    traffic.index = tile_rank_bytes(problem);
    if (!v4_tiles_possible(problem)) {
        traffic.index += BEV_PIECE_BYTES * cells;
        return traffic;
    }
    traffic.index += WORD * cells;
    traffic.feat *= (double)SLAB / USUAL_POINTS_A_STEP;
    traffic.depth *= tile_passes(problem);
    traffic.weight *= tile_passes(problem);
    if (problem->map.weights) /* transposed first: all read and all written */
        traffic.depth += 2 * (double)bev_tensor_bytes(&problem->depth);
    return traffic;
}

double bev_rank_bytes(const BevKernel *kernel, const BevProblem *problem) {
    const BevAccess *access = &kernel->access;
    double points = (double)problem->map.points;
    if (kernel->direction == BEV_BACKWARD)
        return bev_traffic(kernel, problem).index;
    if (access->owner == BEV_OWNS_TILE)
        return tile_rank_bytes(problem);
    if (access->owner == BEV_OWNS_SPLAT)
        points /= BEV_SPLAT_CELLS; /* all four cells inside the grid */
    return WORD * access->ranks * points * bev_warps_an_owner(access, problem);
}

/* Clearing the sums, an addition for each point (or cell) and channel, and the encoding. */
static void sums_traffic(const BevAccess *access, const BevProblem *problem, BevTraffic *traffic) {
    double points = (double)problem->map.points, channels = (double)problem->shape.channels;
    double cells = (double)(problem->shape.nx * problem->shape.ny), adds = points * channels;
    double sums = cells * channels * WORD;
    bool workspace = !access->stays && problem->out.dtype != BEV_FP32;
    if (access->merges) /* a cell once, and at most once more for each block that begins in it */
        adds = ((double)problem->map.intervals + ceil(points / access->block)) * channels;
    traffic->atomics = access->sums == BEV_SUMS_ATOMIC ? adds : 0;
    traffic->out_read = WORD * adds + (workspace ? sums : 0);
    traffic->out_write =
        WORD * adds + sums + (workspace ? (double)bev_tensor_bytes(&problem->out) : 0);
}

static BevTraffic access_traffic(const BevKernel *kernel, const BevProblem *problem) {
    const BevAccess *access = &kernel->access;
    double intervals = (double)problem->map.intervals, n = bev_warps_an_owner(access, problem);
    double cells = (double)(problem->shape.nx * problem->shape.ny);
    int out_bits = bev_dtypes[problem->out.dtype].bits;
    BevTraffic traffic = bev_gather_traffic(problem, out_bits);
    traffic.depth *= n;
    traffic.weight *= n;
    traffic.index = bev_rank_bytes(kernel, problem);
    if (access->owner == BEV_OWNS_INTERVAL)
        traffic.index += intervals * access->owner_bytes * n;
    if (access->owner == BEV_OWNS_CELL)
        traffic.index += (cells * access->owner_bytes + intervals * 2 * WORD) * n;
    if (access->owner == BEV_OWNS_SPLAT) {
        traffic.feat /= BEV_SPLAT_CELLS;
        traffic.depth /= BEV_SPLAT_CELLS; /* as many weights a splat as it has points */
    }
    if (access->sums)
        sums_traffic(access, problem, &traffic);
    else if (access->clears) /* the clear, and a row for each cell with points */
        traffic.out_write += intervals * (double)problem->shape.channels * out_bits / 8;
    return traffic;
}

BevTraffic bev_traffic(const BevKernel *kernel, const BevProblem *problem) {
    if (kernel->bytes)
        return kernel->bytes(problem);
    if (kernel->large_l2) /* the form for problems that fit the L2 */
        return bev_traffic(kernel->large_l2, problem);
    if (kernel->access.owner == BEV_OWNS_TILE)
        return tile_traffic(problem);
    return access_traffic(kernel, problem);
}
