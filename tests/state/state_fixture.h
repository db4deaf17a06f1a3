/* SPDX-License-Identifier: MIT */
/* A state of the live display for tests of its controls: a small menu and a made-up scene. */
#pragma once

#include "tests/support/script.h"

static Job *const job = &state.job;
static const char *const scenes[] = {"small", "canonical", "highway", "samples/my scene.json"};
static const char *const view_names[] = {"color", "norm", "channel", "error"};
static const char *const map_names[] = {"auto", "viridis"};

/* Four scenes, of which two are presets; four views; the CPU alone. */
static inline StateMenu make_menu(void) {
    return (StateMenu){.scenes = {scenes, 4},
                       .preset_count = 2,
                       .views = {view_names, 4},
                       .error_view = 3,
                       .channel_view = 2,
                       .colormaps = {map_names, 2},
                       .where = 1u << BEV_CPU};
}

/* 200 x 100 cells of 0.54 m, two cameras. */
static inline SceneFacts make_scene(void) {
    SceneFacts scene = {.name = "canonical",
                        .nx = 200,
                        .ny = 100,
                        .channels = 80,
                        .has_rig = true,
                        .has_world = true,
                        .aligns = 7,
                        .camera_count = 2,
                        .cameras = {"front", "back"},
                        .grid = {-54, 54, -27, 27, -10, 10, 200, 100}};
    return scene;
}

/* The state as it is at first, with that scene. */
static inline State make_state(void) {
    StateMenu menu = make_menu();
    SceneFacts scene = make_scene();
    state_init(&state, &menu, 1);
    step(EVENT_FRAME, .scene = &scene);
    return state;
}

/* A suite that begins with such a state. */
#define STATE_SUITE(name_)                                                                         \
    static void name_##_checks(void);                                                              \
    TAP_SUITE(name_) {                                                                             \
        make_state();                                                                              \
        name_##_checks();                                                                          \
    }                                                                                              \
    static void name_##_checks(void)

/* Whether these lines ask for a frame. */
static inline bool runs(const char *lines) {
    return use("%s", lines) & STEP_RUN;
}

/* Figures of the state's job: bytes, microseconds, largest error. */
static inline Headline headline(double bytes, double us, double error) {
    return (Headline){.serial = job->serial,
                      .footprint_bytes = reading(bytes, SOURCE_MODEL),
                      .latency_us = reading(us, SOURCE_MEASURED),
                      .max_abs = reading(error, SOURCE_MEASURED)};
}
