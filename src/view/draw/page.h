/* SPDX-License-Identifier: MIT */
/* A page that a function draws with a pen: as pixels, as a file, or as the places of its texts. */
#pragma once

#include "src/view/draw/pen.h"

typedef struct {
    double w, h, scale; /* scale: pixels per unit; 0: 1 */
    FigureTheme theme;
    void (*draw)(Pen *pen, const void *context);
    const void *context;
    const char *title; /* of the file; NULL: none */
} PageSpec;

/* A unit is a pixel of a PNG, and 1/96 inch of an SVG or PDF. The texts of an SVG are <text>
 * elements, and a PDF embeds its fonts. */
typedef enum { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF } PictureFormat;

/* `bytes` is malloc'd; the layout is freed with figure_layout_free(). On failure nothing is left to
 * free. */
bool page_image(const PageSpec *page, Image *image, Err *err);
bool page_file(const PageSpec *page, PictureFormat format, uint8_t **bytes, size_t *length,
               Err *err);
bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err);
