/* info --kernels and info --probe: what every CUDA kernel takes from a GPU, and what a GPU reaches
 * at best. */
#include "config.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#include "src/run/cuda/probe.h"
#endif

#include <string.h>

/* ---- info --probe -----------------------------------------------------------------------------
 */

/* `gpu` is NULL when the table of GPUs does not have it. */
static void add_limits(Report *report, const char *name, const Gpu *gpu, const Limits *limits,
                       const char *source) {
    Limits sheet = gpu ? limits_of_data_sheet(gpu) : limits_unknown();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        report_row(report);
        report_add(report, "gpu", "GPU", 0, cell_text(name));
        report_add(report, "limit", NULL, 0, cell_text(limit_infos[i].key));
        report_add(report, "title", "limit", 0, cell_text(limit_infos[i].title));
        report_add(report, "value", "at best", 4, cell_real(limits->value[i]));
        report_add(report, "unit", "unit", 0, cell_text(limit_infos[i].unit));
        report_add(report, "data_sheet", "data sheet", 4, cell_real(sheet.value[i]));
        report_add(report, "source", "source", 0, cell_text(source));
        report_add(report, "how", "found out by", 0, cell_text(limit_infos[i].how));
    }
}

static bool print_recorded(const Options *options, Report *report, Err *err) {
    RecordedSet set;
    if (!select_recorded(&set, err))
        return false;
    for (int i = 0; i < gpu_count; i++) {
        Limits limits = recorded_limits(&set, &gpus[i]);
        if (limits_any(&limits))
            add_limits(report, gpus[i].title, &gpus[i], &limits, "recorded");
    }
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
    return output_report(options, report, json_pack("{so}", "machine", output_this_machine()), err);
}
#endif

bool info_probe(const Options *options, Err *err) {
    Report report = {.folds = true};
#ifdef HAVE_CUDA
    bool ok = device_opened() ? print_measured(options, &report, err)
                              : print_recorded(options, &report, err);
#else
    bool ok = print_recorded(options, &report, err);
#endif
    report_free(&report);
    return ok;
}

/* ---- info --kernels ---------------------------------------------------------------------------
 */

#ifdef HAVE_CUDA
enum { FUNCTIONS_MAX = 16 };

typedef struct {
    Report report;
    DeviceInfo device;
} Listing;

static void add_function(Listing *listing, const BevKernel *kernel, const BevProblem *problem,
                         const CudaFunction *function) {
    Report *report = &listing->report;
    report_row(report);
    report_add(report, "kernel", "kernel", 0, cell_text(kernel->name));
    report_add(report, "dtype", "format", 0, cell_text(bev_dtypes[problem->dtype].name));
    report_add(report, "align", "align", 0, cell_text(bev_aligns[problem->align].name));
    report_add(report, "cuda_function", "CUDA function", 0, cell_text(function->name));
    report_add(report, "blocks", "blocks", 0, cell_int(function->blocks));
    report_add(report, "threads_per_block", "threads", 0, cell_int(function->threads));
    report_add(report, "registers_per_thread", "registers", 0, cell_int(function->registers));
    report_add(report, "local_bytes_per_thread", "local bytes", 0, cell_int(function->local_bytes));
    report_add(report, "shared_bytes_per_block", "shared bytes", 0,
               cell_int(function->shared_bytes));
    report_add(report, "resident_blocks_per_multiprocessor", "resident blocks", 0,
               cell_int(function->resident_blocks));
    report_add(report, "theoretical_occupancy", "occupancy", 3, cell_real(function->occupancy));
    report_add(report, "emulated", "emulated", 0,
               cell_bool(listing->device.emulated[problem->dtype]));
}

static bool add_functions(const Workload *workload, const BevProblem *problem, void *context,
                          Err *err) {
    (void)workload;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        CudaFunction functions[FUNCTIONS_MAX];
        int count;
        if (kernel->where != BEV_CUDA || bev_unsupported(kernel, problem))
            continue;
        if (!device_functions(kernel, problem, functions, FUNCTIONS_MAX, &count, err))
            return false;
        for (int k = 0; k < count; k++)
            add_function(context, kernel, problem, &functions[k]);
    }
    return true;
}

bool info_kernels(const Options *options, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    const char *scene = options->argument_count ? options->arguments[0] : "canonical";
    Listing listing = {0};
    Workload workload;
    if (!device_info(&listing.device, err) ||
        !workload_open(&workload, scene, &workload_options, err))
        return false;
    bool ok = select_problems(options, &workload, add_functions, &listing, err) &&
              output_report(options, &listing.report,
                            json_pack("{so}", "machine", output_this_machine()), err);
    workload_close(&workload);
    report_free(&listing.report);
    return ok;
}
#else
bool info_kernels(const Options *options, Err *err) {
    (void)options;
    return err_set(err, ERR_DEVICE, "info --kernels", "configure it --with-cuda",
                   "this build has no CUDA kernels");
}
#endif
