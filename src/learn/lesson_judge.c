/* SPDX-License-Identifier: MIT */
/* Reads the learner's answer, judges it, and explains the verdict. */
#include "src/learn/lesson_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* Writes the value of the expression between `from` and `end`, the inside of a text's braces. The
 * expression was checked when the lesson was read. */
static bool brace_text(const LessonRun *run, const char *from, const char *end,
                       Evaluation *evaluation, char *out, size_t size) {
    Op ops[EXPRESSION_OPS];
    OpPool pool = {.ops = ops, .capacity = EXPRESSION_OPS};
    Expression expression;
    Value value;
    char inner[256], why[200];
    snprintf(inner, sizeof inner, "%.*s", (int)(end - from), from);
    snprintf(out, size, "n/a");
    if (!expression_parse(inner, &run->lesson->names, &pool, &expression, why, sizeof why) ||
        !expression_value(&pool, expression, evaluation, &value))
        return false;
    value_text(&value, "", out, size);
    return true;
}

/* Names the source once, behind the last figure, where all figures of a text have one source. */
static void name_source_once(char *text) {
    static const char *const names[] = {" (recorded)", " (model)", " (published)"};
    const char *only = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i])) {
            if (only)
                return;
            only = names[i];
        }
    for (char *at = text, *next; only && (at = strstr(at, only)); at = next) {
        size_t length = strlen(only);
        next = strstr(at + length, only);
        if (!next)
            return;
        memmove(at, at + length, strlen(at + length) + 1);
        next -= length;
    }
}

bool lesson_text(const LessonRun *run, const char *text, Evaluation *evaluation, char *out,
                 size_t size) {
    size_t used = 0;
    bool known = true;
    out[0] = '\0';
    while (*text && used + 1 < size) {
        size_t plain = strcspn(text, "{");
        int n = snprintf(out + used, size - used, "%.*s", (int)plain, text);
        used += (size_t)n < size - used ? (size_t)n : size - used - 1;
        text += plain;
        if (*text != '{')
            continue;
        char value[80];
        const char *end = strchr(text, '}');
        known = brace_text(run, text + 1, end, evaluation, value, sizeof value) && known;
        n = snprintf(out + used, size - used, "%s", value);
        used += (size_t)n < size - used ? (size_t)n : size - used - 1;
        text = end + 1;
    }
    name_source_once(out);
    return known;
}

/* Returns the number of blanks that begin all lines. They are cut off, because a pane is narrow. */
static size_t common_indent(const char *text) {
    size_t least = SIZE_MAX;
    while (*text) {
        size_t blanks = strspn(text, " "), length = strcspn(text, "\n");
        if (blanks < length && blanks < least)
            least = blanks;
        text += length + (text[length] == '\n');
    }
    return least == SIZE_MAX ? 0 : least;
}

void lesson_add_code(PaneText *pane, const LessonCode *code) {
    char line[200];
    const char *text = code->text ? code->text : "";
    size_t indent = common_indent(text);
    snprintf(line, sizeof line, "%.150s, line %d", code->file, code->line);
    pane_add(pane, PANE_SOURCE, false, line);
    for (int i = 0; i < code->lines && *text; i++) {
        size_t length = strcspn(text, "\n"), cut = indent < length ? indent : length;
        int shown = (int)(length - cut < 180 ? length - cut : 180);
        snprintf(line, sizeof line, "%4d  %.*s", code->line + i, shown, text + cut);
        pane_add(pane, PANE_CODE, false, line);
        text += length + (text[length] == '\n');
    }
}

/* ---- reading an answer ----------------------------------------------------------------------- */

/* Notes how the answer to an order is typed. Returns false. */
static bool refuse_order(LessonRun *run) {
    snprintf(run->note, sizeof run->note,
             "Each number from 1 to %d once, the first place first: for example %s",
             lesson_run_question(run)->choice_count, "2 1 3");
    return false;
}

static bool read_order(LessonRun *run, const char *text) {
    int count = lesson_run_question(run)->choice_count;
    unsigned seen = 0;
    run->order_count = 0;
    for (; *text; text++) {
        if (*text == ' ' || *text == ',')
            continue;
        int place = *text - '1';
        if (place < 0 || place >= count || seen & 1u << place)
            return refuse_order(run);
        seen |= 1u << place;
        run->order[run->order_count++] = place;
    }
    return run->order_count == count || refuse_order(run);
}

static bool read_choice(LessonRun *run, const char *text) {
    int count = lesson_run_question(run)->choice_count, choice;
    char more[2];
    if (sscanf(text, "%d %1s", &choice, more) == 1 && choice >= 1 && choice <= count) {
        run->choice = choice - 1;
        return true;
    }
    snprintf(run->note, sizeof run->note, "Choose a number from 1 to %d.", count);
    return false;
}

static bool read_number(LessonRun *run, const char *text) {
    const LessonQuestion *question = lesson_run_question(run);
    char *end;
    double number = strtod(text, &end);
    const char *unit = end + strspn(end, " %");
    bool ok = end != text && (!*unit || !strcmp(unit, question->unit));
    if (ok && number >= question->lo && number <= question->hi) {
        run->number = number;
        size_t length = (size_t)(end - text);
        length = length < sizeof run->typed ? length : sizeof run->typed - 1;
        memmove(run->typed, text, length); /* `text` may lie in run->typed */
        run->typed[length] = '\0';
        return true;
    }
    snprintf(run->note, sizeof run->note, "A number from %.9g to %.9g%s%s, please.", question->lo,
             question->hi, *question->unit ? " " : "", question->unit);
    return false;
}

bool lesson_read_answer(LessonRun *run, const char *text) {
    text += strspn(text, " \t");
    switch (lesson_run_question(run)->asks) {
    case ASKS_CHOICE:
        return read_choice(run, text);
    case ASKS_ORDER:
        return read_order(run, text);
    default:
        return read_number(run, text);
    }
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Figures within one percent are a tie: either order of them is right. */
static const double tie = 0.01;

static LessonVerdict judge_choice(const LessonRun *run, Evaluation *evaluation, int *right) {
    const LessonQuestion *question = lesson_run_question(run);
    int found = 0;
    for (int i = 0; i < question->choice_count; i++) {
        Value value;
        if (!expression_value(&run->lesson->pool, question->choices[i].value, evaluation, &value))
            return VERDICT_VOID;
        if (value.number != 0) {
            found++;
            *right = i;
        }
    }
    if (found == 1)
        return *right == run->choice ? VERDICT_RIGHT : VERDICT_WRONG;
    snprintf(evaluation->why, sizeof evaluation->why, "%s of its answers %s right here",
             found ? "more than one" : "none", found ? "are" : "is");
    return VERDICT_VOID;
}

static LessonVerdict judge_number(const LessonRun *run, Evaluation *evaluation, Value *right) {
    const LessonQuestion *question = lesson_run_question(run);
    if (!expression_value(&run->lesson->pool, question->expected, evaluation, right))
        return VERDICT_VOID;
    double slack =
        question->percent ? question->within / 100 * fabs(right->number) : question->within;
    double off = fabs(run->number - right->number);
    return off <= slack * (1 + 1e-9) + 1e-12 ? VERDICT_RIGHT : VERDICT_WRONG;
}

static LessonVerdict judge_order(const LessonRun *run, Evaluation *evaluation, Value *values) {
    const LessonQuestion *question = lesson_run_question(run);
    for (int i = 0; i < question->choice_count; i++)
        if (!expression_value(&run->lesson->pool, question->choices[i].value, evaluation,
                              &values[i]))
            return VERDICT_VOID;
    for (int i = 1; i < question->choice_count; i++)
        if (values[run->order[i]].number < values[run->order[i - 1]].number * (1 - tie))
            return VERDICT_WRONG;
    return VERDICT_RIGHT;
}

typedef struct {
    LessonVerdict verdict;
    int choice;                /* the right one */
    Value number;              /* the right one */
    Value order[LESSON_ORDER]; /* the figure that orders the things */
} Judgement;

static Judgement judge_answer(const LessonRun *run, Evaluation *evaluation) {
    Judgement judgement = {.choice = -1};
    LessonAsks asks = lesson_run_question(run)->asks;
    judgement.verdict = asks == ASKS_CHOICE  ? judge_choice(run, evaluation, &judgement.choice)
                        : asks == ASKS_ORDER ? judge_order(run, evaluation, judgement.order)
                                             : judge_number(run, evaluation, &judgement.number);
    return judgement;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* Writes the right order: each thing with the figure that orders it. */
static void order_text(LessonRun *run, const Judgement *judgement, char *text, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    bool taken[LESSON_ORDER] = {false};
    size_t used = 0;
    for (int place = 0; place < question->choice_count; place++) {
        int least = -1;
        char value[48];
        for (int i = 0; i < question->choice_count; i++)
            if (!taken[i] &&
                (least < 0 || judgement->order[i].number < judgement->order[least].number))
                least = i;
        taken[least] = true;
        run->right_order[place] = least;
        value_text(&judgement->order[least], "", value, sizeof value);
        int n = snprintf(text + used, size - used, "%s%s %s", place ? ", " : "",
                         question->choices[least].text, value);
        used += (size_t)n < size - used ? (size_t)n : size - used - 1;
    }
}

static void add_verdict(LessonRun *run, const Judgement *judgement) {
    const LessonQuestion *question = lesson_run_question(run);
    char *answer = run->solution, text[480];
    const size_t size = sizeof run->solution;
    run->right_choice = judgement->choice;
    run->right_number = judgement->number.number;
    if (question->asks == ASKS_CHOICE)
        snprintf(answer, size, "%s", question->choices[judgement->choice].text);
    else if (question->asks == ASKS_ORDER) {
        order_text(run, judgement, answer, size);
        name_source_once(answer);
    } else
        value_text(&judgement->number, question->unit, answer, size);
    bool right = judgement->verdict == VERDICT_RIGHT;
    char taken[48] = "";
    if (right && question->within > 0)
        snprintf(taken, sizeof taken, " (%g%s more or less is taken)", question->within,
                 question->percent ? " %" : "");
    snprintf(text, sizeof text, "%s%s%s", right ? "Right: " : "No. The answer: ", answer, taken);
    pane_add(&run->reveal, right ? PANE_RIGHT : PANE_WRONG, false, text);
}

/* Adds `before` and `text` (NULL: nothing) as a reason. Returns false where a figure is unknown. */
static bool add_reason(LessonRun *run, PaneKind kind, const char *before, const char *text,
                       Evaluation *evaluation) {
    char row[1200];
    size_t length = (size_t)snprintf(row, sizeof row, "%s", before);
    bool known = !text || lesson_text(run, text, evaluation, row + length, sizeof row - length);
    if (text)
        pane_add(&run->reveal, kind, false, row);
    return known;
}

/* Adds the texts that explain the verdict. Returns false where a figure in them is unknown. */
static bool add_reasons(LessonRun *run, LessonVerdict verdict, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    bool choice = question->asks == ASKS_CHOICE, known = true;
    const char *mistake = choice ? question->choices[run->choice].wrong : question->hint;
    for (int i = 0; i < question->show.count; i++)
        known = add_reason(run, PANE_SHOW, "", question->show.rows[i], evaluation) && known;
    if (verdict == VERDICT_WRONG)
        known =
            add_reason(run, PANE_HINT, choice ? "" : "To find it: ", mistake, evaluation) && known;
    known = add_reason(run, PANE_WHY, "", question->why, evaluation) && known;
    for (int i = 0; i < question->code_count; i++)
        lesson_add_code(&run->reveal, &run->lesson->codes[question->codes[i]]);
    return known;
}

/* Adds the verdict to the score. Only the first answer to a question counts. */
static void count_answer(LessonRun *run) {
    bool counts = run->first && run->verdict != VERDICT_VOID && run->page >= run->answered;
    run->asked += counts;
    run->right += counts && run->verdict == VERDICT_RIGHT;
    if (counts)
        run->answered = run->page + 1;
    run->void_count += run->verdict == VERDICT_VOID;
    run->first = false;
}

/* Judges the answer by latencies of one source: measured here, else recorded, else of the model. */
static Judgement judge_by_best_source(const LessonRun *run, Evaluation *evaluation) {
    static const FigureSource sources[] = {SOURCE_MEASURED, SOURCE_RECORDED, SOURCE_MODEL};
    Judgement judgement = {.verdict = VERDICT_VOID};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        evaluation->timings = sources[i];
        evaluation->timing_missing = false;
        judgement = judge_answer(run, evaluation);
        if (judgement.verdict != VERDICT_VOID || !evaluation->timing_missing)
            break;
    }
    return judgement;
}

bool lesson_run_judge(LessonRun *run, const State *state, const LiveData *live, bool final) {
    Evaluation evaluation = {.state = state, .live = live, .names = run->names};
    const Judgement judgement = judge_by_best_source(run, &evaluation);
    char text[240];
    if (judgement.verdict == VERDICT_VOID && run->hurries)
        snprintf(text, sizeof text,
                 "Not judged: you went on before the figures were there. It does "
                 "not count.");
    else if (judgement.verdict == VERDICT_VOID)
        snprintf(text, sizeof text, "Cannot be judged here: %s%s. It does not count.",
                 evaluation.why, live->timed ? ", or not yet" : "");
    if (!final && judgement.verdict == VERDICT_VOID)
        return false;
    run->reveal = (PaneText){.count = 0};
    if (judgement.verdict == VERDICT_VOID)
        pane_add(&run->reveal, PANE_NOTE, false, text);
    else
        add_verdict(run, &judgement);
    if (!add_reasons(run, judgement.verdict, &evaluation) && !final) {
        run->reveal = (PaneText){.count = 0};
        return false;
    }
    run->verdict = judgement.verdict;
    for (int row = 0, rows = run->reveal.count; row < rows; row++)
        lesson_explain_sources(run, &run->reveal, pane_row(&run->reveal, row));
    count_answer(run);
    run->phase = PHASE_VERDICT;
    return true;
}
