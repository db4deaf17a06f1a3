/* Lines drawn with Braille: two by four dots a cell. */
#ifndef BEV_CANVAS_H
#define BEV_CANVAS_H

#include "src/view/term/cells.h"

enum { CANVAS_MAX_W = 200, CANVAS_MAX_H = 40, BRAILLE = 0x2800, BRAILLE_W = 2, BRAILLE_H = 4 };

/* The bit of BRAILLE + bits that is the dot at (row, column). */
extern const uint8_t braille_bits[BRAILLE_H][BRAILLE_W];

/* Dots of every cell. A cell has one ink: it belongs to the line that came last. */
typedef struct {
    int w, h; /* in cells; larger areas are cut */
    uint8_t dots[CANVAS_MAX_H][CANVAS_MAX_W];
    Ink inks[CANVAS_MAX_H][CANVAS_MAX_W];
} Canvas;

void canvas_init(Canvas *canvas, int w, int h);

/* A straight line between two places, 0 to 1 from the left and from below; parts outside are left
 * out. */
void canvas_line(Canvas *canvas, double x0, double y0, double x1, double y1, Ink ink);

/* Puts what has dots, where nothing stands yet. */
void canvas_put(const Canvas *canvas, Cells *cells, int x, int y);

/* Whether the cell has dots. */
bool canvas_has(const Canvas *canvas, int column, int row);

#endif
