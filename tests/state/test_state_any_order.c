/* SPDX-License-Identifier: MIT */
/* What must hold after any sequence of events. */
#include "src/base/random.h"
#include "src/cachesim/gpus.h"
#include "tests/state/state_fixture.h"

static const char *broken_invariant(void) {
    const Viewport *viewport = &state.viewport;
    double half = (double)state.scene.nx / 2 / viewport->zoom;
    if (!(job->config.kernel->dtypes & 1u << job->config.dtype))
        return "a format that the kernel does not take";
    if (!(job->config.kernel->aligns & 1u << job->config.align))
        return "an align that the kernel does not take";
    if (job->scene < 0 || job->scene >= state.menu.scenes.count)
        return "a scene out of the menu";
    if (state.view < 0 || state.view >= state.menu.views.count || state.colormap < 0 ||
        state.colormap >= state.menu.colormaps.count)
        return "a view or colour map out of the menu";
    if (!(job->time_s >= 0) || !(job->temperature >= 0.01 && job->temperature <= 100))
        return "time or temperature";
    if (!(job->outlier >= 1 && job->outlier <= FEATURES_MAX_OUTLIER))
        return "an outlier out of its range";
    if (!(state.wipe >= 0 && state.wipe <= 1) || !(viewport->zoom >= 1))
        return "wipe or zoom";
    if (!(viewport->center_x >= half - 1e-6 &&
          viewport->center_x <= (double)state.scene.nx - half + 1e-6))
        return "the view left the grid";
    if (job->probe_cell < -1 || job->probe_cell >= state.scene.nx * state.scene.ny)
        return "a probed cell out of the grid";
    if (state.camera < 0 || state.camera >= state.scene.camera_count)
        return "a camera that is not there";
    if (state.gpu < 0 || state.gpu >= gpu_count || state.channel < 0)
        return "a GPU or channel that is not there";
    return NULL;
}

static Event random_event(uint64_t *seed) {
    static const char *const arguments[] = {"0", "-1", "3", "1e300", "-1e300", "on", "off", "norm"};
    Event event = {.kind = (EventKind)random_below(seed, EVENT_NOTE + 1),
                   .seconds = random_unit(seed),
                   .x = random_unit(seed) * 220 - 10,
                   .y = random_unit(seed) * 120 - 10,
                   .steps = random_unit(seed) * 8 - 4,
                   .columns = (int)random_below(seed, 300),
                   .rows = (int)random_below(seed, 100),
                   .on = random_below(seed, 2),
                   .text = "note"};
    if (random_below(seed, 2))
        event.kind = EVENT_COMMAND;
    event.command.action = (Action)random_below(seed, ACTION_COUNT);
    event.command.step = (int)random_below(seed, 3) - 1;
    if (!event.command.step)
        snprintf(event.command.argument, sizeof event.command.argument, "%s",
                 arguments[random_below(seed, 8)]);
    return event;
}

TAP_SUITE(state_any_order_any_order) {
    enum { EVENTS = 200000 };
    State copy = make_state();
    SceneFacts scene = make_scene();
    Pace pace = {.keys = 1};
    uint64_t seed = 4;
    const char *broken = NULL;
    int done = 0, different = 0;
    for (; done < EVENTS && !broken; done++) {
        Event event = random_event(&seed);
        Headline figures = headline(random_unit(&seed) * 1e7, random_unit(&seed) * 100, 0);
        event.headline = &figures;
        event.scene = &scene;
        event.pace = &pace;
        uint64_t serial = state.job.serial;
        unsigned bits = state_step(&state, &event), again = state_step(&copy, &event);
        broken = broken_invariant();
        different += bits != again || (serial != state.job.serial) != !!(bits & STEP_RUN);
        if (broken)
            tap_note("%s after event %d of kind %d, %s %d '%s'", broken, done, (int)event.kind,
                     keys[event.command.action].word, event.command.step, event.command.argument);
    }
    tap_ok(!broken, "%d random events leave nothing out of bounds", done);
    tap_ok(different == 0 && !memcmp(&state.job, &copy.job, sizeof state.job),
           "the same events give the same state, and a new serial means RUN");
}
