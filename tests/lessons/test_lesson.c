/* A lesson as it is taken: right and wrong answers, figures that are unknown, any input. Figures are
 * those of tests/support/live_fixture.h. */
#include "src/learn/lesson_run.h"
#include "tests/lessons/lesson_text.h"
#include "tests/support/live_fixture.h"
#include "tests/support/tap.h"

static State state;
static LiveData live;
static LessonRun run;

static const char trial[] = "title Trial\n"
                            "say Hello {points}.\n"
                            "point at intervals\n"
                            "let before = points\n"
                            "ask How many points in {bits()} bits?\n"
                            "number 1 1000000 points\n"
                            "expect before within 5 %\n"
                            "run chart mrc\n"
                            "hint Count again.\n"
                            "why {before} of them.\n"
                            "again chart none\n"
                            "ask Which?\n"
                            "choose more if points > intervals\n"
                            "choose fewer if points <= intervals\n"
                            "animate temperature 1 2 3 0.5\n"
                            "say Watch.\n"
                            "say End.\n";

static int controls;
static char last_control[96];

/* Serves the run until it wants an input. */
static void serve(void) {
    for (int guard = 0; guard < 500; guard++)
        switch (lesson_run_wants(&run)) {
        case LESSON_WANTS_RESET:
        case LESSON_WANTS_PAUSE:
            lesson_run_done(&run);
            break;
        case LESSON_WANTS_CONTROL:
            lesson_run_control(&run, last_control, sizeof last_control);
            controls++;
            lesson_run_done(&run);
            break;
        case LESSON_WANTS_FIGURES:
            lesson_run_figures(&run, &state, &live, true);
            break;
        case LESSON_WANTS_INPUT:
            return;
        }
}

static bool give(LessonInputKind kind, const char *text) {
    const LessonInput input = {.kind = kind, .text = text, .key = text ? text[0] : 0};
    bool meant = lesson_run_input(&run, &input);
    serve();
    return meant;
}

static bool shows(const char *text) {
    static LessonPane pane;
    lesson_run_show(&run, &pane);
    for (int i = 0; i < pane.body.count; i++)
        if (strstr(pane_row(&pane.body, i), text))
            return true;
    return false;
}

static void begin(void) {
    Err err;
    tap_need(parse(trial, &err), "the trial lesson is read");
    lesson_run_init(&run, &lesson, 0);
    controls = 0;
    serve();
}

static void test_right(void) {
    begin();
    tap_ok(shows("Hello 209,019.") && run.point == PANEL_INTERVALS, "text with figures, a pointer");
    tap_ok(!give(INPUT_TYPE, "3") && give(INPUT_ANSWER, "3") && shows("Nothing is asked"),
           "an answer that nobody asked for is told so");
    give(INPUT_NEXT, NULL);
    tap_ok(shows("How many points in 16 bits?") && run.phase == PHASE_ASK, "a question");
    give(INPUT_NEXT, NULL);
    tap_ok(run.phase == PHASE_ASK && shows("First the answer"), "cannot be passed unseen");
    give(INPUT_ANSWER, "5000000");
    tap_ok(run.phase == PHASE_ASK && shows("from 1 to") && !run.asked, "out of range: not counted");
    give(INPUT_ANSWER, "many");
    tap_ok(run.phase == PHASE_ASK && !run.asked, "nor is what is no number");
    for (const char *key = "21000x0"; *key; key++)
        if (*key != 'x')
            give(INPUT_TYPE, key);
    give(INPUT_ERASE, NULL);
    give(INPUT_TYPE, "0");
    give(INPUT_ENTER, NULL);
    tap_ok(run.verdict == VERDICT_RIGHT && run.right == 1 && run.asked == 1 &&
               shows("Right: 209,019 points") && shows("209,019 of them.") && !shows("Count again"),
           "typed, erased, judged: right");
    tap_ok(!strcmp(last_control, "chart mrc") && controls == 1, "the reveal was run");
    give(INPUT_NEXT, NULL);
    tap_ok(shows("Which?") && run.point == PANEL_NONE, "who was right goes on");
    give(INPUT_UP, NULL);
    give(INPUT_DOWN, NULL);
    tap_ok(run.choice == 0, "arrows choose, round the ends");
    give(INPUT_ENTER, NULL);
    tap_ok(run.right == 2 && run.asked == 2 && shows("Right: more"), "a choice");
    give(INPUT_NEXT, NULL);
    tap_ok(controls == 4 && !strcmp(last_control, "temperature 2"), "an animation to its end");
    tap_ok(shows("Watch.") && shows("End."), "the text after it");
    give(INPUT_NEXT, NULL);
    tap_ok(lesson_run_ended(&run) && shows("2 of 2 predictions"), "the end, and the score");
    tap_ok(!give(INPUT_NEXT, NULL) && lesson_run_ended(&run), "nothing comes after it");
}

static void test_wrong(void) {
    begin();
    give(INPUT_NEXT, NULL);
    give(INPUT_ANSWER, "7");
    live.job.config.dtype = BEV_FP8; /* as a control of `again` does */
    tap_ok(run.verdict == VERDICT_WRONG && run.right == 0 && run.asked == 1 &&
               shows("Not yet: it is 209,019 points") && shows("Count again."),
           "a wrong answer, its hint");
    give(INPUT_NEXT, NULL);
    tap_ok(run.phase == PHASE_ASK && shows("Now with: chart none") && controls == 2,
           "asked again after a change");
    tap_ok(shows("in 8 bits?") && !shows("in 16 bits?"), "with the figures after it");
    give(INPUT_ANSWER, "8");
    give(INPUT_NEXT, NULL);
    tap_ok(run.phase == PHASE_ASK && run.again == 2, "and again, until right");
    give(INPUT_ANSWER, "209000");
    tap_ok(run.verdict == VERDICT_RIGHT && run.right == 0 && run.asked == 1,
           "only the first answer counts");
    give(INPUT_NEXT, NULL);
    give(INPUT_ANSWER, "2");
    tap_ok(run.verdict == VERDICT_WRONG && run.asked == 2, "a wrong choice");
    give(INPUT_BACK, NULL);
    tap_ok(run.phase == PHASE_ASK && shows("Which?"), "back: the same question");
    give(INPUT_ANSWER, "1");
    tap_ok(run.verdict == VERDICT_RIGHT && run.right == 0 && run.asked == 2,
           "it was counted already");
    give(INPUT_BACK, NULL);
    give(INPUT_BACK, NULL);
    tap_ok(shows("How many points in 8 bits?") && run.phase == PHASE_ASK, "back to the question before");
    give(INPUT_SKIP, NULL);
    tap_ok(shows("Which?"), "skip");
    give(INPUT_REPLAY, NULL);
    tap_ok(shows("Hello") && run.asked == 0, "replay: from the beginning, nothing counted");
    live.job.config.dtype = BEV_FP16;
}

static void test_void(void) {
    begin();
    give(INPUT_NEXT, NULL);
    live.intervals.known = false;
    run.names[0] = (Value){0};
    give(INPUT_ANSWER, "7");
    tap_ok(run.verdict == VERDICT_VOID && run.asked == 0 && shows("Cannot be judged here"),
           "an unknown figure: the question says why and does not count");
    live.intervals.known = true;
    lesson_run_init(&run, &lesson, 2);
    run.right = run.asked = 1;
    serve();
    tap_ok(shows("Which?") && run.right == 1, "a lesson is taken up at a page");
    live.intervals.known = false;
    const LessonInput answer = {.kind = INPUT_ANSWER, .text = "1"};
    lesson_run_input(&run, &answer);
    tap_ok(!lesson_run_figures(&run, &state, &live, false) &&
               lesson_run_wants(&run) == LESSON_WANTS_FIGURES,
           "figures that are not final are waited for");
    const LessonInput enter = {.kind = INPUT_ENTER};
    tap_ok(lesson_run_input(&run, &enter) && lesson_run_figures(&run, &state, &live, false) &&
               run.verdict == VERDICT_VOID,
           "unless the learner does not want to wait");
    lesson_run_init(&run, &lesson, 2);
    run.right = run.asked = 1;
    serve();
    lesson_run_input(&run, &answer);
    live.intervals.known = true;
    tap_ok(lesson_run_figures(&run, &state, &live, false) && run.verdict == VERDICT_RIGHT,
           "and judged when they are here");
}

/* Whatever the learner does, in whatever order: the machine waits for input again, pages stay
 * inside the lesson, and the score within what was asked. */
static void test_any_input(void) {
    static const char *const answers[] = {"1", "2",  "209019", "x",
                                          "",  "-1", "1 2",    "9999999999999"};
    unsigned seed = 7;
    int wrong = 0;
    begin();
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        LessonInputKind kind = (LessonInputKind)((seed >> 8) % (INPUT_REPLAY + 1));
        give(kind, answers[(seed >> 16) % 8][0] ? answers[(seed >> 16) % 8] : "0");
        wrong += lesson_run_wants(&run) != LESSON_WANTS_INPUT || run.page < 0 ||
                 run.page > lesson.page_count || run.right > run.asked ||
                 run.asked > lesson.question_count;
        shows("");
    }
    tap_ok(!wrong, "20,000 inputs at random leave it whole (%d do not)", wrong);
}

TAP_SUITE(lesson) {
    state = fixture_state(120, 40);
    live = fixture_live(&state);
    test_right();
    test_wrong();
    test_void();
    test_any_input();
    lesson_free(&lesson);
}
