/* SPDX-License-Identifier: MIT */
#include "src/live/background_job.h"

#include "src/accuracy/fp64.h"
#include "src/base/omp_wait.h"
#include "src/base/ref.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the accuracy gates of one kernel in one format ------------------------------------------ */

/* The FP64 references that the gates compare with. A judge serves several kernels, as long as
 * inputs and format stay the same. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    HostProblem problem;
    float *grad_out; /* backward only */
    Gates *gates;
    double prune_change; /* the largest change of an output by pruned points; 0: none */
} Judge;

/* The gates take 50 bytes for each value, and seconds for a large grid. The display does not judge
 * larger grids; `bevscope verify` does. */
enum { JUDGED_VALUES = 12 << 20 };

static LiveVerdict live_verdict(GateVerdict verdict) {
    return verdict == GATE_PASS ? LIVE_PASS : verdict == GATE_FAIL ? LIVE_FAIL : LIVE_SKIP;
}

/* Copies a judged row of verify into the figures of the display. */
static void fill_accuracy(LiveAccuracy *accuracy, const VerifyRow *row) {
    *accuracy = (LiveAccuracy){
        .source = SOURCE_MEASURED,
        .gate_b = live_verdict(row->format_verdict),
        .atol_1e2 = row->format.atol_1e2 ? LIVE_PASS : LIVE_FAIL,
        .max_abs = row->format.max_abs,
        .largest = row->format.largest,
        .rel_l2 = row->format.rel_l2,
        .rel_l2_limit = row->format.slack * gate_b_limits[row->config.dtype].rel_l2,
        .channels_l2 = row->format.channels_l2,
        .cosine = row->format.cosine,
        .nan_count = row->format.nan_count,
        .inf_count = row->format.inf_count,
        .left_out = row->format.left_out,
        .worst_cell = row->format.worst_cell,
        .output = row->config.kernel->direction == BEV_BACKWARD ? row->format.output : NULL,
    };
}

static void judge_clear(Judge *judge) {
    gates_close(judge->gates);
    problem_free(&judge->problem);
    free(judge->grad_out);
    ref_drop(judge->features);
    ref_drop(judge->map);
    *judge = (Judge){.gates = NULL};
}

/* Returns the largest change of an output by pruned points. 0: nothing is pruned, or the kernel
 * does not pool. */
static double prune_change(const FrameInputs *inputs, const KernelConfig *config) {
    const bool pools =
        config->kernel->direction == BEV_FORWARD && config->kernel->stage == BEV_POOL;
    const double change = pools ? fp64_prune_change(inputs->map, inputs->features) : NAN;
    return isfinite(change) ? change : 0;
}

/* Makes the judge's FP64 references of these inputs, unless the judge has them. A backward kernel
 * gets the random grad_out of `bevscope verify`, which need not be the loss that is shown. */
static bool make_ready(Judge *judge, const FrameInputs *inputs, const KernelConfig *config,
                       Err *err) {
    const BevProblem *view = &judge->problem.view;
    const BevKernel *kernel = config->kernel;
    const bool same_inputs = judge->features == inputs->features && judge->map == inputs->map;
    const bool same_format = view->dtype == config->dtype && view->align == config->align;
    const bool same_work = view->direction == kernel->direction && view->stage == kernel->stage;
    if (judge->gates && same_inputs && same_format && same_work)
        return true;
    judge_clear(judge);
    judge->features = ref_keep(inputs->features);
    judge->map = ref_keep(inputs->map);
    bool ok = inputs_encode(&judge->problem, inputs->features, inputs->map, config, err);
    if (ok && kernel->direction == BEV_BACKWARD) {
        judge->grad_out = random_grad_out(&view->shape, GRAD_OUT_SEED);
        ok = judge->grad_out ? problem_set_grad_out(&judge->problem, judge->grad_out, err)
                             : err_no_memory(err, "accuracy", "choose a smaller scene");
    }
    judge->gates = ok ? gates_open(&judge->problem, err) : NULL;
    judge->prune_change = ok ? prune_change(inputs, config) : 0;
    return judge->gates != NULL;
}

/* Judges `config` on these inputs by the gates. Without gate B only verdicts are filled in. False
 * without an error: the judgement was given up between two steps. */
static bool judge_accuracy(Judge *judge, const FrameInputs *inputs, const KernelConfig *config,
                           GateSet gates, const GiveUp *give_up, LiveAccuracy *accuracy, Err *err) {
    VerifyRow row = {.scene = ""};
    const BevShape *shape = &inputs->features->shape;
    const double time_s = inputs->features->time_s;
    *accuracy = (LiveAccuracy){.worst_cell = -1, .time_s = time_s};
    if (shape->nx * shape->ny * shape->channels > JUDGED_VALUES) {
        *accuracy = live_unjudged(time_s);
        return true;
    }
    if (!make_ready(judge, inputs, config, err) ||
        !gates_judge(judge->gates, config->kernel, gates, give_up, &row, err))
        return false;
    const bool judged = !row.skipped[0];
    if (judged && gates & GATE_B) {
        fill_accuracy(accuracy, &row);
        accuracy->prune_change = judge->prune_change;
    }
    if (judged && gates & GATE_A)
        accuracy->gate_a = live_verdict(row.kernel.verdict);
    if (judged && gates & GATE_C)
        accuracy->gate_c =
            row.adjoint.verdict == GATE_FAIL ? LIVE_FAIL : live_verdict(row.exact.verdict);
    accuracy->time_s = time_s;
    return true;
}

bool background_accuracy(const FrameInputs *inputs, const KernelConfig *config,
                         LiveAccuracy *accuracy, Err *err) {
    Judge judge = {.gates = NULL};
    bool ok = judge_accuracy(&judge, inputs, config, GATES_ALL, NULL, accuracy, err);
    judge_clear(&judge);
    return ok;
}

/* ---- the slot -------------------------------------------------------------------------------- */

struct Background {
    Worker worker; /* the lock, and the thread of the job in the slot; stop: end the job early */
    void (*wake)(void *context);
    void *context;

    /* The lock protects these. */
    bool done;  /* the job in the slot is done */
    bool pause; /* a simulation is to wait */

    BackgroundJob job; /* JOB_NONE: the slot is empty. Belongs to its thread until it is done */
    Runner kept;       /* the thread's own: the problem of the last launch */
    Judge judges[2];   /* the thread's own: for the selection's format, for other formats */
};

void background_job_drop(BackgroundJob *job) {
    ref_drop(job->model);
    ref_drop(job->race);
    frame_inputs_drop(&job->inputs);
    *job = (BackgroundJob){.kind = JOB_NONE};
}

/* ---- one launch of a slow CPU kernel --------------------------------------------------------- */

/* A first launch finds cold caches and fresh memory, which makes short launches slower. Launches
 * longer than this take hardly longer. */
static const double WARM_UP_US = 100e3;

/* Launches the job's kernel. A short launch of a cold kernel is repeated, and the second launch
 * counts. `kept` is the problem of the last launch, ready to run again. */
static bool launch_warm(Runner *kept, BackgroundJob *job, Err *err) {
    FrameInputs with = job->inputs;
    const bool is_warm = runner_goes_on(kept, &with, &job->config);
    if (is_warm)
        with.features = kept->features; /* other values take as long */
    bool ok = runner_prepare(kept, &with, &job->config, NULL, err);
    if (ok) {
        job->own_bytes = bev_traffic_total(bev_traffic(job->config.kernel, &kept->problem.view));
        ok = session_prepare_us(kept->session, &job->prepare_us, err) &&
             runner_launch(kept, &job->launch_us, &job->busy_us, err);
    }
    if (ok && !is_warm && job->launch_us <= WARM_UP_US)
        ok = runner_launch(kept, &job->launch_us, &job->busy_us, err);
    if (!ok)
        runner_clear(kept);
    return ok;
}

/* Pools the job's grid. The problem is not kept: a picture needs it once. */
static bool pool_grid(BackgroundJob *job, Err *err) {
    Runner runner = {.session = NULL};
    job->inputs.pooled = ref_swap(job->inputs.pooled, NULL); /* the newest frame's */
    if (runner_prepare(&runner, &job->inputs, &job->config, NULL, err) &&
        runner_launch(&runner, &job->launch_us, &job->busy_us, err))
        job->inputs.pooled = inputs_read_grid(&runner, &job->inputs, &job->config, err);
    runner_clear(&runner);
    return job->inputs.pooled != NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits while the simulation is paused. A job for which the screen waits (`hurry`) is never paused.
 * Returns false when the simulation has to end. */
static bool simulation_goes_on(void *context) {
    Background *background = context;
    Worker *worker = &background->worker;
    worker_lock(worker);
    while (background->pause && !background->job.hurry && !worker->stop)
        worker_wait(worker);
    const bool goes_on = !worker->stop;
    worker_unlock(worker);
    return goes_on;
}

static bool is_given_up(void *context) {
    Worker *worker = &((Background *)context)->worker;
    worker_lock(worker);
    bool end = worker->stop;
    worker_unlock(worker);
    return end;
}

/* Does one step of the simulation, or all steps of the first estimates. Does no step while the
 * caller lacks the newest results: the job hands over these results first. */
static bool simulate(Background *background, BackgroundJob *job, Err *err) {
    const TraceWatch watch = {.go_on = simulation_goes_on, .context = background};
    LiveModel *live_model = job->live_model;
    job->complete = !live_model_aim(live_model, &job->inputs.features->shape, job->inputs.map,
                                    &job->config, job->wanted, err);
    if (job->complete)
        return false;
    const bool estimates = job->depth == DEPTH_ESTIMATE;
    bool does_step = estimates || live_model_known(live_model) == job->shown, more = true;
    if (!estimates && live_model_prune(live_model, job->inputs.features, job->prune_again, &watch))
        does_step = false; /* the result of pruning is handed over first */
    while (does_step && more && simulation_goes_on(background)) {
        more = live_model_step(live_model, job->depth, &watch);
        does_step = estimates;
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
        ref_drop(job->inputs.gradients); /* those that wait */
        if (!inputs_loss(&job->inputs, &job->job, &job->inputs.gradients, err))
            return false;
        inputs_gradients(&background->kept, job->inputs.gradients, err); /* a text says why not */
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

static void tell_done(Background *background) {
    worker_lock(&background->worker);
    background->done = true;
    background->wake(background->context);
    worker_unlock(&background->worker);
}

static void *background_main(void *owner) {
    Background *background = owner;
    BackgroundJob *job = &background->job;
    if (!job->hurry)
        worker_low_priority();
    if (background->kept.map != job->inputs.map)
        runner_clear(&background->kept); /* the kept problem is of another map */
    job->failed = !run_job(background, job, &job->err);
    job->given_up = job->failed && is_given_up(background);
    omp_wait_dismiss_team();
    tell_done(background);
    return NULL;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool background_open(Background **out, void (*wake)(void *), void *context, Err *err) {
    Background *background = *out = calloc(1, sizeof *background);
    if (!background)
        return err_no_memory(err, "background", "");
    background->wake = wake;
    background->context = context;
    worker_open(&background->worker);
    return true;
}

void background_close(Background *background) {
    if (!background)
        return;
    worker_stop(&background->worker);
    runner_clear(&background->kept);
    judge_clear(&background->judges[0]);
    judge_clear(&background->judges[1]);
    background_job_drop(&background->job);
    free(background);
}

bool background_stop_within(Background *background, double patience_ms) {
    return !background || worker_stop_within(&background->worker, patience_ms);
}

void background_start(Background *background, const BackgroundJob *job) {
    assert(background->job.kind == JOB_NONE);
    background->job = *job;
    background->job.failed = !worker_run(&background->worker, background_main, background,
                                         "background", &background->job.err);
    if (background->job.failed)
        tell_done(background);
}

bool background_take(Background *background, BackgroundJob *job) {
    worker_lock(&background->worker);
    bool done = background->done;
    background->done = false;
    worker_unlock(&background->worker);
    if (!done)
        return false;
    worker_stop(&background->worker); /* the thread ends just now */
    *job = background->job;
    background->job = (BackgroundJob){.kind = JOB_NONE};
    return true;
}

JobKind background_kind(const Background *background) {
    return background->job.kind;
}

void background_pause(Background *background, Pausing pausing) {
    if (!background)
        return;
    worker_lock(&background->worker);
    background->pause = pausing == SIMULATION_WAITS;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}

void background_hurry(Background *background) {
    if (!background->job.hurry)
        background_give_up(background);
}

void background_give_up(Background *background) {
    worker_lock(&background->worker);
    background->worker.stop = true;
    worker_tell(&background->worker);
    worker_unlock(&background->worker);
}
