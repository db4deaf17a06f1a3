/* SPDX-License-Identifier: MIT */
/* An engine on the CPU for tests: its scenes, a state of one of them, and asking for frames. */
#pragma once

#include "src/base/clock.h"
#include "src/live/engine.h"
#include "tests/support/load.h"
#include "tests/support/ok_or_note.h"
#include "tests/support/script.h"

#include <math.h>
#include <poll.h>

enum { PATIENCE_MS = 150000 }; /* other tests may have the machine */

static char own_file[64]; /* a copy of intersection.json, while a test has one */
static const char *const scenes[] = {"toy",          "asymmetric",         "small",
                                     "intersection", "no-such-scene.json", own_file};
enum { TOY, ASYMMETRIC, SMALL, INTERSECTION, MISSING, OWN_FILE, SCENES };

static Engine *engine;
static Load begun;               /* when it was opened */
static const EngineFrame *frame; /* the newest that was taken */

/* A paused state of a scene in the list, FP16 with V3; the baseline is V2. */
static inline State fresh(int scene) {
    static const char *const views[] = {"color", "error"};
    static const char *const colormaps[] = {"auto"};
    const StateMenu menu = {.scenes = {scenes, SCENES},
                            .views = {views, 2},
                            .error_view = 1,
                            .channel_view = -1,
                            .colormaps = {colormaps, 1},
                            .where = 1u << BEV_CPU};
    state_init(&state, &menu, scene);
    state.job.config.kernel = bev_kernel_find("cpu_v3");
    state.job.config.dtype = BEV_FP16;
    state.job.baseline = state.job.config;
    state.job.baseline.kernel = bev_kernel_find("cpu_v2");
    state.playing = false;
    return state;
}

/* An engine and a fresh state. `background`: with timing and simulation between requests. */
static inline void begin(bool background, int scene) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .background = background};
    Err err;
    begun = load_now();
    need(engine_open(&engine, &options, &err), &err);
    fresh(scene);
}

/* Suites of one engine. */
#define ENGINE_SUITE_(suite_, name_, background_, scene_)                                          \
    static void name_##_checks(void);                                                              \
    suite_(name_) {                                                                                \
        begin(background_, scene_);                                                                \
        name_##_checks();                                                                          \
        engine_close(engine);                                                                      \
    }                                                                                              \
    static void name_##_checks(void)
#define ENGINE_SUITE(...)         ENGINE_SUITE_(TAP_SUITE, __VA_ARGS__)
#define ENGINE_WAITING_SUITE(...) ENGINE_SUITE_(TAP_WAITING_SUITE, __VA_ARGS__)
#define ENGINE_HARD_SUITE(...)    ENGINE_SUITE_(TAP_HARD_SUITE, __VA_ARGS__)

/* The frame that comes within so long, or NULL. */
static inline const EngineFrame *take_within(double ms) {
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    const EngineFrame *next = poll(&waiting, 1, (int)ms) == 1 ? engine_take(engine) : NULL;
    frame = next ? next : frame;
    return next;
}

/* A check of something that takes its time, since the engine was opened. */
#define ok_in_time(passed_, ...) tap_ok_unless_loaded(passed_, &begun, __VA_ARGS__)

static inline const EngineFrame *take(void) {
    tap_need(take_within(PATIENCE_MS) != NULL, "a frame comes");
    return frame;
}

/* Takes frames until one answers the state's request. */
static inline const EngineFrame *take_answer(void) {
    while (take()->state.job.serial != state.job.serial) {
    }
    return frame;
}

/* Requests a frame of the state and waits for it. */
static inline const EngineFrame *ask(void) {
    state.job.serial++;
    engine_request(engine, &state);
    return take_answer();
}

/* Takes frames until one is as wanted; false: none was in PATIENCE_MS. */
static inline bool take_until(bool (*wanted)(const LiveData *live)) {
    double end = clock_ms() + PATIENCE_MS;
    while (!wanted(&frame->live) && clock_ms() < end && take_within(PATIENCE_MS)) {
    }
    return wanted(&frame->live);
}

static inline double checksum(const float *values, int64_t count) {
    double sum = values ? 0 : NAN;
    for (int64_t i = 0; values && i < count; i++)
        sum += (double)values[i] * (double)(i % 97 + 1);
    return sum;
}

/* Of the pooled grid. */
static inline double sum_of(const LiveFrame *shown) {
    return checksum(shown->pooled, shown->nx * shown->ny * shown->channels);
}
