/* SPDX-License-Identifier: MIT */
/* Parses the rows of a question, and checks that the question is complete. */
#include "src/learn/lesson_internal.h"

#include "src/base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the kind of answer. A second, different kind is refused. */
static bool set_kind(Reader *reader, LessonAsks asks) {
    LessonQuestion *question = reader->open;
    bool free_to_set =
        question->asks == ASKS_NOTHING || (asks == ASKS_CHOICE && question->asks == ASKS_CHOICE);
    if (!free_to_set)
        return reader_refuse(reader, "choose, number or order: one of them",
                             "the question asks for two kinds of answer");
    question->asks = asks;
    return true;
}

static bool read_once(Reader *reader, const char **text, char *rest) {
    if (*text)
        return reader_refuse(reader, "one sentence is enough", "a second row of this kind");
    *text = rest;
    return reader_text(reader, rest);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Reads "TEXT if EXPRESSION". A choice without a condition is always wrong. */
static bool read_choose(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *condition = NULL;
    if (!set_kind(reader, ASKS_CHOICE))
        return false;
    if (question->choice_count == LESSON_CHOICES)
        return reader_refuse(reader, "", "more than %d choices", LESSON_CHOICES);
    for (char *at = rest; (at = strstr(at, " if ")); at += 4)
        condition = at;
    if (condition)
        *condition = '\0';
    for (size_t length = strlen(rest); length && rest[length - 1] == ' ';)
        rest[--length] = '\0';
    LessonChoice *choice = &question->choices[question->choice_count++];
    choice->text = rest;
    if (!*rest)
        return reader_refuse(reader, "", "the choice has no text");
    return reader_expression(reader, condition ? condition + 4 : "false", &choice->value);
}

/* Reads why the choice before it is wrong. */
static bool read_wrong(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    if (question->asks != ASKS_CHOICE)
        return reader_refuse(reader, "a number has hint", "wrong stands below a choose");
    return read_once(reader, &question->choices[question->choice_count - 1].wrong, rest);
}

static bool read_number(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *end;
    if (!set_kind(reader, ASKS_NUMBER))
        return false;
    question->lo = strtod(rest, &end);
    bool ok = end != rest;
    rest = end;
    question->hi = strtod(rest, &end);
    ok = ok && end != rest && isfinite(question->lo) && isfinite(question->hi);
    if (!ok)
        return reader_refuse(reader, "for example: number 1 100 times",
                             "number takes the least and the greatest answer, and a unit");
    if (question->lo >= question->hi)
        return reader_refuse(reader, "the least answer comes first",
                             "the range from %g to %g is the wrong way round", question->lo,
                             question->hi);
    question->unit = end + strspn(end, " \t");
    return true;
}

/* Reads the things to order and their figure: "V1 V2 V3 by FIGURE". */
static bool read_order(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *by = strstr(rest, " by "), expression[96];
    if (!set_kind(reader, ASKS_ORDER))
        return false;
    if (!by)
        return reader_refuse(reader, "for example: order v4 v3 v2 by latency",
                             "order does not say by which figure");
    *by = '\0';
    const char *figure = by + 4 + strspn(by + 4, " \t");
    int row = figure_find(figure);
    if (row >= 0 && figures[row].takes != TAKES_KERNEL &&
        figures[row].takes != TAKES_KERNEL_AND_ARRAY)
        return reader_refuse(reader, "order by latency, for example", "%s is no figure of kernels",
                             figure);
    while (*rest) {
        const char *name = reader_word(&rest);
        const BevKernel *kernel = bev_kernel_find(name);
        if (question->choice_count == LESSON_ORDER)
            return reader_refuse(reader, "", "more than %d kernels to order", LESSON_ORDER);
        LessonChoice *choice = &question->choices[question->choice_count++];
        snprintf(expression, sizeof expression, "%.40s(%.40s)", figure, name);
        if (!reader_expression(reader, expression, &choice->value))
            return false;
        choice->text = kernel->title;
    }
    return true;
}

/* Reads the expected number and its tolerance: "EXPRESSION within 10 %". */
static bool read_expect(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *within = strstr(rest, " within "), *end;
    if (question->expected.count)
        return reader_refuse(reader, "", "a second expect");
    if (!within)
        return reader_refuse(reader, "for example: expect points within 5 %",
                             "expect does not say within what");
    *within = '\0';
    question->within = strtod(within + 8, &end);
    bool number = end != within + 8;
    end += strspn(end, " \t");
    question->percent = *end == '%';
    if (!number || (*end && strcmp(end, "%") != 0) || !isfinite(question->within) ||
        question->within < 0)
        return reader_refuse(reader, "", "within takes a number or a number and %%, not \"%s\"",
                             within + 8);
    return reader_expression(reader, rest, &question->expected);
}

/* ---- what is shown --------------------------------------------------------------------------- */

static bool add_row(Reader *reader, LessonTexts *list, int most, const char *text) {
    if (list->count == most)
        return reader_refuse(reader, "", "more than %d of these rows", most);
    list->rows[list->count++] = text;
    return true;
}

static bool read_run(Reader *reader, char *rest) {
    return reader_control(reader, rest) && add_row(reader, &reader->open->run, LESSON_WORDS, rest);
}

static bool read_again(Reader *reader, char *rest) {
    return reader_control(reader, rest) &&
           add_row(reader, &reader->open->again, LESSON_WORDS, rest);
}

static bool read_show(Reader *reader, char *rest) {
    return reader_text(reader, rest) && add_row(reader, &reader->open->show, LESSON_SHOWS, rest);
}

static bool read_why(Reader *reader, char *rest) {
    return read_once(reader, &reader->open->why, rest);
}

static bool read_hint(Reader *reader, char *rest) {
    return read_once(reader, &reader->open->hint, rest);
}

static bool read_source(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    if (!reader_code(reader, rest))
        return false;
    if (question->code_count == LESSON_CODES)
        return reader_refuse(reader, "", "more than %d sources", LESSON_CODES);
    question->codes[question->code_count++] = reader->lesson->code_count - 1;
    return true;
}

/* ---- the question ---------------------------------------------------------------------------- */

const LessonRow question_rows[] = {
    {"choose", read_choose}, {"wrong", read_wrong}, {"number", read_number}, {"order", read_order},
    {"expect", read_expect}, {"run", read_run},     {"again", read_again},   {"show", read_show},
    {"why", read_why},       {"hint", read_hint},   {"source", read_source}, {NULL, NULL},
};

/* Checks the conditions of choices: where none depends on a figure, exactly one must be true. */
static bool check_conditions(Reader *reader) {
    const LessonQuestion *question = reader->open;
    const OpPool *pool = &reader->lesson->pool;
    int right = 0;
    for (int i = 0; i < question->choice_count; i++) {
        Evaluation evaluation = {.timings = SOURCE_MODEL};
        Value value;
        if (!expression_is_constant(pool, question->choices[i].value))
            return true;
        right += expression_value(pool, question->choices[i].value, &evaluation, &value) &&
                 value.number != 0;
    }
    return right == 1 || reader_refuse(reader, "write `if true` behind the right one",
                                       "%d of the conditions are true, not one", right);
}

bool reader_close_question(Reader *reader) {
    const LessonQuestion *question = reader->open;
    int line = reader->line;
    bool ok = true;
    reader->line = question->line;
    if (question->asks == ASKS_NOTHING)
        ok = reader_refuse(reader, "add choose, number or order", "the question has no answers");
    else if (question->asks == ASKS_NUMBER && !question->expected.count)
        ok = reader_refuse(reader, "add: expect EXPRESSION within 10 %",
                           "nothing says which number is right");
    else if (question->asks != ASKS_NUMBER && question->expected.count)
        ok = reader_refuse(reader, "it belongs to number", "expect without number");
    else if (question->asks != ASKS_NUMBER && question->choice_count < 2)
        ok = reader_refuse(reader, "", "the question has one answer only");
    else if (question->asks == ASKS_CHOICE && question->hint)
        ok = reader_refuse(reader, "write `wrong` below each choose", "a choice takes no hint");
    else if (question->asks == ASKS_CHOICE)
        ok = check_conditions(reader);
    reader->line = line;
    reader->open = NULL;
    return ok;
}
