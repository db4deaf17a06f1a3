/* SPDX-License-Identifier: MIT */
/* The machine that runs a lesson: it carries out steps, reads answers and judges answers. */
#include "src/learn/lesson_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- where the machine stands ---------------------------------------------------------------- */

static const LessonPage *page_of(const LessonRun *run) {
    return &run->lesson->pages[run->page];
}

const LessonQuestion *lesson_run_question(const LessonRun *run) {
    return run->page < run->lesson->page_count ? page_of(run)->question : NULL;
}

/* Whether the run passes the page without a stop, on its way to page `target`. */
static bool is_quiet(const LessonRun *run) {
    return run->page < run->target;
}

/* Returns the step that is carried out next; NULL: the page has no more. */
static const LessonStep *current_step(const LessonRun *run) {
    const LessonPage *page = page_of(run);
    return run->step < page->first + page->count ? &run->lesson->steps[run->step] : NULL;
}

bool lesson_run_asks_again(const LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    return run->verdict == VERDICT_WRONG && question && question->again.count > 0 && !run->alone;
}

static void enter_page(LessonRun *run, int page) {
    if (lesson_run_question(run))
        run->point = PANEL_NONE; /* what was pointed at belonged to the question */
    run->page = page;
    run->frame = run->again = 0;
    run->verdict = VERDICT_NONE;
    run->hurries = false;
    run->page_text = (PaneText){.count = 0};
    run->typed[0] = run->note[0] = '\0';
    if (page >= run->lesson->page_count) {
        run->phase = PHASE_END;
        return;
    }
    run->step = page_of(run)->first;
    run->phase = PHASE_ENTER;
}

/* Takes the lesson again from its beginning, without stops, up to page `target`. */
static void restart_to_page(LessonRun *run, int target) {
    const int last = run->lesson->page_count - 1, page = target < last ? target : last;
    run->target = page > 0 ? page : 0;
    run->point = PANEL_NONE;
    run->explained = 0;
    enter_page(run, 0);
    run->phase = PHASE_RESET;
}

void lesson_run_init(LessonRun *run, const Lesson *lesson, int page) {
    *run = (LessonRun){.lesson = lesson, .answered = page};
    restart_to_page(run, page);
}

/* ---- texts ----------------------------------------------------------------------------------- */

enum { EXPANDED = 1200 };

/* Where all figures of a text have one source, only the last figure keeps the source's name. */
static void name_source_once(char *text) {
    static const char *const names[] = {" (recorded)", " (model)", " (published)"};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i])) {
            if (name)
                return;
            name = names[i];
        }
    if (!name)
        return;
    const size_t length = strlen(name);
    char *at = strstr(text, name); /* is removed if the name comes again */
    for (char *next; (next = strstr(at + length, name)); at = next - length)
        memmove(at, at + length, strlen(at + length) + 1);
}

/* Writes a text with the values of the expressions in its braces. An unknown value is "n/a".
 * Returns false if a value is unknown, and `evaluation->why` has the reason. */
static bool fill_braces(const char *text, Evaluation *evaluation, char out[EXPANDED]) {
    bool all_known = true;
    out[0] = '\0';
    for (const char *brace; (brace = strchr(text, '{')); text = strchr(brace, '}') + 1) {
        char inner[256];
        Value value;
        snprintf(inner, sizeof inner, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
        bool known = expression_value(inner, evaluation, &value);
        text_add(out, EXPANDED, "%.*s%s", (int)(brace - text), text,
                 known ? value_text(&value, "").text : "n/a");
        all_known &= known;
    }
    text_add(out, EXPANDED, "%s", text);
    name_source_once(out);
    return all_known;
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

static void add_code(PaneText *pane, const LessonCode *code) {
    const char *text = code->text;
    size_t indent = common_indent(text);
    pane_add(pane, PANE_SOURCE, false, "%.150s, line %d", code->file, code->line);
    for (int i = 0; i < code->lines && *text; i++) {
        size_t length = strcspn(text, "\n"), cut = indent < length ? indent : length;
        int shown = (int)(length - cut < 180 ? length - cut : 180);
        pane_add(pane, PANE_CODE, false, "%4d  %.*s", code->line + i, shown, text + cut);
        text += length + (text[length] == '\n');
    }
}

/* ---- reading an answer ----------------------------------------------------------------------- */

/* Reads an answer of digits: one choice ("2"), or all choices in order ("2 1 3"). An answer that
 * cannot be read leaves run->typed as it is, and a note says what is missing. */
static bool read_choices(LessonRun *run, const char *text) {
    const LessonQuestion *question = lesson_run_question(run);
    const bool order = question->asks == ASKS_ORDER;
    const int wanted = order ? question->choice_count : 1;
    char answer[ANSWER_TYPED] = "";
    int given = 0;
    for (text += strspn(text, " ,\t"); *text; text += 1 + strspn(text + 1, " ,\t")) {
        bool fits = *text >= '1' && *text < '1' + question->choice_count && given < wanted;
        if (!fits || strchr(answer, *text))
            break;
        text_add(answer, sizeof answer, "%s%c", given++ ? " " : "", *text);
    }
    if (*text || given < wanted) {
        snprintf(run->note, sizeof run->note,
                 order ? "Each number from 1 to %d once, the first place first."
                       : "Choose a number from 1 to %d.",
                 question->choice_count);
        return false;
    }
    memcpy(run->typed, answer, sizeof run->typed);
    return true;
}

static bool read_number(LessonRun *run, const char *text) {
    const LessonQuestion *question = lesson_run_question(run);
    char *end;
    text += strspn(text, " \t");
    double number = strtod(text, &end);
    const char *unit = end + strspn(end, " %");
    const bool is_number = end != text && (!*unit || !strcmp(unit, question->unit));
    const bool in_range = number >= question->lo && number <= question->hi;
    if (!is_number || !in_range) {
        snprintf(run->note, sizeof run->note, "A number from %.9g to %.9g%s%s, please.",
                 question->lo, question->hi, *question->unit ? " " : "", question->unit);
        return false;
    }
    const size_t most = sizeof run->typed - 1, given = (size_t)(end - text);
    const size_t length = given < most ? given : most;
    memmove(run->typed, text, length); /* not memcpy: `text` may lie in run->typed */
    run->typed[length] = '\0';
    return true;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Figures within one percent are a tie: either order of them is right. */
static const double tie_share = 0.01;

/* Computes the values of all choices. Returns false where one is unknown. */
static bool evaluate_choices(const LessonQuestion *question, Evaluation *evaluation,
                             Value values[LESSON_CHOICES]) {
    for (int i = 0; i < question->choice_count; i++)
        if (!expression_value(question->choices[i].value, evaluation, &values[i]))
            return false;
    return true;
}

/* Judges a choice by the conditions of all choices. Exactly one must be true: else VERDICT_VOID. */
static LessonVerdict judge_choice(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    Value values[LESSON_CHOICES];
    int found = 0, right = 0; /* the number of right choices, and the last of them */
    if (!evaluate_choices(question, evaluation, values))
        return VERDICT_VOID;
    for (int i = 0; i < question->choice_count; i++)
        if (values[i].number != 0) {
            found++;
            right = i;
        }
    if (found != 1) {
        snprintf(evaluation->why, sizeof evaluation->why,
                 found ? "more than one of its answers are right here"
                       : "none of its answers is right here");
        return VERDICT_VOID;
    }
    snprintf(run->right_answer, sizeof run->right_answer, "%d", right + 1);
    snprintf(run->solution, sizeof run->solution, "%s", question->choices[right].text);
    return strcmp(run->typed, run->right_answer) ? VERDICT_WRONG : VERDICT_RIGHT;
}

static LessonVerdict judge_number(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    Value right;
    if (!expression_value(question->expected, evaluation, &right))
        return VERDICT_VOID;
    double slack =
        question->percent ? question->within / 100 * fabs(right.number) : question->within;
    double error = fabs(strtod(run->typed, NULL) - right.number);
    snprintf(run->right_answer, sizeof run->right_answer, "%.17g", right.number);
    snprintf(run->solution, sizeof run->solution, "%s", value_text(&right, question->unit).text);
    return error <= slack * (1 + 1e-9) + 1e-12 ? VERDICT_RIGHT : VERDICT_WRONG;
}

/* Sorts the choices by their figures. Writes the right order as an answer, and as a solution that
 * has the figure of each choice. */
static void tell_order(LessonRun *run, const Value *values) {
    const LessonQuestion *question = lesson_run_question(run);
    int order[LESSON_ORDER];
    for (int i = 0; i < question->choice_count; i++) {
        int at = i;
        for (; at && values[i].number < values[order[at - 1]].number; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    run->solution[0] = run->right_answer[0] = '\0';
    for (int at = 0; at < question->choice_count; at++) {
        text_add(run->right_answer, sizeof run->right_answer, "%d ", order[at] + 1);
        text_add(run->solution, sizeof run->solution, "%s%s %s", at ? ", " : "",
                 question->choices[order[at]].text, value_text(&values[order[at]], "").text);
    }
    name_source_once(run->solution);
}

static LessonVerdict judge_order(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    Value values[LESSON_CHOICES];
    if (!evaluate_choices(question, evaluation, values))
        return VERDICT_VOID;
    tell_order(run, values);
    for (int i = 1; i < question->choice_count; i++) {
        const char *digit = run->typed + 2 * i; /* a blank stands between two digits */
        const double before = values[digit[-2] - '1'].number, here = values[digit[0] - '1'].number;
        if (here < before * (1 - tie_share))
            return VERDICT_WRONG;
    }
    return VERDICT_RIGHT;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* Adds the line "Right" or "No" with the solution, and the tolerance of a number. */
static void add_verdict(LessonRun *run, LessonVerdict verdict) {
    const LessonQuestion *question = lesson_run_question(run);
    bool right = verdict == VERDICT_RIGHT;
    char taken[48] = "";
    if (right && question->within > 0)
        snprintf(taken, sizeof taken, " (%g%s more or less is taken)", question->within,
                 question->percent ? " %" : "");
    pane_add(&run->reveal, right ? PANE_RIGHT : PANE_WRONG, false, "%s%s%s",
             right ? "Right: " : "No. The answer: ", run->solution, taken);
}

/* Adds a row: `before` and `text`; NULL: adds nothing. False: a figure in it is unknown. */
static bool add_reason(LessonRun *run, PaneKind kind, const char *before, const char *text,
                       Evaluation *evaluation) {
    char row[EXPANDED];
    bool known = !text || fill_braces(text, evaluation, row);
    if (text)
        pane_add(&run->reveal, kind, false, "%s%s", before, row);
    return known;
}

/* Adds the texts that explain the verdict. Returns false where a figure in them is unknown. */
static bool add_reasons(LessonRun *run, LessonVerdict verdict, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    bool choice = question->asks == ASKS_CHOICE, known = true;
    const char *mistake = choice ? question->choices[run->typed[0] - '1'].wrong : question->hint;
    for (int i = 0; i < question->show.count; i++)
        known &= add_reason(run, PANE_SHOW, "", question->show.rows[i], evaluation);
    if (verdict == VERDICT_WRONG)
        known &= add_reason(run, PANE_HINT, choice ? "" : "To find it: ", mistake, evaluation);
    known &= add_reason(run, PANE_WHY, "", question->why, evaluation);
    for (int i = 0; i < question->code_count; i++)
        add_code(&run->reveal, &run->lesson->codes[question->codes[i]]);
    return known;
}

/* Adds the verdict to the score. Only the first answer to a question counts. */
static void count_answer(LessonRun *run) {
    bool counts = run->verdict != VERDICT_VOID && run->page >= run->answered;
    run->asked += counts;
    run->right += counts && run->verdict == VERDICT_RIGHT;
    if (counts)
        run->answered = run->page + 1;
    run->void_count += run->verdict == VERDICT_VOID;
}

static Evaluation evaluation_of(const LessonRun *run, const State *state, const LiveData *live) {
    return (Evaluation){.state = state,
                        .live = live,
                        .names = &run->lesson->names,
                        .values = run->names,
                        .timings = SOURCE_MEASURED};
}

/* If a latency was missing, chooses the next source for all latencies: measured, recorded, model.
 * Returns false if no latency was missing, or no source is left. */
static bool take_next_source(Evaluation *evaluation) {
    bool next = evaluation->timing_missing && evaluation->timings < SOURCE_MODEL;
    evaluation->timings = (FigureSource)(evaluation->timings + next);
    evaluation->timing_missing = false;
    return next;
}

/* Judges the answer by latencies of the best source that has all of them, and fills `reveal`.
 * Returns false where figures are missing, as lesson_run_figures does. */
static bool judge_and_tell(LessonRun *run, const State *state, const LiveData *live, bool final) {
    static LessonVerdict (*const judges[])(LessonRun *, Evaluation *) = {
        [ASKS_CHOICE] = judge_choice, [ASKS_NUMBER] = judge_number, [ASKS_ORDER] = judge_order};
    Evaluation evaluation = evaluation_of(run, state, live);
    LessonVerdict verdict;
    do /* until a source has all latencies */
        verdict = judges[lesson_run_question(run)->asks](run, &evaluation);
    while (verdict == VERDICT_VOID && take_next_source(&evaluation));
    if (verdict == VERDICT_VOID && !final)
        return false;
    run->reveal = (PaneText){.count = 0};
    if (verdict != VERDICT_VOID)
        add_verdict(run, verdict);
    else if (run->hurries)
        pane_add(&run->reveal, PANE_NOTE, false,
                 "Not judged: you went on before the figures were there. It does not count.");
    else
        pane_add(&run->reveal, PANE_NOTE, false, "Cannot be judged here: %s%s. It does not count.",
                 evaluation.why, live->timed ? ", or not yet" : "");
    if (!add_reasons(run, verdict, &evaluation) && !final)
        return false;
    run->verdict = verdict;
    for (int row = 0, rows = run->reveal.count; row < rows; row++)
        lesson_explain_sources(run, &run->reveal, pane_row(&run->reveal, row));
    count_answer(run);
    run->phase = PHASE_VERDICT;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Whether a step needs figures of the newest frame. A LET does, and so does a drawing, or a text
 * with an expression in braces. A quiet run shows neither drawings nor texts. */
static bool needs_figures(const LessonRun *run, const LessonStep *step) {
    const bool is_text = step->kind == LESSON_SAY || step->kind == LESSON_QUESTION;
    if (step->kind == LESSON_LET || is_quiet(run))
        return step->kind == LESSON_LET;
    return step->kind == LESSON_DRAW || (is_text && strchr(step->text, '{'));
}

/* Puts a step onto the page, where `text` is the step's text with all figures. Steps with a control
 * and LETs put nothing there. A question stops the run: it is the last line of the page, after the
 * lines about its sources. A question that is asked again has no such lines. */
static void show_step(LessonRun *run, const LessonStep *step, const char *text) {
    if (step->kind == LESSON_SAY) {
        pane_add(&run->page_text, PANE_TEXT, false, "%s", text);
        lesson_explain_sources(run, &run->page_text, text);
    } else if (step->kind == LESSON_QUESTION) {
        if (!run->again)
            lesson_explain_sources(run, &run->page_text, text);
        pane_add(&run->page_text, PANE_QUESTION, false, "%s", text);
        run->phase = is_quiet(run) ? PHASE_ENTER : PHASE_ASK;
    } else if (step->kind == LESSON_TERM)
        pane_add(&run->page_text, PANE_TERM, false, "%s: %s", glossary[step->number].word,
                 glossary[step->number].text);
    else if (step->kind == LESSON_SOURCE)
        add_code(&run->page_text, &run->lesson->codes[step->number]);
    else if (step->kind == LESSON_POINT)
        run->point = (LessonPanel)step->number;
    run->step++;
}

/* Ends the steps of a page. A page of nothing but an animation needs no reader. */
static void end_of_steps(LessonRun *run) {
    const LessonStep *last = &run->lesson->steps[run->step - 1];
    if (is_quiet(run) || (last->kind == LESSON_ANIMATE && !run->page_text.count))
        enter_page(run, run->page + 1);
    else
        run->phase = lesson_run_question(run) ? PHASE_JUDGE : PHASE_TEXT;
}

static bool is_control(const LessonStep *step) {
    return step->kind == LESSON_CONTROL || step->kind == LESSON_RUN || step->kind == LESSON_ANIMATE;
}

/* Carries out steps until one needs a control, a figure, time or the learner. */
static void run_steps(LessonRun *run) {
    for (const LessonStep *step; run->phase == PHASE_ENTER;) {
        step = current_step(run);
        if (!step)
            end_of_steps(run);
        else if (is_control(step) || needs_figures(run, step))
            return;
        else
            show_step(run, step, step->text);
    }
}

/* Leaves a step that was carried out. A frame of an animation stays for a while. */
static void leave_step(LessonRun *run) {
    bool plays = current_step(run)->frames > 1 && !is_quiet(run);
    if (plays)
        run->phase = PHASE_PAUSE;
    else
        run->step++;
    run_steps(run);
}

/* ---- what it wants --------------------------------------------------------------------------- */

LessonWants lesson_run_wants(const LessonRun *run) {
    const LessonPhase phase = run->phase;
    const bool control =
        phase == PHASE_AGAIN || (phase == PHASE_ENTER && is_control(current_step(run)));
    return phase == PHASE_RESET                           ? LESSON_WANTS_RESET
           : phase == PHASE_PAUSE                         ? LESSON_WANTS_PAUSE
           : control                                      ? LESSON_WANTS_CONTROL
           : phase == PHASE_ENTER || phase == PHASE_JUDGE ? LESSON_WANTS_FIGURES
                                                          : LESSON_WANTS_INPUT;
}

void lesson_run_control(const LessonRun *run, char *line, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    const LessonStep *step = current_step(run);
    if (run->phase == PHASE_AGAIN)
        snprintf(line, size, "%s", question->again.rows[(run->again - 1) % question->again.count]);
    else if (step->kind == LESSON_ANIMATE) {
        int last = step->frames - 1, frame = is_quiet(run) ? last : run->frame;
        snprintf(line, size, "%s %g", step->word,
                 step->from + (step->to - step->from) * ((double)frame / last));
    } else
        snprintf(line, size, "%s", step->text);
}

void lesson_run_done(LessonRun *run) {
    const LessonPhase phase = run->phase;
    run->phase = PHASE_ENTER;
    if (phase == PHASE_ENTER) {
        leave_step(run);
        return;
    }
    if (phase == PHASE_AGAIN) {
        run->page_text = (PaneText){.count = 0};
        run->step = lesson_run_question(run)->step;
    } else if (phase == PHASE_PAUSE && ++run->frame == current_step(run)->frames)
        run->step++;
    run_steps(run);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Carries out a step with figures of the first source that knows all of them. */
static bool figures_of_step(LessonRun *run, const State *state, const LiveData *live, bool final) {
    const LessonStep *step = current_step(run);
    const bool let = step->kind == LESSON_LET;
    Evaluation evaluation = evaluation_of(run, state, live);
    Value value;
    char text[EXPANDED];
    bool known;
    if (step->kind == LESSON_DRAW) {
        if (run->frame == 0)
            run->undrawn = run->page_text;
        run->page_text = run->undrawn; /* a frame replaces the frame before */
        lesson_add_drawing(&run->page_text, (LessonDrawing)step->number, run->frame, live);
        leave_step(run);
        return true;
    }
    do
        known = let ? expression_value(step->text, &evaluation, &value)
                    : fill_braces(step->text, &evaluation, text);
    while (!known && take_next_source(&evaluation));
    if (!known && !final)
        return false;
    if (let)
        run->names[step->number] = known ? value : (Value){0};
    show_step(run, step, text);
    run_steps(run);
    return true;
}

bool lesson_run_figures(LessonRun *run, const State *state, const LiveData *live, bool final) {
    final = final || run->hurries;
    if (run->phase == PHASE_ENTER)
        return figures_of_step(run, state, live, final);
    return run->phase != PHASE_JUDGE || judge_and_tell(run, state, live, final);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void leave_page(LessonRun *run) {
    enter_page(run, run->alone ? run->lesson->page_count : run->page + 1);
    run_steps(run);
}

static void ask_again(LessonRun *run) {
    run->again++;
    run->verdict = VERDICT_NONE;
    run->typed[0] = '\0';
    run->phase = PHASE_AGAIN;
}

/* Takes an answer. If the answer cannot be read, a note says why. */
static void give_answer(LessonRun *run, const char *text) {
    const bool number = lesson_run_question(run)->asks == ASKS_NUMBER;
    if (!(number ? read_number : read_choices)(run, text))
        return;
    run->hurries = false;
    run->phase = PHASE_ENTER;
    run_steps(run);
}

/* Marks the next choice (`by` 1) or the previous choice (-1). Without a mark: the first or last. */
static void move_choice(LessonRun *run, int by) {
    const int count = lesson_run_question(run)->choice_count;
    const int unmarked = by > 0 ? -1 : 0, marked = run->typed[0] ? run->typed[0] - '1' : unmarked;
    snprintf(run->typed, sizeof run->typed, "%d", (marked + by + count) % count + 1);
}

static void type_key(LessonRun *run, char key) {
    const LessonQuestion *question = lesson_run_question(run);
    size_t length = strlen(run->typed);
    const char *before = question->asks == ASKS_ORDER && length ? " " : "";
    if (question->asks == ASKS_CHOICE)
        read_choices(run, (char[2]){key, '\0'}); /* notes what may be typed */
    else if (length + 3 < sizeof run->typed)     /* room for a blank, the key and the NUL */
        text_add(run->typed, sizeof run->typed, "%s%c", before, key);
}

static void erase_key(LessonRun *run) {
    size_t length = strlen(run->typed);
    if (length)
        run->typed[--length] = '\0';
    while (length && run->typed[length - 1] == ' ')
        run->typed[--length] = '\0';
}

/* Handles an input while a question is open. Returns false where the input means nothing. */
static bool answer_input(LessonRun *run, const LessonInput *input) {
    const LessonQuestion *question = lesson_run_question(run);
    switch (input->kind) {
    case INPUT_ANSWER:
        return give_answer(run, input->text), true;
    case INPUT_TYPE:
        return type_key(run, input->key), true;
    case INPUT_ERASE:
        return erase_key(run), true;
    case INPUT_UP:
    case INPUT_DOWN:
        if (question->asks == ASKS_CHOICE)
            move_choice(run, input->kind == INPUT_DOWN ? 1 : -1);
        return question->asks == ASKS_CHOICE;
    case INPUT_ENTER:
        return give_answer(run, run->typed), true;
    case INPUT_NEXT:
        snprintf(run->note, sizeof run->note, "First the answer; or skip the question.");
        return true;
    case INPUT_SKIP:
        run->skipped += run->page >= run->answered;
        return leave_page(run), true;
    default:
        return false;
    }
}

/* Handles an input while no question is open. Going on ends an animation first. While figures are
 * awaited only INPUT_SKIP gives them up, so that an Enter too many does not lose the question. */
static bool other_input(LessonRun *run, LessonInputKind kind) {
    const bool steps = run->phase == PHASE_ENTER || run->phase == PHASE_PAUSE;
    const LessonStep *step = steps ? current_step(run) : NULL;
    bool goes = kind == INPUT_ENTER || kind == INPUT_NEXT || kind == INPUT_SKIP;
    if (goes && step && step->frames > 1) { /* shows the last frame */
        if (run->frame < step->frames - 1)
            run->phase = PHASE_ENTER;
        run->frame = step->frames - 1;
    } else if (goes && lesson_run_wants(run) == LESSON_WANTS_FIGURES)
        run->hurries |= kind == INPUT_SKIP;
    else if (goes && run->phase == PHASE_VERDICT && kind != INPUT_SKIP &&
             lesson_run_asks_again(run))
        ask_again(run);
    else if (goes && (run->phase == PHASE_TEXT || run->phase == PHASE_VERDICT))
        leave_page(run);
    else if (kind == INPUT_TYPE)
        snprintf(run->note, sizeof run->note,
                 "Nothing is asked now: digits answer, Enter goes on.");
    else if (kind == INPUT_ANSWER)
        snprintf(run->note, sizeof run->note, "Nothing is asked here: go on with next.");
    else
        return false;
    return true;
}

bool lesson_run_input(LessonRun *run, const LessonInput *input) {
    run->note[0] = '\0';
    if (run->alone && input->kind == INPUT_BACK) {
        snprintf(run->note, sizeof run->note, "A quiz does not go back.");
        return true;
    }
    if (input->kind == INPUT_BACK) {
        const bool to_question = run->phase == PHASE_VERDICT || run->again; /* of this page */
        restart_to_page(run, to_question ? run->page : run->page - 1);
        return true;
    }
    if (run->phase == PHASE_ASK)
        return answer_input(run, input);
    return other_input(run, input->kind);
}
