/* The parts of the window's picture and what they share. Internal to the window_*.c files. */
#pragma once

#include "src/view/figure/figure_internal.h"
#include "src/view/panel/panel.h"
#include "src/view/window/window_image.h"

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

extern const Rgb
    window_mark; /* marks the probed cell and its pixels; differs from every class's colour and
                    every colour map */
extern const Rgb window_fault; /* errors, and the user's faults */

typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture; /* NULL: nothing is computed yet */
    WindowLayout layout;
    Spots *spots; /* NULL: nobody clicks */
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the part of the grid in view, and all of it */
} WindowView;

/* Whether there is a BEV to draw; and the BEV as the figure's parts know it, for its legend, lines
 * and axes. */
bool window_has_bev(const WindowView *view);
FigurePanel window_panel(const WindowView *view);

/* A raster with square, crisp pixels: (left, top) lies at the box's corner, a raster pixel is
 * px_w x px_h units. */
void window_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                   double px_h);

/* Position of a cell coordinate in the BEV box. */
void window_point(const WindowView *view, double x, double y, double *px, double *py);

/* ---- parts ---------------------------------------------------------------------------------- */

void window_draw_header(const WindowView *view);
void window_draw_strip(const WindowView *view);
void window_draw_bev(const WindowView *view);      /* its cells */
void window_draw_over_bev(const WindowView *view); /* lines and signs over it, and the axes */
void window_draw_side(const WindowView *view);
void window_draw_log(const WindowView *view);
void window_draw_keys(const WindowView *view);
void window_draw_palette(const WindowView *view); /* the same */
void window_draw_help(const WindowView *view); /* the chart, where the state asks for it */

/* The chart of the memory model, where it has no room in the side column: in the place of the
 * BEV. */
void window_draw_chart_over(const WindowView *view);

/* Backward: a frame around the pixel that is looked at. */
void window_mark_gradient_pixel(const WindowView *view);

/* Panels above one another, up to NULL. */
void window_draw_panels(const WindowView *view, Box box, const Panel *const *panels);
