/* Takes every lesson of the course from its first page to its last: once to learn the answers,
 * with the right ones, once with wrong ones. Nothing is measured, so that the same answers show the
 * same texts; the first lessons are taken twice, with LESSONS_ALL=1 all of them. */
#include "src/base/data.h"
#include "src/learn/course.h"
#include "src/ui/script_internal.h"
#include "tests/tap.h"

#include <math.h>

enum { MAX_INPUTS = 600, TAKEN_ALWAYS = 3 };
#ifdef __SANITIZE_ADDRESS__
enum { SLOW_BUILD = 1 };
#else
enum { SLOW_BUILD = 0 };
#endif

/* The right answer to a question, as it would be typed; "": it cannot be judged here. */
typedef struct {
    char text[48];
} Answer;

static Script *script;
static Answer answers[LESSON_STEPS]; /* by page */
static char seen[1 << 20];           /* all that was shown */
static size_t seen_length;

static void remember(void) {
    const PaneText *body = &script->state.lesson.body;
    for (int i = 0; i < body->count; i++) {
        int n = snprintf(seen + seen_length, sizeof seen - seen_length, "%s\n", pane_row(body, i));
        if (n > 0 && seen_length + (size_t)n < sizeof seen)
            seen_length += (size_t)n;
    }
}

/* Some answer that is in range; with `wrong`, not the right one. */
static void other_answer(const LessonRun *run, bool wrong, char *text, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    const char *right = wrong ? answers[run->page].text : "";
    if (question->asks == ASKS_NUMBER) {
        double off = wrong && fabs(strtod(right, NULL) - question->lo) <
                                  fabs(strtod(right, NULL) - question->hi)
                         ? question->hi
                         : question->lo;
        snprintf(text, size, "%.17g", off);
    } else if (question->asks == ASKS_CHOICE)
        snprintf(text, size, "%d", right[0] == '1' ? 2 : 1);
    else
        for (int i = 0; i < question->choice_count; i++) /* backwards, where that is wrong */
            snprintf(text + 2 * i, size - 2 * (size_t)i, "%c ",
                     wrong ? right[2 * (question->choice_count - 1 - i)] : '1' + i);
}

/* What the machine found to be right. */
static void keep_answer(const LessonRun *run) {
    const LessonQuestion *question = lesson_run_question(run);
    char *text = answers[run->page].text;
    size_t size = sizeof answers[0].text;
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

typedef enum { LEARN, RIGHT, WRONG } Way;

static bool act(LessonInputKind kind, const char *text, Err *err) {
    const LessonInput input = {.kind = kind, .text = text};
    return script_lesson_input(script, &input, err);
}

/* One input: an answer, or on. *judged counts answers, *as_meant those judged as the way says. */
static bool go_on(Way way, int *judged, int *as_meant, Err *err) {
    char text[64] = "";
    LessonRun *run = &script->desk.run;
    if (lesson_run_wants(run) == LESSON_WANTS_PAUSE)
        return act(INPUT_NEXT, NULL, err) && script_lesson_tick(script, err);
    if (script->state.lesson.asks == ASKS_NOTHING)
        return act(INPUT_SKIP, NULL, err);
    if (way == RIGHT && answers[run->page].text[0])
        snprintf(text, sizeof text, "%s", answers[run->page].text);
    else
        other_answer(run, way == WRONG && answers[run->page].text[0], text, sizeof text);
    if (!act(INPUT_ANSWER, text, err))
        return false;
    if (run->phase != PHASE_VERDICT)
        return err_set(err, ERR_FAILED, script->desk.lesson.name, "", "page %d: \"%s\": %s",
                       run->page + 1, text, run->note);
    if (way == LEARN)
        keep_answer(run);
    *judged += run->verdict != VERDICT_VOID;
    *as_meant += run->verdict == (way == RIGHT ? VERDICT_RIGHT : VERDICT_WRONG);
    return true;
}

/* After a wrong answer the question is asked again, once for each change: also then it is judged.
 */
static bool ask_again(Err *err) {
    LessonRun *run = &script->desk.run;
    const LessonQuestion *question = lesson_run_question(run);
    int page = run->page;
    for (int i = 0; run->verdict == VERDICT_WRONG && i < question->again_count; i++) {
        char text[64];
        other_answer(run, false, text, sizeof text);
        if (!act(INPUT_NEXT, NULL, err) || !act(INPUT_ANSWER, text, err))
            return false;
        if (run->page != page || run->phase != PHASE_VERDICT || run->verdict == VERDICT_VOID)
            return err_set(err, ERR_FAILED, question->agains[i], "", "cannot be judged: %s",
                           run->reveal.count ? pane_row(&run->reveal, 0) : "nothing is shown");
        remember();
    }
    return true;
}

static bool take(const char *name, Way way, int *judged, int *as_meant, Err *err) {
    *judged = *as_meant = 0;
    seen_length = 0;
    if (!script_open_lesson(script, name, err))
        return false;
    for (int i = 0; i < MAX_INPUTS && !script->state.lesson.ended; i++) {
        remember();
        bool asked = script->state.lesson.asks != ASKS_NOTHING;
        if (!go_on(way, judged, as_meant, err) || (asked && way == WRONG && !ask_again(err)))
            return false;
    }
    remember();
    return script->state.lesson.ended ||
           err_set(err, ERR_FAILED, name, "", "does not come to its end");
}

static bool took(bool ok, const Err *err) {
    char line[700];
    err_line(err, line, sizeof line);
    if (!ok)
        tap_note("%s", line);
    return ok;
}

/* `seen` has the texts of the last time, with right answers. */
static void test_twice(const char *name) {
    Err err = {0};
    int judged, as_meant;
    char *first = strndup(seen, seen_length);
    bool ok = took(take(name, RIGHT, &judged, &as_meant, &err), &err);
    tap_ok(ok && first && strlen(first) == seen_length && !memcmp(first, seen, seen_length),
           "%s: the same texts twice", name);
    free(first);
}

static void test_lesson(const char *name, bool twice) {
    Err err = {0};
    int judged, as_meant, questions;
    bool ok = took(take(name, LEARN, &judged, &as_meant, &err), &err);
    questions = script->desk.lesson.question_count;
    tap_ok(ok && judged == questions && questions > 0, "%s: %d of %d questions can be judged", name,
           judged, questions);
    ok = ok && took(take(name, RIGHT, &judged, &as_meant, &err), &err);
    tap_ok(ok && judged == as_meant, "%s: %d of %d right answers are right", name, as_meant,
           judged);
    if (twice)
        test_twice(name);
    ok = ok && took(take(name, WRONG, &judged, &as_meant, &err), &err);
    tap_ok(ok && judged == as_meant, "%s: %d of %d wrong answers are wrong", name, as_meant,
           judged);
}

int main(void) {
    static Course course;
    Err err;
    const ScriptOptions options = {
        .scene = "toy", .file = "test", .frames = ".", .columns = 80, .rows = 24};
    course_read(&course);
    script = calloc(1, sizeof *script);
    tap_need(script && script_open(script, &options, &err), "a script opens");
    bool all = getenv("LESSONS_ALL") != NULL;
    for (int i = 0; i < course.count; i++)
        if (TAKEN_ALWAYS <= i && !all && SLOW_BUILD)
            tap_skip(course.names[i], "takes minutes with a sanitizer: LESSONS_ALL=1");
        else
            test_lesson(course.names[i], i < TAKEN_ALWAYS || all);
    script_close(script);
    free(script);
    return tap_done();
}
