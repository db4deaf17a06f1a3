/* The picture in the window: the BEV large, the strip of camera views on top, legend, readout and
 * latency beside it. Pure: the window, snapshots, recordings and script frames are this picture. */
#ifndef BEV_WINDOW_IMAGE_H
#define BEV_WINDOW_IMAGE_H

#include "src/view/draw/pen.h"
#include "src/view/window/window_picture.h"

/* Where everything stands, in units; a unit is `scale` pixels. */
typedef struct {
    double w, h;
    Box header, strip, bev, side, log, keys; /* w == 0: no room for it */
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

/* Draws on a cairo surface of w x h units. `picture` may be NULL: nothing is computed yet. False:
 * an error; or given up between two parts, which leaves `err` as it is. */
bool window_paint(cairo_t *cr, double w, double h, const State *state, const LiveData *live,
                  const WindowPicture *picture, const GiveUp *give_up, Err *err);

/* The same as an Image of w x h pixels. */
bool window_image(int w, int h, double scale, const State *state, const LiveData *live,
                  const WindowPicture *picture, Image *image, Err *err);

#endif
