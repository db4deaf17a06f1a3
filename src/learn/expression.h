/* SPDX-License-Identifier: MIT */
/* Expressions of lessons: figures, numbers and named values, combined by + - * / < <= > >= = != and
 * or not, parentheses, min() and max(). An expression is parsed once into a row of operations. A
 * stack evaluates them. */
#pragma once

#include "src/learn/figures.h"

typedef struct {
    double number; /* 0 or 1 for MEASURE_TRUTH */
    Measure measure;
    FigureSource source;
} Value;

/* Writes "25.1 MB" or "4.20 us (recorded)". A computed figure, or one measured here, shows no
 * source. `unit` is written where the value has no unit of its own: "34.9 % (model)". */
void value_text(const Value *value, const char *unit, char *text, size_t size);

/* Returns the source of a result of two figures: the weaker of their sources. */
FigureSource weaker_source(FigureSource a, FigureSource b);

typedef enum {
    OP_NUMBER,
    OP_NAME,
    OP_FIGURE,
    OP_NEGATE,
    OP_NOT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_LESS,
    OP_AT_MOST,
    OP_MORE,
    OP_AT_LEAST,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_AND,
    OP_OR,
    OP_MIN,
    OP_MAX
} OpKind;

typedef struct {
    OpKind kind;
    bool truth;              /* OP_NUMBER: `true` or `false` */
    int index;               /* OP_NAME: its index in NameTable; OP_FIGURE: its row */
    double number;           /* OP_NUMBER; OP_FIGURE: after its format */
    const BevKernel *kernel; /* OP_FIGURE */
    FigureArray array;
    int dtype;
} Op;

enum {
    EXPRESSION_OPS = 64,   /* operations of an expression */
    EXPRESSION_NAMES = 16, /* names of a lesson */
    EXPRESSION_NAME = 32,  /* bytes of a name, with its NUL */
    EXPRESSION_POOL = 8192 /* operations of a lesson */
};

/* Holds the operations of all expressions of a lesson. The owner gives the memory of `ops`. */
typedef struct {
    Op *ops;
    int count, capacity;
} OpPool;

/* An expression is the operations [first, first + count) of a pool. */
typedef struct {
    int first, count;
} Expression;

typedef struct {
    int count;
    char names[EXPRESSION_NAMES][EXPRESSION_NAME];
} NameTable;

/* Returns the index of a name; -1: the name is not defined. */
int name_find(const NameTable *names, const char *name);

/* Parses `text` into the pool. Returns false where the text is wrong: `why` then has one line with
 * the mistake and the nearest known word. */
bool expression_parse(const char *text, const NameTable *names, OpPool *pool,
                      Expression *expression, char *why, size_t size);

typedef struct {
    const State *state;
    const LiveData *live;
    const Value *names;   /* values of the names, by index */
    FigureSource timings; /* the source that latencies are taken from */
    bool timing_missing;  /* set where a latency is unknown in that source */
    char why[160];        /* why the value is unknown */
} Evaluation;

/* Computes the value. Returns false where the value is not finite, or a figure in it is unknown:
 * evaluation->why then has the reason. */
bool expression_value(const OpPool *pool, Expression expression, Evaluation *evaluation,
                      Value *value);

/* Whether the value is always the same: the expression has no figure and no name. */
bool expression_is_constant(const OpPool *pool, Expression expression);

/* Returns the kernels whose memory model the expression names, as bits 1u << place in
 * bev_kernels[]. The selected kernel is left out: its model always exists. */
KernelSet expression_model_kernels(const OpPool *pool, Expression expression);
