/* Colours and fields of cells, for tests of pictures. */
#pragma once

#include "src/view/bev/decode.h"
#include "src/view/draw/color.h"

/* Whether a colour is 0xRRGGBB. */
static inline bool same(Rgb color, uint32_t hex) {
    Rgb want = rgb_hex(hex);
    return color.r == want.r && color.g == want.g && color.b == want.b;
}

/* The number of cells that are not empty. */
static inline int64_t occupied(const CellField *field) {
    int64_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        count += field->state[cell] != CELL_EMPTY;
    return count;
}
