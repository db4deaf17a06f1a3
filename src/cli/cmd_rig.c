/* SPDX-License-Identifier: MIT */
/* bevscope rig: shows how large a problem a rig is, on each GPU. A rig is a scene of an empty
 * world, in JSON. The options change some of its fields. */
#include "src/base/json_fields.h"
#include "src/cachesim/findings.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Finds the file of --from: a rig that comes with the program, or a path. */
static bool rig_path(const char *from, char path[PATH_MAX], Err *err) {
    Err ignored;
    const ShortText relative = short_text("samples/rigs/%.64s.json", from);
    if (!strchr(from, '/') && data_path(relative.text, path, PATH_MAX, &ignored))
        return true;
    if (access(from, R_OK) != 0)
        return err_set(err, ERR_USAGE, from, "one of " RIG_NAMES ", or a scene in JSON",
                       "no such rig");
    snprintf(path, PATH_MAX, "%s", from);
    return true;
}

/* Reads an array of two integers above 0. False: another array, which the scene's check reports. */
static bool read_pair(const json_t *object, const char *key, int values[2]) {
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < 2; i++)
        values[i] = (int)json_number_value(json_array_get(array, i));
    return values[0] > 0 && values[1] > 0;
}

/* Parses `count` numbers with a separator between them: "704x256", "1:60:0.5". */
static bool parse_numbers(const char *text, char separator, int count, double *values) {
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || *end != (i + 1 < count ? separator : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

/* ---- changes of the rig ---------------------------------------------------------------------- */

/* Fits the image of a frustum or camera to the input. The image is resized to the width of the
 * input, and the lower rows are kept. Without an image nothing changes. */
static bool fit_image(json_t *object, const int input[2], Err *err) {
    int image[2];
    json_object_del(object, "resize");
    json_object_del(object, "crop_px");
    if (!read_pair(object, "image_px", image))
        return true;
    double scale = (double)input[0] / image[0];
    int rows = (int)lround(image[1] * scale);
    if (rows < input[1])
        return err_set(err, ERR_USAGE, "--input", "take a smaller one",
                       "an image of %d x %d has %d x %d pixels after the resize, but the input has "
                       "%d x %d",
                       image[0], image[1], input[0], rows, input[0], input[1]);
    json_object_set_new(object, "resize", json_real(scale));
    json_object_set_new(object, "crop_px", json_pack("[ii]", 0, rows - input[1]));
    return true;
}

/* Applies --input: sets the input's size, and fits the images of frustum and cameras to it. */
static bool set_input(json_t *rig, const char *text, Err *err) {
    json_t *frustum = json_object_get(rig, "frustum"), *camera;
    double size[2];
    size_t i;
    if (!parse_numbers(text, 'x', 2, size) || fmin(size[0], size[1]) < 1 ||
        fmax(size[0], size[1]) > 65536)
        return err_set(err, ERR_USAGE, "--input", "for example 704x256", "'%s' is not WxH", text);
    const int input[2] = {(int)size[0], (int)size[1]};
    bool ok = fit_image(frustum, input, err);
    json_array_foreach(json_object_get(rig, "cameras"), i, camera) {
        ok = ok && fit_image(camera, input, err);
    }
    json_object_set_new(frustum, "input_px", json_pack("[ii]", input[0], input[1]));
    return ok;
}

/* Applies --reach and --cell; 0: the option is not given. The grid becomes a square. */
static bool set_grid(json_t *grid, double reach_m, double cell_m, Err *err) {
    const json_t *x = json_object_get(grid, "x_m");
    int cells[2];
    if ((!reach_m && !cell_m) || !read_pair(grid, "cells", cells))
        return true;
    double old_m =
        json_number_value(json_array_get(x, 1)) - json_number_value(json_array_get(x, 0));
    double side_m = reach_m ? 2 * reach_m : old_m;
    double step_m = cell_m ? cell_m : old_m / cells[0];
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

static bool change_rig(json_t *rig, const Options *options, Err *err) {
    json_t *frustum = json_object_get(rig, "frustum"), *grid = json_object_get(rig, "grid");
    double depth[3] = {0};
    int input[2];
    if (options->input && !set_input(rig, options->input, err))
        return false;
    if (options->depth && !parse_numbers(options->depth, ':', 3, depth))
        return err_set(err, ERR_USAGE, "--depth", "for example 1:60:0.5",
                       "'%s' is not START:STOP:STEP", options->depth);
    if (options->depth) {
        json_object_del(frustum, "depth_bins");
        json_object_set_new(frustum, "depth_m", json_pack("[fff]", depth[0], depth[1], depth[2]));
    }
    if (options->channels)
        json_object_set_new(rig, "channels", json_integer(options->channels));
    if (options->stride && read_pair(frustum, "input_px", input)) {
        if (input[0] % options->stride || input[1] % options->stride)
            return err_set(err, ERR_USAGE, "--stride", "choose another, or --input",
                           "%d x %d pixels are no multiple of %lld", input[0], input[1],
                           (long long)options->stride);
        json_object_set_new(
            frustum, "features",
            json_pack("[ii]", input[0] / (int)options->stride, input[1] / (int)options->stride));
    }
    return set_grid(grid, options->reach_m, options->cell_m, err);
}

/* Makes the JSON text of the rig of --from with all changes. The text is a valid scene. */
static bool make_rig_text(const Options *options, char **text, Err *err) {
    static json_t *rig;
    static Scene scene;
    char path[PATH_MAX];
    if (!rig_path(options->from_rig ? options->from_rig : "nuscenes", path, err))
        return false;
    rig = fields_load(path, SCENE_MAX_JSON_BYTES,
                      "--from takes a rig in JSON, as samples/rigs has them", err);
    if (!rig || !change_rig(rig, options, err))
        return false;
    *text = json_dumps(rig, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    return scene_read_json(*text, strlen(*text), path, true, &scene, err);
}

/* ---- the size of the problem ----------------------------------------------------------------- */

static void print_rig(const SceneModel *model, FILE *out) {
    const Scene *scene = model->workload.scene;
    const BevProblem *problem = &model->problem.view;
    const Grid *grid = &scene->rig.grid;
    const ScatterStats *stats = &model->workload.maps[problem->align]->intervals.stats;
    fprintf(
        out,
        "%s\n%d cameras, features %lld x %lld, %lld depth bins, %d x %d cells of %g m, C = %lld, "
        "%s, nearest\n%s points, %s intervals, longest %lld; footprint %s, gather %s\n\n",
        scene->title, scene->rig.camera_count, (long long)problem->shape.feat_w,
        (long long)problem->shape.feat_h, (long long)problem->shape.depth_bins, grid->nx, grid->ny,
        (grid->x_max_m - grid->x_min_m) / grid->nx, (long long)problem->shape.channels,
        bev_dtypes[problem->dtype].title, text_of_unit(UNIT_COUNT, (double)stats->points).text,
        text_of_unit(UNIT_COUNT, (double)problem->map.intervals).text, (long long)stats->longest,
        text_of_unit(UNIT_BYTES, bev_footprint_total(model->memory->footprint)).text,
        text_of_unit(UNIT_BYTES, bev_traffic_total(model->memory->gather)).text);
}

static void add_gpu(Report *report, const SceneModel *model, int place) {
    const Gpu *gpu = &model->memory->gpus[place];
    const BevKernel *v2 = model_row(bev_baseline(BEV_CPU, BEV_FORWARD));
    const PredictedKernel *baseline = model_kernel(model->memory, v2);
    Prediction best = {.latency_us = NAN};
    const PredictedKernel *kernel = findings_fastest(model->memory, place, NULL, &best);
    double v2_us = baseline ? baseline->predicted[place].latency_us : NAN;
    double bytes = bev_footprint_total(model->memory->footprint);
    report_row(report);
    add_text(report, "gpu", "GPU", gpu->title);
    add_real(report, "l2_mib", "L2 MiB", 3, gpu->l2_bytes / 1048576);
    add_real(report, "footprint_percent", "% of L2", 3, 100 * bytes / gpu->l2_bytes);
    add_text(report, "regime", "regime", bev_regimes[bev_regime(bytes, gpu->l2_bytes)].name);
    add_text(report, "fastest", "fastest", kernel ? kernel->title : NULL);
    add_real(report, "model_us", "model us", 3, best.latency_us);
    add_text(report, "limiter", "limited by", kernel ? term_names[best.limiter] : NULL);
    static char over[48]; /* lives as long as the report */
    snprintf(over, sizeof over, "over %s", v2->name);
    add_real(report, "over_v2", over, 3, v2_us / best.latency_us);
}

/* Describes the rig with all kernels of the model, on the chosen GPUs. The rig is loaded from a
 * file in memory, because a signal could leave a file on disk behind. */
static bool describe_rig(const Options *options, const char *text, Err *err) {
    static ChosenGpus chosen;
    static SceneModel model;
    int file = memfd_create("rig", MFD_CLOEXEC);
    const ShortText path = short_text("/proc/self/fd/%d", file);
    if (file < 0 || !data_write_all(file, text, strlen(text)))
        return err_set(err, ERR_FAILED, "rig", "", "no file in memory: %s", strerror(errno));
    Report report = {0};
    Options to_screen = *options; /* -o names the file of the rig, not of the table */
    to_screen.output = NULL;
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    bool ok =
        chosen_open(options, (1u << gpu_count) - 1, &chosen, err) &&
        scene_model_open(&model, path.text, options, dtype, BEV_NEAREST, &chosen, MODEL_ALL, err);
    if (ok && !model.problem.view.map.points)
        return err_set(err, ERR_FAILED, "rig", "look at --depth, --reach and the cameras' poses",
                       "no camera sees a cell");
    for (int i = 0; ok && i < chosen.count; i++)
        add_gpu(&report, &model, i);
    if (ok && output_printer(options))
        print_rig(&model, stdout);
    return ok && output_report(&to_screen, &report, json_object(), err);
}

bool cmd_rig(const Options *options, Err *err) {
    const char *path = options->output;
    static char *text;
    const bool printed = path && !strcmp(path, "-"); /* the rig is on standard output */
    return make_rig_text(options, &text, err) &&
           (!path || data_write(path, text, strlen(text), err)) &&
           (printed || describe_rig(options, text, err));
}
