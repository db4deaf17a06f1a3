/* SPDX-License-Identifier: MIT */
/* plot published: compares published and recorded latencies with the model's, in the six
 * configurations. */
#include "src/cli/model.h"

#include "src/base/progress.h"
#include "src/scene/scene.h"

#include <math.h>
#include <string.h>

enum { DOTS_MAX = 128, TEXT = 160, NAMED = 8 };

static const double band = 1.3;

/* Published latencies, and recorded ones: a dot each, the known one at x, the model's at y. */
typedef struct {
    double x[2][DOTS_MAX], y[2][DOTS_MAX];
    char names[2][DOTS_MAX][TEXT]; /* "V4, canonical, H200" */
    const char *labels[2][DOTS_MAX];
    int count[2], within;
    char title[2 * TEXT];
} Comparison;

static double gap_of(const Comparison *all, int kind, int i) {
    double ratio = all->y[kind][i] / all->x[kind][i];
    return fmax(ratio, 1 / ratio);
}

/* Adds a dot for each known latency of the model's kernels on all GPUs of the table. */
static void add_dots(Comparison *all, const SceneModel *model, int recorded) {
    bool fp16 = model->memory->dtype == BEV_FP16;
    for (int g = 0; g < gpu_count; g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            int at = all->count[recorded];
            double known_us = recorded ? kernel->recorded_us[g]
                                       : chosen_published_us(&gpus[g], model, kernel->kernel);
            if (!isfinite(known_us) || at == DOTS_MAX)
                continue;
            snprintf(all->names[recorded][at], TEXT, "%s%s%s, %s, %s", kernel->title,
                     fp16 ? "" : " ", fp16 ? "" : bev_dtypes[model->memory->dtype].title,
                     model->scene, gpus[g].title);
            all->x[recorded][at] = known_us;
            all->y[recorded][at] = kernel->predicted[g].latency_us;
            all->count[recorded]++;
            all->within += gap_of(all, recorded, at) <= band;
        }
}

/* Replays all six configurations in both formats, half a minute of one core. */
static bool compare_all(const ChosenGpus *chosen, Comparison *all, Err *err) {
    static const BevDtype formats[] = {BEV_FP16, BEV_FP8};
    static ChosenGpus every; /* all GPUs of the table */
    bool ok = true;
    every = (ChosenGpus){.count = gpu_count, .recorded = chosen->recorded};
    memcpy(every.gpus, gpus, (size_t)gpu_count * sizeof *gpus);
    for (int i = 0; ok && i < 2 * preset_count; i++) {
        SceneModel model;
        const char *config = presets[i / 2].name;
        BevDtype dtype = formats[i % 2];
        unsigned kernels = model_bits(bev_v3()); /* with a published latency; of V3 both forms */
        for (int k = 0; dtype == BEV_FP16 && bev_kernels[k]; k++)
            if (bev_kernels[k]->published)
                kernels |= model_bits(bev_kernels[k]);
        progress_step(config, i / (2.0 * preset_count), (i + 1) / (2.0 * preset_count));
        ok = scene_model_open(&model, config, NULL, dtype, BEV_NEAREST, &every, kernels, err);
        for (int recorded = 0; ok && recorded < 2; recorded++)
            add_dots(all, &model, recorded);
        scene_model_close(&model);
    }
    return ok;
}

static int rank_of(const Comparison *all, int kind, int i) {
    int rank = 0;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < all->count[k]; j++)
            rank += gap_of(all, k, j) > gap_of(all, kind, i);
    return rank;
}

/* Names the dots with the largest gaps, and sets the ends of both axes. */
static void fit_dots(Comparison *all, PlotAxis *x, PlotAxis *y) {
    double lo = INFINITY, hi = 1;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < all->count[kind]; i++) {
            bool named = gap_of(all, kind, i) > band && rank_of(all, kind, i) < NAMED;
            all->labels[kind][i] = named ? all->names[kind][i] : NULL;
            lo = fmin(lo, fmin(all->x[kind][i], all->y[kind][i]));
            hi = fmax(hi, fmax(all->x[kind][i], all->y[kind][i]));
        }
    x->lo = isfinite(lo) ? lo / 1.2 : 0.5;
    x->hi = 1.2 * hi;
    y->lo = x->lo / band;
    y->hi = x->hi * band;
}

bool plot_published(const PlotRequest *request, Err *err) {
    static Comparison all;
    if (!compare_all(request->chosen, &all, err))
        return false;
    PlotAxis x = {.title = "published or recorded, µs", .log = true};
    PlotAxis y = {.title = "model, µs", .log = true};
    fit_dots(&all, &x, &y);
    const double ends[] = {x.lo, x.hi};
    const double above[] = {band * x.lo, band * x.hi}, below[] = {x.lo / band, x.hi / band};
    PlotSeries series[] = {plot_series("published", all.x[0], all.y[0], all.count[0], 0),
                           plot_series("recorded", all.x[1], all.y[1], all.count[1], 4),
                           plot_series("as known", ends, ends, 2, 4),
                           plot_series("1.3 times longer", ends, above, 2, 4),
                           plot_series("1.3 times shorter", ends, below, 2, 4)};
    for (int i = 0; i < 2; i++) {
        series[i].dots = true;
        series[i].labels = all.labels[i];
        series[3 + i].faint = true;
    }
    series[1].faint = true;
    snprintf(all.title, sizeof all.title, "The model is within 1.3 times of %d of %d latencies",
             all.within, all.count[0] + all.count[1]);
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
