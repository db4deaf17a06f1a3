#include "src/cli/agreement.h"

#include <math.h>
#include <string.h>

static const double HITS_POINTS = 5, DRAM_SHARE = 0.15, LATENCY_SHARE = 0.3;
static const double LEAST_BYTES = 1e6, LEAST_SHARE = 0.01; /* of what the kernel asks of L2 */

/* ---- rows ----------------------------------------------------------------------------------- */

static AgreementRow row_of(const Profile *profile, const Gpu *gpu, const CountedRow *counted,
                           const char *scene) {
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
        .us_recorded = counted->median_us,
    };
}

static void add_recording(Agreement *agreement, const Lab *lab, const Recording *recording,
                          const Gpu *gpu, const char *scene) {
    const BevProblem *problem = &lab->problem.view;
    for (int i = 0; i < recording->counted_count && agreement->count < AGREEMENT_ROWS; i++) {
        const CountedRow *row = &recording->counted[i];
        const Profile *profile = lab_profile(lab, row->kernel);
        if (profile && !strcmp(row->scene, scene) &&
            !strcmp(row->dtype, bev_dtypes[problem->dtype].name) &&
            !strcmp(row->align, bev_aligns[problem->align].name))
            agreement->rows[agreement->count++] = row_of(profile, gpu, row, scene);
    }
}

void agreement_add(Agreement *agreement, const Lab *lab, const LabGpus *known, const char *scene) {
    for (int g = 0; g < known->count; g++)
        for (int i = 0; i < known->recorded.count; i++)
            if (lab_taken_on(&known->recorded.recordings[i], &known->gpus[g]))
                add_recording(agreement, lab, &known->recorded.recordings[i], &known->gpus[g],
                              scene);
}

unsigned agreement_kernels(const LabGpus *known, const char *scene) {
    unsigned kernels = 0;
    for (int i = 0; i < known->recorded.count; i++)
        for (int j = 0; j < known->recorded.recordings[i].counted_count; j++) {
            const CountedRow *row = &known->recorded.recordings[i].counted[j];
            if (!strcmp(row->scene, scene))
                kernels |= lab_kernel(bev_kernel_find(row->kernel));
        }
    return kernels;
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

static bool hits_agree(const AgreementRow *row) {
    return fabs(hits_off(row)) <= HITS_POINTS;
}

static bool dram_agrees(const AgreementRow *row) {
    return dram_is_small(row) || fabs(share_off(row->dram_model, row->dram_counted)) <= DRAM_SHARE;
}

static bool latency_agrees(const AgreementRow *row) {
    return fabs(share_off(row->us_model, row->us_recorded)) <= LATENCY_SHARE;
}

AgreementCount agreement_count(const Agreement *agreement) {
    AgreementCount count = {.rows = agreement->count};
    for (int i = 0; i < agreement->count; i++) {
        const AgreementRow *a = &agreement->rows[i];
        count.hits += hits_agree(a);
        count.dram += dram_agrees(a);
        count.latency += latency_agrees(a);
        for (int j = 0; j < i; j++) {
            const AgreementRow *b = &agreement->rows[j];
            if (a->gpu != b->gpu || strcmp(a->scene, b->scene))
                continue;
            count.pairs++;
            count.ordered += (a->us_model < b->us_model) == (a->us_recorded < b->us_recorded);
        }
    }
    return count;
}

/* ---- shown ---------------------------------------------------------------------------------- */

enum {
    SCENE,
    KERNEL,
    GPU,
    HITS_MODEL,
    HITS_COUNTED,
    HITS_OFF,
    DRAM_MODEL,
    DRAM_COUNTED,
    DRAM_OFF,
    US_MODEL,
    US_RECORDED,
    US_OFF,
    OFF,
    COUNT
};

static const ReportColumn columns[COUNT] = {
    [SCENE] = {"scene", "scene", 0},
    [KERNEL] = {"kernel", "kernel", 0},
    [GPU] = {"gpu", "GPU", 0},
    [HITS_MODEL] = {"l2_hit_rate_model", "L2 hits, model", 3},
    [HITS_COUNTED] = {"l2_hit_rate_counted", "counted", 3},
    [HITS_OFF] = {"l2_hit_off_points", "hits off, points", 2},
    [DRAM_MODEL] = {"dram_mb_model", "DRAM MB, model", 3},
    [DRAM_COUNTED] = {"dram_mb_counted", "counted", 3},
    [DRAM_OFF] = {"dram_off_percent", "DRAM off, %", 2},
    [US_MODEL] = {"predicted_us", "us, model", 3},
    [US_RECORDED] = {"recorded_us", "recorded", 3},
    [US_OFF] = {"latency_off_percent", "us off, %", 2},
    [OFF] = {"beyond", "beyond the aim", 0},
};

/* Which of hits, DRAM and latency are not near enough. */
static const char *beyond(const AgreementRow *row) {
    static const char *const words[] = {"-",       "hits",          "DRAM",          "hits, DRAM",
                                        "latency", "hits, latency", "DRAM, latency", "all"};
    int hits = !hits_agree(row), dram = !dram_agrees(row), latency = !latency_agrees(row);
    return words[hits + 2 * dram + 4 * latency];
}

Report agreement_table(const Agreement *agreement) {
    Report report = {.columns = columns, .column_count = COUNT, .folds = true};
    for (int i = 0; i < agreement->count; i++) {
        const AgreementRow *row = &agreement->rows[i];
        double dram_off = 100 * share_off(row->dram_model, row->dram_counted);
        report_add(
            &report,
            (Cell[COUNT]){[SCENE] = cell_text(row->scene),
                          [KERNEL] = cell_text(row->kernel),
                          [GPU] = cell_text(row->gpu->title),
                          [HITS_MODEL] = cell_real(row->hits_model),
                          [HITS_COUNTED] = cell_real(row->hits_counted),
                          [HITS_OFF] = cell_real(hits_off(row)),
                          [DRAM_MODEL] = cell_real(row->dram_model * 1e-6),
                          [DRAM_COUNTED] = cell_real(row->dram_counted * 1e-6),
                          [DRAM_OFF] = dram_is_small(row) ? cell_none() : cell_real(dram_off),
                          [US_MODEL] = cell_real(row->us_model),
                          [US_RECORDED] = cell_real(row->us_recorded),
                          [US_OFF] = cell_real(100 * share_off(row->us_model, row->us_recorded)),
                          [OFF] = cell_text(beyond(row))});
    }
    return report;
}

void agreement_verdict(const Agreement *agreement, char *text, size_t size) {
    AgreementCount count = agreement_count(agreement);
    snprintf(
        text, size,
        "L2 hit rates are within %g points in %d of %d rows, DRAM bytes within %g %% in %d, "
        "latencies within %g %% in %d; the order of two kernels on one scene is right in %d of "
        "%d pairs. DRAM bytes also agree where model and counter are both below %g MB, or below "
        "%g %% of what the kernel asks of L2; a percentage would say nothing there. Of arrays "
        "larger "
        "than %d MB one line in %d was followed (sampled).",
        HITS_POINTS, count.hits, count.rows, 100 * DRAM_SHARE, count.dram, 100 * LATENCY_SHARE,
        count.latency, count.ordered, count.pairs, LEAST_BYTES * 1e-6, 100 * LEAST_SHARE,
        TRACE_EXACT_MB, TRACE_ONE_IN);
}
