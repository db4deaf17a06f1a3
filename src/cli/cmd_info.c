#include "src/cli/choices.h"
#include "src/cli/info_kernels.h"
#include "src/cli/info_probe.h"
#include "src/cli/options.h"
#include "src/cli/output.h"
#include "src/cli/selection.h"
#include "src/scene/scatter.h"

/* ---- a scene --------------------------------------------------------------------------------- */

enum {
    COL_SCENE,
    COL_DTYPE,
    COL_ALIGN,
    COL_CAMERAS,
    COL_DEPTHS,
    COL_H,
    COL_W,
    COL_CHANNELS,
    COL_NX,
    COL_NY,
    COL_POINTS,
    COL_INTERVALS,
    COL_MEDIAN,
    COL_P90,
    COL_P99,
    COL_LONGEST,
    COL_OCCUPANCY,
    COL_GATHER,
    COL_FOOTPRINT,
    COL_FEAT,
    COL_DEPTH,
    COL_INDEX,
    COL_OUT,
    COL_MAP,
    COL_NON_FINITE,
    COL_COUNT
};

static const ReportColumn columns[COL_COUNT] = {
    [COL_SCENE] = {"scene", "scene", 0},
    [COL_DTYPE] = {"dtype", "dtype", 0},
    [COL_ALIGN] = {"align", "align", 0},
    [COL_CAMERAS] = {"cameras", "cameras", 0},
    [COL_DEPTHS] = {"depth_bins", "depth bins", 0},
    [COL_H] = {"feat_h", "h", 0},
    [COL_W] = {"feat_w", "w", 0},
    [COL_CHANNELS] = {"channels", "C", 0},
    [COL_NX] = {"nx", "nx", 0},
    [COL_NY] = {"ny", "ny", 0},
    [COL_POINTS] = {"points", "points", 0},
    [COL_INTERVALS] = {"intervals", "intervals", 0},
    [COL_MEDIAN] = {"length_median", "length: median", 0},
    [COL_P90] = {"length_p90", "p90", 0},
    [COL_P99] = {"length_p99", "p99", 0},
    [COL_LONGEST] = {"length_longest", "longest", 0},
    [COL_OCCUPANCY] = {"occupied_share", "occupied", 3},
    [COL_GATHER] = {"gather_traffic_mb", "gather traffic MB", 4},
    [COL_FOOTPRINT] = {"footprint_mb", "footprint MB", 4},
    [COL_FEAT] = {"footprint_feat_mb", "features MB", 3},
    [COL_DEPTH] = {"footprint_depth_mb", "depth MB", 3},
    [COL_INDEX] = {"footprint_index_mb", "indices MB", 3},
    [COL_OUT] = {"footprint_out_mb", "output MB", 3},
    [COL_MAP] = {"map_us", "map us", 3},
    [COL_NON_FINITE] = {"non_finite_values", "NaN, Inf", 0},
};

static void add_scene(Report *report, const char *name, const Workload *workload,
                      const BevProblem *problem) {
    const BevShape *shape = &problem->shape;
    ScatterStats stats = scatter_stats(&problem->map, shape->nx * shape->ny);
    BevFootprint footprint = bev_footprint(problem);
    BevTraffic gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    double map_us = workload->map_us[problem->align];
    report_add(report,
               (Cell[COL_COUNT]){
                   [COL_SCENE] = cell_text(name),
                   [COL_DTYPE] = cell_text(bev_dtypes[problem->dtype].name),
                   [COL_ALIGN] = cell_text(bev_aligns[problem->align].name),
                   [COL_CAMERAS] = cell_int(shape->cameras),
                   [COL_DEPTHS] = cell_int(shape->depth_bins),
                   [COL_H] = cell_int(shape->feat_h),
                   [COL_W] = cell_int(shape->feat_w),
                   [COL_CHANNELS] = cell_int(shape->channels),
                   [COL_NX] = cell_int(shape->nx),
                   [COL_NY] = cell_int(shape->ny),
                   [COL_POINTS] = cell_int(stats.points),
                   [COL_INTERVALS] = cell_int(stats.intervals),
                   [COL_MEDIAN] = cell_int(stats.median),
                   [COL_P90] = cell_int(stats.p90),
                   [COL_P99] = cell_int(stats.p99),
                   [COL_LONGEST] = cell_int(stats.longest),
                   [COL_OCCUPANCY] = cell_real((double)stats.intervals / (double)stats.cells),
                   [COL_GATHER] = cell_real(bev_traffic_total(gather) * 1e-6),
                   [COL_FOOTPRINT] = cell_real(bev_footprint_total(footprint) * 1e-6),
                   [COL_FEAT] = cell_real(footprint.feat * 1e-6),
                   [COL_DEPTH] = cell_real(footprint.depth * 1e-6),
                   [COL_INDEX] = cell_real((footprint.index + footprint.weight) * 1e-6),
                   [COL_OUT] = cell_real(footprint.out * 1e-6),
                   [COL_MAP] = map_us > 0 ? cell_real(map_us) : cell_none(),
                   [COL_NON_FINITE] = cell_int(workload->scene.non_finite),
               });
}

static bool describe_scene(const Options *options, const char *name, Report *report, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    unsigned dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP16);
    unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    Workload workload;
    if (!workload_open(&workload, name, &workload_options, err))
        return false;
    bool ok = true;
    for (int align = 0; ok && align < BEV_ALIGN_COUNT; align++)
        for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
            if (!(aligns & 1u << align) || !(dtypes & 1u << dtype))
                continue;
            HostProblem problem = {0};
            ok = workload_problem(&workload, (BevDtype)dtype, (BevAlign)align, &problem, err);
            if (ok)
                add_scene(report, name, &workload, &problem.view);
            problem_free(&problem);
        }
    workload_close(&workload);
    return ok;
}

/* One scene reads better as a list of facts than as a table of twenty columns. */
static void print_facts(const Report *report, FILE *out) {
    for (int row = 0; row < report->row_count; row++)
        for (int column = 0; column < report->column_count; column++) {
            char text[256];
            report_cell(report, row, column, text, sizeof text);
            fprintf(out, "%s%-20s %s\n", row && !column ? "\n" : "",
                    report->columns[column].heading, text);
        }
}

static bool describe_scenes(const Options *options, Err *err) {
    Report report = {.columns = columns, .column_count = COL_COUNT};
    bool ok = true;
    for (int i = 0; ok && i < options->argument_count; i++)
        ok = describe_scene(options, options->arguments[i], &report, err);
    Output output;
    if (ok && choices_find(CHOICE_FORMAT, options->format) == 0) {
        ok = output_open(&output, err);
        if (ok) {
            print_facts(&report, output.stream);
            ok = output_close(&output, options->output, err);
        }
    } else if (ok)
        ok = output_report(options, &report, json_object(), err);
    report_free(&report);
    return ok;
}

/* ---- this machine ---------------------------------------------------------------------------- */

enum { VAR_NAME, VAR_TITLE, VAR_WHERE, VAR_DTYPES, VAR_SAME, VAR_IDEA, VAR_COUNT };

static const ReportColumn kernel_columns[VAR_COUNT] = {
    [VAR_NAME] = {"kernel", "kernel", 0},
    [VAR_TITLE] = {"title", "title", 0},
    [VAR_WHERE] = {"where", "where", 0},
    [VAR_DTYPES] = {"dtypes", "formats", 0},
    [VAR_SAME] = {"deterministic", "same bits", 0},
    [VAR_IDEA] = {"idea", "idea", 0},
};

static const char *dtype_names(unsigned mask, char *text, size_t size) {
    size_t n = 0;
    for (int i = 0; i < BEV_DTYPE_COUNT && n < size; i++)
        if (mask & 1u << i)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "", bev_dtypes[i].name);
    return text;
}

static void print_machine(const Machine *machine, FILE *out) {
    fprintf(out, "bevscope   %s\nbuilt with %s\nsystem     %s\n", machine->version,
            machine->compiler, machine->system);
    fprintf(out, "CPU        %s, %d cores, %d threads\n", machine->cpu, machine->cores,
            machine->threads);
    if (machine->l2_bytes > 0 && machine->l3_bytes > 0)
        fprintf(out, "caches     L2 %.3g MB, L3 %.3g MB\n", (double)machine->l2_bytes * 1e-6,
                (double)machine->l3_bytes * 1e-6);
    if (machine->gpu[0])
        fprintf(out, "GPU        %s, driver %s, CUDA %s\n", machine->gpu, machine->driver,
                machine->cuda);
    fputc('\n', out);
}

static bool describe_machine(const Options *options, Err *err) {
    enum { VARIANTS_MAX = 64 };
    char names[VARIANTS_MAX][64];
    Report report = {.columns = kernel_columns, .column_count = VAR_COUNT};
    for (int i = 0; bev_kernels[i] && i < VARIANTS_MAX; i++) {
        const BevKernel *kernel = bev_kernels[i];
        report_add(&report, (Cell[VAR_COUNT]){
                                [VAR_NAME] = cell_text(kernel->name),
                                [VAR_TITLE] = cell_text(kernel->title),
                                [VAR_WHERE] = cell_text(where_names[kernel->where]),
                                [VAR_DTYPES] = cell_text(
                                    dtype_names(kernel->dtypes, names[i], sizeof names[i])),
                                [VAR_SAME] = cell_bool(kernel->deterministic),
                                [VAR_IDEA] = cell_text(kernel->idea),
                            });
    }
    Machine machine;
    machine_read(&machine);
    if (choices_find(CHOICE_FORMAT, options->format) == 0)
        print_machine(&machine, stdout);
    bool ok = output_report(options, &report,
                            json_pack("{so}", "machine", output_machine(&machine)), err);
    report_free(&report);
    return ok;
}

bool cmd_info(const Options *options, Err *err) {
    unsigned where;
    if (!select_devices(options->device, &where, err))
        return false;
    if (options->kernels)
        return info_kernels(options, err);
    if (options->probe)
        return info_probe(options, err);
    return options->argument_count ? describe_scenes(options, err) : describe_machine(options, err);
}
