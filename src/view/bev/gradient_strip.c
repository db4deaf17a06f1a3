/* SPDX-License-Identifier: MIT */
#include "src/view/bev/gradient_strip.h"

#include "src/view/bev/raster.h"

#include <math.h>
#include <stdlib.h>

const Rgb gradient_light = {0xff, 0xd3, 0x19};

/* ---- strengths ------------------------------------------------------------------------------- */

bool gradient_strength(const BevShape *shape, const float *grad_feat, float *strength, Err *err) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w, finite = 0;
    double largest = 0;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        const float *g = grad_feat + pixel * shape->channels;
        double sum = 0;
        for (int64_t c = 0; c < shape->channels; c++)
            sum += (double)g[c] * g[c];
        strength[pixel] = isfinite(sum) ? (float)sqrt(sum) : NAN;
        finite += isfinite(sum);
        largest = isfinite(sum) ? fmax(largest, sqrt(sum)) : largest;
    }
    if (!finite)
        return err_set(err, ERR_FAILED, "gradient", "look for NaN or Inf in the scene's tensors",
                       "no pixel has a finite gradient");
    for (int64_t pixel = 0; pixel < pixels && largest > 0; pixel++)
        strength[pixel] = (float)(strength[pixel] / largest);
    return true;
}

float *gradient_strengths(const BevShape *shape, const float *grad_feat, Err *err) {
    size_t pixels = (size_t)(shape->cameras * shape->feat_h * shape->feat_w);
    float *strength = malloc(pixels * sizeof *strength);
    if (!strength)
        err_no_memory(err, "gradient", "");
    else if (gradient_strength(shape, grad_feat, strength, err))
        return strength;
    free(strength);
    return NULL;
}

int64_t gradient_count(const BevShape *shape, const float *grad_feat) {
    int64_t count = 0;
    for (int64_t pixel = 0; pixel < shape->cameras * shape->feat_h * shape->feat_w; pixel++) {
        int64_t c = 0;
        while (c < shape->channels && grad_feat[pixel * shape->channels + c] == 0)
            c++;
        count += c < shape->channels;
    }
    return count;
}

int64_t gradient_strongest(const BevShape *shape, const float *strength) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w, strongest = -1;
    float largest = 0;
    for (int64_t pixel = 0; pixel < pixels; pixel++)
        if (strength[pixel] > largest) {
            largest = strength[pixel];
            strongest = pixel;
        }
    return strongest;
}

int64_t gradient_shown(const BevShape *shape, const float *strength, int64_t chosen) {
    int64_t pixels = shape->cameras * shape->feat_h * shape->feat_w;
    return chosen >= 0 && chosen < pixels ? chosen : gradient_strongest(shape, strength);
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

Rgb gradient_lit(Rgb picture, float strength) {
    const double dimmed = 0.45;
    if (isnan(strength))
        return panel_theme.bad;
    /* The weights of red, green and blue in the brightness of video (BT.709). */
    double grey = dimmed * (0.2126 * picture.r + 0.7152 * picture.g + 0.0722 * picture.b);
    uint8_t level = (uint8_t)lround(grey);
    return rgb_mix((Rgb){level, level, level}, gradient_light, sqrt(strength));
}

/* Returns the element of linspace(0, input - 1, count) next to the centre of picture pixel `at`. A
 * picture of `size` pixels shows all `input` pixels. */
static int64_t nearest(int64_t at, int64_t size, int input, int count) {
    if (count == 1 || input == 1)
        return 0;
    double pixel = ((double)at + 0.5) * input / (double)size - 0.5;
    double element = floor(pixel * (count - 1) / (input - 1) + 0.5);
    return (int64_t)fmin(fmax(element, 0), count - 1);
}

int64_t gradient_pixel(const Frustum *frustum, int64_t w, int64_t h, int64_t x, int64_t y) {
    return nearest(y, h, frustum->input_h, frustum->feat_h) * frustum->feat_w +
           nearest(x, w, frustum->input_w, frustum->feat_w);
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
