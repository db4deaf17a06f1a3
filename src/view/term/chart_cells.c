/* SPDX-License-Identifier: MIT */
#include "src/view/term/chart_cells.h"

#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_W = 6, AXIS_ROWS = 2, USUAL_LINES = 8 };

/* Textures of the parts for screens without colour. */
static const uint32_t textures[PLOT_COLORS] = {0x2588, 0x2593, 0x2592, 0x2591, 0x2588};

/* ---- lines of dots -------------------------------------------------------------------------- */

enum { CANVAS_MAX_W = 200, CANVAS_MAX_H = 40 };

/* Two by four dots a cell. A cell has one ink: that of the last line. */
typedef struct {
    int w, h; /* in cells; larger areas are cut */
    uint8_t dots[CANVAS_MAX_H][CANVAS_MAX_W];
    Ink inks[CANVAS_MAX_H][CANVAS_MAX_W];
} Canvas;

static void canvas_dot(Canvas *canvas, int x, int y, Ink ink) {
    if (x < 0 || y < 0 || x >= canvas->w * BRAILLE_W || y >= canvas->h * BRAILLE_H)
        return;
    uint8_t *dots = &canvas->dots[y / BRAILLE_H][x / BRAILLE_W];
    Ink *owner = &canvas->inks[y / BRAILLE_H][x / BRAILLE_W];
    *dots = (uint8_t)((*owner == ink ? *dots : 0) | braille_bits[y % BRAILLE_H][x % BRAILLE_W]);
    *owner = ink;
}

/* A straight line between two points; 0 to 1 from the left and from below. Parts outside are left
 * out. Of a dashed line two dots of four are drawn. */
static void canvas_line(Canvas *canvas, double x0, double y0, double x1, double y1, bool dashed,
                        Ink ink) {
    double w = canvas->w * BRAILLE_W - 1, h = canvas->h * BRAILLE_H - 1;
    double dx = (x1 - x0) * w, dy = (y1 - y0) * h;
    int steps = (int)fmin(ceil(fmax(fmax(fabs(dx), fabs(dy)), 1)), 1e5);
    for (int i = 0; i <= steps; i++) {
        double at = (double)i / steps;
        if (!dashed || i % 4 < 2)
            canvas_dot(canvas, (int)lround(x0 * w + at * dx), (int)lround((1 - y0) * h - at * dy),
                       ink);
    }
}

static bool canvas_has(const Canvas *canvas, int column, int row) {
    return column >= 0 && row >= 0 && column < canvas->w && row < canvas->h &&
           canvas->dots[row][column];
}

/* Spaces within texts count as drawn. */
static bool is_blank(const Cells *cells, Area row) {
    for (int x = row.x; x < row.x + row.w; x++)
        if (cells->drawn[(size_t)row.y * (size_t)cells->columns + (size_t)x])
            return false;
    return true;
}

/* Puts the cells with dots where nothing stands yet. */
static void canvas_put(const Canvas *canvas, Cells *cells, int x, int y) {
    for (int row = 0; row < canvas->h; row++)
        for (int column = 0; column < canvas->w; column++)
            if (canvas->dots[row][column] && is_blank(cells, (Area){x + column, y + row, 1, 1}))
                cells_put(cells, x + column, y + row, BRAILLE + canvas->dots[row][column],
                          cell_style(canvas->inks[row][column]));
}

/* ---- legend --------------------------------------------------------------------------------- */

/* Entries from the left; those without room are left out. Returns where the next one goes. */
static int legend_entry(Cells *cells, Area row, int x, uint32_t glyph, CellStyle style,
                        const char *name) {
    int w = cells_width(name);
    if (x + 2 + w > row.x + row.w)
        return x;
    cells_put(cells, x, row.y, glyph, style);
    cells_text(cells, x + 2, row.y, w, cell_style(INK_TEXT), name);
    return x + 2 + w + 2;
}

/* ---- lines: whose is it --------------------------------------------------------------------- */

static bool has_strong(const ChartSpec *spec) {
    for (int i = 0; i < spec->series_count; i++)
        if (spec->series[i].strong)
            return true;
    return false;
}

/* Without colour no two lines can be told apart: then the strong line of many stands alone. */
static bool is_hidden(const Cells *cells, const ChartSpec *spec, const PlotSeries *series) {
    return !cells->color && !series->dots && series->peer && !series->strong && has_strong(spec);
}

/* The strong line and the baseline have the same inks everywhere on the screen. */
static Ink series_ink(const ChartSpec *spec, const PlotSeries *series) {
    if (series->strong || series->baseline)
        return series->strong ? INK_ACCENT : INK_BASELINE;
    return chart_is_muted(spec, series) ? INK_MUTED : plot_inks[series->color % PLOT_COLORS];
}

/* Drawing order: later series cover earlier ones. */
static int series_rank(const PlotSeries *series) {
    return series->strong ? 2 : series->baseline ? 1 : 0;
}
enum { SERIES_RANKS = 3 };

/* ---- lines: axes ---------------------------------------------------------------------------- */

/* "0.1", "90 %", "10k": short, and with the unit where that has room. */
static void tick_text(double value, const char *unit, int w, char *text, size_t size) {
    char number[24];
    value += 0.0; /* no "-0" */
    snprintf(number, sizeof number, value < 1000 ? "%g" : "%gk",
             value < 1000 ? value : value / 1000);
    snprintf(text, size, "%s %s", number, unit ? unit : "");
    if (!unit || cells_width(text) > w)
        snprintf(text, size, "%s", number);
}

/* Where the label of a value of the x axis stands: centred, within the row. */
static Area x_label(Area row, const PlotAxis *axis, double value, const char *text) {
    int w = cells_width(text), x = row.x + (int)lround(chart_along(axis, value) * (row.w - 1));
    x -= w / 2;
    x = x < row.x ? row.x : x + w > row.x + row.w ? row.x + row.w - w : x;
    return (Area){x, row.y, w, 1};
}

/* Labels under the chart, the last one with the unit. Evenly spaced: where one has no room beside
 * another, all are farther apart. */
static void draw_x_ticks(Cells *cells, Area row, const PlotAxis *axis) {
    Area places[TICKS_MAX];
    char text[TICKS_MAX][48];
    Ticks ticks = {.count = 0};
    bool fits = false;
    for (int target = row.w / 8 > 1 ? row.w / 8 : 1; target >= 1 && !fits; target--) {
        ticks = ticks_of(axis->log, axis->lo, axis->hi, target);
        fits = true;
        for (int i = 0; i < ticks.count; i++) {
            tick_text(ticks.at[i], i == ticks.count - 1 ? axis->unit : NULL, row.w, text[i],
                      sizeof *text);
            places[i] = x_label(row, axis, ticks.at[i], text[i]);
            fits = fits && (!i || places[i].x > places[i - 1].x + places[i - 1].w);
        }
    }
    for (int i = 0; i < ticks.count && fits; i++)
        cells_text(cells, places[i].x, row.y, places[i].w, cell_style(INK_MUTED), text[i]);
}

static int row_of(Area chart, const PlotAxis *axis, double value) {
    return chart.y + (int)lround((1 - chart_along(axis, value)) * (chart.h - 1));
}

/* Labels left of the chart, or right of it, evenly spaced and at least two rows apart. */
static void draw_y_ticks(Cells *cells, Area chart, const PlotAxis *axis, bool right) {
    Ticks ticks = {.count = 0};
    bool fits = false;
    char text[48];
    for (int target = chart.h > 4 ? (chart.h + 1) / 2 : 2; target >= 1 && !fits; target--) {
        ticks = ticks_of(axis->log, axis->lo, axis->hi, target);
        fits = true;
        for (int i = 1; i < ticks.count; i++)
            fits =
                fits && row_of(chart, axis, ticks.at[i - 1]) > row_of(chart, axis, ticks.at[i]) + 1;
    }
    for (int i = 0; i < ticks.count && fits; i++) {
        tick_text(ticks.at[i], axis->unit, LABEL_W - 1, text, sizeof text);
        int y = row_of(chart, axis, ticks.at[i]);
        if (right)
            cells_text(cells, chart.x + chart.w + 1, y, LABEL_W - 1, cell_style(INK_MUTED), text);
        else
            cells_text_right(cells, chart.x - LABEL_W, y, LABEL_W - 1, cell_style(INK_MUTED), text);
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void draw_line(Canvas *canvas, const ChartSpec *spec, const PlotSeries *series) {
    double x0 = NAN, y0 = NAN;
    for (int i = 0; i < series->count; i++) {
        double x = chart_along(&spec->x, series->x[i]), y = chart_along(&spec->y, series->y[i]);
        if (isfinite(x + y + x0 + y0))
            canvas_line(canvas, x0, y0, x, y, series->faint, series_ink(spec, series));
        x0 = x, y0 = y;
    }
}

static void draw_dots(Cells *cells, Area chart, const ChartSpec *spec, const PlotSeries *series) {
    for (int i = 0; i < series->count; i++) {
        if (!chart_on_axis(&spec->x, series->x[i]) || !chart_on_axis(&spec->y, series->y[i]))
            continue;
        int x = chart.x + (int)lround(chart_along(&spec->x, series->x[i]) * (chart.w - 1));
        int y = chart.y + (int)lround((1 - chart_along(&spec->y, series->y[i])) * (chart.h - 1));
        if (cells_at(cells, x, y)->glyph == ' ')
            cells_put(cells, x, y, 0x25cf, cell_bold(series_ink(spec, series)));
    }
}

/* A foot below the chart for every mark; a line up and the label for the strong ones. */
static void draw_marks(Cells *cells, Area chart, const ChartSpec *spec, const Canvas *canvas) {
    int foot = chart.y + chart.h;
    for (int strong = 1; strong >= 0; strong--)
        for (int i = 0; i < spec->mark_count; i++) {
            const PlotMark *mark = &spec->marks[i];
            if (mark->strong != strong || !chart_on_axis(&spec->x, mark->x))
                continue;
            int column = (int)lround(chart_along(&spec->x, mark->x) * (chart.w - 1));
            if (cells_at(cells, chart.x + column, foot)->glyph != ' ')
                continue;
            cells_put(cells, chart.x + column, foot, 0x25b2,
                      strong ? cell_bold(INK_TITLE) : cell_style(INK_MUTED));
            for (int row = 0; row < chart.h && strong; row++)
                if (!canvas_has(canvas, column, row) &&
                    is_blank(cells, (Area){chart.x + column, chart.y + row, 1, 1}))
                    cells_put(cells, chart.x + column, chart.y + row, 0x250a,
                              cell_style(INK_MUTED));
        }
}

/* The labels of strong marks, in the first row where they cover nothing. */
static void draw_mark_labels(Cells *cells, Area chart, const ChartSpec *spec) {
    for (int i = 0; i < spec->mark_count; i++) {
        const PlotMark *mark = &spec->marks[i];
        int w = cells_width(mark->label);
        if (!mark->strong || !chart_on_axis(&spec->x, mark->x))
            continue;
        int x = chart.x + (int)lround(chart_along(&spec->x, mark->x) * (chart.w - 1));
        x = x + 2 + w <= chart.x + chart.w ? x + 2 : x - 1 - w;
        for (int row = 0; row < chart.h; row++)
            if (x >= chart.x && is_blank(cells, (Area){x - 1, chart.y + row, w + 2, 1})) {
                cells_text(cells, x, chart.y + row, w, cell_style(INK_TITLE), mark->label);
                break;
            }
    }
}

/* ---- lines: names ---------------------------------------------------------------------------- */

/* The point of a line at the left or right edge, as a value; NaN: it does not reach the edge. */
static double edge_value(const ChartSpec *spec, const PlotSeries *series, bool left) {
    for (int i = 0; i < series->count && !series->dots; i++) {
        int at = left ? i : series->count - 1 - i;
        if (chart_on_axis(&spec->x, series->x[at]) && isfinite(series->y[at]))
            return fabs(chart_along(&spec->x, series->x[at]) - !left) < 0.02 ? series->y[at] : NAN;
    }
    return NAN;
}

/* Whether lines are farther apart at the left edge, so that their names stand there. */
static bool names_left(const ChartSpec *spec) {
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {0, 0};
    for (int i = 0; i < spec->series_count; i++)
        for (int left = 0; left < 2; left++) {
            double y = edge_value(spec, &spec->series[i], left);
            if (!isnan(y)) {
                lo[left] = fmin(lo[left], chart_along(&spec->y, y));
                hi[left] = fmax(hi[left], chart_along(&spec->y, y));
            }
        }
    return hi[1] - lo[1] > 1.5 * (hi[0] - lo[0]);
}

static int names_width(const Cells *cells, const ChartSpec *spec, int most) {
    int widest = 0;
    for (int i = 0; i < spec->series_count; i++) {
        const PlotSeries *series = &spec->series[i];
        int w = series->dots || is_hidden(cells, spec, series) ? 0 : cells_width(series->name) + 1;
        widest = w > widest && w <= most ? w : widest;
    }
    return widest;
}

/* Beside the ends of lines, the strong one first; a name moves up to two rows to be free. A name
 * that is too long is left out. */
static void draw_end_name(Cells *cells, Area names, Area chart, const ChartSpec *spec,
                          const PlotSeries *series, bool left) {
    static const int moves[] = {0, -1, 1, -2, 2};
    double value = edge_value(spec, series, left);
    if (isnan(value) || !chart_on_axis(&spec->y, value) || cells_width(series->name) > names.w)
        return;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        Area row = {names.x, row_of(chart, &spec->y, value) + moves[i], names.w, 1};
        if (row.y < chart.y || row.y >= chart.y + chart.h || !is_blank(cells, row))
            continue;
        CellStyle style = cell_style(series_ink(spec, series));
        style.attributes = series->strong ? CELL_BOLD : 0;
        if (left)
            cells_text_right(cells, row.x, row.y, row.w, style, series->name);
        else
            cells_text(cells, row.x, row.y, row.w, style, series->name);
        return;
    }
}

/* Beside a dot, where nothing stands. */
static void draw_dot_name(Cells *cells, Area chart, const ChartSpec *spec,
                          const PlotSeries *series) {
    if (series->count != 1 || !chart_on_axis(&spec->x, series->x[0]) ||
        !chart_on_axis(&spec->y, series->y[0]))
        return;
    int w = cells_width(series->name), y = row_of(chart, &spec->y, series->y[0]);
    int dot = chart.x + (int)lround(chart_along(&spec->x, series->x[0]) * (chart.w - 1));
    const Area places[] = {
        {dot + 2, y, w, 1}, {dot - 1 - w, y, w, 1}, {dot + 1, y - 1, w, 1}, {dot + 1, y + 1, w, 1}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].x >= chart.x && places[i].x + w <= chart.x + chart.w &&
            places[i].y >= chart.y && places[i].y < chart.y + chart.h &&
            is_blank(cells, places[i])) {
            cells_text(cells, places[i].x, places[i].y, w, cell_style(series_ink(spec, series)),
                       series->name);
            return;
        }
}

static void draw_lines(Sheet *sheet, Area area, const ChartSpec *spec) {
    Cells *cells = sheet->surface;
    int names_w = names_width(cells, spec, area.w / 3);
    bool left = names_left(spec);
    Area chart = {area.x + (left ? names_w : LABEL_W), area.y, area.w - LABEL_W - names_w,
                  area.h - AXIS_ROWS};
    Area names = {left ? area.x : chart.x + chart.w + 1, area.y, names_w - 1, chart.h};
    Area foot = {chart.x, chart.y + chart.h, chart.w, 1};
    Canvas canvas = {.w = chart.w < CANVAS_MAX_W ? chart.w : CANVAS_MAX_W,
                     .h = chart.h < CANVAS_MAX_H ? chart.h : CANVAS_MAX_H};
    if (chart.w < 1 || chart.h < 1)
        return;
    for (int rank = 0; rank < SERIES_RANKS; rank++)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if (!series->dots && series_rank(series) == rank && !is_hidden(cells, spec, series))
                draw_line(&canvas, spec, series);
        }
    for (int rank = SERIES_RANKS - 1; rank >= 0; rank--)
        for (int i = 0; i < spec->series_count; i++)
            if (spec->series[i].dots && series_rank(&spec->series[i]) == rank)
                draw_dots(cells, chart, spec, &spec->series[i]);
    for (int rank = SERIES_RANKS - 1; rank >= 0; rank--)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if (series_rank(series) != rank || is_hidden(cells, spec, series))
                continue;
            if (series->dots)
                draw_dot_name(cells, chart, spec, series);
            else
                draw_end_name(cells, names, chart, spec, series, left);
        }
    draw_mark_labels(cells, chart, spec);
    canvas_put(&canvas, cells, chart.x, chart.y);
    draw_y_ticks(cells, chart, &spec->y, left);
    draw_marks(cells, chart, spec, &canvas);
    for (int x = foot.x; x < foot.x + foot.w; x++)
        if (cells_at(cells, x, foot.y)->glyph == ' ')
            cells_put(cells, x, foot.y, 0x2500, cell_style(INK_RULE));
    foot.y++;
    draw_x_ticks(cells, foot, &spec->x);
}

/* ---- bars ----------------------------------------------------------------------------------- */

enum { MOST_BARS = 64, TICK = 0x25af };

typedef struct {
    int label_w, bar_w;
    int pieces; /* of the bars' texts that have room */
} BarColumns;

/* The last pieces of the texts at the bars' ends yield to the bars. */
static BarColumns bar_columns(const ChartSpec *spec, int w) {
    const double least_bars = 0.3;
    BarColumns columns = {.pieces = ALL_PIECES};
    for (int i = 0; i < spec->bar_count; i++) {
        int label_w = cells_width(spec->bars[i].label) + 1;
        columns.label_w = label_w > columns.label_w ? label_w : columns.label_w;
    }
    for (;; columns.pieces--) {
        int end_w = 0;
        for (int i = 0; i < spec->bar_count; i++) {
            char text[BAR_TEXT];
            chart_bar_text(&spec->bars[i], columns.pieces, text);
            int text_w = cells_width(text) + 1;
            end_w = text_w > end_w ? text_w : end_w;
        }
        columns.bar_w = w - columns.label_w - end_w;
        if (columns.pieces == 1 || columns.bar_w >= least_bars * w)
            return columns;
    }
}

/* Spans by columns: how much of a column they cover, in four shades. */
static void draw_spans(Cells *cells, Area row, const ChartSpec *spec, const PlotBar *bar) {
    static const uint32_t shades[] = {0x2591, 0x2592, 0x2593, 0x2588};
    for (int column = 0; column < row.w; column++) {
        double left = (double)column / row.w, right = (double)(column + 1) / row.w, covered = 0;
        int part = 0;
        for (int i = 0; i < bar->span_count; i++) {
            double from = fmax(chart_along(&spec->x, bar->spans[i].from), left);
            double to = fmin(chart_along(&spec->x, bar->spans[i].to), right);
            if (to > from)
                covered += to - from, part = bar->spans[i].part;
        }
        int shade = (int)ceil(covered * row.w * 4 - 0.01) - 1;
        if (covered > 0)
            cells_put(cells, row.x + column, row.y,
                      shades[shade < 0   ? 0
                             : shade > 3 ? 3
                                         : shade],
                      cell_style(chart_part_ink(spec, bar, part)));
    }
}

static void draw_bar_row(Sheet *sheet, Area row, const ChartSpec *spec, const PlotBar *bar,
                         const BarColumns *columns) {
    Cells *cells = sheet->surface;
    Segment segments[PLOT_PARTS];
    double sum = 0, at = 0, limit = NAN;
    for (int part = 0; part < spec->part_count; part++) {
        sum += bar->parts[part] > 0 ? bar->parts[part] : 0;
        double end = sum > 0 ? fmax(chart_along(&spec->x, sum), 0) : 0;
        segments[part] =
            (Segment){end - at, chart_part_ink(spec, bar, part), textures[part % PLOT_COLORS]};
        at = end;
    }
    for (int i = 0; i < spec->mark_count; i++)
        if (spec->marks[i].strong)
            limit = chart_along(&spec->x, spec->marks[i].x);
    CellStyle style = bar->strong     ? cell_bold(INK_ACCENT)
                      : bar->baseline ? cell_style(INK_BASELINE)
                      : bar->faint    ? cell_style(INK_MUTED)
                                      : cell_style(INK_TEXT);
    char text[BAR_TEXT];
    chart_bar_text(bar, columns->pieces, text);
    cells_text(cells, row.x, row.y, columns->label_w - 1, style, bar->label);
    int bar_w = columns->bar_w > 0 ? columns->bar_w : 0, end = row.x + columns->label_w;
    if (bar->span_count) {
        draw_spans(cells, (Area){end, row.y, bar_w, 1}, spec, bar);
        end += bar_w + 1;
    } else if (sum > 0) { /* else the text says why there is none */
        sheet_stack(sheet, end, row.y, bar_w, segments, spec->part_count, 1, limit);
        int tick = end + (int)(chart_along(&spec->x, bar->tick) * bar_w);
        if (bar->tick > 0 && tick < end + bar_w && is_blank(cells, (Area){tick, row.y, 1, 1}))
            cells_put(cells, tick, row.y, TICK, cell_style(INK_TITLE));
        end += bar_w + 1;
    }
    cells_text(cells, end, row.y, row.x + row.w - end, style, text);
}

static bool has_part_names(const ChartSpec *spec) {
    return spec->part_count > 1 && !(spec->bar_count && spec->bars[0].spans);
}

/* Rows of a bar: itself, and its heading where it has one. */
static int bar_rows(const PlotBar *bar) {
    return 1 + (bar->group != NULL);
}

static int all_bar_rows(const ChartSpec *spec) {
    int rows = 0;
    for (int i = 0; i < spec->bar_count; i++)
        rows += bar_rows(&spec->bars[i]);
    return rows;
}

/* The names of parts, of ticks and of strong marks. Bars of one part and lanes need none. */
static void bars_legend(Cells *cells, Area row, const ChartSpec *spec) {
    int x = row.x;
    for (int part = 0; part < spec->part_count && has_part_names(spec); part++)
        x = legend_entry(cells, row, x, cells->color ? 0x25a0 : textures[part % PLOT_COLORS],
                         cell_style(chart_part_ink(spec, NULL, part)), spec->part_names[part]);
    if (spec->tick_name)
        x = legend_entry(cells, row, x, TICK, cell_style(INK_TITLE), spec->tick_name);
    for (int i = 0; i < spec->mark_count; i++)
        if (spec->marks[i].strong)
            x = legend_entry(cells, row, x, 0x2502, cell_style(INK_MUTED), spec->marks[i].label);
}

/* "left out: V2 401 µs, ATOMIC 439 µs, 2 more": what has no row. */
static void draw_left_out(Cells *cells, Area row, const ChartSpec *spec, const bool *drawn) {
    enum { MORE_W = 10 };
    char text[512] = "left out:", name[2 * BAR_TEXT], end[BAR_TEXT];
    const char *before = " ";
    int more = 0;
    for (int i = 0; i < spec->bar_count; i++) {
        const char *label = spec->bars[i].label;
        chart_bar_text(&spec->bars[i], 1, end);
        snprintf(name, sizeof name, "%.40s%.*s %.40s", before, (int)strcspn(label, ","), label,
                 end);
        if (drawn[i])
            continue;
        if (more || cells_width(text) + cells_width(name) + MORE_W > row.w) {
            more++;
            continue;
        }
        strncat(text, name, sizeof text - strlen(text) - 1);
        before = ", ";
    }
    if (more)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d more", before, more);
    cells_text(cells, row.x, row.y, row.w, cell_style(INK_MUTED), text);
}

/* Which bars have a row: the strong one, if it needs no heading, and the others from the first on.
 * A row is kept for the names of the rest. */
static bool choose_bars(const ChartSpec *spec, int rows, bool drawn[MOST_BARS]) {
    int needed = 0;
    if (all_bar_rows(spec) <= rows) {
        for (int i = 0; i < spec->bar_count; i++)
            drawn[i] = true;
        return true;
    }
    bool grouped = spec->bars[0].group != NULL;
    for (int strong = 1; strong >= 0; strong--)
        for (int i = 0; i < spec->bar_count; i++)
            if ((spec->bars[i].strong && !grouped) == strong &&
                needed + bar_rows(&spec->bars[i]) <= rows - 1) {
                drawn[i] = true;
                needed += bar_rows(&spec->bars[i]);
            }
    return false;
}

static void draw_bars(Sheet *sheet, Area area, const ChartSpec *spec) {
    Cells *cells = sheet->surface;
    BarColumns columns = bar_columns(spec, area.w);
    bool drawn[MOST_BARS] = {false}, legend = has_part_names(spec) || spec->tick_name;
    int y = area.y;
    bool all = choose_bars(spec, area.h - legend, drawn);
    for (int i = 0; i < spec->bar_count; i++) {
        const PlotBar *bar = &spec->bars[i];
        if (!drawn[i])
            continue;
        if (bar->group)
            cells_text(cells, area.x, y++, area.w, cell_bold(INK_TEXT), bar->group);
        draw_bar_row(sheet, (Area){area.x, y++, area.w, 1}, spec, bar, &columns);
    }
    if (!all)
        draw_left_out(cells, (Area){area.x, y++, area.w, 1}, spec, drawn);
    if (y < area.y + area.h)
        bars_legend(cells, (Area){area.x, y, area.w, 1}, spec);
}

int chart_cells_want(const ChartSpec *spec) {
    return 2 + (spec->part_count ? all_bar_rows(spec) : USUAL_LINES + AXIS_ROWS);
}

void chart_cells_draw(Sheet *sheet, Area area, const ChartSpec *spec, const char *note) {
    area = sheet_title(sheet, area, spec->title, note);
    (spec->part_count ? draw_bars : draw_lines)(sheet, area, spec);
}
