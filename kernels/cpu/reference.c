/* SPDX-License-Identifier: MIT */
/* reference: the formula, written down.
 *
 * IDEA    Every point adds weight * depth * feature to its cell, in double precision, in the order
 *         of the points. Nothing is clever, so that it can be believed; all others are compared
 *         with it.
 * WHO     One thread does everything.
 *
 *             point:    0  1  2  3  4  5  6 ...          for each point
 *             thread:   0  0  0  0  0  0  0 ...              for each channel
 * MEMORY  The cell's row is read and written again for every point. Stored codes are turned into
 *         values once, before the points.
 * COST    Points P, channels C: 12 P bytes of indices, P C feature elements, 16 P C bytes of output
 *         read and written, 8 cells C bytes of clearing. No atomics.
 * LIMITS  Slow on purpose. The intervals are not used, only ranks_bev: a map whose intervals are
 *         wrong gives the right picture here and a wrong one in V2 and all kernels after it.
 * TRY     Make `out` a float array, pool one interval of 2,000 points, and look how many digits
 *         remain when all features are 0.1. */
#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>

/* Turns the logits of one pixel, `stride` elements apart, into depths. */
static void softmax_pixel(double *logits, int64_t bins, int64_t stride, double temperature) {
    double largest = -INFINITY, sum = 0;
    for (int64_t bin = 0; bin < bins; bin++)
        largest = logits[bin * stride] > largest ? logits[bin * stride] : largest;
    for (int64_t bin = 0; bin < bins; bin++)
        sum += exp((logits[bin * stride] - largest) / temperature);
    for (int64_t bin = 0; bin < bins; bin++)
        logits[bin * stride] = exp((logits[bin * stride] - largest) / temperature) / sum;
}

/* Returns all values of a tensor, row by row. The caller frees them. NULL: out of memory. */
static double *values_of(const BevTensor *tensor) {
    double *values = malloc((size_t)(tensor->rows * tensor->row_len) * sizeof *values + 1);
    for (int64_t row = 0; values && row < tensor->rows; row++)
        for (int64_t i = 0; i < tensor->row_len; i++)
            values[row * tensor->row_len + i] = bev_tensor_at(tensor, row, i);
    return values;
}

/* Returns the stored depths; in stage VIEW the softmax of the stored logits. The caller frees them.
 * NULL: out of memory. */
static double *depths_of(const BevProblem *problem) {
    const BevShape *s = &problem->shape;
    int64_t pixels = s->feat_h * s->feat_w;
    double *depths = values_of(&problem->depth);
    if (!depths || problem->stage != BEV_VIEW || !problem->view.softmax)
        return depths;
    for (int64_t camera = 0; camera < s->cameras; camera++)
        for (int64_t pixel = 0; pixel < pixels; pixel++)
            softmax_pixel(depths + camera * s->depth_bins * pixels + pixel, s->depth_bins, pixels,
                          problem->view.temperature);
    return depths;
}

static void fill_values(double *values, int64_t count, double value) {
    for (int64_t i = 0; values && i < count; i++)
        values[i] = value;
}

bool bev_reference(const BevProblem *problem, double *out, double *abs_sum) {
    const BevMap *map = &problem->map;
    int64_t channels = problem->shape.channels;
    int64_t outputs = problem->shape.nx * problem->shape.ny * channels;
    double *depths = depths_of(problem), *feats = values_of(&problem->feat);
    bool memory = depths && feats;
    fill_values(out, outputs, memory ? 0 : NAN);
    fill_values(abs_sum, outputs, 0);
    for (int64_t t = 0; memory && t < map->points; t++) {
        double weight = map->weights ? map->weights[t] : 1;
        double depth = depths[map->ranks_depth[t]];
        const double *feat = feats + map->ranks_feat[t] * channels;
        for (int64_t c = 0; c < channels; c++) {
            double term = weight * depth * feat[c];
            int64_t at = map->ranks_bev[t] * channels + c;
            out[at] += term;
            if (abs_sum)
                abs_sum[at] += fabs(term);
        }
    }
    free(depths);
    free(feats);
    return memory;
}

/* Turns a pixel's gradients of depths, and `abs`, their sums of magnitudes, into those of logits,
 * in place. In `abs` each depth grows by `floor`, since rounding to the format moves small depths
 * by up to floor times the roundoff. */
static void softmax_backward(const double *depths, int64_t bins, int64_t stride, double temperature,
                             double floor, double *grad, double *abs) {
    double sum = 0, abs_sum = 0;
    for (int64_t i = 0; i < bins * stride; i += stride) {
        sum += depths[i] * grad[i];
        abs_sum += abs ? (depths[i] + floor) * abs[i] : 0;
    }
    for (int64_t i = 0; i < bins * stride; i += stride) {
        grad[i] = depths[i] * (grad[i] - sum) / temperature;
        if (abs)
            abs[i] = (depths[i] + floor) * (abs[i] + abs_sum) / temperature;
    }
}

static void logits_backward(const BevProblem *problem, const double *depths, double *grad,
                            double *abs) {
    const BevShape *s = &problem->shape;
    const BevDtypeInfo *format = &bev_dtypes[problem->depth.dtype];
    double floor = fmax(format->smallest, 0x1p-126) / format->unit_roundoff;
    int64_t pixels = s->feat_h * s->feat_w;
    for (int64_t i = 0; i < s->cameras * pixels; i++) {
        int64_t at = i / pixels * s->depth_bins * pixels + i % pixels;
        softmax_backward(depths + at, s->depth_bins, pixels, problem->view.temperature, floor,
                         grad + at, abs ? abs + at : NULL);
    }
}

bool bev_reference_backward(const BevProblem *problem, double *grad_depth, double *grad_feat,
                            double *grad_depth_abs, double *grad_feat_abs) {
    const BevMap *map = &problem->map;
    double *stored = depths_of(problem), *stored_feats = values_of(&problem->feat);
    double *grads = values_of(&problem->grad_out);
    bool memory = stored && stored_feats && grads;
    int64_t channels = problem->shape.channels;
    int64_t depths = problem->depth.rows * problem->depth.row_len;
    int64_t feats = problem->feat.rows * channels;
    double first = memory ? 0 : NAN;
    fill_values(grad_depth, depths, first), fill_values(grad_depth_abs, depths, first);
    fill_values(grad_feat, feats, first), fill_values(grad_feat_abs, feats, first);
    for (int64_t t = 0; memory && t < map->points; t++) {
        double weight = map->weights ? map->weights[t] : 1;
        int64_t from = map->ranks_depth[t], pixel = map->ranks_feat[t];
        double depth = stored[from];
        for (int64_t c = 0; c < channels; c++) {
            double grad = weight * grads[map->ranks_bev[t] * channels + c];
            double of_depth = grad * stored_feats[pixel * channels + c], of_feat = grad * depth;
            grad_depth[from] += of_depth;
            grad_feat[pixel * channels + c] += of_feat;
            if (grad_depth_abs)
                grad_depth_abs[from] += fabs(of_depth);
            if (grad_feat_abs)
                grad_feat_abs[pixel * channels + c] += fabs(of_feat);
        }
    }
    if (memory && problem->stage == BEV_VIEW && problem->view.softmax)
        logits_backward(problem, stored, grad_depth, grad_depth_abs);
    free(stored);
    free(stored_feats);
    free(grads);
    return memory;
}

/* Returns the workspace bytes: sums (cell, c) as doubles. */
static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    (void)plan;
    return (size_t)(problem->out.rows * problem->out.row_len) * sizeof(double);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)plan, (void)stream;
    double *sums = problem->workspace;
    if (!bev_reference(problem, sums, NULL))
        return err_no_memory(err, "reference", "");
    cpu_encode_doubles(&problem->out, sums);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    double terms = (double)problem->map.points * (double)problem->shape.channels;
    double outputs = (double)problem->out.rows * (double)problem->out.row_len;
    traffic.out_read = (terms + outputs) * sizeof(double);
    traffic.out_write += (terms + outputs) * sizeof(double);
    return traffic;
}

/* clang-format off */
const BevKernel kernel_view_reference = {
    .name = "view_reference", .title = "View REF",
    .idea = "Softmax and the formula in double precision, one point after the other, one thread.",
    .where = BEV_CPU, .stage = BEV_VIEW, .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};

const BevKernel kernel_reference = {
    .name = "reference", .title = "REF",
    .idea = "The formula in double precision, one point after the other, one thread.",
    .where = BEV_CPU, .dtypes = BEV_ALL_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
