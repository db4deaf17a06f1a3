/* SPDX-License-Identifier: MIT */
/* Bars in pixels. */
#include "src/view/chart/plot_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Draws the text at a bar's end: as many pieces as have room up to the end of the row. Returns the
 * rest of the text, without its comma. */
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
    label.color = plot_role(frame, bar->strong, bar->baseline, theme->text);
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

double plot_bars_height(const ChartSpec *spec) {
    return rows_height(spec, BAR_STEP, GROUP_STEP);
}

void plot_bars_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    Rows rows = {.bar_h = BAR_H, .step = BAR_STEP, .group_step = GROUP_STEP};
    double top = plot_head(frame, box, spec);
    top += plot_keys(frame, spec, box, top);
    divide_width(frame, spec, box.w, &rows);
    double chart_w = box.w - rows.label_w - rows.end_w;
    double band = plot_mark_band(frame, spec, box.x + rows.label_w, chart_w, box.x + box.w);
    double note_h = plot_note_height(frame, box.w, spec->note);
    double need = rows_height(spec, BAR_STEP, GROUP_STEP);
    double room = box.y + box.h - top - band - plot_axis_height(frame);
    bool has_note = !frame->boxed || room - note_h > 0.6 * need;
    room -= has_note ? note_h : 0;
    double scale = frame->boxed ? fmin((room - 2 * PAD) / (need - 2 * PAD), 1) : 1;
    if (scale * BAR_STEP < frame->type->small)
        return;
    rows.bar_h *= scale, rows.step *= scale, rows.group_step *= scale;
    rows.chart = (Box){box.x + rows.label_w, top + band, chart_w,
                       rows_height(spec, rows.step, rows.group_step)};
    plot_draw_x_axis(frame, &spec->x, rows.chart, box);
    draw_rows(frame, spec, &rows, draw_parts);
    plot_draw_marks(frame, spec, rows.chart, box.x + box.w);
    draw_rows(frame, spec, &rows, draw_texts);
    if (has_note)
        plot_note(frame, box.x, rows.chart.y + rows.chart.h + plot_axis_height(frame) + 8, box.w,
                  spec->note);
}
