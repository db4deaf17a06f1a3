/* Scenes without cameras: other operators that are the same sum over a scatter map. A .json file
 * names the operator and its sizes; tensors and map are made from a seed by the rules in
 * operator.c, the same on every machine.
 *
 *     point t adds depth[row] * feat[row, c] to its cell, with row = ranks_depth[t] = ranks_feat[t]
 *
 * depth (1, 1, h, w) has one value a row, so that any point may be of any row. Rows and cells are
 * rounded up to whole rectangles; no point uses what is added. */
#pragma once

#include "kernels/bevpool.h"

typedef enum {
    OPERATOR_HISTOGRAM,
    OPERATOR_EMBEDDING_BAG,
    OPERATOR_VOXELIZE,
    OPERATOR_SEGMENTS,
    OPERATOR_COUNT
} OperatorKind;

/* What the bars of an operator count: points of cells in their order, points of cells with the
 * fullest first, or points of rows with the most used first. */
typedef enum { BARS_CELLS, BARS_SORTED_CELLS, BARS_SORTED_ROWS } BarsOf;

typedef struct {
    const char *name;           /* in files: "embedding_bag" */
    const char *title;          /* on screens: "Embedding bag" */
    const char *points, *cells; /* "look-ups", "bags" */
    BarsOf bars;
    const char *bars_title; /* "uses of a row, most first" */
} OperatorInfo;

extern const OperatorInfo operator_kinds[OPERATOR_COUNT]; /* by OperatorKind */

enum {
    OPERATOR_MAX_POINTS = 1000000,
    OPERATOR_MAX_CELLS = 1000000,
    OPERATOR_MAX_ROWS = 1000000,
    OPERATOR_MAX_SKEW = 4
};

/* The sizes of an operator, as its file has them. */
typedef struct {
    OperatorKind kind;
    int64_t points;   /* that are drawn; voxelize: rays, of which some hit nothing */
    int64_t cells;    /* voxelize: a square number */
    int64_t rows;     /* of the table; other kinds than embedding_bag: as many as points */
    int64_t channels; /* histogram: 1 */
    double skew;      /* 0 to OPERATOR_MAX_SKEW */
    uint64_t seed;
    char world[64]; /* voxelize: the sample that is scanned */
} OperatorSpec;

typedef struct Scene Scene; /* scene.h */

/* Makes tensors, map and shape of `spec` in the zeroed `scene`, and keeps the spec in it. Sizes and
 * skew out of bounds are errors that begin with `where`. The caller frees with scene_free, also
 * after a failure. */
bool operator_build(const OperatorSpec *spec, const char *where, Scene *scene, Err *err);

/* What a caller can change in a scene. Zeroed: nothing. */
typedef struct {
    bool skewed; /* `skew` replaces that of an operator scene's file */
    double skew;
    int64_t points; /* of an operator scene; 0: the file's own */
} OperatorChange;

static inline bool operator_is_changed(const OperatorChange *change) {
    return change->skewed || change->points;
}

static inline bool operator_same_change(const OperatorChange *a, const OperatorChange *b) {
    return a->skewed == b->skewed && a->skew == b->skew && a->points == b->points;
}

/* Makes a loaded operator scene anew with these sizes; no change needs no work. Other scenes with a
 * change are an error. The scene is whole after a failure. */
bool operator_change(Scene *scene, const OperatorChange *change, Err *err);

/* Appends the changes to a scene's name: ", skew 1.2, 65536 points". */
void operator_label(const OperatorChange *change, char *text, size_t size);

/* "Histogram, no cameras: 262,144 values, 1,024 bins, skew 1". */
void operator_describe(const OperatorSpec *spec, char *text, size_t size);

/* ---- bars (operator_bars.c) ------------------------------------------------------------------ */

/* Bars of the map, those of BarsOf: each the mean over its share of the cells or rows. */
enum { OPERATOR_BARS = 128 };
typedef struct {
    int count; /* at most OPERATOR_BARS: one a cell or row where those are fewer */
    float points[OPERATOR_BARS];
    int64_t most; /* points of the fullest cell or the most used row */
} OperatorBars;

/* Fails without memory. */
bool operator_bars(const OperatorSpec *spec, const BevMap *map, OperatorBars *bars, Err *err);

/* The height of a bar, 0 to 1, logarithmic: the fullest would hide all others. */
double operator_bar_height(const OperatorBars *bars, int bar);

/* The title of the bars: "uses of a row, most first: up to 35,234 (log)". */
void operator_bars_title(const OperatorSpec *spec, const OperatorBars *bars, char *text,
                         size_t size);
