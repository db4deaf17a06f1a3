/* SPDX-License-Identifier: MIT */
/* The figures that lessons may ask for. A new row in figures.inc adds a figure. */
#pragma once

#include "src/state/live_data.h"

/* THE table of what figures are measured in. ROW(ID, unit of unit_text() that writes the figure,
 * suffix, divisor). Where there is a suffix, the number is divided and stands plainly before it. */
/* clang-format off */
#define MEASURES(ROW)                                                                              \
    ROW(NONE, COUNT, "", 1)                                                                        \
    ROW(US, US, NULL, 1)                                                                           \
    ROW(BYTES, BYTES, NULL, 1)                                                                     \
    ROW(COUNT, COUNT, NULL, 1)                                                                     \
    ROW(ERROR, ERROR, NULL, 1)                                                                     \
    ROW(PERCENT, COUNT, "%", 1)                                                                    \
    ROW(GBPS, GBPS, NULL, 1)                                                                       \
    ROW(METRES, COUNT, "m", 1)                                                                     \
    ROW(CACHE, BYTES, "MiB", 1048576)                                                              \
    ROW(TRUTH, COUNT, NULL, 1) /* yes or no */
/* clang-format on */
#define MEASURE(id, ...) MEASURE_##id,
typedef enum { MEASURES(MEASURE) } Measure;
#undef MEASURE

/* The arguments that a figure takes in parentheses, in this order. */
typedef enum {
    TAKES_NOTHING = 0,
    TAKES_KERNEL = 1, /* a kernel, `*` or nothing: the selection */
    TAKES_ARRAY = 2,  /* an array or nothing: all of them */
    TAKES_FORMAT = 4, /* a number format or nothing: the selection's */
    TAKES_NUMBER = 8,
    TAKES_KERNEL_AND_ARRAY = TAKES_KERNEL | TAKES_ARRAY,
    TAKES_FORMAT_AND_NUMBER = TAKES_FORMAT | TAKES_NUMBER
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
