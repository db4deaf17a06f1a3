/* SPDX-License-Identifier: MIT */
/* Work of the engine's thread while no request waits. The most useful task comes first;
 * engine_idle_work(), at the end, has the order. */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"

#include <math.h>

enum { IDLE_MS = 200 };              /* without a request: time for what takes longer */
enum { REST_MS = 30000 };            /* without a request: time for rest */
static const double LOOK_MS = 1000;  /* between two looks at the load */
static const double SLICE_PAUSE = 5; /* moving: no slice of timing for so many times its duration */

/* ---- the devices ----------------------------------------------------------------------------- */

/* Looks at the GPU. The first look runs probes, before any simulation begins. */
static void look_at_gpu(Engine *engine) {
    int row;
    if (!engine->gpu)
        return;
    if (!engine->probed) {
        const Limits *limits = live_gpu_probe(engine->gpu, &row);
        if (limits)
            live_model_measured(engine->live_model, row, limits);
    }
    engine->probed = true;
    engine->news |= live_gpu_refresh(engine->gpu);
}

/* ---- the cores ------------------------------------------------------------------------------- */

/* Looks at the load: figures wait while other programs take the cores. */
static void look_at_load(Engine *engine) {
    double now_ms = clock_ms();
    if (engine->load_ms > 0 && now_ms - engine->load_ms < LOOK_MS)
        return;
    engine->load_known |= engine->load_ms > 0;
    LiveData *live = &engine->now.live;
    live->others_share = engine->load_ms > 0 ? load_of_others(&engine->load) : 0;
    bool busy = live->others_share > LOAD_BUSY;
    engine->news |= busy != live->machine_busy;
    live->machine_busy = busy;
    measure_note_load(engine->measure, busy);
    if (busy) { /* at the lowest priority a job would take a hundred times as long */
        background_hurry(engine->background);
        background_hurry(engine->judging);
    }
    engine->load = load_now();
    engine->load_ms = now_ms;
}

/* ---- results of the background thread -------------------------------------------------------- */

static void take_launch(Engine *engine, BackgroundJob *job) {
    measure_take_launch(engine->measure, job, engine->idle);
    if (job->failed)
        engine_report_error(engine, &job->err);
}

static void take_grid(Engine *engine, BackgroundJob *job) {
    measure_take_grid(engine->measure, job);
    if (job->failed) {
        engine_report_error(engine, &job->err);
        return;
    }
    pipeline_offer(engine->pipeline, job->grid);
    if (engine->idle)
        engine_render_again(engine, engine->quality);
}

static void take_gradients(Engine *engine, BackgroundJob *job) {
    if (job->failed) {
        engine_report_error(engine, &job->err);
        return;
    }
    pipeline_offer_gradients(engine->pipeline, job->gradients);
    if (engine->idle)
        engine_render_again(engine, engine->quality);
}

/* Takes the error at a moment. What all formats are judged on is shown with all its figures. */
static void take_format(Engine *engine, const LiveAccuracy *made, LiveAccuracy *shown) {
    const LiveAccuracy before = *shown;
    engine_add_moment(engine, shown, made);
    if (made->time_s != engine_judged_s(engine))
        return;
    const LiveMoments moments = shown->moments;
    *shown = *made;
    shown->moments = moments;
    shown->gate_a = before.gate_a;
    shown->gate_c = before.gate_c;
}

static void take_accuracy(Engine *engine, BackgroundJob *job) {
    if (job->tag != engine->accuracy_tag || job->given_up)
        return;
    LiveAccuracy *shown = &engine->now.live.accuracy[job->config.dtype];
    if (job->failed) {
        engine_report_error(engine, &job->err);
        job->accuracy = live_unjudged(job->job.time_s);
        job->gates = GATES_ALL;
    }
    engine->judged_gates[job->config.dtype] |= job->gates;
    if (job->gates & GATE_B)
        take_format(engine, &job->accuracy, shown);
    if (job->gates & GATE_A)
        shown->gate_a = job->accuracy.gate_a;
    if (job->gates & GATE_C)
        shown->gate_c = job->accuracy.gate_c;
    engine->judged_s = engine_judged_s(engine);
    if (job->accuracy.time_s == engine->judged_s)
        frame_inputs_hold(&engine->judged, &job->inputs); /* with all rays */
}

static void take_model(Engine *engine, BackgroundJob *job) {
    if (job->tag != engine->model_tag)
        return;
    if (job->complete)
        engine->simulated = (int)job->depth + 1;
    if (job->tells) /* until then the model of the format before stays */
        engine_use_model(engine, job->model);
    engine->partial = job->model;
}

static void take_race(Engine *engine, BackgroundJob *job) {
    if (job->failed)
        engine_report_error(engine, &job->err);
    engine_use_race(engine, job->race);
}

/* Takes the result of a finished background job, if there is one, into the display's data. */
static void take_result(Engine *engine, Background *background) {
    BackgroundJob job;
    if (!background_take(background, &job))
        return;
    engine->news = true;
    if (job.kind == JOB_LAUNCH)
        take_launch(engine, &job);
    else if (job.kind == JOB_GRID)
        take_grid(engine, &job);
    else if (job.kind == JOB_GRADIENTS)
        take_gradients(engine, &job);
    else if (job.kind == JOB_ACCURACY)
        take_accuracy(engine, &job);
    else if (job.kind == JOB_RACE)
        take_race(engine, &job);
    else
        take_model(engine, &job);
    background_job_drop(&job);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* TASK_NONE: nothing to do. TASK_WAITS: its work runs or waits in the background, and less useful
 * tasks wait as well. TASK_WORKED: some work was done. */
typedef enum { TASK_NONE, TASK_WAITS, TASK_WORKED } TaskEnd;

static bool slot_is_empty(Engine *engine) {
    return background_kind(engine->background) == JOB_NONE;
}

/* Whether no job runs that would disturb a timing. */
static bool is_quiet(Engine *engine) {
    return slot_is_empty(engine) && background_kind(engine->judging) == JOB_NONE &&
           background_kind(engine->pooling) == JOB_NONE;
}

/* Renders the features again with all rays, after a picture with fewer. */
static TaskEnd refine_picture(Engine *engine) {
    if (!engine->idle || engine->quality == QUALITY_REFINED)
        return TASK_NONE;
    engine_render_again(engine, QUALITY_REFINED);
    return TASK_WORKED;
}

/* Counts the selection's hardware events. Counters count every user of the GPU, so nobody else may
 * use it. */
static TaskEnd count_selection(Engine *engine) {
    Err err;
    if (engine->counted == engine->now.state.counts)
        return TASK_NONE;
    if (!is_quiet(engine))
        return TASK_WAITS;
    engine->counted = engine->now.state.counts;
    if (live_gpu_count(pipeline_inputs(engine->pipeline), &engine->now.state.job.config,
                       &engine->now.live.counters, &err)) {
        char line[160];
        live_counters_line(&engine->now.live.counters, &engine->now.state.job, line, sizeof line);
        err_set(&err, ERR_FAILED, "counters, measured", "", "%s", line);
    }
    err_line(&err, engine->now.note, sizeof engine->now.note);
    engine->now.notes++;
    engine->news = true;
    return TASK_WORKED;
}

/* Timings are taken while no job runs that would disturb them. */
static TaskEnd time_kernel(Engine *engine, MeasureScope scope) {
    const bool idle = engine->idle;
    Err err = {.kind = ERR_FAILED};
    TimedKernel *timed = measure_next(engine->measure, scope, idle);
    if (!timed)
        return TASK_NONE;
    if (!is_quiet(engine))
        return TASK_WAITS;
    if (timed_kernel_needs_background(timed)) {
        BackgroundJob job = measure_launch(engine->measure, timed);
        job.hurry = engine->now.live.machine_busy; /* else the gates behind it wait for long */
        background_start(engine->background, &job);
        return TASK_WAITS;
    }
    double begun = clock_ms();
    if (!idle && begun < engine->slice_ms)
        return TASK_WAITS;
    MeasureStep step = measure_slice(engine->measure, timed, idle, &err);
    if (step == MEASURE_FAILED)
        engine_report_error(engine, &err);
    engine->news |= step != MEASURE_MORE;
    engine->slice_ms = clock_ms() + SLICE_PAUSE * (clock_ms() - begun);
    return TASK_WORKED;
}

static TaskEnd time_selection(Engine *engine) {
    return time_kernel(engine, MEASURE_SELECTION);
}

static TaskEnd time_pairs(Engine *engine) {
    return time_kernel(engine, MEASURE_PAIRS);
}

static TaskEnd time_missing(Engine *engine) {
    return time_kernel(engine, MEASURE_MISSING);
}

/* Notes that all figures are complete: no other task is left. */
static TaskEnd note_complete(Engine *engine) {
    engine->news |= engine->idle && !engine->now.live.complete;
    engine->now.live.complete |= engine->idle;
    return TASK_NONE;
}

/* Times again what a busy machine has disturbed, once the machine is quiet. Otherwise figures of a
 * paused and untouched display stay, and no core is kept busy. */
static TaskEnd time_again(Engine *engine) {
    bool rests = engine->idle && clock_ms() - engine->request_ms > REST_MS;
    if (rests && (engine->now.live.machine_busy || !measure_is_unfinished(engine->measure)))
        return TASK_NONE;
    return time_kernel(engine, MEASURE_AGAIN);
}

/* Returns a job of this kind on the selection. */
static BackgroundJob job_of(Engine *engine, JobKind kind, uint64_t tag) {
    BackgroundJob job = {.kind = kind, .config = engine->now.state.job.config, .tag = tag};
    frame_inputs_hold(&job.inputs, &engine->shown);
    job.hurry = engine->now.live.machine_busy || !engine->load_known;
    return job;
}

/* Pools the grid that a stand-in pooled for the newest frame. */
static void pool_picture(Engine *engine) {
    const KernelConfig *lacks = pipeline_lacks(engine->pipeline);
    if (!lacks || background_kind(engine->pooling) != JOB_NONE)
        return;
    const BackgroundJob job = measure_grid(engine->measure, lacks, engine->idle);
    if (job.kind)
        background_start(engine->pooling, &job);
}

/* Finds the gradients of the loss that the newest frame shows. */
static TaskEnd find_gradients(Engine *engine) {
    if (!engine->idle || !pipeline_lacks_gradients(engine->pipeline))
        return TASK_NONE;
    if (!slot_is_empty(engine))
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_GRADIENTS, 0);
    frame_inputs_hold(&job.inputs, pipeline_inputs(engine->pipeline));
    job.inputs.pooled = ref_keep(pipeline_inputs(engine->pipeline)->pooled);
    job.job = engine->now.live.job;
    background_start(engine->background, &job);
    return TASK_WAITS;
}

static TaskEnd simulate(Engine *engine, ModelDepth depth) {
    if (engine->simulated > (int)depth)
        return TASK_NONE;
    if (!slot_is_empty(engine))
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_CACHESIM, engine->model_tag);
    SeenFeatures *judged = engine->judged.features; /* pruning is of the same moment */
    if (judged && engine_other_moment(judged, job.inputs.features)) {
        ref_drop(job.inputs.features);
        job.inputs.features = ref_keep(judged);
    }
    job.live_model = engine->live_model;
    job.depth = depth;
    job.wanted = engine->wanted;
    job.shown = engine->partial;
    background_start(engine->background, &job);
    return TASK_WAITS;
}

/* Estimates the ladder's kernels and those that the lesson asks for. Results for another set of
 * kernels are dropped first. */
static TaskEnd estimate_kernels(Engine *engine) {
    const KernelSet wanted = wanted_kernels(&engine->now.state);
    if (wanted != engine->wanted) {
        engine->simulated = 0;
        engine->model_tag++;
        engine->wanted = wanted;
    }
    return simulate(engine, DEPTH_ESTIMATE);
}

/* Makes the schedules once all their kernels are simulated. */
static TaskEnd make_race(Engine *engine) {
    const State *state = &engine->now.state;
    const KernelConfig *config = &state->job.config;
    const MemoryModel *model = engine->now.model;
    if (!model || model->dtype != config->dtype || model->align != config->align)
        return TASK_NONE;
    for (int i = 0; race_kernel(i); i++) {
        const PredictedKernel *lane = model_of_kernel(model, race_kernel(i), &gpus[state->gpu]);
        if (lane && lane->estimate)
            return TASK_NONE; /* its complete figures follow */
    }
    LiveRace *race = live_race_new(&engine->now.state, &engine->shown, &engine->now.live);
    bool same = !race || live_race_same(race, engine->now.race);
    if (same || !slot_is_empty(engine)) {
        ref_drop(race);
        return same ? TASK_NONE : TASK_WAITS;
    }
    BackgroundJob job = job_of(engine, JOB_RACE, 0);
    job.race = race;
    job.model = ref_keep(engine->now.model);
    background_start(engine->background, &job);
    return TASK_WAITS;
}

static TaskEnd make_race_of_page(Engine *engine) {
    const State *state = &engine->now.state;
    bool wanted = state->race || (state->tours && !engine->now.race);
    return wanted ? make_race(engine) : TASK_NONE;
}

static TaskEnd make_race_of_panel(Engine *engine) {
    enum { WIDE = 200 }; /* columns of a terminal that shows it */
    return engine->idle || engine->now.state.columns >= WIDE ? make_race(engine) : TASK_NONE;
}

static TaskEnd simulate_pruned(Engine *engine) {
    return simulate(engine, DEPTH_PRUNED);
}

/* Whether the gate of a format is not judged yet. Gate B is of the moment that all formats are
 * judged on: their errors are compared. */
static bool lacks_verdict(const Engine *engine, BevDtype dtype, GateSet gate) {
    const KernelConfig *config = &engine->now.state.job.config;
    const LiveAccuracy *known = &engine->now.live.accuracy[dtype];
    bool possible =
        config->kernel->dtypes & 1u << dtype && config->kernel->aligns & 1u << config->align;
    bool judged = engine->judged_gates[dtype] & gate;
    return possible &&
           (!judged || (gate == GATE_B && known->time_s != engine_judged_s(engine)));
}

/* Starts the gates of a format at a moment. */
static TaskEnd check_format(Engine *engine, BevDtype dtype, GateSet gates, double moment_s) {
    const FrameInputs *last = &engine->judged, *now = &engine->shown;
    if (background_kind(engine->judging) != JOB_NONE ||
        background_kind(engine->background) == JOB_LAUNCH)
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_ACCURACY, engine->accuracy_tag);
    job.job = engine->now.live.job;
    job.job.time_s = moment_s;
    if (last->features && last->scene == now->scene && last->features->time_s == moment_s &&
        engine_other_moment(last->features, now->features)) {
        ref_drop(job.inputs.features);
        job.inputs.features = ref_keep(last->features);
    }
    job.gates = gates;
    job.other_format = dtype != job.config.dtype;
    job.config.dtype = dtype;
    background_start(engine->judging, &job);
    return TASK_WAITS;
}

/* Judges the selection at the moment that is paused at. */
static TaskEnd check_paused(Engine *engine) {
    const BevDtype dtype = engine->now.state.job.config.dtype;
    const LiveMoments *moments = &engine->now.live.accuracy[dtype].moments;
    const double now_s = engine->shown.features->time_s;
    bool there = moments->paused && moments->here_s == now_s;
    return !engine->idle || there || now_s == engine_judged_s(engine)
               ? TASK_NONE
               : check_format(engine, dtype, GATE_B, now_s);
}

/* Judges the selection: first the gate that gives the error. */
static TaskEnd check_selection(Engine *engine) {
    static const GateSet gates[] = {GATE_B, GATE_A, GATE_C};
    BevDtype dtype = engine->now.state.job.config.dtype;
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (lacks_verdict(engine, dtype, gates[i]))
            return check_format(engine, dtype, gates[i], engine_judged_s(engine));
    return TASK_NONE;
}

/* Judges the selection at the other moments of the loop, and at the moment that is paused at. */
static TaskEnd check_moments(Engine *engine) {
    double moment_s;
    return engine_next_moment(engine, &moment_s)
               ? check_format(engine, engine->now.state.job.config.dtype, GATE_B, moment_s)
               : check_paused(engine);
}

static TaskEnd check_other_formats(Engine *engine) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (lacks_verdict(engine, (BevDtype)dtype, GATE_B))
            return check_format(engine, (BevDtype)dtype,
                                (GATES_ALL & ~engine->judged_gates[dtype]) | GATE_B,
                                engine_judged_s(engine));
    return TASK_NONE;
}

static TaskEnd simulate_kernels(Engine *engine) {
    return simulate(engine, live_model_depth(&engine->now.state));
}

/* Takes what the backgrounds have finished, and beside all other tasks pools for the picture and
 * judges the selection, its other moments and other formats: these where no timing is taken, or
 * only a noisy one. */
static void take_results(Engine *engine) {
    bool noisy = engine->now.state.playing || engine->now.live.machine_busy;
    take_result(engine, engine->background);
    take_result(engine, engine->judging);
    take_result(engine, engine->pooling);
    pool_picture(engine);
    if (check_selection(engine) == TASK_NONE && (noisy || !slot_is_empty(engine)) &&
        check_moments(engine) == TASK_NONE)
        check_other_formats(engine);
}

void engine_feed(Engine *engine) {
    if (!engine->options.background || !engine->has_frame || engine->given_up ||
        !engine->now.state.playing)
        return;
    engine->idle = false;
    take_results(engine);
    estimate_kernels(engine);
}

/* ---- in the order of their use --------------------------------------------------------------- */

bool engine_idle_work(Engine *engine) {
    static TaskEnd (*const tasks[])(Engine *) = {
        count_selection,     /* somebody has asked for it */
        find_gradients,      /* of the loss under the cursor */
        estimate_kernels,    /* the bars of the screen */
        make_race_of_page,   /* where it is open */
        simulate_pruned,     /* what dropping light points would give */
        make_race_of_panel,  /* on wide screens */
        time_selection,      /* the selection's latency, the baseline's */
        simulate_kernels,    /* the bars in full, and what a chart shows */
        check_moments,       /* the selection's errors at other moments */
        check_other_formats, /* gates of the other formats */
        time_pairs,          /* selection and baseline in turns: the speed-up */
        time_missing,        /* the other kernels' latencies */
        note_complete,       /* all are there */
        time_again,          /* figures that have to settle, or are a second old */
    };
    bool playing = engine->now.state.playing;
    engine->idle = !playing && clock_ms() - engine->request_ms > IDLE_MS;
    if (!engine->has_frame)
        return false;
    if (refine_picture(engine) == TASK_WORKED)
        return true;
    if (!engine->options.background || !(engine->idle || playing))
        return false; /* paused, and the user is typing: only the next key counts */
    look_at_gpu(engine);
    look_at_load(engine);
    take_results(engine);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        TaskEnd end = tasks[i](engine);
        if (end != TASK_NONE)
            return end == TASK_WORKED;
    }
    return false;
}
