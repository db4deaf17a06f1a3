/* SPDX-License-Identifier: MIT */
/* Scenes without cameras: other operators that are the same sum over a scatter map. A .json file
 * names the operator and its sizes; tensors and map are made from a seed by the rules in
 * operator.c, the same on every machine.
 *
 *     point t adds depth[row] * feat[row, c] to its cell, with row = ranks_depth[t] = ranks_feat[t]
 *
 * depth (1, 1, h, w) has one value for each row, so that any point may have any row. The numbers of
 * rows and cells are rounded up to whole rectangles. No point uses the added rows and cells. */
#pragma once

#include "kernels/bevpool.h"
#include "src/base/units.h"

typedef enum {
    OPERATOR_HISTOGRAM,
    OPERATOR_EMBEDDING_BAG,
    OPERATOR_VOXELIZE,
    OPERATOR_SEGMENTS,
    OPERATOR_COUNT
} OperatorKind;

/* The bars of an operator count the points of each cell in order (BARS_CELLS), of each cell, the
 * fullest first (BARS_SORTED_CELLS), or of each row, the fullest first (BARS_SORTED_ROWS). */
typedef enum { BARS_CELLS, BARS_SORTED_CELLS, BARS_SORTED_ROWS } BarsOf;
typedef struct {
    const char *name;           /* name in files: "embedding_bag" */
    const char *title;          /* name on screens: "Embedding bag" */
    const char *points, *cells; /* "look-ups", "bags" */
    BarsOf bars;
    const char *bars_title; /* "uses of a row, most first" */
} OperatorInfo;
extern const OperatorInfo operator_kinds[OPERATOR_COUNT]; /* indexed by OperatorKind */

enum {
    OPERATOR_MAX_POINTS = 1000000,
    OPERATOR_MAX_CELLS = 1000000,
    OPERATOR_MAX_ROWS = 1000000,
    OPERATOR_MAX_SKEW = 4
};

/* The sizes of an operator, as in its file. */
typedef struct {
    OperatorKind kind;
    int64_t points;   /* points to draw; voxelize: rays, some of which hit nothing */
    int64_t cells;    /* voxelize: a square number */
    int64_t rows;     /* rows of the table; as many as points, except in embedding_bag */
    int64_t channels; /* histogram: 1 */
    double skew;      /* 0 to OPERATOR_MAX_SKEW */
    uint64_t seed;
    char world[64]; /* voxelize: the sample that is scanned */
} OperatorSpec;

typedef struct Scene Scene; /* scene.h */

/* Makes tensors, map and shape of `spec` in the zeroed `scene`, which keeps the spec. Errors begin
 * with `where`: sizes or skew out of bounds. Free with scene_free, also after a failure. */
bool operator_build(const OperatorSpec *spec, const char *where, Scene *scene, Err *err);

/* The changes that a caller can make to an operator scene. Zeroed: no change. */
typedef struct {
    bool skewed; /* `skew` replaces the skew in the scene's file */
    double skew;
    int64_t points; /* points of the operator scene; 0: as in its file */
} OperatorChange;
static inline bool operator_is_changed(const OperatorChange *change) {
    return change->skewed || change->points;
}

static inline bool operator_same_change(const OperatorChange *a, const OperatorChange *b) {
    return a->skewed == b->skewed && a->skew == b->skew && a->points == b->points;
}

/* Makes a loaded operator scene again with these changes. Zeroed changes do nothing. It is an error
 * to change another scene. After a failure the scene is as before. */
bool operator_change(Scene *scene, const OperatorChange *change, Err *err);

/* Appends the changes to a scene's name: ", skew 1.2, 65536 points". */
void operator_label(const OperatorChange *change, char *text, size_t size);

/* Describes an operator scene: "Histogram, no cameras: 262,144 values, 1,024 bins, skew 1". */
ShortText operator_describe(const OperatorSpec *spec);

/* ---- bars ------------------------------------------------------------------------------------ */

/* Bars of a map, as BarsOf says. Each bar is the mean over an equal part of the cells or rows. */
enum { OPERATOR_BARS = 128 };
typedef struct {
    int count; /* at most OPERATOR_BARS: with fewer cells or rows, one bar for each */
    float points[OPERATOR_BARS];
    int64_t most; /* points of the fullest cell or of the most used row */
} OperatorBars;

/* Computes the bars of a map. Fails without memory. */
bool operator_bars(const OperatorSpec *spec, const BevMap *map, OperatorBars *bars, Err *err);

/* Returns the height of a bar, 0 to 1, on a logarithmic scale, which shows small ones too. */
double operator_bar_height(const OperatorBars *bars, int bar);

/* Returns the title of the bars: "uses of a row, most first: up to 35,234 (log)". */
ShortText operator_bars_title(const OperatorSpec *spec, const OperatorBars *bars);
