/* SPDX-License-Identifier: MIT */
#include "src/learn/lesson_run.h"

#include "src/state/glossary.h"

#include <stdio.h>
#include <string.h>

/* ---- where the machine stands ---------------------------------------------------------------- */

static const LessonPage *page_of(const LessonRun *run) {
    return &run->lesson->pages[run->page];
}

/* Returns the last step of the page where that step has this kind, else NULL. Questions and
 * animations always end their page. */
static const LessonStep *last_step(const LessonRun *run, LessonKind kind) {
    if (run->page >= run->lesson->page_count)
        return NULL;
    const LessonPage *page = page_of(run);
    const LessonStep *step = &run->lesson->steps[page->first + page->count - 1];
    return step->kind == kind ? step : NULL;
}

const LessonQuestion *lesson_run_question(const LessonRun *run) {
    const LessonStep *step = last_step(run, LESSON_QUESTION);
    return step ? &run->lesson->questions[step->number] : NULL;
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
    run->order_count = 0;
    run->note[0] = '\0';
}

static void enter_page(LessonRun *run, int page) {
    if (lesson_run_question(run))
        run->point = PANEL_NONE; /* what was pointed at belonged to the question */
    run->page = page;
    run->word = run->again = 0;
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

/* ---- steps ----------------------------------------------------------------------------------- */

static const LessonStep *step_now(const LessonRun *run) {
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

static void add_term(PaneText *pane, const GlossaryRow *row) {
    char text[GLOSSARY_WORD_MAX + GLOSSARY_TEXT_MAX + 8];
    snprintf(text, sizeof text, "%s: %s", row->word, row->text);
    pane_add(pane, PANE_TERM, false, text);
}

/* Puts a step onto the page; `text` has its figures filled in already. Steps that use a control
 * and LETs are carried out elsewhere. A question is the last line, after its sources. */
static void use_step(LessonRun *run, const LessonStep *step, const char *text) {
    if (step->kind == LESSON_SAY) {
        pane_add(&run->page_text, PANE_TEXT, false, text);
        lesson_explain_sources(run, &run->page_text, text);
    } else if (step->kind == LESSON_QUESTION) {
        lesson_explain_sources(run, &run->page_text, text);
        pane_add(&run->page_text, PANE_QUESTION, false, text);
    } else if (step->kind == LESSON_TERM)
        add_term(&run->page_text, &glossary[step->number]);
    else if (step->kind == LESSON_SOURCE)
        lesson_add_code(&run->page_text, &run->lesson->codes[step->number]);
    else if (step->kind == LESSON_POINT)
        run->point = (LessonPanel)step->number;
    run->step++;
}

/* Shows the page after its last step, or begins the next page. */
static void end_of_steps(LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    if (question && is_quiet(run) && question->run.count) {
        run->word = 0;
        run->phase = PHASE_REVEAL;
    } else if (animation_step(run)) {
        run->word = 0;
        run->phase = PHASE_ANIMATE;
    } else if (is_quiet(run))
        enter_page(run, run->page + 1);
    else
        run->phase = question ? PHASE_ASK : PHASE_TEXT;
}

/* Carries out steps until one needs a control, a figure, time or the learner. */
static void run_steps(LessonRun *run) {
    for (const LessonStep *step; run->phase == PHASE_ENTER;) {
        step = step_now(run);
        if (!step)
            end_of_steps(run);
        else if (step->kind == LESSON_CONTROL || needs_figures(run, step))
            return;
        else
            use_step(run, step, step->text);
    }
}

/* ---- what it wants --------------------------------------------------------------------------- */

LessonWants lesson_run_wants(const LessonRun *run) {
    const LessonStep *step;
    switch (run->phase) {
    case PHASE_RESET:
        return LESSON_WANTS_RESET;
    case PHASE_ENTER:
        step = step_now(run);
        return step && step->kind == LESSON_CONTROL ? LESSON_WANTS_CONTROL : LESSON_WANTS_FIGURES;
    case PHASE_ANIMATE:
        return run->word % 2          ? LESSON_WANTS_PAUSE
               : playing_drawing(run) ? LESSON_WANTS_FIGURES
                                      : LESSON_WANTS_CONTROL;
    case PHASE_REVEAL:
    case PHASE_AGAIN:
        return LESSON_WANTS_CONTROL;
    case PHASE_JUDGE:
    case PHASE_RENEW:
        return LESSON_WANTS_FIGURES;
    default:
        return LESSON_WANTS_INPUT;
    }
}

/* Writes the line that sets the animation's control. run->word counts half frames: an even one sets
 * the control, an odd one waits. */
static void animation_line(const LessonRun *run, char *line, size_t size) {
    const LessonStep *step = animation_step(run);
    int frame = is_quiet(run) ? step->frames - 1 : run->word / 2;
    double part = (double)frame / (step->frames - 1);
    snprintf(line, size, "%s %g", step->word, step->from + (step->to - step->from) * part);
}

void lesson_run_control(const LessonRun *run, char *line, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    if (run->phase == PHASE_ANIMATE)
        animation_line(run, line, size);
    else if (run->phase == PHASE_REVEAL)
        snprintf(line, size, "%s", question->run.rows[run->word]);
    else if (run->phase == PHASE_AGAIN)
        snprintf(line, size, "%s", question->again.rows[(run->again - 1) % question->again.count]);
    else
        snprintf(line, size, "%s", step_now(run)->text);
}

double lesson_run_pause(const LessonRun *run) {
    return animation_step(run)->seconds;
}

static void after_reveal(LessonRun *run) {
    if (run->word < lesson_run_question(run)->run.count)
        return;
    if (is_quiet(run)) {
        enter_page(run, run->page + 1);
        run_steps(run);
    } else
        run->phase = PHASE_JUDGE;
}

/* Goes on after a frame of the animation. A page of nothing but an animation ends with it. */
static void after_frame(LessonRun *run) {
    bool over = run->word >= 2 * animation_step(run)->frames;
    if (is_quiet(run) || (over && !run->page_text.count)) {
        enter_page(run, run->page + 1);
        run_steps(run);
    } else if (over)
        run->phase = PHASE_TEXT;
}

void lesson_run_done(LessonRun *run) {
    switch (run->phase) {
    case PHASE_RESET:
        run->phase = PHASE_ENTER;
        run_steps(run);
        break;
    case PHASE_ENTER:
        run->step++;
        run_steps(run);
        break;
    case PHASE_ANIMATE:
        run->word++;
        after_frame(run);
        break;
    case PHASE_REVEAL:
        run->word++;
        after_reveal(run);
        break;
    case PHASE_AGAIN:
        run->phase = needs_figures(run, last_step(run, LESSON_QUESTION)) ? PHASE_RENEW : PHASE_ASK;
        break;
    default:
        break;
    }
    if (run->phase == PHASE_REVEAL)
        after_reveal(run); /* a question may have nothing to run */
}

/* ---- figures --------------------------------------------------------------------------------- */

enum { EXPANDED = 1200 };

/* Computes the value of a `let`, or the text of another step. The figures come from the best source
 * that knows all of them. Returns false where no source does. */
static bool expand_step(const LessonRun *run, const LessonStep *step, const State *state,
                        const LiveData *live, Value *value, char text[EXPANDED]) {
    static const FigureSource sources[] = {SOURCE_MEASURED, SOURCE_RECORDED, SOURCE_MODEL};
    Evaluation evaluation = {.state = state, .live = live, .names = run->names};
    bool known = false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !known; i++) {
        evaluation.timings = sources[i];
        if (step->kind == LESSON_LET)
            known = expression_value(&run->lesson->pool, step->expression, &evaluation, value);
        else
            known = lesson_text(run, step->text, &evaluation, text, EXPANDED);
    }
    return known;
}

/* Puts a drawing onto the page, in place of its last frame. */
static void draw_frame(LessonRun *run, const LessonStep *step, const LiveData *live) {
    run->page_text = run->undrawn;
    lesson_add_drawing(&run->page_text, (LessonDrawing)step->number, run->word / 2, live);
}

static bool figures_of_step(LessonRun *run, const State *state, const LiveData *live, bool final) {
    const LessonStep *step = step_now(run);
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
        use_step(run, step, text);
    run_steps(run);
    return true;
}

/* Shows the question again, with the figures after the change. The rest of the page is removed. */
static bool renew_question(LessonRun *run, const State *state, const LiveData *live, bool final) {
    char text[EXPANDED];
    if (!expand_step(run, last_step(run, LESSON_QUESTION), state, live, NULL, text) && !final)
        return false;
    run->page_text = (PaneText){.count = 0};
    pane_add(&run->page_text, PANE_QUESTION, false, text);
    run->phase = PHASE_ASK;
    return true;
}

bool lesson_run_figures(LessonRun *run, const State *state, const LiveData *live, bool final) {
    final = final || run->hurries;
    if (run->phase == PHASE_RENEW)
        return renew_question(run, state, live, final);
    if (run->phase == PHASE_ENTER)
        return figures_of_step(run, state, live, final);
    if (run->phase == PHASE_ANIMATE) {
        draw_frame(run, playing_drawing(run), live);
        lesson_run_done(run);
        return true;
    }
    return run->phase != PHASE_JUDGE || lesson_run_judge(run, state, live, final);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void leave_page(LessonRun *run) {
    enter_page(run, run->alone ? run->lesson->page_count : run->page + 1);
    run_steps(run);
}

static void go_on(LessonRun *run) {
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

static bool give_answer(LessonRun *run, const char *text) {
    if (!lesson_read_answer(run, text))
        return true;
    if (text != run->typed && lesson_run_question(run)->asks == ASKS_ORDER)
        snprintf(run->typed, sizeof run->typed, "%s", text);
    run->note[0] = '\0';
    run->word = 0;
    run->hurries = false;
    run->phase = PHASE_REVEAL;
    after_reveal(run);
    return true;
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
            lesson_read_answer(run, (char[2]){key, '\0'}); /* notes what may be typed */
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
        return give_answer(run, input->text);
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
        return give_answer(run, run->typed);
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

/* Jumps to the last frame of the animation. */
static void end_animation(LessonRun *run) {
    int last = 2 * (animation_step(run)->frames - 1);
    run->word = run->word < last ? last : run->word;
}

static bool other_input(LessonRun *run, LessonInputKind kind) {
    bool goes = kind == INPUT_ENTER || kind == INPUT_NEXT || kind == INPUT_SKIP;
    if (goes && run->phase != PHASE_ANIMATE && lesson_run_wants(run) == LESSON_WANTS_FIGURES)
        run->hurries |= kind == INPUT_SKIP; /* an Enter too many loses no question */
    else if (goes && run->phase == PHASE_ANIMATE)
        end_animation(run);
    else if (kind == INPUT_SKIP && run->phase == PHASE_VERDICT)
        leave_page(run);
    else if (goes && (run->phase == PHASE_TEXT || run->phase == PHASE_VERDICT))
        go_on(run);
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
