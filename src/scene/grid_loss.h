/* A loss over some cells of the grid: half the squared norm of their pooled vectors. Its gradient
 * is the pooled features in those cells, 0 in all others. */
#pragma once

#include "src/scene/features.h"

typedef enum { LOSS_CELL, LOSS_BOX, LOSS_CLASS, LOSS_COUNT } LossKind;

typedef struct {
    const char *name; /* command line: "box" */
    const char *idea; /* which cells, in a few words */
} LossInfo;

extern const LossInfo losses[LOSS_COUNT];

/* The scene and its pooling. Parts that are unknown are NULL. */
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
    LossKind kind;    /* LOSS_COUNT: its gradient came from a file */
    int64_t cell;     /* the chosen cell */
    uint8_t *inside;  /* (cell): 1 in the loss, else 0 */
    int64_t count;    /* cells in the loss */
    WorldClass class; /* LOSS_BOX: of the object. LOSS_CLASS: of the cells */
    double value;
    float *grad_out; /* (cell, c) */
} GridLoss;

/* Fails with ERR_USAGE where the cell has no point or no gradient, where no object covers it
 * (LOSS_BOX), or where the scene has no objects or classes. */
bool grid_loss_make(GridLoss *loss, const GridContent *content, LossKind kind, int64_t cell,
                    Err *err);
void grid_loss_free(GridLoss *loss);

/* The cell with the strongest pooled features within a tenth of `distance_m` from the ego vehicle;
 * without a rig, or where nothing is pooled there, that of the whole grid, and *there is false. -1:
 * nothing is pooled at all. */
int64_t grid_strongest(const GridContent *content, double distance_m, bool *there);

/* The centre of a cell in metres. */
void grid_center(const Grid *grid, int64_t cell, double center_m[2]);
