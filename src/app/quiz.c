/* A quiz on the lesson desk: each question is its lesson, taken without stops to the page of the
 * question. */
#include "src/app/app.h"

#include "src/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* A script draws the same questions every time. */
enum { SCRIPT_SEED = 1 };

bool app_open_quiz(App *app, DeskMemory memory, Err *err) {
    static Course course; /* large; only the main thread opens lessons */
    static QuizMissed missed;
    Quiz quiz;
    int64_t seed = app->options->seed;
    missed.count = 0;
    course_read(&course);
    if (memory != DESK_FORGETS)
        quiz_missed_read(&missed);
    if (seed <= 0)
        seed = memory == DESK_FORGETS ? SCRIPT_SEED : (int64_t)time(NULL);
    if (!quiz_draw(&quiz, &course, &missed, (uint64_t)seed, err))
        return false;
    app_clear_desk(app);
    app->desk = (LessonDesk){.open = true, .memory = memory, .quizzes = true, .quiz = quiz};
    return app_quiz_question(app, err);
}

bool app_quiz_question(App *app, Err *err) {
    LessonDesk *desk = &app->desk;
    const QuizItem *item = &desk->quiz.items[desk->quiz.at];
    Lesson lesson;
    desk->open = app_read_lesson(item->lesson, &lesson, err);
    if (!desk->open)
        return false;
    lesson_free(&desk->lesson);
    desk->lesson = lesson;
    lesson_run_init(&desk->run, &desk->lesson, item->page);
    desk->run.alone = true;
    desk->noted = 0;
    app_show_lesson(app); /* the engine learns which kernels the lesson wants simulated */
    app_lesson_turn(app, false);
    return true;
}

bool app_quiz_goes_on(App *app, Err *err) {
    LessonDesk *desk = &app->desk;
    Quiz *quiz = &desk->quiz;
    if (!desk->quizzes || quiz->over || !lesson_run_ended(&desk->run))
        return true;
    if (!quiz->items[quiz->at].answered)
        quiz_answer(quiz, VERDICT_NONE);
    return !quiz_next(quiz) || app_quiz_question(app, err);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static bool runs(const LessonDesk *desk) {
    return desk->open && desk->quizzes && !desk->quiz.over && desk->run.phase == PHASE_ASK;
}

void app_quiz_pass(App *app, double seconds) {
    LessonDesk *desk = &app->desk;
    double before = ceil(desk->quiz.seconds);
    if (!runs(desk))
        return;
    quiz_pass(&desk->quiz, seconds);
    if (ceil(desk->quiz.seconds) < before)
        app_show_lesson(app);
}

double app_quiz_seconds(const App *app) {
    return runs(&app->desk) ? app->desk.quiz.seconds : INFINITY;
}

void app_quiz_clock(App *app) {
    double now = clock_ms();
    if (!app->script && app->desk.clock_ms > 0)
        app_quiz_pass(app, (now - app->desk.clock_ms) * 1e-3);
    app->desk.clock_ms = now;
}

/* The clock shows whole seconds, rounded up. */
double app_quiz_in_ms(const App *app) {
    const Quiz *quiz = &app->desk.quiz;
    return runs(&app->desk) && !app->script ? 1e3 * (quiz->seconds - ceil(quiz->seconds) + 1)
                                            : INFINITY;
}

/* ---- what is shown --------------------------------------------------------------------------- */

void app_quiz_show(App *app) {
    static PaneText body; /* large; screens are drawn by one thread */
    const LessonDesk *desk = &app->desk;
    LessonPane *pane = &app->state.lesson;
    const Job *job = &app->state.job;
    char label[80], text[240];
    kernel_config_label(&job->config, label, sizeof label);
    snprintf(text, sizeof text, "Scene %s, %s.", app->state.menu.scenes.names[job->scene], label);
    body.count = body.used = 0;
    if (lesson_run_wants(&desk->run) == LESSON_WANTS_INPUT)
        pane_add(&body, PANE_TERM, false, text);
    pane_append(&body, &pane->body);
    pane->body = body;
    quiz_show(&desk->quiz, pane);
}
