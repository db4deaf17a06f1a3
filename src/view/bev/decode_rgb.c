/* SPDX-License-Identifier: MIT */
/* The view "rgb": three channels as red, green and blue. */
#include "src/view/bev/decode_internal.h"

#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>

/* Computes the mass of each row of the map: depth times weight, summed over the row's points. */
static void sum_masses(const BevContent *content, float *mass) {
    const BevMap *map = content->map;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 64)
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t first = map->interval_starts[i];
        double sum = 0;
        for (int64_t t = first; t < first + map->interval_lengths[i]; t++)
            sum += (double)content->depth[map->ranks_depth[t]] *
                   (map->weights ? (double)map->weights[t] : 1);
        mass[map->ranks_bev[first]] = (float)sum;
    }
}

/* Finds the mass of each shown cell. A cell's vector over its mass is the mean feature of the
 * points in the cell, however many points there are. */
static bool find_masses(const BevContent *content, CellField *field, Err *err) {
    float *mass = decode_row_values(content, err);
    if (!mass)
        return false;
    sum_masses(content, mass);
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        field->value[cell] = mass[decode_row(content, (size_t)cell)];
    free(mass);
    return true;
}

/* Returns the mean of a channel in a cell, or its sum where the mass is unknown. */
static double value_at(const BevContent *content, const float *vector, int64_t channel,
                       float mass) {
    return content->depth ? vector[channel] / mass : vector[channel];
}

/* Returns channel k of the choice, wrapped where the features have fewer channels. */
static int64_t channel_of(const BevContent *content, int k) {
    return content->rgb.channel[k] % content->channels;
}

/* Finds the range of a channel: all cells but the outermost 2 % on either side. */
static void find_range(const BevContent *content, CellField *field, int k, float *values) {
    size_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++) {
        if (field->state[cell] != CELL_VALUE)
            continue;
        const float *vector = decode_vector(content, (size_t)cell);
        double value = value_at(content, vector, field->rgb.channel[k], field->value[cell]);
        if (isfinite(value))
            values[count++] = (float)value;
    }
    if (!count)
        return;
    field->rgb.lo[k] = nth_smallest(values, count, count / 50);
    field->rgb.hi[k] = nth_smallest(values, count, count - 1 - count / 50);
}

/* Gives the three channels one range, from 0 to the largest value, so that light keeps its colours.
 */
static void share_range(CellField *field) {
    double hi = fmax(field->rgb.hi[0], fmax(field->rgb.hi[1], field->rgb.hi[2]));
    for (int k = 0; k < 3; k++) {
        field->rgb.lo[k] = 0;
        field->rgb.hi[k] = hi;
    }
}

static uint8_t level_of(double value, double lo, double hi, bool light) {
    double t = hi > lo ? fmin(fmax((value - lo) / (hi - lo), 0), 1) : 0.5;
    return light ? rgb_from_linear(t, t, t).r : (uint8_t)lround(255 * t);
}

static void color_cells(const BevContent *content, CellField *field) {
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 256)
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++) {
        uint8_t level[3];
        if (field->state[cell] != CELL_VALUE)
            continue;
        const float *vector = decode_vector(content, (size_t)cell);
        for (int k = 0; k < 3; k++)
            level[k] =
                level_of(value_at(content, vector, field->rgb.channel[k], field->value[cell]),
                         field->rgb.lo[k], field->rgb.hi[k], content->light);
        field->color[cell] = (Rgb){level[0], level[1], level[2]};
    }
}

bool decode_rgb(const BevContent *content, CellField *field, Err *err) {
    float *values = malloc((size_t)(field->nx * field->ny) * sizeof *values);
    if (!values)
        return err_set(err, ERR_FAILED, "rgb", "", "no memory for a value a cell");
    field->rgb = content->rgb;
    if (content->depth && !find_masses(content, field, err)) {
        free(values);
        return false;
    }
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        if (content->depth && field->state[cell] == CELL_VALUE && !(field->value[cell] > 0))
            field->state[cell] = CELL_EMPTY;
    for (int k = 0; k < 3; k++) {
        field->rgb.channel[k] = channel_of(content, k);
        if (!(field->rgb.lo[k] < field->rgb.hi[k]))
            find_range(content, field, k, values);
    }
    free(values);
    bool own = !(content->rgb.lo[0] < content->rgb.hi[0]);
    if (content->light && own && field->rgb.channel[0] == 0 && field->rgb.channel[2] == 2)
        share_range(field);
    color_cells(content, field);
    if (content->depth)
        return decode_strengths(content, field, err);
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        field->value[cell] = field->state[cell] == CELL_VALUE;
    return true;
}
