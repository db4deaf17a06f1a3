/* SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu_grad.h"

#include "kernels/codec.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* Returns the place of point t: places are numbered pixel by pixel, and bin by bin within each. */
static int32_t place_of(const BevProblem *problem, CpuPixelOrder order, int64_t t) {
    const BevShape *shape = &problem->shape;
    const uint32_t width = (uint32_t)shape->feat_w, height = (uint32_t)shape->feat_h;
    const uint32_t bins = (uint32_t)shape->depth_bins, image = height * width;
    const uint32_t bin = (uint32_t)problem->map.ranks_depth[t] / image % bins;
    uint32_t pixel = (uint32_t)problem->map.ranks_feat[t];
    const uint32_t camera = pixel / image, row = pixel / width % height, column = pixel % width;
    if (order == CPU_BY_COLUMN)
        pixel = (camera * width + column) * height + row;
    return (int32_t)(pixel * bins + bin);
}

/* A counting sort. `ends` first counts the points of each place. Then ends[place] says where the
 * points of the place begin. After the points are put in order, ends[place] says where they end. */
bool cpu_pixels_sort(CpuPixels *pixels, CpuArrays *kept, CpuArrays *draft,
                     const BevProblem *problem, CpuPixelOrder order) {
    int64_t points = problem->map.points, bins = problem->shape.depth_bins;
    int32_t *ends = cpu_take_zeroed(draft, problem->depth.row_len, sizeof *ends), before = 0;
    int32_t *places = cpu_take(draft, points, sizeof *places);
    pixels->points = cpu_take(draft, points, sizeof *pixels->points);
    pixels->starts = cpu_take_zeroed(kept, problem->feat.rows, sizeof *pixels->starts);
    if (kept->failed || draft->failed)
        return false;
    for (int64_t t = 0; t < points; t++) {
        places[t] = place_of(problem, order, t);
        ends[places[t]]++;
    }
    for (int64_t place = 0; place < problem->depth.row_len; place++) {
        int32_t count = ends[place];
        ends[place] = before;
        before += count;
    }
    for (int64_t t = 0; t < points; t++)
        pixels->points[ends[places[t]]++] = (int32_t)t;
    for (int64_t pixel = 0; pixel < problem->feat.rows; pixel++)
        pixels->starts[pixel + 1] = ends[(pixel + 1) * bins - 1];
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
