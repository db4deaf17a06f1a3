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
#include <stdlib.h>
#include <string.h>

/* ---- --against: ratios to the latencies of an earlier file ----------------------------------- */

enum { MAX_BARS = 400, GROUP_TEXT = 400, ROW_KEY = 512 };
typedef enum { FASTER, SAME, SLOWER, VERDICT_COUNT } Verdict;
static const char *const verdict_words[VERDICT_COUNT] = {"faster", "within noise", "slower"};

typedef struct {
    const Options *options;
    json_t *head;   /* the head of the old file */
    json_t *rows;   /* the old rows, by row_key() */
    unsigned where; /* the devices of the old rows, as bits of BevWhere */
    double fail;    /* the allowed slow-down: 0.05 for --fail 5%; INFINITY: --fail is not given */
    int found;      /* rows that the old file has too */
    int compared, slower, failed; /* found rows that have settled in both files */
    char worst[300];              /* the failed row with the largest ratio */
    double worst_ratio, longest;  /* the largest ratio of the failed rows, and of all rows */
    int bar_count;
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][GROUP_TEXT];
} Against;

/* Writes the key of a row. An old and a new row with equal keys are compared. */
static void row_key(const json_t *row, char key[ROW_KEY]) {
    snprintf(key, ROW_KEY, "%s/%s/%s/%s/%s/%.0f/%.0f", row_text(row, "scene"),
             row_text(row, "kernel"), row_text(row, "dtype"), row_text(row, "align"),
             row_text(row, "cache"), row_number(row, "channels"), row_number(row, "points"));
}

/* Loads the rows of the old file that have a latency with its noise. */
static bool load_old_rows(Against *against, const char *path, Err *err) {
    static RecordFile file;
    bool ok = record_file_open(&file, path, err);
    against->head = json_incref(file.head);
    while (ok && file.record) {
        size_t i;
        json_t *row;
        char key[ROW_KEY];
        json_array_foreach(json_object_get(file.record, "results"), i, row) {
            bool cuda = !strcmp(row_text(row, "where"), where_names[BEV_CUDA]);
            if (!isfinite(row_number(row, "median_us")) || !isfinite(row_number(row, "noise")))
                continue;
            row_key(row, key);
            against->where |= 1u << (cuda ? BEV_CUDA : BEV_CPU);
            json_object_set(against->rows, key, row);
        }
        ok = record_file_next(&file, err);
    }
    return ok &&
           (against->where || err_set(err, ERR_USAGE, path, recorded_hint,
                                      "no latency that bench measured, with its noise, in it"));
}

/* Refuses to compare latencies of two machines, or single launches with launches in a row. The new
 * latencies are of `machine` and its devices `where`. `against` NULL: all is accepted. */
static bool against_check(const Against *against, const json_t *machine, unsigned where,
                          bool single, Err *err) {
    if (!against)
        return true;
    const char *path = against->options->against;
    const json_t *old = json_object_get(against->head, "machine");
    bool was_single = !strcmp(row_text(against->head, "timing"), "single");
    if (was_single != single)
        return err_set(err, ERR_USAGE, path, was_single ? "add --single" : "leave --single out",
                       "its figures are of %s",
                       was_single ? "single launches" : "launches in a row");
    for (int on = BEV_CPU; on <= BEV_CUDA; on++) {
        bool cuda = on == BEV_CUDA, shared = where & against->where & 1u << on;
        const char *then = row_text(old, cuda ? "gpu" : "cpu");
        const char *now = row_text(machine, cuda ? "gpu" : "cpu");
        bool same_threads = cuda || row_number(old, "threads") == row_number(machine, "threads");
        if (shared && (!then[0] || strcmp(then, now) || !same_threads))
            return err_set(err, ERR_USAGE, path, "figures of two machines are not compared",
                           "measured on %s%s, but this is %s", then[0] ? then : "n/a",
                           same_threads ? "" : " with other threads", now[0] ? now : "n/a");
    }
    return where & against->where ||
           err_set(err, ERR_USAGE, path, "name one that bench --format json wrote here",
                   "no latency of this device in it");
}

/* Opens the file of --against, which bench wrote. `*against` is NULL without this option. */
static bool against_open(const Options *options, Against **against, Err *err) {
    const char *fail = options->fail;
    static Against opened;
    *against = NULL;
    if (!options->against && (fail || options->png))
        return err_set(err, ERR_USAGE, fail ? "--fail" : "--png", "add --against OLD.json",
                       "there is nothing to compare with");
    if (!options->against)
        return true;
    *against = &opened;
    opened.options = options;
    opened.rows = json_object();
    opened.fail = INFINITY;
    if (fail) {
        char *end;
        opened.fail = strtod(fail, &end) / 100;
        const bool is_number = end != fail && (!*end || !strcmp(end, "%"));
        if (!is_number || !(opened.fail >= 0 && opened.fail <= 10))
            return err_set(err, ERR_USAGE, "--fail", "such as 5%", "'%s' is no percentage", fail);
    }
    return load_old_rows(&opened, options->against, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Adds the bar of a row to the figure of --png, as long as there is room. */
static void add_bar(Against *against, const json_t *row, Verdict verdict, double ratio,
                    double noise, double old_us) {
    int n = against->bar_count;
    if (n == MAX_BARS)
        return;
    PlotBar *bar = &against->bars[against->bar_count++];
    char *group = against->groups[n];
    const BevKernel *kernel = bev_kernel_find(row_text(row, "kernel"));
    int dtype = choices_find(CHOICE_DTYPE, row_text(row, "dtype"));
    snprintf(group, GROUP_TEXT, "%.300s, %s, %s, %s", row_text(row, "scene"),
             dtype < 0 ? "" : bev_dtypes[dtype].title, row_text(row, "align"),
             row_text(row, "cache"));
    *bar = (PlotBar){.group = n && !strcmp(against->groups[n - 1], group) ? NULL : group,
                     .label = kernel ? kernel->title : "?",
                     .strong = verdict == SLOWER};
    bar->parts[verdict] = ratio;
    snprintf(bar->text, sizeof bar->text, "%.3f ± %s, was %s µs", ratio,
             report_number(noise, 2).text, report_number(old_us, 4).text);
}

static const ReportColumn against_columns[] = {
    {"old_us", "old us", 4},  {"old_noise", "old noise", 2}, {"ratio", "new/old", 4},
    {"ratio_noise", "+-", 2}, {"against", "against", 0},     {"against_passed", NULL, 0}};

static Timing timing_of(const json_t *row) {
    return (Timing){.median_us = row_number(row, "median_us"),
                    .noise = row_number(row, "noise"),
                    .settled = json_is_true(json_object_get(row, "settled"))};
}

/* Counts a row that is slower than --fail allows, and says so in the row. */
static void add_failure(Against *against, json_t *row, double ratio) {
    char line[sizeof against->worst];
    snprintf(line, sizeof line, "%.200s, %.32s, %.16s: %.3f times", row_text(row, "scene"),
             row_text(row, "kernel"), row_text(row, "dtype"), ratio);
    json_object_set_new(row, "failures", json_pack("[s]", line));
    against->failed++;
    if (ratio > against->worst_ratio)
        memcpy(against->worst, line, sizeof line);
    against->worst_ratio = fmax(against->worst_ratio, ratio);
}

/* Sets the old latency and the ratio in a row. False: the row is slower than --fail allows. */
static bool compare_with_old_row(Against *against, json_t *row) {
    char key[ROW_KEY];
    row_key(row, key);
    const Timing now = timing_of(row), then = timing_of(json_object_get(against->rows, key));
    bool found = then.median_us > 0 && now.median_us > 0;
    double ratio = found ? timing_ratio(&now, &then) : NAN;
    double noise = fmax(then.noise, now.noise);
    const bool known = isfinite(ratio); /* both latencies have settled */
    Verdict verdict = SAME;
    if (known && fabs(ratio - 1) > noise)
        verdict = ratio > 1 ? SLOWER : FASTER;
    const bool fails = verdict == SLOWER && ratio - 1 > against->fail;
    if (known)
        add_bar(against, row, verdict, ratio, noise, then.median_us);
    against->found += found;
    against->compared += known;
    against->slower += verdict == SLOWER;
    against->longest = fmax(against->longest, ratio);
    if (fails)
        add_failure(against, row, ratio);
    if (found)
        json_object_update_new(row, json_pack("{sf sf ss}", "old_us", then.median_us, "old_noise",
                                              then.noise, "against",
                                              known ? verdict_words[verdict] : "not settled"));
    if (known)
        json_object_update_new(row, json_pack("{sf sf sb}", "ratio", ratio, "ratio_noise", noise,
                                              "against_passed", !fails));
    return !fails;
}

/* ---- the figure and the gate ----------------------------------------------------------------- */

static bool draw_ratios(const Against *against, Err *err) {
    char subtitle[300];
    const ShortText title =
        short_text("%d of %d latencies are longer than before", against->slower, against->compared);
    snprintf(subtitle, sizeof subtitle, "against %.200s, both measured", against->options->against);
    PlotMark as_before = {.x = 1, .label = "as before", .strong = true};
    ChartSpec spec = {.title = title.text,
                      .subtitle = subtitle,
                      .note =
                          "Ratio of medians; shorter is faster. ±: the larger noise of the two, "
                          "interquartile range over median. Within it nothing is said.",
                      .x = {"new / old", false, 0, fmax(1.2, 1.3 * against->longest), NULL},
                      .part_names = verdict_words,
                      .part_count = VERDICT_COUNT,
                      .bars = against->bars,
                      .bar_count = against->bar_count,
                      .marks = &as_before,
                      .mark_count = 1};
    return output_chart(against->options, &spec, against->options->png, err);
}

/* Draws the ratios into --png. Fails if a row is slower than --fail allows. NULL is accepted. */
static bool against_judge(const Against *against, Err *err) {
    if (!against)
        return true;
    if (!against->found)
        return err_set(err, ERR_GATE, against->options->against, "time the same scenes and kernels",
                       "no row of it was measured again");
    if (against->options->png && !draw_ratios(against, err))
        return false;
    if (against->compared < against->found)
        fprintf(
            stderr,
            "bevscope: bench: %d of %d rows did not settle, here or in the old file, perhaps as "
            "other programs ran: nothing is said of them\n",
            against->found - against->compared, against->found);
    return !against->failed ||
           err_set(err, ERR_GATE, "bench", "",
                   "%d of %d rows are slower by more than %g%% and noise, the worst %s",
                   against->failed, against->compared, 100 * against->fail, against->worst);
}

/* ---- --recorded: the latencies in samples/recorded/, with their machines --------------------- */

/* Whether the list of an option names the value. NULL and "all" stand for every value. */
static bool list_has(const char *list, const char *value) {
    bool found = !list;
    for (char item[CHOICE_ITEM]; choices_item(&list, item);)
        found |= !strcmp(item, "all") || !strcmp(item, value);
    return found;
}

typedef char SceneLabel[128];

/* Writes the names of the chosen scenes as recordings have them, such as "histogram, skew 2". */
static bool name_recorded_scenes(const Options *options, SceneLabel *names, Err *err) {
    Job job = select_job(options);
    const OperatorChange asked = job.sizes;
    job.sizes = (OperatorChange){0};
    if (!options->argument_count &&
        (options->balance > 0 || !prune_is_off(&options->prune) || operator_is_changed(&asked)))
        return err_set(err, ERR_USAGE, "--recorded", "such as bench --recorded histogram --skew 2",
                       "--balance, --prune, --skew and --points need a scene");
    for (int i = 0; i < options->argument_count; i++) {
        OperatorChange change = asked;
        Scene scene;
        workload_label(&job, options->arguments[i], names[i], sizeof names[i]);
        if (!operator_is_changed(&change))
            continue;
        if (!scene_load(options->arguments[i], &scene, err))
            return false;
        const OperatorSpec own = scene.operator_spec;
        bool ok = operator_change(&scene, &change, err); /* fails for scenes with cameras */
        scene_free(&scene);
        if (!ok)
            return false;
        /* A value that the scene's file has, too, is no change, and recordings do not name it. */
        change.skewed = change.skewed && change.skew != own.skew;
        change.points = change.points == own.points ? 0 : change.points;
        operator_label(&change, names[i], sizeof names[i]);
    }
    return true;
}

/* Whether the options choose the row. Without --direction the direction is forward, or the
 * direction of the named kernels. */
static bool is_wanted_row(const Options *options, const SceneLabel *names, const RecordedRow *row) {
    const BevKernel *kernel = bev_kernel_find(row->kernel); /* NULL: the program lacks it */
    const KernelSet named = choices_mask(CHOICE_KERNEL, options->kernel, UINT64_MAX);
    const char *usual = options->kernel ? "both" : "forward";
    const char *direction = options->direction ? options->direction : usual;
    bool scene = !options->argument_count;
    for (int i = 0; i < options->argument_count; i++)
        scene |= !strcmp(names[i], row->scene);
    if (!scene || !list_has(options->dtype, row->dtype) || !list_has(options->align, row->align) ||
        !list_has(options->cache, row->cache))
        return false;
    if (strcmp(direction, "both") && strcmp(direction, bev_directions[row->direction].name))
        return false;
    if (options->kernel && !(kernel && named & kernel_bit(kernel)))
        return false;
    return !options->stage || (kernel && !strcmp(options->stage, bev_stages[kernel->stage].name));
}

static void add_recorded_row(Report *report, const Options *options, const char *machine,
                             const RecordedRow *row) {
    report_row(report);
    add_text(report, "machine", "recorded on", machine);
    add_text(report, "scene", "scene", row->scene);
    add_text(report, "kernel", "kernel", row->kernel);
    add_text(report, "dtype", "dtype", row->dtype);
    add_text(report, "align", "align", row->align);
    add_text(report, "direction", options->direction ? "direction" : NULL,
             bev_directions[row->direction].name);
    add_text(report, "cache", "cache", row->cache);
    add_real(report, "median_us", "median us", 4, row->median_us);
    add_real(report, "p95_us", "p95 us", 4, row->p95_us);
    add_real(report, "p99_us", "p99 us", 4, row->p99_us);
    add_real(report, "effective_gb_s", "GB/s", 3, row->effective_gb_s);
}

/* Prints the rows of samples/recorded/ that the options choose. Fails if they choose no row. */
static bool bench_recorded(const Options *options, Err *err) {
    static RecordedSet set;
    static SceneLabel *names;
    Report report = {.names_to = "cache", .group = "machine"};
    if (!(names = calloc((size_t)options->argument_count + 1, sizeof *names)))
        return err_no_memory(err, "bench", "");
    if (!name_recorded_scenes(options, names, err) || !recorded_load_samples(&set, err))
        return false;
    for (int i = 0; i < set.count; i++)
        for (int j = 0; j < set.recordings[i].row_count; j++) {
            const RecordedRow *row = &set.recordings[i].rows[j];
            if (is_wanted_row(options, names, row))
                add_recorded_row(&report, options, set.recordings[i].label, row);
        }
    return report.row_count > 0
               ? output_report(options, &report, json_object(), err)
               : err_set(err, ERR_FAILED, "samples/recorded", "bench --recorded alone shows all",
                         "nothing recorded fits");
}

/* ---- bench --published ----------------------------------------------------------------------- */

/* The columns of the article's table, and V4 of this program. */
static const struct {
    const char *key, *heading, *column; /* `column`: the article's name */
    BevDtype dtype;
} columns[] = {{"v2_us", "V2", "V2", BEV_FP16},
               {"v2_do_us", "V2+DO", "V2+DO", BEV_FP16},
               {"v3_us", "V3", "V3", BEV_FP16},
               {"v3_fp8_us", "V3 FP8", "V3", BEV_FP8},
               {"v4_us", "V4", "V4", BEV_FP16}};
enum { COLUMN_V2, COLUMN_V3 = 2, COLUMN_V3_FP8, COLUMN_V4, COLUMNS };

/* Returns the recorded latency of a column in a configuration on this GPU. `set` NULL: the
 * published latency. NaN: the latency is not known. */
static double column_us(const RecordedSet *set, const Gpu *gpu, const Preset *preset, int column) {
    const BevDtype dtype = columns[column].dtype;
    if (!set) {
        const Published *row = published_find(gpu->name, preset->name, preset->channels,
                                              columns[column].column, dtype);
        return row ? row->latency_us : NAN;
    }
    for (int k = 0; bev_kernels[k]; k++) {
        const BevKernel *kernel = bev_kernels[k];
        const KernelConfig config = {kernel, dtype, BEV_NEAREST};
        if (kernel->where != BEV_CUDA || kernel->direction != BEV_FORWARD ||
            strcmp(kernel->title, columns[column].column))
            continue;
        const RecordedRow *row =
            recorded_on(set, gpu, preset->name, preset->channels, &config, NULL);
        if (row)
            return row->median_us;
    }
    return NAN;
}

/* Adds a row for each configuration in which V2 is known. */
static void add_published(Report *report, const RecordedSet *set, const Gpu *gpu) {
    const ShortText from = short_text("%s, %s", set ? "recorded" : "published", gpu->title);
    for (int i = 0; i < preset_count; i++) {
        double us[COLUMNS];
        for (int column = 0; column < COLUMNS; column++)
            us[column] = column_us(set, gpu, &presets[i], column);
        if (isnan(us[COLUMN_V2]))
            continue;
        report_row(report);
        add_text(report, "from", "from", from.text);
        add_text(report, "scene", "scene", presets[i].name);
        add_int(report, "channels", "C", presets[i].channels);
        for (int column = 0; column < COLUMNS; column++)
            add_real(report, columns[column].key, columns[column].heading, 4, us[column]);
        add_real(report, "v3_over_v3_fp8", "V3 / V3 FP8", 3, us[COLUMN_V3] / us[COLUMN_V3_FP8]);
        add_real(report, "v2_over_v3", "V2 / V3", 4, us[COLUMN_V2] / us[COLUMN_V3]);
        add_real(report, "v2_over_v3_fp8", "V2 / V3 FP8", 4, us[COLUMN_V2] / us[COLUMN_V3_FP8]);
        add_real(report, "v2_over_v4", "V2 / V4", 4, us[COLUMN_V2] / us[COLUMN_V4]);
    }
}

/* Prints the article's table of latencies, and the recorded latencies of the same configurations
 * and columns. Both latencies of a ratio are of one machine. */
static bool bench_published(const Options *options, Err *err) {
    static RecordedSet set;
    Report report = {.names_to = "scene", .group = "from"};
    if (!recorded_load_samples(&set, err))
        return false;
    for (int recorded = 0; recorded < 2; recorded++)
        for (int g = 0; g < gpu_count; g++)
            add_published(&report, recorded ? &set : NULL, &gpus[g]);
    const OutputTable tables[] = {
        {.report = &report},
        {.above =
             "\n\302\265s, FP16 where no format is named. Published: NVIDIA's article, its own "
             "maps, through a TensorRT plugin. On the RTX A6000 it has one configuration, and "
             "11 to 22 times over V2 over all six.\nRecorded: this program's kernels and maps; "
             "the clear is counted. A ratio is of one machine.\n"}};
    return output_tables(options, tables, 2, json_object(), err);
}

/* ---- measured here --------------------------------------------------------------------------- */

typedef struct {
    Records records;
    Against *against;
    bool backward; /* the plan has backward kernels */
    int rows, unsettled;
    Load begun;
} Bench;

/* Whether the row has a ratio to the latency of its baseline. */
static bool is_compared(const BenchRow *row) {
    return !row->skipped[0] && row->baseline.median_us > 0;
}

/* Adds the columns of a row. A column without a heading is for files only. The figures of a row
 * that was not timed are unknown. A row is of one moment, whose median is also the mean of moments;
 * for several moments records_list_rows() sets `mean_us`, `moments` and `moments_failed` again. */
static void add_bench_columns(const Bench *bench, Report *report, const BenchRow *row) {
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
    add_real(report, "noise", "noise/median", 2, timing->noise);
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

static void add_bench_row(const BenchRow *row, void *context) {
    Bench *bench = context;
    const bool ran = !row->skipped[0];
    const bool settled = row->timing.settled && (row->baseline.settled || !is_compared(row));
    select_say_if_empty(row->scene, row->config.align, row->points, &row->pruned);
    add_bench_columns(bench, &bench->records.row, row);
    records_row(&bench->records);
    bench->rows += ran;
    bench->unsettled += ran && !settled;
}

/* Warns of latencies that may be wrong. A latency that did not settle is shown without a ratio. A
 * settled latency may be too long if other programs took the cores. */
static void say_if_doubtful(const Bench *bench) {
    double others = load_of_others(&bench->begun);
    if (others > LOAD_BUSY && bench->rows)
        fprintf(stderr,
                "bevscope: bench: other programs took %.0f %% of the cores: latencies of CPU "
                "kernels are too long\n",
                100 * others);
    if (bench->unsettled)
        fprintf(stderr,
                "bevscope: bench: the comparison of %d of %d rows did not settle (their own "
                "latency or the baseline's), perhaps as other programs ran: they have no "
                "speed-up\n",
                bench->unsettled, bench->rows);
}

/* Adds a row of --once: the kernel that ran, and its NVTX range. */
static void add_launched_row(const BenchRow *row, void *context) {
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

static RowVerdict judge_bench_row(void *context, json_t *row) {
    Bench *bench = context;
    if (!json_is_null(json_object_get(row, "skipped")))
        return ROW_SKIPPED;
    const bool passed = !bench->against || compare_with_old_row(bench->against, row);
    return passed ? ROW_PASSED : ROW_FAILED;
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

/* Prints the rows. Fails if a row is slower than --fail allows, or a moment could not be done. */
static bool print_rows(Bench *bench, json_t *machine, const char *timing, Err *err) {
    Records *records = &bench->records;
    if (bench->against)
        report_columns(&records->row, against_columns,
                       sizeof against_columns / sizeof *against_columns);
    records_list_rows(records);
    if (!records->skipped)
        report_hide(&records->row, "skipped");
    if (records->scene_count <= RECORDS_SCENES_LISTED) {
        report_hide(&records->row, "moments");
        report_hide(&records->row, "mean_us");
    }
    return records_print(
               records, &(OutputTable){.report = &records->row}, 1,
               json_pack("{ss so ss}", "command", "bench", "machine", machine, "timing", timing),
               err) &&
           against_judge(bench->against, err) && records_judge(records, err);
}

static bool measure_rows(Bench *bench, Err *err) {
    enum { MAX_PRESETS = 32 };
    const char *configurations[MAX_PRESETS];
    BenchPlan plan;
    Records *records = &bench->records;
    const Options *options = records->options;
    const char *timing = options->once ? "none" : options->single ? "single" : "in a row";
    for (int i = 0; i < preset_count && i < MAX_PRESETS; i++)
        configurations[i] = presets[i].name;
    if (!select_plan_with_files(options, 1u << BEV_FP32 | 1u << BEV_FP16, 1u << BEV_NEAREST,
                                configurations, preset_count, &plan, err))
        return false;
    plan.moments = 1; /* a clip has many moments, of which one is timed */
    plan.caches = choices_mask(CHOICE_CACHE, options->cache, 1u << CACHE_WARM | 1u << CACHE_COLD);
    plan.timing = options->quick ? timing_quick : timing_default;
    plan.timing.single = options->single;
    plan.once = options->once;
    plan.each = &records->each;
    bench->backward = plan.directions >> BEV_BACKWARD & 1;
    json_t *machine = this_machine();
    bool ok = records_open(records, &plan, err);
    json_object_set_new(records->head, "timing", json_string(timing));
    ok = ok && against_check(bench->against, machine, plan.where, plan.timing.single, err) &&
         bench_run(&plan, options->once ? add_launched_row : add_bench_row, bench, err) &&
         records_end(records, err);
    ok = ok && print_rows(bench, json_incref(machine), timing, err);
    if (!options->against) /* against_judge() has its own warning of unsettled rows */
        say_if_doubtful(bench);
    json_decref(machine);
    return ok;
}

bool bench_results(const Options *options, RecordFile *files, int count, Err *err) {
    static Bench bench;
    bench = (Bench){.records = {.options = options,
                                .command = "bench",
                                .worst_by = options->against ? "ratio" : "median_us",
                                .mean_of = options->once ? NULL : "mean_us",
                                .judge = judge_bench_row,
                                .context = &bench,
                                .row.names_to = options->once ? "range" : "cache"},
                    .begun = load_now()};
    if (!against_open(options, &bench.against, err))
        return false;
    if (!files)
        return measure_rows(&bench, err);
    /* The rows come from files. An empty row defines the columns. */
    const BenchRow none = {.scene = "", .config.kernel = bev_kernels[0], .skipped = "not run"};
    json_t *machine = json_object_get(files[0].head, "machine");
    const char *timing = row_text(files[0].head, "timing");
    add_bench_columns(&bench, &bench.records.row, &none);
    const unsigned devices_of_old_file = bench.against ? bench.against->where : 0;
    const bool single = !strcmp(timing, "single");
    return against_check(bench.against, machine, devices_of_old_file, single, err) &&
           records_open_files(&bench.records, files, count, err) &&
           print_rows(&bench, json_incref(machine), timing, err);
}

bool cmd_bench(const Options *options, Err *err) {
    const bool times_nothing = options->recorded || options->published;
    if (options->stage && !strcmp(options->stage, "step"))
        return bench_step(options, err);
    if (options->published && options->argument_count)
        return err_set(err, ERR_USAGE, "--published", "leave the scenes out",
                       "the table has the article's six configurations");
    if (times_nothing && choices_find(CHOICE_FORMAT, options->format) < 0)
        return err_set(err, ERR_USAGE, "--format", "table, markdown, csv or json",
                       "recorded figures are no moments");
    if (options->published &&
        !options_refuse(options, "recorded,once", "leave it out", "--published times nothing", err))
        return false;
    if (times_nothing &&
        !options_refuse(options, "against,fail,png,shard,scenes,keep-going",
                        "bevscope merge compares two files", "recorded figures stand alone", err))
        return false;
    if (options->once && !options_refuse(options, "recorded,against,fail,png,cache,single,quick",
                                         "leave it or --once out", "--once times nothing", err))
        return false;
    if (options->published)
        return bench_published(options, err);
    return options->recorded ? bench_recorded(options, err) : bench_results(options, NULL, 0, err);
}
