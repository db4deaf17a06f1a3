/* A page that a function draws with a pen: as pixels, as a file, or as the places of its texts. */
#pragma once

#include "src/view/draw/pen.h"

typedef struct {
    double w, h, scale; /* scale: pixels per unit; 0: 1 */
    FigureTheme theme;
    void (*draw)(Pen *pen, const void *context);
    const void *context;
} PageSpec;

/* A file is a PNG or an SVG document; `bytes` is malloc'd; the layout is freed with
 * figure_layout_free(). On failure nothing is left to free. */
bool page_image(const PageSpec *page, Image *image, Err *err);
bool page_file(const PageSpec *page, bool svg, uint8_t **bytes, size_t *length, Err *err);
bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err);
