/* SPDX-License-Identifier: MIT */
#include "src/state/live_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const stage_names[STAGE_COUNT] = {
    [STAGE_FEATURES] = "features", [STAGE_MAP] = "map",   [STAGE_ENCODE] = "encode",
    [STAGE_UPLOAD] = "upload",     [STAGE_POOL] = "pool", [STAGE_READ] = "read back",
    [STAGE_DRAW] = "draw",
};

void live_init(LiveData *live) {
    memset(live, 0, sizeof *live);
    LiveProbe *probe = &live->probe;
    probe->cell = probe->interval = probe->channel = -1;
    probe->value = probe->fp64_original = probe->channel_value = probe->channel_fp64 = NAN;
    live_forget_accuracy(live);
}

static const LiveAccuracy no_accuracy = {.max_abs = NAN,
                                         .largest = NAN,
                                         .rel_l2 = NAN,
                                         .channels_l2 = NAN,
                                         .cosine = NAN,
                                         .worst_cell = -1};

LiveAccuracy live_unjudged(double time_s) {
    LiveAccuracy accuracy = no_accuracy;
    accuracy.source = SOURCE_MEASURED;
    accuracy.gate_a = accuracy.gate_b = accuracy.gate_c = accuracy.atol_1e2 = LIVE_SKIP;
    accuracy.time_s = time_s;
    return accuracy;
}

void live_forget_accuracy(LiveData *live) {
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        live->accuracy[dtype] = no_accuracy;
}

const char *live_accuracy_mark(const LiveData *live, BevDtype dtype) {
    const LiveAccuracy *accuracy = &live->accuracy[dtype];
    return accuracy->source && accuracy->stale ? "!" : "";
}

const LiveKernel *live_kernel(const LiveData *live, const BevKernel *kernel) {
    for (int i = 0; i < live->kernel_count; i++)
        if (live->kernels[i].kernel == kernel)
            return &live->kernels[i];
    return NULL;
}

/* Compares kernels by name, because a recording may have kernels that this build lacks. */
const LiveKernel *live_known_kernel(const LiveData *live, const BevKernel *kernel) {
    for (int i = 0; i < live->kernel_count; i++)
        if (!strcmp(live->kernels[i].kernel->name, kernel->name))
            return &live->kernels[i];
    for (int i = 0; i < live->elsewhere_count; i++)
        if (!strcmp(live->elsewhere[i].kernel->name, kernel->name))
            return &live->elsewhere[i];
    return NULL;
}

ShortText live_side_label(const LiveData *live, bool baseline) {
    const KernelConfig *config = baseline ? &live->job.baseline : &live->job.config;
    const BevKernel *pooled_by = baseline ? live->frame.baseline_by : live->frame.pooled_by;
    if (live->frame.other_name[0])
        return short_text("%s", baseline ? live->frame.other_name : live->frame.scene_name);
    if (job_rigs_differ(&live->job) && kernel_config_equal(&live->job.config, &live->job.baseline))
        return short_text(baseline ? "rig as pinned" : "rig now");
    if (!config->kernel)
        return short_text("n/a");
    const bool by_stand_in = live->stand_in && pooled_by && pooled_by != config->kernel;
    ShortText label = kernel_config_label(config);
    if (by_stand_in)
        text_add(label.text, sizeof label.text, " (by %s)", pooled_by->title);
    return label;
}

/* Appends ", NAME 1.60UNIT" or ", NAME n/a" to the text. */
static void append_figure(char *text, size_t size, const char *name, double value,
                          const char *unit) {
    text_add(text, size, isnan(value) ? "%s%s n/a" : "%s%s %.2f%s", text[0] ? ", " : "", name,
             value, unit);
}

bool live_counters_line(const LiveCounters *counters, const Job *job, char *text, size_t size) {
    text[0] = '\0';
    if (counters->source == SOURCE_UNKNOWN || !kernel_config_equal(&counters->config, &job->config))
        return false;
    append_figure(text, size, "DRAM", counters->dram_bytes * 1e-6, " MB");
    append_figure(text, size, "L2", counters->l2_sectors * 1e-6, " M sectors");
    append_figure(text, size, "L1", counters->l1_sectors * 1e-6, " M");
    append_figure(text, size, "issue", counters->issue_percent, " %");
    append_figure(text, size, "occupancy", counters->occupancy_percent, " %");
    return true;
}

Reading live_latency(const LiveData *live, const LiveKernel *row) {
    if (!row)
        return (Reading){.value = 0};
    Reading latency = row->median_us;
    latency.doubtful = latency.source == SOURCE_RECORDED   ? live->timed && !row->skipped
                       : latency.source == SOURCE_MEASURED ? row->unsettled
                                                           : false;
    return latency;
}

Reading live_speedup(const LiveData *live, const LiveKernel *row) {
    const Reading unknown = {.value = NAN};
    const LiveKernel *baseline = &live->baseline;
    const Reading latency = live_latency(live, row), base = live_latency(live, baseline);
    const bool same_source = latency.source && latency.source == base.source;
    if (!same_source || latency.stale || base.stale || !(latency.value > 0))
        return unknown;
    const bool same_recording = !strcmp(row->recorded_on, baseline->recorded_on);
    if (latency.source == SOURCE_RECORDED &&
        (row->unsettled || baseline->unsettled || !same_recording))
        return unknown;
    Reading speedup = reading(base.value / latency.value, latency.source);
    speedup.doubtful = latency.doubtful || base.doubtful;
    return speedup;
}

LiveVerdict live_tolerance(const LiveAccuracy *accuracy) {
    if (!accuracy->source || accuracy->stale || !isfinite(accuracy->max_abs))
        return LIVE_UNKNOWN;
    return accuracy->max_abs > LIVE_TOLERANCE ? LIVE_FAIL : LIVE_PASS;
}

Headline live_headline(const State *state, const LiveData *live) {
    Headline headline = {.serial = live->serial};
    const KernelConfig *config = &live->job.config;
    const LiveAccuracy *accuracy = &live->accuracy[config->dtype];
    const LiveSteps *steps = live->frame.steps;
    const LiveKernel *row = live_kernel(live, config->kernel);
    if (live->memory.known)
        headline.footprint_bytes =
            reading(bev_footprint_total(live->memory.footprint), SOURCE_MODEL);
    headline.latency_us = live_latency(live, row);
    if (row && headline.latency_us.source == SOURCE_MEASURED) {
        const double noise = row->kernel->where == BEV_CPU ? 0.1 : 0.02; /* of a latency */
        headline.latency_us.doubtful |= row->beside_pictures;
        headline.swing_us[0] = (1 - noise) * row->least_us;
        headline.swing_us[1] = (1 + noise) * row->most_us;
    }
    if (steps)
        headline.step_count = steps->selection.step_count > steps->baseline.step_count
                                  ? steps->selection.step_count
                                  : steps->baseline.step_count;
    headline.max_abs = reading(accuracy->max_abs, accuracy->source);
    headline.max_abs.stale = accuracy->stale;
    headline.dtype = config->dtype;
    headline.prune_change = accuracy->prune_change;
    snprintf(headline.max_abs_of, sizeof headline.max_abs_of, "%s",
             live_judged_text(&state->scene, accuracy).text);
    return headline;
}

int live_step_points(const LiveData *live, const State *state,
                     const StepPoint *list[LIVE_MAX_CONTRIBUTIONS]) {
    const LiveSteps *recorded = live->frame.steps;
    int count = 0;
    if (!recorded || state->step_at >= recorded->selection.step_count)
        return 0;
    const Steps *steps = &recorded->selection;
    const Step *step = &steps->steps[state->step_at];
    for (int i = 0; i < step->point_count && count < LIVE_MAX_CONTRIBUTIONS; i++) {
        const StepPoint *point = &steps->points[step->first_point + i];
        if (state->step_lane < 0 || step_has_lane(&point->lanes, state->step_lane))
            list[count++] = point;
    }
    return count;
}

LiveContribution live_contribution(const BevShape *shape, const Features *features, int32_t rank,
                                   float weight) {
    const StepPixel pixel = step_pixel(shape, rank);
    return (LiveContribution){.camera = (int)pixel.camera,
                              .w = (int32_t)pixel.w,
                              .h = (int32_t)pixel.h,
                              .depth_bin = (int32_t)pixel.bin,
                              .depth = features->depth[rank],
                              .weight = weight};
}

int live_lit(const LiveData *live, const State *state,
             LiveContribution list[LIVE_MAX_CONTRIBUTIONS]) {
    const LiveProbe *probe = &live->probe;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    if (!live->frame.steps || !live->frame.features) {
        int count = state->pinned ? probe->contribution_count : 0;
        memcpy(list, probe->contributions, (size_t)count * sizeof *list);
        return count;
    }
    int count = live_step_points(live, state, points);
    for (int i = 0; i < count; i++) {
        const StepPoint *point = points[i];
        list[i] = live_contribution(&live->frame.steps->selection.shape, live->frame.features,
                                    point->depth, point->weight);
    }
    return count;
}

Slice live_slice(const LiveFrame *frame, int slice) {
    const BevShape flat = {.nx = frame->nx, .ny = frame->ny};
    return slice_of(frame->shape.nz > 1 ? &frame->shape : &flat, slice);
}

/* ---- texts and bars -------------------------------------------------------------------------- */

Ladder ladder_of(const State *state, const LiveData *live) {
    Ladder ladder = {.bars = SOURCE_MEASURED};
    double bars_us[LIVE_MAX_KERNELS];
    int bar_count = 0, recorded = 0, measured = 0;
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *row = &live->kernels[i];
        if (row->kernel->where != state_where(state))
            continue;
        ladder.kernels[ladder.count++] = row;
        recorded += row->median_us.source == SOURCE_RECORDED;
        measured += row->median_us.source == SOURCE_MEASURED;
    }
    if (recorded > measured)
        ladder.bars = SOURCE_RECORDED;
    for (int i = 0; i < ladder.count; i++)
        if (ladder.kernels[i]->median_us.source == ladder.bars)
            bars_us[bar_count++] = ladder.kernels[i]->median_us.value;
    if (!bar_count)
        return ladder;
    sort_ascending(bars_us, bar_count);
    ladder.longest_us = bars_us[bar_count - 1];
    /* Bars end at twice the median. A very slow kernel would make the other bars too short. */
    ladder.scale_us = fmin(2 * bars_us[bar_count / 2], ladder.longest_us);
    return ladder;
}

bool model_follows(const KernelConfig *config) {
    if (!config->kernel || config->kernel->direction == BEV_FORWARD)
        return true;
    const BevKernel *row = model_row(config->kernel);
    return row && traced_place(row) >= 0;
}

const char *unknown_reason(Unknown unknown, const LiveData *live, const LiveKernel *row,
                           BevDtype dtype) {
    const char *waits = live->machine_busy ? "waits: CPU busy" : "waits for its turn";
    if (unknown == UNKNOWN_MODEL && !model_follows(&live->job.config))
        return "no model of this kernel";
    if (unknown == UNKNOWN_MODEL)
        return live->timed ? "waits for the simulation" : "no model of this";
    if (unknown == UNKNOWN_ACCURACY && row && !(row->kernel->dtypes >> dtype & 1))
        return "not in this kernel";
    if (unknown == UNKNOWN_ACCURACY)
        return live->timed ? waits : "not checked";
    if (row && row->skipped) /* from here on: why a latency is unknown */
        return row->skipped;
    if (row && row->failed)
        return "failed on this problem";
    if (!live->timed)
        return row ? "not recorded" : "not measured";
    return row && row->being_timed ? "being timed" : waits;
}

ShortText machine_text(const char *label) {
    static const char *const left_out[] = {"(R)", "(TM)", " Processor", " CPU"};
    ShortText machine = short_text("%.*s", (int)strcspn(label, ","), label);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        const size_t length = strlen(left_out[i]);
        char *at;
        while ((at = strstr(machine.text, left_out[i])))
            memmove(at, at + length, strlen(at + length) + 1);
    }
    return machine;
}

void speedup_origin(const LiveData *live, char *text, size_t size) {
    const LiveSpeedup *speedup = &live->speedup;
    if (speedup->ratio.source == SOURCE_MEASURED && speedup->most > 0)
        snprintf(text, size, "%.2f to %.2f in %d pairs", speedup->least, speedup->most,
                 speedup->pairs);
    else if (speedup->ratio.source == SOURCE_MEASURED)
        snprintf(text, size, "of the medians");
    else if (speedup->ratio.source == SOURCE_RECORDED)
        snprintf(text, size, "recorded on %s", machine_text(speedup->recorded_on).text);
    else if (live->timed && speedup->ratio.source != SOURCE_COMPUTED)
        snprintf(text, size, "%d pairs %s", speedup->pairs, speedup->scatter ? "scatter" : "timed");
    else
        snprintf(text, size, "%s", speedup->ratio.source ? "" : "not recorded");
}

ShortText latency_origin(const LiveKernel *row) {
    const FigureSource source = row->median_us.source;
    const char *how = "";
    if (source == SOURCE_MEASURED)
        how = row->beside_pictures ? " while rendering: noisy"
              : row->unsettled     ? ", unsettled"
              : row->single        ? ", single launches"
                                   : "";
    return short_text("%s%s%s", source_names[source], how, row->median_us.stale ? ", stale" : "");
}

/* Returns the mark of a median. A screen has room for one mark: the strongest warning. */
const char *ladder_mark(const LiveKernel *row) {
    const char *mark = reading_mark(&row->median_us);
    if (mark[0] || !row->median_us.source)
        return mark;
    if (row->beside_pictures)
        return "b";
    return row->unsettled ? "?" : row->single ? "s" : "";
}

void ladder_note(const Ladder *ladder, bool machine_busy, char *note, size_t size) {
    const struct {
        char mark;
        const char *text;
    } marks[] = {{'r', "r recorded"},
                 {'!', "! stale"},
                 {'s', "s single launches"},
                 {'b', "b while rendering: noisy"},
                 {'?', machine_busy ? "? CPU busy" : "? unsettled"}};
    bool measured = false, mark_occurs[128] = {false};
    for (int i = 0; i < ladder->count; i++) {
        const LiveKernel *row = ladder->kernels[i];
        measured |= row->median_us.source == SOURCE_MEASURED;
        mark_occurs[(unsigned char)ladder_mark(row)[0]] = true;
    }
    snprintf(note, size, "%s", measured ? "measured" : mark_occurs['r'] ? "" : "not measured");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (mark_occurs[(unsigned char)marks[i].mark])
            text_add(note, size, "%s%s", note[0] ? ", " : "", marks[i].text);
}

bool pooled_alike(const LiveData *live) {
    return live->stand_in && live->difference.alike;
}

ShortText difference_missing(const State *state, const LiveData *live) {
    if (state->compare != COMPARE_DIFFERENCE || !pooled_alike(live))
        return (ShortText){""};
    return short_text("both sides are drawn by %s %s", live->stand_in->title,
                      state->playing ? "while playing: Space pauses and shows the difference"
                                     : "until the other picture is computed");
}

void comparison_text(const State *state, const LiveData *live, char *text, size_t size) {
    const LiveDifference *difference = &live->difference;
    const KernelConfig *base = &live->job.baseline;
    text[0] = '\0';
    if (!difference->known)
        return;
    if (pooled_alike(live)) {
        const BevKernel *left = base->kernel, *right = live->job.config.kernel;
        const bool of_kernels = left && !live->frame.other_name[0]; /* else of two scenes */
        if (of_kernels && strcmp(left->title, right->title) != 0)
            snprintf(text, size, "%s | %s, ", left->title, right->title);
        text_add(text, size, "both drawn by %s until %s", live->stand_in->title,
                 state->playing ? "paused (Space)" : "the other picture is computed");
        return;
    }
    if (live->stand_in)
        snprintf(text, size, "picture by %s: ", live->stand_in->title);
    text_add(text, size, "%s cell%s from ",
             text_of_unit(UNIT_COUNT, (double)difference->cells).text,
             difference->cells == 1 ? " differs" : "s differ");
    if (live->frame.other_name[0])
        text_add(text, size, "%.47s", live->frame.other_name);
    else if (live->job.baseline_pinned || !base->kernel)
        text_add(text, size, "the pinned baseline");
    else
        text_add(text, size, "%s %s", base->kernel->title, bev_dtypes[base->dtype].title);
    if (difference->most > 0)
        text_add(text, size, ", by up to %s", text_of_unit(UNIT_ERROR, difference->most).text);
    if (difference->moved_m > 0 && !lesson_asks(&state->lesson))
        text_add(text, size, ", points at %d m moved %.2f m", LIVE_MOVED_AT_M, difference->moved_m);
}

const char *model_whose(const LiveData *live) {
    const BevKernel *kernel = live->job.config.kernel;
    return kernel && kernel->where == BEV_CPU ? "model of the CUDA kernel" : "model";
}

const PredictedKernel *prediction_kernel(const State *state, const LiveData *live) {
    const KernelConfig *config = &live->job.config;
    const MemoryModel *model = live->model;
    const Gpu gpu = state_gpu(state);
    if (!model || !config->kernel || model->dtype != config->dtype || model->align != config->align)
        return NULL; /* only the bars still show the model of an earlier format */
    return model_of_kernel(model, config->kernel, &gpu);
}

Prediction prediction_of(const State *state, const LiveData *live,
                         const PredictedKernel *predicted) {
    return model_predict(live->model, predicted, state->gpu, &state->edit);
}

ShortText prediction_gpu(const State *state) {
    return short_text("%.60s%.90s", gpus[state->gpu].title, gpu_edit_text(&state->edit).text);
}

ShortText prediction_sectors(const PredictedKernel *predicted) {
    const double sectors = predicted->sectors_per_request;
    return isfinite(sectors) ? short_text("%.1f sectors a request", sectors)
                             : short_text("n/a sectors a request");
}

/* Returns the length of the longest interval of the model's map. */
static int64_t model_longest(const MemoryModel *model) {
    return model->formats[model->dtype].workload.longest;
}

int live_findings(const State *state, const LiveData *live, Finding findings[FINDINGS_MAX]) {
    if (!prediction_kernel(state, live))
        return 0;
    const ScatterStats *stats = &live->intervals.stats;
    const BevKernel *kernel = live->job.config.kernel;
    const bool counts_points = state->scene.operator_spec.kind == OPERATOR_HISTOGRAM;
    const WorkflowScene scene = {.name = state->menu.scenes.names[live->job.scene],
                                 .of = !state->scene.has_operator ? WORKFLOW_POOLING
                                       : counts_points            ? WORKFLOW_COUNTING
                                                                  : WORKFLOW_OPERATOR};
    IntervalLengths lengths = {0};
    if (live->intervals.known)
        lengths = (IntervalLengths){.longest = model_longest(live->model),
                                    .median = stats->median,
                                    .cells = stats->cells,
                                    .filled = stats->intervals,
                                    .slices = live->frame.shape.nz};
    int count = findings_of(live->model, kernel, state->gpu, &state->edit, &lengths, findings);
    if (kernel->direction == BEV_FORWARD)
        count += workflow_of(live->model, kernel, state->gpu, &state->edit, &lengths, &scene,
                             findings + count);
    return count;
}

static int by_gain(const void *left, const void *right) {
    const Advice *a = left, *b = right;
    return (a->finding.gain < b->finding.gain) - (a->finding.gain > b->finding.gain);
}

/* Fills in the gain of the selection by pruning. Where the selection gains little, the gain is that
 * of the kernel that is fastest after pruning. Returns false where no gain is known or worth it. */
static bool advise_pruning(const State *state, const LiveData *live, Advice *advice) {
    const PredictedKernel *selected = prediction_kernel(state, live);
    const double least_gain = 1.05; /* a smaller gain is no advice */
    const int gpu = state->gpu;
    if (!selected || !live->model->pruned.count || gpu_edit_any(&state->edit))
        return false;
    const PrunedModel *pruned = &live->model->pruned;
    const PrunedKernel *best = pruned->kernels, *own = NULL; /* the fastest; the selected */
    for (int i = 0; i < pruned->count; i++) {
        const PrunedKernel *row = &pruned->kernels[i];
        best = row->latency_us[gpu] < best->latency_us[gpu] ? row : best;
        own = row->kernel == model_row(live->job.config.kernel) ? row : own;
    }
    Prediction unused;
    const PredictedKernel *fastest_now = findings_fastest(live->model, gpu, NULL, &unused);
    const PredictedKernel *best_now = model_of_kernel(live->model, best->kernel, &gpus[gpu]);
    const bool other_leads = fastest_now && best_now && fastest_now->kernel != best_now->kernel;
    double gain = own ? selected->predicted[gpu].latency_us / own->latency_us[gpu] : 0;
    const bool of_best = gain < least_gain && best_now;
    if (of_best)
        gain = best_now->predicted[gpu].latency_us / best->latency_us[gpu];
    *advice = (Advice){.finding = {.gain = gain},
                       .command = {.action = ACTION_PRUNE},
                       .of = of_best ? best->kernel->title : NULL,
                       .estimate = (of_best ? best_now : selected)->estimate};
    snprintf(advice->command.argument, sizeof advice->command.argument, "%g", pruned->below);
    snprintf(advice->finding.advice, sizeof advice->finding.advice,
             "prune < %g at %s (drops %.0f %% of points)%s%s%s", pruned->below,
             live_moment_text(&state->scene, pruned->time_s).text, 100 * pruned->share,
             other_leads ? ": " : "", other_leads ? best->kernel->title : "",
             other_leads ? " leads" : "");
    return gain >= least_gain;
}

int live_advice(const State *state, const LiveData *live, Advice advice[FINDINGS_MAX + 1]) {
    Finding findings[FINDINGS_MAX];
    const PredictedKernel *selected = prediction_kernel(state, live);
    int count = live_findings(state, live, findings);
    int kept = advise_pruning(state, live, &advice[0]) ? 1 : 0;
    for (int i = 0; i < count; i++) {
        const BevKernel *faster = findings[i].faster;
        const BevKernel *here = faster ? bev_counterpart(faster, state_where(state)) : NULL;
        const PredictedKernel *predicted = faster ? model_kernel(live->model, faster) : NULL;
        if (!(findings[i].gain > 0))
            continue;
        Advice *next = &advice[kept++];
        *next = (Advice){.finding = findings[i],
                         .command = {.action = here ? ACTION_KERNEL : ACTION_EXPLAIN},
                         .estimate = selected->estimate || (predicted && predicted->estimate)};
        snprintf(next->command.argument, sizeof next->command.argument, "%s",
                 here ? kernel_word(here) : short_text("%d", i + 1).text);
    }
    qsort(advice, (size_t)kept, sizeof *advice, by_gain);
    return kept;
}

ShortText live_moment_text(const SceneFacts *scene, double time_s) {
    if (scene->moment_s <= 0)
        return short_text("t %.2f s", time_s);
    return short_text("moment %ld of %d", 1 + lround(time_s / scene->moment_s), scene->moments);
}

bool live_probe_empty(const LiveProbe *probe) {
    const LiveContribution *heaviest = probe->contributions;
    return probe->contribution_count && heaviest->depth * heaviest->weight == 0;
}

/* ---- the story: times ------------------------------------------------------------------------ */

/* Returns the model's row of a kernel. Rows are compared by name, because a model may have kernels
 * that this build lacks. NULL: the model has no such row. */
static const PredictedKernel *predicted_row(const State *state, const LiveData *live,
                                            const BevKernel *kernel) {
    const MemoryModel *model = live->model;
    Gpu gpu = state_gpu(state);
    if (model && kernel->large_l2)
        return model_v3(&model->formats[model->dtype], &gpu);
    for (int i = 0; model && i < model->kernel_count; i++)
        if (model->kernels[i].kernel && !strcmp(model->kernels[i].name, kernel->name))
            return &model->kernels[i];
    return NULL;
}

const RecordedOnGpu *story_recorded(const State *state, const LiveKernel *row) {
    const RecordedOnGpu *recorded = row ? &row->on_gpu[state->gpu] : NULL;
    return recorded && recorded->label && !gpu_edit_any(&state->edit) ? recorded : NULL;
}

/* Returns a kernel's latency from that source on the chosen GPU. NAN: the source has none. */
static double time_from(FigureSource source, const State *state, const LiveData *live,
                        const BevKernel *kernel) {
    const LiveKernel *row = live_known_kernel(live, kernel);
    const PredictedKernel *predicted = predicted_row(state, live, kernel);
    const bool forward = kernel->direction == BEV_FORWARD;
    if (source == SOURCE_MODEL)
        return predicted ? prediction_of(state, live, predicted).latency_us : NAN;
    /* Forward, only times of the chosen GPU count, measured ones if this machine has that GPU. */
    if (!row || source == SOURCE_UNKNOWN || (forward && kernel->where != BEV_CUDA))
        return NAN;
    const RecordedOnGpu *on_gpu = story_recorded(state, row);
    if (source == SOURCE_RECORDED && forward)
        return on_gpu ? on_gpu->us : NAN;
    if (source == SOURCE_RECORDED)
        return row->recorded_us.source ? row->recorded_us.value : NAN;
    const bool chosen_is_this_gpu = state->gpu == state->menu.gpu && !gpu_edit_any(&state->edit);
    const bool settled = row->median_us.source == source && !row->unsettled;
    const bool usable = settled && !row->median_us.stale && (!forward || chosen_is_this_gpu);
    return usable ? row->median_us.value : NAN;
}

/* Returns the label of the recording of a kernel's time; "": none was recorded. */
static const char *recording_label(const State *state, const LiveData *live,
                                   const BevKernel *kernel) {
    const LiveKernel *row = live_known_kernel(live, kernel);
    const RecordedOnGpu *recorded = story_recorded(state, row);
    return recorded ? recorded->label : row && row->recorded_us.source ? row->recorded_on : "";
}

/* Whether two labels of recordings name one machine. The date after the last comma may differ. */
static bool same_machine(const char *a, const char *b) {
    const char *date_a = strrchr(a, ','), *date_b = strrchr(b, ',');
    return date_a && date_b && date_a - a == date_b - b && !strncmp(a, b, (size_t)(date_a - a));
}

/* Whether the source has the times of all bars whose kernels take the selected format and align.
 * Recordings must be of one machine. */
static bool has_all_times(FigureSource source, const Story *story, const State *state,
                          const LiveData *live) {
    const KernelConfig *config = &live->job.config;
    const char *label_before = NULL;
    for (int i = 0; i < story->count; i++) {
        const BevKernel *kernel = story->bars[i].kernel;
        const char *label = recording_label(state, live, kernel);
        const bool takes_config =
            kernel->dtypes >> config->dtype & 1 && kernel->aligns >> config->align & 1;
        if (takes_config && isnan(time_from(source, state, live, kernel)))
            return false;
        if (source == SOURCE_RECORDED && label_before && !same_machine(label_before, label))
            return false;
        label_before = label;
    }
    return story->count > 0;
}

/* Returns the first source that has all times. Times of two sources cannot be compared. */
static FigureSource source_of_times(const Story *story, const State *state, const LiveData *live) {
    const BevKernel *kernel = live->job.config.kernel;
    const bool modelled = live->model && kernel && kernel->direction == BEV_FORWARD;
    return has_all_times(SOURCE_MEASURED, story, state, live)   ? SOURCE_MEASURED
           : has_all_times(SOURCE_RECORDED, story, state, live) ? SOURCE_RECORDED
           : modelled                                           ? SOURCE_MODEL
                                                                : SOURCE_UNKNOWN;
}

/* Whether the published time is of another form of V3 than the model chooses. On the A6000 the
 * article timed the form for small L2s. The model may choose the form for large L2s. */
static bool takes_other_form(const State *state, const LiveData *live, const BevKernel *kernel) {
    const MemoryModel *model = live->model;
    const Gpu gpu = state_gpu(state);
    return model && kernel->large_l2 && !strcmp(gpu.name, "a6000") &&
           model_v3_choice(&model->formats[model->dtype], &gpu).kernel == kernel->large_l2;
}

/* ---- the story: why a kernel takes its time -------------------------------------------------- */

/* Writes the reason that limits a kernel at three lengths: `why`, `short_why` and `brief`. Only the
 * default kernel cuts long cells. Two of its texts begin with the parts of its work. */
static void say_why(const State *state, const LiveData *live, const PredictedKernel *predicted,
                    StoryBar *bar) {
    const Prediction prediction = prediction_of(state, live, predicted);
    const bool cuts = predicted->kernel->is_default;
    const bool tiles = predicted->profile.counts.form->owner == BEV_OWNS_TILE;
    const char *const work = !cuts                             ? ""
                             : tiles                           ? "tiles, long cells cut: "
                             : prune_is_off(&state->job.prune) ? "pieces, long cells cut: "
                                                               : "too few points for tiles: ";
    const char *const short_work = !cuts ? "" : tiles ? "tiles: " : "pieces: ";
    char reason[sizeof bar->why];
    bar->reason =
        findings_reason(predicted, &prediction, model_longest(live->model), reason, sizeof reason);
    const char *brief = limit_brief(reason);
    const bool cell = bar->reason == REASON_LONG_CELLS, sums = bar->reason == REASON_ATOMICS;
    snprintf(bar->why, sizeof bar->why, "%s%s", work, cuts ? brief : reason);
    if (!cuts && cell)
        snprintf(bar->short_why, sizeof bar->short_why, "waits for %lld-point cells",
                 (long long)model_longest(live->model));
    else
        snprintf(bar->short_why, sizeof bar->short_why, "%s%.38s", short_work, brief);
    const char *const fixed = cuts   ? "cuts long cells"
                              : cell ? "waits: long cells"
                              : sums ? "atomics in the L2"
                                     : NULL;
    const int before_colon = (int)strcspn(brief, ":");
    if (fixed)
        snprintf(bar->brief, sizeof bar->brief, "%s", fixed);
    else
        snprintf(bar->brief, sizeof bar->brief, "%.*s", before_colon, brief);
}

/* Writes how many points of a long cell the kernel loads together: "8 points at a time". "": their
 * number is no whole one. */
static ShortText points_together(const PredictedKernel *predicted, BevDtype dtype) {
    const double points = bev_points_in_flight(predicted->profile.counts.form, dtype);
    if (points != floor(points))
        return (ShortText){""};
    return short_text("%.0f %s at a time", points, points > 1 ? "points" : "point");
}

/* Writes what adds to the reason: what decoding a format costs, or, where it costs little, how many
 * points are loaded together. */
static void say_more(const State *state, const LiveData *live, StoryBar *bar) {
    const PredictedKernel *predicted = predicted_row(state, live, bar->kernel);
    const double slow = 2; /* instructions a value; an FP32 value takes one */
    const BevDtype dtype = predicted ? predicted->profile.dtype : live->job.config.dtype;
    const Gpu gpu = state_gpu(state);
    const BevGpuFacts facts = gpu_facts(&gpu);
    if (predicted && predicted->kernel->is_default && bev_dtypes[dtype].bits < 16) {
        snprintf(bar->more, sizeof bar->more, "decodes a pixel's features once for all its points");
        snprintf(bar->short_more, sizeof bar->short_more, "decodes once for all points");
    }
    if (!predicted || bar->reason != REASON_LONG_CELLS)
        return;
    const double each = bev_channel_instructions(predicted->profile.counts.form, dtype, &facts);
    const ShortText together = points_together(predicted, dtype);
    if (each <= slow) {
        snprintf(bar->more, sizeof bar->more, "%s", together.text);
        snprintf(bar->short_more, sizeof bar->short_more, "%.39s", together.text);
        return;
    }
    snprintf(bar->more, sizeof bar->more, "decoding %s: %.1f instructions a value",
             bev_dtypes[dtype].title, each);
    snprintf(bar->short_more, sizeof bar->short_more, "decoding %s", bev_dtypes[dtype].title);
}

static void fill_time(StoryBar *bar, FigureSource source, const State *state,
                      const LiveData *live) {
    const PredictedKernel *predicted = predicted_row(state, live, bar->kernel);
    bar->estimate = source == SOURCE_MODEL && predicted && predicted->estimate;
    bar->us = time_from(source, state, live, bar->kernel);
}

/* Fills in a kernel's bar: its time from the source, the published time, and the reason. */
static void fill_bar(StoryBar *bar, FigureSource source, const State *state, const LiveData *live) {
    const PredictedKernel *predicted = predicted_row(state, live, bar->kernel);
    const LiveKernel *row = live_known_kernel(live, bar->kernel);
    const KernelConfig *config = &live->job.config;
    const Reading *published = row ? &row->published_us[state->gpu] : NULL;
    const bool has_published =
        published && published->source && !takes_other_form(state, live, bar->kernel);
    bar->published_us = has_published ? published->value : NAN;
    fill_time(bar, source, state, live);
    if (!(bar->kernel->dtypes >> config->dtype & 1)) {
        bar->us = NAN; /* the model may still have the time of the format before */
        snprintf(bar->why, sizeof bar->why, "not in %s%s", bev_dtypes[config->dtype].title,
                 bar->kernel->where == BEV_CUDA ? " on GPUs" : "");
    } else if (!(bar->kernel->aligns >> config->align & 1))
        snprintf(bar->why, sizeof bar->why, "not %s", bev_aligns[config->align].name);
    else if (predicted)
        say_why(state, live, predicted, bar);
    else if (isnan(bar->us))
        snprintf(bar->why, sizeof bar->why, "%s", live->timed ? "follows" : "not recorded");
    if (!bar->brief[0])
        snprintf(bar->brief, sizeof bar->brief, "%.39s", bar->why);
    if (!bar->short_why[0])
        snprintf(bar->short_why, sizeof bar->short_why, "%s", bar->brief);
}

/* ---- the story: which kernels have bars, and where their times are from ---------------------- */

bool story_tells(const BevKernel *kernel) {
    return kernel->where == BEV_CUDA && kernel->direction == BEV_FORWARD &&
           kernel->stage == BEV_POOL && (kernel->published || kernel->is_default);
}

static void add_bar(Story *story, const State *state, const LiveData *live,
                    const BevKernel *kernel) {
    const bool known = live_known_kernel(live, kernel) || predicted_row(state, live, kernel);
    if (known && story->count < STORY_BARS)
        story->bars[story->count++] =
            (StoryBar){.kernel = kernel, .here = bev_counterpart(kernel, state_where(state))};
}

static void choose_bars(Story *story, const State *state, const LiveData *live) {
    const bool forward = state->job.config.kernel->direction == BEV_FORWARD;
    for (int i = 0; forward && bev_kernels[i]; i++)
        if (story_tells(bev_kernels[i]))
            add_bar(story, state, live, bev_kernels[i]);
    for (int i = 0; !forward && i < live->kernel_count; i++)
        if (live->kernels[i].kernel->where == state_where(state))
            add_bar(story, state, live, live->kernels[i].kernel);
}

/* Returns the kernel whose time is told: for a forward kernel the CUDA kernel of its idea. */
static const BevKernel *timed_for(const BevKernel *kernel) {
    const BevKernel *modelled = kernel->direction == BEV_FORWARD ? model_row(kernel) : NULL;
    return modelled ? modelled : kernel;
}

/* Writes the machine, and the first and the last date of the recordings: "NVIDIA H200,
 * 2026-11-21 to 2026-11-29". The labels are of one machine, so their order is that of the dates. */
static ShortText recorded_text(const Story *story, const State *state, const LiveData *live) {
    const char *first = "", *last = "";
    for (int i = 0; i < story->count; i++) {
        const char *label = recording_label(state, live, story->bars[i].kernel);
        first = label[0] && (!first[0] || strcmp(label, first) < 0) ? label : first;
        last = strcmp(label, last) > 0 ? label : last;
    }
    ShortText machine = machine_text(first);
    const char *first_date = strrchr(first, ' '), *last_date = strrchr(last, ' ');
    if (first_date)
        text_add(machine.text, sizeof machine.text, ",%s", first_date);
    if (last_date && strcmp(first_date, last_date))
        text_add(machine.text, sizeof machine.text, " to%s", last_date);
    return machine;
}

/* Writes the earlier format or map that the model still has: ", figures of FP16 until FP8 is
 * replayed". */
static ShortText earlier_config_text(const State *state, const LiveData *live) {
    const KernelConfig *now = &state->job.config;
    const MemoryModel *model = live->model;
    if (model->dtype != now->dtype)
        return short_text(", figures of %s until %s is replayed", bev_dtypes[model->dtype].title,
                          bev_dtypes[now->dtype].title);
    if (model->align != now->align)
        return short_text(", figures of %s until %s is replayed", bev_aligns[model->align].name,
                          bev_aligns[now->align].name);
    return short_text(
        live->model_of_before ? ", figures of the map before until this one is replayed" : "");
}

/* Writes how many bars have a complete time, while others have first estimates. */
static ShortText estimate_text(const Story *story, const State *state) {
    int complete = 0;
    for (int i = 0; i < story->count; i++)
        complete += isfinite(story->bars[i].us) && !story->bars[i].estimate;
    if (!story->estimate || story->other_config)
        return (ShortText){""};
    return short_text(", ~ estimate%s, %d of %d done",
                      gpu_edit_any(&state->edit) ? ", not of this L2 yet" : " until replayed",
                      complete, story->count);
}

/* Writes where the times are from: source, machine, an earlier configuration, first estimates. */
static void fill_origin(Story *story, const State *state, const LiveData *live) {
    ShortText earlier = {""}, pruned = {""}, machine = prediction_gpu(state);
    if (story->source == SOURCE_MEASURED)
        machine = short_text("%s", live->device.name);
    else if (story->source == SOURCE_RECORDED)
        machine = recorded_text(story, state, live);
    else if (story->source == SOURCE_MODEL)
        earlier = earlier_config_text(state, live);
    story->other_config = earlier.text[0] != '\0';
    if (story->source == SOURCE_MODEL && !story->other_config && !prune_is_off(&live->job.prune))
        pruned = short_text(", pruned at %s", live_moment_text(&state->scene, live->pruned_s).text);
    story->estimate = story->selection.estimate || story->baseline.estimate;
    for (int i = 0; i < story->count; i++)
        story->estimate |= story->bars[i].estimate;
    snprintf(story->of, sizeof story->of, "%s%s%s%s",
             story->source == SOURCE_MODEL       ? "model of "
             : story->source == SOURCE_MEASURED  ? "measured on "
             : story->source == SOURCE_RECORDED  ? "recorded on "
             : !model_follows(&live->job.config) ? "no model of these kernels"
             : live->timed                       ? "times follow"
                                                 : "not recorded",
             story->source ? machine.text : "", earlier.text, pruned.text);
    snprintf(story->from, sizeof story->from, "%s%s", story->of, estimate_text(story, state).text);
}

Story story_of(const State *state, const LiveData *live) {
    Story story = {.ratio = NAN};
    const Job *job = &state->job;
    choose_bars(&story, state, live);
    story.source = source_of_times(&story, state, live);
    story.on_gpu = job->config.kernel->direction == BEV_FORWARD;
    story.selection.kernel = timed_for(job->config.kernel);
    story.baseline.kernel = timed_for(job->baseline.kernel);
    for (int i = 0; i < story.count; i++) {
        fill_bar(&story.bars[i], story.source, state, live);
        say_more(state, live, &story.bars[i]);
    }
    fill_bar(&story.selection, story.source, state, live);
    fill_bar(&story.baseline, story.source, state, live);
    fill_origin(&story, state, live);
    const bool same_format_and_align =
        job->baseline.dtype == job->config.dtype && job->baseline.align == job->config.align;
    if (!job->baseline_pinned || same_format_and_align)
        story.ratio = story.baseline.us / story.selection.us;
    return story;
}

ShortText story_time(const Story *story, const State *state, const LiveData *live,
                     const BevKernel *kernel) {
    StoryBar bar = {.kernel = timed_for(kernel)};
    fill_time(&bar, story->source, state, live);
    if (!isfinite(bar.us))
        return (ShortText){""};
    return short_text("%s%s", bar.estimate ? "~" : "", text_of_figure(UNIT_US, bar.us).text);
}

Headline story_headline(const State *state, const LiveData *live) {
    Headline headline = live_headline(state, live);
    const bool cpu = state->job.config.kernel->where == BEV_CPU;
    if (!live->job.config.kernel || live->job.config.kernel->direction == BEV_BACKWARD)
        return headline;
    const Story story = story_of(state, live);
    if (!cpu && (story.source == SOURCE_MEASURED || headline.latency_us.source))
        return headline;
    headline.latency_us = reading(story.selection.us, story.source);
    headline.latency_us.stale = story.other_config || isnan(story.selection.us);
    headline.latency_us.doubtful = !cpu; /* on a GPU a measured latency follows */
    headline.swing_us[0] = headline.swing_us[1] = 0;
    headline.estimate = story.selection.estimate;
    snprintf(headline.latency_of, sizeof headline.latency_of, "%s", story.of);
    return headline;
}

const LiveAccuracy *live_judged_elsewhere(const LiveData *live) {
    const LiveAccuracy *judged = &live->accuracy[live->job.config.dtype];
    return judged->source && judged->time_s != live->frame.time_s ? judged : NULL;
}

ShortText live_judged_text(const SceneFacts *scene, const LiveAccuracy *accuracy) {
    return scene_moves(scene) ? short_text("at %s", live_moment_text(scene, accuracy->time_s).text)
                              : (ShortText){""};
}

ShortText live_pruning_text(const LiveAccuracy *accuracy) {
    const double change = accuracy->prune_change;
    return change > 0 ? short_text(", and pruning changes outputs by up to %s",
                                   text_of_unit(UNIT_ERROR, change).text)
                      : (ShortText){""};
}

bool live_longest_empty(const LiveData *live) {
    const BevMap *map = live->frame.map;
    const Features *features = live->frame.features;
    const int64_t interval = live->intervals.stats.longest_interval;
    const bool known = map && features && live->intervals.known && !live->intervals.of_pixels;
    if (!known || interval < 0 || interval >= map->intervals)
        return false;
    const int32_t *ranks = map->ranks_depth + map->interval_starts[interval];
    for (int32_t i = 0; i < map->interval_lengths[interval]; i++)
        if (features->depth[ranks[i]] > 0)
            return false;
    return true;
}
