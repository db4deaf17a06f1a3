/* SPDX-License-Identifier: MIT */
#include "src/accuracy/gates.h"

#include "kernels/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gate_outputs(const BevProblem *problem, const void *codes, GateOutput *outputs) {
    static const char *const names[BEV_DIRECTION_COUNT][BEV_MAX_OUTPUTS] = {
        {"out"}, {"grad_depth", "grad_feat"}};
    const BevTensor *tensors[BEV_MAX_OUTPUTS];
    int count = bev_outputs(problem, tensors);
    int64_t first_row = 0, first_value = 0;
    for (int i = 0; i < count; i++) {
        BevTensor tensor = *tensors[i];
        tensor.data = (void *)codes; /* gates only read the codes */
        codes = codes ? (const char *)codes + bev_tensor_bytes(&tensor) : NULL;
        if (tensor.rows == 1 && problem->direction == BEV_BACKWARD) { /* grad_depth */
            tensor.rows = tensor.row_len;
            tensor.row_len = 1;
        }
        outputs[i] = (GateOutput){names[problem->direction][i], tensor, first_row, first_value};
        first_row += tensor.rows;
        first_value += tensor.rows * tensor.row_len;
    }
    return count;
}

static GateOutput last_output(const BevProblem *problem) {
    GateOutput outputs[BEV_MAX_OUTPUTS];
    return outputs[gate_outputs(problem, NULL, outputs) - 1];
}

int64_t gate_rows(const BevProblem *problem) {
    const GateOutput last = last_output(problem);
    return last.first_row + last.tensor.rows;
}

int64_t gate_values(const BevProblem *problem) {
    const GateOutput last = last_output(problem);
    return last.first_value + last.tensor.rows * last.tensor.row_len;
}

/* Replaces the numbers of terms of depths by those of logits. The gradient of a logit contains all
 * depths of the pixel. It has as many terms as the bin with the most terms, and one more for each
 * bin. Pixels without points have no terms. */
static void set_logit_terms(const BevShape *s, int32_t *terms) {
    const int64_t plane = s->feat_h * s->feat_w; /* from a bin to the next */
    for (int64_t pixel = 0; pixel < s->cameras * plane; pixel++) {
        const int64_t camera = pixel / plane;
        int32_t *of_bins = terms + camera * s->depth_bins * plane + pixel % plane, most = 0;
        for (int64_t bin = 0; bin < s->depth_bins; bin++)
            most = of_bins[bin * plane] > most ? of_bins[bin * plane] : most;
        for (int64_t bin = 0; bin < s->depth_bins; bin++)
            of_bins[bin * plane] = most ? most + (int32_t)s->depth_bins : 0;
    }
}

int32_t *gate_terms(const BevProblem *problem, Err *err) {
    const BevMap *map = &problem->map;
    int32_t *terms = calloc((size_t)gate_rows(problem), sizeof *terms);
    if (!terms)
        err_no_memory(err, "gates", "choose a smaller grid");
    for (int64_t t = 0; terms && t < map->points; t++)
        if (problem->direction == BEV_FORWARD) {
            terms[map->ranks_bev[t]]++;
        } else {
            terms[map->ranks_depth[t]] += (int32_t)problem->shape.channels;
            terms[problem->depth.row_len + map->ranks_feat[t]]++;
        }
    if (terms && problem->direction == BEV_BACKWARD && problem->stage == BEV_VIEW)
        set_logit_terms(&problem->shape, terms);
    return terms;
}

void gate_reference(const BevProblem *problem, double *reference, double *abs_sum) {
    int64_t depths = problem->depth.row_len;
    if (problem->direction == BEV_FORWARD)
        bev_reference(problem, reference, abs_sum);
    else
        bev_reference_backward(problem, reference, reference + depths, abs_sum,
                               abs_sum ? abs_sum + depths : NULL);
}

/* Counts an element. `pooled`: the row of the element has terms. A `ratio` above 1 makes the
 * element bad. The result keeps the first bad element. */
static void count_element(GateResult *result, bool pooled, int64_t cell, int64_t channel,
                          double got, double want, double bound, double ratio) {
    if (isnan(want) && isnan(got)) {
        result->nan_both++;
        return;
    }
    result->checked++;
    result->judged += pooled && !isnan(want);
    result->worst_ratio = fmax(result->worst_ratio, ratio);
    if (!(ratio <= 1) && result->bad++ == 0) {
        result->cell = cell;
        result->channel = channel;
        result->got = got;
        result->want = want;
        result->bound = bound;
    }
}

/* Joins the results of two outputs. Counts are added. All other figures come from the worse output:
 * the only output that fails, or else the output with the larger ratio. */
static GateResult worse_result(GateResult a, GateResult b) {
    bool fails = a.verdict == GATE_FAIL || b.verdict == GATE_FAIL;
    bool a_is_worse =
        a.verdict == b.verdict ? a.worst_ratio >= b.worst_ratio : a.verdict == GATE_FAIL;
    GateResult worse = a_is_worse ? a : b;
    worse.verdict = fails ? GATE_FAIL : GATE_PASS;
    worse.checked = a.checked + b.checked;
    worse.bad = a.bad + b.bad;
    worse.judged = a.judged + b.judged;
    worse.nan_both = a.nan_both + b.nan_both;
    return worse;
}

/* ---- gate A ---------------------------------------------------------------------------------- */

/* The constants of the bound in gates.h, for one problem and accumulator. */
typedef struct {
    double u_out, u_acc;     /* unit roundoffs */
    double eta_out, eta_acc; /* underflow of the output, and of each term */
    double largest;          /* largest number of the output format, times the output's scale */
    bool saturates;          /* larger values become the largest number, not infinity */
    double u_view, eta_view; /* stage VIEW: roundoff of a depth, and underflow of its product */
    bool whole;              /* terms are integers: sums below 2^24 are exact */
} Rounding;

/* The smallest and the largest finite value of a tensor; both 0 if no value is finite. */
typedef struct {
    double least, most;
} FiniteRange;

static FiniteRange finite_range(const BevTensor *tensor) {
    FiniteRange range = {INFINITY, -INFINITY};
    for (int64_t row = 0; row < tensor->rows; row++)
        for (int64_t c = 0; c < tensor->row_len; c++) {
            double value = bev_tensor_at(tensor, row, c);
            if (isfinite(value)) {
                range.least = fmin(range.least, value);
                range.most = fmax(range.most, value);
            }
        }
    return range.most < range.least ? (FiniteRange){0, 0} : range;
}

static double largest_magnitude(const BevTensor *tensor) {
    const FiniteRange range = finite_range(tensor);
    return fmax(fabs(range.least), fabs(range.most));
}

/* Returns the F of gates.h: the largest finite |feature|, backward the largest |grad_out|. */
static double largest_feature(const BevProblem *problem) {
    bool backward = problem->direction == BEV_BACKWARD;
    return largest_magnitude(backward ? &problem->grad_out : &problem->feat);
}

/* Adds the terms of stage VIEW to the bound. Each product in a logit's gradient has two depths and
 * a stored gradient of a depth. */
static void add_view_rounding(Rounding *r, const BevProblem *problem, bool of_logits) {
    const BevDtypeInfo *depth = &bev_dtypes[problem->depth.dtype];
    const FiniteRange logits = finite_range(&problem->depth);
    double x = 1.4427 * (logits.most - logits.least) / problem->view.temperature;
    r->u_view = depth->unit_roundoff + (16 + 4 * x) * 0x1p-24;
    r->eta_view = fmax(depth->smallest, 0x1p-126);
    if (of_logits) {
        r->u_view = 2 * r->u_view + depth->unit_roundoff;
        r->eta_view /= problem->view.temperature;
    } else {
        r->eta_view *= largest_feature(problem);
    }
}

static Rounding rounding_of(const BevProblem *problem, const GateOutput *which,
                            BevDtype accumulate) {
    const BevTensor *output = &which->tensor;
    const BevDtypeInfo *out = &bev_dtypes[output->dtype], *acc = &bev_dtypes[accumulate];
    double scale = problem->depth.scale;
    double feature = problem->map.weights ? largest_feature(problem) : 0;
    Rounding rounding = {
        .u_out = output->dtype == BEV_INT8 ? 0 : out->unit_roundoff, /* steps of equal size */
        .u_acc = acc->unit_roundoff,
        .eta_out = out->smallest / 2 * output->scale,
        .eta_acc =
            acc->smallest * fmax(fmax(scale * problem->feat.scale, 1), fmax(scale, 1) * feature),
        .largest = out->largest * output->scale,
        .saturates = out->bits == 8,
        .whole = bev_is_whole(problem->dtype) && !problem->map.weights && accumulate == BEV_FP32,
    };
    if (problem->stage == BEV_VIEW)
        add_view_rounding(&rounding, problem,
                          problem->direction == BEV_BACKWARD && which->first_row == 0);
    return rounding;
}

/* Returns gate A's bound of an element. `unit`: the value of the integer 1 after scaling. */
static double bound_of(const Rounding *r, double want, double abs_sum, int32_t terms, double unit) {
    double sum =
        ((terms + 4) * r->u_acc + r->u_view) * abs_sum + terms * (r->eta_acc + r->eta_view);
    if (r->whole && abs_sum < 0x1p24 * unit)
        sum = 4 * r->u_acc * fabs(want);
    return r->u_out * fabs(want) + (1 + r->u_out) * sum + r->eta_out;
}

/* Returns |error| / bound. If `want` overflows the output format, the format's overflow value is
 * correct. The ratio is infinite if `got` is NaN, infinite or finite where it must not be. */
static double error_ratio(const Rounding *r, double got, double want, double bound) {
    if (isnan(want))
        return INFINITY;
    if (r->saturates)
        want = fmax(-r->largest, fmin(r->largest, want));
    else if (isinf(want) && isnan(got) && r->eta_view > 0)
        return 0;
    else if (fabs(want) + bound > r->largest && isinf(got))
        return signbit(got) == signbit(want) ? 0 : INFINITY;
    return isfinite(got) ? fabs(got - want) / bound : INFINITY;
}

/* ---- gates A and C --------------------------------------------------------------------------- */

void gate_round(const BevTensor *out, const double *reference, int64_t left,
                double stored[GATE_COLUMNS]) {
    float values[GATE_COLUMNS] = {0};
    uint32_t codes[GATE_COLUMNS];
    BevTensor row = *out;
    row.rows = 1;
    row.row_len = left < GATE_COLUMNS ? left : GATE_COLUMNS;
    row.data = codes;
    for (int64_t c = 0; c < row.row_len; c++)
        values[c] = (float)reference[c];
    bev_span_encode(&row, 0, 0, row.row_len, values);
    for (int64_t c = 0; c < row.row_len; c++)
        stored[c] = bev_tensor_at(&row, 0, c);
}

/* Gate A has a bound for each element. Gate C, without `abs_sum`, requires the rounded FP64 value.
 * Equal values have equal bits, except for the sign of zero. */
static GateResult judge_output(const BevProblem *problem, const GateOutput *output,
                               const Rounding *rounding, const double *reference,
                               const double *abs_sum, const int32_t *terms, uint8_t *bad) {
    const BevTensor *tensor = &output->tensor;
    const int64_t columns = tensor->row_len;
    GateResult result = {.output = output->name, .cell = -1, .channel = -1};
    double stored[GATE_COLUMNS];
    for (int64_t row = 0; row < tensor->rows; row++) {
        const int64_t bad_before = result.bad;
        for (int64_t c = 0; c < columns; c++) {
            const int64_t at = row * columns + c;
            double got = bev_tensor_at(tensor, row, c), want = reference[at], bound = 0, ratio;
            if (abs_sum) {
                double unit = rounding->whole ? bev_sum_factor(problem, c) : 0;
                bound = bound_of(rounding, want, abs_sum[at], terms[row], unit);
                ratio = error_ratio(rounding, got, want, bound);
            } else {
                if (c % GATE_COLUMNS == 0)
                    gate_round(tensor, reference + at, columns - c, stored);
                want = stored[c % GATE_COLUMNS];
                ratio = got == want ? 0 : INFINITY;
            }
            count_element(&result, terms[row] > 0, row, c, got, want, bound, ratio);
        }
        if (bad)
            bad[row] = result.bad > bad_before;
    }
    result.verdict = result.judged > 0 && result.bad == 0 ? GATE_PASS : GATE_FAIL;
    return result;
}

GateResult gate_kernel(const BevProblem *problem, BevDtype accumulate, const void *codes,
                       const double *reference, const double *abs_sum, const int32_t *points,
                       uint8_t *bad) {
    GateOutput outputs[BEV_MAX_OUTPUTS];
    GateResult result = {0};
    Rounding rounding = {0};
    int count = gate_outputs(problem, codes, outputs);
    for (int i = 0; i < count; i++) {
        const int64_t row = outputs[i].first_row, value = outputs[i].first_value;
        if (abs_sum)
            rounding = rounding_of(problem, &outputs[i], accumulate);
        const GateResult one =
            judge_output(problem, &outputs[i], &rounding, reference + value,
                         abs_sum ? abs_sum + value : NULL, points + row, bad ? bad + row : NULL);
        result = i ? worse_result(result, one) : one;
    }
    return result;
}

GateResult gate_exact(const BevProblem *problem, const void *codes, const double *reference,
                      const int32_t *points, uint8_t *bad) {
    return gate_kernel(problem, BEV_FP32, codes, reference, NULL, points, bad);
}

bool gate_passes(const GateResult *result, const BevMap *map) {
    bool empty = map->points == 0 && result->checked > 0 && result->bad == 0;
    return result->verdict == GATE_PASS || empty;
}

void gate_describe_place(const GateResult *result, char *text, size_t size) {
    if (!strcmp(result->output, "grad_depth"))
        snprintf(text, size, "grad_depth element %lld", (long long)result->cell);
    else
        snprintf(text, size, "%s %lld channel %lld",
                 strcmp(result->output, "out") ? "grad_feat pixel" : "cell",
                 (long long)result->cell, (long long)result->channel);
}

/* ---- gate B ---------------------------------------------------------------------------------- */

/* A rounding changes a value by at most u times the value, and on average by u / sqrt(3). Depth,
 * feature and output are rounded, so an output of one product changes by about u. In an output of
 * many products the errors cancel each other to about u / 2. Beside each limit stands the worst
 * rel_l2 of the shipped scenes and configurations, every half second. The limit of INT8 is close to
 * the worst rel_l2, so that scales of another scene fail. The limit of the cosine is lower than
 * needed: an error at right angles costs only rel_l2^2 / 2. */
#define LIMITS(rel_l2)                                                                             \
    { rel_l2, 1 - (rel_l2) * (rel_l2) }
const GateBLimits gate_b_limits[BEV_DTYPE_COUNT] = {
    [BEV_FP32] = LIMITS(1e-6),      /* worst 2e-7: only the order of summation has an error */
    [BEV_FP16] = LIMITS(1e-3),      /* worst 4e-4 */
    [BEV_BF16] = LIMITS(6e-3),      /* worst 3e-3 */
    [BEV_FP8] = LIMITS(8e-2),       /* worst 0.04 */
    [BEV_NVFP4] = LIMITS(2e-1),     /* worst 0.09: blocks share a scale */
    [BEV_INT8] = LIMITS(1.5e-1),    /* worst 0.12; at other moments 0.16 in bilinear, which fails */
    [BEV_INT8_FP16] = LIMITS(4e-2), /* worst 0.01; voxelize has 0.07 and fails */
};

/* Backward of stage VIEW may exceed the limits by these factors: first for logits, then for
 * features. A depth has the rounding error of its logit times logit / temperature, here up to 40.
 * On the shipped scenes the gradients of features reach 1.3 times the limits. The gradients of
 * logits are differences, and reach 8 times the limits. */
static const double view_slack[BEV_MAX_OUTPUTS] = {16, 2};

/* Returns the largest loss of a term by underflow of FP32, in any format. */
static double underflow_of(const BevProblem *problem, bool of_logits) {
    if (problem->stage == BEV_POOL)
        return bev_dtypes[BEV_FP32].smallest;
    double feature = largest_feature(problem);
    if (of_logits)
        feature *= 2 * largest_magnitude(&problem->feat) / problem->view.temperature;
    return 0x1p-126 * fmax(feature, 1);
}

/* Adds an element to the error. `pooled`: its row has terms. `want` is the FP64 value. */
static void add_element_error(FormatError *error, bool pooled, double got, double want,
                              int64_t cell, int64_t channel) {
    if (!isfinite(want)) {
        error->left_out++;
        error->finite_count += isfinite(got);
        return;
    }
    error->judged += pooled;
    if (!isfinite(got)) {
        error->nan_count += isnan(got);
        error->inf_count += isinf(got) != 0;
        return;
    }
    double difference = fabs(got - want);
    error->largest = fmax(error->largest, fabs(want));
    if (difference > error->max_abs || error->worst_cell < 0) {
        error->max_abs = difference;
        error->worst_cell = cell;
        error->worst_channel = channel;
    }
    error->error2 += difference * difference;
    error->got2 += got * got;
    error->want2 += want * want;
    error->dot += got * want;
}

/* Returns the number of outputs that are finite where FP64 is not, or the other way round. */
static int64_t wrongly_finite(const FormatError *error) {
    return error->nan_count + error->inf_count + error->finite_count;
}

/* Sets the figures that follow from the sums over the elements. */
static void conclude_error(FormatError *error) {
    if (!error->judged) {
        error->max_abs = error->rel_l2 = error->cosine = NAN;
        return;
    }
    bool same = error->error2 == 0;
    error->rel_l2 = same ? 0 : sqrt(error->error2 / error->want2);
    error->cosine = same ? 1 : error->dot / sqrt(error->got2 * error->want2);
    error->atol_1e2 = error->max_abs <= 1e-2 && !wrongly_finite(error);
}

static FormatError no_error(const char *output) {
    return (FormatError){.output = output, .slack = 1, .worst_cell = -1, .worst_channel = -1};
}

static bool all_zero(const unsigned char *bytes, size_t count) {
    return !bytes[0] && !memcmp(bytes, bytes + 1, count - 1);
}

/* Returns the root mean square of each channel's rel_l2, by the sums of squares over its elements.
 * NaN: all channels are 0. */
static double channels_rel_l2(const double *error2, const double *want2, int64_t channels) {
    double sum = 0, count = 0;
    for (int64_t c = 0; c < channels; c++)
        if (want2[c] > 0) {
            sum += error2[c] / want2[c];
            count++;
        }
    return count ? sqrt(sum / count) : NAN;
}

/* Returns gate B's figures of one output. The arrays begin at this output. A row without terms
 * whose codes are 0 has no error. channels_l2 is NaN if there is no memory for the sums. */
static FormatError error_of_output(const GateOutput *output, const double *fp64_original,
                                   const int32_t *terms, double underflow) {
    FormatError error = no_error(output->name);
    const BevTensor *tensor = &output->tensor;
    double *error2 = calloc(2 * (size_t)tensor->row_len, sizeof *error2);
    double *want2 = error2 ? error2 + tensor->row_len : NULL;
    const size_t row_bytes = bev_tensor_bytes(tensor) / (size_t)tensor->rows;
    const unsigned char *codes = tensor->data;
    for (int64_t row = 0; row < tensor->rows; row++) {
        if (row && !terms[row] && all_zero(codes + (size_t)row * row_bytes, row_bytes))
            continue;
        for (int64_t c = 0; c < tensor->row_len; c++) {
            double got = bev_tensor_at(tensor, row, c);
            double want = fp64_original[row * tensor->row_len + c];
            if (fabs(want) <= terms[row] * underflow && fabs(got) <= terms[row] * underflow)
                got = want = 0;
            add_element_error(&error, terms[row] > 0, got, want, row, c);
            if (error2 && isfinite(got) && isfinite(want)) {
                error2[c] += (got - want) * (got - want);
                want2[c] += want * want;
            }
        }
    }
    conclude_error(&error);
    error.channels_l2 = error2 ? channels_rel_l2(error2, want2, tensor->row_len) : NAN;
    free(error2);
    return error;
}

/* Returns the worse of two outputs. The output with more wrongly finite values is worse. If both
 * have the same number, the output with the larger error in relation to its limits is worse. */
static FormatError worse_error(const FormatError *a, const FormatError *b) {
    int64_t wrong_a = wrongly_finite(a), wrong_b = wrongly_finite(b);
    double error_a = a->rel_l2 / a->slack, error_b = b->rel_l2 / b->slack;
    bool a_is_worse = isnan(error_a) || (!isnan(error_b) && error_a >= error_b);
    if (wrong_a != wrong_b)
        a_is_worse = wrong_a > wrong_b;
    FormatError worse = a_is_worse ? *a : *b;
    worse.left_out = a->left_out + b->left_out;
    return worse;
}

FormatError format_error(const BevProblem *problem, const void *codes, const double *fp64_original,
                         const int32_t *points) {
    GateOutput outputs[BEV_MAX_OUTPUTS];
    FormatError error = {0};
    int count = gate_outputs(problem, codes, outputs);
    for (int i = 0; i < count; i++) {
        bool of_logits = problem->direction == BEV_BACKWARD && i == 0;
        FormatError one =
            error_of_output(&outputs[i], fp64_original + outputs[i].first_value,
                            points + outputs[i].first_row, underflow_of(problem, of_logits));
        if (problem->stage == BEV_VIEW && problem->direction == BEV_BACKWARD)
            one.slack = view_slack[i];
        error = i ? worse_error(&error, &one) : one;
    }
    return error;
}

void format_error_by_class(const BevProblem *problem, const void *codes,
                           const double *fp64_original, const int32_t *points, const uint8_t *class,
                           FormatError *errors, int count) {
    BevTensor out = problem->out;
    out.data = (void *)codes;
    for (int i = 0; i < count; i++)
        errors[i] = no_error("out");
    for (int64_t row = 0; row < out.rows; row++)
        for (int64_t c = 0; class[row] < count && c < out.row_len; c++)
            add_element_error(&errors[class[row]], points[row] > 0, bev_tensor_at(&out, row, c),
                              fp64_original[row * out.row_len + c], row, c);
    for (int i = 0; i < count; i++)
        conclude_error(&errors[i]);
}

void format_error_add(FormatError *all, const FormatError *part) {
    if (part->worst_cell >= 0 && (all->worst_cell < 0 || part->max_abs > all->max_abs)) {
        all->max_abs = part->max_abs;
        all->worst_cell = part->worst_cell;
        all->worst_channel = part->worst_channel;
    }
    all->largest = fmax(all->largest, part->largest);
    all->channels_l2 = fmax(all->channels_l2, part->channels_l2);
    all->output = part->output;
    all->slack = part->slack;
    all->judged += part->judged;
    all->left_out += part->left_out;
    all->nan_count += part->nan_count;
    all->inf_count += part->inf_count;
    all->finite_count += part->finite_count;
    all->error2 += part->error2;
    all->got2 += part->got2;
    all->want2 += part->want2;
    all->dot += part->dot;
    conclude_error(all);
}

GateVerdict gate_format(BevDtype dtype, const FormatError *error) {
    const GateBLimits *limits = &gate_b_limits[dtype];
    double slack = error->slack;
    bool pass = error->judged > 0 && !wrongly_finite(error) &&
                error->rel_l2 <= slack * limits->rel_l2 &&
                error->cosine >= 1 - slack * slack * (1 - limits->cosine);
    return pass ? GATE_PASS : GATE_FAIL;
}
