/* SPDX-License-Identifier: MIT */
/* plot published: compares published and recorded latencies with the model's, in the six
 * configurations. */
#include "src/cli/model.h"

#include "kernels/threads.h"
#include "src/base/progress.h"
#include "src/scene/scene.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Gpu *gpu;
    const char *config, *kernel; /* the published column, or the recorded kernel */
    BevDtype dtype;
    double known_us;
    bool recorded; /* recorded, not published */
    Prediction model;
} ComparisonRow;

enum { COMPARISON_ROWS = 128 };

typedef struct {
    ComparisonRow rows[COMPARISON_ROWS];
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
    for (int g = 0; g < gpu_count; g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            double known_us = recorded ? kernel->recorded_us[g]
                                       : chosen_published_us(&gpus[g], model, kernel->kernel);
            if (isfinite(known_us) && part->count < COMPARISON_ROWS)
                part->rows[part->count++] = (ComparisonRow){.gpu = &gpus[g],
                                                            .config = model->scene,
                                                            .kernel = kernel->title,
                                                            .dtype = model->memory->dtype,
                                                            .recorded = recorded,
                                                            .known_us = known_us,
                                                            .model = kernel->predicted[g]};
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
        for (int i = 0; i < parts[n].count && comparison->count < COMPARISON_ROWS; i++)
            comparison->rows[comparison->count++] = parts[n].rows[i];
    }
    return ok;
}

/* ---- the chart ------------------------------------------------------------------------------- */

enum { TEXT = 160, NAMED = 8 };
static const double band = 1.3;

/* Published and recorded latencies: a dot each, the known one at x, the model's at y. */
typedef struct {
    double x[2][COMPARISON_ROWS], y[2][COMPARISON_ROWS];
    const char *labels[2][COMPARISON_ROWS];
    int count[2], within;
    char texts[NAMED][TEXT], title[2 * TEXT];
} Scatter;

/* How many times the model and the known latency differ. */
static double gap_of(const ComparisonRow *row) {
    double ratio = row->model.latency_us / row->known_us;
    return fmax(ratio, 1 / ratio);
}

/* The place of a row among all, by its gap: 0 is the largest. */
static int gap_rank(const Comparison *comparison, int row) {
    int rank = 0;
    for (int i = 0; i < comparison->count; i++) {
        double other = gap_of(&comparison->rows[i]), own = gap_of(&comparison->rows[row]);
        rank += other > own || (other == own && i < row);
    }
    return rank;
}

static void add_dot(Scatter *scatter, const Comparison *comparison, int i) {
    const ComparisonRow *row = &comparison->rows[i];
    int kind = row->recorded, at = scatter->count[kind]++, rank = gap_rank(comparison, i);
    scatter->x[kind][at] = row->known_us;
    scatter->y[kind][at] = row->model.latency_us;
    scatter->within += gap_of(row) <= band;
    if (rank >= NAMED || gap_of(row) <= band)
        return;
    snprintf(scatter->texts[rank], TEXT, "%s%s%s, %s, %s", row->kernel,
             row->dtype == BEV_FP16 ? "" : " ",
             row->dtype == BEV_FP16 ? "" : bev_dtypes[row->dtype].title, row->config,
             row->gpu->title);
    scatter->labels[kind][at] = scatter->texts[rank];
}

static void set_ends(const Comparison *comparison, PlotAxis *x, PlotAxis *y) {
    double lo = INFINITY, hi = 1;
    for (int i = 0; i < comparison->count; i++) {
        const ComparisonRow *row = &comparison->rows[i];
        lo = fmin(lo, fmin(row->known_us, row->model.latency_us));
        hi = fmax(hi, fmax(row->known_us, row->model.latency_us));
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
    for (int i = 0; i < comparison.count; i++)
        add_dot(&scatter, &comparison, i);
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
