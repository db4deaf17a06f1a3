/* SPDX-License-Identifier: MIT */
/* The gates catch the bugs of wrong kernels, or do not, as the table of bugs says of each: it
 * is planted in an otherwise right result, in every format, forward and backward. */
#include "kernels/codec.h"
#include "kernels/injected_bugs.h"
#include "src/accuracy/fp64.h"
#include "src/accuracy/verify.h"
#include "src/base/units.h"
#include "tests/support/judged.h"
#include "tests/support/scenes.h"

#include <math.h>

enum { SEED = 7, BACKWARD_SEED = 14 }; /* all bugs show */

/* ---- bugs --------------------------------------------------------------------------------- */

static const char *const caught_words[] = {
    [CAUGHT_NEVER] = "never", [CAUGHT_FINE] = "in fine formats", [CAUGHT_ALWAYS] = "always"};

/* What the table says of a gate holds in this format; FP32 hides nothing. */
static bool as_said(BugCaught said, BevDtype dtype, bool caught) {
    return said == CAUGHT_ALWAYS  ? caught
           : said == CAUGHT_NEVER ? !caught
                                  : caught || dtype != BEV_FP32;
}

static bool catches(const GateResult *result, const Judged *s) {
    return result->verdict == GATE_FAIL && result->bad > 0 &&
           (s->host.view.direction == BEV_BACKWARD || s->bad[result->cell]);
}

/* Backward, where one gradient is wrong, the gates name it; and the adjoint identity fails. */
static bool named(const InjectedBug *bug, JudgedPair *pair) {
    const char *wrong = bug->output ? bug->output : pair->c.output;
    bool named_by_a =
        !bug->output || pair->a.verdict == GATE_PASS || !strcmp(pair->a.output, wrong);
    return !strcmp(pair->c.output, wrong) && named_by_a &&
           judged_adjoint(&pair->exact) == GATE_FAIL;
}

static void test_bug(const InjectedBug *bug, JudgedPair *pair) {
    const BevProblem *problem = &pair->random.host.view;
    judged_pair_run(pair, &bug->kernel);
    tap_ok(as_said(bug->gate_a, problem->dtype, catches(&pair->a, &pair->random)) &&
               as_said(bug->gate_c, problem->dtype, catches(&pair->c, &pair->exact)) &&
               (problem->direction == BEV_FORWARD || named(bug, pair)),
           "%s %s: %s: gate A catches it %s (%lld bad here), gate C %s (%lld)",
           bev_dtypes[problem->dtype].name, bev_aligns[problem->align].name, bug->name,
           caught_words[bug->gate_a], (long long)pair->a.bad, caught_words[bug->gate_c],
           (long long)pair->c.bad);
}

static void pool(const BevProblem *problem) {
    judged_run(bev_kernel_find("cpu_v3"), problem);
}

static void test_format(const CaseData *data, BevDtype dtype, BevAlign align,
                        BevDirection direction) {
    bool backward = direction == BEV_BACKWARD;
    uint64_t seed = backward ? BACKWARD_SEED : SEED;
    int count;
    const InjectedBug *bugs = injected_bugs_of(direction, &count);
    HostProblem host = case_problem(data, dtype, align);
    float *values = backward ? case_backward(&host, seed) : NULL;
    JudgedPair pair = judged_pair(host, seed);
    judged_pair_run(&pair, backward ? bev_baseline(BEV_CPU, direction) : bev_kernel_find("cpu_v3"));
    tap_ok(pair.a.verdict == GATE_PASS && pair.c.verdict == GATE_PASS &&
               (backward ? judged_adjoint(&pair.exact) == GATE_PASS : pair.a.worst_ratio > 0.01),
           "%s %s %s: the right result passes A (%.2f of the bound), C and the adjoint",
           bev_directions[direction].name, bev_dtypes[dtype].name, bev_aligns[align].name,
           pair.a.worst_ratio);
    for (int i = 0; i < count; i++)
        if (!backward || bugs[i].kernel.aligns >> align & 1)
            test_bug(&bugs[i], &pair);
    judged_pair_free(&pair);
    free(values);
}

static void test_bugs(BevAlign align, BevDirection direction) {
    bool backward = direction == BEV_BACKWARD;
    CaseData data = open_case("ragged_c19", align, 1, backward ? BACKWARD_SEED : SEED);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (!backward || scaleless_dtypes >> dtype & 1)
            test_format(&data, (BevDtype)dtype, align, direction);
    case_free(&data);
}

/* ---- mistakes with scales ---- */

/* Pools with these inputs into the subject's output; whether the gate catches it. */
static bool caught(Judged *s, const BevProblem *wrong, GateResult (*gate)(Judged *)) {
    BevProblem problem = *wrong;
    problem.out.data = s->host.view.out.data;
    pool(&problem);
    GateResult result = gate(s);
    return catches(&result, s);
}

static void test_channel_scales(Judged *random, Judged *exact) {
    enum { C = 19 };
    float zero[C] = {0}, moved[C];
    BevProblem wrong = exact->host.view;
    for (int c = 0; c < C; c++)
        moved[c] = wrong.feat.channel_scales[(c + 1) % C];
    wrong.feat.channel_scales = zero;
    bool without = caught(exact, &wrong, judged_c);
    wrong.feat.channel_scales = moved;
    tap_ok(without && caught(exact, &wrong, judged_c),
           "int8: scales of zero, and those of the next channel: gate C catches them");
    for (int tile = 2; tile < C; tile *= 2) {
        for (int c = 0; c < C; c++)
            moved[c] = exact->host.view.feat.channel_scales[c < tile ? c : c - tile];
        tap_ok(caught(exact, &wrong, judged_c), "int8: those of the tile of %d before", tile);
    }
    wrong = random->host.view;
    wrong.feat.channel_scales = zero;
    tap_ok(caught(random, &wrong, judged_a), "int8: scales of zero: gate A does");
}

/* The E4M3 scales of NVFP4 blocks, each that of the block before. */
static void test_block_scales(void) {
    CaseData data = open_case("ragged_c83", BEV_NEAREST, 1, SEED);
    Judged exact = judged(exact_problem(&data, BEV_NVFP4, BEV_NEAREST, &data.map, SEED));
    BevProblem wrong = exact.host.view;
    size_t blocks = bev_block_scale_bytes(BEV_NVFP4, wrong.feat.rows, wrong.feat.row_len);
    size_t own = 0;
    for (size_t i = 1; i < blocks; i++)
        own += wrong.feat.block_scales[i] != wrong.feat.block_scales[i - 1];
    uint8_t *moved = malloc(blocks);
    for (size_t i = 0; i < blocks; i++)
        moved[i] = wrong.feat.block_scales[i ? i - 1 : 0];
    wrong.feat.block_scales = moved;
    tap_ok(4 * own > blocks && caught(&exact, &wrong, judged_c),
           "nvfp4: scales of the block before: %zu of %zu differ, gate C catches them", own,
           blocks);
    free(moved);
    judged_free(&exact);
    case_free(&data);
}

static void test_int8_scales(void) {
    CaseData data = open_case("ragged_c19", BEV_NEAREST, 1, SEED);
    JudgedPair pair = judged_pair(case_problem(&data, BEV_INT8, BEV_NEAREST), SEED);
    test_channel_scales(&pair.random, &pair.exact);
    judged_pair_free(&pair);
    case_free(&data);
}

/* ---- gate A in detail ------------------------------------------------------------------------ */

/* One cell, one channel, `n` points of depth 1. */
typedef struct {
    float depth[64], feat[64], out;
    int32_t ranks[64], zeros[64], start, length;
    BevProblem problem;
} Toy;

static void toy_init(Toy *toy, int n, const float *feat) {
    *toy = (Toy){.length = n};
    for (int t = 0; t < n; t++) {
        toy->depth[t] = 1;
        toy->feat[t] = feat[t];
        toy->ranks[t] = t;
    }
    toy->problem = (BevProblem){
        .shape = {1, 1, 1, n, 1, 1, 1},
        .map = {n, 1, toy->ranks, toy->ranks, toy->zeros, &toy->start, &toy->length, NULL},
        .depth = {BEV_FP32, 1, n, toy->depth, NULL, 1},
        .feat = {BEV_FP32, n, 1, toy->feat, NULL, 1},
        .out = {BEV_FP32, 1, 1, &toy->out, NULL, 1},
    };
}

static GateVerdict toy_verdict(Toy *toy, BevDtype accumulate, float got) {
    double reference, abs_sum;
    bev_reference(&toy->problem, &reference, &abs_sum);
    return gate_kernel(&toy->problem, accumulate, &got, &reference, &abs_sum, &toy->length, NULL)
        .verdict;
}

static void test_bound(void) {
    Toy toy;
    float feat[64];
    for (int t = 0; t < 64; t++)
        feat[t] = t % 2 ? 0.1f : 0.3f;
    toy_init(&toy, 64, feat);
    float single = 0, half = 0;
    for (int t = 0; t < 64; t++) {
        single += feat[t];
        half = (float)bev_code_value(BEV_FP16, bev_code(BEV_FP16, half + feat[t]));
    }
    tap_ok(toy_verdict(&toy, BEV_FP32, single) == GATE_PASS, "sums in FP32 pass as FP32");
    tap_ok(toy_verdict(&toy, BEV_FP32, half) == GATE_FAIL, "sums in halves do not pass as FP32");
    tap_ok(toy_verdict(&toy, BEV_FP16, half) == GATE_PASS, "but they do as halves");
    tap_ok(toy_verdict(&toy, BEV_FP32, NAN) == GATE_FAIL &&
               toy_verdict(&toy, BEV_FP32, INFINITY) == GATE_FAIL,
           "NaN and infinity fail where the reference is finite");
    feat[3] = INFINITY;
    toy_init(&toy, 64, feat);
    tap_ok(toy_verdict(&toy, BEV_FP32, INFINITY) == GATE_PASS &&
               toy_verdict(&toy, BEV_FP32, -INFINITY) == GATE_FAIL &&
               toy_verdict(&toy, BEV_FP32, 1) == GATE_FAIL,
           "an infinite feature makes the sum infinite, and nothing else is right");
    feat[3] = NAN;
    toy_init(&toy, 64, feat);
    tap_ok(toy_verdict(&toy, BEV_FP32, NAN) == GATE_FAIL &&
               toy_verdict(&toy, BEV_FP32, single) == GATE_FAIL,
           "NaN against NaN alone compares nothing: no verdict but fail");
}

/* The bound is the formula of gates.h, term by term, and src/accuracy/README.md states the same
 * line. */
static void test_formula(void) {
    enum { POINTS = 5 };
    Toy toy;
    const float feat[POINTS] = {0.5f, -3, 7, 11, -0.25f};
    uint16_t code = (uint16_t)bev_code(BEV_FP16, -1); /* far off, so that the bound is noted */
    double r, S;
    toy_init(&toy, POINTS, feat);
    toy.problem.depth.scale = 16;
    toy.problem.out = (BevTensor){BEV_FP16, 1, 1, &code, NULL, 4, NULL};
    bev_reference(&toy.problem, &r, &S);
    double bound = gate_kernel(&toy.problem, BEV_FP16, &code, &r, &S, &toy.length, NULL).bound;
    const BevDtypeInfo *half = &bev_dtypes[BEV_FP16];
    double u = half->unit_roundoff, eta_acc = half->smallest * 16, eta_out = half->smallest * 4 / 2;
    double want = u * fabs(r) + (1 + u) * ((POINTS + 4) * u * S + POINTS * eta_acc) + eta_out;
    tap_ok(S > fabs(r) && fabs(bound - want) <= 1e-12 * want, "the bound is %g, as gates.h has it",
           bound);
    float weights[POINTS] = {1, 1, 1, 1, 1};
    toy.problem.map.weights = weights;
    bound = gate_kernel(&toy.problem, BEV_FP16, &code, &r, &S, &toy.length, NULL).bound;
    want += (1 + u) * POINTS * (11 - 1) * eta_acc;
    tap_ok(fabs(bound - want) <= 1e-12 * want, "with weights what underflows is multiplied by 11");
}

/* A subnormal depth loses up to half of the smallest number to its weight, times the feature. */
static void test_subnormal_depths(BevDirection direction) {
    CaseData data = open_case("ragged_c19", BEV_BILINEAR, 1, SEED);
    const BevShape *s = &data.shape;
    int64_t pixels = s->cameras * s->feat_h * s->feat_w;
    for (int64_t i = 0; i < pixels * s->depth_bins; i++)
        data.features.depth[i] *= 0x1p-146f;
    for (int64_t i = 0; i < pixels * s->channels; i++)
        data.features.feat[i] *= 1000;
    HostProblem host = case_problem(&data, BEV_FP32, BEV_BILINEAR);
    float *values = direction == BEV_BACKWARD ? case_backward(&host, SEED) : NULL;
    for (int64_t i = 0; values && i < s->ny * s->nx * s->channels; i++)
        ((float *)host.view.grad_out.data)[i] *= 1000;
    Judged subject = judged(host);
    int right = 0, tried = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where != BEV_CPU || kernel->wrong_on_purpose ||
            bev_unsupported(kernel, &subject.host.view))
            continue;
        judged_run(kernel, &subject.host.view);
        right += judged_a(&subject).verdict == GATE_PASS;
        tried++;
    }
    tap_ok(tried > 1 && right == tried, "%s: %d of %d kernels pass gate A with subnormal depths",
           bev_directions[direction].name, right, tried);
    judged_free(&subject);
    free(values);
    case_free(&data);
}

static void test_overflow(void) {
    Toy toy;
    float feat[2] = {60000, 60000};
    uint16_t code;
    double reference, abs_sum;
    toy_init(&toy, 2, feat);
    toy.problem.out = (BevTensor){BEV_FP16, 1, 1, &code, NULL, 1, NULL};
    bev_reference(&toy.problem, &reference, &abs_sum);
    const float got[3] = {INFINITY, -INFINITY, 65504};
    bool right = true;
    for (int i = 0; i < 3; i++) {
        code = (uint16_t)bev_code(BEV_FP16, got[i]);
        right &= gate_kernel(&toy.problem, BEV_FP32, &code, &reference, &abs_sum, &toy.length, NULL)
                     .verdict == (i ? GATE_FAIL : GATE_PASS);
    }
    tap_ok(right, "past FP16's range infinity of the right sign is right, and nothing else");
}

static void test_format_error(void) {
    float got[4] = {3, 4.5f, 0, 0};
    const double want[4] = {3, 4, 0, 0};
    const int32_t points[2] = {3, 1};
    BevProblem problem = {.out = {BEV_FP32, 2, 2, got, NULL, 1}};
    FormatError error = format_error(&problem, got, want, points);
    double cosine = 27 / (sqrt(9 + 20.25) * 5);
    tap_ok(error.max_abs == 0.5 && fabs(error.rel_l2 - 0.1) < 1e-12 &&
               fabs(error.cosine - cosine) < 1e-12 && error.worst_cell == 0 &&
               error.worst_channel == 1 && !error.atol_1e2,
           "error figures of a case computed by hand");
    tap_ok(fabs(error.channels_l2 - sqrt(0.125 * 0.125 / 2)) < 1e-12,
           "of the channels each has its own relative error");
    got[1] = 4;
    error = format_error(&problem, got, want, points);
    tap_ok(error.rel_l2 == 0 && error.cosine == 1 && error.atol_1e2 &&
               gate_format(BEV_FP32, &error) == GATE_PASS,
           "no error is no error");
    got[2] = NAN;
    got[3] = -INFINITY;
    error = format_error(&problem, got, want, points);
    tap_ok(error.nan_count == 1 && error.inf_count == 1 && !error.atol_1e2 &&
               gate_format(BEV_NVFP4, &error) == GATE_FAIL,
           "NaN and infinity are counted and fail");
    const double unknown[4] = {NAN, 4, INFINITY, 0};
    got[0] = got[3] = 0;
    got[2] = -INFINITY;
    error = format_error(&problem, got, unknown, points);
    tap_ok(error.left_out == 2 && error.finite_count == 1 && error.judged == 2 &&
               gate_format(BEV_INT8, &error) == GATE_FAIL,
           "a number where FP64 has none is counted and fails");
    got[0] = NAN;
    error = format_error(&problem, got, unknown, points);
    tap_ok(error.left_out == 2 && !error.finite_count && gate_format(BEV_INT8, &error) == GATE_PASS,
           "where neither has a number nothing is compared, and that is counted");
    const double tiny[4] = {3e-50, -1e-46, 2e-46, 0};
    memset(got, 0, sizeof got);
    error = format_error(&problem, got, tiny, points);
    tap_ok(error.rel_l2 == 0 && error.judged == 4 && gate_format(BEV_FP32, &error) == GATE_PASS,
           "what FP32 cannot hold is 0");
}

static void test_format_limits(void) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        const GateBLimits *limits = &gate_b_limits[dtype];
        FormatError at = {
            .judged = 1, .slack = 1, .rel_l2 = limits->rel_l2, .cosine = limits->cosine};
        FormatError over = at, under = at;
        over.rel_l2 *= 1.001;
        under.cosine -= 1e-3 * (1 - limits->cosine);
        tap_ok(limits->rel_l2 > 0 && gate_format((BevDtype)dtype, &at) == GATE_PASS &&
                   gate_format((BevDtype)dtype, &over) == GATE_FAIL &&
                   gate_format((BevDtype)dtype, &under) == GATE_FAIL,
               "gate B of %s fails just past its limits", bev_dtypes[dtype].name);
    }
    FormatError nothing = {.worst_cell = -1, .cosine = 1};
    tap_ok(gate_format(BEV_NVFP4, &nothing) == GATE_FAIL,
           "gate B fails where nothing was compared");
}

/* Two cells of two channels; only the first has points. */
static void test_nothing_compared(void) {
    float got[4] = {NAN, NAN, 0, 0};
    const double nan_only[4] = {NAN, NAN, 0, 0}, half[4] = {NAN, 2, 0, 0}, sums[4] = {4, 4, 0, 0};
    const int32_t points[2] = {3, 0}, none[2] = {0, 0};
    BevProblem problem = {.depth.scale = 1, .feat.scale = 1, .out = {BEV_FP32, 2, 2, got, NULL, 1}};
    GateResult a = gate_kernel(&problem, BEV_FP32, got, nan_only, sums, points, NULL);
    tap_ok(a.verdict == GATE_FAIL && a.bad == 0 && a.judged == 0 && a.nan_both == 2,
           "gate A: NaN against NaN is counted (%lld) and proves nothing", (long long)a.nan_both);
    GateResult c = gate_exact(&problem, got, nan_only, points, NULL);
    tap_ok(c.verdict == GATE_FAIL && c.judged == 0, "gate C neither");
    FormatError error = format_error(&problem, got, nan_only, points);
    tap_ok(error.judged == 0 && error.left_out == 2 && isnan(error.max_abs) && !error.atol_1e2 &&
               isnan(error.cosine) && gate_format(BEV_FP32, &error) == GATE_FAIL,
           "gate B: no figure of an error where nothing was compared");
    got[1] = 2;
    a = gate_kernel(&problem, BEV_FP32, got, half, sums, points, NULL);
    error = format_error(&problem, got, half, points);
    tap_ok(a.verdict == GATE_PASS && a.judged == 1 && a.nan_both == 1 && error.judged == 1 &&
               gate_format(BEV_FP32, &error) == GATE_PASS,
           "one value that was compared is enough, and the gates say that it was one");
    const double zeros[4] = {0, 0, 0, 0};
    got[0] = got[1] = 0;
    a = gate_kernel(&problem, BEV_FP32, got, zeros, zeros, none, NULL);
    error = format_error(&problem, got, zeros, none);
    tap_ok(a.verdict == GATE_FAIL && a.checked == 4 && gate_format(BEV_FP32, &error) == GATE_FAIL,
           "cells without points are checked, but without any point nothing was compared");
}

static void test_map(void) {
    /* nx = 3 forward, ny = 4 to the left; bad: (x 2, y 0), front right; (x 0, y 3), back left */
    uint8_t bad[12] = {[0 * 3 + 2] = 1, [3 * 3 + 0] = 1};
    char *whole = bad_cells_map(bad, 3, 4, 60, 20), *small = bad_cells_map(bad, 3, 4, 2, 1);
    tap_ok(whole && !strcmp(whole, "...x\n....\nx...\n"),
           "the map has x forward up, y to the left");
    tap_ok(small && !strcmp(small, "xx\n"), "a smaller map loses no bad cell");
    free(whole);
    free(small);
}

TAP_SUITE(gates) {
    for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++) {
        test_bugs(BEV_NEAREST, (BevDirection)direction);
        test_bugs(BEV_BILINEAR, (BevDirection)direction);
    }
    test_int8_scales();
    test_block_scales();
    test_bound();
    test_formula();
    test_subnormal_depths(BEV_FORWARD);
    test_subnormal_depths(BEV_BACKWARD);
    test_overflow();
    test_format_error();
    test_format_limits();
    test_nothing_compared();
    test_map();
}
