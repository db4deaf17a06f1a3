/* SPDX-License-Identifier: MIT */
#include "src/learn/expression.h"

#include "src/base/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- units ----------------------------------------------------------------------------------- */

/* Returns the unit of a result. A count beside another unit has none: points * bytes is bytes. */
static Measure measure_of(OpKind kind, Measure a, Measure b) {
    bool product = kind == OP_MULTIPLY || kind == OP_DIVIDE;
    if (kind >= OP_LESS && kind <= OP_OR)
        return MEASURE_TRUTH;
    if (product && b == MEASURE_COUNT && a != MEASURE_COUNT)
        b = MEASURE_NONE;
    if (kind == OP_MULTIPLY && a == MEASURE_COUNT && b != MEASURE_COUNT && b != MEASURE_NONE)
        a = MEASURE_NONE;
    if (b == MEASURE_NONE || (a == b && !product))
        return a;
    return a == MEASURE_NONE && kind != OP_DIVIDE ? b : MEASURE_NONE;
}

/* ---- values ---------------------------------------------------------------------------------- */

static double result_of(OpKind kind, double a, double b) {
    const double results[] = {[OP_ADD] = a + b,
                              [OP_SUBTRACT] = a - b,
                              [OP_MULTIPLY] = a * b,
                              [OP_DIVIDE] = a / b,
                              [OP_LESS] = a<b, [OP_AT_MOST] = a <= b, [OP_MORE] = a> b,
                              [OP_AT_LEAST] = a >= b,
                              [OP_EQUAL] = a == b,
                              [OP_UNEQUAL] = a != b,
                              [OP_AND] = a && b,
                              [OP_OR] = a || b,
                              [OP_MIN] = fmin(a, b),
                              [OP_MAX] = fmax(a, b)};
    return results[kind];
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

/* ---- as text --------------------------------------------------------------------------------- */

FigureSource weaker_source(FigureSource a, FigureSource b) {
    static const int weakness[] = {
        [SOURCE_COMPUTED] = 0,  [SOURCE_MEASURED] = 1, [SOURCE_RECORDED] = 2,
        [SOURCE_PUBLISHED] = 3, [SOURCE_MODEL] = 4,    [SOURCE_UNKNOWN] = 5};
    return weakness[a] > weakness[b] ? a : b;
}

/* Writes a number with three significant digits, without an exponent and trailing zeros. Four
 * digits are kept where they are exact (0.3125). A number below 1, such as a cosine, may take six
 * decimals, so that it is not rounded to 1. */
static void plain_text(double number, char *text, size_t size) {
    double magnitude = fabs(number);
    snprintf(text, size, "%.4g", magnitude);
    if (magnitude >= 1000)
        unit_text(UNIT_COUNT, magnitude, text, size);
    else if (strtod(text, NULL) != magnitude)
        snprintf(text, size, "%.3g", magnitude);
    if (magnitude < 1 && strtod(text, NULL) >= 1)
        snprintf(text, size, "%.6f", magnitude);
}

void value_text(const Value *value, const char *unit, char *text, size_t size) {
    static const Unit units[] = {[MEASURE_US] = UNIT_US,
                                 [MEASURE_BYTES] = UNIT_BYTES,
                                 [MEASURE_COUNT] = UNIT_COUNT,
                                 [MEASURE_ERROR] = UNIT_ERROR,
                                 [MEASURE_GBPS] = UNIT_GBPS};
    /* The units that unit_text does not write. */
    static const char *const plain_units[] = {[MEASURE_NONE] = "",
                                              [MEASURE_PERCENT] = "%",
                                              [MEASURE_METRES] = "m",
                                              [MEASURE_CACHE] = "MiB",
                                              [MEASURE_TRUTH] = NULL};
    const Measure measure = value->measure;
    const char *own = plain_units[measure];
    char number[48];
    double magnitude = fabs(value->number);
    if (measure == MEASURE_TRUTH)
        snprintf(number, sizeof number, "%s", value->number ? "yes" : "no");
    else if (own)
        plain_text(measure == MEASURE_CACHE ? magnitude / 1048576 : magnitude, number,
                   sizeof number);
    else
        unit_text(units[measure], magnitude, number, sizeof number);
    bool named = value->source != SOURCE_COMPUTED && value->source != SOURCE_MEASURED;
    if (!own || measure == MEASURE_NONE)
        own = measure == MEASURE_NONE || measure == MEASURE_COUNT ? unit : "";
    snprintf(text, size, "%s%s%s%s%s%s%s", value->number < 0 ? "-" : "", number, *own ? " " : "",
             own, named ? " (" : "", named ? source_names[value->source] : "", named ? ")" : "");
}

/* ---- parsing: recursive descent with a limited depth ----------------------------------------- */

enum { MAX_DEPTH = 32, MAX_WORDS = 128 };

typedef struct {
    const char *at;
    const NameTable *names;
    OpPool *pool;
    int first, depth;
    bool failed;
    char *why;
    size_t size;
} Parser;

/* Levels of precedence, from operators that bind loosest to single values. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_VALUE };

static void parse_level(Parser *parser, int level);

__attribute__((format(printf, 2, 3))) static void refuse_expression(Parser *parser,
                                                                    const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!parser->failed)
        vsnprintf(parser->why, parser->size, format, args);
    va_end(args);
    parser->failed = true;
}

static void skip_blanks(Parser *parser) {
    parser->at += strspn(parser->at, " \t");
}

static void push_operation(Parser *parser, Op op) {
    OpPool *pool = parser->pool;
    if (parser->failed)
        return;
    if (pool->count - parser->first == EXPRESSION_OPS || pool->count == pool->capacity)
        refuse_expression(parser, "the expression is too long");
    else
        pool->ops[pool->count++] = op;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Reads a name of letters, digits and _. The name is "" where none stands. */
static void read_word(Parser *parser, char word[EXPRESSION_NAME]) {
    int length = 0;
    skip_blanks(parser);
    while (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_')
        length++;
    snprintf(word, EXPRESSION_NAME, "%.*s", length, parser->at);
    parser->at += length;
}

/* Takes `token` where it comes next, but not from the beginning of a longer word. */
static bool take_token(Parser *parser, const char *token) {
    size_t length = strlen(token);
    skip_blanks(parser);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    if (isalpha((unsigned char)token[0]) &&
        (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_'))
        return false;
    parser->at += length;
    return true;
}

int name_find(const NameTable *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->names[i], name))
            return i;
    return -1;
}

static void refuse_nearest(Parser *parser, const char *what, const char *word,
                           const char *const *names, size_t count, const char *otherwise) {
    char hint[128];
    nearest_hint(word, names, count, otherwise, hint, sizeof hint);
    refuse_expression(parser, "no %s is called \"%s\"; %s", what, word, hint);
}

static void refuse_word(Parser *parser, const char *word) {
    const char *words[MAX_WORDS];
    size_t count = 0;
    for (int i = 0; i < figure_count; i++)
        words[count++] = figures[i].name;
    for (int i = 0; i < parser->names->count; i++)
        words[count++] = parser->names->names[i];
    refuse_nearest(parser, "figure or name", word, words, count,
                   "samples/lessons/README.md lists the figures");
}

/* ---- arguments of figures -------------------------------------------------------------------- */

/* Reads one of `names`, upper and lower case alike. Returns its index. */
static int read_place(Parser *parser, const char *what, const char *const *names, int count,
                      const char *otherwise) {
    char word[EXPRESSION_NAME];
    read_word(parser, word);
    for (int i = 0; i < count; i++)
        if (!strcasecmp(names[i], word))
            return i;
    refuse_nearest(parser, what, word, names, (size_t)count, otherwise);
    return 0;
}

static void read_kernel(Parser *parser, Op *op) {
    const char *names[MAX_WORDS];
    int count = 0;
    for (; bev_kernels[count]; count++)
        names[count] = bev_kernels[count]->name;
    if (!take_token(parser, "*"))
        op->kernel =
            bev_kernels[read_place(parser, "kernel", names, count, "bevscope --list shows them")];
}

static void read_array(Parser *parser, Op *op) {
    op->array = (FigureArray)read_place(parser, "array", figure_arrays, ARRAY_COUNT, NULL);
}

static void read_format(Parser *parser, Op *op) {
    const char *names[BEV_DTYPE_COUNT];
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        names[i] = bev_dtypes[i].name;
    op->dtype = read_place(parser, "number format", names, BEV_DTYPE_COUNT, NULL);
}

static void read_number(Parser *parser, Op *op) {
    char *end;
    skip_blanks(parser);
    op->number = strtod(parser->at, &end);
    if (end == parser->at)
        refuse_expression(parser, "a number is missing, for example: rounded(fp8, 0.3)");
    parser->at = end;
}

static void read_arguments(Parser *parser, Op *op) {
    const FigureRow *row = &figures[op->index];
    if (!take_token(parser, "(") || take_token(parser, ")"))
        return;
    if (row->takes == TAKES_KERNEL || row->takes == TAKES_KERNEL_AND_ARRAY)
        read_kernel(parser, op);
    else if (row->takes == TAKES_ARRAY)
        read_array(parser, op);
    else if (row->takes == TAKES_FORMAT || row->takes == TAKES_FORMAT_AND_NUMBER)
        read_format(parser, op);
    if (row->takes == TAKES_NUMBER ||
        (row->takes == TAKES_FORMAT_AND_NUMBER && take_token(parser, ",")))
        read_number(parser, op);
    if (row->takes == TAKES_KERNEL_AND_ARRAY && take_token(parser, ","))
        read_array(parser, op);
    if (!take_token(parser, ")"))
        refuse_expression(parser, "%s() has too many arguments, or its ) is missing", row->name);
}

/* ---- from the innermost outwards ------------------------------------------------------------- */

static void parse_pair(Parser *parser, OpKind kind) {
    if (!take_token(parser, "("))
        refuse_expression(parser, "min and max take two values in parentheses");
    parse_level(parser, LEVEL_OR);
    if (!take_token(parser, ","))
        refuse_expression(parser, "min and max take two values in parentheses");
    parse_level(parser, LEVEL_OR);
    if (!take_token(parser, ")"))
        refuse_expression(parser, "a ) is missing");
    push_operation(parser, (Op){.kind = kind});
}

static void parse_word(Parser *parser) {
    char word[EXPRESSION_NAME];
    read_word(parser, word);
    int name = name_find(parser->names, word), figure = figure_find(word);
    if (!word[0])
        refuse_expression(parser, *parser->at ? "\"%.20s\" is no value" : "a value is missing%s",
                          parser->at);
    else if (!strcmp(word, "true") || !strcmp(word, "false"))
        push_operation(parser, (Op){.kind = OP_NUMBER, .truth = true, .number = word[0] == 't'});
    else if (!strcmp(word, "min") || !strcmp(word, "max"))
        parse_pair(parser, word[1] == 'i' ? OP_MIN : OP_MAX);
    else if (name >= 0)
        push_operation(parser, (Op){.kind = OP_NAME, .index = name});
    else if (figure >= 0) {
        Op op = {.kind = OP_FIGURE, .index = figure, .dtype = -1};
        read_arguments(parser, &op);
        push_operation(parser, op);
    } else
        refuse_word(parser, word);
}

static void parse_value(Parser *parser) {
    char *end;
    if (++parser->depth > MAX_DEPTH)
        refuse_expression(parser, "the expression is nested too deeply");
    if (parser->failed)
        return;
    skip_blanks(parser);
    if (isdigit((unsigned char)*parser->at)) {
        double number = strtod(parser->at, &end);
        parser->at = end;
        push_operation(parser, (Op){.kind = OP_NUMBER, .number = number});
    } else if (take_token(parser, "(")) {
        parse_level(parser, LEVEL_OR);
        if (!take_token(parser, ")"))
            refuse_expression(parser, "a ) is missing");
    } else if (take_token(parser, "-")) {
        parse_value(parser);
        push_operation(parser, (Op){.kind = OP_NEGATE});
    } else
        parse_word(parser);
    parser->depth--;
}

/* The operators. A longer token stands before a token that begins it: "<=" before "<". */
static const struct {
    int level;
    const char *token;
    OpKind kind;
} operators[] = {
    {LEVEL_OR, "or", OP_OR},
    {LEVEL_AND, "and", OP_AND},
    {LEVEL_COMPARISON, "<=", OP_AT_MOST},
    {LEVEL_COMPARISON, "<", OP_LESS},
    {LEVEL_COMPARISON, ">=", OP_AT_LEAST},
    {LEVEL_COMPARISON, ">", OP_MORE},
    {LEVEL_COMPARISON, "==", OP_EQUAL},
    {LEVEL_COMPARISON, "=", OP_EQUAL},
    {LEVEL_COMPARISON, "!=", OP_UNEQUAL},
    {LEVEL_SUM, "+", OP_ADD},
    {LEVEL_SUM, "-", OP_SUBTRACT},
    {LEVEL_PRODUCT, "*", OP_MULTIPLY},
    {LEVEL_PRODUCT, "/", OP_DIVIDE},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* Parses operators of this level on operands of the next. Two comparisons in a row are refused. */
static void parse_level(Parser *parser, int level) {
    bool negated = level == LEVEL_NOT && take_token(parser, "not");
    if (level == LEVEL_VALUE) {
        parse_value(parser);
        return;
    }
    parse_level(parser, level + 1);
    for (int i = 0; i < OPERATORS && !parser->failed; i++)
        if (operators[i].level == level && take_token(parser, operators[i].token)) {
            parse_level(parser, level + 1);
            push_operation(parser, (Op){.kind = operators[i].kind});
            i = level == LEVEL_COMPARISON ? OPERATORS : -1;
        }
    if (negated)
        push_operation(parser, (Op){.kind = OP_NOT});
}

bool expression_parse(const char *text, const NameTable *names, OpPool *pool,
                      Expression *expression, char *why, size_t size) {
    Parser parser = {
        .at = text, .names = names, .pool = pool, .first = pool->count, .why = why, .size = size};
    parse_level(&parser, LEVEL_OR);
    skip_blanks(&parser);
    if (*parser.at)
        refuse_expression(&parser, "\"%.20s\" does not belong to the expression", parser.at);
    *expression = (Expression){parser.first, pool->count - parser.first};
    return !parser.failed;
}
