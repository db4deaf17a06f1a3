/* SPDX-License-Identifier: MIT */
/* Lessons in the App. The App gives a lesson its figures, controls and pauses. The keys work while
 * a lesson waits for figures; a script has the figures at once. For a question of the quiz the App
 * runs the lesson of the question, without stops, to the question's page. The workflow is a page of
 * text in the place of a lesson. */
#include "src/app/app.h"

#include "src/base/clock.h"
#include "src/base/progress.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    PATIENCE_MS = 12000, /* a figure that a complete frame lacks for so long counts as unknown */
    SCRIPT_SEED = 1      /* a script draws the same questions every time */
};

/* ---- the workflow ---------------------------------------------------------------------------- */

static int workflow_steps(const App *app, Finding steps[FINDINGS_MAX]) {
    int count = app->frame ? live_findings(&app->state, &app->frame->live, steps) : 0, kept = 0;
    for (int i = 0; i < count; i++)
        if (steps[i].gain == 0) /* a step of the workflow; other findings have a gain */
            steps[kept++] = steps[i];
    return kept;
}

bool app_page_is_known(const App *app) {
    Finding steps[FINDINGS_MAX];
    return workflow_steps(app, steps) > 0;
}

void app_show_page(App *app) {
    LessonPane *pane = &app->state.lesson;
    Finding steps[FINDINGS_MAX];
    int count = workflow_steps(app, steps);
    *pane = (LessonPane){.open = true, .scroll = pane->scroll};
    snprintf(pane->title, sizeof pane->title, "Four steps: %.60s",
             kernel_config_label(&app->state.job.config).text);
    if (!count)
        pane_add(&pane->body, PANE_NOTE, false, "Not known: %s.",
                 unknown_reason(UNKNOWN_MODEL, app_live(app), NULL, BEV_FP32));
    for (int i = 0; i < count; i++) {
        pane_add(&pane->body, PANE_WHY, false, "%s", steps[i].text);
        pane_add(&pane->body, PANE_TEXT, false, "%s", steps[i].evidence);
        for (int j = 0; j < 2 && steps[i].commands[j][0]; j++)
            pane_add(&pane->body, PANE_CODE, false, "%s", steps[i].commands[j]);
    }
    pane_add(&pane->body, PANE_KEYS, false, "%s closes, typing %s opens the lesson of a finding",
             key_of(ACTION_LESSON).name, key_of(ACTION_EXPLAIN).name);
    app->todo |= STEP_REDRAW;
}

static bool open_page(App *app, Err *err) {
    if (app->desk.open && !app->desk.page)
        return err_set(err, ERR_FAILED, "lesson", "close it first", "a lesson is open");
    app->state.lesson.scroll = 0;
    app->desk = (LessonDesk){.open = true, .page = true};
    app_show_page(app);
    app_request(app); /* the engine models what the page needs */
    return true;
}

/* ---- what lies on the desk ------------------------------------------------------------------- */

/* Goes on where the learner left the lesson. A lesson whose file has changed begins anew. */
static void resume_lesson(LessonDesk *desk) {
    CourseProgressRow row = course_progress(desk->lesson->name);
    const bool is_same_lesson = row.pages == desk->lesson->page_count;
    const bool in_the_middle = row.page > 0 && row.page != row.pages;
    if (desk->memory != DESK_KEEPS || !is_same_lesson || !in_the_middle)
        row = (CourseProgressRow){.page = 0};
    lesson_run_init(&desk->run, desk->lesson, row.page);
    desk->run.answered = row.answered;
    desk->run.right = row.right;
    desk->run.asked = row.asked;
}

static void show_question(App *app) {
    static PaneText body; /* large; screens are drawn by one thread */
    const LessonDesk *desk = &app->desk;
    LessonPane *pane = &app->state.lesson;
    const Job *job = &app->state.job;
    body.count = body.used = 0;
    if (lesson_run_wants(&desk->run) == LESSON_WANTS_INPUT)
        pane_add(&body, PANE_TERM, false, "Scene %s, %s.", app->state.menu.scenes.names[job->scene],
                 kernel_config_label(&job->config).text);
    pane_append(&body, &pane->body);
    pane->body = body;
    quiz_show(&desk->quiz, pane);
}

static void show_lesson(App *app) {
    LessonPane *pane = &app->state.lesson;
    int step = pane->step, scroll = pane->scroll;
    lesson_run_show(&app->desk.run, pane);
    if (app->desk.quiz.count)
        show_question(app);
    if (pane->step == step) /* the same page: the learner's place in it stays */
        pane->scroll = scroll;
    app->todo |= STEP_REDRAW;
}

/* Reads the lesson that `word` names: "whose-bytes", or "whose-bytes:l2" with the mark of a page.
 * "" is the next lesson. `*page` is the page of the mark; -1: `word` has no mark. */
static Lesson *read_lesson(App *app, const char *word, int *page, Err *err) {
    const Course *course = &app->menu.course;
    const char *mark = strrchr(word, ':'), *wanted = word[0] ? word : course_next(course);
    const int name_length = mark ? (int)(mark - word) : COURSE_PATH - 1;
    char name[COURSE_PATH], path[COURSE_PATH];
    *page = -1;
    if (!wanted) {
        err_set(err, ERR_FAILED, "lesson", "bevscope learn FILE takes one",
                "no lesson is installed");
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", name_length, wanted);
    if (!course_find(course, name, path, sizeof path, err))
        return NULL;
    Lesson *lesson = lesson_load(path, err);
    if (!lesson || !mark)
        return lesson;
    *page = lesson_page(lesson, mark + 1);
    if (*page >= 0)
        return lesson;
    lesson_free(lesson);
    err_set(err, ERR_USAGE, word, "leave the mark out", "no page of this lesson is called \"%s\"",
            mark + 1);
    return NULL;
}

/* Empties the desk for a lesson. Lessons in a row share one undo step, that of the first lesson. */
static void clear_desk(App *app) {
    if (!app->desk.open || app->desk.page)
        app->undo.lesson = undo_push(&app->undo, &app->state, ACTION_LESSON);
    lesson_free(app->desk.lesson);
    app->desk.lesson = NULL;
    app->state.lesson = (LessonPane){.open = false};
}

/* ---- the quiz -------------------------------------------------------------------------------- */

/* Opens the lesson of the quiz's next question, at the question's page. */
static bool open_question(App *app, Err *err) {
    LessonDesk *desk = &app->desk;
    const QuizItem *item = &desk->quiz.items[desk->quiz.at];
    int no_page; /* item->lesson names no page */
    Lesson *lesson = read_lesson(app, item->lesson, &no_page, err);
    desk->open = lesson != NULL;
    if (!lesson)
        return false;
    lesson_free(desk->lesson);
    desk->lesson = lesson;
    lesson_run_init(&desk->run, desk->lesson, item->page);
    desk->run.alone = true;
    show_lesson(app); /* the engine learns which kernels the lesson wants simulated */
    app_lesson_turn(app, false);
    return true;
}

static bool open_quiz(App *app, DeskMemory memory, Err *err) {
    Quiz quiz;
    int64_t seed = app->options->seed;
    if (seed <= 0)
        seed = memory == DESK_FORGETS ? SCRIPT_SEED : (int64_t)time(NULL);
    if (!quiz_draw(&quiz, &app->menu.course, memory != DESK_FORGETS, (uint64_t)seed, err))
        return false;
    clear_desk(app);
    app->desk = (LessonDesk){.open = true, .memory = memory, .quiz = quiz};
    return open_question(app, err);
}

/* Opens the next question of the quiz, if the question that is open has ended. */
static bool open_next_question(App *app, Err *err) {
    LessonDesk *desk = &app->desk;
    Quiz *quiz = &desk->quiz;
    if (!quiz->count || desk->run.phase != PHASE_END)
        return true;
    QuizItem *item = &quiz->items[quiz->at++];
    const bool was_judged = item->verdict != VERDICT_VOID || desk->run.void_count;
    if (!was_judged) /* the learner skipped the question */
        item->verdict = VERDICT_NONE;
    return quiz->at == quiz->count || open_question(app, err);
}

/* ---- a lesson -------------------------------------------------------------------------------- */

bool app_open_lesson(App *app, const char *word, DeskMemory memory, Err *err) {
    LessonDesk *desk = &app->desk;
    if (!strcmp(word, quiz_word))
        return open_quiz(app, memory, err);
    int page;
    Lesson *lesson = read_lesson(app, word, &page, err);
    if (!lesson)
        return false;
    clear_desk(app);
    *desk = (LessonDesk){.open = true, .memory = memory, .lesson = lesson, .saved_page = -1};
    if (page < 0)
        resume_lesson(desk);
    else { /* a look at one page changes no progress */
        desk->memory = DESK_FORGETS;
        lesson_run_init(&desk->run, desk->lesson, page);
    }
    desk->saved_asked = desk->run.asked;
    show_lesson(app);
    app_lesson_turn(app, false);
    return true;
}

/* Saves where the learner stands, if this has changed. A look at the first page is not saved. */
static bool save_progress(LessonDesk *desk, Err *err) {
    const LessonRun *run = &desk->run;
    bool judged = run->phase == PHASE_VERDICT && !lesson_run_asks_again(run);
    bool on_last_page = run->page + 1 == run->lesson->page_count;
    bool page_is_done = judged || run->phase == PHASE_TEXT; /* nothing more is asked or told */
    bool ended = run->phase == PHASE_END || (on_last_page && page_is_done);
    int page = ended ? run->lesson->page_count : run->page;
    bool only_looked = page == 0 && desk->saved_page <= 0 && !run->asked;
    bool is_saved = page == desk->saved_page && run->asked == desk->saved_asked;
    bool returns = run->page < run->target; /* runs without stops to the learner's page */
    if (desk->memory == DESK_FORGETS || desk->quiz.count || only_looked || is_saved || returns)
        return true;
    CourseProgressRow row = {.page = ended ? 0 : page,
                             .pages = desk->lesson->page_count,
                             .answered = ended ? desk->lesson->page_count : run->answered,
                             .right = run->right,
                             .asked = run->asked,
                             .done = ended || course_progress(desk->lesson->name).done};
    snprintf(row.name, sizeof row.name, "%s", desk->lesson->name);
    desk->saved_page = page; /* a failure is told once, not at every page */
    desk->saved_asked = run->asked;
    return course_progress_save(&row, err);
}

/* Notes whether the learner missed the question, so that a quiz asks a missed question again. Only
 * the first answer to a question counts. */
static bool note_answer(LessonDesk *desk, Err *err) {
    const LessonRun *run = &desk->run;
    const LessonQuestion *question = lesson_run_question(run);
    const bool is_first_answer = run->asked != desk->saved_asked;
    if (run->phase != PHASE_VERDICT || !question)
        return true;
    if (desk->quiz.count)
        desk->quiz.items[desk->quiz.at].verdict = run->verdict;
    return !is_first_answer || desk->memory == DESK_FORGETS ||
           quiz_missed_note(desk->lesson, question, run->verdict == VERDICT_RIGHT, err);
}

bool app_close_lesson(App *app, Err *err) {
    LessonDesk *desk = &app->desk;
    if (!desk->open)
        return true;
    desk->saved_page = -1;
    bool ok = desk->page || save_progress(desk, err);
    desk->open = false;
    app->undo.lesson = NULL;
    lesson_free(desk->lesson);
    desk->lesson = NULL;
    app->state.lesson = (LessonPane){.open = false};
    return ok;
}

/* ---- serving it ------------------------------------------------------------------------------ */

/* Begins the lesson and changes to its first scene in one step. In two steps the screen would show
 * figures of another scene in between. */
static void begin_lesson(App *app) {
    const Menu *scenes = &app->state.menu.scenes;
    const Lesson *lesson = app->desk.lesson;
    char name[64] = "canonical"; /* where the lesson names no scene */
    for (int i = 0; i < lesson->step_count; i++)
        if (lesson->steps[i].kind == LESSON_CONTROL &&
            sscanf(lesson->steps[i].text, "scene %63s", name) == 1)
            break;
    int scene = menu_find(scenes, name);
    state_begin_lesson(&app->state, scene < 0 ? 0 : scene);
    app_request(app);
    app->todo |= STEP_REDRAW;
}

/* Uses the lesson's next control. False: the facts of the state's scene are not known yet. */
static bool use_control(App *app) {
    char line[160];
    Err err;
    if (!app->frame || app->frame->state.job.scene != app->state.job.scene)
        return false;
    lesson_run_control(&app->desk.run, line, sizeof line);
    lesson_run_done(&app->desk.run);
    app->serves = true;
    if (!app_words(app, line, &err))
        app_note_error(app, &err);
    app->serves = false;
    return true;
}

/* Gives the lesson the figures of the newest frame. False: the lesson needs a newer frame, because
 * this frame is of an earlier job or lacks a figure. After a draft a finer frame comes, unless the
 * world moves or the learner does not want to wait. In a script, and after PATIENCE_MS, a missing
 * figure counts as unknown. */
static bool take_figures(App *app) {
    LessonDesk *desk = &app->desk;
    const EngineFrame *frame = app->frame;
    const bool waits_for_finer = !app->state.playing && !desk->run.hurries;
    double now = clock_ms();
    if (!frame || frame->live.serial != app->state.job.serial ||
        (frame->live.frame.draft && waits_for_finer))
        return false;
    if (!desk->waits)
        desk->waits_ms = now;
    desk->waits = frame->live.complete || app->state.playing;
    bool final = app->script || now - desk->waits_ms > PATIENCE_MS;
    return lesson_run_figures(&desk->run, &app->state, &frame->live, final);
}

/* Gives the lesson what it wants. False: it waits for input, a pause or figures. */
static bool serve_lesson(App *app, bool pause_over) {
    LessonRun *run = &app->desk.run;
    progress_part(short_text("figures of page %d", run->page + 1).text);
    switch (lesson_run_wants(run)) {
    case LESSON_WANTS_RESET:
        lesson_run_done(run);
        begin_lesson(app);
        return true;
    case LESSON_WANTS_CONTROL:
        return use_control(app);
    case LESSON_WANTS_FIGURES:
        return take_figures(app);
    case LESSON_WANTS_PAUSE:
        if (pause_over)
            lesson_run_done(run);
        return pause_over;
    default:
        return false;
    }
}

void app_lesson_turn(App *app, bool pause_over) {
    LessonDesk *desk = &app->desk;
    Err unsaved;
    if (!desk->open || desk->page || !serve_lesson(app, pause_over))
        return;
    while (desk->open && !app->failed && serve_lesson(app, false)) {
    }
    if (!desk->open) /* a control of the lesson has closed the lesson */
        return;
    bool kept = note_answer(desk, &unsaved) && save_progress(desk, &unsaved);
    show_lesson(app);
    if (!kept)
        app_note_warning(app, &unsaved);
    LessonWants wants = lesson_run_wants(&desk->run);
    desk->waits = desk->waits && wants == LESSON_WANTS_FIGURES;
    if (wants == LESSON_WANTS_PAUSE)
        desk->pause_ms = clock_ms() + 1e3 * desk->lesson->steps[desk->run.step].seconds;
}

double app_lesson_in_ms(const App *app) {
    bool pauses =
        app->desk.open && !app->desk.page && lesson_run_wants(&app->desk.run) == LESSON_WANTS_PAUSE;
    return pauses ? app->desk.pause_ms - clock_ms() : INFINITY;
}

/* ---- what the learner does ------------------------------------------------------------------- */

void app_lesson_input(App *app, const LessonInput *input) {
    LessonDesk *desk = &app->desk;
    Err err;
    if (!desk->open || desk->page || (desk->quiz.count && desk->quiz.at == desk->quiz.count))
        return;
    if (desk->run.phase == PHASE_END && (input->kind == INPUT_ENTER || input->kind == INPUT_NEXT)) {
        const char *next = course_after(&app->menu.course, desk->lesson->name);
        if (!next)
            app_note(app, "this was the last lesson");
        else if (!app_open_lesson(app, next, desk->memory, &err))
            app_note_error(app, &err);
        return;
    }
    if (!lesson_run_input(&desk->run, input))
        return;
    bool ok = open_next_question(app, &err);
    show_lesson(app);
    app_lesson_turn(app, false);
    if (!ok)
        app_note_error(app, &err);
}

/* Opens the lesson that explains the state's finding. */
static bool choose_explanation(App *app, Err *err) {
    State *state = &app->state;
    Finding findings[FINDINGS_MAX];
    int count = app->frame ? live_findings(state, &app->frame->live, findings) : 0;
    bool simulated = app->frame && app->frame->live.model;
    if (state->finding >= count)
        return err_set(err, ERR_FAILED, "explain", "",
                       simulated ? "there is no finding %d here"
                                 : "finding %d: the memory model is still at work, try again",
                       state->finding + 1);
    snprintf(state->lesson_name, sizeof state->lesson_name, "%s", findings[state->finding].lesson);
    return true;
}

void app_lesson_wish(App *app) {
    State *state = &app->state;
    Err err = {.kind = ERR_FAILED};
    const Action wish = state->lesson_wish;
    bool ok = true;
    if (wish == ACTION_NEXT)
        app_lesson_input(app, &(LessonInput){.kind = INPUT_NEXT});
    else if (wish == ACTION_BACK)
        app_lesson_input(app, &(LessonInput){.kind = INPUT_BACK});
    else if (wish == ACTION_SKIP)
        app_lesson_input(app, &(LessonInput){.kind = INPUT_SKIP});
    else if (wish == ACTION_ESCAPE) {
        int changes = undo_lesson_steps(&app->undo);
        ok = app_close_lesson(app, &err);
        if (changes) {
            app_undo(app, changes);
            app_note(app, "lesson closed: scene, kernel and view are yours again");
        }
    } else if (wish == ACTION_WORKFLOW)
        ok = open_page(app, &err);
    else if (wish == ACTION_TOUR)
        ok = app_open_tour(app, &err);
    else
        ok = (wish != ACTION_EXPLAIN || choose_explanation(app, &err)) &&
             app_open_lesson(app, state->lesson_name,
                             app->script ? app->options->memory : DESK_KEEPS, &err);
    if (!ok)
        app_note_error(app, &err);
}

/* Finds the input that a key is in a lesson. A digit is an answer, also where nothing is asked: as
 * a control it would choose another kernel and empty the lesson's panel. */
static bool input_of_key(const LessonPane *pane, int32_t key, LessonInput *input) {
    bool digit = key >= '0' && key <= '9';
    if (digit || (pane->asks == ASKS_NUMBER && (key == '.' || key == '-')))
        *input = (LessonInput){.kind = INPUT_TYPE, .key = (char)key};
    else if (key == KEYCODE_ENTER)
        *input = (LessonInput){.kind = INPUT_ENTER};
    else if (key == KEYCODE_BACKSPACE)
        *input = (LessonInput){.kind = pane->asks == ASKS_NOTHING ? INPUT_BACK : INPUT_ERASE};
    else if (pane->asks == ASKS_CHOICE && (key == KEYCODE_UP || key == KEYCODE_DOWN))
        *input = (LessonInput){.kind = key == KEYCODE_UP ? INPUT_UP : INPUT_DOWN};
    else
        return false;
    return true;
}

bool app_lesson_key(App *app, int32_t key) {
    LessonPane *pane = &app->state.lesson;
    LessonInput input;
    if (key == KEYCODE_SHIFT_UP || key == KEYCODE_SHIFT_DOWN) {
        pane->scroll += key == KEYCODE_SHIFT_UP ? -1 : 1;
        app->todo |= STEP_REDRAW;
        return true;
    }
    if (key == ' ' && pane->asks == ASKS_ORDER)
        return true; /* typed between two places of the order: it does not play the scene */
    if (!input_of_key(pane, key, &input) || (app->desk.page && input.kind == INPUT_TYPE))
        return false;
    app_lesson_input(app, &input);
    return true;
}
