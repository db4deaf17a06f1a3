/* Where each piece of text of a page ended up, in units of the page: so that a test can prove that
 * nothing overlaps and nothing leaves the page. */
#ifndef BEV_LAYOUT_H
#define BEV_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    double x, y, w, h;
    char text[96];
} FigureText;

typedef struct {
    double w, h; /* page */
    FigureText *texts;
    size_t count, capacity;
    bool failed; /* no memory */
} FigureLayout;

void figure_layout_free(FigureLayout *layout);

#endif
