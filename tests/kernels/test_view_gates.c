/* SPDX-License-Identifier: MIT */
/* The gates of a view transform, forward and backward: right results pass, planted mistakes fail.
 */
#include "tests/support/judged.h"

#include <math.h>

enum { SEED = 35 };

/* ---- mistakes: in the problem that the right kernel then gets ------------ */

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

/* What the gates say of inputs as they are or spoilt. */
static void run(JudgedPair *pair, void (*spoil)(BevProblem *)) {
    Judged *both[] = {&pair->random, &pair->exact};
    for (int i = 0; i < 2; i++) {
        const BevProblem *p = &both[i]->host.view;
        BevProblem spoilt = *p;
        size_t depths = bev_tensor_bytes(&p->depth), feats = bev_tensor_bytes(&p->feat);
        spoilt.depth.data = memcpy(malloc(depths), p->depth.data, depths);
        spoilt.feat.data = memcpy(malloc(feats), p->feat.data, feats);
        if (spoil)
            spoil(&spoilt);
        judged_run(bev_kernel_find(p->direction == BEV_BACKWARD ? "cpu_grad_view" : "cpu_view"),
                   &spoilt);
        free(spoilt.depth.data);
        free(spoilt.feat.data);
    }
    pair->a = judged_a(&pair->random);
    pair->c = judged_c(&pair->exact);
}

static void test_mistakes(BevDirection direction, const CaseData *data, BevAlign align) {
    const char *way = bev_directions[direction].name;
    bool backward = direction == BEV_BACKWARD;
    HostProblem host = case_problem(data, BEV_FP32, align);
    float *values = backward ? case_backward(&host, SEED) : NULL;
    tap_need(problem_turn_view(&host, NULL), "its view");
    host.view.view.temperature = 1.0f / 256;
    JudgedPair pair = judged_pair(host, SEED);
    run(&pair, NULL);
    tap_ok(pair.a.verdict == GATE_PASS && pair.c.verdict == GATE_PASS &&
               judged_adjoint(&pair.exact) == (backward ? GATE_PASS : GATE_SKIP),
           "%s: the right one passes A (%.2f of the bound), C and the adjoint", way,
           pair.a.worst_ratio);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (!backward && !mistakes[i].forward)
            continue;
        run(&pair, mistakes[i].spoil);
        tap_ok(pair.a.verdict == GATE_FAIL && (!mistakes[i].exact || pair.c.verdict == GATE_FAIL),
               "%s: %s: gate A fails it, gate C %s", way, mistakes[i].name,
               pair.c.verdict == GATE_FAIL ? "as well" : "cannot tell");
    }
    judged_pair_free(&pair);
    free(values);
}

/* FP64 has infinity where a depth that is 0 in FP32 meets an infinite feature. */
static void test_infinite_feature(const CaseData *data) {
    HostProblem host = case_problem(data, BEV_FP32, BEV_BILINEAR);
    tap_need(problem_turn_view(&host, NULL), "its view");
    for (int64_t c = 0; c < host.view.feat.row_len; c++)
        ((float *)host.view.feat.data)[c] = INFINITY;
    Judged subject = judged(host);
    judged_run(bev_kernel_find("cpu_view"), &subject.host.view);
    int64_t underflows = 0;
    for (int64_t i = 0; i < gate_values(&subject.host.view); i++)
        underflows +=
            isinf(subject.reference[i]) && isnan(((float *)subject.host.view.out.data)[i]);
    GateResult a = judged_a(&subject);
    tap_ok(underflows > 0 && a.verdict == GATE_PASS,
           "NaN for infinity is right of a view, %lld times", (long long)underflows);
    judged_free(&subject);
}

/* Of one pixel every bin has its own cell and the feature is 1: the output is the depth. Its
 * quotient by the first one is an exponential, 2.5e-7 off, of an argument and with a quotient that
 * are rounded. */
static void test_exponential(const char *kernel) {
    enum { BINS = 64 };
    float logits[BINS], feat = 1, out[BINS];
    int32_t bins[BINS], zeros[BINS] = {0}, ones[BINS];
    double worst = 0;
    for (int i = 0; i < BINS; i++) {
        logits[i] = -0.03f * (float)i;
        bins[i] = i;
        ones[i] = 1;
    }
    const BevShape shape = {1, BINS, 1, 1, 1, BINS, 1, 1};
    const BevMap map = {BINS, BINS, bins, zeros, bins, bins, ones, NULL, NULL, NULL};
    const Features features = {.depth = logits, .feat = &feat};
    HostProblem host;
    tap_need(problem_encode(&host, &shape, BEV_FP32, BEV_NEAREST, &features, &map, NULL) &&
                 problem_turn_view(&host, NULL),
             "a view of one pixel");
    memcpy(host.view.depth.data, logits, sizeof logits);
    host.view.view.temperature = 1;
    judged_run(bev_kernel_find(kernel), &host.view);
    memcpy(out, host.view.out.data, sizeof out);
    for (int i = 0; i < BINS; i++)
        worst = fmax(worst, fabs((double)out[i] / out[0] / exp((double)logits[i] - logits[0]) - 1));
    tap_ok(worst < 6e-7, "%s: exponentials are right to %.1e", kernel, worst);
    problem_free(&host);
}

TAP_SUITE(view_gates) {
    CaseData data = open_case("ragged_c19", BEV_BILINEAR, 1, SEED);
    test_mistakes(BEV_FORWARD, &data, BEV_BILINEAR);
    test_mistakes(BEV_BACKWARD, &data, BEV_BILINEAR);
    test_infinite_feature(&data);
    test_exponential("cpu_view");
    test_exponential("cpu_view_v2_bevdet");
    case_free(&data);
}
