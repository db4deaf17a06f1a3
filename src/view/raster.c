#include "src/view/raster.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- ranges --------------------------------------------------------------------------------- */

static bool counts(const CellField *field, int64_t cell, bool logarithmic) {
    return field->state[cell] == CELL_VALUE && (!logarithmic || field->value[cell] > 0);
}

/* All values that a range must cover, packed. */
static size_t gather(const CellField *const fields[], int count, bool logarithmic, float *values) {
    size_t n = 0;
    for (int i = 0; i < count; i++)
        for (int64_t cell = 0; cell < fields[i]->nx * fields[i]->ny; cell++)
            if (counts(fields[i], cell, logarithmic))
                values[n++] = fields[i]->value[cell];
    return n;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static ValueRange range_of_sorted(const ViewInfo *view, const float *values, size_t n) {
    ValueRange range = {.logarithmic = view->logarithmic};
    if (!n)
        return range;
    double lowest = values[0], highest = values[n - 1];
    if (view->logarithmic) {
        range.lo = lowest;
        range.hi = highest;
    } else {
        range.lo = fmin(values[(size_t)(0.005 * (double)(n - 1))], 0);
        range.hi = fmax(values[(size_t)ceil(0.995 * (double)(n - 1))], 0);
        range.below = lowest < range.lo;
        range.above = highest > range.hi;
    }
    return range;
}

bool range_auto(const CellField *const fields[], int count, ValueRange *range, Err *err) {
    const ViewInfo *view = &views[fields[0]->view];
    if (view->symmetric) {
        *range = (ValueRange){0};
        for (int i = 0; i < count; i++)
            range->hi = fmax(range->hi, range_symmetric(fields[i]).hi);
        range->lo = -range->hi;
        return true;
    }
    size_t cells = 0;
    for (int i = 0; i < count; i++)
        cells += (size_t)(fields[i]->nx * fields[i]->ny);
    float *values = malloc(cells * sizeof *values);
    if (!values)
        return err_set(err, ERR_FAILED, view->name, "", "no memory for %zu values", cells);
    size_t n = gather(fields, count, view->logarithmic, values);
    qsort(values, n, sizeof *values, ascending);
    *range = range_of_sorted(view, values, n);
    free(values);
    return true;
}

ValueRange range_symmetric(const CellField *field) {
    double largest = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        if (counts(field, cell, false))
            largest = fmax(largest, fabs(field->value[cell]));
    return (ValueRange){.lo = -largest, .hi = largest};
}

ValueRange range_locked(const CellField *const fields[], int count, double lo, double hi) {
    ValueRange range = {.lo = lo, .hi = hi};
    range.logarithmic = views[fields[0]->view].logarithmic && lo > 0;
    for (int i = 0; i < count; i++)
        for (int64_t cell = 0; cell < fields[i]->nx * fields[i]->ny; cell++)
            if (counts(fields[i], cell, false)) {
                range.below = range.below || fields[i]->value[cell] < lo;
                range.above = range.above || fields[i]->value[cell] > hi;
            }
    return range;
}

double range_position(const ValueRange *range, double value) {
    if (!(range->hi > range->lo))
        return 0.5;
    if (!range->logarithmic)
        return (value - range->lo) / (range->hi - range->lo);
    return value > 0 ? log(value / range->lo) / log(range->hi / range->lo) : 0;
}

/* ---- pixels --------------------------------------------------------------------------------- */

static Rgb cell_color(const CellField *field, const RasterStyle *style, int64_t cell) {
    if (field->state[cell] == CELL_EMPTY)
        return style->background;
    if (field->state[cell] != CELL_VALUE)
        return style->bad;
    if (field->color)
        return rgb_mix(style->background, field->color[cell], field->value[cell]);
    return colormap_at(style->colormap, range_position(&style->range, field->value[cell]));
}

int64_t raster_cell(int64_t nx, int64_t ny, int64_t column, int64_t row) {
    assert(column >= 0 && column < ny && row >= 0 && row < nx);
    return (ny - 1 - column) * nx + (nx - 1 - row);
}

bool raster_render(const CellField *field, const RasterStyle *style, Image *image, Err *err) {
    assert(field->color || style->colormap);
    if (!image_init(image, field->ny, field->nx, err))
        return false;
    for (int row = 0; row < image->h; row++)
        for (int column = 0; column < image->w; column++)
            image_set(image, column, row,
                      cell_color(field, style, raster_cell(field->nx, field->ny, column, row)));
    return true;
}
