/* SPDX-License-Identifier: MIT */
/* bevscope plot: draws charts of the memory model, by their names. */
#include "src/base/progress.h"
#include "src/accuracy/fp64.h"
#include "src/app/app.h"
#include "src/base/nearest.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- plot race and plot straggler: the pages of the display as pictures ---------------------- */

enum { PAGE_W = 1200, PAGE_H = 1080, STRAGGLER_H = 720, PAD = 32, ROW = 22 };
typedef struct {
    const RaceView *view;
    double h;
    bool straggler;
} RaceSheet;

static void draw_sheet(Pen *pen, const void *context) {
    const RaceSheet *page = context;
    Box box = {PAD, PAD, PAGE_W - 2 * PAD, page->h - 2 * PAD};
    Sheet sheet = pen_sheet(pen, box, ROW, NULL);
    Area area = {0, 0, sheet.columns, sheet.rows};
    (page->straggler ? straggler_strips_draw : race_moments_draw)(&sheet, area, page->view);
}

/* Draws a page of the live display. An App in script mode, which needs no screen, makes the picture
 * and the schedules of this page. */
static bool plot_race(const PlotRequest *request, Err *err) {
    const Options *options = request->options;
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .script = true, .make_picture = picture_make};
    AppOptions words = {.scene = options->arguments[1], .paused = true, .time_s = options->time_s};
    app_word(&words, "gpu", request->chosen->gpus[0].name);
    app_word(&words, "dtype", options->dtype);
    app_word(&words, "align", options->align);
    app_word(&words, "race", "on");
    static App app;
    if (!app_open(&app, &words, &engine, err))
        return false;
    const LiveData *live = app_live(&app);
    if (!live->race || live->race->count < 2)
        return err_set(err, ERR_USAGE, "race", "choose FP16 or FP32, and --align nearest",
                       "the kernels of the race do not take this configuration");
    const RaceView view = {live->race, &app_picture(&app)->bev.image,
                           short_text("%s", request->model->label)};
    const bool straggler = !strcmp(options->arguments[0], "straggler");
    const RaceSheet sheet = {&view, straggler ? STRAGGLER_H : PAGE_H, straggler};
    const PictureFile file = request->file;
    const PageSpec page = {.w = PAGE_W,
                           .h = sheet.h,
                           .scale = file.w > 0 ? file.w * file.scale / PAGE_W : 1,
                           .theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme),
                           .draw = draw_sheet,
                           .context = &sheet,
                           .title = straggler ? "The straggler" : "The race"};
    return output_page(&page, file.format, options->output, err);
}

/* ---- plot published: known latencies beside the model, in the six configurations ------------- */

enum { DOTS_MAX = 128, TEXT = 200, NAMED = 8 };
typedef enum { PUBLISHED, RECORDED, SOURCES } Source; /* where a known latency comes from */

static const double band = 1.3; /* the largest gap of a latency that agrees with the model */

/* Each known latency is a dot: x is the known latency, y the latency by the model, and gap the
 * larger of the two over the smaller. */
typedef struct {
    double x[SOURCES][DOTS_MAX], y[SOURCES][DOTS_MAX], gap[SOURCES][DOTS_MAX];
    char names[SOURCES][DOTS_MAX][TEXT]; /* "V4, canonical, H200" */
    const char *labels[SOURCES][DOTS_MAX];
    int count[SOURCES], within;
    char title[2 * TEXT];
} Comparison;

/* Adds a dot for each known latency of the model's kernels on all GPUs of the table. */
static void add_dots(Comparison *all, const SceneModel *model, Source source) {
    const BevDtype dtype = model->memory->dtype;
    const char *format = dtype == BEV_FP16 ? "" : bev_dtypes[dtype].title; /* FP16 is the usual */
    for (int g = 0; g < gpu_count; g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            const int dot = all->count[source];
            const double known_us = source == RECORDED
                                        ? kernel->recorded_us[g]
                                        : published_us(&gpus[g], model, kernel->kernel);
            if (!isfinite(known_us) || dot == DOTS_MAX)
                continue;
            snprintf(all->names[source][dot], TEXT, "%s%s%s, %s, %s", kernel->title,
                     format[0] ? " " : "", format, model->scene, gpus[g].title);
            double model_us = kernel->predicted[g].latency_us;
            all->x[source][dot] = known_us;
            all->y[source][dot] = model_us;
            all->gap[source][dot] = fmax(model_us / known_us, known_us / model_us);
            all->within += all->gap[source][dot] <= band;
            all->count[source]++;
        }
}

/* Replays all six configurations in both formats. This takes half a minute of one core. */
static bool compare_configurations(const ChosenGpus *chosen, Comparison *all, Err *err) {
    static const BevDtype formats[] = {BEV_FP16, BEV_FP8};
    static ChosenGpus every; /* all GPUs of the table */
    bool ok = true;
    every = (ChosenGpus){.count = gpu_count, .recorded = chosen->recorded};
    memcpy(every.gpus, gpus, (size_t)gpu_count * sizeof *gpus);
    for (int i = 0; ok && i < 2 * preset_count; i++) {
        SceneModel model;
        const char *config = presets[i / 2].name;
        BevDtype dtype = formats[i % 2];
        unsigned kernels = model_bits(bev_v3()); /* both forms of V3, and all published kernels */
        for (int k = 0; dtype == BEV_FP16 && bev_kernels[k]; k++)
            if (bev_kernels[k]->published)
                kernels |= model_bits(bev_kernels[k]);
        progress_step(config, i / (2.0 * preset_count), (i + 1) / (2.0 * preset_count));
        ok = scene_model_open(&model, config, NULL, dtype, BEV_NEAREST, &every, kernels, err);
        for (Source source = 0; ok && source < SOURCES; source++)
            add_dots(all, &model, source);
        scene_model_close(&model);
    }
    return ok;
}

/* Names the dots with the largest gaps, and sets the ends of both axes. */
static void fit_dots(Comparison *all, PlotAxis *x, PlotAxis *y) {
    double lo = INFINITY, hi = 1;
    for (int source = 0; source < SOURCES; source++)
        for (int i = 0; i < all->count[source]; i++) {
            const int dot = source * DOTS_MAX + i; /* its place in all rows of `gap` */
            int rank = plot_rank(all->gap[0], SOURCES * DOTS_MAX, dot);
            bool named = all->gap[source][i] > band && rank < NAMED;
            all->labels[source][i] = named ? all->names[source][i] : NULL;
            lo = fmin(lo, fmin(all->x[source][i], all->y[source][i]));
            hi = fmax(hi, fmax(all->x[source][i], all->y[source][i]));
        }
    x->lo = isfinite(lo) ? lo / 1.2 : 0.5;
    x->hi = 1.2 * hi;
    y->lo = x->lo / band;
    y->hi = x->hi * band;
}

static bool plot_published(const PlotRequest *request, Err *err) {
    static Comparison all;
    if (!compare_configurations(request->chosen, &all, err))
        return false;
    PlotAxis x = {.title = "published or recorded, µs", .log = true};
    PlotAxis y = {.title = "model, µs", .log = true};
    fit_dots(&all, &x, &y);
    const double ends[] = {x.lo, x.hi};
    const double above[] = {band * x.lo, band * x.hi}, below[] = {x.lo / band, x.hi / band};
    enum { DARK = 0, GREY = 4 }; /* colours of the series */
    PlotSeries series[] = {
        plot_series("published", all.x[PUBLISHED], all.y[PUBLISHED], all.count[PUBLISHED], DARK),
        plot_series("recorded", all.x[RECORDED], all.y[RECORDED], all.count[RECORDED], GREY),
        plot_series("as known", ends, ends, 2, GREY),
        plot_series("1.3 times longer", ends, above, 2, GREY),
        plot_series("1.3 times shorter", ends, below, 2, GREY)};
    for (int source = 0; source < SOURCES; source++) {
        series[source].dots = true;
        series[source].labels = all.labels[source];
    }
    series[RECORDED].faint = series[3].faint = series[4].faint = true;
    snprintf(all.title, sizeof all.title, "The model is within 1.3 times of %d of %d latencies",
             all.within, all.count[PUBLISHED] + all.count[RECORDED]);
    ChartSpec spec = {
        .title = all.title,
        .subtitle = "the six configurations of the article, FP16 and FP8, nearest",
        .note = "The article timed a TensorRT plugin on the RTX A6000 and the RTX PRO 6000; "
                "recorded latencies are from samples/recorded. Named: the largest gaps.\n"
                "The model replays our map, whose longest intervals limit it; the article's map "
                "is not published. For V3 on the RTX A6000 the article names DRAM: "
                "agreement there would prove nothing.",
        .x = x,
        .y = y,
        .series = series,
        .series_count = 5,
    };
    return output_chart(request->options, &spec, request->options->output, err);
}

/* ---- plot sweep: the latency of a growing problem -------------------------------------------- */

/* A sweep renders no features, because accesses depend only on shapes and the map. */
enum { SWEEP_MAX = 12 };
typedef enum { OVER_GRID, OVER_CHANNELS, OVER_POINTS, OVER_COUNT } Over;

static const struct {
    const char *unit, *axis; /* for the title of the chart, and of the axis */
    int settings[SWEEP_MAX]; /* cells of a side, channels, or depth bins; 0 ends them */
} sweeps[OVER_COUNT] = {
    [OVER_GRID] = {"cells a side",
                   "cells a side of the same area",
                   {50, 75, 100, 150, 200, 250, 300, 400, 500, 600, 700}},
    [OVER_CHANNELS] = {"channels", "channels", {16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256}},
    [OVER_POINTS] = {"points", "points", {8, 15, 30, 59, 90, 118, 177, 236, 354}},
};

enum { KERNELS = MODEL_KERNELS };
typedef struct {
    double x[SWEEP_MAX], footprint[SWEEP_MAX], latency[KERNELS][SWEEP_MAX];
    int count; /* settings so far */
    const BevKernel *kernels[KERNELS];
    int kernel_count;
    unsigned mask; /* the same kernels as model_bits */
} Sweep;

/* Changes rig or channels to a setting. Returns the setting's place on the axis. 0: not yet known,
 * because OVER_POINTS varies depth bins, and only the new map has the number of points. */
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

/* Adds the footprint and the predicted latencies of a setting to the sweep. */
static bool add_setting(const PlotRequest *request, Over over, int setting, Sweep *sweep,
                        Err *err) {
    const BevProblem *like = &request->model->problem.view;
    Rig rig = request->model->workload.scene->rig;
    int64_t channels = like->shape.channels;
    double x = apply_setting(over, setting, &rig, &channels);
    BevShape shape = rig_shape(&rig, channels);
    BevMap map = {0};
    HostProblem problem = {0};
    static MemoryModel memory;
    bool ok = rig_check(&rig, "sweep", err) && scene_check_size(&shape, "sweep", err) &&
              scatter_build(&rig, like->align, UINT32_MAX, NULL, &map, err) &&
              problem_init(&problem, &shape, like->dtype, like->align, &map, err);
    if (ok) {
        model_begin(&memory, &problem.view, request->chosen->gpus, 1);
        ok = model_replay(&memory, &problem.view, sweep->mask, err);
        for (int r = 0; r < sweep->kernel_count; r++) {
            const PredictedKernel *kernel = model_kernel(&memory, sweep->kernels[r]);
            sweep->latency[r][sweep->count] = kernel ? kernel->predicted[0].latency_us : NAN;
        }
    }
    if (ok) {
        sweep->x[sweep->count] = x > 0 ? x : (double)map.points;
        sweep->footprint[sweep->count] = bev_footprint_total(bev_footprint(&problem.view));
        sweep->count++;
    }
    problem_free(&problem);
    scatter_free(&map);
    return ok;
}

/* Returns the place on the axis at which the footprint reaches `bytes`. NaN: there is no such
 * place. The place is the value of a line over the footprint, with both axes logarithmic. */
static double footprint_reaches(const Sweep *sweep, double bytes) {
    const ChartSpec logarithmic = {.x = {.log = true, .lo = 1, .hi = 2}, .y.log = true};
    const PlotSeries series = plot_series("", sweep->footprint, sweep->x, sweep->count, 0);
    return chart_crossing(&logarithmic, &series, bytes);
}

/* Returns the title: "V4 is 1.4 to 26 times as fast as V2 from 50 to 700 cells a side". */
static ShortText sweep_title(Over over, const Sweep *sweep) {
    const ShortText from = text_of_unit(UNIT_COUNT, sweep->x[0]);
    const ShortText to = text_of_unit(UNIT_COUNT, sweep->x[sweep->count - 1]);
    int strong = -1, baseline = -1;
    double least = INFINITY, most = 0;
    for (int r = 0; r < sweep->kernel_count; r++) {
        strong = sweep->kernels[r]->is_default ? r : strong;
        baseline = sweep->kernels[r]->is_baseline ? r : baseline;
    }
    if (strong < 0 || baseline < 0)
        return short_text("Latency from %s to %s %s", from.text, to.text, sweeps[over].unit);
    for (int i = 0; i < sweep->count; i++) {
        double ratio = sweep->latency[baseline][i] / sweep->latency[strong][i];
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    return short_text("%s is %.3g to %.3g times as fast as %s from %s to %s %s",
                      sweep->kernels[strong]->title, least, most, sweep->kernels[baseline]->title,
                      from.text, to.text, sweeps[over].unit);
}

static bool draw_sweep(const PlotRequest *request, Over over, const Sweep *sweep, Err *err) {
    const Gpu *gpu = &request->chosen->gpus[0];
    const double l2_mib = gpu->l2_bytes / 1048576;
    const ShortText title = sweep_title(over, sweep);
    char subtitle[TEXT];
    ShortText labels[2];
    PlotSeries series[KERNELS];
    PlotMark marks[2];
    int mark_count = 0;
    double lo = INFINITY, hi = 0;
    for (int r = 0; r < sweep->kernel_count; r++) {
        const BevKernel *kernel = sweep->kernels[r];
        series[r] = plot_series(kernel->title, sweep->x, sweep->latency[r], sweep->count, 0);
        series[r].strong = kernel->is_default;
        series[r].baseline = kernel->is_baseline;
        series[r].peer = true;
        for (int i = 0; i < sweep->count; i++) {
            lo = fmin(lo, sweep->latency[r][i]);
            hi = fmax(hi, sweep->latency[r][i]);
        }
    }
    for (int whole = 0; whole < 2; whole++) {
        double at = footprint_reaches(sweep, whole ? gpu->l2_bytes : gpu->l2_bytes / 2);
        labels[whole] = short_text("%s of %.4g MiB is full", whole ? "L2" : "half an L2", l2_mib);
        if (isfinite(at))
            marks[mark_count++] = (PlotMark){at, labels[whole].text, whole == 1};
    }
    snprintf(subtitle, TEXT, "%.99s, %s, on %.60s with %g MiB of L2", request->model->label,
             bev_dtypes[request->model->problem.view.dtype].title, gpu->title, l2_mib);
    ChartSpec spec = {
        .title = title.text,
        .subtitle = subtitle,
        .note = "Model, L2 warm. The lines stand where the footprint reaches half of L2 and all of "
                "it; without a line it does not within this sweep. Model and recorded latencies "
                "stand side by side in plot published.",
        .x = {sweeps[over].axis, true, sweep->x[0], sweep->x[sweep->count - 1], NULL},
        .y = {"predicted latency, µs", true, lo / 1.5, hi * 1.5, NULL},
        .series = series,
        .series_count = sweep->kernel_count,
        .marks = marks,
        .mark_count = mark_count,
    };
    return output_chart(request->options, &spec, request->options->output, err);
}

static bool plot_sweep(const PlotRequest *request, Err *err) {
    Over over = (Over)choices_or(CHOICE_SWEEP, request->options->over, 0);
    Sweep sweep = {0};
    const BevKernel *ladder[BEV_RUNGS];
    for (int i = bev_ladder(BEV_CUDA, BEV_FORWARD, ladder); i-- > 0;)
        sweep.mask |= model_bits(ladder[i]); /* both forms of V3 */
    for (int i = 0; i < KERNELS; i++)
        if (sweep.mask >> i & 1)
            sweep.kernels[sweep.kernel_count++] = traced_kernel(i);
    if (!request->model->workload.scene->has_rig)
        return err_set(err, ERR_USAGE, request->model->scene, "export it with its calibration",
                       "a sweep needs a rig, and this scene has index arrays only");
    for (int i = 0; i < SWEEP_MAX && sweeps[over].settings[i]; i++) {
        progress_step("sweep", (double)i / SWEEP_MAX, (i + 1.0) / SWEEP_MAX);
        if (!add_setting(request, over, sweeps[over].settings[i], &sweep, err))
            return false;
    }
    return draw_sweep(request, over, &sweep, err);
}

/* ---- charts of the memory model -------------------------------------------------------------- */

/* Gives each GPU its recorded ceilings (info --probe). A GPU that options have changed gets no
 * ceilings, because no probe has measured it. --l2-mb is allowed: the ceilings stay the same. */
static void set_ceilings(SceneModel *model, const ChosenGpus *chosen) {
    for (int i = 0; i < model->memory->gpu_count; i++) {
        const Gpu *gpu = &model->memory->gpus[i], *row = gpu_find(gpu->name);
        const GpuEdit l2 = {.l2_mib = gpu->l2_bytes / 1048576};
        const Gpu own = row ? gpu_edited(row, &l2) : *gpu;
        Limits limits = recorded_limits(&chosen->recorded, gpu);
        if (gpu_same(&own, gpu))
            model_set_ceilings(model->memory, i, &limits, SOURCE_RECORDED);
    }
}

/* Draws a chart of the memory model. `rel_l2` NULL: the chart shows no errors. */
static bool draw_chart(const PlotRequest *request, Chart chart,
                       const double rel_l2[BEV_DTYPE_COUNT], Err *err) {
    SceneModel *model = request->model;
    ChartInput input = {.chart = chart,
                        .scene = model->label,
                        .model = model->memory,
                        .kernel = request->kernel,
                        .baseline = bev_baseline(BEV_CPU, BEV_FORWARD),
                        .asked = (1u << request->chosen->count) - 1,
                        .scales = ranges_label(model->workload.features->scales, BEV_FP8)};
    for (int dtype = 0; rel_l2 && dtype < BEV_DTYPE_COUNT; dtype++)
        input.rel_l2[dtype] = rel_l2[dtype];
    if (!networks_open(request->options->network, &model->memory->networks, err))
        return false;
    set_ceilings(model, request->chosen);
    model->memory->timelines = recorded_timelines(&request->chosen->recorded);
    ChartSpec *spec = chart_make(&input, err);
    bool ok = spec && output_chart(request->options, spec, request->options->output, err);
    free(spec);
    return ok;
}

/* Computes the relative L2 error of a format on the CPU against FP64 over the original inputs. */
static bool dtype_error(SceneModel *model, BevDtype dtype, double *rel_l2, Err *err) {
    static double *fp64_original; /* computed by the first call */
    Pooled pooled = {
        .config = {bev_default(BEV_CPU, BEV_FORWARD), dtype, model->problem.view.align}};
    bool ok = pool_workload(&model->workload, &pooled, err);
    if (ok && !fp64_original)
        ok = (fp64_original = fp64_of(&pooled.problem, err)) != NULL;
    int32_t *points = ok ? gate_terms(&pooled.problem.view, err) : NULL;
    if (points) {
        const FormatError error =
            format_error(&pooled.problem.view, pooled.codes, fp64_original, points);
        /* a chart cannot show that values were left out */
        *rel_l2 = error.left_out ? NAN : error.rel_l2;
    }
    ok = points != NULL;
    free(points);
    problem_free(&pooled.problem);
    free(pooled.codes);
    return ok;
}

static bool draw_dtype(const PlotRequest *request, Err *err) {
    SceneModel *model = request->model;
    const BevProblem *own = &model->problem.view;
    unsigned kernels = model_bits(model_row(request->kernel));
    double rel_l2[BEV_DTYPE_COUNT] = {0};
    bool ok = true;
    progress_plan(BEV_DTYPE_COUNT * __builtin_popcount(kernels) * model_work(&own->shape));
    for (int i = 0; ok && i < BEV_DTYPE_COUNT; i++) {
        const BevDtype dtype = (BevDtype)i;
        const BevProblem problem =
            bev_bare_problem(&own->shape, &own->map, BEV_FORWARD, dtype, own->align);
        ok = scene_model_replay(model, request->chosen, &problem, kernels, err) &&
             dtype_error(model, dtype, &rel_l2[i], err);
    }
    return ok && draw_chart(request, CHART_DTYPE, rel_l2, err);
}

int plot_rank(const double *values, int count, int i) {
    int rank = 0;
    for (int other = 0; other < count; other++)
        rank += values[other] > values[i] || (values[other] == values[i] && other < i);
    return rank;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

#define CHART(id, word, title, idea, replays, topic) {word, idea, CHART_##id, NULL},
const PlotKind plot_kinds[] = {
    CHARTS(CHART) /* as in the live display; the others follow */
    {"sweep", "latency against grid, channels or points, marked at L2 and half of it",
     .draw = plot_sweep},
    {"objects", "how many metres the mass of each true object is off, by range",
     .draw = plot_objects},
    {"calibration", "where each method cuts a tensor's magnitudes off, and what that costs",
     .draw = plot_calibration},
    {"race", "how four kernels fill the grid, at the moments when each is done", .draw = plot_race},
    {"straggler", "when each multiprocessor works: one block runs on, or all end together",
     .draw = plot_race},
    {"published", "published latencies beside the model", .draw = plot_published},
};
#undef CHART
const int plot_kind_count = sizeof plot_kinds / sizeof *plot_kinds;

static const PlotKind *plot_kind_find(const char *name, Err *err) {
    const char *names[sizeof plot_kinds / sizeof *plot_kinds];
    char hint[256];
    for (int i = 0; i < plot_kind_count; i++) {
        names[i] = plot_kinds[i].name;
        if (!strcmp(names[i], name))
            return &plot_kinds[i];
    }
    nearest_hint(name, names, (size_t)plot_kind_count, NULL, hint, sizeof hint);
    err_set(err, ERR_USAGE, "plot", hint, "'%s' is not a kind of chart", name);
    return NULL;
}

bool cmd_plot(const Options *options, Err *err) {
    const PlotKind *kind = plot_kind_find(options->arguments[0], err);
    static ChosenGpus chosen;
    static SceneModel model;
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    BevAlign align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, BEV_NEAREST);
    const bool all_kernels = kind && charts[kind->chart].replays == REPLAYS_KERNELS;
    const double scene_share = all_kernels ? 0.95 : 0.05; /* of the work, for the progress line */
    bool fault;
    PlotRequest request = {.model = &model, .chosen = &chosen, .options = options};
    /* The kernel that titles name. It may be a CUDA kernel, because the model needs no GPU. */
    request.kernel =
        options->kernel ? bev_kernel_find(options->kernel) : bev_default(BEV_CPU, BEV_FORWARD);
    if (!request.kernel)
        request.kernel = select_kernel(options->kernel, 1u << BEV_CPU, err);
    if (!request.kernel || !kind ||
        !output_picture(options, options->output, "plot", &request.file, err) ||
        !select_single(options, "a chart shows one", "draw one chart for each", err) ||
        !select_fault(options, &fault, err))
        return false;
    if (fault && kind->draw != plot_objects)
        return err_set(err, ERR_USAGE, kind->name, "plot objects shows faults",
                       "this chart is of the rig without fault");
    const unsigned all_gpus = (1u << gpu_count) - 1, a6000 = 1u << (gpu_find("a6000") - gpus);
    const unsigned usual = kind->chart == CHART_WORKING_SET ? all_gpus : a6000;
    progress_step("the scene", 0, scene_share);
    bool ok = chosen_open(options, usual, &chosen, err) &&
              scene_model_open(&model, options->arguments[1], options, dtype, align, &chosen,
                               all_kernels ? MODEL_ALL : 0, err);
    progress_step(kind->name, scene_share, 1);
    if (ok && kind->draw)
        ok = kind->draw(&request, err);
    else if (ok && charts[kind->chart].replays == REPLAYS_FORMATS)
        ok = draw_dtype(&request, err);
    else if (ok)
        ok = draw_chart(&request, kind->chart, NULL, err);
    return ok;
}
