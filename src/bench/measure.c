#include "src/bench/measure.h"

#include "src/bench/backend.h"
#include "src/bench/lane.h"
#include "src/bench/live_gpu.h"
#include "src/bench/recorded_live.h"
#include "src/bench/shared.h"
#include "src/model/clock.h"
#include "src/model/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 20,     /* of a rung before its median counts as settled */
    SLOW_SAMPLES = 5, /* of one that takes the lane */
    FIRST_NEWS = 5,   /* a first figure is shown after so many */
    REFRESH_MS = 1000 /* figures that are complete are taken again at this pace */
};
static const double SLOW_US = 30e3;     /* beyond, a figure that is complete is not taken again */
static const double PATIENCE_US = 10e3; /* for a launch that frames and keys wait for */
static const double SLICE_US = 4e3;     /* short launches are timed in rows of about this length */
static const double LANE_REST = 5;      /* moving: this many times as long no launch as one took */
static const double SETTLE = 0.15;
/* On a GPU; the short one fits between two frames of a moving street. */
static const TimingOptions series = {.samples = 20, .min_warm_ms = 1, .max_s = 0.02};
static const TimingOptions short_series = {.samples = 6, .min_warm_ms = 0.2, .max_s = 0.004};

/* One thing to time: a rung at the selection's format, or the baseline at its own. */
typedef struct {
    Choice choice;
    LiveKernel live;
    double samples_us[SAMPLES];
    int count;     /* of the samples above */
    bool complete; /* for the problem aimed at */
    bool failed;
    bool disturbed; /* pictures were made while the samples were taken */
    double cost_us; /* of the last launch; 0: unknown */
    double done_ms;
} Item;

struct Measure {
    unsigned where;
    RecordedSet recorded;
    FrameParts parts; /* what is aimed at */
    Job job;
    Item items[LIVE_MAX_KERNELS];
    int item_count;
    Item baseline; /* only where its format or align is not the selection's */
    Item *current; /* whose session is open */
    HostProblem problem;
    BuiltMap *problem_map;
    SeenFeatures *problem_features;
    Choice problem_choice; /* its format and align */
    Session *session;
    Lane *lane;
    Item *asked;               /* what the lane runs, on this map, since */
    BuiltMap *asked_map;       /* not owned: only compared */
    double asked_ms, lane_ms;  /* lane_ms: no launch before */
    uint64_t aims, asked_aims; /* aims: grows with every picture */
    bool wants_grid;
    Choice grid_choice; /* where it wants one */
    PooledGrid *grid;   /* that came, not taken yet */
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static void add_items(Measure *measure) {
    for (int i = 0; bev_variants[i] && measure->item_count < LIVE_MAX_KERNELS; i++) {
        Item *item = &measure->items[measure->item_count++];
        item->choice.variant = item->live.variant = bev_variants[i];
    }
}

bool measure_open(Measure **out, unsigned where, void (*wake)(void *), void *context, Err *err) {
    Measure *measure = calloc(1, sizeof *measure);
    if (!measure)
        return err_set(err, ERR_FAILED, "measure", "", "out of memory");
    measure->where = where;
    if (!lane_open(&measure->lane, wake, context, err)) {
        free(measure);
        return false;
    }
    recorded_load_samples(&measure->recorded);
    add_items(measure);
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
    close_problem(measure);
    shared_drop(measure->grid);
    frame_parts_drop(&measure->parts);
    recorded_free(&measure->recorded);
    free(measure);
}

/* ---- aiming ---------------------------------------------------------------------------------- */

static void go_stale(LiveKernel *live) {
    Reading *readings[] = {&live->median_us,      &live->p95_us,     &live->p99_us,
                           &live->effective_gbps, &live->prepare_us, &live->registers,
                           &live->occupancy};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        readings[i]->stale = readings[i]->source != SOURCE_UNKNOWN;
}

static const char *reason_to_skip(const Measure *measure, const Choice *choice) {
    if (!(measure->where & 1u << choice->variant->where))
        return "this backend is not available here";
    BevProblem problem = {.shape = measure->parts.features->shape,
                          .dtype = choice->dtype,
                          .align = choice->align,
                          .map = measure->parts.map->map};
    return bev_unsupported(choice->variant, &problem);
}

static void restart(const Measure *measure, Item *item, const Choice *choice) {
    const BevVariant *variant = item->choice.variant;
    item->choice = *choice;
    if (variant)
        item->choice.variant = variant;
    item->count = 0;
    item->complete = item->failed = item->disturbed = false;
    item->done_ms = 0; /* cost_us stays: it will be much the same */
    go_stale(&item->live);
    item->live.skipped = reason_to_skip(measure, &item->choice);
    if (!(measure->where & 1u << item->choice.variant->where))
        recorded_show(&measure->recorded, measure->parts.scene->scene.name,
                      measure->parts.features->shape.channels, item->choice.dtype,
                      item->choice.align, &item->live);
}

static bool same_problem(const Measure *measure, const FrameParts *parts, const Job *job) {
    return measure->parts.map == parts->map && measure->job.choice.dtype == job->choice.dtype &&
           measure->parts.features->shape.channels == parts->features->shape.channels;
}

static bool has_baseline(const Job *job) {
    return job->baseline.variant &&
           (job->baseline.dtype != job->choice.dtype || job->baseline.align != job->choice.align);
}

void measure_aim(Measure *measure, const FrameParts *parts, const Job *job) {
    bool fresh = !measure->parts.map || !same_problem(measure, parts, job);
    bool other_baseline = fresh || !choice_equal(&measure->job.baseline, &job->baseline);
    measure->aims++;
    FrameParts kept = frame_parts_keep(parts);
    frame_parts_drop(&measure->parts);
    measure->parts = kept;
    measure->job = *job;
    if (fresh)
        lane_forget(measure->lane);
    if (fresh || other_baseline)
        close_problem(measure);
    for (int i = 0; fresh && i < measure->item_count; i++)
        restart(measure, &measure->items[i], &job->choice);
    if (other_baseline && has_baseline(job)) {
        measure->baseline = (Item){.live.variant = job->baseline.variant};
        restart(measure, &measure->baseline, &job->baseline);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

static void publish(Item *item, const Timing *timing, double own_bytes) {
    LiveKernel *live = &item->live;
    live->median_us = reading(timing->median_us, SOURCE_MEASURED);
    live->p95_us = reading(timing->p95_us, SOURCE_MEASURED);
    live->p99_us = reading(timing->p99_us, SOURCE_MEASURED);
    live->unsettled = !timing->settled;
    live->recorded_on[0] = '\0';
    if (own_bytes > 0)
        live->effective_gbps = reading(own_bytes / timing->median_us * 1e-3, SOURCE_MEASURED);
}

static void publish_samples(Item *item, double own_bytes) {
    double sorted[SAMPLES];
    Timing timing;
    memcpy(sorted, item->samples_us, (size_t)item->count * sizeof *sorted);
    timing_summarize(sorted, item->count, SETTLE, &timing);
    publish(item, &timing, own_bytes);
}

/* Keeps the latest SAMPLES. */
static void add_sample(Item *item, double us) {
    if (item->count == SAMPLES)
        memmove(item->samples_us, item->samples_us + 1, (SAMPLES - 1) * sizeof *item->samples_us);
    else
        item->count++;
    item->samples_us[item->count - 1] = us;
}

static bool has_figure(const Item *item) {
    return item->live.median_us.source == SOURCE_MEASURED && !item->live.median_us.stale;
}

static int index_of(const Measure *measure, const BevVariant *variant) {
    int i = 0;
    while (i < measure->item_count && measure->items[i].choice.variant != variant)
        i++;
    return i < measure->item_count ? i : -1;
}

static Item *item_of(Measure *measure, const BevVariant *variant) {
    int i = index_of(measure, variant);
    return i < 0 ? NULL : &measure->items[i];
}

void measure_observe(Measure *measure, double launch_us) {
    Item *item = item_of(measure, measure->job.choice.variant);
    if (!item || item->complete || item->choice.variant->where != BEV_CPU ||
        (measure_busy(measure) && has_figure(item)))
        return;
    add_sample(item, launch_us);
    item->cost_us = launch_us;
    live_remember(&item->live, launch_us);
    if (item->count < FIRST_NEWS)
        return;
    publish_samples(item, bev_traffic_total(measure->parts.pooled->own));
    item->live.unsettled |= measure_busy(measure);
}

/* ---- what comes next ------------------------------------------------------------------------- */

static bool due(const Item *item, bool still) {
    if (item->live.skipped || item->failed)
        return false;
    bool slow = item->cost_us > SLOW_US;
    return !item->complete || (still && item->disturbed) ||
           (!slow && clock_us() * 1e-3 - item->done_ms > REFRESH_MS);
}

/* A launch that nobody can wait for, or of which it is not known yet. */
static bool needs_lane(const Item *item) {
    return item->choice.variant->where == BEV_CPU &&
           (item->cost_us == 0 || item->cost_us > PATIENCE_US);
}

/* The map of another align exists while the baseline is compared. */
static BuiltMap *map_for(const Measure *measure, const Choice *choice) {
    const FrameParts *parts = &measure->parts;
    if (choice->align == measure->job.choice.align)
        return parts->map;
    return parts->baseline && parts->baseline->map->align == choice->align ? parts->baseline->map
                                                                           : NULL;
}

/* The one that pools `choice`. */
static Item *item_that_pools(Measure *measure, const Choice *choice) {
    const Choice *selected = &measure->job.choice;
    if (choice->dtype == selected->dtype && choice->align == selected->align)
        return item_of(measure, choice->variant);
    bool is_baseline =
        has_baseline(&measure->job) && choice_equal(&measure->baseline.choice, choice);
    return is_baseline && map_for(measure, choice) ? &measure->baseline : NULL;
}

/* NULL: none wanted, or it cannot be had. */
static Item *item_wanted(Measure *measure) {
    Item *item = measure->wants_grid ? item_that_pools(measure, &measure->grid_choice) : NULL;
    return item && !item->failed && !item->live.skipped ? item : NULL;
}

static bool is_candidate(const Measure *measure, const Item *item, bool still) {
    bool lane_rests = !still && has_figure(item) && clock_us() * 1e-3 < measure->lane_ms;
    return due(item, still) && !(lane_rests && needs_lane(item));
}

/* The selection before all others, then the baseline, then what is still without a figure, the
 * fast end of the ladder first, then what was taken longest ago. */
static Item *choose(Measure *measure, bool still) {
    Item *selected = item_of(measure, measure->job.choice.variant), *best = NULL;
    if (selected && !has_figure(selected) && is_candidate(measure, selected, still))
        return selected;
    if (has_baseline(&measure->job) && map_for(measure, &measure->baseline.choice) &&
        is_candidate(measure, &measure->baseline, still))
        return &measure->baseline;
    for (int i = 0; i < measure->item_count; i++) {
        Item *item = &measure->items[i];
        if (is_candidate(measure, item, still) && (!best || item->done_ms <= best->done_ms))
            best = item;
    }
    return best;
}

/* ---- the slow lane --------------------------------------------------------------------------- */

bool measure_busy(const Measure *measure) {
    return lane_busy(measure->lane);
}

static void ask_lane(Measure *measure, Item *item) {
    BuiltMap *map = map_for(measure, &item->choice);
    bool grid = item == item_wanted(measure);
    if (!lane_ask(measure->lane, measure->parts.features, map, &item->choice, grid))
        return;
    measure->asked = item;
    measure->asked_map = map;
    measure->asked_aims = measure->aims;
    measure->asked_ms = clock_us() * 1e-3;
}

/* Samples taken beside pictures give way to those taken alone, and never the other way. The clock
 * would count the pictures' time as theirs, so theirs is the thread's own. */
static void add_lane_sample(Item *item, const LaneSample *sample, bool disturbed) {
    if (disturbed && item->count && !item->disturbed)
        return;
    if (item->disturbed && !disturbed) {
        item->count = 0;
        item->complete = false;
    }
    item->disturbed = disturbed;
    add_sample(item, disturbed ? sample->busy_us : sample->launch_us);
    item->live.prepare_us = reading(sample->prepare_us, SOURCE_MEASURED);
    publish_samples(item, sample->own_bytes);
    item->live.unsettled |= disturbed || item->count < SLOW_SAMPLES;
    item->complete = item->count >= SLOW_SAMPLES;
    item->done_ms = clock_us() * 1e-3;
    live_remember(&item->live, item->live.median_us.value);
}

/* False: nothing came, or nothing of use any more. */
static bool take_from_lane(Measure *measure, bool still, bool *failed, Err *err) {
    LaneSample sample;
    if (!lane_take(measure->lane, &sample))
        return false;
    shared_drop(measure->grid);
    measure->grid = sample.grid;
    Item *item = measure->asked;
    double now_ms = clock_us() * 1e-3;
    measure->lane_ms = now_ms + LANE_REST * (now_ms - measure->asked_ms);
    if (!choice_equal(&sample.choice, &item->choice) ||
        measure->asked_map != map_for(measure, &item->choice))
        return false;
    *failed = item->failed = sample.failed;
    if (sample.failed)
        *err = sample.err;
    else {
        item->cost_us = sample.busy_us; /* what a launch takes that has the cores to itself */
        if (needs_lane(item))
            add_lane_sample(item, &sample, !still || measure->asked_aims != measure->aims);
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
static bool start(Measure *measure, Item *item, Err *err) {
    close_session(measure);
    if (!problem_fits(measure, &item->choice))
        return open_problem(measure, &item->choice, err);
    if (!session_open(&measure->session, item->choice.variant, &measure->problem.view, err))
        return false;
    measure->current = item;
    item->count = 0;
    double prepare_us = session_prepare_us(measure->session);
    item->live.prepare_us = reading(prepare_us, SOURCE_MEASURED);
    bool described = item->live.registers.source && !item->live.registers.stale;
    if (item->choice.variant->where == BEV_CUDA && !described)
        live_gpu_kernel(measure->session, &item->live);
    return true;
}

static MeasureStep finish(Measure *measure, Item *item) {
    item->complete = true;
    item->done_ms = clock_us() * 1e-3;
    live_remember(&item->live, item->live.median_us.value);
    close_session(measure);
    return MEASURE_NEWS;
}

static bool time_series(Measure *measure, Item *item, bool still, MeasureStep *step, Err *err) {
    double own_bytes = bev_traffic_total(item->choice.variant->bytes(&measure->problem.view));
    Timing timing;
    if (!session_time(measure->session, CACHE_WARM, still ? &series : &short_series, &timing, err))
        return false;
    publish(item, &timing, own_bytes);
    *step = finish(measure, item);
    return true;
}

static bool time_launch(Measure *measure, double *us, Err *err) {
    double begun = clock_us();
    bool ok = session_run(measure->session, err);
    *us = clock_us() - begun;
    return ok;
}

/* What ran in between has taken the caches and put the threads to sleep, on one core perhaps: the
 * first launch of a row is no sample. */
static bool time_row(Measure *measure, Item *item, MeasureStep *step, Err *err) {
    double own_bytes = bev_traffic_total(item->choice.variant->bytes(&measure->problem.view));
    double begun = clock_us(), us;
    int before = item->count;
    if (!time_launch(measure, &us, err))
        return false;
    item->cost_us = us;
    if (needs_lane(item))
        return true;
    do {
        if (!time_launch(measure, &us, err))
            return false;
        add_sample(item, us);
    } while (clock_us() - begun < SLICE_US && item->count < SAMPLES);
    if (item->count >= FIRST_NEWS)
        publish_samples(item, own_bytes);
    *step = item->count == SAMPLES                             ? finish(measure, item)
            : before < FIRST_NEWS && item->count >= FIRST_NEWS ? MEASURE_NEWS
                                                               : MEASURE_MORE;
    return true;
}

/* Found out only now: such an item's turn comes later, in the lane. */
static bool give_up(Measure *measure) {
    if (!measure->current || !needs_lane(measure->current))
        return false;
    close_session(measure);
    return true;
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
    if (give_up(measure))
        return step;
    bool ok = true;
    Item *item = measure->current;
    if (item)
        ok = item->choice.variant->where == BEV_CUDA
                 ? time_series(measure, item, still, &step, err)
                 : time_row(measure, item, &step, err);
    else {
        Item *wanted = item_wanted(measure);
        item = wanted ? wanted : choose(measure, still);
        bool apart = item && (item == wanted || needs_lane(item));
        if (apart)
            ask_lane(measure, item);
        if (!item || apart)
            return MEASURE_REST;
        ok = start(measure, item, err);
    }
    if (ok)
        return step;
    close_problem(measure);
    item->failed = *failed = true;
    return MEASURE_NEWS;
}

/* ---- for the engine -------------------------------------------------------------------------- */

bool measure_is_slow(const Measure *measure, const BevVariant *variant) {
    int i = index_of(measure, variant);
    return i >= 0 && needs_lane(&measure->items[i]);
}

void measure_want_grid(Measure *measure, const Choice *choice) {
    measure->wants_grid = choice != NULL;
    if (choice)
        measure->grid_choice = *choice;
}

bool measure_owes_grid(Measure *measure) {
    return item_wanted(measure) != NULL;
}

PooledGrid *measure_take_grid(Measure *measure) {
    PooledGrid *grid = measure->grid;
    measure->grid = NULL;
    return grid;
}

bool measure_knows_selection(const Measure *measure) {
    int i = index_of(measure, measure->job.choice.variant);
    const Item *item = i < 0 ? NULL : &measure->items[i];
    return !item || item->live.skipped || item->failed || has_figure(item);
}

/* ---- for the views --------------------------------------------------------------------------- */

void measure_fill(const Measure *measure, LiveData *live) {
    live->kernel_count = measure->item_count;
    for (int i = 0; i < measure->item_count; i++)
        live->kernels[i] = measure->items[i].live;
    live->baseline_us = (Reading){.value = 0};
    if (has_baseline(&measure->job))
        live->baseline_us = measure->baseline.live.median_us;
    else
        for (int i = 0; i < measure->item_count; i++)
            if (measure->items[i].choice.variant == measure->job.baseline.variant)
                live->baseline_us = measure->items[i].live.median_us;
}
