/* SPDX-License-Identifier: MIT */
/* Expressions of lessons. The operands are figures, numbers and named values. The operators are
 * + - * / < <= > >= = != and or not, parentheses, min() and max(). An expression is text, and its
 * value is computed while the text is read. A new row in figures.inc adds a figure. */
#pragma once

#include "src/state/live_data.h"

/* THE table of what figures are measured in. ROW(ID, unit of text_of_unit() that writes the figure,
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

typedef struct {
    double number; /* 0 or 1 for MEASURE_TRUTH */
    Measure measure;
    FigureSource source;
} Value;

/* Writes "25.1 MB" or "4.20 us (recorded)". A computed figure, or one measured here, shows no
 * source. `unit` is written where the value has no unit of its own: "34.9 % (model)". */
ShortText value_text(const Value *value, const char *unit);

/* Returns the source of a result of two figures: the weaker of their sources. */
FigureSource weaker_source(FigureSource a, FigureSource b);

enum {
    EXPRESSION_NAMES = 16, /* names of a lesson */
    EXPRESSION_NAME = 32   /* bytes of a name, with its NUL */
};

typedef struct {
    int count;
    char names[EXPRESSION_NAMES][EXPRESSION_NAME];
} NameTable;

/* Returns the index of a name; -1: the name is not defined. */
int name_find(const NameTable *names, const char *name);

/* The inputs of an expression, and what reading the expression finds out. A figure gets both. */
typedef struct {
    const State *state;
    const LiveData *live; /* NULL: the text is checked, and its figures and names count as 0 */
    const NameTable *names;
    const Value *values;     /* of the names, by index */
    FigureSource timings;    /* the source that latencies are taken from */
    bool timing_missing;     /* set where a latency is unknown in that source */
    bool varies;             /* set where the expression has a figure or a name */
    KernelSet model_kernels; /* gets the named kernels whose memory model is needed. The selected
                                kernel is left out: its model always exists */
    char why[200];           /* the mistake in the text, or why the value is unknown */

    /* The arguments of the figure that is read now. */
    const BevKernel *kernel; /* NULL: the selection */
    FigureArray array;
    int dtype;     /* -1: the selection's */
    double number; /* after the format, or alone */

    /* Where the text is read, how deeply nested, and what was found so far. */
    const char *at;
    int depth;
    bool wrong, unknown; /* the text is wrong; a figure or a named value is unknown */
} Evaluation;

/* Computes the value. Returns false where the text is wrong, the value is not finite, or a figure
 * in it is unknown. evaluation->why then has the reason, with the nearest known word. */
bool expression_value(const char *text, Evaluation *evaluation, Value *value);

typedef struct {
    const char *name;
    FigureTakes takes;
    Measure measure;
    bool timing;      /* measured here, recorded, or by the model: all of a question's alike */
    bool needs_model; /* from the memory model of the kernel */
    Reading (*get)(Evaluation *query);
} FigureRow;

extern const FigureRow figures[];
extern const int figure_count;

/* Returns the row of the figure with that name; -1: there is none. */
int figure_find(const char *name);
