/* Bars in pixels. */
#include "src/view/chart/plot_internal.h"

#include <math.h>

enum { LABEL_W = 190, END_W = 200, BAR_H = 16, BAR_STEP = 22, GROUP_STEP = 34, PAD = 8 };

/* Places of the rows: as on a page, or closer together in a low box. */
typedef struct {
    Box chart;
    double label_w, end_w, bar_h, step, group_step;
    int pieces; /* of the bars' texts that have room */
} Rows;

static double rows_height(const ChartSpec *spec, double step, double group_step) {
    double h = 2 * PAD;
    for (int i = 0; i < spec->bar_count; i++)
        h += step + (spec->bars[i].group ? group_step : 0);
    return h;
}

/* End of a bar on the page, and whether it was cut there. */
static double bar_end(const ChartSpec *spec, Box box, const PlotBar *bar, bool *cut) {
    double sum = chart_bar_end(spec, bar);
    *cut = sum > spec->x.hi;
    return plot_x(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
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
                 plot_color(span->part, frame->theme), bar->faint ? 0.55 : 1);
    }
    for (int part = 0; part < spec->part_count; part++) {
        if (bar->spans || !(bar->parts[part] > 0))
            continue;
        sum += bar->parts[part];
        double to = plot_x(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
        pen_fill(frame->pen, (Box){x, y, to - x, rows->bar_h}, plot_color(part, frame->theme),
                 bar->faint ? 0.55 : 1);
        x = to;
    }
    x = bar_end(spec, box, bar, &cut);
    for (int i = 0; cut && i < 2; i++)
        pen_line(frame->pen, x - 8 - 6 * i, y - 2, x - 14 - 6 * i, y + rows->bar_h + 2,
                 frame->pen->theme->page, 1, 3);
}

/* On a patch in the page's colour, so that no line runs through the text. */
static void text_on_page(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                         const char *text) {
    Box box = pen_text_box(pen, x, baseline, max_w, style, text);
    pen_fill(pen, (Box){box.x - 3, box.y, box.w + 6, box.h}, pen->theme->page, 1);
    pen_text(pen, x, baseline, max_w, style, text);
}

/* The text at a bar's end: as many of its pieces as have room up to the end of the row. */
static void end_text(const PlotFrame *frame, const Rows *rows, const PlotBar *bar,
                     const TextStyle *style, double room, char text[BAR_TEXT]) {
    int pieces = rows->pieces;
    do
        chart_bar_text(bar, pieces, text);
    while (--pieces > 0 && pen_text_width(frame->pen, style, text) > room);
}

static void draw_texts(const PlotFrame *frame, const ChartSpec *spec, const Rows *rows,
                       const PlotBar *bar, double y) {
    Pen *pen = frame->pen;
    TextStyle text = plot_muted(frame), label = aligned(text, ALIGN_RIGHT);
    TextStyle heading = plot_body(frame);
    double baseline = y + rows->bar_h / 2 + 0.38 * text.size;
    char end[BAR_TEXT];
    bool cut;
    double x = bar_end(spec, rows->chart, bar, &cut) + 8;
    double room = rows->chart.x + rows->chart.w + rows->end_w - 4 - x;
    end_text(frame, rows, bar, &text, room, end);
    bool light = frame->theme == THEME_LIGHT;
    text.color = pen->theme->text;
    if (bar->strong || bar->baseline)
        label.color = ink_color(bar->strong ? INK_ACCENT : INK_BASELINE, light, false);
    label.bold = bar->strong;
    heading.bold = true;
    if (bar->group)
        text_on_page(pen, rows->chart.x - rows->label_w, y - 0.35 * heading.size - 3,
                     rows->label_w + rows->chart.w + rows->end_w, &heading, bar->group);
    pen_text(pen, rows->chart.x - 10, baseline, rows->label_w - 10, &label, bar->label);
    text_on_page(pen, x, baseline, room, &text, end);
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

/* Names of the parts in their colours; a line ends where the box does. Returns the height. */
static double draw_part_keys(const PlotFrame *frame, const ChartSpec *spec, Box box, double y) {
    TextStyle style = plot_body(frame);
    double x = box.x, top = y, side = 0.85 * style.size;
    for (int part = 0; part < spec->part_count; part++) {
        double w = side + 6 + pen_text_width(frame->pen, &style, spec->part_names[part]);
        if (x > box.x && x + w > box.x + box.w) {
            x = box.x;
            y += 1.4 * style.size;
        }
        pen_fill(frame->pen, (Box){x, y + style.size - side, side, side},
                 plot_color(part, frame->theme), 1);
        pen_text(frame->pen, x + side + 6, y + style.size, box.w, &style, spec->part_names[part]);
        x += w + 1.9 * style.size;
    }
    return y + 2 * style.size - top;
}

/* ---- layout --------------------------------------------------------------------------------- */

/* In a box: as wide as the texts; the last pieces of those at the bars' ends yield to the bars. */
static void widths(const PlotFrame *frame, const ChartSpec *spec, double w, Rows *rows) {
    const double least_bars = 0.35;
    TextStyle style = plot_muted(frame);
    rows->label_w = LABEL_W;
    rows->end_w = END_W;
    rows->pieces = ALL_PIECES;
    if (!frame->dense)
        return;
    rows->label_w = 0;
    for (int i = 0; i < spec->bar_count; i++)
        rows->label_w =
            fmax(rows->label_w, pen_text_width(frame->pen, &style, spec->bars[i].label) + 12);
    for (;; rows->pieces--) {
        char text[BAR_TEXT];
        rows->end_w = 0;
        for (int i = 0; i < spec->bar_count; i++) {
            chart_bar_text(&spec->bars[i], rows->pieces, text);
            rows->end_w = fmax(rows->end_w, pen_text_width(frame->pen, &style, text) + 14);
        }
        if (rows->pieces == 1 || w - rows->label_w - rows->end_w >= least_bars * w)
            return;
    }
}

double plot_bars_height(const ChartSpec *spec) {
    return rows_height(spec, BAR_STEP, GROUP_STEP);
}

void plot_bars_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    Rows rows = {.bar_h = BAR_H, .step = BAR_STEP, .group_step = GROUP_STEP};
    double top = plot_head(frame, box, spec->title, spec->subtitle);
    top += draw_part_keys(frame, spec, box, top - (frame->dense ? 0 : 6));
    int mark_count = spec->mark_count;
    double labels = plot_mark_space(frame, spec->marks, mark_count);
    double note_h = frame->dense ? plot_note_height(frame, box.w, spec->note) + 8
                                 : plot_note_room(frame, box.w, spec->note);
    double need = rows_height(spec, BAR_STEP, GROUP_STEP);
    double room = box.y + box.h - top - labels - frame->type->axis_bottom;
    bool has_note = !frame->dense || room - note_h > 0.6 * need;
    room -= has_note ? note_h : 0;
    if (frame->dense && room < 0.75 * need) { /* rows are more important than labels of marks */
        room += labels - PAD;
        labels = PAD;
        mark_count = 0;
    }
    double scale = frame->dense ? fmin((room - 2 * PAD) / (need - 2 * PAD), 1) : 1;
    if (scale * BAR_STEP < frame->type->small)
        return;
    rows.bar_h *= scale, rows.step *= scale, rows.group_step *= scale;
    widths(frame, spec, box.w, &rows);
    rows.chart = (Box){box.x + rows.label_w, top + labels, box.w - rows.label_w - rows.end_w,
                       rows_height(spec, rows.step, rows.group_step)};
    plot_draw_x_axis(frame, &spec->x, rows.chart);
    draw_rows(frame, spec, &rows, draw_parts);
    plot_draw_marks(frame, &spec->x, rows.chart, spec->marks, mark_count, labels);
    draw_rows(frame, spec, &rows, draw_texts);
    if (has_note)
        plot_note(frame, box.x, rows.chart.y + rows.chart.h + frame->type->axis_bottom + 8, box.w,
                  spec->note);
}
