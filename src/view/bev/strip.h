/* SPDX-License-Identifier: MIT */
/* The camera strip. It shows what the cameras saw, or one number for each feature pixel: the norm
 * of the features, the mean of the depth distribution, or the share of the distribution that is
 * dropped. Numbers have colours, which lie over the photograph where there is one. Backward it
 * shows which feature pixels feed a loss. */
#pragma once

#include "src/view/bev/picture.h"

typedef struct {
    const Rig *rig;
    const Features *features;
    int64_t channels;
    const CameraViews *seen; /* NULL: nobody knows */
    const Photos *lidar;     /* whose sweep is drawn over the pictures; NULL: none */
    const Frustum *frustum;  /* of pictures with values: the rig's, or a pixel for each feature */
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

/* Returns the colour of a value over the grey of what the camera saw there. Pixels without dropped
 * points stay a dimmed picture. */
Rgb strip_over(Rgb seen, Strip strip, float value, const ValueRange *range);

/* Draws the picture of a camera with these values and the LiDAR points. STRIP_IMAGE has no values
 * (NULL), or the strengths of gradients: then the picture is dimmed and lit. A photograph becomes
 * at most `most_w` wide. A small picture with points becomes larger. */
bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err);

enum { STRIP_MOST_W = 360, STRIP_WHOLE_W = INT16_MAX }; /* columns of a photograph in the strip */

/* Draws the strip of cameras into `picture`, or takes that of `previous` (may be NULL) where it
 * shows the same. */
bool strip_decode(const LiveFrame *frame, const Picture *previous, int64_t most_w, Picture *picture,
                  Err *err);

/* ---- points of camera pixels outside of the BEV grid: pooling drops them, and what the camera saw
 * there is lost ------------------------------------------------------------------------------- */

/* Where a point lies; the height is asked first, as a map's builder does. */
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
    double first_m[FATE_COUNT]; /* depth of the nearest such point; NaN: none */
    double lost; /* share of the depth's mass in dropped points, 0 to 1; NaN: no mass */
} PixelFates;

/* `pixel`: (camera, h, w); `depth`: (camera, bin, h, w). */
PixelFates pixel_fates(const Rig *rig, const float *depth, int64_t pixel);

/* Writes "front 12, 3: 20 of 59 points dropped, above the grid from 14.0 m; 31 % of its depth
 * lost". */
void dropped_text(const Rig *rig, const float *depth, int64_t pixel, char *text, size_t size);

/* Returns the pixel that screens explain while the strip shows dropped points: the one under the
 * mouse, else that of the pinned cell's heaviest point, else the one of the selected camera that
 * loses most of its depth. -1: the strip shows something else, or there are no cameras. */
int64_t dropped_pixel(const State *state, const LiveData *live);

/* ---- gradients: the size of those of each feature pixel, and camera pictures that show it. The
 * pictures are dimmed and grey; a pixel with a gradient shines in gradient_light, which
 * colour-blind readers tell from grey too, because it is also much brighter than any dimmed
 * picture -------------------------------------------------------------------------------------- */

extern const Rgb gradient_light;

/* Returns the strength of each pixel (camera, h, w): the norm over the channels of grad_feat
 * (camera, h, w, c), as a share of the largest norm. A pixel whose gradient holds NaN or Inf gets
 * NaN. The caller frees the array. NULL: no memory, or no pixel has a finite gradient. */
float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err);

/* Returns how many pixels have a gradient that is not 0. */
int64_t gradient_count(const BevShape *shape, const float *grad_feat);

/* Returns the pixel to look at: `chosen`, or, where that is -1, the first of the largest strength.
 * -1: all strengths are 0 or NaN. */
int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen);

/* Returns the magnitude that at most `most` of the values exceed. There are `bins` values, `stride`
 * apart. 0: no more than `most` values are not 0. */
double gradient_threshold(const float *grads, int64_t bins, int64_t stride, int most);

/* Returns the grey of a pixel, with that share of its brightness. */
#define GRADIENT_DIMMED 0.45
Rgb gradient_grey(Rgb picture, double share);

/* Returns the colour of a pixel with that strength: a dimmed grey for 0, gradient_light for 1, the
 * colour of bad values for NaN. A square root makes weak gradients visible. */
Rgb gradient_lit(Rgb picture, float strength);

/* Returns the feature pixel, h * feat_w + w, whose footprint holds the centre of pixel (x, y) of a
 * picture of w x h pixels that shows the whole input of the network. */
int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y);
