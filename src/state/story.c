/* SPDX-License-Identifier: MIT */
#include "src/state/story.h"

#include "kernels/regime.h"
#include "src/state/live_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- times ----------------------------------------------------------------------------------- */

/* Rows are found by name: a model and a recording know the kernels of other builds. */
static const LiveKernel *timed_row(const LiveData *live, const BevKernel *kernel) {
    for (int i = 0; i < live->kernel_count; i++)
        if (!strcmp(live->kernels[i].kernel->name, kernel->name))
            return &live->kernels[i];
    return live_known_kernel(live, kernel);
}

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

bool story_is_chosen_gpu(const State *state, const char *device) {
    const Gpu *gpu = gpu_of_device(device);
    return gpu && gpu == &gpus[state->gpu] && !gpu_edit_any(&state->edit);
}

/* Returns a kernel's latency from that source on the chosen GPU. NAN: the source has none. */
static double time_from(FigureSource source, const State *state, const LiveData *live,
                        const BevKernel *kernel) {
    const LiveKernel *row = timed_row(live, kernel);
    const PredictedKernel *predicted = predicted_row(state, live, kernel);
    const bool forward = kernel->direction == BEV_FORWARD;
    if (source == SOURCE_MODEL)
        return predicted ? prediction_of(state, live, predicted).latency_us : NAN;
    if (!row || (source == SOURCE_MEASURED && (row->unsettled || row->median_us.stale)) ||
        (source == SOURCE_MEASURED && row->median_us.source != source))
        return NAN;
    bool chosen = source == SOURCE_MEASURED
                      ? state->gpu == state->menu.gpu && !gpu_edit_any(&state->edit)
                      : story_is_chosen_gpu(state, row->recorded_on);
    if (forward && (kernel->where != BEV_CUDA || !chosen))
        return NAN;
    return source == SOURCE_MEASURED ? row->median_us.value
           : row->recorded_us.source ? row->recorded_us.value
                                     : NAN;
}

/* Whether the time is missing that the source should have. */
static bool lacks_time(FigureSource source, const State *state, const LiveData *live,
                       const BevKernel *kernel) {
    const KernelConfig *config = &live->job.config;
    bool possible = kernel->dtypes >> config->dtype & 1 && kernel->aligns >> config->align & 1;
    return possible && isnan(time_from(source, state, live, kernel));
}

/* Whether two labels of recordings name one machine, on whatever date. */
static bool same_machine(const char *a, const char *b) {
    const char *date_a = strrchr(a, ','), *date_b = strrchr(b, ',');
    return date_a && date_b && date_a - a == date_b - b && !strncmp(a, b, (size_t)(date_a - a));
}

/* Returns the first source that has all times; no two sources are mixed. */
static FigureSource source_of(const Story *story, const State *state, const LiveData *live) {
    static const FigureSource sources[] = {SOURCE_MEASURED, SOURCE_RECORDED};
    const char *machine = NULL;
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        bool all = story->count > 0;
        for (int i = 0; i < story->count && all; i++) {
            const LiveKernel *row = timed_row(live, story->bars[i].kernel);
            const char *on = row ? row->recorded_on : "";
            all = !lacks_time(sources[s], state, live, story->bars[i].kernel) &&
                  (sources[s] == SOURCE_MEASURED || !machine || same_machine(machine, on));
            machine = on;
        }
        if (all)
            return sources[s];
    }
    return live->model && live->job.config.kernel &&
                   live->job.config.kernel->direction == BEV_FORWARD
               ? SOURCE_MODEL
               : SOURCE_UNKNOWN;
}

/* Whether the article's time is that of another form of the kernel: on the A6000 it is V3's for
 * small L2s, where the model may choose the one for large L2s. */
static bool takes_other_form(const State *state, const LiveData *live, const BevKernel *kernel) {
    const MemoryModel *model = live->model;
    const Gpu gpu = state_gpu(state);
    return model && kernel->large_l2 && !strcmp(gpu.name, "a6000") &&
           model_v3_choice(&model->formats[model->dtype], &gpu).kernel == kernel->large_l2;
}

/* ---- why ------------------------------------------------------------------------------------- */

static const char tiles_words[] = "tiles, long cells cut: "; /* V4's, before its limit */

/* Writes the reason behind a kernel's time. */
static void say_why(const State *state, const LiveData *live, const PredictedKernel *predicted,
                    StoryBar *bar) {
    const Prediction prediction = prediction_of(state, live, predicted);
    const bool same_map = live->model && live->model->align == live->job.config.align &&
                          !live->model_of_before;
    const bool tiles = predicted->kernel->is_default;
    char reason[sizeof bar->why];
    findings_reason(predicted, &prediction, same_map ? live->intervals.stats.longest : 0, reason,
                    sizeof reason);
    snprintf(bar->why, sizeof bar->why, "%s%s", tiles ? tiles_words : "",
             tiles ? limit_brief(reason) : reason);
    const char *brief = limit_brief(reason), *cell = strstr(reason, "one cell");
    snprintf(bar->short_why, sizeof bar->short_why, "%.39s",
             tiles  ? "tiles, long cells cut"
             : cell ? cell
                    : brief);
    snprintf(bar->brief, sizeof bar->brief, "%.*s", (int)strcspn(brief, ":"), brief);
}

/* Writes what adds to the reason: points that bring nothing, and a format that is slow to decode.
 * `empty`: all points of the longest interval have probability 0. */
static void say_more(const State *state, const LiveData *live, bool empty, StoryBar *bar) {
    const PredictedKernel *predicted = predicted_row(state, live, bar->kernel);
    const double slow = 2; /* instructions a value; an FP32 value takes one */
    const BevDtype dtype = live->job.config.dtype;
    const Gpu gpu = state_gpu(state);
    const BevGpuFacts facts = gpu_facts(&gpu);
    if (!predicted || !strstr(bar->why, "one cell"))
        return;
    double each = bev_channel_instructions(predicted->profile.counts.form, dtype, &facts);
    if (each > slow)
        snprintf(bar->more, sizeof bar->more, "%s%s: %.1f instructions a value",
                 empty ? "probability 0, " : "", bev_dtypes[dtype].title, each);
    else if (empty)
        snprintf(bar->more, sizeof bar->more, "all of probability 0");
}

/* Fills in a kernel's bar: its time from the source, the published time, and the reason. */
static void fill_bar(StoryBar *bar, FigureSource source, const State *state, const LiveData *live) {
    const PredictedKernel *predicted = predicted_row(state, live, bar->kernel);
    const LiveKernel *row = timed_row(live, bar->kernel);
    const KernelConfig *config = &live->job.config;
    const Reading *published = row ? &row->published_us[state->gpu] : NULL;
    bar->published_us = published && published->source ? published->value : NAN;
    bar->estimate = source == SOURCE_MODEL && predicted && predicted->estimate;
    bar->other_form = takes_other_form(state, live, bar->kernel);
    bar->us = time_from(source, state, live, bar->kernel);
    if (!(bar->kernel->dtypes >> config->dtype & 1))
        snprintf(bar->why, sizeof bar->why, "not in %s", bev_dtypes[config->dtype].title);
    else if (!(bar->kernel->aligns >> config->align & 1))
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

/* ---- which kernels --------------------------------------------------------------------------- */

bool story_tells(const BevKernel *kernel) {
    return kernel->where == BEV_CUDA && kernel->direction == BEV_FORWARD &&
           kernel->stage == BEV_POOL && (kernel->published || kernel->is_default);
}

static void add_bar(Story *story, const State *state, const LiveData *live,
                    const BevKernel *kernel) {
    bool known = timed_row(live, kernel) || predicted_row(state, live, kernel);
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

/* Returns the row whose time stands for a kernel's: forward that of the CUDA kernel. */
static const BevKernel *row_of(const BevKernel *kernel) {
    const BevKernel *row = kernel->direction == BEV_FORWARD ? model_row(kernel) : kernel;
    return row ? row : kernel;
}

/* Writes the machine, and the first and the last date of the recordings: "NVIDIA H200,
 * 2026-11-21 to 2026-11-29". */
static void recorded_text(const Story *story, const LiveData *live, char *text, size_t size) {
    const char *first = NULL, *last = NULL;
    for (int i = 0; i < story->count; i++) {
        const LiveKernel *row = timed_row(live, story->bars[i].kernel);
        const char *on = row && row->recorded_us.source ? row->recorded_on : NULL;
        first = on && (!first || strcmp(on, first) < 0) ? on : first;
        last = on && (!last || strcmp(on, last) > 0) ? on : last;
    }
    machine_text(first ? first : "", text, size);
    const char *from = first ? strrchr(first, ' ') : NULL, *to = last ? strrchr(last, ' ') : NULL;
    if (from)
        snprintf(text + strlen(text), size - strlen(text), ",%s", from);
    if (to && strcmp(from, to))
        snprintf(text + strlen(text), size - strlen(text), " to%s", to);
}

/* Writes where the times are from: the machine, and another configuration until its own is
 * known. */
static void tell_from(Story *story, const State *state, const LiveData *live) {
    char on[128], config[80] = "";
    const char *estimate = "";
    prediction_gpu(state, on, sizeof on);
    if (story->source == SOURCE_MEASURED)
        snprintf(on, sizeof on, "%s", live->device.name);
    else if (story->source == SOURCE_RECORDED)
        recorded_text(story, live, on, sizeof on);
    if (story->source == SOURCE_MODEL) {
        const KernelConfig *now = &state->job.config;
        const MemoryModel *model = live->model;
        bool other_format = model->dtype != now->dtype || model->align != now->align;
        story->other_config = other_format || live->model_of_before;
        if (story->other_config)
            snprintf(config, sizeof config, ", of the map before until this one's are known");
        if (other_format)
            snprintf(config, sizeof config, ", %s %s until %s is known",
                     bev_dtypes[model->dtype].title, bev_aligns[model->align].name,
                     model->dtype != now->dtype ? bev_dtypes[now->dtype].title
                                                : bev_aligns[now->align].name);
        story->estimate = story->selection.estimate || story->baseline.estimate;
        for (int i = 0; i < story->count; i++)
            story->estimate |= story->bars[i].estimate;
        if (story->estimate && !story->other_config)
            estimate = gpu_edit_any(&state->edit) ? ", ~ first estimate: not of this L2 yet"
                                                  : ", ~ first estimate";
    }
    snprintf(story->of, sizeof story->of, "%s%s%s",
             story->source == SOURCE_MODEL       ? "model of "
             : story->source == SOURCE_MEASURED  ? "measured on "
             : story->source                     ? "recorded on "
             : !model_follows(&live->job.config) ? "no model of these kernels"
             : live->timed                       ? "times follow"
                                                 : "not recorded",
             story->source ? on : "", config);
    snprintf(story->from, sizeof story->from, "%s%s", story->of, estimate);
}

Story story_of(const State *state, const LiveData *live) {
    Story story = {.ratio = NAN};
    const Job *job = &state->job;
    choose_bars(&story, state, live);
    story.source = source_of(&story, state, live);
    story.on_gpu = job->config.kernel->direction == BEV_FORWARD;
    story.selection.kernel = row_of(job->config.kernel);
    story.baseline.kernel = row_of(job->baseline.kernel);
    const bool empty = live_longest_empty(live);
    for (int i = 0; i < story.count; i++) {
        fill_bar(&story.bars[i], story.source, state, live);
        say_more(state, live, empty, &story.bars[i]);
    }
    fill_bar(&story.selection, story.source, state, live);
    fill_bar(&story.baseline, story.source, state, live);
    tell_from(&story, state, live);
    bool same_config = !job->baseline_pinned || (job->baseline.dtype == job->config.dtype &&
                                                 job->baseline.align == job->config.align);
    if (same_config)
        story.ratio = story.baseline.us / story.selection.us;
    return story;
}

double story_us(const Story *story, const State *state, const LiveData *live,
                const BevKernel *kernel) {
    return time_from(story->source, state, live, row_of(kernel));
}

Headline story_headline(const State *state, const LiveData *live) {
    Headline headline = live_headline(live);
    const bool cpu = state->job.config.kernel->where == BEV_CPU;
    if (!live->job.config.kernel || live->job.config.kernel->direction == BEV_BACKWARD)
        return headline;
    const Story story = story_of(state, live);
    if (!cpu && (story.source == SOURCE_MEASURED || headline.latency_us.source))
        return headline;
    headline.latency_us = reading(story.selection.us, story.source);
    headline.latency_us.stale = story.other_config || isnan(story.selection.us);
    headline.latency_us.doubtful = !cpu;
    headline.swing_us[0] = headline.swing_us[1] = 0;
    headline.estimate = story.selection.estimate;
    snprintf(headline.latency_of, sizeof headline.latency_of, "%s", story.of);
    return headline;
}
