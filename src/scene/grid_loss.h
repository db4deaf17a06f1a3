/* SPDX-License-Identifier: MIT */
/* A loss over some cells of the grid: half the squared norm of their pooled vectors. Its gradient
 * is the pooled features in those cells, and 0 in all others. */
#pragma once

#include "src/scene/features.h"

typedef enum { LOSS_CELL, LOSS_BOX, LOSS_CLASS, LOSS_COUNT } LossKind;
typedef struct {
    const char *name; /* name on the command line: "box" */
    const char *idea; /* which cells belong to the loss, in a few words */
} LossInfo;
extern const LossInfo losses[LOSS_COUNT];

/* A scene and its pooled grid. Unknown members are NULL. */
typedef struct {
    int64_t nx, ny, channels;
    const float *pooled; /* (cell, c) */
    const BevMap *map;
    const Rig *rig;
    const World *world;
    double time_s;
    const Embedding *embedding;
} GridContent;

/* The cells of a loss and its value. Free with grid_loss_free. */
typedef struct {
    LossKind kind;    /* LOSS_COUNT: the gradient came from a file */
    int64_t cell;     /* the chosen cell */
    uint8_t *inside;  /* (cell): 1 in the loss, otherwise 0 */
    int64_t count;    /* cells in the loss */
    WorldClass class; /* LOSS_BOX: class of the object. LOSS_CLASS: class of the cells */
    double value;
    float *grad_out; /* (cell, c) */
} GridLoss;

/* Makes the loss of a kind around a cell. Fails with ERR_USAGE if the cell has no point or no
 * gradient, if no object covers the cell (LOSS_BOX), and if the scene has no objects or classes. */
bool grid_loss_make(GridLoss *loss, const GridContent *content, LossKind kind, int64_t cell,
                    Err *err);
void grid_loss_free(GridLoss *loss);

/* Returns the cell with the strongest pooled features, `distance_m` (within a tenth) from the ego
 * vehicle. Without a rig, or without such a cell, returns the strongest cell of the grid, and
 * *there is false. -1: the whole grid is 0. */
int64_t grid_strongest(const GridContent *content, double distance_m, bool *there);

void grid_center(const Grid *grid, int64_t cell, double center_m[2]);
