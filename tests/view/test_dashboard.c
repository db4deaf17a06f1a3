/* The dashboard: golden screens, forms without colour and in ASCII, marks, and no figure that is
 * not known. */
#include "src/view/term/dashboard.h"
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

static void test_golden(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    static const char *const pages[] = {"both", "dashboard", "bev", "help"};
    for (int i = 0; i < 3; i++)
        for (int page = 0; page < 4; page++) {
            char name[64], line[32];
            begin(sizes[i][0], sizes[i][1]);
            finish_log();
            snprintf(line, sizeof line, page == 3 ? "%s on" : "page %s", pages[page]);
            use(line);
            draw();
            snprintf(name, sizeof name, "dashboard-%dx%d-%s", sizes[i][0], sizes[i][1],
                     pages[page]);
            check_golden(name);
        }
}

static void test_forms(void) {
    begin(120, 40);
    cells.ascii = true;
    draw();
    tap_ok(only_ascii(), "the ASCII form is ASCII, and every glyph has its twin");
    check_golden("dashboard-120x40-ascii");
    begin(80, 24);
    cells.color = false;
    use("page bev");
    use("cursor-x 120");
    draw();
    tap_ok(no_colors(), "without colour there is none, the BEV included");
    check_golden("dashboard-80x24-bev-plain");
    begin(120, 40);
    cells.color = false;
    draw();
    tap_ok(no_colors() && shows("\u2588 features") && shows("\u2591 output"),
           "without colour the tensors are told apart by texture");
}

/* Where two columns of panels just fit, neither loses a column of its tables. */
static void test_narrow(void) {
    begin(110, 34);
    use("page dashboard");
    draw();
    tap_ok(shows("max abs at 1e-2") && shows("\u25a0 features \u25a0 depth \u25a0 indices \u25a0 output"),
           "110 x 34: the tolerance, and the colours of the working set");
}

/* In the terminal nothing but the BEV shows that a camera is off: its title says which. */
static void test_faults(void) {
    begin(120, 40);
    draw();
    bool before = shows("front, ");
    use("camera front");
    use("yaw 3");
    draw();
    tap_ok(!before && shows("front, yaw +3.0 deg"), "a camera that is off is named");
}

/* The lesson stands there where nothing else needs the room. */
static void test_idea(void) {
    begin(200, 60);
    draw();
    tap_ok(shows("The idea of V4") && shows(state.job.config.kernel->idea),
           "a tall screen has the idea of the selection");
    begin(80, 24);
    draw();
    tap_ok(!shows("The idea of") && shows("Kernels"), "a small one keeps its figures");
}

static void test_unknown(void) {
    begin(200, 60);
    live_init(&live);
    live.job = state.job;
    draw();
    tap_ok(shows("n/a") && !shows("0.00") && !shows(" 0 %") && !shows("0 MB") && !shows("nan") &&
               !shows("inf"),
           "what is unknown prints n/a, never 0");
    tap_ok(shows("not measured") && shows("not checked"), "and says that it was not looked at");
    tap_ok(!shows("Pipeline"), "a panel without a single figure leaves its room to others");
    state_step(&state, &(Event){.kind = EVENT_WAITING, .text = "computing dense: map, 1.2 s"});
    draw();
    tap_ok(shows("computing dense: map, 1.2 s"), "a slow picture says what it waits for");
    state_step(&state, &(Event){.kind = EVENT_WAITING, .text = ""});
    char *plain = dashboard_plain(&state, &live);
    tap_ok(plain && strstr(plain, "latency n/a (not measured)") && strchr(plain, '\n') != NULL,
           "the plain line, too: %s", plain ? "" : "no memory");
    free(plain);
}

static void test_labels(void) {
    begin(200, 60);
    draw();
    tap_ok(shows("r recorded") && shows("~ stale") && shows("? unsettled") && shows("measured"),
           "marks are explained where they stand");
    begin(200, 60);
    for (int i = 0; i < live.kernel_count; i++)
        live.kernels[i].median_us.stale = live.kernels[i].unsettled = false;
    live.kernels[3].median_us.source = SOURCE_MEASURED;
    draw();
    tap_ok(!shows("recorded") && !shows("stale") && !shows("unsettled"),
           "and only where they stand");
    begin(200, 60);
    snprintf(live.error_text, sizeof live.error_text, "CUDA error 700: illegal address");
    draw();
    tap_ok(shows("CUDA error 700: illegal address"), "a problem is shown");
}

static void test_counters(void) {
    begin(200, 60);
    live.counters = (LiveCounters){.source = SOURCE_MEASURED,
                                   .config = live.job.config,
                                   .dram_bytes = 1.5e6,
                                   .l2_sectors = 1e6,
                                   .l1_sectors = 2e6,
                                   .issue_percent = 70,
                                   .occupancy_percent = 30};
    draw();
    tap_ok(shows("measured: DRAM 1.50 MB, L2 1.00 M sectors"), "counters, labelled measured");
    tap_ok(!shows("occupancy 30") || shows("occupancy 30.00 %"), "no figure is cut");
    live.counters.stale = true;
    draw();
    tap_ok(shows("stale, measured: DRAM"), "stale ones say so");
    live.counters.config.dtype = BEV_NVFP4;
    draw();
    tap_ok(!shows("measured: DRAM"), "those of another choice are not shown");
}

TAP_SUITE(dashboard) {
    screen_open();
    test_golden();
    test_forms();
    test_faults();
    test_narrow();
    test_idea();
    test_unknown();
    test_labels();
    test_counters();
    screen_close();
}
