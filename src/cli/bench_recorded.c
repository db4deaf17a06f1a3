/* SPDX-License-Identifier: MIT */
/* bevscope bench --recorded: prints the latencies in samples/recorded/ with their machines. bench
 * --published: the article's table beside them. */
#include "src/cli/records.h"
#include "src/cli/selection.h"
#include "src/scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const char *value, const char *list) {
    bool found = !list;
    for (char item[CHOICE_ITEM]; choices_item(&list, item);)
        found |= !strcmp(item, "all") || !strcmp(item, value);
    return found;
}

typedef char SceneLabel[128];

/* Writes the names of the chosen scenes as recordings have them: "histogram, skew 2", "canonical,
 * load balance 0.5". */
static bool name_recorded_scenes(const Options *options, SceneLabel *names, Err *err) {
    Job workload = select_job(options);
    const OperatorChange asked = workload.sizes;
    workload.sizes = (OperatorChange){0};
    if (!options->argument_count &&
        (options->balance > 0 || !prune_is_off(&options->prune) || operator_is_changed(&asked)))
        return err_set(err, ERR_USAGE, "--recorded", "such as bench --recorded histogram --skew 2",
                       "--balance, --prune, --skew and --points need a scene");
    for (int i = 0; i < options->argument_count; i++) {
        OperatorChange change = asked;
        Scene scene;
        workload_label(&workload, options->arguments[i], names[i], sizeof names[i]);
        if (!operator_is_changed(&change))
            continue;
        if (!scene_load(options->arguments[i], &scene, err))
            return false;
        const OperatorSpec own = scene.operator_spec;
        bool ok = operator_change(&scene, &change, err); /* fails for scenes with cameras */
        scene_free(&scene);
        if (!ok)
            return false;
        change.skewed = change.skewed && change.skew != own.skew;
        change.points = change.points == own.points ? 0 : change.points;
        operator_label(&change, names[i], sizeof names[i]);
    }
    return true;
}

/* Whether the options want the row. The direction by default: forward, or that of the kernels. */
static bool is_wanted_row(const Options *options, const SceneLabel *names, const RecordedRow *row) {
    const BevKernel *kernel = bev_kernel_find(row->kernel);
    const KernelSet set = kernel ? kernel_bit(kernel) : 0;
    const char *way = options->direction ? options->direction
                      : options->kernel  ? "both"
                                         : "forward";
    bool scene = !options->argument_count;
    for (int i = 0; i < options->argument_count; i++)
        scene |= !strcmp(names[i], row->scene);
    return scene && (!options->kernel || choices_kernels(options->kernel, 0) & set) &&
           (!options->stage ||
            (kernel && !strcmp(options->stage, bev_stages[kernel->stage].name))) &&
           (!strcmp(way, "both") || !strcmp(way, bev_directions[row->direction].name)) &&
           is_wanted(row->dtype, options->dtype) && is_wanted(row->align, options->align) &&
           is_wanted(row->cache, options->cache);
}

static void add_recorded(Report *report, const Options *options, const char *machine,
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

bool bench_recorded(const Options *options, Err *err) {
    RecordedSet set;
    Report report = {.names_to = "cache", .group = "machine"};
    SceneLabel *names = calloc((size_t)options->argument_count + 1, sizeof *names);
    if (!names)
        return err_no_memory(err, "bench", "");
    if (!name_recorded_scenes(options, names, err) || !recorded_load_samples(&set, err)) {
        free(names);
        return false;
    }
    for (int i = 0; i < set.count; i++)
        for (int j = 0; j < set.recordings[i].row_count; j++)
            if (is_wanted_row(options, names, &set.recordings[i].rows[j]))
                add_recorded(&report, options, set.recordings[i].label, &set.recordings[i].rows[j]);
    recorded_free(&set);
    free(names);
    bool ok = report.row_count > 0
                  ? output_report(options, &report, json_object(), err)
                  : err_set(err, ERR_FAILED, "samples/recorded", "bench --recorded alone shows all",
                            "nothing recorded fits");
    report_free(&report);
    return ok;
}

/* ---- bench --published ----------------------------------------------------------------------- */

/* The article's columns, and V4 of this program. */
static const struct {
    const char *key, *heading, *column; /* `column`: the article's name */
    BevDtype dtype;
} columns[] = {{"v2_us", "V2", "V2", BEV_FP16},
               {"v2_do_us", "V2+DO", "V2+DO", BEV_FP16},
               {"v3_us", "V3", "V3", BEV_FP16},
               {"v3_fp8_us", "V3 FP8", "V3", BEV_FP8},
               {"v4_us", "V4", "V4", BEV_FP16}};
enum { COLUMN_V2, COLUMN_V3 = 2, COLUMN_V3_FP8, COLUMN_V4, COLUMNS };

/* Returns the latency of a column in a configuration; NaN: it is not known. `set` NULL: published
 * for the GPU, else recorded on it. */
static double column_us(const RecordedSet *set, const Gpu *gpu, const Preset *preset, int column) {
    const BevDtype dtype = columns[column].dtype;
    if (!set) {
        const Published *row = published_find(gpu->name, preset->name, preset->channels,
                                              columns[column].column, dtype);
        return row ? row->latency_us : NAN;
    }
    for (int i = 0; i < set->count; i++)
        for (int k = 0; gpu_of_device(set->recordings[i].label) == gpu && bev_kernels[k]; k++) {
            const RecordedSet one = {&set->recordings[i], 1};
            const KernelConfig config = {bev_kernels[k], dtype, BEV_NEAREST};
            bool meant = bev_kernels[k]->where == BEV_CUDA &&
                         bev_kernels[k]->direction == BEV_FORWARD &&
                         !strcmp(bev_kernels[k]->title, columns[column].column);
            const RecordedRow *row =
                meant ? recorded_find(&one, preset->name, preset->channels, &config, NULL) : NULL;
            if (row && !row->unsettled)
                return row->median_us;
        }
    return NAN;
}

/* Adds a row for each configuration in which V2 is known. */
static void add_published(Report *report, const RecordedSet *set, const Gpu *gpu) {
    char from[96];
    snprintf(from, sizeof from, "%s, %s", set ? "recorded" : "published", gpu->title);
    for (int i = 0; i < preset_count; i++) {
        double us[COLUMNS];
        for (int column = 0; column < COLUMNS; column++)
            us[column] = column_us(set, gpu, &presets[i], column);
        if (isnan(us[COLUMN_V2]))
            continue;
        report_row(report);
        add_text(report, "from", "from", from);
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

bool bench_published(const Options *options, Err *err) {
    RecordedSet set;
    Report report = {.names_to = "scene", .group = "from"};
    if (!recorded_load_samples(&set, err))
        return false;
    for (int recorded = 0; recorded < 2; recorded++)
        for (int g = 0; g < gpu_count; g++)
            add_published(&report, recorded ? &set : NULL, &gpus[g]);
    recorded_free(&set);
    const OutputTable tables[] = {
        {.report = &report},
        {.above =
             "\n\302\265s, FP16 where no format is named. Published: NVIDIA's article, its own "
             "maps, through a TensorRT plugin. On the RTX A6000 it has one configuration, and "
             "11 to 22 times over V2 over all six.\nRecorded: this program's kernels and maps; "
             "the clear is counted. A ratio is of one machine.\n"}};
    bool ok = output_tables(options, tables, 2, json_object(), err);
    report_free(&report);
    return ok;
}
