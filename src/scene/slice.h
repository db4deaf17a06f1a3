/* What a picture shows of a grid with height: one slice, for each column of cells the strongest, or
 * the strongest as seen from the side. A flat grid is shown as it is.
 *
 * The picture has cells of its own, numbered y * nx + x, x up and y to the left as in a BEV. Seen
 * from the side, z is up in the place of x, and x runs to the left in the place of y: the vehicle's
 * left side, its front on the left. */
#pragma once

#include "src/scene/geometry.h"

/* A slice from 0 (the lowest), or one of these. */
enum { SLICE_MAX = -1, SLICE_SIDE = -2 };

typedef struct {
    int slice;
    int64_t cells_x, rows, slices; /* of the grid; `rows` of one slice */
    int64_t nx, ny;                /* of the picture */
} Slice;

/* The slice that a picture shows. A slice number beyond the grid becomes SLICE_MAX. */
Slice slice_of(const BevShape *shape, int slice);

/* The cells of the grid behind a cell of the picture: first, first + step, ... */
typedef struct {
    int64_t first, step, count;
} SliceRun;
SliceRun slice_run(const Slice *slice, int64_t cell);

/* The cell of the picture that a cell of the grid lies behind; -1: none, it is in another slice. */
int64_t slice_place(const Slice *slice, int64_t cell);

/* For each cell of the picture the cell of the grid that is shown, `shown` (slice->nx * slice->ny):
 * the cell with the largest norm, NaN before all; in a run of empty cells the lowest. `values`
 * (cell, c) NULL: the cell with the most points is shown. For a single slice nothing is compared.
 * `map` may be NULL where there are values: then all cells are compared. False: no memory. */
bool slice_choose(const Slice *slice, const BevMap *map, int64_t channels, const float *values,
                  int32_t *shown);

/* The cell of the grid that one cell of the picture shows. */
int64_t slice_strongest(const Slice *slice, int64_t place, const BevMap *map, int64_t channels,
                        const float *values);

/* The grid of the picture, in metres: seen from the side, z in the place of x and x in that of y.
 */
Grid slice_grid(const Slice *slice, const Grid *grid);

/* How many times larger heights are drawn than lengths, a whole number: a grid seen from the side
 * is low and wide. 1 from above. `grid` is the picture's; NULL: cells are square. */
int slice_stretch(const Slice *slice, const Grid *grid);

/* Reads "max", "side" or the number of a slice below `slices`. */
bool slice_parse(const char *text, int64_t slices, int *slice);

/* "max", "side" or the number. */
void slice_name(int slice, char *text, size_t size);

/* "max of 16 slices", "side, max of 200 rows", "slice 3 of 16, z 0.2 to 0.6 m". `grid` may
 * be NULL: no metres. "" for a flat grid. */
void slice_describe(const Slice *slice, const Grid *grid, char *text, size_t size);

/* "12, 90", or with slices "12, 90, 3": x, y and z of a cell, with `comma` between them. */
typedef struct {
    char text[48];
} CellPlace;
CellPlace cell_place(const BevShape *shape, int64_t cell, const char *comma);
