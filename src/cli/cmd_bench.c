#include "src/cli/choices.h"
#include "src/cli/options.h"
#include "src/cli/output.h"
#include "src/cli/selection.h"
#include "src/run/recorded.h"
#include "src/scene/scene.h"
#include "src/base/data.h"
#include "src/view/draw/text.h"

#include "config.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/probe.h"
#endif

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COL_SCENE,
    COL_KERNEL,
    COL_WHERE,
    COL_DTYPE,
    COL_ALIGN,
    COL_CHANNELS,
    COL_POINTS,
    COL_INTERVALS,
    COL_L2_CARVEOUT,
    COL_L2_LEFT,
    COL_CACHE,
    COL_MEDIAN,
    COL_P95,
    COL_P99,
    COL_NOISE,
    COL_SETTLED,
    COL_SAMPLES,
    COL_PREPARE,
    COL_MAP,
    COL_TRAFFIC,
    COL_FOOTPRINT,
    COL_GBPS,
    COL_SPEEDUP,
    COL_SKIPPED,
    COL_COUNT
};

/* Without a heading: for machines only. The two of the L2 are for people where it was made smaller.
 */
static const ReportColumn columns[COL_COUNT] = {
    [COL_SCENE] = {"scene", "scene", 0},
    [COL_KERNEL] = {"kernel", "kernel", 0},
    [COL_WHERE] = {"where", "where", 0},
    [COL_DTYPE] = {"dtype", "dtype", 0},
    [COL_ALIGN] = {"align", "align", 0},
    [COL_CHANNELS] = {"channels", NULL, 0},
    [COL_POINTS] = {"points", "points", 0},
    [COL_INTERVALS] = {"intervals", NULL, 0},
    [COL_L2_CARVEOUT] = {"l2_carveout_mib", NULL, 3},
    [COL_L2_LEFT] = {"l2_left_mib", NULL, 3},
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

static void show_progress(const BenchRow *row) {
    char scene[21];
    text_clean(row->scene, scene, sizeof scene);
    fprintf(stderr, "\r%-20s %-14s %-6s %-9s ", scene, row->config.kernel->name,
            bev_dtypes[row->config.dtype].name, bev_aligns[row->config.align].name);
}

static void add_row(const BenchRow *row, void *context) {
    Cell cells[COL_COUNT] = {
        [COL_SCENE] = cell_text(row->scene),
        [COL_KERNEL] = cell_text(row->config.kernel->name),
        [COL_WHERE] = cell_text(where_names[row->config.kernel->where]),
        [COL_DTYPE] = cell_text(bev_dtypes[row->config.dtype].name),
        [COL_ALIGN] = cell_text(bev_aligns[row->config.align].name),
        [COL_CHANNELS] = cell_int(row->channels),
        [COL_POINTS] = cell_int(row->points),
        [COL_INTERVALS] = cell_int(row->intervals),
        [COL_SKIPPED] = cell_text(row->skipped),
    };
    if (!row->skipped) {
        cells[COL_L2_CARVEOUT] = cell_real(row->l2_carveout_mib);
        cells[COL_L2_LEFT] = cell_real(row->l2_left_mib);
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
        show_progress(row);
}

/* The six configurations, in their order, unless scenes are named. */
static int choose_scenes(const Options *options, const char **scenes) {
    if (options->argument_count) {
        memcpy(scenes, options->arguments, sizeof options->arguments);
        return options->argument_count;
    }
    for (int i = 0; i < preset_count; i++)
        scenes[i] = presets[i].name;
    return preset_count;
}

static const char l2_carveout_heading[] = "aside MB", l2_left_heading[] = "L2 left MB";

enum { MAX_ASIDES = 16 };

/* "0,16,32" */
static bool choose_carveouts(const char *list, double carveouts_mib[MAX_ASIDES], int *count,
                             Err *err) {
    *count = 0;
    for (const char *at = list; at && *count < MAX_ASIDES; at += *at == ',') {
        char *end;
        double mib = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(mib >= 0 && mib <= 100000))
            return err_set(err, ERR_USAGE, "--l2-carveout", "such as 0,16,32",
                           "'%s' is no list of sizes in MB", list);
        carveouts_mib[(*count)++] = mib;
        at = end;
        if (!*at)
            return true;
    }
    return !list || err_set(err, ERR_USAGE, "--l2-carveout", "", "more than %d sizes", MAX_ASIDES);
}

/* With what its GPU reaches at best, for who reads the figures later. */
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

static bool measure(const Options *options, Err *err) {
    const char *scenes[OPTIONS_MAX_ARGUMENTS];
    double carveouts_mib[MAX_ASIDES];
    ReportColumn shown[COL_COUNT];
    BenchPlan plan = {
        .scenes = scenes,
        .scene_count = choose_scenes(options, scenes),
        .dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP32 | 1u << BEV_FP16),
        .aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST),
        .caches = choices_mask(CHOICE_CACHE, options->cache, 1u << CACHE_WARM | 1u << CACHE_COLD),
        .timing = options->quick ? timing_quick : timing_default,
        .carveouts_mib = carveouts_mib,
        .workload = select_workload(options),
    };
    plan.timing.single = options->single;
    if (!choose_carveouts(options->l2_carveout, carveouts_mib, &plan.carveout_count, err))
        return false;
    if (!select_devices(options->device, &plan.where, err))
        return false;
    if (plan.carveout_count && !(plan.where & 1u << BEV_CUDA))
        return err_set(err, ERR_DEVICE, "--l2-carveout", "", "it needs a GPU");
    if (options->kernel && !(plan.only = select_kernel(options->kernel, plan.where, err)))
        return false;
    memcpy(shown, columns, sizeof columns);
    if (plan.carveout_count) {
        shown[COL_L2_CARVEOUT].heading = l2_carveout_heading;
        shown[COL_L2_LEFT].heading = l2_left_heading;
    }
    Report report = {.columns = shown, .column_count = COL_COUNT};
    bool ok = bench_run(&plan, add_row, &report, err);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (ok)
        ok = output_report(options, &report, json_pack("{so}", "machine", this_machine()), err);
    report_free(&report);
    return ok;
}

/* ---- results of other machines --------------------------------------------------------------- */

enum {
    REC_MACHINE,
    REC_SCENE,
    REC_KERNEL,
    REC_DTYPE,
    REC_ALIGN,
    REC_L2_CARVEOUT,
    REC_L2_LEFT,
    REC_CACHE,
    REC_MEDIAN,
    REC_P95,
    REC_P99,
    REC_GBPS,
    REC_COUNT
};

static const ReportColumn recorded_columns[REC_COUNT] = {
    [REC_MACHINE] = {"machine", "recorded on", 0}, [REC_SCENE] = {"scene", "scene", 0},
    [REC_KERNEL] = {"kernel", "kernel", 0},      [REC_DTYPE] = {"dtype", "dtype", 0},
    [REC_ALIGN] = {"align", "align", 0},           [REC_L2_CARVEOUT] = {"l2_carveout_mib", NULL, 3},
    [REC_L2_LEFT] = {"l2_left_mib", NULL, 3},      [REC_CACHE] = {"cache", "cache", 0},
    [REC_MEDIAN] = {"median_us", "median us", 4},  [REC_P95] = {"p95_us", "p95 us", 4},
    [REC_P99] = {"p99_us", "p99 us", 4},           [REC_GBPS] = {"effective_gbps", "GB/s", 3},
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

/* Experiments with a smaller L2 are shown where they are asked for, and then nothing else. */
static bool row_wanted(const Options *options, const RecordedRow *row) {
    return recorded_is_experiment(row) == (options->l2_carveout != NULL) &&
           scene_wanted(options, row->scene) && wanted(row->dtype, options->dtype) &&
           wanted(row->align, options->align) && wanted(row->cache, options->cache);
}

static void add_recorded(Report *report, const Recording *recording, const RecordedRow *row) {
    report_add(report, (Cell[REC_COUNT]){
                           [REC_MACHINE] = cell_text(recording->label),
                           [REC_SCENE] = cell_text(row->scene),
                           [REC_KERNEL] = cell_text(row->kernel),
                           [REC_DTYPE] = cell_text(row->dtype),
                           [REC_ALIGN] = cell_text(row->align),
                           [REC_L2_CARVEOUT] = cell_real(row->l2_carveout_mib),
                           [REC_L2_LEFT] = cell_real(row->l2_left_mib),
                           [REC_CACHE] = cell_text(row->cache),
                           [REC_MEDIAN] = cell_real(row->median_us),
                           [REC_P95] = cell_real(row->p95_us),
                           [REC_P99] = cell_real(row->p99_us),
                           [REC_GBPS] = cell_real(row->effective_gbps),
                       });
}

static bool show_recorded(const Options *options, Err *err) {
    char folder[4096];
    RecordedSet set;
    if (!data_path("samples/recorded", folder, sizeof folder, err) ||
        !recorded_load(&set, folder, err))
        return false;
    ReportColumn shown[REC_COUNT];
    memcpy(shown, recorded_columns, sizeof recorded_columns);
    if (options->l2_carveout) {
        shown[REC_L2_CARVEOUT].heading = l2_carveout_heading;
        shown[REC_L2_LEFT].heading = l2_left_heading;
    }
    Report report = {.columns = shown, .column_count = REC_COUNT};
    for (int i = 0; i < set.count; i++)
        for (int j = 0; j < set.recordings[i].row_count; j++)
            if (row_wanted(options, &set.recordings[i].rows[j]))
                add_recorded(&report, &set.recordings[i], &set.recordings[i].rows[j]);
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
