/* SPDX-License-Identifier: MIT */
/* The parts of the window's picture and their shared data. Internal to the window_*.c files. */
#pragma once

#include "src/view/figure/figure.h"
#include "src/view/panel/panel.h"
#include "src/view/window/window_image.h"

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

/* The colour of marks on the probed cell. No class and no colour map has this colour. */
extern const Rgb window_mark;

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

/* Returns where the wipe divides the picture. Where a zoom hides the divider, the position lies
 * beyond the picture's edges. */
double window_wipe_x(const WindowLayout *layout, const State *state);

/* ---- parts ---------------------------------------------------------------------------------- */

void window_draw_header(const WindowView *view);
void window_draw_strip(const WindowView *view);
void window_draw_bev(const WindowView *view);      /* the cells */
void window_draw_over_bev(const WindowView *view); /* lines, marks and axes over the BEV */
void window_draw_side(const WindowView *view);
void window_draw_log(const WindowView *view);
void window_draw_keys(const WindowView *view);
void window_draw_floats(const WindowView *view); /* help and palette, where the state shows them */

/* Draws the chart of the memory model in place of the BEV, if the side column has no room. */
void window_draw_chart_over(const WindowView *view);

/* Draws the page of the race, where the state shows it. */
void window_draw_race(const WindowView *view);
