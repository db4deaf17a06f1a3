#include "src/cli/info_probe.h"

#include "config.h"

#include "src/run/recorded.h"
#include "src/cli/output.h"
#include "src/base/data.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

enum {
    COL_GPU,
    COL_KEY,
    COL_TITLE,
    COL_VALUE,
    COL_UNIT,
    COL_SHEET,
    COL_SOURCE,
    COL_HOW,
    COL_COUNT
};

static const ReportColumn columns[COL_COUNT] = {
    [COL_GPU] = {"gpu", "GPU", 0},          [COL_KEY] = {"limit", NULL, 0},
    [COL_TITLE] = {"title", "limit", 0},    [COL_VALUE] = {"value", "at best", 4},
    [COL_UNIT] = {"unit", "unit", 0},       [COL_SHEET] = {"data_sheet", "data sheet", 4},
    [COL_SOURCE] = {"source", "source", 0}, [COL_HOW] = {"how", "found out by", 0},
};

/* `gpu` may be unknown to the facts table: NULL. */
static void add_limits(Report *report, const char *name, const Gpu *gpu, const Limits *limits,
                       const char *source) {
    Limits sheet = gpu ? limits_of_data_sheet(gpu) : limits_unknown();
    for (int i = 0; i < LIMIT_COUNT; i++)
        report_add(report, (Cell[COL_COUNT]){
                               [COL_GPU] = cell_text(name),
                               [COL_KEY] = cell_text(limit_infos[i].key),
                               [COL_TITLE] = cell_text(limit_infos[i].title),
                               [COL_VALUE] = cell_real(limits->value[i]),
                               [COL_UNIT] = cell_text(limit_infos[i].unit),
                               [COL_SHEET] = cell_real(sheet.value[i]),
                               [COL_SOURCE] = cell_text(source),
                               [COL_HOW] = cell_text(limit_infos[i].how),
                           });
}

static void add_recorded(Report *report, const RecordedSet *set) {
    for (int i = 0; i < gpu_count; i++) {
        Limits limits = recorded_limits(set, &gpus[i]);
        if (limits_any(&limits))
            add_limits(report, gpus[i].title, &gpus[i], &limits, "recorded");
    }
}

static bool print_recorded(const Options *options, Report *report, Err *err) {
    char folder[4096];
    RecordedSet set;
    if (!data_path("samples/recorded", folder, sizeof folder, err) ||
        !recorded_load(&set, folder, err))
        return false;
    add_recorded(report, &set);
    recorded_free(&set);
    return report->row_count > 0
               ? output_report(options, report, json_object(), err)
               : err_set(err, ERR_DEVICE, "info --probe", "", "no GPU here, and none recorded");
}

#ifdef HAVE_CUDA
static bool print_measured(const Options *options, Report *report, Err *err) {
    DeviceInfo info;
    Limits limits;
    if (!device_info(&info, err) || !probe_limits(PROBE_ALL, &limits, err))
        return false;
    add_limits(report, info.name, gpu_of_device(info.name), &limits, "measured");
    Machine machine;
    machine_read(&machine);
    return output_report(options, report, json_pack("{so}", "machine", output_machine(&machine)),
                         err);
}
#endif

bool info_probe(const Options *options, Err *err) {
    Report report = {.columns = columns, .column_count = COL_COUNT, .folds = true};
#ifdef HAVE_CUDA
    bool ok = device_opened() ? print_measured(options, &report, err)
                              : print_recorded(options, &report, err);
#else
    bool ok = print_recorded(options, &report, err);
#endif
    report_free(&report);
    return ok;
}
