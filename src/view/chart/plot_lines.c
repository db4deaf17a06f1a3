/* SPDX-License-Identifier: MIT */
/* Lines and dots in pixels. Names stand beside what they name: there is no legend. */
#include "src/view/chart/plot_internal.h"

#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHART_LEAST_H = 90, DOT = 5 }; /* the radius: size tells nothing */
enum { AT_EDGE = 4, LEADER = 14 };    /* beside the end of a line */

static bool point_of(const ChartSpec *spec, Box box, const PlotSeries *series, int i, double *x,
                     double *y) {
    double value = series->y[i];
    if (!chart_on_axis(&spec->x, series->x[i]) || !isfinite(value) || (spec->y.log && value <= 0))
        return false;
    *x = plot_x(&spec->x, box, series->x[i]);
    *y = plot_y(&spec->y, box, value);
    return true;
}

static Rgb color_of(const PlotFrame *frame, const ChartSpec *spec, const PlotSeries *series) {
    Rgb usual = chart_is_muted(spec, series) ? frame->pen->theme->muted
                                             : plot_color(series->color, frame->theme);
    return plot_role(frame, series->strong, series->baseline, usual);
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
        bool there = point_of(spec, box, series, i, &x, &y);
        if (there && open)
            cairo_line_to(cr, x, y);
        else if (there)
            cairo_move_to(cr, x, y);
        open = there;
    }
    double usual = chart_is_muted(spec, series) ? 1.3 : 2;
    pen_stroke(frame->pen, color_of(frame, spec, series), 1, series->strong ? 3.5 : usual);
    cairo_restore(cr);
    for (int i = 0; i < spec->mark_count && spec->meets; i++) {
        double meets = spec->marks[i].strong ? chart_crossing(spec, series, spec->marks[i].x) : NAN;
        if (chart_on_axis(&spec->y, meets))
            plot_dot(frame, plot_x(&spec->x, box, spec->marks[i].x), plot_y(&spec->y, box, meets),
                     series->strong ? DOT : DOT - 1.5, color_of(frame, spec, series), false);
    }
}

static void draw_dots(const PlotFrame *frame, const ChartSpec *spec, Box box,
                      const PlotSeries *series) {
    double x, y;
    for (int i = 0; i < series->count; i++)
        if (point_of(spec, box, series, i, &x, &y) && y >= box.y - 1 && y <= box.y + box.h + 1) {
            TextStyle sign = {.color = color_of(frame, spec, series), .align = ALIGN_CENTER};
            sign.size = frame->type->body;
            if (frame->cells)
                pen_text(frame->pen, x, y + 0.35 * sign.size, box.w, &sign,
                         series->faint ? "\u25cb" : "\u25cf");
            else
                plot_dot(frame, x, y, DOT, sign.color, series->faint);
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

/* ---- names beside points -------------------------------------------------------------------- */

enum { MOST_TAKEN = 160 };

/* Boxes in which a text or a dot stands. */
typedef struct {
    Box list[MOST_TAKEN];
    int count;
} Taken;

static void take_place(Taken *taken, Box box) {
    if (taken->count < MOST_TAKEN)
        taken->list[taken->count++] = box;
}

static bool is_free(const Taken *taken, Box box) {
    for (int i = 0; i < taken->count; i++)
        if (boxes_overlap(box, taken->list[i]))
            return false;
    return true;
}

static void take_dots(const ChartSpec *spec, Box chart, Taken *taken) {
    double x, y;
    for (int i = 0; i < spec->series_count; i++)
        for (int j = 0; j < spec->series[i].count && spec->series[i].dots; j++)
            if (point_of(spec, chart, &spec->series[i], j, &x, &y))
                take_place(taken, (Box){x - DOT, y - DOT, 2 * DOT, 2 * DOT});
}

/* Returns how many pieces of lines pass through the box. */
static int crossed_by(const ChartSpec *spec, Box chart, Box box) {
    int count = 0;
    for (int i = 0; i < spec->series_count; i++) {
        const PlotSeries *series = &spec->series[i];
        double x0, y0, x1, y1;
        for (int j = 1; j < series->count && !series->dots; j++)
            if (point_of(spec, chart, series, j - 1, &x0, &y0) &&
                point_of(spec, chart, series, j, &x1, &y1))
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
                                                        : color_of(frame, spec, series);
    double w = pen_text_width(frame->pen, &style, name) + 1, h = style.size + 2;
    if (!point_of(spec, chart, series, i, &x, &y) ||
        !place_name(spec, chart, taken, x, y, w, h, &box))
        return;
    if (series->dots) {
        double near_x = fmin(fmax(x, box.x), box.x + w), near_y = fmin(fmax(y, box.y), box.y + h);
        if (hypot(near_x - x, near_y - y) > 14)
            pen_line(frame->pen, x, y, near_x, near_y, style.color, 0.5, 1);
    }
    plot_text(frame, box.x, box.y + 0.85 * h, w, &style, name);
    take_place(taken, box);
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
    bool left; /* names stand at the left, where lines are farther apart */
    double w;  /* room beside the chart */
} Ends;

/* Finds the point of a line at the edge of the chart. False: the line does not reach the edge. */
static bool edge_point(const ChartSpec *spec, Box chart, const PlotSeries *series, bool left,
                       double *y) {
    double x;
    for (int i = 0; i < series->count; i++)
        if (point_of(spec, chart, series, left ? i : series->count - 1 - i, &x, y))
            return fabs(x - (left ? chart.x : chart.x + chart.w)) <= AT_EDGE;
    return false;
}

static void find_ends(const ChartSpec *spec, Box chart, Ends *ends) {
    ends->count = 0;
    for (int i = 0; i < spec->series_count && ends->count < MOST_ENDS; i++) {
        const PlotSeries *series = &spec->series[i];
        double y;
        if (series->dots || !series->name || !edge_point(spec, chart, series, ends->left, &y))
            continue;
        int at = ends->count++;
        for (; at > 0 && ends->list[at - 1].from_y > y; at--)
            ends->list[at] = ends->list[at - 1];
        ends->list[at] = (End){i, y, y};
    }
}

/* Returns how far apart the ends are. */
static double spread_of(const Ends *ends) {
    double sum = 0;
    for (int i = 1; i < ends->count; i++)
        sum += fmin(ends->list[i].from_y - ends->list[i - 1].from_y, 30);
    return sum;
}

static void drop_end(const ChartSpec *spec, Ends *ends) {
    int drop = ends->count - 1;
    for (int i = 0; i < ends->count; i++)
        if (chart_is_muted(spec, &spec->series[ends->list[i].series]))
            drop = i;
    memmove(&ends->list[drop], &ends->list[drop + 1], sizeof(End) * (size_t)(--ends->count - drop));
}

/* Moves names apart that would touch. Grey lines lose their names first where there is no room. */
static void part_ends(const ChartSpec *spec, double step, Box chart, Ends *ends) {
    while (ends->count && ends->count * step > chart.h + step)
        drop_end(spec, ends);
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
    style.color = color_of(frame, spec, series);
    return style;
}

static Ends choose_ends(const PlotFrame *frame, const ChartSpec *spec, Box chart) {
    Ends left = {.left = true}, right = {.left = false};
    find_ends(spec, chart, &left);
    find_ends(spec, chart, &right);
    bool apart = left.count == right.count && spread_of(&left) > 1.5 * spread_of(&right);
    Ends ends = apart || left.count > right.count ? left : right;
    for (int i = 0; i < ends.count; i++) {
        const PlotSeries *series = &spec->series[ends.list[i].series];
        TextStyle style = end_style(frame, spec, series);
        double w = pen_text_width(frame->pen, &style, series->name) + LEADER + 6;
        ends.w = fmax(ends.w, fmin(w, 0.35 * chart.w));
    }
    return ends;
}

static void draw_ends(const PlotFrame *frame, const ChartSpec *spec, Box chart, Ends *ends) {
    double edge = ends->left ? chart.x : chart.x + chart.w, away = ends->left ? -1 : 1;
    part_ends(spec, frame->cells ? CELL_H : frame->type->small + 2, chart, ends);
    for (int i = 0; i < ends->count; i++) {
        const End *end = &ends->list[i];
        const PlotSeries *series = &spec->series[end->series];
        TextStyle style = end_style(frame, spec, series);
        style.align = ends->left ? ALIGN_RIGHT : ALIGN_LEFT;
        double from = fmin(end->from_y, chart.y + chart.h);
        pen_line(frame->pen, edge + away * 2, from, edge + away * (LEADER - 4), end->y, style.color,
                 0.6, 1);
        pen_text(frame->pen, edge + away * LEADER, end->y + 0.35 * style.size, ends->w - LEADER,
                 &style, series->name);
    }
}

/* Returns the middle one of a line's points in the chart. */
static int middle_point(const ChartSpec *spec, Box chart, const PlotSeries *series) {
    double x, y;
    int seen = 0, point = 0;
    for (int i = 0; i < series->count; i++)
        seen += point_of(spec, chart, series, i, &x, &y);
    for (int left = seen / 2 + 1; point < series->count && left > 0; point++)
        left -= point_of(spec, chart, series, point, &x, &y);
    return point > 0 ? point - 1 : 0;
}

/* Names of dots, labels of points, and names of lines that end within the chart. Strong ones have
 * the first choice. */
static void draw_names(const PlotFrame *frame, const ChartSpec *spec, Box chart, bool left) {
    Taken taken = {.count = 0};
    double y;
    take_dots(spec, chart, &taken);
    for (int rank = 2; rank >= 0; rank--)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if ((series->strong ? 2 : series->baseline) != rank)
                continue;
            for (int j = 0; j < series->count && series->labels; j++)
                if (series->labels[j])
                    name_point(frame, spec, chart, series, j, series->labels[j], &taken);
            if (series->name && series->count == 1)
                name_point(frame, spec, chart, series, 0, series->name, &taken);
            if (series->name && !series->dots && !edge_point(spec, chart, series, left, &y))
                name_point(frame, spec, chart, series, middle_point(spec, chart, series),
                           series->name, &taken);
        }
}

/* ---- layout --------------------------------------------------------------------------------- */

static Ticks y_ticks(const PlotAxis *axis, double h) {
    return ticks_of(axis->log, axis->lo, axis->hi, (int)fmax(fmin(h / 36, 7), 2));
}

/* Writes the label of a tick: in cells the last one has the unit. */
static void tick_label(const PlotFrame *frame, const PlotAxis *axis, const Ticks *ticks, int i,
                       char label[48]) {
    bool unit = frame->cells && axis->unit && i == ticks->count - 1;
    snprintf(label, 48, "%s%s%s", ticks->label[i], unit ? " " : "", unit ? axis->unit : "");
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
    const double lowest = bottom - (frame->cells ? 0.5 * CELL_H : 0); /* above the x axis' row */
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

void plot_lines_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    double top = frame->cells ? box.y : plot_head(frame, box, spec);
    top += frame->cells ? 0 : plot_keys(frame, spec, box, top);
    double title_y = top + frame->type->body, below = plot_axis_height(frame);
    double note_h = plot_note_height(frame, box.w, spec->note);
    top = frame->cells ? top : title_y + 14;
    double room = box.y + box.h - top - below;
    Ticks ticks = y_ticks(&spec->y, room);
    double labels_w = labels_width(frame, &spec->y, &ticks);
    Box chart = {box.x, top, box.w, room};
    Ends ends = choose_ends(frame, spec, chart);
    chart.w -= labels_w + fmax(ends.w, 10);
    chart.x += ends.left ? ends.w : labels_w;
    double band = plot_mark_band(frame, spec, chart.x, chart.w, box.x + box.w);
    bool has_note = !frame->cells && (!frame->boxed || room - band - note_h >= CHART_LEAST_H);
    chart.y += band;
    chart.h -= band + (has_note ? note_h : 0);
    if (chart.h < 20 || chart.w < 40)
        return;
    ticks = y_ticks(&spec->y, chart.h);
    find_ends(spec, chart, &ends);
    draw_y_axis(frame, spec, chart, title_y, &ticks, ends.left, box);
    plot_draw_x_axis(frame, &spec->x, chart, box);
    plot_draw_marks(frame, spec, chart, box.x + box.w);
    pen_line(frame->pen, chart.x, chart.y + chart.h, chart.x + chart.w, chart.y + chart.h,
             frame->pen->theme->muted, 1, 1);
    draw_series(frame, spec, chart);
    draw_ends(frame, spec, chart, &ends);
    draw_names(frame, spec, chart, ends.left);
    if (has_note)
        plot_note(frame, box.x, chart.y + chart.h + below + 8, box.w, spec->note);
}
