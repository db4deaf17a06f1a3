/* SPDX-License-Identifier: MIT */
#include "src/view/panel/sheet.h"

#include <math.h>

static Rgb color_of(const Sheet *sheet, Ink ink) {
    return ink_color(ink, sheet->light, false);
}

/* ---- text ----------------------------------------------------------------------------------- */

static TextStyle style_of(const Sheet *sheet, CellStyle style) {
    const Theme *theme = &themes[sheet->light ? THEME_LIGHT : THEME_DARK];
    bool reverse = style.attributes & CELL_REVERSE;
    return (TextStyle){.size = sheet->row_h * 2 / 3,
                       .bold = style.attributes & CELL_BOLD,
                       .color = reverse ? theme->page : color_of(sheet, style.ink)};
}

static int columns_of(const Sheet *sheet, double width) {
    return (int)ceil(width / sheet->column_w - 0.01);
}

static int width(const Sheet *sheet, const char *text) {
    TextStyle style = style_of(sheet, cell_style(INK_TEXT));
    return columns_of(sheet, pen_text_width(sheet->surface, &style, text));
}

static double baseline_of(const Sheet *sheet, int y) {
    return sheet->top + (y + 0.72) * sheet->row_h;
}

/* Draws a text, on a coloured paper if the style has one. Returns the columns used. */
static int write(Sheet *sheet, int x, int y, int w, CellStyle style, TextAlign align,
                 const char *text) {
    TextStyle look = aligned(style_of(sheet, style), align);
    Box box = sheet_box(sheet, (Area){x, y, w, 1});
    double room = box.w + 0.9 * sheet->column_w; /* bold digits are wider than a column */
    if (look.bold && pen_text_width(sheet->surface, &look, text) > room)
        look.bold = false; /* callers measure the width of plain text */
    const bool right = align == ALIGN_RIGHT, reverse = style.attributes & CELL_REVERSE;
    if (w <= 0)
        return 0;
    if (reverse || style.paper != INK_DEFAULT) {
        double used = fmin(pen_text_width(sheet->surface, &look, text), room);
        pen_fill(
            sheet->surface, (Box){box.x + (right ? box.w - used : 0) - 2, box.y, used + 4, box.h},
            reverse ? color_of(sheet, style.ink) : ink_color(style.paper, sheet->light, true), 1);
    }
    return columns_of(sheet, pen_text(sheet->surface, right ? box.x + box.w : box.x,
                                      baseline_of(sheet, y), room, &look, text));
}

static void title(Sheet *sheet, Area area, const char *title, const char *note) {
    Box box = sheet_box(sheet, (Area){area.x, area.y, area.w, 1});
    TextStyle heading = style_heading(sheet->surface);
    heading.size = 0.72 * sheet->row_h;
    TextStyle muted = aligned(style_of(sheet, cell_style(INK_MUTED)), ALIGN_RIGHT);
    double used =
        pen_text(sheet->surface, box.x, baseline_of(sheet, area.y), box.w, &heading, title);
    double room = box.w - used - 2 * sheet->column_w;
    if (note[0] && pen_text_width(sheet->surface, &muted, note) <= room)
        pen_text(sheet->surface, box.x + box.w, baseline_of(sheet, area.y), room, &muted, note);
}

/* ---- signs ---------------------------------------------------------------------------------- */

/* Returns a tile of a row of signs, a little apart from its neighbours. */
static Box tile_of(const Sheet *sheet, int x, int y) {
    Box box = sheet_box(sheet, (Area){x, y, 1, 1});
    return (Box){box.x, box.y + 0.2 * box.h, box.w - 1, 0.65 * box.h};
}

/* Draws a whole block or a half block as a shape, because fonts differ. Returns false for any other
 * glyph. */
static bool block(Sheet *sheet, int x, int y, uint32_t glyph, Rgb color) {
    enum { UPPER_HALF = 0x2580, LOWER_HALF = 0x2584, FULL_BLOCK = 0x2588 };
    const bool full = glyph == FULL_BLOCK;
    Box box = sheet_box(sheet, (Area){x, y, 1, 1});
    if (!full && glyph != UPPER_HALF && glyph != LOWER_HALF)
        return false;
    box.y += glyph == LOWER_HALF ? box.h / 2 : 0;
    box.h = full ? box.h : box.h / 2 - 1;
    pen_fill(sheet->surface, (Box){box.x, box.y, box.w - 1, box.h}, color, 1);
    return true;
}

/* Draws a tile with its character in it. Tiles of three characters have no text: '.' is an empty
 * tile, '#' and '=' are coloured ones. */
static void tile(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style) {
    Pen *pen = sheet->surface;
    Box box = tile_of(sheet, x, y);
    pen_fill(pen, box, color_of(sheet, glyph == '.' ? INK_RULE : style.ink), 1);
    if (style.attributes & CELL_REVERSE)
        pen_frame(pen, box, color_of(sheet, INK_TITLE), 1, 1.5);
    if (glyph == '.' || glyph == '#' || glyph == '=')
        return;
    TextStyle look = {.size = 0.55 * sheet->row_h,
                      .bold = true,
                      .color = pen->theme->page,
                      .align = ALIGN_CENTER};
    pen_text(pen, box.x + box.w / 2, box.y + 0.8 * box.h, 2 * box.w, &look,
             (char[]){(char)glyph, '\0'});
}

/* Draws a single glyph. Blocks, squares and rules are drawn as shapes, because fonts differ. */
static void sign(Sheet *sheet, int x, int y, uint32_t glyph, CellStyle style) {
    Box box = tile_of(sheet, x, y);
    Rgb color = color_of(sheet, style.ink);
    char name[4];
    if (style.paper != INK_DEFAULT)
        sheet->back->paper(sheet, (Area){x, y, 1, 1}, style.paper);
    if (glyph == ' ' || block(sheet, x, y, glyph, color))
        return;
    if (glyph == 0x25a0)
        pen_fill(sheet->surface, (Box){box.x, box.y + 2, box.w + 1, box.w + 1}, color, 1);
    else if (glyph == '|')
        pen_fill(sheet->surface, (Box){box.x + box.w / 2, box.y, 1, box.h}, color, 1);
    else if (glyph < 0x80 && glyph != '>' && glyph != '+')
        tile(sheet, x, y, glyph, style);
    else {
        name[cells_utf8(glyph, name)] = '\0';
        write(sheet, x, y, 1, style, ALIGN_LEFT, name);
    }
}

/* ---- bars ----------------------------------------------------------------------------------- */

static void paper(Sheet *sheet, Area area, Ink paper) {
    const Pen *pen = sheet->surface;
    pen_fill(sheet->surface, sheet_box(sheet, area),
             paper == INK_DEFAULT ? pen->theme->page : ink_color(paper, sheet->light, true), 1);
}

/* Draws segments one behind the other, with a line at the limit. A sum beyond the scale ends with
 * an arrow in the ink of the last segment. */
static void stack(Sheet *sheet, Area row, const Segment *segments, int count, double scale,
                  double limit) {
    Pen *pen = sheet->surface;
    Box box = sheet_box(sheet, row);
    box.y += 0.17 * box.h;
    box.h *= 0.66;
    double room = box.w - box.h / 2, at = 0;
    Ink last = INK_RULE;
    for (int i = 0; i < count; i++) {
        double end = fmin((at + segments[i].value) / scale, 1) * room;
        double begin = fmin(at / scale, 1) * room;
        at += segments[i].value;
        last = segments[i].value > 0 ? segments[i].ink : last;
        pen_fill(pen, (Box){box.x + begin, box.y, fmax(end - begin, end > begin), box.h},
                 color_of(sheet, segments[i].ink), 1);
    }
    if (at > scale * (1 + 1e-9)) { /* an arrow */
        cairo_move_to(pen->cr, box.x + room, box.y);
        cairo_rel_line_to(pen->cr, box.h / 2, box.h / 2);
        cairo_line_to(pen->cr, box.x + room, box.y + box.h);
        pen_color(pen, color_of(sheet, last), 1);
        cairo_fill(pen->cr);
    }
    if (isfinite(limit) && limit <= scale)
        pen_line(pen, box.x + limit / scale * room, box.y - 2, box.x + limit / scale * room,
                 box.y + box.h + 2, color_of(sheet, INK_TITLE), 1, 1.5);
}

/* Draws bars. Signed heights stand on the middle of the area, others on its lower edge. */
static void bars(Sheet *sheet, Area area, const double *heights, int count, Ink ink) {
    Box box = sheet_box(sheet, area);
    double each = box.w / count, foot = box.y + box.h - 2, room = box.h - 3;
    for (int i = 0; i < count; i++)
        if (heights[i] < 0) {
            foot = box.y + box.h / 2;
            room = box.h / 2;
        }
    for (int i = 0; i < count; i++) {
        double h = fmax(fabs(heights[i]) * room, 1);
        pen_fill(sheet->surface,
                 (Box){box.x + i * each, heights[i] < 0 ? foot : foot - h,
                       fmax(each - 1, 0.75 * each), h},
                 color_of(sheet, ink), 1);
    }
}

static void frame(Sheet *sheet, Area area) {
    Box box = sheet_box(sheet, area);
    pen_frame(sheet->surface, (Box){box.x - 6, box.y - 2, box.w + 12, box.h + 6},
              color_of(sheet, INK_WARN), 1, 2);
}

static void box(Sheet *sheet, Area area) {
    Pen *pen = sheet->surface;
    pen_fill(pen, sheet_box(sheet, area), pen->theme->page, 1);
    pen_frame(pen, sheet_box(sheet, area), pen->theme->rule, 1, 1.5);
}

static void chart(Sheet *sheet, Area area, const ChartSpec *spec, const char *note) {
    plot_draw(sheet->surface, sheet_box(sheet, area), spec, note);
}

static void picture(Sheet *sheet, Area area, const Image *image) {
    Box box = sheet_box(sheet, area);
    pen_picture(sheet->surface, (Box){box.x, box.y, image->w, image->h}, image);
}

static const SheetBackEnd in_pixels = {width, write, sign, paper, title, stack,
                                       bars,  frame, box,  NULL,  chart, picture};

Sheet pen_sheet(Pen *pen, Box box, double row_h, Spots *spots) {
    double digit = 0.642 * row_h * 2 / 3; /* its width: most letters are not so wide */
    int columns = (int)fmax(floor(box.w / digit), 1);
    return (Sheet){.back = &in_pixels,
                   .surface = pen,
                   .columns = columns,
                   .rows = (int)fmax(floor(box.h / row_h), 0),
                   .left = box.x,
                   .top = box.y,
                   .column_w = box.w / columns,
                   .row_h = row_h,
                   .color = true,
                   .light = pen->theme == &themes[THEME_LIGHT],
                   .pixels = true,
                   .spots = spots};
}
