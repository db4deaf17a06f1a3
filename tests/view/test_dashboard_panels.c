/* SPDX-License-Identifier: MIT */
/* The dashboard beside its kernels: a lesson, bits, the memory model, scenes, backward. */
#include "tests/support/screen.h"

static void open_lesson(LessonPanel point) {
    LessonPane *pane = &state.lesson;
    *pane = (LessonPane){
        .open = true, .title = "Ten times the indices", .asks = ASKS_CHOICE, .covers = true};
    pane->point = point;
    pane->step = 3, pane->steps = 9;
    pane->right = 1, pane->asked = 2;
    PaneText *body = &pane->body;
    pane_add(body, PANE_TEXT, false,
             "V2 (article) works through the channels in tiles, and reads the indices of a point "
             "again for each of them.");
    pane_add(body, PANE_QUESTION, false, "Which kernel reads each index once?");
    pane_add(body, PANE_CHOICE, false, "1  V2, because its threads share the indices of a cell");
    pane_add(body, PANE_CHOICE, true, "2  V2+DO, because depth is the outer loop");
    pane_add(body, PANE_RIGHT, false, "Right: V2+DO");
    pane_add(body, PANE_SHOW, false, "V2 requests 25.1 MB, V2+DO 2.51 MB.");
    pane_add(body, PANE_WHY, false, "One pass over the points feeds all channels.");
    pane_add(body, PANE_SOURCE, false, "kernels/cuda/v2.cu, line 7");
    pane_add(body, PANE_CODE, false, "  36      for (int t = start; t < end; t++)");
    pane_add(body, PANE_KEYS, false, "Enter: next, (: back, B: close");
}

static void test_lesson(void) {
    for (int size = 0; size < USUAL_SIZES; size++) {
        begin_usual(size);
        open_lesson(PANEL_KERNELS);
        draw();
        check_golden("lesson-%dx%d", cells.columns, cells.rows);
    }
    begin(80, 24);
    open_lesson(PANEL_NONE);
    cells.color = false;
    cells.ascii = true;
    seen(only_ascii() && no_colors(), "a lesson without colour, in ASCII");
    check_golden("lesson-80x24-plain");
    seen_after("page bev", !shows("Which kernel"),
               "on a small screen the other pages are as always");
    begin(120, 40);
    open_lesson(PANEL_BEV);
    seen_after("page dashboard", shows("Which kernel") && shows("\u250f") && shows("BEV, "),
               "the panel that it points at is there, in a frame");
}

/* Whatever it points at, on whatever screen: nothing overlaps, the question is seen. */
static void test_lesson_sizes(void) {
    int screens = 0, bad = 0, hidden = 0;
    for (int columns = 60; columns <= 240; columns += 20)
        for (int rows = 20; rows <= 64; rows += 4)
            for (int point = 0; point < PANEL_COUNT; point++, screens++) {
                begin(columns, rows);
                open_lesson((LessonPanel)point);
                draw();
                if (cells.collisions && bad < 6)
                    tap_note("%dx%d %s: %d", columns, rows, lesson_panels[point], cells.collisions);
                bad += cells.collisions > 0;
                hidden += !shows("Right: V2+DO");
            }
    tap_ok(!bad && !hidden, "%d screens with a lesson: %d overlap, %d do not show it", screens, bad,
           hidden);
}

SCREEN_SUITE(dashboard_lesson) {
    test_lesson();
    test_lesson_sizes();
}

/* The page of each format, at 80 x 24 in ASCII: the bits, their value, the scale of the frame. */
SCREEN_SUITE(dashboard_bits) {
    int bad = 0;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        for (int columns = 60; columns <= 200; columns += 20, bad += cells.collisions > 0) {
            begin(columns, 24);
            use("bits on; bits-value -1");
            state.job.config.dtype = (BevDtype)dtype;
            draw();
        }
    tap_ok(!bad, "the page of bits has room in each format (%d overlap)", bad);
    begin(80, 24);
    cells.color = false;
    cells.ascii = true;
    live.scales = (LiveScales){.known = true,
                               .dtype = BEV_FP8,
                               .tensor = {0.5f, 0.25f, 2},
                               .channel_least = 1,
                               .channel_most = 1};
    state.job.config.dtype = BEV_FP8;
    draw_after("bits on; bits-value 416; bits-at 3");
    check_golden("bits-80x24");
    tap_ok(only_ascii() && no_colors(), "in ASCII");
    seen_after("bits-of output", shows("x 2, scale of the output (ideal): 832"),
               "each tensor has its own scale");
    live.scales.channel_most = 4;
    seen_after("bits-of features", shows("x 0.5 to 2, scales of the channels (ideal): 208 to 832"),
               "as has each channel");
    live.scales.dtype = BEV_INT8;
    seen_after("bits-at 0", shows("n/a: being computed") && !shows("832"),
               "a scale of another format is none");
}

static void test_model(void) {
    static const char *const names[] = {"mrc", "roofline", "working-set", "dtype"};
    for (int size = 0; size < USUAL_SIZES; size++)
        for (int chart = 0; chart < 4; chart++) {
            begin_usual(size);
            live.model = fixture_model();
            draw_after("chart %s", names[chart]);
            tap_ok(shows("model") && shows("V4 on RTX A6000: 16.0 \u00b5s, latency-bound"),
                   "%d x %d, %s: the prediction, labelled", cells.columns, cells.rows,
                   names[chart]);
            if (size == 2 || !chart)
                check_golden("dashboard-%dx%d-%s", cells.columns, cells.rows, names[chart]);
        }
    begin_simulated(200, 60);
    draw_after("chart mrc; gpu h200; l2 16");
    char line[160];
    Prediction p =
        model_predict(live.model, prediction_kernel(&state, &live), state.gpu, &state.edit);
    const ShortText us = text_of_figure(UNIT_US, p.latency_us);
    snprintf(line, sizeof line, "V4 on H200 with 16 MiB of L2: %s", us.text);
    tap_ok(shows(line) && strcmp(us.text, "22.0 \u00b5s") != 0,
           "another GPU, and another L2 of it");
    draw_after("chart none; l2 16");
    tap_ok(shows("what-if L2") && shows("model of H200 with 16 MiB"), "its bar and its times");
    draw_after("all on");
    tap_ok(shows("requests") && shows("16 MiB of L2: L2 hits 98.0 % (each write is one), 11.5"),
           "what threads ask for stands beside the footprint, and on which GPU");
    draw_after("l2 6");
    p = model_predict(live.model, prediction_kernel(&state, &live), state.gpu, &state.edit);
    snprintf(line, sizeof line, "go to DRAM, %.2f MB come", p.dram_read_bytes * 1e-6);
    seen(shows(line) && p.dram_read_bytes > 1e5, "what a footprint that does not fit costs: %s",
         line);
    live.model = NULL;
    seen(shows("requests") && shows("waits for the simulation"), "a table says what it waits for");
    draw_after("all off");
    cells.color = false;
    seen(no_colors() && !cells.collisions, "without colour the selection's line stands alone");
    cells.color = cells.ascii = true;
    seen(only_ascii(), "and in ASCII it is drawn with what there is");
    cells.ascii = false;
    seen(shows("findings follow"), "without a simulation nothing is made up");
    use("all on");
    MemoryModel model = *fixture_model();
    for (int i = 0; i < model.kernel_count; i++)
        model.kernels[i].sectors_per_request = NAN;
    live.model = &model;
    seen(shows("n/a sectors a request") && !shows("nan"), "nor a figure of no request");
    live.model = fixture_model();
    live.job.config.dtype = BEV_FP8;
    seen_after("chart dtype", shows("NVFP4     follows"),
               "a format that was not simulated has no figures");
}

/* Whatever is derived from a first estimate says so, until the kernel is counted. */
static void test_estimates(void) {
    MemoryModel model = *fixture_model();
    begin_simulated(160, 50);
    live.model = &model;
    live.speedup = (LiveSpeedup){.pairs = 0};
    live.baseline = (LiveKernel){.kernel = NULL};
    for (int i = 0; i < FIXTURE_KERNELS; i++)
        live.kernels[i].median_us = (Reading){.value = 0};
    for (int i = 0; i < model.kernel_count; i++)
        model.kernels[i].estimate = model.kernels[i].name && !strcmp(model.kernels[i].name, "v2");
    seen(shows("V4 is ~") && shows("~ estimate until replayed, 3 of 4 done"),
         "a gain from a first estimate, and how many kernels are counted");
    for (int i = 0; i < model.kernel_count; i++) /* V3's forms lie elsewhere */
        model.kernels[i].estimate = true;
    seen(shows("V4's ~") && !shows("V4: ~") && shows("1 of 4 done"),
         "bytes, shares and verdicts of the L2 as well");
    draw_after("chart mrc");
    tap_ok(shows("DRAM moves ~") && shows("V4 on RTX A6000: ~"), "and charts");
}

/* No order of kernels is told by a busy CPU's times; an idle one's are told beside them. */
static void test_busy_cpu(void) {
    static const char *const names[] = {"cpu_v4", "cpu_v3", "cpu_v2_do", "cpu_v2"};
    begin_simulated(160, 50);
    live.device = (LiveDevice){.where = BEV_CPU, .name = "Some CPU", .threads = 2};
    live.kernel_count = 4;
    for (int i = 0; i < live.kernel_count; i++) {
        LiveKernel *row = &live.kernels[i];
        const double us = 1e3 * (i + 1);
        *row = (LiveKernel){.kernel = bev_kernel_find(names[i]),
                            .median_us = reading(us, SOURCE_MEASURED),
                            .recorded_us = reading(1.25 * us, SOURCE_RECORDED),
                            .recorded_on = "Some CPU, 2 threads, 2026-11-22"};
    }
    state.job.config.kernel = live.job.config.kernel = live.kernels[0].kernel;
    state.job.baseline.kernel = live.job.baseline.kernel = live.kernels[3].kernel;
    seen(shows("this CPU, measured: V4 1.00 ms, V3 2.00 ms, V2+DO 3.00 ms, V2 4.00 ms") &&
             !shows("idle, recorded"),
         "an idle CPU's times");
    live.machine_busy = true;
    live.others_share = 0.74;
    live.kernels[0].least_us = 1e3, live.kernels[0].most_us = 2e3;
    seen(shows("this CPU is busy (74 % taken): V4 1.00 to 2.00 ms; idle, recorded: V4 1.25 ms") &&
             !shows("CPU, measured: V"),
         "a busy CPU's: of the selection alone, beside what was recorded");
    for (int i = 0; i < live.kernel_count; i++)
        live.kernels[i].recorded_on[0] = 'D'; /* "Dome CPU" */
    seen(shows("this CPU is busy") && !shows("idle, recorded"), "another CPU's are left out");
}

static void begin_with_v2(int columns, int rows) {
    begin_simulated(columns, rows);
    live.job.config.kernel = &fixture_kernels[FIXTURE_V2];
}

static void test_findings(void) {
    begin_with_v2(200, 60);
    seen(shows("Enter         fewer steps in turn") && shows(":kernel v4    V2 to V4") &&
             shows("tries it"),
         "the findings, the largest gain first");
}

SCREEN_SUITE(dashboard_model) {
    test_model();
    test_estimates();
    test_busy_cpu();
    test_findings();
}

/* A grid of 16 slices: what is shown of it stands over the picture, and how many cells it fills. */
static void test_height(void) {
    static const char *const slices[] = {"max", "3", "side"};
    static const int sizes[][2] = {{120, 40}, {200, 60}, {80, 24}};
    for (int i = 0; i < 3; i++) {
        begin(sizes[i][0], sizes[i][1]);
        finish_log();
        SceneFacts facts = fixture_scene();
        facts.cells_x = facts.rows = 200;
        facts.slices = facts.grid.nz = 16;
        facts.grid.z_min_m = -1;
        facts.grid.z_max_m = 5.4;
        facts.whole = facts.grid;
        step(EVENT_FRAME, .scene = &facts);
        live.frame.shape = (BevShape){.nx = 200, .ny = 3200, .nz = 16, .channels = 80};
        live.intervals.stats.cells = 640000;
        live.intervals.stats.longest_cell = (2 * 200 + 90) * 200 + 131;
        draw_after("slice %s; page %s", slices[i], i == 2 ? "bev" : "both");
        check_golden("height-%dx%d", sizes[i][0], sizes[i][1]);
    }
}

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
        draw_after("dropout; skew 5; skew 1.5");
        check_golden("operator-%s", wide ? "200x60" : "120x40");
        tap_ok(shows("skew 1.5") && state.job.sizes.skewed && state.job.sizes.skew == 1.5,
               "a skew out of range is refused, another one taken");
    }
}

SCREEN_SUITE(dashboard_scenes) {
    test_height();
    test_operator();
}

/* A made-up loss on an object: two cameras, of which one sees it. */
static void backward_frame(LiveFrame *frame, const BevKernel *kernel) {
    enum { CAMERAS = 2, BINS = 8, H = 8, W = 24, C = 2 };
    enum { PIXELS = CAMERAS * H * W, CELLS = 200 * 200 };
    static float feat[PIXELS * C], grad_feat[PIXELS * C], grad_depth[PIXELS * BINS];
    static uint8_t inside[CELLS];
    static GridLoss loss = {.kind = LOSS_BOX, .inside = inside, .class = CLASS_CAR, .value = 12.5};
    static Features features = {.feat = feat};
    const int64_t at = H * W + 3 * W + 10; /* the strongest pixel: of the second camera */
    loss.count = 0;
    for (int64_t i = 0; i < PIXELS * C; i++)
        feat[i] = (float)(i % 97) / 97;
    for (int64_t pixel = at; pixel < at + 3; pixel++)
        grad_feat[pixel * C] = 3 - (float)(pixel - at);
    for (int bin = 2; bin < 6; bin++)
        grad_depth[(BINS + bin) * H * W + at - H * W] = bin == 5 ? -0.5f : 0.75f * (float)bin;
    for (int64_t cell = 120 * 200 + 110; cell < 120 * 200 + 118; cell++, loss.count++)
        inside[cell] = 1;
    frame->nx = frame->ny = 200;
    frame->shape = (BevShape){CAMERAS, BINS, H, W, C, 200, 200, 1};
    frame->features = &features;
    frame->gradients = (LiveGradients){&loss, grad_depth, grad_feat, ""};
    live.job.config.kernel = live.kernels[FIXTURE_KERNELS - 1].kernel = kernel;
}

static void begin_backward(int columns, int rows, const BevKernel *kernel) {
    begin(columns, rows);
    finish_log();
    state.job.config.kernel = kernel;
    state.job.loss = LOSS_BOX;
    live.job.loss = LOSS_BOX;
    live.memory.footprint.grads = 1.17e6;
    live.memory.own = (BevTraffic){
        .feat = 0.68e6, .depth = 0.4e6, .index = 1.7e6, .out_read = 4.2e6, .grad_write = 2e6};
    live.intervals.of_pixels = true;
    live.intervals.stats.longest_cell = 8 * 24 + 5 * 24 + 16;
    state.job.config.dtype = live.job.config.dtype = BEV_FP16;
    live.accuracy[BEV_FP16].output = "grad_feat";
    backward_frame(&live.frame, kernel);
    for (int i = picture.camera_count; i < live.frame.shape.cameras; i++, picture.camera_count++)
        tap_need(image_init(&picture.cameras[i], 24, 8, NULL), "a camera view");
}

static void test_camera_place(void) {
    int seen = 0, wrong = 0;
    for (int i = 0; i < live.frame.shape.cameras; i++) {
        const Box at = spots.cameras[i];
        seen += at.w > 10 && at.h > 2;
        for (int y = (int)at.y; y < at.y + at.h - 1; y++)
            for (int x = (int)at.x; x < at.x + at.w; x++) {
                int64_t pixel = spots_pixel(&spots, x + 0.5, y + 0.5, &state, &live.frame);
                step(EVENT_PIXEL, .x = (double)pixel);
                draw();
                const CellStyle *style = &cells_at(&cells, x, y)->style;
                wrong += style->ink != (INK_RGB | 0xffffff) && style->paper != (INK_RGB | 0xffffff);
            }
    }
    tap_ok(seen && !wrong, "each sign of %d cameras is the feature pixel there (%d are not)", seen,
           wrong);
    tap_ok(spots_pixel(&spots, 0.5, 0.5, &state, &live.frame) < 0, "beside them there is none");
}

static void test_backward(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}};
    BevKernel kernel = fixture_kernels[FIXTURE_KERNELS - 1];
    kernel.direction = BEV_BACKWARD;
    kernel.dtypes = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16;
    for (int i = 0; i < 3; i++) {
        begin_backward(sizes[i][0], sizes[i][1], &kernel);
        draw();
        check_golden("backward-%dx%d", sizes[i][0], sizes[i][1]);
    }
    begin_backward(80, 24, &kernel);
    draw_after("page bev");
    check_golden("backward-80x24-bev");
    test_camera_place();
    begin_backward(160, 50, &kernel);
    live.model = fixture_model();
    seen_after("chart mrc", shows("no model of this kernel"), "what cannot be shown says so");
    live.frame.gradients = (LiveGradients){.text = "point at a cell"};
    seen_after("chart none", shows("point at a cell"), "without a loss the panel says what to do");
    state.camera = 5;
    seen_after("page bev", shows("Camera 0") && !shows("Camera 5"),
               "a camera that the frame lacks is not drawn");
    int overlaps = 0, cuts = 0;
    for (int columns = 80; columns < 210; columns += 7)
        for (int rows = 24; rows < 64; rows += 5) {
            begin_backward(columns, rows, &kernel);
            draw();
            overlaps += cells.collisions;
            if (cells.cuts)
                tap_note("%d x %d: %d texts cut", columns, rows, cells.cuts);
            cuts += cells.cuts;
        }
    tap_ok(overlaps == 0 && cuts == 0, "backward nothing overlaps (%d), nothing is cut (%d)",
           overlaps, cuts);
}

SCREEN_SUITE(dashboard_backward) {
    test_backward();
    for (int i = 0; i < picture.camera_count; i++)
        image_free(&picture.cameras[i]);
}

/* On 80 columns a line of the log is whole: figures that have not changed are left out. */
SCREEN_SUITE(dashboard_log) {
    begin(80, 24);
    finish_log();
    finish_log_of("temperature 2; repair", 22.1);
    seen(shows("cameras and depth repaired: latency 22.1 to 11.0") && !shows("\u2026"),
         "the log: %s", state.log.lines[0].text);
}
