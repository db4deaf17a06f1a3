/* The picture in the window: the BEV large, the strip of camera views on top, legend, readout and
 * latency beside it. Pure: the window, snapshots, recordings and script frames are this picture. */
#ifndef BEV_WINDOW_IMAGE_H
#define BEV_WINDOW_IMAGE_H

#include "src/view/bev/bev_picture.h"
#include "src/view/draw/pen.h"

/* What a live frame shows, decoded into pixels of one cell or one camera pixel each: the costly
 * half of a picture, independent of the window's size, zoom and mouse. */
typedef struct {
    uint64_t content; /* of the frame it was made from */
    int colormap;     /* position in the state's menu */
    int64_t channel;
    bool lock; /* the state asks for the range that was there before */
    Compare compare;
    Strip strip;
    uint64_t strip_content; /* of the frame: what its cameras see */
    BevPicture bev;
    int camera_count;
    Image cameras[RIG_MAX_CAMERAS]; /* the strip */
    ValueRange camera_range;        /* of a strip with a colour bar; else lo == hi */
} WindowPicture;

/* Decodes. `previous` (may be NULL) gives a locked range, and whatever is unchanged is not done
 * again: then true is returned with *same set and `picture` untouched. False with nothing to free:
 * an error; or given up between two steps, which leaves `err` as it is. */
bool window_picture(const State *state, const LiveData *live, const WindowPicture *previous,
                    const GiveUp *give_up, WindowPicture *picture, bool *same, Err *err);
void window_picture_free(WindowPicture *picture);

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
