/* SPDX-License-Identifier: MIT */
/* plot published: compares published and recorded latencies with the model's, in the six
 * configurations. */
#include "src/cli/model.h"

#include "kernels/threads.h"
#include "src/base/progress.h"
#include "src/scene/scene.h"

#include <math.h>
#include <string.h>

enum { COMPARED_MAX = 128, TEXT = 160, NAMED = 8 };

/* A latency that is published or recorded, beside the model's. */
typedef struct {
    char name[TEXT]; /* "V4, canonical, H200" */
    double known_us, model_us;
    bool recorded; /* recorded, not published */
} Compared;

typedef struct {
    Compared rows[COMPARED_MAX];
    int count;
} Comparison;

/* Returns the kernels with a published latency. Of V3 these are both forms. */
static unsigned compared_kernels(BevDtype dtype) {
    unsigned kernels = model_bits(bev_v3());
    for (int i = 0; dtype == BEV_FP16 && bev_kernels[i]; i++)
        if (bev_kernels[i]->published)
            kernels |= model_bits(bev_kernels[i]);
    return kernels;
}

static void add_rows(Comparison *part, const SceneModel *model, bool recorded) {
    bool fp16 = model->memory->dtype == BEV_FP16;
    for (int g = 0; g < gpu_count; g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            Compared row = {.recorded = recorded, .model_us = kernel->predicted[g].latency_us};
            row.known_us = recorded ? kernel->recorded_us[g]
                                    : chosen_published_us(&gpus[g], model, kernel->kernel);
            snprintf(row.name, TEXT, "%s%s%s, %s, %s", kernel->title, fp16 ? "" : " ",
                     fp16 ? "" : bev_dtypes[model->memory->dtype].title, model->scene,
                     gpus[g].title);
            if (isfinite(row.known_us) && part->count < COMPARED_MAX)
                part->rows[part->count++] = row;
        }
}

enum { FORMATS = 2, PARTS = 2 * 6 };

/* Compares configuration and format number n. The last numbers take longest. */
static bool compare_part(const ChosenGpus *all, int n, Comparison *part, Err *err) {
    SceneModel model;
    const char *config = presets[n / FORMATS].name;
    BevDtype dtype = n % FORMATS ? BEV_FP8 : BEV_FP16;
    bool ok = scene_model_open(&model, config, NULL, dtype, BEV_NEAREST, all,
                               compared_kernels(dtype), err);
    for (int recorded = 0; ok && recorded < 2; recorded++)
        add_rows(part, &model, recorded);
    scene_model_close(&model);
    return ok;
}

static double compared_work(void) {
    double work = 0;
    for (int n = 0; n < PARTS; n++) {
        const Preset *preset = &presets[n / FORMATS];
        BevShape shape = {.cameras = 6,
                          .depth_bins = (int64_t)(59 / preset->depth_step_m),
                          .feat_h = preset->feat_h,
                          .feat_w = preset->feat_w,
                          .channels = preset->channels};
        int kernels = __builtin_popcount(compared_kernels(n % FORMATS ? BEV_FP8 : BEV_FP16));
        work += kernels * model_work(&shape);
    }
    return work;
}

/* Replays all six configurations, half a minute of one core. Each part runs on one core. */
static bool compare_all(const ChosenGpus *chosen, Comparison *comparison, Err *err) {
    static Comparison parts[PARTS];
    static ChosenGpus all; /* all GPUs of the table */
    Err errs[PARTS] = {0};
    bool ok = true;
    all = (ChosenGpus){.count = gpu_count, .recorded = chosen->recorded};
    memcpy(all.gpus, gpus, (size_t)gpu_count * sizeof *gpus);
    progress_plan(compared_work());
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < PARTS; i++) {
        int n = PARTS - 1 - i;
        parts[n].count = 0;
        ok = compare_part(&all, n, &parts[n], &errs[n]) && ok;
    }
    for (int n = 0; n < PARTS; n++) {
        if (errs[n].kind)
            *err = errs[n];
        for (int i = 0; i < parts[n].count && comparison->count < COMPARED_MAX; i++)
            comparison->rows[comparison->count++] = parts[n].rows[i];
    }
    return ok;
}

/* ---- the chart ------------------------------------------------------------------------------- */

static const double band = 1.3;

/* Published and recorded latencies: a dot each, the known one at x, the model's at y. */
typedef struct {
    double x[2][COMPARED_MAX], y[2][COMPARED_MAX], gaps[COMPARED_MAX];
    const char *labels[2][COMPARED_MAX];
    int count[2], within;
    char title[2 * TEXT];
} Scatter;

/* Adds a dot for each row, and names the largest gaps: how many times the two latencies differ. */
static void add_dots(Scatter *scatter, const Comparison *comparison) {
    for (int i = 0; i < comparison->count; i++) {
        double ratio = comparison->rows[i].model_us / comparison->rows[i].known_us;
        scatter->gaps[i] = fmax(ratio, 1 / ratio);
    }
    for (int i = 0; i < comparison->count; i++) {
        const Compared *row = &comparison->rows[i];
        int kind = row->recorded, at = scatter->count[kind]++;
        bool within = scatter->gaps[i] <= band;
        bool named = !within && plot_rank(scatter->gaps, comparison->count, i) < NAMED;
        scatter->x[kind][at] = row->known_us;
        scatter->y[kind][at] = row->model_us;
        scatter->labels[kind][at] = named ? row->name : NULL;
        scatter->within += within;
    }
}

static void set_ends(const Comparison *comparison, PlotAxis *x, PlotAxis *y) {
    double lo = INFINITY, hi = 1;
    for (int i = 0; i < comparison->count; i++) {
        const Compared *row = &comparison->rows[i];
        lo = fmin(lo, fmin(row->known_us, row->model_us));
        hi = fmax(hi, fmax(row->known_us, row->model_us));
    }
    x->lo = isfinite(lo) ? lo / 1.2 : 0.5;
    x->hi = 1.2 * hi;
    y->lo = x->lo / band;
    y->hi = x->hi * band;
}

bool plot_published(const PlotRequest *request, Err *err) {
    static Comparison comparison;
    static Scatter scatter;
    if (!compare_all(request->chosen, &comparison, err))
        return false;
    add_dots(&scatter, &comparison);
    PlotAxis x = {.title = "published or recorded, µs", .log = true};
    PlotAxis y = {.title = "model, µs", .log = true};
    set_ends(&comparison, &x, &y);
    const double ends[] = {x.lo, x.hi};
    const double above[] = {band * x.lo, band * x.hi}, below[] = {x.lo / band, x.hi / band};
    PlotSeries series[] = {
        plot_series("published", scatter.x[0], scatter.y[0], scatter.count[0], 0),
        plot_series("recorded", scatter.x[1], scatter.y[1], scatter.count[1], 4),
        plot_series("as known", ends, ends, 2, 4),
        plot_series("1.3 times longer", ends, above, 2, 4),
        plot_series("1.3 times shorter", ends, below, 2, 4)};
    for (int i = 0; i < 2; i++) {
        series[i].dots = true;
        series[i].labels = scatter.labels[i];
        series[3 + i].faint = true;
    }
    series[1].faint = true;
    snprintf(scatter.title, sizeof scatter.title,
             "The model is within 1.3 times of %d of %d latencies", scatter.within,
             comparison.count);
    ChartSpec spec = {
        .title = scatter.title,
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
