#include "src/view/term/chart_cells.h"

#include "src/view/draw/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_W = 6, AXIS_ROWS = 2, LEAST_LINES = 5, USUAL_LINES = 8 };

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

/* Puts the cells with dots where nothing stands yet. */
static void canvas_put(const Canvas *canvas, Cells *cells, int x, int y) {
    for (int row = 0; row < canvas->h; row++)
        for (int column = 0; column < canvas->w; column++)
            if (canvas->dots[row][column] && cells_at(cells, x + column, y + row)->glyph == ' ')
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

static int legend_marks(Cells *cells, Area row, int x, const ChartSpec *spec, uint32_t glyph) {
    for (int i = 0; i < spec->mark_count; i++)
        if (spec->marks[i].strong)
            x = legend_entry(cells, row, x, glyph, cell_style(INK_MUTED), spec->marks[i].label);
    return x;
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

/* A label centred at a value of the x axis, or with a unit at the end of the row. Left out where it
 * would touch another one. */
static void draw_x_label(Cells *cells, Area row, const PlotAxis *axis, double value,
                         const char *unit) {
    char text[48];
    tick_text(value, unit, row.w, text, sizeof text);
    int w = cells_width(text), end = row.x + row.w;
    int x = row.x + (int)(chart_along(axis, value) * (row.w - 1)) - (unit ? 1 : w / 2);
    x = x < row.x ? row.x : x + w > end ? end - w : x;
    for (int column = x - 2; column < x + w + 2; column++)
        if (cells_at(cells, column, row.y)->glyph != ' ' && column >= row.x && column < end)
            return;
    cells_text(cells, x, row.y, w, cell_style(INK_MUTED), text);
}

/* Labels under the chart: the last one with the unit, then the others that have room. */
static void draw_x_ticks(Cells *cells, Area row, const PlotAxis *axis) {
    Ticks ticks = ticks_of(axis->log, axis->lo, axis->hi, row.w / 12 > 2 ? row.w / 12 : 2);
    for (int i = 0; i < ticks.count; i++) {
        int at = i ? i - 1 : ticks.count - 1;
        draw_x_label(cells, row, axis, ticks.at[at], i ? NULL : axis->unit);
    }
}

static void draw_y_label(Cells *cells, Area chart, const PlotAxis *axis, double value) {
    char text[48];
    int y = chart.y + (int)lround((1 - chart_along(axis, value)) * (chart.h - 1));
    for (int near = y - 1; near <= y + 1; near++)
        if (near >= chart.y && cells_at(cells, chart.x - 2, near)->glyph != ' ')
            return;
    tick_text(value, axis->unit, LABEL_W - 1, text, sizeof text);
    cells_text_right(cells, chart.x - LABEL_W, y, LABEL_W - 1, cell_style(INK_MUTED), text);
}

/* Labels left of the chart: both ends of a linear axis, then round numbers that have room. */
static void draw_y_ticks(Cells *cells, Area chart, const PlotAxis *axis) {
    Ticks ticks = ticks_of(axis->log, axis->lo, axis->hi, chart.h > 4 ? (chart.h + 1) / 2 : 2);
    if (!axis->log) {
        draw_y_label(cells, chart, axis, axis->lo);
        draw_y_label(cells, chart, axis, axis->hi);
    }
    for (int i = 0; i < ticks.count; i++)
        draw_y_label(cells, chart, axis, ticks.at[i]);
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

/* A foot below the chart for every mark, and a line up for the strong ones. */
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
                    cells_at(cells, chart.x + column, chart.y + row)->glyph == ' ')
                    cells_put(cells, chart.x + column, chart.y + row, 0x250a,
                              cell_style(INK_MUTED));
        }
}

static void draw_legend(Cells *cells, Area row, const ChartSpec *spec) {
    int x = legend_marks(cells, row, row.x, spec, 0x250a);
    for (int rank = SERIES_RANKS - 1; rank >= 0; rank--)
        for (int i = 0; i < spec->series_count; i++) {
            const PlotSeries *series = &spec->series[i];
            if (series_rank(series) == rank && !chart_is_muted(spec, series) &&
                !is_hidden(cells, spec, series))
                x = legend_entry(cells, row, x,
                                 series->dots    ? 0x25cf
                                 : series->faint ? 0x2505
                                                 : 0x2500,
                                 cell_bold(series_ink(spec, series)), series->name);
        }
}

static void draw_lines(Sheet *sheet, Area area, const ChartSpec *spec) {
    Cells *cells = sheet->surface;
    bool legend = area.h > LEAST_LINES + AXIS_ROWS;
    Area chart = {area.x + LABEL_W, area.y, area.w - LABEL_W, area.h - AXIS_ROWS - legend};
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
    canvas_put(&canvas, cells, chart.x, chart.y);
    draw_y_ticks(cells, chart, &spec->y);
    draw_marks(cells, chart, spec, &canvas);
    for (int x = foot.x; x < foot.x + foot.w; x++)
        if (cells_at(cells, x, foot.y)->glyph == ' ')
            cells_put(cells, x, foot.y, 0x2500, cell_style(INK_RULE));
    foot.y++;
    draw_x_ticks(cells, foot, &spec->x);
    foot.y++;
    if (legend)
        draw_legend(cells, foot, spec);
}

/* ---- bars ----------------------------------------------------------------------------------- */

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
                      cell_style(plot_inks[part % PLOT_COLORS]));
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
            (Segment){end - at, plot_inks[part % PLOT_COLORS], textures[part % PLOT_COLORS]};
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
        end += bar_w + 1;
    }
    cells_text(cells, end, row.y, row.x + row.w - end, style, text);
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

static void draw_bars(Sheet *sheet, Area area, const ChartSpec *spec) {
    Cells *cells = sheet->surface;
    int first = 0, end = area.y + area.h - spec->in_order, y = area.y;
    BarColumns columns = bar_columns(spec, area.w);
    /* Where not all bars have room, the strong one comes first. */
    for (int i = 0; i < spec->bar_count && all_bar_rows(spec) > area.h && !spec->in_order; i++)
        first = spec->bars[i].strong ? i : first;
    for (int i = 0; i < spec->bar_count; i++) {
        const PlotBar *bar = &spec->bars[(first + i) % spec->bar_count];
        if (y + bar_rows(bar) > end && !spec->in_order)
            return;
        if (y + bar_rows(bar) > end)
            break;
        if (bar->group)
            cells_text(cells, area.x, y++, area.w, cell_bold(INK_TEXT), bar->group);
        draw_bar_row(sheet, (Area){area.x, y++, area.w, 1}, spec, bar, &columns);
    }
    if (y >= area.y + area.h)
        return;
    Area legend = {area.x, y, area.w, 1};
    int x = area.x;
    for (int part = 0; part < spec->part_count; part++)
        x = legend_entry(cells, legend, x, cells->color ? 0x25a0 : textures[part % PLOT_COLORS],
                         cell_style(plot_inks[part % PLOT_COLORS]), spec->part_names[part]);
    legend_marks(cells, legend, x, spec, 0x2502);
}

int chart_cells_want(const ChartSpec *spec) {
    return 2 + (spec->part_count ? all_bar_rows(spec) : USUAL_LINES + AXIS_ROWS);
}

void chart_cells_draw(Sheet *sheet, Area area, const ChartSpec *spec, const char *note) {
    area = sheet_title(sheet, area, spec->title, note);
    (spec->part_count ? draw_bars : draw_lines)(sheet, area, spec);
}
