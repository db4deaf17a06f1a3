/* SPDX-License-Identifier: MIT */
/* Writes cells with the sequences of ECMA-48, in whatever colours the terminal has. ncurses numbers
 * its colours, and cannot name 24 bits beside 256 numbers; so cells pass ncurses by. */
#include "src/ui/term_internal.h"

#include "src/base/data.h"
#include "src/view/draw/text.h"

#include <stdlib.h>
#include <string.h>

/* Whether the terminal says that it knows 24-bit colours. */
bool direct_wanted(void) {
    const char *depth = getenv("COLORTERM");
    return depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
}

static void put_color(FILE *out, Rgb color, int number, int colors, int base) {
    if (colors == TRUE_COLORS)
        fprintf(out, ";%d;2;%d;%d;%d", base, color.r, color.g, color.b);
    else if (colors > 16)
        fprintf(out, ";%d;5;%d", base, number);
    else if (colors)
        fprintf(out, ";%d", base - 8 + number + (number >= 8 ? 52 : 0));
}

static void put_style(FILE *out, const CellStyle *style, int colors, bool light) {
    const unsigned look = style->attributes;
    int ink = 0, paper = 0;
    if (colors && colors != TRUE_COLORS)
        palette_pair(style, colors, light, &ink, &paper);
    fprintf(out, "\033[0%s%s%s", look & CELL_BOLD ? ";1" : "", look & CELL_UNDERLINE ? ";4" : "",
            look & CELL_REVERSE ? ";7" : "");
    put_color(out, ink_color(style->ink, light, false), ink, colors, 38);
    put_color(out, ink_color(style->paper, light, true), paper, colors, 48);
    fputc('m', out);
}

static bool cells_alike(const Cell *a, const Cell *b) {
    return a->glyph == b->glyph && !memcmp(&a->style, &b->style, sizeof a->style);
}

/* Writes a cell. `before` is the cell that was written before it, at (x - 1, y) or elsewhere. */
static void put_cell(FILE *out, const Cells *cells, int x, int y, int colors, const Cell *before,
                     bool beside) {
    const Cell *cell = cells_at(cells, x, y);
    char glyph[3];
    if (!beside)
        fprintf(out, "\033[%d;%dH", y + 1, x + 1);
    if (!before || memcmp(&before->style, &cell->style, sizeof cell->style) != 0)
        put_style(out, &cell->style, colors, cells->light);
    fwrite(glyph, 1, cells_utf8(cell->glyph, glyph), out);
}

bool direct_bytes(const Cells *cells, Cells *shown, bool everything, int colors, char **bytes,
                  size_t *length, Err *err) {
    MemoryStream memory;
    const Cell *before = NULL;
    if (!memory_stream_open(&memory, err))
        return false;
    for (int y = 0; y < cells->rows; y++)
        for (int x = 0; x < cells->columns; x++) {
            Cell *there = &shown->cells[(size_t)y * (size_t)cells->columns + (size_t)x];
            const Cell *cell = cells_at(cells, x, y);
            if (!everything && cells_alike(there, cell))
                continue;
            put_cell(memory.stream, cells, x, y, colors, before, x && before == cell - 1);
            *there = *cell;
            before = cell;
        }
    if (before)
        fputs("\033[0m", memory.stream);
    bool ok = memory_stream_close(&memory, "screen", err);
    *bytes = ok ? memory.bytes : NULL;
    *length = ok ? memory.length : 0;
    return ok;
}
