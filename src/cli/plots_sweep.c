/* SPDX-License-Identifier: MIT */
/* plot sweep: the latency of a growing problem. */
#include "src/cli/model.h"

#include "src/base/progress.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accesses depend only on shapes and the map, so no features are rendered. */

enum { SWEEP_MAX = 12, TEXT = 200 };

typedef enum { OVER_GRID, OVER_CHANNELS, OVER_POINTS, OVER_COUNT } Over;

/* The settings of each sweep: cells along an axis, channels, or depth bins. 0 ends a row. */
static const int settings[OVER_COUNT][SWEEP_MAX] = {
    [OVER_GRID] = {50, 75, 100, 150, 200, 250, 300, 400, 500, 600, 700},
    [OVER_CHANNELS] = {16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256},
    [OVER_POINTS] = {8, 15, 30, 59, 90, 118, 177, 236, 354},
};

enum { KERNELS = MODEL_KERNELS };

typedef struct {
    double x[SWEEP_MAX], footprint[SWEEP_MAX], latency[KERNELS][SWEEP_MAX];
    int count;
    const BevKernel *kernels[KERNELS];
    int kernel_count;
    unsigned mask; /* the same kernels as model_bits */
} Sweep;

/* Chooses the kernels of the ladder. Of V3 both forms are drawn. */
static void choose_kernels(Sweep *sweep) {
    const BevKernel *ladder[BEV_RUNGS];
    int rungs = bev_ladder(BEV_CUDA, BEV_FORWARD, ladder);
    for (int i = 0; i < rungs; i++)
        sweep->mask |= model_bits(ladder[i]);
    for (int i = 0; i < KERNELS; i++)
        if (sweep->mask >> i & 1)
            sweep->kernels[sweep->kernel_count++] = traced_kernel(i);
}

/* Changes rig and channels to one setting. Returns the setting's place on the axis. For points this
 * is 0, because their number needs the map. */
static double apply_setting(Over over, int setting, Rig *rig, int64_t *channels) {
    Frustum *frustum = &rig->frustum;
    if (over == OVER_GRID)
        rig->grid.nx = rig->grid.ny = setting;
    else if (over == OVER_CHANNELS)
        *channels = setting;
    else {
        frustum->depth_step_m = (frustum->depth_stop_m - frustum->depth_start_m) / setting;
        frustum->bins.count = 0;
    }
    return over == OVER_POINTS ? 0 : setting;
}

static bool add_setting(const PlotRequest *request, Over over, int setting, Sweep *sweep,
                        Err *err) {
    const BevProblem *like = &request->model->problem.view;
    Rig rig = request->model->workload.scene->rig;
    int64_t channels = like->shape.channels;
    double x = apply_setting(over, setting, &rig, &channels);
    BevShape shape = rig_shape(&rig, channels);
    BevMap map = {0};
    HostProblem problem = {0};
    MemoryModel *memory = malloc(sizeof *memory);
    bool ok = rig_check(&rig, "sweep", err) && scene_check_size(&shape, "sweep", err) &&
              scatter_build(&rig, like->align, UINT32_MAX, NULL, &map, err) &&
              problem_init(&problem, &shape, like->dtype, like->align, &map, err) &&
              (memory || err_no_memory(err, "plot", ""));
    if (ok) {
        model_begin(memory, &problem.view, request->chosen->gpus, 1);
        ok = model_replay(memory, &problem.view, sweep->mask, err);
        for (int r = 0; r < sweep->kernel_count; r++) {
            const PredictedKernel *kernel = model_kernel(memory, sweep->kernels[r]);
            sweep->latency[r][sweep->count] = kernel ? kernel->predicted[0].latency_us : NAN;
        }
    }
    if (ok) {
        sweep->x[sweep->count] = x > 0 ? x : (double)map.points;
        sweep->footprint[sweep->count] = bev_footprint_total(bev_footprint(&problem.view));
        sweep->count++;
    }
    free(memory);
    problem_free(&problem);
    scatter_free(&map);
    return ok;
}

/* Returns where on the axis the footprint reaches `bytes`, interpolated. NaN: nowhere. */
static double footprint_reaches(const Sweep *sweep, double bytes) {
    for (int i = 1; i < sweep->count; i++) {
        double from = sweep->footprint[i - 1], to = sweep->footprint[i];
        if (from <= bytes && bytes < to) {
            double share = log(bytes / from) / log(to / from);
            return sweep->x[i - 1] * pow(sweep->x[i] / sweep->x[i - 1], share);
        }
    }
    return NAN;
}

/* "V4 is 1.4 to 26 times as fast as V2 from 50 to 700 cells a side" */
static void sweep_finding(Over over, const Sweep *sweep, char title[TEXT]) {
    static const char *const axes[OVER_COUNT] = {"cells a side", "channels", "points"};
    const BevKernel *strong = NULL, *baseline = NULL;
    const double *us = NULL, *before_us = NULL;
    double least = INFINITY, most = 0;
    for (int r = 0; r < sweep->kernel_count; r++) {
        const BevKernel *kernel = sweep->kernels[r];
        if (kernel->is_default)
            strong = kernel, us = sweep->latency[r];
        if (kernel->is_baseline)
            baseline = kernel, before_us = sweep->latency[r];
    }
    for (int i = 0; strong && baseline && i < sweep->count; i++) {
        least = fmin(least, before_us[i] / us[i]);
        most = fmax(most, before_us[i] / us[i]);
    }
    const UnitText from = text_of_unit(UNIT_COUNT, sweep->x[0]);
    const UnitText to = text_of_unit(UNIT_COUNT, sweep->x[sweep->count - 1]);
    if (strong && baseline)
        snprintf(title, TEXT, "%s is %.3g to %.3g times as fast as %s from %s to %s %s",
                 strong->title, least, most, baseline->title, from.text, to.text, axes[over]);
    else
        snprintf(title, TEXT, "Latency from %s to %s %s", from.text, to.text, axes[over]);
}

static bool draw_sweep(const PlotRequest *request, Over over, const Sweep *sweep, Err *err) {
    static const char *const axes[OVER_COUNT] = {"cells a side of the same area", "channels",
                                                 "points"};
    const Gpu *gpu = &request->chosen->gpus[0];
    double half = gpu->l2_bytes / 2, full = gpu->l2_bytes, lo = INFINITY, hi = 0;
    char subtitle[TEXT], title[TEXT], labels[2][TEXT];
    PlotSeries series[KERNELS];
    PlotMark marks[2];
    int mark_count = 0;
    for (int r = 0; r < sweep->kernel_count; r++) {
        const BevKernel *kernel = sweep->kernels[r];
        series[r] = plot_series(kernel->title, sweep->x, sweep->latency[r], sweep->count, 0);
        series[r].strong = kernel->is_default;
        series[r].baseline = kernel->is_baseline;
        series[r].peer = true;
    }
    for (int i = 0; i < 2; i++) {
        double at = footprint_reaches(sweep, i ? full : half);
        snprintf(labels[mark_count], TEXT, "%s of %.4g MiB is full", i ? "L2" : "half an L2",
                 full / 1048576);
        if (isfinite(at)) {
            marks[mark_count] = (PlotMark){at, labels[mark_count], i == 1};
            mark_count++;
        }
    }
    sweep_finding(over, sweep, title);
    snprintf(subtitle, TEXT, "%.99s, %s, on %.60s with %g MiB of L2", request->model->label,
             bev_dtypes[request->model->problem.view.dtype].title, gpu->title,
             gpu->l2_bytes / 1048576);
    ChartSpec spec = {
        .title = title,
        .subtitle = subtitle,
        .note = "Model, L2 warm. The lines stand where the footprint reaches half of L2 and all of "
                "it; without a line it does not within this sweep. Model and recorded latencies "
                "stand side by side in plot published.",
        .x = {axes[over], true, sweep->x[0], sweep->x[sweep->count - 1], NULL},
        .y = {"predicted latency, µs", true, 0, 0, NULL},
        .series = series,
        .series_count = sweep->kernel_count,
        .marks = marks,
        .mark_count = mark_count,
    };
    for (int r = 0; r < sweep->kernel_count; r++)
        for (int i = 0; i < sweep->count; i++) {
            lo = fmin(lo, sweep->latency[r][i]);
            hi = fmax(hi, sweep->latency[r][i]);
        }
    spec.y.lo = lo / 1.5;
    spec.y.hi = hi * 1.5;
    return output_chart(request->options, &spec, request->options->output, err);
}

bool plot_sweep(const PlotRequest *request, Err *err) {
    Over over = (Over)choices_or(CHOICE_SWEEP, request->options->over, 0);
    Sweep sweep = {0};
    choose_kernels(&sweep);
    if (!request->model->workload.scene->has_rig)
        return err_set(err, ERR_USAGE, request->model->scene, "export it with its calibration",
                       "a sweep needs a rig, and this scene has index arrays only");
    for (int i = 0; i < SWEEP_MAX && settings[over][i]; i++) {
        progress_step("sweep", (double)i / SWEEP_MAX, (i + 1.0) / SWEEP_MAX);
        if (!add_setting(request, over, settings[over][i], &sweep, err))
            return false;
    }
    return draw_sweep(request, over, &sweep, err);
}
