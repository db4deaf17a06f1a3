/* The strip of camera views: what the cameras saw, or the norm of the features, or the mean of the
 * depth distribution; the last two in colours, over the photograph where there is one. */
#pragma once

#include "src/view/bev/raster.h"

typedef struct {
    const Rig *rig;
    const Features *features;
    int64_t channels;
    const CameraViews *seen; /* NULL: nobody knows */
} StripInput;

/* One value a feature pixel, (camera, h, w), and the range of its colours; free() the values. NULL:
 * no memory. Not for STRIP_IMAGE. */
float *strip_values(const StripInput *input, Strip strip, ValueRange *range, Err *err);

const Colormap *strip_colormap(Strip strip);

/* The picture of a camera with these values (NULL: STRIP_IMAGE). A photograph is reduced until it
 * is no wider than `most_w`. */
bool strip_camera(const StripInput *input, Strip strip, const float *values,
                  const ValueRange *range, int64_t camera, int64_t most_w, Image *image, Err *err);
