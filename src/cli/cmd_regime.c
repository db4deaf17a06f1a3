/* SPDX-License-Identifier: MIT */
/* bevscope regime: shows the requests of each kernel to the memory system, and the latencies that
 * the memory model predicts. The model needs no GPU. */
#include "kernels/clean.h"
#include "kernels/cuda/v4/choices.h"
#include "src/base/progress.h"
#include "src/cachesim/findings.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <string.h>

/* ---- tables: the requests of the kernels, and the predictions of the model ------------------- */

/* Begins a row with the columns that all tables of regime share. */
static void regime_row(Report *report, const SceneModel *model, const char *kernel) {
    const BevProblem *problem = &model->problem.view;
    report_row(report);
    add_text(report, "scene", NULL, model->label);
    add_text(report, "kernel", "kernel", kernel);
    add_text(report, "dtype", "dtype", bev_dtypes[problem->dtype].name);
    add_text(report, "align", "align", bev_aligns[problem->align].name);
}

static void add_traffic_columns(Report *report, const SceneModel *model,
                                const PredictedKernel *kernel) {
    const BevProblem *problem = &model->problem.view;
    const TraceCount *read = kernel->profile.counts.read, *write = kernel->profile.counts.write;
    double atomics = kernel->profile.counts.atomics;
    add_int(report, "channels", NULL, problem->shape.channels);
    add_int(report, "points", NULL, problem->map.points);
    add_int(report, "intervals", NULL, problem->map.intervals);
    add_int(report, "longest_interval", "longest sequence", kernel->profile.counts.longest);
    add_mb(report, "footprint_mb", NULL, 4, bev_footprint_total(model->memory->footprint));
    add_mb(report, "gather_traffic_mb", NULL, 4, bev_traffic_total(model->memory->gather));
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

static void add_prediction_columns(Report *report, const SceneModel *model,
                                   const PredictedKernel *kernel, int place) {
    const Gpu *gpu = &model->memory->gpus[place];
    const Prediction *warm = &kernel->predicted[place], *cold = &kernel->cold[place];
    BevRegime regime = bev_regime(bev_footprint_total(model->memory->footprint), gpu->l2_bytes);
    BevV3Choice choice = scene_model_v3_choice(model, gpu);
    add_text(report, "gpu", "GPU", gpu->title);
    add_real(report, "l2_mib", "L2 MiB", 3, gpu->l2_bytes / 1048576);
    add_text(report, "regime", "L2 regime", bev_regimes[regime].name);
    add_text(report, "v3_choice", NULL, choice.kernel->name);
    add_text(report, "v3_published_choice", NULL, choice.published->name);
    add_text(report, "v3_choice_by_gather", NULL, choice.by_gather->name);
    add_real(report, "l2_hit_rate_warm", "L2 hits", 3, warm->hit_rate);
    add_mb(report, "dram_mb_warm", "DRAM MB", 3, prediction_dram_bytes(*warm));
    add_real(report, "l2_hit_rate_cold", NULL, 3, cold->hit_rate);
    add_mb(report, "dram_mb_cold", "cold MB", 3, prediction_dram_bytes(*cold));
    add_real(report, "dram_us", "DRAM us", 3, warm->term_us[TERM_DRAM]);
    add_real(report, "l2_us", "L2 us", 3, warm->term_us[TERM_L2]);
    add_real(report, "issue_us", "issue us", 3, warm->term_us[TERM_ISSUE]);
    add_real(report, "dependent_loads_us", "dependent loads us", 3,
             warm->term_us[TERM_DEPENDENT_LOADS]);
    add_real(report, "launch_us", NULL, 3, warm->launch_us);
    add_text(report, "limiter", "limited by", term_names[warm->limiter]);
    add_real(report, "predicted_warm_us", "model us", 3, warm->latency_us);
    add_real(report, "recorded_us", "recorded us", 3, kernel->recorded_us[place]);
    add_real(report, "predicted_cold_us", "cold us", 3, cold->latency_us);
    add_real(report, "recorded_cold_us", "recorded cold us", 3, kernel->recorded_cold_us[place]);
    add_real(report, "published_us", "published us", 4, published_us(gpu, model, kernel->kernel));
    add_text(report, "source", NULL, kernel->sampled ? "model, sampled" : "model");
}

/* The columns of a table of kernels, as bits. Traffic is the same on every GPU. */
enum { COLUMNS_TRAFFIC = 1, COLUMNS_PREDICTION = 2, ANY_GPU = 1 };

/* Adds a row for every kernel on each of the first `count` GPUs of the model. */
static void add_kernels(Report *report, const SceneModel *model, unsigned columns, int count) {
    for (int gpu = 0; gpu < count; gpu++)
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model->memory, kernel));) {
            regime_row(report, model, kernel->name);
            if (columns & COLUMNS_TRAFFIC)
                add_traffic_columns(report, model, kernel);
            if (columns & COLUMNS_PREDICTION)
                add_prediction_columns(report, model, kernel, gpu);
        }
}

/* ---- what limits each kernel by the memory model --------------------------------------------- */

static IntervalLengths interval_lengths(const SceneModel *scene) {
    const BevProblem *problem = &scene->problem.view;
    const ScatterStats *stats = &scene->workload.maps[problem->align]->intervals.stats;
    return (IntervalLengths){stats->longest, stats->median, stats->cells, stats->intervals,
                             problem->shape.nz};
}

/* Prints a line of text. The locale decides between "us" and "µs". */
static void print_line(const char *indent, const char *text, FILE *out) {
    fputs(indent, out);
    text_put(text, out);
    fputs("\n", out);
}

static void print_finding(const Finding *finding, const char *before, FILE *out) {
    fputs(before, out);
    text_put(finding->text, out);
    fprintf(out, " (learn %s)\n", finding->lesson);
}

/* Prints the model's latency of a kernel, and the first finding, or `all` with their evidence. */
static void print_kernel(const SceneModel *scene, const Finding *findings, int count,
                         const PredictedKernel *kernel, int gpu, bool all, FILE *out) {
    const Prediction prediction = kernel->predicted[gpu];
    fprintf(out, "%s %s on %s, ", kernel->title, bev_dtypes[scene->problem.view.dtype].title,
            scene->memory->gpus[gpu].title);
    text_put(text_of_unit(UNIT_US, prediction.latency_us).text, out);
    fputs(":", out);
    if (!count && !kernel->kernel->wrong_on_purpose) {
        fputs(" no term stands out\n", out);
    } else if (!count) {
        fprintf(out, " %s (%s ", limit_names[prediction.limiter], term_names[prediction.limiter]);
        text_put(text_of_unit(UNIT_US, prediction.term_us[prediction.limiter]).text, out);
        fputs("); wrong on purpose, so no gain is given\n", out);
    } else if (all) {
        fputs("\n", out);
        for (int i = 0; i < count; i++) {
            print_finding(&findings[i], "  ", out);
            print_line("      ", findings[i].evidence, out);
        }
    } else
        print_finding(&findings[0], " ", out);
}

/* Makes the workflow for the fastest kernel. Returns the number of steps. `*kernel` NULL: none. */
static int make_workflow(const SceneModel *scene, int gpu, const PredictedKernel **kernel,
                         Finding steps[WORKFLOW_STEPS]) {
    const IntervalLengths lengths = interval_lengths(scene);
    const Scene *loaded = scene->workload.scene;
    const bool counts = loaded->operator_spec.kind == OPERATOR_HISTOGRAM;
    WorkflowScene shown = {scene->scene, WORKFLOW_POOLING};
    Prediction prediction;
    if (loaded->has_operator)
        shown.of = counts ? WORKFLOW_COUNTING : WORKFLOW_OPERATOR;
    *kernel = findings_fastest(scene->memory, gpu, NULL, &prediction);
    if (!*kernel)
        return 0;
    return workflow_of(scene->memory, (*kernel)->kernel, gpu, NULL, &lengths, &shown, steps);
}

static void print_workflow(const SceneModel *scene, int gpu, FILE *out) {
    Finding steps[WORKFLOW_STEPS];
    const PredictedKernel *kernel;
    int count = make_workflow(scene, gpu, &kernel, steps);
    if (count)
        fprintf(out, "Workflow on %s, with %s (learn %s):\n", scene->memory->gpus[gpu].title,
                kernel->title, steps->lesson);
    for (int i = 0; i < count; i++) {
        print_line("  ", steps[i].text, out);
        print_line("      ", steps[i].evidence, out);
        for (int j = 0; j < 2 && steps[i].commands[j][0]; j++)
            fprintf(out, "%s%s\n", output_command, steps[i].commands[j]);
    }
}

/* Prints what limits the kernels on the chosen GPUs by the model, then the workflow. `all`: every
 * finding of a kernel is printed, not only the first. */
static void print_findings(const SceneModel *scene, const ChosenGpus *chosen, bool all, FILE *out) {
    Finding findings[FINDINGS_MAX];
    const MemoryModel *model = scene->memory;
    const IntervalLengths lengths = interval_lengths(scene);
    for (int gpu = 0; gpu < chosen->count; gpu++) {
        for (const PredictedKernel *kernel = NULL; (kernel = model_next(model, kernel));) {
            int count = findings_of(model, kernel->kernel, gpu, NULL, &lengths, findings);
            print_kernel(scene, findings, count, kernel, gpu, all, out);
        }
        print_workflow(scene, gpu, out);
    }
}

static void add_findings(Report *report, const SceneModel *scene, const PredictedKernel *kernel,
                         int gpu, const Finding *findings, int count) {
    for (int i = 0; i < count; i++) {
        report_row(report);
        add_text(report, "scene", NULL, scene->scene);
        add_text(report, "dtype", NULL, bev_dtypes[scene->memory->dtype].name);
        add_text(report, "align", NULL, bev_aligns[scene->memory->align].name);
        add_text(report, "kernel", NULL, kernel->name);
        add_text(report, "gpu", NULL, scene->memory->gpus[gpu].title);
        add_real(report, "gain", NULL, 0, findings[i].gain);
        add_text(report, "finding", NULL, findings[i].text);
        add_text(report, "evidence", NULL, findings[i].evidence);
        add_text(report, "lesson", NULL, findings[i].lesson);
    }
}

/* Adds a row for each finding and for each step of the workflow, on each chosen GPU. */
static void add_all_findings(Report *report, const SceneModel *scene, const ChosenGpus *chosen) {
    Finding findings[FINDINGS_MAX];
    const IntervalLengths lengths = interval_lengths(scene);
    for (int gpu = 0; gpu < chosen->count; gpu++) {
        const PredictedKernel *kernel = NULL;
        while ((kernel = model_next(scene->memory, kernel)))
            add_findings(report, scene, kernel, gpu, findings,
                         findings_of(scene->memory, kernel->kernel, gpu, NULL, &lengths, findings));
        int count = make_workflow(scene, gpu, &kernel, findings);
        add_findings(report, scene, kernel, gpu, findings, count);
    }
}

typedef struct {
    const Options *options;
    SceneModel models[MAX_FORMATS]; /* one model for each format and align */
    int model_count;
    ChosenGpus chosen;
    Report counted; /* filled by --counters */
    Machine machine;
    char label[160]; /* label of the machine; "": nothing was measured */
} Regime;

static bool open_models(Regime *regime, Err *err) {
    KernelConfig formats[MAX_FORMATS];
    int count = select_formats(regime->options, formats);
    const char *scene = regime->options->arguments[0];
    const KernelSet rows = choices_mask(CHOICE_KERNEL, regime->options->kernel, UINT64_MAX);
    unsigned kernels = 0; /* as model_bits: a CPU kernel stands for its CUDA kernel */
    for (int i = 0; bev_kernels[i]; i++)
        if (rows >> i & 1)
            kernels |= model_bits(model_row(bev_kernels[i]));
    if (!kernels)
        return err_set(err, ERR_USAGE, "--kernel", "for example v2,v4",
                       "the model has no accesses of '%s'", regime->options->kernel);
    for (int i = 0; i < count; i++) {
        const KernelConfig *format = &formats[i];
        SceneModel *model = &regime->models[regime->model_count++];
        progress_step(bev_dtypes[format->dtype].title, i / (double)count, (i + 1) / (double)count);
        if (!scene_model_open(model, scene, regime->options, format->dtype, format->align,
                              &regime->chosen, kernels, err))
            return false;
        select_say_if_empty(scene, format->align, model->problem.view.map.points,
                            &model->workload.maps[format->align]->intervals.pruned);
    }
    return true;
}

/* ---- hardware counters beside the model ----------------------------------------------------- */

typedef struct {
    const SceneModel *model;
    const BevKernel *kernel; /* NULL: the row only defines the columns */
    int gpu;            /* index of the GPU in the model; -1: the model does not have this GPU */
    const char *source; /* "measured" or "recorded", on `machine` */
    const char *machine;
    double latency_us;
    Counters counters;
} Counted;

static double percent_difference(double model, double counted) {
    return 100 * (model / counted - 1);
}

/* Adds a row of counters beside the figures of the model. NaN: the model has no such figure. */
static void add_counted(Report *report, const Counted *counted) {
    const Counters *counters = &counted->counters;
    const MemoryModel *memory = counted->model->memory;
    const PredictedKernel *kernel = NULL;
    if (counted->gpu >= 0)
        kernel = model_of_kernel(memory, counted->kernel, &memory->gpus[counted->gpu]);
    const Prediction *model = kernel ? &kernel->predicted[counted->gpu] : NULL;
    double hits = counters_l2_hit_rate(counters), dram = counters_dram_bytes(counters);
    double model_hits = model ? model->hit_rate : NAN, model_us = model ? model->latency_us : NAN;
    double model_dram = model ? prediction_dram_bytes(*model) : NAN;
    /* A problem that fits into the L2 reads little from DRAM, so that a percentage says nothing. */
    bool dram_counts = dram > 0.01 * bev_footprint_total(memory->footprint);
    regime_row(report, counted->model, counted->kernel ? counted->kernel->name : "");
    add_text(report, "cache", NULL, cache_names[CACHE_WARM]);
    add_text(report, "source", "source", counted->source);
    add_text(report, "machine", NULL, counted->machine);
    add_real(report, "l2_hit_rate", "L2 hits", 3, hits);
    add_real(report, "l2_read_hit_rate", "of reads", 3, counters_l2_read_hit_rate(counters));
    add_real(report, "l2_hit_rate_model", "model", 3, model_hits);
    add_real(report, "l2_hit_off_points", "off, points", 2, 100 * (model_hits - hits));
    add_mb(report, "dram_mb", "DRAM MB", 3, dram);
    add_mb(report, "dram_mb_model", "model", 3, model_dram);
    add_real(report, "dram_off_percent", "off, %", 2,
             dram_counts ? percent_difference(model_dram, dram) : NAN);
    add_real(report, "median_us", "us", 3, counted->latency_us);
    add_real(report, "predicted_us", "model", 3, model_us);
    add_real(report, "latency_off_percent", "off, %", 2,
             percent_difference(model_us, counted->latency_us));
    for (int i = 0; i < COUNTER_COUNT; i++)
        add_real(report, counter_rows[i].key, counter_rows[i].heading, 3, counters->value[i]);
}

static bool measure_counted(CounterReader *reader, Counted *counted, Err *err) {
    Session *session;
    Timing timing;
    if (!session_open(&session, counted->kernel, &counted->model->problem.view, err))
        return false;
    bool ok = session_time(session, CACHE_WARM, &timing_default, &timing, err) &&
              counters_read(reader, session, &counted->counters, err);
    session_close(session);
    counted->latency_us = timing.median_us;
    return ok;
}

/* Whether the counters of a kernel are shown. Only forward kernels are counted. With --kernel the
 * model has only the named kernels, and other kernels are left out. */
static bool is_counted(const Regime *regime, const SceneModel *model, const BevKernel *kernel) {
    return kernel->direction == BEV_FORWARD &&
           (!regime->options->kernel || model_kernel(model->memory, kernel));
}

static bool measure_all_kernels(Regime *regime, Err *err) {
    CounterReader *reader;
    Machine *machine = &regime->machine;
    if (!counters_open(&reader, COUNTERS_FULL, err))
        return false;
    machine_read(machine);
    machine_label(machine, regime->label, sizeof regime->label);
    const Gpu *gpu = gpu_of_device(regime->label);
    bool ok = true;
    for (int i = 0; i < regime->model_count; i++) {
        const SceneModel *model = &regime->models[i];
        Counted counted = {
            .model = model, .gpu = -1, .source = "measured", .machine = regime->label};
        for (int g = 0; gpu && g < model->memory->gpu_count; g++)
            if (gpu_same(gpu, &model->memory->gpus[g]))
                counted.gpu = g;
        for (int k = 0; ok && bev_kernels[k]; k++) {
            const BevKernel *kernel = counted.kernel = bev_kernels[k];
            if (kernel->where != BEV_CUDA || bev_unsupported(kernel, &model->problem.view) ||
                !is_counted(regime, model, kernel))
                continue;
            ok = measure_counted(reader, &counted, err);
            if (ok)
                add_counted(&regime->counted, &counted);
        }
    }
    counters_close(reader);
    return ok;
}

/* Adds the counters of a model's kernels from the recordings of the chosen GPUs. */
static void recall_counters(Regime *regime, const SceneModel *model) {
    const RecordedSet *set = &regime->chosen.recorded;
    const BevProblem *problem = &model->problem.view;
    if (!inputs_as_calibrated(model->workload.scene, &model->workload.job))
        return;
    for (int g = 0; g < regime->chosen.count; g++)
        for (int i = 0; i < set->count; i++) {
            const RecordedSet one = {&set->recordings[i], 1};
            if (!is_recorded_on(one.recordings, &regime->chosen.gpus[g]))
                continue;
            for (int k = 0; bev_kernels[k]; k++) {
                const KernelConfig config = {bev_kernels[k], problem->dtype, problem->align};
                const RecordedRow *row =
                    is_counted(regime, model, config.kernel)
                        ? recorded_counters(&one, model->label, problem->shape.channels, &config)
                        : NULL;
                if (row)
                    add_counted(&regime->counted,
                                &(Counted){model, config.kernel, g, "recorded",
                                           one.recordings->label, row->median_us, row->counters});
            }
        }
}

/* Prints how many rows agree with the model, and how many pairs of rows have the order that the
 * model predicts. A row without a percentage of DRAM agrees: it has too few DRAM bytes. */
static void print_agreement(const Report *report, FILE *out) {
    static const double HITS_POINTS = 5, DRAM_PERCENT = 15, LATENCY_PERCENT = 30;
    static const char *const same[] = {"dtype", "align", "machine"}; /* in both rows of a pair */
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
            const double other_us = row_number(other, "predicted_us");
            const bool faster = row_number(row, "median_us") < row_number(other, "median_us");
            bool paired = isfinite(other_us);
            for (int k = 0; k < 3; k++)
                paired = paired && !strcmp(row_text(row, same[k]), row_text(other, same[k]));
            pairs += paired;
            ordered += paired && faster == (model_us < other_us);
        }
    }
    fprintf(out,
            "\nL2 hit rates are within %g points in %d of %d rows, DRAM bytes within %g %% in %d, "
            "latencies within %g %% in %d; the order of two kernels is right in %d of %d pairs. "
            "DRAM bytes also agree below 1 %% of the footprint.\n",
            HITS_POINTS, hits, rows, DRAM_PERCENT, dram, LATENCY_PERCENT, latency, ordered, pairs);
}

/* Fills the counters of --counters. They are measured on this GPU. If that fails, the recorded
 * counters are used, and standard error has the reason. */
static bool fill_counters(Regime *regime, Err *err) {
    const char *device = regime->options->device;
    unsigned where = 1u << BEV_CUDA;
    Err why = {0};
    if (!regime->options->counters)
        return true;
    if (strcmp(device, "auto") && !select_devices(device, &where, err))
        return false;
    if (where & 1u << BEV_CUDA) {
        char line[1024];
        if (measure_all_kernels(regime, &why))
            return true;
        err_line(&why, line, sizeof line);
        progress_hide();
        fprintf(stderr, "bevscope: %s; recorded counters take their place\n", line);
        regime->counted = (Report){0};
    }
    for (int i = 0; i < regime->model_count; i++)
        recall_counters(regime, &regime->models[i]);
    if (regime->counted.row_count == 0) { /* the columns, for the first line of a CSV */
        add_counted(&regime->counted, &(Counted){.model = regime->models, .gpu = -1});
        report_clear(&regime->counted);
    }
    return true;
}

static void print_counters(const Regime *regime, ReportPrinter *print, FILE *out) {
    const Report *counted = &regime->counted;
    const char *last = "";
    if (!regime->options->counters)
        return;
    fputs("\nHardware counters of one launch and its clear, L2 warm, beside the model; off: model "
          "- counted\n",
          out);
    for (int i = 0; i < counted->row_count; i++) {
        const char *machine = row_text(report_at(counted, i), "machine");
        if (strcmp(machine, last))
            fprintf(out, "%s on %s\n", row_text(report_at(counted, i), "source"), machine);
        last = machine;
    }
    fputs(counted->row_count > 0 ? "\n" : "n/a: nothing was recorded on these GPUs\n", out);
    if (counted->row_count > 0) {
        print(counted, out);
        print_agreement(counted, out);
    }
}

/* ---- output --------------------------------------------------------------------------------- */

/* Returns the form that V4 takes on this GPU, and the reason. "": V4 was not replayed. */
static ShortText v4_form(const SceneModel *model, const Gpu *gpu) {
    const BevProblem *problem = &model->problem.view;
    const PredictedKernel *tiles = NULL;
    for (const PredictedKernel *k = NULL; (k = model_next(model->memory, k));)
        if (k->kernel->access.owner == BEV_OWNS_TILE)
            tiles = k;
    if (!tiles)
        return (ShortText){""};
    if (!v4_channels_fit(problem))
        return (ShortText){"pieces: tensor cores need C = 80 or a multiple of 64"};
    if (tiles->profile.counts.form->owner == BEV_OWNS_PIECE)
        return (ShortText){"pieces: too few points a step of tensor cores"};
    if (problem->map.weights)
        return (ShortText){"tiles on tensor cores, depth transposed first: the map has weights"};
    return short_text(
        "tiles on tensor cores; depth is %s (a launch that transposes it first pays beyond %d "
        "points a multiprocessor; here %.0f)",
        v4_transposes(problem, gpu->sms) ? "transposed first" : "read as it lies", GATHERED_POINTS,
        (double)problem->map.points / gpu->sms);
}

/* Returns a sentence about the sampling, for the text above the tables. "": no sampling. */
static ShortText sampling_text(const SceneModel *model) {
    int sampled = 0, count = 0;
    for (const PredictedKernel *k = NULL; (k = model_next(model->memory, k)); count++)
        sampled += k->sampled;
    if (!sampled)
        return (ShortText){""};
    return short_text(" Sampled: of the arrays of %d of %d kernels, larger than %d MB, one line in "
                      "%d was followed through L2.",
                      sampled, count, TRACE_EXACT_MB, TRACE_ONE_IN);
}

static void print_head(const Regime *regime, const SceneModel *model, FILE *out) {
    const BevProblem *problem = &model->problem.view;
    char scene[320];
    clean_text(model->label, scene, sizeof scene);
    fprintf(out, "%s, %s, %s, C = %lld: %s points, footprint %s, gather traffic %s\n", scene,
            bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
            (long long)problem->shape.channels,
            text_of_unit(UNIT_COUNT, (double)problem->map.points).text,
            text_of_unit(UNIT_BYTES, bev_footprint_total(model->memory->footprint)).text,
            text_of_unit(UNIT_BYTES, bev_traffic_total(model->memory->gather)).text);
    for (int g = 0; g < regime->chosen.count; g++) {
        const Gpu *gpu = &regime->chosen.gpus[g];
        const ShortText v4 = v4_form(model, gpu);
        if (gpu->note)
            fprintf(out, "%s is %s\n", gpu->title, gpu->note);
        fprintf(out, "V3 on %s takes %s\n", gpu->title, scene_model_v3_choice(model, gpu).why);
        if (v4.text[0])
            fprintf(out, "V4 on %s takes %s\n", gpu->title, v4.text);
    }
}

/* The texts above and below the tables for people. */
static const char traffic_text[] =
    "\nKernel traffic, the bytes that kernels ask for: counted along their access traces, and by "
    "formula. Longest sequence: the points that one owner adds one after the other, of V4 the "
    "turns of a warp: it finds its tile, takes steps, joins, stores. Owners: starts and lengths of "
    "intervals, of V4 its list of steps. Equal addresses of an owner's threads in one warp "
    "instruction count once. Sums read: of atomic additions, 4 bytes each, and of the pass that "
    "encodes FP32 sums.\n\n";
static const char prediction_text[] =
    "\nPrediction (model; recorded and published beside it where known; L2 warm, cold where it "
    "says so). Recorded: V3 and the form that it takes were timed apart. Published: other maps, "
    "through TensorRT: no test of the model. L2 regime: footprint against L2, whichever kernel "
    "reads it. L2 hits: of all lookups, most of which read again what is in L2. DRAM: what misses, "
    "and the output as far as L2 writes it back. Dependent loads: a step takes longer where a "
    "thread adds more channels, divides (V2+DO) or loads fewer points ahead. Cold: what nobody has "
    "read before comes from DRAM, and dependent loads wait for it; the launch is timed alone, as "
    "bench --help says.";
static const char latency_text[] =
    "\nThe model's latency: the terms overlap, so the root of the sum of the squares of DRAM, L2, "
    "issue and dependent loads, and then the launch with its clear and encoding.\n";

/* Names the GPUs with an L2 of two parts, where hits stay below 100 % without DRAM reads. */
static void print_split_caches(const ChosenGpus *chosen, FILE *out) {
    const char *before = " The L2 of ";
    for (int i = 0; i < chosen->count; i++)
        if (chosen->gpus[i].l2_partitions == 2) {
            fprintf(out, "%s%s", before, chosen->gpus[i].title);
            before = ", ";
        }
    if (*before == ',')
        fputs(" has two parts: what only the other part has is no hit, and no DRAM read.", out);
}

/* Prints several tables for people, because one table would be too wide. */
static void print_tables(const Regime *regime, ReportPrinter *print, FILE *out) {
    Report traffic = {.folds = true}, predictions = {.folds = true};
    for (int i = 0; i < regime->model_count; i++) {
        add_kernels(&traffic, &regime->models[i], COLUMNS_TRAFFIC, ANY_GPU);
        add_kernels(&predictions, &regime->models[i], COLUMNS_PREDICTION, regime->chosen.count);
        print_head(regime, &regime->models[i], out);
    }
    fputs(traffic_text, out);
    print(&traffic, out);
    fputs(prediction_text, out);
    print_split_caches(&regime->chosen, out);
    for (int i = 0; i < regime->model_count; i++)
        fputs(sampling_text(&regime->models[i]).text, out);
    fputs("\n\n", out);
    print(&predictions, out);
    fputs(latency_text, out);
    print_counters(regime, print, out);
    fprintf(out,
            "\nFindings (model, L2 warm; what would be gained without that alone, all else as it "
            "is; %s)\n\n",
            regime->options->kernel
                ? "a faster kernel comes last"
                : "of a kernel the largest gain, which another term than the longest may have; "
                  "with --kernel all of a kernel and their evidence");
    for (int i = 0; i < regime->model_count; i++)
        print_findings(&regime->models[i], &regime->chosen, regime->options->kernel != NULL, out);
}

static bool print_regime(const Regime *regime, Err *err) {
    ReportPrinter *print = output_printer(regime->options);
    if (print) {
        MemoryStream output;
        if (!memory_stream_open(&output, err))
            return false;
        print_tables(regime, print, output.stream);
        return output_close(&output, regime->options->output, err);
    }
    Report report = {0}, findings = {0};
    for (int i = 0; i < regime->model_count; i++) {
        add_kernels(&report, &regime->models[i], COLUMNS_TRAFFIC | COLUMNS_PREDICTION,
                    regime->chosen.count);
        add_all_findings(&findings, &regime->models[i], &regime->chosen);
    }
    enum { KERNELS, FINDINGS, COUNTERS };
    const OutputTable tables[] = {[KERNELS] = {.report = &report},
                                  [FINDINGS] = {.report = &findings, .key = "findings"},
                                  [COUNTERS] = {.report = &regime->counted, .key = "counters"}};
    const bool counted = regime->options->counters;
    json_t *root = json_object();
    if (regime->label[0])
        json_object_set_new(root, "machine", output_machine(&regime->machine));
    if (!strcmp(regime->options->format, "csv")) /* CSV has one table */
        return output_tables(regime->options, &tables[counted ? COUNTERS : KERNELS], 1, root, err);
    return output_tables(regime->options, tables, counted ? 3 : 2, root, err);
}

bool cmd_regime(const Options *options, Err *err) {
    static Regime regime;
    regime.options = options;
    /* By default these are the article's two GPUs and the GPU of the recordings. */
    unsigned usual = 1u << (gpu_find("a6000") - gpus) | 1u << (gpu_find("pro6000") - gpus) |
                     1u << (gpu_find("h200") - gpus);
    return chosen_open(options, usual, &regime.chosen, err) && open_models(&regime, err) &&
           fill_counters(&regime, err) && print_regime(&regime, err);
}
