/* SPDX-License-Identifier: MIT */
/* The figures that lessons may ask for. A new row in figures.inc adds a figure. */
#pragma once

#include "src/state/live_data.h"

/* clang-format off */
typedef enum {
    MEASURE_NONE, MEASURE_US, MEASURE_BYTES, MEASURE_COUNT, MEASURE_ERROR, MEASURE_PERCENT,
    MEASURE_GBPS, MEASURE_METRES, MEASURE_CACHE, /* bytes, printed in MiB */ MEASURE_TRUTH
} Measure;
/* clang-format on */

/* The arguments that a figure takes in parentheses. */
typedef enum {
    TAKES_NOTHING,
    TAKES_KERNEL,           /* a kernel, `*` or nothing: the selection */
    TAKES_KERNEL_AND_ARRAY, /* the same, and an array or nothing: all of them */
    TAKES_ARRAY,            /* an array or nothing */
    TAKES_FORMAT_AND_NUMBER,
    TAKES_NUMBER,
    TAKES_FORMAT            /* a number format or nothing: the selection's */
} FigureTakes;

/* clang-format off */
typedef enum {
    ARRAY_ALL, ARRAY_FEATURES, ARRAY_DEPTH, ARRAY_INDICES, ARRAY_WEIGHTS, ARRAY_OUTPUT,
    ARRAY_RANKS, ARRAY_GRADIENTS, ARRAY_COUNT
} FigureArray;
/* clang-format on */
extern const char *const figure_arrays[ARRAY_COUNT]; /* "all", "features", ... */

/* The question for one figure: the state, its kernel, array, format and source. */
typedef struct {
    const State *state;
    const LiveData *live;
    const BevKernel *kernel; /* NULL: the selection */
    FigureArray array;
    int dtype;            /* -1: the selection's */
    double number;        /* after the format, or alone */
    FigureSource timings; /* the source that latencies are taken from */
    char *why;            /* where the figure is unknown: the reason, in a few words */
    size_t why_size;
} FigureQuery;

typedef struct {
    const char *name;
    FigureTakes takes;
    Measure measure;
    bool timing;      /* measured here, recorded, or by the model: all of a question's alike */
    bool needs_model; /* from the memory model of the kernel */
    Reading (*get)(const FigureQuery *query);
} FigureRow;

extern const FigureRow figures[];
extern const int figure_count;

/* Returns the row of the figure with that name; -1: there is none. */
int figure_find(const char *name);
