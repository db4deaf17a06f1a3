/* SPDX-License-Identifier: MIT */
/* Every figure on a screen answers "where from". */
#include "src/view/panel/panel.h"
#include "tests/support/screen.h"

static bool answered(const Origin *origin) {
    static const char *const sources[] = {"measured", "recorded", "model", "published",
                                          "computed", "set",      "n/a"};
    char text[ORIGIN_TEXT_MAX];
    if (!origin || origin->topic == ORIGIN_NONE)
        return false;
    origin_text(&state, &live, origin, text);
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!strncmp(text, sources[i], strlen(sources[i])))
            return length > 20 && length < LOG_SAID && text[length - 1] == '.';
    tap_note("answer: \"%s\"", text);
    return false;
}

/* Digits on the screen; *dumb: those without an answer. */
static int count_digits(int *dumb) {
    int digits = 0;
    for (int y = 0; y < cells.rows; y++)
        for (int x = 0; x < cells.columns; x++) {
            uint32_t glyph = cells_at(&cells, x, y)->glyph;
            if (glyph < '0' || glyph > '9')
                continue;
            digits++;
            if (!answered(spots_figure(&spots, x, y)) && !(*dumb)++)
                tap_note("no answer: '%c' at column %d, row %d", (int)glyph, x, y);
        }
    return digits;
}

static void check_screen(const char *name) {
    int dumb = 0, digits = count_digits(&dumb);
    tap_ok(digits > 20 && !dumb && spots.figure_count < FIGURES_MAX,
           "%s: %d digits, %d without an answer, %d figures", name, digits, dumb,
           spots.figure_count);
}

SCREEN_SUITE(origin_screens) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {180, 54}, {240, 64}};
    static const char *const lines[] = {"page bev",    "chart mrc", "chart roofline", "help on",
                                        "glossary on", "view norm", "steps on"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32];
        begin_simulated(sizes[i][0], sizes[i][1]);
        snprintf(name, sizeof name, "%d x %d", sizes[i][0], sizes[i][1]);
        draw();
        check_screen(name);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin_simulated(200, 60);
        cells.ascii = i % 2;
        draw_after(lines[i]);
        check_screen(lines[i]);
    }
}

static void draw_panel(const Panel *panel, const PanelData *data) {
    cells_clear(&cells);
    memset(&spots, 0, sizeof spots);
    Sheet sheet = cells_sheet(&cells);
    sheet.spots = &spots;
    panel_draw(&sheet, (Area){0, 0, cells.columns, cells.rows}, panel, data);
}

/* Each panel alone: its texts are drawn by it, and by nothing that the test forgot. */
SCREEN_SUITE(origin_panels) {
    for (int i = 0; all_panels[i]; i++) {
        const PanelData data = {.state = &state, .live = &live};
        begin_simulated(70, 40);
        use("chart mrc");
        if (all_panels[i]->shown && !all_panels[i]->shown(&data))
            continue;
        draw_panel(all_panels[i], &data);
        int dumb = 0, digits = count_digits(&dumb);
        tap_ok(!dumb, "panel %d: %d digits, %d without an answer", i, digits, dumb);
    }
}

SCREEN_SUITE(origin_heads) {
    Tip tip;
    const PanelData data = {.state = &state, .live = &live};
    begin(70, 12);
    live.objects.known = true;
    live.objects.now[0] = (ObjectBand){3, 1, 0.51, 0.68, 2.65, -2.5, 0.9};
    draw_panel(&objects_panel, &data);
    int told = 0, heads = 0;
    for (int x = 0; x < 70; x++)
        for (int y = 0; y < 2; y++)
            if (cells_at(&cells, x, y)->glyph == (y ? 'x' : 'G')) { /* Ground truth, in box */
                heads++;
                told += spots_tip(&spots, x, y, &state, &live, &tip) &&
                        strstr(tip.source, "the share of the mass");
            }
    tap_ok(shows("3, 1 lost"), "one of three objects has no mass in the grid");
    tap_ok(heads == 2 && told == 2, "Ground truth, in box: %d of %d tell their source", told,
           heads);
    tap_ok(!strncmp(glossary_find("in box")->text, "The objects", 11), "a word of the glossary");
}

/* A recorded ratio beside a latency measured here is no ratio of that latency. */
SCREEN_SUITE(origin_recorded) {
    begin(80, 24);
    seen(shows("measured on NVIDIA H200"), "a speed-up says that it is measured");
    live.kernels[FIXTURE_V2].unsettled = true;
    live.speedup.ratio.source = SOURCE_RECORDED;
    seen(!shows("measured on"), "a recorded one does not");
}

static FILE *origins; /* what was told of them */

static void tell(OriginTopic topic, const BevKernel *kernel, BevDtype dtype, const char *title) {
    const Origin origin = {.topic = topic, .kernel = kernel, .dtype = dtype};
    char text[ORIGIN_TEXT_MAX];
    origin_text(&state, &live, &origin, text);
    fprintf(origins, "%s:\n    %s\n", title, text);
}

SCREEN_SUITE(dashboard_origins) {
    char *text;
    size_t length;
    begin(160, 60);
    origins = open_memstream(&text, &length);
    snprintf(live.date, sizeof live.date, "2026-11-26");
    LiveKernel *recorded = &live.kernels[3];
    const BevKernel *chw = recorded->kernel, *best = live.kernels[8].kernel;
    snprintf(recorded->recorded_on, sizeof recorded->recorded_on,
             "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20");
    snprintf(recorded->recorded_file, sizeof recorded->recorded_file, "h200.json");
    tell(ORIGIN_LATENCY, best, BEV_FP16, "a latency of this machine");
    tell(ORIGIN_LATENCY, chw, BEV_FP16, "a latency of another");
    tell(ORIGIN_BANDWIDTH, best, BEV_FP16, "GB/s: whose bytes");
    tell(ORIGIN_SPEEDUP, best, BEV_FP16, "a speed-up");
    tell(ORIGIN_SPEEDUP, NULL, BEV_FP16, "the headline's");
    tell(ORIGIN_SPEEDUP, chw, BEV_FP16, "none between two sources");
    tell(ORIGIN_ERROR, NULL, BEV_FP8, "an error of a format with scales");
    live.accuracy[BEV_FP8].time_s = live.accuracy[BEV_FP16].time_s = 3.2;
    live.accuracy[BEV_BF16].stale = true;
    use("all on");
    tell(ORIGIN_ERROR, NULL, BEV_FP8, "an error of an earlier time");
    tell(ORIGIN_ERROR, NULL, BEV_BF16, "an error before the last change");
    seen(shows("at t 3.20 s") && shows("BF16!") && shows("! stale"),
         "the moment and the mark of stale errors are told");
    live.accuracy[BEV_BF16].stale = false;
    tell(ORIGIN_ERROR, NULL, BEV_FP16, "an error of a format without scales");
    tell(ORIGIN_MODEL, NULL, BEV_FP16, "the model before it has a result");
    live.model = fixture_model();
    tell(ORIGIN_MODEL, NULL, BEV_FP16, "and after");
    tell(ORIGIN_NETWORK, NULL, BEV_FP16, "stages of a network");
    tell(ORIGIN_TIMELINE, NULL, BEV_FP16, "a time line");
    live.kernels[8].median_us.source = SOURCE_UNKNOWN;
    tell(ORIGIN_LATENCY, best, BEV_FP16, "an unknown figure says why");
    fclose(origins);
    check_golden_text("origins", text);
    free(text);
}

SCREEN_SUITE(tips) {
    char line[TIP_LINE_MAX];
    int places = 0, wrong = 0, sources = 0, words = 0;
    Tip tip;
    begin_simulated(200, 60);
    draw_after("page both");
    for (int i = 0; i < spots.count; i++) {
        const Box *box = &spots.list[i].box;
        bool told = spots_tip(&spots, box->x, box->y, &state, &live, &tip);
        tip_line(&tip, line, sizeof line);
        wrong += !told || !tip.clickable || !tip.title[0] || !tip.help[0] || strlen(line) < 10;
        places++;
    }
    tap_ok(places > 20 && !wrong, "%d places, %d without a tooltip", places, wrong);
    for (int topic = ORIGIN_NONE + 1; topic < ORIGIN_COUNT; topic++) {
        static Spots one;
        memset(&one, 0, sizeof one);
        spots_add_figure(&one, (Box){0, 0, 9, 1}, &(Origin){.topic = (OriginTopic)topic});
        bool told = spots_tip(&one, 1, 0, &state, &live, &tip);
        bool right = told && tip.source[0] && !tip.clickable;
        wrong += topic == ORIGIN_PICTURE ? told : !right;
        sources += tip.source[0] != 0;
        words += tip.meaning[0] != 0;
    }
    const GlossaryRow *footprint = glossary_find("footprint");
    tap_ok(live.memory.footprint.depth > 0 && strstr(footprint->text, "each whole and once") &&
               strstr(footprint->text, "no point reads"),
           "what the footprint counts: %s", footprint->text);
    tap_ok(!wrong && sources == ORIGIN_COUNT - 2 && words >= 10,
           "figures of %d topics tell their source, %d a word of the glossary", sources, words);
}
