#include "src/run/machine.h"
#include "src/accuracy/fp64.h"
#include "src/cli/choices.h"
#include "src/cli/output.h"
#include "src/cli/pooled.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/base/data.h"
#include "src/view/figure/figure.h"
#include "src/accuracy/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything a figure borrows from while it is drawn. */
typedef struct {
    const Options *options;
    const char *scene;
    unsigned where;
    Machine machine;
    RecordedSet recorded;
    LatencyWanted latency;
    Workload workload;
    Embedding embedding;
    CameraViews cameras;
    Pooled pooled[FIGURE_MAX_SELECTIONS];
    double *fp64_original[FIGURE_MAX_SELECTIONS];
    char devices[FIGURE_MAX_SELECTIONS][160];
    Report table;
    char (*table_text)[48];
    const char **table_cells;
    FigureTable figure_table;
    FigureSpec spec;
    bool svg; /* else PNG */
} Snapshot;

static void snapshot_free(Snapshot *snapshot) {
    for (int i = 0; i < FIGURE_MAX_SELECTIONS; i++) {
        pooled_free(&snapshot->pooled[i]);
        free(snapshot->fp64_original[i]);
    }
    camera_views_free(&snapshot->cameras);
    embedding_free(&snapshot->embedding);
    workload_close(&snapshot->workload);
    recorded_free(&snapshot->recorded);
    report_free(&snapshot->table);
    free(snapshot->table_text);
    free(snapshot->table_cells);
}

/* ---- what to show ---------------------------------------------------------------------------- */

static bool parse_range(const char *text, FigureSpec *spec, Err *err) {
    char *end;
    spec->range_lo = strtod(text, &end);
    bool ok = end != text && *end == ':';
    if (ok) {
        const char *high = end + 1;
        spec->range_hi = strtod(high, &end);
        ok = end != high && !*end;
    }
    spec->range_locked = true;
    if (!ok || !isfinite(spec->range_lo) || !isfinite(spec->range_hi) ||
        spec->range_lo >= spec->range_hi)
        return err_set(err, ERR_USAGE, "--range", "such as 0:2.5", "'%s' is not LOW:HIGH", text);
    return true;
}

/* One value each where other commands take lists. */
static bool single(const char *list, const char *option, Err *err) {
    return select_single(list, option, "a picture shows one", "use --compare for a second one",
                         err);
}

/* The best kernel that runs here, in FP16, which is what is deployed. */
static bool first_selection(const Snapshot *snapshot, KernelConfig *config, Err *err) {
    const Options *options = snapshot->options;
    if (!single(options->dtype, "--dtype", err) || !single(options->align, "--align", err))
        return false;
    *config = (KernelConfig){select_best(snapshot->where), BEV_FP16, BEV_NEAREST};
    if (options->kernel)
        config->kernel = select_kernel(options->kernel, snapshot->where, err);
    if (options->dtype)
        config->dtype = (BevDtype)choices_find(CHOICE_DTYPE, options->dtype);
    if (options->align)
        config->align = (BevAlign)choices_find(CHOICE_ALIGN, options->align);
    else if (!workload_has_align(&snapshot->workload, BEV_NEAREST))
        config->align = BEV_BILINEAR;
    return config->kernel != NULL;
}

static bool load_recorded(Snapshot *snapshot, Err *err) {
    char folder[4096];
    snapshot->latency = (LatencyWanted)choices_find(CHOICE_TIMING, snapshot->options->timing);
    return snapshot->latency != LATENCY_RECORDED ||
           (data_path("samples/recorded", folder, sizeof folder, err) &&
            recorded_load(&snapshot->recorded, folder, err));
}

/* ---- running --------------------------------------------------------------------------------- */

static bool pool(Snapshot *snapshot, KernelConfig config, Err *err) {
    FigureSpec *spec = &snapshot->spec;
    int i = spec->selection_count++;
    Pooled *pooled = &snapshot->pooled[i];
    if (!pooled_run(pooled, &snapshot->workload, snapshot->scene, config, snapshot->latency,
                    &snapshot->recorded, err))
        return false;
    if (views[spec->view].needs & NEEDS_TRUTH &&
        !(snapshot->fp64_original[i] = fp64_of(&snapshot->workload, config.align, err)))
        return false;
    const Machine *machine = &snapshot->machine;
    if (config.kernel->where == BEV_CPU)
        snprintf(snapshot->devices[i], sizeof snapshot->devices[i], "CPU, %d threads",
                 machine->threads);
    else
        snprintf(snapshot->devices[i], sizeof snapshot->devices[i], "%s", machine->gpu);
    spec->selections[i] = (FigureSelection){
        .kernel = config.kernel->title,
        .dtype = bev_dtypes[config.dtype].title,
        .align = bev_aligns[config.align].title,
        .device = snapshot->devices[i],
        .latency_us = pooled->latency_us,
        .latency_source = pooled->latency_us <= 0    ? SOURCE_UNKNOWN
                          : pooled->latency_recorded ? SOURCE_RECORDED
                                                     : SOURCE_MEASURED,
        .pooled = pooled->values,
        .fp64_original = snapshot->fp64_original[i],
        .map = &pooled->problem.view.map,
    };
    return true;
}

/* Worlds are decoded into colour; tensors of a network have only their strength to show. */
static ViewKind choose_view(const Snapshot *snapshot) {
    if (snapshot->options->view)
        return (ViewKind)choices_find(CHOICE_VIEW, snapshot->options->view);
    return snapshot->spec.embedding ? VIEW_COLOR : VIEW_NORM;
}

static bool fill_scene(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    const Scene *scene = &snapshot->workload.scene;
    FigureSpec *spec = &snapshot->spec;
    spec->title = options->title ? options->title : scene->title[0] ? scene->title : scene->name;
    spec->nx = scene->shape.nx;
    spec->ny = scene->shape.ny;
    spec->channels = scene->shape.channels;
    spec->channel = options->channel;
    spec->time_s = options->time_s;
    spec->outlines = !options->no_outlines;
    spec->theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme);
    spec->colormap = options->colormap ? colormap_find(options->colormap) : NULL;
    spec->rig = scene->has_rig ? &scene->rig : NULL;
    spec->world = scene->has_world ? &scene->world : NULL;
    if (scene->has_world && scene->channels >= EMBED_DIMS) {
        if (!embedding_init(&snapshot->embedding, scene->channels, scene->seed, err))
            return false;
        spec->embedding = &snapshot->embedding;
    }
    spec->view = choose_view(snapshot);
    if (options->channel >= spec->channels)
        return err_set(err, ERR_USAGE, "--channel", "", "%lld is not below the %lld channels",
                       (long long)options->channel, (long long)spec->channels);
    if (options->range && !parse_range(options->range, spec, err))
        return false;
    if (!options->cameras)
        return true;
    enum { STRIP_PIXELS_PER_FEATURE = 12 };
    if (!scene->has_world)
        return err_set(err, ERR_USAGE, "--cameras", "leave it out",
                       "tensors from a file have no camera pictures");
    spec->cameras = &snapshot->cameras;
    return camera_views_render(&scene->rig, &scene->world,
                               scene->shape.feat_h * STRIP_PIXELS_PER_FEATURE,
                               scene->shape.feat_w * STRIP_PIXELS_PER_FEATURE, spec->time_s, NULL,
                               &snapshot->cameras, err);
}

/* ---- the table beside the picture ------------------------------------------------------------ */

enum {
    TAB_KERNEL,
    TAB_DEVICE,
    TAB_LATENCY,
    TAB_SPEEDUP,
    TAB_MAX_ABS,
    TAB_REL_L2,
    TAB_GATE,
    TAB_COUNT
};

static const ReportColumn table_columns[TAB_COUNT] = {
    [TAB_KERNEL] = {"kernel", "kernel", 0},
    [TAB_DEVICE] = {"where", "where", 0},
    [TAB_LATENCY] = {"latency_us", "latency (µs)", 4},
    [TAB_SPEEDUP] = {"speedup_over_v2", "over V2", 3},
    [TAB_MAX_ABS] = {"max_abs", "max error", 2},
    [TAB_REL_L2] = {"rel_l2", "relative L2", 2},
    [TAB_GATE] = {"gate_a", "gate A", 0},
};

typedef struct {
    const BevKernel *kernel;
    double latency_us;
    FormatError error;
    GateVerdict gate;
} TableRow;

/* Judges every kernel on the picture's problem. Latencies come from where the caption's does. */
static int judge_all(Snapshot *snapshot, const double *fp64_original, TableRow *rows, int limit,
                     Err *err) {
    KernelConfig config = snapshot->pooled[0].config;
    const BevProblem *problem = &snapshot->pooled[0].problem.view;
    size_t elements = (size_t)(problem->out.rows * problem->out.row_len);
    double *reference = malloc(elements * sizeof *reference);
    double *abs_sum = malloc(elements * sizeof *abs_sum);
    int count = 0;
    bool ok = reference && abs_sum ? true : err_set(err, ERR_FAILED, "table", "", "out of memory");
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
                bev_kernels[i], pooled.latency_us,
                format_error(&pooled.problem.view, pooled.codes, fp64_original),
                gate_kernel(&pooled.problem.view, bev_kernels[i]->accumulate[config.dtype],
                            pooled.codes, reference, abs_sum, NULL)
                    .verdict};
        pooled_free(&pooled);
    }
    free(reference);
    free(abs_sum);
    return ok ? count : -1;
}

static double baseline_us(const TableRow *rows, int count, BevWhere where) {
    for (int i = 0; i < count; i++)
        if (rows[i].kernel == bev_baseline(where))
            return rows[i].latency_us;
    return 0;
}

static const char *latency_note(const Snapshot *snapshot, const TableRow *rows, int count) {
    bool known = false;
    for (int i = 0; i < count; i++)
        known |= rows[i].latency_us > 0;
    static const char *const notes[] = {
        [LATENCY_RECORDED] = "Latencies recorded earlier; bevscope bench --recorded says where.",
        [LATENCY_MEASURED] = "Latencies measured now: medians, caches warm.",
        [LATENCY_OFF] = NULL};
    return known ? notes[snapshot->latency] : NULL;
}

/* The report's cells as strings, for the figure. */
static bool table_strings(Snapshot *snapshot, const char *note, Err *err) {
    Report *report = &snapshot->table;
    size_t count = (size_t)report->row_count * TAB_COUNT;
    snapshot->table_text = calloc(count, sizeof *snapshot->table_text);
    snapshot->table_cells = calloc(count, sizeof *snapshot->table_cells);
    if (!snapshot->table_text || !snapshot->table_cells)
        return err_set(err, ERR_FAILED, "table", "", "out of memory");
    static const char *header[TAB_COUNT];
    for (int column = 0; column < TAB_COUNT; column++)
        header[column] = table_columns[column].heading;
    for (size_t i = 0; i < count; i++) {
        report_cell(report, (int)(i / TAB_COUNT), (int)(i % TAB_COUNT), snapshot->table_text[i],
                    sizeof *snapshot->table_text);
        snapshot->table_cells[i] = snapshot->table_text[i];
    }
    snapshot->figure_table = (FigureTable){.title = "Every kernel on this problem",
                                           .columns = TAB_COUNT,
                                           .rows = report->row_count,
                                           .header = header,
                                           .cells = snapshot->table_cells,
                                           .highlight = -1,
                                           .note = note};
    return true;
}

static bool fill_table(Snapshot *snapshot, Err *err) {
    enum { ROWS_MAX = 32 };
    TableRow rows[ROWS_MAX];
    double *fp64_original = fp64_of(&snapshot->workload, snapshot->pooled[0].config.align, err);
    int count = fp64_original ? judge_all(snapshot, fp64_original, rows, ROWS_MAX, err) : -1;
    free(fp64_original);
    if (count < 0)
        return false;
    Report *report = &snapshot->table;
    *report = (Report){.columns = table_columns, .column_count = TAB_COUNT};
    int highlight = -1;
    for (int i = 0; i < count; i++) {
        const TableRow *row = &rows[i];
        double base = baseline_us(rows, count, row->kernel->where), now = row->latency_us;
        if (row->kernel == snapshot->pooled[0].config.kernel)
            highlight = i;
        report_add(report,
                   (Cell[TAB_COUNT]){cell_text(row->kernel->title),
                                     cell_text(where_names[row->kernel->where]),
                                     now > 0 ? cell_real(now) : cell_none(),
                                     base > 0 && now > 0 ? cell_real(base / now) : cell_none(),
                                     cell_real(row->error.max_abs), cell_real(row->error.rel_l2),
                                     cell_text(verdict_names[row->gate])});
    }
    if (!table_strings(snapshot, latency_note(snapshot, rows, count), err))
        return false;
    snapshot->figure_table.highlight = highlight;
    snapshot->spec.table = &snapshot->figure_table;
    report_text(report, stdout);
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
    bool ok;
    if (snapshot->svg)
        ok = figure_svg(&snapshot->spec, &bytes, &length, err);
    else {
        Image image = {0};
        ok = figure_image(&snapshot->spec, &image, err) && image_png(&image, &bytes, &length, err);
        image_free(&image);
    }
    ok = ok && data_write(path, bytes, length, err);
    free(bytes);
    return ok;
}

static bool make(Snapshot *snapshot, Err *err) {
    const Options *options = snapshot->options;
    WorkloadOptions workload_options = select_workload(options);
    KernelConfig config;
    if (!output_picture(options, "snapshot", &snapshot->svg, err) ||
        !select_devices(options->device, &snapshot->where, err) || !load_recorded(snapshot, err) ||
        !workload_open(&snapshot->workload, snapshot->scene, &workload_options, err) ||
        !fill_scene(snapshot, err) || !first_selection(snapshot, &config, err) ||
        !pool(snapshot, config, err))
        return false;
    if (options->compare && (!select_changed(options->compare, snapshot->where, &config, err) ||
                             !pool(snapshot, config, err)))
        return false;
    if (options->table && !fill_table(snapshot, err))
        return false;
    return fit_width(&snapshot->spec, options->width, err) && draw(snapshot, err);
}

bool cmd_snapshot(const Options *options, Err *err) {
    Snapshot snapshot = {.options = options, .scene = options->arguments[0]};
    machine_read(&snapshot.machine);
    bool ok = make(&snapshot, err);
    snapshot_free(&snapshot);
    return ok;
}
