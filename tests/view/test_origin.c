/* Every figure on a screen answers "where from". */
#include "src/state/glossary.h"
#include "src/view/panel/panel.h"
#include "src/view/term/cells_sheet.h"
#include "tests/view/screen.h"


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
            if (!answered(spots_figure(&spots.clicks, x, y)) && !(*dumb)++)
                tap_note("no answer: '%c' at column %d, row %d", (int)glyph, x, y);
        }
    return digits;
}

static void check_screen(const char *name) {
    int dumb = 0, digits = count_digits(&dumb);
    tap_ok(digits > 20 && !dumb && spots.clicks.figure_count < FIGURES_MAX,
           "%s: %d digits, %d without an answer, %d figures", name, digits, dumb,
           spots.clicks.figure_count);
}

static void answer_at(OriginTopic topic, const BevKernel *kernel, char text[ORIGIN_TEXT_MAX]) {
    const Origin origin = {topic, kernel, BEV_FP16};
    origin_text(&state, &live, &origin, text);
}

TAP_SUITE(origin_screens) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {180, 54}, {240, 64}};
    static const char *const lines[] = {"page bev", "chart mrc", "chart roofline", "help on",
                                        "glossary on", "view norm", "steps on"};
    screen_open();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32];
        begin(sizes[i][0], sizes[i][1]);
        live.model = fixture_model();
        snprintf(name, sizeof name, "%d x %d", sizes[i][0], sizes[i][1]);
        draw();
        check_screen(name);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin(200, 60);
        live.model = fixture_model();
        cells.ascii = i % 2;
        draw_after(lines[i]);
        check_screen(lines[i]);
    }
    screen_close();
}

/* Each panel alone: its texts are drawn by it, and by nothing that the test forgot. */
TAP_SUITE(origin_panels) {
    screen_open();
    for (int i = 0; all_panels[i]; i++) {
        const PanelData data = {.state = &state, .live = &live};
        begin(70, 40);
        live.model = fixture_model();
        use(&state, "chart mrc");
        if (all_panels[i]->shown && !all_panels[i]->shown(&data))
            continue;
        cells_clear(&cells);
        memset(&spots, 0, sizeof spots);
        Sheet sheet = cells_sheet(&cells);
        sheet.spots = &spots.clicks;
        panel_draw(&sheet, (Area){0, 0, 70, 40}, all_panels[i], &data);
        int dumb = 0, digits = count_digits(&dumb);
        tap_ok(!dumb, "panel %d: %d digits, %d without an answer", i, digits, dumb);
    }
    screen_close();
}

/* Titles of panels and heads of columns answer, too. */
TAP_SUITE(origin_heads) {
    Tip tip;
    screen_open();
    const PanelData data = {.state = &state, .live = &live};
    begin(70, 12);
    live.objects.known = true;
    live.objects.now[0] = (ObjectBand){3, 0.51, 2.65};
    cells_clear(&cells);
    memset(&spots, 0, sizeof spots);
    Sheet sheet = cells_sheet(&cells);
    sheet.spots = &spots.clicks;
    panel_draw(&sheet, (Area){0, 0, 70, 12}, &objects_panel, &data);
    int told = 0, heads = 0;
    for (int x = 0; x < 70; x++)
        for (int y = 0; y < 2; y++)
            if (cells_at(&cells, x, y)->glyph == (y ? 'x' : 'T')) { /* True objects, in box */
                heads++;
                told += spots_tip(&spots.clicks, x, y, &state, &live, &tip) &&
                        strstr(tip.source, "the share in its true box");
            }
    tap_ok(heads == 2 && told == 2, "True objects, in box: %d of %d tell their source", told,
           heads);
    tap_ok(!strncmp(glossary_find("in box")->text, "Where the mass", 14), "a word of the glossary");
    screen_close();
}

/* A recorded ratio beside a latency measured here is no ratio of that latency. */
TAP_SUITE(origin_recorded) {
    screen_open();
    begin(80, 24);
    live.speedup.ratio.source = SOURCE_RECORDED;
    draw_after("view color");
    tap_ok(shows("recorded over V2"), "a recorded speed-up says so in words");
    live.speedup.ratio.source = SOURCE_MEASURED;
    draw_after("view color");
    tap_ok(shows("over V2") && !shows("recorded over"), "a measured one does not");
    screen_close();
}

TAP_SUITE(origin_texts) {
    char text[ORIGIN_TEXT_MAX];
    screen_open();
    begin(120, 40);
    snprintf(live.date, sizeof live.date, "2026-11-26");
    const BevKernel *chw = live.kernels[3].kernel, *best = live.kernels[8].kernel;
    snprintf(live.kernels[3].recorded_on, sizeof live.kernels[3].recorded_on,
             "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20");
    snprintf(live.kernels[3].recorded_file, sizeof live.kernels[3].recorded_file, "h200.json");
    answer_at(ORIGIN_LATENCY, best, text);
    tap_ok(strstr(text, "measured here (NVIDIA H200), 2026-11-26") &&
               strstr(text, "V4 FP16 nearest on canonical"),
           "a latency of this machine: %s", text);
    answer_at(ORIGIN_LATENCY, chw, text);
    tap_ok(strstr(text, "recorded: NVIDIA H200") && strstr(text, "2026-11-20") &&
               strstr(text, "file h200.json"),
           "a latency of another: %s", text);
    answer_at(ORIGIN_SPEEDUP, best, text);
    tap_ok(strstr(text, "7 pairs") && strstr(text, "Latency of V2 (row v2) / latency of V4"),
           "a speed-up: %s", text);
    answer_at(ORIGIN_SPEEDUP, chw, text);
    tap_ok(!strncmp(text, "n/a", 3), "none between two sources: %s", text);
    const Origin fp8 = {ORIGIN_ERROR, NULL, BEV_FP8};
    origin_text(&state, &live, &fp8, text);
    tap_ok(strstr(text, "in FP8 on canonical") && strstr(text, "scales fitted to this frame") &&
               strstr(text, "Gate B: rel L2 up to 0.08; the absolute 1e-2 is no gate"),
           "an error of a format with scales: %s", text);
    live.accuracy[BEV_FP8].time_s = live.accuracy[BEV_FP16].time_s = 3.2;
    origin_text(&state, &live, &fp8, text);
    draw();
    tap_ok(strstr(text, "on canonical, t 3.20 s") && shows("FP8~") && shows("~ of t 3.20 s"),
           "an error of another moment is marked, its moment told: %s", text);
    answer_at(ORIGIN_ERROR, NULL, text);
    tap_ok(strstr(text, "FP16") && !strstr(text, "scales"), "and of one without: %s", text);
    answer_at(ORIGIN_MODEL, NULL, text);
    tap_ok(!strncmp(text, "n/a", 3), "the model before it has a result: %s", text);
    live.model = fixture_model();
    answer_at(ORIGIN_MODEL, NULL, text);
    tap_ok(strstr(text, "model: RTX A6000") && strstr(text, "data sheet"), "and after: %s", text);
    answer_at(ORIGIN_NETWORK, NULL, text);
    tap_ok(strstr(text, "published: a paper") && strstr(text, "model of RTX A6000"),
           "stages of a network: %s", text);
    answer_at(ORIGIN_TIMELINE, NULL, text);
    tap_ok(strstr(text, "recorded: v4") && strstr(text, "2026-11-20"), "a time line: %s", text);
    live.kernels[8].median_us.source = SOURCE_UNKNOWN;
    answer_at(ORIGIN_LATENCY, best, text);
    tap_ok(!strncmp(text, "n/a: ", 5), "an unknown figure says why: %s", text);
    screen_close();
}

/* Every place that can be clicked and every figure has a tooltip that ends in a source or a word.
 */
TAP_SUITE(tips) {
    char line[TIP_LINE_MAX];
    int places = 0, wrong = 0, sources = 0, words = 0;
    Tip tip;
    screen_open();
    begin(200, 60);
    live.model = fixture_model();
    draw_after("page both");
    for (int i = 0; i < spots.clicks.count; i++) {
        const Box *box = &spots.clicks.list[i].box;
        bool told = spots_tip(&spots.clicks, box->x, box->y, &state, &live, &tip);
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
        if (topic == ORIGIN_PICTURE)
            wrong += told;
        else
            wrong += !told || !tip.source[0] || tip.clickable;
        sources += tip.source[0] != 0;
        words += tip.meaning[0] != 0;
    }
    const GlossaryRow *footprint = glossary_find("footprint");
    tap_ok(live.memory.footprint.depth > 0 && strstr(footprint->text, "each whole and once") &&
               strstr(footprint->text, "no point reads"),
           "what the footprint counts: %s", footprint->text);
    tap_ok(!wrong && sources == ORIGIN_COUNT - 2 && words >= 10,
           "figures of %d topics tell their source, %d a word of the glossary", sources, words);
    const Spots *clicks = &spots.clicks;
    for (int i = 0; i < clicks->count; i++)
        if (clicks->list[i].command.action == ACTION_DTYPE &&
            !strcmp(clicks->list[i].command.argument, "fp8")) {
            const Box *box = &clicks->list[i].box;
            spots_tip(clicks, box->x, box->y, &state, &live, &tip);
        }
    tap_ok(!strcmp(tip.title, "dtype: FP16 (key d)") && !strcmp(tip.help, "click: dtype fp8") &&
               !strncmp(tip.meaning, "FP8: E4M3", 9) && strstr(tip.source, "in FP8 on"),
           "the row of FP8: %s; %s; %s; %s", tip.title, tip.help, tip.meaning, tip.source);
    screen_close();
}
