/* SPDX-License-Identifier: MIT */
/* Expressions of lessons: figures, numbers and named values, combined by + - * / < <= > >= = != and
 * or not, parentheses, min() and max(). An expression is text, and is computed while it is read. */
#pragma once

#include "src/learn/figures.h"

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

/* What an expression reads, and what is learned about the expression. */
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
} Evaluation;

/* Computes the value. Returns false where the text is wrong, the value is not finite, or a figure
 * in it is unknown. evaluation->why then has the reason, with the nearest known word. */
bool expression_value(const char *text, Evaluation *evaluation, Value *value);
