/* SPDX-License-Identifier: MIT */
/* Lessons: as they are taken, with right and wrong answers, figures that are unknown, any input;
 * expressions and their figures, which are those of tests/support/live_fixture.h; files that are
 * wrong are refused with their line, whatever the bytes are. */
#include "src/learn/expression.h"
#include "src/learn/lesson_run.h"
#include "tests/support/golden.h"
#include "tests/support/live_fixture.h"

static State state;
static LiveData live;
static Lesson *lesson; /* the last one read */

/* Errors name the file x.lesson. */
static bool parse(const char *text, Err *err) {
    lesson_free(lesson);
    lesson = lesson_parse(text, strlen(text), "x.lesson", err);
    return lesson;
}

/* ---- a lesson as it is taken ----------------------------------------------------------------- */

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

/* A check of what holds after this input. */
#define after(kind_, text_, ...) (give(kind_, text_), tap_ok(__VA_ARGS__))

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
    lesson_run_init(&run, lesson, 0);
    controls = 0;
    serve();
}

/* Gives the input of a line, "answer 7", and writes what the learner sees of it. */
static void play(const char *line, FILE *text) {
    static const char *const words[] = {
        [INPUT_NEXT] = "next",     [INPUT_BACK] = "back", [INPUT_SKIP] = "skip",
        [INPUT_ANSWER] = "answer", [INPUT_TYPE] = "type", [INPUT_ERASE] = "erase",
        [INPUT_ENTER] = "enter",   [INPUT_UP] = "up",     [INPUT_DOWN] = "down"};
    static LessonPane pane;
    char word[16], argument[32] = "";
    const int carried_out = controls;
    sscanf(line, "%15s %31s", word, argument);
    if (!strcmp(word, "!dtype")) /* as a control of `again` does */
        live.job.config.dtype = !strcmp(argument, "fp8") ? BEV_FP8 : BEV_FP16;
    for (int kind = 0; kind < (int)(sizeof words / sizeof *words); kind++)
        if (words[kind] && !strcmp(words[kind], word))
            give((LessonInputKind)kind, argument[0] ? argument : NULL);
    lesson_run_show(&run, &pane);
    fprintf(text, "    page %d%s, %d of %d right%s%s%s\n", run.page + 1,
            run.phase == PHASE_ASK       ? " asks"
            : run.phase == PHASE_VERDICT ? " judges"
            : run.phase == PHASE_END     ? ", the end"
                                         : "",
            run.right, run.asked, pane.covers ? ", figures covered" : "",
            run.point == PANEL_NONE ? "" : ", points at ", lesson_panels[run.point]);
    if (controls != carried_out)
        fprintf(text, "    %d controls, the last \"%s\"\n", controls - carried_out, last_control);
    for (int i = 0; i < pane.body.count; i++)
        fprintf(text, "    | %s\n", pane_row(&pane.body, i));
}

static void test_void(void) {
    begin();
    give(INPUT_NEXT, NULL);
    live.intervals.known = false;
    run.names[0] = (Value){0};
    after(INPUT_ANSWER, "7",
          run.verdict == VERDICT_VOID && run.asked == 0 && shows("Cannot be judged here"),
          "an unknown figure: the question says why and does not count");
    live.intervals.known = true;
    lesson_run_init(&run, lesson, 2);
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
    tap_ok(lesson_run_input(&run, &enter) && !lesson_run_figures(&run, &state, &live, false),
           "an Enter meanwhile loses no question");
    const LessonInput skip = {.kind = INPUT_SKIP};
    tap_ok(lesson_run_input(&run, &skip) && lesson_run_figures(&run, &state, &live, false) &&
               run.verdict == VERDICT_VOID && shows("you went on before"),
           "a skip goes on without the figures");
    lesson_run_init(&run, lesson, 2);
    run.right = run.asked = 1;
    serve();
    lesson_run_input(&run, &answer);
    live.intervals.known = true;
    tap_ok(lesson_run_figures(&run, &state, &live, false) && run.verdict == VERDICT_RIGHT,
           "and judged when they are here");
}

/* Begins a lesson of one question by the model, and answers it. */
static void answer_by_model(const char *answer) {
    const LessonInput input = {.kind = INPUT_ANSWER, .text = answer};
    Err err;
    tap_need(parse("title t\nask q\nchoose more if model_us(v3) > 0\nchoose fewer\n"
                   "wrong It takes {model_us(v3)}.\nwhy w\n",
                   &err),
             "the lesson is read");
    lesson_run_init(&run, lesson, 0);
    serve();
    lesson_run_input(&run, &input);
}

/* After a control the model of the map before stays on the screen: no answer is judged by it. */
static void test_model_of_before(void) {
    live.model = fixture_model();
    live.model_of_before = true;
    answer_by_model("2");
    tap_ok(!lesson_run_figures(&run, &state, &live, false) &&
               lesson_run_wants(&run) == LESSON_WANTS_FIGURES,
           "the model of the map before is waited out");
    live.model_of_before = false;
    tap_ok(lesson_run_figures(&run, &state, &live, false) && run.verdict == VERDICT_WRONG &&
               shows("It takes ") && shows(" us (model)."),
           "the model of this map judges, and a wrong choice says why");
    live.model_of_before = true;
    answer_by_model("1");
    tap_ok(lesson_run_figures(&run, &state, &live, true) && run.verdict == VERDICT_VOID,
           "if none of this map comes, the answer does not count");
    live.model_of_before = false;
    answer_by_model("1");
    tap_ok(lesson_run_figures(&run, &state, &live, false) && run.verdict == VERDICT_RIGHT &&
               !shows("It takes "),
           "a right choice has no such sentence");
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
        LessonInputKind kind = (LessonInputKind)((seed >> 8) % (INPUT_SKIP + 1));
        give(kind, answers[(seed >> 16) % 8][0] ? answers[(seed >> 16) % 8] : "0");
        wrong += lesson_run_wants(&run) != LESSON_WANTS_INPUT || run.page < 0 ||
                 run.page > lesson->page_count || run.right > run.asked ||
                 run.asked > lesson->question_count;
        shows("");
    }
    tap_ok(!wrong, "20,000 inputs at random leave it whole (%d do not)", wrong);
}

TAP_SUITE(lesson_scripts) {
    state = fixture_state(120, 40);
    live = fixture_live(&state);
    check_scripts("lessons", "inputs", begin, play);
}

TAP_SUITE(lesson) {
    state = fixture_state(120, 40);
    live = fixture_live(&state);
    test_void();
    test_model_of_before();
    test_any_input();
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* The value of an expression with figures; `text` gets it as it is shown, or why there is none. */
static bool value_of(const char *expression, Evaluation *evaluation, Value *value, char text[200]) {
    const NameTable none = {0};
    evaluation->names = &none;
    bool ok = expression_value(expression, evaluation, value);
    if (ok)
        snprintf(text, 200, "%s", value_text(value, "").text);
    else
        snprintf(text, 200, "%s", evaluation->why);
    return ok;
}

static LiveData backward; /* a frame with gradients */

static void begin_sums(void) {}

/* Writes the value of an expression forward, and backward where it is known there alone. */
static void play_sum(const char *line, FILE *out) {
    Evaluation forward = {.state = &state, .live = &live, .timings = SOURCE_MEASURED};
    Evaluation back = forward;
    Value value;
    char text[200];
    back.live = &backward;
    bool known = value_of(line, &forward, &value, text);
    fprintf(out, "    %s\n", text);
    if (!known && value_of(line, &back, &value, text))
        fprintf(out, "    backward: %s\n", text);
}

static void test_unknown(void) {
    Evaluation evaluation = {.state = &state, .live = &live, .timings = SOURCE_RECORDED};
    Value value;
    char why[200];
    tap_ok(!value_of("latency(v2)", &evaluation, &value, why) && evaluation.timing_missing &&
               strstr(why, "V2 was not recorded"),
           "an unknown latency says why: %s", why);
    tap_ok(!value_of("1 / 0", &evaluation, &value, why), "so does a division by zero");
}

/* One camera with two pixels and two bins, three points, four channels in FP16. Of V2 backward each
 * point reads 12 bytes of ranks and 8 of owners for each of 4 channels; the rest has a formula. */
static void test_gradients(void) {
    float feat[8] = {1, 2, 3, 4}, grad_feat[8] = {0, 5, 0, 1}, depth[4] = {0.5F, 0, 0.25F};
    float grad_depth[4] = {8, 1, 4}, pooled[4] = {1, 2, 0, 3}, grad_out[4] = {3, 0, 7, 1};
    const Features features = {.depth = depth, .feat = feat};
    int32_t start = 0, length = 3;
    const BevMap map = {
        .points = 3, .intervals = 1, .interval_starts = &start, .interval_lengths = &length};
    const GridLoss loss = {.grad_out = grad_out};
    backward = live;
    backward.frame = (LiveFrame){.nx = 1, .ny = 1, .channels = 4, .map = &map, .pooled = pooled};
    backward.frame.shape = (BevShape){
        .cameras = 1, .feat_h = 1, .feat_w = 2, .depth_bins = 2, .channels = 4, .nx = 1, .ny = 1};
    backward.frame.features = &features;
    backward.frame.gradients = (LiveGradients){&loss, grad_depth, grad_feat, ""};
    check_scripts("lessons", "sums", begin_sums, play_sum);
}

static void test_sources(void) {
    static const FigureSource all[] = {SOURCE_COMPUTED, SOURCE_MEASURED, SOURCE_RECORDED,
                                       SOURCE_PUBLISHED, SOURCE_MODEL};
    int wrong = 0;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            wrong += weaker_source(all[a], all[b]) != all[a > b ? a : b];
    tap_ok(!wrong, "a result is labelled with the weaker of its sources");
    int named = 0;
    for (int i = 0; i < figure_count; i++)
        named += figure_find(figures[i].name) == i && figures[i].get;
    tap_ok(named == figure_count, "%d figures have a name of their own", figure_count);
}

/* A picture that another kernel pooled, or one beside itself: nothing is judged, and the lesson
 * waits.
 */
static void test_other_pictures(void) {
    static const LiveDifference none = {0}, itself = {.known = true, .alike = true},
                                two = {.known = true, .cells = 7};
    static const struct {
        const char *what;
        const BevKernel *stand_in;
        const LiveDifference *difference;
    } others[] = {{"no comparison", NULL, &none},
                  {"a stand-in beside itself", &fixture_kernels[FIXTURE_V2], &itself},
                  {"a stand-in beside the baseline", &fixture_kernels[FIXTURE_V2], &two},
                  {"a picture beside itself", NULL, &itself}};
    const LessonInput answer = {.kind = INPUT_ANSWER, .text = "7"};
    LiveData of = live;
    Err err;
    tap_need(parse("title T\nask How many?\nnumber 0 9\nexpect moved_cells within 0\n", &err),
             "read");
    lesson_run_init(&run, lesson, 0);
    serve();
    lesson_run_input(&run, &answer);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        of.stand_in = others[i].stand_in;
        of.difference = *others[i].difference;
        bool judged = lesson_run_figures(&run, &state, &of, false);
        tap_ok(!judged && run.phase == PHASE_JUDGE && !run.verdict, "%s is not judged",
               others[i].what);
    }
    of.stand_in = NULL;
    of.difference = two;
    tap_ok(lesson_run_figures(&run, &state, &of, false) && run.verdict == VERDICT_RIGHT,
           "the two pictures that were asked for are");
}

/* Of medians that were measured and have not settled: recorded ones, once nothing else comes. */
static void test_unsettled(void) {
    LiveData of = live;
    Evaluation evaluation = {.state = &state, .live = &of, .timings = SOURCE_RECORDED};
    LiveKernel *row = &of.kernels[FIXTURE_V2];
    Value value;
    char text[200];
    row->kernel = bev_kernel_find("v2");
    row->median_us = reading(50, SOURCE_MEASURED);
    row->recorded_us = reading(40, SOURCE_RECORDED);
    row->unsettled = true;
    tap_ok(!value_of("latency(v2)", &evaluation, &value, text),
           "an unsettled median is waited for");
    of.complete = true;
    tap_ok(value_of("latency(v2)", &evaluation, &value, text) && value.number == 40,
           "then the recorded one is taken: %s", text);
    evaluation.timings = SOURCE_MEASURED;
    tap_ok(!value_of("latency(v2)", &evaluation, &value, text), "and never the unsettled one");
}

TAP_SUITE(lesson_expression_scripts) {
    state = fixture_state(120, 40);
    live = fixture_live(&state);
    test_unknown();
    test_gradients();
    test_sources();
    test_unsettled();
    test_other_pictures();
}

/* ---- files ----------------------------------------------------------------------------------- */

static Err err; /* why a step failed */

static void begin_file(void) {}

/* Reads the lesson of a line, in which " | " ends a line of the file. */
static void play_file(const char *line, FILE *out) {
    char text[200], error[800];
    snprintf(text, sizeof text, "%s\n", line);
    for (char *bar; (bar = strstr(text, " | ")); memmove(bar + 1, bar + 3, strlen(bar + 3) + 1))
        *bar = '\n';
    if (parse(text, &err)) {
        fprintf(out, "    read: %d pages, %d minutes\n", lesson->page_count, lesson->minutes);
        return;
    }
    err_line(&err, error, sizeof error);
    fprintf(out, "    %s\n", error);
}

/* `row`, so many times, after a title. */
static char *many(const char *row, int times) {
    char *text = malloc(16 + (strlen(row) + 1) * (size_t)times);
    tap_need(text != NULL, "memory");
    char *at = text + sprintf(text, "title t\n");
    for (int i = 0; i < times; i++)
        at += sprintf(at, "%s\n", row);
    return text;
}

/* A row that shows one line of source. A question takes 3 of them, a lesson takes 400. */
#define SOURCE "source kernels/bevpool.h \"BevMap\" 1\n"

static void test_large_files(void) {
    static const struct {
        const char *row;
        int times;
        const char *part;
    } large[] = {{"say x", 401, "more than 400 steps"},
                 {"say xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                  1000, "at most 65536"},
                 {"ask q\nnumber 1 2\nexpect 1 within 0", 41, "more than 40 questions"},
                 {"ask q\nnumber 1 2\nexpect 1 within 0\n" SOURCE SOURCE SOURCE SOURCE, 1,
                  "x.lesson:8: more than 3 sources"},
                 {"ask q\nnumber 1 2\nexpect 1 within 0\n" SOURCE SOURCE SOURCE
                  "say x\n" SOURCE SOURCE SOURCE SOURCE SOURCE SOURCE SOURCE SOURCE SOURCE,
                  34, "more than 400 sources"}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char line[800], *text = many(large[i].row, large[i].times);
        bool refused = !parse(text, &err);
        err_line(&err, line, sizeof line);
        tap_ok(refused && strstr(line, large[i].part), "refused: %s", line);
        free(text);
    }
    char deep[300] = "title t\nsay {";
    memset(deep + strlen(deep), '(', 100);
    strcat(deep, "1}");
    tap_ok(!parse(deep, &err) && strstr(err.what, "nested too deeply"), "refused: %s", err.what);
}

/* Whatever the bytes are, the parser reads or refuses them; nothing is lost or read outside. */
static void test_noise(void) {
    static const char good[] =
        "title t\nscene toy\nsay a {points} b\nlet n = points\nask q\nchoose a if n > 1\n"
        "choose b if n <= 1\nwhy w {n}\nask r\nnumber 1 9 x\nexpect n within 5 %\nagain kernel v2\n"
        "ask o\norder v2 v3 by latency\nanimate temperature 1 2 3 0.1\nterm interval\n";
    unsigned seed = 1;
    int read = 0, refused = 0;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        size_t length = sizeof good - 1;
        for (int change = 0; change < 1 + round % 4; change++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 8) % length;
            if (seed >> 30 == 0)
                memmove(text + at, text + at + 1, length-- - at);
            else
                text[at] = seed >> 31 ? (char)(seed >> 3) : good[(seed >> 5) % (sizeof good - 1)];
        }
        lesson_free(lesson);
        lesson = lesson_parse(text, length, "x.lesson", &err);
        read += lesson != NULL;
        refused += !lesson && err.what[0] && err.where[0];
    }
    tap_ok(read + refused == 20000 && read > 500 && refused > 5000,
           "20,000 mutations: %d read, %d refused with a reason", read, refused);
}

TAP_SUITE(lesson_file_scripts) {
    check_scripts("lessons", "files", begin_file, play_file);
    test_large_files();
    test_noise();
}
