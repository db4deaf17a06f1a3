/* An engine on the CPU for tests: its scenes, a state of one of them, and asking for frames. */
#pragma once

#include "src/live/engine.h"
#include "tests/support/tap.h"

#include <poll.h>

enum { PATIENCE_MS = 150000 }; /* other tests may have the machine */

static char own_file[64]; /* a copy of intersection.json, while a test has one */
static const char *const scenes[] = {"toy", "asymmetric", "small", "intersection", "no-such-scene.json",
                                     own_file};
enum { TOY, ASYMMETRIC, SMALL, INTERSECTION, MISSING, OWN_FILE, SCENES };

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
    static State state; /* too large for some stacks */
    state_init(&state, &menu, scene);
    state.job.config.kernel = bev_kernel_find("cpu_v3");
    state.job.config.dtype = BEV_FP16;
    state.job.baseline = state.job.config;
    state.job.baseline.kernel = bev_kernel_find("cpu_v2");
    state.playing = false;
    return state;
}

/* `background`: it also times kernels and simulates caches while no request waits. Close it with
 * engine_close. */
static inline Engine *open_engine(bool background) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .background = background};
    Engine *engine;
    Err err;
    if (!engine_open(&engine, &options, &err)) {
        tap_note("%s: %s", err.where, err.what);
        exit(1);
    }
    return engine;
}

/* The next frame; NULL: none came in PATIENCE_MS. */
static inline const EngineFrame *take(Engine *engine) {
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    return poll(&waiting, 1, PATIENCE_MS) == 1 ? engine_take(engine) : NULL;
}

/* Requests a frame of this state and waits for it. */
static inline const EngineFrame *ask(Engine *engine, State *state) {
    const EngineFrame *frame;
    state->job.serial++;
    engine_request(engine, state);
    while ((frame = take(engine)) && frame->state.job.serial != state->job.serial) {
    }
    return frame;
}

/* A checksum of the pooled grid. */
static inline double sum_of(const LiveFrame *frame) {
    double sum = 0;
    for (int64_t i = 0; i < frame->nx * frame->ny * frame->channels; i++)
        sum += (double)frame->pooled[i] * (double)(i % 97 + 1);
    return sum;
}
