#include "src/live/measure.h"

#include "src/run/backend.h"
#include "src/base/omp_wait.h"
#include "src/live/live_gpu.h"
#include "src/live/recorded_live.h"
#include "src/base/ref.h"
#include "src/live/timed_kernel.h"
#include "src/base/clock.h"
#include "src/scene/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WARM_US = 3e3;  /* of launches before those that are timed in a row, */
static const double SLICE_US = 4e3; /* and of these, where one launch is shorter */
static const double LANE_REST = 5;  /* moving: this many times as long no launch as one took */
/* On a GPU; the short one fits between two frames of a moving street. */
static const TimingOptions series = {.samples = 20, .min_warm_ms = 1, .max_s = 0.02};
static const TimingOptions short_series = {.samples = 6, .min_warm_ms = 0.2, .max_s = 0.004};

struct Measure {
    unsigned where;
    RecordedSet recorded;
    FrameInputs parts; /* what is aimed at */
    Job job;
    TimedKernel kernels[LIVE_MAX_KERNELS];
    int kernel_count;
    TimedKernel baseline; /* only where its format or align is not the selection's */
    TimedKernel *current; /* whose session is open */
    HostProblem problem;
    BuiltMap *problem_map;
    SeenFeatures *problem_features;
    KernelConfig problem_choice; /* its format and align */
    Session *session;
    OmpWait *calm; /* but for rows of launches */
    Lane *lane;
    TimedKernel *asked;               /* what the lane runs, of this problem, since */
    uint64_t problems, asked_problem; /* problems: aimed at so far */
    double asked_ms, lane_ms;         /* lane_ms: no launch before */
    uint64_t aims, asked_aims;        /* aims: grows with every picture */
    bool outdated;                    /* problem and session: not closed before a picture */
    bool wants_grid;
    KernelConfig grid_choice; /* where it wants one */
    PooledGrid *grid;         /* that came, not taken yet */
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static void add_kernels(Measure *measure) {
    for (int i = 0; bev_kernels[i] && measure->kernel_count < LIVE_MAX_KERNELS; i++) {
        if (!bev_kernels[i]->launch)
            continue;
        TimedKernel *timed = &measure->kernels[measure->kernel_count++];
        timed->config.kernel = timed->live.kernel = bev_kernels[i];
    }
}

bool measure_open(Measure **out, unsigned where, void (*wake)(void *), void *context, Err *err) {
    Measure *measure = calloc(1, sizeof *measure);
    if (!measure)
        return err_set(err, ERR_FAILED, "measure", "", "out of memory");
    measure->where = where;
    if (!omp_wait_open(&measure->calm, err) || !lane_open(&measure->lane, wake, context, err)) {
        omp_wait_close(measure->calm);
        free(measure);
        return false;
    }
    recorded_load_samples(&measure->recorded);
    add_kernels(measure);
    *out = measure;
    return true;
}

static void close_session(Measure *measure) {
    session_close(measure->session);
    measure->session = NULL;
    measure->current = NULL;
}

static void close_problem(Measure *measure) {
    close_session(measure);
    problem_free(&measure->problem);
    ref_drop(measure->problem_map);
    ref_drop(measure->problem_features);
    measure->problem_map = NULL;
    measure->problem_features = NULL;
}

void measure_close(Measure *measure) {
    if (!measure)
        return;
    lane_close(measure->lane);
    omp_wait_close(measure->calm);
    close_problem(measure);
    ref_drop(measure->grid);
    frame_inputs_drop(&measure->parts);
    recorded_free(&measure->recorded);
    free(measure);
}

/* ---- aiming ---------------------------------------------------------------------------------- */

static const char *reason_to_skip(const Measure *measure, const KernelConfig *config) {
    if (!(measure->where & 1u << config->kernel->where))
        return "this backend is not available here";
    BevProblem problem = {.shape = measure->parts.features->shape,
                          .dtype = config->dtype,
                          .align = config->align,
                          .map = measure->parts.map->map};
    return bev_unsupported(config->kernel, &problem);
}

static void restart(const Measure *measure, TimedKernel *timed, const KernelConfig *config) {
    timed_kernel_restart(timed, config);
    timed->live.skipped = reason_to_skip(measure, &timed->config);
    if (!(measure->where & 1u << timed->config.kernel->where))
        recorded_show(&measure->recorded, measure->parts.scene->scene.name,
                      measure->parts.features->shape.channels, timed->config.dtype,
                      timed->config.align, &timed->live);
}

static bool same_problem(const Measure *measure, const FrameInputs *parts, const Job *job) {
    return measure->parts.map == parts->map && measure->job.config.dtype == job->config.dtype &&
           measure->parts.features->shape.channels == parts->features->shape.channels;
}

static bool has_baseline(const Job *job) {
    return job->baseline.kernel &&
           (job->baseline.dtype != job->config.dtype || job->baseline.align != job->config.align);
}

static int index_of(const Measure *measure, const BevKernel *kernel) {
    int i = 0;
    while (i < measure->kernel_count && measure->kernels[i].config.kernel != kernel)
        i++;
    return i < measure->kernel_count ? i : -1;
}

static TimedKernel *kernel_of(Measure *measure, const BevKernel *kernel) {
    int i = index_of(measure, kernel);
    return i < 0 ? NULL : &measure->kernels[i];
}

void measure_aim(Measure *measure, const FrameInputs *parts, const Job *job) {
    bool fresh = !measure->parts.map || !same_problem(measure, parts, job);
    bool other_baseline = fresh || !kernel_config_equal(&measure->job.baseline, &job->baseline);
    measure->aims++;
    FrameInputs kept = frame_inputs_keep(parts);
    frame_inputs_drop(&measure->parts);
    measure->parts = kept;
    measure->job = *job;
    if (fresh) {
        measure->problems++;
        lane_forget(measure->lane);
    }
    measure->outdated = measure->outdated || fresh || other_baseline;
    for (int i = 0; fresh && i < measure->kernel_count; i++)
        restart(measure, &measure->kernels[i], &job->config);
    if (other_baseline && has_baseline(job)) {
        const TimedKernel *same = kernel_of(measure, job->baseline.kernel);
        measure->baseline = (TimedKernel){.config = same->config, .cost_us = same->cost_us};
        measure->baseline.live.kernel = job->baseline.kernel;
        restart(measure, &measure->baseline, &job->baseline);
    }
}

void measure_observe(Measure *measure, double launch_us) {
    TimedKernel *timed = kernel_of(measure, measure->job.config.kernel);
    if (!timed || timed->complete || timed->config.kernel->where != BEV_CPU ||
        (measure_busy(measure) && timed_kernel_has_figure(timed)))
        return;
    timed_kernel_add_sample(timed, launch_us);
    timed->cost_us = launch_us;
    live_remember(&timed->live, launch_us);
    if (timed->count < TIMED_KERNEL_FIRST_NEWS)
        return;
    timed_kernel_publish_samples(timed, bev_traffic_total(measure->parts.pooled->own));
    timed->live.unsettled |= measure_busy(measure);
}

/* ---- what comes next ------------------------------------------------------------------------- */

/* The map of another align exists while the baseline is compared. */
static BuiltMap *map_for(const Measure *measure, const KernelConfig *config) {
    const FrameInputs *parts = &measure->parts;
    if (config->align == measure->job.config.align)
        return parts->map;
    return parts->baseline && parts->baseline->map->align == config->align ? parts->baseline->map
                                                                           : NULL;
}

/* The one that pools `choice`. */
static TimedKernel *kernel_that_pools(Measure *measure, const KernelConfig *config) {
    const KernelConfig *selected = &measure->job.config;
    if (config->dtype == selected->dtype && config->align == selected->align)
        return kernel_of(measure, config->kernel);
    bool is_baseline =
        has_baseline(&measure->job) && kernel_config_equal(&measure->baseline.config, config);
    return is_baseline && map_for(measure, config) ? &measure->baseline : NULL;
}

/* NULL: none wanted, or it cannot be had. */
static TimedKernel *timed_kernel_wanted(Measure *measure) {
    TimedKernel *timed =
        measure->wants_grid ? kernel_that_pools(measure, &measure->grid_choice) : NULL;
    return timed && !timed->failed && !timed->live.skipped ? timed : NULL;
}

static bool is_candidate(const Measure *measure, const TimedKernel *timed, bool still) {
    bool lane_rests =
        !still && timed_kernel_has_figure(timed) && clock_us() * 1e-3 < measure->lane_ms;
    return timed_kernel_due(timed, still) && !(lane_rests && timed_kernel_needs_lane(timed));
}

/* What speed-ups refer to; NULL: its map is not there. */
static TimedKernel *kernel_of_baseline(Measure *measure) {
    if (!has_baseline(&measure->job))
        return kernel_of(measure, measure->job.baseline.kernel);
    return map_for(measure, &measure->baseline.config) ? &measure->baseline : NULL;
}

/* The selection before all others, then the baseline, then what is still without a figure, the
 * fast end of the ladder first, then what was taken longest ago. */
static TimedKernel *choose(Measure *measure, bool still) {
    TimedKernel *const first[] = {kernel_of(measure, measure->job.config.kernel),
                                  kernel_of_baseline(measure)};
    for (int i = 0; i < 2; i++)
        if (first[i] && !timed_kernel_has_figure(first[i]) &&
            is_candidate(measure, first[i], still))
            return first[i];
    TimedKernel *best = first[1] && is_candidate(measure, first[1], still) ? first[1] : NULL;
    for (int i = 0; i < measure->kernel_count; i++) {
        TimedKernel *timed = &measure->kernels[i];
        if (is_candidate(measure, timed, still) && (!best || timed->done_ms <= best->done_ms))
            best = timed;
    }
    return best;
}

/* ---- the slow lane --------------------------------------------------------------------------- */

bool measure_busy(const Measure *measure) {
    return lane_busy(measure->lane);
}

static void ask_lane(Measure *measure, TimedKernel *timed) {
    bool grid = timed == timed_kernel_wanted(measure);
    if (!lane_ask(measure->lane, measure->parts.features, map_for(measure, &timed->config),
                  &timed->config, grid))
        return;
    measure->asked = timed;
    measure->asked_problem = measure->problems;
    measure->asked_aims = measure->aims;
    measure->asked_ms = clock_us() * 1e-3;
}

/* False: nothing came, or nothing of use any more. */
static bool take_from_lane(Measure *measure, bool still, bool *failed, Err *err) {
    LaneSample sample;
    if (!lane_take(measure->lane, &sample))
        return false;
    ref_drop(measure->grid);
    measure->grid = sample.grid;
    TimedKernel *timed = measure->asked;
    double now_ms = clock_us() * 1e-3;
    measure->lane_ms = now_ms + LANE_REST * (now_ms - measure->asked_ms);
    if (!kernel_config_equal(&sample.config, &timed->config) ||
        measure->asked_problem != measure->problems)
        return false;
    *failed = timed->failed = sample.failed;
    if (sample.failed)
        *err = sample.err;
    else {
        timed->cost_us = sample.busy_us; /* what a launch takes that has the cores to itself */
        if (timed_kernel_needs_lane(timed))
            timed_kernel_add_lane_sample(timed, &sample,
                                         !still || measure->asked_aims != measure->aims);
    }
    return true;
}

/* ---- one slice ------------------------------------------------------------------------------- */

static bool problem_fits(const Measure *measure, const KernelConfig *config) {
    return measure->problem_map && measure->problem_map == map_for(measure, config) &&
           measure->problem_choice.dtype == config->dtype &&
           measure->problem_choice.align == config->align;
}

static bool open_problem(Measure *measure, const KernelConfig *config, Err *err) {
    close_problem(measure);
    const FrameInputs *parts = &measure->parts;
    BuiltMap *map = map_for(measure, config);
    measure->problem_map = ref_keep(map);
    measure->problem_features = ref_keep(parts->features);
    measure->problem_choice = *config;
    return problem_encode(&measure->problem, &parts->features->shape, config->dtype, config->align,
                          &parts->features->values, &map->map, err);
}

/* Encoding and preparing are a step each. */
static bool start(Measure *measure, TimedKernel *timed, Err *err) {
    close_session(measure);
    if (!problem_fits(measure, &timed->config))
        return open_problem(measure, &timed->config, err);
    if (!session_open(&measure->session, timed->config.kernel, &measure->problem.view, err))
        return false;
    measure->current = timed;
    timed_kernel_begin(timed);
    double prepare_us = session_prepare_us(measure->session);
    timed->live.prepare_us = reading(prepare_us, SOURCE_MEASURED);
    bool described = timed->live.registers.source && !timed->live.registers.stale;
    if (timed->config.kernel->where == BEV_CUDA && !described)
        live_gpu_kernel(measure->session, &timed->live);
    return true;
}

static MeasureStep finish(Measure *measure, TimedKernel *timed) {
    timed->complete = true;
    timed_kernel_done(timed);
    close_session(measure);
    return MEASURE_NEWS;
}

static bool time_series(Measure *measure, TimedKernel *timed, bool still, MeasureStep *step,
                        Err *err) {
    double own_bytes = bev_traffic_total(bev_traffic(timed->config.kernel, &measure->problem.view));
    Timing timing;
    if (!session_time(measure->session, CACHE_WARM, still ? &series : &short_series, &timing, err))
        return false;
    timed_kernel_publish(timed, &timing, own_bytes);
    *step = finish(measure, timed);
    return true;
}

static bool time_launch(Measure *measure, double *us, Err *err) {
    double begun = clock_us();
    bool ok = session_run(measure->session, err);
    *us = clock_us() - begun;
    return ok;
}

/* What ran in between has taken the caches and put the threads to sleep, on one core perhaps: the
 * first launches of a row are no samples. */
static bool launch_row(Measure *measure, TimedKernel *timed, MeasureStep *step, Err *err) {
    double own_bytes = bev_traffic_total(bev_traffic(timed->config.kernel, &measure->problem.view));
    double begun = clock_us(), us;
    int before = timed->count;
    do {
        if (!time_launch(measure, &us, err))
            return false;
    } while (clock_us() - begun < WARM_US);
    timed->cost_us = us;
    if (timed_kernel_needs_lane(timed))
        return true;
    begun = clock_us();
    do {
        if (!time_launch(measure, &us, err))
            return false;
        timed_kernel_add_sample(timed, us);
    } while (clock_us() - begun < SLICE_US && timed->count < TIMED_KERNEL_SAMPLES);
    if (timed->count >= TIMED_KERNEL_FIRST_NEWS)
        timed_kernel_publish_samples(timed, own_bytes);
    *step = timed->count == TIMED_KERNEL_SAMPLES ? finish(measure, timed)
            : before < TIMED_KERNEL_FIRST_NEWS && timed->count >= TIMED_KERNEL_FIRST_NEWS
                ? MEASURE_NEWS
                : MEASURE_MORE;
    return true;
}

static bool time_row(Measure *measure, TimedKernel *timed, MeasureStep *step, Err *err) {
    omp_wait_active(measure->calm);
    bool ok = launch_row(measure, timed, step, err);
    omp_wait_passive(measure->calm);
    return ok;
}

/* Of what was aimed at before; or of a kernel found out to be slow, whose turn comes in the lane.
 */
static bool clear_away(Measure *measure) {
    bool outdated = measure->outdated;
    bool slow = measure->current && timed_kernel_needs_lane(measure->current);
    measure->outdated = false;
    if (outdated)
        close_problem(measure);
    else if (slow)
        close_session(measure);
    return outdated || slow;
}

MeasureStep measure_step(Measure *measure, bool still, bool *failed, Err *err) {
    *failed = false;
    if (!measure->parts.map)
        return MEASURE_REST;
    if (take_from_lane(measure, still, failed, err))
        return MEASURE_NEWS;
    if (measure_busy(measure))
        return MEASURE_REST;
    MeasureStep step = MEASURE_MORE;
    if (clear_away(measure))
        return step;
    bool ok = true;
    TimedKernel *timed = measure->current;
    if (timed)
        ok = timed->config.kernel->where == BEV_CUDA
                 ? time_series(measure, timed, still, &step, err)
                 : time_row(measure, timed, &step, err);
    else {
        TimedKernel *wanted = timed_kernel_wanted(measure);
        timed = wanted ? wanted : choose(measure, still);
        bool apart = timed && (timed == wanted || timed_kernel_needs_lane(timed));
        if (apart)
            ask_lane(measure, timed);
        if (!timed || apart)
            return MEASURE_REST;
        ok = start(measure, timed, err);
    }
    if (ok)
        return step;
    close_problem(measure);
    timed->failed = *failed = true;
    return MEASURE_NEWS;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool measure_is_slow(Measure *measure, const KernelConfig *config) {
    const TimedKernel *timed = kernel_that_pools(measure, config);
    if (!timed)
        timed = kernel_of(measure, config->kernel);
    return timed && timed_kernel_is_slow(timed, config->align);
}

void measure_want_grid(Measure *measure, const KernelConfig *config) {
    measure->wants_grid = config != NULL;
    if (config)
        measure->grid_choice = *config;
}

bool measure_owes_grid(Measure *measure) {
    return timed_kernel_wanted(measure) != NULL;
}

PooledGrid *measure_take_grid(Measure *measure) {
    PooledGrid *grid = measure->grid;
    measure->grid = NULL;
    return grid;
}

bool measure_knows_selection(const Measure *measure) {
    int i = index_of(measure, measure->job.config.kernel);
    const TimedKernel *timed = i < 0 ? NULL : &measure->kernels[i];
    return !timed || timed->live.skipped || timed->failed || timed_kernel_has_figure(timed);
}

/* ---- for the views --------------------------------------------------------------------------- */

void measure_fill(const Measure *measure, LiveData *live) {
    live->kernel_count = measure->kernel_count;
    for (int i = 0; i < measure->kernel_count; i++)
        live->kernels[i] = measure->kernels[i].live;
    live->baseline_us = (Reading){.value = 0};
    if (has_baseline(&measure->job))
        live->baseline_us = measure->baseline.live.median_us;
    else
        for (int i = 0; i < measure->kernel_count; i++)
            if (measure->kernels[i].config.kernel == measure->job.baseline.kernel)
                live->baseline_us = measure->kernels[i].live.median_us;
}
