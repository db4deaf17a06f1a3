/* SPDX-License-Identifier: MIT */
/* The tables of regime: the kernels' requests, the model's predictions, and hardware counters
 * beside the model. */
#include "src/cli/model.h"

#include <math.h>
#include <string.h>

/* Begins a row with the columns that all these tables share. */
static void add_identity(Report *report, const SceneModel *model, const char *kernel) {
    const BevProblem *problem = &model->problem.view;
    report_row(report);
    report_add(report, "scene", NULL, 0, cell_text(model->label));
    report_add(report, "kernel", "kernel", 0, cell_text(kernel));
    report_add(report, "dtype", "dtype", 0, cell_text(bev_dtypes[problem->dtype].name));
    report_add(report, "align", "align", 0, cell_text(bev_aligns[problem->align].name));
}

/* ---- traffic and predictions ---------------------------------------------------------------- */

static void add_problem(Report *report, const SceneModel *model, const PredictedKernel *kernel) {
    const BevProblem *problem = &model->problem.view;
    double footprint = bev_footprint_total(model->memory->footprint);
    report_add(report, "channels", NULL, 0, cell_int(problem->shape.channels));
    report_add(report, "points", NULL, 0, cell_int(problem->map.points));
    report_add(report, "intervals", NULL, 0, cell_int(problem->map.intervals));
    report_add(report, "longest_interval", "longest sequence", 0,
               cell_int(kernel->profile.counts.longest));
    report_add(report, "footprint_mb", NULL, 4, cell_mb(footprint));
    report_add(report, "gather_traffic_mb", NULL, 4,
               cell_mb(bev_traffic_total(model->memory->gather)));
}

static void add_traffic(Report *report, const BevProblem *problem, const PredictedKernel *kernel) {
    const TraceCount *read = kernel->profile.counts.read, *write = kernel->profile.counts.write;
    double atomics = kernel->profile.counts.atomics;
    report_add(report, "feat_mb", "features MB", 4, cell_mb(read[TRACE_FEAT].bytes));
    report_add(report, "depth_mb", "depth MB", 3, cell_mb(read[TRACE_DEPTH].bytes));
    report_add(report, "ranks_mb", "ranks MB", 3, cell_mb(kernel->rank_bytes));
    report_add(report, "ranks_formula_mb", "by formula", 3,
               cell_mb(bev_rank_bytes(kernel->kernel, problem)));
    report_add(report, "owners_mb", "owners MB", 3, cell_mb(read[TRACE_OWNERS].bytes));
    report_add(report, "weight_mb", "weights MB", 3, cell_mb(read[TRACE_WEIGHT].bytes));
    report_add(report, "out_read_mb", "sums read MB", 3,
               cell_mb(read[TRACE_SUMS].bytes + 4 * atomics));
    report_add(report, "out_write_mb", "writes MB", 3,
               cell_mb(write[TRACE_OUT].bytes + write[TRACE_SUMS].bytes));
    report_add(report, "kernel_traffic_mb", "kernel traffic MB", 4,
               cell_mb(bev_traffic_total(kernel->requested)));
    report_add(report, "kernel_traffic_formula_mb", "by formula", 4,
               cell_mb(bev_traffic_total(bev_traffic(kernel->kernel, problem))));
    report_add(report, "feat_sectors_per_request", "sectors/request", 3,
               cell_real(kernel->sectors_per_request));
    report_add(report, "atomics", "atomics", 0, cell_int((long long)atomics));
    report_add(report, "l2_sectors", NULL, 0, cell_int((long long)kernel->l2_sectors));
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
        report_add(report, keys[term], headings[term], 3, cell_real(p->term_us[term]));
    report_add(report, "launch_us", NULL, 3, cell_real(p->launch_us));
    report_add(report, "limiter", "limited by", 0, cell_text(term_names[p->limiter]));
    report_add(report, "predicted_warm_us", "model us", 3, cell_real(p->latency_us));
}

static void add_prediction(Report *report, const SceneModel *model, const PredictedKernel *kernel,
                           int place) {
    const Gpu *gpu = &model->memory->gpus[place];
    const Prediction *warm = &kernel->predicted[place], *cold = &kernel->cold[place];
    BevRegime regime = bev_regime(bev_footprint_total(model->memory->footprint), gpu->l2_bytes);
    BevV3Choice choice = scene_model_v3_choice(model, gpu);
    report_add(report, "gpu", "GPU", 0, cell_text(gpu->title));
    report_add(report, "l2_mib", "L2 MiB", 3, cell_real(gpu->l2_bytes / 1048576));
    report_add(report, "regime", "regime", 0, cell_text(bev_regimes[regime].name));
    report_add(report, "v3_choice", NULL, 0, cell_text(choice.kernel->name));
    report_add(report, "v3_published_choice", NULL, 0, cell_text(choice.published->name));
    report_add(report, "v3_choice_by_gather", NULL, 0, cell_text(choice.by_gather->name));
    report_add(report, "l2_hit_rate_warm", "L2 hits", 3, cell_real(warm->hit_rate));
    report_add(report, "dram_mb_warm", "DRAM MB", 3, cell_mb(prediction_dram_bytes(*warm)));
    report_add(report, "l2_hit_rate_cold", NULL, 3, cell_real(cold->hit_rate));
    report_add(report, "dram_mb_cold", "cold MB", 3, cell_mb(prediction_dram_bytes(*cold)));
    add_terms(report, warm);
    report_add(report, "recorded_us", "recorded us", 3, cell_real(kernel->recorded_us[place]));
    report_add(report, "predicted_cold_us", "cold us", 3, cell_real(cold->latency_us));
    report_add(report, "recorded_cold_us", "recorded cold us", 3,
               cell_real(kernel->recorded_cold_us[place]));
    report_add(report, "published_us", "published us", 4,
               cell_real(chosen_published_us(gpu, model, kernel->kernel)));
    report_add(report, "source", NULL, 0, cell_text(kernel->sampled ? "model, sampled" : "model"));
}

void regime_add(Report *report, RegimeColumns which, const SceneModel *model, int on) {
    for (int g = 0; g < (which == REGIME_TRAFFIC ? 1 : on); g++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            add_identity(report, model, kernel->name);
            if (which != REGIME_PREDICTIONS) {
                add_problem(report, model, kernel);
                add_traffic(report, &model->problem.view, kernel);
            }
            if (which != REGIME_TRAFFIC)
                add_prediction(report, model, kernel, g);
        }
}

/* ---- hardware counters beside the model ----------------------------------------------------- */

typedef struct {
    const SceneModel *model;
    const char *kernel;
    int gpu;            /* index of the GPU in the model; -1: the model does not have it */
    const char *source; /* "measured" or "recorded", on `machine` */
    const char *machine;
    double latency_us;
    Counters counters;
} Counted;

static double percent_difference(double model, double counted) {
    return 100 * (model / counted - 1);
}

static void counted_add(Report *report, const Counted *counted) {
    const Counters *counters = &counted->counters;
    const MemoryModel *memory = counted->model->memory;
    const BevKernel *row = bev_kernel_find(counted->kernel);
    const PredictedKernel *kernel =
        row && counted->gpu >= 0 ? model_of_kernel(memory, row, &memory->gpus[counted->gpu]) : NULL;
    bool known = kernel != NULL;
    Prediction model = known ? kernel->predicted[counted->gpu] : (Prediction){0};
    double hits = counters_l2_hit_rate(counters), dram = counters_dram_bytes(counters);
    double model_dram = prediction_dram_bytes(model);
    /* A problem that fits into the L2 reads little from DRAM, so that a percentage says nothing. */
    bool dram_counts = dram > 0.01 * bev_footprint_total(memory->footprint);
    add_identity(report, counted->model, counted->kernel);
    report_add(report, "cache", NULL, 0, cell_text(cache_names[CACHE_WARM]));
    report_add(report, "source", "source", 0, cell_text(counted->source));
    report_add(report, "machine", NULL, 0, cell_text(counted->machine));
    report_add(report, "l2_hit_rate", "L2 hits", 3, cell_real(hits));
    report_add(report, "l2_read_hit_rate", "of reads", 3,
               cell_real(counters_l2_read_hit_rate(counters)));
    report_add(report, "l2_hit_rate_model", "model", 3, cell_if(known, cell_real(model.hit_rate)));
    report_add(report, "l2_hit_off_points", "off, points", 2,
               cell_if(known, cell_real(100 * (model.hit_rate - hits))));
    report_add(report, "dram_mb", "DRAM MB", 3, cell_mb(dram));
    report_add(report, "dram_mb_model", "model", 3, cell_if(known, cell_mb(model_dram)));
    report_add(report, "dram_off_percent", "off, %", 2,
               cell_if(known && dram_counts, cell_real(percent_difference(model_dram, dram))));
    report_add(report, "median_us", "us", 3, cell_real(counted->latency_us));
    report_add(report, "predicted_us", "model", 3, cell_if(known, cell_real(model.latency_us)));
    report_add(
        report, "latency_off_percent", "off, %", 2,
        cell_if(known, cell_real(percent_difference(model.latency_us, counted->latency_us))));
    for (int i = 0; i < COUNTER_COUNT; i++)
        report_add(report, counter_rows[i].key, counter_rows[i].heading, 3,
                   cell_real(counters->value[i]));
}

static bool measure_counted(CounterReader *reader, const BevKernel *kernel, Counted *counted,
                            Err *err) {
    Session *session;
    Timing timing;
    if (!session_open(&session, kernel, &counted->model->problem.view, err))
        return false;
    bool ok = session_time(session, CACHE_WARM, &timing_default, &timing, err) &&
              counters_read(reader, session, &counted->counters, err);
    session_close(session);
    counted->kernel = kernel->name;
    counted->latency_us = timing.median_us;
    return ok;
}

/* Whether counters of this kernel are shown. It must be forward. `named`: it must also be in the
 * model, which then has only the kernels that the user named. */
static bool is_counted(const SceneModel *model, const char *name, bool named) {
    const BevKernel *kernel = bev_kernel_find(name);
    bool same = kernel && kernel->direction == BEV_FORWARD;
    return same && (!named || model_kernel(model->memory, kernel));
}

bool counted_measure(Report *report, CounterReader *reader, const SceneModel *model,
                     const char *label, bool named, Err *err) {
    const Gpu *gpu = gpu_of_device(label);
    Counted counted = {.model = model, .gpu = -1, .source = "measured", .machine = label};
    bool ok = true;
    for (int i = 0; gpu && i < model->memory->gpu_count; i++)
        if (gpu_same(gpu, &model->memory->gpus[i]))
            counted.gpu = i;
    for (int i = 0; ok && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where != BEV_CUDA || bev_unsupported(kernel, &model->problem.view) ||
            !is_counted(model, kernel->name, named))
            continue;
        ok = measure_counted(reader, kernel, &counted, err);
        if (ok)
            counted_add(report, &counted);
    }
    return ok;
}

void counted_recall(Report *report, const SceneModel *model, const ChosenGpus *chosen, bool named) {
    for (int g = 0; g < chosen->count; g++)
        for (int i = 0; i < chosen->recorded.count; i++) {
            const Recording *from = &chosen->recorded.recordings[i];
            for (int j = 0; chosen_recorded_on(from, &chosen->gpus[g]) && j < from->counted_count;
                 j++) {
                const RecordedRow *row = &from->counted[j];
                if (is_counted(model, row->kernel, named) && scene_model_is(model, row))
                    counted_add(report, &(Counted){model, row->kernel, g, "recorded", from->label,
                                                   row->median_us, row->counters});
            }
        }
}

void counted_columns(Report *report, const SceneModel *model) {
    counted_add(report, &(Counted){.model = model, .kernel = "", .gpu = -1});
    report_clear(report);
}

void counted_sources(const Report *report, FILE *out) {
    const char *last = "";
    for (int i = 0; i < report->row_count; i++) {
        const json_t *row = report_at(report, i);
        const char *machine = row_text(row, "machine");
        if (strcmp(machine, last))
            fprintf(out, "%s on %s\n", row_text(row, "source"), machine);
        last = machine;
    }
}

static bool are_pair(const json_t *a, const json_t *b) {
    return isfinite(row_number(b, "predicted_us")) &&
           !strcmp(row_text(a, "dtype"), row_text(b, "dtype")) &&
           !strcmp(row_text(a, "align"), row_text(b, "align")) &&
           !strcmp(row_text(a, "machine"), row_text(b, "machine"));
}

/* An empty share of DRAM agrees, because the counter is too small for a percentage. */
void counted_verdict(const Report *report, FILE *out) {
    static const double HITS_POINTS = 5, DRAM_PERCENT = 15, LATENCY_PERCENT = 30;
    int rows = 0, hits = 0, dram = 0, latency = 0, pairs = 0, ordered = 0;
    for (int i = 0; i < report->row_count; i++) {
        const json_t *row = report_at(report, i);
        double model_us = row_number(row, "predicted_us");
        if (isnan(model_us))
            continue;
        rows++;
        hits += fabs(row_number(row, "l2_hit_off_points")) <= HITS_POINTS;
        dram += !(fabs(row_number(row, "dram_off_percent")) > DRAM_PERCENT);
        latency += fabs(row_number(row, "latency_off_percent")) <= LATENCY_PERCENT;
        for (int j = 0; j < i; j++) {
            const json_t *other = report_at(report, j);
            if (!are_pair(row, other))
                continue;
            pairs++;
            ordered += (model_us < row_number(other, "predicted_us")) ==
                       (row_number(row, "median_us") < row_number(other, "median_us"));
        }
    }
    fprintf(out,
            "\nL2 hit rates are within %g points in %d of %d rows, DRAM bytes within %g %% in %d, "
            "latencies within %g %% in %d; the order of two kernels is right in %d of %d pairs. "
            "DRAM bytes also agree below 1 %% of the footprint.\n",
            HITS_POINTS, hits, rows, DRAM_PERCENT, dram, LATENCY_PERCENT, latency, ordered, pairs);
}
