/* SPDX-License-Identifier: MIT */
/* The camera strip. It shows what the cameras saw, or one number for each feature pixel: the norm
 * of the features, the mean of the depth distribution, or the share of the distribution that is
 * dropped (dropped.h). Numbers have colours, which lie over the photograph where there is one. */
#pragma once

#include "src/view/bev/raster.h"

typedef struct {
    const Rig *rig;
    const Features *features;
    int64_t channels;
    const CameraViews *seen; /* NULL: nobody knows */
    const Photos *lidar;     /* whose sweep is drawn over the pictures; NULL: none */
} StripInput;

/* Projects a LiDAR sweep into a camera's picture of w x h pixels, with the rig's calibration
 * errors. depth_m (h, w) receives the depth of the nearest point; NaN: no point. A point covers
 * `side` x `side` pixels. */
void strip_lidar(const Rig *rig, int64_t camera, const Photos *photos, int w, int h, int side,
                 float *depth_m);

/* Returns the range of the depth's colours. The range is fixed: a colour means the same at every
 * moment. */
ValueRange strip_lidar_range(const Rig *rig);

/* Returns one value for each feature pixel (camera, h, w), and the range of their colours; free()
 * the values. NULL: no memory. Not for STRIP_IMAGE. */
float *strip_values(const StripInput *input, Strip strip, ValueRange *range, Err *err);

const Colormap *strip_colormap(Strip strip);

/* Returns the colour of a value over the grey of what the camera saw there. Pixels without dropped
 * points stay a dimmed picture. */
Rgb strip_over(Rgb seen, Strip strip, float value, const ValueRange *range);

/* Draws the picture of a camera with these values (NULL: STRIP_IMAGE) and the LiDAR points. A
 * photograph becomes at most `most_w` wide. A small picture with points becomes larger. */
bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err);
