/* The dashboard at every size: golden screens, nothing drawn twice, nothing cut, panels that fold
 * in their order, and no figure that is not known. BEVSCOPE_UPDATE_GOLDEN=1 writes the goldens. */
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "src/state/live_text.h"
#include "src/view/term/cells.h"
#include "src/view/term/panel.h"
#include "src/view/term/dashboard.h"
#include "tests/live_fixture.h"
#include "tests/tap.h"

/* The number of cells that are not empty. */
static int64_t occupied(const CellField *field) {
    int64_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        count += field->state[cell] != CELL_EMPTY;
    return count;
}

static State state;
static LiveData live;
static BevPicture picture;
static Cells cells;
static DashSpots spots; /* of the last drawing */

static void use(const char *line) {
    Event event = {.kind = EVENT_COMMAND};
    char why[200];
    if (!keys_parse(line, &event.command, why, sizeof why))
        tap_note("%s", why);
    state_step(&state, &event);
}

/* A fresh state and screen of that size. */
static void begin(int columns, int rows) {
    Err err;
    bool ok = cells_resize(&cells, columns, rows, &err);
    if (!ok)
        exit(EXIT_FAILURE);
    state = fixture_state(columns, rows);
    live = fixture_live(&state);
    cells.ascii = cells.light = false;
    cells.color = true;
}

static void draw(void) {
    cells.light = state.light;
    dashboard_draw(&cells, &state, &live, &picture, &spots);
}

static bool shows(const char *text) {
    char *screen = cells_to_text(&cells);
    bool found = screen && strstr(screen, text);
    free(screen);
    return found;
}

/* ---- golden screens -------------------------------------------------------------------------- */

static char *read_golden(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 20);
    if (text && fread(text, 1, (1 << 20) - 1, file) == 0)
        text[0] = '\0';
    fclose(file);
    return text;
}

static void note_difference(const char *got, const char *want) {
    int line = 1;
    while (*got && *got == *want) {
        line += *got == '\n';
        got++;
        want++;
    }
    tap_note("first difference in line %d: got '%.60s'", line, got);
}

static void check_golden(const char *name) {
    char path[4096];
    const char *folder = getenv("SRCDIR") ? getenv("SRCDIR") : ".";
    snprintf(path, sizeof path, "%s/tests/golden/%s.txt", folder, name);
    char *got = cells_to_text(&cells);
    if (got && getenv("BEVSCOPE_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        if (file) {
            fputs(got, file);
            fclose(file);
        }
    }
    char *want = read_golden(path);
    bool same = got && want && !strcmp(got, want);
    tap_ok(same, "%s is as it was", name);
    if (!same && got && want)
        note_difference(got, want);
    tap_ok(!cells.collisions && !cells.cuts, "%s: nothing overlaps (%d), nothing is cut (%d)", name,
           cells.collisions, cells.cuts);
    free(got);
    free(want);
}

static void finish_log(void) {
    use("dtype fp8");
    Headline headline = live_headline(&live);
    state.log.lines[0].before = headline;
    state.log.lines[0].before.latency_us.value = 12.6;
    headline.serial = state.job.serial;
    state_step(&state, &(Event){.kind = EVENT_RESULT, .headline = &headline});
}

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

/* A made-up loss on an object: two cameras, of which one sees it. */
static void backward_frame(LiveFrame *frame, const BevKernel *kernel) {
    enum { CAMERAS = 2, BINS = 8, H = 8, W = 24, C = 2, PIXELS = CAMERAS * H * W, CELLS = 200 * 200 };
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
    live.memory.own = (BevTraffic){.feat = 0.68e6, .depth = 0.4e6, .index = 1.7e6,
                                   .out_read = 4.2e6, .grad_write = 2e6};
    live.intervals.of_pixels = true;
    live.intervals.stats.longest_cell = 8 * 24 + 5 * 24 + 16;
    state.job.config.dtype = live.job.config.dtype = BEV_FP16;
    live.accuracy[BEV_FP16].output = "grad_feat";
    backward_frame(&live.frame, kernel);
}

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
        state_step(&state, &(Event){.kind = EVENT_SCENE, .scene = &facts});
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

/* The feature pixel that a click chooses is the white one in the next drawing. */
static void test_camera_place(void) {
    const Area at = spots.camera;
    int wrong = 0;
    for (int y = at.y; y < at.y + at.h; y++)
        for (int x = at.x; x < at.x + at.w; x++) {
            int64_t pixel = dash_pixel_at(&spots, x, y);
            state_step(&state, &(Event){.kind = EVENT_PIXEL, .x = (double)pixel});
            draw();
            wrong += cells_at(&cells, x, y)->style.ink != (INK_RGB | 0xffffff);
        }
    tap_ok(at.w > 20 && at.h > 3 && !wrong,
           "each of %d x %d signs of a camera is the feature pixel there", at.w, at.h);
    tap_ok(dash_pixel_at(&spots, at.x - 1, at.y) < 0 &&
               dash_pixel_at(&spots, at.x, at.y + at.h) < 0,
           "beside the camera there is none");
}

static void test_backward(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}};
    BevKernel kernel = fixture_kernels[FIXTURE_KERNELS - 1];
    kernel.direction = BEV_BACKWARD;
    kernel.dtypes = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16;
    for (int i = 0; i < 3; i++) {
        char name[64];
        begin_backward(sizes[i][0], sizes[i][1], &kernel);
        draw();
        snprintf(name, sizeof name, "backward-%dx%d", sizes[i][0], sizes[i][1]);
        check_golden(name);
    }
    begin_backward(80, 24, &kernel);
    use("page bev");
    draw();
    check_golden("backward-80x24-bev");
    tap_ok(shows("3 pixels would have to change") && shows("camera 1 10, 3"),
           "which pixels would have to change, and the first of them");
    test_camera_place();
    begin_backward(160, 50, &kernel);
    live.model = fixture_model();
    use("chart mrc");
    draw();
    tap_ok(shows("the model has no accesses of this kernel"), "what cannot be shown says so");
    live.frame.gradients = (LiveGradients){.text = "point at a cell"};
    draw();
    tap_ok(shows("point at a cell"), "without a loss the panel says what to do");
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

/* ---- other screens --------------------------------------------------------------------------- */

static bool only_ascii(void) {
    for (int y = 0; y < cells.rows; y++)
        for (int x = 0; x < cells.columns; x++) {
            uint32_t glyph = cells_at(&cells, x, y)->glyph;
            if (glyph < 0x20 || glyph > 0x7e || glyph == '?') {
                /* The key of the help and the mark of a doubtful speed-up are question marks. */
                if (glyph == '?' && cells_at(&cells, x - 1, y)->glyph == 'x')
                    continue;
                if (glyph == '?' && (cells_at(&cells, x + 2, y)->glyph == ' ' ||
                                     cells_at(&cells, x + 2, y)->glyph == 'u'))
                    continue;
                tap_note("glyph %x at %d, %d", glyph, x, y);
                return false;
            }
        }
    return true;
}

static bool no_colors(void) {
    for (int y = 0; y < cells.rows; y++)
        for (int x = 0; x < cells.columns; x++) {
            CellStyle style = cells_at(&cells, x, y)->style;
            if (style.ink != INK_DEFAULT || style.paper != INK_DEFAULT)
                return false;
        }
    return true;
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

/* ---- the memory model ------------------------------------------------------------------------ */

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
    use("gpu h200");
    use("l2 16");
    draw();
    char us[32], line[64];
    Prediction p = model_predict(live.model, prediction_kernel(&state, &live), state.gpu,
                                 &state.edit);
    figure_text(UNIT_US, p.latency_us, us, sizeof us);
    snprintf(line, sizeof line, "V4 on H200 with 16 MiB of L2: %s", us);
    tap_ok(shows(line) && strcmp(us, "22.0 \u00b5s") != 0 && shows("what-if L2"),
           "another GPU, and another L2 of it");
    tap_ok(shows("requested") && shows("16 MiB of L2: L2 hits 98.0 %, indices 25.1 MB for 2.51"),
           "what threads ask for stands beside the working set, and on which GPU");
    use("l2 6");
    draw();
    tap_ok(shows("with 6 MiB of L2: inputs fit (") && shows(" the output does not"),
           "an L2 in which nearly all hits, though the footprint does not fit: why");
    use("l2 16");
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
    tap_ok(shows("Reads that miss") && shows("requested        n/a"),
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
    tap_ok(shows("Model: ") && shows(" times to gain: lesson 3"), "a small one the first of them");
    begin(120, 40);
    live.model = fixture_model();
    live.job.config.kernel = &fixture_kernels[4];
    draw();
    char lesson[64];
    snprintf(lesson, sizeof lesson, " times to gain: lesson 3 (%s)", key_of(ACTION_EXPLAIN).name);
    tap_ok(shows(lesson), "where it has room, with its lesson and the key to it");
    live.model = NULL;
    draw();
    tap_ok(!shows("to gain"), "and nothing before the first simulation");
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

/* ---- every size ------------------------------------------------------------------------------ */

static void test_all_sizes(void) {
    static const char *const words[] = {"page both",     "page dashboard",    "page bev",
                                        "help",          "chart working-set", "chart mrc",
                                        "chart roofline", "glossary"};
    const int word_count = sizeof words / sizeof *words;
    int drawn = 0, collisions = 0, cuts = 0;
    for (int columns = 1; columns <= 240; columns += columns < 40 ? 3 : 7)
        for (int rows = 1; rows <= 80; rows += rows < 10 ? 2 : 3)
            for (int word = 0; word < word_count; word++, drawn++) {
                begin(columns, rows);
                live.model = fixture_model();
                use(words[word]);
                draw();
                collisions += cells.collisions;
                bool room = columns >= 80 && rows >= 24;
                if (room && cells.cuts)
                    tap_note("%d x %d, %s: %d texts cut", columns, rows, words[word], cells.cuts);
                cuts += room ? cells.cuts : 0;
            }
    tap_ok(drawn > 1000 && !collisions, "%d screens: nothing is drawn twice (%d)", drawn,
           collisions);
    tap_ok(!cuts, "from 80 x 24 on nothing is cut (%d)", cuts);
}

/* On its pages each word and each text of the glossary is seen once. */
static void test_glossary(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    for (int i = 0; i < 3; i++) {
        int words = 0, pages = help_glossary(sizes[i][0], sizes[i][1]).pages;
        begin(sizes[i][0], sizes[i][1]);
        for (int page = 0; page < pages; page++) {
            use("glossary");
            draw();
            for (int row = 0; row < glossary_count; row++) {
                char begins[GLOSSARY_INDENT + 12];
                snprintf(begins, sizeof begins, "%-*s%.10s", GLOSSARY_INDENT, glossary[row].word,
                         glossary[row].text);
                words += shows(begins);
            }
        }
        tap_ok(words == glossary_count && state.help, "%d x %d: %d words of the glossary on %d pages",
               sizes[i][0], sizes[i][1], words, pages);
    }
}

/* A larger screen has all columns that a smaller one has. */
static void test_accuracy_columns(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {200, 60}};
    int complete = 0;
    for (int i = 0; i < 4; i++) {
        begin(sizes[i][0], sizes[i][1]);
        use("page dashboard");
        draw();
        complete += shows("max abs") && shows("at 1e-2");
        use("page both");
        draw();
        complete += i == 0 || !shows("Accuracy of") || (shows("max abs") && shows("at 1e-2"));
    }
    tap_ok(complete == 8, "the accuracy keeps its columns (%d)", complete);
}

/* The height at which each panel is gone, from the tallest screen down. */
static void test_folding(void) {
    static const char *const titles[] = {"Pipeline,",          "Intervals",       "Accuracy of",
                                         "Working set versus", "Reads that miss", "Kernels,"};
    enum { TITLES = sizeof titles / sizeof *titles };
    int gone[TITLES] = {0};
    for (int rows = 60; rows >= 10; rows--) {
        begin(90, rows);
        live.model = fixture_model();
        use("page dashboard");
        use("chart mrc");
        draw();
        for (int i = 0; i < TITLES; i++)
            if (!gone[i] && !shows(titles[i]))
                gone[i] = rows;
    }
    bool ordered = true;
    for (int i = 1; i < TITLES; i++)
        ordered &= gone[i - 1] > gone[i];
    tap_ok(ordered, "panels fold in their order: at %d, %d, %d, %d, %d, %d rows", gone[0], gone[1],
           gone[2], gone[3], gone[4], gone[5]);
}

static void test_small_kernel_table(void) {
    begin(80, 24);
    use("page dashboard");
    draw();
    tap_ok(shows(" V4 ") && shows(" V2  "),
           "where not all kernels fit, selection and baseline are there");
}

/* ---- the BEV --------------------------------------------------------------------------------- */

static void test_bev(void) {
    begin(100, 60);
    cells_clear(&cells);
    Area used = bev_cells_draw(&cells, (Area){0, 0, 100, 50}, &picture, &state);
    tap_ok(used.w == 100 && used.h == 50, "a square grid fills a square of half blocks");
    Rgb car = rgb_hex(cells_at(&cells, used.x + 107 / 2, used.y + 60 / 4)->style.ink & 0xffffff);
    tap_ok(car.r > 100 && car.g < 60, "the red car is where it is in the picture");
    use("page bev");
    use("play off");
    draw();
    tap_ok(shows("x -54 to 54 m up, y -54 to 54 m left"), "its edges in metres");
    tap_ok(shows("\u2016 t "), "a pause is shown");
    use("zoom 4");
    draw();
    tap_ok(shows("x -13.5 to 13.5 m up, y -13.5 to 13.5 m left"), "and those of a part");
    state.wipe = 0.5;
    Rgb blue = {0, 0, 255};
    Err err;
    if (!image_init(&picture.baseline, 200, 200, &err))
        exit(EXIT_FAILURE);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.baseline, i % 200, i / 200, blue);
    tap_ok(bev_picture_pixel(&picture, 0.5, 99, 0).b == 255 &&
               bev_picture_pixel(&picture, 0.5, 100, 0).b != 255,
           "left of the wipe is the baseline");
    image_free(&picture.baseline);
}

/* One cell in three was hit, as far from the cameras. */
static void test_sparse_bev(void) {
    static uint8_t states[200 * 200];
    Rgb red = {200, 0, 0}, black = {0, 0, 0};
    for (int y = 0; y < 200; y++)
        for (int x = 0; x < 200; x++) {
            bool hit = (x + y) % 3 == 0;
            states[raster_cell(200, 200, x, y)] = hit ? CELL_VALUE : CELL_EMPTY;
            image_set(&picture.image, x, y, hit ? red : black);
        }
    picture.field = (CellField){.nx = 200, .ny = 200, .state = states};
    begin(60, 40);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture, &state);
    Rgb shown = rgb_hex(cells_at(&cells, 5, 5)->style.ink & 0xffffff);
    tap_ok(shown.r > 170, "a third of the cells is enough to see the street: red %d of 200",
           shown.r);
    memset(states, CELL_EMPTY, sizeof states);
    for (int i = 0; i < 200 * 200; i++)
        image_set(&picture.image, i % 200, i / 200, black);
    cells_clear(&cells);
    bev_cells_draw(&cells, (Area){0, 0, 60, 30}, &picture, &state);
    tap_ok((cells_at(&cells, 5, 5)->style.ink & 0xffffff) == 0, "none is the background");
    picture.field = (CellField){0};
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* While comparing, the side that did not change is not decoded again. */
static void test_kept_baseline(void) {
    enum { CELLS = 4, CHANNELS = 2 };
    float pooled[CELLS * CHANNELS] = {1, 2, 3, 4, 5, 6, 7, 8};
    float baseline[CELLS * CHANNELS] = {8, 7, 6, 5, 4, 3, 2, 1};
    LiveFrame frame = {.nx = 2,
                       .ny = 2,
                       .channels = CHANNELS,
                       .pooled = pooled,
                       .baseline = baseline,
                       .baseline_content = 1};
    BevPicture first, kept, fresh, other;
    Err err;
    begin(80, 24);
    use("view norm");
    state.compare = COMPARE_WIPE;
    bool ok = bev_picture_render(&first, NULL, &state, &frame, NULL, &err);
    baseline[0] = 100; /* not told: the old field shows that it was kept */
    ok = ok && bev_picture_render(&kept, &first, &state, &frame, NULL, &err);
    tap_ok(ok && kept.ready && kept.other.value[0] == first.other.value[0] &&
               occupied(&kept.other) == CELLS,
           "a baseline that stayed the same is kept");
    frame.baseline_content = 2;
    ok = ok && bev_picture_render(&fresh, &kept, &state, &frame, NULL, &err);
    tap_ok(ok && fresh.other.value[0] > 99, "another one is decoded");
    use("view channel");
    ok = ok && bev_picture_render(&other, &fresh, &state, &frame, NULL, &err);
    tap_ok(ok && other.other.value[0] == 100, "and so is another view of it");
    BevPicture *all[] = {&first, &kept, &fresh, &other};
    for (int i = 0; ok && i < 4; i++)
        bev_picture_free(all[i]);
}

static void test_cells(void) {
    begin(10, 2);
    cells_clear(&cells);
    CellStyle plain = cell_style(INK_TEXT);
    cells_text(&cells, 0, 0, 10, plain, "a\tb\xff\u4e2d\u0301");
    char *text = cells_to_text(&cells);
    tap_ok(text && !strncmp(text, "a?b???\n", 7), "controls, bad bytes, wide and combining glyphs");
    free(text);
    tap_ok(cells_text(&cells, 0, 1, 5, plain, "abcdefg") == 5 && cells.cuts == 1 &&
               cells_at(&cells, 4, 1)->glyph == 0x2026,
           "a cut ends with an ellipsis and is counted");
    cells_put(&cells, 0, 1, 'x', plain);
    tap_ok(cells.collisions == 1, "drawing twice is counted");
    cells_put(&cells, -1, 99, 'x', plain);
    cells_erase(&cells, (Area){-5, -5, 100, 100}, INK_DEFAULT);
    tap_ok(cells_at(&cells, 0, 1)->glyph == ' ', "an erased area is blank, outside is nothing");
}

static void test_contrast(void) {
    static const Ink texts[] = {INK_TEXT,     INK_MUTED, INK_TITLE,  INK_GOOD,
                                INK_WARN,     INK_BAD,   INK_ACCENT, INK_BASELINE,
                                INK_FEATURES, INK_DEPTH, INK_INDEX,  INK_OUTPUT};
    double least = 21;
    for (int light = 0; light < 2; light++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            least = fmin(least, rgb_contrast(ink_color(texts[i], light, false),
                                             ink_color(INK_DEFAULT, light, true)));
    tap_ok(least >= 4.5, "every text has a contrast of at least 4.5 in both themes: %.1f", least);
    for (int light = 0; light < 2; light++)
        least = fmin(least, rgb_contrast(ink_color(INK_ACCENT, light, false),
                                         ink_color(INK_SELECTED, light, true)));
    tap_ok(least >= 4.5, "and the selected row on its own paper: %.1f", least);
}

static void test_image(void) {
    Image a = {0}, b = {0};
    Err err;
    begin(120, 40);
    draw();
    bool ok = cells_image(&cells, 1, &a, &err) && cells_image(&cells, 1, &b, &err);
    tap_ok(ok && a.w == 1080 && a.h == 720, "a picture of 9 x 18 pixels a cell");
    tap_ok(ok && !memcmp(a.rgba, b.rgba, (size_t)a.w * (size_t)a.h * 4), "the same one every time");
    image_free(&a);
    image_free(&b);
}

/* A lesson with a row of each kind. */
static void open_lesson(LessonPanel point) {
    LessonPane *pane = &state.lesson;
    *pane = (LessonPane){.open = true,
                         .title = "Ten times the indices",
                         .step = 3,
                         .steps = 9,
                         .right = 1,
                         .asked = 2,
                         .point = point,
                         .asks = ASKS_CHOICE};
    PaneText *body = &pane->body;
    pane_add(body, PANE_TEXT, false,
             "V2 as published works through the channels in tiles, and reads the indices of a point "
             "again for each of them.");
    pane_add(body, PANE_QUESTION, false, "Which kernel reads each index once?");
    pane_add(body, PANE_CHOICE, false, "1  V2, because its threads share the indices of a cell");
    pane_add(body, PANE_CHOICE, true, "2  V2+DO, because depth is the outer loop");
    pane_add(body, PANE_RIGHT, false, "Right: V2+DO");
    pane_add(body, PANE_SHOW, false, "V2 requests 25.1 MB, V2+DO 2.51 MB.");
    pane_add(body, PANE_WHY, false, "One pass over the points feeds all channels.");
    pane_add(body, PANE_SOURCE, false, "kernels/cuda/v2.cu, line 36");
    pane_add(body, PANE_CODE, false, "  36      for (int t = start; t < end; t++)");
    pane_add(body, PANE_KEYS, false, "Enter: next, (: back, B: close");
}

static void test_lesson(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    for (int i = 0; i < 3; i++) {
        char name[64];
        begin(sizes[i][0], sizes[i][1]);
        open_lesson(PANEL_KERNELS);
        draw();
        snprintf(name, sizeof name, "lesson-%dx%d", sizes[i][0], sizes[i][1]);
        check_golden(name);
    }
    begin(80, 24);
    open_lesson(PANEL_NONE);
    cells.color = false;
    cells.ascii = true;
    draw();
    tap_ok(only_ascii() && no_colors(), "a lesson without colour, in ASCII");
    check_golden("lesson-80x24-plain");
    use("page bev");
    draw();
    tap_ok(!shows("Which kernel"), "on a small screen the other pages are as always");
    begin(120, 40);
    open_lesson(PANEL_BEV);
    use("page dashboard");
    draw();
    tap_ok(shows("Which kernel") && shows("\u250f") && shows("BEV, "),
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

int main(void) {
    Err err;
    if (!cells_init(&cells, 1, 1, &err) || !fixture_picture(&picture, &err))
        return EXIT_FAILURE;
    test_golden();
    test_height();
    test_operator();
    test_backward();
    test_forms();
    test_idea();
    test_faults();
    test_model();
    test_findings();
    test_unknown();
    test_labels();
    test_all_sizes();
    test_glossary();
    test_folding();
    test_accuracy_columns();
    test_small_kernel_table();
    test_bev();
    test_cells();
    test_contrast();
    test_image();
    test_sparse_bev();
    test_kept_baseline();
    test_counters();
    test_lesson();
    test_lesson_sizes();
    bev_picture_free(&picture);
    cells_free(&cells);
    return tap_done();
}
