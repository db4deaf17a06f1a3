#include "kernels/bevpool.h"

#include "kernels/codec.h"

#include <float.h>

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

const char *bev_unsupported(const BevKernel *kernel, const BevProblem *problem) {
    if (!(kernel->dtypes & 1u << problem->dtype))
        return "has no kernel for this format";
    if (!(kernel->aligns & 1u << problem->align))
        return "has no kernel for this align";
    return kernel->unsupported ? kernel->unsupported(problem) : NULL;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t bev_tensor_bytes(const BevTensor *tensor) {
    return bev_code_bytes(tensor->dtype, tensor->rows, tensor->row_len) +
           bev_block_scale_bytes(tensor->dtype, tensor->rows, tensor->row_len);
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
    };
}

double bev_footprint_total(BevFootprint footprint) {
    return footprint.feat + footprint.depth + footprint.index + footprint.weight + footprint.out;
}

double bev_traffic_total(BevTraffic traffic) {
    return traffic.feat + traffic.depth + traffic.index + traffic.weight + traffic.out_read +
           traffic.out_write;
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
