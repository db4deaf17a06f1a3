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

/* ---- operators ------------------------------------------------------------------------------- */

/* Levels of precedence, from operators that bind loosest to single values; functions of two. */
/* clang-format off */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_VALUE,
       LEVEL_FUNCTION };

/* THE table of operators. ROW(ID, level, token, result of a and b). A longer token stands before a
 * token that begins it: "<=" before "<". */
#define OPERATORS(ROW)                                                                             \
    ROW(OR, OR, "or", a || b)                                                                      \
    ROW(AND, AND, "and", a && b)                                                                   \
    ROW(AT_MOST, COMPARISON, "<=", a <= b)                                                         \
    ROW(LESS, COMPARISON, "<", a < b)                                                              \
    ROW(AT_LEAST, COMPARISON, ">=", a >= b)                                                        \
    ROW(MORE, COMPARISON, ">", a > b)                                                              \
    ROW(EQUAL, COMPARISON, "==", a == b)                                                           \
    ROW(SAME, COMPARISON, "=", a == b)                                                             \
    ROW(UNEQUAL, COMPARISON, "!=", a != b)                                                         \
    ROW(ADD, SUM, "+", a + b)                                                                      \
    ROW(SUBTRACT, SUM, "-", a - b)                                                                 \
    ROW(MULTIPLY, PRODUCT, "*", a * b)                                                             \
    ROW(DIVIDE, PRODUCT, "/", a / b)                                                               \
    ROW(MIN, FUNCTION, "min", fmin(a, b))                                                          \
    ROW(MAX, FUNCTION, "max", fmax(a, b))
#define KIND(id, ...)                  OP_##id,
#define TOKEN(id, level, token, value) {LEVEL_##level, token},
#define RESULT(id, level, token, value) value,
typedef enum { OPERATORS(KIND) OP_COUNT } OpKind;
static const struct {
    int level;
    const char *token;
} operators[] = {OPERATORS(TOKEN)};
/* clang-format on */

/* Returns the unit of a result. A count beside another unit has none: points * bytes is bytes. */
static Measure measure_of(OpKind kind, Measure a, Measure b) {
    bool product = operators[kind].level == LEVEL_PRODUCT;
    if (operators[kind].level <= LEVEL_COMPARISON)
        return MEASURE_TRUTH;
    if (product && b == MEASURE_COUNT && a != MEASURE_COUNT)
        b = MEASURE_NONE;
    if (kind == OP_MULTIPLY && a == MEASURE_COUNT && b != MEASURE_COUNT && b != MEASURE_NONE)
        a = MEASURE_NONE;
    if (b == MEASURE_NONE || (a == b && !product))
        return a;
    return a == MEASURE_NONE && kind != OP_DIVIDE ? b : MEASURE_NONE;
}

static Value result_of(OpKind kind, Value left, Value right) {
    const double a = left.number, b = right.number;
    const double results[] = {OPERATORS(RESULT)};
    return (Value){results[kind], measure_of(kind, left.measure, right.measure),
                   weaker_source(left.source, right.source)};
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

ShortText value_text(const Value *value, const char *unit) {
#define MEASURE(id, unit, suffix, divisor) {UNIT_##unit, suffix, divisor},
    static const struct {
        Unit unit;
        const char *suffix;
        double divisor;
    } measures[] = {MEASURES(MEASURE)};
#undef MEASURE
    const Measure measure = value->measure;
    const char *own = measures[measure].suffix;
    ShortText text;
    char number[48];
    double magnitude = fabs(value->number);
    if (measure == MEASURE_TRUTH)
        snprintf(number, sizeof number, "%s", value->number ? "yes" : "no");
    else if (own)
        plain_text(magnitude / measures[measure].divisor, number, sizeof number);
    else
        unit_text(measures[measure].unit, magnitude, number, sizeof number);
    bool named = value->source != SOURCE_COMPUTED && value->source != SOURCE_MEASURED;
    if (!own || measure == MEASURE_NONE)
        own = measure == MEASURE_NONE || measure == MEASURE_COUNT ? unit : "";
    snprintf(text.text, sizeof text.text, "%s%s%s%s", value->number < 0 ? "-" : "", number,
             *own ? " " : "", own);
    if (named)
        text_add(text.text, sizeof text.text, " (%s)", source_names[value->source]);
    return text;
}

/* ---- parsing: recursive descent with a limited depth ----------------------------------------- */

enum { MAX_DEPTH = 32, MAX_WORDS = 128 };

typedef struct {
    const char *at;
    Evaluation *evaluation;
    int depth;
    bool wrong;   /* the text is wrong */
    bool unknown; /* a figure or a named value is unknown */
} Parser;

static Value parse_level(Parser *parser, int level);

__attribute__((format(printf, 2, 3))) static void refuse_expression(Parser *parser,
                                                                    const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!parser->wrong)
        vsnprintf(parser->evaluation->why, sizeof parser->evaluation->why, format, args);
    va_end(args);
    parser->wrong = true;
}

static void skip_blanks(Parser *parser) {
    parser->at += strspn(parser->at, " \t");
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
    for (int i = 0; i < parser->evaluation->names->count; i++)
        words[count++] = parser->evaluation->names->names[i];
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

static void read_kernel(Parser *parser, FigureQuery *query) {
    const char *names[MAX_WORDS];
    int count = 0;
    for (; bev_kernels[count]; count++)
        names[count] = bev_kernels[count]->name;
    if (!take_token(parser, "*"))
        query->kernel =
            bev_kernels[read_place(parser, "kernel", names, count, "bevscope --list shows them")];
}

static void read_array(Parser *parser, FigureQuery *query) {
    query->array = (FigureArray)read_place(parser, "array", figure_arrays, ARRAY_COUNT, NULL);
}

static void read_format(Parser *parser, FigureQuery *query) {
    const char *names[BEV_DTYPE_COUNT];
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        names[i] = bev_dtypes[i].name;
    query->dtype = read_place(parser, "number format", names, BEV_DTYPE_COUNT, NULL);
}

static void read_number(Parser *parser, FigureQuery *query) {
    char *end;
    skip_blanks(parser);
    query->number = strtod(parser->at, &end);
    if (end == parser->at)
        refuse_expression(parser, "a number is missing, for example: rounded(fp8, 0.3)");
    parser->at = end;
}

/* Reads the arguments that the figure takes, from the front. All are optional but a number alone.
 */
static void read_arguments(Parser *parser, const FigureRow *row, FigureQuery *query) {
    static void (*const readers[])(Parser *, FigureQuery *) = {read_kernel, read_array, read_format,
                                                               read_number};
    if (!take_token(parser, "(") || take_token(parser, ")"))
        return;
    for (int i = 0, read = 0; i < (int)(sizeof readers / sizeof *readers); i++)
        if (row->takes & 1u << i && (!read++ || take_token(parser, ",")))
            readers[i](parser, query);
    if (!take_token(parser, ")"))
        refuse_expression(parser, "%s() has too many arguments, or its ) is missing", row->name);
}

/* Reads a figure's arguments, and returns its value. */
static Value parse_figure(Parser *parser, const FigureRow *row) {
    Evaluation *evaluation = parser->evaluation;
    FigureQuery query = {.state = evaluation->state,
                         .live = evaluation->live,
                         .dtype = -1,
                         .timings = evaluation->timings,
                         .why = evaluation->why,
                         .why_size = sizeof evaluation->why};
    read_arguments(parser, row, &query);
    evaluation->varies = true;
    if (row->needs_model && query.kernel)
        evaluation->model_kernels |= kernel_bit(query.kernel);
    if (!evaluation->live)
        return (Value){0};
    Reading got = row->get(&query);
    evaluation->timing_missing |= row->timing && got.source == SOURCE_UNKNOWN;
    parser->unknown |= got.source == SOURCE_UNKNOWN;
    return (Value){got.value, row->measure, got.source};
}

/* ---- from the innermost outwards ------------------------------------------------------------- */

static Value parse_pair(Parser *parser, OpKind kind) {
    if (!take_token(parser, "("))
        refuse_expression(parser, "min and max take two values in parentheses");
    Value left = parse_level(parser, LEVEL_OR);
    if (!take_token(parser, ","))
        refuse_expression(parser, "min and max take two values in parentheses");
    Value right = parse_level(parser, LEVEL_OR);
    if (!take_token(parser, ")"))
        refuse_expression(parser, "a ) is missing");
    return result_of(kind, left, right);
}

static Value parse_name(Parser *parser, int name) {
    Evaluation *evaluation = parser->evaluation;
    evaluation->varies = true;
    if (!evaluation->live)
        return (Value){0};
    if (evaluation->values[name].source == SOURCE_UNKNOWN) {
        snprintf(evaluation->why, sizeof evaluation->why,
                 "a value that was to be kept earlier is unknown");
        parser->unknown = true;
    }
    return evaluation->values[name];
}

static Value parse_word(Parser *parser) {
    char word[EXPRESSION_NAME];
    read_word(parser, word);
    int name = name_find(parser->evaluation->names, word), figure = figure_find(word);
    if (!strcmp(word, "true") || !strcmp(word, "false"))
        return (Value){word[0] == 't', MEASURE_TRUTH, SOURCE_COMPUTED};
    for (int i = OP_MIN; i < OP_COUNT; i++)
        if (!strcmp(word, operators[i].token))
            return parse_pair(parser, (OpKind)i);
    if (name >= 0)
        return parse_name(parser, name);
    if (figure >= 0)
        return parse_figure(parser, &figures[figure]);
    if (word[0])
        refuse_word(parser, word);
    else
        refuse_expression(parser, *parser->at ? "\"%.20s\" is no value" : "a value is missing%s",
                          parser->at);
    return (Value){0};
}

static Value parse_value(Parser *parser) {
    Value value = {0};
    if (++parser->depth > MAX_DEPTH)
        refuse_expression(parser, "the expression is nested too deeply");
    if (parser->wrong)
        return value;
    skip_blanks(parser);
    if (isdigit((unsigned char)*parser->at)) {
        char *end;
        value = (Value){strtod(parser->at, &end), MEASURE_NONE, SOURCE_COMPUTED};
        parser->at = end;
    } else if (take_token(parser, "(")) {
        value = parse_level(parser, LEVEL_OR);
        if (!take_token(parser, ")"))
            refuse_expression(parser, "a ) is missing");
    } else if (take_token(parser, "-")) {
        value = parse_value(parser);
        value.number = -value.number;
    } else
        value = parse_word(parser);
    parser->depth--;
    return value;
}

/* Parses operators of this level on operands of the next. Two comparisons in a row are refused. */
static Value parse_level(Parser *parser, int level) {
    bool negated = level == LEVEL_NOT && take_token(parser, "not");
    if (level == LEVEL_VALUE)
        return parse_value(parser);
    Value value = parse_level(parser, level + 1);
    for (int i = 0; i < OP_COUNT && !parser->wrong; i++)
        if (operators[i].level == level && take_token(parser, operators[i].token)) {
            value = result_of((OpKind)i, value, parse_level(parser, level + 1));
            i = level == LEVEL_COMPARISON ? OP_COUNT : -1;
        }
    return negated ? (Value){!value.number, MEASURE_TRUTH, value.source} : value;
}

bool expression_value(const char *text, Evaluation *evaluation, Value *value) {
    Parser parser = {.at = text, .evaluation = evaluation};
    evaluation->why[0] = '\0';
    *value = parse_level(&parser, LEVEL_OR);
    skip_blanks(&parser);
    if (*parser.at)
        refuse_expression(&parser, "\"%.20s\" does not belong to the expression", parser.at);
    bool checks = !evaluation->live && evaluation->varies;
    if (!parser.wrong && !parser.unknown && !isfinite(value->number) && !checks)
        refuse_expression(&parser, "a division by zero");
    return !parser.wrong && !parser.unknown;
}
