/* SPDX-License-Identifier: MIT */
/* Draws charts with data of their own: latency of a growing problem, mass of a pruned map. */
#include "src/cli/model.h"

#include "src/base/progress.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plot sweep ------------------------------------------------------------------------------ */

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

static bool predict_all(const PlotRequest *request, const BevProblem *problem, Sweep *sweep,
                        Err *err) {
    MemoryModel *memory = malloc(sizeof *memory);
    if (!memory)
        return err_set(err, ERR_FAILED, "plot", "", "out of memory");
    model_begin(memory, problem, request->chosen->gpus, 1);
    bool ok = model_replay(memory, problem, sweep->mask, err);
    for (int r = 0; r < sweep->kernel_count; r++) {
        const PredictedKernel *kernel = model_kernel(memory, sweep->kernels[r]);
        sweep->latency[r][sweep->count] = kernel ? kernel->predicted[0].latency_us : NAN;
    }
    free(memory);
    return ok;
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
    bool ok = rig_check(&rig, "sweep", err) &&
              scatter_build(&rig, like->align, UINT32_MAX, &map, err) &&
              problem_init(&problem, &shape, like->dtype, like->align, &map, err) &&
              predict_all(request, &problem.view, sweep, err);
    if (ok) {
        sweep->x[sweep->count] = x > 0 ? x : (double)map.points;
        sweep->footprint[sweep->count] = bev_footprint_total(bev_footprint(&problem.view));
        sweep->count++;
    }
    problem_free(&problem);
    scatter_free(&map);
    return ok;
}

/* The published configurations that lie on a sweep of `canonical`. */
static const struct {
    Over over;
    int setting;
    const char *config;
} configs[] = {{OVER_POINTS, 30, "small"},        {OVER_POINTS, 59, "canonical"},
               {OVER_POINTS, 118, "large"},       {OVER_CHANNELS, 80, "canonical"},
               {OVER_CHANNELS, 128, "wide_c128"}, {OVER_CHANNELS, 256, "wide_c256"}};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* Returns the kernel's latency in a configuration on the GPU: recorded, else published. */
static double known_us(const PlotRequest *request, const BevKernel *kernel, const char *config) {
    const Gpu *gpu = &request->chosen->gpus[0];
    const Preset *preset = preset_find(config);
    const BevDtype dtype = request->model->problem.view.dtype;
    const KernelConfig own = {kernel, dtype, BEV_NEAREST};
    const BevKernel *form = scene_model_v3_choice(request->model, gpu).published;
    const Published *article = published_find(gpu->name, config, preset->channels,
                                              published_column(kernel, form), dtype);
    for (int i = 0; i < request->chosen->recorded.count; i++) {
        const RecordedSet one = {&request->chosen->recorded.recordings[i], 1};
        const RecordedRow *found =
            chosen_recorded_on(one.recordings, gpu)
                ? recorded_find(&one, config, preset->channels, &own, NULL)
                : NULL;
        if (found && !found->unsettled)
            return found->median_us;
    }
    return article ? article->latency_us : NAN;
}

/* Latencies that are known at points of the sweep, of all kernels together. */
typedef struct {
    double x[CONFIGS * KERNELS], us[CONFIGS * KERNELS];
    int count;
} Known;

static void find_known(const PlotRequest *request, Over over, const Sweep *sweep, Known *known) {
    const SceneModel *model = request->model;
    if (strcmp(model->scene, "canonical") != 0 || !workload_as_recorded(&model->workload))
        return;
    for (int c = 0; c < CONFIGS; c++)
        for (int i = 0; configs[c].over == over && i < sweep->count; i++)
            for (int r = 0; settings[over][i] == configs[c].setting && r < sweep->kernel_count;
                 r++) {
                double us = known_us(request, sweep->kernels[r], configs[c].config);
                known->x[known->count] = sweep->x[i];
                known->us[known->count] = us;
                known->count += isfinite(us);
            }
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

static void set_axis_ends(const Sweep *sweep, const Known *known, PlotAxis *axis) {
    double lo = INFINITY, hi = 0;
    for (int i = 0; i < known->count; i++) {
        lo = fmin(lo, known->us[i]);
        hi = fmax(hi, known->us[i]);
    }
    for (int r = 0; r < sweep->kernel_count; r++)
        for (int i = 0; i < sweep->count; i++) {
            lo = fmin(lo, sweep->latency[r][i]);
            hi = fmax(hi, sweep->latency[r][i]);
        }
    axis->lo = lo / 1.5;
    axis->hi = hi * 1.5;
}

/* "V4 is 1.4 to 26 times as fast as V2 from 50 to 700 cells a side" */
static void sweep_finding(Over over, const Sweep *sweep, char title[TEXT]) {
    static const char *const axes[OVER_COUNT] = {"cells a side", "channels", "points"};
    const BevKernel *strong = NULL, *baseline = NULL;
    const double *us = NULL, *before_us = NULL;
    double least = INFINITY, most = 0;
    char from[32], to[32];
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
    unit_text(UNIT_COUNT, sweep->x[0], from, sizeof from);
    unit_text(UNIT_COUNT, sweep->x[sweep->count - 1], to, sizeof to);
    if (strong && baseline)
        snprintf(title, TEXT, "%s is %.3g to %.3g times as fast as %s from %s to %s %s",
                 strong->title, least, most, baseline->title, from, to, axes[over]);
    else
        snprintf(title, TEXT, "Latency from %s to %s %s", from, to, axes[over]);
}

static bool draw_sweep(const PlotRequest *request, Over over, const Sweep *sweep, Err *err) {
    static const char *const axes[OVER_COUNT] = {"cells a side of the same area", "channels",
                                                 "points"};
    const Gpu *gpu = &request->chosen->gpus[0];
    double half = gpu->l2_bytes / 2, full = gpu->l2_bytes;
    char subtitle[TEXT], title[TEXT], labels[2][TEXT];
    PlotSeries series[KERNELS + 1];
    PlotMark marks[2];
    Known known = {0};
    int mark_count = 0;
    find_known(request, over, sweep, &known);
    for (int r = 0; r < sweep->kernel_count; r++) {
        const BevKernel *kernel = sweep->kernels[r];
        series[r] = plot_series(kernel->title, sweep->x, sweep->latency[r], sweep->count, 0);
        series[r].strong = kernel->is_default;
        series[r].baseline = kernel->is_baseline;
        series[r].peer = true;
    }
    series[sweep->kernel_count] =
        plot_series("recorded, else published", known.x, known.us, known.count, 0);
    series[sweep->kernel_count].dots = series[sweep->kernel_count].faint = true;
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
                "it; without a line it does not within this sweep. Dots: the six configurations of "
                "bench --published, where this GPU is among them.",
        .x = {axes[over], true, sweep->x[0], sweep->x[sweep->count - 1], NULL},
        .y = {"predicted latency, µs", true, 0, 0, NULL},
        .series = series,
        .series_count = sweep->kernel_count + (known.count > 0),
        .marks = marks,
        .mark_count = mark_count,
    };
    set_axis_ends(sweep, &known, &spec.y);
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

/* ---- plot prune ------------------------------------------------------------------------------ */

enum { STEPS = 400, TOPS = 24 };

typedef struct {
    Prune prune;
    double points, mass;       /* the share of points and mass that pruning keeps, in percent */
    double x[STEPS], y[STEPS]; /* percent of the points, largest depths first, and of their mass */
    double top_x[TOPS], top_y[TOPS]; /* for the 1, 2, 3, 4, 6, 8 ... strongest bins of each pixel */
    int tops;
} Kept;

typedef struct {
    float depth;
    double mass;
} Weighed;

static int compare_largest_first(const void *a, const void *b) {
    const Weighed *x = a, *y = b;
    return (y->depth > x->depth) - (y->depth < x->depth);
}

/* Follows the kept mass from one point to all points, in steps of equal ratio. */
static void follow_points(Weighed *points, int64_t count, Kept *kept) {
    double sum = 0, total = 0;
    int64_t at = 0;
    qsort(points, (size_t)count, sizeof *points, compare_largest_first);
    for (int64_t t = 0; t < count; t++)
        total += points[t].mass;
    for (int step = 0; step < STEPS; step++) {
        int64_t end = llround(pow((double)count, step / (STEPS - 1.0)));
        for (; at < end; at++)
            sum += points[at].mass;
        kept->x[step] = 100.0 * (double)end / (double)count;
        kept->y[step] = 100 * kept_share(sum, total);
    }
}

/* Prunes the map and returns which share of points and mass it keeps, in percent. */
static bool prune_copy(const Workload *workload, const BevMap *map, const Prune *prune,
                       double *points, double *mass, Err *err) {
    BevMap kept;
    Pruned pruned;
    bool ok = scatter_prune(map, &workload->seen->shape, workload->features->depth, prune, &kept,
                            &pruned, err);
    *points = 100.0 * (double)pruned.points_kept / (double)pruned.points;
    *mass = 100 * kept_share(pruned.mass_kept, pruned.mass);
    scatter_free(&kept);
    return ok;
}

/* Follows the kept mass over the number of bins: 1, 2, 3, 4, 6, 8 ... up to all bins. */
static bool follow_tops(const Workload *workload, const BevMap *map, Kept *kept, Err *err) {
    int64_t bins = workload->seen->shape.depth_bins;
    for (int64_t top = 1; top <= bins && kept->tops < TOPS; kept->tops++) {
        int at = kept->tops;
        if (!prune_copy(workload, map, &(Prune){.top = top}, &kept->top_x[at], &kept->top_y[at],
                        err))
            return false;
        int64_t next = top < 3 ? top + 1 : top & (top - 1) ? top / 3 * 4 : top / 2 * 3;
        top = top < bins && next > bins ? bins : next;
    }
    return true;
}

/* Measures how much of the depth the largest points and bins hold. */
static bool measure_kept(Workload *workload, BevAlign align, Kept *kept, Err *err) {
    const BevMap *map = workload_map(workload, align, err);
    Weighed *points = map && map->points ? malloc((size_t)map->points * sizeof *points) : NULL;
    if (!points)
        return map && err_set(err, ERR_FAILED, workload->scene->name, "",
                              map->points ? "out of memory" : "no point falls into the grid");
    for (int64_t t = 0; t < map->points; t++) {
        float depth = fabsf(workload->features->depth[map->ranks_depth[t]]);
        points[t] = (Weighed){depth, depth * (map->weights ? fabs(map->weights[t]) : 1.0)};
    }
    follow_points(points, map->points, kept);
    free(points);
    return follow_tops(workload, map, kept, err) &&
           prune_copy(workload, map, &kept->prune, &kept->points, &kept->mass, err);
}

static bool draw_kept(const PlotRequest *request, const char *scene, const Kept *kept, Err *err) {
    char title[128], dot[64];
    snprintf(title, sizeof title, "%.2g %% of the points hold %.4g %% of the mass", kept->points,
             kept->mass);
    if (kept->prune.top)
        snprintf(dot, sizeof dot, "top%lld", (long long)kept->prune.top);
    else
        snprintf(dot, sizeof dot, "depth from %g up", kept->prune.below);
    PlotSeries series[] = {
        plot_series("largest depths first", kept->x, kept->y, STEPS, 0),
        plot_series("top K bins a pixel", kept->top_x, kept->top_y, kept->tops, 2),
        plot_series(dot, &kept->points, &kept->mass, 1, 1)};
    series[2].dots = series[2].strong = true;
    ChartSpec spec = {
        .title = title,
        .subtitle = scene,
        .note = "Computed from the scene's depths. Mass: |depth| times |weight|, summed over the "
                "points. Top K: the bins of largest |depth| of each pixel. A pruned map "
                "follows the depths, and is built anew for each frame.",
        .x = {"points kept, %", true, 0.1, 100, "%"},
        .y = {"mass kept, %", false, 0, 100, "%"},
        .series = series,
        .series_count = 3,
    };
    return output_chart(request->options, &spec, request->options->output, err);
}

bool plot_prune(const PlotRequest *request, Err *err) {
    const SceneModel *model = request->model;
    const Prune usual = {.below = 1e-3};
    Workload workload; /* a workload for this chart, with the whole map */
    Job whole = model->workload.job;
    Kept kept = {.prune = prune_is_off(&whole.prune) ? usual : whole.prune};
    char label[TEXT];
    whole.prune = (Prune){0};
    workload_label(&whole, model->scene, label, sizeof label);
    if (!workload_open(&workload, model->scene, &whole, err))
        return false;
    bool ok = measure_kept(&workload, model->problem.view.align, &kept, err) &&
              draw_kept(request, label, &kept, err);
    workload_close(&workload);
    return ok;
}
