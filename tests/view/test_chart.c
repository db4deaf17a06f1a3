/* SPDX-License-Identifier: MIT */
/* Charts: a made-up spec by both back ends; those of the memory model in any box, every text inside
 * and none on another;. */
#include "src/view/chart/live_chart.h"
#include "src/view/term/dashboard.h"
#include "tests/support/live_fixture.h"
#include "tests/support/script.h"
#include "tests/view/page_texts.h"
#include "tests/view/view_check.h"

static Err err; /* why a step failed */
static PlotPage plot;

typedef struct {
    ChartInput input;
    Box box;
} Boxed;

static void draw_boxed(Pen *pen, const void *context) {
    const Boxed *boxed = context;
    ChartSpec *spec = chart_make(&boxed->input, &pen->err);
    if (spec)
        plot_draw(pen, boxed->box, spec, "model");
    free(spec);
}

static ChartInput input_of(Chart chart, ChartRoom room) {
    ChartInput input = {.chart = chart,
                        .scales = "ideal",
                        .scene = "canonical",
                        .model = fixture_model(),
                        .asked = 1,
                        .kernel = &fixture_kernels[FIXTURE_KERNELS - 1],
                        .room = room,
                        .theme = THEME_DARK};
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        input.rel_l2[dtype] = dtype ? 3e-4 : NAN;
    return input;
}

/* Counts texts outside the box and pairs that overlap. */
static int faults(const Boxed *boxed, int *texts) {
    const PageSpec page = {
        boxed->box.w + 60, boxed->box.h + 60, 1, THEME_DARK, draw_boxed, boxed, NULL};
    FigureLayout layout;
    int found = 0;
    if (!page_layout(&page, &layout, &err))
        return 1;
    *texts += (int)layout.count;
    found = count_outside(&layout, boxed->box, 0.5) + count_overlaps(&layout, 0);
    if (found)
        tap_note("%s in %.0f x %.0f", charts[boxed->input.chart].word, boxed->box.w, boxed->box.h);
    figure_layout_free(&layout);
    return found;
}

static void test_boxes(Chart chart) {
    int found = 0, texts = 0, boxes = 0;
    for (int w = 320; w <= 1100; w += 60)
        for (int h = 230; h <= 900; h += 67, boxes++) {
            Boxed boxed = {input_of(chart, h < 480 ? ROOM_LOW : ROOM_BOX), {30, 30, w, h}};
            found += faults(&boxed, &texts);
        }
    tap_ok(!found && texts > 20 * boxes, "%s in %d boxes: %d texts, all inside, none on another",
           charts[chart].word, boxes, texts);
}

/* Whether the spec's title stands in its picture, by each back end. */
static bool in_pixels(const ChartSpec *spec, double w) {
    FigureLayout layout;
    if (!page_layout(plot_page(spec, w, 1, &plot), &layout, &err))
        return false;
    bool found = w > 1000 ? contains(&layout, spec->title)
                          : !count_outside(&layout, (Box){0, 0, layout.w, layout.h}, 0);
    found = found && !count_overlaps(&layout, 0);
    figure_layout_free(&layout);
    return found;
}

static bool in_cells(const ChartSpec *spec, bool plain) {
    Cells cells;
    if (!cells_init(&cells, 60, 12, &err))
        return false;
    cells.color = !plain;
    cells.ascii = plain;
    Sheet sheet = cells_sheet(&cells);
    sheet.back->chart(&sheet, (Area){0, 0, 60, 12}, spec, "note");
    char *text = cells_to_text(&cells);
    char begins[96]; /* ASCII has another sign for micro */
    snprintf(begins, sizeof begins, "%.*s", (int)strcspn(spec->title, "\u00b5"), spec->title);
    bool found = text && strstr(text, begins) && !cells.collisions && !cells.cuts;
    free(text);
    cells_free(&cells);
    return found;
}

/* Each name has a chart, by both back ends; wordier, a page, as `bevscope plot` writes. */
static void test_all_charts(void) {
    int drawn = 0, pages = 0;
    for (int chart = 1; chart < CHART_COUNT; chart++) {
        ChartInput input = input_of((Chart)chart, ROOM_LOW);
        ChartSpec *spec = chart_make(&input, &err);
        drawn += spec && in_pixels(spec, 1200) && in_cells(spec, false) && in_cells(spec, true);
        free(spec);
        input.room = ROOM_PAGE;
        spec = chart_make(&input, &err);
        pages += spec && in_pixels(spec, 1200) && in_pixels(spec, 600) && in_pixels(spec, 321);
        free(spec);
    }
    tap_ok(drawn == CHART_COUNT - 1, "every chart of the memory model by both back ends");
    tap_ok(pages == CHART_COUNT - 1, "each is a page, wide and narrow, without overlaps");
}

static LiveData live;

/* How many times the baseline's bar is as long as the selection's. */
static double times_of(const ChartSpec *spec) {
    double strong = NAN, baseline = NAN;
    for (int i = 0; i < spec->bar_count; i++) {
        strong = spec->bars[i].strong ? spec->bars[i].parts[0] : strong;
        baseline = spec->bars[i].baseline ? spec->bars[i].parts[0] : baseline;
    }
    return baseline / strong;
}

static void test_terms(void) {
    static const char *const edits[] = {"bandwidth 100", "bandwidth 10", "clock 0.2"};
    double last_us = 0;
    use("chart terms");
    for (int e = 0; e < 3; e++) {
        use("%s", edits[e]);
        ChartInput input = chart_live_input(&state, &live, ROOM_BOX, THEME_DARK);
        ChartSpec *spec = chart_make(&input, &err);
        bool sorted = spec && spec->bar_count > 3, race = false;
        double before = 0;
        for (int i = 0; spec && i < spec->bar_count; i++) {
            double sum = 0;
            for (int part = 0; part < spec->part_count; part++)
                sum += spec->bars[i].parts[part];
            sorted = sorted && sum >= before && fabs(sum - atof(spec->bars[i].text)) < 0.06 * sum;
            before = sum;
            race = race || !strcmp(spec->bars[i].label, "race");
        }
        tap_ok(spec && fabs(atof(strstr(spec->title, "is ") + 3) - times_of(spec)) <
                           0.01 * times_of(spec),
               "the title has the ratio of two bars: %s", spec ? spec->title : "");
        tap_ok(sorted && !race, "%s: the fastest first, parts add up, no race", edits[e]);
        tap_ok(before > last_us, "and the slowest takes longer than before, %.1f us", before);
        last_us = before;
        free(spec);
    }
    use("clock 0; bandwidth 0; chart none");
}

static void test_titles(void) {
    ChartInput input = input_of(CHART_WORKING_SET, ROOM_PAGE);
    input.asked = (1u << gpu_count) - 1;
    ChartSpec *spec = chart_make(&input, &err);
    char fits[32];
    int count = 0;
    for (int i = 0; spec && i < spec->bar_count; i++)
        count += chart_bar_end(spec, &spec->bars[i]) <= 100;
    snprintf(fits, sizeof fits, "the L2 of %d of %d", count, gpu_count);
    tap_ok(spec && spec->bar_count == gpu_count && strstr(spec->title, fits) &&
               spec->bars[0].tick > chart_bar_end(spec, &spec->bars[0]),
           "working set: a row a GPU, the gather traffic as a tick; %s", fits);
    free(spec);
    input.chart = CHART_MRC;
    input.edit.l2_mib = 7;
    spec = chart_make(&input, &err);
    const PlotSeries *strong = NULL;
    for (int i = 0; spec && i < spec->series_count; i++)
        strong = spec->series[i].strong ? &spec->series[i] : strong;
    double mb = NAN;
    for (int i = 0; strong && i < spec->mark_count; i++)
        mb = spec->marks[i].strong ? chart_crossing(spec, strong, spec->marks[i].x) : mb;
    tap_ok(strong && fabs(atof(spec->title + strlen("V4 moves ")) / (1e3 * mb) - 1) < 0.02 &&
               strstr(spec->title, "kB to and from DRAM"),
           "traffic: %s, the line %.3g MB", spec ? spec->title : "", mb);
    free(spec);
    input.chart = CHART_DTYPE;
    spec = chart_make(&input, &err);
    int bars = 0, fastest = 0;
    for (int i = 0; spec && i < spec->bar_count; i++)
        bars += spec->bars[i].parts[0] > 0,
            fastest += strstr(spec->title, spec->bars[i].label) != NULL;
    tap_ok(bars == BEV_DTYPE_COUNT - 1 && !fastest,
           "formats: a bar each; one was not replayed, so none is called the fastest: %s",
           spec ? spec->title : "");
    free(spec);
}

/* Where rows are few, the bars without one are named, and the selection has one. */
static void test_left_out(void) {
    ChartInput input = input_of(CHART_TERMS, ROOM_LOW);
    input.kernel = &fixture_kernels[0 + 2];
    ChartSpec *spec = chart_make(&input, &err);
    Cells cells;
    tap_need(spec && cells_init(&cells, 100, 7, &err), "five rows for eight bars");
    Sheet sheet = cells_sheet(&cells);
    sheet.back->chart(&sheet, (Area){0, 0, 100, 7}, spec, "model");
    char *text = cells_to_text(&cells), *left_out = text ? strstr(text, "left out:") : NULL;
    int named = 0;
    for (int i = 0; left_out && i < spec->bar_count; i++)
        named += strstr(text, spec->bars[i].label) != NULL;
    tap_ok(left_out && named == spec->bar_count && strstr(text, "block atomic") < left_out,
           "every kernel is named, the selection with its bar");
    free(text);
    cells_free(&cells);
    free(spec);
}

static void test_timeline(void) {
    ChartInput input = input_of(CHART_TIMELINE, ROOM_BOX);
    MemoryModel model = *input.model;
    Timeline *t = &model.timelines.list[0];
    for (int way = 0; way < TIMELINE_WAYS; way++)
        t->runs[way].end_us *= way == TIMELINE_GRAPH; /* the others were not run */
    input.model = &model;
    ChartSpec *spec = chart_make(&input, &err);
    tap_need(spec != NULL, "a recorded time line becomes a chart");
    FigureLayout layout;
    tap_need(page_layout(plot_page(spec, 0, 1, &plot), &layout, &err), "which is laid out");
    tap_ok(find_text(&layout, "in a CUDA graph") && find_text(&layout, "host") &&
               find_text(&layout, "40.0 µs in all, 20.0 µs a launch"),
           "with a lane for the host and one for the kernels");
    tap_ok(strstr(spec->note, "recorded: NVIDIA H200, driver 1, CUDA 13.0, 2026-11-20"),
           "marked recorded, with GPU and date");
    figure_layout_free(&layout);
    free(spec);
    model.timelines.count = 0;
    input.room = ROOM_BOX;
    spec = chart_make(&input, &err);
    tap_ok(spec && strstr(spec->note, "Not recorded") && strstr(spec->bars[0].text, "not recorded"),
           "without a recording it says so");
    free(spec);
}

TAP_SUITE(chart) {
    test_timeline();
    for (int chart = 1; chart < CHART_COUNT; chart++)
        test_boxes((Chart)chart);
    test_all_charts();
    test_titles();
    test_left_out();
    state = fixture_state(200, 60);
    live = fixture_live(&state);
    live.model = fixture_model();
    test_terms();
}
