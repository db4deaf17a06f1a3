/* SPDX-License-Identifier: MIT */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/run/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NEWS_MS = 200,   /* the least time between two frames that bring new figures only */
    STARVED_MS = 500 /* requests that follow each other delay idle work no longer than this */
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* Whether the next request comes before idle work. After a render that was given up it must come
 * first, because the engine's data belong to no request then. */
static bool request_comes_first(Engine *engine) {
    return engine->given_up ||
           (clock_ms() - engine->idle_ms < STARVED_MS && engine_request_waits(engine, INFINITY));
}

/* The engine's thread: renders requests, and does idle work between them. */
static void *engine_main(void *argument) {
    Engine *engine = argument;
    State request;
    if (engine->options.where & 1u << BEV_CUDA)
        engine->gpu = live_gpu_open();
    for (bool stop = false; !stop;) {
        if (engine_take_request(engine, &request, &stop) && !stop)
            engine_render(engine, &request);
        if (stop)
            continue;
        if (request_comes_first(engine)) {
            engine_take_results(engine);
            continue;
        }
        engine->idle_ms = clock_ms();
        bool busy = engine_idle_work(engine);
        bool asked = engine->now.request > 0; /* before the first request there is no frame */
        if (engine->given_up)
            continue;
        if (engine->news && asked && clock_ms() - engine->published_ms > NEWS_MS)
            engine_publish(engine);
        if (!busy)
            engine_wait(engine);
    }
    live_gpu_close(engine->gpu);
    return NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void describe_cpu(LiveDevice *device) {
    Machine machine;
    machine_read(&machine);
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, machine.cpu);
    device->where = BEV_CPU;
    device->threads = machine.threads;
    int64_t cache = machine.l3_bytes ? machine.l3_bytes : machine.l2_bytes;
    if (cache)
        device->l2_bytes = reading((double)cache, SOURCE_MEASURED);
}

bool engine_open(Engine **out, const EngineOptions *options, Err *err) {
    Engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return err_no_memory(err, "engine", "");
    *out = engine;
    engine->options = *options;
    live_init(&engine->now.live);
    describe_cpu(&engine->cpu);
    bool ok = engine_open_mailbox(&engine->mailbox, err) && pipeline_open(&engine->pipeline, err);
    if (ok && (options->script || options->background)) {
        recorded_load_samples(&engine->recorded, NULL); /* a failure leaves it empty */
        ok = live_model_open(&engine->live_model, &engine->recorded, err);
    }
    if (ok && options->background)
        ok = measure_open(&engine->measure, options->where, &engine->recorded, err) &&
             background_open(&engine->background, options->hurry, engine_wake, engine, err) &&
             background_open(&engine->judging, options->hurry, engine_wake, engine, err) &&
             background_open(&engine->pooling, true, engine_wake, engine, err);
    ok = ok && (options->script ||
                worker_run(&engine->mailbox.worker, engine_main, engine, "engine", err));
    if (!ok) {
        engine_close(engine);
        *out = NULL;
    }
    return ok;
}

bool engine_close_within(Engine *engine, double patience_ms) {
    double until_ms = clock_ms() + patience_ms;
    if (!engine)
        return true;
    if (!worker_stop_within(&engine->mailbox.worker, patience_ms) ||
        !background_stop_within(engine->background, fmax(until_ms - clock_ms(), 0)) ||
        !background_stop_within(engine->judging, fmax(until_ms - clock_ms(), 0)) ||
        !background_stop_within(engine->pooling, fmax(until_ms - clock_ms(), 0)))
        return false;
    engine_close(engine);
    return true;
}

void engine_close(Engine *engine) {
    if (!engine)
        return;
    worker_stop(&engine->mailbox.worker);
    background_close(engine->background);
    background_close(engine->judging);
    background_close(engine->pooling);
    live_model_close(engine->live_model);
    measure_close(engine->measure);
    frame_inputs_drop(&engine->shown);
    frame_inputs_drop(&engine->judged);
    free(engine->verdicts);
    pipeline_close(engine->pipeline);
    recorded_free(&engine->recorded);
    ref_drop(engine->now.picture);
    ref_drop(engine->now.model);
    ref_drop(engine->now.race);
    engine_close_mailbox(&engine->mailbox);
    free(engine);
}

uint64_t engine_request(Engine *engine, const State *state) {
    if (!engine->options.script)
        return engine_post(engine, state);
    engine->now.request++;
    engine->now.state = *state;
    engine_render_again(engine, QUALITY_REFINED);
    return engine->now.request;
}
