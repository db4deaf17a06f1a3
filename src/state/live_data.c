/* SPDX-License-Identifier: MIT */
#include "src/state/live_data.h"

#include <math.h>
#include <stdio.h>
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
    bool known = accuracy->source != SOURCE_UNKNOWN;
    return known && accuracy->stale                          ? "~"
           : known && accuracy->time_s != live->frame.time_s ? "*"
                                                             : "";
}

const LiveKernel *live_kernel(const LiveData *live, const BevKernel *kernel) {
    for (int i = 0; i < live->kernel_count; i++)
        if (live->kernels[i].kernel == kernel)
            return &live->kernels[i];
    return NULL;
}

const LiveKernel *live_known_kernel(const LiveData *live, const BevKernel *kernel) {
    const LiveKernel *row = live_kernel(live, kernel);
    for (int i = 0; i < live->elsewhere_count && !row; i++)
        if (live->elsewhere[i].kernel == kernel)
            row = &live->elsewhere[i];
    return row;
}

/* Writes the label of a side. A stand-in pools in place of a kernel that cannot run, and the label
 * of that side ends with its name: "(by V2)". If the stand-in is the selection's own kernel, that
 * side is the baseline. */
void live_side_label(const LiveData *live, bool baseline, char *text, size_t size) {
    const KernelConfig *config = baseline ? &live->job.baseline : &live->job.config;
    const BevKernel *by = live->stand_in;
    char label[96] = "n/a";
    if (live->frame.other_name[0]) {
        snprintf(text, size, "%s", baseline ? live->frame.other_name : live->frame.scene_name);
        return;
    }
    if (job_rigs_differ(&live->job) &&
        kernel_config_equal(&live->job.config, &live->job.baseline)) {
        snprintf(text, size, baseline ? "rig as pinned" : "rig now");
        return;
    }
    if (config->kernel)
        kernel_config_label(config, label, sizeof label);
    if (by && by != config->kernel && baseline == (by == live->job.config.kernel))
        snprintf(text, size, "%s (by %s)", label, by->title);
    else
        snprintf(text, size, "%s", label);
}

/* Appends ", NAME 1.60UNIT" or ", NAME n/a" to the text. */
static void append_figure(char *text, size_t size, const char *name, double value,
                          const char *unit) {
    size_t used = strlen(text);
    const char *comma = used ? ", " : "";
    if (isnan(value))
        snprintf(text + used, size - used, "%s%s n/a", comma, name);
    else
        snprintf(text + used, size - used, "%s%s %.2f%s", comma, name, value, unit);
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
    Reading latency = row ? row->median_us : (Reading){.value = 0};
    bool stands_in = live->timed && latency.source == SOURCE_RECORDED && !row->skipped;
    bool unsure = latency.source == SOURCE_MEASURED && row->unsettled;
    latency.doubtful = stands_in || unsure;
    return latency;
}

Reading live_speedup(const LiveData *live, const LiveKernel *row) {
    const Reading latency = live_latency(live, row), base = live_latency(live, &live->baseline);
    bool unsettled_file = latency.source == SOURCE_RECORDED &&
                          (row->unsettled || live->baseline.unsettled);
    if (!latency.source || latency.source != base.source || latency.stale || base.stale ||
        unsettled_file ||
        strcmp(row->recorded_on, live->baseline.recorded_on) != 0 || !(latency.value > 0))
        return (Reading){.value = NAN};
    Reading speedup = reading(base.value / latency.value, latency.source);
    speedup.doubtful = latency.doubtful || base.doubtful;
    return speedup;
}

Headline live_headline(const LiveData *live) {
    Headline headline = {.serial = live->serial};
    if (live->memory.known)
        headline.footprint_bytes =
            reading(bev_footprint_total(live->memory.footprint), SOURCE_MODEL);
    const KernelConfig *config = &live->job.config;
    const LiveKernel *row = live_kernel(live, config->kernel);
    headline.latency_us = live_latency(live, row);
    if (row && row->beside_pictures && headline.latency_us.source == SOURCE_MEASURED)
        headline.latency_us.doubtful = true;
    if (row && headline.latency_us.source == SOURCE_MEASURED) {
        double noise = row->kernel->where == BEV_CPU ? 0.1 : 0.02;
        headline.swing_us[0] = (1 - noise) * row->least_us;
        headline.swing_us[1] = (1 + noise) * row->most_us;
    }
    const LiveAccuracy *accuracy = &live->accuracy[config->dtype];
    const LiveSteps *steps = live->frame.steps;
    if (steps)
        headline.step_count = steps->selection.step_count > steps->baseline.step_count
                                  ? steps->selection.step_count
                                  : steps->baseline.step_count;
    headline.max_abs = reading(accuracy->max_abs, accuracy->source);
    headline.max_abs.stale = accuracy->stale;
    headline.max_abs_s = accuracy->time_s;
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
        StepPixel at = step_pixel(&live->frame.steps->selection.shape, points[i]->depth);
        list[i] = (LiveContribution){.camera = (int)at.camera,
                                     .w = (int32_t)at.w,
                                     .h = (int32_t)at.h,
                                     .depth_bin = (int32_t)at.bin,
                                     .depth = live->frame.features->depth[points[i]->depth],
                                     .weight = points[i]->weight};
    }
    return count;
}

Slice live_slice(const LiveFrame *frame, int slice) {
    const BevShape flat = {.nx = frame->nx, .ny = frame->ny};
    return slice_of(frame->shape.nz > 1 ? &frame->shape : &flat, slice);
}
