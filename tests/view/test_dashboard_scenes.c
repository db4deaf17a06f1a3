/* The dashboard with other scenes: a grid with height, an operator without cameras. */
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

/* A grid of 16 slices: what is shown of it stands over the picture, and how many cells it fills. */
static void test_height(void) {
    static const char *const slices[] = {"max", "3", "side"};
    static const int sizes[][2] = {{120, 40}, {200, 60}, {80, 24}};
    for (int i = 0; i < 3; i++) {
        char name[64], line[32];
        begin(sizes[i][0], sizes[i][1]);
        finish_log();
        SceneFacts facts = fixture_scene();
        facts.cells_x = facts.rows = 200;
        facts.slices = facts.grid.nz = 16;
        facts.grid.z_min_m = -1;
        facts.grid.z_max_m = 5.4;
        facts.whole = facts.grid;
        state_step(&state, &(Event){.kind = EVENT_FRAME, .scene = &facts});
        live.frame.shape = (BevShape){.nx = 200, .ny = 3200, .nz = 16, .channels = 80};
        live.intervals.stats.cells = 640000;
        live.intervals.stats.longest_cell = (2 * 200 + 90) * 200 + 131;
        snprintf(line, sizeof line, "slice %s", slices[i]);
        use(line);
        use(i == 2 ? "page bev" : "page both");
        draw();
        snprintf(name, sizeof name, "height-%dx%d", sizes[i][0], sizes[i][1]);
        check_golden(name);
    }
    tap_ok(shows("side, max of 200 rows") && shows("z -1 to 5.4 m up, x -54 to 54 m left"),
           "from the side z is up");
}

/* An operator scene has bars in the place of cameras, and its controls say so. */
static void test_operator(void) {
    OperatorBars bars = {.count = OPERATOR_BARS, .most = 4096};
    for (int i = 0; i < OPERATOR_BARS; i++)
        bars.points[i] = 4096.0F / (float)(1 + i * i);
    for (int wide = 0; wide < 2; wide++) {
        begin(wide ? 200 : 120, wide ? 60 : 40);
        state.scene.has_operator = true;
        state.scene.has_rig = state.scene.has_world = false;
        state.scene.operator_spec = (OperatorSpec){.kind = OPERATOR_EMBEDDING_BAG,
                                                   .points = 262144,
                                                   .cells = 8192,
                                                   .rows = 65536,
                                                   .channels = 64,
                                                   .skew = 1};
        live.frame.bars = &bars;
        use("dirty");
        use("skew 5");
        use("skew 1.5");
        draw();
        check_golden(wide ? "operator-200x60" : "operator-120x40");
        tap_ok(shows("No cameras") && shows("262,144") && shows("up to 4,096 (log)"),
               "an operator scene says that it has no cameras, and what its bars are");
        tap_ok(shows("skew 1.5") && state.job.sizes.skewed && state.job.sizes.skew == 1.5,
               "a skew out of range is refused, another one taken");
    }
    tap_ok(shows("dirty: this scene is an operator: it has no cameras") &&
               shows("skew: 5 is not from 0 to 4"),
           "the controls say what this scene does not have");
    begin(220, 90);
    state.scene.has_operator = true;
    live.model = fixture_model();
    live.job.config.kernel = &fixture_kernels[4];
    draw();
    tap_ok(shows("classify: footprint") && shows("lesson 16"),
           "a tall screen has the workflow behind the findings");
    live.model = NULL;
}

TAP_SUITE(dashboard_scenes) {
    screen_open();
    test_height();
    test_operator();
    screen_close();
}
