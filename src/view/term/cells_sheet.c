/* SPDX-License-Identifier: MIT */
/* The sheet of panels in character cells, and the charts on that sheet. */
#include "src/view/term/dashboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_LINES = 10 };

/* Textures of the parts for screens without colour. */
static const uint32_t textures[PLOT_COLORS] = {0x2588, 0x2593, 0x2592, 0x2591, 0x2588};

/* Whether nothing stands in the row. Spaces within texts count as drawn. False outside the grid. */
static bool is_blank(const Cells *cells, Area row) {
    bool blank = row.x >= 0 && row.y >= 0 && row.x + row.w <= cells->columns && row.y < cells->rows;
    for (int x = row.x; blank && x < row.x + row.w; x++)
        blank = !cells_at(cells, x, row.y)->drawn;
    return blank;
}

/* ---- lines: a chart drawn in pixels becomes dots of Braille, its texts characters ------------ */

/* Units of the chart: in a dot, and in the width and height of a character. */
enum { DOT = 4, UNIT_W = BRAILLE_W * DOT, UNIT_H = BRAILLE_H * DOT };

/* Writes a text of the chart in pixels into its row of characters, if nothing stands there. */
static void put_text(Cells *cells, Area area, const FigureText *text) {
    int w = cells_width(text->text), column = (int)floor(text->x / UNIT_W);
    if (text->style.align == ALIGN_RIGHT)
        column = (int)ceil((text->x + text->w) / UNIT_W) - w;
    else if (text->style.align == ALIGN_CENTER)
        column = (int)lround((text->x + text->w / 2) / UNIT_W - w / 2.0);
    column = column + w > area.w ? area.w - w : column;
    Area row = {area.x + column, area.y + (int)((text->y + text->h / 2) / UNIT_H), w, 1};
    CellStyle style = cell_style(ink_rgb(text->style.color));
    style.attributes = text->style.bold ? CELL_BOLD : 0;
    if (column >= 0 && row.y < area.y + area.h && is_blank(cells, row))
        cells_text(cells, row.x, row.y, w, style, text->text);
}

/* Draws pixels that differ from the page as Braille dots, in cells where nothing stands. A cell has
 * only one ink: the ink of its last dot. */
static void put_dots(Cells *cells, Area area, const Image *image, Rgb page) {
    for (int y = 0; y < area.h; y++)
        for (int x = 0; x < area.w; x++) {
            uint32_t glyph = BRAILLE;
            Ink ink = INK_TEXT;
            for (int dot = 0; dot < BRAILLE_W * BRAILLE_H; dot++) {
                int column = dot % BRAILLE_W, row = dot / BRAILLE_W;
                Rgb color = image_get(image, x * BRAILLE_W + column, y * BRAILLE_H + row);
                if (!memcmp(&color, &page, sizeof page))
                    continue;
                glyph |= braille_bits[row][column];
                ink = ink_rgb(color);
            }
            if (glyph != BRAILLE && is_blank(cells, (Area){area.x + x, area.y + y, 1, 1}))
                cells_put(cells, area.x + x, area.y + y, glyph, cell_style(ink));
        }
}

/* Lists the series that are drawn. Without colour, lines look alike: then peers of a strong line
 * are left out. */
static int list_series(const Cells *cells, const ChartSpec *spec, PlotSeries *list) {
    bool strong = false;
    int count = 0;
    for (int i = 0; i < spec->series_count; i++)
        strong |= spec->series[i].strong;
    for (int i = 0; i < spec->series_count; i++) {
        const PlotSeries *one = &spec->series[i];
        if (cells->color || one->dots || !one->peer || one->strong || !strong)
            list[count++] = *one;
    }
    return count;
}

/* Draws a chart of lines with the pen of figures, one pixel for each Braille dot. Then the pixels
 * become dots, and the noted texts become characters. */
static void draw_lines(Sheet *sheet, Area area, const ChartSpec *spec) {
    Cells *cells = sheet->surface;
    ChartSpec shown = *spec;
    PlotSeries *list = malloc((size_t)spec->series_count * sizeof *list);
    FigureLayout layout = {.w = area.w * UNIT_W, .h = area.h * UNIT_H};
    Image image = {.w = 0};
    Err ignored; /* without memory the place stays empty */
    Pen pen;
    cairo_t *cr = list && area.w > 0 && area.h > 0
                      ? pen_begin(&image, area.w * BRAILLE_W, area.h * BRAILLE_H, &ignored)
                      : NULL;
    if (cr) {
        shown.series = list;
        shown.series_count = list_series(cells, spec, list);
        cairo_scale(cr, 1.0 / DOT, 1.0 / DOT);
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
        pen_init(&pen, cr, &themes[spec->theme], &layout);
        pen.least_width = DOT;
        pen_fill(&pen, (Box){0, 0, layout.w, layout.h}, pen.theme->page, 1);
        plot_cells(&pen, (Box){0, 0, layout.w, layout.h}, &shown);
        pen_finish(cr, true, &image);
        for (size_t i = 0; i < layout.count; i++)
            if (layout.texts[i].text[0])
                put_text(cells, area, &layout.texts[i]);
        put_dots(cells, area, &image, themes[spec->theme].page);
    }
    image_free(&image);
    figure_layout_free(&layout);
    free(list);
}

/* Draws an entry of the legend at column x; an entry without room is left out. Returns the column
 * of the next entry. */
static int legend_entry(Cells *cells, Area row, int x, uint32_t glyph, CellStyle style,
                        const char *name) {
    int w = cells_width(name);
    if (x + 2 + w > row.x + row.w)
        return x;
    cells_put(cells, x, row.y, glyph, style);
    cells_text(cells, x + 2, row.y, w, cell_style(INK_TEXT), name);
    return x + 2 + w + 2;
}

/* ---- bars ----------------------------------------------------------------------------------- */

enum { MOST_BARS = 64, TICK = 0x25af };

typedef struct {
    int label_w, bar_w;
    int pieces; /* the pieces of the bars' texts that have room */
} BarColumns;

/* Divides the columns: labels, bars and texts. The last pieces of the texts yield to the bars. */
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
            int text_w = cells_width(chart_bar_text(&spec->bars[i], columns.pieces).text) + 1;
            end_w = text_w > end_w ? text_w : end_w;
        }
        columns.bar_w = w - columns.label_w - end_w;
        if (columns.pieces == 1 || columns.bar_w >= least_bars * w)
            return columns;
    }
}

/* Draws spans column by column. One of four shades tells how much of a column the spans cover. */
static void draw_spans(Cells *cells, Area row, const ChartSpec *spec, const PlotBar *bar) {
    static const uint32_t shades[] = {0x2591, 0x2592, 0x2593, 0x2588};
    for (int column = 0; column < row.w; column++) {
        double left = (double)column / row.w, right = (double)(column + 1) / row.w, covered = 0;
        for (int i = 0; i < bar->span_count; i++) {
            double from = fmax(chart_along(&spec->x, bar->spans[i].begin_us), left);
            double to = fmin(chart_along(&spec->x, bar->spans[i].end_us), right);
            covered += fmax(to - from, 0);
        }
        double shade = ceil(covered * row.w * 4 - 0.01) - 1;
        if (covered > 0)
            cells_put(cells, row.x + column, row.y, shades[(int)fmin(fmax(shade, 0), 3)],
                      cell_style(chart_part_ink(spec, bar, bar->span_part)));
    }
}

/* Draws a row: the label, the bar as spans or as a stack of parts, and the text behind the bar. */
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
                                      : cell_style(INK_TEXT);
    cells_text(cells, row.x, row.y, columns->label_w - 1, style, bar->label);
    int bar_w = columns->bar_w > 0 ? columns->bar_w : 0, end = row.x + columns->label_w;
    if (bar->span_count) {
        draw_spans(cells, (Area){end, row.y, bar_w, 1}, spec, bar);
        end += bar_w + 1;
    } else if (sum > 0) { /* else the text tells why there is no bar */
        sheet_stack(sheet, (Area){end, row.y, bar_w, 1}, segments, spec->part_count, 1, limit);
        int tick = end + (int)(chart_along(&spec->x, bar->tick) * bar_w);
        if (bar->tick > 0 && tick < end + bar_w && is_blank(cells, (Area){tick, row.y, 1, 1}))
            cells_put(cells, tick, row.y, TICK, cell_style(INK_TITLE));
        end += bar_w + 1;
    }
    cells_text(cells, end, row.y, row.x + row.w - end, style,
               chart_bar_text(bar, columns->pieces).text);
}

static bool has_part_names(const ChartSpec *spec) {
    return spec->part_count > 1 && !(spec->bar_count && spec->bars[0].spans);
}

static int bar_rows(const PlotBar *bar) {
    return 1 + (bar->group != NULL);
}

static int all_bar_rows(const ChartSpec *spec) {
    int rows = 0;
    for (int i = 0; i < spec->bar_count; i++)
        rows += bar_rows(&spec->bars[i]);
    return rows;
}

/* Draws the names of parts, of ticks and of strong marks. Bars of one part and lanes need none. */
static void bars_legend(Cells *cells, Area row, const ChartSpec *spec) {
    int x = row.x;
    const int named_parts = has_part_names(spec) ? spec->part_count : 0;
    for (int part = 0; part < named_parts; part++)
        x = legend_entry(cells, row, x, cells->color ? 0x25a0 : textures[part % PLOT_COLORS],
                         cell_style(chart_part_ink(spec, NULL, part)), spec->part_names[part]);
    if (spec->tick_name)
        x = legend_entry(cells, row, x, TICK, cell_style(INK_TITLE), spec->tick_name);
    for (int i = 0; i < spec->mark_count; i++)
        if (spec->marks[i].strong)
            x = legend_entry(cells, row, x, 0x2502, cell_style(INK_MUTED), spec->marks[i].label);
}

/* Names the bars that have no row: "left out: V2 401 µs, ATOMIC 439 µs, 2 more". */
static void draw_left_out(Cells *cells, Area row, const ChartSpec *spec, const bool *drawn) {
    enum { MORE_W = 10 };
    char text[512] = "left out:";
    const char *before = " ";
    int more = 0;
    for (int i = 0; i < spec->bar_count; i++) {
        const char *label = spec->bars[i].label;
        const ShortText name = short_text("%s%.*s %.40s", before, (int)strcspn(label, ","), label,
                                          chart_bar_text(&spec->bars[i], 1).text);
        if (drawn[i])
            continue;
        if (more || cells_width(text) + cells_width(name.text) + MORE_W > row.w) {
            more++;
            continue;
        }
        text_add(text, sizeof text, "%s", name.text);
        before = ", ";
    }
    if (more)
        text_add(text, sizeof text, "%s%d more", before, more);
    cells_text(cells, row.x, row.y, row.w, cell_style(INK_MUTED), text);
}

/* Chooses the bars that have a row: the strong one, if it needs no heading, and the others from the
 * first on. A row is kept for the names of the rest. */
static bool choose_bars(const ChartSpec *spec, int rows, bool drawn[MOST_BARS]) {
    const bool all = all_bar_rows(spec) <= rows, grouped = spec->bar_count && spec->bars[0].group;
    int left = all ? rows : rows - 1;
    for (int strong = 1; strong >= 0; strong--) /* first the strong bar, then the others */
        for (int i = 0; i < spec->bar_count; i++) {
            const PlotBar *bar = &spec->bars[i];
            if ((bar->strong && !grouped) == strong && bar_rows(bar) <= left) {
                drawn[i] = true;
                left -= bar_rows(bar);
            }
        }
    return all;
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

/* Returns the rows that a chart would like to have, with the title. */
static int chart_rows(const ChartSpec *spec) {
    return 2 + (spec->part_count ? all_bar_rows(spec) : USUAL_LINES);
}

/* Draws the title with `note` at the right end, and the chart. */
static void draw_chart(Sheet *sheet, Area area, const ChartSpec *spec, const char *note) {
    area = sheet_title(sheet, area, spec->title, note);
    (spec->part_count ? draw_bars : draw_lines)(sheet, area, spec);
}

/* ---- the sheet ------------------------------------------------------------------------------- */

static int text_width(const Sheet *sheet, const char *text) {
    (void)sheet;
    return cells_width(text);
}

static int draw_text(Sheet *sheet, int x, int y, int w, CellStyle style, TextAlign align,
                     const char *text) {
    return (align == ALIGN_RIGHT ? cells_text_right : cells_text)(sheet->surface, x, y, w, style,
                                                                  text);
}

static void draw_glyph(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style) {
    cells_put(sheet->surface, x, y, glyph, style);
}

static void lay_paper(Sheet *sheet, Area area, Ink paper) {
    cells_erase(sheet->surface, area, paper);
}

/* Draws a title. The note is left out where title and rule leave no room for it. */
static void draw_title(Sheet *sheet, Area area, const char *title, const char *note) {
    Cells *cells = sheet->surface;
    int used = cells_text(cells, area.x, area.y, area.w, cell_bold(INK_TITLE), title);
    int note_w = note[0] ? cells_width(note) : 0;
    if (used + note_w + 4 > area.w)
        note_w = 0;
    int end = area.x + area.w - (note_w ? note_w + 1 : 0);
    for (int x = area.x + used + 1; x < end; x++)
        cells_put(cells, x, area.y, 0x2500, cell_style(INK_RULE));
    if (note_w)
        cells_text_right(cells, end, area.y, note_w + 1, cell_style(INK_MUTED), note);
}

static CellStyle style_on(Ink ink, Ink paper) {
    return (CellStyle){.ink = ink, .paper = paper};
}

/* Finds the segment that covers position `at` (in columns), and its right end; -1: none. */
static int segment_at(const Segment *segments, int count, double per_column, double at,
                      double *right) {
    *right = 0;
    for (int i = 0; i < count; i++) {
        *right += segments[i].value * per_column;
        if (at < *right)
            return i;
    }
    return -1;
}

/* Draws a stack. With colour a column is a block of some eighths in the ink of the segment at the
 * column's left end. The segment at the right end gives the paper. Without colour a column has the
 * texture of the segment in its middle. */
static void draw_stack(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                       double limit) {
    Cells *cells = sheet->surface;
    double per_column = row.w / scale, total = 0, right, ignored;
    for (int i = 0; i < count; i++)
        total += segments[i].value;
    int mark = isnan(limit) ? -1 : (int)fmin(floor(limit * per_column), row.w - 1);
    for (int column = 0; column < row.w; column++) {
        int middle = segment_at(segments, count, per_column, column + 0.5, &ignored);
        int end = segment_at(segments, count, per_column, column + 15.0 / 16, &ignored);
        int here = segment_at(segments, count, per_column, column + 1.0 / 16, &right);
        uint32_t eighths = (uint32_t)fmin(fmax(round((right - column) * 8), 1), 8), glyph = 0;
        CellStyle style = cell_style(INK_DEFAULT);
        if (column == row.w - 1 && total > scale * (1 + 1e-9)) {
            glyph = 0x25b6;
            style.ink = INK_BAD;
        } else if (column == mark) {
            glyph = 0x2502;
            style = middle < 0 ? cell_style(INK_MUTED) : style_on(INK_RGB, segments[middle].ink);
        } else if (!cells->color)
            glyph = middle < 0 ? 0 : segments[middle].texture;
        else if (here >= 0) {
            glyph = 0x2590 - eighths;
            style = style_on(segments[here].ink,
                             end >= 0 && end != here ? segments[end].ink : INK_DEFAULT);
        }
        if (glyph)
            cells_put(cells, row.x + column, row.y, glyph, style);
    }
}

/* Draws upright bars, in eighths of a cell. Of bars that share a column the highest is drawn. */
static void draw_columns(Sheet *sheet, Area area, const double *heights, int count, Ink ink) {
    enum { EIGHTHS = 8 };
    for (int x = 0; x < area.w; x++) {
        int first = count * x / area.w;
        double height = heights[first];
        for (int bar = first + 1; bar < count * (x + 1) / area.w; bar++)
            height = fmax(height, heights[bar]);
        int level = (int)ceil(height * area.h * EIGHTHS); /* still to draw, from the bottom up */
        for (int y = area.h - 1; y >= 0 && level > 0; y--, level -= EIGHTHS)
            cells_put(sheet->surface, area.x + x, area.y + y,
                      0x2580 + (uint32_t)(level < EIGHTHS ? level : EIGHTHS), cell_style(ink));
    }
}

/* Draws the edge of an area within it, where nothing stands. The glyphs are those of an edge of
 * three by three; a blank one is not drawn. */
static void draw_edge(Cells *cells, Area area, const uint_least32_t *glyphs, CellStyle style) {
    int right = area.x + area.w - 1, bottom = area.y + area.h - 1;
    for (int y = area.y; y <= bottom; y++)
        for (int x = area.x; x <= right; x++) {
            int row = y == bottom ? 2 : y > area.y, column = x == right ? 2 : x > area.x;
            uint32_t glyph = glyphs[3 * row + column];
            if (glyph != ' ' && is_blank(cells, (Area){x, y, 1, 1}))
                cells_put(cells, x, y, glyph, style);
        }
}

static void draw_frame(Sheet *sheet, Area area) {
    Area around = {area.x - 1, area.y - 1, area.w + 2, area.h + 2};
    draw_edge(sheet->surface, around, U"┏━┓┃ ┃┗━┛", cell_bold(INK_WARN));
}

/* Draws a box without its upper line, which the title draws. */
static void draw_box(Sheet *sheet, Area area) {
    cells_erase(sheet->surface, area, INK_DEFAULT);
    draw_edge(sheet->surface, area, U"┌ ┐│ │└─┘", cell_style(INK_RULE));
}

static bool is_drawn(const Image *image, int x, int y) {
    return image->rgba[4 * ((size_t)y * (size_t)image->w + (size_t)x) + 3] > 0;
}

/* Draws two pixels of a picture in each cell, as half blocks, but no transparent pixels. Without
 * colour a cell has a shade of the mean of both pixels. */
static void draw_picture(Sheet *sheet, Area area, const Image *image) {
    enum { UPPER_HALF = 0x2580, LOWER_HALF = 0x2584 };
    static const uint32_t shades[] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    Cells *cells = sheet->surface;
    for (int y = 0; y < area.h && 2 * y + 1 < image->h; y++)
        for (int x = 0; x < area.w && x < image->w; x++) {
            const Rgb upper = image_get(image, x, 2 * y), lower = image_get(image, x, 2 * y + 1);
            const double light = sqrt(rgb_luminance(rgb_mix(upper, lower, 0.5)));
            const uint32_t shade = shades[(int)fmin(light * 6, 4)];
            const Ink below = is_drawn(image, x, 2 * y + 1) ? ink_rgb(lower) : INK_DEFAULT;
            const int column = area.x + x, row = area.y + y;
            if (!cells->color)
                cells_put(cells, column, row, shade, cell_style(INK_DEFAULT));
            else if (is_drawn(image, x, 2 * y))
                cells_put(cells, column, row, UPPER_HALF, style_on(ink_rgb(upper), below));
            else if (below != INK_DEFAULT)
                cells_put(cells, column, row, LOWER_HALF, cell_style(below));
        }
}

static const SheetBackEnd in_cells = {text_width, draw_text,  draw_glyph,   lay_paper,
                                      draw_title, draw_stack, draw_columns, draw_frame,
                                      draw_box,   chart_rows, draw_chart,   draw_picture};

Sheet cells_sheet(Cells *cells) {
    return (Sheet){.back = &in_cells,
                   .surface = cells,
                   .columns = cells->columns,
                   .rows = cells->rows,
                   .column_w = 1,
                   .row_h = 1,
                   .color = cells->color,
                   .ascii = cells->ascii,
                   .light = cells->light};
}
