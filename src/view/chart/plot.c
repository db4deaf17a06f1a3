/* SPDX-License-Identifier: MIT */
/* Charts in pixels: the frame around lines and bars, both, and pages of their own. */
#include "src/view/chart/chart.h"

#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Type sizes: of a wide page, or of a narrow one and of a box on a larger page. */
typedef struct {
    double title, body, small;
} PlotType;

typedef struct {
    Pen *pen;
    FigureTheme theme;
    const PlotType *type;
    bool boxed;        /* on a larger page: where room is short, the note goes */
    const char *aside; /* muted words at the right of the title; NULL: none */
    bool cells;        /* texts are characters, PLOT_CELL_H high */
} PlotFrame;

enum { PLOT_CELL_H = 16, PLOT_DOT = 5 }; /* a dot's radius: its size tells nothing */

static const PlotType wide_type = {SIZE_TITLE, SIZE_BODY, SIZE_SMALL};
static const PlotType boxed_type = {SIZE_HEADING, 12, 11};
static const PlotType cells_type = {14, 14, 14};    /* as wide as characters */
static const PlotType column_type = {13, 10.5, 10}; /* 7.5 pt and more */

PlotSeries plot_series(const char *name, const double *x, const double *y, int count, int color) {
    return (PlotSeries){.name = name, .x = x, .y = y, .count = count, .color = color};
}

static int by_x(const void *a, const void *b) {
    double x = ((const PlotMark *)a)->x, y = ((const PlotMark *)b)->x;
    return (x > y) - (x < y);
}

void chart_sort_marks(PlotMark *marks, int count) {
    qsort(marks, (size_t)count, sizeof *marks, by_x);
}

void chart_bar_text(const PlotBar *bar, int pieces, char text[BAR_TEXT]) {
    size_t length = strcspn(bar->text, ",");
    for (int i = 1; i < pieces && bar->text[length]; i++)
        length += 1 + strcspn(bar->text + length + 1, ",");
    snprintf(text, BAR_TEXT, "%.*s", (int)length, bar->text);
}

double chart_bar_end(const ChartSpec *spec, const PlotBar *bar) {
    double end = 0;
    for (int i = 0; i < bar->span_count; i++)
        end = fmax(end, bar->spans[i].to);
    for (int part = 0; !bar->spans && part < spec->part_count; part++)
        end += bar->parts[part] > 0 ? bar->parts[part] : 0;
    return end;
}

static TextStyle plot_body(const PlotFrame *frame) {
    TextStyle style = style_body(frame->pen);
    style.size = frame->type->body;
    return style;
}

static TextStyle plot_muted(const PlotFrame *frame) {
    TextStyle style = style_muted(frame->pen);
    style.size = frame->type->small;
    return style;
}

const Ink plot_inks[PLOT_COLORS] = {INK_FEATURES, INK_DEPTH, INK_INDEX, INK_OUTPUT, INK_MUTED};

Ink chart_part_ink(const ChartSpec *spec, const PlotBar *bar, int part) {
    if (spec->part_count > 1)
        return plot_inks[(unsigned)part % PLOT_COLORS];
    return bar && bar->strong ? INK_ACCENT : bar && bar->baseline ? INK_BASELINE : INK_MUTED;
}

Rgb plot_color(int index, FigureTheme theme) {
    return ink_color(plot_inks[(unsigned)index % PLOT_COLORS], theme == THEME_LIGHT, false);
}

/* Returns the colour of the selection or of the baseline; else `usual`. */
static Rgb role_color(const PlotFrame *frame, bool strong, bool baseline, Rgb usual) {
    return strong || baseline
               ? ink_color(strong ? INK_ACCENT : INK_BASELINE, frame->theme == THEME_LIGHT, false)
               : usual;
}

/* Whether a series is grey, because another one is to be looked at. */
static bool plot_is_muted(const ChartSpec *spec, const PlotSeries *series) {
    bool strong = false;
    for (int i = 0; i < spec->series_count; i++)
        strong = strong || spec->series[i].strong;
    return strong && series->peer && !series->strong && !series->baseline;
}

/* ---- axes ----------------------------------------------------------------------------------- */

double chart_along(const PlotAxis *axis, double value) {
    if (axis->log)
        return log(value / axis->lo) / log(axis->hi / axis->lo);
    return (value - axis->lo) / (axis->hi - axis->lo);
}

static bool is_on_axis(const PlotAxis *axis, double value) {
    double at = isfinite(value) && (!axis->log || value > 0) ? chart_along(axis, value) : NAN;
    return at >= -1e-9 && at <= 1 + 1e-9;
}

double chart_crossing(const ChartSpec *spec, const PlotSeries *series, double x) {
    double at = chart_along(&spec->x, x);
    for (int i = 1; i < series->count && !series->dots; i++) {
        double x0 = chart_along(&spec->x, series->x[i - 1]);
        double x1 = chart_along(&spec->x, series->x[i]);
        double y0 = series->y[i - 1], y1 = series->y[i];
        double share = x0 <= at && at <= x1 && x1 > x0 ? (at - x0) / (x1 - x0) : NAN;
        if (isfinite(share))
            return spec->y.log && y0 > 0 && y1 > 0 ? y0 * pow(y1 / y0, share)
                                                   : y0 + (y1 - y0) * share;
    }
    return NAN;
}

/* Returns the position of a value in the box; y grows upwards. */
static double plot_x(const PlotAxis *axis, Box box, double value) {
    return box.x + box.w * chart_along(axis, value);
}

static double plot_y(const PlotAxis *axis, Box box, double value) {
    return box.y + box.h * (1 - chart_along(axis, value));
}

/* Returns the height of the labels and the title under a chart. */
static double axis_height(const PlotFrame *frame) {
    return frame->cells ? PLOT_CELL_H : frame->type->small + frame->type->body + 20;
}

/* Writes the label of a tick: in cells the last one has the unit. */
static void tick_label(const PlotFrame *frame, const PlotAxis *axis, const Ticks *ticks, int i,
                       char label[48]) {
    bool unit = frame->cells && axis->unit && i == ticks->count - 1;
    snprintf(label, 48, "%s%s%s", ticks->label[i], unit ? " " : "", unit ? axis->unit : "");
}

static void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box, Box whole) {
    Pen *pen = frame->pen;
    Ticks ticks = ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(box.w / 50, 10), 4));
    TextStyle style = aligned(plot_muted(frame), ALIGN_CENTER);
    char title[160], multiplier[48], label[48];
    const double baseline = box.y + box.h + (frame->cells ? 0 : 7) + style.size;
    for (int i = 0; i < ticks.count; i++) {
        double x = plot_x(axis, box, ticks.at[i]);
        tick_label(frame, axis, &ticks, i, label);
        if (!frame->cells)
            pen_line(pen, x, box.y, x, box.y + box.h + 4, pen->theme->rule, 0.7, 1);
        double half = pen_text_width(pen, &style, label) / 2;
        x = fmax(fmin(x, whole.x + whole.w - half), whole.x + half);
        pen_text(pen, x, baseline, 120, &style, label);
    }
    if (frame->cells)
        return;
    ticks_multiplier(ticks.exponent, multiplier, sizeof multiplier);
    snprintf(title, sizeof title, "%s %s", axis->title, multiplier);
    style = aligned(plot_body(frame), ALIGN_CENTER);
    double half = pen_text_width(pen, &style, title) / 2;
    double middle = fmin(box.x + box.w / 2, whole.x + whole.w - half);
    pen_text(pen, fmax(middle, whole.x + half), box.y + box.h + axis_height(frame) - 5, whole.w,
             &style, title);
}

/* Draws a text on a patch in the page's colour, so that no line runs through the text. */
static void plot_text(const PlotFrame *frame, double x, double baseline, double max_w,
                      const TextStyle *style, const char *text) {
    Box box = pen_text_box(frame->pen, x, baseline, max_w, style, text);
    pen_fill(frame->pen, (Box){box.x - 3, box.y, box.w + 6, box.h}, frame->pen->theme->page, 1);
    pen_text(frame->pen, x, baseline, max_w, style, text);
}

/* ---- marks ---------------------------------------------------------------------------------- */

enum { MARKS = 32, MARK_GAP = 4, MOST_ROWS = 8, NARROW_ROWS = 4, ROWS_W = 500 };

/* Where the label of a mark stands. row -1: it has no room, and the mark is left out. */
typedef struct {
    double x, w;
    int row;
} MarkPlace;

typedef struct {
    MarkPlace places[MARKS];
    double band; /* height of the labels above the data */
} Marks;

static TextStyle mark_style(const PlotFrame *frame, const PlotMark *mark) {
    TextStyle style = plot_muted(frame);
    style.bold = mark->strong;
    style.color = mark->strong ? frame->pen->theme->text : frame->pen->theme->muted;
    return style;
}

/* Moves the mark to the first row in which it touches no other. */
static void place_mark(const ChartSpec *spec, MarkPlace places[MARKS], int mark, const double *at) {
    MarkPlace *place = &places[mark];
    place->row = 0;
    for (int i = 0; i < spec->mark_count && i < MARKS; i++) {
        double from = fmin(place->x, at[mark]) - 4, to = fmax(place->x + place->w, at[mark]) + 4;
        if (i != mark && places[i].row >= place->row && fmin(places[i].x, at[i]) < to &&
            fmax(places[i].x + places[i].w, at[i]) > from)
            place->row = places[i].row + 1;
    }
}

/* Finds the rows of all marks, or of the strong ones. Returns the number of rows. */
static int find_mark_rows(const ChartSpec *spec, const double *at, bool only_strong,
                          MarkPlace places[MARKS]) {
    int count = spec->mark_count < MARKS ? spec->mark_count : MARKS, rows = 0;
    for (int i = 0; i < count; i++)
        places[i].row = -1;
    for (int left = 1; left >= 0; left--) /* labels left of their lines come first, from the last */
        for (int j = 0; j < count; j++) {
            int i = left ? count - 1 - j : j;
            if (is_on_axis(&spec->x, spec->marks[i].x) && (places[i].x < at[i]) == left &&
                (spec->marks[i].strong || !only_strong))
                place_mark(spec, places, i, at);
        }
    for (int i = 0; i < count; i++)
        rows = places[i].row >= rows ? places[i].row + 1 : rows;
    return rows;
}

/* Returns the distance between two rows of labels. */
static double mark_step(const PlotFrame *frame) {
    return frame->cells ? PLOT_CELL_H : frame->type->small + 5;
}

/* Places the labels of the marks above the data. A label stands right of its line where it has room
 * before `right`, else left. A label moves down until it touches no other label and no other line.
 * Where that takes too many rows, only strong marks stay. The x axis goes from `x` to x + w. */
static Marks place_marks(const PlotFrame *frame, const ChartSpec *spec, double x, double w,
                         double right) {
    Marks marks;
    double at[MARKS];
    for (int i = 0; i < spec->mark_count && i < MARKS; i++) {
        TextStyle style = mark_style(frame, &spec->marks[i]);
        double label_w = pen_text_width(frame->pen, &style, spec->marks[i].label) + 1;
        MarkPlace *place = &marks.places[i];
        at[i] = x + w * chart_along(&spec->x, spec->marks[i].x);
        *place = (MarkPlace){at[i] + MARK_GAP, fmin(label_w, right - x), -1};
        if (place->x + label_w > right)
            place->x = fmax(at[i] - MARK_GAP - label_w, x);
    }
    int rows = find_mark_rows(spec, at, frame->cells, marks.places);
    if (rows > (w < ROWS_W ? NARROW_ROWS : MOST_ROWS))
        rows = find_mark_rows(spec, at, true, marks.places);
    marks.band = rows ? rows * mark_step(frame) + (frame->cells ? 0 : 6) : 0;
    return marks;
}

static void draw_marks(const PlotFrame *frame, const ChartSpec *spec, Box chart,
                       const Marks *marks) {
    for (int i = 0; i < spec->mark_count && i < MARKS; i++) {
        const MarkPlace *place = &marks->places[i];
        if (place->row < 0)
            continue;
        bool strong = spec->marks[i].strong;
        TextStyle style = mark_style(frame, &spec->marks[i]);
        double x = plot_x(&spec->x, chart, spec->marks[i].x);
        double top = chart.y - marks->band + place->row * mark_step(frame);
        pen_line(frame->pen, x, top, x, chart.y + chart.h, style.color, strong ? 0.9 : 0.5,
                 strong ? 1.5 : 1);
        plot_text(frame, place->x, top + style.size, place->w, &style, spec->marks[i].label);
    }
}

/* ---- head and note -------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    Rgb color;
    bool dot, hollow;
} Key;

/* Lists the entries of the legend: parts without their names in the bars, the ticks, and each named
 * series of several dots. */
static int list_keys(const PlotFrame *frame, const ChartSpec *spec, Key list[PLOT_PARTS + 4]) {
    bool light = frame->theme == THEME_LIGHT, spans = spec->bar_count && spec->bars[0].spans;
    int count = 0;
    for (int part = 0; part < spec->part_count && spec->part_count > 1 && !spans; part++)
        if (!spec->part_inks)
            list[count++] =
                (Key){spec->part_names[part],
                      ink_color(chart_part_ink(spec, NULL, part), light, false), false, false};
    if (spec->tick_name)
        list[count++] = (Key){spec->tick_name, frame->pen->theme->text, false, true};
    for (int i = 0; i < spec->series_count && count < PLOT_PARTS + 4; i++) {
        const PlotSeries *series = &spec->series[i];
        if (series->dots && series->count > 1 && series->name)
            list[count++] = (Key){series->name,
                                  role_color(frame, series->strong, series->baseline,
                                             plot_color(series->color, frame->theme)),
                                  true, series->faint};
    }
    return count;
}

static void plot_dot(const PlotFrame *frame, double x, double y, double radius, Rgb color,
                     bool hollow) {
    Pen *pen = frame->pen;
    if (pen->measuring)
        return;
    cairo_new_sub_path(pen->cr);
    cairo_arc(pen->cr, x, y, radius, 0, 2 * M_PI);
    if (hollow) {
        pen_stroke(pen, color, 1, 1.5);
        return;
    }
    pen_color(pen, color, 1);
    cairo_fill(pen->cr);
}

/* Draws the legend in lines as wide as the box. Returns its height; 0: the legend has no entries.
 */
static double plot_keys(const PlotFrame *frame, const ChartSpec *spec, Box box, double y) {
    Key list[PLOT_PARTS + 4];
    int count = list_keys(frame, spec, list);
    TextStyle style = plot_body(frame);
    double x = box.x, top = y, side = 0.8 * style.size;
    for (int i = 0; i < count; i++) {
        double w = side + 6 + pen_text_width(frame->pen, &style, list[i].name);
        if (x > box.x && x + w > box.x + box.w) {
            x = box.x;
            y += 1.4 * style.size;
        }
        Box square = {x, y + 0.95 * style.size - side, side, side};
        if (list[i].dot)
            plot_dot(frame, x + side / 2, square.y + side / 2, 0.45 * side, list[i].color,
                     list[i].hollow);
        else if (list[i].hollow)
            pen_frame(frame->pen, (Box){x + 3, square.y + 1, 3, side - 2}, list[i].color, 1, 1.5);
        else
            pen_fill(frame->pen, square, list[i].color, 1);
        pen_text(frame->pen, x + side + 6, y + style.size, box.w, &style, list[i].name);
        x += w + 1.7 * style.size;
    }
    return count ? y + 2 * style.size - top : 0;
}

/* Draws title and subtitle at the head of a box; returns the y below them. */
static double plot_head(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    const PlotType *type = frame->type;
    TextStyle style = {.size = type->title, .bold = true, .color = frame->pen->theme->text};
    TextStyle muted = aligned(plot_muted(frame), ALIGN_RIGHT);
    double aside = 0, y = box.y;
    if (frame->aside && frame->aside[0]) {
        aside = fmin(pen_text_width(frame->pen, &muted, frame->aside), box.w / 2) + 16;
        pen_text(frame->pen, box.x + box.w, y + type->title, aside - 15, &muted, frame->aside);
    }
    y += pen_paragraph(frame->pen, box.x, y, box.w - aside, &style, spec->title);
    style = plot_body(frame);
    style.color = frame->pen->theme->muted;
    if (spec->subtitle && spec->subtitle[0])
        y += pen_paragraph(frame->pen, box.x, y, box.w, &style, spec->subtitle);
    return y + (frame->boxed ? 2 : 0.8 * type->body);
}

static double plot_note(const PlotFrame *frame, double x, double y, double w, const char *note) {
    TextStyle style = plot_muted(frame);
    char paragraph[1024];
    double top = y;
    while (note && *note) {
        size_t length = strcspn(note, "\n");
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, note);
        y += pen_paragraph(frame->pen, x, y, w, &style, paragraph);
        note += length + (note[length] == '\n');
    }
    return y - top;
}

static double plot_note_height(const PlotFrame *frame, double w, const char *note) {
    bool measuring = frame->pen->measuring;
    frame->pen->measuring = true;
    double h = plot_note(frame, 0, 0, w, note);
    frame->pen->measuring = measuring;
    return h + 8;
}

/* ---- bars ------------------------------------------------------------------------------------ */

enum { BAR_H = 16, BAR_STEP = 22, GROUP_STEP = 30, PAD = 8 };

/* Places of the rows: as on a page, or closer together in a low box. */
typedef struct {
    Box chart;
    double label_w, end_w, bar_h, step, group_step;
} Rows;

static double rows_height(const ChartSpec *spec, double step, double group_step) {
    double h = 2 * PAD;
    for (int i = 0; i < spec->bar_count; i++)
        h += step + (spec->bars[i].group ? group_step : 0);
    return h;
}

/* Returns the end of a bar on the page, and whether it was cut there. */
static double bar_end(const ChartSpec *spec, Box box, const PlotBar *bar, bool *cut) {
    double sum = chart_bar_end(spec, bar);
    *cut = sum > spec->x.hi;
    return plot_x(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
}

static Rgb part_color(const PlotFrame *frame, const ChartSpec *spec, const PlotBar *bar, int part) {
    Ink ink = spec->part_inks ? spec->part_inks[part] : chart_part_ink(spec, bar, part);
    return ink_color(ink, frame->theme == THEME_LIGHT, false);
}

/* Draws the name of a part within it, in the first bar of a group. */
static void draw_part_name(const PlotFrame *frame, const ChartSpec *spec, const PlotBar *bar,
                           int part, Box box) {
    TextStyle style = aligned(plot_muted(frame), ALIGN_CENTER);
    const Theme *theme = frame->pen->theme;
    Rgb color = part_color(frame, spec, bar, part);
    bool on_page = rgb_contrast(color, theme->page) > rgb_contrast(color, theme->text);
    style.color = on_page ? theme->page : theme->text;
    if (bar->group && pen_text_width(frame->pen, &style, spec->part_names[part]) < box.w - 6)
        pen_text(frame->pen, box.x + box.w / 2, box.y + box.h / 2 + 0.38 * style.size, box.w,
                 &style, spec->part_names[part]);
}

/* Draws a hollow tick. Beyond the axis it is an arrow at the axis's end. */
static void draw_tick(const PlotFrame *frame, const ChartSpec *spec, const Rows *rows,
                      const PlotBar *bar, double y) {
    Pen *pen = frame->pen;
    double end = rows->chart.x + rows->chart.w, half = rows->bar_h / 2;
    if (!(bar->tick > 0) || pen->measuring)
        return;
    if (bar->tick <= spec->x.hi) {
        Box box = {plot_x(&spec->x, rows->chart, bar->tick) - 2, y - 1, 4, rows->bar_h + 2};
        pen_fill(pen, box, pen->theme->page, 1);
        pen_frame(pen, box, pen->theme->text, 1, 1.5);
        return;
    }
    cairo_move_to(pen->cr, end - 6, y + 1);
    cairo_line_to(pen->cr, end + 1, y + half);
    cairo_line_to(pen->cr, end - 6, y + 2 * half - 1);
    cairo_close_path(pen->cr);
    pen_color(pen, pen->theme->page, 1);
    cairo_fill_preserve(pen->cr);
    pen_stroke(pen, pen->theme->text, 1, 1.5);
}

static void draw_parts(const PlotFrame *frame, const ChartSpec *spec, const Rows *rows,
                       const PlotBar *bar, double y) {
    Box box = rows->chart;
    double x = box.x, sum = 0;
    bool cut;
    for (int i = 0; i < bar->span_count; i++) {
        const PlotSpan *span = &bar->spans[i];
        double from = plot_x(&spec->x, box, fmin(span->from, spec->x.hi));
        double to = plot_x(&spec->x, box, fmin(span->to, spec->x.hi));
        pen_fill(frame->pen, (Box){from, y, fmax(to - from, 1) - (to - from > 3), rows->bar_h},
                 part_color(frame, spec, bar, span->part), 1);
    }
    for (int part = 0; part < spec->part_count; part++) {
        if (bar->spans || !(bar->parts[part] > 0))
            continue;
        sum += bar->parts[part];
        double to = plot_x(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
        pen_fill(frame->pen, (Box){x, y, fmax(to - x, 1), rows->bar_h},
                 part_color(frame, spec, bar, part), 1);
        if (spec->part_inks)
            draw_part_name(frame, spec, bar, part, (Box){x, y, to - x, rows->bar_h});
        x = to;
    }
    x = bar_end(spec, box, bar, &cut);
    for (int i = 0; cut && i < 2; i++)
        pen_line(frame->pen, x - 12 - 6 * i, y - 2, x - 18 - 6 * i, y + rows->bar_h + 2,
                 frame->pen->theme->page, 1, 3);
    draw_tick(frame, spec, rows, bar, y);
}

/* Writes the text at a bar's end into `text`: as many pieces as fit into `room`. Returns the rest
 * of the bar's text, without its comma. */
static const char *end_text(const PlotFrame *frame, const PlotBar *bar, const TextStyle *style,
                            double room, char text[BAR_TEXT]) {
    int pieces = ALL_PIECES;
    do
        chart_bar_text(bar, pieces, text);
    while (--pieces > 0 && pen_text_width(frame->pen, style, text) > room);
    const char *rest = bar->text + strlen(text);
    return rest + strspn(rest, ", ");
}

/* Draws the second piece of a text within a bar that is long enough for it. */
static void text_within(const PlotFrame *frame, const Rows *rows, double end, double baseline,
                        TextStyle style, const char *rest) {
    char text[BAR_TEXT];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(rest, ","), rest);
    style.color = frame->pen->theme->page;
    style.align = ALIGN_RIGHT;
    if (pen_text_width(frame->pen, &style, text) < end - rows->chart.x - 20)
        pen_text(frame->pen, end - 14, baseline, end - rows->chart.x, &style, text);
}

static void draw_texts(const PlotFrame *frame, const ChartSpec *spec, const Rows *rows,
                       const PlotBar *bar, double y) {
    const Theme *theme = frame->pen->theme;
    TextStyle text = plot_muted(frame), label = aligned(text, ALIGN_RIGHT);
    TextStyle heading = plot_body(frame);
    double baseline = y + rows->bar_h / 2 + 0.38 * text.size;
    char end[BAR_TEXT];
    bool cut;
    double x = bar_end(spec, rows->chart, bar, &cut) + 8;
    double tick = plot_x(&spec->x, rows->chart, fmin(bar->tick, spec->x.hi));
    const char *rest =
        end_text(frame, bar, &text, rows->chart.x + rows->chart.w + rows->end_w - 4 - x, end);
    if (spec->part_count == 1)
        text_within(frame, rows, x, baseline, text, rest);
    if (bar->tick > 0 && tick > x - 10 && tick - 10 < x + pen_text_width(frame->pen, &text, end))
        x = tick + 10;
    text.color = label.color = theme->text;
    label.color = role_color(frame, bar->strong, bar->baseline, theme->text);
    label.bold = heading.bold = true;
    label.bold = bar->strong;
    if (bar->group)
        plot_text(frame, rows->chart.x - rows->label_w, y - 0.35 * heading.size - 3,
                  rows->label_w + rows->chart.w + rows->end_w, &heading, bar->group);
    pen_text(frame->pen, rows->chart.x - 10, baseline, rows->label_w - 10, &label, bar->label);
    plot_text(frame, x, baseline, rows->chart.x + rows->chart.w + rows->end_w - 4 - x, &text, end);
}

static void draw_rows(const PlotFrame *frame, const ChartSpec *spec, const Rows *rows,
                      void (*draw)(const PlotFrame *, const ChartSpec *, const Rows *,
                                   const PlotBar *, double)) {
    double y = rows->chart.y + PAD;
    for (int i = 0; i < spec->bar_count; i++) {
        y += spec->bars[i].group ? rows->group_step : 0;
        draw(frame, spec, rows, &spec->bars[i], y);
        y += rows->step;
    }
}

/* ---- layout --------------------------------------------------------------------------------- */

/* Returns the width of the longest text that has no room behind its bar. */
static double ends_width(const PlotFrame *frame, const ChartSpec *spec, int pieces, double bars_w) {
    TextStyle style = plot_muted(frame);
    double widest = 0;
    for (int i = 0; i < spec->bar_count; i++) {
        char text[BAR_TEXT];
        double end = fmax(chart_bar_end(spec, &spec->bars[i]), spec->bars[i].tick);
        chart_bar_text(&spec->bars[i], pieces, text);
        double behind = bars_w * (1 - fmin(fmax(chart_along(&spec->x, end), 0), 1));
        widest = fmax(widest, pen_text_width(frame->pen, &style, text) + 24 - behind);
    }
    return widest;
}

/* Divides the width: labels, bars and texts. The last pieces of the texts yield to the bars. */
static void divide_width(const PlotFrame *frame, const ChartSpec *spec, double w, Rows *rows) {
    const double least_bars = 0.35;
    TextStyle style = plot_muted(frame);
    style.bold = true;
    rows->label_w = 0;
    for (int i = 0; i < spec->bar_count; i++)
        rows->label_w =
            fmax(rows->label_w, pen_text_width(frame->pen, &style, spec->bars[i].label) + 12);
    for (int pieces = ALL_PIECES;; pieces--)
        for (double share = 1; share >= least_bars; share -= 0.05) {
            double bars_w = share * (w - rows->label_w);
            rows->end_w = w - rows->label_w - bars_w;
            if (ends_width(frame, spec, pieces, bars_w) <= rows->end_w ||
                (pieces == 1 && share < least_bars + 0.05))
                return;
        }
}

static void plot_bars_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    Rows rows = {.bar_h = BAR_H, .step = BAR_STEP, .group_step = GROUP_STEP};
    double top = plot_head(frame, box, spec);
    top += plot_keys(frame, spec, box, top);
    divide_width(frame, spec, box.w, &rows);
    double chart_w = box.w - rows.label_w - rows.end_w;
    const Marks marks = place_marks(frame, spec, box.x + rows.label_w, chart_w, box.x + box.w);
    double note_h = plot_note_height(frame, box.w, spec->note);
    double need = rows_height(spec, BAR_STEP, GROUP_STEP);
    double room = box.y + box.h - top - marks.band - axis_height(frame);
    bool has_note = !frame->boxed || room - note_h > 0.6 * need;
    room -= has_note ? note_h : 0;
    double scale = frame->boxed ? fmin((room - 2 * PAD) / (need - 2 * PAD), 1) : 1;
    if (scale * BAR_STEP < frame->type->small)
        return;
    rows.bar_h *= scale, rows.step *= scale, rows.group_step *= scale;
    rows.chart = (Box){box.x + rows.label_w, top + marks.band, chart_w,
                       rows_height(spec, rows.step, rows.group_step)};
    plot_draw_x_axis(frame, &spec->x, rows.chart, box);
    draw_rows(frame, spec, &rows, draw_parts);
    draw_marks(frame, spec, rows.chart, &marks);
    draw_rows(frame, spec, &rows, draw_texts);
    if (has_note)
        plot_note(frame, box.x, rows.chart.y + rows.chart.h + axis_height(frame) + 8, box.w,
                  spec->note);
}

/* ---- lines and dots: names stand beside what they name --------------------------------------- */

enum { CHART_LEAST_H = 90 };

/* Finds the place of a point in the chart. False: it is beyond the x axis, or has no value. */
static bool plot_point(const ChartSpec *spec, Box box, const PlotSeries *series, int i, double *x,
                       double *y) {
    double value = series->y[i];
    if (!is_on_axis(&spec->x, series->x[i]) || !isfinite(value) || (spec->y.log && value <= 0))
        return false;
    *x = plot_x(&spec->x, box, series->x[i]);
    *y = plot_y(&spec->y, box, value);
    return true;
}

static Rgb plot_series_color(const PlotFrame *frame, const ChartSpec *spec,
                             const PlotSeries *series) {
    Rgb usual = plot_is_muted(spec, series) ? frame->pen->theme->muted
                                            : plot_color(series->color, frame->theme);
    return role_color(frame, series->strong, series->baseline, usual);
}

/* ---- names in charts of lines and dots: beside points, and at the ends of lines -------------- */

enum { AT_EDGE = 4, LEADER = 14 }; /* beside the end of a line */

/* ---- names beside points -------------------------------------------------------------------- */

enum { MOST_TAKEN = 160 };

/* Boxes in which a text or a dot stands. */
typedef struct {
    Box list[MOST_TAKEN];
    int count;
} Taken;

/* Notes that a text or a dot stands in the box. */
static void take_box(Taken *taken, Box box) {
    if (taken->count < MOST_TAKEN)
        taken->list[taken->count++] = box;
}

/* Whether nothing stands in the box. */
static bool is_free(const Taken *taken, Box box) {
    for (int i = 0; i < taken->count; i++)
        if (boxes_overlap(box, taken->list[i]))
            return false;
    return true;
}

/* Returns how many pieces of lines pass through the box. */
static int crossed_by(const ChartSpec *spec, Box chart, Box box) {
    int count = 0;
    for (int i = 0; i < spec->series_count; i++) {
        const PlotSeries *series = &spec->series[i];
        double x0, y0, x1, y1;
        for (int j = 1; j < series->count && !series->dots; j++)
            if (plot_point(spec, chart, series, j - 1, &x0, &y0) &&
                plot_point(spec, chart, series, j, &x1, &y1))
                for (double t = 0; t <= 1; t += 1 / fmax(hypot(x1 - x0, y1 - y0) / 4, 1))
                    count += boxes_overlap(
                        box, (Box){x0 + t * (x1 - x0) - 1, y0 + t * (y1 - y0) - 1, 2, 2});
    }
    return count;
}

enum { SIDES = 6, DISTANCES = 3 };

/* Returns a box beside the point: right, left, right and left of it at a corner, above, below. */
static Box box_beside(double x, double y, double w, double h, int side, int far) {
    static const double shifts[DISTANCES] = {0, -1, 1};
    double right = x + 9 + 8 * far, left = x - 9 - 8 * far - w, middle = x - w / 2;
    double above = y - 5 - 10 * far - h, below = y + 5 + 10 * far;
    double level = y - h / 2 + shifts[far] * h, corner = far ? below : above;
    const Box boxes[SIDES] = {{right, level, w, h}, {left, level, w, h},   {right, corner, w, h},
                              {left, corner, w, h}, {middle, above, w, h}, {middle, below, w, h}};
    return boxes[side];
}

/* Finds the best place for a name beside a point: on no text or dot, on the fewest lines, near the
 * point. False: there is none. */
static bool place_name(const ChartSpec *spec, Box chart, const Taken *taken, double x, double y,
                       double w, double h, Box *place) {
    int fewest = 0;
    bool found = false;
    for (int far = 0; far < DISTANCES; far++)
        for (int side = 0; side < SIDES; side++) {
            Box box = box_beside(x, y, w, h, side, far);
            if (box.x < chart.x + 2 || box.y < chart.y || box.x + w > chart.x + chart.w ||
                box.y + h > chart.y + chart.h - 1 || !is_free(taken, box))
                continue;
            int crossed = crossed_by(spec, chart, box);
            if (!found || crossed < fewest) {
                *place = box;
                fewest = crossed;
                found = true;
            }
            if (!fewest)
                return true;
        }
    return found;
}

/* Writes a name beside a point of the series, if it has room. */
static void name_point(const PlotFrame *frame, const ChartSpec *spec, Box chart,
                       const PlotSeries *series, int i, const char *name, Taken *taken) {
    double x, y;
    Box box = {0, 0, 0, 0};
    TextStyle style = plot_muted(frame);
    style.bold = series->strong && series->count == 1;
    if (!series->peer || series->strong || series->baseline || series->dots)
        style.color = series->dots && series->count > 1 ? frame->pen->theme->text
                                                        : plot_series_color(frame, spec, series);
    double w = pen_text_width(frame->pen, &style, name) + 1, h = style.size + 2;
    if (!plot_point(spec, chart, series, i, &x, &y) ||
        !place_name(spec, chart, taken, x, y, w, h, &box))
        return;
    if (series->dots) {
        double near_x = fmin(fmax(x, box.x), box.x + w), near_y = fmin(fmax(y, box.y), box.y + h);
        if (hypot(near_x - x, near_y - y) > 14)
            pen_line(frame->pen, x, y, near_x, near_y, style.color, 0.5, 1);
    }
    plot_text(frame, box.x, box.y + 0.85 * h, w, &style, name);
    take_box(taken, box);
}

/* ---- names at the ends of lines ------------------------------------------------------------- */

enum { MOST_ENDS = 32 };

typedef struct {
    int series;
    double from_y, y; /* the height of the line's end, and of its name */
} End;

typedef struct {
    End list[MOST_ENDS];
    int count;
} Ends;

/* Finds the point of a line at the edge of the chart. False: the line does not reach the edge. */
static bool edge_point(const ChartSpec *spec, Box chart, const PlotSeries *series, bool left,
                       double *y) {
    double x;
    for (int i = 0; i < series->count; i++)
        if (plot_point(spec, chart, series, left ? i : series->count - 1 - i, &x, y))
            return fabs(x - (left ? chart.x : chart.x + chart.w)) <= AT_EDGE;
    return false;
}

static Ends find_ends(const ChartSpec *spec, Box chart, bool left) {
    Ends ends = {.count = 0};
    for (int i = 0; i < spec->series_count && ends.count < MOST_ENDS; i++) {
        const PlotSeries *series = &spec->series[i];
        double y;
        if (series->dots || !series->name || !edge_point(spec, chart, series, left, &y))
            continue;
        int at = ends.count++;
        for (; at > 0 && ends.list[at - 1].from_y > y; at--)
            ends.list[at] = ends.list[at - 1];
        ends.list[at] = (End){i, y, y};
    }
    return ends;
}

/* Returns how far apart the ends are, summed over neighbours; large gaps count little. */
static double spread_of(const Ends *ends) {
    double sum = 0;
    for (int i = 1; i < ends->count; i++)
        sum += fmin(ends->list[i].from_y - ends->list[i - 1].from_y, 30);
    return sum;
}

/* Moves names apart that would touch. Grey lines lose their names first where there is no room. */
static void part_ends(const ChartSpec *spec, double step, Box chart, Ends *ends) {
    while (ends->count && ends->count * step > chart.h + step) {
        int drop = ends->count - 1;
        for (int i = 0; i < ends->count; i++)
            if (plot_is_muted(spec, &spec->series[ends->list[i].series]))
                drop = i; /* the last grey line, else the last line */
        memmove(&ends->list[drop], &ends->list[drop + 1],
                sizeof(End) * (size_t)(--ends->count - drop));
    }
    for (int i = 1; i < ends->count; i++)
        ends->list[i].y = fmax(ends->list[i].y, ends->list[i - 1].y + step);
    double limit = chart.y + chart.h;
    for (int i = ends->count - 1; i >= 0; i--, limit -= step)
        ends->list[i].y = limit = fmin(ends->list[i].y, limit);
}

static TextStyle end_style(const PlotFrame *frame, const ChartSpec *spec,
                           const PlotSeries *series) {
    TextStyle style = plot_muted(frame);
    style.bold = series->strong;
    style.color = plot_series_color(frame, spec, series);
    return style;
}

/* The side on which lines have their names: where their ends are farther apart. */
typedef struct {
    bool left;
    double w; /* room beside the chart */
} PlotSide;

static PlotSide plot_names_side(const PlotFrame *frame, const ChartSpec *spec, Box chart) {
    const Ends left = find_ends(spec, chart, true), right = find_ends(spec, chart, false);
    bool apart = left.count == right.count && spread_of(&left) > 1.5 * spread_of(&right);
    PlotSide side = {.left = apart || left.count > right.count};
    const Ends *ends = side.left ? &left : &right;
    for (int i = 0; i < ends->count; i++) {
        const PlotSeries *series = &spec->series[ends->list[i].series];
        TextStyle style = end_style(frame, spec, series);
        double w = pen_text_width(frame->pen, &style, series->name) + LEADER + 6;
        side.w = fmax(side.w, fmin(w, 0.35 * chart.w));
    }
    return side;
}

static void draw_ends(const PlotFrame *frame, const ChartSpec *spec, Box chart, PlotSide side) {
    double edge = side.left ? chart.x : chart.x + chart.w, away = side.left ? -1 : 1;
    Ends ends = find_ends(spec, chart, side.left);
    part_ends(spec, frame->cells ? PLOT_CELL_H : frame->type->small + 2, chart, &ends);
    for (int i = 0; i < ends.count; i++) {
        const End *end = &ends.list[i];
        const PlotSeries *series = &spec->series[end->series];
        TextStyle style =
            aligned(end_style(frame, spec, series), side.left ? ALIGN_RIGHT : ALIGN_LEFT);
        double from = fmin(end->from_y, chart.y + chart.h);
        pen_line(frame->pen, edge + away * 2, from, edge + away * (LEADER - 4), end->y, style.color,
                 0.6, 1);
        pen_text(frame->pen, edge + away * LEADER, end->y + 0.35 * style.size, side.w - LEADER,
                 &style, series->name);
    }
}

/* Returns the middle one of a line's points in the chart. */
static int middle_point(const ChartSpec *spec, Box chart, const PlotSeries *series) {
    double x, y;
    int seen = 0, point = 0;
    for (int i = 0; i < series->count; i++)
        seen += plot_point(spec, chart, series, i, &x, &y);
    for (int left = seen / 2 + 1; point < series->count && left > 0; point++)
        left -= plot_point(spec, chart, series, point, &x, &y);
    return point > 0 ? point - 1 : 0;
}

/* Draws names at the ends of lines, names of dots and of lines that end within the chart, and
 * labels of points. */
static void plot_names_draw(const PlotFrame *frame, const ChartSpec *spec, Box chart,
                            PlotSide side) {
    Taken taken = {.count = 0};
    double x, y;
    draw_ends(frame, spec, chart, side);
    for (int i = 0; i < spec->series_count; i++)
        for (int j = 0; j < spec->series[i].count && spec->series[i].dots; j++)
            if (plot_point(spec, chart, &spec->series[i], j, &x, &y))
                take_box(&taken, (Box){x - PLOT_DOT, y - PLOT_DOT, 2 * PLOT_DOT, 2 * PLOT_DOT});
    for (int rank = 2; rank >= 0; rank--) /* strong ones have the first choice */
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if ((series->strong ? 2 : series->baseline) != rank)
                continue;
            for (int j = 0; j < series->count && series->labels; j++)
                if (series->labels[j])
                    name_point(frame, spec, chart, series, j, series->labels[j], &taken);
            if (series->name && series->count == 1)
                name_point(frame, spec, chart, series, 0, series->name, &taken);
            if (series->name && !series->dots && !edge_point(spec, chart, series, side.left, &y))
                name_point(frame, spec, chart, series, middle_point(spec, chart, series),
                           series->name, &taken);
        }
}

/* ---- the data ------------------------------------------------------------------------------- */

static void draw_line(const PlotFrame *frame, const ChartSpec *spec, Box box,
                      const PlotSeries *series) {
    static const double dashes[] = {6, 4};
    cairo_t *cr = frame->pen->cr;
    bool open = false;
    double x, y;
    if (frame->pen->measuring)
        return;
    pen_clip(frame->pen, (Box){box.x, box.y - 2, box.w, box.h + 3});
    if (series->faint)
        cairo_set_dash(cr, dashes, 2, 0);
    for (int i = 0; i < series->count; i++) {
        bool there = plot_point(spec, box, series, i, &x, &y);
        if (there && open)
            cairo_line_to(cr, x, y);
        else if (there)
            cairo_move_to(cr, x, y);
        open = there;
    }
    double usual = plot_is_muted(spec, series) ? 1.3 : 2;
    pen_stroke(frame->pen, plot_series_color(frame, spec, series), 1, series->strong ? 3.5 : usual);
    cairo_restore(cr);
    for (int i = 0; i < spec->mark_count && spec->meets; i++) {
        double meets = spec->marks[i].strong ? chart_crossing(spec, series, spec->marks[i].x) : NAN;
        if (is_on_axis(&spec->y, meets))
            plot_dot(frame, plot_x(&spec->x, box, spec->marks[i].x), plot_y(&spec->y, box, meets),
                     series->strong ? PLOT_DOT : PLOT_DOT - 1.5,
                     plot_series_color(frame, spec, series), false);
    }
}

static void draw_dots(const PlotFrame *frame, const ChartSpec *spec, Box box,
                      const PlotSeries *series) {
    double x, y;
    for (int i = 0; i < series->count; i++)
        if (plot_point(spec, box, series, i, &x, &y) && y >= box.y - 1 && y <= box.y + box.h + 1) {
            TextStyle sign = {.color = plot_series_color(frame, spec, series),
                              .align = ALIGN_CENTER};
            sign.size = frame->type->body;
            if (frame->cells)
                pen_text(frame->pen, x, y + 0.35 * sign.size, box.w, &sign,
                         series->faint ? "\u25cb" : "\u25cf");
            else
                plot_dot(frame, x, y, PLOT_DOT, sign.color, series->faint);
        }
}

/* Draws the series, strong ones last, so that nothing covers them. */
static void draw_series(const PlotFrame *frame, const ChartSpec *spec, Box box) {
    for (int strong = 0; strong < 2; strong++)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if (series->strong == strong)
                (series->dots ? draw_dots : draw_line)(frame, spec, box, series);
        }
}

/* ---- layout --------------------------------------------------------------------------------- */

static Ticks y_ticks(const PlotAxis *axis, double h) {
    return ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(h / 36, 7), 2));
}

static double labels_width(const PlotFrame *frame, const PlotAxis *axis, const Ticks *ticks) {
    TextStyle style = plot_muted(frame);
    char label[48];
    double widest = 0;
    for (int i = 0; i < ticks->count; i++) {
        tick_label(frame, axis, ticks, i, label);
        widest = fmax(widest, pen_text_width(frame->pen, &style, label));
    }
    return widest + 8;
}

/* Draws the y axis. Its labels stand at the side that the names leave free, the title above them.
 */
static void draw_y_axis(const PlotFrame *frame, const ChartSpec *spec, Box chart, double title_y,
                        const Ticks *ticks, bool right, Box whole) {
    Pen *pen = frame->pen;
    const PlotAxis *axis = &spec->y;
    TextStyle style = aligned(plot_muted(frame), right ? ALIGN_LEFT : ALIGN_RIGHT);
    double x = right ? chart.x + chart.w + 8 : chart.x - 8;
    char title[160], multiplier[48], label[48];
    const double bottom = chart.y + chart.h;
    const double lowest =
        bottom - (frame->cells ? 0.5 * PLOT_CELL_H : 0); /* above the x axis' row */
    for (int i = 0; i < ticks->count; i++) {
        double y = plot_y(axis, chart, ticks->at[i]);
        if (spec->zero && bottom - y < 1.2 * style.size)
            continue; /* the label of 0 stands there */
        if (!frame->cells)
            pen_line(pen, chart.x, y, chart.x + chart.w, y, pen->theme->rule, 0.7, 1);
        tick_label(frame, axis, ticks, i, label);
        pen_text(pen, x, fmin(y, lowest) + 0.35 * style.size, 80, &style, label);
    }
    if (spec->zero)
        pen_text(pen, x, lowest + 0.35 * style.size, 80, &style, "0");
    if (frame->cells)
        return;
    ticks_multiplier(ticks->exponent, multiplier, sizeof multiplier);
    snprintf(title, sizeof title, "%s %s", axis->title, multiplier);
    style = aligned(plot_body(frame), right ? ALIGN_RIGHT : ALIGN_LEFT);
    pen_text(pen, right ? whole.x + whole.w : whole.x, title_y, whole.w, &style, title);
}

static void plot_lines_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    double top = frame->cells ? box.y : plot_head(frame, box, spec);
    top += frame->cells ? 0 : plot_keys(frame, spec, box, top);
    double title_y = top + frame->type->body, below = axis_height(frame);
    double note_h = plot_note_height(frame, box.w, spec->note);
    top = frame->cells ? top : title_y + 14;
    double room = box.y + box.h - top - below;
    Ticks ticks = y_ticks(&spec->y, room);
    double labels_w = labels_width(frame, &spec->y, &ticks);
    Box chart = {box.x, top, box.w, room};
    const PlotSide names = plot_names_side(frame, spec, chart);
    chart.w -= labels_w + fmax(names.w, 10);
    chart.x += names.left ? names.w : labels_w;
    const Marks marks = place_marks(frame, spec, chart.x, chart.w, box.x + box.w);
    bool has_note = !frame->cells && (!frame->boxed || room - marks.band - note_h >= CHART_LEAST_H);
    chart.y += marks.band;
    chart.h -= marks.band + (has_note ? note_h : 0);
    if (chart.h < 20 || chart.w < 40)
        return;
    ticks = y_ticks(&spec->y, chart.h);
    draw_y_axis(frame, spec, chart, title_y, &ticks, names.left, box);
    plot_draw_x_axis(frame, &spec->x, chart, box);
    draw_marks(frame, spec, chart, &marks);
    pen_line(frame->pen, chart.x, chart.y + chart.h, chart.x + chart.w, chart.y + chart.h,
             frame->pen->theme->muted, 1, 1);
    draw_series(frame, spec, chart);
    plot_names_draw(frame, spec, chart, names);
    if (has_note)
        plot_note(frame, box.x, chart.y + chart.h + below + 8, box.w, spec->note);
}

/* ---- a box, or a page of its own ------------------------------------------------------------ */

static void draw_chart(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    (spec->part_count ? plot_bars_draw : plot_lines_draw)(frame, box, spec);
}

void plot_draw(Pen *pen, Box box, const ChartSpec *spec, const char *aside) {
    draw_chart(&(PlotFrame){pen, spec->theme, &boxed_type, true, aside, false}, box, spec);
}

void plot_cells(Pen *pen, Box box, const ChartSpec *spec) {
    plot_lines_draw(&(PlotFrame){pen, spec->theme, &cells_type, true, NULL, true}, box, spec);
}

enum { NARROW_W = 720 };

static PlotFrame page_frame(Pen *pen, const PlotPage *plot) {
    const PlotType *type = plot->page.w < NARROW_W ? &column_type : &wide_type;
    return (PlotFrame){pen, plot->page.theme, type, false, NULL, false};
}

static Box page_box(const PageSpec *page) {
    double margin = page->w < NARROW_W ? 6 : MARGIN;
    return (Box){margin, 0.8 * margin, page->w - 2 * margin, page->h - 1.8 * margin};
}

static void draw_page(Pen *pen, const void *context) {
    const PlotPage *plot = context;
    const PlotFrame frame = page_frame(pen, plot);
    draw_chart(&frame, page_box(&plot->page), plot->spec);
}

const PageSpec *plot_page(const ChartSpec *spec, double w, double scale, PlotPage *plot) {
    PageSpec *page = &plot->page;
    Pen pen;
    plot->spec = spec;
    *page = (PageSpec){w > 0 ? w : PLOT_W, 0, scale, spec->theme, draw_page, plot, spec->title};
    pen_open_measuring(&pen, &themes[spec->theme]);
    const PlotFrame frame = page_frame(&pen, plot);
    const Box box = page_box(page);
    double h = plot_head(&frame, box, spec) - box.y + plot_keys(&frame, spec, box, 0);
    h += axis_height(&frame) + plot_note_height(&frame, box.w, spec->note);
    h += place_marks(&frame, spec, box.x, 0.75 * box.w, box.x + 0.9 * box.w).band;
    page->h = h - box.h +
              (spec->part_count ? rows_height(spec, BAR_STEP, GROUP_STEP)
                                : fmin(fmax(0.4 * page->w, 190), 440));
    pen_close(&pen);
    return page;
}
