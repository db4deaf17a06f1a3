/* bevscope rig: is a rig a large or a small problem, and for which GPU. A rig is a scene of an
 * empty world, in JSON; the options change some of its fields. */
#include "src/base/data.h"
#include "src/base/json_fields.h"
#include "src/base/memory_stream.h"
#include "src/base/progress.h"
#include "src/base/rescue.h"
#include "src/base/units.h"
#include "src/base/worker.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/scene/scene.h"
#include "src/ui/form.h"

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
        return err_set(err, ERR_USAGE, from, "one of " RIG_NAMES ", or a scene in JSON",
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

/* `none`: what stands in the place of a kernel that is not known, or not yet; NULL: a gap. */
static void add_gpu(Report *report, const SceneModel *model, const Gpu *gpu, const char *none) {
    Prediction best = {0};
    double v2_us = NAN, bytes = bev_footprint_total(bev_footprint(&model->problem.view));
    const BevKernel *kernel = fastest(model, gpu, &best, &v2_us);
    report_row(report);
    report_add(report, "gpu", "GPU", 0, cell_text(gpu->title));
    report_add(report, "l2_mib", "L2 MiB", 3, cell_real(gpu->l2_bytes / 1048576));
    report_add(report, "footprint_percent", "% of L2", 3, cell_real(100 * bytes / gpu->l2_bytes));
    report_add(report, "regime", "regime", 0,
               cell_text(bev_regimes[bev_regime(bytes, gpu->l2_bytes)].name));
    report_add(report, "fastest", "fastest", 0, cell_text(kernel ? kernel->title : none));
    report_add(report, "model_us", "model us", 3, cell_real(kernel ? best.latency_us : NAN));
    report_add(report, "binds", "binds", 0, cell_text(kernel ? term_names[best.binding] : NULL));
    static char over[48]; /* lives as long as the report; the row, as three are called V2 */
    snprintf(over, sizeof over, "over row %s", model_row(bev_baseline(BEV_CPU, BEV_FORWARD))->name);
    report_add(report, "over_v2", over, 3, cell_real(v2_us / best.latency_us));
}

static bool print_all(const Options *options, const SceneModel *model, const ChosenGpus *chosen,
                      Err *err) {
    Report report = {0};
    for (int i = 0; i < chosen->count; i++)
        add_gpu(&report, model, &chosen->gpus[i], NULL);
    Options to_screen = *options; /* -o is the rig's file */
    to_screen.output = NULL;
    if (output_printer(options))
        print_rig(model, stdout);
    bool ok = output_report(&to_screen, &report, json_object(), err);
    report_free(&report);
    return ok;
}

/* Models the rig in `path`, and the kernels of the mask on it. */
static bool open_rig(const Options *options, const char *path, unsigned kernels, SceneModel *model,
                     Err *err) {
    const WorkloadOptions usual = select_workload(options);
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    return scene_model_open(model, path, &usual, dtype, BEV_NEAREST, BEV_FORWARD, kernels, err) &&
           (model->problem.view.map.points ||
            err_set(err, ERR_FAILED, "rig", "look at --depth, --reach and the cameras' poses",
                    "no camera sees a cell"));
}

static bool describe(const Options *options, const char *path, Err *err) {
    ChosenGpus chosen = {0};
    SceneModel model = {0};
    progress_begin("rig", options->quiet);
    bool ok = chosen_open(options, (1u << gpu_count) - 1, &chosen, err) &&
              open_rig(options, path, ALL_KERNELS, &model, err);
    progress_end();
    ok = ok && print_all(options, &model, &chosen, err);
    scene_model_close(&model);
    chosen_close(&chosen);
    return ok;
}

static void name_temporary(char path[PATH_MAX]) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/bevscope-rig-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
}

/* Writes the rig of the options to `path`. */
static bool write_rig(const Options *options, const char *path, Err *err) {
    char *text;
    if (!rig_text(options, &text, err))
        return false;
    bool ok = data_write(path, text, strlen(text), err);
    free(text);
    return ok;
}

static bool run_line(const Options *options, Err *err) {
    char temporary[PATH_MAX];
    if (options->output)
        return write_rig(options, options->output, err) && describe(options, options->output, err);
    name_temporary(temporary);
    bool ok = write_rig(options, temporary, err) && describe(options, temporary, err);
    unlink(temporary);
    return ok;
}

/* ---- the form -------------------------------------------------------------------------------- */

enum { FROM, INPUT, STRIDE, DEPTH, REACH, CELL, CHANNELS, DTYPE, FIELDS };

/* The names are those of the options. */
static const FormField beginnings[FIELDS] = {
    {"from", "the rig to begin with; all else starts over", RIG_NAMES, NULL, "nuscenes", ""},
    {"input", "pixels of the network's input, lower rows kept",
     "352x128 512x256 640x480 704x256 768x512 960x512", "0123456789x", "", ""},
    {"stride", "pixels from one feature to the next", "4 8 16 32", "0123456789", "", ""},
    {"depth", "bins in metres, START:STOP:STEP", "1:45:0.5 1:60:0.5 1:60:1 2:58:0.5 1:100:1",
     "0123456789.:", "", ""},
    {"reach", "metres from the car to the grid's edge", "10 25.6 32 51.2 64 102.4", "0123456789.",
     "", ""},
    {"cell", "side of a cell in metres", "0.1 0.2 0.4 0.8 1.6", "0123456789.", "", ""},
    {"channels", "C, feature channels", "16 32 64 80 128 256", "0123456789", "", ""},
    {"dtype", "the format of depth, features and grid", "fp32 fp16 bf16 fp8", NULL, "fp16", ""},
};

typedef struct {
    FormField fields[FIELDS];
    const Options *options; /* of the command line */
    ChosenGpus chosen;
    Worker worker;                        /* replays the kernels */
    SceneModel *next;                     /* under the lock: what it is to take; NULL: nothing */
    char line[FIELDS * (FORM_TEXT + 16)]; /* under the lock: the command line of `next` */
    int64_t asked;                        /* under the lock: answers that were begun */
    char *answer;                         /* under the lock: lines, malloc'd; NULL: no memory */
} RigForm;

/* The command line of the fields: as one text, and parsed. The options point into `words`. */
typedef struct {
    char words[FIELDS][FORM_TEXT + 16], line[FIELDS * (FORM_TEXT + 16)];
    Options options;
} RigLine;

static bool line_of(const RigForm *form, RigLine *line, Err *err) {
    char *arguments[FIELDS + 2] = {"bevscope", "rig"};
    int count = 2;
    size_t used = (size_t)snprintf(line->line, sizeof line->line, "bevscope rig");
    for (int i = 0; i < FIELDS; i++) {
        const FormField *field = &form->fields[i];
        if (i != FROM && !field->text[0])
            continue;
        snprintf(line->words[i], sizeof line->words[i], "--%s=%s", field->name, form_value(field));
        arguments[count++] = line->words[i];
        used += (size_t)snprintf(line->line + used, sizeof line->line - used, " --%s %s",
                                 field->name, form_value(field));
    }
    return options_parse(&line->options, count, arguments, err);
}

/* The rig's own values. */
static void begin_from(RigForm *form) {
    static const int kept[] = {FROM, DTYPE};
    FormField *fields = form->fields, old[] = {fields[FROM], fields[DTYPE]};
    char path[PATH_MAX];
    Err err;
    memcpy(fields, beginnings, sizeof beginnings);
    for (int i = 0; i < 2; i++)
        if (old[i].name)
            fields[kept[i]] = old[i];
    json_t *rig = rig_path(form_value(&fields[FROM]), path, &err)
                      ? fields_load(path, SCENE_MAX_JSON_BYTES, &err)
                      : NULL;
    const json_t *frustum = json_object_get(rig, "frustum"), *grid = json_object_get(rig, "grid");
    const json_t *depth = json_object_get(frustum, "depth_m"), *x = json_object_get(grid, "x_m");
    int input[2], features[2], cells[2];
    if (two(frustum, "input_px", input) && two(frustum, "features", features)) {
        snprintf(fields[INPUT].usual, FORM_TEXT, "%dx%d", input[0], input[1]);
        snprintf(fields[STRIDE].usual, FORM_TEXT, "%d", input[0] / features[0]);
    }
    snprintf(
        fields[DEPTH].usual, FORM_TEXT, "%g:%g:%g", json_number_value(json_array_get(depth, 0)),
        json_number_value(json_array_get(depth, 1)), json_number_value(json_array_get(depth, 2)));
    double reach_m = json_number_value(json_array_get(x, 1));
    snprintf(fields[REACH].usual, FORM_TEXT, "%g", reach_m);
    if (two(grid, "cells", cells))
        snprintf(fields[CELL].usual, FORM_TEXT, "%g", 2 * reach_m / cells[0]);
    snprintf(fields[CHANNELS].usual, FORM_TEXT, "%lld",
             (long long)json_integer_value(json_object_get(rig, "channels")));
    json_decref(rig);
}

static void rig_changed(void *owner, int field) {
    if (field == FROM)
        begin_from(owner);
}

/* The answer as lines, malloc'd; NULL: no memory. Of a rig that is refused, the error. */
static char *answer_lines(const RigForm *form, const char *line, const SceneModel *model,
                          bool so_far, const Err *refused) {
    MemoryStream text;
    Report report = {0};
    Err err;
    if (!memory_stream_open(&text, &err))
        return NULL;
    fprintf(text.stream, "%s%s\n", line, so_far ? "   (fastest so far)" : "");
    if (!model) {
        char why[sizeof *refused];
        err_line(refused, why, sizeof why);
        fprintf(text.stream, "%s\n", why);
    }
    for (int i = 0; model && i < form->chosen.count; i++)
        add_gpu(&report, model, &form->chosen.gpus[i], so_far ? "..." : NULL);
    if (model) {
        print_rig(model, text.stream);
        report_text(&report, text.stream);
    }
    report_free(&report);
    return memory_stream_close(&text, "rig", &err) ? text.bytes : NULL;
}

static void close_model(SceneModel *model) {
    if (model)
        scene_model_close(model);
    free(model);
}

/* Under the lock: takes the rig that waits. Replays two kernels after the other two, the last of
 * the ladder first, and shows the fastest so far: a new value does not wait for all of them. */
static void answer_next(RigForm *form) {
    SceneModel *model = form->next;
    int64_t asked = form->asked;
    char line[sizeof form->line];
    Err err;
    bool ok = true;
    form->next = NULL;
    memcpy(line, form->line, sizeof line);
    for (int i = SCENE_KERNELS - 2; ok && i >= 0; i -= 2) {
        int count = 0;
        worker_unlock(&form->worker);
        ok = scene_model_profiles(&model->problem.view, 3u << i & ALL_KERNELS,
                                  model->profiles + model->profile_count, &count, &err);
        model->profile_count += count;
        char *lines = ok && (count || !i) ? answer_lines(form, line, model, i > 0, NULL) : NULL;
        worker_lock(&form->worker);
        ok = ok && form->asked == asked && !form->worker.stop;
        if (ok && lines) {
            free(form->answer);
            form->answer = lines;
        } else
            free(lines);
    }
    worker_unlock(&form->worker);
    close_model(model);
    worker_lock(&form->worker);
}

static void *replay_main(void *owner) {
    RigForm *form = owner;
    worker_lock(&form->worker);
    while (!form->worker.stop)
        if (form->next)
            answer_next(form);
        else
            worker_wait(&form->worker);
    worker_unlock(&form->worker);
    return NULL;
}

/* Points, footprint and regimes at once; the kernels follow from the worker. */
static void rig_compute(void *owner) {
    RigForm *form = owner;
    RigLine line = {0};
    char path[PATH_MAX];
    Err err = {.what = "out of memory"};
    SceneModel *model = calloc(1, sizeof *model);
    name_temporary(path); /* no longer than needed: a signal may end the program */
    bool ok = model && line_of(form, &line, &err) && write_rig(&line.options, path, &err) &&
              open_rig(&line.options, path, 0, model, &err);
    unlink(path);
    char *lines = answer_lines(form, line.line, ok ? model : NULL, ok, &err);
    if (!ok) {
        close_model(model);
        model = NULL;
    }
    worker_lock(&form->worker);
    close_model(form->next);
    free(form->answer);
    form->next = model;
    form->answer = lines;
    memcpy(form->line, line.line, sizeof form->line);
    form->asked++;
    worker_tell(&form->worker);
    worker_unlock(&form->worker);
}

static void rig_answer(void *owner, FILE *out) {
    RigForm *form = owner;
    worker_lock(&form->worker);
    fputs(form->answer ? form->answer : "out of memory\n", out);
    worker_unlock(&form->worker);
}

static void rig_save(void *owner, char *said, size_t size) {
    RigLine line;
    Err err;
    if (line_of(owner, &line, &err) && write_rig(&line.options, "rig.json", &err))
        snprintf(said, size, "rig.json is written: bevscope live rig.json shows it");
    else
        snprintf(said, size, "not written: %s", err.what);
}

static bool run_form(const Options *options, const Form *form, RigForm *rig, Err *err) {
    RigLine line;
    int signal = 0;
    if (!chosen_open(options, (1u << gpu_count) - 1, &rig->chosen, err) ||
        !worker_start(&rig->worker, replay_main, rig, "rig", err))
        return false;
    rig_compute(rig);
    bool ok = form_run(form, &signal, err);
    worker_end(&rig->worker);
    close_model(rig->next);
    free(rig->answer);
    chosen_close(&rig->chosen);
    if (signal)
        rescue_die(signal);
    if (ok && line_of(rig, &line, err))
        printf("%s\n", line.line);
    return ok;
}

bool cmd_rig(const Options *options, Err *err) {
    RigForm *rig;
    RigLine line;
    if (options->words || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return run_line(options, err);
    rig = calloc(1, sizeof *rig);
    if (!rig)
        return err_set(err, ERR_FAILED, "rig", "", "out of memory");
    const Form form = {"Your rig",  rig->fields, FIELDS,     rig,
                       rig_changed, rig_compute, rig_answer, rig_save};
    bool ok = true;
    begin_from(rig);
    if (form_fits())
        ok = run_form(options, &form, rig, err);
    else {
        form_ask(&form);
        ok = line_of(rig, &line, err);
        printf("\n%s\n", line.line);
        ok = ok && run_line(&line.options, err);
    }
    free(rig);
    return ok;
}
