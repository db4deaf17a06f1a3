/* SPDX-License-Identifier: MIT */
/* The palette and undo on a whole App: what people type finds the row, a value is tried and taken
 * back, fifty changes are undone, and an answer comes in time. */
#include "src/base/clock.h"
#include "src/state/palette.h"
#include "src/ui/script.h"
#include "src/view/term/dashboard.h"
#include "tests/support/golden.h"
#include "tests/support/load.h"

#include <math.h>
#include <poll.h>

static App app;

static void open_app(const char *scene) {
    static AppOptions options = {.paused = true};
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .script = true, .make_picture = picture_make};
    Err err;
    options.scene = scene;
    tap_need(app_open(&app, &options, &engine, &err), "the App opens");
}

/* A suite of an App. */
#define APP_SUITE(name_, scene_)                                                                   \
    static void name_##_checks(void);                                                              \
    TAP_SUITE(name_) {                                                                             \
        open_app(scene_);                                                                          \
        name_##_checks();                                                                          \
        app_close(&app, 1000);                                                                     \
    }                                                                                              \
    static void name_##_checks(void)

static void type(const char *text) {
    for (; *text; text++)
        app_key(&app, *text);
}

static void enter(const char *text) {
    type(text);
    app_key(&app, KEYCODE_ENTER);
}

static void say_words(const char *const *words) {
    for (; *words; words++)
        if (!app_words(&app, *words, &app.err))
            tap_note("%s: %s", *words, app.err.what);
}

static const char *logged(void) {
    return app.state.log.lines[0].text;
}

/* Writes the first row for what is typed; behind a question mark the first eight. */
static void find(const char *typed, FILE *text) {
    PaletteRow rows[PALETTE_ROWS];
    const bool more = *typed == '?';
    palette_open(&app.state, typed + more);
    const int count = palette_rows(&app.state, app_live(&app), rows);
    for (int i = 0; i < (more ? 8 : 1) && i < count; i++)
        fprintf(text, "    %s\n", rows[i].name);
    palette_close(&app.state);
}

static void begin_typing(void) {}

APP_SUITE(commands_scripts, "toy") {
    check_scripts("ui", "words", begin_typing, find);
}

APP_SUITE(commands_set, "small") {
    enter(":l2 32");
    tap_ok(app.state.edit.l2_mib == 32, "l2 32 gives the GPU 32 MiB");
    char reason[160] = "";
    Command command;
    keys_parse("backend cuda", &command, NULL);
    tap_ok(!palette_usable(&app.state, &command, reason, sizeof reason) && reason[0],
           "what cannot be used says why: %s", reason);
}

APP_SUITE(commands_tried, "toy") {
    State before = app.state;
    type(":dtype");
    app_key(&app, KEYCODE_RIGHT);
    app_key(&app, KEYCODE_RIGHT);
    tap_ok(app.frame->state.job.config.dtype != before.job.config.dtype && app.state.palette.open,
           "Right tries a value while the palette stays open");
    app_key(&app, KEYCODE_ESCAPE);
    tap_ok(kernel_config_equal(&before.job.config, &app.state.job.config) &&
               !app.state.palette.open && !app.undo.count,
           "Esc puts the State back as it was, and that is no change to undo");
    tap_ok(app.frame->state.job.config.dtype == before.job.config.dtype, "and the picture, too");
    type(":dtype");
    app_key(&app, KEYCODE_RIGHT);
    app_key(&app, KEYCODE_ENTER);
    tap_ok(app.state.job.config.dtype != before.job.config.dtype && app.undo.count == 1,
           "Enter keeps it, as one change");
}

/* Pins at the place and returns the newest line of the log. */
static const char *pinned(const Event *event) {
    app_step(&app, event);
    return app.state.log.lines[0].said;
}

/* The middle of the street has no points: no camera sees the ground under the car. */
APP_SUITE(commands_pinned, "canonical") {
    const State *state = &app.state;
    const Event empty = {.kind = EVENT_CLICK, .x = 100.5, .y = 100.5};
    const char *said = pinned(&empty);
    const LiveProbe *probe = &app_live(&app)->probe;
    int64_t x = state->pin_x, y = state->pin_y;
    tap_ok(
        state->pinned && probe->points > 0 && llabs(x - 100) + llabs(y - 100) == 2,
        "a click on a cell without points pins the nearest that has some: %lld, %lld, %lld points",
        (long long)x, (long long)y, (long long)probe->points);
    tap_ok(!strncmp(said, "no point falls there", 20), "the log says so: %s", said);
    app_words(&app, "cursor-x 100", &app.err);
    app_words(&app, "cursor-y 100", &app.err);
    app_words(&app, "pin-cell on", &app.err);
    tap_ok(state->pinned && state->pin_x == x && state->pin_y == y, "the word again: it stays");
    said = pinned(&empty);
    tap_ok(!state->pinned && strstr(said, "let go"), "the click again: %s", said);
    const Event full = {.kind = EVENT_CLICK, .x = (double)x + 0.5, .y = (double)y + 0.5};
    said = pinned(&full);
    tap_ok(state->pin_x == x && !strncmp(said, "pinned cell", 11), "a cell with points: %s", said);
}

APP_SUITE(commands_entered, "toy") {
    State *state = &app.state;
    PaletteRow rows[PALETTE_ROWS];
    Command command;
    int others = 0, repeated = 0, count;
    for (int i = 0; i < ACTION_COUNT; i++) {
        palette_open(state, keys[i].word);
        count = palette_rows(state, app_live(&app), rows);
        for (state->palette.row = 0; state->palette.row < count; state->palette.row++)
            others += palette_key(state, app_live(&app), KEYCODE_ENTER, &command) != PALETTE_RUN ||
                      !same_command(&command, &rows[state->palette.row].command);
        snprintf(state->palette.text, PALETTE_TEXT, "%s ", keys[i].word);
        count = keys[i].list ? palette_rows(state, app_live(&app), rows) : 0;
        for (int row = 1; row < count; row++)
            repeated += rows[row].help[0] && !strcmp(rows[row].help, rows[row - 1].help);
    }
    tap_ok(!others, "Enter runs the marked row, whatever it is (%d do not)", others);
    tap_ok(!repeated, "each value is told about by itself (%d as the one before)", repeated);
    palette_open(state, "dtyp");
    palette_key(state, app_live(&app), KEYCODE_TAB, &command);
    tap_ok(!strcmp(state->palette.text, "dtype ") && state->palette.row == BEV_FP16,
           "Tab completes, and the list begins at the value that is set");
}

APP_SUITE(commands_explain, "toy") {
    enter(":explain");
    tap_ok(!app.state.palette.open && app.state.finding == 0 &&
               (app.desk.open || strstr(logged(), "finding 1")),
           "explain and Enter explain the first finding: %s", logged());
}

APP_SUITE(commands_undone, "toy") {
    BevDtype states[UNDO_STEPS + 1];
    for (int i = 0; i <= UNDO_STEPS; i++) {
        states[i] = app.state.job.config.dtype;
        app_key(&app, 'd');
    }
    int wrong = 0;
    for (int i = UNDO_STEPS; i >= 1; i--) {
        app_key(&app, 'u');
        wrong += app.state.job.config.dtype != states[i];
    }
    tap_ok(!wrong, "50 changes come back one by one (%d wrong)", wrong);
    app_key(&app, 'u');
    tap_ok(app.state.job.config.dtype == states[1] && strstr(logged(), "nothing to undo"),
           "the 51st is forgotten, and the log says so");
    say_words((const char *const[]){"workflow on", "help on", "page bev", "undo all", NULL});
    tap_ok(!app.desk.open && !app.state.help && app.state.page == PAGE_BOTH,
           "undo all closes what is open: %s", logged());
}

static bool is_back(const State *before) {
    return !app.desk.open && app.state.job.scene == before->job.scene &&
           kernel_config_equal(&app.state.job.config, &before->job.config);
}

APP_SUITE(commands_lesson, "toy") {
    say_words((const char *const[]){"kernel v3", NULL});
    const State first = app.state;
    say_words((const char *const[]){"dtype fp32", "lesson 3", "dtype fp8", "undo", NULL});
    tap_ok(app.desk.open && app.state.lesson.open, "undo within a lesson leaves it open");
    say_words((const char *const[]){"undo", "undo", "lesson off", NULL});
    tap_ok(is_back(&first), "undo below its beginning closes it, and what was undone stays undone");
    say_words((const char *const[]){"lesson 3", "dtype fp8", NULL});
    for (int i = 0; i < UNDO_STEPS + 10; i++)
        app_key(&app, 'L'); /* soon drawn */
    say_words((const char *const[]){"lesson off", NULL});
    tap_ok(strstr(logged(), "yours again"), "a closed lesson says what comes back: %s", logged());
    tap_ok(is_back(&first), "leaving a lesson takes back more changes than are kept");
}

TAP_SUITE(commands_gpu) {
    const AppOptions options = {.paused = true, .scene = "toy", .gpu = gpu_find("h200")};
    const EngineOptions engine = {.where = 1u << BEV_CPU, .script = true};
    Err err;
    tap_need(app_open(&app, &options, &engine, &err), "the App opens");
    tap_ok(&gpus[app.state.gpu] == options.gpu && app.state.menu.gpu == app.state.gpu,
           "the model begins with this machine's GPU, whose measured times it takes");
    app_close(&app, 1000);
}

/* A typed argument that a control has not, Enter, the fullest cell, and a page that was left. */
APP_SUITE(commands_expected, "small") {
    double yaw = app.state.job.camera_errors[0].yaw_deg;
    enter(":yaw front");
    tap_ok(app.state.palette.open && app.state.job.camera_errors[0].yaw_deg == yaw,
           "a control does not run without the argument that was typed");
    app_key(&app, KEYCODE_ESCAPE);
    enter(":dropout front-right");
    tap_ok(app.state.job.camera_mask == ~(1u << 2), "a camera that is named drops out");
    say_words((const char *const[]){"undo", "play off", "race on", NULL});
    app_step(&app, &(Event){.kind = EVENT_TICK, .seconds = 0.5});
    tap_ok(app.state.race_s == 0.5, "a race runs beside a world that stands still");
    app_key(&app, ' ');
    app_step(&app, &(Event){.kind = EVENT_TICK, .seconds = 0.5});
    tap_ok(app.state.race_s == 0.5 && !app.state.playing, "Space pauses the race alone");
    app_key(&app, KEYCODE_ESCAPE);
    app_key(&app, 'u');
    tap_ok(app.state.race == RACE_OFF, "undo does not open it again");
    char reason[256] = "";
    const Command fullest = {.action = ACTION_FULLEST, .step = 1};
    tap_ok(palette_usable(&app.state, &fullest, reason, sizeof reason), "the palette has %s %s",
           keys[ACTION_FULLEST].word, reason);
    app_key(&app, '^');
    const LiveProbe *probe = &app_live(&app)->probe;
    const ScatterStats *stats = &app_live(&app)->intervals.stats;
    tap_ok(app.state.pinned && probe->points == stats->longest &&
               probe->cell == stats->longest_cell && stats->longest > 3 * stats->median,
           "it pins the cell of the longest interval: %lld points", (long long)probe->points);
    app_key(&app, KEYCODE_ESCAPE);
    app_key(&app, KEYCODE_ESCAPE);
    Advice advice[FINDINGS_MAX + 1];
    int count = live_advice(&app.state, app_live(&app), advice);
    app_key(&app, KEYCODE_ENTER);
    tap_ok(count && !app.state.pinned && advice[0].command.action == ACTION_EXPLAIN &&
               app.state.lesson.open,
           "Enter takes the first finding: %s", logged());
}

/* What the palette says of a control is true: one that changes its value can be used. */
APP_SUITE(commands_usable, "small") {
    char reason[256];
    int wrong = 0, idle = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        const Event event = {.kind = EVENT_COMMAND, .command = {.action = (Action)i, .step = 1}};
        State next = app.state;
        state_step(&next, &event);
        const ShortText before = state_value(&app.state, (Action)i);
        const ShortText after = state_value(&next, (Action)i);
        bool usable = palette_usable(&app.state, &event.command, reason, sizeof reason);
        idle += !usable;
        if (!usable && strcmp(before.text, after.text)) {
            wrong++;
            tap_note("%s goes from %s to %s, but: %s", keys[i].word, before.text, after.text,
                     reason);
        }
    }
    tap_ok(!wrong && idle > 5, "no row says why it cannot be used, and works; %d cannot", idle);
}

/* Every letter of what people type: the key, and its rows with what each does here. */
APP_SUITE(commands_in_time, "toy") {
    static const char typed[] = "dropped point";
    enum { LIMIT_MS = 50 };
    double slowest = 0;
    Load since = load_now();
    type(":");
    for (const char *at = typed; *at; at++) {
        double begun = clock_ms();
        char help[256];
        PaletteRow rows[PALETTE_ROWS];
        app_key(&app, *at);
        int count = palette_rows(&app.state, app_live(&app), rows);
        for (int i = 0; i < count && i < 12; i++)
            palette_usable(&app.state, &rows[i].command, help, sizeof help);
        slowest = fmax(slowest, clock_ms() - begun);
    }
    tap_ok_unless_loaded(slowest <= LIMIT_MS, &since, "a letter is answered in %.1f ms", slowest);
}

/* The tour's turn comes, at these lines of its text. */
static void turn(const char *lines) {
    app.tour.at = lines;
    app.tour.due_ms = app.tour.said_ms = app.tour.request = 0;
    app_tour_turn(&app);
}

/* The tour needs a clock: here its parts that need none. */
APP_SUITE(commands_tour, "toy") {
    app_key(&app, 'd');
    app_words(&app, "tour", &app.err);
    tap_ok(app.failed && !app.tour.text && strstr(app.err.what, "clock"),
           "a script has no tour, and says so");
    app.script = app.failed = false; /* lines are used as in the live display */
    BevDtype before = app.state.job.config.dtype;
    int kept = app.undo.count;
    app_words(&app, "tour", &app.err);
    tap_ok(app.tour.text && app.undo.count == kept + 1 && app.state.job.camera_mask == 1,
           "the tour opens with one camera");
    app_take_frame(&app, NULL);
    turn("see 6\npage bev\nkernel v3\ntick 0.5 9\nquit");
    for (int lines = 0; lines < 4; lines++) { /* each waits for its frame */
        app_take_frame(&app, NULL);
        app_tour_turn(&app);
    }
    double waits_ms = app_tour_in_ms(&app);
    tap_ok(waits_ms > 4000 && waits_ms <= 4500 && !strcmp(app.state.job.config.kernel->title, "V3"),
           "its words are carried out, and its time passes (%.0f ms)", waits_ms);
    turn("say one\nsay two\nquit");
    tap_ok(!strcmp(app.state.caption, "one") && app_tour_in_ms(&app) > 0,
           "a caption stays for its readers");
    app.state.page = PAGE_BOTH;
    EngineFrame unjudged = *app.frame; /* as on a busy machine */
    live_forget_accuracy(&unjudged.live);
    app.frame = &unjudged;
    turn("say judged\nquit");
    tap_ok(strcmp(app.state.caption, "judged") != 0, "a caption waits for the figures of its page");
    turn("race on\nquit");
    tap_ok(app.state.race == RACE_OFF, "a race waits for its schedules");
    app.state.race = RACE_GRIDS;
    app_key(&app, KEYCODE_ESCAPE);
    tap_ok(!app.tour.text && app.undo.count == kept && app.state.job.config.dtype == before &&
               app.state.race == RACE_OFF,
           "Esc ends it, and all is as before");
    app_words(&app, "tour", &app.err);
    turn("quit");
    tap_ok(!app.tour.text && !app.state.caption[0], "it ends with its last line");
    app_key(&app, 'u');
    tap_ok(app.undo.count == kept && app.state.job.config.dtype == before &&
               !strcmp(menu_name(&app.state.menu.scenes, app.state.job.scene), "toy"),
           "undo takes all of it back at once");
    app_words(&app, "tour", &app.err);
    app_key(&app, 'k');
    tap_ok(!app.tour.text && !app.state.caption[0] && !app.state.tours, "a key takes over");
}

/* Whether the screen of that size, under the caption, has no figure that is missing. */
static bool is_whole(int columns, int rows) {
    Cells cells;
    Err err;
    tap_need(cells_init(&cells, columns, rows, &err), "a screen");
    cells.color = true;
    dashboard_draw(&cells, &app.state, app_live(&app), app_picture(&app), NULL);
    char *text = cells_to_text(&cells);
    const char *missing = text ? strstr(text, "n/a") : NULL;
    bool whole = text && !missing && !strstr(text, "replaying");
    if (!whole)
        tap_note("%dx%d, \"%s\": %.60s", columns, rows, app.state.caption, missing ? missing : "");
    free(text);
    cells_free(&cells);
    return whole;
}

/* The time of ticks is left out; figures are waited for. */
static void walk_on(void) {
    struct pollfd frame = {.fd = engine_fd(app.engine), .events = POLLIN};
    poll(&frame, 1, 20);
    app_take_frame(&app, NULL);
    if (app.frame && app.tour.due_ms > clock_ms() + 100)
        app.tour.due_ms = 0;
    app.tour.said_ms = 0;
    app_tour_turn(&app);
    if (app.frame && app.frame->request >= app.request)
        app_step(&app, &(Event){.kind = EVENT_TICK, .seconds = 0.1});
}

TAP_HARD_SUITE(commands_demo_under_load) {
    static AppOptions options = {.scene = "canonical", .tour = true};
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .background = true, .hurry = true, .make_picture = picture_make};
    enum { PATIENCE_MS = 100000, CAPTIONS = 11 };
    char said[sizeof app.state.caption] = "";
    int captions = 0, whole = 0;
    Err err;
    busy_begin(2 * (int)sysconf(_SC_NPROCESSORS_ONLN));
    bool opened = app_open(&app, &options, &engine, &err);
    for (double begun = clock_ms(); opened && app.tour.text && clock_ms() < begun + PATIENCE_MS;) {
        walk_on();
        if (!app.state.caption[0] || !strcmp(said, app.state.caption))
            continue;
        snprintf(said, sizeof said, "%s", app.state.caption);
        captions++;
        whole += is_whole(160, 50) && is_whole(80, 24);
        tap_note("%.1f s: %s", (clock_ms() - begun) * 1e-3, said);
    }
    busy_end();
    tap_ok(opened && !app.tour.text && captions >= CAPTIONS,
           "the demo comes to its end, %d captions", captions);
    tap_ok(whole == captions, "no figure is missing beside a caption (%d of %d)", whole, captions);
    app_close(&app, 5000);
}
