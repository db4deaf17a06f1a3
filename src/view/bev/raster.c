#include "src/view/bev/raster.h"

#include "kernels/threads.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- ranges --------------------------------------------------------------------------------- */

typedef enum { SHAPE_LINEAR, SHAPE_LOGARITHMIC, SHAPE_SYMMETRIC } RangeShape;

/* Collects the values that decide the range: magnitudes for a symmetric one; zeros count for a
 * linear one only. NULL: no memory. */
static float *gather(const CellField *const fields[], int count, RangeShape shape, size_t *n) {
    size_t cells = 0;
    for (int i = 0; i < count; i++)
        cells += (size_t)(fields[i]->nx * fields[i]->ny);
    float *values = malloc(cells * sizeof *values);
    *n = 0;
    for (int i = 0; values && i < count; i++)
        for (int64_t cell = 0; cell < fields[i]->nx * fields[i]->ny; cell++) {
            float value = fields[i]->value[cell];
            float shaping = shape == SHAPE_SYMMETRIC ? fabsf(value) : value;
            if (fields[i]->state[cell] == CELL_VALUE && (shape == SHAPE_LINEAR || shaping > 0))
                values[(*n)++] = shaping;
        }
    return values;
}

static float percentile(float *values, size_t n, double percent) {
    return nth_smallest(values, n, (size_t)lround(percent / 100 * (double)(n - 1)));
}

static ValueRange range_of(float *values, size_t n, RangeShape shape) {
    const double decades = 1e3;
    ValueRange range = {.logarithmic = shape == SHAPE_LOGARITHMIC};
    if (shape == SHAPE_SYMMETRIC) {
        range.hi = percentile(values, n, 99);
        range.lo = -range.hi;
    } else if (shape == SHAPE_LOGARITHMIC) {
        range.hi = percentile(values, n, 100);
        range.lo = fmax(percentile(values, n, 0), range.hi / decades);
    } else {
        range.lo = fmin(percentile(values, n, 2), 0);
        range.hi = fmax(percentile(values, n, 98), 0);
    }
    return range;
}

/* Finds whether values lie beyond the range; returns whether there are any values. */
static bool find_beyond(const CellField *const fields[], int count, ValueRange *range) {
    bool any = false;
    for (int i = 0; i < count; i++)
        for (int64_t cell = 0; cell < fields[i]->nx * fields[i]->ny; cell++)
            if (fields[i]->state[cell] == CELL_VALUE) {
                range->below = range->below || fields[i]->value[cell] < range->lo;
                range->above = range->above || fields[i]->value[cell] > range->hi;
                any = true;
            }
    return any;
}

static bool range_shaped(const CellField *const fields[], int count, RangeShape shape,
                         ValueRange *range, Err *err) {
    size_t n;
    float *values = gather(fields, count, shape, &n);
    if (!values)
        return err_set(err, ERR_FAILED, views[fields[0]->view].name, "", "no memory for a range");
    *range = n ? range_of(values, n, shape) : (ValueRange){0};
    free(values);
    if (!find_beyond(fields, count, range))
        *range = (ValueRange){.lo = NAN, .hi = NAN};
    return true;
}

bool range_auto(const CellField *const fields[], int count, ValueRange *range, Err *err) {
    const ViewInfo *view = &views[fields[0]->view];
    RangeShape shape = view->symmetric     ? SHAPE_SYMMETRIC
                       : view->logarithmic ? SHAPE_LOGARITHMIC
                                           : SHAPE_LINEAR;
    return range_shaped(fields, count, shape, range, err);
}

bool range_symmetric(const CellField *field, ValueRange *range, Err *err) {
    return range_shaped(&field, 1, SHAPE_SYMMETRIC, range, err);
}

ValueRange range_locked(const CellField *const fields[], int count, ValueRange kept) {
    ValueRange range = {.lo = kept.lo, .hi = kept.hi, .logarithmic = kept.logarithmic};
    find_beyond(fields, count, &range);
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

bool raster_fills(const CellField *field, bool fill) {
    return fill && !(views[field->view].needs & (NEEDS_MAP | NEEDS_FP64));
}

static Rgb cell_color(const CellField *field, const RasterStyle *style, int64_t cell) {
    if (field->state[cell] == CELL_EMPTY)
        return panel_theme.background;
    if (field->state[cell] != CELL_VALUE)
        return panel_theme.bad;
    if (field->color)
        return rgb_blend(panel_theme.background, field->color[cell], field->value[cell]);
    return colormap_at(style->colormap, range_position(&style->range, field->value[cell]));
}

int64_t raster_cell(int64_t nx, int64_t ny, int64_t column, int64_t row) {
    assert(column >= 0 && column < ny && row >= 0 && row < nx);
    return (ny - 1 - column) * nx + (nx - 1 - row);
}

/* ---- fill: far from a camera only about every third cell gets mass --------------------------- */

enum { FILL_REACH = 4 }; /* cells, along each of the ways */

/* Around a pixel: as many ways out, in the order of their angle. */
enum { WAYS = 8 };
static const int ways[WAYS][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                  {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/* The cells from a pixel to the next one with a value; 0: none within reach. */
static int reach(const CellField *field, int column, int row, const int way[2]) {
    for (int i = 1; i <= FILL_REACH; i++) {
        int x = column + i * way[0], y = row + i * way[1];
        if (x < 0 || y < 0 || x >= field->ny || y >= field->nx)
            return 0;
        if (field->state[raster_cell(field->nx, field->ny, x, y)] == CELL_VALUE)
            return i;
    }
    return 0;
}

/* Whether cells with values lie all around: no half of the ways is without one. */
static bool surrounded(const int near[WAYS]) {
    int empty = 0, most = 0;
    for (int way = 0; way < 2 * WAYS; way++) {
        empty = near[way % WAYS] ? 0 : empty + 1;
        most = empty > most ? empty : most;
    }
    return most < WAYS / 2;
}

/* Of classes the nearest: a mean would be another class. */
static int nearest_way(const int near[WAYS]) {
    int best = 0;
    for (int way = 1; way < WAYS; way++)
        if (near[way] && (!near[best] || near[way] < near[best]))
            best = way;
    return best;
}

/* An empty pixel among others: the mean of the next cells with values around it, the nearer ones
 * counting more. */
static Rgb filled(const CellField *field, const RasterStyle *style, int column, int row) {
    const double dim = 0.85;
    double r = 0, g = 0, b = 0, weights = 0;
    int near[WAYS];
    for (int way = 0; way < WAYS; way++)
        near[way] = reach(field, column, row, ways[way]);
    if (!surrounded(near))
        return panel_theme.background;
    const int only = field->view == VIEW_CLASS ? nearest_way(near) : -1;
    for (int way = 0; way < WAYS; way++) {
        if (!near[way] || (only >= 0 && way != only))
            continue;
        int64_t cell = raster_cell(field->nx, field->ny, column + near[way] * ways[way][0],
                                   row + near[way] * ways[way][1]);
        const Rgb one = cell_color(field, style, cell);
        double weight = 1.0 / (near[way] * near[way]);
        r += weight * one.r, g += weight * one.g, b += weight * one.b, weights += weight;
    }
    Rgb mean = {(uint8_t)lround(r / weights), (uint8_t)lround(g / weights),
                (uint8_t)lround(b / weights)};
    return rgb_mix(panel_theme.background, mean, dim);
}

bool raster_render(const CellField *field, const RasterStyle *style, Image *image, Err *err) {
    assert(field->color || style->colormap);
    if (!image_init(image, field->ny, field->nx, err))
        return false;
    bool fills = raster_fills(field, style->fill);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int row = 0; row < image->h; row++)
        for (int column = 0; column < image->w; column++) {
            int64_t cell = raster_cell(field->nx, field->ny, column, row);
            bool empty = fills && field->state[cell] == CELL_EMPTY;
            image_set(image, column, row,
                      empty ? filled(field, style, column, row) : cell_color(field, style, cell));
        }
    return true;
}

Rgb raster_camera_pixel(const CameraViews *seen, int64_t camera, int64_t y, int64_t x) {
    int64_t at = 3 * ((camera * seen->h + y) * seen->w + x);
    if (seen->srgb)
        return (Rgb){seen->srgb[at], seen->srgb[at + 1], seen->srgb[at + 2]};
    const float *p = seen->color + at;
    bool bad = !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]);
    return bad ? panel_theme.bad : rgb_from_linear(p[0], p[1], p[2]);
}

bool raster_camera(const CameraViews *seen, int64_t camera, Image *image, Err *err) {
    if (!image_init(image, seen->w, seen->h, err))
        return false;
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            image_set(image, x, y, raster_camera_pixel(seen, camera, y, x));
    return true;
}
