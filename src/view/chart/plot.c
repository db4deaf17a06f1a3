/* SPDX-License-Identifier: MIT */
/* Charts in pixels: the frame around lines and bars, and pages of their own. */
#include "src/view/chart/plot_internal.h"

#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

TextStyle plot_body(const PlotFrame *frame) {
    TextStyle style = style_body(frame->pen);
    style.size = frame->type->body;
    return style;
}

TextStyle plot_muted(const PlotFrame *frame) {
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

Rgb plot_role(const PlotFrame *frame, bool strong, bool baseline, Rgb usual) {
    return strong || baseline
               ? ink_color(strong ? INK_ACCENT : INK_BASELINE, frame->theme == THEME_LIGHT, false)
               : usual;
}

bool chart_is_muted(const ChartSpec *spec, const PlotSeries *series) {
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

bool chart_on_axis(const PlotAxis *axis, double value) {
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

double plot_x(const PlotAxis *axis, Box box, double value) {
    return box.x + box.w * chart_along(axis, value);
}

double plot_y(const PlotAxis *axis, Box box, double value) {
    return box.y + box.h * (1 - chart_along(axis, value));
}

double plot_axis_height(const PlotFrame *frame) {
    return frame->cells ? CELL_H : frame->type->small + frame->type->body + 20;
}

void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box, Box whole) {
    Pen *pen = frame->pen;
    Ticks ticks = ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(box.w / 50, 10), 4));
    TextStyle style = aligned(plot_muted(frame), ALIGN_CENTER);
    char title[160], multiplier[48], label[48];
    const double baseline = box.y + box.h + (frame->cells ? 0 : 7) + style.size;
    for (int i = 0; i < ticks.count; i++) {
        double x = plot_x(axis, box, ticks.at[i]);
        bool unit = frame->cells && axis->unit && i == ticks.count - 1;
        snprintf(label, sizeof label, "%s%s%s", ticks.label[i], unit ? " " : "",
                 unit ? axis->unit : "");
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
    pen_text(pen, fmax(middle, whole.x + half), box.y + box.h + plot_axis_height(frame) - 5,
             whole.w, &style, title);
}

void plot_text(const PlotFrame *frame, double x, double baseline, double max_w,
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
static int find_rows(const ChartSpec *spec, const double *at, bool only_strong,
                     MarkPlace places[MARKS]) {
    int count = spec->mark_count < MARKS ? spec->mark_count : MARKS, rows = 0;
    for (int i = 0; i < count; i++)
        places[i].row = -1;
    for (int left = 1; left >= 0; left--) /* at the left of a line: the last one first */
        for (int j = 0; j < count; j++) {
            int i = left ? count - 1 - j : j;
            if (chart_on_axis(&spec->x, spec->marks[i].x) && (places[i].x < at[i]) == left &&
                (spec->marks[i].strong || !only_strong))
                place_mark(spec, places, i, at);
        }
    for (int i = 0; i < count; i++)
        rows = places[i].row >= rows ? places[i].row + 1 : rows;
    return rows;
}

/* A label stands right of its line where it has room, else left, and lower than those before it
 * that it would touch: no line goes through another's label. Where that takes too many rows, strong
 * marks stand alone. Returns the number of rows. */
static int place_marks(const PlotFrame *frame, const ChartSpec *spec, double x, double w,
                       double right, MarkPlace places[MARKS]) {
    double at[MARKS];
    for (int i = 0; i < spec->mark_count && i < MARKS; i++) {
        TextStyle style = mark_style(frame, &spec->marks[i]);
        double label_w = pen_text_width(frame->pen, &style, spec->marks[i].label) + 1;
        at[i] = x + w * chart_along(&spec->x, spec->marks[i].x);
        places[i] = (MarkPlace){at[i] + MARK_GAP, fmin(label_w, right - x), -1};
        if (places[i].x + label_w > right)
            places[i].x = fmax(at[i] - MARK_GAP - label_w, x);
    }
    int rows = find_rows(spec, at, frame->cells, places);
    return rows > (w < ROWS_W ? NARROW_ROWS : MOST_ROWS) ? find_rows(spec, at, true, places) : rows;
}

static double mark_step(const PlotFrame *frame) {
    return frame->cells ? CELL_H : frame->type->small + 5;
}

double plot_mark_band(const PlotFrame *frame, const ChartSpec *spec, double x, double w,
                      double right) {
    MarkPlace places[MARKS];
    int rows = place_marks(frame, spec, x, w, right, places);
    return rows ? rows * mark_step(frame) + (frame->cells ? 0 : 6) : 0;
}

void plot_draw_marks(const PlotFrame *frame, const ChartSpec *spec, Box chart, double right) {
    MarkPlace places[MARKS];
    int rows = place_marks(frame, spec, chart.x, chart.w, right, places);
    double band = chart.y - rows * mark_step(frame) - (frame->cells ? 0 : 6);
    for (int i = 0; i < spec->mark_count && i < MARKS; i++) {
        if (places[i].row < 0)
            continue;
        bool strong = spec->marks[i].strong;
        TextStyle style = mark_style(frame, &spec->marks[i]);
        double x = plot_x(&spec->x, chart, spec->marks[i].x);
        double top = band + places[i].row * mark_step(frame);
        pen_line(frame->pen, x, top, x, chart.y + chart.h, style.color, strong ? 0.9 : 0.5,
                 strong ? 1.5 : 1);
        plot_text(frame, places[i].x, top + style.size, places[i].w, &style, spec->marks[i].label);
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
static int list_keys(const PlotFrame *frame, const ChartSpec *spec, Key keys[PLOT_PARTS + 4]) {
    bool light = frame->theme == THEME_LIGHT, spans = spec->bar_count && spec->bars[0].spans;
    int count = 0;
    for (int part = 0; part < spec->part_count && spec->part_count > 1 && !spans; part++)
        if (!spec->part_inks)
            keys[count++] =
                (Key){spec->part_names[part],
                      ink_color(chart_part_ink(spec, NULL, part), light, false), false, false};
    if (spec->tick_name)
        keys[count++] = (Key){spec->tick_name, frame->pen->theme->text, false, true};
    for (int i = 0; i < spec->series_count && count < PLOT_PARTS + 4; i++) {
        const PlotSeries *series = &spec->series[i];
        if (series->dots && series->count > 1 && series->name)
            keys[count++] = (Key){series->name,
                                  plot_role(frame, series->strong, series->baseline,
                                            plot_color(series->color, frame->theme)),
                                  true, series->faint};
    }
    return count;
}

void plot_dot(const PlotFrame *frame, double x, double y, double radius, Rgb color, bool hollow) {
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

double plot_keys(const PlotFrame *frame, const ChartSpec *spec, Box box, double y) {
    Key keys[PLOT_PARTS + 4];
    int count = list_keys(frame, spec, keys);
    TextStyle style = plot_body(frame);
    double x = box.x, top = y, side = 0.8 * style.size;
    for (int i = 0; i < count; i++) {
        double w = side + 6 + pen_text_width(frame->pen, &style, keys[i].name);
        if (x > box.x && x + w > box.x + box.w) {
            x = box.x;
            y += 1.4 * style.size;
        }
        Box square = {x, y + 0.95 * style.size - side, side, side};
        if (keys[i].dot)
            plot_dot(frame, x + side / 2, square.y + side / 2, 0.45 * side, keys[i].color,
                     keys[i].hollow);
        else if (keys[i].hollow)
            pen_frame(frame->pen, (Box){x + 3, square.y + 1, 3, side - 2}, keys[i].color, 1, 1.5);
        else
            pen_fill(frame->pen, square, keys[i].color, 1);
        pen_text(frame->pen, x + side + 6, y + style.size, box.w, &style, keys[i].name);
        x += w + 1.7 * style.size;
    }
    return count ? y + 2 * style.size - top : 0;
}

double plot_head(const PlotFrame *frame, Box box, const ChartSpec *spec) {
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

double plot_note(const PlotFrame *frame, double x, double y, double w, const char *note) {
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

double plot_note_height(const PlotFrame *frame, double w, const char *note) {
    bool measuring = frame->pen->measuring;
    frame->pen->measuring = true;
    double h = plot_note(frame, 0, 0, w, note);
    frame->pen->measuring = measuring;
    return h + 8;
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

/* A page: as wide as asked for, as high as its contents. */
typedef struct {
    const ChartSpec *spec;
    const PlotType *type;
    double w, h, margin;
} PlotPage;

enum { NARROW_W = 720 };

static Box page_box(const PlotPage *page) {
    return (Box){page->margin, 0.8 * page->margin, page->w - 2 * page->margin,
                 page->h - 1.8 * page->margin};
}

static PlotPage plot_page(const ChartSpec *spec, double w) {
    PlotPage page = {spec, &wide_type, w > 0 ? w : PLOT_W, 0, MARGIN};
    if (page.w < NARROW_W) {
        page.type = &column_type;
        page.margin = 6;
    }
    Pen pen;
    pen_open_measuring(&pen, &themes[spec->theme]);
    const PlotFrame frame = {&pen, spec->theme, page.type, false, NULL, false};
    Box box = page_box(&page);
    double h = plot_head(&frame, box, spec) - box.y + plot_keys(&frame, spec, box, 0);
    h += plot_axis_height(&frame) + plot_note_height(&frame, box.w, spec->note);
    page.h = h + 1.8 * page.margin +
             plot_mark_band(&frame, spec, box.x, 0.75 * box.w, box.x + 0.9 * box.w) +
             (spec->part_count ? plot_bars_height(spec) : fmin(fmax(0.4 * page.w, 190), 440));
    pen_close(&pen);
    return page;
}

static void draw_page(Pen *pen, const void *context) {
    const PlotPage *page = context;
    draw_chart(&(PlotFrame){pen, page->spec->theme, page->type, false, NULL, false}, page_box(page),
               page->spec);
}

static PageSpec page_of(const PlotPage *page, double scale) {
    return (PageSpec){page->w, page->h,          scale, page->spec->theme, draw_page,
                      page,    page->spec->title};
}

bool plot_image(const ChartSpec *spec, Image *image, Err *err) {
    const PlotPage plot = plot_page(spec, 0);
    const PageSpec page = page_of(&plot, 1);
    return page_image(&page, image, err);
}

bool plot_file(const ChartSpec *spec, const PictureFile *file, uint8_t **bytes, size_t *length,
               Err *err) {
    const PlotPage plot = plot_page(spec, file->w);
    const PageSpec page = page_of(&plot, file->scale);
    return page_file(&page, file->format, bytes, length, err);
}

bool plot_layout(const ChartSpec *spec, double w, FigureLayout *layout, Err *err) {
    const PlotPage plot = plot_page(spec, w);
    const PageSpec page = page_of(&plot, 1);
    return page_layout(&page, layout, err);
}
