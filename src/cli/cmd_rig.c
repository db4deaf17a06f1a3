/* bevscope rig: is a rig a large or a small problem, and for which GPU. A rig is a scene of an
 * empty world, in JSON; the options change some of its fields. */
#include "src/base/data.h"
#include "src/base/json_fields.h"
#include "src/base/progress.h"
#include "src/base/units.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/scene/scene.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the rig, changed -------------------------------------------------------------------------
 */

/* The file of --from: a rig that comes with the program, or a path. */
static bool rig_path(const char *from, char path[PATH_MAX], Err *err) {
    char relative[128];
    Err ignored;
    snprintf(relative, sizeof relative, "samples/rigs/%.64s.json", from);
    if (!strchr(from, '/') && data_path(relative, path, PATH_MAX, &ignored))
        return true;
    if (access(from, R_OK) != 0)
        return err_set(err, ERR_USAGE, from,
                       "nuscenes, argoverse2, waymo, kitti360, robot, or a scene in JSON",
                       "no such rig");
    snprintf(path, PATH_MAX, "%s", from);
    return true;
}

/* The two whole numbers of an array; false: the scene's own check says more. */
static bool two(const json_t *object, const char *key, int values[2]) {
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < 2; i++)
        values[i] = (int)json_number_value(json_array_get(array, i));
    return values[0] > 0 && values[1] > 0;
}

/* --input: images are resized to its width; of the height the lower part is kept. */
static bool set_input(json_t *frustum, const int input[2], Err *err) {
    int image[2];
    if (!two(frustum, "image_px", image))
        return true;
    double resize = (double)input[0] / image[0];
    int rows = (int)lround(image[1] * resize);
    if (rows < input[1])
        return err_set(err, ERR_USAGE, "--input", "take fewer rows",
                       "%d rows, but images have %d after the resize", input[1], rows);
    json_object_set_new(frustum, "input_px", json_pack("[ii]", input[0], input[1]));
    json_object_set_new(frustum, "resize", json_real(resize));
    json_object_set_new(frustum, "crop_px", json_pack("[ii]", 0, rows - input[1]));
    return true;
}

static bool set_stride(json_t *frustum, int64_t stride, Err *err) {
    int input[2];
    if (!stride || !two(frustum, "input_px", input))
        return true;
    if (input[0] % stride || input[1] % stride)
        return err_set(err, ERR_USAGE, "--stride", "choose another, or --input",
                       "%d x %d pixels are no multiple of %lld", input[0], input[1],
                       (long long)stride);
    json_object_set_new(frustum, "features",
                        json_pack("[ii]", input[0] / (int)stride, input[1] / (int)stride));
    return true;
}

/* --reach and --cell: a square grid. */
static bool set_grid(json_t *grid, double reach_m, double cell_m, Err *err) {
    const json_t *x = json_object_get(grid, "x_m");
    int cells[2];
    if ((!reach_m && !cell_m) || !two(grid, "cells", cells))
        return true;
    double old_m =
        json_number_value(json_array_get(x, 1)) - json_number_value(json_array_get(x, 0));
    double side_m = reach_m ? 2 * reach_m : old_m, step_m = cell_m ? cell_m : old_m / cells[0];
    int count = (int)lround(side_m / step_m);
    if (fabs(count * step_m - side_m) > 1e-6 * side_m)
        return err_set(err, ERR_USAGE, "--cell", "choose a part of it",
                       "%g m are no multiple of %g m", side_m, step_m);
    const char *const axes[] = {"x_m", "y_m"};
    for (int i = 0; i < 2; i++)
        json_object_set_new(grid, axes[i], json_pack("[ff]", -side_m / 2, side_m / 2));
    json_object_set_new(grid, "cells", json_pack("[ii]", count, count));
    return true;
}

/* "704x256", "1:60:0.5": `count` numbers with a separator between them. */
static bool numbers_of(const char *text, char separator, int count, double *values) {
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || *end != (i + 1 < count ? separator : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool change(json_t *rig, const Options *options, Err *err) {
    json_t *frustum = json_object_get(rig, "frustum"), *grid = json_object_get(rig, "grid");
    double input[2] = {0}, depth[3] = {0};
    if (options->input &&
        (!numbers_of(options->input, 'x', 2, input) || input[0] < 1 || input[1] < 1))
        return err_set(err, ERR_USAGE, "--input", "for example 704x256", "'%s' is not WxH",
                       options->input);
    if (options->depth && !numbers_of(options->depth, ':', 3, depth))
        return err_set(err, ERR_USAGE, "--depth", "for example 1:60:0.5",
                       "'%s' is not START:STOP:STEP", options->depth);
    if (options->input && !set_input(frustum, (int[]){(int)input[0], (int)input[1]}, err))
        return false;
    if (options->depth) {
        json_object_del(frustum, "depth_bins");
        json_object_set_new(frustum, "depth_m", json_pack("[fff]", depth[0], depth[1], depth[2]));
    }
    if (options->channels)
        json_object_set_new(rig, "channels", json_integer(options->channels));
    return set_stride(frustum, options->stride, err) &&
           set_grid(grid, options->reach_m, options->cell_m, err);
}

/* The text of the changed rig, malloc'd, which is a sound scene. */
static bool rig_text(const Options *options, char **text, Err *err) {
    char path[PATH_MAX];
    Scene scene;
    json_t *rig = rig_path(options->from_rig ? options->from_rig : "nuscenes", path, err)
                      ? fields_load(path, SCENE_MAX_JSON_BYTES, err)
                      : NULL;
    bool ok = rig && change(rig, options, err);
    *text = ok ? json_dumps(rig, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(rig);
    ok = ok && (*text || err_set(err, ERR_FAILED, "rig", "", "out of memory")) &&
         scene_read_json(*text, strlen(*text), path, &scene, err);
    if (ok)
        scene_free(&scene);
    else
        free(*text);
    return ok;
}

/* ---- what it comes to -------------------------------------------------------------------------
 */

static void print_rig(const SceneModel *model, FILE *out) {
    const Scene *scene = &model->workload.scene;
    const BevProblem *problem = &model->problem.view;
    const Grid *grid = &scene->rig.grid;
    char points[32], intervals[32], footprint[32], gathered[32];
    ScatterStats stats = scatter_stats(&problem->map, problem->shape.nx * problem->shape.ny);
    unit_text(UNIT_COUNT, (double)stats.points, points, sizeof points);
    unit_text(UNIT_COUNT, (double)problem->map.intervals, intervals, sizeof intervals);
    scene_model_bytes(model, footprint, gathered);
    fprintf(
        out,
        "%s\n%d cameras, features %lld x %lld, %lld depth bins, %d x %d cells of %g m, C = %lld, "
        "%s, nearest\n%s points, %s intervals, the longest of %lld points; footprint %s, gather "
        "traffic %s\n\n",
        scene->title, scene->rig.camera_count, (long long)problem->shape.feat_w,
        (long long)problem->shape.feat_h, (long long)problem->shape.depth_bins, grid->nx, grid->ny,
        (grid->x_max_m - grid->x_min_m) / grid->nx, (long long)problem->shape.channels,
        bev_dtypes[problem->dtype].title, points, intervals, (long long)stats.longest, footprint,
        gathered);
}

/* The row that a GPU runs fastest by the model, and what it and V2 take. */
static const BevKernel *fastest(const SceneModel *model, const Gpu *gpu, Prediction *best,
                                double *v2_us) {
    const BevKernel *found = NULL;
    for (int i = 0; i < model->profile_count; i++) {
        const BevKernel *kernel = model->profiles[i].kernel;
        Prediction p = predict(&model->profiles[i], gpu, true);
        if (kernel == model_row(bev_baseline(BEV_CPU, BEV_FORWARD)))
            *v2_us = p.latency_us;
        if (!kernel->wrong_on_purpose && (!found || p.latency_us < best->latency_us)) {
            found = kernel;
            *best = p;
        }
    }
    return found;
}

static void add_gpu(Report *report, const SceneModel *model, const Gpu *gpu) {
    Prediction best = {0};
    double v2_us = NAN, bytes = bev_footprint_total(bev_footprint(&model->problem.view));
    const BevKernel *kernel = fastest(model, gpu, &best, &v2_us);
    report_row(report);
    report_add(report, "gpu", "GPU", 0, cell_text(gpu->title));
    report_add(report, "l2_mib", "L2 MiB", 3, cell_real(gpu->l2_bytes / 1048576));
    report_add(report, "footprint_percent", "footprint % of L2", 3,
               cell_real(100 * bytes / gpu->l2_bytes));
    report_add(report, "regime", "regime", 0,
               cell_text(bev_regimes[bev_regime(bytes, gpu->l2_bytes)].name));
    report_add(report, "fastest", "fastest", 0, cell_text(kernel ? kernel->title : NULL));
    report_add(report, "model_us", "model us", 3, cell_real(best.latency_us));
    report_add(report, "binds", "binds", 0, cell_text(term_names[best.binding]));
    report_add(report, "over_v2", "over V2", 3, cell_real(v2_us / best.latency_us));
}

static bool print_all(const Options *options, const SceneModel *model, const ChosenGpus *chosen,
                      Err *err) {
    Report report = {0};
    for (int i = 0; i < chosen->count; i++)
        add_gpu(&report, model, &chosen->gpus[i]);
    Options to_screen = *options; /* -o is the rig's file */
    to_screen.output = NULL;
    if (output_printer(options))
        print_rig(model, stdout);
    bool ok = output_report(&to_screen, &report, json_object(), err);
    report_free(&report);
    return ok;
}

/* Models the rig in `path`. */
static bool describe(const Options *options, const char *path, Err *err) {
    const WorkloadOptions usual = select_workload(options);
    ChosenGpus chosen = {0};
    SceneModel model = {0};
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    progress_begin("rig", options->quiet);
    bool ok =
        chosen_open(options, (1u << gpu_count) - 1, &chosen, err) &&
        scene_model_open(&model, path, &usual, dtype, BEV_NEAREST, BEV_FORWARD, ALL_KERNELS, err);
    progress_end();
    if (ok && !model.problem.view.map.points)
        ok = err_set(err, ERR_FAILED, "rig", "look at --depth, --reach and the cameras' poses",
                     "no camera sees a cell");
    ok = ok && print_all(options, &model, &chosen, err);
    scene_model_close(&model);
    chosen_close(&chosen);
    return ok;
}

bool cmd_rig(const Options *options, Err *err) {
    char temporary[PATH_MAX], *text;
    const char *folder = getenv("TMPDIR"), *path = options->output;
    if (!rig_text(options, &text, err))
        return false;
    if (!path) {
        snprintf(temporary, sizeof temporary, "%s/bevscope-rig-XXXXXX", folder ? folder : "/tmp");
        int file = mkstemp(temporary);
        if (file >= 0)
            close(file);
        path = temporary;
    }
    bool ok = data_write(path, text, strlen(text), err) && describe(options, path, err);
    if (!options->output)
        unlink(temporary);
    free(text);
    return ok;
}
