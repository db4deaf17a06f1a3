#include "src/view/draw/image.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool image_init(Image *image, int64_t w, int64_t h, Err *err) {
    *image = (Image){0};
    if (w < 1 || h < 1 || w > IMAGE_MAX_EDGE || h > IMAGE_MAX_EDGE)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller scale",
                       "%lld x %lld pixels; edges must lie in 1..%d", (long long)w, (long long)h,
                       IMAGE_MAX_EDGE);
    image->rgba = calloc((size_t)w * (size_t)h, 4);
    if (!image->rgba)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller scale",
                       "no memory for %lld x %lld pixels", (long long)w, (long long)h);
    image->w = (int)w;
    image->h = (int)h;
    return true;
}

bool image_copy(const Image *source, Image *copy, Err *err) {
    if (!image_init(copy, source->w, source->h, err))
        return false;
    memcpy(copy->rgba, source->rgba, 4 * (size_t)source->w * (size_t)source->h);
    return true;
}

void image_free(Image *image) {
    if (!image)
        return;
    free(image->rgba);
    *image = (Image){0};
}

static uint8_t *pixel(const Image *image, int x, int y) {
    assert(x >= 0 && x < image->w && y >= 0 && y < image->h);
    return image->rgba + 4 * ((size_t)y * (size_t)image->w + (size_t)x);
}

void image_set(Image *image, int x, int y, Rgb color) {
    memcpy(pixel(image, x, y), (uint8_t[]){color.r, color.g, color.b, 255}, 4);
}

Rgb image_get(const Image *image, int x, int y) {
    const uint8_t *p = pixel(image, x, y);
    return (Rgb){p[0], p[1], p[2]};
}

bool image_scale(const Image *source, int64_t w, int64_t h, Image *scaled, Err *err) {
    if (!image_init(scaled, w, h, err))
        return false;
    for (int y = 0; y < scaled->h; y++) {
        int from_y = (int)((int64_t)y * source->h / h);
        for (int x = 0; x < scaled->w; x++)
            memcpy(pixel(scaled, x, y), pixel(source, (int)((int64_t)x * source->w / w), from_y),
                   4);
    }
    return true;
}
