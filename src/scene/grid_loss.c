/* SPDX-License-Identifier: MIT */
#include "src/scene/grid_loss.h"

#include "src/scene/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const LossInfo losses[LOSS_COUNT] = {
    [LOSS_CELL] = {"cell", "that cell"},
    [LOSS_BOX] = {"box", "the cells of the object that covers it"},
    [LOSS_CLASS] = {"class", "all cells of its class"},
};

void grid_center(const Grid *grid, int64_t cell, double center_m[2]) {
    const GridAxes axes = axes_of_grid(grid);
    const int64_t at[2] = {cell % grid->nx, cell / grid->nx % grid->ny};
    for (int axis = 0; axis < 2; axis++)
        center_m[axis] = axes.min_m[axis] + ((double)at[axis] + 0.5) * axes.cell_m[axis];
}

static double squared_norm(const GridContent *content, int64_t cell) {
    const float *values = content->pooled + cell * content->channels;
    double sum = 0;
    for (int64_t c = 0; c < content->channels; c++)
        sum += (double)values[c] * values[c];
    return sum;
}

/* ---- the cells of an object, or of a class --------------------------------------------------- */

/* Whether an object covers the centre of a cell. A pole is thinner than a cell, so the cell around
 * its middle counts too. A slice must meet the height of the object. */
static bool object_covers_cell(const GridContent *content, int solid, int64_t cell) {
    const Grid *grid = &content->rig->grid;
    const Solid *own = &content->world->solids[solid];
    const GridAxes axes = axes_of_grid(grid);
    const double slice_m = axes.cell_m[2];
    const double low_m = axes.min_m[2] + (double)(cell / grid->nx / grid->ny) * slice_m;
    const bool above_object = low_m >= own->z_m + own->size_m[2];
    const bool below_object = low_m + slice_m <= own->z_m;
    if (axes.count[2] > 1 && (above_object || below_object))
        return false;
    double center[2], middle[2], yaw = own->yaw_deg * M_PI / 180;
    grid_center(grid, cell, center);
    world_solid_center(content->world, solid, content->time_s, middle);
    double x = center[0] - middle[0], y = center[1] - middle[1];
    double along = fabs(x * cos(yaw) + y * sin(yaw)), across = fabs(y * cos(yaw) - x * sin(yaw));
    const bool in_circle = hypot(x, y) <= own->size_m[0] / 2;
    const bool in_box = along <= own->size_m[0] / 2 && across <= own->size_m[1] / 2;
    const bool has_middle = fabs(x) <= axes.cell_m[0] / 2 && fabs(y) <= axes.cell_m[1] / 2;
    return has_middle || (solid_is_round(own->kind) ? in_circle : in_box);
}

/* Finds the object that covers the loss's cell, and all cells that the object covers. */
static bool choose_cells_of_object(GridLoss *loss, const GridContent *content, Err *err) {
    if (!content->world || !content->rig)
        return err_set(err, ERR_USAGE, "--loss", "choose cell",
                       "tensors from a file have no objects");
    int solid = 0;
    while (solid < content->world->solid_count && !object_covers_cell(content, solid, loss->cell))
        solid++;
    if (solid == content->world->solid_count)
        return err_set(err, ERR_USAGE, "--loss", "choose a cell of a car, or --loss cell",
                       "no object covers cell %lld,%lld", (long long)(loss->cell % content->nx),
                       (long long)(loss->cell / content->nx));
    loss->class = content->world->solids[solid].class;
    for (int64_t cell = 0; cell < content->nx * content->ny; cell++)
        loss->inside[cell] = object_covers_cell(content, solid, cell);
    return true;
}

static WorldClass class_of_cell(const GridContent *content, int64_t cell) {
    return embedding_class(content->embedding, content->pooled + cell * content->channels);
}

static bool choose_cells_of_class(GridLoss *loss, const GridContent *content, Err *err) {
    loss->class = content->embedding ? class_of_cell(content, loss->cell) : CLASS_COUNT;
    if (loss->class == CLASS_COUNT)
        return err_set(err, ERR_USAGE, "--loss", "choose cell",
                       "the features of this cell are no known embedding of a class");
    for (int64_t cell = 0; cell < content->nx * content->ny; cell++)
        loss->inside[cell] = class_of_cell(content, cell) == loss->class;
    return true;
}

/* ---- the loss -------------------------------------------------------------------------------- */

/* Marks the cells of the loss in loss->inside, by the kind of the loss. The chosen cell is always
 * marked. Then fills the gradient of the marked cells. */
static bool fill_gradient(GridLoss *loss, const GridContent *content, Err *err) {
    size_t row = (size_t)content->channels;
    if (scatter_nearest_cell(content->map, content->nx, loss->cell) != loss->cell)
        return err_set(err, ERR_USAGE, "--cell", "choose a cell that a camera sees",
                       "no point falls into that cell, %lld,%lld",
                       (long long)(loss->cell % content->nx),
                       (long long)(loss->cell / content->nx));
    if ((loss->kind == LOSS_BOX && !choose_cells_of_object(loss, content, err)) ||
        (loss->kind == LOSS_CLASS && !choose_cells_of_class(loss, content, err)))
        return false;
    loss->inside[loss->cell] = 1;
    for (int64_t cell = 0; cell < content->nx * content->ny; cell++) {
        if (!loss->inside[cell])
            continue;
        memcpy(loss->grad_out + (size_t)cell * row, content->pooled + (size_t)cell * row,
               row * sizeof *loss->grad_out);
        loss->value += squared_norm(content, cell) / 2;
        loss->count++;
    }
    return loss->value != 0 || err_set(err, ERR_USAGE, "--cell", "choose a brighter cell",
                                       "its pooled features are 0, and so are all gradients");
}

bool grid_loss_make(GridLoss *loss, const GridContent *content, LossKind kind, int64_t cell,
                    Err *err) {
    size_t cells = (size_t)(content->nx * content->ny);
    *loss = (GridLoss){.kind = kind,
                       .cell = cell,
                       .class = CLASS_COUNT,
                       .inside = calloc(cells, 1),
                       .grad_out = calloc(cells * (size_t)content->channels, sizeof(float))};
    bool ok =
        (loss->inside && loss->grad_out) || err_no_memory(err, "loss", "choose a smaller grid");
    if (ok && fill_gradient(loss, content, err))
        return true;
    grid_loss_free(loss);
    return false;
}

void grid_loss_free(GridLoss *loss) {
    free(loss->inside);
    free(loss->grad_out);
    *loss = (GridLoss){0};
}

/* ---- a cell to begin with -------------------------------------------------------------------- */

/* Returns the strongest cell whose centre is `from_m` to `to_m` away. -1: none, or no rig. */
static int64_t strongest_within(const GridContent *content, double from_m, double to_m) {
    int64_t strongest = -1;
    double most = 0;
    for (int64_t cell = 0; cell < content->nx * content->ny; cell++) {
        double center[2] = {INFINITY, 0}; /* without a rig the distance is infinite */
        double norm = squared_norm(content, cell);
        if (content->rig)
            grid_center(&content->rig->grid, cell, center);
        double distance_m = hypot(center[0], center[1]);
        if (norm > most && distance_m >= from_m && distance_m <= to_m) {
            most = norm;
            strongest = cell;
        }
    }
    return strongest;
}

int64_t grid_strongest(const GridContent *content, double distance_m, bool *there) {
    const int64_t at_distance = strongest_within(content, 0.9 * distance_m, 1.1 * distance_m);
    *there = at_distance >= 0;
    return *there ? at_distance : strongest_within(content, 0, INFINITY);
}
