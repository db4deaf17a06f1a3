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
    FrameParts parts; /* what is aimed at */
    Job job;
    TimedRung rungs[LIVE_MAX_KERNELS];
    int rung_count;
    TimedRung baseline; /* only where its format or align is not the selection's */
    TimedRung *current; /* whose session is open */
    HostProblem problem;
    BuiltMap *problem_map;
    SeenFeatures *problem_features;
    Choice problem_choice; /* its format and align */
    Session *session;
    Calm *calm; /* but for rows of launches */
    Lane *lane;
    TimedRung *asked;                 /* what the lane runs, of this problem, since */
    uint64_t problems, asked_problem; /* problems: aimed at so far */
    double asked_ms, lane_ms;         /* lane_ms: no launch before */
    uint64_t aims, asked_aims;        /* aims: grows with every picture */
    bool outdated;                    /* problem and session: not closed before a picture */
    bool wants_grid;
    Choice grid_choice; /* where it wants one */
    PooledGrid *grid;   /* that came, not taken yet */
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static void add_rungs(Measure *measure) {
    for (int i = 0; bev_variants[i] && measure->rung_count < LIVE_MAX_KERNELS; i++) {
        TimedRung *rung = &measure->rungs[measure->rung_count++];
        rung->choice.variant = rung->live.variant = bev_variants[i];
    }
}

bool measure_open(Measure **out, unsigned where, void (*wake)(void *), void *context, Err *err) {
    Measure *measure = calloc(1, sizeof *measure);
    if (!measure)
        return err_set(err, ERR_FAILED, "measure", "", "out of memory");
    measure->where = where;
    if (!calm_open(&measure->calm, err) || !lane_open(&measure->lane, wake, context, err)) {
        calm_close(measure->calm);
        free(measure);
        return false;
    }
    recorded_load_samples(&measure->recorded);
    add_rungs(measure);
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
    shared_drop(measure->problem_map);
    shared_drop(measure->problem_features);
    measure->problem_map = NULL;
    measure->problem_features = NULL;
}

void measure_close(Measure *measure) {
    if (!measure)
        return;
    lane_close(measure->lane);
    calm_close(measure->calm);
    close_problem(measure);
    shared_drop(measure->grid);
    frame_parts_drop(&measure->parts);
    recorded_free(&measure->recorded);
    free(measure);
}

/* ---- aiming ---------------------------------------------------------------------------------- */

static const char *reason_to_skip(const Measure *measure, const Choice *choice) {
    if (!(measure->where & 1u << choice->variant->where))
        return "this backend is not available here";
    BevProblem problem = {.shape = measure->parts.features->shape,
                          .dtype = choice->dtype,
                          .align = choice->align,
                          .map = measure->parts.map->map};
    return bev_unsupported(choice->variant, &problem);
}

static void restart(const Measure *measure, TimedRung *rung, const Choice *choice) {
    rung_restart(rung, choice);
    rung->live.skipped = reason_to_skip(measure, &rung->choice);
    if (!(measure->where & 1u << rung->choice.variant->where))
        recorded_show(&measure->recorded, measure->parts.scene->scene.name,
                      measure->parts.features->shape.channels, rung->choice.dtype,
                      rung->choice.align, &rung->live);
}

static bool same_problem(const Measure *measure, const FrameParts *parts, const Job *job) {
    return measure->parts.map == parts->map && measure->job.choice.dtype == job->choice.dtype &&
           measure->parts.features->shape.channels == parts->features->shape.channels;
}

static bool has_baseline(const Job *job) {
    return job->baseline.variant &&
           (job->baseline.dtype != job->choice.dtype || job->baseline.align != job->choice.align);
}

static int index_of(const Measure *measure, const BevVariant *variant) {
    int i = 0;
    while (i < measure->rung_count && measure->rungs[i].choice.variant != variant)
        i++;
    return i < measure->rung_count ? i : -1;
}

static TimedRung *rung_of(Measure *measure, const BevVariant *variant) {
    int i = index_of(measure, variant);
    return i < 0 ? NULL : &measure->rungs[i];
}

void measure_aim(Measure *measure, const FrameParts *parts, const Job *job) {
    bool fresh = !measure->parts.map || !same_problem(measure, parts, job);
    bool other_baseline = fresh || !choice_equal(&measure->job.baseline, &job->baseline);
    measure->aims++;
    FrameParts kept = frame_parts_keep(parts);
    frame_parts_drop(&measure->parts);
    measure->parts = kept;
    measure->job = *job;
    if (fresh) {
        measure->problems++;
        lane_forget(measure->lane);
    }
    measure->outdated = measure->outdated || fresh || other_baseline;
    for (int i = 0; fresh && i < measure->rung_count; i++)
        restart(measure, &measure->rungs[i], &job->choice);
    if (other_baseline && has_baseline(job)) {
        const TimedRung *same = rung_of(measure, job->baseline.variant);
        measure->baseline = (TimedRung){.choice = same->choice, .cost_us = same->cost_us};
        measure->baseline.live.variant = job->baseline.variant;
        restart(measure, &measure->baseline, &job->baseline);
    }
}

void measure_observe(Measure *measure, double launch_us) {
    TimedRung *rung = rung_of(measure, measure->job.choice.variant);
    if (!rung || rung->complete || rung->choice.variant->where != BEV_CPU ||
        (measure_busy(measure) && rung_has_figure(rung)))
        return;
    rung_add_sample(rung, launch_us);
    rung->cost_us = launch_us;
    live_remember(&rung->live, launch_us);
    if (rung->count < RUNG_FIRST_NEWS)
        return;
    rung_publish_samples(rung, bev_traffic_total(measure->parts.pooled->own));
    rung->live.unsettled |= measure_busy(measure);
}

/* ---- what comes next ------------------------------------------------------------------------- */

/* The map of another align exists while the baseline is compared. */
static BuiltMap *map_for(const Measure *measure, const Choice *choice) {
    const FrameParts *parts = &measure->parts;
    if (choice->align == measure->job.choice.align)
        return parts->map;
    return parts->baseline && parts->baseline->map->align == choice->align ? parts->baseline->map
                                                                           : NULL;
}

/* The one that pools `choice`. */
static TimedRung *rung_that_pools(Measure *measure, const Choice *choice) {
    const Choice *selected = &measure->job.choice;
    if (choice->dtype == selected->dtype && choice->align == selected->align)
        return rung_of(measure, choice->variant);
    bool is_baseline =
        has_baseline(&measure->job) && choice_equal(&measure->baseline.choice, choice);
    return is_baseline && map_for(measure, choice) ? &measure->baseline : NULL;
}

/* NULL: none wanted, or it cannot be had. */
static TimedRung *rung_wanted(Measure *measure) {
    TimedRung *rung = measure->wants_grid ? rung_that_pools(measure, &measure->grid_choice) : NULL;
    return rung && !rung->failed && !rung->live.skipped ? rung : NULL;
}

static bool is_candidate(const Measure *measure, const TimedRung *rung, bool still) {
    bool lane_rests = !still && rung_has_figure(rung) && clock_us() * 1e-3 < measure->lane_ms;
    return rung_due(rung, still) && !(lane_rests && rung_needs_lane(rung));
}

/* What speed-ups refer to; NULL: its map is not there. */
static TimedRung *rung_of_baseline(Measure *measure) {
    if (!has_baseline(&measure->job))
        return rung_of(measure, measure->job.baseline.variant);
    return map_for(measure, &measure->baseline.choice) ? &measure->baseline : NULL;
}

/* The selection before all others, then the baseline, then what is still without a figure, the
 * fast end of the ladder first, then what was taken longest ago. */
static TimedRung *choose(Measure *measure, bool still) {
    TimedRung *const first[] = {rung_of(measure, measure->job.choice.variant),
                                rung_of_baseline(measure)};
    for (int i = 0; i < 2; i++)
        if (first[i] && !rung_has_figure(first[i]) && is_candidate(measure, first[i], still))
            return first[i];
    TimedRung *best = first[1] && is_candidate(measure, first[1], still) ? first[1] : NULL;
    for (int i = 0; i < measure->rung_count; i++) {
        TimedRung *rung = &measure->rungs[i];
        if (is_candidate(measure, rung, still) && (!best || rung->done_ms <= best->done_ms))
            best = rung;
    }
    return best;
}

/* ---- the slow lane --------------------------------------------------------------------------- */

bool measure_busy(const Measure *measure) {
    return lane_busy(measure->lane);
}

static void ask_lane(Measure *measure, TimedRung *rung) {
    bool grid = rung == rung_wanted(measure);
    if (!lane_ask(measure->lane, measure->parts.features, map_for(measure, &rung->choice),
                  &rung->choice, grid))
        return;
    measure->asked = rung;
    measure->asked_problem = measure->problems;
    measure->asked_aims = measure->aims;
    measure->asked_ms = clock_us() * 1e-3;
}

/* False: nothing came, or nothing of use any more. */
static bool take_from_lane(Measure *measure, bool still, bool *failed, Err *err) {
    LaneSample sample;
    if (!lane_take(measure->lane, &sample))
        return false;
    shared_drop(measure->grid);
    measure->grid = sample.grid;
    TimedRung *rung = measure->asked;
    double now_ms = clock_us() * 1e-3;
    measure->lane_ms = now_ms + LANE_REST * (now_ms - measure->asked_ms);
    if (!choice_equal(&sample.choice, &rung->choice) || measure->asked_problem != measure->problems)
        return false;
    *failed = rung->failed = sample.failed;
    if (sample.failed)
        *err = sample.err;
    else {
        rung->cost_us = sample.busy_us; /* what a launch takes that has the cores to itself */
        if (rung_needs_lane(rung))
            rung_add_lane_sample(rung, &sample, !still || measure->asked_aims != measure->aims);
    }
    return true;
}

/* ---- one slice ------------------------------------------------------------------------------- */

static bool problem_fits(const Measure *measure, const Choice *choice) {
    return measure->problem_map && measure->problem_map == map_for(measure, choice) &&
           measure->problem_choice.dtype == choice->dtype &&
           measure->problem_choice.align == choice->align;
}

static bool open_problem(Measure *measure, const Choice *choice, Err *err) {
    close_problem(measure);
    const FrameParts *parts = &measure->parts;
    BuiltMap *map = map_for(measure, choice);
    measure->problem_map = shared_keep(map);
    measure->problem_features = shared_keep(parts->features);
    measure->problem_choice = *choice;
    return problem_encode(&measure->problem, &parts->features->shape, choice->dtype, choice->align,
                          &parts->features->values, &map->map, err);
}

/* Encoding and preparing are a step each. */
static bool start(Measure *measure, TimedRung *rung, Err *err) {
    close_session(measure);
    if (!problem_fits(measure, &rung->choice))
        return open_problem(measure, &rung->choice, err);
    if (!session_open(&measure->session, rung->choice.variant, &measure->problem.view, err))
        return false;
    measure->current = rung;
    rung_begin(rung);
    double prepare_us = session_prepare_us(measure->session);
    rung->live.prepare_us = reading(prepare_us, SOURCE_MEASURED);
    bool described = rung->live.registers.source && !rung->live.registers.stale;
    if (rung->choice.variant->where == BEV_CUDA && !described)
        live_gpu_kernel(measure->session, &rung->live);
    return true;
}

static MeasureStep finish(Measure *measure, TimedRung *rung) {
    rung->complete = true;
    rung_done(rung);
    close_session(measure);
    return MEASURE_NEWS;
}

static bool time_series(Measure *measure, TimedRung *rung, bool still, MeasureStep *step,
                        Err *err) {
    double own_bytes = bev_traffic_total(rung->choice.variant->bytes(&measure->problem.view));
    Timing timing;
    if (!session_time(measure->session, CACHE_WARM, still ? &series : &short_series, &timing, err))
        return false;
    rung_publish(rung, &timing, own_bytes);
    *step = finish(measure, rung);
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
static bool launch_row(Measure *measure, TimedRung *rung, MeasureStep *step, Err *err) {
    double own_bytes = bev_traffic_total(rung->choice.variant->bytes(&measure->problem.view));
    double begun = clock_us(), us;
    int before = rung->count;
    do {
        if (!time_launch(measure, &us, err))
            return false;
    } while (clock_us() - begun < WARM_US);
    rung->cost_us = us;
    if (rung_needs_lane(rung))
        return true;
    begun = clock_us();
    do {
        if (!time_launch(measure, &us, err))
            return false;
        rung_add_sample(rung, us);
    } while (clock_us() - begun < SLICE_US && rung->count < RUNG_SAMPLES);
    if (rung->count >= RUNG_FIRST_NEWS)
        rung_publish_samples(rung, own_bytes);
    *step = rung->count == RUNG_SAMPLES                                  ? finish(measure, rung)
            : before < RUNG_FIRST_NEWS && rung->count >= RUNG_FIRST_NEWS ? MEASURE_NEWS
                                                                         : MEASURE_MORE;
    return true;
}

static bool time_row(Measure *measure, TimedRung *rung, MeasureStep *step, Err *err) {
    calm_lift(measure->calm);
    bool ok = launch_row(measure, rung, step, err);
    calm_return(measure->calm);
    return ok;
}

/* Of what was aimed at before; or of a rung found out to be slow, whose turn comes in the lane. */
static bool clear_away(Measure *measure) {
    bool outdated = measure->outdated;
    bool slow = measure->current && rung_needs_lane(measure->current);
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
    TimedRung *rung = measure->current;
    if (rung)
        ok = rung->choice.variant->where == BEV_CUDA ? time_series(measure, rung, still, &step, err)
                                                     : time_row(measure, rung, &step, err);
    else {
        TimedRung *wanted = rung_wanted(measure);
        rung = wanted ? wanted : choose(measure, still);
        bool apart = rung && (rung == wanted || rung_needs_lane(rung));
        if (apart)
            ask_lane(measure, rung);
        if (!rung || apart)
            return MEASURE_REST;
        ok = start(measure, rung, err);
    }
    if (ok)
        return step;
    close_problem(measure);
    rung->failed = *failed = true;
    return MEASURE_NEWS;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool measure_is_slow(Measure *measure, const Choice *choice) {
    const TimedRung *rung = rung_that_pools(measure, choice);
    if (!rung)
        rung = rung_of(measure, choice->variant);
    return rung && rung_is_slow(rung, choice->align);
}

void measure_want_grid(Measure *measure, const Choice *choice) {
    measure->wants_grid = choice != NULL;
    if (choice)
        measure->grid_choice = *choice;
}

bool measure_owes_grid(Measure *measure) {
    return rung_wanted(measure) != NULL;
}

PooledGrid *measure_take_grid(Measure *measure) {
    PooledGrid *grid = measure->grid;
    measure->grid = NULL;
    return grid;
}

bool measure_knows_selection(const Measure *measure) {
    int i = index_of(measure, measure->job.choice.variant);
    const TimedRung *rung = i < 0 ? NULL : &measure->rungs[i];
    return !rung || rung->live.skipped || rung->failed || rung_has_figure(rung);
}

/* ---- for the views --------------------------------------------------------------------------- */

void measure_fill(const Measure *measure, LiveData *live) {
    live->kernel_count = measure->rung_count;
    for (int i = 0; i < measure->rung_count; i++)
        live->kernels[i] = measure->rungs[i].live;
    live->baseline_us = (Reading){.value = 0};
    if (has_baseline(&measure->job))
        live->baseline_us = measure->baseline.live.median_us;
    else
        for (int i = 0; i < measure->rung_count; i++)
            if (measure->rungs[i].choice.variant == measure->job.baseline.variant)
                live->baseline_us = measure->rungs[i].live.median_us;
}
