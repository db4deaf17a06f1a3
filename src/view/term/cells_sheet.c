/* SPDX-License-Identifier: MIT */
#include "src/view/term/cells_sheet.h"

#include "src/view/term/chart_cells.h"

#include <math.h>

static Cells *cells_of(Sheet *sheet) {
    return sheet->surface;
}

static int width(const Sheet *sheet, const char *text) {
    (void)sheet;
    return cells_width(text);
}

static int text(Sheet *sheet, int x, int y, int w, CellStyle style, TextAlign align,
                const char *text) {
    return (align == ALIGN_RIGHT ? cells_text_right : cells_text)(cells_of(sheet), x, y, w, style,
                                                                  text);
}

static void sign(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style) {
    cells_put(cells_of(sheet), x, y, glyph, style);
}

static void paper(Sheet *sheet, Area area, Ink paper) {
    cells_erase(cells_of(sheet), area, paper);
}

/* Draws a title. The note is left out where title and rule leave no room for it. */
static void title(Sheet *sheet, Area area, const char *title, const char *note) {
    Cells *cells = cells_of(sheet);
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

/* ---- bars ----------------------------------------------------------------------------------- */

/* Returns the segment that covers position `at` (in columns); -1: none. */
static int segment_at(const Segment *segments, int count, double per_column, double at) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += segments[i].value * per_column;
        if (at < sum)
            return i;
    }
    return -1;
}

/* Eighths of a column, counted from its left edge, that lie before the end of a segment. */
static int eighths_of(const Segment *segments, int segment, double per_column, int column) {
    double end = 0;
    for (int i = 0; i <= segment; i++)
        end += segments[i].value * per_column;
    double eighths = round((end - column) * 8);
    return eighths < 1 ? 1 : eighths > 8 ? 8 : (int)eighths;
}

static CellStyle inks(Ink ink, Ink paper) {
    return (CellStyle){.ink = ink, .paper = paper};
}

/* Draws a column of a stack. With colour it is an eighth block in this segment's ink, on the next
 * segment's as paper. Without colour it is the texture of the segment at the middle of the column.
 */
static void stack_column(Cells *cells, int x, int y, const Segment *segments, int count,
                         double per_column, int column) {
    int here = segment_at(segments, count, per_column, column + 1.0 / 16);
    int middle = segment_at(segments, count, per_column, column + 0.5);
    int end = segment_at(segments, count, per_column, column + 15.0 / 16);
    if (!cells->color && middle >= 0)
        cells_put(cells, x, y, segments[middle].texture, cell_style(INK_DEFAULT));
    if (!cells->color || here < 0)
        return;
    int eighths = eighths_of(segments, here, per_column, column);
    Ink paper = end >= 0 && end != here ? segments[end].ink : INK_DEFAULT;
    cells_put(cells, x, y, 0x2590 - (uint32_t)eighths, inks(segments[here].ink, paper));
}

static void stack(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                  double limit) {
    Cells *cells = cells_of(sheet);
    double per_column = row.w / scale, total = 0;
    for (int i = 0; i < count; i++)
        total += segments[i].value;
    bool beyond = total > scale * (1 + 1e-9);
    int mark = isnan(limit) ? -1 : (int)fmin(floor(limit * per_column), row.w - 1);
    for (int column = 0; column < row.w; column++) {
        int under = segment_at(segments, count, per_column, column + 0.5);
        Ink paper = under < 0 || !cells->color ? INK_DEFAULT : segments[under].ink;
        if (column == row.w - 1 && beyond)
            cells_put(cells, row.x + column, row.y, 0x25b6, cell_style(INK_BAD));
        else if (column == mark)
            cells_put(cells, row.x + column, row.y, 0x2502,
                      inks(under < 0 ? INK_MUTED : INK_RGB, paper));
        else
            stack_column(cells, row.x + column, row.y, segments, count, per_column, column);
    }
}

/* Draws bars: of those that share a column the highest, in eighths of a sign. */
static void bars(Sheet *sheet, Area area, const double *heights, int count, Ink ink) {
    enum { EIGHTHS = 8 };
    for (int x = 0; x < area.w; x++) {
        int first = count * x / area.w;
        double height = heights[first];
        for (int bar = first + 1; bar < count * (x + 1) / area.w; bar++)
            height = fmax(height, heights[bar]);
        int level = (int)ceil(height * area.h * EIGHTHS);
        for (int y = area.h - 1; y >= 0 && level > 0; y--, level -= EIGHTHS)
            cells_put(cells_of(sheet), area.x + x, area.y + y,
                      0x2580 + (uint32_t)(level < EIGHTHS ? level : EIGHTHS), cell_style(ink));
    }
}

/* ---- frame ---------------------------------------------------------------------------------- */

static void put_blank(Cells *cells, int x, int y, uint32_t glyph) {
    bool inside = x >= 0 && y >= 0 && x < cells->columns && y < cells->rows;
    if (inside && !cells->drawn[(size_t)y * (size_t)cells->columns + (size_t)x])
        cells_put(cells, x, y, glyph, cell_bold(INK_WARN));
}

static void frame(Sheet *sheet, Area area) {
    Cells *cells = cells_of(sheet);
    int left = area.x - 1, right = area.x + area.w, top = area.y - 1, bottom = area.y + area.h;
    for (int x = left + 1; x < right; x++) {
        put_blank(cells, x, top, 0x2501);
        put_blank(cells, x, bottom, 0x2501);
    }
    for (int y = top + 1; y < bottom; y++) {
        put_blank(cells, left, y, 0x2503);
        put_blank(cells, right, y, 0x2503);
    }
    put_blank(cells, left, top, 0x250f);
    put_blank(cells, right, top, 0x2513);
    put_blank(cells, left, bottom, 0x2517);
    put_blank(cells, right, bottom, 0x251b);
}

/* Draws a box. A title makes its upper edge. */
static void box(Sheet *sheet, Area area) {
    Cells *cells = cells_of(sheet);
    int right = area.x + area.w - 1, bottom = area.y + area.h - 1;
    cells_erase(cells, area, INK_DEFAULT);
    for (int y = area.y; y <= bottom; y++)
        for (int x = area.x; x <= right; x++) {
            bool left = x == area.x, side = left || x == right, top = y == area.y;
            uint32_t corner = left ? (top ? 0x250c : 0x2514) : top ? 0x2510 : 0x2518;
            if (side || y == bottom)
                cells_put(cells, x, y, !side ? 0x2500 : top || y == bottom ? corner : 0x2502,
                          cell_style(INK_RULE));
        }
}

static bool is_drawn(const Image *image, int x, int y) {
    return image->rgba[4 * ((size_t)y * (size_t)image->w + (size_t)x) + 3] > 0;
}

/* Draws two pixels a cell, none where the picture is transparent. Without colour a cell has a shade
 * of their mean. */
static void picture(Sheet *sheet, Area area, const Image *image) {
    static const uint32_t shades[] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    Cells *cells = cells_of(sheet);
    for (int y = 0; y < area.h && 2 * y + 1 < image->h; y++)
        for (int x = 0; x < area.w && x < image->w; x++) {
            Rgb upper = image_get(image, x, 2 * y), lower = image_get(image, x, 2 * y + 1);
            double light = sqrt(rgb_luminance(rgb_mix(upper, lower, 0.5)));
            bool up = is_drawn(image, x, 2 * y), down = is_drawn(image, x, 2 * y + 1);
            if (cells->color && (up || down))
                cells_put(
                    cells, area.x + x, area.y + y, up ? 0x2580 : 0x2584,
                    inks(ink_rgb(up ? upper : lower), up && down ? ink_rgb(lower) : INK_DEFAULT));
            else if (!cells->color)
                cells_put(cells, area.x + x, area.y + y, shades[(int)fmin(light * 6, 4)],
                          cell_style(INK_DEFAULT));
        }
}

static const SheetBackEnd in_cells = {
    width, text, sign, paper, title, stack, bars, frame, box, chart_cells_want, chart_cells_draw,
    picture};

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
