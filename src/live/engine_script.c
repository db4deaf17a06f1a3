/* SPDX-License-Identifier: MIT */
/* The figures of a script's frame, the same on every machine. Nothing is measured: timings come
 * from recordings or stay unknown. */
#include "src/live/engine_internal.h"

#include "src/base/ref.h"
#include "src/live/timed_kernel.h"

#include <string.h>

/* Checks the accuracy of the selection's format at this moment of the world, unless it is known. A
 * script checks no other format: what is stale of the others becomes unknown. */
static bool check_accuracy(Engine *engine, Err *err) {
    const KernelConfig *config = &engine->now.state.job.config;
    LiveAccuracy *accuracy = engine->now.live.accuracy;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (accuracy[dtype].stale)
            accuracy[dtype] = (LiveAccuracy){.worst_cell = -1};
    return accuracy[config->dtype].source != SOURCE_UNKNOWN ||
           background_accuracy(&engine->shown, config, &accuracy[config->dtype], err);
}

/* Names no facts of this machine: pictures of a script are the same on every machine. */
static void fill_device(Engine *engine) {
    const LiveKernel *row = live_kernel(&engine->now.live, engine->now.state.job.config.kernel);
    engine->cpu = (LiveDevice){.where = BEV_CPU};
    if (row && row->recorded_on[0])
        snprintf(engine->cpu.name, sizeof engine->cpu.name, "recorded on %.80s", row->recorded_on);
    else
        snprintf(engine->cpu.name, sizeof engine->cpu.name, "script, nothing measured");
    memset(engine->now.live.stages_us, 0, sizeof engine->now.live.stages_us);
}

static bool fill_model(Engine *engine, Err *err) {
    const FrameInputs *inputs = &engine->shown;
    const State *state = &engine->now.state;
    if (!live_model_aim(engine->live_model, &inputs->features->shape, inputs->map,
                        &state->job.config, wanted_kernels(state), err))
        return false;
    while (live_model_step(engine->live_model, live_model_depth(state), NULL)) {
    }
    engine_use_model(engine, live_model_known(engine->live_model));
    return true;
}

static bool fill_race(Engine *engine, Err *err) {
    const EngineFrame *now = &engine->now;
    LiveRace *race =
        now->state.race ? live_race_new(&now->state, &engine->shown, &now->live) : NULL;
    bool same = race && live_race_same(race, now->race);
    bool ok = !race || same || live_race_make(race, now->model, err);
    if (ok && !same)
        engine_use_race(engine, race);
    ref_drop(race);
    return ok;
}

bool engine_fill_script(Engine *engine, Err *err) {
    if (!check_accuracy(engine, err))
        return false;
    timed_kernel_fill_recorded(&engine->recorded, &engine->shown, &engine->now.state.job,
                               &engine->now.live);
    fill_device(engine);
    return fill_model(engine, err) && fill_race(engine, err);
}
