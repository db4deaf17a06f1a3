/* SPDX-License-Identifier: MIT */
/* The parts of the window's picture and their shared data. Internal to the window_*.c files. */
#pragma once

#include "src/view/figure/figure.h"
#include "src/view/panel/panel.h"
#include "src/view/window/window_image.h"

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

extern const Rgb window_mark; /* marks the probed cell and its pixels; differs from every class's
                                 colour and every colour map */

typedef struct {
    const State *state;
    const LiveData *live;
    const Picture *picture; /* NULL: nothing is computed yet */
    WindowLayout layout;
    Spots *spots; /* NULL: the picture takes no clicks */
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the visible part of the grid, and the whole grid */
} WindowView;

/* Whether there is a BEV to draw. window_panel returns it as a panel of a figure. */
bool window_has_bev(const WindowView *view);
FigurePanel window_panel(const WindowView *view);

/* Draws a raster with sharp square pixels. (left, top) of the raster lies at the box's corner. A
 * raster pixel has px_w x px_h units. */
void window_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                   double px_h);

/* Computes the position of a cell coordinate in the BEV box. */
void window_point(const WindowView *view, double x, double y, double *px, double *py);

/* Computes where the wipe divides the picture; beyond its edges where a zoom hides the divider. */
double window_wipe_x(const WindowLayout *layout, const State *state);

/* ---- parts ---------------------------------------------------------------------------------- */

void window_draw_header(const WindowView *view);
void window_draw_strip(const WindowView *view);
void window_draw_bev(const WindowView *view);      /* the cells */
void window_draw_over_bev(const WindowView *view); /* lines, marks and axes over the BEV */
void window_draw_side(const WindowView *view);
void window_draw_log(const WindowView *view);
void window_draw_keys(const WindowView *view);
void window_draw_palette(const WindowView *view); /* the palette, where the state shows it */
void window_draw_help(const WindowView *view);    /* the help, where the state shows it */

/* Draws the chart of the memory model in place of the BEV, if the side column has no room. */
void window_draw_chart_over(const WindowView *view);

/* Draws the page of the race, where the state shows it. */
void window_draw_race(const WindowView *view);
