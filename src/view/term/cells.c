/* SPDX-License-Identifier: MIT */
#include "src/view/term/cells.h"

#include "kernels/clean.h"
#include "src/view/draw/pen.h"

#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

static const Cell blank = {.glyph = ' '};

static size_t cell_count(const Cells *cells) {
    return (size_t)cells->columns * (size_t)cells->rows;
}

bool cells_resize(Cells *cells, int columns, int rows, Err *err) {
    Cells next = *cells;
    next.columns = MIN(MAX(columns, 1), CELLS_MAX_EDGE);
    next.rows = MIN(MAX(rows, 1), CELLS_MAX_EDGE);
    next.cells = malloc(cell_count(&next) * sizeof *next.cells);
    if (!next.cells)
        return err_set(err, ERR_FAILED, "screen", "", "no memory for %d x %d cells", columns, rows);
    free(cells->cells);
    *cells = next;
    cells_clear(cells);
    return true;
}

bool cells_init(Cells *cells, int columns, int rows, Err *err) {
    *cells = (Cells){.color = true};
    return cells_resize(cells, columns, rows, err);
}

void cells_free(Cells *cells) {
    if (!cells)
        return;
    free(cells->cells);
    *cells = (Cells){0};
}

void cells_clear(Cells *cells) {
    for (size_t i = 0; i < cell_count(cells); i++)
        cells->cells[i] = blank;
    cells->collisions = cells->cuts = 0;
}

static bool inside(const Cells *cells, int x, int y) {
    return x >= 0 && y >= 0 && x < cells->columns && y < cells->rows;
}

static Cell *cell_at(const Cells *cells, int x, int y) {
    return &cells->cells[(size_t)y * (size_t)cells->columns + (size_t)x];
}

void cells_erase(Cells *cells, Area area, Ink paper) {
    Cell cell = blank;
    cell.style.paper = cells->color ? paper : INK_DEFAULT;
    for (int y = area.y; y < area.y + area.h; y++)
        for (int x = area.x; x < area.x + area.w; x++)
            if (inside(cells, x, y))
                *cell_at(cells, x, y) = cell;
}

/* ---- glyphs --------------------------------------------------------------------------------- */

/* Pairs: a glyph beyond ASCII that this program draws, and its replacement on ASCII screens. */
static const uint_least32_t ascii_forms[] =
    U"█#▉#▊#▋#▌|▍|▎|▏|▁_▂_▃.▄-▅=▆+▇*▀\"░.▒:▓%■#▯o─-┅=━=│|┊|┆|‖=┃|┼+"
    U"┏+┓+┗+┛+┌+┐+└+┘+▶>▮=▲^◆*●*○o▸>›>….·-×x±+° −-→>←<↑^↓vµu";

static uint32_t ascii_form(uint32_t glyph) {
    if (glyph < 0x80)
        return glyph;
    for (size_t i = 0; ascii_forms[i]; i += 2)
        if (ascii_forms[i] == glyph)
            return ascii_forms[i + 1];
    if (glyph <= BRAILLE || glyph > BRAILLE + 0xff)
        return '?';
    const bool in_upper_half = glyph & 0x1b, in_lower_half = glyph & 0xe4; /* where dots are */
    return !in_lower_half ? '\'' : !in_upper_half ? '.' : ':';
}

/* Whether a glyph takes one column in every terminal. Control characters, combining marks, wide
 * scripts and private planes do not. Only the listed ranges are allowed. */
static bool one_column(uint32_t glyph) {
    static const struct {
        uint32_t first, last;
    } allowed[] = {
        {0x20, 0x7e},     {0xa1, 0xac},     {0xae, 0x2ff},    {0x370, 0x482},   {0x48a, 0x52f},
        {0x1e00, 0x1fff}, {0x2010, 0x2027}, {0x2030, 0x205e}, {0x2070, 0x20bf}, {0x2100, 0x2319},
        {0x2500, 0x25fc}, {0x2600, 0x2604}, {0x2713, 0x2718}, {0x2800, 0x28ff},
    };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (glyph >= allowed[i].first && glyph <= allowed[i].last)
            return true;
    return false;
}

/* Returns the next code point of UTF-8 text. Broken bytes count as one '?' each. */
static uint32_t next_glyph(const char **text) {
    bool shown;
    const unsigned char *at = (const unsigned char *)*text;
    size_t length = clean_character(*text, &shown);
    const bool is_ascii = at[0] < 0x80;
    uint32_t glyph = is_ascii ? at[0] : '?';
    if (length > 1) /* the first byte tells the length by its upper bits */
        glyph = at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        glyph = glyph << 6 | (at[i] & 0x3fu);
    *text += length;
    return one_column(glyph) ? glyph : '?';
}

/* Unicode numbers the dots down the left column, then the right one, and the fourth row last. */
const uint8_t braille_bits[BRAILLE_H][BRAILLE_W] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

void cells_put(Cells *cells, int x, int y, uint32_t glyph, CellStyle style) {
    if (!inside(cells, x, y))
        return;
    Cell *cell = cell_at(cells, x, y);
    cells->collisions += cell->drawn;
    if (!cells->color)
        style.ink = style.paper = INK_DEFAULT;
    /* A text without a paper keeps the paper of the area below. */
    if (style.paper == INK_DEFAULT)
        style.paper = cell->style.paper;
    /* ASCII has no half blocks: the cell gets the mean of both colours of the picture. */
    if (cells->ascii && glyph == 0x2580 && style.ink & style.paper & INK_RGB) {
        style.paper = ink_rgb(rgb_mix(ink_color(style.ink, cells->light, false),
                                      ink_color(style.paper, cells->light, true), 0.5));
        glyph = ' ';
    }
    *cell = (Cell){cells->ascii ? ascii_form(glyph) : glyph, style, true};
}

const Cell *cells_at(const Cells *cells, int x, int y) {
    return inside(cells, x, y) ? cell_at(cells, x, y) : &blank;
}

int cells_width(const char *text) {
    int width = 0;
    while (*text) {
        next_glyph(&text);
        width++;
    }
    return width;
}

int cells_text(Cells *cells, int x, int y, int w, CellStyle style, const char *text) {
    int width = cells_width(text), used = 0;
    if (w <= 0 || !width)
        return 0;
    cells->cuts += width > w;
    const int kept = width > w ? w - 1 : width; /* the last column has the ellipsis */
    for (; used < kept; used++)
        cells_put(cells, x + used, y, next_glyph(&text), style);
    if (width > w)
        cells_put(cells, x + used++, y, 0x2026, style);
    return used;
}

int cells_text_right(Cells *cells, int x, int y, int w, CellStyle style, const char *text) {
    int width = cells_width(text);
    int indent = width < w ? w - width : 0;
    return cells_text(cells, x + indent, y, w - indent, style, text);
}

char *cells_to_text(const Cells *cells) {
    char *text = malloc(cell_count(cells) * 3 + (size_t)cells->rows + 1);
    size_t length = 0;
    for (int y = 0; text && y < cells->rows; y++) {
        size_t line = length, end = length;
        for (int x = 0; x < cells->columns; x++) {
            uint32_t glyph = cells_at(cells, x, y)->glyph;
            length += cells_utf8(glyph, text + length);
            end = glyph == ' ' ? end : length;
        }
        length = end > line ? end : line;
        text[length++] = '\n';
    }
    if (text)
        text[length] = '\0';
    return text;
}

void cells_underline(Cells *cells, Area area) {
    int y = area.y + area.h - 1;
    for (int x = area.x; x < area.x + area.w; x++)
        if (inside(cells, x, y))
            cell_at(cells, x, y)->style.attributes |= CELL_UNDERLINE;
}

/* ---- as a picture ---------------------------------------------------------------------------- */

enum { CELL_W = 9, CELL_H = 18 };

typedef struct {
    Pen pen;
    double w, h;     /* the size of a cell, in whole pixels */
    double baseline; /* its distance from the upper edge of a cell */
    bool light;
} Page;

static void fill_box(const Page *page, double x, double y, double w, double h) {
    cairo_rectangle(page->pen.cr, x, y, w, h);
    cairo_fill(page->pen.cr);
}

/* Draws a block element in the cell with the corner (x, y). Shades are a translucent ink, as in
 * terminals. Returns false if the glyph is no block element. */
static bool draw_block(Page *page, uint32_t glyph, double x, double y, Rgb ink) {
    static const double shades[] = {0.30, 0.52, 0.76};
    double w = page->w, h = page->h;
    if (glyph >= 0x2591 && glyph <= 0x2593) {
        pen_color(&page->pen, ink, shades[glyph - 0x2591]);
        fill_box(page, x, y, w, h);
    } else if (glyph == 0x2580)
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
static bool draw_braille(const Page *page, uint32_t glyph, double x, double y) {
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

static void draw_glyph(Page *page, const Cell *cell, double x, double y, Rgb ink) {
    bool bold = cell->style.attributes & CELL_BOLD;
    pen_color(&page->pen, ink, 1);
    if (draw_block(page, cell->glyph, x, y, ink) || draw_braille(page, cell->glyph, x, y))
        return;
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
    const bool reverse = cell->style.attributes & CELL_REVERSE;
    pen_fill(&page->pen, (Box){x, y, page->w, page->h}, reverse ? ink : paper, 1);
    if (cell->glyph != ' ')
        draw_glyph(page, cell, x, y, reverse ? paper : ink);
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
