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
    /* predict_latency_us multiplies the longest interval by this factor on one GPU */
    double calibration;
    int calibrated_from; /* number of latencies of V2+DO that gave the factor */
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

/* Whether the row has the GPU of published_calibrated. Only this column gives the factor. */
static bool is_calibrated(const ComparisonRow *row) {
    return !row->recorded && row->gpu == gpu_find("pro6000");
}

static void calibrate(Comparison *comparison) {
    Prediction predictions[COMPARISON_ROWS];
    double known_us[COMPARISON_ROWS];
    int count = 0;
    for (int i = 0; i < comparison->count; i++) {
        const ComparisonRow *row = &comparison->rows[i];
        if (!is_calibrated(row) || strcmp(row->kernel, published_calibrated))
            continue;
        predictions[count] = row->model;
        known_us[count++] = row->known_us;
    }
    comparison->calibration = predict_calibration(predictions, known_us, count);
    comparison->calibrated_from = count;
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
    calibrate(comparison);
    return ok;
}

/* ---- the chart ------------------------------------------------------------------------------- */

enum { TEXT = 200, MAX_BARS = 64 };
enum { PUBLISHED, RECORDED, MODELLED, CALIBRATED, COMPARED_PARTS };
static const char *const compared_parts[COMPARED_PARTS] = {"published", "recorded", "model",
                                                           "model, calibrated"};

static void add_bar(PlotBar *bar, const char *group, int part, double us, double known_us) {
    char text[32];
    *bar = (PlotBar){.group = group, .label = compared_parts[part]};
    bar->parts[part] = us;
    figure_text(UNIT_US, us, text, sizeof text);
    if (part < MODELLED)
        snprintf(bar->text, sizeof bar->text, "%s", text);
    else
        snprintf(bar->text, sizeof bar->text, "%s (%.2f times)", text, us / known_us);
}

/* Lists the bars of one configuration. A chart of all six would be too long to read. */
static int compared_bars(const Comparison *comparison, const char *config, PlotBar *bars,
                         char groups[][TEXT]) {
    int count = 0;
    for (int i = 0; i < comparison->count && count + COMPARED_PARTS <= MAX_BARS; i++) {
        const ComparisonRow *row = &comparison->rows[i];
        double known_us = row->known_us;
        if (strcmp(row->config, config))
            continue;
        snprintf(groups[count], TEXT, "%s %s, %s", row->kernel, bev_dtypes[row->dtype].title,
                 row->gpu->title);
        add_bar(&bars[count], groups[count], row->recorded ? RECORDED : PUBLISHED, known_us,
                known_us);
        add_bar(&bars[++count], NULL, MODELLED, row->model.latency_us, known_us);
        count++;
        if (is_calibrated(row))
            add_bar(&bars[count++], NULL, CALIBRATED,
                    predict_latency_us(&row->model, comparison->calibration), known_us);
    }
    return count;
}

bool plot_published(const PlotRequest *request, Err *err) {
    static Comparison compared;
    const Comparison *comparison = &compared;
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][TEXT], note[800];
    const char *config = request->model->scene;
    if (!compare_all(request->chosen, &compared, err))
        return false;
    int count = compared_bars(comparison, config, bars, groups);
    if (count == 0)
        count = compared_bars(comparison, config = "canonical", bars, groups);
    snprintf(
        note, sizeof note,
        "The article timed a TensorRT plugin. Calibrated: longest intervals times %.2f, one "
        "factor from its figures of V2+DO on the RTX PRO 6000 (%d size%s).\n"
        "The model replays our map, whose longest intervals limit it; the article's map is not "
        "published.\n"
        "RTX PRO 6000: %s. V3 on the RTX A6000: the form for small L2s. In the model its longest "
        "interval limits it, in the article DRAM: agreement would prove nothing. "
        "README and regime show the model without that factor.",
        comparison->calibration, comparison->calibrated_from,
        comparison->calibrated_from == 1 ? "" : "s", gpu_find("pro6000")->note);
    ChartSpec spec = {
        .title = "Published and recorded latencies beside the model",
        .subtitle = config,
        .note = note,
        .x = {.title = "µs", .log = true, .lo = 1, .hi = 5000},
        .part_names = compared_parts,
        .part_count = COMPARED_PARTS,
        .bars = bars,
        .bar_count = count,
    };
    return output_chart(request->options, &spec, request->options->output, err);
}
