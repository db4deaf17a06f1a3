#include "src/accuracy/gates.h"

#include "kernels/codec.h"
#include "src/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The output tensor as read back into `codes`. */
static BevTensor output_of(const BevProblem *problem, const void *codes) {
    BevTensor out = problem->out;
    out.data = (void *)codes; /* nobody writes to it */
    return out;
}

int32_t *gate_points(const BevMap *map, int64_t cells, Err *err) {
    int32_t *points = calloc((size_t)cells, sizeof *points);
    if (!points)
        err_set(err, ERR_FAILED, "gates", "choose a smaller grid", "out of memory");
    for (int64_t t = 0; points && t < map->points; t++)
        points[map->ranks_bev[t]]++;
    return points;
}

/* Counts an element of a cell with or without points; `ratio` > 1 is bad. Notes the first bad one.
 * Returns whether it is bad. */
static bool count_element(GateResult *result, bool pooled, int64_t cell, int64_t channel,
                          double got, double want, double bound, double ratio) {
    if (isnan(want) && isnan(got)) {
        result->nan_both++;
        return false;
    }
    result->checked++;
    result->judged += pooled && !isnan(want);
    result->worst_ratio = fmax(result->worst_ratio, ratio);
    if (ratio <= 1)
        return false;
    if (result->bad++ == 0) {
        result->cell = cell;
        result->channel = channel;
        result->got = got;
        result->want = want;
        result->bound = bound;
    }
    return true;
}

static GateResult verdict_of(GateResult result) {
    result.verdict = result.judged > 0 && result.bad == 0 ? GATE_PASS : GATE_FAIL;
    return result;
}

void gate_add(GateResult *all, const GateResult *part, int64_t first_cell) {
    if (!all->bad && part->bad) {
        all->cell = first_cell + part->cell;
        all->channel = part->channel;
        all->got = part->got;
        all->want = part->want;
        all->bound = part->bound;
    }
    all->bad += part->bad;
    all->checked += part->checked;
    all->judged += part->judged;
    all->nan_both += part->nan_both;
    all->worst_ratio = fmax(all->worst_ratio, part->worst_ratio);
    *all = verdict_of(*all);
}

/* ---- gate A ---------------------------------------------------------------------------------- */

/* The constants of the bound in gates.h, for one problem and accumulator. */
typedef struct {
    double u_out, u_acc;     /* unit roundoffs */
    double eta_out, eta_acc; /* underflow of the output, and of each point */
    double largest;          /* number of the output format, times its scale */
    bool saturates;          /* larger values become the largest one, not infinity */
} Rounding;

static Rounding rounding_of(const BevProblem *problem, BevDtype accumulate) {
    const BevDtypeInfo *out = &bev_dtypes[problem->out.dtype], *acc = &bev_dtypes[accumulate];
    double scales = (double)problem->depth.scale * problem->feat.scale;
    return (Rounding){
        .u_out = out->unit_roundoff,
        .u_acc = acc->unit_roundoff,
        .eta_out = out->smallest / 2 * problem->out.scale,
        .eta_acc = acc->smallest * fmax(scales, 1),
        .largest = out->largest * problem->out.scale,
        .saturates = problem->out.dtype == BEV_FP8,
    };
}

static double bound_of(const Rounding *r, double want, double abs_sum, int32_t points) {
    double sum = (points + 4) * r->u_acc * abs_sum + points * r->eta_acc;
    return r->u_out * fabs(want) + (1 + r->u_out) * sum + r->eta_out;
}

/* |error| / bound. Where `want` overflows the output format, its overflow value is right instead.
 * Infinite where `got` is NaN or infinite and should not be, or is not NaN and should be. */
static double error_ratio(const Rounding *r, double got, double want, double bound) {
    if (isnan(want))
        return INFINITY;
    if (r->saturates)
        want = fmax(-r->largest, fmin(r->largest, want));
    else if (fabs(want) + bound > r->largest && isinf(got))
        return signbit(got) == signbit(want) ? 0 : INFINITY;
    return isfinite(got) ? fabs(got - want) / bound : INFINITY;
}

GateResult gate_kernel(const BevProblem *problem, BevDtype accumulate, const void *codes,
                       const double *reference, const double *abs_sum, const int32_t *points,
                       uint8_t *bad) {
    GateResult result = {.cell = -1, .channel = -1};
    BevTensor out = output_of(problem, codes);
    Rounding rounding = rounding_of(problem, accumulate);
    for (int64_t cell = 0; cell < out.rows; cell++) {
        bool cell_bad = false;
        for (int64_t c = 0; c < out.row_len; c++) {
            int64_t at = cell * out.row_len + c;
            double got = bev_tensor_at(&out, cell, c), want = reference[at];
            double bound = bound_of(&rounding, want, abs_sum[at], points[cell]);
            double ratio = error_ratio(&rounding, got, want, bound);
            cell_bad |= count_element(&result, points[cell] > 0, cell, c, got, want, bound, ratio);
        }
        if (bad)
            bad[cell] = cell_bad;
    }
    return verdict_of(result);
}

/* ---- gate B ---------------------------------------------------------------------------------- */

/* One rounding is off by at most u of its value, evenly distributed: u / sqrt(3) on average. Depth,
 * feature and output are rounded, so an output of one product is off by about u; the errors of many
 * products cancel to about half of that. The worst rel_l2 over the shipped scenes and
 * configurations is 4e-4 in FP16, 3e-3 in BF16, 0.04 in FP8 and 0.09 in NVFP4, whose blocks share a
 * scale. FP32 pays for the order of summation only, which grows with the interval: 2e-7. The limits
 * are twice these values, for FP32 five times. The cosine's limit is lower than needed: an error at
 * right angles to the result costs 1 - rel_l2^2 / 2. */
#define LIMITS(rel_l2)                                                                             \
    { rel_l2, 1 - (rel_l2) * (rel_l2) }
const GateBLimits gate_b_limits[BEV_DTYPE_COUNT] = {
    [BEV_FP32] = LIMITS(1e-6), [BEV_FP16] = LIMITS(1e-3),  [BEV_BF16] = LIMITS(6e-3),
    [BEV_FP8] = LIMITS(8e-2),  [BEV_NVFP4] = LIMITS(2e-1),
};

/* Adds one element, of a cell with or without points. `want` is FP64 over the original inputs. */
static void compare(FormatError *error, bool pooled, double got, double want, int64_t cell,
                    int64_t channel) {
    error->judged += pooled && isfinite(want);
    error->left_out += pooled && !isfinite(want);
    if (!isfinite(want))
        return;
    if (!isfinite(got)) {
        error->nan_count += isnan(got);
        error->inf_count += isinf(got) != 0;
        return;
    }
    double difference = fabs(got - want);
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

/* The figures that follow from the sums. */
static void conclude(FormatError *error) {
    if (!error->judged) {
        error->max_abs = error->rel_l2 = error->cosine = NAN;
        return;
    }
    bool same = error->error2 == 0;
    error->rel_l2 = same ? 0 : sqrt(error->error2 / error->want2);
    error->cosine = same ? 1 : error->dot / sqrt(error->got2 * error->want2);
    error->atol_1e2 = error->max_abs <= 1e-2 && !error->nan_count && !error->inf_count;
}

FormatError format_error(const BevProblem *problem, const void *codes, const double *fp64_original,
                         const int32_t *points) {
    FormatError error = {.worst_cell = -1, .worst_channel = -1};
    BevTensor out = output_of(problem, codes);
    for (int64_t cell = 0; cell < out.rows; cell++)
        for (int64_t c = 0; c < out.row_len; c++)
            compare(&error, points[cell] > 0, bev_tensor_at(&out, cell, c),
                    fp64_original[cell * out.row_len + c], cell, c);
    conclude(&error);
    return error;
}

void format_error_add(FormatError *all, const FormatError *part, int64_t first_cell) {
    if (part->worst_cell >= 0 && (all->worst_cell < 0 || part->max_abs > all->max_abs)) {
        all->max_abs = part->max_abs;
        all->worst_cell = first_cell + part->worst_cell;
        all->worst_channel = part->worst_channel;
    }
    all->judged += part->judged;
    all->left_out += part->left_out;
    all->nan_count += part->nan_count;
    all->inf_count += part->inf_count;
    all->error2 += part->error2;
    all->got2 += part->got2;
    all->want2 += part->want2;
    all->dot += part->dot;
    conclude(all);
}

GateVerdict gate_format(BevDtype dtype, const FormatError *error) {
    const GateBLimits *limits = &gate_b_limits[dtype];
    bool pass = error->judged > 0 && error->nan_count == 0 && error->inf_count == 0 &&
                error->rel_l2 <= limits->rel_l2 && error->cosine >= limits->cosine;
    return pass ? GATE_PASS : GATE_FAIL;
}

/* ---- gate C ---------------------------------------------------------------------------------- */

/* How many powers of two each factor of a product may span, so that the sum of the longest interval
 * needs no more significant bits than the accumulator has: 24 for FP32, else the 11 of a half,
 * because kernels may add in halves. Signs are random, so sums stay well below the limit even where
 * the longest interval leaves less than one bit for each factor. */
typedef struct {
    int weight, depth, feat;
} Span;

static int32_t longest_interval(const BevMap *map) {
    int32_t longest = 1;
    for (int64_t i = 0; i < map->intervals; i++)
        if (map->interval_lengths[i] > longest)
            longest = map->interval_lengths[i];
    return longest;
}

static int limited(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static Span span_of(BevDtype dtype, const BevMap *map) {
    int significant = dtype == BEV_FP32 ? 24 : 11;
    int left = significant - (int)ceil(log2(longest_interval(map)));
    Span span = {.weight = map->weights ? 1 : 0};
    left -= span.weight;
    span.depth = limited(left / 2, 0, 3);
    span.feat = limited(left - span.depth, 0, 3);
    return span;
}

/* 2^-k, k in [0, span]. */
static float random_power(uint64_t *state, int span) {
    return ldexpf(1, -(int)random_below(state, span + 1));
}

/* Whole numbers from -2^span to 2^span, never 0. */
static float random_whole(uint64_t *state, int span) {
    float sign = random_bits(state) & 1 ? -1.0f : 1.0f;
    return sign * (float)(1 + random_below(state, 1 << span));
}

/* Writes NVFP4 codes and block scales directly: the encoder would choose block scales that are not
 * powers of two. Half of the span goes to the codes, half to the block scales. */
static void fill_blocks(const BevTensor *feat, int span, uint64_t *state) {
    size_t code_bytes = bev_code_bytes(feat->dtype, feat->rows, feat->row_len);
    size_t blocks = bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len);
    int of_codes = span / 2;
    for (size_t i = 0; i < code_bytes; i++) {
        uint8_t low = bev_e2m1_encode(random_whole(state, of_codes));
        uint8_t high = bev_e2m1_encode(random_whole(state, of_codes));
        ((uint8_t *)feat->data)[i] = (uint8_t)(low | high << 4);
    }
    for (size_t i = 0; i < blocks; i++)
        feat->block_scales[i] = bev_e4m3_encode(1 / random_power(state, span - of_codes));
}

static void fill_feat(const BevTensor *feat, int span, uint64_t *state, float *row) {
    if (feat->dtype == BEV_NVFP4) {
        fill_blocks(feat, span, state);
        return;
    }
    for (int64_t r = 0; r < feat->rows; r++) {
        for (int64_t c = 0; c < feat->row_len; c++)
            row[c] = random_whole(state, span) * feat->scale;
        bev_span_encode(feat, r, 0, feat->row_len, row);
    }
}

static void fill_depth(const BevTensor *depth, int span, uint64_t *state) {
    float values[256];
    for (int64_t first = 0; first < depth->row_len; first += 256) {
        int64_t left = depth->row_len - first, count = left < 256 ? left : 256;
        for (int64_t i = 0; i < count; i++)
            values[i] = random_power(state, span) * depth->scale;
        bev_span_encode(depth, 0, first, count, values);
    }
}

/* Powers of two other than 1: a kernel that forgets a scale, or applies it twice, fails. */
static void set_scales(BevProblem *view, Span span) {
    if (bev_dtypes[view->feat.dtype].bits < 16)
        view->feat.scale = 4;
    if (bev_dtypes[view->depth.dtype].bits < 16)
        view->depth.scale = 0.5f;
    if (view->out.dtype != BEV_FP8)
        return;
    double largest =
        ldexp(longest_interval(&view->map), span.feat) * view->feat.scale * view->depth.scale;
    view->out.scale = (float)exp2(ceil(log2(largest / bev_dtypes[BEV_FP8].largest)));
}

static bool own_weights(HostProblem *problem, int span, uint64_t *state) {
    BevMap *map = &problem->view.map;
    if (!map->weights)
        return true;
    problem->own_weights = malloc((size_t)map->points * sizeof(float) + 1);
    for (int64_t t = 0; problem->own_weights && t < map->points; t++)
        problem->own_weights[t] = random_power(state, span);
    map->weights = problem->own_weights;
    return map->weights != NULL;
}

bool gate_exact_problem(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                        const BevMap *map, uint64_t seed, Err *err) {
    if (!problem_init(problem, shape, dtype, align, map, err))
        return false;
    BevProblem *view = &problem->view;
    Span span = span_of(dtype, map);
    float *row = malloc((size_t)shape->channels * sizeof *row);
    bool ok = row && own_weights(problem, span.weight, &seed);
    if (ok) {
        set_scales(view, span);
        fill_depth(&view->depth, span.depth, &seed);
        fill_feat(&view->feat, span.feat, &seed, row);
    } else {
        problem_free(problem);
        err_set(err, ERR_FAILED, "gate C", "choose a smaller scene", "out of memory");
    }
    free(row);
    return ok;
}

enum { EXACT_COLUMNS = 64 }; /* that are encoded at a time, in memory on the stack */

/* Compares columns [first, first + count) of a cell with `reference`, the cell's FP64 values, as
 * the output format has them. Returns whether one is bad. */
static bool exact_columns(GateResult *result, const BevTensor *out, int64_t cell, int64_t first,
                          int64_t count, const double *reference, bool pooled) {
    float values[EXACT_COLUMNS];
    uint32_t codes[EXACT_COLUMNS];
    BevTensor want = *out;
    want.rows = 1;
    want.row_len = count;
    want.data = codes;
    for (int64_t c = 0; c < count; c++)
        values[c] = (float)reference[first + c];
    bev_span_encode(&want, 0, 0, count, values);
    bool bad = false;
    for (int64_t c = 0; c < count; c++) {
        double g = bev_tensor_at(out, cell, first + c), w = bev_tensor_at(&want, 0, c);
        /* Equal values have equal bits, except for the sign of zero. */
        bad |= count_element(result, pooled, cell, first + c, g, w, 0, g == w ? 0 : INFINITY);
    }
    return bad;
}

GateResult gate_exact(const BevProblem *problem, const void *codes, const double *reference,
                      const int32_t *points, uint8_t *bad) {
    GateResult result = {.cell = -1, .channel = -1};
    BevTensor out = output_of(problem, codes);
    for (int64_t cell = 0; cell < out.rows; cell++) {
        bool cell_bad = false;
        for (int64_t first = 0; first < out.row_len; first += EXACT_COLUMNS) {
            int64_t left = out.row_len - first;
            cell_bad |= exact_columns(&result, &out, cell, first,
                                      left < EXACT_COLUMNS ? left : EXACT_COLUMNS,
                                      reference + cell * out.row_len, points[cell] > 0);
        }
        if (bad)
            bad[cell] = cell_bad;
    }
    return verdict_of(result);
}

bool gate_passes(const GateResult *result, const BevMap *map) {
    bool empty = map->points == 0 && result->checked > 0 && result->bad == 0;
    return result->verdict == GATE_PASS || empty;
}
