/* SPDX-License-Identifier: MIT */
/* Text, lines and pictures on a cairo surface. Every text is cleaned, cut to its space with an
 * ellipsis, and noted for the layout test. */
#pragma once

#include "src/view/draw/image.h"

#include <cairo.h>

typedef struct {
    double x, y, w, h;
} Box;

typedef enum { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT } TextAlign;

typedef struct {
    double size;
    bool bold;
    Rgb color;
    TextAlign align;
    bool upwards;  /* the text is turned, and reads from below */
    bool outlined; /* letters have a rim in colour `rim`, to be legible on any picture */
    Rgb rim;
} TextStyle;

/* Where each text of a page ended up, in units of the page. A test proves with it that no text lies
 * on another and that none leaves the page. */
enum { PEN_TEXT_MAX = 256 };

typedef struct {
    double x, y, w, h;
    double at_x, at_y; /* where pen_text() was asked to write */
    TextStyle style;
    char text[PEN_TEXT_MAX];
} FigureText;

typedef struct {
    double w, h; /* the size of the page */
    FigureText *texts;
    size_t count, capacity;
} FigureLayout;

void figure_layout_free(FigureLayout *layout);

typedef struct {
    cairo_t *cr;
    const Theme *theme;
    FigureLayout *layout; /* texts are noted here, and not drawn; NULL: they are drawn */
    double least_width;   /* thinner strokes are drawn with this width */
    bool measuring;       /* draws and notes nothing, and only finds out sizes */
    bool failed;          /* there was no memory for a picture or a text; `err` tells so */
    Err err;
} Pen;

void pen_init(Pen *pen, cairo_t *cr, const Theme *theme, FigureLayout *layout);

/* Opens a pen without a picture, which only finds out sizes. Close the pen with pen_close(). */
void pen_open_measuring(Pen *pen, const Theme *theme);
void pen_close(Pen *pen);

/* Returns a message if the system has no font for texts: cairo then draws characters of its own,
 * coarsely and slowly. NULL: there is a font. */
const char *pen_font_missing(void);

/* Writes at (x, baseline), at most `max_w` wide; returns the width used. The baseline of
 * text that reads upwards is the vertical line through x; `align` refers to the y in `baseline`. */
double pen_text(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                const char *text);
double pen_text_width(Pen *pen, const TextStyle *style, const char *text);
/* Returns the box that pen_text would fill. */
Box pen_text_box(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                 const char *text);
/* Writes a paragraph, broken at spaces. Returns the height. */
double pen_paragraph(Pen *pen, double x, double top, double w, const TextStyle *style,
                     const char *text);

/* Draws a box whose content changes only with `key`. On a surface of pen_keep_still() the pixels of
 * the box are kept, and copied as long as `key` stays the same. */
void pen_still(Pen *pen, Box box, uint64_t key, void (*draw)(Pen *pen, const void *context),
               const void *context);
void pen_keep_still(cairo_surface_t *surface);

void pen_color(Pen *pen, Rgb color, double alpha);
/* Draws the current path as a line. */
void pen_stroke(Pen *pen, Rgb color, double alpha, double width);
/* Draws only inside the box, until cairo_restore(). */
void pen_clip(Pen *pen, Box box);
void pen_fill(Pen *pen, Box box, Rgb color, double alpha);
/* Draws a frame just outside the box, so that it covers no data. */
void pen_frame(Pen *pen, Box box, Rgb color, double alpha, double width);
void pen_line(Pen *pen, double x0, double y0, double x1, double y1, Rgb color, double alpha,
              double width);
/* Draws a circle with a line of a width. With width 0, fills the circle. */
void pen_circle(Pen *pen, double x, double y, double radius, Rgb color, double alpha, double width);
/* Draws the picture in `box`: enlarged pixels stay square and crisp, reduced ones are averaged. */
void pen_picture(Pen *pen, Box box, const Image *image);

/* Returns a picture as a cairo surface of the format RGB24. Without memory the surface keeps the
 * error, and cairo draws nothing from that surface. */
cairo_surface_t *pen_surface(const Image *image);

/* Begins a picture of w x h pixels that cairo draws on. NULL: no memory. */
cairo_t *pen_begin(Image *image, int64_t w, int64_t h, Err *err);
/* Ends the drawing. If `drawn` is false, also frees the picture. Returns `drawn`. */
bool pen_finish(cairo_t *cr, bool drawn, Image *image);

/* Returns whether cairo had no error. If cairo had one, writes a message about `what`. */
bool pen_status(cairo_status_t status, const char *what, Err *err);

TextStyle style_body(const Pen *pen);
TextStyle style_muted(const Pen *pen);
TextStyle style_heading(const Pen *pen);
TextStyle aligned(TextStyle style, TextAlign align);
TextStyle style_over(const PanelTheme *theme, double size, TextAlign align); /* over a BEV */

bool boxes_overlap(Box a, Box b);

/* ---- a page that a function draws: as pixels, as a file, or as the places of its texts ------- */

typedef struct {
    double w, h, scale; /* scale: pixels per unit; 0: 1 */
    FigureTheme theme;
    void (*draw)(Pen *pen, const void *context);
    const void *context;
    const char *title; /* the title in the file; NULL: none */
} PageSpec;

/* A unit is a pixel of a PNG, and 1/96 inch of an SVG or PDF. The texts of an SVG are <text>
 * elements, and a PDF embeds its fonts. */
typedef enum { PICTURE_PNG, PICTURE_SVG, PICTURE_PDF } PictureFormat;

/* The caller frees file->bytes; the layout is freed with figure_layout_free(). On failure nothing
 * is left to free. */
bool page_image(const PageSpec *page, Image *image, Err *err);
bool page_file(const PageSpec *page, PictureFormat format, MemoryStream *file, Err *err);
bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err);
