/* SPDX-License-Identifier: MIT */
/* The engine: a request comes in, its frame is rendered, and the frame goes out. */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"
#include "src/run/backend.h"
#include "src/run/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- rendering: what idle work uses, too ----------------------------------------------------- */

/* The frame of a key that has waited longer than this is not given up for the next key. */
enum { GIVE_WAY_MS = 50 };

void engine_report_error(Engine *engine, const Err *err) {
    if (engine->now.device_lost)
        return; /* later errors are mere consequences of the lost device */
    err_line(err, engine->now.live.error_text, (int)sizeof engine->now.live.error_text);
    engine->now.err = *err;
    engine->now.errors++;
    engine->news = true;
    engine->now.device_lost = err->kind == ERR_DEVICE;
}

void engine_use_model(Engine *engine, MemoryModel *model) {
    engine->now.live.model = engine->now.model = ref_swap(engine->now.model, model);
    engine->now.live.model_of_before = false;
}

void engine_use_race(Engine *engine, LiveRace *race) {
    engine->now.race = ref_swap(engine->now.race, race);
    engine->now.live.race = race && race->made ? &race->race : NULL;
}

KernelSet wanted_kernels(const State *state) {
    const KernelSet of_lesson = state->lesson.open ? state->lesson.model_kernels : 0;
    return of_lesson | (state->race || state->tours ? race_kernels() : 0);
}

/* ---- what a new frame means for the figures -------------------------------------------------- */

/* Begins the simulation again for another problem or another kernel. The model of the same problem
 * stays on the screen. */
static void aim_simulation(Engine *engine, const FrameInputs *inputs, const KernelConfig *config) {
    const FrameInputs *shown = &engine->shown;
    const KernelConfig *before = &engine->shown_config;
    const bool same_format = before->dtype == config->dtype && before->align == config->align;
    const bool same_channels =
        shown->features && shown->features->shape.channels == inputs->features->shape.channels;
    const bool same_problem = shown->map == inputs->map && same_format && same_channels;
    if (same_problem && before->kernel == config->kernel)
        return;
    const BevKernel *row = model_row(config->kernel);
    const bool estimates_stay =
        same_problem && engine->simulated > DEPTH_ESTIMATE && row && story_tells(row);
    engine->model_tag++;
    engine->simulated = estimates_stay ? DEPTH_ESTIMATE + 1 : 0;
    background_give_up(engine->judging);
    if (same_problem)
        return; /* the running simulation serves this kernel, too */
    background_give_up(engine->background);
    engine_use_race(engine, NULL);
    if (shown->scene != inputs->scene) /* the old model of the same scene stays */
        engine_use_model(engine, NULL);
    engine->now.live.model_of_before = engine->now.model != NULL;
}

/* Compares the new inputs with the last ones. Figures of other inputs are forgotten, or marked. */
static void update_figures(Engine *engine) {
    FrameInputs borrowed = *pipeline_inputs(engine->pipeline), *inputs = &borrowed;
    const KernelConfig *config = &engine->now.state.job.config;
    const bool moves = engine->now.state.playing && !engine->options.script;
    if (moves && maps_differ_by_moment(engine->shown.map, inputs->map))
        inputs->map = engine->shown.map;
    if (inputs->scene != engine->shown.scene) {
        engine->now.loads++;
        frame_inputs_hold(&engine->judged, inputs);
    }
    engine_aim_accuracy(engine, inputs);
    if (engine->measure)
        measure_aim(engine->measure, inputs, &engine->now.state.job, &engine->now.live);
    if (engine->background)
        aim_simulation(engine, inputs, config);
    frame_inputs_hold(&engine->shown, inputs);
    engine->shown_config = *config;
    if (inputs->map->pruned_by)
        engine->now.live.pruned_s = inputs->map->pruned_by->time_s;
}

/* ---- contents -------------------------------------------------------------------------------- */

/* Whether the frame is given up for a newer request. Two frames in a row are never given up, so
 * that the screen shows new pictures while keys keep coming. */
static bool gives_way(void *context) {
    Engine *engine = context;
    return !engine->given_up && engine_request_waits(engine, engine->give_way_ms);
}

/* Returns the kernel that pools in place of a kernel that takes longer than a key can wait. The
 * CPU's default kernel does so until the background thread has pooled the slow kernel's grid. NULL:
 * the kernel is fast enough. */
static const BevKernel *stand_in_for(const Engine *engine, const KernelConfig *config) {
    const BevKernel *fast = bev_default(BEV_CPU, BEV_FORWARD), *kernel = config->kernel;
    const bool takes_config =
        fast->dtypes >> config->dtype & 1 && fast->aligns >> config->align & 1;
    const bool may_be_slow = engine->measure && kernel->where == BEV_CPU && kernel != fast;
    return may_be_slow && takes_config && measure_is_slow(engine->measure, config) ? fast : NULL;
}

/* Returns what the pipeline must make for this frame besides the pooled grid. */
static PipelineNeeds needs_of(Engine *engine) {
    const State *state = &engine->now.state;
    const KernelConfig pools = inputs_forward_config(&state->job.config);
    return (PipelineNeeds){
        .draft = engine->quality == QUALITY_ROUGH,
        .fp64_original = state_shows_errors(state),
        .stand_in = stand_in_for(engine, &pools),
        .baseline_stand_in = state->job.pool_baseline && !state->job.other
                                 ? stand_in_for(engine, &state->job.baseline)
                                 : NULL,
        .gradients_later = engine->measure && state->job.config.kernel->where == BEV_CPU &&
                           measure_is_slow(engine->measure, &state->job.config),
        .give_up = {gives_way, engine},
        .doing = &engine->doing,
    };
}

/* ---- the figures of a script, the same on every machine -------------------------------------- */

/* Checks the accuracy of the selection's format at this moment of the world, unless it is known. A
 * script checks no other format: stale figures of other formats become unknown. */
static bool check_accuracy(Engine *engine, Err *err) {
    const KernelConfig *config = &engine->now.state.job.config;
    LiveAccuracy *accuracy = engine->now.live.accuracy;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (accuracy[dtype].stale)
            accuracy[dtype] = (LiveAccuracy){.worst_cell = -1};
    if (accuracy[config->dtype].source)
        return true;
    return background_accuracy(&engine->shown, config, &accuracy[config->dtype], err);
}

/* Fills in a device without facts of this machine: a script gives the same pictures everywhere. */
static void fill_script_device(Engine *engine) {
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
    while (live_model_step(engine->live_model, live_model_depth(state), NULL))
        continue;
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

static bool fill_script(Engine *engine, Err *err) {
    if (!check_accuracy(engine, err))
        return false;
    timed_kernel_fill_recorded(&engine->recorded, &engine->shown, &engine->now.state.job,
                               &engine->now.live);
    fill_script_device(engine);
    return fill_model(engine, err) && fill_race(engine, err);
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* Makes the picture of the frame, if pictures are wanted. After an error the last picture stays.
 * False: the picture was given up. */
static bool make_picture(Engine *engine) {
    const EngineOptions *options = &engine->options;
    const GiveUp give_up = {gives_way, engine};
    EngineFrame *now = &engine->now;
    Err err = {.kind = ERR_FAILED};
    if (!options->make_picture)
        return true;
    double begun = clock_ms();
    engine->doing = "picture";
    Picture *picture = options->make_picture(&now->state, &now->live, now->picture, &give_up, &err);
    if (!picture && given_up(&give_up))
        return false;
    if (!picture) {
        engine_report_error(engine, &err);
        return true;
    }
    if (picture != now->picture && !options->script)
        now->live.stages_us[STAGE_DRAW] = reading((clock_ms() - begun) * 1e3, SOURCE_MEASURED);
    ref_drop(now->picture);
    now->picture = picture;
    return true;
}

/* Updates the frames a second, averaged over about the last second. */
static void count_frame(Engine *engine) {
    double now = clock_ms(), gap = now - engine->frame_ms;
    engine->frame_ms = now;
    if (gap > 1000 || gap <= 0) {
        engine->now.live.fps = (Reading){.value = 0};
        return;
    }
    double before = engine->now.live.fps.value, weight = 1 - exp(-gap / 500);
    double rate = 1000 / gap;
    engine->now.live.fps =
        reading(before > 0 ? 1 / (weight / rate + (1 - weight) / before) : rate, SOURCE_MEASURED);
}

/* Makes the contents and the picture of a frame. PIPELINE_GIVEN_UP: neither may be shown. */
static PipelineEnd make_frame(Engine *engine, Quality quality) {
    Err err = {.kind = ERR_FAILED};
    engine->quality = quality;
    PipelineEnd end = pipeline_run(engine->pipeline, &engine->now.state, needs_of(engine),
                                   &engine->now.live, &err);
    if (end == PIPELINE_FAILED)
        engine_report_error(engine, &err);
    if (end == PIPELINE_DONE) {
        engine->now.live.error_text[0] = '\0';
        engine->now.live.complete = false;
        update_figures(engine);
        if (engine->options.script && !fill_script(engine, &err)) {
            engine_report_error(engine, &err);
            return PIPELINE_FAILED;
        }
    }
    bool ends_early = end == PIPELINE_GIVEN_UP;
    if (end == PIPELINE_DONE) /* engine->given_up still tells of the last frame */
        ends_early = gives_way(engine) || !make_picture(engine);
    engine->given_up = ends_early;
    return ends_early ? PIPELINE_GIVEN_UP : end;
}

/* ---- from a request to a frame --------------------------------------------------------------- */

PipelineEnd engine_render_again(Engine *engine, Quality quality) {
    engine->give_way_ms = INFINITY;
    PipelineEnd end = make_frame(engine, quality);
    if (end != PIPELINE_GIVEN_UP)
        engine_publish(engine);
    return end;
}

void engine_render(Engine *engine, const State *request) {
    const bool moved = request->job.time_s != engine->now.state.job.time_s;
    engine_free_retired(&engine->mailbox);
    engine->now.state = *request;
    engine->request_ms = clock_ms();
    const bool of_key = !moved || engine->taken > 1; /* moments alone are requested further apart */
    engine->give_way_ms = of_key ? engine->request_ms + GIVE_WAY_MS : INFINITY;
    engine->now.device_lost &= request->job.config.kernel->where == BEV_CUDA;
    background_pause(engine->background, SIMULATION_WAITS); /* leaves the cores to rendering */
    if (make_frame(engine, QUALITY_ROUGH) == PIPELINE_GIVEN_UP)
        return;
    if (moved)
        count_frame(engine);
    else if (!request->playing)
        engine->now.live.fps = (Reading){.value = 0};
    engine_publish(engine);
    background_pause(engine->background, SIMULATION_RUNS);
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
    Background *const slots[] = {engine->background, engine->judging, engine->pooling};
    if (!worker_stop_within(&engine->mailbox.worker, patience_ms))
        return false;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (!background_stop_within(slots[i], fmax(until_ms - clock_ms(), 0)))
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
