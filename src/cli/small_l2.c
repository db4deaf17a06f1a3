#include "src/cli/small_l2.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what was recorded ---------------------------------------------------------------------- */

static const Gpu *asked_gpu(const LabGpus *known, const Recording *recording) {
    const Gpu *on = gpu_of_device(recording->label);
    for (int i = 0; on && i < known->count; i++)
        if (!strcmp(known->gpus[i].name, on->name))
            return on;
    return NULL;
}

static bool is_of(const RecordedRow *row, const BevProblem *problem, const char *scene) {
    return recorded_is_experiment(row) && isfinite(row->l2_left_mib) &&
           !strcmp(row->scene, scene) && row->channels == problem->shape.channels &&
           !strcmp(row->dtype, bev_dtypes[problem->dtype].name) &&
           !strcmp(row->align, bev_aligns[problem->align].name) &&
           !strcmp(row->cache, cache_names[CACHE_WARM]);
}

static double model_us(const Lab *lab, const Gpu *gpu, const RecordedRow *row) {
    Gpu smaller = *gpu;
    smaller.l2_bytes = row->l2_left_mib * 1048576;
    return predict(lab_profile(lab, row->kernel), &smaller, true).latency_us;
}

void small_l2_find(SmallL2 *found, const Lab *lab, const LabGpus *known, const char *scene) {
    found->count = 0;
    for (int i = 0; i < known->recorded.count; i++) {
        const Recording *recording = &known->recorded.recordings[i];
        const Gpu *gpu = asked_gpu(known, recording);
        for (int j = 0; gpu && j < recording->row_count && found->count < SMALL_L2_ROWS; j++) {
            const RecordedRow *row = &recording->rows[j];
            if (is_of(row, &lab->problem.view, scene) && lab_profile(lab, row->kernel))
                found->rows[found->count++] = (SmallL2Row){gpu, row, model_us(lab, gpu, row)};
        }
    }
}

/* ---- shown ---------------------------------------------------------------------------------- */

enum { COL_GPU, COL_CARVEOUT, COL_LEFT, COL_KERNEL, COL_RECORDED, COL_MODEL, COL_RATIO, COL_COUNT };

static const ReportColumn columns[COL_COUNT] = {
    [COL_GPU] = {"gpu", "GPU", 0},
    [COL_CARVEOUT] = {"l2_carveout_mib", "aside MB", 3},
    [COL_LEFT] = {"l2_left_mib", "L2 left MB", 3},
    [COL_KERNEL] = {"kernel", "kernel", 0},
    [COL_RECORDED] = {"recorded_us", "recorded us", 4},
    [COL_MODEL] = {"model_us", "model us", 3},
    [COL_RATIO] = {"ratio", "model / recorded", 3},
};

Report small_l2_table(const SmallL2 *found) {
    Report report = {.columns = columns, .column_count = COL_COUNT, .folds = true};
    for (int i = 0; i < found->count; i++) {
        const SmallL2Row *row = &found->rows[i];
        const RecordedRow *recorded = row->recorded;
        report_add(&report, (Cell[COL_COUNT]){
                                [COL_GPU] = cell_text(row->gpu->title),
                                [COL_CARVEOUT] = cell_real(recorded->l2_carveout_mib),
                                [COL_LEFT] = cell_real(recorded->l2_left_mib),
                                [COL_KERNEL] = cell_text(recorded->kernel),
                                [COL_RECORDED] = cell_real(recorded->median_us),
                                [COL_MODEL] = cell_real(row->model_us),
                                [COL_RATIO] = cell_real(row->model_us / recorded->median_us),
                            });
    }
    return report;
}

/* The other form of V3 under the same conditions. */
static const SmallL2Row *large_beside(const SmallL2 *found, const SmallL2Row *small) {
    for (int i = 0; i < found->count; i++) {
        const SmallL2Row *row = &found->rows[i];
        if (row->gpu == small->gpu && !strcmp(row->recorded->kernel, bev_v3()->large_l2->name) &&
            row->recorded->l2_carveout_mib == small->recorded->l2_carveout_mib)
            return row;
    }
    return NULL;
}

void small_l2_verdict(const SmallL2 *found, char *text, size_t size) {
    int sizes = 0, recorded = 0, model = 0, agreed = 0;
    for (int i = 0; i < found->count; i++) {
        const SmallL2Row *small = &found->rows[i];
        const SmallL2Row *large = large_beside(found, small);
        if (strcmp(small->recorded->kernel, bev_v3()->small_l2->name) || !large)
            continue;
        bool wins = small->recorded->median_us < large->recorded->median_us;
        bool should = small->model_us < large->model_us;
        sizes++;
        recorded += wins;
        model += should;
        agreed += wins == should;
    }
    snprintf(text, size,
             "The form of V3 made for small L2s beat the one for large L2s at %d of %d sizes "
             "(recorded); the model says at %d, and has the faster one right at %d of %d.",
             recorded, sizes, model, agreed, sizes);
}
