/* The gates of a view transform, forward and backward: right results pass, planted mistakes fail.
 */
#include "src/accuracy/cases.h"
#include "src/accuracy/gates.h"
#include "tests/support/tap.h"

#include <math.h>

enum { SEED = 35 };

/* ---- mistakes: in the problem that the right kernel then gets ---------------------------------
 */

/* Depths instead of logits: exp(logit / temperature) over its sum along `count` neighbours that are
 * `stride` apart. */
static void divide(BevProblem *p, int64_t first, int64_t count, int64_t stride, bool with_maximum) {
    float *values = (float *)p->depth.data + first, sum = 0, largest = with_maximum ? -INFINITY : 0;
    for (int64_t i = 0; with_maximum && i < count; i++)
        largest = fmaxf(largest, values[i * stride]);
    for (int64_t i = 0; i < count; i++)
        sum += values[i * stride] = expf((values[i * stride] - largest) / p->view.temperature);
    for (int64_t i = 0; i < count; i++)
        values[i * stride] /= sum;
}

static void along_bins(BevProblem *p, bool with_maximum) {
    int64_t pixels = p->shape.feat_h * p->shape.feat_w;
    for (int64_t i = 0; i < p->shape.cameras * pixels; i++)
        divide(p, i / pixels * p->shape.depth_bins * pixels + i % pixels, p->shape.depth_bins,
               pixels, with_maximum);
    p->view.softmax = false;
}

static void wrong_axis(BevProblem *p) {
    for (int64_t i = 0; i < p->depth.row_len; i += p->shape.feat_w)
        divide(p, i, p->shape.feat_w, 1, true);
    p->view.softmax = false;
}

static void no_maximum(BevProblem *p) {
    along_bins(p, false);
}

static void nan_row(BevProblem *p) {
    for (int64_t w = 0; w < p->shape.feat_w; w++)
        ((float *)p->depth.data)[w] = NAN;
}

static void next_channel(BevProblem *p) {
    float *feat = p->feat.data, first = feat[0];
    memmove(feat, feat + 1, (size_t)(p->feat.rows * p->feat.row_len - 1) * sizeof *feat);
    feat[p->feat.rows * p->feat.row_len - 1] = first;
}

static void no_temperature(BevProblem *p) {
    p->view.temperature = 1;
}

/* Right depths, and their gradients in the place of the logits'. */
static void no_sum(BevProblem *p) {
    along_bins(p, true);
}

static const struct {
    const char *name;
    void (*spoil)(BevProblem *);
    bool forward, exact; /* it spoils forward as well; gate C sees it */
} mistakes[] = {
    {"softmax over the wrong axis", wrong_axis, true, true},
    {"no maximum subtracted", no_maximum, true, false},
    {"a row of NaN", nan_row, true, true},
    {"channels off by one", next_channel, true, true},
    {"the temperature forgotten", no_temperature, true, false},
    {"gradients of depths for those of logits", no_sum, false, true},
};

/* ---- the gates --------------------------------------------------------------------------------
 */

static float *values;

static void build(HostProblem *problem, BevDirection direction, const CaseData *data,
                  BevAlign align) {
    tap_need(
        problem_encode(problem, &data->shape, BEV_FP32, align, &data->features, &data->map, NULL),
        "a problem");
    values = random_grad_out(&data->shape, SEED);
    const GradOut grad_out = {values, data->shape.ny, data->shape.nx, data->shape.channels};
    tap_need(direction == BEV_FORWARD || problem_set_grad_out(problem, &grad_out, NULL),
             "grad_out");
    tap_need(problem_turn_view(problem, NULL), "its view");
}

/* The kernel's result on the problem, spoilt or not, before the gates. */
static GateResult judge(const HostProblem *right, void (*spoil)(BevProblem *), bool exact,
                        GateVerdict *adjoint) {
    const BevProblem *p = &right->view;
    BevProblem spoilt = *p;
    size_t depths = bev_tensor_bytes(&p->depth), feats = bev_tensor_bytes(&p->feat);
    spoilt.depth.data = memcpy(malloc(depths), p->depth.data, depths);
    spoilt.feat.data = memcpy(malloc(feats), p->feat.data, feats);
    if (spoil)
        spoil(&spoilt);
    const char *name = p->direction == BEV_BACKWARD ? "cpu_grad_view" : "cpu_view";
    tap_need(problem_pool(bev_kernel_find(name), &spoilt, NULL), name);
    free(spoilt.depth.data);
    free(spoilt.feat.data);
    size_t count = (size_t)gate_values(p);
    double *reference = malloc(count * sizeof *reference), *abs = malloc(count * sizeof *abs);
    int32_t *terms = gate_terms(p, NULL);
    char *codes = malloc(bev_output_bytes(p)), *to = codes;
    const BevTensor *outputs[BEV_MAX_OUTPUTS];
    for (int i = 0, outs = bev_outputs(p, outputs); i < outs; to += bev_tensor_bytes(outputs[i++]))
        memcpy(to, outputs[i]->data, bev_tensor_bytes(outputs[i]));
    gate_reference(p, reference, abs);
    GateAdjoint sums = {.verdict = GATE_SKIP};
    GateResult result = exact ? gate_exact(p, codes, reference, terms, NULL)
                              : gate_kernel(p, BEV_FP32, codes, reference, abs, terms, NULL);
    if (exact && p->direction == BEV_BACKWARD)
        gate_adjoint(p, codes, reference, &sums, NULL);
    *adjoint = sums.verdict;
    free(reference);
    free(abs);
    free(terms);
    free(codes);
    return result;
}

static void test_mistakes(BevDirection direction, const CaseData *data, BevAlign align) {
    HostProblem random, exact;
    GateVerdict adjoint;
    const char *way = bev_directions[direction].name;
    build(&random, direction, data, align);
    random.view.view.temperature = 1.0f / 256;
    tap_need(gate_exact_like(&exact, &random.view, SEED, NULL), "an exact problem");
    GateResult a = judge(&random, NULL, false, &adjoint);
    GateResult c = judge(&exact, NULL, true, &adjoint);
    tap_ok(a.verdict == GATE_PASS && c.verdict == GATE_PASS &&
               adjoint == (direction == BEV_BACKWARD ? GATE_PASS : GATE_SKIP),
           "%s: the right one passes A (%.2f of the bound), C and the adjoint", way, a.worst_ratio);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (direction == BEV_FORWARD && !mistakes[i].forward)
            continue;
        a = judge(&random, mistakes[i].spoil, false, &adjoint);
        c = judge(&exact, mistakes[i].spoil, true, &adjoint);
        tap_ok(a.verdict == GATE_FAIL && (!mistakes[i].exact || c.verdict == GATE_FAIL),
               "%s: %s: gate A fails it, gate C %s", way, mistakes[i].name,
               c.verdict == GATE_FAIL ? "as well" : "cannot tell");
    }
    problem_free(&random);
    problem_free(&exact);
    free(values);
}

TAP_SUITE(view_gates) {
    CaseData data;
    for (int i = 0; i < case_count(); i++) {
        Case c = case_at(i);
        if (strcmp(c.name, "ragged_c19"))
            continue;
        tap_need(case_build(&c, BEV_BILINEAR, 1, SEED, &data, NULL), "the case to spoil");
        test_mistakes(BEV_FORWARD, &data, BEV_BILINEAR);
        test_mistakes(BEV_BACKWARD, &data, BEV_BILINEAR);
        case_free(&data);
    }
}
