/* SPDX-License-Identifier: MIT */
/* The work of the engine's thread while no request waits. engine_idle_work(), at the end, has the
 * order of the tasks: the most useful task comes first. */
#include "src/live/engine_internal.h"

#include "src/base/clock.h"
#include "src/base/ref.h"

enum { IDLE_MS = 200 };             /* so long after the last request longer tasks may begin */
enum { REST_MS = 30000 };           /* so long after the last request settled figures stay */
static const double LOOK_MS = 1000; /* the time between two looks at the load */
/* While the world moves, a slice of timing is followed by a pause of so many times its duration. */
static const double SLICE_PAUSE = 5;

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

/* Looks at the load once in LOOK_MS. Timings wait while other programs take the cores. */
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
    if (busy) { /* at the lowest priority a job takes a hundred times as long */
        background_hurry(engine->background);
        background_hurry(engine->judging);
    }
    engine->load = load_now();
    engine->load_ms = now_ms;
}

/* ---- results of the background thread -------------------------------------------------------- */

/* Takes a grid or gradients that the newest frame lacks. */
static void take_picture(Engine *engine, BackgroundJob *job) {
    if (job->kind == JOB_GRID)
        measure_take_grid(engine->measure, job);
    if (job->failed)
        return;
    pipeline_offer(engine->pipeline, &job->inputs);
    if (engine->idle)
        engine_render_again(engine, engine->quality);
}

static void take_accuracy(Engine *engine, BackgroundJob *job) {
    if (job->tag != engine->accuracy_tag || job->given_up)
        return;
    LiveAccuracy *shown = &engine->now.live.accuracy[job->config.dtype];
    if (job->failed) {
        engine_report_error(engine, &job->err);
        job->accuracy = live_unjudged(job->job.time_s);
        job->gates = GATES_ALL; /* no gate is tried again */
    }
    engine->judged_gates[job->config.dtype] |= job->gates;
    const LiveAccuracy before = *shown, *made = &job->accuracy;
    if (job->gates & GATE_B)
        *shown = *made;
    shown->gate_a = job->gates & GATE_A ? made->gate_a : before.gate_a;
    shown->gate_c = job->gates & GATE_C ? made->gate_c : before.gate_c;
    if (made->time_s == engine->judged_s)
        frame_inputs_hold(&engine->judged, &job->inputs); /* the job rendered them with all rays */
}

static void take_model(Engine *engine, BackgroundJob *job) {
    if (job->tag != engine->model_tag)
        return;
    if (job->complete)
        engine->simulated = (int)job->depth + 1;
    if (job->tells) /* until then the model of the last format stays on the screen */
        engine_use_model(engine, job->model);
    engine->partial = job->model;
}

/* Takes the result of a finished background job, if there is one, into the display's data. */
static void take_result(Engine *engine, Background *background) {
    BackgroundJob job;
    if (!background_take(background, &job))
        return;
    engine->news = true;
    if (job.kind == JOB_ACCURACY)
        take_accuracy(engine, &job);
    else if (job.kind == JOB_CACHESIM)
        take_model(engine, &job);
    else if (job.failed) /* the screen tells why */
        engine_report_error(engine, &job.err);
    if (job.kind == JOB_LAUNCH)
        measure_take_launch(engine->measure, &job, engine->idle);
    else if (job.kind == JOB_GRID || job.kind == JOB_GRADIENTS)
        take_picture(engine, &job);
    else if (job.kind == JOB_RACE)
        engine_use_race(engine, job.race);
    background_job_drop(&job);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* TASK_NONE: there is nothing to do. TASK_WAITS: the task's work runs or waits in the background,
 * and the less useful tasks wait, too. TASK_WORKED: some work was done. */
typedef enum { TASK_NONE, TASK_WAITS, TASK_WORKED } TaskEnd;

static bool is_empty(const Background *background) {
    return background_kind(background) == JOB_NONE;
}

/* Whether no job runs that would disturb a timing. */
static bool is_quiet(Engine *engine) {
    return is_empty(engine->background) && is_empty(engine->judging) && is_empty(engine->pooling);
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

/* Times a kernel of this scope: in the background, or for one slice. Waits while a job runs that
 * would disturb the timing. */
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
        job.hurry =
            engine->options.hurry || engine->now.live.machine_busy; /* the gates wait for it */
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

/* Notes that all figures are complete, because no other task is left. */
static TaskEnd note_complete(Engine *engine) {
    engine->news |= engine->idle && !engine->now.live.complete;
    engine->now.live.complete |= engine->idle;
    return TASK_NONE;
}

/* Times kernels again. A paused and untouched display must not keep a core busy: it times again
 * only figures that a busy machine has disturbed, once the machine is quiet. */
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
    job.hurry = engine->options.hurry || engine->now.live.machine_busy || !engine->load_known;
    return job;
}

/* Finds the gradients of the loss that the newest frame shows. */
static TaskEnd find_gradients(Engine *engine) {
    if (!engine->idle || !pipeline_lacks_gradients(engine->pipeline))
        return TASK_NONE;
    if (!is_empty(engine->background))
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_GRADIENTS, 0);
    frame_inputs_hold(&job.inputs, pipeline_inputs(engine->pipeline));
    job.inputs.pooled = ref_keep(pipeline_inputs(engine->pipeline)->pooled);
    job.job = engine->now.live.job;
    background_start(engine->background, &job);
    return TASK_WAITS;
}

/* Gives the job the features that were judged last, if both differ at most in their moment. */
static void use_judged_features(const Engine *engine, BackgroundJob *job) {
    SeenFeatures *judged = engine->judged.features;
    if (judged && differ_only_by_moment(judged, job->inputs.features))
        job->inputs.features = ref_swap(job->inputs.features, judged);
}

/* Whether the world stands at another moment than the moment of the pruning gain. */
static bool pruned_elsewhere(const Engine *engine) {
    const MemoryModel *model = engine->now.model;
    return !engine->now.state.playing && model && model->pruned.tried &&
           model->pruned.time_s != engine->shown.features->time_s;
}

/* Simulates the caches up to this depth, in the background. */
static TaskEnd simulate(Engine *engine, ModelDepth depth) {
    const bool again = depth == DEPTH_PRUNED && pruned_elsewhere(engine);
    if (engine->simulated > (int)depth && !again)
        return TASK_NONE;
    if (!is_empty(engine->background))
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_CACHESIM, engine->model_tag);
    job.live_model = engine->live_model;
    job.depth = depth;
    job.prune_again = again;
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

/* Makes the schedules of the race once all their kernels are simulated, if a race is wanted. */
static TaskEnd make_race(Engine *engine, bool wanted) {
    const State *state = &engine->now.state;
    const KernelConfig *config = &state->job.config;
    const MemoryModel *model = engine->now.model;
    if (!wanted || !model || model->dtype != config->dtype || model->align != config->align)
        return TASK_NONE;
    for (int i = 0; race_kernel(i); i++) {
        const PredictedKernel *lane = model_of_kernel(model, race_kernel(i), &gpus[state->gpu]);
        if (lane && lane->estimate)
            return TASK_NONE; /* its complete figures follow */
    }
    LiveRace *race = live_race_new(&engine->now.state, &engine->shown, &engine->now.live);
    bool same = !race || live_race_same(race, engine->now.race);
    if (same || !is_empty(engine->background)) {
        ref_drop(race);
        return same ? TASK_NONE : TASK_WAITS;
    }
    BackgroundJob job = job_of(engine, JOB_RACE, 0);
    job.race = race;
    job.model = ref_keep(engine->now.model);
    background_start(engine->background, &job);
    return TASK_WAITS;
}

static bool lacks_verdict(const Engine *engine, BevDtype dtype, GateSet gate) {
    const KernelConfig *config = &engine->now.state.job.config;
    bool possible =
        config->kernel->dtypes & 1u << dtype && config->kernel->aligns & 1u << config->align;
    return possible && !(engine->judged_gates[dtype] & gate);
}

/* Starts gates of a format, at the one moment at which all are judged. */
static TaskEnd check_format(Engine *engine, BevDtype dtype, GateSet gates) {
    const FrameInputs *last = &engine->judged;
    if (!is_empty(engine->judging) || background_kind(engine->background) == JOB_LAUNCH)
        return TASK_WAITS;
    BackgroundJob job = job_of(engine, JOB_ACCURACY, engine->accuracy_tag);
    job.job = engine->now.live.job;
    job.job.time_s = engine->judged_s;
    if (last->features && last->scene == job.inputs.scene &&
        last->features->time_s == engine->judged_s)
        use_judged_features(engine, &job);
    job.gates = gates;
    job.other_format = dtype != job.config.dtype;
    job.config.dtype = dtype;
    background_start(engine->judging, &job);
    return TASK_WAITS;
}

/* Judges the selection. Gate B comes first, because it gives the error. */
static TaskEnd check_selection(Engine *engine) {
    static const GateSet gates[] = {GATE_B, GATE_A, GATE_C};
    BevDtype dtype = engine->now.state.job.config.dtype;
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (lacks_verdict(engine, dtype, gates[i]))
            return check_format(engine, dtype, gates[i]);
    return TASK_NONE;
}

static TaskEnd check_other_formats(Engine *engine) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (lacks_verdict(engine, (BevDtype)dtype, GATE_B))
            return check_format(engine, (BevDtype)dtype, GATES_ALL & ~engine->judged_gates[dtype]);
    return TASK_NONE;
}

/* Takes the results of the background threads. Then starts the jobs that run beside all other
 * tasks: the grid of a slow kernel, for which a stand-in pooled, and the selection's gates. The
 * gates of other formats start only while no timing runs, or while timings are noisy anyway. */
static void take_results(Engine *engine) {
    const bool noisy = engine->now.state.playing || engine->now.live.machine_busy;
    take_result(engine, engine->background);
    take_result(engine, engine->judging);
    take_result(engine, engine->pooling);
    const KernelConfig *lacks = pipeline_lacks(engine->pipeline);
    if (lacks && is_empty(engine->pooling)) {
        const BackgroundJob job = measure_grid(engine->measure, lacks, engine->idle);
        if (job.kind)
            background_start(engine->pooling, &job);
    }
    if (check_selection(engine) == TASK_NONE && (noisy || !is_empty(engine->background)))
        check_other_formats(engine);
}

void engine_take_results(Engine *engine) {
    if (!engine->options.background || !engine->shown.map || engine->given_up ||
        !engine->now.state.playing)
        return;
    engine->idle = false;
    take_results(engine);
    estimate_kernels(engine);
}

/* ---- all tasks ------------------------------------------------------------------------------- */

/* Does the most useful task for which there is something to do. A task in the list is tried only
 * if all tasks before it ended with TASK_NONE. */
static TaskEnd do_task(Engine *engine) {
    enum { WIDE = 200 }; /* columns of terminals that have a panel for the race */
    const State *state = &engine->now.state;
    const ModelDepth depth = live_model_depth(state);
    const bool page_open = state->race || (state->tours && !engine->now.race);
    const bool has_panel = engine->idle || state->columns >= WIDE;
    TaskEnd end = count_selection(engine);            /* the user has asked for counters */
    end = end ? end : find_gradients(engine);         /* of the loss under the cursor */
    end = end ? end : estimate_kernels(engine);       /* the bars of the screen */
    end = end ? end : make_race(engine, page_open);   /* the race, on its open page */
    end = end ? end : simulate(engine, DEPTH_PRUNED); /* the gain of dropping light points */
    end = end ? end : make_race(engine, has_panel);   /* the race, on wide screens */
    end = end ? end : time_kernel(engine, MEASURE_SELECTION); /* and the baseline */
    end = end ? end : simulate(engine, depth);                /* the bars in full, and the chart */
    end = end ? end : check_other_formats(engine);            /* the gates of the other formats */
    end = end ? end : time_kernel(engine, MEASURE_PAIRS);     /* the speed-up, in turns */
    end = end ? end : time_kernel(engine, MEASURE_MISSING);   /* the other kernels */
    end = end ? end : note_complete(engine);                  /* no figure is missing */
    end = end ? end : time_again(engine); /* figures to settle, or a second old */
    return end;
}

bool engine_idle_work(Engine *engine) {
    bool playing = engine->now.state.playing;
    engine->idle = !playing && clock_ms() - engine->request_ms > IDLE_MS;
    if (!engine->shown.map)
        return false;
    if (engine->idle && engine->quality != QUALITY_REFINED) {
        engine_render_again(engine, QUALITY_REFINED);
        return true;
    }
    const bool user_is_typing = !engine->idle && !playing; /* only the next key counts then */
    if (!engine->options.background || user_is_typing)
        return false;
    look_at_gpu(engine);
    look_at_load(engine);
    take_results(engine);
    return do_task(engine) == TASK_WORKED;
}
