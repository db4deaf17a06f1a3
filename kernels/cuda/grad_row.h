/* SPDX-License-Identifier: MIT */
/* The traffic of the backward CUDA rows, computed from shapes alone; plain C and CUDA. */
#pragma once

#include "kernels/cuda/row.h"

/* Assumed for camera rigs: points in 32 pixels that share a row of grad_out; rows of a chunk. */
enum { GRAD_POINTS_A_ROW = 12, GRAD_WEIGHTED_POINTS_A_ROW = 17, GRAD_ROWS_A_CHUNK = 14 };
enum { GRAD_CHUNK_BYTES = 8 + 16 * 4 + 32 * 16, GRAD_LAYERS = 4 };

/* Returns the traffic that all rows have: each point reads a depth and a row of grad_out. */
static inline BevTraffic grad_traffic(const BevProblem *problem, double index_bytes) {
    double points = (double)problem->map.points, bytes = bev_dtypes[problem->dtype].bits / 8;
    BevTraffic traffic = {0};
    traffic.depth = points * bytes;
    traffic.index = points * index_bytes;
    traffic.weight = problem->map.weights ? points * 4 : 0;
    traffic.out_read = points * (double)problem->shape.channels * bytes;
    traffic.feat = (double)bev_tensor_bytes(&problem->feat);
    traffic.grad_write = (double)bev_output_bytes(problem);
    return traffic;
}

/* Returns the traffic of a warp a pixel. Up to 128 channels four points are loaded together. A
 * pixel's last four repeat its last point, 1.5 times on average. Two words say where a pixel's
 * points begin and end. */
static inline BevTraffic grad_owner_traffic(const BevProblem *problem) {
    BevTraffic traffic = grad_traffic(problem, 8);
    double points = (double)problem->map.points, pixels = (double)problem->feat.rows;
    double busy = points < pixels ? points : pixels;
    double again = points > 0 && problem->shape.channels <= 128 ? 1 + 1.5 * busy / points : 1;
    traffic.depth *= again;
    traffic.index = traffic.index * again + 8 * pixels;
    traffic.weight *= again;
    traffic.out_read *= again;
    return traffic;
}

/* Adds the traffic of FP32 sums: they are cleared before and, below FP32, encoded after. */
static inline void grad_add_atomics(const BevProblem *problem, double atomics,
                                    BevTraffic *traffic) {
    double bytes = bev_dtypes[problem->dtype].bits / 8;
    double sums = (double)bev_output_bytes(problem) / bytes * 4;
    bool narrow = problem->dtype != BEV_FP32;
    traffic->atomics = atomics;
    traffic->grad_read = 4 * atomics + (narrow ? sums : 0);
    traffic->grad_write = 4 * atomics + sums + (narrow ? (double)bev_output_bytes(problem) : 0);
}
