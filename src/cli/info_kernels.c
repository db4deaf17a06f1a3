#include "src/cli/info_kernels.h"

#include "config.h"

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#include "src/cli/choices.h"
#include "src/cli/output.h"
#include "src/cli/selection.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_KERNEL,
    COL_DTYPE,
    COL_ALIGN,
    COL_FUNCTION,
    COL_BLOCKS,
    COL_THREADS,
    COL_REGISTERS,
    COL_LOCAL,
    COL_SHARED,
    COL_RESIDENT,
    COL_OCCUPANCY,
    COL_EMULATED,
    COL_COUNT
};

static const ReportColumn columns[COL_COUNT] = {
    [COL_KERNEL] = {"kernel", "kernel", 0},
    [COL_DTYPE] = {"dtype", "format", 0},
    [COL_ALIGN] = {"align", "align", 0},
    [COL_FUNCTION] = {"cuda_function", "CUDA function", 0},
    [COL_BLOCKS] = {"blocks", "blocks", 0},
    [COL_THREADS] = {"threads_per_block", "threads", 0},
    [COL_REGISTERS] = {"registers_per_thread", "registers", 0},
    [COL_LOCAL] = {"local_bytes_per_thread", "local bytes", 0},
    [COL_SHARED] = {"shared_bytes_per_block", "shared bytes", 0},
    [COL_RESIDENT] = {"resident_blocks_per_multiprocessor", "resident blocks", 0},
    [COL_OCCUPANCY] = {"theoretical_occupancy", "occupancy", 3},
    [COL_EMULATED] = {"emulated", "emulated", 0},
};

enum { FUNCTIONS_MAX = 16, NAMES_MAX = 512 };

/* The report borrows names until it is printed. */
typedef struct {
    Report report;
    DeviceInfo device;
    char names[NAMES_MAX][sizeof((CudaFunction){0}.name)];
} Listing;

static void add_function(Listing *listing, const BevKernel *kernel, const BevProblem *problem,
                       const CudaFunction *function) {
    Report *report = &listing->report;
    if (report->row_count == NAMES_MAX)
        return;
    char *name = listing->names[report->row_count];
    memcpy(name, function->name, sizeof function->name);
    report_add(report, (Cell[COL_COUNT]){
                           [COL_KERNEL] = cell_text(kernel->name),
                           [COL_DTYPE] = cell_text(bev_dtypes[problem->dtype].name),
                           [COL_ALIGN] = cell_text(bev_aligns[problem->align].name),
                           [COL_FUNCTION] = cell_text(name),
                           [COL_BLOCKS] = cell_int(function->blocks),
                           [COL_THREADS] = cell_int(function->threads),
                           [COL_REGISTERS] = cell_int(function->registers),
                           [COL_LOCAL] = cell_int(function->local_bytes),
                           [COL_SHARED] = cell_int(function->shared_bytes),
                           [COL_RESIDENT] = cell_int(function->resident_blocks),
                           [COL_OCCUPANCY] = cell_real(function->occupancy),
                           [COL_EMULATED] = cell_bool(listing->device.emulated[problem->dtype]),
                       });
}

static bool add_problem(Listing *listing, const BevProblem *problem, Err *err) {
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        CudaFunction functions[FUNCTIONS_MAX];
        int count;
        if (kernel->where != BEV_CUDA || bev_unsupported(kernel, problem))
            continue;
        if (!device_functions(kernel, problem, functions, FUNCTIONS_MAX, &count, err))
            return false;
        for (int k = 0; k < count; k++)
            add_function(listing, kernel, problem, &functions[k]);
    }
    return true;
}

static bool add_workload(Listing *listing, const Options *options, Workload *workload, Err *err) {
    unsigned dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP16);
    unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    bool ok = true;
    for (int align = 0; ok && align < BEV_ALIGN_COUNT; align++)
        for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
            if (!(aligns & 1u << align) || !(dtypes & 1u << dtype))
                continue;
            HostProblem problem = {0};
            ok = workload_problem(workload, (BevDtype)dtype, (BevAlign)align, &problem, err) &&
                 add_problem(listing, &problem.view, err);
            problem_free(&problem);
        }
    return ok;
}

bool info_kernels(const Options *options, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    const char *scene = options->argument_count ? options->arguments[0] : "canonical";
    Listing *listing = calloc(1, sizeof *listing);
    Workload workload;
    if (!listing)
        return err_set(err, ERR_FAILED, "info", "", "out of memory");
    listing->report = (Report){.columns = columns, .column_count = COL_COUNT};
    bool ok = device_info(&listing->device, err) &&
              workload_open(&workload, scene, &workload_options, err);
    if (ok) {
        ok = add_workload(listing, options, &workload, err);
        workload_close(&workload);
    }
    Machine machine;
    machine_read(&machine);
    ok = ok && output_report(options, &listing->report,
                             json_pack("{so}", "machine", output_machine(&machine)), err);
    report_free(&listing->report);
    free(listing);
    return ok;
}

#else

bool info_kernels(const Options *options, Err *err) {
    (void)options;
    return err_set(err, ERR_DEVICE, "info --kernels", "configure it --with-cuda",
                   "this build has no CUDA kernels");
}

#endif
