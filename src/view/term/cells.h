/* SPDX-License-Identifier: MIT */
/* A screen in memory: a grid of cells, each with a glyph and a style. The screen goes to a
 * terminal, into an image or into a text file. Every glyph is one column wide. */
#pragma once

#include "src/view/draw/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t glyph; /* Unicode code point; ' ' where nothing was drawn */
    CellStyle style;
    bool drawn; /* since the cell was blanked */
} Cell;

typedef struct {
    int columns, rows;
    Cell *cells; /* (row, column) */
    /* How to draw; set by the owner before each frame. */
    bool ascii; /* glyphs beyond ASCII are replaced by similar ones in ASCII */
    bool color; /* false: all inks are INK_DEFAULT, and only attributes and textures differ */
    bool light; /* theme */
    /* For the layout tests. */
    int collisions; /* cells drawn twice since cells_clear */
    int cuts;       /* texts that did not fit */
} Cells;

enum { CELLS_MAX_EDGE = 1000 };

/* Makes blank cells. Edges are clamped to 1..CELLS_MAX_EDGE. */
bool cells_init(Cells *cells, int columns, int rows, Err *err);
/* Gives the grid another size with blank contents. On failure the old grid stays. */
bool cells_resize(Cells *cells, int columns, int rows, Err *err);
void cells_free(Cells *cells);

/* Blank all cells, or the cells of an area. Outside the grid nothing happens, here and in all
 * functions below. */
void cells_clear(Cells *cells);
void cells_erase(Cells *cells, Area area, Ink paper);

void cells_put(Cells *cells, int x, int y, uint32_t glyph, CellStyle style);
const Cell *cells_at(const Cells *cells, int x, int y);

/* Writes UTF-8 text in at most `w` columns; longer text ends with an ellipsis. Control characters,
 * wide and combining ones become '?'. Returns the columns used. */
int cells_text(Cells *cells, int x, int y, int w, CellStyle style, const char *text);
/* The same, with the text's end at column x + w - 1. */
int cells_text_right(Cells *cells, int x, int y, int w, CellStyle style, const char *text);
int cells_width(const char *text);
/* Underlines the last row of an area. */
void cells_underline(Cells *cells, Area area);

/* A Braille glyph is BRAILLE + the bits of its dots: four rows of two dots. */
enum { BRAILLE = 0x2800, BRAILLE_W = 2, BRAILLE_H = 4 };
extern const uint8_t braille_bits[BRAILLE_H][BRAILLE_W];

/* Returns the cells as UTF-8 lines without trailing blanks, malloc'd. NULL: no memory. */
char *cells_to_text(const Cells *cells);

/* Draws the screen as a picture, for frames of scripts and the README. With `scale` 1 a cell has
 * 9 x 18 pixels. Blocks are drawn as rectangles, so that bars join without seams. */
bool cells_image(const Cells *cells, double scale, Image *image, Err *err);
