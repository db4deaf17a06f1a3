/* SPDX-License-Identifier: MIT */
/* Charts: every text has a place, values where they belong. */
#include "src/view/chart/chart.h"
#include "tests/view/page_texts.h"
#include "tests/view/view_check.h"

#include <math.h>

static Err err; /* why a step failed */
static PlotPage plot;

static const PageSpec *paged(const ChartSpec *spec) {
    return plot_page(spec, 0, 1, &plot);
}

enum { POINTS = 50 };

static double line_x[POINTS], line_y[POINTS];
static const double dot_x[] = {10}, dot_y[] = {100};

static const PlotMark marks[] = {{4, "AGX Orin, 4 MiB", false},
                                 {50, "H100, 50 MiB", false},
                                 {51, "H200, nearly the same place", true},
                                 {128, "RTX PRO 6000, 128 MiB", true},
                                 {1e9, "beyond the axis", false}};

static ChartSpec lines_spec(PlotSeries series[2]) {
    for (int i = 0; i < POINTS; i++) {
        line_x[i] = 0.1 * pow(2, i / 4.0);
        line_y[i] = i == 20 ? NAN : 1000.0 / (1 + i);
    }
    series[0] =
        (PlotSeries){.name = "a line with a gap", .x = line_x, .y = line_y, .count = POINTS};
    series[1] =
        (PlotSeries){.name = "a dot", .x = dot_x, .y = dot_y, .count = 1, .color = 1, .dots = true};
    return (ChartSpec){.title = "A chart",
                       .subtitle = "with a subtitle",
                       .note = "Model: first paragraph.\nSecond paragraph.",
                       .x = {"size, MiB", true, 0.1, 1000},
                       .y = {"latency, us", true, 1, 10000},
                       .series = series,
                       .series_count = 2,
                       .marks = marks,
                       .mark_count = 5};
}

static ChartSpec bars_spec(PlotBar *bars) {
    static const char *const parts[] = {"features", "output"};
    bars[0] = (PlotBar){.group = "first group", .label = "inside", .parts = {20, 30}};
    bars[1] = (PlotBar){.label = "cut", .parts = {20, 500}};
    bars[2] = (PlotBar){.group = "second group with a long heading that goes on and on",
                        .label = "absent",
                        .parts = {NAN, 40}};
    for (int i = 0; i < 3; i++)
        snprintf(bars[i].text, sizeof bars[i].text, "text %d", i);
    return (ChartSpec){.title = "Bars",
                       .note = "A note.",
                       .x = {"%", false, 0, 100},
                       .part_names = parts,
                       .part_count = 2,
                       .bars = bars,
                       .bar_count = 3,
                       .marks = marks,
                       .mark_count = 2};
}

static void check_layout(const char *name, const FigureLayout *layout) {
    const Box page = {0, 0, layout->w, layout->h};
    tap_ok(layout->count > 10 && !count_outside(layout, page, 0), "%s: every text is on the page",
           name);
    tap_ok(!count_overlaps(layout, 0), "%s: no text lies on another", name);
}

static void test_lines(void) {
    PlotSeries series[2];
    ChartSpec spec = lines_spec(series);
    FigureLayout layout;
    Image light, dark;
    tap_ok(page_layout(paged(&spec), &layout, &err), "a chart of lines is laid out");
    check_layout("lines", &layout);
    tap_ok(!find_text(&layout, "beyond the axis"), "a mark beyond the axis is left out");
    const FigureText *h100 = find_text(&layout, "H100, 50 MiB");
    const FigureText *h200 = find_text(&layout, "H200, nearly the same place");
    tap_ok(h100 && h200 && h200->y >= h100->y + h100->h,
           "labels of near marks have their own rows");
    tap_ok(find_text(&layout, "Second paragraph."), "a note may have paragraphs");
    const FigureText *line = find_text(&layout, "a line with a gap");
    const FigureText *dot = find_text(&layout, "a dot");
    tap_ok(line && dot && line->x + line->w < dot->x,
           "a line has its name at its end, a dot beside it");
    for (size_t i = 0; i < layout.count; i++)
        tap_ok(!layout.texts[i].style.upwards, "'%s' reads from left to right",
               layout.texts[i].text);
    figure_layout_free(&layout);
    tap_ok(page_image(paged(&spec), &light, &err) &&
               count_color(&light, plot_color(0, THEME_LIGHT)) > 200,
           "the line is drawn in its colour");
    tap_ok(count_color(&light, plot_color(1, THEME_LIGHT)) > 60, "and so is the dot");
    spec.theme = THEME_DARK;
    tap_ok(page_image(paged(&spec), &dark, &err) && count_color(&dark, (Rgb){255, 255, 255}) == 0,
           "a dark page has no white on it");
    image_free(&light);
    image_free(&dark);
}

static void test_bars(void) {
    PlotBar bars[3];
    ChartSpec spec = bars_spec(bars);
    FigureLayout layout;
    Image image;
    tap_ok(page_layout(paged(&spec), &layout, &err), "a chart of bars is laid out");
    check_layout("bars", &layout);
    const FigureText *inside = find_text(&layout, "text 0"), *cut = find_text(&layout, "text 1");
    const FigureText *third = find_text(&layout, "text 2");
    tap_ok(inside && cut && third && cut->x > inside->x && inside->x > third->x,
           "texts stand at the ends of their bars, an absent part counts nothing");
    figure_layout_free(&layout);
    tap_ok(page_image(paged(&spec), &image, &err), "bars become pixels");
    double feature = count_color(&image, plot_color(0, THEME_LIGHT));
    double output = count_color(&image, plot_color(1, THEME_LIGHT));
    /* 20 solid units of the first part, 30 and 40 of the second, and the keys. */
    tap_ok(fabs(output / feature - 3.5) < 0.25, "areas are as the values: %.2f", output / feature);
    image_free(&image);
}

/* The type of a narrow page is as large as in every column of a paper. */
static void test_width(void) {
    enum { COLUMN_W = 321 }; /* 85 mm */
    PlotSeries series[2];
    ChartSpec spec = lines_spec(series);
    FigureLayout layout;
    tap_need(page_layout(plot_page(&spec, COLUMN_W, 1, &plot), &layout, &err),
             "a page of 85 mm is laid out");
    check_layout("85 mm", &layout);
    const FigureText *title = find_text(&layout, spec.title);
    double least = INFINITY;
    for (size_t i = 0; i < layout.count; i++)
        least = fmin(least, layout.texts[i].style.size);
    tap_ok(layout.w == COLUMN_W && title && title->style.size == 13 && least >= 10,
           "it has this width, and type of %.1f pt and more", 0.75 * least);
    figure_layout_free(&layout);
}

static void test_files(void) {
    PlotSeries series[2];
    ChartSpec spec = lines_spec(series);
    MemoryStream file;
    tap_need(page_file(paged(&spec), PICTURE_PDF, &file, &err), "a chart becomes a PDF");
    tap_ok(file.length > 1000 && !memcmp(file.bytes, "%PDF", 4) &&
               memmem(file.bytes, file.length, "/Title (A chart)", 16) &&
               memmem(file.bytes, file.length, "/FontFile", 9),
           "with its title, and its fonts embedded");
    free(file.bytes);
    tap_need(page_file(paged(&spec), PICTURE_SVG, &file, &err), "and an SVG");
    const char *text = file.bytes, *name = strstr(text, ">a line with a gap</text>");
    tap_ok(name && strstr(text, "<title>A chart</title>") && !strstr(text, "fill-opacity=\"0\"") &&
               !strstr(text, "glyph"),
           "whose texts are texts, and seen");
    free(file.bytes);
}

TAP_SUITE(plot) {
    test_lines();
    test_width();
    test_files();
    test_bars();
}
