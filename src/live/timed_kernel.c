/* SPDX-License-Identifier: MIT */
#include "src/live/timed_kernel.h"

#include "src/base/clock.h"
#include "src/run/backend.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BACKGROUND_SAMPLES = 5, /* complete a kernel that the background thread launches */
    REFRESH_MS = 1000,      /* a complete figure is taken again after this time */
    KEEP_MS = 10 * 1000     /* a settled figure waits so long for the next settled one */
};
static const double REFRESH_US = 30e3;  /* a longer launch is not timed again, unless it waited */
static const double PATIENCE_US = 10e3; /* the longest launch that pictures and keys wait for */
static const double SETTLE = 0.15;      /* as `bench` has it on the CPU */
static const double SLOWER = 1.3; /* than the fastest series so far: something is in the way */

/* Estimates the time of a launch at this align. 0: unknown. Other aligns have four times the points
 * of nearest. */
static double cost_us(const TimedKernel *timed, BevAlign align) {
    const double known_points = timed->config.align == BEV_NEAREST ? 1 : 4;
    return timed->cost_us * (align == BEV_NEAREST ? 1 : 4) / known_points;
}

void timed_kernel_restart(TimedKernel *timed, const KernelConfig *config) {
    const BevKernel *kernel = timed->config.kernel;
    LiveKernel *live = &timed->live;
    Reading *stale[] = {&live->median_us,  &live->p95_us,    &live->p99_us,   &live->effective_gb_s,
                        &live->prepare_us, &live->registers, &live->occupancy};
    timed->cost_us = cost_us(timed, config->align);
    timed->config = *config;
    if (kernel)
        timed->config.kernel = kernel;
    timed->count = 0;
    timed->own_bytes = 0;
    timed->complete = timed->failed = timed->disturbed = false;
    timed->done_ms = 0;
    live->least_us = live->most_us = 0;
    for (size_t i = 0; i < sizeof stale / sizeof *stale; i++)
        stale[i]->stale = stale[i]->source != SOURCE_UNKNOWN;
}

void timed_kernel_add_sample(TimedKernel *timed, double us, bool waited) {
    if (timed->count == TIMED_KERNEL_SAMPLES)
        memmove(timed->samples, timed->samples + 1,
                (TIMED_KERNEL_SAMPLES - 1) * sizeof *timed->samples);
    else
        timed->count++;
    timed->samples[timed->count - 1].us = us;
    timed->samples[timed->count - 1].waited = waited;
}

bool timed_kernel_waited(const TimedKernel *timed) {
    int waited = 0;
    for (int i = 0; i < timed->count; i++)
        waited += timed->samples[i].waited;
    return 2 * waited > timed->count;
}

/* Whether a new figure is less certain than the shown figure. A settled figure stays for a while
 * until another figure has settled: a picture made meanwhile does not make a kernel slower. */
static bool is_less_certain(const TimedKernel *timed, bool settled) {
    const LiveKernel *live = &timed->live;
    const bool shown_is_certain = timed_kernel_has_figure(timed) && !live->single &&
                                  !live->unsettled && !live->beside_pictures;
    const bool new_is_certain = settled && !timed->disturbed;
    return shown_is_certain && !new_is_certain && clock_ms() - timed->settled_ms < KEEP_MS;
}

void timed_kernel_publish(TimedKernel *timed, const Timing *timing, double own_bytes) {
    LiveKernel *live = &timed->live;
    bool slower = live->least_us > 0 && timing->median_us > SLOWER * live->least_us;
    bool settled = timing->settled && !slower;
    if (is_less_certain(timed, settled))
        return;
    if (settled && !timed->disturbed)
        timed->settled_ms = clock_ms();
    live->median_us = reading(timing->median_us, SOURCE_MEASURED);
    const bool many = timing->samples >= TIMED_KERNEL_SAMPLES; /* fewer have no percentiles */
    live->p95_us = many ? reading(timing->p95_us, SOURCE_MEASURED) : (Reading){.value = 0};
    live->p99_us = many ? reading(timing->p99_us, SOURCE_MEASURED) : (Reading){.value = 0};
    live->unsettled = !settled;
    live->single = false;
    live->beside_pictures = timed->disturbed;
    double gb_s = own_bytes / timing->median_us * 1e-3;
    live->effective_gb_s = own_bytes > 0 ? reading(gb_s, SOURCE_MEASURED) : (Reading){0};
}

void timed_kernel_publish_samples(TimedKernel *timed, double own_bytes) {
    double sorted[TIMED_KERNEL_SAMPLES];
    Timing timing;
    for (int i = 0; i < timed->count; i++)
        sorted[i] = timed->samples[i].us;
    timing_summarize(sorted, timed->count, SETTLE, &timing);
    timing.settled &= !timed_kernel_waited(timed);
    timed_kernel_publish(timed, &timing, own_bytes);
}

void timed_kernel_done(TimedKernel *timed) {
    LiveKernel *live = &timed->live;
    double median_us = live->median_us.value;
    timed->done_ms = clock_ms();
    live->turns++;
    if (!timed->disturbed) {
        live->least_us = live->least_us > 0 ? fmin(live->least_us, median_us) : median_us;
        live->most_us = fmax(live->most_us, median_us);
    }
}

/* While rendering, or beside other programs, the clock counts waits for a core, too. The time in
 * which the launch's threads had a core is nearer to the truth. */
void timed_kernel_add_launch(TimedKernel *timed, const BackgroundJob *job, bool disturbed,
                             bool machine_busy) {
    const bool has_undisturbed = timed->count && !timed->disturbed;
    if (disturbed && has_undisturbed)
        return;
    if ((timed->disturbed && !disturbed) || (timed->complete && timed_kernel_waited(timed)))
        timed->count = 0; /* better samples replace these */
    timed->disturbed = disturbed;
    const bool waited = machine_busy || timing_waited(job->busy_us, job->launch_us);
    timed_kernel_add_sample(timed, disturbed || waited ? job->busy_us : job->launch_us,
                            !disturbed && waited);
    timed->live.prepare_us = reading(job->prepare_us, SOURCE_MEASURED);
    timed_kernel_publish_samples(timed, job->own_bytes);
    timed->live.single = true;
    timed->complete = timed->count >= BACKGROUND_SAMPLES;
    timed->live.unsettled |= disturbed || !timed->complete;
    timed_kernel_done(timed);
}

bool timed_kernel_has_figure(const TimedKernel *timed) {
    return timed->live.median_us.source == SOURCE_MEASURED && !timed->live.median_us.stale;
}

bool timed_kernel_due(const TimedKernel *timed, bool idle) {
    if (timed->live.skipped || timed->failed)
        return false;
    const bool refreshes = timed->cost_us <= REFRESH_US || timed_kernel_waited(timed);
    return !timed->complete || (idle && timed->disturbed) ||
           (refreshes && clock_ms() - timed->done_ms > REFRESH_MS);
}

bool timed_kernel_is_slow(const TimedKernel *timed, BevAlign align) {
    double cost = cost_us(timed, align);
    return timed->config.kernel->where == BEV_CPU && (cost == 0 || cost > PATIENCE_US);
}

bool timed_kernel_needs_background(const TimedKernel *timed) {
    return timed_kernel_is_slow(timed, timed->config.align);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* If the middle half of the ratios spreads by more than this factor, the ratios scatter. */
static const double MIDDLE = 1.25;

/* Sorts the ratios. Returns whether they scatter. */
static bool sort_ratios(const Pairs *pairs, double sorted[PAIRS_KEPT]) {
    int count = pairs->count;
    memcpy(sorted, pairs->ratios, (size_t)count * sizeof *sorted);
    sort_ascending(sorted, count);
    return sorted[count - 1 - count / 4] > MIDDLE * sorted[count / 4];
}

void pairs_add(Pairs *pairs, bool is_baseline, double us) {
    double sorted[PAIRS_KEPT];
    if (!(pairs->half_us > 0) || pairs->half_is_baseline == is_baseline) {
        pairs->half_us = us;
        pairs->half_is_baseline = is_baseline;
        return;
    }
    if (pairs->count == PAIRS_KEPT)
        memmove(pairs->ratios, pairs->ratios + 1, (PAIRS_KEPT - 1) * sizeof *pairs->ratios);
    else
        pairs->count++;
    pairs->ratios[pairs->count - 1] = is_baseline ? us / pairs->half_us : pairs->half_us / us;
    pairs->half_us = 0;
    bool scatter = sort_ratios(pairs, sorted);
    pairs->told |= pairs->count == PAIRS_KEPT || (pairs->count >= PAIRS_ENOUGH && !scatter);
}

bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup) {
    double sorted[PAIRS_KEPT];
    int count = speedup->pairs = pairs->count;
    if (count < PAIRS_ENOUGH)
        return false;
    speedup->scatter = sort_ratios(pairs, sorted);
    if (!pairs->told)
        return false;
    speedup->ratio = reading((sorted[(count - 1) / 2] + sorted[count / 2]) / 2, SOURCE_MEASURED);
    speedup->ratio.doubtful = speedup->scatter;
    speedup->least = sorted[0];
    speedup->most = sorted[count - 1];
    return true;
}

/* ---- recorded figures ------------------------------------------------------------------------ */

static Reading recorded(double value) {
    return isfinite(value) ? reading(value, SOURCE_RECORDED) : (Reading){.value = 0};
}

/* Returns the ceiling of the recorded machine for the kernel's footprint. */
static double ceiling_gb_s(const Recording *from, const RecordedRow *row) {
    const Gpu *gpu = gpu_of_device(from->label);
    return gpu ? limits_ceiling_gb_s(&from->limits, row->footprint_mb * 1e6, gpu->l2_bytes) : NAN;
}

RecordedScene recorded_scene(const RecordedSet *set, const FrameInputs *inputs) {
    const BevMap *map = &inputs->map->map;
    const int64_t channels = inputs->features->shape.channels;
    if (inputs->map->changed || operator_is_changed(&inputs->scene->sizes))
        return (RecordedScene){set, "", channels, ""};
    return (RecordedScene){set, inputs->scene->scene.name, channels,
                           recorded_scene_like(set, channels, map->points, map->intervals)};
}

/* Fills in what was published and recorded of the configuration on each GPU, on this map. */
static void fill_gpus(RecordedScene of, const KernelConfig *config, LiveKernel *live) {
    const char *column = published_column(config->kernel, NULL);
    const bool nearest = config->align == BEV_NEAREST;
    for (int i = 0; i < gpu_count; i++) {
        const Published *row =
            nearest ? published_find(gpus[i].name, of.like, of.channels, column, config->dtype)
                    : NULL;
        live->published_us[i] =
            row ? reading(row->latency_us, SOURCE_PUBLISHED) : (Reading){.value = 0};
        const Recording *from;
        const RecordedRow *there =
            recorded_on(of.set, &gpus[i], of.like, of.channels, config, &from);
        live->on_gpu[i] =
            there ? (RecordedOnGpu){there->median_us, from->label} : (RecordedOnGpu){.us = NAN};
    }
}

void timed_kernel_stand_in(RecordedScene of, const KernelConfig *config, LiveKernel *live) {
    bool elsewhere = live->median_us.source == SOURCE_RECORDED;
    if (elsewhere || recorded_find(of.set, of.scene, of.channels, config, NULL))
        timed_kernel_show_recorded(of, config->dtype, config->align, live);
    else {
        live->recorded_us = (Reading){.value = 0};
        fill_gpus(of, config, live);
    }
}

static Reading recorded_with(RecordedScene of, const char *kernel, const KernelConfig *config,
                             const char *cache) {
    const RecordedRow *row = recorded_row(of.set, of.scene, of.channels, kernel, config->dtype,
                                          config->align, cache, NULL);
    return recorded(row ? row->median_us : NAN);
}

void timed_kernel_show_recorded(RecordedScene of, BevDtype dtype, BevAlign align,
                                LiveKernel *live) {
    const KernelConfig config = {live->kernel, dtype, align};
    const Recording *from = NULL;
    const RecordedRow *row = recorded_find(of.set, of.scene, of.channels, &config, &from);
    live->median_us = live->recorded_us = recorded(row ? row->median_us : NAN);
    live->unsettled = row && row->unsettled;
    live->p95_us = recorded(row ? row->p95_us : NAN);
    live->p99_us = recorded(row ? row->p99_us : NAN);
    live->effective_gb_s = recorded(row ? row->effective_gb_s : NAN);
    live->ceiling_gb_s = recorded(row ? ceiling_gb_s(from, row) : NAN);
    snprintf(live->recorded_on, sizeof live->recorded_on, "%.*s", (int)sizeof live->recorded_on - 1,
             row ? from->label : "");
    snprintf(live->recorded_file, sizeof live->recorded_file, "%s", row ? from->file : "");
    live->cold_us = recorded_with(of, live->kernel->name, &config, "cold");
    live->single_us = recorded_with(of, live->kernel->name, &config, "single");
    const RecordedRow *counted = recorded_counters(of.set, of.scene, of.channels, &config);
    for (int i = 0; i < COUNTER_COUNT; i++)
        live->counted[i] = recorded(counted ? counted->counters.value[i] : NAN);
    fill_gpus(of, &config, live);
}

void timed_kernel_recorded_speedup(RecordedScene of, const Job *job, LiveSpeedup *speedup) {
    const KernelConfig *config = &job->config, *baseline = &job->baseline;
    if (kernel_config_equal(config, baseline))
        speedup->ratio = reading(1, SOURCE_COMPUTED);
    for (int i = 0; i < of.set->count && !speedup->ratio.source; i++) {
        const RecordedSet one = {&of.set->recordings[i], 1};
        const RecordedRow *row = recorded_find(&one, of.scene, of.channels, config, NULL);
        const RecordedRow *base = recorded_find(&one, of.scene, of.channels, baseline, NULL);
        bool known = row && base && !row->unsettled && !base->unsettled;
        if (known)
            speedup->ratio = recorded(base->median_us / row->median_us);
        snprintf(speedup->recorded_on, sizeof speedup->recorded_on, "%.95s",
                 known ? of.set->recordings[i].label : "");
        snprintf(speedup->recorded_file, sizeof speedup->recorded_file, "%s",
                 known ? of.set->recordings[i].file : "");
    }
}

/* The kernels that displays list, or the others. */
typedef enum { LISTED_KERNELS, OTHER_KERNELS } RowsOf;

/* Adds a row with the recorded figures for each of these kernels that goes in the direction of
 * `config`. */
static void add_recorded_rows(RecordedScene of, const KernelConfig *config, RowsOf kernels,
                              LiveKernel *rows, int *count) {
    *count = 0;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        const bool belongs = bev_is_listed(kernel) == (kernels == LISTED_KERNELS);
        if (!belongs || kernel->direction != config->kernel->direction)
            continue;
        assert(*count < LIVE_MAX_KERNELS);
        LiveKernel *row = &rows[(*count)++];
        *row = (LiveKernel){.kernel = kernel};
        timed_kernel_show_recorded(of, config->dtype, config->align, row);
    }
}

void timed_kernel_fill_elsewhere(RecordedScene of, const KernelConfig *config, LiveData *live) {
    live->clear_us = recorded_with(of, "clear", config, "warm");
    add_recorded_rows(of, config, OTHER_KERNELS, live->elsewhere, &live->elsewhere_count);
}

void timed_kernel_fill_recorded(const RecordedSet *set, const FrameInputs *inputs, const Job *job,
                                LiveData *live) {
    const RecordedScene of = recorded_scene(set, inputs);
    const KernelConfig *config = &job->config, *baseline = &job->baseline;
    add_recorded_rows(of, config, LISTED_KERNELS, live->kernels, &live->kernel_count);
    for (int i = 0; i < live->kernel_count; i++) {
        LiveKernel *row = &live->kernels[i];
        const KernelConfig one = {row->kernel, config->dtype, config->align};
        row->skipped = inputs_unsupported(inputs, &one);
    }
    timed_kernel_fill_elsewhere(of, config, live);
    live->baseline = (LiveKernel){.kernel = baseline->kernel};
    timed_kernel_show_recorded(of, baseline->dtype, baseline->align, &live->baseline);
    live->speedup = (LiveSpeedup){.pairs = 0};
    timed_kernel_recorded_speedup(of, job, &live->speedup);
}
