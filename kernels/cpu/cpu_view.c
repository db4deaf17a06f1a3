/* cpu_view, cpu_grad_view: the whole view transform, and back.
 *
 * IDEA    A network gives logits and features with channels first. Two passes in front of V4 bring
 *         both into the form that it reads; the softmax is one of them. A grid with channels first
 *         takes a third behind it.
 *         Backward the same two come first, and behind the gradients of V4 two more take these to
 *         where a network expects them: the gradient of a logit is depth * (its depth's gradient -
 *         the sum of depth * gradient over the pixel's bins) / temperature.
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
 * COST    An exponential a logit, by a polynomial that the compiler vectorises: expf() takes one
 *         number at a time. 4 bytes a depth more than V4 moves; backward 12.
 *
 * LIMITS  Rows of logits that are not side by side in memory are read one by one.
 *
 * TRY     Take expf() instead of exp2_of(): how much of the time was it? Keep the exponentials of
 *         the sum, in place of computing them again: what does the store cost? */
#include "kernels/cpu/cpu_view.h"

#include <math.h>

extern const BevKernel kernel_cpu_v4, kernel_cpu_grad_v4;

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

/* Logits of neighbouring columns, from element `at` on. */
static void read_logits(const BevTensor *tensor, int64_t at, int64_t stride, int count,
                        float *values) {
    for (int w = 0; w < count; w++)
        values[w] = cpu_view_get(tensor, at + w * stride);
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

void cpu_view_features(const BevProblem *problem, int64_t camera, int64_t row, void *feat) {
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

/* ---- behind V4 and its gradients ----------------------------------------------------------- */

CPU_CLONES static void add_products(const float *restrict depths, const float *restrict grads,
                                    int count, float *restrict sums) {
    CPU_SIMD
    for (int w = 0; w < count; w++)
        sums[w] += depths[w] * grads[w];
}

/* The gradients of the logits of `count` columns of an image row, from depths and theirs. */
static void softmax_back(const BevProblem *problem, int64_t camera, int64_t row, int64_t column,
                         int count, const float *depths, const float *grads) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.depth;
    int64_t at = camera * s->camera + row * s->row + column * s->column;
    int64_t distance = shape->feat_h * shape->feat_w;
    float factor = 1 / problem->view.temperature, sums[COLUMNS] = {0};
    for (int64_t bin = 0; problem->view.softmax && bin < shape->depth_bins; bin++)
        add_products(depths + bin * distance, grads + bin * distance, count, sums);
    for (int64_t bin = 0; bin < shape->depth_bins; bin++)
        for (int w = 0; w < count; w++) {
            float depth = depths[bin * distance + w], grad = grads[bin * distance + w];
            cpu_view_put(&problem->grad_depth, at + bin * s->channel + w * s->column,
                         problem->view.softmax ? depth * (grad - sums[w]) * factor : grad);
        }
}

#define ROW_FROM_LAST(Type)                                                                        \
    static void from_last_##Type(const Type *from, const BevStrides *s, int64_t columns,           \
                                 int64_t channels, Type *to) {                                     \
        for (int64_t w0 = 0; w0 < columns; w0 += EDGE)                                             \
            for (int64_t c = 0; c < channels; c++)                                                 \
                for (int64_t w = w0; w < columns && w < w0 + EDGE; w++)                            \
                    to[c * s->channel + w * s->column] = from[w * channels + c];                   \
    }
ROW_FROM_LAST(uint16_t)
ROW_FROM_LAST(uint32_t)

void cpu_view_spread(const BevProblem *problem, const void *rows) {
    int64_t channels = problem->shape.channels;
    int64_t cells = problem->out.rows / problem->out_samples;
    int64_t blocks = (cells + EDGE - 1) / EDGE;
    const BevStrides s = {.channel = cells, .column = 1};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < problem->out_samples * blocks; i++) {
        int64_t first = i % blocks * EDGE, left = cells - first, count = left < EDGE ? left : EDGE;
        int64_t sample = i / blocks * cells * channels;
        int64_t from = sample + first * channels, to = sample + first;
        if (problem->dtype == BEV_FP32)
            from_last_uint32_t((const uint32_t *)rows + from, &s, count, channels,
                               (uint32_t *)problem->out.data + to);
        else
            from_last_uint16_t((const uint16_t *)rows + from, &s, count, channels,
                               (uint16_t *)problem->out.data + to);
    }
}

static void features_back(const BevProblem *problem, int64_t camera, int64_t row,
                          const void *grads) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.feat;
    int64_t to = camera * s->camera + row * s->row;
    int64_t from = (camera * shape->feat_h + row) * shape->feat_w * shape->channels;
    if (problem->dtype == BEV_FP32)
        from_last_uint32_t((const uint32_t *)grads + from, s, shape->feat_w, shape->channels,
                           (uint32_t *)problem->grad_feat.data + to);
    else
        from_last_uint16_t((const uint16_t *)grads + from, s, shape->feat_w, shape->channels,
                           (uint16_t *)problem->grad_feat.data + to);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static const BevKernel *v4_of(const BevProblem *problem) {
    return problem->direction == BEV_BACKWARD ? &kernel_cpu_grad_v4 : &kernel_cpu_v4;
}

void cpu_view_take(const BevProblem *problem, BevTensor *tensor, size_t *used) {
    tensor->data = problem->workspace ? (char *)problem->workspace + *used : NULL;
    *used += (bev_tensor_bytes(tensor) + LINE - 1) / LINE * LINE;
}

/* The problem that V4 gets: its arrays follow each other in the workspace, `used` bytes. */
static BevProblem inner_of(const BevProblem *problem, size_t *used) {
    BevProblem inner = *problem;
    *used = 0;
    inner.stage = BEV_POOL;
    inner.depth.dtype = BEV_FP32;
    cpu_view_take(problem, &inner.depth, used);
    cpu_view_take(problem, &inner.feat, used);
    if (problem->direction == BEV_BACKWARD) {
        inner.grad_depth.dtype = BEV_FP32;
        cpu_view_take(problem, &inner.grad_depth, used);
        cpu_view_take(problem, &inner.grad_feat, used);
    } else if (problem->out_samples) {
        inner.out_samples = 0;
        cpu_view_take(problem, &inner.out, used);
    }
    inner.workspace = problem->workspace ? (char *)problem->workspace + *used : NULL;
    return inner;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    size_t used;
    BevProblem inner = inner_of(problem, &used);
    return used + v4_of(problem)->workspace_bytes(&inner, plan);
}

static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return v4_of(problem)->prepare(problem, plan, err);
}

static void release(BevPlan *plan) {
    kernel_cpu_v4.release(plan);
}

static void release_grad(BevPlan *plan) {
    kernel_cpu_grad_v4.release(plan);
}

typedef void TakeRow(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                     int64_t row, int64_t first);

/* `first`: the row's depth in bin 0. */
static void row_in_front(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                         int64_t row, int64_t first) {
    float *depths = (float *)inner->depth.data + first;
    for (int64_t w = 0, left; (left = problem->shape.feat_w - w) > 0; w += COLUMNS)
        softmax(problem, camera, row, w, (int)(left < COLUMNS ? left : COLUMNS), depths + w);
    cpu_view_features(problem, camera, row, inner->feat.data);
}

static void row_behind(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                       int64_t row, int64_t first) {
    const float *depths = (const float *)inner->depth.data + first;
    const float *grads = (const float *)inner->grad_depth.data + first;
    for (int64_t w = 0, left; (left = problem->shape.feat_w - w) > 0; w += COLUMNS)
        softmax_back(problem, camera, row, w, (int)(left < COLUMNS ? left : COLUMNS), depths + w,
                     grads + w);
    features_back(problem, camera, row, inner->grad_feat.data);
}

static void each_row(const BevProblem *problem, const BevProblem *inner, TakeRow *take_row) {
    const BevShape *s = &problem->shape;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < s->cameras * s->feat_h; r++) {
        int64_t camera = r / s->feat_h, row = r % s->feat_h;
        take_row(problem, inner, camera, row,
                 (camera * s->depth_bins * s->feat_h + row) * s->feat_w);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    size_t used;
    BevProblem inner = inner_of(problem, &used);
    each_row(problem, &inner, row_in_front);
    if (!v4_of(problem)->launch(&inner, plan, stream, err))
        return false;
    if (problem->direction == BEV_BACKWARD)
        each_row(problem, &inner, row_behind);
    else if (problem->out_samples)
        cpu_view_spread(problem, inner.out.data);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    size_t used;
    BevTraffic traffic = v4_of(problem)->bytes(problem);
    BevProblem inner = inner_of(problem, &used);
    double depth = (double)bev_tensor_bytes(&inner.depth);
    double feat = (double)bev_tensor_bytes(&problem->feat);
    traffic.depth += (double)bev_tensor_bytes(&problem->depth) + 5 * depth;
    traffic.feat += 2 * feat;
    if (problem->direction == BEV_BACKWARD) {
        traffic.depth += 2 * depth;
        traffic.grad_read += 2 * depth + feat;
        traffic.grad_write += (double)bev_output_bytes(problem);
    } else if (problem->out_samples) {
        traffic.out_read += (double)bev_output_bytes(problem);
        traffic.out_write += (double)bev_output_bytes(problem);
    }
    return traffic;
}

/* clang-format off */
const BevKernel kernel_cpu_view = {
    .name = "cpu_view", .title = "View",
    .idea = "The whole view transform: softmax and features in one pass, V4, channels first.",
    .twin = "view", .where = BEV_CPU, .stage = BEV_VIEW, .is_default = true,
    .dtypes = CPU_GRAD_DTYPES, .aligns = CPU_ALL_ALIGNS,
    .deterministic = true, .writes_first = true,
    .prepare = prepare, .release = release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};

const BevKernel kernel_cpu_grad_view = {
    .name = "cpu_grad_view", .title = "View",
    .idea = "Backward: softmax and channels last, the gradients of V4, and those of the softmax.",
    .twin = "grad_view", .where = BEV_CPU, .direction = BEV_BACKWARD, .stage = BEV_VIEW,
    .is_default = true, .dtypes = CPU_GRAD_DTYPES, .aligns = CPU_ALL_ALIGNS, .deterministic = true,
    .prepare = prepare, .release = release_grad, .workspace_bytes = workspace_bytes,
    .launch = launch, .bytes = bytes,
};
/* clang-format on */
