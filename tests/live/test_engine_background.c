/* SPDX-License-Identifier: MIT */
/* What the engine does while nobody waits for a frame: it times kernels, judges them and simulates
 * caches, on a busy machine and beside a world that moves, too. And what a frame costs. */
#include "src/base/ref.h"
#include "src/live/background_job.h"
#include "src/live/pipeline.h"
#include "tests/live/engine_fixture.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

static int wrong_models; /* seen so far: not owned by the frame */

static bool has_model(const LiveData *live) {
    const MemoryModel *model = live->model;
    wrong_models += model != frame->model;
    return model && model->dtype == live->job.config.dtype &&
           model_of_kernel(model, live->job.config.kernel, &gpus[0]);
}

ENGINE_WAITING_SUITE(engine_background_model, true, TOY) {
    ask();
    tap_ok(take_until(has_model) && frame->live.model->points == frame->live.frame.map->points,
           "the selection's memory model comes by itself");
    state.job.config.dtype = BEV_FP8;
    ask();
    tap_ok(take_until(has_model) && !wrong_models,
           "the format before stays until the other model is there");
}

ENGINE_WAITING_SUITE(engine_background_counters, true, TOY) {
    bool quiet = ask()->notes == 0;
    state.counts++;
    engine_request(engine, &state);
    while (!frame->notes)
        take();
    tap_ok(quiet && strstr(frame->note, "counters: only a GPU has them") &&
               frame->live.counters.source == SOURCE_UNKNOWN && !frame->device_lost,
           "counters: asked for once, refused with the reason");
}

static const struct {
    JobKind kind;
    const char *kernel; /* NULL: the selection, which goes backward */
} slot_jobs[] = {{JOB_GRADIENTS, NULL}, {JOB_LAUNCH, NULL},   {JOB_ACCURACY, NULL},
                 {JOB_GRID, "cpu_v2"},  {JOB_GRID, "cpu_v4"}, {JOB_ACCURACY, "cpu_v3"}};
enum { SLOT_JOBS = sizeof slot_jobs / sizeof *slot_jobs };

static void wake_nobody(void *context) {
    (void)context;
}

static Background *open_background(void) {
    Background *background;
    Err err;
    tap_need(background_open(&background, wake_nobody, NULL, &err), "a slot");
    return background;
}

/* What a job brought, as one number; NAN: it failed. */
static double result_of(const BackgroundJob *job) {
    const BevShape *s = &job->inputs.features->shape;
    if (job->failed || (job->kind == JOB_LAUNCH && !(job->launch_us > 0)))
        return NAN;
    if (job->kind == JOB_ACCURACY)
        return job->accuracy.max_abs;
    if (job->kind == JOB_GRADIENTS)
        return checksum(job->inputs.gradients->grad_feat,
                        s->cameras * s->feat_h * s->feat_w * s->channels);
    return job->kind == JOB_GRID ? checksum(job->inputs.pooled->values, s->nx * s->ny * s->channels)
                                 : 0;
}

static double run_job(Background *background, int i, const FrameInputs *inputs) {
    BackgroundJob job = {.kind = slot_jobs[i].kind,
                         .inputs = frame_inputs_keep(inputs),
                         .config = state.job.config,
                         .job = state.job};
    if (slot_jobs[i].kernel)
        job.config.kernel = bev_kernel_find(slot_jobs[i].kernel);
    background_start(background, &job);
    while (!background_take(background, &job))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    double result = result_of(&job);
    background_job_drop(&job);
    return result;
}

/* Each job alone, then each behind each other: they share what the last one left in the slot. */
static void test_slot_in_any_order(const FrameInputs *inputs) {
    double alone[SLOT_JOBS];
    int wrong = 0;
    for (int i = 0; i < SLOT_JOBS; i++) {
        Background *background = open_background();
        alone[i] = run_job(background, i, inputs);
        wrong += isnan(alone[i]);
        background_close(background);
    }
    Background *background = open_background();
    for (int i = 0; i < SLOT_JOBS; i++)
        for (int j = 0; j < SLOT_JOBS; j++) {
            wrong += run_job(background, i, inputs) != alone[i];
            wrong += run_job(background, j, inputs) != alone[j];
        }
    background_close(background);
    tap_ok(!wrong, "%s: whatever a job finds in the slot, it brings the same",
           state.job.config.kernel->name);
}

TAP_SUITE(engine_background_slot) {
    static LiveData live;
    Pipeline *pipeline;
    Err err;
    tap_need(pipeline_open(&pipeline, &err), "a pipeline");
    fresh(TOY);
    state.job.loss = LOSS_ALL;
    for (int i = 0; bev_kernels[i]; i++) {
        const PipelineNeeds needs = {.draft = true, .gradients_later = true};
        state.job.config.kernel = bev_kernels[i];
        if (bev_kernels[i]->where != BEV_CPU || bev_kernels[i]->direction != BEV_BACKWARD ||
            bev_kernels[i]->stage != BEV_POOL)
            continue;
        tap_need(pipeline_run(pipeline, &state, needs, &live, &err) == PIPELINE_DONE, "a frame");
        test_slot_in_any_order(pipeline_inputs(pipeline));
    }
    pipeline_close(pipeline);
}

static bool all_known(const LiveData *live) {
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *row = &live->kernels[i];
        if (!row->skipped && (row->median_us.source != SOURCE_MEASURED || row->median_us.stale))
            return false;
    }
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (live->accuracy[dtype].source == SOURCE_UNKNOWN || live->accuracy[dtype].stale)
            return false;
    return live->kernel_count > 0 && live->baseline.median_us.source == SOURCE_MEASURED;
}

static bool all_pass(const LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        const LiveAccuracy *accuracy = &live->accuracy[dtype];
        if (accuracy->gate_a != LIVE_PASS || accuracy->gate_b != LIVE_PASS ||
            accuracy->gate_c != LIVE_PASS)
            return false;
    }
    return true;
}

ENGINE_SUITE(engine_background_background, true, TOY) {
    ask();
    bool known = take_until(all_known);
    ok_in_time(known, "every kernel is timed, every format judged");
    if (!known)
        return;
    tap_ok(all_pass(&frame->live), "all gates of V3 pass");
    state.job.temperature = 2;
    tap_ok(ask()->live.accuracy[BEV_FP16].stale,
           "other values in the same cells: the old error stays, marked stale");
    state.job.temperature = 1;
    ask();
    take_until(all_known);
    state.job.config.kernel = kernel_named(BEV_CPU, BEV_FORWARD, "v2");
    tap_ok(!ask()->live.accuracy[BEV_FP16].source, "another kernel: the error was not its own");
    take_until(all_known);
    state.job.config.align = BEV_BILINEAR;
    tap_ok(
        !ask()->live.accuracy[BEV_FP16].source &&
            live_kernel(&frame->live, state.job.config.kernel)->median_us.stale,
        "another align: the old latency stays, marked stale, the error of another grid does not");
}

/* How often the kernel was timed that was timed least, of those that can run. */
static int least_turns(const LiveData *live) {
    int least = INT_MAX;
    for (int i = 0; i < live->kernel_count; i++)
        if (!live->kernels[i].skipped && live->kernels[i].turns < least)
            least = live->kernels[i].turns;
    return least;
}

static void *spin(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) {
    }
    return NULL;
}

static int wanted_turns;

static bool had_turns(const LiveData *live) {
    return least_turns(live) >= wanted_turns;
}

/* On a machine whose cores are taken. */
static void test_fair(int wanted) {
    enum { SPINNERS = 2 };
    pthread_t threads[SPINNERS];
    atomic_bool stop = false;
    int started = 0;
    while (started < SPINNERS && !pthread_create(&threads[started], NULL, spin, &stop))
        started++;
    wanted_turns = wanted;
    ask();
    take_until(had_turns);
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    int turns = least_turns(&frame->live);
    ok_in_time(turns >= wanted && started == SPINNERS,
               "on taken cores every kernel has its turns (%d)", turns);
}

ENGINE_SUITE(engine_background_fair, true, TOY) {
    test_fair(1);
}

ENGINE_HARD_SUITE(engine_background_fair_again, true, TOY) {
    test_fair(2);
}

static bool all_timed(const LiveData *live) {
    bool timed = live->kernel_count > 0;
    for (int i = 0; i < live->kernel_count; i++)
        timed = timed &&
                (live->kernels[i].skipped || live->kernels[i].median_us.source == SOURCE_MEASURED);
    return timed;
}

ENGINE_WAITING_SUITE(engine_background_playing, true, TOY) {
    state.playing = true;
    ask();
    double end = clock_ms() + PATIENCE_MS;
    while (!all_timed(&frame->live) && clock_ms() < end) {
        state.job.time_s += 0.05;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* as the display paces it */
        ask();
    }
    bool timed = all_timed(&frame->live);
    ok_in_time(timed, "every kernel has a figure while the street moves");
    const LiveKernel *slow = timed ? live_kernel(&frame->live, bev_kernel_find("reference")) : NULL;
    ok_in_time(slow && slow->unsettled && slow->median_us.value > 0,
               "that of the reference is not to be quoted yet");
}

/* The error in this format at a moment whose features are rendered with all rays. */
static double sharp_error(BevDtype dtype, double time_s) {
    FrameInputs inputs = frame_inputs_keep(&frame->inputs);
    KernelConfig config = state.job.config;
    Job job = state.job;
    LiveAccuracy accuracy;
    Err err;
    job.time_s = time_s;
    config.dtype = dtype;
    ref_drop(inputs.features);
    inputs.features = inputs_features(NULL, inputs.scene, &job, &(SeenNeeds){.draft = false}, &err);
    need(inputs.features && background_accuracy(&inputs, &config, &accuracy, &err), &err);
    frame_inputs_drop(&inputs);
    return accuracy.max_abs;
}

static bool all_judged(const LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (!live->accuracy[dtype].source || live->accuracy[dtype].stale)
            return false;
    return true;
}

/* Errors of different moments would rank the formats wrongly, and so would few rays. All are judged
 * at the scene's moment, whatever is shown. They come back with the selection, at once. */
ENGINE_WAITING_SUITE(engine_background_one_moment, true, SMALL) {
    const BevKernel *kernel = state.job.config.kernel;
    state.playing = true;
    ask();
    bool judged = take_until(all_judged);
    ok_in_time(judged, "all formats are judged");
    const LiveAccuracy fp16 = frame->live.accuracy[BEV_FP16], fp8 = frame->live.accuracy[BEV_FP8];
    const double judged_s = frame->inputs.scene->facts.judged_s;
    tap_ok(!judged || (judged_s > 0 && fp8.time_s == judged_s && fp16.time_s == judged_s),
           "at the moment that the scene names: %g s", judged_s);
    tap_ok(!judged || (fp16.max_abs == sharp_error(BEV_FP16, judged_s) &&
                       fp8.max_abs == sharp_error(BEV_FP8, judged_s)),
           "with all rays, as verify does: %g, %g", fp16.max_abs, fp8.max_abs);
    state.job.config.kernel = bev_kernel_find("cpu_v2");
    tap_ok(!ask()->live.accuracy[BEV_FP16].source, "another kernel has none yet");
    state.job.config.kernel = kernel;
    state.job.time_s = 0.5;
    tap_ok(!judged || (!memcmp(&ask()->live.accuracy[BEV_FP16], &fp16, sizeof fp16) &&
                       frame->live.accuracy[BEV_FP8].max_abs == fp8.max_abs),
           "a selection that was judged has its verdict at once, whatever moment is shown");
    state.job.temperature = 2;
    tap_ok(ask()->live.accuracy[BEV_FP16].stale, "other depths: it is stale");
    state.job.temperature = 1;
    tap_ok(!judged || ask()->live.accuracy[BEV_FP16].max_abs == fp16.max_abs,
           "the depths before: it is back");
}

static bool is_own(const LiveData *live) {
    return !live->stand_in;
}

static bool selection_is_timed(const LiveData *live) {
    const LiveKernel *row = live_kernel(live, live->job.config.kernel);
    return row && row->median_us.source == SOURCE_MEASURED && !row->median_us.stale;
}

/* The last kernel stands in for the reference until the background thread has pooled it: the
 * engine's thread, which keys wait for, never runs it. */
ENGINE_SUITE(engine_background_slow_kernel, true, INTERSECTION) {
    state.job.config.kernel = bev_kernel_find("reference");
    tap_ok(ask()->live.stand_in, "a kernel that was never run keeps nobody waiting");
    bool own = take_until(is_own);
    ok_in_time(own && frame->inputs.pooled->config.kernel == state.job.config.kernel,
               "its own picture comes");
    ok_in_time(own && !frame->live.model, "it does not wait for the simulation");
    bool timed = take_until(selection_is_timed);
    ok_in_time(timed && frame->live.stages_us[STAGE_POOL].value <
                            live_kernel(&frame->live, state.job.config.kernel)->median_us.value / 2,
               "and the engine's thread did not pool it");
    state.job.probe_cell = 5;
    ok_in_time(!ask()->live.stand_in, "it stays for the next key that pools the same");
}

/* While the world moves, a launch in the background tells that V3 keeps no key waiting. */
ENGINE_SUITE(engine_background_own_moving, true, INTERSECTION) {
    enum { MOMENTS = 100 };
    int moments = 0;
    state.playing = true;
    state.job.config.kernel = bev_kernel_find("cpu_v3");
    while (ask()->live.stand_in && moments++ < MOMENTS)
        state.job.time_s += 0.05;
    ok_in_time(frame->inputs.pooled->config.kernel == state.job.config.kernel,
               "V3 pools its own picture after %d moments", moments);
}

static double cpu_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
}

/* 20 frames a second on two cores are 100 ms of processor time a frame for everything; drawing
 * takes a part of that. Wall-clock time would depend on what else runs here. */
ENGINE_SUITE(engine_background_speed, false, INTERSECTION) {
    enum { FRAMES = 20, MAX_MS = 70 };
    state.playing = true;
    ask();
    double cpu = cpu_ms(), wall = clock_ms();
    for (int i = 0; i < FRAMES; i++) {
        state.job.time_s += 0.05;
        ask();
    }
    cpu = (cpu_ms() - cpu) / FRAMES;
    wall = (clock_ms() - wall) / FRAMES;
    const char *waiting = getenv("OMP_WAIT_POLICY");
#ifdef __SANITIZE_ADDRESS__
    waiting = NULL;
#endif
    if (!waiting || strcmp(waiting, "passive") != 0)
        tap_skip("time of a frame", "sanitized, or threads that wait spin (OMP_WAIT_POLICY)");
    else
        ok_in_time(cpu < MAX_MS, "a moment of the flagship takes %d ms of processor time", MAX_MS);
    tap_note("%.1f ms of processor time, %.1f ms", cpu, wall);
}
