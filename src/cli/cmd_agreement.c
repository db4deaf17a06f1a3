/* bevscope agreement: how far the memory model is off where hardware counted. A row for each kernel
 * and a count of the rows that are near enough. Reads recorded files; needs no GPU. */
#include "kernels/clean.h"
#include "src/base/progress.h"
#include "src/cli/model.h"
#include "src/scene/scene.h"

#include <math.h>
#include <string.h>

/* A row agrees when its hit rate, DRAM bytes and latency are within these limits. */
static const double HITS_POINTS = 5, DRAM_SHARE = 0.15, LATENCY_SHARE = 0.3;

/* DRAM bytes also agree when model and counter are both below a floor: so many bytes, or this share
 * of the kernel's L2 requests, whichever is larger. */
static const double LEAST_BYTES = 1e6, LEAST_SHARE = 0.01;

/* ---- rows ----------------------------------------------------------------------------------- */

static AgreementRow row_of(const Profile *profile, const Gpu *gpu, const RecordedRow *counted,
                           const char *scene, const char *date, double recorded_us) {
    Prediction model = predict(profile, gpu, true);
    return (AgreementRow){
        .scene = scene,
        .kernel = profile->kernel->name,
        .gpu = gpu,
        .hits_model = model.hit_rate,
        .hits_counted = counters_l2_hit_rate(&counted->counters),
        .dram_model = model.dram_read_bytes + model.dram_write_bytes,
        .dram_counted = counters_dram_bytes(&counted->counters),
        .least = fmax(LEAST_BYTES, LEAST_SHARE * SECTOR * profile->counts.l2_sectors),
        .us_model = model.latency_us,
        .us_recorded = recorded_us,
        .counted_on = date,
    };
}

/* The latency is the one that regime and bench show; where only counters were recorded, theirs. */
static void add_recording(Agreement *agreement, const SceneModel *model, const ChosenGpus *chosen,
                          const Recording *recording, const Gpu *gpu) {
    for (int i = 0; i < recording->counted_count && agreement->count < AGREEMENT_ROWS; i++) {
        const RecordedRow *row = &recording->counted[i];
        const Profile *profile = scene_model_profile(model, row->kernel);
        if (!profile || !scene_model_is(model, row))
            continue;
        double us = chosen_recorded_us(chosen, gpu, model, row->kernel, CACHE_WARM, NULL);
        agreement->rows[agreement->count++] = row_of(
            profile, gpu, row, model->scene, recording->date, isnan(us) ? row->median_us : us);
    }
}

void agreement_add(Agreement *agreement, const SceneModel *model, const ChosenGpus *chosen) {
    for (int g = 0; g < chosen->count; g++)
        for (int i = 0; i < chosen->recorded.count; i++)
            if (chosen_recorded_on(&chosen->recorded.recordings[i], &chosen->gpus[g]))
                add_recording(agreement, model, chosen, &chosen->recorded.recordings[i],
                              &chosen->gpus[g]);
}

/* ---- near enough? --------------------------------------------------------------------------- */

static double hits_off(const AgreementRow *row) {
    return 100 * (row->hits_model - row->hits_counted);
}

static double share_off(double model, double known) {
    return model / known - 1;
}

static bool dram_is_small(const AgreementRow *row) {
    return row->dram_model < row->least && row->dram_counted < row->least;
}

enum { OFF_HITS = 1, OFF_DRAM = 2, OFF_LATENCY = 4, OFF_COUNT = 8 };

/* Names those of hits, DRAM and latency that are not near enough. */
static int beyond(const AgreementRow *row) {
    bool hits = fabs(hits_off(row)) <= HITS_POINTS;
    bool dram = fabs(share_off(row->dram_model, row->dram_counted)) <= DRAM_SHARE;
    bool latency = fabs(share_off(row->us_model, row->us_recorded)) <= LATENCY_SHARE;
    return (hits ? 0 : OFF_HITS) | (dram || dram_is_small(row) ? 0 : OFF_DRAM) |
           (latency ? 0 : OFF_LATENCY);
}

static const char *const beyond_names[OFF_COUNT] = {
    "none", "hits", "DRAM", "hits, DRAM", "latency", "hits, latency", "DRAM, latency", "all"};

/* ---- shown ---------------------------------------------------------------------------------- */

void agreement_report(const Agreement *agreement, Report *report) {
    for (int i = 0; i < agreement->count; i++) {
        const AgreementRow *row = &agreement->rows[i];
        double dram_off = 100 * share_off(row->dram_model, row->dram_counted);
        double us_off = 100 * share_off(row->us_model, row->us_recorded);
        report_row(report);
        report_add(report, "scene", "scene", 0, cell_text(row->scene));
        report_add(report, "kernel", "kernel", 0, cell_text(row->kernel));
        report_add(report, "gpu", "GPU", 0, cell_text(row->gpu->title));
        report_add(report, "l2_hit_rate_model", "L2 hits, model", 3, cell_real(row->hits_model));
        report_add(report, "l2_hit_rate_counted", "counted", 3, cell_real(row->hits_counted));
        report_add(report, "l2_hit_off_points", "hits off, points", 2, cell_real(hits_off(row)));
        report_add(report, "dram_mb_model", "DRAM MB, model", 3, cell_real(row->dram_model * 1e-6));
        report_add(report, "dram_mb_counted", "counted", 3, cell_real(row->dram_counted * 1e-6));
        report_add(report, "dram_off_percent", "DRAM off, %", 2,
                   cell_if(!dram_is_small(row), cell_real(dram_off)));
        report_add(report, "predicted_us", "us, model", 3, cell_real(row->us_model));
        report_add(report, "recorded_us", "recorded", 3, cell_real(row->us_recorded));
        report_add(report, "latency_off_percent", "us off, %", 2, cell_real(us_off));
        report_add(report, "counted_on", "counted on", 0, cell_text(row->counted_on));
        report_add(report, "beyond", "beyond the aim", 0, cell_text(beyond_names[beyond(row)]));
    }
}

/* Counts rows that agree, and pairs of kernels (one scene and GPU) in the recorded order. */
void agreement_verdict(const Agreement *agreement, char *text, size_t size) {
    int hits = 0, dram = 0, latency = 0, pairs = 0, ordered = 0;
    for (int i = 0; i < agreement->count; i++) {
        const AgreementRow *a = &agreement->rows[i];
        hits += !(beyond(a) & OFF_HITS);
        dram += !(beyond(a) & OFF_DRAM);
        latency += !(beyond(a) & OFF_LATENCY);
        for (int j = 0; j < i; j++) {
            const AgreementRow *b = &agreement->rows[j];
            if (a->gpu != b->gpu || strcmp(a->scene, b->scene))
                continue;
            pairs++;
            ordered += (a->us_model < b->us_model) == (a->us_recorded < b->us_recorded);
        }
    }
    snprintf(
        text, size,
        "L2 hit rates are within %g points in %d of %d rows, DRAM bytes within %g %% in %d, "
        "latencies within %g %% in %d; the order of two kernels on one scene is right in %d of "
        "%d pairs. DRAM bytes also agree where model and counter are both below %g MB, or below "
        "%g %% of what the kernel asks of L2; a percentage would say nothing there. Of arrays "
        "larger than %d MB one line in %d was followed (sampled).",
        HITS_POINTS, hits, agreement->count, 100 * DRAM_SHARE, dram, 100 * LATENCY_SHARE, latency,
        ordered, pairs, LEAST_BYTES * 1e-6, 100 * LEAST_SHARE, TRACE_EXACT_MB, TRACE_ONE_IN);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Bits of the kernels that were counted on a scene, in any format; 0: none. */
static unsigned counted_kernels(const ChosenGpus *chosen, const char *scene) {
    unsigned kernels = 0;
    for (int i = 0; i < chosen->recorded.count; i++)
        for (int j = 0; j < chosen->recorded.recordings[i].counted_count; j++) {
            const RecordedRow *row = &chosen->recorded.recordings[i].counted[j];
            if (!strcmp(row->scene, scene))
                kernels |= kernel_bits(bev_kernel_find(row->kernel));
        }
    return kernels;
}

static bool add_scene(Agreement *agreement, const ChosenGpus *chosen, const char *scene, Err *err) {
    SceneModel model;
    unsigned kernels = counted_kernels(chosen, scene);
    if (!kernels)
        return err_set(err, ERR_FAILED, scene, "name no scene for all that were counted",
                       "no hardware counters were recorded on it");
    bool ok = scene_model_open(&model, scene, NULL, BEV_FP16, BEV_NEAREST, BEV_FORWARD,
                               kernels, err);
    if (ok)
        agreement_add(agreement, &model, chosen);
    scene_model_close(&model);
    return ok;
}

static bool add_scenes(Agreement *agreement, const ChosenGpus *chosen, const Options *options,
                       Err *err) {
    bool ok = true, all = options->argument_count == 0;
    int count = all ? preset_total : options->argument_count;
    for (int i = 0; ok && i < count; i++) {
        const char *scene = all ? presets[i].name : options->arguments[i];
        progress_step(scene, (double)i / count, (double)(i + 1) / count);
        ok = (all && !counted_kernels(chosen, scene)) || add_scene(agreement, chosen, scene, err);
    }
    return ok;
}

static bool print_agreement(const Options *options, const Agreement *agreement, Err *err) {
    char verdict[640], below[660];
    Report table = {.folds = output_printer(options) != NULL};
    agreement_report(agreement, &table);
    agreement_verdict(agreement, verdict, sizeof verdict);
    snprintf(below, sizeof below, "\n%s\n", verdict);
    const OutputTable parts[] = {
        {"The model beside recorded hardware counters and the latest recorded latencies, FP16, L2 "
         "warm; off: model - counted\n\n",
         &table, NULL},
        {.above = below}};
    bool ok = output_tables(options, parts, 2, json_pack("{ss}", "verdict", verdict), err);
    report_free(&table);
    return ok;
}

bool cmd_agreement(const Options *options, Err *err) {
    static Agreement agreement;
    ChosenGpus chosen;
    progress_begin("agreement", options->quiet);
    bool ok = chosen_open(options, (1u << gpu_count) - 1, &chosen, err) &&
              add_scenes(&agreement, &chosen, options, err);
    progress_end();
    ok = ok && print_agreement(options, &agreement, err);
    chosen_close(&chosen);
    return ok;
}
