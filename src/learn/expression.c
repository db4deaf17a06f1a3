/* SPDX-License-Identifier: MIT */
#include "src/learn/expression.h"

#include "src/base/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- operators ------------------------------------------------------------------------------- */

/* The levels of precedence. Operators of the first level bind loosest. LEVEL_VALUE is a number, a
 * name or a figure. LEVEL_FUNCTION is min() or max(), which the parser reads as a value. */
/* clang-format off */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_VALUE,
       LEVEL_FUNCTION };

/* THE table of operators. ROW(ID, level, token, result of a and b). "<=" must stand before "<". */
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

/* Returns the unit of a result. A number without a unit, and a count as factor or divisor, leave
 * the other operand's unit: points * bytes are bytes. Other products and mixed sums have none. */
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

/* Writes a number with three significant digits, or with four that are exact (0.3125), and without
 * an exponent. A cosine just below 1 gets six decimals, so that it is not rounded to 1. */
static void plain_text(double number, char *text, size_t size) {
    double magnitude = fabs(number);
    snprintf(text, size, "%.4g", magnitude);
    if (magnitude >= 1000)
        snprintf(text, size, "%s", text_of_unit(UNIT_COUNT, magnitude).text);
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
    const char *suffix = measures[measure].suffix; /* NULL: text_of_unit() writes the unit */
    ShortText text;
    char number[48];
    double magnitude = fabs(value->number);
    if (measure == MEASURE_TRUTH)
        snprintf(number, sizeof number, "%s", value->number ? "yes" : "no");
    else if (suffix)
        plain_text(magnitude / measures[measure].divisor, number, sizeof number);
    else
        snprintf(number, sizeof number, "%s", text_of_unit(measures[measure].unit, magnitude).text);
    if (measure == MEASURE_NONE || measure == MEASURE_COUNT)
        suffix = unit; /* the value has no unit of its own */
    else if (!suffix)
        suffix = "";
    snprintf(text.text, sizeof text.text, "%s%s%s%s", value->number < 0 ? "-" : "", number,
             *suffix ? " " : "", suffix);
    if (value->source != SOURCE_COMPUTED && value->source != SOURCE_MEASURED)
        text_add(text.text, sizeof text.text, " (%s)", source_names[value->source]);
    return text;
}

/* ---- parsing: recursive descent with a limited depth ----------------------------------------- */

enum { MAX_DEPTH = 32, MAX_WORDS = 128 };

static Value parse_level(Evaluation *evaluation, int level);

__attribute__((format(printf, 2, 3))) static void refuse_expression(Evaluation *evaluation,
                                                                    const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!evaluation->wrong)
        vsnprintf(evaluation->why, sizeof evaluation->why, format, args);
    va_end(args);
    evaluation->wrong = true;
}

static void skip_blanks(Evaluation *evaluation) {
    evaluation->at += strspn(evaluation->at, " \t");
}

/* Reads a name of letters, digits and _. The name is "" where none stands. */
static void read_word(Evaluation *evaluation, char word[EXPRESSION_NAME]) {
    int length = 0;
    skip_blanks(evaluation);
    while (isalnum((unsigned char)evaluation->at[length]) || evaluation->at[length] == '_')
        length++;
    snprintf(word, EXPRESSION_NAME, "%.*s", length, evaluation->at);
    evaluation->at += length;
}

/* Takes `token` where it comes next, but not from the beginning of a longer word. */
static bool take_token(Evaluation *evaluation, const char *token) {
    size_t length = strlen(token);
    skip_blanks(evaluation);
    if (strncmp(evaluation->at, token, length) != 0)
        return false;
    if (isalpha((unsigned char)token[0]) &&
        (isalnum((unsigned char)evaluation->at[length]) || evaluation->at[length] == '_'))
        return false;
    evaluation->at += length;
    return true;
}

int name_find(const NameTable *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->names[i], name))
            return i;
    return -1;
}

static void refuse_nearest(Evaluation *evaluation, const char *what, const char *word,
                           const char *const *names, size_t count, const char *otherwise) {
    char hint[128];
    nearest_hint(word, names, count, otherwise, hint, sizeof hint);
    refuse_expression(evaluation, "no %s is called \"%s\"; %s", what, word, hint);
}

static void refuse_word(Evaluation *evaluation, const char *word) {
    const char *words[MAX_WORDS];
    size_t count = 0;
    for (int i = 0; i < figure_count; i++)
        words[count++] = figures[i].name;
    for (int i = 0; i < evaluation->names->count; i++)
        words[count++] = evaluation->names->names[i];
    refuse_nearest(evaluation, "figure or name", word, words, count,
                   "samples/lessons/README.md lists the figures");
}

/* ---- arguments of figures -------------------------------------------------------------------- */

/* Reads one of `names`, upper and lower case alike. Returns its index. */
static int read_place(Evaluation *evaluation, const char *what, const char *const *names, int count,
                      const char *otherwise) {
    char word[EXPRESSION_NAME];
    read_word(evaluation, word);
    for (int i = 0; i < count; i++)
        if (!strcasecmp(names[i], word))
            return i;
    refuse_nearest(evaluation, what, word, names, (size_t)count, otherwise);
    return 0;
}

static void read_kernel(Evaluation *evaluation) {
    const char *names[MAX_WORDS];
    int count = 0;
    for (; bev_kernels[count]; count++)
        names[count] = bev_kernels[count]->name;
    if (!take_token(evaluation, "*"))
        evaluation->kernel = bev_kernels[read_place(evaluation, "kernel", names, count,
                                                    "bevscope --list shows them")];
}

static void read_array(Evaluation *evaluation) {
    evaluation->array =
        (FigureArray)read_place(evaluation, "array", figure_arrays, ARRAY_COUNT, NULL);
}

static void read_format(Evaluation *evaluation) {
    const char *names[BEV_DTYPE_COUNT];
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        names[i] = bev_dtypes[i].name;
    evaluation->dtype = read_place(evaluation, "number format", names, BEV_DTYPE_COUNT, NULL);
}

static void read_number(Evaluation *evaluation) {
    char *end;
    skip_blanks(evaluation);
    evaluation->number = strtod(evaluation->at, &end);
    if (end == evaluation->at)
        refuse_expression(evaluation, "a number is missing, for example: rounded(fp8, 0.3)");
    evaluation->at = end;
}

/* Reads the arguments that the figure takes, separated by commas. Arguments may be missing from the
 * end, except a number that is the only argument. */
static void read_arguments(Evaluation *evaluation, const FigureRow *row) {
    static void (*const readers[])(Evaluation *) = {read_kernel, read_array, read_format,
                                                    read_number};
    if (!take_token(evaluation, "(") || take_token(evaluation, ")"))
        return;
    for (int i = 0, read = 0; i < (int)(sizeof readers / sizeof *readers); i++) {
        if (!(row->takes & 1u << i))
            continue;
        if (read++ == 0 || take_token(evaluation, ","))
            readers[i](evaluation);
    }
    if (!take_token(evaluation, ")"))
        refuse_expression(evaluation, "%s() has too many arguments, or its ) is missing",
                          row->name);
}

/* Reads a figure's arguments, and returns its value. */
static Value parse_figure(Evaluation *evaluation, const FigureRow *row) {
    evaluation->kernel = NULL;
    evaluation->array = ARRAY_ALL;
    evaluation->dtype = -1;
    evaluation->number = 0;
    read_arguments(evaluation, row);
    evaluation->varies = true;
    if (row->needs_model && evaluation->kernel)
        evaluation->model_kernels |= kernel_bit(evaluation->kernel);
    if (!evaluation->live)
        return (Value){0};
    Reading got = row->get(evaluation);
    evaluation->timing_missing |= row->timing && got.source == SOURCE_UNKNOWN;
    evaluation->unknown |= got.source == SOURCE_UNKNOWN;
    return (Value){got.value, row->measure, got.source};
}

/* ---- from the innermost outwards ------------------------------------------------------------- */

static Value parse_pair(Evaluation *evaluation, OpKind kind) {
    if (!take_token(evaluation, "("))
        refuse_expression(evaluation, "min and max take two values in parentheses");
    Value left = parse_level(evaluation, LEVEL_OR);
    if (!take_token(evaluation, ","))
        refuse_expression(evaluation, "min and max take two values in parentheses");
    Value right = parse_level(evaluation, LEVEL_OR);
    if (!take_token(evaluation, ")"))
        refuse_expression(evaluation, "a ) is missing");
    return result_of(kind, left, right);
}

/* Reads true or false, min() or max(), a named value, or a figure. */
static Value parse_word(Evaluation *evaluation) {
    char word[EXPRESSION_NAME];
    read_word(evaluation, word);
    int name = name_find(evaluation->names, word), figure = figure_find(word);
    if (!strcmp(word, "true") || !strcmp(word, "false"))
        return (Value){word[0] == 't', MEASURE_TRUTH, SOURCE_COMPUTED};
    for (int i = OP_MIN; i < OP_COUNT; i++)
        if (!strcmp(word, operators[i].token))
            return parse_pair(evaluation, (OpKind)i);
    if (name >= 0) {
        const Value value = evaluation->live ? evaluation->values[name] : (Value){0};
        evaluation->varies = true;
        if (evaluation->live && value.source == SOURCE_UNKNOWN) {
            snprintf(evaluation->why, sizeof evaluation->why,
                     "a value that was to be kept earlier is unknown");
            evaluation->unknown = true;
        }
        return value;
    }
    if (figure >= 0)
        return parse_figure(evaluation, &figures[figure]);
    if (word[0])
        refuse_word(evaluation, word);
    else
        refuse_expression(evaluation,
                          *evaluation->at ? "\"%.20s\" is no value" : "a value is missing%s",
                          evaluation->at);
    return (Value){0};
}

static Value parse_value(Evaluation *evaluation) {
    Value value = {0};
    if (++evaluation->depth > MAX_DEPTH)
        refuse_expression(evaluation, "the expression is nested too deeply");
    if (evaluation->wrong)
        return value;
    skip_blanks(evaluation);
    if (isdigit((unsigned char)*evaluation->at)) {
        char *end;
        value = (Value){strtod(evaluation->at, &end), MEASURE_NONE, SOURCE_COMPUTED};
        evaluation->at = end;
    } else if (take_token(evaluation, "(")) {
        value = parse_level(evaluation, LEVEL_OR);
        if (!take_token(evaluation, ")"))
            refuse_expression(evaluation, "a ) is missing");
    } else if (take_token(evaluation, "-")) {
        value = parse_value(evaluation);
        value.number = -value.number;
    } else
        value = parse_word(evaluation);
    evaluation->depth--;
    return value;
}

/* Takes an operator of this level, if it comes next. OP_COUNT: no such operator comes next. */
static OpKind take_operator(Evaluation *evaluation, int level) {
    for (OpKind kind = 0; !evaluation->wrong && kind < OP_COUNT; kind++)
        if (operators[kind].level == level && take_token(evaluation, operators[kind].token))
            return kind;
    return OP_COUNT;
}

/* Parses operators of this level, whose operands are of the next level. After one comparison the
 * level ends, so that a < b < c is refused. */
static Value parse_level(Evaluation *evaluation, int level) {
    bool negated = level == LEVEL_NOT && take_token(evaluation, "not");
    bool ended = false;
    if (level == LEVEL_VALUE)
        return parse_value(evaluation);
    Value value = parse_level(evaluation, level + 1);
    for (OpKind kind; !ended && (kind = take_operator(evaluation, level)) < OP_COUNT;) {
        value = result_of(kind, value, parse_level(evaluation, level + 1));
        ended = level == LEVEL_COMPARISON;
    }
    return negated ? (Value){!value.number, MEASURE_TRUTH, value.source} : value;
}

bool expression_value(const char *text, Evaluation *evaluation, Value *value) {
    evaluation->at = text;
    evaluation->depth = 0;
    evaluation->wrong = evaluation->unknown = false;
    evaluation->why[0] = '\0';
    *value = parse_level(evaluation, LEVEL_OR);
    skip_blanks(evaluation);
    if (*evaluation->at)
        refuse_expression(evaluation, "\"%.20s\" does not belong to the expression",
                          evaluation->at);
    const bool checks = !evaluation->live && evaluation->varies; /* figures count as 0 */
    const bool known = !evaluation->wrong && !evaluation->unknown;
    if (known && !isfinite(value->number) && !checks)
        refuse_expression(evaluation, "a division by zero");
    return !evaluation->wrong && !evaluation->unknown;
}
