/* SPDX-License-Identifier: MIT */
/* Takes lessons of the course from the first page to the last, twice: with whatever answer is in
 * range, and then, question by question, with a right one where that was wrong and with a wrong one
 * where it was right. So each question is judged both ways, and asked again after each of its
 * changes. Nothing is measured. The first ring takes the first lesson. The second ring takes all,
 * and on a busy machine live and plain, with right answers and with three that miss by little:
 * gates and caches then wait for a core, which takes half an hour on two cores. LESSON=05 takes
 * one. */
#include "src/base/clock.h"
#include "src/base/data.h"
#include "src/learn/course.h"
#include "src/ui/script.h"
#include "tests/support/folder.h"
#include "tests/support/load.h"

#include <math.h>
#include <poll.h>

enum { MAX_INPUTS = 600, LIVE_MS = 600000, WRONG_ANSWERS = 3 };

/* What the first time showed of a question. */
typedef struct {
    char right[48]; /* the right answer, as it would be typed; "": it cannot be judged here */
    bool recorded;  /* by recorded latencies, which a quiet machine measures */
    bool was_right; /* the answer that was given */
} Answer;

static Course course;
static Script *script;
static App *app;                     /* the script's, or the live one */
static Answer answers[LESSON_STEPS]; /* by page */

/* The least number, the first choice, the kernels as they are listed. */
static void some_answer(const LessonQuestion *question, char *text, size_t size) {
    if (question->asks == ASKS_NUMBER)
        snprintf(text, size, "%.17g", question->lo);
    else if (question->asks == ASKS_CHOICE)
        snprintf(text, size, "1");
    else
        for (int i = 0; i < question->choice_count; i++)
            snprintf(text + 2 * i, size - 2 * (size_t)i, "%d ", i + 1);
}

/* Returns the nearest number outside what the question takes as right, inside its range. */
static double near_miss(const LessonQuestion *question, double right) {
    double slack = question->percent ? question->within / 100 * fabs(right) : question->within;
    double above = right + slack * 1.05 + 1e-3, below = right - slack * 1.05 - 1e-3;
    return above <= question->hi ? above : below >= question->lo ? below : question->lo;
}

/* A number that misses by little, another choice, the right order backwards. */
static void wrong_answer(const LessonQuestion *question, const char *right, char *text,
                         size_t size) {
    if (question->asks == ASKS_NUMBER)
        snprintf(text, size, "%.17g", near_miss(question, strtod(right, NULL)));
    else if (question->asks == ASKS_CHOICE)
        snprintf(text, size, "%d", right[0] == '1' ? 2 : 1);
    else
        for (int i = 0; i < question->choice_count; i++)
            snprintf(text + 2 * i, size - 2 * (size_t)i, "%c ",
                     right[2 * (question->choice_count - 1 - i)]);
}

/* What the machine found to be right. */
static void keep_answer(const LessonRun *run) {
    Answer *answer = &answers[run->page];
    answer->was_right = run->verdict == VERDICT_RIGHT;
    answer->recorded = strstr(run->solution, "(recorded)") != NULL;
    snprintf(answer->right, sizeof answer->right, "%s",
             run->verdict == VERDICT_VOID ? "" : run->right_answer);
}

/* ONCE: some answers, and no question again. */
typedef enum { ONCE, FIRST, OTHERWISE } Way;

/* What was counted while a lesson was taken. */
typedef struct {
    int judged, right, wrong, as_meant, unexplained;
} Counts;

/* Returns how many wrong choices of the question just judged have no sentence of their own. */
static int unexplained(const LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    int count = 0;
    for (int i = 0; question->asks == ASKS_CHOICE && i < question->choice_count; i++)
        if (run->right_answer[0] != '1' + i && !question->choices[i].wrong) {
            tap_note("no `wrong` below \"%s\"", question->choices[i].text);
            count++;
        }
    return count;
}

static void wait_for_frame(void) {
    struct pollfd frames = {.fd = engine_fd(app->engine), .events = POLLIN};
    poll(&frames, 1, 100);
    app_take_frame(app, NULL);
}

/* Gives the live lesson what it waits for. */
static bool serve_live(Err *err) {
    double until_ms = clock_ms() + LIVE_MS;
    while (lesson_run_wants(&app->desk.run) < LESSON_WANTS_PAUSE) {
        if (clock_ms() > until_ms)
            return err_set(err, ERR_FAILED, "live", "", "page %d waits for its figures",
                           app->desk.run.page + 1);
        wait_for_frame();
        app_lesson_turn(app, false);
    }
    return true;
}

static bool act(LessonInputKind kind, const char *text, Err *err) {
    const LessonInput input = {.kind = kind, .text = text};
    if (app->script)
        return script_lesson_input(script, &input, err);
    app_lesson_input(app, &input);
    return serve_live(err);
}

static bool give_answer(Way way, Counts *counts, Err *err) {
    LessonRun *run = &app->desk.run;
    const LessonQuestion *question = lesson_run_question(run);
    const Answer *before = &answers[run->page];
    char text[64] = "";
    bool known = way == OTHERWISE && before->right[0];
    if (!known)
        some_answer(question, text, sizeof text);
    else if (before->was_right)
        wrong_answer(question, before->right, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", before->right);
    if (!act(INPUT_ANSWER, text, err))
        return false;
    if (run->phase != PHASE_VERDICT)
        return err_set(err, ERR_FAILED, app->desk.lesson->name, "", "page %d: \"%s\": %s",
                       run->page + 1, text, run->note);
    if (way != OTHERWISE)
        keep_answer(run);
    counts->unexplained += unexplained(run);
    counts->judged += run->verdict != VERDICT_VOID;
    counts->right += run->verdict == VERDICT_RIGHT;
    counts->wrong += run->verdict == VERDICT_WRONG;
    counts->as_meant += known && (run->verdict == VERDICT_WRONG) == before->was_right;
    return true;
}

/* After a wrong answer the question is asked again, once for each change: also then it is judged.
 */
static bool ask_again(Err *err) {
    LessonRun *run = &app->desk.run;
    const LessonQuestion *question = lesson_run_question(run);
    int page = run->page;
    for (int i = 0; run->verdict == VERDICT_WRONG && i < question->again.count; i++) {
        char text[64];
        some_answer(question, text, sizeof text);
        if (!act(INPUT_NEXT, NULL, err) || !act(INPUT_ANSWER, text, err))
            return false;
        if (run->page != page || run->phase != PHASE_VERDICT || run->verdict == VERDICT_VOID)
            return err_set(err, ERR_FAILED, question->again.rows[i], "", "cannot be judged: %s",
                           run->reveal.count ? pane_row(&run->reveal, 0) : "nothing is shown");
    }
    return true;
}

/* One input: an answer, and again after each change; or on. */
static bool go_on(Way way, Counts *counts, Err *err) {
    if (lesson_run_wants(&app->desk.run) == LESSON_WANTS_PAUSE)
        return act(INPUT_NEXT, NULL, err) && script_lesson_tick(script, err);
    if (app->state.lesson.asks == ASKS_NOTHING)
        return act(INPUT_SKIP, NULL, err);
    return give_answer(way, counts, err) && (way == ONCE || ask_again(err));
}

static bool take(const char *name, Way way, Counts *counts) {
    Err err = {0};
    char line[700];
    *counts = (Counts){0};
    bool ok = app_open_lesson(app, name, DESK_FORGETS, &err) && script_serve(script, &err);
    for (int i = 0; ok && i < MAX_INPUTS && !app->state.lesson.ended; i++) {
        ok = go_on(way, counts, &err);
    }
    err_line(&err, line, sizeof line);
    if (!ok || !app->state.lesson.ended)
        tap_note("%s", ok ? "it does not come to its end" : line);
    return ok && app->state.lesson.ended;
}

static void test_lesson(const char *name) {
    Counts first, other = {0};
    bool ok = take(name, FIRST, &first);
    int questions = app->desk.lesson->question_count;
    tap_ok(ok && first.judged == questions && questions > 0 && !first.unexplained,
           "%s: %d of %d questions can be judged, and say why a choice is wrong", name,
           first.judged, questions);
    ok = ok && take(name, OTHERWISE, &other);
    tap_ok(ok && other.as_meant == questions && first.right + other.right == questions &&
               first.wrong + other.wrong == questions,
           "%s: %d of %d right answers are right, %d wrong ones wrong", name,
           first.right + other.right, questions, first.wrong + other.wrong);
}

static void begin_lessons(void) {
    Err err;
    const ScriptOptions options = {
        .app = {.scene = "toy"}, .file = "test", .frames = ".", .columns = 80, .rows = 24};
    course_read(&course);
    script = calloc(1, sizeof *script);
    tap_need(script && script_open(script, &options, &err), "a script opens");
    app = &script->app;
}

static void end_lessons(void) {
    script_close(script);
    free(script);
}

/* A quiz asks a question without the pages before it: words that point back to them say nothing. */
TAP_SUITE(lessons_alone) {
    static const char *const back[] = {"And ",     "and here", "ho was it",
                                       "this GPU", "works so", "instead,"};
    course_read(&course);
    int questions = 0, dependent = 0;
    for (int i = 0; i < course.count; i++) {
        char path[COURSE_PATH];
        Lesson *lesson = NULL;
        Err err;
        if (!course_find(&course, course.names[i], path, sizeof path, &err) ||
            !(lesson = lesson_load(path, &err)))
            continue;
        for (int page = 0; page < lesson->page_count; page++) {
            if (!lesson->pages[page].question)
                continue;
            const char *text = lesson->pages[page].question->text;
            questions++;
            for (size_t word = 0; word < sizeof back / sizeof *back; word++)
                if (strstr(text, back[word]) == text || (word && strstr(text, back[word]))) {
                    dependent++;
                    tap_note("%s: %s", course.names[i], text);
                }
        }
        lesson_free(lesson);
    }
    tap_ok(questions > 80 && !dependent, "each of %d questions stands alone", questions);
}

TAP_SUITE(lessons) {
    begin_lessons();
    test_lesson(course.names[0]);
    end_lessons();
}

TAP_HARD_SUITE(lessons_behind) {
    const char *only = getenv("LESSON");
    begin_lessons();
    for (int i = 0; i < course.count; i++)
        if (!only || strstr(course.names[i], only))
            test_lesson(course.names[i]);
    end_lessons();
}

/* Takes frames until the newest one is no draft: the learner reads the page. */
static void read_page(void) {
    for (double until_ms = clock_ms() + LIVE_MS; app_live(app)->frame.draft;) {
        if (clock_ms() > until_ms)
            return;
        wait_for_frame();
    }
}

/* Whether the live display judges the script's right answer to be right, or a wrong one to be
 * wrong, and finds the same number. */
static bool judged_alike(bool wrong, Err *err) {
    LessonRun *run = &app->desk.run;
    const LessonQuestion *question = lesson_run_question(run);
    const char *right = answers[run->page].right;
    char text[64];
    if (wrong)
        wrong_answer(question, right, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", right);
    read_page();
    if (!act(INPUT_ANSWER, text, err))
        return false;
    bool number = question->asks == ASKS_NUMBER;
    bool same = !number || fabs(strtod(run->right_answer, NULL) - strtod(right, NULL)) <= 1e-9;
    bool measured = answers[run->page].recorded && !strstr(run->solution, "(recorded)");
    return (same && run->verdict == (wrong ? VERDICT_WRONG : VERDICT_RIGHT)) ||
           (measured && run->verdict != VERDICT_VOID) ||
           err_set(err, ERR_FAILED, "live", "", "page %d, %s: %s", run->page + 1, text,
                   pane_row(&run->reveal, 0));
}

/* One input. Three questions get a wrong answer first; after a way back the right one. */
static bool go_on_live(int *wrong, int *wrong_page, Err *err) {
    const LessonRun *run = &app->desk.run;
    if (lesson_run_wants(run) == LESSON_WANTS_PAUSE)
        app_lesson_turn(app, true);
    if (lesson_run_wants(run) != LESSON_WANTS_INPUT)
        return serve_live(err);
    if (run->phase != PHASE_ASK)
        return act(run->verdict == VERDICT_WRONG ? INPUT_BACK : INPUT_SKIP, NULL, err);
    bool miss = *wrong < WRONG_ANSWERS && *wrong_page < run->page;
    if (miss)
        *wrong_page = run->page;
    *wrong += miss;
    return judged_alike(miss, err);
}

static void test_live(const char *name) {
    Err err = {0};
    char line[700];
    int wrong = 0, wrong_page = -1;
    bool ok = app_open_lesson(app, name, DESK_FORGETS, &err) && serve_live(&err);
    for (int i = 0; ok && i < MAX_INPUTS && !app->state.lesson.ended; i++)
        ok = go_on_live(&wrong, &wrong_page, &err);
    err_line(&err, line, sizeof line);
    tap_ok(ok && app->state.lesson.ended && wrong == WRONG_ANSWERS,
           "%s: live, right answers are right and %d wrong ones wrong%s%s", name, wrong,
           ok ? "" : ": ", ok ? "" : line);
}

/* Writes a learner's lines: three wrong answers, then right ones. Returns how many are right. */
static int write_lines(const char *path) {
    const Lesson *lesson = app->desk.lesson;
    FILE *lines = fopen(path, "w");
    int asked = 0;
    tap_need(lines != NULL, "a file of answers");
    for (int page = 0; page < lesson->page_count; page++) {
        char wrong[64];
        const char *line = answers[page].right;
        if (!lesson->pages[page].question) {
            fputs("\n", lines);
            continue;
        }
        if (asked++ < WRONG_ANSWERS) {
            wrong_answer(lesson->pages[page].question, line, wrong, sizeof wrong);
            line = wrong;
        }
        fprintf(lines, "%s\nskip\n", line);
    }
    fclose(lines);
    return asked - WRONG_ANSWERS;
}

static void test_plain(const char *name) {
    char command[700], line[512], path[160];
    int right = 0, wrong = 0;
    bool ended = false;
    snprintf(path, sizeof path, "%s", in_folder("lines"));
    int want = write_lines(path);
    snprintf(command, sizeof command,
             "XDG_STATE_HOME='%s' \"$BEVSCOPE\" learn '%s' --plain --again <'%s'", folder, name,
             path);
    FILE *shown = popen(command, "r");
    while (shown && fgets(line, sizeof line, shown)) {
        right += !strncmp(line, "Right: ", 7);
        wrong += !strncmp(line, "No. The answer: ", 16);
        ended |= strstr(line, "The end of this lesson") != NULL;
    }
    bool ok = shown && pclose(shown) == 0;
    tap_ok(ok && ended && right == want && wrong == WRONG_ANSWERS,
           "%s: plain, %d of %d right answers are right, %d of %d wrong ones wrong", name, right,
           want, wrong, WRONG_ANSWERS);
}

/* Two busy loops a core: kernels of lessons are late, and others stand in for them. */
TAP_HARD_SUITE(lessons_busy) {
    static App display;
    static const AppOptions options = {.scene = "toy", .paused = true};
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .background = true, .make_picture = picture_make};
    const char *only = getenv("LESSON"); /* part of a name, to try one */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double load = 0;
    int count = getloadavg(&load, 1) == 1 && load > 2 * cores ? 0 : 2 * (int)cores;
    Err err;
    folder_open();
    begin_lessons();
    busy_begin(count);
    tap_need(app_open(&display, &options, &engine, &err), "the live display opens");
    for (int i = 0; i < course.count; i++) {
        Counts counts;
        if (only && !strstr(course.names[i], only))
            continue;
        busy_signal(SIGSTOP);
        app = &script->app;
        take(course.names[i], ONCE, &counts);
        busy_signal(SIGCONT);
        test_plain(course.names[i]);
        app = &display;
        test_live(course.names[i]);
    }
    busy_end();
    app_close(&display, 10e3);
    end_lessons();
    unlink(in_folder("lines"));
    unlink(in_folder("bevscope/progress"));
    unlink(in_folder("bevscope/missed"));
    rmdir(in_folder("bevscope"));
    folder_close();
}
