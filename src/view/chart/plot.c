/* Charts in pixels: the frame around lines and bars, and pages of their own. */
#include "src/view/chart/plot_internal.h"

#include "src/view/draw/page.h"
#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const PlotType page_type = {SIZE_TITLE, SIZE_BODY, SIZE_SMALL, 74, 58, 42};
static const PlotType dense_type = {SIZE_HEADING, 12, 11, 62, 40, 34};

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

Rgb plot_color(int index, FigureTheme theme) {
    return ink_color(plot_inks[(unsigned)index % PLOT_COLORS], theme == THEME_LIGHT, false);
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

double plot_x(const PlotAxis *axis, Box box, double value) {
    return box.x + box.w * chart_along(axis, value);
}

double plot_y(const PlotAxis *axis, Box box, double value) {
    return box.y + box.h * (1 - chart_along(axis, value));
}

static Ticks axis_ticks(const PlotAxis *axis, double target) {
    return ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(target, 2));
}

/* The title, with the power of ten that the labels leave out. */
static void axis_title(const PlotAxis *axis, const Ticks *ticks, char *text, size_t size) {
    char multiplier[48];
    ticks_multiplier(ticks->exponent, multiplier, sizeof multiplier);
    snprintf(text, size, "%s %s", axis->title, multiplier);
}

void plot_draw_x_axis(const PlotFrame *frame, const PlotAxis *axis, Box box) {
    Pen *pen = frame->pen;
    Ticks ticks = axis_ticks(axis, fmin(box.w / 50, 10));
    TextStyle style = aligned(plot_muted(frame), ALIGN_CENTER);
    char title[160];
    for (int i = 0; i < ticks.count; i++) {
        double x = plot_x(axis, box, ticks.at[i]);
        pen_line(pen, x, box.y, x, box.y + box.h + 4, pen->theme->rule, 0.7, 1);
        pen_text(pen, x, box.y + box.h + 7 + style.size, 90, &style, ticks.label[i]);
    }
    axis_title(axis, &ticks, title, sizeof title);
    style = aligned(plot_body(frame), ALIGN_CENTER);
    pen_text(pen, box.x + box.w / 2, box.y + box.h + frame->type->axis_title, box.w, &style, title);
}

void plot_draw_y_axis(const PlotFrame *frame, const PlotAxis *axis, Box box) {
    Pen *pen = frame->pen;
    Ticks ticks = axis_ticks(axis, fmin(box.h / 32, 7));
    TextStyle style = aligned(plot_muted(frame), ALIGN_RIGHT);
    char title[160];
    for (int i = 0; i < ticks.count; i++) {
        double y = plot_y(axis, box, ticks.at[i]);
        pen_line(pen, box.x - 4, y, box.x + box.w, y, pen->theme->rule, 0.7, 1);
        pen_text(pen, box.x - 8, y + 4, 60, &style, ticks.label[i]);
    }
    axis_title(axis, &ticks, title, sizeof title);
    style = aligned(plot_body(frame), ALIGN_CENTER);
    style.turn = TURN_UP;
    pen_text(pen, box.x - frame->type->axis_left + style.size + 4, box.y + box.h / 2, box.h, &style,
             title);
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* Places the labels beside their marks, apart from each other, and not beyond the chart. */
static void place_labels(const PlotFrame *frame, const PlotAxis *axis, Box box,
                         const PlotMark *marks, int count, double label_x[PLOT_MARKS]) {
    double step = frame->type->small + 4, free_x = -INFINITY, limit = box.x + box.w;
    for (int i = 0; i < count; i++)
        if (chart_on_axis(axis, marks[i].x)) {
            label_x[i] = fmax(plot_x(axis, box, marks[i].x), free_x);
            free_x = label_x[i] + step;
        }
    for (int i = count - 1; i >= 0; i--)
        if (chart_on_axis(axis, marks[i].x)) {
            label_x[i] = fmin(label_x[i], limit);
            limit = label_x[i] - step;
        }
}

void plot_draw_marks(const PlotFrame *frame, const PlotAxis *axis, Box box, const PlotMark *marks,
                     int count, double label_h) {
    const Theme *theme = frame->pen->theme;
    double label_x[PLOT_MARKS];
    count = count < PLOT_MARKS ? count : PLOT_MARKS;
    place_labels(frame, axis, box, marks, count, label_x);
    for (int i = 0; i < count; i++) {
        if (!chart_on_axis(axis, marks[i].x))
            continue;
        double x = plot_x(axis, box, marks[i].x);
        Rgb color = marks[i].strong ? theme->text : theme->muted;
        pen_line(frame->pen, x, box.y, x, box.y + box.h, color, marks[i].strong ? 0.9 : 0.5,
                 marks[i].strong ? 1.5 : 1);
        pen_line(frame->pen, x, box.y, label_x[i], box.y - 8, color, 0.5, 1);
        TextStyle style = plot_muted(frame);
        style.turn = TURN_UP;
        style.color = color;
        style.bold = marks[i].strong && frame->dense;
        pen_text(frame->pen, label_x[i] + 4, box.y - 12, label_h - 12, &style, marks[i].label);
    }
}

/* A character of DejaVu Sans is at most 0.62 of the font size wide on average. */
double plot_mark_space(const PlotFrame *frame, const PlotMark *marks, int count) {
    size_t longest = 0;
    for (int i = 0; i < count; i++)
        if (strlen(marks[i].label) > longest)
            longest = strlen(marks[i].label);
    return count ? 0.62 * frame->type->small * (double)longest + 24 : 8;
}

/* ---- head and note -------------------------------------------------------------------------- */

double plot_head(const PlotFrame *frame, Box box, const char *title, const char *subtitle) {
    const PlotType *type = frame->type;
    TextStyle style = {.size = type->title, .bold = true, .color = frame->pen->theme->text};
    double y = box.y;
    pen_text(frame->pen, box.x, y + (frame->dense ? type->title : 10), box.w, &style, title);
    y += frame->dense ? type->title + 6 : 22;
    if (subtitle) {
        style = plot_body(frame);
        style.color = frame->pen->theme->muted;
        pen_text(frame->pen, box.x, y + type->body, box.w, &style, subtitle);
        y += type->body + 8;
    }
    return y + (frame->dense ? 4 : 16);
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
    return h;
}

double plot_note_room(const PlotFrame *frame, double w, const char *note) {
    enum { LEAST = 84, MARGINS = 33 };
    return fmax(LEAST, plot_note_height(frame, w, note) + MARGINS);
}

/* ---- a box, or a page of its own ------------------------------------------------------------ */

static void draw(Pen *pen, Box box, const ChartSpec *spec, bool dense) {
    const PlotFrame frame = {pen, spec->theme, dense ? &dense_type : &page_type, dense};
    (spec->part_count ? plot_bars_draw : plot_lines_draw)(&frame, box, spec);
}

void plot_draw(Pen *pen, Box box, const ChartSpec *spec) {
    draw(pen, box, spec, true);
}

enum { PAGE_W = 1200 };

static double page_height(const ChartSpec *spec) {
    Pen pen;
    pen_open_measuring(&pen, &themes[spec->theme]);
    const PlotFrame frame = {&pen, spec->theme, &page_type, false};
    double h = MARGIN + 38 + (spec->subtitle ? 22 : 0) +
               plot_mark_space(&frame, spec->marks, spec->mark_count) + page_type.axis_bottom +
               plot_note_room(&frame, PAGE_W - 2 * MARGIN, spec->note);
    pen_close(&pen);
    return h + (spec->part_count ? 2 * page_type.body + plot_bars_height(spec) : PLOT_LINES_H);
}

static void draw_page(Pen *pen, const void *context) {
    const ChartSpec *spec = context;
    Box box = {MARGIN, MARGIN, PAGE_W - 2 * MARGIN, page_height(spec) - MARGIN};
    draw(pen, box, spec, false);
}

static PageSpec page_of(const ChartSpec *spec) {
    return (PageSpec){PAGE_W, page_height(spec), 0, spec->theme, draw_page, spec};
}

bool plot_image(const ChartSpec *spec, Image *image, Err *err) {
    const PageSpec page = page_of(spec);
    return page_image(&page, image, err);
}

bool plot_file(const ChartSpec *spec, bool svg, uint8_t **bytes, size_t *length, Err *err) {
    const PageSpec page = page_of(spec);
    return page_file(&page, svg, bytes, length, err);
}

bool plot_layout(const ChartSpec *spec, FigureLayout *layout, Err *err) {
    const PageSpec page = page_of(spec);
    return page_layout(&page, layout, err);
}
