/* SPDX-License-Identifier: MIT */
/* Passes the newest request from the caller's thread to the engine's thread, and the newest frame
 * back. Neither thread waits for the work of the other. */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_AROUND_MS = 50 };

/* ---- opening and closing --------------------------------------------------------------------- */

bool engine_open_mailbox(Mailbox *mailbox, Err *err) {
    worker_open(&mailbox->worker);
    mailbox->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return mailbox->ready_fd >= 0 || err_set(err, ERR_FAILED, "engine", "", "no eventfd");
}

static void frame_free(EngineFrame *frame) {
    if (!frame)
        return;
    frame_inputs_drop(&frame->inputs);
    ref_drop(frame->picture);
    ref_drop(frame->model);
    ref_drop(frame->race);
    free(frame);
}

void engine_close_mailbox(Mailbox *mailbox) {
    frame_free(mailbox->ready);
    frame_free(mailbox->front);
    frame_free(mailbox->retired);
    if (mailbox->ready_fd >= 0)
        close(mailbox->ready_fd);
    worker_close(&mailbox->worker);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Makes the descriptor of engine_fd() readable. */
static void signal_ready(Mailbox *mailbox) {
    uint64_t one = 1;
    ssize_t n = write(mailbox->ready_fd, &one, sizeof one);
    assert(n == sizeof one);
    (void)n;
}

static void describe_device(Engine *engine) {
    const BevKernel *kernel = engine->now.state.job.config.kernel;
    if (kernel->where == BEV_CUDA && engine->gpu)
        live_gpu_describe(engine->gpu, &engine->now.live.memory, &engine->now.live.device);
    else
        engine->now.live.device =
            kernel->where == BEV_CPU ? engine->cpu : (LiveDevice){.where = kernel->where};
}

/* Returns a new frame. NULL: out of memory. */
static EngineFrame *frame_new(Engine *engine) {
    EngineFrame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return NULL;
    const FrameInputs *inputs = pipeline_inputs(engine->pipeline);
    describe_device(engine);
    if (engine->measure)
        measure_fill(engine->measure, &engine->now.live);
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
        signal_ready(mailbox);
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
        uint64_t count;
        ssize_t n = read(mailbox->ready_fd, &count, sizeof count);
        assert(n == sizeof count);
        (void)n;
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

uint64_t engine_post(Engine *engine, const State *state) {
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

bool engine_take_request(Engine *engine, State *request, bool *stop) {
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

void engine_wake(void *context) {
    Mailbox *mailbox = &((Engine *)context)->mailbox;
    worker_lock(&mailbox->worker);
    mailbox->woken = true;
    worker_tell(&mailbox->worker);
    worker_unlock(&mailbox->worker);
}

void engine_wait(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    if (!mailbox->worker.stop && !mailbox->has_request && !mailbox->woken)
        worker_wait_ms(&mailbox->worker, LOOK_AROUND_MS);
    mailbox->woken = false;
    worker_unlock(&mailbox->worker);
}
