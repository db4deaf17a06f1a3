/* SPDX-License-Identifier: MIT */
/* The camera strip: what the cameras saw, or a number for each feature pixel. The number is the
 * norm of the features, the mean of the depth distribution, or the dropped share of the
 * distribution. Its colour lies over the photograph, if there is one. Backward the strip shows
 * which feature pixels feed a loss. */
#pragma once

#include "src/view/bev/picture.h"

typedef struct {
    const Rig *rig;
    const Features *features;
    int64_t channels;
    const CameraViews *seen; /* what the cameras saw; NULL: unknown */
    const Photos *lidar;     /* the sweep that is drawn over the pictures; NULL: none */
    const Frustum *frustum;  /* frame_frustum() */
} StripInput;

/* Projects a LiDAR sweep into a camera's picture of w x h pixels, with the rig's calibration
 * errors. depth_m (h, w) receives the depth of the nearest point; NaN: no point. A point covers
 * `side` x `side` pixels. */
void strip_lidar(const Rig *rig, int64_t camera, const Photos *photos, int w, int h, int side,
                 float *depth_m);

/* Returns one value for each feature pixel (camera, h, w), and the range of their colours; free()
 * the values. NULL: no memory. Not for STRIP_IMAGE. */
float *strip_values(const StripInput *input, Strip strip, ValueRange *range, Err *err);
const Colormap *strip_colormap(Strip strip);
/* Returns the colour of a value over the grey of the camera's picture. Without dropped points the
 * picture stays dimmed. */
Rgb strip_over(Rgb seen, Strip strip, float value, const ValueRange *range);

/* Draws the picture of a camera with values and LiDAR points. With STRIP_IMAGE, `values` is NULL or
 * has strengths of gradients, by which a dimmed picture is lit. A photograph becomes at most
 * `most_w` wide. A small picture becomes larger, so that LiDAR points are seen. */
bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err);

enum { STRIP_MOST_W = 360, STRIP_WHOLE_W = INT16_MAX }; /* columns of a photograph in the strip */

/* Draws the strip of cameras into `picture`. Where `previous` (may be NULL) shows the same strip,
 * takes that strip. */
bool strip_decode(const LiveFrame *frame, const Picture *previous, int64_t most_w, Picture *picture,
                  Err *err);

/* ---- points outside of the BEV grid: pooling drops these points, and what the camera saw is lost
 */

/* Where a point lies. The height is tested first, as the builder of a map does. */
typedef enum {
    FATE_INSIDE,
    FATE_ABOVE,
    FATE_BELOW,
    FATE_AHEAD,
    FATE_BEHIND,
    FATE_LEFT,
    FATE_RIGHT,
    FATE_COUNT
} PointFate;

PointFate point_fate(const Grid *grid, const double ego_m[3]);

/* The points of one feature pixel, one a depth bin. */
typedef struct {
    int64_t points, dropped;
    int64_t of[FATE_COUNT];
    double first_m[FATE_COUNT]; /* depth of the nearest point of that fate; NaN: no point */
    double lost; /* share of the depth's mass in dropped points, 0 to 1; NaN: no mass */
} PixelFates;

/* `pixel`: (camera, h, w); `depth`: (camera, bin, h, w). */
PixelFates pixel_fates(const Rig *rig, const float *depth, int64_t pixel);
/* Writes "front 12, 3: 20 of 59 points dropped, above the grid from 14.0 m; 31 % of its depth
 * lost". */
void dropped_text(const Rig *rig, const float *depth, int64_t pixel, char *text, size_t size);

/* Returns the feature pixel that screens explain while the strip shows dropped points. This is the
 * pixel under the mouse, or the pixel of the pinned cell's heaviest point, or the selected camera's
 * pixel that loses most of its depth. -1: the strip shows no dropped points, or has no cameras. */
int64_t dropped_pixel(const State *state, const LiveData *live);

/* ---- gradients: the strength of each feature pixel's gradient, and camera pictures lit by it ----
 */

/* Pixels with a gradient shine in this colour over a dimmed grey picture. The colour is much
 * brighter than the picture, so that colour-blind readers see it, too. */
extern const Rgb gradient_light;

/* Returns the strength of each pixel (camera, h, w): the norm of grad_feat (camera, h, w, c) over
 * the channels, as a share of the largest norm. A gradient with NaN or Inf has the strength NaN.
 * The caller frees the array. NULL: no memory, or no pixel has a finite gradient. */
float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err);
/* Returns how many pixels have a gradient that is not 0. */
int64_t gradient_count(const BevShape *shape, const float *grad_feat);

/* Returns the pixel to explain: `chosen`, or if that is -1 the first pixel of the largest strength.
 * -1: all strengths are 0 or NaN. */
int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen);

/* Returns a magnitude that at most `most` of the values exceed; 0 if so few are not 0. There are
 * `bins` values, `stride` apart. */
double gradient_threshold(const float *grads, int64_t bins, int64_t stride, int most);

/* Returns the grey of a pixel, with that share of its brightness. */
#define GRADIENT_DIMMED 0.45
Rgb gradient_grey(Rgb picture, double share);
/* Returns the colour of a pixel with that strength: a dimmed grey for 0, gradient_light for 1, the
 * colour of bad values for NaN. A square root makes weak gradients visible. */
Rgb gradient_lit(Rgb picture, float strength);

/* Returns the feature pixel, h * feat_w + w, under the centre of pixel (x, y). The pixel is one of
 * a picture of w x h pixels that shows the whole input of the network. */
int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y);
