/* SPDX-License-Identifier: MIT */
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include "src/base/progress.h"

#include <math.h>
#include <string.h>

/* The objects of the ground truth, and where their mass lands. */
typedef struct {
    Objects objects;
    ObjectError errors[PHOTOS_MAX_BOXES];   /* with the fault of the options */
    ObjectError baseline[PHOTOS_MAX_BOXES]; /* without the fault, in FP32 and nearest */
    const ScaleRanges *scales;              /* scales of the workload */
} ObjectTable;

/* ---- open ------------------------------------------------------------------------------------ */

/* Measures the position errors of the objects in a format and an align. */
static bool measure_objects(const ObjectTable *table, Workload *workload, BevDtype dtype,
                            BevAlign align, ObjectError *errors, Err *err) {
    HostProblem problem = {0};
    if (!workload_problem(workload, dtype, align, &problem, err))
        return false;
    const BuiltMap *map = workload->maps[align];
    const Rig right = inputs_rig_at(workload->seen);
    bool ok = objects_measure(&table->objects, &right, &map->rig, &problem.view.map,
                              workload->features->depth, errors) ||
              err_no_memory(err, "objects", "");
    problem_free(&problem);
    return ok;
}

/* Warns of boxes that cannot be measured, with one line for each kind. */
static void warn_of_boxes(const Objects *objects, const Grid *grid, const char *scene) {
    static const char *const texts[] = {"have their middle outside of the grid",
                                        "have a side of 0 m",
                                        "meet no pixel's ray: they have no mass"};
    int64_t counts[3] = {0}; /* boxes of each kind */
    for (int64_t i = 0; i < objects->count; i++) {
        const double *at = objects->boxes[i].center_m, *size_m = objects->boxes[i].size_m;
        const bool inside_x = at[0] >= grid->x_min_m && at[0] < grid->x_max_m;
        const bool inside_y = at[1] >= grid->y_min_m && at[1] < grid->y_max_m;
        const bool has_volume = size_m[0] > 0 && size_m[1] > 0 && size_m[2] > 0;
        counts[0] += !(inside_x && inside_y);
        counts[1] += !has_volume;
        counts[2] += !objects->pixels[i];
    }
    progress_hide();
    for (int i = 0; i < 3; i++)
        if (counts[i])
            fprintf(stderr, "bevscope: %s: %lld of %lld boxes %s\n", scene, (long long)counts[i],
                    (long long)objects->count, texts[i]);
}

/* Finds the objects at the moment of the workload. The rig matters: a delayed camera sees the
 * objects where they were earlier. */
static bool find_objects(const Workload *workload, ObjectTable *table, Err *err) {
    const Scene *scene = workload->scene;
    const Rig rig = inputs_rig_at(workload->seen);
    objects_free(&table->objects);
    return objects_of_scene(&rig, scene->has_world ? &scene->world : NULL, &scene->photos,
                            workload->seen->time_s, &table->objects, err);
}

/* Finds the objects, measures the baseline, then puts the fault into the rig of the workload. */
static bool open_objects(const Options *options, Workload *workload, ObjectTable *table, Err *err) {
    const Scene *scene = workload->scene;
    table->scales = workload->features->scales;
    if (!scene->has_rig)
        return err_set(err, ERR_USAGE, scene->name, "export it with its calibration and boxes",
                       "objects are measured by a rig, and this scene has none");
    if (workload->loaded->scene.clip && options->fault.delay_ms)
        return err_set(err, ERR_USAGE, "--delay", "choose a world, such as intersection",
                       "boxes of a clip do not say where their objects stood before");
    if (!select_fault(options, NULL, err) || !find_objects(workload, table, err))
        return false;
    if (!table->objects.count)
        return err_set(err, ERR_USAGE, scene->name, "a file brings them as its array boxes",
                       "this scene has no true boxes");
    warn_of_boxes(&table->objects, &scene->rig.grid, scene->name);
    return measure_objects(table, workload, BEV_FP32, BEV_NEAREST, table->baseline, err) &&
           select_use_fault(options, workload, err) && find_objects(workload, table, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_head(Report *report, const ObjectTable *table, const char *scene, BevDtype dtype,
                     BevAlign align) {
    report->folds = true;
    report_row(report);
    add_text(report, "scene", "scene", scene);
    add_text(report, "dtype", "dtype", bev_dtypes[dtype].name);
    add_text(report, "scales", "scales", ranges_label(table->scales, dtype));
    add_text(report, "align", "align", bev_aligns[align].name);
}

/* Adds metres, rounded to a tenth of a millimetre. */
static void add_metres(Report *report, const char *key, const char *heading, double m) {
    add_real(report, key, heading, 3, round(m * 1e4) * 1e-4);
}

static void add_object(const ObjectTable *table, int64_t i, Report *report) {
    const ObjectError *now = &table->errors[i], *before = &table->baseline[i];
    const TrueBox *box = &table->objects.boxes[i];
    const char *label = box->label[0] ? box->label : "box";
    add_text(report, "object", "object", short_text("%.31s %lld", label, (long long)i).text);
    add_real(report, "x_m", NULL, 4, box->center_m[0]);
    add_real(report, "y_m", NULL, 4, box->center_m[1]);
    add_real(report, "range_m", "range m", 3, now->range_m);
    add_int(report, "pixels", "pixels", table->objects.pixels[i]);
    add_real(report, "share", "mass in box", 3, now->share);
    add_real(report, "baseline_share", "without fault", 3, before->share);
    add_real(report, "in_grid", NULL, 3, now->in_grid);
    add_text(report, "lost", "lost", now->lost ? "lost" : "");
    add_metres(report, "error_m", "position error m", now->error_m);
    add_metres(report, "along_m", "along ray m", now->along_m);
    add_metres(report, "across_m", "across m", now->across_m);
    add_metres(report, "behind_m", "depth behind m", now->behind_m);
}

/* Adds a row for each object, the nearest first, and a row for each band of range. */
static void add_objects(const ObjectTable *table, const char *scene, BevDtype dtype, BevAlign align,
                        Report *rows, Report *bands) {
    ObjectBand now[OBJECT_BANDS], before[OBJECT_BANDS];
    const int count = (int)table->objects.count;
    static double nearness_m[PHOTOS_MAX_BOXES];
    static int by_range[PHOTOS_MAX_BOXES];
    for (int i = 0; i < count; i++)
        nearness_m[i] = fmax(-table->errors[i].range_m, -INFINITY); /* NaN is far away */
    for (int i = 0; i < count; i++)
        by_range[plot_rank(nearness_m, count, i)] = i;
    for (int i = 0; i < count; i++) {
        add_head(rows, table, scene, dtype, align);
        add_object(table, by_range[i], rows);
    }
    objects_bands(table->errors, table->objects.count, now);
    objects_bands(table->baseline, table->objects.count, before);
    for (int band = 0; band < OBJECT_BANDS; band++) {
        add_head(bands, table, scene, dtype, align);
        add_text(bands, "range", "range", object_band_text(band).text);
        add_int(bands, "objects", "objects", now[band].count);
        add_int(bands, "lost", "lost", now[band].lost);
        add_real(bands, "share", "mass in box", 3, now[band].share);
        add_real(bands, "baseline_share", "without fault", 3, before[band].share);
        add_metres(bands, "error_m", "position error m", now[band].error_m);
        add_metres(bands, "along_m", "along ray m", now[band].along_m);
        add_metres(bands, "across_m", "across m", now[band].across_m);
    }
}

bool objects_describe(const Options *options, Workload *workload, const char *scene, Report *rows,
                      Report *bands, Err *err) {
    static ObjectTable table;
    KernelConfig formats[MAX_FORMATS];
    const int count = select_formats(options, formats);
    bool ok = open_objects(options, workload, &table, err);
    for (int i = 0; ok && i < count; i++) {
        const KernelConfig *format = &formats[i];
        ok = measure_objects(&table, workload, format->dtype, format->align, table.errors, err);
        if (ok)
            add_objects(&table, scene, format->dtype, format->align, rows, bands);
    }
    return ok;
}

/* ---- a fault by range ------------------------------------------------------------------------ */

/* The shifts of a camera's points at one range: counts, and sums of metres. */
typedef struct {
    int64_t points, in_grid, other_cell; /* other_cell: points in the grid that left their cell */
    double moved_m, largest_m, ahead_m, left_m; /* largest_m is the largest shift, not a sum */
} Shift;

/* Adds the shift of a point at this range on a pixel's ray, from the right to the wrong rig. */
static void add_shift(const Rig *right, const Rig *wrong, int camera, int h, int w, double range_m,
                      Shift *shift) {
    const Frustum *frustum = &right->frustum;
    double u = frustum_u_px(frustum, w), v = frustum_v_px(frustum, h);
    double from[3], ray[3], at[3], wrong_from[3], wrong_ray[3], wrong_at[3];
    camera_ray(&right->cameras[camera], u, v, from, ray);
    camera_ray(&wrong->cameras[camera], u, v, wrong_from, wrong_ray);
    double level = hypot(ray[0], ray[1]); /* metres seen from above, for a metre of depth */
    double depth_m = range_m / level;
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = from[axis] + depth_m * ray[axis];
        wrong_at[axis] = wrong_from[axis] + depth_m * wrong_ray[axis];
    }
    if (!(at[2] >= right->grid.z_min_m && at[2] < right->grid.z_max_m))
        return;
    double dx = wrong_at[0] - at[0], dy = wrong_at[1] - at[1];
    int64_t cell = grid_cell(&right->grid, at);
    double last_bin_end_m = frustum_depth_m(frustum, (double)frustum_depth_bins(frustum) - 0.5);
    const bool in_grid = cell >= 0 && depth_m <= last_bin_end_m;
    shift->points++;
    shift->in_grid += in_grid;
    shift->other_cell += in_grid && grid_cell(&wrong->grid, wrong_at) != cell;
    shift->moved_m += hypot(dx, dy);
    shift->largest_m = fmax(shift->largest_m, hypot(dx, dy));
    shift->ahead_m += (dx * ray[0] + dy * ray[1]) / level;
    shift->left_m += (dy * ray[0] - dx * ray[1]) / level;
}

void fault_table_add(const Workload *workload, const char *scene, Report *report) {
    enum { RANGES = 4 };
    static const double ranges_m[RANGES] = {10, 30, 50, 80};
    const Rig right = inputs_rig_at(workload->seen), wrong = workload_rig(workload);
    const int h = right.frustum.feat_h, w = right.frustum.feat_w;
    report->folds = true;
    for (int row = 0; row < RANGES * right.camera_count; row++) {
        const int camera = row / RANGES;
        const double range_m = ranges_m[row % RANGES];
        Shift shift = {.points = 0};
        if (!memcmp(&right.cameras[camera], &wrong.cameras[camera], sizeof(Camera)))
            continue;
        for (int pixel = 0; pixel < h * w; pixel++)
            add_shift(&right, &wrong, camera, pixel / w, pixel % w, range_m, &shift);
        double points = (double)shift.points; /* without points the means become NaN */
        report_row(report);
        add_text(report, "scene", "scene", scene);
        add_text(report, "camera", "camera", right.cameras[camera].name);
        add_real(report, "range_m", "range m", 0, range_m);
        add_int(report, "points", "points", shift.points);
        add_metres(report, "moved_m", "moved m", shift.moved_m / points);
        add_metres(report, "largest_m", "largest m", shift.points ? shift.largest_m : NAN);
        add_metres(report, "ahead_m", "away m", shift.ahead_m / points);
        add_metres(report, "left_m", "left m", shift.left_m / points);
        add_int(report, "in_grid", "in grid", shift.in_grid);
        add_real(report, "other_cell", "in other cells", 3,
                 (double)shift.other_cell / (double)shift.in_grid);
    }
}

/* ---- plot objects ---------------------------------------------------------------------------- */

enum { WORST = 5 };
/* A dot of the chart is an object: its distance from the car, and its position errors. */
typedef struct {
    double range_m[PHOTOS_MAX_BOXES], along_m[PHOTOS_MAX_BOXES], across_m[PHOTOS_MAX_BOXES];
    double error_m[PHOTOS_MAX_BOXES];
    const char *labels[PHOTOS_MAX_BOXES]; /* NULL: not one of the WORST */
    char names[WORST][48], title[160], subtitle[256];
} ObjectDots;

/* Names the objects with the largest errors. Makes the title: "Half of 22 objects move by less than
 * 0.12 m; car 7 moves by 1.88 m". */
static void name_worst_objects(const ObjectTable *table, ObjectDots *dots, int count, int lost) {
    double median_m = 0, worst_m = 0;
    for (int i = 0; i < count; i++) {
        const char *label = table->objects.boxes[i].label;
        double error_m = dots->error_m[i];
        int rank = isfinite(error_m) ? plot_rank(dots->error_m, count, i) : count;
        if (rank == (count - lost) / 2)
            median_m = error_m;
        if (rank >= WORST || !(error_m > 0))
            continue;
        worst_m = fmax(worst_m, error_m);
        snprintf(dots->names[rank], sizeof dots->names[rank], "%.31s %d", label[0] ? label : "box",
                 i);
        dots->labels[i] = dots->names[rank];
    }
    if (worst_m > 0)
        snprintf(dots->title, sizeof dots->title,
                 "Half of %d objects move by less than %.2g m; %s moves by %.2f m", count, median_m,
                 dots->names[0], worst_m);
    else
        snprintf(dots->title, sizeof dots->title,
                 "Without a fault no object moves: all errors of %d objects are 0", count);
}

static bool draw_objects(const PlotRequest *request, const ObjectTable *table, const char *title,
                         Err *err) {
    const BevProblem *problem = &request->model->problem.view;
    int count = (int)table->objects.count, lost = 0;
    double far_m = 10, most_m = 1;
    static ObjectDots dots;
    for (int i = 0; i < count; i++) {
        const ObjectError *now = &table->errors[i];
        dots.range_m[i] = now->range_m;
        dots.along_m[i] = now->along_m;
        dots.across_m[i] = now->across_m;
        dots.error_m[i] = hypot(now->along_m, now->across_m);
        far_m = fmax(far_m, now->range_m);
        most_m = fmax(most_m, fmax(fabs(now->along_m), fabs(now->across_m)));
        lost += now->lost;
    }
    name_worst_objects(table, &dots, count, lost);
    PlotSeries series[] = {
        plot_series("along the ray", dots.range_m, dots.along_m, count, 1),
        plot_series("across it, to the left", dots.range_m, dots.across_m, count, 0)};
    series[0].dots = series[1].dots = series[1].strong = series[0].faint = true;
    series[1].labels = dots.labels;
    snprintf(dots.subtitle, sizeof dots.subtitle, "%.120s, %s; %d of %d objects lost", title,
             bev_aligns[problem->align].name, lost, count);
    ChartSpec spec = {
        .title = dots.title,
        .subtitle = dots.subtitle,
        .note = "Computed by map and depth, for any kernel: how far a fault moves the mass of an "
                "object, from where the same rig sees it without the fault. Without a fault all "
                "errors are 0. A lost object has no dot. The five largest errors are named.",
        .x = {"range of the object, m", false, 0, ceil(far_m / 10) * 10, "m"},
        .y = {"position error, m", false, -ceil(most_m), ceil(most_m), "m"},
        .series = series,
        .series_count = 2,
    };
    return output_chart(request->options, &spec, request->options->output, err);
}

bool plot_objects(const PlotRequest *request, Err *err) {
    const SceneModel *model = request->model;
    const BevProblem *problem = &model->problem.view;
    static Workload workload; /* a workload for this chart, because the fault changes its rig */
    static ObjectTable table;
    char title[160];
    if (!workload_open(&workload, model->scene, &model->workload.job, err) ||
        !open_objects(request->options, &workload, &table, err) ||
        !measure_objects(&table, &workload, problem->dtype, problem->align, table.errors, err))
        return false;
    workload_title(&workload, title, sizeof title);
    return draw_objects(request, &table, title, err);
}
