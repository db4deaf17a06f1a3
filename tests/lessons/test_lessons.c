/* Takes lessons of the course from the first page to the last, twice: with whatever answer is in
 * range, and then, question by question, with a right one where that was wrong and with a wrong one
 * where it was right. So each question is judged both ways, and asked again after each of its
 * changes. Nothing is measured, so that the same answers show the same texts: a third time proves
 * it. The first ring takes two lessons, the second of them, for which caches are simulated, on the
 * smallest scene in place of its own; the second ring takes all as they are. */
#include "src/base/data.h"
#include "src/learn/course.h"
#include "src/ui/script_internal.h"
#include "tests/support/folder.h"

#include <math.h>

enum { MAX_INPUTS = 600, FIRST_RING = 2 };

/* What the first time showed of a question. */
typedef struct {
    char right[48]; /* the right answer, as it would be typed; "": it cannot be judged here */
    bool was_right; /* the answer that was given */
} Answer;

static Course course;
static Script *script;
static Answer answers[LESSON_STEPS]; /* by page */
static char seen[1 << 20];           /* all that was shown */
static size_t seen_length;

static void remember(void) {
    const PaneText *body = &script->app.state.lesson.body;
    for (int i = 0; i < body->count; i++) {
        int n = snprintf(seen + seen_length, sizeof seen - seen_length, "%s\n", pane_row(body, i));
        if (n > 0 && seen_length + (size_t)n < sizeof seen)
            seen_length += (size_t)n;
    }
}

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

/* The number farther from the right one, another choice, the right order backwards. */
static void wrong_answer(const LessonQuestion *question, const char *right, char *text,
                         size_t size) {
    if (question->asks == ASKS_NUMBER) {
        double is = strtod(right, NULL);
        bool high = fabs(is - question->lo) < fabs(is - question->hi);
        snprintf(text, size, "%.17g", high ? question->hi : question->lo);
    } else if (question->asks == ASKS_CHOICE)
        snprintf(text, size, "%d", right[0] == '1' ? 2 : 1);
    else
        for (int i = 0; i < question->choice_count; i++)
            snprintf(text + 2 * i, size - 2 * (size_t)i, "%c ",
                     right[2 * (question->choice_count - 1 - i)]);
}

/* What the machine found to be right. */
static void keep_answer(const LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    Answer *answer = &answers[run->page];
    char *text = answer->right;
    const size_t size = sizeof answer->right;
    answer->was_right = run->verdict == VERDICT_RIGHT;
    text[0] = '\0';
    if (run->verdict == VERDICT_VOID)
        return;
    if (question->asks == ASKS_NUMBER)
        snprintf(text, size, "%.17g", run->right_number);
    else if (question->asks == ASKS_CHOICE)
        snprintf(text, size, "%d", run->right_choice + 1);
    else
        for (int i = 0; i < question->choice_count; i++)
            snprintf(text + 2 * i, size - 2 * (size_t)i, "%d ", run->right_order[i] + 1);
}

typedef enum { FIRST, OTHERWISE } Way;

/* What was counted while a lesson was taken. */
typedef struct {
    int judged, right, wrong, as_meant;
} Counts;

static bool act(LessonInputKind kind, const char *text, Err *err) {
    const LessonInput input = {.kind = kind, .text = text};
    return script_lesson_input(script, &input, err);
}

/* Answers the question that is asked. */
static bool give_answer(Way way, Counts *counts, Err *err) {
    LessonRun *run = &script->app.desk.run;
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
        return err_set(err, ERR_FAILED, script->app.desk.lesson.name, "", "page %d: \"%s\": %s",
                       run->page + 1, text, run->note);
    if (way == FIRST)
        keep_answer(run);
    counts->judged += run->verdict != VERDICT_VOID;
    counts->right += run->verdict == VERDICT_RIGHT;
    counts->wrong += run->verdict == VERDICT_WRONG;
    counts->as_meant += known && (run->verdict == VERDICT_WRONG) == before->was_right;
    return true;
}

/* After a wrong answer the question is asked again, once for each change: also then it is judged.
 */
static bool ask_again(Err *err) {
    LessonRun *run = &script->app.desk.run;
    const LessonQuestion *question = lesson_run_question(run);
    int page = run->page;
    for (int i = 0; run->verdict == VERDICT_WRONG && i < question->again_count; i++) {
        char text[64];
        some_answer(question, text, sizeof text);
        if (!act(INPUT_NEXT, NULL, err) || !act(INPUT_ANSWER, text, err))
            return false;
        if (run->page != page || run->phase != PHASE_VERDICT || run->verdict == VERDICT_VOID)
            return err_set(err, ERR_FAILED, question->agains[i], "", "cannot be judged: %s",
                           run->reveal.count ? pane_row(&run->reveal, 0) : "nothing is shown");
        remember();
    }
    return true;
}

/* One input: an answer, and again after each change; or on. */
static bool go_on(Way way, Counts *counts, Err *err) {
    if (lesson_run_wants(&script->app.desk.run) == LESSON_WANTS_PAUSE)
        return act(INPUT_NEXT, NULL, err) && script_lesson_tick(script, err);
    if (script->app.state.lesson.asks == ASKS_NOTHING)
        return act(INPUT_SKIP, NULL, err);
    return give_answer(way, counts, err) && ask_again(err);
}

static bool take(const char *name, Way way, Counts *counts) {
    Err err = {0};
    char line[700];
    *counts = (Counts){0};
    seen_length = 0;
    bool ok = app_open_lesson(&script->app, name, DESK_FORGETS, &err) && script_serve(script, &err);
    for (int i = 0; ok && i < MAX_INPUTS && !script->app.state.lesson.ended; i++) {
        remember();
        ok = go_on(way, counts, &err);
    }
    remember();
    err_line(&err, line, sizeof line);
    if (!ok || !script->app.state.lesson.ended)
        tap_note("%s", ok ? "it does not come to its end" : line);
    return ok && script->app.state.lesson.ended;
}

/* `seen` has the texts of the last time. */
static void test_twice(const char *name, const char *path) {
    Counts counts;
    char *before = strndup(seen, seen_length);
    bool ok = take(path, OTHERWISE, &counts);
    tap_ok(ok && before && strlen(before) == seen_length && !memcmp(before, seen, seen_length),
           "%s: the same texts twice", name);
    free(before);
}

static void test_lesson(const char *name, const char *path) {
    Counts first, other = {0};
    bool ok = take(path, FIRST, &first);
    int questions = script->app.desk.lesson.question_count;
    tap_ok(ok && first.judged == questions && questions > 0, "%s: %d of %d questions can be judged",
           name, first.judged, questions);
    ok = ok && take(path, OTHERWISE, &other);
    tap_ok(ok && other.as_meant == questions && first.right + other.right == questions &&
               first.wrong + other.wrong == questions,
           "%s: %d of %d right answers are right, %d wrong ones wrong", name,
           first.right + other.right, questions, first.wrong + other.wrong);
    test_twice(name, path);
}

/* A copy of the lesson, on the toy scene in place of its own. */
static const char *copy_on_toy(const char *name) {
    char path[COURSE_PATH], command[COURSE_PATH + 512];
    const char *copy = in_folder(name);
    Err err;
    tap_need(course_find(&course, name, path, sizeof path, &err), name);
    snprintf(command, sizeof command, "sed 's/^scene .*/scene toy/' '%s' >'%s'", path, copy);
    tap_need(system(command) == 0, "a copy of the lesson");
    return copy;
}

static void begin_lessons(void) {
    Err err;
    const ScriptOptions options = {
        .app = {.scene = "toy"}, .file = "test", .frames = ".", .columns = 80, .rows = 24};
    course_read(&course);
    script = calloc(1, sizeof *script);
    tap_need(script && script_open(script, &options, &err), "a script opens");
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
        Lesson lesson;
        Err err;
        if (!course_find(&course, course.names[i], path, sizeof path, &err) ||
            !lesson_load(path, &lesson, &err))
            continue;
        for (int page = 0; page < lesson.page_count; page++) {
            const LessonPage *of = &lesson.pages[page];
            const LessonStep *last = &lesson.steps[of->first + of->count - 1];
            if (last->kind != LESSON_QUESTION)
                continue;
            const char *text = lesson.questions[last->number].text;
            questions++;
            for (size_t word = 0; word < sizeof back / sizeof *back; word++)
                if (strstr(text, back[word]) == text || (word && strstr(text, back[word]))) {
                    dependent++;
                    tap_note("%s: %s", course.names[i], text);
                }
        }
        lesson_free(&lesson);
    }
    tap_ok(questions > 80 && !dependent, "each of %d questions stands alone", questions);
}

TAP_SUITE(lessons) {
    folder_open();
    begin_lessons();
    for (int i = 0; i < FIRST_RING && i < course.count; i++) {
        const char *name = course.names[i], *copy = copy_on_toy(name);
        test_lesson(name, copy);
        unlink(copy);
    }
    end_lessons();
    folder_close();
}

TAP_HARD_SUITE(lessons_behind) {
    begin_lessons();
    for (int i = 0; i < course.count; i++)
        test_lesson(course.names[i], course.names[i]);
    end_lessons();
}
