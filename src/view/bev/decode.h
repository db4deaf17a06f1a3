/* SPDX-License-Identifier: MIT */
/* From pooled feature vectors to the content of a grid cell: a number or a colour. There are no
 * pixels here: figure, window and terminal each draw the same cells. */
#pragma once

#include "kernels/bevpool.h"
#include "src/scene/features.h"
#include "src/state/state.h"
#include "src/view/draw/color.h"
#include "src/view/bev/stats.h"

/* clang-format off */
typedef enum {
    VIEW_COLOR, VIEW_CLASS, VIEW_NORM, VIEW_CHANNEL, VIEW_PCA, VIEW_RGB, VIEW_POINTS,
    VIEW_ERROR, VIEW_COUNT
} ViewKind;
/* clang-format on */

/* The inputs that a view needs; bits. */
enum { NEEDS_POOLED = 1, NEEDS_EMBEDDING = 2, NEEDS_MAP = 4, NEEDS_FP64 = 8 };

/* How a view's colours are explained. */
typedef enum {
    LEGEND_BRIGHTNESS,
    LEGEND_CLASSES,
    LEGEND_COMPONENTS,
    LEGEND_CHANNELS,
    LEGEND_BAR
} LegendKind;

/* The inputs of a view. Unknown parts are NULL. */
typedef struct BevContent {
    int64_t nx, ny, channels;
    size_t rows;                 /* the number of cells in the arrays below and in the map */
    int32_t *shown;              /* the row of each cell in the arrays below; NULL: the row is the
                                    cell's number */
    const float *pooled;         /* (cell, c) */
    const double *fp64_original; /* (cell, c): FP64 pooling */
    const BevMap *map;
    const Embedding *embedding;     /* tells classes and colours of the features */
    int64_t channel;                /* VIEW_CHANNEL */
    RgbChoice rgb;                  /* VIEW_RGB */
    const float *depth;             /* VIEW_RGB, (camera, depth, h, w): means instead of sums; needs
                                       `map` */
    const struct BevContent *other; /* the other side of a difference: its vectors replace FP64, its
                                       points are subtracted; NULL: none */
    bool light;                     /* VIEW_RGB: the channels are linear light */
    /* Compared pictures must share these; otherwise each picture finds its own. */
    double full_mass; /* colour and class: depth weight drawn at full strength; 0: the median of
                         the occupied cells */
    const Pca *pca;   /* VIEW_PCA: NULL: fitted to the cells themselves */
} BevContent;

typedef enum { CELL_EMPTY, CELL_VALUE, CELL_NAN, CELL_INF } CellState;

/* The decoded cells of a view. The arrays have one entry a cell, at y * nx + x. */
typedef struct {
    ViewKind view;
    bool difference; /* the values are differences of two results: their range is symmetric */
    int64_t nx, ny;
    uint8_t *state; /* CellState; EMPTY: no point fell into the cell */
    float *scratch; /* while the cells are decoded */
    float *value;   /* reference counted, with the memory of all arrays. Scalar views: the number.
                       Colour views: strength 0..1, how far the colour stands out from the
                       background */
    Rgb *color;     /* colour views; else NULL */
    int64_t nan_cells, inf_cells;
    double full_mass;    /* LEGEND_BRIGHTNESS: depth weight drawn at full strength, else NaN */
    RgbChoice rgb;       /* LEGEND_CHANNELS: the channels and their ranges as they are shown */
    double explained[3]; /* LEGEND_COMPONENTS: shares of the variance; NaN where unknown */
} CellField;

typedef struct {
    const char *name;  /* command line: "color" */
    const char *title; /* over the legend: "Points per cell" */
    const char *idea;  /* one sentence for help texts */
    const char *unit;  /* the unit of the colour bar; NULL: a view of colours */
    unsigned needs;    /* NEEDS_... */
    LegendKind legend;
    const char *colormap; /* the usual one; NULL: a colour view */
    bool logarithmic;     /* the colour bar is logarithmic */
    bool symmetric;       /* the range lies around zero */
    /* For decode_view: decodes a cell from its vector; all cells, after that. NULL: nothing. */
    void (*cell)(const BevContent *content, CellField *field, size_t cell, const float *vector);
    bool (*finish)(const BevContent *content, CellField *field, Err *err);
} ViewInfo;

extern const ViewInfo views[VIEW_COUNT];

/* Fits the principal components that VIEW_PCA would use. Free them with pca_free. */
bool decode_fit_pca(const BevContent *content, Pca *pca, Err *err);
/* Returns why `view` cannot be shown from `content`, or NULL. */
const char *view_missing(ViewKind view, const BevContent *content);
/* Decodes the cells of a view. Fails without memory, or if inputs are missing (view_missing). */
bool decode_view(ViewKind view, const BevContent *content, CellField *field, Err *err);

/* Finds for each cell a - b in the channel in which they differ most, with its sign; for
 * VIEW_POINTS the difference of the counts. The result is a scalar field of view VIEW_ERROR (or
 * VIEW_POINTS). */
bool decode_difference(ViewKind view, const BevContent *a, const BevContent *b, CellField *field,
                       Err *err);

/* Returns how strongly a cell shows its colour, from its share (0..1) of the full depth weight. */
double decode_strength(double share);

/* Returns one more reference to a field; free it with cell_field_free(), too. */
CellField cell_field_keep(const CellField *field);
void cell_field_free(CellField *field);
