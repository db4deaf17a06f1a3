/* SPDX-License-Identifier: MIT */
#include "src/scene/slice.h"

#include "kernels/threads.h"
#include "src/scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Slice slice_of(const BevShape *shape, int slice) {
    Slice made = {.slice = slice, .cells_x = shape->nx, .slices = shape_slices(shape)};
    made.rows = shape->ny / made.slices;
    if (slice >= made.slices || slice < SLICE_SIDE || made.slices == 1)
        made.slice = SLICE_MAX;
    bool side = made.slice == SLICE_SIDE;
    made.nx = side ? made.slices : made.cells_x;
    made.ny = side ? made.cells_x : made.rows;
    return made;
}

SliceRun slice_run(const Slice *slice, int64_t cell) {
    int64_t plane = slice->cells_x * slice->rows;
    if (slice->slice == SLICE_SIDE)
        return (SliceRun){cell % slice->nx * plane + cell / slice->nx, slice->cells_x, slice->rows};
    if (slice->slice == SLICE_MAX)
        return (SliceRun){cell, plane, slice->slices};
    return (SliceRun){slice->slice * plane + cell, 0, 1};
}

int64_t slice_place(const Slice *slice, int64_t cell) {
    int64_t plane = slice->cells_x * slice->rows, z = cell / plane;
    if (slice->slice == SLICE_SIDE)
        return cell % slice->cells_x * slice->nx + z;
    return slice->slice == SLICE_MAX || slice->slice == z ? cell % plane : -1;
}

/* ---- the strongest cell ---------------------------------------------------------------------- */

/* Returns the number of cells to compare: the cells with an interval, or, without a map, all. */
static int64_t candidate_count(const Slice *slice, const BevMap *map) {
    return map ? map->intervals : slice->cells_x * slice->rows * slice->slices;
}

static int32_t candidate_cell(const BevMap *map, int64_t i) {
    return map ? map->ranks_bev[map->interval_starts[i]] : (int32_t)i;
}

/* Returns the norm of a cell's features, or without `values` its number of points. Features with
 * NaN have an infinite norm, so that their cell is visible. */
static float strength_at(const BevMap *map, int64_t i, int64_t channels, const float *values) {
    if (!values)
        return (float)map->interval_lengths[i];
    double sum = 0;
    values += candidate_cell(map, i) * channels;
    for (int64_t c = 0; c < channels; c++)
        sum += (double)values[c] * values[c];
    return isfinite(sum) ? (float)sqrt(sum) : INFINITY;
}

bool slice_choose(const Slice *slice, const BevMap *map, int64_t channels, const float *values,
                  int32_t *shown) {
    int64_t cells = slice->nx * slice->ny, count = candidate_count(slice, map);
    for (int64_t cell = 0; cell < cells; cell++)
        shown[cell] = (int32_t)slice_run(slice, cell).first;
    float *strengths = malloc((size_t)(count + 1) * sizeof *strengths);
    float *most = calloc((size_t)cells, sizeof *most);
    bool ok = strengths && most;
    if (!ok || slice->slice >= 0) /* in a single slice each place has one cell */
        count = 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 256)
    for (int64_t i = 0; i < count; i++)
        strengths[i] = strength_at(map, i, channels, values);
    for (int64_t i = 0; i < count; i++) {
        int64_t place = slice_place(slice, candidate_cell(map, i));
        if (strengths[i] > most[place]) {
            most[place] = strengths[i];
            shown[place] = candidate_cell(map, i);
        }
    }
    free(strengths);
    free(most);
    return ok;
}

int64_t slice_strongest(const Slice *slice, int64_t place, const BevMap *map, int64_t channels,
                        const float *values) {
    int64_t strongest = slice_run(slice, place).first, count = candidate_count(slice, map);
    float most = 0;
    for (int64_t i = 0; slice->slice < 0 && i < count; i++) {
        int32_t cell = candidate_cell(map, i);
        if (slice_place(slice, cell) != place)
            continue;
        const float strength = strength_at(map, i, channels, values);
        if (strength > most) {
            strongest = cell;
            most = strength;
        }
    }
    return strongest;
}

/* ---- words ----------------------------------------------------------------------------------- */

Grid slice_grid(const Slice *slice, const Grid *grid) {
    if (slice->slice != SLICE_SIDE)
        return *grid;
    return (Grid){.x_min_m = grid->z_min_m,
                  .x_max_m = grid->z_max_m,
                  .y_min_m = grid->x_min_m,
                  .y_max_m = grid->x_max_m,
                  .z_min_m = grid->y_min_m,
                  .z_max_m = grid->y_max_m,
                  .nx = grid_slices(grid),
                  .ny = grid->nx,
                  .nz = 1};
}

int slice_stretch(const Slice *slice, const Grid *grid) {
    const double widest = 2.5; /* width over height of a picture that is still readable */
    double w = grid ? grid->y_max_m - grid->y_min_m : (double)slice->ny;
    double h = grid ? grid->x_max_m - grid->x_min_m : (double)slice->nx;
    return slice->slice == SLICE_SIDE && w > 2 * widest * h ? (int)(w / h / widest) : 1;
}

bool slice_parse(const char *text, int64_t slices, int *slice) {
    char *end;
    long number = strtol(text, &end, 10);
    if (!strcmp(text, "max"))
        *slice = SLICE_MAX;
    else if (!strcmp(text, "side"))
        *slice = SLICE_SIDE;
    else if (end == text || *end || number < 0 || number >= slices)
        return false;
    else
        *slice = (int)number;
    return true;
}

ShortText slice_name(int slice) {
    if (slice >= 0)
        return short_text("%d", slice);
    return short_text(slice == SLICE_MAX ? "max" : "side");
}

ShortText slice_describe(const Slice *slice, const Grid *grid) {
    const int z = slice->slice;
    const long long slices = slice->slices;
    if (slices <= 1)
        return (ShortText){""};
    if (z == SLICE_MAX)
        return short_text("max of %lld slices", slices);
    if (z == SLICE_SIDE)
        return short_text("side, max of %lld rows", (long long)slice->rows);
    if (!grid)
        return short_text("slice %d of %lld", z, slices);
    double cell_m = (grid->z_max_m - grid->z_min_m) / (double)slices;
    return short_text("slice %d of %lld, z %.4g to %.4g m", z, slices, grid->z_min_m + z * cell_m,
                      grid->z_min_m + (z + 1) * cell_m);
}

ShortText cell_place(const BevShape *shape, int64_t cell, const char *comma) {
    const Slice whole = slice_of(shape, SLICE_MAX);
    long long x = cell % whole.cells_x, row = cell / whole.cells_x;
    if (whole.slices == 1)
        return short_text("%lld%s%lld", x, comma, row);
    return short_text("%lld%s%lld%s%lld", x, comma, row % whole.rows, comma, row / whole.rows);
}
