/* The window's picture: a strip of camera views on top, the BEV, and beside it legend, readout and
 * latency. Pure: the window, snapshots, recordings and frames of scripts all show this picture. */
#pragma once

#include "src/view/bev/picture.h"
#include "src/view/draw/pen.h"
#include "src/view/panel/spots.h"

/* Where everything stands, in units of `scale` pixels. */
typedef struct {
    double w, h;
    Box header, time, strip, bev, side, log, keys; /* w == 0: no room for it */
    int camera_count;
    Box cameras[RIG_MAX_CAMERAS];
    double x_lo, x_hi, y_lo, y_hi; /* cells in view: bottom, top, right, left of `bev` */
} WindowLayout;

enum { WINDOW_MIN_EDGE = 64 }; /* pixels; smaller windows show a part of the picture of this size */

/* For a picture of w x h units. */
void window_layout(const State *state, const LiveData *live, double w, double h,
                   WindowLayout *layout);

/* Cell coordinates (fractions included) under a point in units; false outside the BEV. */
bool window_cell_at(const WindowLayout *layout, double px, double py, double *x, double *y);

/* Backward: the feature pixel, (camera * feat_h + h) * feat_w + w, of the camera view under a point
 * in units; -1: there is none, or no gradient. */
int64_t window_pixel_at(const WindowLayout *layout, const State *state, const LiveFrame *frame,
                        double px, double py);

/* Draws on a cairo surface of w x h units. `picture` may be NULL: nothing is computed yet. `spots`
 * (may be NULL) receives what a click uses. Returns false on an error, or when `give_up` was set,
 * which leaves `err` as it is. */
bool window_paint(cairo_t *cr, double w, double h, const State *state, const LiveData *live,
                  const Picture *picture, Spots *spots, const GiveUp *give_up, Err *err);

/* The same as an Image of w x h pixels. */
bool window_image(int w, int h, double scale, const State *state, const LiveData *live,
                  const Picture *picture, Image *image, Err *err);

/* The place of a tooltip in a picture of w x h units, and its drawing there. */
Box window_tip_place(Pen *pen, const Tip *tip, double w, double h);
void window_tip_draw(Pen *pen, Box box, const Tip *tip);
