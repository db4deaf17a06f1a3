/* SPDX-License-Identifier: MIT */
#include "src/view/bev/raster.h"

#include "kernels/threads.h"
#include "kernels/vector.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- ranges --------------------------------------------------------------------------------- */

static double percentile(float *values, size_t n, double percent) {
    return nth_smallest(values, n, (size_t)lround(percent / 100 * (double)(n - 1)));
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

/* Magnitudes decide a symmetric range; zeros count for a linear one only. */
bool range_auto(const CellField *const fields[], int count, ValueRange *range, Err *err) {
    const double decades = 1e3;
    const ViewInfo *view = &views[fields[0]->view];
    const bool symmetric = fields[0]->difference || view->symmetric;
    const bool linear = !symmetric && !view->logarithmic;
    size_t n = 0, cells = (size_t)(fields[0]->nx * fields[0]->ny); /* of each field */
    float *values = malloc((size_t)count * cells * sizeof *values);
    if (!values)
        return err_set(err, ERR_FAILED, view->name, "", "no memory for a range");
    for (size_t i = 0; i < (size_t)count * cells; i++) {
        const CellField *field = fields[i / cells];
        float value = field->value[i % cells], shaping = symmetric ? fabsf(value) : value;
        if (field->state[i % cells] == CELL_VALUE && (linear || shaping > 0))
            values[n++] = shaping;
    }
    *range = (ValueRange){.logarithmic = n && !linear};
    if (n) {
        double lo = percentile(values, n, linear ? 2 : 0);
        range->hi = fmax(percentile(values, n, linear ? 98 : 100), 0);
        range->lo = linear ? fmin(lo, 0) : symmetric ? -range->hi : fmax(lo, range->hi / decades);
    }
    free(values);
    if (!find_beyond(fields, count, range))
        *range = (ValueRange){.lo = NAN, .hi = NAN};
    return true;
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
    if (range->lo < 0) {
        double times = fabs(value) / range->hi * RANGE_SPAN;
        double far = times < 1 ? RANGE_LINEAR * times
                               : RANGE_LINEAR + (1 - RANGE_LINEAR) * log(times) / log(RANGE_SPAN);
        return 0.5 + copysign(far / 2, value);
    }
    return value > 0 ? log(value / range->lo) / log(range->hi / range->lo) : 0;
}

/* ---- pixels --------------------------------------------------------------------------------- */

bool raster_fills(const CellField *field, bool fill) {
    return fill && !(views[field->view].needs & (NEEDS_MAP | NEEDS_FP64));
}

static Rgb ground_of(const RasterStyle *style) {
    return panel_themes[style->light].background;
}

static Rgb cell_color(const CellField *field, const RasterStyle *style, int64_t cell) {
    if (field->state[cell] == CELL_EMPTY)
        return ground_of(style);
    if (field->state[cell] != CELL_VALUE)
        return panel_theme.bad;
    if (field->color)
        return rgb_blend(ground_of(style), field->color[cell], field->value[cell]);
    return colormap_on(style->colormap, range_position(&style->range, field->value[cell]),
                       style->light);
}

int64_t raster_cell(int64_t nx, int64_t ny, int64_t column, int64_t row) {
    assert(column >= 0 && column < ny && row >= 0 && row < nx);
    return (ny - 1 - column) * nx + (nx - 1 - row);
}

/* ---- smoothing ------------------------------------------------------------------------------- */

/* Far from a camera one cell in four is hit, and near it the masses of neighbours differ by chance.
 * A window around each pixel, weighted by nearness, tells both. */
enum { REACH = 4 };

static float weight_at(int64_t offset) {
    return (float)(REACH + 1 - llabs(offset)) / ((REACH + 1) * (REACH + 1));
}

/* Sums over a window: colour times mass, mass, cells with a value, and the offsets of those. */
enum { RED, GREEN, BLUE, MASS, CELLS, RIGHT, DOWN, SUMS = 8 };
typedef struct {
    float of[SUMS];
} Around;

CPU_INLINE void add_around(Around *sum, const Around *one, float weight) {
    for (int k = 0; k < SUMS; k++)
        sum->of[k] += weight * one->of[k];
}

/* Returns the mass of a cell: a colour has its share of the full depth weight, all numbers have the
 * same. */
static float mass_of(const CellField *field, int64_t cell) {
    return field->state[cell] != CELL_VALUE ? 0
           : field->color                   ? field->value[cell] * field->value[cell]
                                            : 1;
}

static Around around_of(const CellField *field, const RasterStyle *style, int64_t cell) {
    float mass = mass_of(field, cell);
    Rgb color = !(mass > 0)    ? ground_of(style)
                : field->color ? field->color[cell]
                               : cell_color(field, style, cell);
    return (Around){{mass * color.r, mass * color.g, mass * color.b, mass, mass > 0}};
}

static CPU_CLONES void sum_row(const CellField *field, const RasterStyle *style, int64_t row,
                               Around *sums) {
    int64_t w = field->ny;
    for (int64_t x = 0; x < w; x++) {
        Around one = around_of(field, style, raster_cell(field->nx, w, x, row));
        for (int64_t to = x - REACH; one.of[CELLS] > 0 && to <= x + REACH; to++) {
            one.of[RIGHT] = (float)(x - to);
            if (to >= 0 && to < w)
                add_around(&sums[to], &one, weight_at(x - to));
        }
    }
}

/* Adds up along each row of pixels. NULL: no memory. */
static Around *sum_rows(const CellField *field, const RasterStyle *style) {
    int64_t w = field->ny, h = field->nx;
    Around *sums = calloc((size_t)(w * h), sizeof *sums);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t row = 0; row < (sums ? h : 0); row++)
        sum_row(field, style, row, sums + row * w);
    return sums;
}

CPU_INLINE Around sum_around(const CellField *field, const Around *rows, int64_t column,
                             int64_t row) {
    Around sum = {{0}};
    for (int64_t from = row - REACH; from <= row + REACH; from++)
        if (from >= 0 && from < field->nx) {
            const Around *one = &rows[from * field->ny + column];
            add_around(&sum, one, weight_at(from - row));
            sum.of[DOWN] += weight_at(from - row) * one->of[CELLS] * (float)(from - row);
        }
    return sum;
}

/* Whether cells with values lie all around, so that their mean place is near, and not just one. */
static bool surrounded(const Around *around) {
    const double far = 1.45, few = 0.03;
    double cells = around->of[CELLS];
    return cells > few && hypot(around->of[RIGHT], around->of[DOWN]) < far * cells;
}

static Rgb mean_color(const Around *around) {
    float mass = around->of[MASS];
    return (Rgb){(uint8_t)(around->of[RED] / mass), (uint8_t)(around->of[GREEN] / mass),
                 (uint8_t)(around->of[BLUE] / mass)};
}

/* Brightness is the mean mass of the cells around. A cell with less mass than that is mixed with
 * their mean colour: its own share is its mass over the mean. */
static Rgb smooth_color(const CellField *field, const RasterStyle *style, const Around *around,
                        int64_t cell) {
    float mass = around->of[MASS] / around->of[CELLS], own = mass_of(field, cell);
    Rgb color = mean_color(around);
    if (own > 0)
        color = rgb_mix(color, field->color[cell], own / mass);
    return rgb_blend(ground_of(style), color, pow(mass, 0.42));
}

static Rgb nearest_color(const CellField *field, const RasterStyle *style, int64_t column,
                         int64_t row) {
    Rgb color = ground_of(style);
    float best = 0;
    for (int64_t y = row - REACH; y <= row + REACH; y++)
        for (int64_t x = column - REACH; x <= column + REACH; x++) {
            bool inside = x >= 0 && y >= 0 && x < field->ny && y < field->nx;
            int64_t cell = inside ? raster_cell(field->nx, field->ny, x, y) : -1;
            float near =
                inside && mass_of(field, cell) > 0 ? weight_at(x - column) * weight_at(y - row) : 0;
            if (near > best)
                color = cell_color(field, style, cell);
            best = fmaxf(best, near);
        }
    return color;
}

CPU_INLINE Rgb pixel_color(const CellField *field, const RasterStyle *style, const Around *rows,
                           int64_t column, int64_t row) {
    const double dim = 0.85;
    int64_t cell = raster_cell(field->nx, field->ny, column, row);
    bool empty = rows && !(mass_of(field, cell) > 0) && field->state[cell] <= CELL_VALUE;
    bool smooth = rows && field->color && field->view != VIEW_CLASS;
    if (!empty && !(smooth && field->state[cell] == CELL_VALUE))
        return cell_color(field, style, cell);
    const Around around = sum_around(field, rows, column, row);
    if (empty && !surrounded(&around))
        return ground_of(style);
    if (smooth)
        return smooth_color(field, style, &around, cell);
    Rgb color = field->view == VIEW_CLASS /* a mean of classes would be another class */
                    ? nearest_color(field, style, column, row)
                    : mean_color(&around);
    return rgb_mix(ground_of(style), color, dim);
}

static CPU_CLONES void paint_row(const CellField *field, const RasterStyle *style,
                                 const Around *rows, int64_t row, Image *image) {
    for (int column = 0; column < image->w; column++)
        image_set(image, column, (int)row, pixel_color(field, style, rows, column, row));
}

bool raster_render(const CellField *field, const RasterStyle *style, Image *image, Err *err) {
    assert(field->color || style->colormap);
    Around *rows = NULL;
    bool fills = raster_fills(field, style->fill);
    if (fills && !(rows = sum_rows(field, style)))
        return err_no_memory(err, "picture", "");
    bool ok = image_init(image, field->ny, field->nx, err);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int row = 0; row < (ok ? image->h : 0); row++)
        paint_row(field, style, rows, row, image);
    free(rows);
    return ok;
}
