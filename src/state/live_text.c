/* SPDX-License-Identifier: MIT */
#include "src/state/live_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the scale of the bars: twice the median latency, at most the slowest. One very slow
 * kernel thus leaves the other bars visible. */
static double bar_scale(double *us, int count) {
    if (!count)
        return 0;
    sort_ascending(us, count);
    return fmin(2 * us[count / 2], us[count - 1]);
}

Ladder ladder_of(const State *state, const LiveData *live) {
    Ladder ladder = {.count = 0};
    double us[LIVE_MAX_KERNELS];
    int known = 0;
    for (int i = 0; i < live->kernel_count; i++) {
        const LiveKernel *row = &live->kernels[i];
        if (row->kernel->where != state_where(state))
            continue;
        ladder.kernels[ladder.count++] = row;
        if (row->median_us.source)
            us[known++] = row->median_us.value;
    }
    ladder.scale_us = bar_scale(us, known);
    ladder.longest_us = known ? us[known - 1] : 0;
    return ladder;
}

/* Returns what the figure waits for, where kernels are timed and checked. */
static const char *what_it_waits_for(const LiveData *live) {
    return live->machine_busy ? "waits: CPU busy" : "waits for its turn";
}

bool model_follows(const KernelConfig *config) {
    const BevKernel *row = config->kernel ? model_row(config->kernel) : NULL;
    return !config->kernel || config->kernel->direction == BEV_FORWARD ||
           (row && traced_place(row) >= 0);
}

const char *unknown_reason(Unknown unknown, const LiveData *live, const LiveKernel *row,
                           BevDtype dtype) {
    if (unknown == UNKNOWN_MODEL && !model_follows(&live->job.config))
        return "no model of this kernel";
    if (unknown == UNKNOWN_MODEL)
        return live->timed ? "waits for the simulation" : "no model of this";
    if (unknown == UNKNOWN_ACCURACY && row && !(row->kernel->dtypes >> dtype & 1))
        return "not in this kernel";
    if (unknown == UNKNOWN_ACCURACY)
        return live->timed ? what_it_waits_for(live) : "not checked";
    if (row && row->skipped)
        return row->skipped;
    if (row && row->failed)
        return "failed on this problem";
    if (!live->timed)
        return row ? "not recorded" : "not measured";
    return row && row->being_timed ? "being timed" : what_it_waits_for(live);
}

void machine_text(const char *label, char *text, size_t size) {
    static const char *const noise[] = {"(R)", "(TM)", " Processor", " CPU"};
    snprintf(text, size, "%.*s", (int)strcspn(label, ","), label);
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        for (char *at; (at = strstr(text, noise[i]));)
            memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
}

void speedup_origin(const LiveData *live, char *text, size_t size) {
    const LiveSpeedup *speedup = &live->speedup;
    char machine[64];
    if (speedup->ratio.source == SOURCE_MEASURED && speedup->most > 0)
        snprintf(text, size, "%.2f to %.2f in %d pairs", speedup->least, speedup->most,
                 speedup->pairs);
    else if (speedup->ratio.source == SOURCE_MEASURED)
        snprintf(text, size, "of the medians");
    else if (speedup->ratio.source == SOURCE_RECORDED) {
        machine_text(speedup->recorded_on, machine, sizeof machine);
        snprintf(text, size, "recorded on %s", machine);
    } else if (live->timed && speedup->ratio.source != SOURCE_COMPUTED)
        snprintf(text, size, "%d pairs %s", speedup->pairs, speedup->scatter ? "scatter" : "timed");
    else
        snprintf(text, size, "%s", speedup->ratio.source ? "" : "not recorded");
}

void latency_origin(const LiveKernel *row, char *text, size_t size) {
    FigureSource source = row->median_us.source;
    const char *how = source != SOURCE_MEASURED ? ""
                      : row->beside_pictures    ? " while rendering: noisy"
                      : row->unsettled          ? ", unsettled"
                      : row->single             ? ", single launches"
                                                : "";
    snprintf(text, size, "%s%s%s", source_names[source], how,
             row->median_us.stale ? ", stale" : "");
}

/* Returns the mark of a median. Only one has room: the strongest warning. */
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
                 {'~', "~ stale"},
                 {'s', "s single launches"},
                 {'b', "b while rendering: noisy"},
                 {'?', machine_busy ? "? CPU busy" : "? unsettled"}};
    bool measured = false, there[128] = {false};
    for (int i = 0; i < ladder->count; i++) {
        const LiveKernel *row = ladder->kernels[i];
        measured |= row->median_us.source == SOURCE_MEASURED;
        there[(unsigned char)ladder_mark(row)[0]] = true;
    }
    snprintf(note, size, "%s", measured ? "measured" : there['r'] ? "" : "not measured");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(note);
        if (there[(unsigned char)marks[i].mark])
            snprintf(note + length, size - length, "%s%s", length ? ", " : "", marks[i].text);
    }
}

bool pooled_alike(const LiveData *live) {
    return live->stand_in && live->difference.alike;
}

void comparison_text(const State *state, const LiveData *live, char *text, size_t size) {
    const LiveDifference *difference = &live->difference;
    char cells[32], most[32], moved[48] = "", whose[64] = "";
    text[0] = '\0';
    if (!difference->known)
        return;
    if (pooled_alike(live)) {
        snprintf(text, size, "both by %s while it plays: pause to compare", live->stand_in->title);
        return;
    }
    unit_text(UNIT_COUNT, (double)difference->cells, cells, sizeof cells);
    if (difference->moved_m > 0 && !lesson_asks(&state->lesson))
        snprintf(moved, sizeof moved, ", points at %d m moved %.2f m", LIVE_MOVED_AT_M,
                 difference->moved_m);
    char from[48] = "the pinned one";
    const KernelConfig *base = &live->job.baseline;
    if (!live->job.baseline_pinned && base->kernel)
        snprintf(from, sizeof from, "%s %s", base->kernel->title, bev_dtypes[base->dtype].title);
    if (live->frame.other_name[0])
        snprintf(from, sizeof from, "%.47s", live->frame.other_name);
    if (live->stand_in)
        snprintf(whose, sizeof whose, "picture by %s: ", live->stand_in->title);
    unit_text(UNIT_ERROR, difference->most, most, sizeof most);
    snprintf(text, size, "%s%s cell%s from %s%s%s%s", whose, cells,
             difference->cells == 1 ? " differs" : "s differ", from,
             difference->most > 0 ? ", by up to " : "", difference->most > 0 ? most : "", moved);
}

const char *model_whose(const LiveData *live) {
    const BevKernel *kernel = live->job.config.kernel;
    return kernel && kernel->where == BEV_CPU ? "model of the CUDA kernel" : "model";
}

const PredictedKernel *prediction_kernel(const State *state, const LiveData *live) {
    const BevKernel *kernel = live->job.config.kernel;
    Gpu gpu = state_gpu(state);
    if (live->model && (live->model->dtype != live->job.config.dtype ||
                        live->model->align != live->job.config.align))
        return NULL; /* the model of another format stays for the bars */
    return live->model && kernel ? model_of_kernel(live->model, kernel, &gpu) : NULL;
}

Prediction prediction_of(const State *state, const LiveData *live,
                         const PredictedKernel *predicted) {
    return model_predict(live->model, predicted, state->gpu, &state->edit);
}

void prediction_gpu(const State *state, char *text, size_t size) {
    char changed[96];
    gpu_edit_text(&state->edit, changed, sizeof changed);
    snprintf(text, size, "%s%s", gpus[state->gpu].title, changed);
}

void prediction_sectors(const PredictedKernel *predicted, char *text, size_t size) {
    const char *format = isfinite(predicted->sectors_per_request) ? "%.1f sectors a request"
                                                                  : "n/a sectors a request";
    snprintf(text, size, format, predicted->sectors_per_request);
}

/* Fills in the steps of the workflow, for forward kernels. Returns how many. */
static int live_workflow(const State *state, const LiveData *live, const IntervalLengths *lengths,
                         Finding steps[WORKFLOW_STEPS]) {
    const BevKernel *kernel = live->job.config.kernel;
    const WorkflowScene scene = {state->menu.scenes.names[live->job.scene],
                                 !state->scene.has_operator ? WORKFLOW_POOLING
                                 : state->scene.operator_spec.kind == OPERATOR_HISTOGRAM
                                     ? WORKFLOW_COUNTING
                                     : WORKFLOW_OPERATOR};
    return kernel->direction == BEV_FORWARD
               ? workflow_of(live->model, kernel, state->gpu, &state->edit, lengths, &scene, steps)
               : 0;
}

static IntervalLengths live_lengths(const LiveData *live) {
    const ScatterStats *stats = &live->intervals.stats;
    return live->intervals.known ? (IntervalLengths){stats->longest, stats->median, stats->cells,
                                                     stats->intervals, live->frame.shape.nz}
                                 : (IntervalLengths){0};
}

int live_findings(const State *state, const LiveData *live, Finding findings[FINDINGS_MAX]) {
    const IntervalLengths lengths = live_lengths(live);
    if (!prediction_kernel(state, live))
        return 0;
    int count = findings_of(live->model, live->job.config.kernel, state->gpu, &state->edit,
                            &lengths, findings);
    return count + live_workflow(state, live, &lengths, findings + count);
}

static int by_gain(const void *left, const void *right) {
    const Advice *a = left, *b = right;
    return a->finding.gain < b->finding.gain ? 1 : a->finding.gain > b->finding.gain ? -1 : 0;
}

/* Fills in what pruning gives the selection; or, where the selection gets slower, the kernel that
 * is fastest then. False: nothing, or not known yet. */
static bool advise_pruning(const State *state, const LiveData *live, Advice *advice) {
    const PredictedKernel *selected = prediction_kernel(state, live), *now = NULL;
    const double least = 1.05; /* a smaller gain is no advice */
    const int gpu = state->gpu;
    if (!selected || !live->model->pruned.count || gpu_edit_any(&state->edit))
        return false;
    const PrunedModel *pruned = &live->model->pruned;
    const PrunedKernel *best = pruned->kernels, *own = NULL;
    for (int i = 0; i < pruned->count; i++) {
        const PrunedKernel *one = &pruned->kernels[i];
        best = one->latency_us[gpu] < best->latency_us[gpu] ? one : best;
        own = one->kernel == model_row(live->job.config.kernel) ? one : own;
    }
    Prediction leader;
    const PredictedKernel *leads = findings_fastest(live->model, gpu, NULL, &leader);
    now = model_of_kernel(live->model, best->kernel, &gpus[gpu]);
    const bool turns = leads && now && leads->kernel != now->kernel;
    double gain = own ? selected->predicted[gpu].latency_us / own->latency_us[gpu] : 0;
    const bool other = gain < least && now;
    if (other)
        gain = now->predicted[gpu].latency_us / best->latency_us[gpu];
    *advice = (Advice){.finding = {.gain = gain}, .command = {.action = ACTION_PRUNE}};
    advice->of = other ? best->kernel->title : NULL;
    snprintf(advice->command.argument, sizeof advice->command.argument, "%g", pruned->below);
    snprintf(advice->finding.advice, sizeof advice->finding.advice,
             "prune < %g (%.0f %% of points)%s%s%s", pruned->below, 100 * pruned->share,
             turns ? ": " : "", turns ? best->kernel->title : "", turns ? " leads" : "");
    return gain >= least;
}

int live_advice(const State *state, const LiveData *live, Advice advice[FINDINGS_MAX + 1]) {
    Finding findings[FINDINGS_MAX];
    int count = live_findings(state, live, findings);
    int kept = advise_pruning(state, live, &advice[0]);
    for (int i = 0; i < count; i++) {
        const BevKernel *faster = findings[i].faster;
        const BevKernel *try = faster ? bev_counterpart(faster, state_where(state)) : NULL;
        Advice *next = &advice[kept];
        *next = (Advice){findings[i], {.action = try ? ACTION_KERNEL : ACTION_EXPLAIN}, NULL};
        snprintf(next->command.argument, sizeof next->command.argument, "%d", i + 1);
        if (try)
            snprintf(next->command.argument, sizeof next->command.argument, "%s", kernel_word(try));
        kept += findings[i].gain > 0;
    }
    qsort(advice, (size_t)kept, sizeof *advice, by_gain);
    return kept;
}

void live_moment_text(const SceneFacts *scene, double time_s, char *text, size_t size) {
    if (scene->moment_s > 0)
        snprintf(text, size, "moment %ld of %d", 1 + lround(time_s / scene->moment_s),
                 scene->moments);
    else
        snprintf(text, size, "t %.2f s", time_s);
}

bool live_probe_empty(const LiveProbe *probe) {
    const LiveContribution *heaviest = probe->contributions;
    return probe->contribution_count && heaviest->depth * heaviest->weight == 0;
}

double live_largest_error(const LiveAccuracy *accuracy) {
    return accuracy->moments.judged ? fmax(accuracy->max_abs, accuracy->moments.max_abs)
                                    : accuracy->max_abs;
}

void live_error_when(const SceneFacts *scene, const LiveAccuracy *accuracy, char *text,
                     size_t size) {
    const LiveMoments *moments = &accuracy->moments;
    const bool other = moments->judged && moments->max_abs > accuracy->max_abs;
    char moment[48], of[32] = "";
    live_moment_text(scene, other ? moments->time_s : accuracy->time_s, moment, sizeof moment);
    if (moments->judged > 1)
        snprintf(of, sizeof of, ", worst of %d moments", moments->judged);
    snprintf(text, size, scene_moves(scene) ? " at %s%s" : "", moment, of);
}

bool live_longest_empty(const LiveData *live) {
    const BevMap *map = live->frame.map;
    const Features *features = live->frame.features;
    const int64_t interval = live->intervals.stats.longest_interval;
    const bool known = map && features && live->intervals.known && !live->intervals.of_pixels;
    if (!known || interval < 0 || interval >= map->intervals)
        return false;
    for (int32_t i = 0; i < map->interval_lengths[interval]; i++)
        if (features->depth[map->ranks_depth[map->interval_starts[interval] + i]] > 0)
            return false;
    return true;
}
