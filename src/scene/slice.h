/* SPDX-License-Identifier: MIT */
/* Chooses what a picture shows of a grid with height: one slice, the strongest cell of each column,
 * or the strongest cell of each line seen from the side. A flat grid is shown as it is.
 *
 * The picture has its own cells, numbered y * nx + x. As in a BEV, x points up and y to the left.
 * Seen from the side, z points up in place of x, and x to the left in place of y. This view shows
 * the vehicle's left side, with its front on the left. */
#pragma once

#include "src/base/units.h"
#include "src/scene/geometry.h"

/* A slice has a number from 0 (the lowest), or one of these. */
enum { SLICE_MAX = -1, SLICE_SIDE = -2 };
typedef struct {
    int slice;
    int64_t cells_x, rows, slices; /* of the grid; `rows` of one slice */
    int64_t nx, ny;                /* cells of the picture */
} Slice;

/* Returns the slice that a picture shows. A number beyond the grid becomes SLICE_MAX. */
Slice slice_of(const BevShape *shape, int slice);

/* The cells of the grid that lie behind a cell of the picture: first, first + step, ... */
typedef struct {
    int64_t first, step, count;
} SliceRun;
SliceRun slice_run(const Slice *slice, int64_t cell);

/* Returns the cell of the picture for a cell of the grid. -1: the cell lies in another slice. */
int64_t slice_place(const Slice *slice, int64_t cell);

/* Chooses which cell of the grid each cell of the picture shows. `shown` has slice->nx * slice->ny
 * cells. The cell with the largest norm is chosen, and NaN before all others. Among empty cells the
 * lowest is chosen. `values` is (cell, c). NULL: the cell with the most points is chosen. `map` may
 * be NULL where there are values. Then all cells are compared. False: no memory. */
bool slice_choose(const Slice *slice, const BevMap *map, int64_t channels, const float *values,
                  int32_t *shown);

/* Returns the cell of the grid that one cell of the picture shows. */
int64_t slice_strongest(const Slice *slice, int64_t place, const BevMap *map, int64_t channels,
                        const float *values);

/* Returns the grid of the picture, in metres. Seen from the side, z replaces x and x replaces y. */
Grid slice_grid(const Slice *slice, const Grid *grid);

/* Returns how many times larger heights are drawn than lengths, a whole number. A grid seen from
 * the side is low and wide. From above: 1. `grid` is the picture's; NULL: square cells. */
int slice_stretch(const Slice *slice, const Grid *grid);

/* Parses "max", "side" or the number of a slice below `slices`. */
bool slice_parse(const char *text, int64_t slices, int *slice);

/* Returns the name of a slice: "max", "side" or its number. */
ShortText slice_name(int slice);

/* Describes a slice: "max of 16 slices", "side, max of 200 rows", "slice 3 of 16, z 0.2 to 0.6 m".
 * `grid` may be NULL: then without metres. A flat grid gives "". */
ShortText slice_describe(const Slice *slice, const Grid *grid);

/* Returns a cell's coordinates with `comma` between them: "12, 90", or with slices "12, 90, 3". */
ShortText cell_place(const BevShape *shape, int64_t cell, const char *comma);
