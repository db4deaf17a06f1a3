/* SPDX-License-Identifier: MIT */
/* Writes cells in 24-bit colours. ncurses numbers its colours, and a terminal of 256 numbers cannot
 * name more; so these sequences pass ncurses by. */
#include "src/ui/term_internal.h"

#include "src/base/memory_stream.h"
#include "src/view/draw/text.h"

#include <stdlib.h>
#include <string.h>

/* Whether the terminal says that it knows 24-bit colours. */
bool direct_wanted(void) {
    const char *depth = getenv("COLORTERM");
    return depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
}

static void put_style(FILE *out, const CellStyle *style, bool light) {
    Rgb ink = ink_color(style->ink, light, false), paper = ink_color(style->paper, light, true);
    unsigned look = style->attributes;
    fprintf(out, "\033[0%s%s%s;38;2;%d;%d;%d;48;2;%d;%d;%dm", look & CELL_BOLD ? ";1" : "",
            look & CELL_UNDERLINE ? ";4" : "", look & CELL_REVERSE ? ";7" : "", ink.r, ink.g, ink.b,
            paper.r, paper.g, paper.b);
}

bool cells_alike(const Cell *a, const Cell *b) {
    return a->glyph == b->glyph && !memcmp(&a->style, &b->style, sizeof a->style);
}

/* Writes a cell. `before` is the cell that was written before it, at (x - 1, y) or elsewhere. */
static void put_cell(FILE *out, const Cells *cells, int x, int y, const Cell *before, bool beside) {
    const Cell *cell = cells_at(cells, x, y);
    char glyph[3];
    if (!beside)
        fprintf(out, "\033[%d;%dH", y + 1, x + 1);
    if (!before || memcmp(&before->style, &cell->style, sizeof cell->style) != 0)
        put_style(out, &cell->style, cells->light);
    fwrite(glyph, 1, cells_utf8(cell->glyph, glyph), out);
}

bool direct_bytes(const Cells *cells, Cells *shown, bool everything, char **bytes, size_t *length,
                  Err *err) {
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
            put_cell(memory.stream, cells, x, y, before, x && before == cell - 1);
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
