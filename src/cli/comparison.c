#include "src/cli/comparison.h"

#include "src/scene/presets.h"

#include <math.h>
#include <string.h>

static bool has_gpu_recordings(const LabGpus *known) {
    for (int i = 0; i < known->recorded.count; i++)
        if (gpu_of_device(known->recorded.recordings[i].label))
            return true;
    return false;
}

/* The kernels that something is known of. The atomics are left to each scene's own table. */
static unsigned compared_kernels(const LabGpus *known, BevDtype dtype) {
    unsigned kernels = lab_kernel(bev_v3());
    bool recorded = has_gpu_recordings(known);
    for (int i = 0; dtype == BEV_FP16 && bev_kernels[i]; i++)
        if (bev_kernels[i]->published || (recorded && bev_kernels[i]->is_baseline))
            kernels |= lab_kernel(bev_kernels[i]);
    return kernels;
}

static void add_row(Comparison *comparison, ComparisonRow row, const Profile *profile) {
    if (!isfinite(row.known_us) || comparison->count == COMPARISON_ROWS)
        return;
    row.model = predict(profile, row.gpu, true);
    row.calibrated_us = NAN;
    comparison->rows[comparison->count++] = row;
}

static void add_published(Comparison *comparison, const Lab *lab, const char *config) {
    for (int g = 0; g < gpu_count; g++)
        for (int i = 0; i < lab->profile_count; i++) {
            const Profile *profile = &lab->profiles[i];
            const BevKernel *choice = bev_v3_choose(&lab->problem.view, gpus[g].l2_bytes).kernel;
            add_row(comparison,
                    (ComparisonRow){
                        .gpu = &gpus[g],
                        .config = config,
                        .kernel = profile->kernel->model_only
                                      ? profile->kernel->title /* "V2 as published" */
                                      : published_column(profile->kernel, choice),
                        .dtype = profile->dtype,
                        .known_us = lab_published(lab, &gpus[g], config, profile->kernel)},
                    profile);
        }
}

static void add_recorded(Comparison *comparison, const Lab *lab, const LabGpus *known,
                         const char *config) {
    for (int g = 0; g < gpu_count; g++)
        for (int i = 0; i < lab->profile_count; i++) {
            const Profile *profile = &lab->profiles[i];
            add_row(comparison,
                    (ComparisonRow){.gpu = &gpus[g],
                                    .config = config,
                                    .kernel = profile->kernel->title,
                                    .dtype = profile->dtype,
                                    .recorded = true,
                                    .known_us = lab_recorded(known, &gpus[g], config,
                                                             profile->kernel->name, profile->dtype,
                                                             BEV_NEAREST, CACHE_WARM)},
                    profile);
        }
}

/* One factor on chains, for the GPU of published_calibrated, from that column alone. */
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

/* The n-th configuration and format; the last ones walk longest. */
static bool compare(const LabGpus *known, int n, Comparison *part, Err *err) {
    Lab lab;
    const char *config = configs[n / FORMATS].name;
    BevDtype dtype = n % FORMATS ? BEV_FP8 : BEV_FP16;
    bool ok = lab_open(&lab, config, NULL, dtype, BEV_NEAREST, compared_kernels(known, dtype), err);
    if (ok) {
        add_published(part, &lab, config);
        add_recorded(part, &lab, known, config);
    }
    lab_close(&lab);
    return ok;
}

/* Side by side, each on one core. */
bool comparison_make(const LabGpus *known, bool quick, Comparison *comparison, Err *err) {
    static Comparison parts[PARTS];
    Err errs[PARTS] = {0};
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : ok)
    for (int i = 0; i < PARTS; i++) {
        int n = PARTS - 1 - i;
        parts[n].count = 0;
        if (!quick || &configs[n / FORMATS] == preset_find("canonical"))
            ok = compare(known, n, &parts[n], &errs[n]) && ok;
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

int comparison_off(const Comparison *comparison, bool recorded, bool calibrated, double factor,
                   int *of) {
    int off = 0;
    *of = 0;
    for (int i = 0; i < comparison->count; i++) {
        const ComparisonRow *row = &comparison->rows[i];
        double model = calibrated ? row->calibrated_us : row->model.latency_us;
        if (row->recorded != recorded || !isfinite(model))
            continue;
        ++*of;
        off += fabs(log(model / row->known_us)) > log(factor);
    }
    return off;
}

static bool comparable(const ComparisonRow *a, const ComparisonRow *b) {
    return a->recorded && b->recorded && a->gpu == b->gpu && !strcmp(a->config, b->config) &&
           a->dtype == b->dtype;
}

int comparison_order(const Comparison *comparison, int *of) {
    int right = 0;
    *of = 0;
    for (int i = 0; i < comparison->count; i++)
        for (int j = 0; j < i; j++) {
            const ComparisonRow *a = &comparison->rows[i], *b = &comparison->rows[j];
            if (!comparable(a, b))
                continue;
            ++*of;
            right += (a->known_us < b->known_us) == (a->model.latency_us < b->model.latency_us);
        }
    return right;
}
