/* SPDX-License-Identifier: MIT */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/run/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- the mailbox ----------------------------------------------------------------------------- */

/* The mailbox passes the newest request from the caller's thread to the engine's thread, and the
 * newest frame back. Neither thread waits for the work of the other. */

enum {
    LOOK_AROUND_MS = 50, /* the longest wait of the engine's thread */
    NEWS_MS = 200,       /* the least time between two frames that bring new figures only */
    STARVED_MS = 500     /* requests that follow each other delay idle work no longer than this */
};

static void frame_free(EngineFrame *frame) {
    if (!frame)
        return;
    frame_inputs_drop(&frame->inputs);
    ref_drop(frame->picture);
    ref_drop(frame->model);
    ref_drop(frame->race);
    free(frame);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Returns a new frame. NULL: out of memory. */
static EngineFrame *frame_new(Engine *engine) {
    EngineFrame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return NULL;
    const FrameInputs *inputs = pipeline_inputs(engine->pipeline);
    const BevWhere where = engine->now.state.job.config.kernel->where;
    LiveData *live = &engine->now.live;
    live->device = where == BEV_CPU ? engine->cpu : (LiveDevice){.where = where};
    if (where == BEV_CUDA && engine->gpu)
        live_gpu_describe(engine->gpu, &live->memory, &live->device);
    if (engine->measure)
        measure_fill(engine->measure, live);
    *frame = engine->now;
    frame->inputs = frame_inputs_keep(inputs);
    ref_keep(frame->picture);
    ref_keep(frame->model);
    ref_keep(frame->race);
    if (inputs->scene)
        frame->facts = inputs->scene->facts;
    return frame;
}

void engine_free_retired(Mailbox *mailbox) {
    worker_lock(&mailbox->worker);
    EngineFrame *retired = mailbox->retired;
    mailbox->retired = NULL;
    worker_unlock(&mailbox->worker);
    frame_free(retired);
}

void engine_publish(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    EngineFrame *frame = frame_new(engine);
    if (!frame)
        return; /* without memory the last frame stays on the screen */
    worker_lock(&mailbox->worker);
    EngineFrame *unseen = mailbox->ready, *retired = mailbox->retired;
    frame->live.busy = mailbox->has_request;
    mailbox->ready = frame;
    mailbox->retired = NULL;
    if (!unseen)
        eventfd_write(mailbox->ready_fd, 1);
    worker_unlock(&mailbox->worker);
    frame_free(unseen);
    frame_free(retired);
    engine->news = false;
    engine->published_ms = clock_ms();
}

const EngineFrame *engine_take(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    EngineFrame *frame = mailbox->ready, *old = NULL;
    if (frame) {
        eventfd_t frames;
        eventfd_read(mailbox->ready_fd, &frames);
        old = mailbox->retired;
        mailbox->retired = mailbox->front; /* the engine frees the frame: freeing may take long */
        mailbox->front = frame;
        mailbox->ready = NULL;
    }
    worker_unlock(&mailbox->worker);
    frame_free(old);
    return frame;
}

const char *engine_doing(const Engine *engine) {
    const char *doing = engine->doing;
    return doing ? doing : "scene";
}

int engine_fd(const Engine *engine) {
    return engine->mailbox.ready_fd;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Puts a request into the mailbox, and returns the request's number. */
static uint64_t engine_post(Engine *engine, const State *state) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    mailbox->request = *state;
    if (!mailbox->has_request)
        mailbox->since_ms = clock_ms();
    mailbox->has_request = true;
    uint64_t number = ++mailbox->requests;
    worker_tell(&mailbox->worker);
    worker_unlock(&mailbox->worker);
    return number;
}

/* Takes the newest request, whose number becomes now.request. False: there is none. *stop tells
 * whether the thread is to stop. */
static bool engine_take_request(Engine *engine, State *request, bool *stop) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    bool has_request = mailbox->has_request;
    if (has_request) {
        *request = mailbox->request;
        engine->taken = mailbox->requests - engine->now.request;
        engine->now.request = mailbox->requests;
    }
    mailbox->has_request = false;
    *stop = mailbox->worker.stop;
    worker_unlock(&mailbox->worker);
    return has_request;
}

bool engine_request_waits(Engine *engine, double until_ms) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    bool waits = (mailbox->has_request && mailbox->since_ms < until_ms) || mailbox->worker.stop;
    worker_unlock(&mailbox->worker);
    return waits;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Ends engine_wait. Any thread may call it. */
static void engine_wake(void *context) {
    Mailbox *mailbox = &((Engine *)context)->mailbox;
    worker_lock(&mailbox->worker);
    mailbox->woken = true;
    worker_tell(&mailbox->worker);
    worker_unlock(&mailbox->worker);
}

/* Waits for a request or for engine_wake, but not for long. */
static void engine_wait(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    if (!mailbox->worker.stop && !mailbox->has_request && !mailbox->woken)
        worker_wait_ms(&mailbox->worker, LOOK_AROUND_MS);
    mailbox->woken = false;
    worker_unlock(&mailbox->worker);
}

/* ---- the thread ------------------------------------------------------------------------------ */

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
        /* A request comes before idle work. After a render that was given up it must come first,
         * because the engine's data belong to no request then. */
        bool starved = clock_ms() - engine->idle_ms >= STARVED_MS;
        if (engine->given_up || (!starved && engine_request_waits(engine, INFINITY))) {
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
    worker_open(&engine->mailbox.worker);
    engine->mailbox.ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = engine->mailbox.ready_fd >= 0 || err_set(err, ERR_FAILED, "engine", "", "no eventfd");
    ok = ok && pipeline_open(&engine->pipeline, err);
    if (ok && (options->script || options->background)) {
        recorded_load_samples(&engine->recorded, NULL); /* a failure leaves it empty */
        ok = live_model_open(&engine->live_model, &engine->recorded, err);
    }
    if (ok && options->background)
        ok = measure_open(&engine->measure, options->where, &engine->recorded, err) &&
             background_open(&engine->background, engine_wake, engine, err) &&
             background_open(&engine->judging, engine_wake, engine, err) &&
             background_open(&engine->pooling, engine_wake, engine, err);
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
    pipeline_close(engine->pipeline);
    recorded_free(&engine->recorded);
    ref_drop(engine->now.picture);
    ref_drop(engine->now.model);
    ref_drop(engine->now.race);
    frame_free(engine->mailbox.ready);
    frame_free(engine->mailbox.front);
    frame_free(engine->mailbox.retired);
    if (engine->mailbox.ready_fd >= 0)
        close(engine->mailbox.ready_fd);
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
