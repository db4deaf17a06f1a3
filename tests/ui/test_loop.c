/* SPDX-License-Identifier: MIT */
/* The live display's loop without any screen: how it times its answers; a GPU that is lost. */
#include "tests/support/folder.h"
#include "tests/support/ok_or_note.h"

#include "src/base/clock.h"
#include "src/ui/loop_internal.h"
#include "src/view/term/dashboard.h"

#include <math.h>
#include <poll.h>
#include <stdatomic.h>

enum { PATIENCE_MS = 120000, TERMINAL = 1u << SCREEN_TERMINAL, WINDOW = 1u << SCREEN_WINDOW };

static void test_keys(void) {
    PaceMeter meter = {.keys = 0};
    double now = clock_ms();
    pace_key(&meter, now - 50, 7, TERMINAL | WINDOW);
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 6, 0);
    pace_shown(&meter, SCREEN_WINDOW, TERMINAL | WINDOW, 7, 0);
    pace_key(&meter, now, 8, TERMINAL | WINDOW);
    tap_ok(!pace_answers(&meter, SCREEN_WINDOW, 7) && pace_answers(&meter, SCREEN_TERMINAL, 7) &&
               pace_answers(&meter, SCREEN_WINDOW, 8),
           "it is known which picture answers a key");
    tap_ok(pace_figures(&meter).keys == 0, "a key waits for its own picture on every screen");
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 8, 0);
    Pace pace = pace_figures(&meter);
    tap_ok(pace.keys == 1 && pace.key_us.value >= 50e3 && pace.key_us.value < 50e3 + 1e6,
           "and is timed from its arrival");
    pace_key(&meter, now - 20, 0, TERMINAL | WINDOW);
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 8, 0);
    pace_closed(&meter, SCREEN_WINDOW);
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL, 8, 0);
    pace_key(&meter, now - 20, 9, TERMINAL);
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL, 9, 0);
    tap_ok(pace_figures(&meter).keys == 2, "a screen that was closed is waited for no more");
}

static void test_percentiles(void) {
    PaceMeter meter = {.keys = 0};
    double now = clock_ms();
    for (int i = 0; i < 2 * PACE_KEYS; i++) {
        bool slow = i % 50 == 0; /* two of a hundred */
        pace_key(&meter, now - (slow ? 9e6 : 1e6), 0, TERMINAL);
        pace_shown(&meter, SCREEN_TERMINAL, TERMINAL, 0, 0);
    }
    Pace pace = pace_figures(&meter);
    tap_ok(pace.keys == 2 * PACE_KEYS && pace.key_us.value < 2e9 && pace.key_p99_us.value > 8e9,
           "the median is that of most keys, the 99th percentile that of the slow ones");
}

static void test_moments(void) {
    PaceMeter meter = {.keys = 0};
    pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 1, 0);
    tap_ok(pace_figures(&meter).first_us.source == SOURCE_UNKNOWN &&
               pace_figures(&meter).fps.source == SOURCE_UNKNOWN,
           "the first picture is there when every screen has it; nothing moves yet");
    pace_shown(&meter, SCREEN_WINDOW, TERMINAL | WINDOW, 1, 0);
    double first = pace_figures(&meter).first_us.value, process = clock_process_us();
    tap_ok(first > 0 && process >= first && process < 1e9, "it counts from the process's start");
    for (int i = 1; i <= 3; i++) {
        poll(NULL, 0, 5);
        pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 1, 0.1 * i);
        pace_shown(&meter, SCREEN_TERMINAL, TERMINAL | WINDOW, 1, 0.1 * i); /* drawn again */
    }
    double fps = pace_figures(&meter).fps.value;
    tap_ok(fps > 0 && fps <= 200, "moments are counted once, however often they are drawn");
}

static SlowMeter meter;

static bool says(double now_ms, const char *wanted) {
    static const char *const names[] = {"canonical", "dense", "mine.json"};
    const Menu scenes = {names, 3};
    char text[96];
    slow_text(&meter, &scenes, "map", now_ms, text, sizeof text);
    if (strcmp(text, wanted) != 0)
        tap_note("\"%s\" instead of \"%s\"", text, wanted);
    return !strcmp(text, wanted);
}

static void test_slow(void) {
    LiveData live;
    live_init(&live);
    tap_ok(says(5000, "") && isinf(slow_in_ms(&meter, 5000)),
           "nothing is computed, nothing is said");
    slow_asked(&meter, 1, true, 7, 1000);
    tap_ok(says(1100, "") && slow_in_ms(&meter, 1100) == 300, "a quick picture is not announced");
    tap_ok(says(2200, "computing dense: map, 1.2 s"), "a slow one is");
    live.job.scene = 0;
    live.stages_us[STAGE_FEATURES] = reading(50e3, SOURCE_MEASURED);
    slow_shown(&meter, &live);
    tap_ok(says(2200, "computing dense: map, 1.2 s of about 1.6"),
           "32 times the points of what is shown: about 32 times as long");
    slow_asked(&meter, 1, true, 8, 1500);
    slow_answered(&meter, 7, 2500);
    tap_ok(says(2500, "computing dense: map, 1.5 s of about 1.6"),
           "the picture of a key before is no answer");
    tap_ok(says(3500, "computing dense: map, 2.5 s"), "an estimate that was too short is dropped");
    slow_answered(&meter, 8, 4000);
    slow_asked(&meter, 1, true, 9, 5000);
    tap_ok(says(6000, "computing dense: map, 1.0 s of about 3"),
           "the next time it is known how long it takes");
    slow_asked(&meter, 2, true, 10, 6000);
    tap_ok(says(6500, "computing mine.json: map, 0.5 s"),
           "another scene begins anew; of a file nothing is known");
}

enum { GOOD_LAUNCHES = 3 };
static BevKernel gpu; /* V3, for so many launches */
static atomic_int launches;

/* The row says CPU at first, so that the test runs without a GPU; CUDA when the launch fails. */
static bool launch_and_fail(const BevProblem *problem, const BevPlan *plan, void *stream,
                            Err *err) {
    if (launches++ < GOOD_LAUNCHES)
        return bev_kernel_find("cpu_v3")->launch(problem, plan, stream, err);
    gpu.where = BEV_CUDA;
    return err_set(err, ERR_DEVICE, gpu.name, "", "CUDA error 700: an illegal memory access");
}

static Loop loop;

static bool log_says(const char *words) {
    for (int i = 0; i < loop.app.state.log.count; i++)
        if (strstr(loop.app.state.log.lines[i].text, words))
            return true;
    return false;
}

/* Takes the frame that comes within a moment; false: it is too late for one. */
static bool take_frame(double end_ms) {
    struct pollfd waiting = {.fd = engine_fd(loop.app.engine), .events = POLLIN};
    if (clock_ms() >= end_ms)
        return false;
    if (poll(&waiting, 1, 100) == 1)
        loop_take_frame(&loop);
    return true;
}

/* Waits until the frame of the newest job has come. */
static bool wait_for_frame(void) {
    double end_ms = clock_ms() + PATIENCE_MS;
    while (app_live(&loop.app)->serial != loop.app.state.job.serial && take_frame(end_ms)) {
    }
    return app_live(&loop.app)->serial == loop.app.state.job.serial;
}

/* A loop on the CPU with a made-up GPU kernel, and its engine. */
static void begin_loop(const char *scene, bool background) {
    static LoopOptions options = {.where = 1u << BEV_CPU};
    const EngineOptions engine = {.where = 1u << BEV_CPU, .background = background};
    App *app = &loop.app;
    Err err;
    memset(&loop, 0, sizeof loop);
    loop.options = &options;
    options.app.scene = scene;
    app->options = &options.app;
    live_init(&app->nothing);
    app_menu_open(&app->menu, options.where);
    state_init(&app->state, &app->menu.menu, app_menu_scene(&app->menu, scene));
    gpu = *bev_kernel_find("cpu_v3");
    gpu.name = "gpu_v3";
    gpu.launch = launch_and_fail;
    app->state.job.config.kernel = &gpu;
    app->state.menu.where |= 1u << BEV_CUDA;
    need(engine_open(&app->engine, &engine, &err), &err);
}

static void end_loop(void) {
    undo_free(&loop.app.undo);
    engine_close(loop.app.engine);
}

/* The name of a scene and its figures change together, however long the scene takes. */
static void test_scene(void) {
    begin_loop("toy", true);
    app_request(&loop.app);
    tap_need(wait_for_frame(), "a picture");
    const int before = loop.app.state.job.scene;
    app_words(&loop.app, "scene small", &loop.app.err);
    bool waits = app_drawn(&loop.app).job.scene == before && loop.app.state.job.scene != before;
    bool came = wait_for_frame();
    tap_ok(waits && came && app_drawn(&loop.app).job.scene == loop.app.state.job.scene,
           "a new scene has its name when its figures are there");
    end_loop();
}

static void test_device_lost(void) {
    bool good = true;
    launches = 0; /* those of another loop are not counted */
    begin_loop("toy", false);
    app_request(&loop.app);
    for (int i = 0; i < GOOD_LAUNCHES; i++) {
        good = good && wait_for_frame() && app_live(&loop.app)->frame.pooled;
        app_step(&loop.app, &(Event){.kind = EVENT_TICK, .seconds = 0.1});
    }
    tap_ok(good, "the world moves for a while");
    tap_ok(wait_for_frame() && launches == GOOD_LAUNCHES + 1 &&
               loop.app.state.job.config.kernel->where == BEV_CPU &&
               !(loop.app.state.menu.where & 1u << BEV_CUDA),
           "the GPU fails in the middle of a frame: the CPU takes over, for good");
    if (!tap_ok(log_says("gpu_v3: CUDA error 700") && log_says("CPU, "), "the log says both"))
        for (int i = 0; i < loop.app.state.log.count; i++)
            tap_note("%s", loop.app.state.log.lines[i].text);
    tap_ok(app_live(&loop.app)->frame.pooled && !app_live(&loop.app)->error_text[0] && !loop.quit,
           "the same moment is pooled again, and the problem is over");
    end_loop();
}

/* The launch that fails is one of the timings between two frames; the next frames, sharper than the
 * one before, need no launch and are made without an error. Only the last one is taken. */
static void test_lost_aside(void) {
    launches = GOOD_LAUNCHES - 1;
    begin_loop("toy", true);
    loop.app.state.playing = false;
    app_request(&loop.app);
    double end_ms = clock_ms() + PATIENCE_MS;
    while (launches <= GOOD_LAUNCHES && clock_ms() < end_ms)
        usleep(10000);
    usleep(1000000);
    while (loop.app.state.job.config.kernel == &gpu && take_frame(end_ms)) {
    }
    tap_ok(log_says("gpu_v3: CUDA error 700") && log_says("CPU, "),
           "the GPU fails between two frames: the log says why the CPU takes over");
    end_loop();
}

/* Each word comes before any picture, and the screens show what it did. */
static void test_first_words(void) {
    static const char *const arguments[] = {"", " -", " on", " off", " 1"};
    enum { ARGUMENTS = sizeof arguments / sizeof *arguments };
    int shown = 0, words = 0;
    Command command;
    Err err;
    for (int i = 0; i < ACTION_COUNT * ARGUMENTS; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s%s", keys[i / ARGUMENTS].word, arguments[i % ARGUMENTS]);
        if (!keys_parse(line, &command, NULL))
            continue;
        words++;
        begin_loop("toy", false);
        need(cells_init(&loop.cells, 120, 40, &err), &err);
        if (app_words(&loop.app, line, &err))
            loop_serve(&loop);
        loop_record_frame(&loop);
        dashboard_draw(&loop.cells, &loop.app.state, app_live(&loop.app), NULL, &loop.spots);
        shown += !loop.app.frame && loop.snapshot_due == !strcmp(line, "snapshot");
        cells_free(&loop.cells);
        app_close(&loop.app, PATIENCE_MS);
    }
    tap_ok(words > ACTION_COUNT && shown == words, "%d words as the first one, before any picture",
           words);
}

/* A snapshot that follows a key at once has the picture that answers the key. */
static void test_snapshot_waits(void) {
    Err err;
    begin_loop("toy", true);
    loop.app.state.job.config.kernel = bev_kernel_find("cpu_v4");
    need(app_words(&loop.app, "dtype fp8", &err) && app_words(&loop.app, "snapshot", &err), &err);
    loop_serve(&loop);
    const bool early = log_says("wrote");
    tap_ok(!early && wait_for_frame() && log_says("wrote toy-cpu_v4-fp8"),
           "a snapshot waits for the picture of the key before");
    end_loop();
}

TAP_WAITING_SUITE(loop) {
    test_keys();
    test_percentiles();
    test_moments();
    test_slow();
    test_scene();
    test_device_lost();
    test_lost_aside();
}

TAP_WAITING_SUITE(loop_first_words) {
    folder_open();
    if (chdir(folder) < 0)
        tap_skip_suite("no temporary folder");
    test_first_words();
    test_snapshot_waits();
    tap_ok(system("rm -r recording-* toy-*.png") == 0, "record begins a recording");
    folder_close();
}
