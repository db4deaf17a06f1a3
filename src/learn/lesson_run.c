/* SPDX-License-Identifier: MIT */
/* The machine that takes a lesson: its steps, the answers and their verdicts. */
#include "src/learn/lesson_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- where the machine stands ---------------------------------------------------------------- */

static const LessonPage *page_of(const LessonRun *run) {
    return &run->lesson->pages[run->page];
}

/* Returns the last step of the page where that step has this kind, else NULL. Animations always end
 * their page. */
static const LessonStep *last_step(const LessonRun *run, LessonKind kind) {
    if (run->page >= run->lesson->page_count)
        return NULL;
    const LessonPage *page = page_of(run);
    const LessonStep *step = &run->lesson->steps[page->first + page->count - 1];
    return step->kind == kind ? step : NULL;
}

const LessonQuestion *lesson_run_question(const LessonRun *run) {
    return run->page < run->lesson->page_count ? page_of(run)->question : NULL;
}

static bool is_quiet(const LessonRun *run) {
    return run->page < run->target;
}

/* Returns the drawing of this page that plays; NULL: the page has none. */
static const LessonStep *playing_drawing(const LessonRun *run) {
    const LessonStep *step = last_step(run, LESSON_DRAW);
    return step && step->frames > 1 && !is_quiet(run) ? step : NULL;
}

/* Returns the animation of this page, of a control or a drawing; NULL: the page has none. */
static const LessonStep *animation_step(const LessonRun *run) {
    const LessonStep *step = last_step(run, LESSON_ANIMATE);
    return step ? step : playing_drawing(run);
}

bool lesson_run_asks_again(const LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    return run->verdict == VERDICT_WRONG && question && question->again.count > 0 && !run->alone;
}

bool lesson_run_ended(const LessonRun *run) {
    return run->phase == PHASE_END;
}

bool lesson_run_done_with(const LessonRun *run) {
    bool judged = run->phase == PHASE_VERDICT && !lesson_run_asks_again(run);
    bool last = run->page + 1 == run->lesson->page_count;
    return lesson_run_ended(run) || (last && (judged || run->phase == PHASE_TEXT));
}

static void forget_answer(LessonRun *run) {
    run->typed[0] = '\0';
    run->choice = -1;
    run->note[0] = '\0';
}

static void enter_page(LessonRun *run, int page) {
    if (lesson_run_question(run))
        run->point = PANEL_NONE; /* what was pointed at belonged to the question */
    run->page = page;
    run->half_frame = run->again = 0;
    run->verdict = VERDICT_NONE;
    run->first = true;
    run->hurries = false;
    run->page_text = run->reveal = (PaneText){.count = 0};
    forget_answer(run);
    if (page >= run->lesson->page_count) {
        run->phase = PHASE_END;
        return;
    }
    run->step = page_of(run)->first;
    run->phase = PHASE_ENTER;
}

/* Takes the lesson again from its beginning, without stops, up to page `target`. */
static void restart_to_page(LessonRun *run, int target) {
    int pages = run->lesson->page_count;
    run->target = target < 0 ? 0 : target < pages ? target : pages - 1;
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

/* Appends the value of the expression between `from` and `end`, the inside of a text's braces.
 * Returns false where the value is unknown, which appends "n/a". */
static bool add_value(const char *from, const char *end, Evaluation *evaluation, char *out,
                      size_t size) {
    Value value;
    char inner[256];
    snprintf(inner, sizeof inner, "%.*s", (int)(end - from), from);
    bool known = expression_value(inner, evaluation, &value);
    text_add(out, size, "%s", known ? value_text(&value, "").text : "n/a");
    return known;
}

/* Where all figures of a text have one source, only the last figure keeps the source's name. */
static void name_source_once(char *text) {
    static const char *const names[] = {" (recorded)", " (model)", " (published)"};
    const char *name = "";
    int sources = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i])) {
            name = names[i];
            sources++;
        }
    const size_t length = strlen(name);
    char *at = sources == 1 ? strstr(text, name) : NULL;
    for (char *next; at && (next = strstr(at + length, name)); at = next - length)
        memmove(at, at + length, strlen(at + length) + 1);
}

/* Writes a text with the values of the expressions in its braces. Returns false where a value is
 * unknown; `evaluation->why` has the reason. */
static bool fill_braces(const char *text, Evaluation *evaluation, char *out, size_t size) {
    bool known = true;
    out[0] = '\0';
    while (*text) {
        size_t plain = strcspn(text, "{");
        text_add(out, size, "%.*s", (int)plain, text);
        text += plain;
        if (!*text)
            break;
        const char *end = strchr(text, '}');
        known = add_value(text + 1, end, evaluation, out, size) && known;
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

static void add_code(PaneText *pane, const LessonCode *code) {
    const char *text = code->text ? code->text : "";
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

static bool refuse_order(LessonRun *run) {
    snprintf(run->note, sizeof run->note,
             "Each number from 1 to %d once, the first place first: for example 2 1 3",
             lesson_run_question(run)->choice_count);
    return false;
}

static bool read_order(LessonRun *run, const char *text) {
    int count = lesson_run_question(run)->choice_count, given = 0;
    unsigned seen = 0;
    for (; *text; text++) {
        if (*text == ' ' || *text == ',')
            continue;
        int place = *text - '1';
        if (place < 0 || place >= count || seen & 1u << place)
            return refuse_order(run);
        seen |= 1u << place;
        run->order[given++] = place;
    }
    return given == count || refuse_order(run);
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

/* Reads an answer to this page's question: a choice (from 1), a number, or an order. Returns false
 * where the answer is malformed; `note` has the mistake. */
static bool read_answer(LessonRun *run, const char *text) {
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
static const double tie_share = 0.01;

static LessonVerdict judge_choice(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    int found = 0;
    for (int i = 0; i < question->choice_count; i++) {
        Value value;
        if (!expression_value(question->choices[i].value, evaluation, &value))
            return VERDICT_VOID;
        if (value.number != 0) {
            found++;
            run->right_choice = i;
        }
    }
    if (found != 1) {
        snprintf(evaluation->why, sizeof evaluation->why, "%s of its answers %s right here",
                 found ? "more than one" : "none", found ? "are" : "is");
        return VERDICT_VOID;
    }
    snprintf(run->solution, sizeof run->solution, "%s", question->choices[run->right_choice].text);
    return run->right_choice == run->choice ? VERDICT_RIGHT : VERDICT_WRONG;
}

static LessonVerdict judge_number(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    if (!expression_value(question->expected, evaluation, &run->right_number))
        return VERDICT_VOID;
    const double right = run->right_number.number;
    double slack = question->percent ? question->within / 100 * fabs(right) : question->within;
    snprintf(run->solution, sizeof run->solution, "%s",
             value_text(&run->right_number, question->unit).text);
    return fabs(run->number - right) <= slack * (1 + 1e-9) + 1e-12 ? VERDICT_RIGHT : VERDICT_WRONG;
}

/* Writes the right order: each thing with the figure that orders it. */
static void order_text(LessonRun *run, const Value *values) {
    const LessonQuestion *question = lesson_run_question(run);
    bool taken[LESSON_ORDER] = {false};
    run->solution[0] = '\0';
    for (int place = 0; place < question->choice_count; place++) {
        int least = -1;
        for (int i = 0; i < question->choice_count; i++)
            if (!taken[i] && (least < 0 || values[i].number < values[least].number))
                least = i;
        taken[least] = true;
        run->right_order[place] = least;
        text_add(run->solution, sizeof run->solution, "%s%s %s", place ? ", " : "",
                 question->choices[least].text, value_text(&values[least], "").text);
    }
    name_source_once(run->solution);
}

static LessonVerdict judge_order(LessonRun *run, Evaluation *evaluation) {
    const LessonQuestion *question = lesson_run_question(run);
    Value values[LESSON_ORDER];
    for (int i = 0; i < question->choice_count; i++) {
        char figure[96];
        snprintf(figure, sizeof figure, "%.40s(%.40s)", question->by, question->choices[i].value);
        if (!expression_value(figure, evaluation, &values[i]))
            return VERDICT_VOID;
    }
    order_text(run, values);
    for (int i = 1; i < question->choice_count; i++)
        if (values[run->order[i]].number < values[run->order[i - 1]].number * (1 - tie_share))
            return VERDICT_WRONG;
    return VERDICT_RIGHT;
}

/* ---- what is shown --------------------------------------------------------------------------- */

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

/* Adds `before` and `text` (NULL: nothing) as a reason. Returns false where a figure is unknown. */
static bool add_reason(LessonRun *run, PaneKind kind, const char *before, const char *text,
                       Evaluation *evaluation) {
    char row[1200];
    bool known = !text || fill_braces(text, evaluation, row, sizeof row);
    if (text)
        pane_add(&run->reveal, kind, false, "%s%s", before, row);
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
        add_code(&run->reveal, &run->lesson->codes[question->codes[i]]);
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

static Evaluation evaluation_of(const LessonRun *run, const State *state, const LiveData *live) {
    return (Evaluation){
        .state = state, .live = live, .names = &run->lesson->names, .values = run->names};
}

/* The sources that latencies are taken from, the best first. */
static const FigureSource timing_sources[] = {SOURCE_MEASURED, SOURCE_RECORDED, SOURCE_MODEL};
enum { TIMING_SOURCES = sizeof timing_sources / sizeof *timing_sources };

/* Judges the answer by latencies of the best source that has all of them. */
static LessonVerdict judge_answer(LessonRun *run, Evaluation *evaluation) {
    static LessonVerdict (*const judges[])(LessonRun *, Evaluation *) = {
        [ASKS_CHOICE] = judge_choice, [ASKS_NUMBER] = judge_number, [ASKS_ORDER] = judge_order};
    LessonVerdict verdict = VERDICT_VOID;
    for (int i = 0; i < TIMING_SOURCES; i++) {
        evaluation->timings = timing_sources[i];
        evaluation->timing_missing = false;
        verdict = judges[lesson_run_question(run)->asks](run, evaluation);
        if (verdict != VERDICT_VOID || !evaluation->timing_missing)
            break;
    }
    return verdict;
}

/* Judges the answer, and fills the verdict and `reveal`. Returns false where figures are missing,
 * as lesson_run_figures does. */
static bool judge_and_tell(LessonRun *run, const State *state, const LiveData *live, bool final) {
    Evaluation evaluation = evaluation_of(run, state, live);
    const LessonVerdict verdict = judge_answer(run, &evaluation);
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
    if (!add_reasons(run, verdict, &evaluation) && !final) {
        run->reveal = (PaneText){.count = 0};
        return false;
    }
    run->verdict = verdict;
    for (int row = 0, rows = run->reveal.count; row < rows; row++)
        lesson_explain_sources(run, &run->reveal, pane_row(&run->reveal, row));
    count_answer(run);
    run->phase = PHASE_VERDICT;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const LessonStep *current_step(const LessonRun *run) {
    const LessonPage *page = page_of(run);
    return run->step < page->first + page->count ? &run->lesson->steps[run->step] : NULL;
}

/* Whether a step needs measured or modelled figures: a LET always does, a text does where it has a
 * figure in braces to fill in. A quiet run shows no texts. */
static bool needs_figures(const LessonRun *run, const LessonStep *step) {
    return step->kind == LESSON_LET || (!is_quiet(run) && step->kind == LESSON_DRAW) ||
           (!is_quiet(run) && (step->kind == LESSON_SAY || step->kind == LESSON_QUESTION) &&
            strchr(step->text, '{'));
}

/* Puts a step onto the page; `text` has its figures filled in already. Steps that use a control
 * and LETs are carried out elsewhere. A question is the last line, after its sources, and stops the
 * run. Only the question is seen when it is asked again. */
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

static void end_of_steps(LessonRun *run) {
    if (animation_step(run))
        run->phase = PHASE_ANIMATE;
    else if (is_quiet(run))
        enter_page(run, run->page + 1);
    else
        run->phase = lesson_run_question(run) ? PHASE_JUDGE : PHASE_TEXT;
}

/* Whether a step uses a control. */
static bool is_control(const LessonStep *step) {
    return step->kind == LESSON_CONTROL || step->kind == LESSON_RUN;
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

/* ---- what it wants --------------------------------------------------------------------------- */

LessonWants lesson_run_wants(const LessonRun *run) {
    const LessonStep *step;
    switch (run->phase) {
    case PHASE_RESET:
        return LESSON_WANTS_RESET;
    case PHASE_ENTER:
        step = current_step(run);
        return step && is_control(step) ? LESSON_WANTS_CONTROL : LESSON_WANTS_FIGURES;
    case PHASE_ANIMATE:
        return run->half_frame % 2    ? LESSON_WANTS_PAUSE
               : playing_drawing(run) ? LESSON_WANTS_FIGURES
                                      : LESSON_WANTS_CONTROL;
    case PHASE_AGAIN:
        return LESSON_WANTS_CONTROL;
    case PHASE_JUDGE:
        return LESSON_WANTS_FIGURES;
    default:
        return LESSON_WANTS_INPUT;
    }
}

/* Writes the line that sets the animation's control. */
static void animation_line(const LessonRun *run, char *line, size_t size) {
    const LessonStep *step = animation_step(run);
    int frame = is_quiet(run) ? step->frames - 1 : run->half_frame / 2;
    double part = (double)frame / (step->frames - 1);
    snprintf(line, size, "%s %g", step->word, step->from + (step->to - step->from) * part);
}

void lesson_run_control(const LessonRun *run, char *line, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    if (run->phase == PHASE_ANIMATE)
        animation_line(run, line, size);
    else if (run->phase == PHASE_AGAIN)
        snprintf(line, size, "%s", question->again.rows[(run->again - 1) % question->again.count]);
    else
        snprintf(line, size, "%s", current_step(run)->text);
}

double lesson_run_pause(const LessonRun *run) {
    return animation_step(run)->seconds;
}

/* Goes on after a frame of the animation. A page of nothing but an animation ends with it. */
static void after_frame(LessonRun *run) {
    bool over = ++run->half_frame >= 2 * animation_step(run)->frames;
    if (is_quiet(run) || (over && !run->page_text.count))
        enter_page(run, run->page + 1);
    else if (over)
        run->phase = PHASE_TEXT;
}

void lesson_run_done(LessonRun *run) {
    if (run->phase == PHASE_ENTER)
        run->step++;
    else if (run->phase == PHASE_ANIMATE)
        after_frame(run);
    else if (run->phase == PHASE_AGAIN) {
        run->page_text = (PaneText){.count = 0};
        run->step = lesson_run_question(run)->step;
        run->phase = PHASE_ENTER;
    } else if (run->phase == PHASE_RESET)
        run->phase = PHASE_ENTER;
    run_steps(run);
}

/* ---- figures --------------------------------------------------------------------------------- */

enum { EXPANDED = 1200 };

/* Computes the value of a `let`, or the text of another step. The figures come from the best source
 * that knows all of them. Returns false where no source does. */
static bool expand_step(const LessonRun *run, const LessonStep *step, const State *state,
                        const LiveData *live, Value *value, char text[EXPANDED]) {
    Evaluation evaluation = evaluation_of(run, state, live);
    bool known = false;
    for (int i = 0; i < TIMING_SOURCES && !known; i++) {
        evaluation.timings = timing_sources[i];
        if (step->kind == LESSON_LET)
            known = expression_value(step->text, &evaluation, value);
        else
            known = fill_braces(step->text, &evaluation, text, EXPANDED);
    }
    return known;
}

/* Puts a drawing onto the page, in place of its last frame. */
static void draw_frame(LessonRun *run, const LessonStep *step, const LiveData *live) {
    run->page_text = run->undrawn;
    lesson_add_drawing(&run->page_text, (LessonDrawing)step->number, run->half_frame / 2, live);
}

static bool figures_of_step(LessonRun *run, const State *state, const LiveData *live, bool final) {
    const LessonStep *step = current_step(run);
    if (step->kind == LESSON_DRAW) {
        run->undrawn = run->page_text;
        draw_frame(run, step, live);
        run->step++;
        run_steps(run);
        return true;
    }
    Value value = {0};
    char text[EXPANDED];
    bool known = expand_step(run, step, state, live, &value, text);
    if (!known && !final)
        return false;
    if (step->kind == LESSON_LET) {
        run->names[step->number] = known ? value : (Value){0};
        run->step++;
    } else
        show_step(run, step, text);
    run_steps(run);
    return true;
}

bool lesson_run_figures(LessonRun *run, const State *state, const LiveData *live, bool final) {
    final = final || run->hurries;
    if (run->phase == PHASE_ENTER)
        return figures_of_step(run, state, live, final);
    if (run->phase == PHASE_ANIMATE) {
        draw_frame(run, playing_drawing(run), live);
        lesson_run_done(run);
        return true;
    }
    return run->phase != PHASE_JUDGE || judge_and_tell(run, state, live, final);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void leave_page(LessonRun *run) {
    enter_page(run, run->alone ? run->lesson->page_count : run->page + 1);
    run_steps(run);
}

static void leave_or_ask_again(LessonRun *run) {
    bool again = run->phase == PHASE_VERDICT && lesson_run_asks_again(run);
    if (again) {
        run->again++;
        run->verdict = VERDICT_NONE;
        run->reveal = (PaneText){.count = 0};
        forget_answer(run);
        run->phase = PHASE_AGAIN;
        return;
    }
    leave_page(run);
}

/* Takes the answer if it can be read; what is wrong with it is noted else. */
static void give_answer(LessonRun *run, const char *text) {
    if (!read_answer(run, text))
        return;
    const bool was_typed = text == run->typed;
    if (!was_typed && lesson_run_question(run)->asks == ASKS_ORDER)
        snprintf(run->typed, sizeof run->typed, "%s", text);
    run->note[0] = '\0';
    run->hurries = false;
    run->phase = PHASE_ENTER;
    run_steps(run);
}

static void move_choice(LessonRun *run, int by) {
    int count = lesson_run_question(run)->choice_count;
    run->choice = run->choice < 0 ? (by > 0 ? 0 : count - 1) : (run->choice + by + count) % count;
    snprintf(run->typed, sizeof run->typed, "%d", run->choice + 1);
}

static void type_key(LessonRun *run, char key) {
    const LessonQuestion *question = lesson_run_question(run);
    size_t length = strlen(run->typed);
    run->note[0] = '\0';
    if (question->asks == ASKS_CHOICE) {
        if (key >= '1' && key < '1' + question->choice_count)
            snprintf(run->typed, sizeof run->typed, "%d", (run->choice = key - '1') + 1);
        else
            read_answer(run, (char[2]){key, '\0'}); /* notes what may be typed */
        return;
    }
    const char *before = question->asks == ASKS_ORDER && length ? " " : "";
    if (length + 3 < sizeof run->typed)
        snprintf(run->typed + length, sizeof run->typed - length, "%s%c", before, key);
}

static void erase_key(LessonRun *run) {
    size_t length = strlen(run->typed);
    run->choice = -1;
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
        run->skipped += run->first;
        return leave_page(run), true;
    default:
        return false;
    }
}

static bool other_input(LessonRun *run, LessonInputKind kind) {
    bool goes = kind == INPUT_ENTER || kind == INPUT_NEXT || kind == INPUT_SKIP;
    if (goes && run->phase != PHASE_ANIMATE && lesson_run_wants(run) == LESSON_WANTS_FIGURES)
        run->hurries |= kind == INPUT_SKIP; /* an Enter too many loses no question */
    else if (goes && run->phase == PHASE_ANIMATE) {
        int last = 2 * (animation_step(run)->frames - 1);
        run->half_frame = run->half_frame < last ? last : run->half_frame;
    } else if (kind == INPUT_SKIP && run->phase == PHASE_VERDICT)
        leave_page(run);
    else if (goes && (run->phase == PHASE_TEXT || run->phase == PHASE_VERDICT))
        leave_or_ask_again(run);
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
        bool again = run->phase == PHASE_VERDICT || run->again;
        restart_to_page(run, run->page - !again);
        return true;
    }
    if (run->phase == PHASE_ASK)
        return answer_input(run, input);
    return other_input(run, input->kind);
}
