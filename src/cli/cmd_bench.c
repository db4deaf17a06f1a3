#include "src/cli/choices.h"
#include "src/cli/options.h"
#include "src/cli/output.h"
#include "src/cli/selection.h"
#include "src/bench/recorded.h"
#include "src/model/config.h"
#include "src/model/data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COL_SCENE, COL_VARIANT, COL_WHERE, COL_DTYPE, COL_ALIGN, COL_CHANNELS, COL_POINTS,
    COL_INTERVALS, COL_CACHE, COL_MEDIAN, COL_P95, COL_P99, COL_NOISE, COL_SETTLED, COL_SAMPLES,
    COL_PREPARE, COL_MAP, COL_TRAFFIC, COL_FOOTPRINT, COL_GBPS, COL_SPEEDUP, COL_SKIPPED,
    COL_COUNT
};

static const ReportColumn columns[COL_COUNT] = {
    [COL_SCENE] = {"scene", "scene", 0},
    [COL_VARIANT] = {"variant", "kernel", 0},
    [COL_WHERE] = {"where", "where", 0},
    [COL_DTYPE] = {"dtype", "dtype", 0},
    [COL_ALIGN] = {"align", "align", 0},
    [COL_CHANNELS] = {"channels", NULL, 0},
    [COL_POINTS] = {"points", "points", 0},
    [COL_INTERVALS] = {"intervals", NULL, 0},
    [COL_CACHE] = {"cache", "cache", 0},
    [COL_MEDIAN] = {"median_us", "median us", 4},
    [COL_P95] = {"p95_us", "p95 us", 4},
    [COL_P99] = {"p99_us", "p99 us", 4},
    [COL_NOISE] = {"noise", "noise", 2},
    [COL_SETTLED] = {"settled", "settled", 0},
    [COL_SAMPLES] = {"samples", NULL, 0},
    [COL_PREPARE] = {"prepare_us", "prepare us", 3},
    [COL_MAP] = {"map_us", NULL, 0},
    [COL_TRAFFIC] = {"traffic_mb", "traffic MB", 3},
    [COL_FOOTPRINT] = {"footprint_mb", NULL, 0},
    [COL_GBPS] = {"effective_gbps", "GB/s", 3},
    [COL_SPEEDUP] = {"speedup_over_v2", "over V2", 3},
    [COL_SKIPPED] = {"skipped", NULL, 0},
};

static void add_row(const BenchRow *row, void *context) {
    Cell cells[COL_COUNT] = {
        [COL_SCENE] = cell_text(row->scene),
        [COL_VARIANT] = cell_text(row->selection.variant->name),
        [COL_WHERE] = cell_text(where_names[row->selection.variant->where]),
        [COL_DTYPE] = cell_text(bev_dtypes[row->selection.dtype].name),
        [COL_ALIGN] = cell_text(bev_aligns[row->selection.align].name),
        [COL_CHANNELS] = cell_int(row->channels),
        [COL_POINTS] = cell_int(row->points),
        [COL_INTERVALS] = cell_int(row->intervals),
        [COL_SKIPPED] = cell_text(row->skipped),
    };
    if (!row->skipped) {
        cells[COL_CACHE] = cell_text(cache_names[row->cache]);
        cells[COL_MEDIAN] = cell_real(row->timing.median_us);
        cells[COL_P95] = cell_real(row->timing.p95_us);
        cells[COL_P99] = cell_real(row->timing.p99_us);
        cells[COL_NOISE] = cell_real(row->timing.noise);
        cells[COL_SETTLED] = cell_bool(row->timing.settled);
        cells[COL_SAMPLES] = cell_int(row->timing.samples);
        cells[COL_PREPARE] = cell_real(row->prepare_us);
        cells[COL_MAP] = row->map_us > 0 ? cell_real(row->map_us) : cell_none();
        cells[COL_TRAFFIC] = cell_real(row->traffic_mb);
        cells[COL_FOOTPRINT] = cell_real(row->footprint_mb);
        cells[COL_GBPS] = cell_real(row->effective_gbps);
        cells[COL_SPEEDUP] = row->speedup > 0 ? cell_real(row->speedup) : cell_none();
    }
    report_add(context, cells);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-20s %-14s %-6s %-9s ", row->scene, row->selection.variant->name,
                bev_dtypes[row->selection.dtype].name, bev_aligns[row->selection.align].name);
}

/* The six configurations, in their order, unless scenes are named. */
static int choose_scenes(const Options *options, const char **scenes) {
    if (options->argument_count) {
        memcpy(scenes, options->arguments, sizeof options->arguments);
        return options->argument_count;
    }
    for (int i = 0; i < config_count; i++)
        scenes[i] = configs[i].name;
    return config_count;
}

static bool measure(const Options *options, Err *err) {
    const char *scenes[OPTIONS_MAX_ARGUMENTS];
    BenchPlan plan = {
        .scenes = scenes,
        .scene_count = choose_scenes(options, scenes),
        .dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP32 | 1u << BEV_FP16),
        .aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST),
        .caches = choices_mask(CHOICE_CACHE, options->cache, 1u << CACHE_WARM | 1u << CACHE_COLD),
        .timing = options->quick ? timing_quick : timing_default,
        .workload = select_workload(options),
    };
    plan.timing.single = options->single;
    if (!select_devices(options->device, &plan.where, err))
        return false;
    if (options->kernel && !(plan.only = select_kernel(options->kernel, plan.where, err)))
        return false;
    Report report = {.columns = columns, .column_count = COL_COUNT};
    bool ok = bench_run(&plan, add_row, &report, err);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    Machine machine;
    machine_read(&machine);
    if (ok)
        ok = output_report(options, &report, json_pack("{so}", "machine", output_machine(&machine)),
                           err);
    report_free(&report);
    return ok;
}

/* ---- results of other machines ------------------------------------------------------------------ */

enum { REC_MACHINE, REC_SCENE, REC_VARIANT, REC_DTYPE, REC_ALIGN, REC_CACHE, REC_MEDIAN, REC_COUNT };

static const ReportColumn recorded_columns[REC_COUNT] = {
    [REC_MACHINE] = {"machine", "recorded on", 0}, [REC_SCENE] = {"scene", "scene", 0},
    [REC_VARIANT] = {"variant", "kernel", 0},      [REC_DTYPE] = {"dtype", "dtype", 0},
    [REC_ALIGN] = {"align", "align", 0},           [REC_CACHE] = {"cache", "cache", 0},
    [REC_MEDIAN] = {"median_us", "median us", 4},
};

static bool wanted(const char *value, const char *list) {
    return !list || !strcmp(list, "all") || strstr(list, value);
}

static bool scene_wanted(const Options *options, const char *scene) {
    for (int i = 0; i < options->argument_count; i++)
        if (!strcmp(options->arguments[i], scene))
            return true;
    return options->argument_count == 0;
}

static bool show_recorded(const Options *options, Err *err) {
    char folder[4096];
    RecordedSet set;
    if (!data_path("samples/recorded", folder, sizeof folder, err) ||
        !recorded_load(&set, folder, err))
        return false;
    Report report = {.columns = recorded_columns, .column_count = REC_COUNT};
    for (int i = 0; i < set.count; i++)
        for (int j = 0; j < set.recordings[i].row_count; j++) {
            const RecordedRow *row = &set.recordings[i].rows[j];
            if (!scene_wanted(options, row->scene) || !wanted(row->dtype, options->dtype) ||
                !wanted(row->align, options->align) || !wanted(row->cache, options->cache))
                continue;
            report_add(&report, (Cell[REC_COUNT]){
                cell_text(set.recordings[i].label), cell_text(row->scene), cell_text(row->variant),
                cell_text(row->dtype), cell_text(row->align), cell_text(row->cache),
                cell_real(row->median_us)});
        }
    bool ok = report.row_count > 0
                  ? output_report(options, &report, json_object(), err)
                  : err_set(err, ERR_FAILED, folder, "leave filters out", "nothing recorded fits");
    report_free(&report);
    recorded_free(&set);
    return ok;
}

bool cmd_bench(const Options *options, Err *err) {
    return options->recorded ? show_recorded(options, err) : measure(options, err);
}
