#include "src/cli/regime_table.h"

#include <math.h>
#include <string.h>

enum {
    SCENE,
    KERNEL,
    DTYPE,
    ALIGN,
    CHANNELS,
    POINTS,
    INTERVALS,
    LONGEST,
    FOOTPRINT,
    GATHER,
    FEAT,
    DEPTH,
    RANKS,
    RANKS_FORMULA,
    OWNERS,
    WEIGHT,
    OUT_READ,
    OUT_WRITE,
    REQUESTED,
    FORMULA,
    COALESCING,
    ATOMICS,
    L2_SECTORS,
    TRAFFIC_COUNT,
    GPU = TRAFFIC_COUNT,
    L2_MB,
    REGIME,
    V3,
    HIT_WARM,
    DRAM_WARM,
    HIT_COLD,
    DRAM_COLD,
    PART_0,
    LAUNCH = PART_0 + TERM_COUNT,
    BINDING,
    WARM_US,
    COLD_US,
    RECORDED_US,
    PUBLISHED_US,
    SOURCE,
    COUNT
};

/* Headings are for people, where the tables are two. */
static const ReportColumn columns[COUNT] = {
    [SCENE] = {"scene", NULL, 0},
    [KERNEL] = {"kernel", "kernel", 0},
    [DTYPE] = {"dtype", "dtype", 0},
    [ALIGN] = {"align", "align", 0},
    [CHANNELS] = {"channels", NULL, 0},
    [POINTS] = {"points", NULL, 0},
    [INTERVALS] = {"intervals", NULL, 0},
    [LONGEST] = {"longest_interval", "longest walk", 0},
    [FOOTPRINT] = {"footprint_mb", NULL, 4},
    [GATHER] = {"gather_traffic_mb", NULL, 4},
    [FEAT] = {"feat_mb", "features MB", 4},
    [DEPTH] = {"depth_mb", "depth MB", 3},
    [RANKS] = {"ranks_mb", "ranks MB", 3},
    [RANKS_FORMULA] = {"ranks_formula_mb", "by formula", 3},
    [OWNERS] = {"owners_mb", "owners MB", 3},
    [WEIGHT] = {"weight_mb", NULL, 3},
    [OUT_READ] = {"out_read_mb", NULL, 3},
    [OUT_WRITE] = {"out_write_mb", "writes MB", 3},
    [REQUESTED] = {"requested_mb", "requested MB", 4},
    [FORMULA] = {"requested_formula_mb", "by formula", 4},
    [COALESCING] = {"feat_sectors_per_request", "sectors/request", 3},
    [ATOMICS] = {"atomics", "atomics", 0},
    [L2_SECTORS] = {"l2_sectors", NULL, 0},
    [GPU] = {"gpu", "GPU", 0},
    [L2_MB] = {"l2_mib", "L2 MiB", 3},
    [REGIME] = {"regime", "regime", 0},
    [V3] = {"v3_choice", NULL, 0},
    [HIT_WARM] = {"l2_hit_rate_warm", "L2 hits", 3},
    [DRAM_WARM] = {"dram_mb_warm", "DRAM MB", 3},
    [HIT_COLD] = {"l2_hit_rate_cold", NULL, 3},
    [DRAM_COLD] = {"dram_mb_cold", "cold", 3},
    [PART_0 + TERM_DRAM] = {"dram_us", "DRAM us", 3},
    [PART_0 + TERM_L2] = {"l2_us", "L2 us", 3},
    [PART_0 + TERM_ISSUE] = {"issue_us", "issue us", 3},
    [PART_0 + TERM_CHAIN] = {"chain_us", "chain us", 3},
    [LAUNCH] = {"launch_us", NULL, 3},
    [BINDING] = {"binding", "binding", 0},
    [WARM_US] = {"predicted_warm_us", "model us", 3},
    [COLD_US] = {"predicted_cold_us", "cold us", 3},
    [RECORDED_US] = {"recorded_us", "recorded us", 3},
    [PUBLISHED_US] = {"published_us", "published us", 4},
    [SOURCE] = {"source", NULL, 0},
};

/* What the two tables for people show. */
static const int prediction_columns[] = {KERNEL,
                                         DTYPE,
                                         ALIGN,
                                         GPU,
                                         L2_MB,
                                         REGIME,
                                         HIT_WARM,
                                         DRAM_WARM,
                                         DRAM_COLD,
                                         PART_0 + TERM_DRAM,
                                         PART_0 + TERM_L2,
                                         PART_0 + TERM_ISSUE,
                                         PART_0 + TERM_CHAIN,
                                         BINDING,
                                         WARM_US,
                                         COLD_US,
                                         RECORDED_US,
                                         PUBLISHED_US};
enum { PREDICTION_COUNT = sizeof prediction_columns / sizeof *prediction_columns };

static Cell megabytes(double bytes) {
    return cell_real(bytes * 1e-6);
}

static void fill_traffic(Cell *cells, const Lab *lab, const Profile *profile, const char *scene) {
    const BevProblem *problem = &lab->problem.view;
    const TraceCounts *counts = &profile->counts;
    BevTraffic formula = bev_traffic(profile->kernel, problem);
    double requested = 0;
    for (int array = 0; array < TRACE_ARRAY_COUNT; array++)
        requested += counts->read[array].bytes + counts->write[array].bytes;
    double out_read = counts->read[TRACE_SUMS].bytes + 4 * counts->atomics;
    cells[SCENE] = cell_text(scene);
    cells[KERNEL] = cell_text(profile->kernel->name);
    cells[DTYPE] = cell_text(bev_dtypes[problem->dtype].name);
    cells[ALIGN] = cell_text(bev_aligns[problem->align].name);
    cells[CHANNELS] = cell_int(problem->shape.channels);
    cells[POINTS] = cell_int(problem->map.points);
    cells[INTERVALS] = cell_int(problem->map.intervals);
    cells[LONGEST] = cell_int(counts->longest);
    cells[FOOTPRINT] = megabytes(bev_footprint_total(bev_footprint(problem)));
    cells[GATHER] = megabytes(
        bev_traffic_total(bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits)));
    cells[FEAT] = megabytes(counts->read[TRACE_FEAT].bytes);
    cells[DEPTH] = megabytes(counts->read[TRACE_DEPTH].bytes);
    cells[RANKS] = megabytes(counts->read[TRACE_RANKS].bytes);
    cells[RANKS_FORMULA] = megabytes(bev_rank_bytes(profile->kernel, problem));
    cells[OWNERS] = megabytes(counts->read[TRACE_OWNERS].bytes);
    cells[WEIGHT] = megabytes(counts->read[TRACE_WEIGHT].bytes);
    cells[OUT_READ] = megabytes(out_read);
    cells[OUT_WRITE] = megabytes(counts->write[TRACE_OUT].bytes + counts->write[TRACE_SUMS].bytes);
    cells[REQUESTED] = megabytes(requested + 4 * counts->atomics);
    cells[FORMULA] = megabytes(bev_traffic_total(formula));
    cells[COALESCING] =
        cell_real(counts->read[TRACE_FEAT].sectors / counts->read[TRACE_FEAT].requests);
    cells[ATOMICS] = cell_int((long long)counts->atomics);
    cells[L2_SECTORS] = cell_int((long long)counts->l2_sectors);
}

static void fill_prediction(Cell *cells, const Lab *lab, const Profile *profile, const Gpu *gpu) {
    const BevProblem *problem = &lab->problem.view;
    Prediction warm = predict(profile, gpu, true), cold = predict(profile, gpu, false);
    double footprint = bev_footprint_total(bev_footprint(problem));
    cells[GPU] = cell_text(gpu->title);
    cells[L2_MB] = cell_real(gpu->l2_bytes / 1048576);
    cells[REGIME] = cell_text(bev_regimes[bev_regime(footprint, gpu->l2_bytes)].name);
    cells[V3] = cell_text(bev_v3_choose(problem, gpu->l2_bytes).kernel->name);
    cells[HIT_WARM] = cell_real(warm.hit_rate);
    cells[DRAM_WARM] = megabytes(warm.dram_read_bytes + warm.dram_write_bytes);
    cells[HIT_COLD] = cell_real(cold.hit_rate);
    cells[DRAM_COLD] = megabytes(cold.dram_read_bytes + cold.dram_write_bytes);
    for (int part = 0; part < TERM_COUNT; part++)
        cells[PART_0 + part] = cell_real(warm.term_us[part]);
    cells[LAUNCH] = cell_real(warm.launch_us);
    cells[BINDING] = cell_text(term_names[warm.binding]);
    cells[WARM_US] = cell_real(warm.latency_us);
    cells[COLD_US] = cell_real(cold.latency_us);
    cells[SOURCE] = cell_text(profile_is_sampled(profile) ? "model, sampled" : "model");
}

static void fill_known(Cell *cells, const Lab *lab, const LabGpus *chosen_gpus,
                       const Profile *profile, const Gpu *gpu, const char *scene) {
    const BevProblem *problem = &lab->problem.view;
    cells[RECORDED_US] = cell_real(lab_recorded(chosen_gpus, gpu, scene, profile->kernel->name,
                                                problem->dtype, problem->align, CACHE_WARM));
    cells[PUBLISHED_US] = cell_real(lab_published(lab, gpu, scene, profile->kernel));
}

Report regime_traffic_table(void) {
    return (Report){.columns = columns, .column_count = TRAFFIC_COUNT, .folds = true};
}

void regime_add_traffic(Report *report, const Lab *lab, const char *scene) {
    for (int i = 0; i < lab->profile_count; i++) {
        Cell cells[COUNT] = {0};
        fill_traffic(cells, lab, &lab->profiles[i], scene);
        report_add(report, cells);
    }
}

Report regime_full_table(void) {
    return (Report){.columns = columns, .column_count = COUNT};
}

Report regime_prediction_table(void) {
    static ReportColumn chosen[PREDICTION_COUNT];
    for (int i = 0; i < PREDICTION_COUNT; i++)
        chosen[i] = columns[prediction_columns[i]];
    return (Report){.columns = chosen, .column_count = PREDICTION_COUNT, .folds = true};
}

static void each_row(Report *report, const Lab *lab, const LabGpus *chosen_gpus, const char *scene,
                     bool full) {
    for (int g = 0; g < chosen_gpus->count; g++)
        for (int i = 0; i < lab->profile_count; i++) {
            Cell cells[COUNT] = {0}, chosen[PREDICTION_COUNT];
            fill_traffic(cells, lab, &lab->profiles[i], scene);
            fill_prediction(cells, lab, &lab->profiles[i], &chosen_gpus->gpus[g]);
            fill_known(cells, lab, chosen_gpus, &lab->profiles[i], &chosen_gpus->gpus[g], scene);
            for (int c = 0; c < PREDICTION_COUNT; c++)
                chosen[c] = cells[prediction_columns[c]];
            report_add(report, full ? cells : chosen);
        }
}

void regime_add_full(Report *report, const Lab *lab, const LabGpus *chosen_gpus,
                     const char *scene) {
    each_row(report, lab, chosen_gpus, scene, true);
}

void regime_add_predictions(Report *report, const Lab *lab, const LabGpus *chosen_gpus,
                            const char *scene) {
    each_row(report, lab, chosen_gpus, scene, false);
}
