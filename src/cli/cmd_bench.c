/* SPDX-License-Identifier: MIT */
/* bevscope bench: measures the latency of every kernel on this machine. */
#include "config.h"
#include "kernels/clean.h"
#include "src/base/load.h"
#include "src/cli/records.h"
#include "src/cli/selection.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- measured here --------------------------------------------------------------------------- */

typedef struct {
    Records records;
    Against *against;
    bool backward; /* the rows that are added have both directions */
    bool progress;
    int rows, unsettled;
    Load begun;
} Bench;

static bool is_compared(const BenchRow *row) {
    return !row->skipped[0] && row->baseline.median_us > 0;
}

static void add_columns(const Bench *bench, Report *report, const BenchRow *row) {
    const Timing *timing = &row->timing, *baseline = &row->baseline;
    const BevKernel *kernel = row->config.kernel;
    bool ran = !row->skipped[0], backward = bench->backward;
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    add_text(report, "direction", backward ? "direction" : NULL,
             bev_directions[kernel->direction].name);
    add_text(report, "stage", NULL, bev_stages[kernel->stage].name);
    add_text(report, "cache", "cache", ran ? cache_names[row->cache] : NULL);
    add_int(report, "channels", NULL, row->channels);
    add_int(report, "points", "points", row->points);
    add_int(report, "intervals", NULL, row->intervals);
    report->unknown = !ran;
    add_real(report, "median_us", "median us", 4, timing->median_us);
    add_real(report, "mean_us", "mean us", 4, timing->median_us);
    report->unknown = false;
    add_int(report, "moments", "moments", ran);
    add_int(report, "moments_failed", NULL, 0);
    report->unknown = !ran;
    add_real(report, "p95_us", "p95 us", 4, timing->p95_us);
    add_real(report, "p99_us", "p99 us", 4, timing->p99_us);
    add_real(report, "noise", "noise", 2, timing->noise);
    add_bool(report, "settled", "settled", timing->settled);
    add_int(report, "samples", NULL, timing->samples);
    add_real(report, "prepare_us", "prepare us", 3, row->prepare_us);
    add_real(report, "map_us", NULL, 0, row->map_us > 0 ? row->map_us : NAN);
    add_real(report, "traffic_mb", "traffic MB", 3, row->traffic_mb);
    add_real(report, "footprint_mb", NULL, 0, row->footprint_mb);
    add_real(report, "effective_gb_s", "GB/s", 3, row->effective_gb_s);
    report->unknown = !is_compared(row);
    add_real(report, "speedup_over_v2", backward ? "over base" : "over V2", 3, row->speedup);
    add_real(report, "baseline_us", backward ? "base us" : "V2 us", 4, baseline->median_us);
    add_real(report, "baseline_noise", NULL, 2, baseline->noise);
    add_bool(report, "baseline_settled", backward ? "base settled" : "V2 settled",
             baseline->settled);
    report->unknown = ran;
    report_add(report, "skipped", "not timed: why", DIGITS_BLANK, cell_text(row->skipped));
}

static void add_row(const BenchRow *row, void *context) {
    Bench *bench = context;
    bool ran = !row->skipped[0];
    select_say_if_empty(row->scene, row->config.align, row->points, &row->pruned);
    add_columns(bench, &bench->records.row, row);
    records_row(&bench->records);
    bench->rows += ran;
    bench->unsettled +=
        ran && !(row->timing.settled && (!is_compared(row) || row->baseline.settled));
    if (bench->progress) {
        char scene[21];
        clean_text(row->scene, scene, sizeof scene);
        fprintf(stderr, "\r%-20s %-14s %-6s %-9s ", scene, row->config.kernel->name,
                bev_dtypes[row->config.dtype].name, bev_aligns[row->config.align].name);
    }
}

/* Warns of latencies that may be wrong. A latency that did not settle is shown, but no ratio of it.
 * Other programs can also make a latency too long although it settled. */
static void say_if_doubtful(const Bench *bench) {
    double others = load_of_others(&bench->begun);
    if (others > LOAD_BUSY && bench->rows)
        fprintf(stderr,
                "bevscope: bench: other programs took %.0f %% of the cores: latencies of CPU "
                "kernels are too long\n",
                100 * others);
    if (bench->unsettled)
        fprintf(stderr,
                "bevscope: bench: %d of %d rows, or what they are compared with, did not settle, "
                "perhaps as other programs ran: they have no speed-up\n",
                bench->unsettled, bench->rows);
}

/* Adds a row of --once: the kernel that ran, and its NVTX range. */
static void add_once(const BenchRow *row, void *context) {
    Bench *bench = context;
    Report *report = &bench->records.row;
    select_say_if_empty(row->scene, row->config.align, row->points, &row->pruned);
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    add_text(report, "direction", NULL, bev_directions[row->config.kernel->direction].name);
    add_text(report, "range", "NVTX range", row->range[0] ? row->range : NULL);
    report->unknown = !row->skipped[0];
    report_add(report, "skipped", "not launched: why", DIGITS_BLANK, cell_text(row->skipped));
    records_row(&bench->records);
}

static RowVerdict judge_row(void *context, json_t *row) {
    Bench *bench = context;
    bool skipped = !json_is_null(json_object_get(row, "skipped"));
    bool passed = skipped || against_row(bench->against, row);
    return skipped ? ROW_SKIPPED : passed ? ROW_PASSED : ROW_FAILED;
}

/* Returns this machine with the limits of its GPU, as JSON for later readers of the figures. */
static json_t *this_machine(void) {
    Machine machine;
    machine_read(&machine);
    json_t *block = output_machine(&machine);
#ifdef HAVE_CUDA
    Limits limits;
    if (machine.gpu[0] && probe_limits(PROBE_ALL, &limits, NULL))
        json_object_set_new(block, "limits", limits_json(&limits));
#endif
    return block;
}

/* Prints the rows and judges them. */
static bool print_rows(Bench *bench, json_t *machine, const char *timing, Err *err) {
    Records *records = &bench->records;
    if (bench->against)
        against_columns(&records->row);
    records_rows(records);
    if (!records->skipped)
        report_head(&records->row, "skipped", NULL);
    if (records->scene_count <= RECORDS_SCENES_LISTED) {
        report_head(&records->row, "moments", NULL);
        report_head(&records->row, "mean_us", NULL);
    }
    return records_print(
               records, &(OutputTable){.report = &records->row}, 1,
               json_pack("{ss so ss}", "command", "bench", "machine", machine, "timing", timing),
               err) &&
           against_judge(bench->against, err) && records_judge(records, err);
}

static const char *timing_word(const Options *options) {
    return options->once ? "none" : options->single ? "single" : "in a row";
}

static bool measure_rows(Bench *bench, Err *err) {
    enum { MAX_PRESETS = 32 };
    const char *configurations[MAX_PRESETS];
    BenchPlan plan;
    Records *records = &bench->records;
    const Options *options = records->options;
    for (int i = 0; i < preset_count && i < MAX_PRESETS; i++)
        configurations[i] = presets[i].name;
    if (!records_plan(records, 1u << BEV_FP32 | 1u << BEV_FP16, 1u << BEV_NEAREST, configurations,
                      preset_count, &plan, err))
        return false;
    plan.moments = 1;
    plan.caches = choices_mask(CHOICE_CACHE, options->cache, 1u << CACHE_WARM | 1u << CACHE_COLD);
    plan.timing = options->quick ? timing_quick : timing_default;
    plan.timing.single = options->single;
    plan.once = options->once;
    bench->backward = plan.directions >> BEV_BACKWARD & 1;
    json_t *machine = this_machine();
    bool ok = records_open(records, &plan, err);
    json_object_set_new(records->head, "timing", json_string(timing_word(options)));
    ok = ok && against_check(bench->against, machine, plan.where, plan.timing.single, err) &&
         bench_run(&plan, options->once ? add_once : add_row, bench, err) &&
         records_end(records, err);
    if (bench->progress)
        fputs("\r\033[K", stderr);
    ok = ok && print_rows(bench, json_incref(machine), timing_word(options), err);
    if (!options->against) /* --against says this itself */
        say_if_doubtful(bench);
    json_decref(machine);
    return ok;
}

static bool take_rows(Bench *bench, RecordFile *files, int count, Err *err) {
    Records *records = &bench->records;
    const BenchRow none = {.scene = "", .config.kernel = bev_kernels[0], .skipped = "not run"};
    const json_t *head = files[0].head;
    json_t *machine = json_object_get(head, "machine");
    const char *timing = row_text(head, "timing");
    add_columns(bench, &records->row, &none);
    return against_check(bench->against, machine, ~0u, !strcmp(timing, "single"), err) &&
           records_take_files(records, files, count, err) &&
           print_rows(bench, json_incref(machine), timing, err);
}

bool bench_results(const Options *options, RecordFile *files, int count, Err *err) {
    Bench bench = {.records = {.options = options,
                               .command = "bench",
                               .worst_by = options->against ? "ratio" : "median_us",
                               .mean_of = options->once ? NULL : "mean_us",
                               .judge = judge_row,
                               .row.names_to = options->once ? "range" : "cache"},
                   .begun = load_now(),
                   .progress = isatty(STDERR_FILENO) && !options->quiet};
    bench.records.context = &bench;
    bool ok = against_open(options, &bench.against, err) &&
              (files ? take_rows(&bench, files, count, err) : measure_rows(&bench, err));
    against_close(bench.against);
    records_close(&bench.records);
    return ok;
}

bool cmd_bench(const Options *options, Err *err) {
    bool shows = options->recorded || options->published;
    if (options->stage && !strcmp(options->stage, "step"))
        return bench_step(options, err);
    if (options->published && options->argument_count)
        return err_set(err, ERR_USAGE, "--published", "leave the scenes out",
                       "the table has the article's six configurations");
    if (shows && choices_find(CHOICE_FORMAT, options->format) < 0)
        return err_set(err, ERR_USAGE, "--format", "table, markdown, csv or json",
                       "recorded figures are no moments");
    if ((options->published && !options_refuse(options, "recorded,once", "leave it out",
                                               "--published times nothing", err)) ||
        (shows && !options_refuse(options, "against,fail,png,shard,scenes,keep-going",
                                  "bevscope merge compares two files",
                                  "recorded figures stand alone", err)) ||
        (options->once && !options_refuse(options, "recorded,against,fail,png,cache,single,quick",
                                          "leave it or --once out", "--once times nothing", err)))
        return false;
    return options->published  ? bench_published(options, err)
           : options->recorded ? bench_recorded(options, err)
                               : bench_results(options, NULL, 0, err);
}
