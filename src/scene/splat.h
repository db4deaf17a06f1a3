/* SPDX-License-Identifier: MIT */
/* From a point to its cells. The CPU (scatter.c) and GPUs (scatter_gpu.cu) compile the same
 * functions, so that their maps are equal bit for bit. */
#pragma once

#include "src/scene/geometry.h"

#ifdef __CUDACC__
#define SPLAT_FUNCTION __device__ inline
#else
#define SPLAT_FUNCTION static inline
#endif

enum { NEIGHBOURS = 4 };

/* A grid that receives points. */
typedef struct {
    BevAlign align;
    int truncate; /* Grid.truncate */
    GridAxes axes;
} SplatGrid;

/* The cells that a point adds to, and the point's weights there. Cell -1: this neighbour receives
 * nothing. BEV_NEAREST uses the first element alone. */
typedef struct {
    int32_t cells[NEIGHBOURS];
    float weights[NEIGHBOURS];
} Splat;

static inline SplatGrid splat_grid(const Grid *grid, BevAlign align) {
    SplatGrid made;
    made.align = align;
    made.truncate = grid->truncate;
    made.axes = axes_of_grid(grid);
    return made;
}

/* Returns floor(x) for values that fit an int. The CPU library's floor() is a function call. */
SPLAT_FUNCTION int floor_int(double x) {
    int toward_zero = (int)x;
    return toward_zero - (x < toward_zero);
}

/* Whether a coordinate lies above the lower end of an axis, so that the point may be inside. */
SPLAT_FUNCTION bool splat_above(const SplatGrid *grid, int axis, double at_m) {
    double min_m = grid->axes.min_m[axis];
    return grid->truncate ? at_m > min_m - grid->axes.cell_m[axis] : at_m >= min_m;
}

SPLAT_FUNCTION bool splat_inside(const SplatGrid *grid, int axis, double at_m) {
    return splat_above(grid, axis, at_m) && at_m < grid->axes.max_m[axis];
}

/* Returns a coordinate in units of cells from the lower end of its axis. */
SPLAT_FUNCTION double splat_cells(const SplatGrid *grid, int axis, double at_m) {
    return (at_m - grid->axes.min_m[axis]) / grid->axes.cell_m[axis];
}

/* Returns the number of the cell at a coordinate in units of cells. Casts truncate toward zero. At
 * the upper end of the axis rounding can move a point one cell too far, into no cell. */
SPLAT_FUNCTION int splat_index(const SplatGrid *grid, int axis, double cells) {
    int index = (int)cells, last = grid->axes.count[axis] - 1;
    return index < last ? index : last;
}

/* Sets neighbour `i` to the cell (x, y). `first` is the first cell of the point's slice. */
SPLAT_FUNCTION void set_neighbour(const SplatGrid *grid, int64_t first, int x, int y, double weight,
                                  Splat *splat, int i) {
    const int *count = grid->axes.count;
    bool exists = x >= 0 && x < count[0] && y >= 0 && y < count[1] && (float)weight > 0;
    splat->cells[i] = exists ? (int32_t)(first + (int64_t)y * count[0] + x) : -1;
    splat->weights[i] = (float)weight;
}

/* Sets the four neighbours of (x, y), in units of cells. At whole numbers only one neighbour has a
 * weight, 1. Rounds down: truncation would move points between -1 and 0 into cell 0. */
SPLAT_FUNCTION void splat_bilinear(const SplatGrid *grid, int64_t first, double x, double y,
                                   Splat *splat) {
    if (!(x > -1 && x < grid->axes.count[0] && y > -1 && y < grid->axes.count[1]))
        return;
    int x0 = floor_int(x), y0 = floor_int(y);
    double right = x - x0, up = y - y0;
    set_neighbour(grid, first, x0, y0, (1 - right) * (1 - up), splat, 0);
    set_neighbour(grid, first, x0, y0 + 1, (1 - right) * up, splat, 1);
    set_neighbour(grid, first, x0 + 1, y0, right * (1 - up), splat, 2);
    set_neighbour(grid, first, x0 + 1, y0 + 1, right * up, splat, 3);
}

/* Finds the cells that a point adds to. */
SPLAT_FUNCTION void splat_point(const SplatGrid *grid, const double ego_m[3], Splat *splat) {
    for (int i = 0; i < NEIGHBOURS; i++)
        splat->cells[i] = -1;
    if (!splat_inside(grid, 2, ego_m[2]))
        return;
    double x = splat_cells(grid, 0, ego_m[0]), y = splat_cells(grid, 1, ego_m[1]);
    int slice = splat_index(grid, 2, splat_cells(grid, 2, ego_m[2]));
    int64_t first = (int64_t)slice * grid->axes.count[1] * grid->axes.count[0];
    if (grid->align == BEV_BILINEAR)
        splat_bilinear(grid, first, x - 0.5, y - 0.5, splat);
    else if (grid->align == BEV_LATTICE)
        splat_bilinear(grid, first, x, y, splat);
    else if (splat_inside(grid, 0, ego_m[0]) && splat_inside(grid, 1, ego_m[1]))
        set_neighbour(grid, first, splat_index(grid, 0, x), splat_index(grid, 1, y), 1, splat, 0);
}
