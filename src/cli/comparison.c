/* The model beside the latencies that were published and recorded, over the six configurations. */
#include "src/cli/model.h"

#include "kernels/threads.h"
#include "src/base/progress.h"
#include "src/scene/scene.h"

#include <math.h>
#include <string.h>

/* The kernels with a published or recorded latency. The ones with atomics are left to the table of
 * each scene. */
static unsigned compared_kernels(BevDtype dtype) {
    unsigned kernels = kernel_bits(bev_v3());
    for (int i = 0; dtype == BEV_FP16 && bev_kernels[i]; i++)
        if (bev_kernels[i]->direction == BEV_FORWARD &&
            (bev_kernels[i]->published || bev_kernels[i]->is_baseline))
            kernels |= kernel_bits(bev_kernels[i]);
    return kernels;
}

static void add_row(Comparison *comparison, ComparisonRow row, const Profile *profile) {
    if (!isfinite(row.known_us) || comparison->count == COMPARISON_ROWS)
        return;
    row.model = predict(profile, row.gpu, true);
    row.calibrated_us = NAN;
    comparison->rows[comparison->count++] = row;
}

static void add_latencies(Comparison *comparison, const SceneModel *model, const ChosenGpus *chosen,
                          bool recorded) {
    for (int g = 0; g < gpu_count; g++)
        for (int i = 0; i < model->profile_count; i++) {
            const Profile *profile = &model->profiles[i];
            const BevKernel *kernel = profile->kernel;
            double known_us = recorded ? chosen_recorded_us(chosen, &gpus[g], model, kernel->name,
                                                            CACHE_WARM, NULL)
                                       : chosen_published_us(&gpus[g], model, kernel);
            ComparisonRow row = {.gpu = &gpus[g],
                                 .config = model->scene,
                                 .kernel = kernel->title,
                                 .dtype = profile->dtype,
                                 .recorded = recorded,
                                 .known_us = known_us};
            add_row(comparison, row, profile);
        }
}

/* Finds one factor on chains, for the GPU of published_calibrated, from that column alone. */
static void calibrate(Comparison *comparison) {
    Prediction predictions[COMPARISON_ROWS];
    double known_us[COMPARISON_ROWS];
    const Gpu *gpu = gpu_find("pro6000");
    int count = 0;
    for (int i = 0; i < comparison->count; i++) {
        const ComparisonRow *row = &comparison->rows[i];
        if (row->recorded || row->gpu != gpu || strcmp(row->kernel, published_calibrated))
            continue;
        predictions[count] = row->model;
        known_us[count++] = row->known_us;
    }
    comparison->calibration = predict_calibration(predictions, known_us, count);
    comparison->calibrated_from = count;
    for (int i = 0; i < comparison->count; i++) {
        ComparisonRow *row = &comparison->rows[i];
        if (!row->recorded && row->gpu == gpu)
            row->calibrated_us = predict_with_chain(&row->model, comparison->calibration);
    }
}

enum { FORMATS = 2, PARTS = 2 * 6 };

/* Configuration and format number n. The last ones take longest. */
static bool compare(const ChosenGpus *chosen, int n, Comparison *part, Err *err) {
    SceneModel model;
    const char *config = presets[n / FORMATS].name;
    BevDtype dtype = n % FORMATS ? BEV_FP8 : BEV_FP16;
    bool ok =
        scene_model_open(&model, config, NULL, dtype, BEV_NEAREST,
                         compared_kernels(dtype), err);
    if (ok) {
        add_latencies(part, &model, chosen, false);
        add_latencies(part, &model, chosen, true);
    }
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
        work += kernels * shape_work(&shape);
    }
    return work;
}

/* The parts run in parallel, each on one core. */
bool comparison_make(const ChosenGpus *chosen, Comparison *comparison, Err *err) {
    static Comparison parts[PARTS];
    Err errs[PARTS] = {0};
    bool ok = true;
    progress_plan(compared_work());
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < PARTS; i++) {
        int n = PARTS - 1 - i;
        parts[n].count = 0;
        ok = compare(chosen, n, &parts[n], &errs[n]) && ok;
    }
    comparison->count = 0;
    for (int n = 0; n < PARTS; n++) {
        if (errs[n].kind)
            *err = errs[n];
        for (int i = 0; i < parts[n].count && comparison->count < COMPARISON_ROWS; i++)
            comparison->rows[comparison->count++] = parts[n].rows[i];
    }
    calibrate(comparison);
    return ok;
}
