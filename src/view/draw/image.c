/* SPDX-License-Identifier: MIT */
#include "src/view/draw/image.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* ---- PNG ------------------------------------------------------------------------------------ */

enum { PNG_LEVEL = 6, PNG_QUICK = 1 };
enum { PNG_HEAD = 8, PNG_CHUNK = 12, PNG_HEADER = 13, PNG_RGB = 2, PNG_RGBA = 6 };

static bool opaque(const Image *image) {
    size_t pixels = (size_t)image->w * (size_t)image->h;
    for (size_t i = 0; i < pixels; i++)
        if (image->rgba[4 * i + 3] != 255)
            return false;
    return true;
}

/* Fills the rows of pixels as a PNG has them: without a filter, which is the smallest for flat
 * areas, and the quickest. */
static void fill_rows(const Image *image, size_t channels, uint8_t *rows) {
    for (int y = 0; y < image->h; y++) {
        *rows++ = 0;
        for (int x = 0; x < image->w; x++, rows += channels)
            memcpy(rows, pixel(image, x, y), channels);
    }
}

static uint8_t *put_number(uint8_t *to, size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
        *to++ = (uint8_t)(number >> shift);
    return to;
}

/* Puts length, name and CRC around the `length` bytes that stand at to + 8. Returns the end. */
static uint8_t *put_chunk(uint8_t *to, const char *name, size_t length) {
    memcpy(put_number(to, length), name, 4);
    uint8_t *end = to + 8 + length;
    return put_number(end, crc32(0, to + 4, (uInt)length + 4));
}

static bool encode(const Image *image, int level, uint8_t **bytes, size_t *length, Err *err) {
    const size_t channels = opaque(image) ? 3 : 4;
    const size_t raw = (size_t)image->h * (1 + channels * (size_t)image->w);
    uLongf packed = compressBound(raw);
    uint8_t *rows = malloc(raw), *png = malloc(PNG_HEAD + 3 * PNG_CHUNK + PNG_HEADER + packed);
    bool done = rows && png;
    if (done) {
        uint8_t *at = png + PNG_HEAD;
        memcpy(png, "\x89PNG\r\n\x1a\n", PNG_HEAD);
        put_number(put_number(at + 8, (size_t)image->w), (size_t)image->h);
        memcpy(at + 16, (uint8_t[]){8, channels == 4 ? PNG_RGBA : PNG_RGB, 0, 0, 0}, 5);
        at = put_chunk(at, "IHDR", PNG_HEADER);
        fill_rows(image, channels, rows);
        done = compress2(at + 8, &packed, rows, raw, level) == Z_OK;
        at = put_chunk(put_chunk(at, "IDAT", packed), "IEND", 0);
        *length = (size_t)(at - png);
    }
    free(rows);
    *bytes = png;
    if (done)
        return true;
    free(png);
    *bytes = NULL;
    return err_set(err, ERR_FAILED, "PNG", "choose a smaller scale",
                   "no memory to encode %d x %d pixels", image->w, image->h);
}

bool image_png(const Image *image, uint8_t **bytes, size_t *length, Err *err) {
    return encode(image, PNG_LEVEL, bytes, length, err);
}

bool image_png_quick(const Image *image, uint8_t **bytes, size_t *length, Err *err) {
    return encode(image, PNG_QUICK, bytes, length, err);
}
