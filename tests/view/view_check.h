/* SPDX-License-Identifier: MIT */
/* Colours and fields of cells, for tests of pictures. */
#pragma once

#include "src/view/bev/decode.h"
#include "src/view/draw/color.h"
#include "src/view/draw/image.h"

static inline bool same_color(Rgb a, Rgb b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* Whether a colour is 0xRRGGBB. */
static inline bool same(Rgb color, uint32_t hex) {
    return same_color(color, rgb_hex(hex));
}

static inline int count_color(const Image *image, Rgb color) {
    int count = 0;
    for (int i = 0; i < image->w * image->h; i++)
        count += same_color(image_get(image, i % image->w, i / image->w), color);
    return count;
}

static inline int64_t occupied(const CellField *field) {
    int64_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        count += field->state[cell] != CELL_EMPTY;
    return count;
}
