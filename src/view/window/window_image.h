/* SPDX-License-Identifier: MIT */
/* The window's picture: the camera strip, the BEV below, and panels beside the BEV. Pure: windows,
 * snapshots, recordings and frames of scripts all show this picture. */
#pragma once

#include "src/view/bev/picture.h"
#include "src/view/draw/pen.h"
#include "src/view/panel/sheet.h"

/* The places of all parts, in units of `scale` pixels. */
typedef struct {
    double w, h;
    Box header, time, strip, bev, side, log, keys; /* w == 0: the part has no room */
    double x_lo, x_hi, y_lo, y_hi; /* visible cells: at the bottom, top, right and left of `bev` */
} WindowLayout;

enum { WINDOW_MIN_EDGE = 64 }; /* pixels; smaller windows show a part of a picture of this size */

/* Returns the pixels of a unit at which type sizes are their share of the height: 1 for 1280 x 720.
 */
double window_share(double w, double h);

/* Computes the layout of a picture of w x h units. */
void window_layout(const State *state, const LiveData *live, double w, double h,
                   WindowLayout *layout);

/* Draws on a cairo surface of w x h units. `picture` may be NULL: nothing is computed yet. `spots`
 * receives the places that react to a click; it may be NULL. Returns false on an error, or when
 * `give_up` was set, which leaves `err` unchanged. */
bool window_paint(cairo_t *cr, double w, double h, const State *state, const LiveData *live,
                  const Picture *picture, Spots *spots, const GiveUp *give_up, Err *err);

/* Draws the picture into an Image of w x h pixels. */
bool window_image(int w, int h, double scale, const State *state, const LiveData *live,
                  const Picture *picture, Image *image, Err *err);
/* Draws only the BEV, with the lines over the cells, into an Image of w x h pixels. Terminals that
 * show pictures use this function. */
bool window_bev_image(int w, int h, double scale, const State *state, const LiveData *live,
                      const Picture *picture, Image *image, Err *err);

/* Draws a tooltip into a picture of w x h units. */
void window_tip_draw(Pen *pen, const Tip *tip, double w, double h);
