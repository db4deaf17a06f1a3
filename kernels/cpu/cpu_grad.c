/* SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu_grad.h"

#include "kernels/codec.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* Sorts points by `key` with a stable counting sort. `from` lists the points before (NULL: 0, 1, 2,
 * ...), `to` receives them sorted. `starts`, keys + 1 zeros at first, receives the index in `to`
 * where each key begins. */
static void sort_by_key(const int32_t *key, int64_t points, int64_t keys, const int32_t *from,
                        int32_t *to, int32_t *starts) {
    for (int64_t t = 0; t < points; t++)
        starts[key[t] + 1]++;
    for (int64_t k = 0; k < keys; k++)
        starts[k + 1] += starts[k];
    for (int64_t i = 0; i < points; i++) {
        int32_t t = from ? from[i] : (int32_t)i;
        to[starts[key[t]]++] = t;
    }
    for (int64_t k = keys; k > 0; k--)
        starts[k] = starts[k - 1];
    starts[0] = 0;
}

/* Computes the place of each point's pixel: its number row by row, or column by column. */
static void place_pixels(const BevProblem *problem, bool columns, int32_t *places) {
    int64_t w = problem->shape.feat_w, h = problem->shape.feat_h;
    for (int64_t t = 0; t < problem->map.points; t++) {
        int64_t pixel = problem->map.ranks_feat[t];
        int64_t camera = pixel / (h * w), row = pixel / w % h, column = pixel % w;
        places[t] = (int32_t)(columns ? (camera * w + column) * h + row : pixel);
    }
}

bool cpu_pixels_sort(CpuPixels *pixels, CpuArrays *kept, CpuArrays *draft,
                     const BevProblem *problem, bool columns) {
    int64_t points = problem->map.points, depths = problem->depth.row_len;
    int32_t *by_depth = cpu_take(draft, points, sizeof *by_depth);
    int32_t *places = cpu_take(draft, points, sizeof *places);
    int32_t *depth_starts = cpu_take_zeroed(draft, depths, sizeof *depth_starts);
    pixels->points = cpu_take(draft, points, sizeof *pixels->points);
    pixels->starts = cpu_take_zeroed(kept, problem->feat.rows, sizeof *pixels->starts);
    if (kept->failed || draft->failed)
        return false;
    sort_by_key(problem->map.ranks_depth, points, depths, NULL, by_depth, depth_starts);
    place_pixels(problem, columns, places);
    sort_by_key(places, points, problem->feat.rows, by_depth, pixels->points, pixels->starts);
    return true;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Returns the floats of scratch that the gradient of depth needs; 0 if the output is FP32. */
static int64_t depth_scratch_floats(const BevProblem *problem) {
    return problem->grad_depth.dtype == BEV_FP32 ? 0 : problem->grad_depth.row_len;
}

size_t cpu_grad_bytes(const BevProblem *problem, int threads, int64_t own) {
    return cpu_stage_bytes(problem, threads, depth_scratch_floats(problem) + own);
}

CpuGrad cpu_grad(const BevProblem *problem, int threads) {
    CpuGrad grad = {.stage = cpu_stage(problem, threads)};
    int64_t floats = depth_scratch_floats(problem);
    grad.grad_depth = floats ? grad.stage.own_sums : problem->grad_depth.data;
    grad.own = grad.stage.own_sums + floats;
    return grad;
}

void cpu_grad_encode_depth(const CpuGrad *grad, const BevProblem *problem) {
    enum { SPAN = 4096 };
    int64_t count = problem->grad_depth.row_len;
    if (problem->grad_depth.dtype == BEV_FP32)
        return;
#pragma omp for schedule(static)
    for (int64_t first = 0; first < count; first += SPAN)
        bev_span_encode(&problem->grad_depth, 0, first, count - first < SPAN ? count - first : SPAN,
                        grad->grad_depth + first);
}

float *cpu_grad_row(const CpuGrad *grad, const BevProblem *problem, int64_t pixel) {
    return problem->grad_feat.dtype == BEV_FP32
               ? (float *)problem->grad_feat.data + pixel * grad->stage.channels
               : cpu_sums(&grad->stage);
}

void cpu_grad_store(const BevProblem *problem, int64_t pixel, const float *row) {
    if (problem->grad_feat.dtype != BEV_FP32)
        bev_span_encode(&problem->grad_feat, pixel, 0, problem->shape.channels, row);
}
