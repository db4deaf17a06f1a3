/* Lines and dots in pixels. */
#include "src/view/chart/plot_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHART_LEAST_H = 90, LEGEND_W = 210, LEGEND_STEP = 24 };
enum { DOT = 5 }; /* radius: size tells nothing */
enum { DENSE_STEP = 16, DENSE_RIGHT = 16 }; /* in a box */

static bool point_of(const ChartSpec *spec, Box box, const PlotSeries *series, int i, double *x,
                     double *y) {
    double value = series->y[i];
    if (!chart_on_axis(&spec->x, series->x[i]) || !isfinite(value) || (spec->y.log && value <= 0))
        return false;
    *x = plot_x(&spec->x, box, series->x[i]);
    *y = plot_y(&spec->y, box, value);
    return true;
}

/* The strong series and the baseline have the same inks everywhere. */
static Rgb color_of(const PlotFrame *frame, const ChartSpec *spec, const PlotSeries *series) {
    if (chart_is_muted(spec, series))
        return frame->pen->theme->muted;
    if (series->strong || series->baseline)
        return ink_color(series->strong ? INK_ACCENT : INK_BASELINE, frame->theme == THEME_LIGHT,
                         false);
    return plot_color(series->color, frame->theme);
}

static void draw_line(const PlotFrame *frame, const ChartSpec *spec, Box box,
                      const PlotSeries *series) {
    static const double dashes[] = {6, 4};
    cairo_t *cr = frame->pen->cr;
    bool open = false;
    double x, y;
    if (frame->pen->measuring)
        return;
    pen_clip(frame->pen, box);
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
    pen_stroke(frame->pen, color_of(frame, spec, series), 1,
               series->strong ? 4
               : frame->dense ? 1.5
                              : 2);
    cairo_restore(cr);
}

/* Whether a dot is told by its name beside it. */
static bool is_named(const PlotFrame *frame, const PlotSeries *series) {
    return !frame->dense && series->dots && series->count == 1 &&
           (series->strong || series->baseline);
}

static Box dot_box(double x, double y) {
    return (Box){x - DOT, y - DOT, 2 * DOT, 2 * DOT};
}

/* Where the name of a dot at (x, y) stands: the first corner that covers no other dot. */
static Box name_box(const PlotFrame *frame, const ChartSpec *spec, Box chart,
                    const PlotSeries *series, double x, double y) {
    TextStyle style = plot_body(frame);
    style.bold = true;
    double w = pen_text_width(frame->pen, &style, series->name), h = style.size + 4;
    const Box corners[] = {{x + 12, y - 4 - h, w, h},
                           {x + 12, y + 4, w, h},
                           {x - 12 - w, y - 4 - h, w, h},
                           {x - 12 - w, y + 4, w, h}};
    for (int corner = 0; corner < 4; corner++) {
        bool hit = false;
        double x2, y2;
        for (int i = 0; i < spec->series_count && !hit; i++)
            for (int j = 0; j < spec->series[i].count && spec->series[i].dots && !hit; j++)
                hit = &spec->series[i] != series &&
                      point_of(spec, chart, &spec->series[i], j, &x2, &y2) &&
                      boxes_overlap(corners[corner], dot_box(x2, y2));
        if (!hit)
            return corners[corner];
    }
    return corners[0];
}

/* The strong series has a ring around its dots. */
static void draw_dots(const PlotFrame *frame, const ChartSpec *spec, Box box,
                      const PlotSeries *series) {
    Pen *pen = frame->pen;
    for (int i = 0; i < series->count; i++) {
        double x, y;
        if (!point_of(spec, box, series, i, &x, &y) || pen->measuring || y < box.y - 1 ||
            y > box.y + box.h + 1)
            continue;
        pen_color(pen, color_of(frame, spec, series), 1);
        cairo_arc(pen->cr, x, y, DOT, 0, 2 * M_PI);
        cairo_fill(pen->cr);
        if (series->strong) {
            cairo_arc(pen->cr, x, y, DOT + 3, 0, 2 * M_PI);
            pen_stroke(pen, pen->theme->text, 1, 1.5);
        }
        if (is_named(frame, series)) {
            TextStyle style = plot_body(frame);
            Box name = name_box(frame, spec, box, series, x, y);
            style.bold = true;
            style.color = color_of(frame, spec, series);
            pen_text(pen, name.x, name.y + name.h - 4, 200, &style, series->name);
        }
    }
}

/* ---- numbers of dots and lines --------------------------------------------------------------- */

static bool shares_color(const PlotFrame *frame, const ChartSpec *spec, int series) {
    Rgb color = color_of(frame, spec, &spec->series[series]);
    for (int i = 0; i < spec->series_count; i++) {
        Rgb other = color_of(frame, spec, &spec->series[i]);
        if (i != series && !spec->series[i].dots && !memcmp(&color, &other, sizeof color))
            return true;
    }
    return false;
}

/* A dot without its name beside it on a page, or a line of the colour of others, has a number, the
 * same in the legend; else 0. */
static int number_of(const PlotFrame *frame, const ChartSpec *spec, int series) {
    const PlotSeries *of = &spec->series[series];
    bool alike = of->dots ? !frame->dense && of->count == 1 && !is_named(frame, of)
                          : shares_color(frame, spec, series);
    int number = 0;
    for (int i = 0; alike && i <= series; i++)
        number += spec->series[i].dots == of->dots;
    return number;
}

/* How far, in pixels, the other lines pass point i of a line. */
static double loneliness(const ChartSpec *spec, Box chart, int line, int i) {
    const PlotSeries *of = &spec->series[line];
    double least = INFINITY, x, y, x2, y2;
    if (!point_of(spec, chart, of, i, &x, &y))
        return 0;
    for (int j = 0; j < spec->series_count; j++)
        if (j != line && spec->series[j].count == of->count &&
            point_of(spec, chart, &spec->series[j], i, &x2, &y2))
            least = fmin(least, fabs(y - y2));
    return least;
}

/* What a dot covers, with its name where that stands beside it. */
static bool covered(const PlotFrame *frame, const ChartSpec *spec, Box chart, int series, int part,
                    Box *box) {
    const PlotSeries *of = &spec->series[series];
    double x, y;
    if (!of->dots || of->count != 1 || !point_of(spec, chart, of, 0, &x, &y))
        return false;
    *box = part ? name_box(frame, spec, chart, of, x, y) : dot_box(x, y);
    return !part || is_named(frame, of);
}

/* Where a dot's number may stand: right and left of the dot, above and below. */
enum { PLACES = 4, MOST_NUMBERS = 64 };

static Box number_box(double x, double y, double w, double size, int place) {
    const double left[PLACES] = {x + 8, x - 8 - w, x - w / 2, x - w / 2};
    const double middle[PLACES] = {y, y, y - 14, y + 14};
    return (Box){left[place], middle[place] - size / 2 - 1, w, size + 2};
}

/* Boxes in which something stands. */
typedef struct {
    Box list[3 * MOST_NUMBERS];
    int count;
} Taken;

static bool is_free(const Taken *taken, Box box) {
    for (int i = 0; i < taken->count; i++)
        if (boxes_overlap(box, taken->list[i]))
            return false;
    return true;
}

/* Beside the dot, at the first place where nothing stands yet. */
static bool place_at_dot(const ChartSpec *spec, Box chart, int series, double w, double size,
                         const Taken *taken, Box *box) {
    double x, y;
    if (!point_of(spec, chart, &spec->series[series], 0, &x, &y))
        return false;
    for (int place = 0; place < PLACES; place++) {
        *box = number_box(x, y, w, size, place);
        if (is_free(taken, *box))
            return true;
    }
    return false;
}

/* On the line, where it is farthest from all others. */
static bool place_on_line(const ChartSpec *spec, Box chart, int series, double w, double size,
                          const Taken *taken, Box *box) {
    const PlotSeries *of = &spec->series[series];
    double most = 0, x, y;
    for (int i = 1 + of->count / 16; i < of->count - 1 - of->count / 16; i++) {
        double far = loneliness(spec, chart, series, i);
        if (far <= most || !point_of(spec, chart, of, i, &x, &y))
            continue;
        const Box here = {x - w / 2 - 2, y - size / 2 - 1, w + 4, size + 2};
        if (is_free(taken, here))
            most = far, *box = here;
    }
    return most > 0;
}

/* Beside each dot, or on each line, its number. */
static void draw_numbers(const PlotFrame *frame, const ChartSpec *spec, Box chart) {
    TextStyle style = plot_muted(frame);
    Taken taken = {.count = 0};
    for (int i = 0; i < 2 * spec->series_count && i < 2 * MOST_NUMBERS; i++)
        taken.count += covered(frame, spec, chart, i / 2, i % 2, &taken.list[taken.count]);
    for (int i = 0; i < spec->series_count && i < MOST_NUMBERS; i++) {
        const bool dots = spec->series[i].dots;
        int number = number_of(frame, spec, i);
        char text[16];
        Box box;
        snprintf(text, sizeof text, "%d", number);
        double w = pen_text_width(frame->pen, &style, text);
        if (!number ||
            !(dots ? place_at_dot : place_on_line)(spec, chart, i, w, style.size, &taken, &box))
            continue;
        if (!dots)
            pen_fill(frame->pen, box, frame->pen->theme->page, 1);
        pen_text(frame->pen, box.x + (dots ? 0 : 2), box.y + 1 + 0.85 * style.size, w + 4, &style,
                 text);
        taken.list[taken.count++] = box;
    }
}

/* Strong ones last, so that nothing covers them. */
static void draw_series(const PlotFrame *frame, const ChartSpec *spec, Box box) {
    for (int strong = 0; strong < 2; strong++)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if (series->strong == strong)
                (series->dots ? draw_dots : draw_line)(frame, spec, box, series);
        }
    draw_numbers(frame, spec, box);
}

/* ---- legend --------------------------------------------------------------------------------- */

static void draw_key(const PlotFrame *frame, const ChartSpec *spec, int number, double x, double y,
                     double w) {
    const PlotSeries *series = &spec->series[number];
    const int numbered = number_of(frame, spec, number);
    char name[96];
    Pen *pen = frame->pen;
    Rgb color = color_of(frame, spec, series);
    TextStyle style = plot_body(frame);
    style.bold = series->strong;
    if (series->dots)
        pen_fill(pen, (Box){x + 6, y - 5, 10, 10}, color, 1);
    else
        pen_line(pen, x, y, x + 10, y, color, 1, 3);
    if (!series->dots)
        pen_line(pen, series->faint ? x + 14 : x + 10, y, x + 24, y, color, 1, 3);
    if (numbered)
        snprintf(name, sizeof name, "%d  %s", numbered, series->name);
    pen_text(pen, x + 32, y + 0.35 * style.size, w - 40, &style, numbered ? name : series->name);
}

/* Beside the chart on a page, in columns under it where the box is small. */
static void draw_legend(const PlotFrame *frame, const ChartSpec *spec, double x, double y,
                        int columns, double column_w) {
    for (int i = 0; i < spec->series_count; i++) {
        double step = frame->dense ? DENSE_STEP : LEGEND_STEP;
        draw_key(frame, spec, i, x + i % columns * column_w, y + i / columns * step, column_w);
    }
}

/* How many keys fit side by side. */
static int legend_columns(const PlotFrame *frame, const ChartSpec *spec, double w) {
    TextStyle style = plot_body(frame);
    double widest = 1;
    style.bold = true;
    for (int i = 0; i < spec->series_count; i++)
        widest = fmax(widest, pen_text_width(frame->pen, &style, spec->series[i].name));
    return frame->dense ? (int)fmax(w / (widest + 44), 1) : 1;
}

/* ---- layout --------------------------------------------------------------------------------- */

void plot_lines_draw(const PlotFrame *frame, Box box, const ChartSpec *spec) {
    const PlotType *type = frame->type;
    double top = plot_head(frame, box, spec->title, spec->subtitle);
    double labels = plot_mark_space(frame, spec->marks, spec->mark_count);
    double note_h = frame->dense ? plot_note_height(frame, box.w, spec->note) + 6
                                 : plot_note_room(frame, box.w, spec->note);
    int columns = legend_columns(frame, spec, box.w);
    double legend_h =
        frame->dense ? (spec->series_count + columns - 1) / columns * DENSE_STEP + 12 : 0;
    double gap = frame->dense ? 8 : 0;
    double room = box.y + box.h - top - labels - type->axis_bottom - gap;
    bool has_note = room - legend_h - note_h >= CHART_LEAST_H;
    bool has_legend = room - legend_h >= CHART_LEAST_H;
    double chart_h = room - (has_note ? note_h : 0) - (has_legend ? legend_h : 0);
    if (chart_h < 20)
        return;
    Box chart = {box.x + type->axis_left, top + labels,
                 box.w - type->axis_left - (frame->dense ? DENSE_RIGHT : LEGEND_W), chart_h};
    plot_draw_x_axis(frame, &spec->x, chart);
    plot_draw_y_axis(frame, &spec->y, chart);
    plot_draw_marks(frame, &spec->x, chart, spec->marks, spec->mark_count, labels);
    pen_frame(frame->pen, chart, frame->pen->theme->rule, 1, 1);
    draw_series(frame, spec, chart);
    double bottom = chart.y + chart.h + type->axis_bottom;
    if (!frame->dense)
        draw_legend(frame, spec, chart.x + chart.w + 20, chart.y + 8, 1, LEGEND_W);
    else if (has_legend)
        draw_legend(frame, spec, box.x, bottom + 12, columns, box.w / columns);
    if (has_note)
        plot_note(frame, box.x, bottom + 8 + (frame->dense ? legend_h - 4 : 0), box.w, spec->note);
}
