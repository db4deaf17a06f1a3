/* SPDX-License-Identifier: MIT */
/* bevscope bench: measures the latency of every kernel on this machine. */
#include "config.h"
#include "kernels/clean.h"
#include "src/base/load.h"
#include "src/cli/bench.h"
#include "src/cli/selection.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- measured here --------------------------------------------------------------------------- */

typedef struct {
    const BenchPlan *plan;
    Report report;
    Against *against;
    bool skipped; /* a row was skipped */
    bool progress;
    int rows, unsettled, reversed;
    Load begun;
    KernelConfig warm; /* the row before: its warm launches on the CPU and their median; 0: none */
    double warm_us;
} Bench;

/* Counts CPU kernels that are clearly slower with warm caches than with cold ones. */
static void count_reversed(Bench *bench, const BenchRow *row) {
    const double clearly = 1.03;
    bool on_cpu =
        row->config.kernel->where == BEV_CPU && !row->skipped[0] && row->timing.settled;
    if (on_cpu && row->cache == CACHE_COLD && kernel_config_equal(&row->config, &bench->warm))
        bench->reversed += bench->warm_us > clearly * row->timing.median_us;
    bench->warm = row->config;
    bench->warm_us = on_cpu && row->cache == CACHE_WARM ? row->timing.median_us : 0;
}

static void show_progress(const BenchRow *row) {
    char scene[21];
    clean_text(row->scene, scene, sizeof scene);
    fprintf(stderr, "\r%-20s %-14s %-6s %-9s ", scene, row->config.kernel->name,
            bev_dtypes[row->config.dtype].name, bev_aligns[row->config.align].name);
}

/* Adds a measured kernel to the table of results. */
static void add_row(const BenchRow *row, void *context) {
    Bench *bench = context;
    Report *report = &bench->report;
    const Timing *timing = &row->timing;
    bool ran = !row->skipped[0], compared = ran && row->baseline.median_us > 0;
    bool backward = bench->plan->directions >> BEV_BACKWARD & 1;
    const Timing *baseline = &row->baseline;
    select_say_if_empty(row->scene, row->config.align, row->points, &row->pruned);
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    report_add(report, "direction", backward ? "direction" : NULL, 0,
               cell_text(bev_directions[row->config.kernel->direction].name));
    report_add(report, "stage", NULL, 0, cell_text(bev_stages[row->config.kernel->stage].name));
    report_add(report, "cache", "cache", 0, cell_text(ran ? cache_names[row->cache] : NULL));
    report_add(report, "channels", NULL, 0, cell_int(row->channels));
    report_add(report, "points", "points", 0, cell_int(row->points));
    report_add(report, "intervals", NULL, 0, cell_int(row->intervals));
    report_add(report, "median_us", "median us", 4, cell_if(ran, cell_real(timing->median_us)));
    report_add(report, "p95_us", "p95 us", 4, cell_if(ran, cell_real(timing->p95_us)));
    report_add(report, "p99_us", "p99 us", 4, cell_if(ran, cell_real(timing->p99_us)));
    report_add(report, "noise", "noise", 2, cell_if(ran, cell_real(timing->noise)));
    report_add(report, "settled", "settled", 0, cell_if(ran, cell_bool(timing->settled)));
    report_add(report, "samples", NULL, 0, cell_if(ran, cell_int(timing->samples)));
    report_add(report, "prepare_us", "prepare us", 3, cell_if(ran, cell_real(row->prepare_us)));
    report_add(report, "map_us", NULL, 0, cell_if(ran && row->map_us > 0, cell_real(row->map_us)));
    report_add(report, "traffic_mb", "traffic MB", 3, cell_if(ran, cell_real(row->traffic_mb)));
    report_add(report, "footprint_mb", NULL, 0, cell_if(ran, cell_real(row->footprint_mb)));
    report_add(report, "effective_gbps", "GB/s", 3, cell_if(ran, cell_real(row->effective_gbps)));
    report_add(report, "speedup_over_v2", backward ? "over base" : "over V2", 3,
               cell_if(compared, cell_real(row->speedup)));
    report_add(report, "baseline_us", backward ? "base us" : "V2 us", 4,
               cell_if(compared, cell_real(baseline->median_us)));
    report_add(report, "baseline_noise", NULL, 2, cell_if(compared, cell_real(baseline->noise)));
    report_add(report, "baseline_settled", backward ? "base settled" : "V2 settled", 0,
               cell_if(compared, cell_bool(baseline->settled)));
    report_add(report, "skipped", NULL, DIGITS_BLANK, cell_text(ran ? NULL : row->skipped));
    bench->skipped = bench->skipped || !ran;
    bench->rows += ran;
    bench->unsettled += ran && !(timing->settled && (!compared || baseline->settled));
    count_reversed(bench, row);
    against_add(bench->against, report, row);
    if (bench->progress)
        show_progress(row);
}

/* Warns of latencies that may be wrong. A latency that did not settle is shown, but no ratio of it.
 * Other programs can also make a latency too long although it settled. */
static void say_if_doubtful(const Bench *bench) {
    double others = load_of_others(&bench->begun);
    if (others > LOAD_BUSY && bench->rows)
        fprintf(
            stderr,
            "bevscope: bench: other programs took %.0f %% of the cores: latencies of CPU kernels "
            "are too long\n",
            100 * others);
    if (bench->reversed)
        fprintf(
            stderr,
            "bevscope: bench: %d kernel%s slower with warm caches than with cold ones: the CPU was "
            "held up for a while, run it again\n",
            bench->reversed, bench->reversed == 1 ? " was" : "s were");
    if (bench->unsettled)
        fprintf(stderr,
                "bevscope: bench: %d of %d rows, or what they are compared with, did not settle, "
                "perhaps as other programs ran: they have no speed-up\n",
                bench->unsettled, bench->rows);
}

/* Adds a row of --once: the kernel that ran, and its NVTX range. */
static void add_once(const BenchRow *row, void *context) {
    Report *report = &((Bench *)context)->report;
    select_say_if_empty(row->scene, row->config.align, row->points, &row->pruned);
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    report_add(report, "direction", NULL, 0,
               cell_text(bev_directions[row->config.kernel->direction].name));
    report_add(report, "range", "NVTX range", 0, cell_text(row->range[0] ? row->range : NULL));
    report_add(report, "skipped", NULL, 0, cell_text(row->skipped[0] ? row->skipped : NULL));
}

/* Returns this machine with the limits of its GPU, as JSON for later readers of the figures. */
static json_t *this_machine(void) {
    Machine machine;
    machine_read(&machine);
    json_t *block = output_machine(&machine);
#ifdef HAVE_CUDA
    Limits limits;
    if (block && machine.gpu[0] && probe_limits(PROBE_ALL, &limits, NULL) &&
        json_object_set_new(block, "limits", limits_json(&limits)) != 0) {
        json_decref(block);
        block = NULL;
    }
#endif
    return block;
}

/* Plans the measurement by the options, measures all kernels, and prints the table. */
static bool measure_rows(const Options *options, Err *err) {
    const char *configurations[OPTIONS_MAX_ARGUMENTS];
    bool named = options->argument_count > 0;
    BenchPlan plan;
    GradOutFile grad_out;
    if (!select_plan(options, 1u << BEV_FP32 | 1u << BEV_FP16, 1u << BEV_NEAREST, &plan, err) ||
        !select_plan_grad_out(options, &plan, &grad_out, err))
        return false;
    for (int i = 0; i < preset_count; i++)
        configurations[i] = presets[i].name;
    plan.scenes = named ? options->arguments : configurations;
    plan.scene_count = named ? options->argument_count : preset_count;
    plan.moments = 1;
    plan.caches = choices_mask(CHOICE_CACHE, options->cache, 1u << CACHE_WARM | 1u << CACHE_COLD);
    plan.timing = options->quick ? timing_quick : timing_default;
    plan.timing.single = options->single;
    plan.once = options->once;
    Bench bench = {.plan = &plan,
                   .begun = load_now(),
                   .progress = isatty(STDERR_FILENO) && !options->quiet,
                   .report = {.names_to = options->once ? "range" : "cache"}};
    bool ok = against_open(options, &plan, &bench.against, err) &&
              bench_run(&plan, options->once ? add_once : add_row, &bench, err);
    grad_out_free(&grad_out);
    if (bench.skipped)
        bench.report.columns[report_column(&bench.report, "skipped")].heading = "not timed: why";
    if (bench.progress)
        fputs("\r\033[K", stderr);
    ok = ok &&
         output_report(options, &bench.report,
                       json_pack("{so ss}", "machine", this_machine(), "timing",
                                 options->once     ? "none"
                                 : options->single ? "single"
                                                   : "in a row"),
                       err) &&
         against_judge(bench.against, err);
    if (!options->against) /* --against says this itself */
        say_if_doubtful(&bench);
    against_close(bench.against);
    report_free(&bench.report);
    return ok;
}

bool cmd_bench(const Options *options, Err *err) {
    if (options->published &&
        (options->recorded || options->once || options->against || options->argument_count))
        return err_set(err, ERR_USAGE, "--published", "leave it or the rest out",
                       "the table has the article's six configurations, and nothing is timed");
    if (options->recorded && (options->against || options->fail || options->png))
        return err_set(err, ERR_USAGE, "--recorded", "leave it out",
                       "recorded figures are not compared with those of another file");
    if (options->once && (options->recorded || options->against ||
                          options->fail || options->png || options->cache || options->single ||
                          options->quick))
        return err_set(err, ERR_USAGE, "--once", "leave it or the other option out",
                       "nothing is timed, so that --recorded, --against, --cache, --single "
                       "and --quick have no meaning");
    return options->published  ? bench_published(options, err)
           : options->recorded ? bench_recorded(options, err)
                               : measure_rows(options, err);
}
