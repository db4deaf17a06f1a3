#include "src/view/plot.h"

#include "src/view/page.h"
#include "src/view/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PAGE_W = 1200,
    CHART_H = 440,
    LEGEND_W = 210,
    MARK_H = 150,
    AXIS_LEFT = 74,
    AXIS_BOTTOM = 58,
    NOTE_H = 84,
    LABEL_W = 190,
    END_W = 200,
    BAR_H = 16,
    BAR_STEP = 22,
    GROUP_STEP = 34
};

Rgb plot_color(int index, FigureTheme theme) {
    static const uint32_t light[PLOT_COLORS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                                0x56b4e9, 0x7b5cc4, 0x444444, 0xa6761d, 0x1b9e77};
    Rgb color = rgb_hex(light[(unsigned)index % PLOT_COLORS]);
    for (double t = 0; rgb_contrast(color, themes[theme].page) < (theme == THEME_DARK ? 4.5 : 1);
         t += 0.1)
        color = rgb_mix(color, (Rgb){255, 255, 255}, t);
    return color;
}

/* ---- axes ----------------------------------------------------------------------------------- */

static double along(const PlotAxis *axis, double value) {
    if (axis->log)
        return log(value / axis->lo) / log(axis->hi / axis->lo);
    return (value - axis->lo) / (axis->hi - axis->lo);
}

static bool on_axis(const PlotAxis *axis, double value) {
    double at = isfinite(value) && (!axis->log || value > 0) ? along(axis, value) : NAN;
    return at >= -1e-9 && at <= 1 + 1e-9;
}

static Ticks axis_ticks(const PlotAxis *axis, int target) {
    return axis->log ? ticks_log(axis->lo, axis->hi, target)
                     : ticks_linear(axis->lo, axis->hi, target);
}

static double x_of(const PlotAxis *axis, Box box, double value) {
    return box.x + box.w * along(axis, value);
}

static double y_of(const PlotAxis *axis, Box box, double value) {
    return box.y + box.h * (1 - along(axis, value));
}

/* Title and the power of ten that the labels leave out. */
static void axis_title(const PlotAxis *axis, const Ticks *ticks, char *text, size_t size) {
    char multiplier[48];
    ticks_multiplier(ticks->exponent, multiplier, sizeof multiplier);
    snprintf(text, size, "%s %s", axis->title, multiplier);
}

static void draw_x_axis(Pen *pen, const PlotAxis *axis, Box box) {
    Ticks ticks = axis_ticks(axis, 10);
    TextStyle style = style_muted(pen);
    char title[160];
    style.align = ALIGN_CENTER;
    for (int i = 0; i < ticks.count; i++) {
        double x = x_of(axis, box, ticks.at[i]);
        pen_line(pen, x, box.y, x, box.y + box.h + 4, pen->theme->rule, 0.7, 1);
        pen_text(pen, x, box.y + box.h + 19, 90, &style, ticks.label[i]);
    }
    axis_title(axis, &ticks, title, sizeof title);
    style = style_body(pen);
    style.align = ALIGN_CENTER;
    pen_text(pen, box.x + box.w / 2, box.y + box.h + 42, box.w, &style, title);
}

static void draw_y_axis(Pen *pen, const PlotAxis *axis, Box box) {
    Ticks ticks = axis_ticks(axis, 7);
    TextStyle style = style_muted(pen);
    char title[160];
    style.align = ALIGN_RIGHT;
    for (int i = 0; i < ticks.count; i++) {
        double y = y_of(axis, box, ticks.at[i]);
        pen_line(pen, box.x - 4, y, box.x + box.w, y, pen->theme->rule, 0.7, 1);
        pen_text(pen, box.x - 8, y + 4, 60, &style, ticks.label[i]);
    }
    axis_title(axis, &ticks, title, sizeof title);
    style = style_body(pen);
    style.align = ALIGN_CENTER;
    style.turn = TURN_UP;
    pen_text(pen, box.x - 56, box.y + box.h / 2, box.h, &style, title);
}

/* Labels stand above the chart, reading upwards, so that they cover nothing; one that has no room
 * beside the one before moves to the right. */
static void draw_marks(Pen *pen, const PlotAxis *axis, Box box, const PlotMark *marks, int count,
                       double label_h) {
    double free_x = -INFINITY;
    for (int i = 0; i < count; i++) {
        if (!on_axis(axis, marks[i].x))
            continue;
        double x = x_of(axis, box, marks[i].x), label_x = fmax(x, free_x);
        Rgb color = marks[i].strong ? pen->theme->text : pen->theme->muted;
        pen_line(pen, x, box.y, x, box.y + box.h, color, marks[i].strong ? 0.9 : 0.5,
                 marks[i].strong ? 1.5 : 1);
        pen_line(pen, x, box.y, label_x, box.y - 8, color, 0.5, 1);
        TextStyle style = style_muted(pen);
        style.turn = TURN_UP;
        style.color = color;
        pen_text(pen, label_x + 4, box.y - 12, label_h - 12, &style, marks[i].label);
        free_x = label_x + 16;
    }
}

/* Height that the labels of marks need: DejaVu Sans is at most 0.62 of its size wide on average. */
static double mark_space(const PlotMark *marks, int count) {
    size_t longest = 0;
    for (int i = 0; i < count; i++)
        if (strlen(marks[i].label) > longest)
            longest = strlen(marks[i].label);
    return count ? 0.62 * SIZE_SMALL * (double)longest + 24 : 8;
}

/* Paragraphs, a line of the note each. */
static void draw_note(Pen *pen, double y, const char *note) {
    TextStyle style = style_muted(pen);
    char paragraph[256];
    while (note && *note) {
        size_t length = strcspn(note, "\n");
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, note);
        y += pen_paragraph(pen, MARGIN, y, PAGE_W - 2 * MARGIN, &style, paragraph);
        note += length + (note[length] == '\n');
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool point_of(const PlotLines *spec, Box box, const PlotSeries *series, int i, double *x,
                     double *y) {
    double value = series->y[i];
    if (!on_axis(&spec->x, series->x[i]) || !isfinite(value) || (spec->y.log && value <= 0))
        return false;
    *x = x_of(&spec->x, box, series->x[i]);
    *y = y_of(&spec->y, box, value);
    return true;
}

static void draw_line(Pen *pen, const PlotLines *spec, Box box, const PlotSeries *series) {
    static const double dashes[] = {6, 4};
    bool open = false;
    double x, y;
    if (pen->measuring)
        return;
    cairo_save(pen->cr);
    cairo_rectangle(pen->cr, box.x, box.y, box.w, box.h);
    cairo_clip(pen->cr);
    pen_color(pen, plot_color(series->color, spec->theme), 1);
    cairo_set_line_width(pen->cr, 2);
    if (series->faint)
        cairo_set_dash(pen->cr, dashes, 2, 0);
    for (int i = 0; i < series->count; i++) {
        bool there = point_of(spec, box, series, i, &x, &y);
        if (there && open)
            cairo_line_to(pen->cr, x, y);
        else if (there)
            cairo_move_to(pen->cr, x, y);
        open = there;
    }
    cairo_stroke(pen->cr);
    cairo_restore(pen->cr);
}

/* Dots that a later one would cover are larger, so that a ring of them is left. */
static double dot_radius(const PlotLines *spec, Box box, const PlotSeries *series, double x,
                         double y) {
    double radius = 5.5, other_x, other_y;
    for (const PlotSeries *later = series + 1; later < spec->series + spec->series_count; later++)
        for (int i = 0; later->dots && i < later->count; i++)
            if (point_of(spec, box, later, i, &other_x, &other_y) &&
                hypot(other_x - x, other_y - y) < 6)
                radius += 4;
    return radius;
}

static void draw_dots(Pen *pen, const PlotLines *spec, Box box, const PlotSeries *series) {
    for (int i = 0; i < series->count; i++) {
        double x, y;
        if (!point_of(spec, box, series, i, &x, &y) || pen->measuring || y < box.y - 1 ||
            y > box.y + box.h + 1)
            continue;
        pen_color(pen, plot_color(series->color, spec->theme), 1);
        cairo_arc(pen->cr, x, y, dot_radius(spec, box, series, x, y), 0, 2 * M_PI);
        cairo_fill(pen->cr);
    }
}

static void draw_legend(Pen *pen, const PlotLines *spec, Box box) {
    TextStyle style = style_body(pen);
    double x = box.x + box.w + 20, y = box.y + 8;
    for (int i = 0; i < spec->series_count; i++, y += 24) {
        const PlotSeries *series = &spec->series[i];
        Rgb color = plot_color(series->color, spec->theme);
        if (series->dots)
            pen_fill(pen, (Box){x + 6, y - 5, 10, 10}, color, 1);
        else
            pen_line(pen, x, y, x + 10, y, color, 1, 3);
        if (!series->dots)
            pen_line(pen, series->faint ? x + 14 : x + 10, y, x + 24, y, color, 1, 3);
        pen_text(pen, x + 32, y + 5, LEGEND_W - 40, &style, series->name);
    }
}

static void draw_lines(Pen *pen, const void *context) {
    const PlotLines *spec = context;
    double top = page_head(pen, PAGE_W, spec->title, spec->subtitle);
    double labels = mark_space(spec->marks, spec->mark_count);
    top += labels;
    Box box = {MARGIN + AXIS_LEFT, top, PAGE_W - 2 * MARGIN - AXIS_LEFT - LEGEND_W, CHART_H};
    draw_x_axis(pen, &spec->x, box);
    draw_y_axis(pen, &spec->y, box);
    draw_marks(pen, &spec->x, box, spec->marks, spec->mark_count, labels);
    pen_frame(pen, box, pen->theme->rule, 1, 1);
    for (int i = 0; i < spec->series_count; i++)
        (spec->series[i].dots ? draw_dots : draw_line)(pen, spec, box, &spec->series[i]);
    draw_legend(pen, spec, box);
    draw_note(pen, box.y + box.h + AXIS_BOTTOM + 8, spec->note);
}

static PageSpec lines_page(const PlotLines *spec) {
    double head = MARGIN + 38 + (spec->subtitle ? 22 : 0);
    return (PageSpec){
        PAGE_W,
        head + mark_space(spec->marks, spec->mark_count) + CHART_H + AXIS_BOTTOM + NOTE_H,
        spec->scale,
        spec->theme,
        draw_lines,
        spec};
}

bool plot_lines_image(const PlotLines *spec, Image *image, Err *err) {
    PageSpec page = lines_page(spec);
    return page_image(&page, image, err);
}

bool plot_lines_svg(const PlotLines *spec, uint8_t **bytes, size_t *length, Err *err) {
    PageSpec page = lines_page(spec);
    return page_svg(&page, bytes, length, err);
}

bool plot_lines_layout(const PlotLines *spec, FigureLayout *layout, Err *err) {
    PageSpec page = lines_page(spec);
    return page_layout(&page, layout, err);
}

/* ---- bars ----------------------------------------------------------------------------------- */

static double bars_height(const PlotBars *spec) {
    double h = 8;
    for (int i = 0; i < spec->bar_count; i++)
        h += BAR_STEP + (spec->bars[i].group ? GROUP_STEP : 0);
    return h + 8;
}

/* End of a bar on the page, and whether it was cut there. */
static double bar_end(const PlotBars *spec, Box box, const PlotBar *bar, bool *cut) {
    double sum = 0;
    for (int part = 0; part < spec->part_count; part++)
        sum += bar->parts[part] > 0 ? bar->parts[part] : 0;
    *cut = sum > spec->x.hi;
    return x_of(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
}

static void draw_parts(Pen *pen, const PlotBars *spec, Box box, const PlotBar *bar, double y) {
    double x = box.x, sum = 0;
    bool cut;
    for (int part = 0; part < spec->part_count; part++) {
        if (!(bar->parts[part] > 0))
            continue;
        sum += bar->parts[part];
        double to = x_of(&spec->x, box, fmax(fmin(sum, spec->x.hi), spec->x.lo));
        pen_fill(pen, (Box){x, y, to - x, BAR_H}, plot_color(part, spec->theme),
                 bar->faint ? 0.55 : 1);
        x = to;
    }
    x = bar_end(spec, box, bar, &cut);
    for (int i = 0; cut && i < 2; i++)
        pen_line(pen, x - 8 - 6 * i, y - 2, x - 14 - 6 * i, y + BAR_H + 2, pen->theme->page, 1, 3);
}

/* On a patch of page, so that no line runs through it. */
static void text_on_page(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                         const char *text) {
    Box box = pen_text_box(pen, x, baseline, max_w, style, text);
    pen_fill(pen, (Box){box.x - 3, box.y, box.w + 6, box.h}, pen->theme->page, 1);
    pen_text(pen, x, baseline, max_w, style, text);
}

static void draw_texts(Pen *pen, const PlotBars *spec, Box box, const PlotBar *bar, double y) {
    TextStyle label = style_muted(pen), text = style_muted(pen), heading = style_body(pen);
    bool cut;
    label.align = ALIGN_RIGHT;
    text.color = pen->theme->text;
    heading.bold = true;
    if (bar->group)
        text_on_page(pen, MARGIN, y - 8, PAGE_W - 2 * MARGIN, &heading, bar->group);
    pen_text(pen, box.x - 10, y + 12.5, LABEL_W - 10, &label, bar->label);
    text_on_page(pen, bar_end(spec, box, bar, &cut) + 8, y + 12.5, END_W - 12, &text, bar->text);
}

static void draw_bar_rows(Pen *pen, const PlotBars *spec, Box box,
                          void (*draw)(Pen *, const PlotBars *, Box, const PlotBar *, double)) {
    double y = box.y + 8;
    for (int i = 0; i < spec->bar_count; i++) {
        y += spec->bars[i].group ? GROUP_STEP : 0;
        draw(pen, spec, box, &spec->bars[i], y);
        y += BAR_STEP;
    }
}

static void draw_part_keys(Pen *pen, const PlotBars *spec, double y) {
    TextStyle style = style_body(pen);
    double x = MARGIN;
    for (int part = 0; part < spec->part_count; part++) {
        pen_fill(pen, (Box){x, y - 11, 12, 12}, plot_color(part, spec->theme), 1);
        x += 18 + pen_text(pen, x + 18, y, 320, &style, spec->part_names[part]) + 26;
    }
}

static void draw_bars(Pen *pen, const void *context) {
    const PlotBars *spec = context;
    double top = page_head(pen, PAGE_W, spec->title, spec->subtitle);
    draw_part_keys(pen, spec, top + 8);
    double labels = mark_space(spec->marks, spec->mark_count);
    top += 28 + labels;
    Box box = {MARGIN + LABEL_W, top, PAGE_W - 2 * MARGIN - LABEL_W - END_W, bars_height(spec)};
    draw_x_axis(pen, &spec->x, box);
    draw_bar_rows(pen, spec, box, draw_parts);
    draw_marks(pen, &spec->x, box, spec->marks, spec->mark_count, labels);
    draw_bar_rows(pen, spec, box, draw_texts);
    draw_note(pen, box.y + box.h + AXIS_BOTTOM + 8, spec->note);
}

static PageSpec bars_page(const PlotBars *spec) {
    double head = MARGIN + 38 + (spec->subtitle ? 22 : 0) + 28;
    return (PageSpec){PAGE_W,
                      head + mark_space(spec->marks, spec->mark_count) + bars_height(spec) +
                          AXIS_BOTTOM + NOTE_H,
                      spec->scale,
                      spec->theme,
                      draw_bars,
                      spec};
}

bool plot_bars_image(const PlotBars *spec, Image *image, Err *err) {
    PageSpec page = bars_page(spec);
    return page_image(&page, image, err);
}

bool plot_bars_svg(const PlotBars *spec, uint8_t **bytes, size_t *length, Err *err) {
    PageSpec page = bars_page(spec);
    return page_svg(&page, bytes, length, err);
}

bool plot_bars_layout(const PlotBars *spec, FigureLayout *layout, Err *err) {
    PageSpec page = bars_page(spec);
    return page_layout(&page, layout, err);
}
