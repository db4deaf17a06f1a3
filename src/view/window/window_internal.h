/* The parts of the window's picture and what they share. Internal to the window_*.c files. */
#pragma once

#include "src/view/figure/figure_internal.h"
#include "src/view/window/window_image.h"

enum { WINDOW_MARGIN = 12, WINDOW_GAP = 10, WINDOW_SIDE_W = 320, WINDOW_LINE = 22 };

extern const Rgb
    window_mark; /* marks the probed cell and its pixels; in no class's colour, in no colour map */
extern const Rgb window_baseline; /* the pinned baseline's bars and curves */
extern const Rgb window_fault;    /* errors, and faults that the user set */

typedef struct {
    const State *state;
    const LiveData *live;
    const WindowPicture *picture; /* NULL: nothing is computed yet */
    WindowLayout layout;
    Spots *spots; /* NULL: nobody clicks */
    Pen *pen;
    FigureSpec spec;
    Figure visible, whole; /* the part of the grid in view, and all of it */
} WindowView;

/* Whether there is a BEV to draw; then it as the figure's parts know one: they draw its legend,
 * lines and axes. */
bool window_has_bev(const WindowView *view);
FigurePanel window_panel(const WindowView *view);

/* A raster with square, crisp pixels: (left, top) lies at the box's corner, a raster pixel is
 * px_w x px_h units. */
void window_raster(Pen *pen, Box box, const Image *image, double left, double top, double px_w,
                   double px_h);

/* Position of a cell coordinate in the BEV box. */
void window_point(const WindowView *view, double x, double y, double *px, double *py);

/* A heading in the side column, and a line of small text; both return their height. */
double window_heading(const WindowView *view, Box at, const char *text);
double window_line(const WindowView *view, Box at, const char *text);
enum { WINDOW_ROW = 18 }; /* of small text */

/* ---- parts ---------------------------------------------------------------------------------- */

void window_draw_header(const WindowView *view);
void window_draw_strip(const WindowView *view);
void window_draw_bev(const WindowView *view);      /* its cells */
void window_draw_over_bev(const WindowView *view); /* what lies over them, and the axes */
void window_draw_side(const WindowView *view);
void window_draw_log(const WindowView *view);
void window_draw_keys(const WindowView *view);
void window_draw_help(const WindowView *view); /* where the state asks for it */

/* The lesson that is open, in the side column; returns its height. Where it is too long its end is
 * shown. And the frame around what it points at. */
double window_draw_lesson(const WindowView *view, Box at);
void window_draw_pointer(const WindowView *view);

/* The chart of the memory model: whether the state asks for one (a pinned cell takes its place),
 * and whether it has room in the side column; else it is drawn in the place of the BEV. */
bool window_has_chart(const WindowView *view);
bool window_chart_fits(const WindowView *view);
void window_draw_chart(const WindowView *view, Box box);
void window_draw_chart_over(const WindowView *view);

/* The step that is shown, where steps were recorded; returns the height. */
/* Backward: a frame around the pixel that is looked at, and its bins of depth; returns the height
 * used, 0 without gradients or room. */
void window_mark_gradient_pixel(const WindowView *view);
double window_draw_bins(const WindowView *view, Box at);

double window_draw_steps(const WindowView *view, Box at);

/* Its points in the index array, its lanes' sums, and how they meet; returns the height. */
double window_draw_lanes(const WindowView *view, Box at, int number);

/* A bar a kernel, taller where there is room. The height is the least one; 0: none to show. */
double window_ladder_height(const WindowView *view);
void window_draw_ladder(const WindowView *view, Box at);

/* Latency over time; not for a recorded latency, which is one figure. */
enum { WINDOW_COURSE_H = 142 };
bool window_has_course(const WindowView *view);
void window_draw_course(const WindowView *view, Box at);
