/* The memory model on the dashboard: its charts, what-if GPUs, findings. */
#include "src/state/live_text.h"
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

static void test_model(void) {
    static const char *const names[] = {"mrc", "roofline", "working-set", "dtype"};
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    for (int i = 0; i < 3; i++)
        for (int chart = 0; chart < 4; chart++) {
            char name[64], line[32];
            begin(sizes[i][0], sizes[i][1]);
            live.model = fixture_model();
            snprintf(line, sizeof line, "chart %s", names[chart]);
            use(line);
            draw();
            tap_ok(shows("model") && shows("V4 on RTX A6000: 16.0 \u00b5s, chain binds"),
                   "%d x %d, %s: the prediction, labelled", sizes[i][0], sizes[i][1], names[chart]);
            if (sizes[i][0] < 200 && chart)
                continue;
            snprintf(name, sizeof name, "dashboard-%dx%d-%s", sizes[i][0], sizes[i][1],
                     names[chart]);
            check_golden(name);
        }
    begin(200, 60);
    live.model = fixture_model();
    use("chart mrc");
    use("gpu h200 l2=16");
    draw();
    char us[32], line[64];
    Prediction p =
        model_predict(live.model, prediction_kernel(&state, &live), state.gpu, &state.edit);
    figure_text(UNIT_US, p.latency_us, us, sizeof us);
    snprintf(line, sizeof line, "V4 on H200 with 16 MiB of L2: %s", us);
    tap_ok(shows(line) && strcmp(us, "22.0 \u00b5s") != 0 && shows("what-if L2"),
           "another GPU, and another L2 of it");
    tap_ok(shows("requested") && shows("16 MiB of L2: L2 hits 98.0 %, indices 25.1 MB for 2.51"),
           "what threads ask for stands beside the working set, and on which GPU");
    use("gpu l2=6");
    draw();
    tap_ok(shows("with 6 MiB of L2: inputs fit (") && shows(" the output does not"),
           "an L2 in which nearly all hits, though the footprint does not fit: why");
    use("gpu l2=16");
    draw();
    cells.color = false;
    draw();
    tap_ok(no_colors() && !cells.collisions, "without colour the selection's line stands alone");
    cells.color = cells.ascii = true;
    draw();
    tap_ok(only_ascii(), "and in ASCII it is drawn with what there is");
    cells.ascii = false;
    live.model = NULL;
    draw();
    tap_ok(shows("Reads that miss") && shows("requested       n/a"),
           "before the first simulation nothing is made up");
    MemoryModel model = *fixture_model();
    for (int i = 0; i < model.kernel_count; i++)
        model.kernels[i].sectors_per_request = NAN;
    live.model = &model;
    draw();
    tap_ok(shows("n/a sectors a request") && !shows("nan"), "nor a figure of no request");
    live.model = fixture_model();
    live.job.config.dtype = BEV_FP8;
    use("chart dtype");
    draw();
    tap_ok(shows("NVFP4 n/a"), "a format that was not simulated has no figures");
}

/* What limits the selection: a panel on a tall screen, a line on others, and marked as a model. */
static void test_findings(void) {
    begin(200, 60);
    live.model = fixture_model();
    live.job.config.kernel = &fixture_kernels[4];
    draw();
    tap_ok(shows("Findings on RTX A6000") && shows("chain binds, 16.0 \u00b5s of 20.0 \u00b5s"),
           "a tall screen has the findings");
    begin(80, 24);
    live.model = fixture_model();
    live.job.config.kernel = &fixture_kernels[4];
    draw();
    tap_ok(shows("Model, RTX A6000: ") && shows(" times to gain: lesson 3"), "a small one the first of them");
    begin(120, 40);
    live.model = fixture_model();
    live.job.config.kernel = &fixture_kernels[4];
    draw();
    char lesson[64];
    snprintf(lesson, sizeof lesson, " times to gain: lesson 3 (key %s)", key_of(ACTION_EXPLAIN).name);
    tap_ok(shows(lesson), "where it has room, with its lesson and the key to it");
    live.model = NULL;
    draw();
    tap_ok(!shows("to gain"), "and nothing before the first simulation");
}

TAP_SUITE(dashboard_model) {
    screen_open();
    test_model();
    test_findings();
    screen_close();
}
