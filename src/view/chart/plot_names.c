/* SPDX-License-Identifier: MIT */
/* Names in charts of lines and dots: beside points, and at the ends of lines. */
#include "src/view/chart/plot_names.h"

#include <math.h>
#include <string.h>

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

/* Removes one name: the last grey line's, else the last line's. */
static void drop_end(const ChartSpec *spec, Ends *ends) {
    int drop = ends->count - 1;
    for (int i = 0; i < ends->count; i++)
        if (plot_is_muted(spec, &spec->series[ends->list[i].series]))
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
    style.color = plot_series_color(frame, spec, series);
    return style;
}

PlotSide plot_names_side(const PlotFrame *frame, const ChartSpec *spec, Box chart) {
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

void plot_names_draw(const PlotFrame *frame, const ChartSpec *spec, Box chart, PlotSide side) {
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
