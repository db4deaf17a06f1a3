#include "src/live/engine_internal.h"

#include "src/run/machine.h"
#include "src/base/ref.h"
#include "src/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NEWS_MS = 200,   /* figures alone are handed over at most this often */
    STARVED_MS = 500 /* so long wishes that wait keep everything else from being done */
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* A wish that waits comes before all else; and after a frame that was passed over nothing else may
 * be shown. */
static bool wishes_first(Engine *engine) {
    return engine->passed_over ||
           (clock_ms() - engine->between_ms < STARVED_MS && wish_waits(engine, INFINITY));
}

static void work(Engine *engine) {
    State wish;
    bool stop;
    for (;;) {
        bool has_wish = take_wish(engine, &wish, &stop);
        if (stop)
            return;
        if (has_wish)
            answer(engine, &wish);
        if (wishes_first(engine))
            continue;
        engine->between_ms = clock_ms();
        bool busy = work_in_between(engine);
        if (engine->passed_over)
            continue;
        if (engine->news && clock_ms() - engine->news_ms > NEWS_MS)
            deliver(engine);
        if (!busy)
            rest(engine);
    }
}

static void *engine_main(void *argument) {
    Engine *engine = argument;
    Err err;
    if (engine->options.thread_begin && !engine->options.thread_begin(&err))
        complain(engine, &err);
    if (engine->options.where & 1u << BEV_CUDA)
        engine->gpu = live_gpu_open();
    work(engine);
    live_gpu_close(engine->gpu);
    if (engine->options.thread_end)
        engine->options.thread_end();
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
        return err_set(err, ERR_FAILED, "engine", "", "out of memory");
    *out = engine;
    engine->options = *options;
    live_init(&engine->live);
    describe_cpu(&engine->cpu);
    bool ok = mailbox_open(&engine->mailbox, err) && pipeline_open(&engine->pipeline, err);
    if (ok && options->background)
        ok = measure_open(&engine->measure, options->where, wake, engine, err) &&
             judge_open(&engine->judge, wake, engine, err) &&
             model_lane_open(&engine->model_lane, wake, engine, err);
    ok = ok && worker_run(&engine->mailbox.worker, engine_main, engine, "engine", err);
    if (!ok) {
        engine_close(engine);
        *out = NULL;
    }
    return ok;
}

void engine_close(Engine *engine) {
    if (!engine)
        return;
    worker_stop(&engine->mailbox.worker);
    model_lane_close(engine->model_lane); /* its walk ends early, and leaves the core to gates */
    judge_close(engine->judge);
    measure_close(engine->measure);
    pipeline_close(engine->pipeline);
    ref_drop(engine->picture);
    ref_drop(engine->model);
    mailbox_close(&engine->mailbox);
    free(engine);
}
