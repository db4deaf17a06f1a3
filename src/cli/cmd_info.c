/* SPDX-License-Identifier: MIT */
/* bevscope info: describes scenes, or this machine and its kernels. --probe shows the limits of a
 * GPU. --kernels shows the registers, memory and occupancy of each CUDA kernel. */
#include "config.h"
#include "src/accuracy/fp64.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <math.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"
#endif

typedef struct {
    Report report, cameras, images, faults;
    Report objects, bands; /* of --objects */
    const char *scene;
} Facts;

/* Adds where each camera looks, which reveals another frame of coordinates and inverted poses. */
static void add_cameras(Facts *facts, const Scene *scene) {
    Report *report = &facts->cameras;
    const int count = scene->has_rig ? scene->rig.camera_count : 0;
    for (int i = 0; i < count; i++) {
        const Camera *camera = &scene->rig.cameras[i];
        const CameraView view = camera_view(camera, &scene->rig.frustum);
        report_row(report);
        add_text(report, "scene", NULL, facts->scene);
        add_text(report, "camera", "camera", camera->name);
        add_real(report, "heading_deg", "heading deg", 4, view.heading_deg);
        add_real(report, "height_m", "height m", 3, camera->position_m[2]);
        add_real(report, "tilt_deg", "tilt deg", 3, view.tilt_deg);
        add_real(report, "horizon_row", "horizon row", 4, view.horizon_px);
        add_int(report, "rows", "of rows", scene->rig.frustum.input_h);
    }
}

/* Adds the image cut of each camera, if not all cameras have the same cut. */
static void add_image_cuts(Facts *facts, const Scene *scene) {
    Report *report = &facts->images;
    const int count = rig_has_one_cut(&scene->rig) ? 0 : scene->rig.camera_count;
    for (int i = 0; i < count; i++) {
        const ImageCut *cut = &scene->rig.cameras[i].cut;
        report_row(report);
        add_text(report, "scene", NULL, facts->scene);
        add_text(report, "camera", "camera", scene->rig.cameras[i].name);
        add_text(report, "image", "own image",
                 short_text("%d x %d", cut->image_w, cut->image_h).text);
        add_real(report, "resize_x", "resize x", 4, cut->resize_x);
        add_real(report, "resize_y", "y", 4, cut->resize_y);
        add_real(report, "crop_x", "crop x", 4, cut->crop_x);
        add_real(report, "crop_y", "y", 4, cut->crop_y);
    }
}

/* Adds the meaning of an operator, the photographs, boxes and LiDAR of a car, an unusual rounding,
 * and whether arrays and calibration agree. */
static void add_origin(Report *report, const Scene *scene) {
    const MapAgreement *agreement = &scene->agreement;
    const Photos *photos = &scene->photos;
    const ShortText images = short_text("%lld of %lld x %lld", (long long)photos->cameras,
                                        (long long)photos->w, (long long)photos->h);
    const ShortText agree = short_text(
        agreement->edges ? "%lld of %lld points, %lld by FP32 rounding at a cell's edge"
                         : "%lld of %lld points",
        (long long)agreement->same, (long long)agreement->points, (long long)agreement->edges);
    add_text(report, "operator", NULL,
             scene->has_operator ? operator_describe(&scene->operator_spec).text : NULL);
    add_text(report, "photographs", NULL, photos->cameras ? images.text : NULL);
    report->unknown = !photos->box_count;
    add_int(report, "boxes", NULL, photos->box_count);
    report->unknown = !photos->sweep_count;
    add_int(report, "lidar", NULL, photos->sweep_count);
    report->unknown = false;
    add_text(report, "rounding", NULL,
             scene->has_rig && scene->rig.grid.truncate ? "truncate" : NULL);
    add_text(report, "arrays_agree", NULL, agreement->points ? agree.text : NULL);
}

/* Adds the intervals of the map, and the points that it leaves out. Points outside of the grid are
 * unknown for operators, which have no frustum, and for pruned maps. */
static void add_map(Report *report, const Scene *scene, const BevProblem *problem,
                    const BuiltMap *built, double prune_change) {
    const ScatterStats stats = built->intervals.stats;
    const Pruned *pruned = &built->intervals.pruned;
    bool known = !scene->has_operator && !pruned->points;
    double outside = known ? scatter_share_outside(&problem->map, &problem->shape) : NAN;
    add_int(report, "points", "points", stats.points);
    add_int(report, "intervals", "intervals", stats.intervals);
    add_int(report, "length_median", "length: median", stats.median);
    add_int(report, "length_p90", "p90", stats.p90);
    add_int(report, "length_p99", "p99", stats.p99);
    add_int(report, "length_longest", "longest", stats.longest);
    add_real(report, "occupied_share", "occupied", 3,
             (double)stats.intervals / (double)stats.cells);
    add_real(report, "frustum_outside_percent", known ? "outside the grid, %" : NULL, 3,
             100 * outside);
    report->unknown = !pruned->points;
    add_text(
        report, "points_kept", NULL,
        short_text("%lld of %lld", (long long)pruned->points_kept, (long long)pruned->points).text);
    add_real(report, "mass_kept", NULL, 6, kept_share(pruned->mass_kept, pruned->mass));
    add_real(report, "prune_change", pruned->points ? "outputs change by" : NULL, 2, prune_change);
    report->unknown = false;
}

static void add_scene_facts(Facts *facts, const Workload *workload, const BevProblem *problem) {
    Report *report = &facts->report;
    const BevShape *shape = &problem->shape;
    const Slice whole = slice_of(shape, SLICE_MAX);
    const Clip *clip = workload->loaded->scene.clip;
    BevFootprint footprint = bev_footprint(problem);
    BevTraffic gather = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    const BuiltMap *built = workload->maps[problem->align];
    select_say_if_empty(facts->scene, problem->align, problem->map.points,
                        &built->intervals.pruned);
    report_row(report);
    add_text(report, "scene", "scene", facts->scene);
    report->unknown = !clip;
    add_int(report, "moments", NULL, clip ? clip->count : 0);
    add_real(report, "moment_s", NULL, 3, clip ? clip->period_s : 0);
    add_text(report, "untimed", NULL, clip ? clip->untimed : NULL);
    report->unknown = false;
    add_text(report, "dtype", "dtype", bev_dtypes[problem->dtype].name);
    add_text(report, "align", "align", bev_aligns[problem->align].name);
    add_origin(report, workload->scene);
    add_int(report, "cameras", "cameras", shape->cameras);
    add_int(report, "depth_bins", "depth bins", shape->depth_bins);
    add_int(report, "feat_h", "h", shape->feat_h);
    add_int(report, "feat_w", "w", shape->feat_w);
    add_int(report, "channels", "C", shape->channels);
    add_int(report, "nx", "nx", shape->nx);
    add_int(report, "ny", "ny", whole.rows);
    add_int(report, "nz", "nz", whole.slices);
    add_map(report, workload->scene, problem, built, fp64_prune_change(built, workload->seen));
    add_mb(report, "gather_traffic_mb", "gather traffic MB", 4, bev_traffic_total(gather));
    add_mb(report, "footprint_mb", "footprint MB", 4, bev_footprint_total(footprint));
    add_mb(report, "footprint_feat_mb", "features MB", 3, footprint.feat);
    add_mb(report, "footprint_depth_mb", "depth MB", 3, footprint.depth);
    add_mb(report, "footprint_index_mb", "indices MB", 3, footprint.index + footprint.weight);
    add_mb(report, "footprint_out_mb", "output MB", 3, footprint.out);
    add_real(report, "map_us", "map us", 3, built->took_us > 0 ? built->took_us : NAN);
    add_int(report, "non_finite_values", "NaN, Inf", workload->scene->non_finite);
}

/* Prints a list of facts. A fact without a heading is left out if its value is unknown. */
static void print_facts(const Report *report, FILE *out) {
    for (int row = 0; row < report->row_count; row++)
        for (int column = 0; column < report->column_count; column++) {
            char text[256];
            const ReportColumn *shown = &report->columns[column];
            const json_t *cell = json_object_get(report_at(report, row), shown->key);
            if (!shown->heading && json_is_null(cell))
                continue;
            report_cell(report, row, column, text, sizeof text);
            if (row > 0 && column == 0)
                fputc('\n', out); /* a blank line between two rows */
            fprintf(out, "%-20s %s\n", shown->heading ? shown->heading : shown->key, text);
        }
}

static bool describe_scene(const Options *options, Workload *workload, Facts *facts, Err *err) {
    KernelConfig formats[MAX_FORMATS];
    const int count = select_formats(options, formats);
    add_cameras(facts, workload->scene);
    add_image_cuts(facts, workload->scene);
    bool ok = select_use_fault(options, workload, err);
    for (int i = 0; ok && i < count; i++) {
        HostProblem problem = {0};
        ok = workload_problem(workload, formats[i].dtype, formats[i].align, &problem, err);
        if (ok)
            add_scene_facts(facts, workload, &problem.view);
        problem_free(&problem);
    }
    return ok;
}

static bool describe_scenes(const Options *options, Err *err) {
    Facts facts = {.objects = {.names_to = "object"},
                   .bands = {.names_to = "range"},
                   .faults = {.names_to = options->objects ? "range_m" : NULL}};
    for (int i = 0; i < options->argument_count; i++) {
        static Workload workload;
        facts.scene = options->arguments[i];
        if (!select_open(&workload, facts.scene, options, err))
            return false;
        if (options->objects &&
            !objects_describe(options, &workload, facts.scene, &facts.objects, &facts.bands, err))
            return false;
        if (!options->objects && !describe_scene(options, &workload, &facts, err))
            return false;
        fault_table_add(&workload, facts.scene, &facts.faults);
        workload_close(&workload);
    }
    /* Text has a list of facts, because a table would be too wide. NULL: the table of --format. */
    ReportPrinter *list = output_printer(options) == report_text ? print_facts : NULL;
    const OutputTable info[] = {{.report = &facts.report, .print = list},
                                {.above = "\n", .report = &facts.cameras, .key = "cameras"},
                                {.above = "\n", .report = &facts.images, .key = "images"},
                                {.above = "\n", .report = &facts.faults, .key = "fault_by_range"}};
    const OutputTable objects[] = {
        {.report = &facts.objects},
        {.above = "\n", .report = &facts.bands, .key = "by_range"},
        {.above = "\n", .report = &facts.faults, .key = "fault_by_range"}};
    return options->objects ? output_tables(options, objects, 3, json_object(), err)
                            : output_tables(options, info, 4, json_object(), err);
}

/* ---- this machine ---------------------------------------------------------------------------- */

static void print_machine(const Machine *machine, FILE *out) {
    fprintf(out, "bevscope   %s\nbuilt with %s\nsystem     %s\n", machine->version,
            machine->compiler, machine->system);
    fprintf(out, "CPU        %s, %d cores, %d threads\n", machine->cpu, machine->cores,
            machine->threads);
    if (machine->l2_bytes > 0 && machine->l3_bytes > 0)
        fprintf(out, "caches     L2 %.3g MiB, L3 %.3g MiB\n", (double)machine->l2_bytes / (1 << 20),
                (double)machine->l3_bytes / (1 << 20));
    if (machine->gpu[0])
        fprintf(out, "GPU        %s, driver %s, CUDA %s\n", machine->gpu, machine->driver,
                machine->cuda);
    fputc('\n', out);
}

static bool describe_machine(const Options *options, Err *err) {
    Report report = {.names_to = "kernel"};
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        char names[64] = "";
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            if (kernel->dtypes >> dtype & 1)
                text_add(names, sizeof names, "%s%s", names[0] ? "," : "", bev_dtypes[dtype].name);
        report_row(&report);
        add_text(&report, "kernel", "kernel", kernel->name);
        add_text(&report, "title", "title", kernel->title);
        add_text(&report, "where", "where", where_names[kernel->where]);
        add_text(&report, "direction", "direction", bev_directions[kernel->direction].name);
        add_text(&report, "stage", "stage", bev_stages[kernel->stage].name);
        add_text(&report, "dtypes", "formats", names);
        add_bool(&report, "deterministic", "same bits", kernel->deterministic);
        add_text(&report, "idea", "idea", kernel->idea);
    }
    Machine machine;
    machine_read(&machine);
    if (output_printer(options) == report_text)
        print_machine(&machine, stdout);
    return output_report(options, &report, json_pack("{so}", "machine", output_machine(&machine)),
                         err);
}

/* ---- info --probe --------------------------------------------------------------------------- */

/* Adds the limits of a GPU beside those of its data sheet. `gpu` NULL: there is no data sheet. */
static void add_limits(Report *report, const char *name, const Gpu *gpu, const Limits *limits,
                       const char *source) {
    Limits sheet = gpu ? limits_of_data_sheet(gpu) : limits_unknown();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        report_row(report);
        add_text(report, "gpu", "GPU", name);
        add_text(report, "limit", NULL, limit_infos[i].key);
        add_text(report, "title", "limit", limit_infos[i].title);
        add_real(report, "value", "at best", 4, limits->value[i]);
        add_text(report, "unit", "unit", limit_infos[i].unit);
        add_real(report, "data_sheet", "data sheet", 4, sheet.value[i]);
        add_text(report, "source", "source", source);
        add_text(report, "how", "found out by", limit_infos[i].how);
    }
}

static bool add_recorded_limits(Report *report, Err *err) {
    static RecordedSet set;
    if (!recorded_load_samples(&set, err))
        return false;
    for (int i = 0; i < gpu_count; i++) {
        Limits limits = recorded_limits(&set, &gpus[i]);
        if (limits_any(&limits))
            add_limits(report, gpus[i].title, &gpus[i], &limits, "recorded");
    }
    return report->row_count > 0 ||
           err_set(err, ERR_DEVICE, "info --probe", "", "no GPU here, and none recorded");
}

static bool describe_limits(const Options *options, Err *err) {
    Report report = {.folds = true, .names_to = "title"};
    bool measured = false;
#ifdef HAVE_CUDA
    DeviceInfo info;
    Limits limits;
    measured = device_opened();
    if (measured && (!device_info(&info, err) || !probe_limits(PROBE_ALL, &limits, err)))
        return false;
    if (measured)
        add_limits(&report, info.name, gpu_of_device(info.name), &limits, "measured");
#endif
    return (measured || add_recorded_limits(&report, err)) &&
           output_report(options, &report, json_object(), err);
}

/* ---- info --kernels: the GPU resources of each CUDA kernel ---------------------------------- */

#ifdef HAVE_CUDA
/* Adds a row for each CUDA function that the kernel starts on this problem. */
static bool add_functions(Report *report, const DeviceInfo *device, const BevKernel *kernel,
                          const BevProblem *problem, Err *err) {
    enum { FUNCTIONS_MAX = 16 };
    CudaFunction started[FUNCTIONS_MAX];
    Session *session;
    int count = 0;
    bool ok = session_open(&session, kernel, problem, err) &&
              session_functions(session, started, FUNCTIONS_MAX, &count, err);
    session_close(session);
    for (int k = 0; ok && k < count; k++) {
        const CudaFunction *function = &started[k];
        report_row(report);
        add_text(report, "kernel", "kernel", kernel->name);
        add_text(report, "dtype", "format", bev_dtypes[problem->dtype].name);
        add_text(report, "align", "align", bev_aligns[problem->align].name);
        add_text(report, "cuda_function", "CUDA function", function->name);
        add_int(report, "blocks", "blocks", function->blocks);
        add_int(report, "threads_per_block", "threads", function->threads);
        add_int(report, "registers_per_thread", "registers", function->registers);
        add_int(report, "local_bytes_per_thread", "local bytes", function->local_bytes);
        add_int(report, "shared_bytes_per_block", "shared bytes", function->shared_bytes);
        add_int(report, "resident_blocks_per_multiprocessor", "resident blocks",
                function->resident_blocks);
        add_real(report, "theoretical_occupancy", "occupancy", 3, function->occupancy);
        add_bool(report, "emulated", "emulated", device->emulated[problem->dtype]);
    }
    return ok;
}

static bool describe_functions(const Options *options, Err *err) {
    const char *scene = options->argument_count ? options->arguments[0] : "canonical";
    KernelConfig formats[MAX_FORMATS];
    const int count = select_formats(options, formats);
    static Workload workload;
    Report report = {0};
    DeviceInfo device;
    bool ok = device_info(&device, err) && select_open(&workload, scene, options, err);
    for (int i = 0; ok && i < count; i++) {
        HostProblem problem = {0};
        ok = workload_problem(&workload, formats[i].dtype, formats[i].align, &problem, err);
        for (int k = 0; ok && bev_kernels[k]; k++) {
            const BevKernel *kernel = bev_kernels[k];
            if (kernel->where == BEV_CUDA && !bev_unsupported(kernel, &problem.view))
                ok = add_functions(&report, &device, kernel, &problem.view, err);
        }
        problem_free(&problem);
    }
    return ok && output_report(options, &report, json_object(), err);
}
#else
static bool describe_functions(const Options *options, Err *err) {
    (void)options;
    return err_set(err, ERR_DEVICE, "info --kernels", "configure it --with-cuda",
                   "this build has no CUDA kernels");
}
#endif

bool cmd_info(const Options *options, Err *err) {
    unsigned where;
    if (!select_devices(options->device, &where, err))
        return false;
    if (options->kernels)
        return describe_functions(options, err);
    if (options->objects && !options->argument_count)
        return err_set(err, ERR_USAGE, "info --objects", "name a scene, such as intersection",
                       "objects are those of a scene");
    if (options->probe)
        return describe_limits(options, err);
    return options->argument_count ? describe_scenes(options, err) : describe_machine(options, err);
}
