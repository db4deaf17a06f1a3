/* SPDX-License-Identifier: MIT */
#include "src/view/bev/gradient_strip.h"

#include "src/view/bev/raster.h"
#include "src/view/bev/stats.h"

#include <math.h>
#include <stdlib.h>

const Rgb gradient_light = {0xff, 0xd3, 0x19};

/* ---- strengths ------------------------------------------------------------------------------- */

static int64_t pixels_of(const BevShape *shape) {
    return shape->cameras * shape->feat_h * shape->feat_w;
}

float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err) {
    int64_t pixels = pixels_of(shape), finite = 0;
    float *strength = malloc((size_t)pixels * sizeof *strength), largest = 0;
    if (!strength) {
        err_no_memory(err, "gradient", "");
        return NULL;
    }
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        double norm = vector_norm(grad_feat + pixel * shape->channels, shape->channels);
        strength[pixel] = isfinite(norm) ? (float)norm : NAN;
        finite += isfinite(norm);
        largest = fmaxf(largest, strength[pixel]); /* NaN does not count */
    }
    for (int64_t pixel = 0; pixel < pixels && largest > 0; pixel++)
        strength[pixel] /= largest;
    if (finite)
        return strength;
    free(strength);
    err_set(err, ERR_FAILED, "gradient", "look for NaN or Inf in the scene's tensors",
            "no pixel has a finite gradient");
    return NULL;
}

int64_t gradient_count(const BevShape *shape, const float *grad_feat) {
    int64_t count = 0;
    for (int64_t pixel = 0; pixel < pixels_of(shape); pixel++) {
        int64_t c = 0;
        while (c < shape->channels && grad_feat[pixel * shape->channels + c] == 0)
            c++;
        count += c < shape->channels;
    }
    return count;
}

int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen) {
    int64_t strongest = -1;
    float largest = 0;
    if (chosen >= 0 && chosen < pixels_of(shape))
        return chosen;
    for (int64_t pixel = 0; pixel < pixels_of(shape); pixel++)
        if (strength[pixel] > largest) {
            largest = strength[pixel];
            strongest = pixel;
        }
    return strongest;
}

double gradient_threshold(const float *grads, int64_t bins, int64_t stride, int most) {
    double least = 0;
    for (int64_t a = 0; a < bins; a++) {
        int larger = 0;
        for (int64_t b = 0; b < bins; b++)
            larger += fabsf(grads[b * stride]) > fabsf(grads[a * stride]);
        if (larger >= most)
            least = fmax(least, fabsf(grads[a * stride]));
    }
    return least;
}

/* ---- pictures -------------------------------------------------------------------------------- */

Rgb gradient_grey(Rgb picture, double share) {
    /* The weights of red, green and blue in the brightness of video (BT.709). */
    double grey = 0.2126 * picture.r + 0.7152 * picture.g + 0.0722 * picture.b;
    uint8_t level = (uint8_t)lround(share * grey);
    return (Rgb){level, level, level};
}

Rgb gradient_lit(Rgb picture, float strength) {
    if (isnan(strength))
        return panel_theme.bad;
    return rgb_mix(gradient_grey(picture, GRADIENT_DIMMED), gradient_light, sqrt(strength));
}

/* Returns the element of linspace(0, input - 1, count) that is nearest to the centre of pixel `at`
 * of a picture. The picture shows all `input` pixels in `size` pixels. */
static int64_t nearest_feature(int64_t at, int64_t size, int input, int count) {
    if (count == 1 || input == 1)
        return 0;
    double pixel = ((double)at + 0.5) * input / (double)size - 0.5;
    double element = floor(pixel * (count - 1) / (input - 1) + 0.5);
    return (int64_t)fmin(fmax(element, 0), count - 1);
}

int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y) {
    return nearest_feature(y, h, frustum->input_h, frustum->feat_h) * frustum->feat_w +
           nearest_feature(x, w, frustum->input_w, frustum->feat_w);
}

bool gradient_camera(const CameraViews *seen, const Frustum *frustum, const float *strength,
                     int64_t camera, Image *image, Err *err) {
    const float *own = strength + camera * frustum->feat_h * frustum->feat_w;
    if (!raster_camera(seen, camera, image, err))
        return false;
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            int64_t pixel = gradient_pixel(frustum, image->w, image->h, x, y);
            image_set(image, x, y, gradient_lit(image_get(image, x, y), own[pixel]));
        }
    return true;
}
