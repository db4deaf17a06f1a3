/* The parts of the live picture and what they share. Internal to the scene_*.c files. */
#ifndef BEV_WINDOW_INTERNAL_H
#define BEV_WINDOW_INTERNAL_H

#include "src/view/figure/figure_internal.h"
#include "src/view/window/window_image.h"

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

extern const Rgb window_mark; /* the cell looked at and its pixels: like no class, like no map */
extern const Rgb window_baseline; /* the pinned baseline's bars and curves */
extern const Rgb window_fault;    /* what went wrong, or was made wrong on purpose */

typedef struct {
    const State *state;
    const LiveData *live;
    const WindowPicture *picture; /* NULL: nothing is computed yet */
    WindowLayout layout;
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the part of the grid in view, and all of it */
} WindowView;

/* The BEV as the parts of the figure know one: its legend, lines and axes are drawn by those. */
bool window_has_bev(const WindowView *view);
Panel window_panel(const WindowView *view);

/* A raster with its pixels kept square and crisp; (left, top) is what lies at the box's corner,
 * one raster pixel is px_w x px_h units. */
void window_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                   double px_h);

/* Position of a cell coordinate in the BEV box. */
void window_point(const WindowView *view, double x, double y, double *px, double *py);

void window_draw_header(const WindowView *view);
void window_draw_strip(const WindowView *view);
void window_draw_bev(const WindowView *view);      /* its cells */
void window_draw_over_bev(const WindowView *view); /* what lies over them, and the axes */
void window_draw_side(const WindowView *view);
void window_draw_log(const WindowView *view);

/* Whether the state asks for a chart; a pinned cell takes its place. */
bool window_has_chart(const WindowView *view);
/* In the side column or, where that has no room for it, in the place of the BEV. */
bool window_chart_fits(const WindowView *view);
void window_draw_chart(const WindowView *view, Box beside);
void window_draw_chart_over(const WindowView *view);

/* A bar a kernel, taller where there is room; the least height, 0: there is none to show. */
double window_ladder_height(const WindowView *view);
void window_draw_ladder(const WindowView *view, Box at);

void window_draw_keys(const WindowView *view);
void window_draw_help(const WindowView *view);

/* "12.3 ms measured (stale)": the figure and where it comes from; "n/a" where it is unknown. */
void window_reading(const Reading *value, char *text, size_t size);

#endif
