/* SPDX-License-Identifier: MIT */
#include "src/learn/expression.h"

#include <math.h>
#include <stdio.h>

/* ---- units ----------------------------------------------------------------------------------- */

/* Returns the unit of a result. A count beside another unit has none: points * bytes is bytes. */
static Measure measure_of(OpKind kind, Measure a, Measure b) {
    if (b == MEASURE_COUNT && a != MEASURE_COUNT && (kind == OP_MULTIPLY || kind == OP_DIVIDE))
        b = MEASURE_NONE;
    if (a == MEASURE_COUNT && b != MEASURE_COUNT && b != MEASURE_NONE && kind == OP_MULTIPLY)
        a = MEASURE_NONE;
    switch (kind) {
    case OP_MULTIPLY:
        return a == MEASURE_NONE ? b : b == MEASURE_NONE ? a : MEASURE_NONE;
    case OP_DIVIDE:
        return b == MEASURE_NONE ? a : MEASURE_NONE;
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MIN:
    case OP_MAX:
        return a == b ? a : a == MEASURE_NONE ? b : b == MEASURE_NONE ? a : MEASURE_NONE;
    default:
        return MEASURE_TRUTH;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static double result_of(OpKind kind, double a, double b) {
    switch (kind) {
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    case OP_DIVIDE:
        return a / b;
    case OP_LESS:
        return a < b;
    case OP_AT_MOST:
        return a <= b;
    case OP_MORE:
        return a > b;
    case OP_AT_LEAST:
        return a >= b;
    case OP_EQUAL:
        return a == b;
    case OP_UNEQUAL:
        return a != b;
    case OP_AND:
        return a && b;
    case OP_OR:
        return a || b;
    case OP_MIN:
        return fmin(a, b);
    default:
        return fmax(a, b);
    }
}

static bool figure_value(const Op *op, Evaluation *evaluation, Value *value) {
    const FigureRow *row = &figures[op->index];
    const FigureQuery query = {.state = evaluation->state,
                               .live = evaluation->live,
                               .kernel = op->kernel,
                               .array = op->array,
                               .dtype = op->dtype,
                               .number = op->number,
                               .timings = evaluation->timings,
                               .why = evaluation->why,
                               .why_size = sizeof evaluation->why};
    Reading got = row->get(&query);
    evaluation->timing_missing |= row->timing && got.source == SOURCE_UNKNOWN;
    *value = (Value){got.value, row->measure, got.source};
    return got.source != SOURCE_UNKNOWN;
}

static bool leaf_value(const Op *op, Evaluation *evaluation, Value *value) {
    if (op->kind == OP_FIGURE)
        return figure_value(op, evaluation, value);
    if (op->kind == OP_NAME) {
        *value = evaluation->names[op->index];
        if (value->source == SOURCE_UNKNOWN)
            snprintf(evaluation->why, sizeof evaluation->why,
                     "a value that was to be kept earlier is unknown");
        return value->source != SOURCE_UNKNOWN;
    }
    *value = (Value){op->number, op->truth ? MEASURE_TRUTH : MEASURE_NONE, SOURCE_COMPUTED};
    return true;
}

/* Applies the operation: its operands on top of the stack give way to the result. */
static void apply_operation(OpKind kind, Value *stack, int *height) {
    Value *a = &stack[*height - 1];
    if (kind == OP_NEGATE)
        a->number = -a->number;
    else if (kind == OP_NOT)
        *a = (Value){!a->number, MEASURE_TRUTH, a->source};
    else {
        const Value b = *a;
        a--;
        *a = (Value){result_of(kind, a->number, b.number), measure_of(kind, a->measure, b.measure),
                     weaker_source(a->source, b.source)};
        (*height)--;
    }
}

bool expression_value(const OpPool *pool, Expression expression, Evaluation *evaluation,
                      Value *value) {
    Value stack[EXPRESSION_OPS + 1] = {{0}};
    int height = 0;
    bool known = true;
    evaluation->why[0] = '\0';
    for (int i = 0; i < expression.count; i++) {
        const Op *op = &pool->ops[expression.first + i];
        if (op->kind > OP_FIGURE)
            apply_operation(op->kind, stack, &height);
        else
            known = leaf_value(op, evaluation, &stack[height++]) && known;
    }
    *value = stack[0];
    if (known && !isfinite(value->number)) {
        snprintf(evaluation->why, sizeof evaluation->why, "a division by zero");
        known = false;
    }
    return known;
}

bool expression_is_constant(const OpPool *pool, Expression expression) {
    for (int i = 0; i < expression.count; i++) {
        OpKind kind = pool->ops[expression.first + i].kind;
        if (kind == OP_NAME || kind == OP_FIGURE)
            return false;
    }
    return true;
}

KernelSet expression_model_kernels(const OpPool *pool, Expression expression) {
    KernelSet kernels = 0;
    for (int i = 0; i < expression.count; i++) {
        const Op *op = &pool->ops[expression.first + i];
        if (op->kind == OP_FIGURE && figures[op->index].needs_model && op->kernel)
            kernels |= kernel_bit(op->kernel);
    }
    return kernels;
}
