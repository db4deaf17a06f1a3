/* SPDX-License-Identifier: MIT */
/* A picture in memory: 8 bits a channel, red, green, blue, alpha (not premultiplied). */
#pragma once

#include "src/base/data.h"
#include "src/view/draw/color.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_MAX_EDGE = 8192 };

typedef struct {
    int w, h;
    uint8_t *rgba; /* (h, w, 4), top row first; reference counted */
} Image;

/* Makes a transparent black picture. Fails for edges outside 1..IMAGE_MAX_EDGE or without memory.
 */
bool image_init(Image *image, int64_t w, int64_t h, Err *err);
void image_free(Image *image);

void image_set(Image *image, int x, int y, Rgb color);
Rgb image_get(const Image *image, int x, int y);

/* Returns the picture with one more owner, who frees it, too. Nobody draws on it any more. */
Image image_keep(const Image *image);

/* Copies `source` at w x h by nearest neighbours: exact squares where the factor is whole. */
bool image_scale(const Image *source, int64_t w, int64_t h, Image *scaled, Err *err);

/* Encodes PNG into png->bytes, which the caller frees, without the alpha channel. Same pixels, same
 * bytes. `quick`: in a third of the time, with more bytes, for a picture that is shown at once. */
bool image_png(const Image *image, bool quick, MemoryStream *png, Err *err);
bool image_write(const Image *image, const char *path, bool quick, Err *err);
