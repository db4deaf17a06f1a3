/* Expressions of lessons and their figures, which are those of tests/support/live_fixture.h. */
#include "src/learn/expression.h"
#include "tests/support/live_fixture.h"
#include "tests/support/tap.h"

static State state;
static LiveData live;

typedef struct {
    const char *text;
    double value;
    const char *shown;
} Sum;

static void test_expressions(void) {
    static const Sum sums[] = {
        {"1 + 2 * 3", 7, "7"},
        {"(1 + 2) * 3", 9, "9"},
        {"10 - 2 - 3", 5, "5"},
        {"-2 * -3", 6, "6"},
        {"8 / 4 / 2", 1, "1"},
        {"1 < 2 and 2 <= 2", 1, "yes"},
        {"1 > 2 or not 2 != 2", 1, "yes"},
        {"not 1 = 1", 0, "no"},
        {"min(3, max(1, 2))", 2, "2"},
        {"points", 209019, "209,019"},
        {"points / intervals", 209019.0 / 15928, "13.1"},
        {"footprint(indices)", 2.636e6, "2.64 MB"},
        {"gather()", 49.166e6, "49.2 MB"},
        {"gather(indices) - footprint(indices)", -0.128e6, "-128 kB"},
        {"max_abs(fp8)", 0.021, "0.021"},
        {"gate_a(fp16)", 1, "yes"},
        {"l2_bytes", 6291456, "6 MiB (published)"},
        {"bits(nvfp4)", 4, "4"},
    };
    const NameTable none = {0};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        OpPool pool = {0};
        Expression expression;
        Value value = {0};
        char why[200] = "", shown[64] = "";
        Evaluation evaluation = {.state = &state, .live = &live, .timings = SOURCE_MEASURED};
        bool ok = expression_parse(sums[i].text, &none, &pool, &expression, why, sizeof why) &&
                  expression_value(&pool, expression, &evaluation, &value);
        value_text(&value, shown, sizeof shown);
        if (!tap_ok(ok && fabs(value.number - sums[i].value) < 1e-9 * fabs(sums[i].value) + 1e-12 &&
                        !strcmp(shown, sums[i].shown),
                    "%s is %s", sums[i].text, sums[i].shown))
            tap_note("%s %s %s", shown, why, evaluation.why);
        free(pool.ops);
    }
}

static void test_unknown(void) {
    const NameTable none = {0};
    OpPool pool = {0};
    Expression expression;
    Value value;
    char why[200];
    Evaluation evaluation = {.state = &state, .live = &live, .timings = SOURCE_RECORDED};
    tap_need(expression_parse("latency(v2)", &none, &pool, &expression, why, sizeof why), why);
    tap_ok(!expression_value(&pool, expression, &evaluation, &value) && evaluation.timing_missing &&
               strstr(evaluation.why, "V2 was not recorded"),
           "an unknown latency says why: %s", evaluation.why);
    pool.count = 0;
    tap_need(expression_parse("1 / 0", &none, &pool, &expression, why, sizeof why), why);
    tap_ok(!expression_value(&pool, expression, &evaluation, &value), "so does a division by zero");
    free(pool.ops);
}

/* One camera with two pixels and two bins, three points, four channels in FP16. */
static const struct {
    const char *text;
    double value;
} of_gradients[] = {
    {"atomics(grad_atomic)", 3 * (4 + 1)},
    {"atomics(grad_v2)", 0},
    {"requested(grad_v2, indices)", 3 * (12 + 8 * 4) + 2 * 8},
    {"requested(grad_v2, output)", 2 * 3 * 4 * 2},
    {"requested(grad_v2, gradients)", 2 * (4 + 8) * 2},
    {"requested(v2, gradients)", 0},
    {"adjoint_grid", 3 + 3},
    {"adjoint_depth", 4 + 1},
    {"adjoint_features", 10 + 4},
};

static void test_gradients(void) {
    float feat[8] = {1, 2, 3, 4}, grad_feat[8] = {0, 5, 0, 1}, depth[4] = {0.5F, 0, 0.25F};
    float grad_depth[4] = {8, 1, 4}, pooled[4] = {1, 2, 0, 3}, grad_out[4] = {3, 0, 7, 1};
    const Features features = {.depth = depth, .feat = feat};
    const BevMap map = {.points = 3, .intervals = 1};
    const GridLoss loss = {.grad_out = grad_out};
    const NameTable none = {0};
    LiveData backward = live;
    backward.frame = (LiveFrame){.nx = 1, .ny = 1, .channels = 4, .map = &map, .pooled = pooled};
    backward.frame.shape = (BevShape){
        .cameras = 1, .feat_h = 1, .feat_w = 2, .depth_bins = 2, .channels = 4, .nx = 1, .ny = 1};
    backward.frame.features = &features;
    backward.frame.gradients = (LiveGradients){&loss, grad_depth, grad_feat, ""};
    for (size_t i = 0; i < sizeof of_gradients / sizeof *of_gradients; i++) {
        OpPool pool = {0};
        Expression expression;
        Value value = {0};
        char why[200] = "";
        const char *text = of_gradients[i].text;
        Evaluation evaluation = {.state = &state, .live = &backward, .timings = SOURCE_MEASURED};
        bool ok = expression_parse(text, &none, &pool, &expression, why, sizeof why) &&
                  expression_value(&pool, expression, &evaluation, &value);
        if (!tap_ok(ok && fabs(value.number - of_gradients[i].value) < 1e-9, "%s is %g", text,
                    of_gradients[i].value))
            tap_note("%g %s %s", value.number, why, evaluation.why);
        evaluation.live = &live;
        if (strstr(text, "adjoint"))
            tap_ok(!expression_value(&pool, expression, &evaluation, &value),
                   "forward, %s is unknown: %s", text, evaluation.why);
        free(pool.ops);
    }
}

static void test_sources(void) {
    static const FigureSource all[] = {SOURCE_COMPUTED, SOURCE_MEASURED, SOURCE_RECORDED,
                                       SOURCE_PUBLISHED, SOURCE_MODEL};
    int wrong = 0;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            wrong += weaker_source(all[a], all[b]) != all[a > b ? a : b];
    tap_ok(!wrong, "a result is labelled with the weaker of its sources");
    int named = 0;
    for (int i = 0; i < figure_count; i++)
        named += figure_find(figures[i].name) == i && figures[i].text[0] && figures[i].get;
    tap_ok(named == figure_count, "%d figures have a name of their own", figure_count);
}

TAP_SUITE(lesson_expression) {
    state = fixture_state(120, 40);
    live = fixture_live(&state);
    test_expressions();
    test_unknown();
    test_gradients();
    test_sources();
}
