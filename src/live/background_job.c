/* SPDX-License-Identifier: MIT */
#include "src/live/background_job.h"

#include "src/base/clock.h"
#include "src/base/omp_wait.h"
#include "src/base/ref.h"
#include "src/base/worker.h"

#include <assert.h>
#include <stdlib.h>

typedef enum { SLOT_EMPTY, SLOT_RUNS, SLOT_DONE } SlotState;

struct Background {
    Worker worker;  /* the thread of the lowest priority, and the lock of both threads */
    Worker hurried; /* the thread of jobs that hurry */
    bool hurry;     /* the first thread has the usual priority, too */
    void (*wake)(void *context);
    void *context;

    /* The lock protects these. */
    SlotState state;
    bool pause;   /* a simulation is to wait */
    bool give_up; /* a simulation or a judgement is to end early */

    BackgroundJob job; /* belongs to the thread while it runs, else to the caller */
    Runner kept;       /* the thread's own: the problem of the last launch */
    Judge judges[2];   /* the thread's own: for the selection's format, for other formats */
};

void background_job_drop(BackgroundJob *job) {
    ref_drop(job->grid);
    ref_drop(job->gradients);
    ref_drop(job->model);
    ref_drop(job->race);
    frame_inputs_drop(&job->inputs);
    *job = (BackgroundJob){.kind = JOB_NONE};
}

/* ---- one launch of a slow CPU kernel --------------------------------------------------------- */

/* A first launch finds cold caches and fresh memory. Longer launches take hardly longer for it. */
static const double WARM_UP_US = 100e3;

/* Launches the job's kernel. A short launch of a cold kernel is repeated, and the second counts.
 * `kept` is the problem of the last launch, ready to run again. */
static bool launch_warm(Runner *kept, BackgroundJob *job, Err *err) {
    FrameInputs with = job->inputs;
    StageTimes unused = {{0}};
    if (runner_goes_on(kept, &with, &job->config))
        with.features = kept->features; /* other values take as long */
    bool again = runner_goes_on(kept, &with, &job->config);
    bool ok = runner_prepare(kept, &with, &job->config, NULL, &unused, err);
    if (ok) {
        job->own_bytes = bev_traffic_total(bev_traffic(job->config.kernel, &kept->problem.view));
        ok = session_prepare_us(kept->session, &job->prepare_us, err) &&
             runner_launch(kept, &job->launch_us, &job->busy_us, err);
    }
    bool cold = !again && job->launch_us <= WARM_UP_US;
    if (ok && cold)
        ok = runner_launch(kept, &job->launch_us, &job->busy_us, err);
    if (!ok)
        runner_clear(kept);
    return ok;
}

/* Pools the job's grid. The problem is not kept: a picture needs it once. */
static bool pool_grid(BackgroundJob *job, Err *err) {
    Runner runner = {.session = NULL};
    StageTimes unused = {{0}};
    if (runner_prepare(&runner, &job->inputs, &job->config, NULL, &unused, err) &&
        runner_launch(&runner, &job->launch_us, &job->busy_us, err))
        job->grid = inputs_read_grid(&runner, &job->inputs, &job->config, err);
    runner_clear(&runner);
    return job->grid != NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits while the simulation is paused, unless it hurries. False: the simulation is to end. */
static bool simulation_goes_on(void *context) {
    Background *background = context;
    Worker *worker = &background->worker;
    worker_lock(worker);
    while (background->pause && !background->job.hurry && !background->give_up && !worker->stop)
        worker_wait(worker);
    bool on = !background->give_up && !worker->stop;
    worker_unlock(worker);
    return on;
}

static bool is_given_up(void *context) {
    Background *background = context;
    worker_lock(&background->worker);
    bool end = background->give_up || background->worker.stop;
    worker_unlock(&background->worker);
    return end;
}

/* Does one step of the simulation, or all steps of the estimates. No step is done while the caller
 * lacks results of earlier steps: the job then hands these over first. */
static bool simulate(Background *background, BackgroundJob *job, Err *err) {
    const TraceWatch watch = {.go_on = simulation_goes_on, .context = background};
    LiveModel *live_model = job->live_model;
    job->complete = !live_model_aim(live_model, &job->inputs.features->shape, job->inputs.map,
                                    &job->config, job->wanted, err);
    if (job->complete)
        return false;
    bool estimates = job->depth == DEPTH_ESTIMATE, more = true;
    bool steps = estimates || live_model_known(live_model) == job->shown;
    if (job->depth != DEPTH_ESTIMATE &&
        live_model_prune(live_model, job->inputs.features->values.depth, &watch))
        steps = false; /* the result of pruning is handed over first */
    while (steps && more && simulation_goes_on(background)) {
        more = live_model_step(live_model, job->depth, &watch);
        steps = estimates;
    }
    job->complete = !more;
    job->model = ref_keep(live_model_known(live_model));
    job->tells = live_model_tells(live_model);
    return true;
}

/* Renders the features of the job's moment with all rays, and makes the map of that moment, as
 * `bevscope verify` does. */
static bool render_fully(FrameInputs *inputs, const Job *job, Err *err) {
    SeenFeatures *before = inputs->features;
    SeenFeatures *sharp =
        inputs_features(before, inputs->scene, job, &(SeenNeeds){.draft = false}, err);
    if (!sharp)
        return false;
    inputs->features = sharp;
    ref_drop(before);
    BuiltMap *map = inputs_map(&inputs->map, &(MapMaker){.gpu = NULL}, job, sharp, NULL, err);
    ref_drop(map); /* inputs->map holds it, too */
    return map;
}

/* Runs the job according to its kind. Returns false with an error on failure. */
static bool run_job(Background *background, BackgroundJob *job, Err *err) {
    switch (job->kind) {
    case JOB_LAUNCH:
        return launch_warm(&background->kept, job, err);
    case JOB_GRID:
        return pool_grid(job, err);
    case JOB_ACCURACY:
        return render_fully(&job->inputs, &job->job, err) &&
               judge_accuracy(&background->judges[job->other_format], &job->inputs, &job->config,
                              job->gates, &(GiveUp){is_given_up, background}, &job->accuracy, err);
    case JOB_GRADIENTS:
        if (!inputs_loss(&job->inputs, &job->job, &job->gradients, err))
            return false;
        inputs_gradients(&background->kept, job->gradients);
        return true;
    case JOB_RACE:
        return live_race_make(job->race, job->model, err);
    case JOB_CACHESIM:
        return simulate(background, job, err);
    case JOB_NONE:
        break;
    }
    return true;
}

/* Runs one job after the other until the thread is told to stop: the jobs that hurry, or the
 * others. */
static void *run_jobs(Background *background, bool hurried) {
    BackgroundJob *job = &background->job;
    worker_lock(&background->worker);
    while (!background->worker.stop) {
        if (background->state != SLOT_RUNS || job->hurry != hurried) {
            worker_wait(&background->worker);
            continue;
        }
        worker_unlock(&background->worker);
        if (background->kept.map != job->inputs.map)
            runner_clear(&background->kept); /* the kept problem is of another map */
        job->failed = !run_job(background, job, &job->err);
        job->given_up = job->failed && is_given_up(background);
        omp_wait_dismiss_team();
        worker_lock(&background->worker);
        background->state = SLOT_DONE;
        background->wake(background->context);
    }
    worker_unlock(&background->worker);
    return NULL;
}

static void *background_main(void *argument) {
    const Background *background = argument;
    if (!background->hurry)
        worker_low_priority();
    return run_jobs(argument, false);
}

static void *background_hurried(void *argument) {
    return run_jobs(argument, true);
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool background_open(Background **out, bool hurry, void (*wake)(void *), void *context, Err *err) {
    Background *background = calloc(1, sizeof *background);
    if (!background)
        return err_no_memory(err, "background", "");
    background->hurry = hurry;
    background->wake = wake;
    background->context = context;
    if (!worker_start(&background->worker, background_main, background, "background", err)) {
        free(background);
        return false;
    }
    if (!worker_start(&background->hurried, background_hurried, background, "background", err)) {
        background_close(background);
        return false;
    }
    *out = background;
    return true;
}

void background_close(Background *background) {
    if (!background)
        return;
    worker_stop(&background->worker);
    worker_end(&background->hurried);
    worker_close(&background->worker);
    runner_clear(&background->kept);
    judge_clear(&background->judges[0]);
    judge_clear(&background->judges[1]);
    background_job_drop(&background->job);
    free(background);
}

bool background_stop_within(Background *background, double patience_ms) {
    return !background || (worker_stop_within(&background->worker, patience_ms) &&
                           worker_stop_within(&background->hurried, patience_ms));
}

void background_start(Background *background, const BackgroundJob *job) {
    worker_lock(&background->worker);
    assert(background->state == SLOT_EMPTY);
    background->job = *job;
    background->state = SLOT_RUNS;
    background->give_up = false;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}

bool background_take(Background *background, BackgroundJob *job) {
    worker_lock(&background->worker);
    bool done = background->state == SLOT_DONE;
    if (done) {
        *job = background->job;
        background->job = (BackgroundJob){.kind = JOB_NONE};
        background->state = SLOT_EMPTY;
    }
    worker_unlock(&background->worker);
    return done;
}

JobKind background_kind(Background *background) {
    worker_lock(&background->worker);
    JobKind kind = background->state == SLOT_EMPTY ? JOB_NONE : background->job.kind;
    worker_unlock(&background->worker);
    return kind;
}

void background_pause(Background *background, bool pause) {
    if (!background)
        return;
    worker_lock(&background->worker);
    background->pause = pause && !background->hurry;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}

void background_hurry(Background *background) {
    worker_lock(&background->worker);
    background->give_up |= !background->job.hurry && !background->hurry;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}

void background_give_up(Background *background) {
    worker_lock(&background->worker);
    background->give_up = true;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}
