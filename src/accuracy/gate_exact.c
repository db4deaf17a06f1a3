/* SPDX-License-Identifier: MIT */
/* The problems of gate C, whose sums are exact in every order, and the adjoint identity. */
#include "src/accuracy/gates.h"

#include "kernels/codec.h"
#include "kernels/regime.h"
#include "src/base/random.h"

#include <math.h>
#include <stdlib.h>

/* The range of each factor of a product, in powers of two. The sum of the longest interval must
 * not need more significant bits than the accumulator has. FP32 has 24 bits. For other formats the
 * limit is the 11 bits of a half, because kernels may add in halves. Signs are random, so sums stay
 * well below the limit, even if the longest interval leaves less than one bit for each factor. */
typedef struct {
    int weight, depth, feat;
    int grad; /* the span of grad_out, backward only */
} Span;

/* Limits a span to the range from 0 to 3 powers of two. */
static int limited_span(int span) {
    return span < 0 ? 0 : span < 3 ? span : 3;
}

static Span forward_span(BevDtype dtype, const BevMap *map) {
    int significant = dtype == BEV_FP32 ? 24 : 11;
    int sum_bits = (int)ceil(log2(fmax(1, (double)bev_longest_interval(map))));
    Span span = {.weight = map->weights ? 1 : 0};
    int left = significant - sum_bits - span.weight; /* bits for depth and feature */
    span.depth = limited_span(left / 2);
    span.feat = limited_span(left - span.depth);
    return span;
}

/* Returns 2^-k, with k random in [0, span]. */
static float random_power(uint64_t *state, int span) {
    return ldexpf(1, -(int)random_below(state, span + 1));
}

/* Returns a random integer from -2^span to 2^span. It is never 0, so that each point counts. */
static float random_whole(uint64_t *state, int span) {
    float sign = random_bits(state) & 1 ? -1.0f : 1.0f;
    return sign * (float)(1 + random_below(state, 1 << span));
}

/* Writes NVFP4 codes and block scales directly, because the encoder would choose block scales that
 * are not powers of two. The codes have one half of the span, the block scales the other half. */
static void fill_blocks(const BevTensor *feat, int span, uint64_t *state) {
    size_t code_bytes = bev_code_bytes(feat->dtype, feat->rows, feat->row_len);
    size_t blocks = bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len);
    int of_codes = span / 2;
    for (size_t i = 0; i < code_bytes; i++) {
        uint8_t low = (uint8_t)bev_code(BEV_NVFP4, random_whole(state, of_codes));
        uint8_t high = (uint8_t)bev_code(BEV_NVFP4, random_whole(state, of_codes));
        ((uint8_t *)feat->data)[i] = (uint8_t)(low | high << 4);
    }
    for (size_t i = 0; i < blocks; i++)
        feat->block_scales[i] =
            (uint8_t)bev_code(BEV_FP8, 1 / random_power(state, span - of_codes));
}

static void fill_feat(const BevTensor *feat, int span, uint64_t *state, float *row) {
    if (feat->dtype == BEV_NVFP4) {
        fill_blocks(feat, span, state);
        return;
    }
    int block = bev_dtypes[feat->dtype].block, of_blocks = block ? span - span / 2 : 0;
    for (int64_t r = 0; r < feat->rows; r++) {
        float power = 1;
        for (int64_t c = 0; c < feat->row_len; c++) {
            if (block && c % block == 0)
                power = 1 / random_power(state, of_blocks);
            row[c] = power * random_whole(state, span - of_blocks) * feat->scale *
                     (feat->channel_scales ? feat->channel_scales[c] : 1);
        }
        bev_span_encode(feat, r, 0, feat->row_len, row);
    }
}

static void fill_depth(const BevTensor *depth, int span, uint64_t *state) {
    float values[256];
    bool whole = depth->dtype == BEV_UINT8; /* powers of two from 1 up */
    for (int64_t first = 0; first < depth->row_len; first += 256) {
        int64_t left = depth->row_len - first, count = left < 256 ? left : 256;
        for (int64_t i = 0; i < count; i++) {
            float power = random_power(state, span);
            values[i] = (whole ? 1 / power : power) * depth->scale;
        }
        bev_span_encode(depth, 0, first, count, values);
    }
}

/* Returns the sum of the digits in base 4. Its remainder by 4 does not repeat with any period. */
static int digit_sum(int64_t number) {
    return number ? (int)(number % 4) + digit_sum(number / 4) : 0;
}

/* Sets scales to powers of two, most of them not 1: a kernel that forgets a scale must fail. */
static void set_scales(BevProblem *view, Span span) {
    if (bev_dtypes[view->feat.dtype].bits < 16)
        view->feat.scale = 4;
    if (bev_dtypes[view->depth.dtype].bits < 16)
        view->depth.scale = 0.5f;
    for (int64_t c = 0; view->feat.channel_scales && c < view->feat.row_len; c++)
        view->feat.channel_scales[c] = ldexpf(1, digit_sum(c) % 4 - 2);
    if (bev_dtypes[view->out.dtype].bits != 8)
        return;
    double largest = ldexp(fmax(1, (double)bev_longest_interval(&view->map)), span.feat) *
                     view->feat.scale * view->depth.scale;
    view->out.scale = (float)exp2(ceil(log2(largest / bev_dtypes[view->out.dtype].largest)));
}

/* ---- view ------------------------------------------------------------------------------------ */

/* Returns the place of a depth in a tensor of depths. Pixels count through all cameras. */
static int64_t depth_place(const BevShape *s, int64_t pixel, int64_t bin) {
    const int64_t plane = s->feat_h * s->feat_w, camera = pixel / plane;
    return (camera * s->depth_bins + bin) * plane + pixel % plane;
}

/* Fills logits whose softmax is a power of two. In each pixel 1, 2 or 4 neighbouring bins are 0,
 * and all others are -infinity. */
static void fill_logits(const BevTensor *depth, const BevShape *s, uint64_t *state) {
    const int64_t pixels = s->cameras * s->feat_h * s->feat_w, bins = s->depth_bins;
    const int most_power = bins < 2 ? 0 : bins < 4 ? 1 : 2; /* 2^power bins are 0 */
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        int64_t count = (int64_t)1 << random_below(state, most_power + 1);
        int64_t first = (int64_t)random_below(state, (int)bins);
        for (int64_t bin = 0; bin < bins; bin++) {
            bool chosen = (bin - first + bins) % bins < count;
            float value = chosen ? 0 : -INFINITY;
            bev_span_encode(depth, 0, depth_place(s, pixel, bin), 1, &value);
        }
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Returns how many bits a sum of n terms adds to the bits of a term. Signs are random, so the sum
 * stays below 6 sqrt(n) times the largest term. */
static int bits_of_sum(int64_t terms) {
    return (int)ceil(log2(fmin((double)terms, 6 * sqrt((double)terms))));
}

/* Chooses the spans so that gradients need no more significant bits than their format has. */
static Span backward_span(const BevProblem *view, const int32_t *terms) {
    int significant = -ilogb(bev_dtypes[view->dtype].unit_roundoff); /* bits of a number */
    int64_t depths = view->depth.row_len, rows = depths + view->feat.rows;
    int64_t depth_terms = 1, feat_terms = 1; /* the most terms of a gradient */
    for (int64_t i = 0; i < depths; i++)
        depth_terms = terms[i] > depth_terms ? terms[i] : depth_terms;
    for (int64_t i = depths; i < rows; i++)
        feat_terms = terms[i] > feat_terms ? terms[i] : feat_terms;
    Span span = {.weight = view->map.weights ? 1 : 0};
    int depth_left = significant - bits_of_sum(depth_terms) - span.weight;
    int feat_left = significant - bits_of_sum(feat_terms) - span.weight;
    int least = depth_left < feat_left ? depth_left : feat_left;
    span.grad = limited_span(least / 2);
    span.feat = limited_span(depth_left - span.grad);
    span.depth = limited_span(feat_left - span.grad);
    return span;
}

/* ---- the problem ----------------------------------------------------------------------------- */

static bool fill_problem(HostProblem *problem, Span span, uint64_t *seed, Err *err) {
    BevProblem *view = &problem->view;
    BevMap *map = &view->map;
    float *row = malloc((size_t)view->shape.channels * sizeof *row);
    if (map->weights) {
        problem->own_weights = malloc((size_t)map->points * sizeof(float) + 1);
        for (int64_t t = 0; problem->own_weights && t < map->points; t++)
            problem->own_weights[t] = random_power(seed, span.weight);
    }
    bool drawn = !map->weights || problem->own_weights;
    bool ok = (row && drawn) || err_no_memory(err, "gate C", "choose a smaller scene");
    if (map->weights)
        map->weights = problem->own_weights;
    if (ok) {
        set_scales(view, span);
        fill_depth(&view->depth, span.depth, seed);
        fill_feat(&view->feat, span.feat, seed, row);
    }
    if (ok && view->direction == BEV_BACKWARD)
        fill_feat(&view->grad_out, span.grad, seed, row);
    free(row);
    return ok;
}

static bool fill_backward(HostProblem *problem, uint64_t *seed, Err *err) {
    int32_t *terms = problem_turn_backward(problem, err) ? gate_terms(&problem->view, err) : NULL;
    bool ok = terms && fill_problem(problem, backward_span(&problem->view, terms), seed, err);
    free(terms);
    return ok;
}

bool gate_exact_like(HostProblem *exact, const BevProblem *like, uint64_t seed, Err *err) {
    uint64_t logit_seed = seed;
    if (!problem_init(exact, &like->shape, like->dtype, like->align, &like->map, err))
        return false;
    bool ok = like->direction == BEV_BACKWARD
                  ? fill_backward(exact, &seed, err)
                  : fill_problem(exact, forward_span(like->dtype, &like->map), &seed, err);
    if (ok && like->stage == BEV_VIEW) {
        ok = problem_turn_view(exact, err);
        exact->view.view.temperature = 0.5f;
        if (ok)
            fill_logits(&exact->view.depth, &like->shape, &logit_seed);
    }
    if (!ok)
        problem_free(exact);
    return ok;
}

/* ---- the adjoint identity -------------------------------------------------------------------- */

/* Returns the value of element `i`, counted through all rows. */
static double tensor_value(const BevTensor *tensor, int64_t i) {
    return bev_tensor_at(tensor, i / tensor->row_len, i % tensor->row_len);
}

/* Returns Σ a·b over two tensors with the same number of elements. */
static double tensor_dot(const BevTensor *a, const BevTensor *b) {
    double sum = 0;
    for (int64_t i = 0; i < a->rows * a->row_len; i++)
        sum += tensor_value(a, i) * tensor_value(b, i);
    return sum;
}

/* Returns the sum over all pixels of the magnitude of the sum of a pixel's logit gradients. Each of
 * these sums must be 0: adding the same number to all logits of a pixel changes no depth. */
static double logit_gradient_sums(const BevShape *s, const BevTensor *grad) {
    double all = 0;
    const int64_t pixels = s->cameras * s->feat_h * s->feat_w;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        double sum = 0;
        for (int64_t bin = 0; bin < s->depth_bins; bin++)
            sum += bev_tensor_at(grad, depth_place(s, pixel, bin), 0);
        all += fabs(sum);
    }
    return all;
}

/* Whether the format of the output can hold each FP64 value without rounding. */
static bool holds_exactly(const BevTensor *out, const double *reference) {
    double stored[GATE_COLUMNS];
    int64_t total = out->rows * out->row_len;
    for (int64_t i = 0; i < total; i++) {
        if (i % GATE_COLUMNS == 0)
            gate_round(out, reference + i, total - i, stored);
        if (stored[i % GATE_COLUMNS] != reference[i])
            return false;
    }
    return true;
}

bool gate_adjoint(const BevProblem *problem, const void *codes, const double *reference,
                  GateAdjoint *adjoint, Err *err) {
    GateOutput outputs[BEV_MAX_OUTPUTS];
    bool exact = true;
    *adjoint = (GateAdjoint){.verdict = GATE_SKIP};
    for (int i = gate_outputs(problem, codes, outputs); i-- > 0;)
        exact = exact && holds_exactly(&outputs[i].tensor, reference + outputs[i].first_value);
    int64_t count = problem->grad_out.rows * problem->grad_out.row_len;
    double *pooled = malloc((size_t)count * sizeof *pooled + 1);
    if (!pooled)
        return err_no_memory(err, "adjoint", "choose a smaller grid");
    bev_reference(problem, pooled, NULL);
    for (int64_t i = 0; i < count; i++)
        adjoint->pooled += pooled[i] * tensor_value(&problem->grad_out, i);
    free(pooled);
    adjoint->depth =
        problem->stage == BEV_VIEW
            ? adjoint->pooled + logit_gradient_sums(&problem->shape, &outputs[0].tensor)
            : tensor_dot(&problem->depth, &outputs[0].tensor);
    adjoint->feat = tensor_dot(&problem->feat, &outputs[1].tensor);
    bool same = adjoint->pooled == adjoint->depth && adjoint->pooled == adjoint->feat;
    if (exact)
        adjoint->verdict = same ? GATE_PASS : GATE_FAIL;
    return true;
}
