/* SPDX-License-Identifier: MIT */
/* Charts in pixels: axes, marks, legend and note; bars; lines with their names; whole pages. */
#include "src/view/chart/chart.h"

#include "src/view/draw/ticks.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Type sizes, in units of the page. */
typedef struct {
    double title, body, small;
} PlotType;

enum { PLOT_CELL_H = 16, PLOT_DOT = 5 }; /* a dot's radius: its size tells nothing */

static const PlotType wide_type = {SIZE_TITLE, SIZE_BODY, SIZE_SMALL};
static const PlotType boxed_type = {SIZE_HEADING, 12, 11};
static const PlotType cells_type = {14, 14, 14};    /* as wide as characters */
static const PlotType column_type = {13, 10.5, 10}; /* 7.5 pt and more */

enum { MOST_TAKEN = 160, MARKS = 32, MARK_GAP = 4, MOST_ROWS = 8, NARROW_ROWS = 4, ROWS_W = 500 };

/* The place of a mark: the line at `at`, and the label from `x` on. */
typedef struct {
    double at, x, w;
    int row; /* of the label, from the top; -1: without room for its label the mark is left out */
} MarkPlace;

/* A chart that is being drawn, and the places of its parts. */
typedef struct {
    Pen *pen;
    const ChartSpec *spec;
    const PlotType *type;
    bool boxed;        /* on a larger page: where room is short, the note goes */
    const char *aside; /* muted words at the right of the title; NULL: none */
    bool cells;        /* texts are characters, PLOT_CELL_H high */
    Box whole, chart;  /* with all texts; the data alone */
    MarkPlace marks[MARKS];
    double band;                    /* height of the marks' labels above the data */
    double label_w, end_w;          /* bars: widths of labels and of texts at the ends */
    double bar_h, step, group_step; /* bars stand closer together in a low box */
    bool names_left;                /* the names of lines stand at the left side, else right */
    double names_w;                 /* the room for these names */
    Box taken[MOST_TAKEN];          /* boxes in which a text or a dot stands */
    int taken_count;
} Plot;

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

ShortText chart_bar_text(const PlotBar *bar, int pieces) {
    size_t length = strcspn(bar->text, ",");
    for (int i = 1; i < pieces && bar->text[length]; i++)
        length += 1 + strcspn(bar->text + length + 1, ",");
    return short_text("%.*s", (int)length, bar->text);
}

double chart_bar_end(const ChartSpec *spec, const PlotBar *bar) {
    double end = 0;
    for (int i = 0; i < bar->span_count; i++)
        end = fmax(end, bar->spans[i].end_us);
    for (int part = 0; !bar->spans && part < spec->part_count; part++)
        end += bar->parts[part] > 0 ? bar->parts[part] : 0;
    return end;
}

/* ---- texts and colours ---------------------------------------------------------------------- */

static TextStyle body_text(const Plot *plot, Rgb color) {
    return (TextStyle){.size = plot->type->body, .color = color};
}

static TextStyle small_text(const Plot *plot, Rgb color, bool bold, TextAlign align) {
    return (TextStyle){.size = plot->type->small, .bold = bold, .color = color, .align = align};
}

static double small_width(const Plot *plot, bool bold, const char *text) {
    const TextStyle style = {.size = plot->type->small, .bold = bold};
    return pen_text_width(plot->pen, &style, text);
}

/* Draws a text on a patch in the page's colour, so that no line runs through the text. */
static void text_on_patch(const Plot *plot, double x, double baseline, double max_w,
                          const TextStyle *style, const char *text) {
    Box box = pen_text_box(plot->pen, x, baseline, max_w, style, text);
    pen_fill(plot->pen, (Box){box.x - 3, box.y, box.w + 6, box.h}, plot->pen->theme->page, 1);
    pen_text(plot->pen, x, baseline, max_w, style, text);
}

const Ink plot_inks[PLOT_COLORS] = {INK_FEATURES, INK_DEPTH, INK_INDEX, INK_OUTPUT, INK_MUTED};

Ink chart_part_ink(const ChartSpec *spec, const PlotBar *bar, int part) {
    if (spec->part_count > 1)
        return plot_inks[(unsigned)part % PLOT_COLORS];
    return bar && bar->strong ? INK_ACCENT : bar && bar->baseline ? INK_BASELINE : INK_MUTED;
}

static Rgb color_of(const Plot *plot, Ink ink) {
    return ink_color(ink, plot->spec->theme == THEME_LIGHT, false);
}

Rgb plot_color(int index, FigureTheme theme) {
    return ink_color(plot_inks[(unsigned)index % PLOT_COLORS], theme == THEME_LIGHT, false);
}

/* Returns the colour of the selection or of the baseline; else `usual`. */
static Rgb role_color(const Plot *plot, bool strong, bool baseline, Rgb usual) {
    return strong ? color_of(plot, INK_ACCENT) : baseline ? color_of(plot, INK_BASELINE) : usual;
}

static Rgb part_color(const Plot *plot, const PlotBar *bar, int part) {
    const ChartSpec *spec = plot->spec;
    return color_of(plot,
                    spec->part_inks ? spec->part_inks[part] : chart_part_ink(spec, bar, part));
}

/* Whether a series is grey, because the reader shall look at a strong series. */
static bool is_muted(const ChartSpec *spec, const PlotSeries *series) {
    bool any_strong = false;
    for (int i = 0; i < spec->series_count; i++)
        any_strong |= spec->series[i].strong;
    return any_strong && series->peer && !series->strong && !series->baseline;
}

static Rgb series_color(const Plot *plot, const PlotSeries *series) {
    Rgb usual = is_muted(plot->spec, series) ? plot->pen->theme->muted
                                             : plot_color(series->color, plot->spec->theme);
    return role_color(plot, series->strong, series->baseline, usual);
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

/* Return the place of a value in the chart; y grows upwards. */
static double x_at(const Plot *plot, double value) {
    return plot->chart.x + plot->chart.w * chart_along(&plot->spec->x, value);
}

static double y_at(const Plot *plot, double value) {
    return plot->chart.y + plot->chart.h * (1 - chart_along(&plot->spec->y, value));
}

/* Returns where a bar of that value ends. Values beyond the axis end at the axis's end. */
static double bar_x(const Plot *plot, double value) {
    return x_at(plot, fmax(fmin(value, plot->spec->x.hi), plot->spec->x.lo));
}

/* Returns the height of the labels and the title under a chart. */
static double axis_height(const Plot *plot) {
    return plot->cells ? PLOT_CELL_H : plot->type->small + plot->type->body + 20;
}

/* Returns the label of a tick: in cells the last one has the unit. */
static ShortText tick_label(const Plot *plot, const PlotAxis *axis, const Ticks *ticks, int i) {
    bool unit = plot->cells && axis->unit && i == ticks->count - 1;
    return short_text("%s%s%s", ticks->label[i], unit ? " " : "", unit ? axis->unit : "");
}

static ShortText axis_title(const PlotAxis *axis, const Ticks *ticks) {
    return short_text("%s %s", axis->title, ticks_multiplier(ticks->exponent).text);
}

static void draw_x_axis(const Plot *plot) {
    const Box box = plot->chart, whole = plot->whole;
    const PlotAxis *axis = &plot->spec->x;
    Pen *pen = plot->pen;
    Ticks ticks = ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(box.w / 50, 10), 4));
    TextStyle style = small_text(plot, pen->theme->muted, false, ALIGN_CENTER);
    const double bottom = box.y + box.h, baseline = bottom + (plot->cells ? 0 : 7) + style.size;
    for (int i = 0; i < ticks.count; i++) {
        double x = x_at(plot, ticks.at[i]);
        const ShortText label = tick_label(plot, axis, &ticks, i);
        if (!plot->cells)
            pen_line(pen, x, box.y, x, bottom + 4, pen->theme->rule, 0.7, 1);
        double half = pen_text_width(pen, &style, label.text) / 2;
        x = fmax(fmin(x, whole.x + whole.w - half), whole.x + half);
        pen_text(pen, x, baseline, 120, &style, label.text);
    }
    if (plot->cells)
        return;
    const ShortText title = axis_title(axis, &ticks);
    style = aligned(body_text(plot, pen->theme->text), ALIGN_CENTER);
    double half = pen_text_width(pen, &style, title.text) / 2;
    double middle = fmin(box.x + box.w / 2, whole.x + whole.w - half);
    pen_text(pen, fmax(middle, whole.x + half), bottom + axis_height(plot) - 5, whole.w, &style,
             title.text);
}

static Ticks y_ticks(const Plot *plot) {
    const PlotAxis *axis = &plot->spec->y;
    return ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(plot->chart.h / 36, 7), 2));
}

/* Returns the width of the y axis' labels and of the gap beside them. */
static double y_labels_width(const Plot *plot) {
    const Ticks ticks = y_ticks(plot);
    double widest = 0;
    for (int i = 0; i < ticks.count; i++) {
        const ShortText label = tick_label(plot, &plot->spec->y, &ticks, i);
        widest = fmax(widest, small_width(plot, false, label.text));
    }
    return widest + 8;
}

/* Draws the y axis. The labels stand at the side that has no names of lines. The title stands above
 * the labels. */
static void draw_y_axis(const Plot *plot, double title_y) {
    const bool right = plot->names_left, zero = plot->spec->zero;
    const Box chart = plot->chart, whole = plot->whole;
    const Ticks ticks = y_ticks(plot);
    Pen *pen = plot->pen;
    TextStyle style = small_text(plot, pen->theme->muted, false, right ? ALIGN_LEFT : ALIGN_RIGHT);
    double x = right ? chart.x + chart.w + 8 : chart.x - 8;
    const double bottom = chart.y + chart.h;
    const double lowest =
        bottom - (plot->cells ? 0.5 * PLOT_CELL_H : 0); /* above the x axis' row */
    for (int i = 0; i < ticks.count; i++) {
        double y = y_at(plot, ticks.at[i]);
        if (zero && bottom - y < 1.2 * style.size)
            continue; /* the label of 0 stands there */
        if (!plot->cells)
            pen_line(pen, chart.x, y, chart.x + chart.w, y, pen->theme->rule, 0.7, 1);
        pen_text(pen, x, fmin(y, lowest) + 0.35 * style.size, 80, &style,
                 tick_label(plot, &plot->spec->y, &ticks, i).text);
    }
    if (zero)
        pen_text(pen, x, lowest + 0.35 * style.size, 80, &style, "0");
    style = aligned(body_text(plot, pen->theme->text), right ? ALIGN_RIGHT : ALIGN_LEFT);
    if (!plot->cells)
        pen_text(pen, right ? whole.x + whole.w : whole.x, title_y, whole.w, &style,
                 axis_title(&plot->spec->y, &ticks).text);
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* Moves a mark down to the first row where the mark touches no other mark. */
static void place_mark(Plot *plot, MarkPlace *place) {
    double from = fmin(place->x, place->at) - 4, to = fmax(place->x + place->w, place->at) + 4;
    place->row = 0;
    for (int i = 0; i < plot->spec->mark_count; i++) {
        const MarkPlace *other = &plot->marks[i];
        if (other != place && other->row >= place->row && fmin(other->x, other->at) < to &&
            fmax(other->x + other->w, other->at) > from)
            place->row = other->row + 1;
    }
}

/* Finds the rows of all marks, or only of the strong marks. Returns the number of rows. */
static int find_mark_rows(Plot *plot, bool only_strong) {
    const ChartSpec *spec = plot->spec;
    int count = spec->mark_count, rows = 0;
    for (int i = 0; i < count; i++)
        plot->marks[i].row = -1;
    for (int left = 1; left >= 0; left--) /* labels left of their lines come first, from the last */
        for (int j = 0; j < count; j++) {
            int i = left ? count - 1 - j : j;
            MarkPlace *place = &plot->marks[i];
            if (is_on_axis(&spec->x, spec->marks[i].x) && (place->x < place->at) == left &&
                (spec->marks[i].strong || !only_strong))
                place_mark(plot, place);
            rows = place->row >= rows ? place->row + 1 : rows;
        }
    return rows;
}

/* Returns the distance between two rows of labels. */
static double mark_step(const Plot *plot) {
    return plot->cells ? PLOT_CELL_H : plot->type->small + 5;
}

/* Places the labels of the marks in rows above the data. A label stands at the right of its line if
 * there is room before `right`, else at the left. Where the labels take too many rows, only strong
 * marks stay. */
static void place_marks(Plot *plot, double right) {
    const ChartSpec *spec = plot->spec;
    assert(spec->mark_count <= MARKS);
    for (int i = 0; i < spec->mark_count; i++) {
        const PlotMark *mark = &spec->marks[i];
        double w = small_width(plot, mark->strong, mark->label) + 1, at = x_at(plot, mark->x);
        const bool fits = at + MARK_GAP + w <= right;
        const double x = fits ? at + MARK_GAP : fmax(at - MARK_GAP - w, plot->chart.x);
        plot->marks[i] = (MarkPlace){.at = at, .x = x, .w = fmin(w, right - plot->chart.x)};
    }
    int rows = find_mark_rows(plot, plot->cells);
    if (rows > (plot->chart.w < ROWS_W ? NARROW_ROWS : MOST_ROWS))
        rows = find_mark_rows(plot, true);
    plot->band = rows ? rows * mark_step(plot) + (plot->cells ? 0 : 6) : 0;
}

static void draw_marks(const Plot *plot) {
    const Theme *theme = plot->pen->theme;
    const Box chart = plot->chart;
    for (int i = 0; i < plot->spec->mark_count; i++) {
        const MarkPlace *place = &plot->marks[i];
        bool strong = plot->spec->marks[i].strong;
        TextStyle style = small_text(plot, strong ? theme->text : theme->muted, strong, ALIGN_LEFT);
        double top = chart.y - plot->band + place->row * mark_step(plot);
        if (place->row < 0)
            continue;
        pen_line(plot->pen, place->at, top, place->at, chart.y + chart.h, style.color,
                 strong ? 0.9 : 0.5, strong ? 1.5 : 1);
        text_on_patch(plot, place->x, top + style.size, place->w, &style,
                      plot->spec->marks[i].label);
    }
}

/* ---- head and note -------------------------------------------------------------------------- */

typedef enum { KEY_SQUARE, KEY_TICK, KEY_DOT, KEY_HOLLOW_DOT } KeySign;

/* Draws an entry of the legend at (*x, *y), or in a new line where the entry has no room. */
static void draw_key(const Plot *plot, const char *name, Rgb color, KeySign sign, double *x,
                     double *y) {
    const TextStyle style = body_text(plot, plot->pen->theme->text);
    const Box whole = plot->whole;
    double side = 0.8 * style.size, w = side + 6 + pen_text_width(plot->pen, &style, name);
    if (*x > whole.x && *x + w > whole.x + whole.w) {
        *x = whole.x;
        *y += 1.4 * style.size;
    }
    Box square = {*x, *y + 0.95 * style.size - side, side, side};
    if (sign == KEY_DOT || sign == KEY_HOLLOW_DOT)
        pen_circle(plot->pen, *x + side / 2, square.y + side / 2, 0.45 * side, color, 1,
                   sign == KEY_HOLLOW_DOT ? 1.5 : 0);
    else if (sign == KEY_TICK)
        pen_frame(plot->pen, (Box){*x + 3, square.y + 1, 3, side - 2}, color, 1, 1.5);
    else
        pen_fill(plot->pen, square, color, 1);
    pen_text(plot->pen, *x + side + 6, *y + style.size, whole.w, &style, name);
    *x += w + 1.7 * style.size;
}

/* Draws the legend: parts without their names in the bars, the ticks, and each named series of
 * several dots. Returns its height; 0: the legend has no entries. */
static double draw_keys(const Plot *plot, double top) {
    const ChartSpec *spec = plot->spec;
    double x = plot->whole.x, y = top;
    const bool bars_have_names = spec->part_inks || (spec->bar_count && spec->bars[0].spans);
    const int parts = bars_have_names || spec->part_count == 1 ? 0 : spec->part_count;
    for (int part = 0; part < parts; part++)
        draw_key(plot, spec->part_names[part], part_color(plot, NULL, part), KEY_SQUARE, &x, &y);
    if (spec->tick_name)
        draw_key(plot, spec->tick_name, plot->pen->theme->text, KEY_TICK, &x, &y);
    for (int i = 0; i < spec->series_count; i++) {
        const PlotSeries *series = &spec->series[i];
        if (series->dots && series->count > 1 && series->name)
            draw_key(plot, series->name, series_color(plot, series),
                     series->faint ? KEY_HOLLOW_DOT : KEY_DOT, &x, &y);
    }
    return x > plot->whole.x ? y + 2 * plot->type->body - top : 0;
}

/* Draws title, subtitle and legend; returns the y below them. */
static double draw_head(const Plot *plot) {
    const ChartSpec *spec = plot->spec;
    const Theme *theme = plot->pen->theme;
    const Box box = plot->whole;
    const TextStyle title = {.size = plot->type->title, .bold = true, .color = theme->text};
    const TextStyle muted = small_text(plot, theme->muted, false, ALIGN_RIGHT);
    const TextStyle subtitle = body_text(plot, theme->muted);
    double aside = 0, y = box.y;
    if (plot->aside && plot->aside[0]) {
        aside = fmin(pen_text_width(plot->pen, &muted, plot->aside), box.w / 2) + 16;
        pen_text(plot->pen, box.x + box.w, y + plot->type->title, aside - 15, &muted, plot->aside);
    }
    y += pen_paragraph(plot->pen, box.x, y, box.w - aside, &title, spec->title);
    if (spec->subtitle && spec->subtitle[0])
        y += pen_paragraph(plot->pen, box.x, y, box.w, &subtitle, spec->subtitle);
    y += plot->boxed ? 2 : 0.8 * plot->type->body;
    return y + draw_keys(plot, y);
}

/* Draws the note's paragraphs, or only measures them. Returns their height. */
static double draw_note(const Plot *plot, double top, bool measure) {
    const TextStyle style = small_text(plot, plot->pen->theme->muted, false, ALIGN_LEFT);
    const bool measuring = plot->pen->measuring;
    const char *note = plot->spec->note;
    double y = top;
    plot->pen->measuring = measuring || measure;
    while (note && *note) {
        char paragraph[1024];
        size_t length = strcspn(note, "\n");
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, note);
        y += pen_paragraph(plot->pen, plot->whole.x, y, plot->whole.w, &style, paragraph);
        note += length + (note[length] == '\n');
    }
    plot->pen->measuring = measuring;
    return y - top + 8;
}

/* ---- bars ------------------------------------------------------------------------------------ */

enum { BAR_H = 16, BAR_STEP = 22, GROUP_STEP = 30, PAD = 8 };

static double rows_height(const ChartSpec *spec, double step, double group_step) {
    double h = 2 * PAD;
    for (int i = 0; i < spec->bar_count; i++)
        h += step + (spec->bars[i].group ? group_step : 0);
    return h;
}

/* Draws the name of a part within it, in the first bar of a group. */
static void draw_part_name(const Plot *plot, const PlotBar *bar, int part, Box box) {
    const Theme *theme = plot->pen->theme;
    const char *name = plot->spec->part_names[part];
    Rgb color = part_color(plot, bar, part);
    bool on_page = rgb_contrast(color, theme->page) > rgb_contrast(color, theme->text);
    TextStyle style = small_text(plot, on_page ? theme->page : theme->text, false, ALIGN_CENTER);
    if (bar->group && pen_text_width(plot->pen, &style, name) < box.w - 6)
        pen_text(plot->pen, box.x + box.w / 2, box.y + box.h / 2 + 0.38 * style.size, box.w, &style,
                 name);
}

/* Draws a hollow tick. Beyond the axis it is an arrow at the axis's end. */
static void draw_tick(const Plot *plot, double tick, double y) {
    Pen *pen = plot->pen;
    double end = plot->chart.x + plot->chart.w;
    if (tick <= plot->spec->x.hi) {
        Box box = {x_at(plot, tick) - 2, y - 1, 4, plot->bar_h + 2};
        pen_fill(pen, box, pen->theme->page, 1);
        pen_frame(pen, box, pen->theme->text, 1, 1.5);
        return;
    }
    cairo_move_to(pen->cr, end - 6, y + 1);
    cairo_line_to(pen->cr, end + 1, y + plot->bar_h / 2);
    cairo_line_to(pen->cr, end - 6, y + plot->bar_h - 1);
    cairo_close_path(pen->cr);
    pen_color(pen, pen->theme->page, 1);
    cairo_fill_preserve(pen->cr);
    pen_stroke(pen, pen->theme->text, 1, 1.5);
}

static void draw_bar(const Plot *plot, const PlotBar *bar, double y) {
    const ChartSpec *spec = plot->spec;
    Pen *pen = plot->pen;
    double x = plot->chart.x, sum = 0;
    for (int i = 0; i < bar->span_count; i++) {
        const TimelineSpan *span = &bar->spans[i];
        double from = bar_x(plot, span->begin_us), w = bar_x(plot, span->end_us) - from;
        pen_fill(pen, (Box){from, y, fmax(w, 1) - (w > 3), plot->bar_h},
                 part_color(plot, bar, bar->span_part), 1);
    }
    for (int part = 0; part < spec->part_count; part++) {
        if (bar->spans || !(bar->parts[part] > 0))
            continue;
        sum += bar->parts[part];
        double to = bar_x(plot, sum);
        pen_fill(pen, (Box){x, y, fmax(to - x, 1), plot->bar_h}, part_color(plot, bar, part), 1);
        if (spec->part_inks)
            draw_part_name(plot, bar, part, (Box){x, y, to - x, plot->bar_h});
        x = to;
    }
    x = bar_x(plot, spec->x.hi);
    for (int i = 0; i < 2 && chart_bar_end(spec, bar) > spec->x.hi; i++) /* the bar goes on */
        pen_line(pen, x - 12 - 6 * i, y - 2, x - 18 - 6 * i, y + plot->bar_h + 2, pen->theme->page,
                 1, 3);
    if (bar->tick > 0)
        draw_tick(plot, bar->tick, y);
}

/* Draws the second piece of a bar's text within the bar, if the bar is long enough. */
static void text_within(const Plot *plot, double end, double baseline, const char *rest) {
    const TextStyle style = small_text(plot, plot->pen->theme->page, false, ALIGN_RIGHT);
    const double room = end - plot->chart.x;
    const ShortText text = short_text("%.*s", (int)strcspn(rest, ","), rest);
    if (pen_text_width(plot->pen, &style, text.text) < room - 20)
        pen_text(plot->pen, end - 14, baseline, room, &style, text.text);
}

/* Draws heading and label of a bar, and behind the bar as many pieces of its text as fit. */
static void draw_bar_texts(const Plot *plot, const PlotBar *bar, double y) {
    const Theme *theme = plot->pen->theme;
    const double left = plot->chart.x, right = left + plot->chart.w + plot->end_w;
    const TextStyle label = small_text(
        plot, role_color(plot, bar->strong, bar->baseline, theme->text), bar->strong, ALIGN_RIGHT);
    const TextStyle text = small_text(plot, theme->text, false, ALIGN_LEFT);
    TextStyle heading = body_text(plot, theme->text);
    double baseline = y + plot->bar_h / 2 + 0.38 * text.size;
    double x = bar_x(plot, chart_bar_end(plot->spec, bar)) + 8, tick = bar_x(plot, bar->tick);
    int pieces = ALL_PIECES;
    ShortText end = chart_bar_text(bar, pieces);
    while (--pieces > 0 && small_width(plot, false, end.text) > right - 4 - x)
        end = chart_bar_text(bar, pieces);
    const char *rest = bar->text + strlen(end.text);
    if (plot->spec->part_count == 1)
        text_within(plot, x, baseline, rest + strspn(rest, ", "));
    if (bar->tick > 0 && tick > x - 10 && tick - 10 < x + small_width(plot, false, end.text))
        x = tick + 10;
    heading.bold = true;
    if (bar->group)
        text_on_patch(plot, left - plot->label_w, y - 0.35 * heading.size - 3,
                      plot->label_w + right - left, &heading, bar->group);
    pen_text(plot->pen, left - 10, baseline, plot->label_w - 10, &label, bar->label);
    text_on_patch(plot, x, baseline, right - 4 - x, &text, end.text);
}

static void draw_rows(const Plot *plot, void (*draw)(const Plot *, const PlotBar *, double)) {
    double y = plot->chart.y + PAD;
    for (int i = 0; i < plot->spec->bar_count; i++, y += plot->step) {
        y += plot->spec->bars[i].group ? plot->group_step : 0;
        draw(plot, &plot->spec->bars[i], y);
    }
}

/* Returns the width of the longest text that has no room behind its bar. */
static double ends_width(const Plot *plot, int pieces, double bars_w) {
    const ChartSpec *spec = plot->spec;
    double widest = 0;
    for (int i = 0; i < spec->bar_count; i++) {
        const ShortText text = chart_bar_text(&spec->bars[i], pieces);
        double end = fmax(chart_bar_end(spec, &spec->bars[i]), spec->bars[i].tick);
        double behind = bars_w * (1 - fmin(fmax(chart_along(&spec->x, end), 0), 1));
        widest = fmax(widest, small_width(plot, false, text.text) + 24 - behind);
    }
    return widest;
}

/* Divides the width: labels, bars and texts. A piece of the texts goes where the bars would keep
 * less than their least share. With one piece left, the bars have that share, and texts are cut. */
static void divide_width(Plot *plot) {
    const double least_bars = 0.35;
    for (int i = 0; i < plot->spec->bar_count; i++)
        plot->label_w =
            fmax(plot->label_w, small_width(plot, true, plot->spec->bars[i].label) + 12);
    const double w = plot->whole.w - plot->label_w;
    for (int pieces = ALL_PIECES;; pieces--)
        for (double share = 1; share >= least_bars; share -= 0.05) {
            double bars_w = share * w;
            plot->end_w = w - bars_w;
            if (ends_width(plot, pieces, bars_w) <= plot->end_w ||
                (pieces == 1 && share < least_bars + 0.05))
                return;
        }
}

/* Draws a chart of bars. In a low box the note goes first, then bars shrink, then all bars go. */
static void draw_bars(Plot *plot) {
    const ChartSpec *spec = plot->spec;
    const Box whole = plot->whole;
    double top = draw_head(plot), need = rows_height(spec, BAR_STEP, GROUP_STEP);
    divide_width(plot);
    plot->chart.x = whole.x + plot->label_w;
    plot->chart.w = whole.w - plot->label_w - plot->end_w;
    place_marks(plot, whole.x + whole.w);
    double note_h = draw_note(plot, 0, true);
    double room = whole.y + whole.h - top - plot->band - axis_height(plot);
    bool has_note = !plot->boxed || room - note_h > 0.6 * need;
    room -= has_note ? note_h : 0;
    double scale = plot->boxed ? fmin((room - 2 * PAD) / (need - 2 * PAD), 1) : 1;
    if (scale * BAR_STEP < plot->type->small)
        return;
    plot->bar_h = scale * BAR_H;
    plot->step = scale * BAR_STEP;
    plot->group_step = scale * GROUP_STEP;
    plot->chart.y = top + plot->band;
    plot->chart.h = rows_height(spec, plot->step, plot->group_step);
    draw_x_axis(plot);
    draw_rows(plot, draw_bar);
    draw_marks(plot);
    draw_rows(plot, draw_bar_texts);
    if (has_note)
        draw_note(plot, plot->chart.y + plot->chart.h + axis_height(plot) + 8, false);
}

/* ---- lines and dots: names stand beside what they name --------------------------------------- */

enum { CHART_LEAST_H = 90, AT_EDGE = 4, LEADER = 14 }; /* beside the end of a line */

/* Finds the place of a point in the chart. False: it is beyond the x axis, or has no value. */
static bool find_point(const Plot *plot, const PlotSeries *series, int i, double *x, double *y) {
    double value = series->y[i];
    if (!is_on_axis(&plot->spec->x, series->x[i]) || !isfinite(value) ||
        (plot->spec->y.log && value <= 0))
        return false;
    *x = x_at(plot, series->x[i]);
    *y = y_at(plot, value);
    return true;
}

/* Notes that a text or a dot stands in the box. */
static void take_box(Plot *plot, Box box) {
    if (plot->taken_count < MOST_TAKEN)
        plot->taken[plot->taken_count++] = box;
}

/* Whether the box is in the chart, and nothing stands in it. */
static bool is_free(const Plot *plot, Box box) {
    const Box chart = plot->chart;
    bool free = box.x >= chart.x + 2 && box.y >= chart.y && box.x + box.w <= chart.x + chart.w &&
                box.y + box.h <= chart.y + chart.h - 1;
    for (int i = 0; free && i < plot->taken_count; i++)
        free = !boxes_overlap(box, plot->taken[i]);
    return free;
}

/* Returns how many pieces of lines pass through the box. */
static int crossed_by(const Plot *plot, Box box) {
    int count = 0;
    for (int i = 0; i < plot->spec->series_count; i++) {
        const PlotSeries *series = &plot->spec->series[i];
        double x0, y0, x1, y1;
        for (int j = 1; j < series->count && !series->dots; j++)
            if (find_point(plot, series, j - 1, &x0, &y0) && find_point(plot, series, j, &x1, &y1))
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

/* Finds the best place for a name of w x h beside a point: on no text or dot, on the fewest lines,
 * near the point. Returns false if every place is taken. */
static bool place_name(const Plot *plot, double x, double y, double w, double h, Box *place) {
    int fewest = INT_MAX;
    for (int i = 0; i < DISTANCES * SIDES && fewest; i++) {
        Box box = box_beside(x, y, w, h, i % SIDES, i / SIDES);
        int crossed = is_free(plot, box) ? crossed_by(plot, box) : INT_MAX;
        if (crossed < fewest) {
            *place = box;
            fewest = crossed;
        }
    }
    return fewest < INT_MAX;
}

/* Writes a name beside a point of the series, if it has room. */
static void name_point(Plot *plot, const PlotSeries *series, int i, const char *name) {
    const Theme *theme = plot->pen->theme;
    double x, y;
    Box box = {0, 0, 0, 0};
    bool grey = series->peer && !series->strong && !series->baseline && !series->dots;
    Rgb color = grey                                ? theme->muted
                : series->dots && series->count > 1 ? theme->text
                                                    : series_color(plot, series);
    TextStyle style = small_text(plot, color, series->strong && series->count == 1, ALIGN_LEFT);
    double w = pen_text_width(plot->pen, &style, name) + 1, h = style.size + 2;
    if (!find_point(plot, series, i, &x, &y) || !place_name(plot, x, y, w, h, &box))
        return;
    double near_x = fmin(fmax(x, box.x), box.x + w), near_y = fmin(fmax(y, box.y), box.y + h);
    if (series->dots && hypot(near_x - x, near_y - y) > 14)
        pen_line(plot->pen, x, y, near_x, near_y, color, 0.5, 1);
    text_on_patch(plot, box.x, box.y + 0.85 * h, w, &style, name);
    take_box(plot, box);
}

enum { MOST_ENDS = 32 };

typedef struct {
    const PlotSeries *series;
    double from_y, y; /* the height of the line's end, and of its name */
} End;

typedef struct {
    End list[MOST_ENDS];
    int count;
} Ends;

/* Finds the point of a line at the edge of the chart. False: the line does not reach the edge. */
static bool edge_point(const Plot *plot, const PlotSeries *series, bool left, double *y) {
    const Box chart = plot->chart;
    double x;
    for (int i = 0; i < series->count; i++)
        if (find_point(plot, series, left ? i : series->count - 1 - i, &x, y))
            return fabs(x - (left ? chart.x : chart.x + chart.w)) <= AT_EDGE;
    return false;
}

/* Finds the named lines that reach a side of the chart, from top to bottom. */
static Ends find_ends(const Plot *plot, bool left) {
    Ends ends = {.count = 0};
    for (int i = 0; i < plot->spec->series_count && ends.count < MOST_ENDS; i++) {
        const PlotSeries *series = &plot->spec->series[i];
        double y;
        if (series->dots || !series->name || !edge_point(plot, series, left, &y))
            continue;
        int at = ends.count++;
        for (; at > 0 && ends.list[at - 1].from_y > y; at--)
            ends.list[at] = ends.list[at - 1];
        ends.list[at] = (End){series, y, y};
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
static void part_ends(const Plot *plot, double step, Ends *ends) {
    while (ends->count && ends->count * step > plot->chart.h + step) {
        int drop = ends->count - 1;
        for (int i = 0; i < ends->count; i++)
            if (is_muted(plot->spec, ends->list[i].series))
                drop = i; /* the last grey line, else the last line */
        memmove(&ends->list[drop], &ends->list[drop + 1],
                sizeof(End) * (size_t)(--ends->count - drop));
    }
    for (int i = 1; i < ends->count; i++)
        ends->list[i].y = fmax(ends->list[i].y, ends->list[i - 1].y + step);
    double limit = plot->chart.y + plot->chart.h;
    for (int i = ends->count - 1; i >= 0; i--, limit -= step)
        ends->list[i].y = limit = fmin(ends->list[i].y, limit);
}

/* Chooses the side on which lines have their names: where their ends are farther apart. */
static void choose_names_side(Plot *plot) {
    const Ends left = find_ends(plot, true), right = find_ends(plot, false);
    bool apart = left.count == right.count && spread_of(&left) > 1.5 * spread_of(&right);
    plot->names_left = apart || left.count > right.count;
    const Ends *ends = plot->names_left ? &left : &right;
    for (int i = 0; i < ends->count; i++) {
        const PlotSeries *series = ends->list[i].series;
        double w = small_width(plot, series->strong, series->name) + LEADER + 6;
        plot->names_w = fmax(plot->names_w, fmin(w, 0.35 * plot->chart.w));
    }
}

static void draw_ends(const Plot *plot) {
    const Box chart = plot->chart;
    const bool left = plot->names_left;
    double edge = left ? chart.x : chart.x + chart.w, away = left ? -1 : 1;
    Ends ends = find_ends(plot, left);
    part_ends(plot, plot->cells ? PLOT_CELL_H : plot->type->small + 2, &ends);
    for (int i = 0; i < ends.count; i++) {
        const End *end = &ends.list[i];
        TextStyle style = small_text(plot, series_color(plot, end->series), end->series->strong,
                                     left ? ALIGN_RIGHT : ALIGN_LEFT);
        pen_line(plot->pen, edge + away * 2, fmin(end->from_y, chart.y + chart.h),
                 edge + away * (LEADER - 4), end->y, style.color, 0.6, 1);
        pen_text(plot->pen, edge + away * LEADER, end->y + 0.35 * style.size,
                 plot->names_w - LEADER, &style, end->series->name);
    }
}

/* Returns the middle one of a line's points in the chart. */
static int middle_point(const Plot *plot, const PlotSeries *series) {
    double x, y;
    int seen = 0, point = 0;
    for (int i = 0; i < series->count; i++)
        seen += find_point(plot, series, i, &x, &y);
    for (int left = seen / 2 + 1; point < series->count && left > 0; point++)
        left -= find_point(plot, series, point, &x, &y);
    return point > 0 ? point - 1 : 0;
}

/* Draws the labels of a series' points, and the name of a dot or of a line that ends early. */
static void name_series(Plot *plot, const PlotSeries *series) {
    double ignored;
    for (int i = 0; series->labels && i < series->count; i++)
        if (series->labels[i])
            name_point(plot, series, i, series->labels[i]);
    if (series->name && series->count == 1)
        name_point(plot, series, 0, series->name);
    if (series->name && !series->dots && !edge_point(plot, series, plot->names_left, &ignored))
        name_point(plot, series, middle_point(plot, series), series->name);
}

/* Draws all names of lines and dots. Strong series choose their places first, then the baseline. */
static void draw_names(Plot *plot) {
    enum { PEER, BASELINE, STRONG };
    const ChartSpec *spec = plot->spec;
    double x, y;
    draw_ends(plot);
    for (int i = 0; i < spec->series_count; i++) /* no name shall cover a dot */
        for (int j = 0; spec->series[i].dots && j < spec->series[i].count; j++)
            if (find_point(plot, &spec->series[i], j, &x, &y))
                take_box(plot, (Box){x - PLOT_DOT, y - PLOT_DOT, 2 * PLOT_DOT, 2 * PLOT_DOT});
    for (int rank = STRONG; rank >= PEER; rank--)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if ((series->strong ? STRONG : series->baseline ? BASELINE : PEER) == rank)
                name_series(plot, series);
        }
}

/* ---- the data ------------------------------------------------------------------------------- */

/* Draws a line, and dots where the line meets strong marks. */
static void draw_line(const Plot *plot, const PlotSeries *series) {
    static const double dashes[] = {6, 4};
    const ChartSpec *spec = plot->spec;
    const Box box = plot->chart;
    const Rgb color = series_color(plot, series);
    cairo_t *cr = plot->pen->cr;
    bool open = false;
    double x, y;
    pen_clip(plot->pen, (Box){box.x, box.y - 2, box.w, box.h + 3});
    if (series->faint)
        cairo_set_dash(cr, dashes, 2, 0);
    for (int i = 0; i < series->count; i++) {
        bool there = find_point(plot, series, i, &x, &y);
        if (there)
            (open ? cairo_line_to : cairo_move_to)(cr, x, y);
        open = there;
    }
    pen_stroke(plot->pen, color, 1, series->strong ? 3.5 : is_muted(spec, series) ? 1.3 : 2);
    cairo_restore(cr);
    for (int i = 0; i < spec->mark_count && spec->meets; i++) {
        double meets = spec->marks[i].strong ? chart_crossing(spec, series, spec->marks[i].x) : NAN;
        if (is_on_axis(&spec->y, meets))
            pen_circle(plot->pen, x_at(plot, spec->marks[i].x), y_at(plot, meets),
                       series->strong ? PLOT_DOT : PLOT_DOT - 1.5, color, 1, 0);
    }
}

static void draw_dots(const Plot *plot, const PlotSeries *series) {
    const Box box = plot->chart;
    const TextStyle sign = aligned(body_text(plot, series_color(plot, series)), ALIGN_CENTER);
    double x, y;
    for (int i = 0; i < series->count; i++) {
        if (!find_point(plot, series, i, &x, &y) || y < box.y - 1 || y > box.y + box.h + 1)
            continue;
        if (plot->cells)
            pen_text(plot->pen, x, y + 0.35 * sign.size, box.w, &sign,
                     series->faint ? "\u25cb" : "\u25cf");
        else
            pen_circle(plot->pen, x, y, PLOT_DOT, sign.color, 1, series->faint ? 1.5 : 0);
    }
}

/* Draws all series. Strong series come last, so that no other series covers them. */
static void draw_series(const Plot *plot) {
    for (int strong = 0; strong < 2; strong++)
        for (int i = 0; i < plot->spec->series_count; i++) {
            const PlotSeries *series = &plot->spec->series[i];
            if (series->strong == strong)
                (series->dots ? draw_dots : draw_line)(plot, series);
        }
}

static void draw_lines(Plot *plot) {
    const Box whole = plot->whole;
    double top = plot->cells ? whole.y : draw_head(plot), title_y = top + plot->type->body;
    double below = axis_height(plot), note_h = draw_note(plot, 0, true);
    Box *chart = &plot->chart;
    top = plot->cells ? top : title_y + 14;
    *chart = (Box){whole.x, top, whole.w, whole.y + whole.h - top - below};
    double labels_w = y_labels_width(plot);
    choose_names_side(plot);
    chart->w -= labels_w + fmax(plot->names_w, 10);
    chart->x += plot->names_left ? plot->names_w : labels_w;
    place_marks(plot, whole.x + whole.w);
    chart->y += plot->band;
    chart->h -= plot->band;
    bool has_note = !plot->cells && (!plot->boxed || chart->h - note_h >= CHART_LEAST_H);
    chart->h -= has_note ? note_h : 0;
    if (chart->h < 20 || chart->w < 40)
        return;
    draw_y_axis(plot, title_y);
    draw_x_axis(plot);
    draw_marks(plot);
    const double bottom = chart->y + chart->h;
    pen_line(plot->pen, chart->x, bottom, chart->x + chart->w, bottom, plot->pen->theme->muted, 1,
             1);
    draw_series(plot);
    draw_names(plot);
    if (has_note)
        draw_note(plot, bottom + below + 8, false);
}

/* ---- a box, or a page of its own ------------------------------------------------------------ */

static void draw_chart(Plot plot) {
    (plot.spec->part_count ? draw_bars : draw_lines)(&plot);
}

void plot_draw(Pen *pen, Box box, const ChartSpec *spec, const char *aside) {
    draw_chart((Plot){pen, spec, &boxed_type, .boxed = true, .aside = aside, .whole = box});
}

void plot_cells(Pen *pen, Box box, const ChartSpec *spec) {
    draw_chart((Plot){pen, spec, &cells_type, .boxed = true, .cells = true, .whole = box});
}

/* Returns the plot that a page consists of. */
static Plot plot_of_page(Pen *pen, const PlotPage *page) {
    enum { NARROW_W = 720 };
    const double w = page->page.w, margin = w < NARROW_W ? 6 : MARGIN;
    const Box whole = {margin, 0.8 * margin, w - 2 * margin, page->page.h - 1.8 * margin};
    const PlotType *type = w < NARROW_W ? &column_type : &wide_type;
    return (Plot){pen, page->spec, type, .whole = whole};
}

static void draw_page(Pen *pen, const void *context) {
    draw_chart(plot_of_page(pen, context));
}

const PageSpec *plot_page(const ChartSpec *spec, double w, double scale, PlotPage *plot) {
    PageSpec *page = &plot->page;
    Pen pen;
    plot->spec = spec;
    *page = (PageSpec){w > 0 ? w : PLOT_W, 0, scale, spec->theme, draw_page, plot, spec->title};
    pen_open_measuring(&pen, &themes[spec->theme]);
    Plot empty = plot_of_page(&pen, plot);
    const Box box = empty.whole;
    double h = draw_head(&empty) - box.y + axis_height(&empty) + draw_note(&empty, 0, true);
    empty.chart = (Box){box.x, 0, 0.75 * box.w, 0};
    place_marks(&empty, box.x + 0.9 * box.w);
    page->h = h + empty.band - box.h +
              (spec->part_count ? rows_height(spec, BAR_STEP, GROUP_STEP)
                                : fmin(fmax(0.4 * page->w, 190), 440));
    pen_close(&pen);
    return page;
}
