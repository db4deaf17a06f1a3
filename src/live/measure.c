/* SPDX-License-Identifier: MIT */
#include "src/live/measure.h"

#include "src/base/clock.h"
#include "src/base/omp_wait.h"
#include "src/base/ref.h"
#include "src/live/live_gpu.h"
#include "src/run/backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_COUNTED = 1 << 20 };   /* points that a formula may count */
static const double WARM_US = 3e3; /* a row begins with launches of this time, which do not count */
static const double SLICE_US = 4e3; /* then the row has launches of this time, at least one */
/* While the world moves, a slow launch is followed by a pause of so many times its duration. */
static const double LAUNCH_PAUSE = 5;
/* The series of a GPU. The short series fits between two frames of a moving world. */
static const TimingOptions series = {.samples = 20, .min_warm_ms = 1, .max_s = 0.02};
static const TimingOptions short_series = {.samples = 6, .min_warm_ms = 0.2, .max_s = 0.004};

struct Measure {
    unsigned where;
    char date[12]; /* UTC, when it was opened: "2026-11-26" */
    const RecordedSet *recorded;
    FrameInputs inputs;     /* of the last frame: scene, features, map */
    BuiltMap *baseline_map; /* of that frame; NULL: no baseline was pooled */
    Job job;
    TimedKernel kernels[LIVE_MAX_KERNELS];
    int kernel_count;
    TimedKernel baseline;      /* used where its format or align is not the selection's */
    Pairs pairs;               /* of selection and baseline */
    bool medians_told;         /* the ratio of the medians is shown, until pairs replace it */
    TimedKernel *current;      /* the kernel of the open session */
    Runner runner;             /* the encoded problem and that session */
    Worker idle_team;          /* stops for rows of launches: see omp_wait.h */
    uint64_t problems, frames; /* aimed at so far */
    /* The background launch: the kernel, the number of frames at its start, and when it started. */
    TimedKernel *launched;
    uint64_t launched_frames;
    double launched_ms;
    double next_launch_ms; /* while the world moves, no launch of a known kernel before */
    uint64_t turns;        /* given to kernels so far */
    bool machine_busy;     /* other programs take many of the cores */
};

/* ---- opening and closing --------------------------------------------------------------------- */

bool measure_open(Measure **out, unsigned where, const RecordedSet *recorded, Err *err) {
    Measure *measure = calloc(1, sizeof *measure);
    if (!measure)
        return err_no_memory(err, "measure", "");
    measure->where = where;
    time_t now = time(NULL);
    struct tm utc;
    strftime(measure->date, sizeof measure->date, "%Y-%m-%d", gmtime_r(&now, &utc));
    worker_open(&measure->idle_team);
    omp_wait_passive(&measure->idle_team);
    measure->recorded = recorded;
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_is_listed(bev_kernels[i])) {
            assert(measure->kernel_count < LIVE_MAX_KERNELS);
            TimedKernel *timed = &measure->kernels[measure->kernel_count++];
            timed->config.kernel = timed->live.kernel = bev_kernels[i];
        }
    *out = measure;
    return true;
}

static void close_session(Measure *measure) {
    session_close(measure->runner.session);
    measure->runner.session = NULL;
    measure->current = NULL;
}

static void close_problem(Measure *measure) {
    measure->current = NULL;
    runner_clear(&measure->runner);
}

void measure_close(Measure *measure) {
    if (!measure)
        return;
    worker_stop(&measure->idle_team);
    close_problem(measure);
    frame_inputs_drop(&measure->inputs);
    ref_drop(measure->baseline_map);
    free(measure);
}

/* ---- aiming ---------------------------------------------------------------------------------- */

/* Starts the timing of a kernel again. A recorded figure is shown until a figure is measured. */
static void restart_kernel(const Measure *measure, TimedKernel *timed, const KernelConfig *config) {
    timed_kernel_restart(timed, config);
    const BevWhere where = timed->config.kernel->where;
    timed->live.skipped = measure->where & 1u << where
                              ? inputs_unsupported(&measure->inputs, &timed->config)
                          : where == BEV_CUDA ? "needs a GPU"
                                              : "the GPU alone is timed (--device)";
    timed_kernel_stand_in(recorded_scene(measure->recorded, &measure->inputs), &timed->config,
                          &timed->live);
}

static BevDirection direction_of(const Job *job) {
    return job->config.kernel->direction;
}

/* Whether the kernel goes in the shown direction. Kernels of the other direction are not timed. */
static bool has_direction(const Measure *measure, const TimedKernel *timed) {
    return timed->config.kernel->direction == direction_of(&measure->job);
}

/* Whether the baseline is timed apart from the ladder. */
static bool has_baseline(const Job *job) {
    return job->baseline.kernel &&
           (job->baseline.dtype != job->config.dtype || job->baseline.align != job->config.align);
}

/* Returns the entry that times a kernel, or NULL. */
static TimedKernel *kernel_of(Measure *measure, const BevKernel *kernel) {
    for (int i = 0; i < measure->kernel_count; i++)
        if (measure->kernels[i].config.kernel == kernel)
            return &measure->kernels[i];
    return NULL;
}

void measure_aim(Measure *measure, const FrameInputs *inputs, const Job *job, LiveData *live) {
    const FrameInputs *last = &measure->inputs;
    bool fresh = last->map != inputs->map || measure->job.config.dtype != job->config.dtype ||
                 direction_of(&measure->job) != direction_of(job) ||
                 last->features->shape.channels != inputs->features->shape.channels;
    bool other_baseline = fresh || !kernel_config_equal(&measure->job.baseline, &job->baseline);
    if (other_baseline || !kernel_config_equal(&measure->job.config, &job->config)) {
        measure->pairs = (Pairs){.count = 0};
        measure->medians_told = false;
    }
    BuiltMap *baseline_map = inputs->baseline ? ref_keep(inputs->baseline->map) : NULL;
    frame_inputs_hold(&measure->inputs, inputs);
    ref_drop(measure->baseline_map);
    measure->baseline_map = baseline_map;
    measure->job = *job;
    measure->frames++;
    measure->problems += fresh;
    if (fresh || other_baseline)
        close_problem(measure);
    if (fresh)
        timed_kernel_fill_elsewhere(recorded_scene(measure->recorded, inputs), &job->config, live);
    for (int i = 0; fresh && i < measure->kernel_count; i++)
        if (has_direction(measure, &measure->kernels[i]))
            restart_kernel(measure, &measure->kernels[i], &job->config);
    TimedKernel *selection = kernel_of(measure, job->config.kernel);
    if (selection && !selection->cost_us)
        selection->cost_us = live->stand_in ? 0 : live->stages_us[STAGE_POOL].value;
    if (other_baseline && has_baseline(job)) {
        const TimedKernel *same = kernel_of(measure, job->baseline.kernel);
        measure->baseline = (TimedKernel){.config = same->config, .cost_us = same->cost_us};
        measure->baseline.live.kernel = job->baseline.kernel;
        restart_kernel(measure, &measure->baseline, &job->baseline);
    }
}

/* ---- what comes next ------------------------------------------------------------------------- */

/* Returns the map for a configuration. A map of another align than the selection's exists only
 * while a baseline of that align is compared. NULL: there is none. */
static BuiltMap *map_for(const Measure *measure, const KernelConfig *config) {
    const FrameInputs *inputs = &measure->inputs;
    if (config->align == measure->job.config.align)
        return inputs->map;
    BuiltMap *map = measure->baseline_map;
    return map && map->align == config->align ? map : NULL;
}

static FrameInputs inputs_for(const Measure *measure, const KernelConfig *config) {
    return (FrameInputs){.features = measure->inputs.features, .map = map_for(measure, config)};
}

/* Returns the entry that times `config`, or NULL. */
static TimedKernel *kernel_that_pools(Measure *measure, const KernelConfig *config) {
    const KernelConfig *selected = &measure->job.config;
    if (config->dtype == selected->dtype && config->align == selected->align)
        return kernel_of(measure, config->kernel);
    bool is_baseline =
        has_baseline(&measure->job) && kernel_config_equal(&measure->baseline.config, config);
    return is_baseline && map_for(measure, config) ? &measure->baseline : NULL;
}

/* Returns the baseline, which speed-ups refer to. NULL: its map is not there. */
static TimedKernel *kernel_of_baseline(Measure *measure) {
    if (!has_baseline(&measure->job))
        return kernel_of(measure, measure->job.baseline.kernel);
    return map_for(measure, &measure->baseline.config) ? &measure->baseline : NULL;
}

/* Adds a latency to the pairs. A latency of a third kernel ends a pair that is half done. */
static void add_to_pairs(Measure *measure, const TimedKernel *timed, double us) {
    const TimedKernel *selection = kernel_of(measure, measure->job.config.kernel);
    const TimedKernel *baseline = kernel_of_baseline(measure);
    if (selection != baseline && (timed == selection || timed == baseline))
        pairs_add(&measure->pairs, timed == baseline, us);
    else
        measure->pairs.half_us = 0;
}

/* Whether a launch may belong to a pair. A slow kernel's launch while rendering may not. */
static bool can_pair(const TimedKernel *timed, bool idle) {
    return timed && !timed->live.skipped && !timed->failed && timed_kernel_has_figure(timed) &&
           (idle || !timed_kernel_needs_background(timed));
}

/* Returns the kernel to time next for the pairs. NULL: there are enough pairs. */
static TimedKernel *next_of_pairs(Measure *measure, bool idle) {
    TimedKernel *const selection = kernel_of(measure, measure->job.config.kernel);
    TimedKernel *const baseline = kernel_of_baseline(measure);
    const Pairs *pairs = &measure->pairs;
    if (selection == baseline || !can_pair(selection, idle) || !can_pair(baseline, idle))
        return NULL;
    TimedKernel *second = pairs->half_is_baseline ? selection : baseline;
    if (pairs->count < PAIRS_ENOUGH)
        return pairs->half_us > 0 ? second : selection;
    return pairs->half_us > 0 && timed_kernel_due(second, idle) ? second : NULL;
}

/* Whether the kernel is to be timed now. Slow kernels with a figure pause between launches while
 * pictures are rendered. */
static bool is_due(const Measure *measure, const TimedKernel *timed, MeasureScope scope,
                   bool idle) {
    const bool has_figure = timed_kernel_has_figure(timed);
    const bool pauses = !idle && has_figure && clock_ms() < measure->next_launch_ms &&
                        timed_kernel_needs_background(timed);
    return (scope == MEASURE_AGAIN || !has_figure) && !pauses && timed_kernel_due(timed, idle);
}

/* Selection and baseline come first until they have a figure. Then all kernels take turns, whether
 * a turn brings a figure or not. Next is the kernel whose turn was longest ago. Of kernels without
 * a turn the last is next, because the ladder ends with the fastest kernel. */
TimedKernel *measure_next(Measure *measure, MeasureScope scope, bool idle) {
    TimedKernel *const selection = kernel_of(measure, measure->job.config.kernel);
    TimedKernel *const baseline = kernel_of_baseline(measure);
    TimedKernel *best = NULL;
    if (measure->current)
        return measure->current;
    if (selection && is_due(measure, selection, MEASURE_SELECTION, idle))
        return selection;
    if (baseline && is_due(measure, baseline, MEASURE_SELECTION, idle))
        return baseline;
    if (scope == MEASURE_SELECTION)
        return NULL;
    if (scope == MEASURE_PAIRS)
        return next_of_pairs(measure, idle);
    if (baseline && is_due(measure, baseline, scope, idle))
        best = baseline;
    for (int i = 0; i < measure->kernel_count; i++) {
        TimedKernel *timed = &measure->kernels[i];
        if (has_direction(measure, timed) && is_due(measure, timed, scope, idle) &&
            (!best || timed->turn <= best->turn))
            best = timed;
    }
    return best;
}

void measure_note_load(Measure *measure, bool machine_busy) {
    measure->machine_busy = machine_busy;
}

static bool is_unfinished(const TimedKernel *timed) {
    return timed_kernel_due(timed, true) && (!timed->complete || timed_kernel_waited(timed));
}

bool measure_is_unfinished(const Measure *measure) {
    bool unfinished = has_baseline(&measure->job) && is_unfinished(&measure->baseline);
    for (int i = 0; i < measure->kernel_count; i++)
        unfinished |=
            has_direction(measure, &measure->kernels[i]) && is_unfinished(&measure->kernels[i]);
    return unfinished;
}

/* ---- background launches --------------------------------------------------------------------- */

BackgroundJob measure_grid(Measure *measure, const KernelConfig *config, bool idle) {
    const TimedKernel *timed = kernel_that_pools(measure, config);
    const bool time_known = timed && timed->cost_us > 0;
    if (!timed || timed->failed || timed->live.skipped || (!idle && time_known))
        return (BackgroundJob){.kind = JOB_NONE};
    const FrameInputs inputs = inputs_for(measure, config);
    return (BackgroundJob){
        .kind = JOB_GRID, .inputs = frame_inputs_keep(&inputs), .config = *config, .hurry = true};
}

void measure_take_grid(Measure *measure, const BackgroundJob *job) {
    TimedKernel *timed = kernel_that_pools(measure, &job->config);
    if (!timed)
        return;
    timed->failed |= job->failed;
    if (!timed->cost_us && !job->failed)
        timed->cost_us = job->busy_us;
}

BackgroundJob measure_launch(Measure *measure, TimedKernel *timed) {
    const FrameInputs inputs = inputs_for(measure, &timed->config);
    timed->turn = ++measure->turns;
    measure->launched = timed;
    measure->launched_frames = measure->frames;
    measure->launched_ms = clock_ms();
    return (BackgroundJob){.kind = JOB_LAUNCH,
                           .inputs = frame_inputs_keep(&inputs),
                           .config = timed->config,
                           .tag = measure->problems};
}

void measure_take_launch(Measure *measure, const BackgroundJob *job, bool idle) {
    TimedKernel *timed = measure->launched;
    double now_ms = clock_ms();
    measure->next_launch_ms = now_ms + LAUNCH_PAUSE * (now_ms - measure->launched_ms);
    if (!kernel_config_equal(&job->config, &timed->config) || job->tag != measure->problems)
        return; /* the display times another problem by now */
    timed->failed = job->failed;
    if (job->failed)
        return;
    /* A kernel counts as slow if its last launch or this launch was slow. Otherwise a kernel near
     * the limit would change between slow and fast on a busy machine, and never have a figure. */
    const bool was_slow = timed_kernel_needs_background(timed);
    timed->cost_us = job->busy_us; /* time of a launch that has the cores to itself */
    const bool disturbed = !idle || measure->launched_frames != measure->frames;
    if (was_slow || timed_kernel_needs_background(timed))
        timed_kernel_add_launch(timed, job, disturbed, measure->machine_busy);
    if (!disturbed)
        add_to_pairs(measure, timed, job->launch_us);
}

/* ---- one slice ------------------------------------------------------------------------------- */

/* Encodes the problem if the map or the format is another, and opens the kernel's session. New
 * values on the same map take as long, so they are not encoded. */
static MeasureStep start_kernel(Measure *measure, TimedKernel *timed, Err *err) {
    Runner *runner = &measure->runner;
    FrameInputs with = inputs_for(measure, &timed->config);
    double prepare_us;
    timed->turn = ++measure->turns;
    if (runner->map == with.map)
        with.features = runner->features;
    if (!runner_prepare(runner, &with, &timed->config, NULL, err))
        return MEASURE_FAILED;
    measure->current = timed;
    timed->count = 0;
    timed->disturbed = false;
    if (!session_prepare_us(runner->session, &prepare_us, err))
        return MEASURE_FAILED;
    timed->live.prepare_us = reading(prepare_us, SOURCE_MEASURED);
    bool described = timed->live.registers.source && !timed->live.registers.stale;
    if (timed->config.kernel->where == BEV_CUDA && !described)
        live_gpu_kernel(runner->session, &timed->live);
    return MEASURE_MORE;
}

static MeasureStep finish_kernel(Measure *measure, TimedKernel *timed) {
    timed->complete = true;
    timed_kernel_done(timed);
    add_to_pairs(measure, timed, timed->live.median_us.value);
    close_session(measure);
    return MEASURE_NEWS;
}

/* Returns the bytes that the kernel requests, by the kernel's own formula, computed once for a
 * problem. 0: unknown, because the formula counts so many points that a key would have to wait. */
static double own_bytes(const Measure *measure, TimedKernel *timed) {
    const BevKernel *kernel = timed->config.kernel;
    const BevProblem *problem = &measure->runner.problem.view;
    const bool takes_long = bev_traffic_counts(kernel) && problem->map.points > MOST_COUNTED;
    if (timed->own_bytes == 0 && !takes_long)
        timed->own_bytes = bev_traffic_total(bev_traffic(kernel, problem));
    return timed->own_bytes;
}

/* Times a series on the GPU, by the stopwatch of `bench` with fewer samples. */
static MeasureStep time_series(Measure *measure, TimedKernel *timed, bool idle, Err *err) {
    const TimingOptions *options = idle ? &series : &short_series;
    Timing timing;
    if (!session_time(measure->runner.session, CACHE_WARM, options, &timing, err))
        return MEASURE_FAILED;
    timed_kernel_publish(timed, &timing, own_bytes(measure, timed));
    return finish_kernel(measure, timed);
}

/* Launches a CPU kernel back to back for a few milliseconds. Each launch is a sample, where `bench`
 * averages several short launches. Each row begins with launches that do not count, because other
 * work has used the caches, and the threads have gone to sleep. */
static bool launch_row(Measure *measure, TimedKernel *timed, Err *err) {
    double begun = clock_us(), us, busy_us;
    do {
        if (!runner_launch(&measure->runner, &us, &busy_us, err))
            return false;
    } while (clock_us() - begun < WARM_US);
    timed->cost_us = us;
    if (timed_kernel_needs_background(timed))
        return true;
    begun = clock_us();
    do {
        if (!runner_launch(&measure->runner, &us, &busy_us, err))
            return false;
        const bool waited = measure->machine_busy || timing_waited(busy_us, us);
        timed_kernel_add_sample(timed, waited ? busy_us : us, waited);
    } while (clock_us() - begun < SLICE_US && timed->count < TIMED_KERNEL_SAMPLES);
    return true;
}

/* Launches a row's kernel once more, and publishes its samples once there are enough. */
static MeasureStep time_row(Measure *measure, TimedKernel *timed, bool idle, Err *err) {
    int before = timed->count;
    timed->disturbed = timed->disturbed || !idle;
    const bool active = !measure->machine_busy; /* else the CPU clocks would count the spinning */
    if (active)
        omp_wait_active(&measure->idle_team);
    bool ok = launch_row(measure, timed, err);
    if (active)
        omp_wait_passive(&measure->idle_team);
    if (!ok)
        return MEASURE_FAILED;
    const bool publishes = timed->count >= TIMED_KERNEL_FIRST_NEWS;
    if (publishes)
        timed_kernel_publish_samples(timed, own_bytes(measure, timed));
    if (timed->count == TIMED_KERNEL_SAMPLES)
        return finish_kernel(measure, timed);
    if (timed_kernel_needs_background(timed))
        close_session(measure); /* the kernel has turned out to be slow */
    return publishes && before < TIMED_KERNEL_FIRST_NEWS ? MEASURE_NEWS : MEASURE_MORE;
}

MeasureStep measure_slice(Measure *measure, TimedKernel *timed, bool idle, Err *err) {
    const bool on_gpu = timed->config.kernel->where == BEV_CUDA;
    MeasureStep step = timed != measure->current ? start_kernel(measure, timed, err)
                       : on_gpu                  ? time_series(measure, timed, idle, err)
                                                 : time_row(measure, timed, idle, err);
    if (step == MEASURE_FAILED) {
        close_problem(measure);
        timed->failed = true;
    }
    return step;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool measure_is_slow(Measure *measure, const KernelConfig *config) {
    const TimedKernel *timed = kernel_that_pools(measure, config);
    if (!timed)
        timed = kernel_of(measure, config->kernel);
    return timed && timed_kernel_is_slow(timed, config->align);
}

/* Fills the speed-up from enough pairs. Before that, divides the two medians once both are certain,
 * else takes the recorded speed-up. An unsettled median makes the pairs doubtful, too: waits for a
 * core that another program has slow long launches down more often than short launches. */
static void fill_speedup(Measure *measure, LiveData *live) {
    LiveSpeedup *speedup = &live->speedup;
    const LiveKernel *row = live_kernel(live, measure->job.config.kernel);
    if (pairs_fill(&measure->pairs, speedup)) {
        speedup->ratio.doubtful |= (row && row->unsettled) || live->baseline.unsettled;
        return;
    }
    Reading medians = live_speedup(live, row);
    bool same = kernel_config_equal(&measure->job.config, &measure->job.baseline);
    measure->medians_told =
        !same && medians.source == SOURCE_MEASURED && (measure->medians_told || !medians.doubtful);
    if (measure->medians_told)
        speedup->ratio = medians;
    else if (measure->inputs.scene)
        timed_kernel_recorded_speedup(recorded_scene(measure->recorded, &measure->inputs),
                                      &measure->job, speedup);
}

void measure_fill(Measure *measure, LiveData *live) {
    live->timed = true;
    snprintf(live->date, sizeof live->date, "%s", measure->date);
    live->kernel_count = 0;
    live->baseline = (LiveKernel){.kernel = NULL};
    live->speedup = (LiveSpeedup){.pairs = 0};
    if (!measure->job.config.kernel) /* no scene was loaded yet */
        return;
    if (has_baseline(&measure->job))
        live->baseline = measure->baseline.live;
    for (int i = 0; i < measure->kernel_count; i++) {
        const TimedKernel *timed = &measure->kernels[i];
        if (!has_direction(measure, timed))
            continue;
        LiveKernel *row = &live->kernels[live->kernel_count++];
        *row = timed->live;
        row->failed = timed->failed;
        /* The kernel's series is open, or the background thread launches the kernel. */
        row->being_timed =
            timed == measure->current || (timed->turn && timed->turn == measure->turns);
        if (!has_baseline(&measure->job) && timed->config.kernel == measure->job.baseline.kernel)
            live->baseline = *row;
    }
    fill_speedup(measure, live);
}
