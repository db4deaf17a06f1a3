/* bevscope info: this machine and its kernels, or what a scene holds. */
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/scene/scatter.h"

/* ---- a scene --------------------------------------------------------------------------------- */

typedef struct {
    Report report;
    const char *scene;
} Facts;

static void add_shape(Report *report, const BevShape *shape) {
    report_add(report, "cameras", "cameras", 0, cell_int(shape->cameras));
    report_add(report, "depth_bins", "depth bins", 0, cell_int(shape->depth_bins));
    report_add(report, "feat_h", "h", 0, cell_int(shape->feat_h));
    report_add(report, "feat_w", "w", 0, cell_int(shape->feat_w));
    report_add(report, "channels", "C", 0, cell_int(shape->channels));
    report_add(report, "nx", "nx", 0, cell_int(shape->nx));
    report_add(report, "ny", "ny", 0, cell_int(shape->ny));
}

static void add_intervals(Report *report, const ScatterStats *stats) {
    double occupied = (double)stats->intervals / (double)stats->cells;
    report_add(report, "points", "points", 0, cell_int(stats->points));
    report_add(report, "intervals", "intervals", 0, cell_int(stats->intervals));
    report_add(report, "length_median", "length: median", 0, cell_int(stats->median));
    report_add(report, "length_p90", "p90", 0, cell_int(stats->p90));
    report_add(report, "length_p99", "p99", 0, cell_int(stats->p99));
    report_add(report, "length_longest", "longest", 0, cell_int(stats->longest));
    report_add(report, "occupied_share", "occupied", 3, cell_real(occupied));
}

static void add_bytes(Report *report, const char *key, const char *heading, int digits,
                      double bytes) {
    report_add(report, key, heading, digits, cell_real(bytes * 1e-6));
}

static bool add_problem(const Workload *workload, const BevProblem *problem, void *context,
                        Err *err) {
    Facts *facts = context;
    Report *report = &facts->report;
    ScatterStats stats = scatter_stats(&problem->map, problem->shape.nx * problem->shape.ny);
    BevFootprint footprint = bev_footprint(problem);
    BevTraffic gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    double map_us = workload->map_us[problem->align];
    (void)err;
    report_row(report);
    report_add(report, "scene", "scene", 0, cell_text(facts->scene));
    report_add(report, "dtype", "dtype", 0, cell_text(bev_dtypes[problem->dtype].name));
    report_add(report, "align", "align", 0, cell_text(bev_aligns[problem->align].name));
    add_shape(report, &problem->shape);
    add_intervals(report, &stats);
    add_bytes(report, "gather_traffic_mb", "gather traffic MB", 4, bev_traffic_total(gather));
    add_bytes(report, "footprint_mb", "footprint MB", 4, bev_footprint_total(footprint));
    add_bytes(report, "footprint_feat_mb", "features MB", 3, footprint.feat);
    add_bytes(report, "footprint_depth_mb", "depth MB", 3, footprint.depth);
    add_bytes(report, "footprint_index_mb", "indices MB", 3, footprint.index + footprint.weight);
    add_bytes(report, "footprint_out_mb", "output MB", 3, footprint.out);
    report_add(report, "map_us", "map us", 3, cell_if(map_us > 0, cell_real(map_us)));
    report_add(report, "non_finite_values", "NaN, Inf", 0, cell_int(workload->scene.non_finite));
    return true;
}

static bool describe_scene(const Options *options, Facts *facts, Err *err) {
    WorkloadOptions workload_options = select_workload(options);
    Workload workload;
    if (!workload_open(&workload, facts->scene, &workload_options, err))
        return false;
    bool ok = select_problems(options, &workload, add_problem, facts, err);
    workload_close(&workload);
    return ok;
}

/* For people, a list of facts: a table of twenty-five columns would be too wide. */
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
    Facts facts = {0};
    Output output;
    bool ok = true;
    for (int i = 0; ok && i < options->argument_count; i++) {
        facts.scene = options->arguments[i];
        ok = describe_scene(options, &facts, err);
    }
    if (ok && output_printer(options) != report_text)
        ok = output_report(options, &facts.report, json_object(), err);
    else if (ok && (ok = output_open(&output, err))) {
        print_facts(&facts.report, output.stream);
        ok = output_close(&output, options->output, err);
    }
    report_free(&facts.report);
    return ok;
}

/* ---- this machine ---------------------------------------------------------------------------- */

static void dtype_names(unsigned mask, char *text, size_t size) {
    size_t n = 0;
    for (int i = 0; i < BEV_DTYPE_COUNT && n < size; i++)
        if (mask & 1u << i)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "", bev_dtypes[i].name);
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
    Report report = {0};
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        char names[64];
        dtype_names(kernel->dtypes, names, sizeof names);
        report_row(&report);
        report_add(&report, "kernel", "kernel", 0, cell_text(kernel->name));
        report_add(&report, "title", "title", 0, cell_text(kernel->title));
        report_add(&report, "where", "where", 0, cell_text(where_names[kernel->where]));
        report_add(&report, "dtypes", "formats", 0, cell_text(names));
        report_add(&report, "deterministic", "same bits", 0, cell_bool(kernel->deterministic));
        report_add(&report, "idea", "idea", 0, cell_text(kernel->idea));
    }
    Machine machine;
    machine_read(&machine);
    if (output_printer(options) == report_text)
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
