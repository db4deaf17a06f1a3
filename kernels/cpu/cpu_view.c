/* cpu_view: the whole view transform.
 *
 * IDEA    A network gives logits and features with channels first. Two passes in front of V4 bring
 *         both into the form that it reads; the softmax is one of them, and nothing else changes.
 *
 * WHO     A thread owns an image row of a camera: the softmax of its pixels, 64 side by side, and
 *         their features.
 *
 *             logits  [bin][w]  ->  depths [bin][w]      features [c][w]  ->  [w][c]
 *                      |  max, sum down the bins                    32 x 32 at a time
 *
 * MEMORY  Logits are read three times, from the second cache after the first: for the largest, for
 *         the sum, for the share. Depths are kept in FP32, whatever the format of the logits.
 *
 * COST    Two exponentials a logit, by a polynomial that the compiler vectorises: expf() takes one
 *         number at a time. 4 bytes a depth more than V4 moves.
 *
 * LIMITS  Rows of logits that are not side by side in memory are read one by one.
 *
 * TRY     Take expf() instead of exp2_of(): how much of the time was it? Keep the exponentials of
 *         the sum, in place of computing them again: what does the store cost? */
#include "kernels/codec.h"
#include "kernels/cpu/cpu.h"

#include <math.h>

extern const BevKernel kernel_cpu_v4;

enum { COLUMNS = 64, EDGE = 32, LINE = 64 };

/* ---- softmax --------------------------------------------------------------------------------- */

/* 2^x for x <= 0, to 2^-22 of the value; below 2^-126: 0. NaN stays NaN. */
CPU_INLINE float exp2_of(float x) {
    float inside = x > -126.0f ? x : -126.0f;
    int32_t whole = (int32_t)(inside - 0.5f);
    float f = inside - (float)whole; /* -0.5 to 0.5 */
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    union {
        int32_t bits;
        float value;
    } power = {.bits = (whole + 127) << 23};
    return x > -126.0f ? p * power.value : x <= -126.0f ? 0.0f : x;
}

static float decoded(const BevTensor *tensor, int64_t at) {
    if (tensor->dtype == BEV_FP32)
        return ((const float *)tensor->data)[at];
    uint16_t code = ((const uint16_t *)tensor->data)[at];
    return tensor->dtype == BEV_FP16 ? bev_fp16_decode(code) : bev_bf16_decode(code);
}

/* Logits of neighbouring columns, from element `at` on. */
static void read_logits(const BevTensor *tensor, int64_t at, int64_t stride, int count,
                        float *values) {
    for (int w = 0; w < count; w++)
        values[w] = decoded(tensor, at + w * stride);
}

CPU_CLONES static void add_largest(const float *values, int count, float *largest) {
    CPU_SIMD
    for (int w = 0; w < count; w++)
        largest[w] = values[w] > largest[w] ? values[w] : largest[w];
}

/* values = exp2((value - largest) * factor); sums += values. */
CPU_CLONES static void add_powers(float *restrict values, int count, float factor,
                                  const float *restrict largest, float *restrict sums) {
    CPU_SIMD
    for (int w = 0; w < count; w++) {
        values[w] = exp2_of((values[w] - largest[w]) * factor);
        sums[w] += values[w];
    }
}

CPU_CLONES static void divide_by(float *restrict values, int64_t distance, int64_t bins, int count,
                                 const float *restrict sums) {
    for (int64_t bin = 0; bin < bins; bin++)
        for (int w = 0; w < count; w++)
            values[bin * distance + w] /= sums[w];
}

/* The depths of `count` columns of an image row. */
static void softmax(const BevProblem *problem, int64_t camera, int64_t row, int64_t column,
                    int count, float *depths) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.depth;
    float factor = 1.44269504f / problem->view.temperature, largest[COLUMNS], sums[COLUMNS] = {0};
    int64_t at = camera * s->camera + row * s->row + column * s->column;
    int64_t distance = shape->feat_h * shape->feat_w;
    for (int w = 0; w < count; w++)
        largest[w] = -INFINITY;
    for (int64_t bin = 0; bin < shape->depth_bins; bin++) {
        read_logits(&problem->depth, at + bin * s->channel, s->column, count,
                    depths + bin * distance);
        add_largest(depths + bin * distance, count, largest);
    }
    if (!problem->view.softmax)
        return;
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        add_powers(depths + bin * distance, count, factor, largest, sums);
    divide_by(depths, distance, shape->depth_bins, count, sums);
}

/* ---- features -------------------------------------------------------------------------------- */

#define ROW_TO_LAST(Type)                                                                          \
    static void to_last_##Type(const Type *from, const BevStrides *s, int64_t columns,             \
                               int64_t channels, Type *to) {                                       \
        for (int64_t c0 = 0; c0 < channels; c0 += EDGE)                                            \
            for (int64_t w = 0; w < columns; w++)                                                  \
                for (int64_t c = c0; c < channels && c < c0 + EDGE; c++)                           \
                    to[w * channels + c] = from[c * s->channel + w * s->column];                   \
    }
ROW_TO_LAST(uint16_t)
ROW_TO_LAST(uint32_t)

static void features(const BevProblem *problem, int64_t camera, int64_t row, void *feat) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.feat;
    int64_t from = camera * s->camera + row * s->row;
    int64_t to = (camera * shape->feat_h + row) * shape->feat_w * shape->channels;
    if (problem->dtype == BEV_FP32)
        to_last_uint32_t((const uint32_t *)problem->feat.data + from, s, shape->feat_w,
                         shape->channels, (uint32_t *)feat + to);
    else
        to_last_uint16_t((const uint16_t *)problem->feat.data + from, s, shape->feat_w,
                         shape->channels, (uint16_t *)feat + to);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static int64_t padded(size_t bytes) {
    return (int64_t)(bytes + LINE - 1) / LINE * LINE;
}

/* The problem that V4 gets: depths and features follow each other in the workspace. */
static BevProblem inner_of(const BevProblem *problem) {
    BevProblem inner = *problem;
    char *workspace = problem->workspace;
    inner.stage = BEV_POOL;
    inner.depth.dtype = BEV_FP32;
    inner.depth.data = workspace;
    size_t depth_bytes = (size_t)padded(bev_tensor_bytes(&inner.depth));
    size_t feat_bytes = (size_t)padded(bev_tensor_bytes(&inner.feat));
    inner.feat.data = workspace ? workspace + depth_bytes : NULL;
    inner.workspace = workspace ? workspace + depth_bytes + feat_bytes : NULL;
    return inner;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    BevProblem inner = inner_of(problem);
    return (size_t)padded(bev_tensor_bytes(&inner.depth)) +
           (size_t)padded(bev_tensor_bytes(&inner.feat)) +
           kernel_cpu_v4.workspace_bytes(&inner, plan);
}

static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return kernel_cpu_v4.prepare(problem, plan, err);
}

static void release(BevPlan *plan) {
    kernel_cpu_v4.release(plan);
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    const BevShape *shape = &problem->shape;
    BevProblem inner = inner_of(problem);
    int64_t rows = shape->cameras * shape->feat_h;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; r++) {
        int64_t camera = r / shape->feat_h, row = r % shape->feat_h;
        float *depths = (float *)inner.depth.data +
                        (camera * shape->depth_bins * shape->feat_h + row) * shape->feat_w;
        for (int64_t w = 0; w < shape->feat_w; w += COLUMNS) {
            int64_t left = shape->feat_w - w;
            softmax(problem, camera, row, w, (int)(left < COLUMNS ? left : COLUMNS), depths + w);
        }
        features(problem, camera, row, inner.feat.data);
    }
    return kernel_cpu_v4.launch(&inner, plan, stream, err);
}

static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = kernel_cpu_v4.bytes(problem);
    BevProblem inner = inner_of(problem);
    traffic.depth += (double)bev_tensor_bytes(&problem->depth) +
                     5 * (double)bev_tensor_bytes(&inner.depth);
    traffic.feat += 2 * (double)bev_tensor_bytes(&problem->feat);
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_view = {
    .name = "cpu_view", .title = "View",
    .idea = "The whole view transform: softmax and channels last, then V4.",
    .twin = "view", .where = BEV_CPU, .stage = BEV_VIEW, .is_default = true,
    .dtypes = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16, .aligns = CPU_ALL_ALIGNS,
    .deterministic = true, .prepare = prepare, .release = release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
