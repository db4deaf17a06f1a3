/* SPDX-License-Identifier: MIT */
/* cpu_view, cpu_grad_view: the whole view transform, and back.
 *
 * IDEA    A network gives logits and features with channels first. A pass before V4 turns both into
 *         depths and features as V4 reads them, an image row at a time. A pass after V4 writes the
 *         grid with channels first, if the network wants this. Backward the same pass comes first.
 *         A pass after V4 turns the gradients of depths into those of logits: depth * (gradient -
 *         the sum of depth * gradient over the pixel's bins) / temperature.
 * WHO     A thread owns an image row of a camera: the softmax of its pixels, 64 side by side, and
 *         their features.
 *
 *             logits  [bin][w]  ->  depths [bin][w]      features [c][w]  ->  [w][c]
 *                      |  max, sum down the bins               4 x 4 at a time (FP32)
 * MEMORY  Logits are read once into a buffer in the first cache, where the three passes go over
 *         them: for the largest, for the sum, for the share. Depths are kept in FP32, whatever the
 *         format of the logits. A grid in FP32 with channels first is written past the caches:
 *         whole lines, that need not be read before.
 * COST    An exponential a logit, by a polynomial that the compiler vectorises: expf() takes one
 *         number at a time. Beside the traffic of V4: logits once, features and a grid with
 *         channels first twice.
 * LIMITS  Rows of logits that are not side by side in memory are read one by one. FP16 and BF16
 *         are transposed number by number. The grid is written twice: as rows, and behind V4.
 * TRY     Take expf() instead of approximate_exp2(): how much of the time was it? Compute the
 *         exponentials again for the shares, in place of keeping them: what did the store cost? */
#include "kernels/cpu/cpu_view.h"
#include "kernels/threads.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

extern const BevKernel kernel_cpu_v4, kernel_cpu_grad_v4;

enum { COLUMNS = 64, MOST_BINS = 128, LANES = 16, EDGE = 32, CELLS = 64, LINE = 64 };

/* ---- softmax --------------------------------------------------------------------------------- */

/* Returns 2^x for x <= 0 with a relative error of 2.5e-7; below 2^-126: 0; NaN stays NaN. There is
 * no branch and no conversion to whole numbers, so that the compiler vectorises it. Adding `whole`
 * rounds x to a whole number, which then stands in the last bits of the sum. */
CPU_INLINE float approximate_exp2(float x) {
    typedef union {
        uint32_t bits;
        float value;
    } Word;
    const float whole = 12582912.0f; /* 1.5 * 2^23 */
    float inside = x < -126.0f ? -126.0f : x;
    Word sum = {.value = inside + whole};
    float f = inside - (sum.value - whole); /* -0.5 to 0.5 */
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    Word power = {.bits = (sum.bits + 127) << 23};
    float result = p * power.value;
    return x < -126.0f ? 0.0f : result;
}

/* Copies `count` floats in pieces of LANES, a size that the compiler knows. The last piece overlaps
 * the one before it. */
CPU_INLINE void copy_line(float *restrict to, const float *restrict from, int count) {
    for (int w = 0; w + LANES <= count; w += LANES)
        memcpy(to + w, from + w, LANES * sizeof *to);
    if (count >= LANES)
        memcpy(to + count - LANES, from + count - LANES, LANES * sizeof *to);
    for (int w = 0; count < LANES && w < count; w++)
        to[w] = from[w];
}

/* Reads the logits of `count` neighbouring columns, `stride` elements apart, from element `at`. */
static void read_logits(const BevTensor *tensor, int64_t at, int64_t stride, int count,
                        float *values) {
    if (tensor->dtype == BEV_FP32 && stride == 1)
        copy_line(values, (const float *)tensor->data + at, count);
    else
        for (int w = 0; w < count; w++)
            values[w] = cpu_view_get(tensor, at + w * stride);
}

/* The loops below take `width` values, a multiple of LANES. Values behind the last column are
 * computed and ignored: single values would cost more than a whole vector. */
CPU_CLONES static void add_largest(const float *restrict line, int width, float *restrict largest) {
    CPU_SIMD
    for (int w = 0; w < width; w++)
        largest[w] = line[w] > largest[w] ? line[w] : largest[w];
}

/* Replaces each value of `line` by exp2((value - largest) * factor), and adds it to `sums`. */
CPU_CLONES static void add_powers(float *restrict line, int width, float factor,
                                  const float *restrict largest, float *restrict sums) {
    CPU_SIMD
    for (int w = 0; w < width; w++) {
        line[w] = approximate_exp2((line[w] - largest[w]) * factor);
        sums[w] += line[w];
    }
}

CPU_CLONES static void divide_lines(float *restrict line, int width, const float *restrict sums) {
    CPU_SIMD
    for (int w = 0; w < width; w++)
        line[w] /= sums[w];
}

/* Lines of depths, one for each bin, `step` floats apart. */
typedef struct {
    float *first;
    int64_t step;
    int width; /* values of a line that are computed */
} Lines;

/* Turns logits of `bins` lines into depths, column by column. `factor`: log2(e) / temperature. */
static void softmax_lines(const Lines *lines, int64_t bins, float factor) {
    float largest[COLUMNS], sums[COLUMNS] = {0};
    for (int w = 0; w < lines->width; w++)
        largest[w] = -INFINITY;
    for (int64_t bin = 0; bin < bins; bin++)
        add_largest(lines->first + bin * lines->step, lines->width, largest);
    for (int64_t bin = 0; bin < bins; bin++)
        add_powers(lines->first + bin * lines->step, lines->width, factor, largest, sums);
    for (int64_t bin = 0; bin < bins; bin++)
        divide_lines(lines->first + bin * lines->step, lines->width, sums);
}

/* Computes the depths of `count` columns of an image row. In memory the bins lie far apart, on many
 * pages. So up to MOST_BINS bins are computed side by side in a buffer. */
static void softmax_columns(const BevProblem *problem, int64_t camera, int64_t row, int64_t column,
                            int count, float *depths) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.depth;
    const bool in_buffer = shape->depth_bins <= MOST_BINS;
    float buffer[MOST_BINS * COLUMNS];
    int64_t at = camera * s->camera + row * s->row + column * s->column;
    int64_t distance = shape->feat_h * shape->feat_w;
    Lines lines = {depths, distance, count};
    if (in_buffer)
        lines = (Lines){buffer, COLUMNS, (count + LANES - 1) / LANES * LANES};
    for (int64_t bin = 0; bin < shape->depth_bins; bin++) {
        float *line = lines.first + bin * lines.step;
        read_logits(&problem->depth, at + bin * s->channel, s->column, count, line);
        for (int w = count; w < lines.width; w++)
            line[w] = 0;
    }
    if (problem->view.softmax)
        softmax_lines(&lines, shape->depth_bins, 1.44269504f / problem->view.temperature);
    for (int64_t bin = 0; in_buffer && bin < shape->depth_bins; bin++)
        copy_line(depths + bin * distance, buffer + bin * COLUMNS, count);
}

/* ---- transpositions -------------------------------------------------------------------------- */

#define TRANSPOSE(Type)                                                                            \
    static void transpose_##Type(const CpuPlane *p, const Type *from, Type *to) {                  \
        for (int64_t r0 = 0; r0 < p->rows; r0 += EDGE)                                             \
            for (int64_t c = 0; c < p->columns; c++)                                               \
                for (int64_t r = r0; r < p->rows && r < r0 + EDGE; r++)                            \
                    to[r * p->to_row + c * p->to_column] =                                         \
                        from[r * p->from_row + c * p->from_column];                                \
    }
TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)

#ifdef __SSE2__
/* Transposes a 4 x 4 square. `stream` writes past the caches. */
static void transpose_4x4(const float *from, int64_t from_stride, float *to, int64_t to_stride,
                          bool stream) {
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_stride);
    __m128 c = _mm_loadu_ps(from + 2 * from_stride), d = _mm_loadu_ps(from + 3 * from_stride);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    if (stream) {
        _mm_stream_ps(to, a), _mm_stream_ps(to + to_stride, b);
        _mm_stream_ps(to + 2 * to_stride, c), _mm_stream_ps(to + 3 * to_stride, d);
    } else {
        _mm_storeu_ps(to, a), _mm_storeu_ps(to + to_stride, b);
        _mm_storeu_ps(to + 2 * to_stride, c), _mm_storeu_ps(to + 3 * to_stride, d);
    }
}

/* Transposes words whose rows are read, and columns written, without gaps: 4 x 4 squares first.
 * Then the words to the right of all squares and below them follow one by one. */
static void transpose_words(const CpuPlane *p, const uint32_t *from, uint32_t *to, bool stream) {
    const int64_t rows = p->rows / 4 * 4, columns = p->columns / 4 * 4; /* that squares cover */
    CpuPlane right = *p, below = *p;
    stream = stream && (uintptr_t)to % 16 == 0 && p->to_column % 4 == 0;
    for (int64_t c = 0; c < columns; c += 4)
        for (int64_t r = 0; r < rows; r += 4)
            transpose_4x4((const float *)(from + r * p->from_row + c), p->from_row,
                          (float *)(to + c * p->to_column + r), p->to_column, stream);
    right.rows = rows, right.columns -= columns, below.rows -= rows;
    transpose_uint32_t(&right, from + columns, to + columns * p->to_column);
    transpose_uint32_t(&below, from + rows * p->from_row, to + rows);
}
#endif

void cpu_transpose(const CpuPlane *p, size_t bytes, const void *from, int64_t from_at, void *to,
                   int64_t to_at, CpuStores stores) {
    if (bytes == 1)
        transpose_uint8_t(p, (const uint8_t *)from + from_at, (uint8_t *)to + to_at);
    else if (bytes == 2)
        transpose_uint16_t(p, (const uint16_t *)from + from_at, (uint16_t *)to + to_at);
#ifdef __SSE2__
    else if (p->from_column == 1 && p->to_row == 1)
        transpose_words(p, (const uint32_t *)from + from_at, (uint32_t *)to + to_at,
                        stores == CPU_STREAMED);
#endif
    else
        transpose_uint32_t(p, (const uint32_t *)from + from_at, (uint32_t *)to + to_at);
    (void)stores;
}

static size_t element_bytes(const BevProblem *problem) {
    return (size_t)bev_dtypes[problem->dtype].bits / 8;
}

void cpu_view_features(const BevProblem *problem, int64_t camera, int64_t row, void *feat) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.feat;
    const CpuPlane plane = {.rows = shape->channels, .from_row = s->channel, .to_row = 1,
                            .columns = shape->feat_w, .from_column = s->column,
                            .to_column = shape->channels};
    int64_t to = (camera * shape->feat_h + row) * shape->feat_w * shape->channels;
    cpu_transpose(&plane, element_bytes(problem), problem->feat.data,
                  camera * s->camera + row * s->row, feat, to, CPU_CACHED);
}

/* ---- behind V4 and its gradients ----------------------------------------------------------- */

CPU_CLONES static void add_products(const float *restrict depths, const float *restrict grads,
                                    int count, float *restrict sums) {
    CPU_SIMD
    for (int w = 0; w < count; w++)
        sums[w] += depths[w] * grads[w];
}

/* Computes gradients of the logits of `count` columns of an image row from depths and gradients. */
static void softmax_columns_backward(const BevProblem *problem, int64_t camera, int64_t row,
                                     int64_t column, int count, const float *depths,
                                     const float *grads) {
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

void cpu_view_spread(const BevProblem *problem, const void *rows) {
    int64_t channels = problem->shape.channels, cells = problem->out.rows / problem->out_samples;
    int64_t blocks = (cells + CELLS - 1) / CELLS;
#pragma omp parallel num_threads(bev_threads())
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < problem->out_samples * blocks; i++) {
            int64_t first = i % blocks * CELLS, left = cells - first;
            int64_t count = left < CELLS ? left : CELLS, sample = i / blocks * cells * channels;
            const CpuPlane plane = {.rows = count, .from_row = channels, .to_row = 1,
                                    .columns = channels, .from_column = 1, .to_column = cells};
            cpu_transpose(&plane, element_bytes(problem), rows, sample + first * channels,
                          problem->out.data, sample + first, CPU_STREAMED);
        }
#ifdef __SSE2__
        _mm_sfence();
#endif
    }
}

static void transpose_features_backward(const BevProblem *problem, int64_t camera, int64_t row,
                                        const void *grads) {
    const BevShape *shape = &problem->shape;
    const BevStrides *s = &problem->view.feat;
    const CpuPlane plane = {.rows = shape->feat_w, .from_row = shape->channels,
                            .to_row = s->column, .columns = shape->channels,
                            .from_column = 1, .to_column = s->channel};
    int64_t from = (camera * shape->feat_h + row) * shape->feat_w * shape->channels;
    cpu_transpose(&plane, element_bytes(problem), grads, from, problem->grad_feat.data,
                  camera * s->camera + row * s->row, CPU_CACHED);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static const BevKernel *v4_of(const BevProblem *problem) {
    return problem->direction == BEV_BACKWARD ? &kernel_cpu_grad_v4 : &kernel_cpu_v4;
}

/* Gives the tensor the next bytes of problem->workspace. `*used` counts taken bytes. */
static void take_tensor(const BevProblem *problem, BevTensor *tensor, size_t *used) {
    tensor->data = problem->workspace ? (char *)problem->workspace + *used : NULL;
    *used += (bev_tensor_bytes(tensor) + LINE - 1) / LINE * LINE;
}

BevProblem cpu_view_inner(const BevProblem *problem, BevDtype depth, size_t *used) {
    BevProblem inner = *problem;
    *used = 0;
    inner.stage = BEV_POOL;
    inner.out_samples = 0;
    inner.depth.dtype = inner.grad_depth.dtype = depth;
    take_tensor(problem, &inner.depth, used);
    take_tensor(problem, &inner.feat, used);
    if (problem->direction == BEV_BACKWARD) {
        take_tensor(problem, &inner.grad_depth, used);
        take_tensor(problem, &inner.grad_feat, used);
    } else if (problem->out_samples) {
        take_tensor(problem, &inner.out, used);
    }
    inner.workspace = problem->workspace ? (char *)problem->workspace + *used : NULL;
    return inner;
}

static size_t workspace_bytes(const BevProblem *problem, const BevPlan *plan) {
    size_t used;
    BevProblem inner = cpu_view_inner(problem, BEV_FP32, &used);
    return used + v4_of(problem)->workspace_bytes(&inner, plan);
}

static bool prepare(const BevProblem *problem, BevPlan **plan, Err *err) {
    return v4_of(problem)->prepare(problem, plan, err);
}

typedef void TakeRow(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                     int64_t row, int64_t first);

/* Returns how many of the next COLUMNS columns the image has from column w on. */
static int columns_from(const BevProblem *problem, int64_t w) {
    const int64_t left = problem->shape.feat_w - w;
    return (int)(left < COLUMNS ? left : COLUMNS);
}

/* Prepares an image row for V4: depths and features. `first` is the row's depth in bin 0. */
static void prepare_row(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                        int64_t row, int64_t first) {
    float *depths = (float *)inner->depth.data + first;
    for (int64_t w = 0; w < problem->shape.feat_w; w += COLUMNS)
        softmax_columns(problem, camera, row, w, columns_from(problem, w), depths + w);
    cpu_view_features(problem, camera, row, inner->feat.data);
}

/* Computes the gradients of an image row's logits and features after V4's gradients. */
static void finish_row(const BevProblem *problem, const BevProblem *inner, int64_t camera,
                       int64_t row, int64_t first) {
    const float *depths = (const float *)inner->depth.data + first;
    const float *grads = (const float *)inner->grad_depth.data + first;
    for (int64_t w = 0; w < problem->shape.feat_w; w += COLUMNS)
        softmax_columns_backward(problem, camera, row, w, columns_from(problem, w), depths + w,
                                 grads + w);
    transpose_features_backward(problem, camera, row, inner->grad_feat.data);
}

static void for_each_row(const BevProblem *problem, const BevProblem *inner, TakeRow *take_row) {
    const BevShape *s = &problem->shape;
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t r = 0; r < s->cameras * s->feat_h; r++) {
        int64_t camera = r / s->feat_h, row = r % s->feat_h;
        take_row(problem, inner, camera, row,
                 (camera * s->depth_bins * s->feat_h + row) * s->feat_w);
    }
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    size_t used;
    BevProblem inner = cpu_view_inner(problem, BEV_FP32, &used);
    for_each_row(problem, &inner, prepare_row);
    if (!v4_of(problem)->launch(&inner, plan, stream, err))
        return false;
    if (problem->direction == BEV_BACKWARD)
        for_each_row(problem, &inner, finish_row);
    else if (problem->out_samples)
        cpu_view_spread(problem, inner.out.data);
    return true;
}

static BevTraffic bytes(const BevProblem *problem) {
    size_t used;
    BevTraffic traffic = v4_of(problem)->bytes(problem);
    BevProblem inner = cpu_view_inner(problem, BEV_FP32, &used);
    double depth = (double)bev_tensor_bytes(&inner.depth);
    double feat = (double)bev_tensor_bytes(&problem->feat);
    double passes = problem->shape.depth_bins <= MOST_BINS ? 1 : 5;
    traffic.depth += (double)bev_tensor_bytes(&problem->depth) + passes * depth;
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
    .counterpart = "view", .where = BEV_CPU, .stage = BEV_VIEW, .is_default = true,
    .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS, .deterministic = true,
    .writes_first = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};

const BevKernel kernel_cpu_grad_view = {
    .name = "cpu_grad_view", .title = "View",
    .idea = "Backward: softmax and channels last, the gradients of V4, and those of the softmax.",
    .counterpart = "grad_view", .where = BEV_CPU, .direction = BEV_BACKWARD, .stage = BEV_VIEW,
    .is_default = true, .dtypes = BEV_UNSCALED_DTYPES, .aligns = BEV_ALL_ALIGNS,
    .deterministic = true, .prepare = prepare, .release = cpu_release,
    .workspace_bytes = workspace_bytes, .launch = launch, .bytes = bytes,
};
/* clang-format on */
