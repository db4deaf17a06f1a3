/* SPDX-License-Identifier: MIT */
#include "src/view/draw/image.h"

#include "src/base/ref.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PNG_LEVEL = 6, PNG_QUICK = 1 };
static unsigned char *png_packed; /* freed here if the encoder has no memory to write it out */

/* Compresses with zlib. stb's own compressor would abort without memory, and is slow on flat
 * pictures, where zlib gives up long searches. NULL: no memory. */
static unsigned char *png_deflate(unsigned char *data, int size, int *length, int level) {
    uLongf room = compressBound((uLong)size);
    png_packed = malloc(room);
    bool done = png_packed && compress2(png_packed, &room, data, (uLong)size, level) == Z_OK;
    *length = (int)room;
    return done ? png_packed : NULL;
}

#define STBIW_ZLIB_COMPRESS png_deflate
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

bool image_init(Image *image, int64_t w, int64_t h, Err *err) {
    *image = (Image){0};
    if (w < 1 || h < 1 || w > IMAGE_MAX_EDGE || h > IMAGE_MAX_EDGE)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller scale",
                       "%lld x %lld pixels; edges must lie in 1..%d", (long long)w, (long long)h,
                       IMAGE_MAX_EDGE);
    image->rgba = ref_new(4 * (size_t)w * (size_t)h, NULL);
    if (!image->rgba)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller scale",
                       "no memory for %lld x %lld pixels", (long long)w, (long long)h);
    image->w = (int)w;
    image->h = (int)h;
    return true;
}

Image image_keep(const Image *image) {
    ref_keep(image->rgba);
    return *image;
}

void image_free(Image *image) {
    if (!image)
        return;
    ref_drop(image->rgba);
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
    const int row_bytes = 4 * scaled->w;
    for (int y = 0, last = -1; y < scaled->h; y++) {
        const int from_y = (int)((int64_t)y * source->h / h);
        uint8_t *to = pixel(scaled, 0, y);
        const uint8_t *from = pixel(source, 0, from_y);
        if (from_y == last) { /* the same row of the source: copies the row above */
            memcpy(to, to - row_bytes, (size_t)row_bytes);
            continue;
        }
        for (int x = 0, rest = 0; x < scaled->w; x++, rest += source->w) {
            for (; rest >= scaled->w; rest -= scaled->w) /* in place of a division for each pixel */
                from += 4;
            memcpy(to + 4 * (size_t)x, from, 4);
        }
        last = from_y;
    }
    return true;
}

static void append(void *stream, void *data, int size) {
    fwrite(data, 1, (size_t)size, stream);
}

/* Encodes to memory: stb's own file writer ignores write errors. */
bool image_png(const Image *image, bool quick, MemoryStream *png, Err *err) {
    const size_t pixels = (size_t)image->w * (size_t)image->h;
    uint8_t *rgb = malloc(3 * pixels); /* without the alpha channel */
    for (size_t i = 0; rgb && i < pixels; i++)
        memcpy(rgb + 3 * i, image->rgba + 4 * i, 3);
    *png = (MemoryStream){.length = 0};
    bool done = rgb && memory_stream_open(png, NULL);
    if (done) {
        png_packed = NULL;
        stbi_write_png_compression_level = quick ? PNG_QUICK : PNG_LEVEL;
        stbi_write_force_png_filter = 0; /* flat areas: no filter is smallest, and quickest */
        done =
            stbi_write_png_to_func(append, png->stream, image->w, image->h, 3, rgb, 3 * image->w);
        if (!done)
            free(png_packed);
        done = memory_stream_close(png, "PNG", NULL) && done;
    }
    free(rgb);
    if (done)
        return true;
    free(png->bytes);
    *png = (MemoryStream){.length = 0};
    return err_set(err, ERR_FAILED, "PNG", "choose a smaller scale",
                   "no memory to encode %d x %d pixels", image->w, image->h);
}

bool image_write(const Image *image, const char *path, bool quick, Err *err) {
    MemoryStream png;
    bool ok = image_png(image, quick, &png, err) && data_write(path, png.bytes, png.length, err);
    free(png.bytes);
    return ok;
}
