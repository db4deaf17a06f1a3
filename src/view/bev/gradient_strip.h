/* SPDX-License-Identifier: MIT */
/* Which feature pixels feed a loss: the size of their gradients, and camera pictures that show it.
 * The pictures are dimmed and grey; a pixel with a gradient shines in gradient_light, which
 * colour-blind readers tell from grey too, because it is also much brighter than any dimmed
 * picture. */
#pragma once

#include "src/scene/features.h"
#include "src/view/draw/image.h"

extern const Rgb gradient_light;

/* The norm over the channels of grad_feat (camera, h, w, c), relative to the largest of all
 * cameras: strength (camera, h, w), 0..1, all 0 where no pixel has a gradient. A pixel whose
 * gradient holds NaN or Inf gets NaN. Fails where that is so for every pixel. */
bool gradient_strength(const BevShape *shape, const float *grad_feat, float *strength, Err *err);

/* Writes the same into new memory, which the caller frees. NULL with an error. */
float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err);

/* Returns how many pixels have a gradient that is not 0: those that would have to change. */
int64_t gradient_count(const BevShape *shape, const float *grad_feat);

/* Returns the place of the largest strength, the first of several; -1 where all are 0 or NaN. */
int64_t gradient_strongest(const BevShape *shape, const float *strength);

/* Returns the pixel to look at: `chosen`, or, where that is -1, the strongest. */
int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen);

/* Returns the threshold above which at most `most` of `bins` values, `stride` apart, lie in
 * magnitude; 0 where all values that are not 0 have room. */
double gradient_threshold(const float *grads, int64_t bins, int64_t stride, int most);

/* Returns the colour of a picture's pixel with that strength: 0 dims it, 1 is gradient_light, NaN
 * the colour of bad values. The mix follows the square root, so that weak gradients are seen
 * too. */
Rgb gradient_lit(Rgb picture, float strength);

/* Returns the feature pixel, h * feat_w + w, whose footprint holds the centre of pixel (x, y) of a
 * picture of w x h pixels that shows the whole input of the network. */
int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y);

/* The picture of a camera, dimmed and lit. `strength` is that of all cameras. */
bool gradient_camera(const CameraViews *seen, const Frustum *frustum, const float *strength,
                     int64_t camera, Image *image, Err *err);
