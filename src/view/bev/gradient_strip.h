/* SPDX-License-Identifier: MIT */
/* Which feature pixels feed a loss: the size of their gradients, and camera pictures that show it.
 * The pictures are dimmed and grey; a pixel with a gradient shines in gradient_light, which
 * colour-blind readers tell from grey too, because it is also much brighter than any dimmed
 * picture. */
#pragma once

#include "src/scene/features.h"
#include "src/view/draw/image.h"

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

/* Draws the picture of a camera, dimmed and lit. `strength` has the pixels of all cameras. */
bool gradient_camera(const CameraViews *seen, const Frustum *frustum, const float *strength,
                     int64_t camera, Image *image, Err *err);
