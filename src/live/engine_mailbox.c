/* Between the caller's thread and the worker's: the newest wish one way, the newest frame the
 * other. Neither side waits for the other's work. */
#include "src/live/engine_internal.h"

#include "src/base/ref.h"
#include "src/base/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_AROUND_MS = 50 };

/* ---- opening and closing --------------------------------------------------------------------- */

bool mailbox_open(Mailbox *mailbox, Err *err) {
    worker_open(&mailbox->worker);
    mailbox->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return mailbox->ready_fd >= 0 || err_set(err, ERR_FAILED, "engine", "", "no eventfd");
}

static void frame_free(EngineFrame *frame) {
    if (!frame)
        return;
    frame_inputs_drop(&frame->parts);
    ref_drop(frame->picture);
    ref_drop(frame->model);
    free(frame);
}

void mailbox_close(Mailbox *mailbox) {
    frame_free(mailbox->ready);
    frame_free(mailbox->front);
    frame_free(mailbox->retired);
    if (mailbox->ready_fd >= 0)
        close(mailbox->ready_fd);
    worker_close(&mailbox->worker);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void set_ready(Mailbox *mailbox) {
    uint64_t one = 1;
    ssize_t n = write(mailbox->ready_fd, &one, sizeof one);
    assert(n == sizeof one);
    (void)n;
}

static void describe_device(Engine *engine) {
    const BevKernel *kernel = engine->state.job.config.kernel;
    if (kernel->where == BEV_CUDA && engine->gpu)
        live_gpu_describe(engine->gpu, &engine->live.memory, &engine->live.device);
    else
        engine->live.device =
            kernel->where == BEV_CPU ? engine->cpu : (LiveDevice){.where = kernel->where};
}

/* NULL: no memory. */
static EngineFrame *frame_new(Engine *engine) {
    EngineFrame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return NULL;
    const FrameInputs *parts = pipeline_inputs(engine->pipeline);
    frame->state = engine->state;
    frame->wish = engine->answered;
    describe_device(engine);
    if (engine->measure)
        measure_fill(engine->measure, &engine->live);
    frame->live = engine->live;
    frame->loads = engine->loads;
    frame->err = engine->err;
    frame->notes = engine->notes;
    memcpy(frame->note, engine->note, sizeof frame->note);
    frame->device_lost = engine->device_lost;
    frame->parts = frame_inputs_keep(parts);
    frame->picture = ref_keep(engine->picture);
    frame->model = ref_keep(engine->model);
    if (parts->scene)
        frame->facts = parts->scene->facts;
    return frame;
}

void deliver(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    EngineFrame *frame = frame_new(engine);
    if (!frame)
        return; /* the last one stays on the screen */
    worker_lock(&mailbox->worker);
    EngineFrame *unseen = mailbox->ready, *retired = mailbox->retired;
    frame->live.busy = mailbox->has_wish;
    mailbox->ready = frame;
    mailbox->retired = NULL;
    if (!unseen)
        set_ready(mailbox);
    worker_unlock(&mailbox->worker);
    frame_free(unseen);
    frame_free(retired);
    engine->news = false;
    engine->news_ms = clock_ms();
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
        mailbox->retired = mailbox->front; /* the worker frees it: that can take a while */
        mailbox->front = frame;
        mailbox->ready = NULL;
    }
    worker_unlock(&mailbox->worker);
    frame_free(old);
    return frame;
}

int engine_fd(const Engine *engine) {
    return engine->mailbox.ready_fd;
}

/* ---- wishes ---------------------------------------------------------------------------------- */

uint64_t engine_submit(Engine *engine, const State *state) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    mailbox->wish = *state;
    if (!mailbox->has_wish)
        mailbox->since_ms = clock_ms();
    mailbox->has_wish = true;
    uint64_t number = ++mailbox->wishes;
    worker_tell(&mailbox->worker);
    worker_unlock(&mailbox->worker);
    return number;
}

bool take_wish(Engine *engine, State *wish, bool *stop) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    bool has_wish = mailbox->has_wish;
    if (has_wish) {
        *wish = mailbox->wish;
        engine->taken = mailbox->wishes - engine->answered;
        engine->answered = mailbox->wishes;
    }
    mailbox->has_wish = false;
    *stop = mailbox->worker.stop;
    worker_unlock(&mailbox->worker);
    return has_wish;
}

bool wish_waits(Engine *engine, double until_ms) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    bool waits = (mailbox->has_wish && mailbox->since_ms < until_ms) || mailbox->worker.stop;
    worker_unlock(&mailbox->worker);
    return waits;
}

/* ---- waiting --------------------------------------------------------------------------------- */

void wake(void *context) {
    Mailbox *mailbox = &((Engine *)context)->mailbox;
    worker_lock(&mailbox->worker);
    mailbox->woken = true;
    worker_tell(&mailbox->worker);
    worker_unlock(&mailbox->worker);
}

void rest(Engine *engine) {
    Mailbox *mailbox = &engine->mailbox;
    worker_lock(&mailbox->worker);
    if (!mailbox->worker.stop && !mailbox->has_wish && !mailbox->woken)
        worker_wait_ms(&mailbox->worker, LOOK_AROUND_MS);
    mailbox->woken = false;
    worker_unlock(&mailbox->worker);
}
