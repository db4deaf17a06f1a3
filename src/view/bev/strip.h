/* SPDX-License-Identifier: MIT */
/* The camera strip: what the cameras saw, or the norm of the features, the mean of the
 * depth distribution, the share of it that is dropped (dropped.h); the last three in colours, over
 * the photograph where there is one. */
#pragma once

#include "src/view/bev/raster.h"

typedef struct {
    const Rig *rig;
    const Features *features;
    int64_t channels;
    const CameraViews *seen; /* NULL: nobody knows */
    const Photos *lidar;     /* whose sweep is drawn over the pictures; NULL: none */
} StripInput;

/* A LiDAR sweep as the camera of this rig sees it, calibration errors included: the depth of the
 * nearest point at each of w x h pixels of its picture, NaN where there is none. A point covers
 * `side` x `side` pixels. `depth_m` has room for all. */
void strip_lidar(const Rig *rig, int64_t camera, const Photos *photos, int w, int h, int side,
                 float *depth_m);

/* Returns the range of its colours, which are those of the depth: fixed, so that a colour means the
 * same at every moment. */
ValueRange strip_lidar_range(const Rig *rig);

/* One value a feature pixel, (camera, h, w), and the range of its colours; free() the values. NULL:
 * no memory. Not for STRIP_IMAGE. */
float *strip_values(const StripInput *input, Strip strip, ValueRange *range, Err *err);

const Colormap *strip_colormap(Strip strip);

/* Returns the colour of a value over what the camera saw there. */
Rgb strip_over(Rgb seen, Strip strip, float value, const ValueRange *range);

/* The picture of a camera with these values (NULL: STRIP_IMAGE), and LiDAR points over it. A
 * photograph is reduced until it is no wider than `most_w`; a small picture with points becomes
 * larger. */
bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err);
