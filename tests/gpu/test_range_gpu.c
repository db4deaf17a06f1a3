/* SPDX-License-Identifier: MIT */
/* FP32 at the ends of its range, on a GPU: V4 splits numbers into BF16 parts, which must neither
 * underflow nor let an overflow or a NaN reach a cell that does not see it. Of small, bilinear,
 * some tiles have two blocks. Skipped without a GPU. */
#include "src/accuracy/cases.h"
#include "src/accuracy/gates.h"
#include "src/base/random.h"
#include "src/run/cuda/device.h"
#include "src/run/session.h"
#include "tests/support/ok_or_note.h"

#include <float.h>
#include <math.h>

/* Depths and features are multiplied by powers of two, and one feature in `one_in` replaced. */
static const struct {
    const char *name;
    int depth, feat, one_in;
    float instead;
} ranges[] = {
    {"subnormal features", 0, -135, 0, 0},
    {"subnormal depths", -135, 0, 0, 0},
    {"products below the smallest number", -75, -75, 0, 0},
    {"small products of large and small", 100, -120, 0, 0},
    {"sums beyond the largest number", 10, 115, 0, 0},
    {"a few of the largest numbers", 0, 0, 10000, FLT_MAX},
    {"a few infinities", 0, 0, 10000, INFINITY},
    {"a few NaN", 0, 0, 10000, NAN},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

static void shift(const BevShape *s, int range, Features *features) {
    int64_t pixels = s->cameras * s->feat_h * s->feat_w;
    uint64_t state = 1;
    for (int64_t i = 0; i < pixels * s->depth_bins; i++)
        features->depth[i] = ldexpf(features->depth[i], ranges[range].depth);
    for (int64_t i = 0; i < pixels * s->channels; i++) {
        features->feat[i] = ldexpf(features->feat[i], ranges[range].feat);
        if (ranges[range].one_in && !random_below(&state, ranges[range].one_in))
            features->feat[i] = ranges[range].instead;
    }
}

static bool judge(const BevProblem *problem, GateResult *result, Err *err) {
    Session *session = NULL;
    size_t values = (size_t)gate_values(problem);
    double *want = malloc(values * sizeof *want), *abs_sum = malloc(values * sizeof *abs_sum);
    float *got = malloc(bev_output_bytes(problem));
    int32_t *terms = gate_terms(problem, err);
    bool ok = want && abs_sum && got && terms &&
              session_open(&session, bev_kernel_find("v4"), problem, err) &&
              session_poison(session, err) && session_run(session, err) &&
              session_read(session, got, err);
    if (ok) {
        gate_reference(problem, want, abs_sum);
        *result = gate_kernel(problem, BEV_FP32, got, want, abs_sum, terms, NULL);
    }
    session_close(session);
    free(want);
    free(abs_sum);
    free(got);
    free(terms);
    return ok;
}

static void test_range(const Case *c, BevAlign align, int range) {
    Err err = {0};
    CaseData data;
    HostProblem problem = {0};
    GateResult result = {0};
    if (!tap_ok(ok_or_note(case_build(c, align, 1, 1, &data, &err), &err), "%s is built", c->name))
        return;
    shift(&data.shape, range, &data.features);
    bool ok =
        problem_encode(&problem, &data.shape, BEV_FP32, align, &data.features, &data.map, &err) &&
        judge(&problem.view, &result, &err);
    tap_ok(ok_or_note(ok, &err) && gate_passes(&result, &data.map),
           "%s, %s, %s: gate A, largest error / bound %.3g", c->name, bev_aligns[align].name,
           ranges[range].name, result.worst_ratio);
    if (ok && result.bad)
        tap_note("%lld bad, first: got %g, want %g +- %g", (long long)result.bad, result.got,
                 result.want, result.bound);
    problem_free(&problem);
    case_free(&data);
}

TAP_SUITE(range_gpu) {
    Err err = {0};
    if (!device_usable(&err)) {
        ok_or_note(false, &err);
        tap_skip_suite("no usable GPU");
    }
    for (int i = 0; i < case_count(); i++) {
        Case c = case_at(i);
        bool canonical = !strcmp(c.name, "canonical"), small = !strcmp(c.name, "small");
        for (int range = 0; (canonical || small) && range < RANGES; range++)
            for (int align = small ? BEV_BILINEAR : BEV_NEAREST; align <= BEV_BILINEAR; align++)
                test_range(&c, (BevAlign)align, range);
    }
}
