/* bevscope snapshot: one scene, pooled and drawn as a figure. */
#include "src/accuracy/fp64.h"
#include "src/accuracy/verify.h"
#include "src/base/data.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/cli/snapshot_backward.h"
#include "src/state/rgb.h"

#include <math.h>
#include <string.h>

/* Everything that a figure borrows while it is drawn. */
typedef struct {
    const Options *options;
    const char *scene;
    unsigned where;
    Machine machine;
    RecordedSet recorded;
    LatencyWanted latency;
    Workload workload, other; /* `other`: of a second scene, where two are compared */
    bool has_other;
    CameraViews cameras; /* owned where they are rendered */
    Photos photos;       /* of the moment, borrowed */
    float *sweep_m;      /* the sweep of a world, owned; or NULL */
    Rig rig;             /* with the fault of a camera */
    char title[160];
    Pooled pooled[FIGURE_MAX_SELECTIONS];
    double *fp64_original[FIGURE_MAX_SELECTIONS];
    char devices[FIGURE_MAX_SELECTIONS][160];
    char formats[FIGURE_MAX_SELECTIONS][96]; /* with the scales */
    Report table;
    char (*table_text)[48];
    const char **table_cells;
    FigureTable figure_table;
    SnapshotBackward backward;
    GradOutFile grad_out; /* of --grad-out */
    FigureSpec spec;
} Snapshot;

static void snapshot_free(Snapshot *snapshot) {
    for (int i = 0; i < FIGURE_MAX_SELECTIONS; i++) {
        pooled_free(&snapshot->pooled[i]);
        free(snapshot->fp64_original[i]);
    }
    snapshot_backward_free(&snapshot->backward);
    grad_out_free(&snapshot->grad_out);
    camera_views_free(&snapshot->cameras);
    workload_close(&snapshot->workload);
    if (snapshot->has_other)
        workload_close(&snapshot->other);
    recorded_free(&snapshot->recorded);
    report_free(&snapshot->table);
    free(snapshot->sweep_m);
    free(snapshot->table_text);
    free(snapshot->table_cells);
}

/* ---- what to show ---------------------------------------------------------------------------- */

static bool parse_range(const char *text, FigureSpec *spec, Err *err) {
    int used = 0;
    bool ok = sscanf(text, "%lf:%lf%n", &spec->range_lo, &spec->range_hi, &used) == 2 &&
              !text[used] && isfinite(spec->range_lo) && isfinite(spec->range_hi) &&
              spec->range_lo < spec->range_hi;
    spec->range_locked = true;
    return ok || err_set(err, ERR_USAGE, "--range", "such as 0:2.5", "'%s' is not LOW:HIGH", text);
}

/* The channels of the view rgb, which --rgb also chooses. */
static bool choose_rgb(const Options *options, FigureSpec *spec, Err *err) {
    spec->rgb = rgb_from(0, spec->channels);
    if (!options->rgb)
        return true;
    if (!options->view)
        spec->view = VIEW_RGB;
    if (!rgb_parse(options->rgb, &spec->rgb))
        return err_set(err, ERR_USAGE, "--rgb", "such as 0,1,2 or 0:0:1,1:0:1,2:0:1",
                       "'%s' is not three channels", options->rgb);
    for (int k = 0; k < 3; k++)
        if (spec->rgb.channel[k] >= spec->channels)
            return err_set(err, ERR_USAGE, "--rgb", "", "%lld is not below the %lld channels",
                           (long long)spec->rgb.channel[k], (long long)spec->channels);
    return true;
}

/* By default the best kernel that runs here, in FP16, the format that is deployed. */
static bool first_selection(const Snapshot *snapshot, KernelConfig *config, Err *err) {
    const Options *options = snapshot->options;
    if (!select_single(options, "a picture shows one", "use --compare for a second one", err))
        return false;
    *config = (KernelConfig){select_best(snapshot->where), BEV_FP16, BEV_NEAREST};
    if (options->backward)
        config->kernel = snapshot_backward_kernels(options, snapshot->where, NULL, err);
    else if (options->kernel)
        config->kernel = select_kernel(options->kernel, snapshot->where, err);
    if (options->dtype)
        config->dtype = (BevDtype)choices_find(CHOICE_DTYPE, options->dtype);
    if (options->align)
        config->align = (BevAlign)choices_find(CHOICE_ALIGN, options->align);
    else if (!workload_has_align(&snapshot->workload, BEV_NEAREST))
        config->align = BEV_BILINEAR;
    return config->kernel != NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

static FigureSource source_of(const Snapshot *snapshot, double latency_us) {
    return latency_us <= 0                         ? SOURCE_UNKNOWN
           : snapshot->latency == LATENCY_RECORDED ? SOURCE_RECORDED
                                                   : SOURCE_MEASURED;
}

static bool pool(Snapshot *snapshot, Workload *workload, const char *scene, KernelConfig config,
                 Err *err) {
    FigureSpec *spec = &snapshot->spec;
    int i = spec->selection_count++;
    Pooled *pooled = &snapshot->pooled[i];
    LatencyWanted latency = snapshot->options->backward ? LATENCY_OFF : snapshot->latency;
    if (!pooled_run(pooled, workload, scene, config, latency,
                    &snapshot->recorded, err))
        return false;
    select_say_if_empty(scene, config.align, pooled->problem.view.map.points,
                        &workload->maps[config.align]->intervals.pruned);
    if (views[spec->view].needs & NEEDS_FP64 &&
        !(snapshot->fp64_original[i] = fp64_of(&pooled->problem, err)))
        return false;
    const Machine *machine = &snapshot->machine;
    if (config.kernel->where == BEV_CPU)
        snprintf(snapshot->devices[i], sizeof snapshot->devices[i], "CPU, %d threads",
                 machine->threads);
    else
        snprintf(snapshot->devices[i], sizeof snapshot->devices[i], "%s", machine->gpu);
    ranges_format(workload->features->scales, config.dtype, snapshot->formats[i],
                  sizeof snapshot->formats[i]);
    spec->selections[i] = (FigureSelection){
        .kernel = config.kernel->title,
        .dtype = snapshot->formats[i],
        .align = bev_aligns[config.align].title,
        .device = snapshot->devices[i],
        .latency_us = pooled->latency_us,
        .latency_source = source_of(snapshot, pooled->latency_us),
        .recorded_on = pooled->recorded_on,
        .pooled = pooled->values,
        .fp64_original = snapshot->fp64_original[i],
        .map = &pooled->problem.view.map,
        .depth = workload->features->depth,
    };
    return true;
}

static bool choose_slice(const Options *options, const BevShape *shape, FigureSpec *spec,
                         Err *err) {
    Slice whole = slice_of(shape, SLICE_MAX);
    int slice = SLICE_MAX;
    bool known = !options->slice || slice_parse(options->slice, whole.slices, &slice);
    if (options->slice && whole.slices == 1 && (!known || slice != 0))
        return err_set(err, ERR_USAGE, "--slice", "leave it out",
                       "'%s': this grid is flat, nz is 1", options->slice);
    if (!known)
        return err_set(err, ERR_USAGE, "--slice", "max, side or a number",
                       "'%s' is no slice: 0 to %lld", options->slice, (long long)whole.slices - 1);
    spec->slice = slice_of(shape, slice);
    spec->nx = spec->slice.nx;
    spec->ny = spec->slice.ny;
    return true;
}

/* What the cameras saw: photographs or rendered views of the world; backward at least black
 * pictures. */
static bool fill_cameras(Snapshot *snapshot, Err *err) {
    enum { STRIP_PIXELS_PER_FEATURE = 12 };
    const Options *options = snapshot->options;
    const Scene *scene = snapshot->workload.scene;
    const BevShape *shape = &snapshot->workload.seen->shape;
    FigureSpec *spec = &snapshot->spec;
    spec->cameras = &snapshot->cameras;
    if (options->strip && options->backward)
        return err_set(err, ERR_USAGE, "--strip", "leave it out",
                       "the way back lights the camera views itself");
    if (spec->strip != STRIP_IMAGE && !scene->has_rig)
        return err_set(err, ERR_USAGE, "--strip", "export the scene with its calibration",
                       "this scene came without its cameras");
    const Rig right = workload_right_rig(&snapshot->workload);
    snapshot->cameras = camera_views_of_photos(&snapshot->photos);
    if (snapshot->cameras.srgb)
        return true;
    if (scene->has_world)
        return camera_views_render(&right, &scene->world,
                                   shape->feat_h * STRIP_PIXELS_PER_FEATURE,
                                   shape->feat_w * STRIP_PIXELS_PER_FEATURE, spec->time_s, NULL,
                                   &snapshot->cameras, err);
    if (options->backward || spec->strip != STRIP_IMAGE)
        return snapshot_backward_views(shape, &snapshot->cameras, err);
    if (scene->has_operator)
        return err_set(err, ERR_USAGE, "--cameras", "leave it out",
                       "this scene is an operator: it has no cameras");
    return err_set(err, ERR_USAGE, "--cameras", "leave it out, or add the array images",
                   "tensors from a file have no camera pictures");
}

/* The sweep of the moment: the file's, or that of a car in the world. */
static bool fill_lidar(Snapshot *snapshot, Err *err) {
    const Scene *scene = snapshot->workload.scene;
    Photos *photos = &snapshot->photos;
    FigureSpec *spec = &snapshot->spec;
    spec->lidar = snapshot->options->lidar;
    if (!spec->lidar && !(spec->truth & TRUTH_LIDAR))
        return true;
    if (scene->has_world && !photos->sweep_count) {
        if (!photos_world_sweep(&scene->world, spec->time_s, photos, err))
            return false;
        snapshot->sweep_m = photos->sweep_m;
    }
    if (!spec->lidar)
        return true;
    if (snapshot->options->backward)
        return err_set(err, ERR_USAGE, "--lidar", "leave it out",
                       "the way back lights the camera views itself");
    return (scene->has_rig && photos->sweep_count) ||
           err_set(err, ERR_USAGE, "--lidar", "choose a world, or a file with the array lidar",
                   scene->has_rig ? "this scene came without a LiDAR"
                                  : "this scene came without its cameras");
}

static bool fill_scene(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const Scene *scene = snapshot->workload.scene;
    FigureSpec *spec = &snapshot->spec;
    const SeenFeatures *seen = snapshot->workload.seen;
    workload_title(&snapshot->workload, snapshot->title, sizeof snapshot->title);
    spec->title = options->title ? options->title : snapshot->title;
    if (!choose_slice(options, &seen->shape, spec, err))
        return false;
    spec->channels = seen->shape.channels;
    spec->channel = options->channel;
    spec->time_s = options->time_s;
    spec->outlines = !options->no_outlines;
    spec->theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme);
    spec->colormap = options->colormap ? colormap_find(options->colormap) : NULL;
    spec->no_fill = options->no_fill;
    snapshot->photos = workload_photos(&snapshot->workload);
    spec->photos = &snapshot->photos;
    spec->truth = (unsigned)choices_or(CHOICE_TRUTH, options->truth, TRUTH_BOXES);
    spec->strip = (Strip)choices_or(CHOICE_STRIP, options->strip, STRIP_IMAGE);
    spec->features = snapshot->workload.features;
    snapshot->rig = workload_rig(&snapshot->workload);
    spec->rig = scene->has_rig ? &snapshot->rig : NULL;
    spec->world = scene->has_world ? &scene->world : NULL;
    if (seen->embedding.channels >= EMBED_DIMS)
        spec->embedding = &seen->embedding;
    spec->light = inputs_of_photos(seen);
    /* The features of a world can be decoded into colour; those of a network only have a norm. */
    spec->view = spec->embedding        ? VIEW_COLOR
                 : spec->light           ? VIEW_RGB
                                         : VIEW_NORM;
    if (options->view)
        spec->view = (ViewKind)choices_find(CHOICE_VIEW, options->view);
    if (!choose_rgb(options, spec, err))
        return false;
    if (options->channel >= spec->channels)
        return err_set(err, ERR_USAGE, "--channel", "", "%lld is not below the %lld channels",
                       (long long)options->channel, (long long)spec->channels);
    if (options->range && !parse_range(options->range, spec, err))
        return false;
    if (!fill_lidar(snapshot, err))
        return false;
    return !(options->cameras || options->strip || options->backward || options->lidar) ||
           fill_cameras(snapshot, err);
}

/* ---- a second selection, or a second scene --------------------------------------------------- */

static bool compare_scenes(Snapshot *snapshot, KernelConfig config, Err *err) {
    const char *name = snapshot->options->compare;
    Job options = select_job(snapshot->options);
    FigureSpec *spec = &snapshot->spec;
    if (!select_open(&snapshot->other, name, &options, err))
        return false;
    snapshot->has_other = true;
    const Scene *scene = snapshot->workload.scene;
    if (!scene_check_same_grid(&snapshot->workload.seen->shape, scene->name,
                               &snapshot->other.seen->shape, name, err) ||
        !select_use_fault(snapshot->options, &snapshot->other, err) ||
        !pool(snapshot, &snapshot->other, name, config, err))
        return false;
    spec->selections[0].scene = snapshot->workload.scene->name;
    spec->selections[1].scene = snapshot->other.scene->name;
    return true;
}

static bool compare(Snapshot *snapshot, KernelConfig config, Err *err) {
    const char *with = snapshot->options->compare;
    if (select_is_scene(with))
        return compare_scenes(snapshot, config, err);
    return select_changed(with, snapshot->where, &config, err) &&
           pool(snapshot, &snapshot->workload, snapshot->scene, config, err);
}

/* ---- the table beside the picture ------------------------------------------------------------ */

typedef struct {
    const BevKernel *kernel;
    double latency_us;
    bool unsettled;
    FormatError error;
    GateVerdict gate;
} TableRow;

/* Runs every kernel on the picture's problem and checks its output. Latencies are of the same
 * source as the caption's. Returns the number of rows, -1 on failure. */
static int gate_all(Snapshot *snapshot, const double *fp64_original, TableRow *rows, int limit,
                    Err *err) {
    KernelConfig config = snapshot->pooled[0].config;
    const BevProblem *problem = &snapshot->pooled[0].problem.view;
    size_t elements = (size_t)(problem->out.rows * problem->out.row_len);
    double *reference = malloc(elements * sizeof *reference);
    double *abs_sum = malloc(elements * sizeof *abs_sum);
    int32_t *points = gate_terms(problem, err);
    int count = 0;
    bool ok = points &&
              ((reference && abs_sum) || err_set(err, ERR_FAILED, "table", "", "out of memory"));
    if (ok)
        bev_reference(problem, reference, abs_sum);
    for (int i = 0; ok && bev_kernels[i] && count < limit; i++) {
        config.kernel = bev_kernels[i];
        if (!(snapshot->where & 1u << bev_kernels[i]->where) ||
            bev_unsupported(bev_kernels[i], problem))
            continue;
        Pooled pooled;
        ok = pooled_run(&pooled, &snapshot->workload, snapshot->scene, config, snapshot->latency,
                        &snapshot->recorded, err);
        if (ok)
            rows[count++] = (TableRow){
                bev_kernels[i], pooled.latency_us, pooled.unsettled,
                format_error(&pooled.problem.view, pooled.codes, fp64_original, points),
                gate_kernel(&pooled.problem.view, bev_kernels[i]->accumulate[config.dtype],
                            pooled.codes, reference, abs_sum, points, NULL)
                    .verdict};
        pooled_free(&pooled);
    }
    free(reference);
    free(abs_sum);
    free(points);
    return ok ? count : -1;
}

/* The speed-up over V2 on the same device; NaN where one of the two latencies is unknown or
 * unsettled. */
static double speedup_of(const TableRow *row, const TableRow *rows, int count) {
    for (int i = 0; i < count; i++)
        if (rows[i].kernel == bev_baseline(row->kernel->where, BEV_FORWARD) &&
            rows[i].latency_us > 0 && row->latency_us > 0 && !rows[i].unsettled && !row->unsettled)
            return rows[i].latency_us / row->latency_us;
    return NAN;
}

/* Names the source of the latencies; NULL when none is known. */
static const char *latency_note(LatencyWanted latency, const TableRow *rows, int count) {
    for (int i = 0; i < count; i++)
        if (rows[i].latency_us > 0)
            return latency == LATENCY_RECORDED
                       ? "Latencies recorded earlier; bevscope bench --recorded says where."
                       : "Latencies measured now: medians, caches warm.";
    return NULL;
}

/* The column "recorded us" becomes "recorded", and its numbers say their unit: "238 ms", not
 * 238482.
 */
static void use_unit(char *text, size_t size, const char *head) {
    enum { WORD = 8 }; /* of "recorded" and "measured" */
    const char *of = head ? head : text;
    bool latency = !strncmp(of, "recorded", WORD) || !strncmp(of, "measured", WORD);
    double us = strtod(text, NULL);
    if (latency && !head)
        text[WORD] = '\0';
    else if (latency && us > 0)
        figure_text(UNIT_US, us, text, size);
}

/* Turns the report into strings for the figure: the headings, then the cells. */
static bool table_strings(Snapshot *snapshot, const char *note, int highlight, Err *err) {
    const Report *report = &snapshot->table;
    int columns = report->column_count;
    size_t count = (size_t)(report->row_count + 1) * (size_t)columns;
    snapshot->table_text = calloc(count, sizeof *snapshot->table_text);
    snapshot->table_cells = calloc(count, sizeof *snapshot->table_cells);
    if (!snapshot->table_text || !snapshot->table_cells)
        return err_set(err, ERR_FAILED, "table", "", "out of memory");
    for (int i = 0; i < (int)count; i++) {
        report_cell(report, i / columns - 1, i % columns, snapshot->table_text[i],
                    sizeof *snapshot->table_text);
        use_unit(snapshot->table_text[i], sizeof *snapshot->table_text,
                 i < columns ? NULL : snapshot->table_text[i % columns]);
        snapshot->table_cells[i] = snapshot->table_text[i];
    }
    snapshot->figure_table = (FigureTable){.title = "Every kernel on this problem",
                                           .columns = columns,
                                           .rows = report->row_count,
                                           .header = snapshot->table_cells,
                                           .cells = snapshot->table_cells + columns,
                                           .highlight = highlight,
                                           .note = note};
    return true;
}

static bool fill_table(Snapshot *snapshot, Err *err) {
    enum { ROWS_MAX = 32 };
    TableRow rows[ROWS_MAX];
    double *fp64_original = fp64_of(&snapshot->pooled[0].problem, err);
    int count = fp64_original ? gate_all(snapshot, fp64_original, rows, ROWS_MAX, err) : -1;
    free(fp64_original);
    if (count < 0)
        return false;
    Report *report = &snapshot->table;
    int highlight = -1;
    for (int i = 0; i < count; i++) {
        const TableRow *row = &rows[i];
        double now = row->latency_us;
        if (row->kernel == snapshot->pooled[0].config.kernel)
            highlight = i;
        report_row(report);
        report_add(report, "kernel", "kernel", 0, cell_text(row->kernel->title));
        report_add(report, "where", "where", 0, cell_text(where_names[row->kernel->where]));
        report_add(report, "latency_us",
                   snapshot->latency == LATENCY_RECORDED ? "recorded us" : "measured us", 4,
                   cell_if(now > 0, cell_real(now)));
        report_add(report, "speedup_over_v2", "over V2", 3,
                   cell_real(speedup_of(row, rows, count)));
        report_add(report, "scales", "scales", 0,
                   cell_text(ranges_label(snapshot->workload.features->scales,
                                          snapshot->pooled[0].config.dtype)));
        report_add(report, "max_abs", "max error", 2, cell_real(row->error.max_abs));
        report_add(report, "rel_l2", "relative L2", 2, cell_real(row->error.rel_l2));
        report_add(report, "gate_a", "gate A", 0, cell_text(verdict_names[row->gate]));
    }
    if (report->out_of_memory)
        return err_set(err, ERR_FAILED, "table", "", "out of memory");
    output_left_out(snapshot->scene, count ? rows[0].error.left_out : 0, NAN, 1);
    if (!table_strings(snapshot, latency_note(snapshot->latency, rows, count), highlight, err))
        return false;
    snapshot->spec.table = &snapshot->figure_table;
    report_text(report, stdout);
    return true;
}

/* ---- the way back ---------------------------------------------------------------------------- */

static bool check_options(const Options *options, Err *err) {
    if (!options->backward && (options->cell || options->loss))
        return err_set(err, ERR_USAGE, options->cell ? "--cell" : "--loss", "add --backward",
                       "only the way back has a loss");
    if (!options->backward && (options->grad_out || options->pixel))
        return err_set(err, ERR_USAGE, options->pixel ? "--pixel" : "--grad-out", "add --backward",
                       "only the way back has gradients");
    if (options->grad_out && (options->cell || options->loss))
        return err_set(err, ERR_USAGE, options->cell ? "--cell" : "--loss", "leave it out",
                       "the gradient of the output comes from a file");
    if (options->backward && (options->compare || options->table))
        return err_set(err, ERR_USAGE, options->compare ? "--compare" : "--table", "leave it out",
                       "a figure of the way back shows one run");
    return true;
}

static bool go_back(Snapshot *snapshot, KernelConfig config, Err *err) {
    FigureSpec *spec = &snapshot->spec;
    const BackwardInput input = {
        .options = snapshot->options,
        .scene = snapshot->scene,
        .workload = &snapshot->workload,
        .embedding = spec->embedding,
        .forward = config,
        .pooled = snapshot->pooled[0].values,
        .where = snapshot->where,
        .latency = snapshot->latency,
        .recorded = &snapshot->recorded,
    };
    SnapshotBackward *backward = &snapshot->backward;
    if (!snapshot_backward_make(backward, &input, err))
        return false;
    spec->backward = &backward->figure;
    spec->subtitle = backward->subtitle;
    spec->selections[0].kernel = backward->kernels;
    spec->selections[0].latency_us = backward->run.latency_us;
    spec->selections[0].latency_source = source_of(snapshot, backward->run.latency_us);
    spec->selections[0].recorded_on = backward->run.recorded_on;
    return true;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static bool fit_width(FigureSpec *spec, int64_t width, Err *err) {
    FigureLayout layout = {0};
    if (width <= 0)
        return true;
    bool ok = figure_layout(spec, &layout, err);
    if (ok)
        spec->scale = (double)width / layout.w;
    figure_layout_free(&layout);
    return ok;
}

static bool draw(const Snapshot *snapshot, Err *err) {
    const char *path = snapshot->options->output;
    uint8_t *bytes = NULL;
    size_t length = 0;
    bool ok = figure_file(&snapshot->spec, output_is_svg(path), &bytes, &length, err) &&
              data_write(path, bytes, length, err);
    free(bytes);
    return ok;
}

static bool open_workload(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const Job job = select_job(options);
    Workload *workload = &snapshot->workload;
    if (!select_open(workload, snapshot->scene, &job, err))
        return false;
    workload->grad_file = options->grad_out ? &snapshot->grad_out : NULL;
    return select_use_fault(options, workload, err);
}

static bool make(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    KernelConfig config;
    if (!check_options(options, err) || !select_grad_out(options, &snapshot->grad_out, err) ||
        !output_picture(options, "snapshot", err) ||
        !select_devices(options->device, &snapshot->where, err) ||
        !open_workload(snapshot, err) ||
        (snapshot->latency == LATENCY_RECORDED &&
         !recorded_load_samples(&snapshot->recorded, err)) ||
        !fill_scene(snapshot, err) ||
        !first_selection(snapshot, &config, err) ||
        !pool(snapshot, &snapshot->workload, snapshot->scene, config, err))
        return false;
    if (options->backward && !go_back(snapshot, config, err))
        return false;
    if (options->compare && !compare(snapshot, config, err))
        return false;
    if (options->table && !fill_table(snapshot, err))
        return false;
    return fit_width(&snapshot->spec, options->width, err) && draw(snapshot, err);
}

bool cmd_snapshot(const Options *options, Err *err) {
    Snapshot snapshot = {.options = options, .scene = options->arguments[0]};
    snapshot.latency = (LatencyWanted)choices_find(CHOICE_TIMING, options->timing);
    machine_read(&snapshot.machine);
    bool ok = make(&snapshot, err);
    snapshot_free(&snapshot);
    return ok;
}
