/* SPDX-License-Identifier: MIT */
/* From cells to pixels, one pixel a cell: x (forward) is up, y (left) is to the left. */
#pragma once

#include "src/view/draw/color.h"
#include "src/view/bev/decode.h"
#include "src/view/draw/image.h"

/* A logarithmic range of both signs is linear up to hi / RANGE_SPAN, which takes this part of each
 * side. */
#define RANGE_SPAN   1e4
#define RANGE_LINEAR (1 / 3.0)

/* The numbers at the ends of a colour bar. `below`, `above`: some cells lie beyond that end. */
typedef struct {
    double lo, hi;
    bool logarithmic; /* lo < 0: each sign has its own half, with zero between them */
    bool below, above;
} ValueRange;

/* Chooses the range for `count` scalar fields of one view. A few extreme cells must not wash out
 * the rest: a linear range leaves out the outermost 2 %, a logarithmic one spans at most three
 * decades. A symmetric range reaches to the largest magnitude. If all values are equal, lo == hi;
 * without any value both are NaN. */
bool range_auto(const CellField *const fields[], int count, ValueRange *range, Err *err);
/* Returns a range that is kept, and finds whether values lie beyond. */
ValueRange range_locked(const CellField *const fields[], int count, ValueRange kept);
/* Returns the position on the colour bar, 0..1; the middle of a symmetric range is 0.5. */
double range_position(const ValueRange *range, double value);

typedef struct {
    const Colormap *colormap; /* scalar views */
    ValueRange range;
    bool fill;  /* an empty cell among others takes their mean, dimmer; colours are smoothed */
    bool light; /* the background is light, for paper */
} RasterStyle;

/* Whether cells are filled. Counts of points and errors are not: nothing is invented there. */
bool raster_fills(const CellField *field, bool fill);

/* Draws a picture of ny x nx pixels. Empty cells, NaN and Inf have the panel's colours. */
bool raster_render(const CellField *field, const RasterStyle *style, Image *image, Err *err);

/* Returns the cell under pixel (column, row) of a picture of ny x nx pixels. */
int64_t raster_cell(int64_t nx, int64_t ny, int64_t column, int64_t row);
