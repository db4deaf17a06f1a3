#include "src/view/term/canvas.h"

#include <math.h>
#include <string.h>

/* They count down the left column, then the right; the fourth row came later. */
const uint8_t braille_bits[BRAILLE_H][BRAILLE_W] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

void canvas_init(Canvas *canvas, int w, int h) {
    memset(canvas, 0, sizeof *canvas);
    canvas->w = w < CANVAS_MAX_W ? w : CANVAS_MAX_W;
    canvas->h = h < CANVAS_MAX_H ? h : CANVAS_MAX_H;
}

static void dot(Canvas *canvas, int x, int y, Ink ink) {
    if (x < 0 || y < 0 || x >= canvas->w * BRAILLE_W || y >= canvas->h * BRAILLE_H)
        return;
    uint8_t *dots = &canvas->dots[y / BRAILLE_H][x / BRAILLE_W];
    Ink *owner = &canvas->inks[y / BRAILLE_H][x / BRAILLE_W];
    *dots = (uint8_t)((*owner == ink ? *dots : 0) | braille_bits[y % BRAILLE_H][x % BRAILLE_W]);
    *owner = ink;
}

void canvas_line(Canvas *canvas, double x0, double y0, double x1, double y1, Ink ink) {
    double w = canvas->w * BRAILLE_W - 1, h = canvas->h * BRAILLE_H - 1;
    double dx = (x1 - x0) * w, dy = (y1 - y0) * h;
    int steps = (int)fmin(ceil(fmax(fmax(fabs(dx), fabs(dy)), 1)), 1e5);
    for (int i = 0; i <= steps; i++) {
        double at = (double)i / steps;
        dot(canvas, (int)lround(x0 * w + at * dx), (int)lround((1 - y0) * h - at * dy), ink);
    }
}

bool canvas_has(const Canvas *canvas, int column, int row) {
    return column >= 0 && row >= 0 && column < canvas->w && row < canvas->h &&
           canvas->dots[row][column];
}

void canvas_put(const Canvas *canvas, Cells *cells, int x, int y) {
    for (int row = 0; row < canvas->h; row++)
        for (int column = 0; column < canvas->w; column++)
            if (canvas->dots[row][column] && cells_at(cells, x + column, y + row)->glyph == ' ')
                cells_put(cells, x + column, y + row, BRAILLE + canvas->dots[row][column],
                          cell_style(canvas->inks[row][column]));
}
