/* SPDX-License-Identifier: MIT */
/* The tables of regime: the kernels' requests, and the model's predictions. */
#include "src/cli/model.h"

void regime_row(Report *report, const SceneModel *model, const char *kernel) {
    const BevProblem *problem = &model->problem.view;
    report_row(report);
    add_text(report, "scene", NULL, model->label);
    add_text(report, "kernel", "kernel", kernel);
    add_text(report, "dtype", "dtype", bev_dtypes[problem->dtype].name);
    add_text(report, "align", "align", bev_aligns[problem->align].name);
}

/* ---- traffic and predictions ---------------------------------------------------------------- */

static void add_problem(Report *report, const SceneModel *model, const PredictedKernel *kernel) {
    const BevProblem *problem = &model->problem.view;
    double footprint = bev_footprint_total(model->memory->footprint);
    add_int(report, "channels", NULL, problem->shape.channels);
    add_int(report, "points", NULL, problem->map.points);
    add_int(report, "intervals", NULL, problem->map.intervals);
    add_int(report, "longest_interval", "longest sequence", kernel->profile.counts.longest);
    add_mb(report, "footprint_mb", NULL, 4, footprint);
    add_mb(report, "gather_traffic_mb", NULL, 4, bev_traffic_total(model->memory->gather));
}

static void add_traffic(Report *report, const BevProblem *problem, const PredictedKernel *kernel) {
    const TraceCount *read = kernel->profile.counts.read, *write = kernel->profile.counts.write;
    double atomics = kernel->profile.counts.atomics;
    add_mb(report, "feat_mb", "features MB", 4, read[TRACE_FEAT].bytes);
    add_mb(report, "depth_mb", "depth MB", 3, read[TRACE_DEPTH].bytes);
    add_mb(report, "ranks_mb", "ranks MB", 3, kernel->rank_bytes);
    add_mb(report, "ranks_formula_mb", "by formula", 3, bev_rank_bytes(kernel->kernel, problem));
    add_mb(report, "owners_mb", "owners MB", 3, read[TRACE_OWNERS].bytes);
    add_mb(report, "weight_mb", "weights MB", 3, read[TRACE_WEIGHT].bytes);
    add_mb(report, "out_read_mb", "sums read MB", 3, read[TRACE_SUMS].bytes + 4 * atomics);
    add_mb(report, "out_write_mb", "writes MB", 3,
           write[TRACE_OUT].bytes + write[TRACE_SUMS].bytes);
    add_mb(report, "kernel_traffic_mb", "kernel traffic MB", 4,
           bev_traffic_total(kernel->requested));
    add_mb(report, "kernel_traffic_formula_mb", "by formula", 4,
           bev_traffic_total(bev_traffic(kernel->kernel, problem)));
    add_real(report, "feat_sectors_per_request", "sectors/request", 3, kernel->sectors_per_request);
    add_int(report, "atomics", "atomics", (long long)atomics);
    add_int(report, "l2_sectors", NULL, (long long)kernel->l2_sectors);
}

/* Adds the terms, the limiting term, and other known figures. */
static void add_terms(Report *report, const Prediction *p) {
    static const char *const keys[] = {[TERM_DRAM] = "dram_us",
                                       [TERM_L2] = "l2_us",
                                       [TERM_ISSUE] = "issue_us",
                                       [TERM_DEPENDENT_LOADS] = "dependent_loads_us"};
    static const char *const headings[] = {[TERM_DRAM] = "DRAM us",
                                           [TERM_L2] = "L2 us",
                                           [TERM_ISSUE] = "issue us",
                                           [TERM_DEPENDENT_LOADS] = "dependent loads us"};
    for (int term = 0; term < TERM_COUNT; term++)
        add_real(report, keys[term], headings[term], 3, p->term_us[term]);
    add_real(report, "launch_us", NULL, 3, p->launch_us);
    add_text(report, "limiter", "limited by", term_names[p->limiter]);
    add_real(report, "predicted_warm_us", "model us", 3, p->latency_us);
}

static void add_prediction(Report *report, const SceneModel *model, const PredictedKernel *kernel,
                           int place) {
    const Gpu *gpu = &model->memory->gpus[place];
    const Prediction *warm = &kernel->predicted[place], *cold = &kernel->cold[place];
    BevRegime regime = bev_regime(bev_footprint_total(model->memory->footprint), gpu->l2_bytes);
    BevV3Choice choice = scene_model_v3_choice(model, gpu);
    add_text(report, "gpu", "GPU", gpu->title);
    add_real(report, "l2_mib", "L2 MiB", 3, gpu->l2_bytes / 1048576);
    add_text(report, "regime", "regime", bev_regimes[regime].name);
    add_text(report, "v3_choice", NULL, choice.kernel->name);
    add_text(report, "v3_published_choice", NULL, choice.published->name);
    add_text(report, "v3_choice_by_gather", NULL, choice.by_gather->name);
    add_real(report, "l2_hit_rate_warm", "L2 hits", 3, warm->hit_rate);
    add_mb(report, "dram_mb_warm", "DRAM MB", 3, prediction_dram_bytes(*warm));
    add_real(report, "l2_hit_rate_cold", NULL, 3, cold->hit_rate);
    add_mb(report, "dram_mb_cold", "cold MB", 3, prediction_dram_bytes(*cold));
    add_terms(report, warm);
    add_real(report, "recorded_us", "recorded us", 3, kernel->recorded_us[place]);
    add_real(report, "predicted_cold_us", "cold us", 3, cold->latency_us);
    add_real(report, "recorded_cold_us", "recorded cold us", 3, kernel->recorded_cold_us[place]);
    add_real(report, "published_us", "published us", 4,
             chosen_published_us(gpu, model, kernel->kernel));
    add_text(report, "source", NULL, kernel->sampled ? "model, sampled" : "model");
}

void regime_add(Report *report, RegimeColumns which, const SceneModel *model, int on) {
    for (int g = 0; g < (which == REGIME_TRAFFIC ? 1 : on); g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            regime_row(report, model, kernel->name);
            if (which != REGIME_PREDICTIONS) {
                add_problem(report, model, kernel);
                add_traffic(report, &model->problem.view, kernel);
            }
            if (which != REGIME_TRAFFIC)
                add_prediction(report, model, kernel, g);
        }
}
