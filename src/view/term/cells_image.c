/* SPDX-License-Identifier: MIT */
#include "src/view/term/cells.h"

#include "src/view/draw/pen.h"

#include <math.h>

enum { CELL_W = 9, CELL_H = 18 };

typedef struct {
    Pen pen;
    double w, h; /* of a cell, whole pixels */
    double baseline;
    bool light;
} Page;

static void fill_box(const Page *page, double x, double y, double w, double h) {
    cairo_rectangle(page->pen.cr, x, y, w, h);
    cairo_fill(page->pen.cr);
}

/* Draws a block element at the cell's corner (x, y). False: the glyph is no block element. */
static bool draw_block(const Page *page, uint32_t glyph, double x, double y) {
    double w = page->w, h = page->h;
    if (glyph == 0x2580)
        fill_box(page, x, y, w, h / 2);
    else if (glyph >= 0x2581 && glyph <= 0x2588) {
        double height = round(h * (glyph - 0x2580) / 8);
        fill_box(page, x, y + h - height, w, height);
    } else if (glyph > 0x2588 && glyph <= 0x258f)
        fill_box(page, x, y, w * (0x2590 - glyph) / 8, h);
    else if (glyph == 0x2500)
        fill_box(page, x, y + h / 2 - 0.5, w, 1);
    else
        return false;
    return true;
}

/* Draws Braille dots at even distances, also across cells. False: the glyph is no Braille. */
static bool braille(const Page *page, uint32_t glyph, double x, double y) {
    double step_x = page->w / BRAILLE_W, step_y = page->h / BRAILLE_H;
    if (glyph < BRAILLE || glyph > BRAILLE + 0xff)
        return false;
    for (int row = 0; row < BRAILLE_H; row++)
        for (int column = 0; column < BRAILLE_W; column++)
            if ((glyph - BRAILLE) & braille_bits[row][column]) {
                cairo_arc(page->pen.cr, x + (column + 0.5) * step_x, y + (row + 0.5) * step_y,
                          0.42 * step_x, 0, 2 * M_PI);
                cairo_fill(page->pen.cr);
            }
    return true;
}

/* Returns the share of ink of a shade glyph, which terminals draw as a translucent ink. */
static double shade_of(uint32_t glyph) {
    return glyph == 0x2591 ? 0.30 : glyph == 0x2592 ? 0.52 : glyph == 0x2593 ? 0.76 : 0;
}

static void draw_glyph(Page *page, const Cell *cell, double x, double y, Rgb ink) {
    bool bold = cell->style.attributes & CELL_BOLD;
    pen_color(&page->pen, ink, 1);
    if (draw_block(page, cell->glyph, x, y) || braille(page, cell->glyph, x, y))
        return;
    if (shade_of(cell->glyph) > 0) {
        pen_color(&page->pen, ink, shade_of(cell->glyph));
        fill_box(page, x, y, page->w, page->h);
        return;
    }
    char text[4];
    text[cells_utf8(cell->glyph, text)] = '\0';
    cairo_select_font_face(page->pen.cr, "DejaVu Sans Mono", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_move_to(page->pen.cr, x, y + page->baseline);
    cairo_show_text(page->pen.cr, text);
    if (cell->style.attributes & CELL_UNDERLINE)
        fill_box(page, x, y + page->baseline + 2, page->w, 1);
}

static void draw_cell(Page *page, const Cell *cell, double x, double y) {
    Rgb ink = ink_color(cell->style.ink, page->light, false);
    Rgb paper = ink_color(cell->style.paper, page->light, true);
    if (cell->style.attributes & CELL_REVERSE) {
        Rgb swap = ink;
        ink = paper;
        paper = swap;
    }
    pen_fill(&page->pen, (Box){x, y, page->w, page->h}, paper, 1);
    if (cell->glyph != ' ')
        draw_glyph(page, cell, x, y, ink);
}

bool cells_image(const Cells *cells, double scale, Image *image, Err *err) {
    Page page = {.w = round(CELL_W * scale),
                 .h = round(CELL_H * scale),
                 .baseline = round(CELL_H * scale * 0.76),
                 .light = cells->light};
    cairo_t *cr =
        pen_begin(image, (int64_t)(page.w * cells->columns), (int64_t)(page.h * cells->rows), err);
    if (!cr)
        return false;
    pen_init(&page.pen, cr, NULL, NULL);
    /* DejaVu Sans Mono advances 0.602 em: 14.9 pixels make 9. */
    cairo_set_font_size(cr, 14.9 * scale);
    for (int y = 0; y < cells->rows; y++)
        for (int x = 0; x < cells->columns; x++)
            draw_cell(&page, cells_at(cells, x, y), x * page.w, y * page.h);
    return pen_finish(cr, pen_status(cairo_status(cr), "picture of the screen", err), image);
}
