/* bevscope rig: is a rig a large or a small problem, and for which GPU. A rig is a scene of an
 * empty world, in JSON; the options change some of its fields (rig_change.c). */
#include "src/base/data.h"
#include "src/base/memory_stream.h"
#include "src/base/progress.h"
#include "src/base/rescue.h"
#include "src/base/units.h"
#include "src/base/worker.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/ui/form.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what it comes to -------------------------------------------------------------------------
 */

/* "images: 1550 x 2048 front, 2048 x 1550 6 cameras", where sizes differ. */
static void print_images(const Rig *rig, FILE *out) {
    for (int i = 0, sizes = 0; !rig_has_one_cut(rig) && i < rig->camera_count; i++) {
        const ImageCut *cut = &rig->cameras[i].cut;
        int same = 0, before = 0;
        for (int k = 0; k < rig->camera_count; k++)
            if (rig->cameras[k].cut.image_w == cut->image_w &&
                rig->cameras[k].cut.image_h == cut->image_h) {
                same++;
                before += k < i;
            }
        if (before)
            continue;
        fprintf(out, "%s%d x %d of ", sizes++ ? ", " : "images ", cut->image_w, cut->image_h);
        if (same == 1)
            fputs(rig->cameras[i].name, out);
        else
            fprintf(out, "%d cameras", same);
    }
    if (!rig_has_one_cut(rig))
        fputs("; each resized and cropped to the input\n", out);
}

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
        "%s, nearest\n%s points, %s intervals, longest %lld; footprint %s, gather %s\n",
        scene->title, scene->rig.camera_count, (long long)problem->shape.feat_w,
        (long long)problem->shape.feat_h, (long long)problem->shape.depth_bins, grid->nx, grid->ny,
        (grid->x_max_m - grid->x_min_m) / grid->nx, (long long)problem->shape.channels,
        bev_dtypes[problem->dtype].title, points, intervals, (long long)stats.longest, footprint,
        gathered);
    print_images(&scene->rig, out);
    fputc('\n', out);
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
    snprintf(over, sizeof over, "over %s", model_row(bev_baseline(BEV_CPU, BEV_FORWARD))->name);
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
    return scene_model_open(model, path, &usual, dtype, BEV_NEAREST, kernels, err) &&
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

/* The rig of the options in a file in memory, which no signal leaves behind; `path` names it until
 * it is closed. -1: an error. */
static int rig_in_memory(const Options *options, char path[64], Err *err) {
    char *text;
    if (!rig_changed_text(options, &text, err))
        return -1;
    int file = memfd_create("rig", MFD_CLOEXEC);
    bool written = file >= 0 && data_write_all(file, text, strlen(text));
    if (!written)
        err_set(err, ERR_FAILED, "rig", "", "no file in memory: %s", strerror(errno));
    if (!written && file >= 0)
        close(file);
    free(text);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return written ? file : -1;
}

static bool write_rig(const Options *options, const char *path, Err *err) {
    char *text;
    if (!rig_changed_text(options, &text, err))
        return false;
    bool ok = data_write(path, text, strlen(text), err);
    free(text);
    return ok;
}

static bool run_line(const Options *options, Err *err) {
    char path[64];
    if (options->output)
        return write_rig(options, options->output, err) && describe(options, options->output, err);
    int file = rig_in_memory(options, path, err);
    bool ok = file >= 0 && describe(options, path, err);
    if (file >= 0)
        close(file);
    return ok;
}

/* ---- the form -------------------------------------------------------------------------------- */

enum { FROM, IMAGE, INPUT, STRIDE, DEPTH, REACH, CELL, CHANNELS, DTYPE, FIELDS };

/* The names are those of the options. */
static const FormField beginnings[FIELDS] = {
    {"from", "the rig to begin with; all else starts over", RIG_NAMES, NULL, "nuscenes", ""},
    {"image", "pixels of all images; of one: 1=1550x2048",
     "640x480 1280x720 1600x900 1920x1080 1920x1280 2048x1550", "0123456789x=@.,", "", ""},
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
    Err err;
    memcpy(fields, beginnings, sizeof beginnings);
    for (int i = 0; i < 2; i++)
        if (old[i].name)
            fields[kept[i]] = old[i];
    json_t *rig = rig_load(form_value(&fields[FROM]), &err);
    const json_t *frustum = json_object_get(rig, "frustum"), *grid = json_object_get(rig, "grid");
    const json_t *depth = json_object_get(frustum, "depth_m"), *x = json_object_get(grid, "x_m");
    int image[2], input[2], features[2], cells[2];
    if (rig_two(frustum, "image_px", image))
        snprintf(fields[IMAGE].usual, FORM_TEXT, "%dx%d", image[0], image[1]);
    if (rig_two(frustum, "input_px", input) && rig_two(frustum, "features", features)) {
        snprintf(fields[INPUT].usual, FORM_TEXT, "%dx%d", input[0], input[1]);
        snprintf(fields[STRIDE].usual, FORM_TEXT, "%d", input[0] / features[0]);
    }
    snprintf(
        fields[DEPTH].usual, FORM_TEXT, "%g:%g:%g", json_number_value(json_array_get(depth, 0)),
        json_number_value(json_array_get(depth, 1)), json_number_value(json_array_get(depth, 2)));
    double reach_m = json_number_value(json_array_get(x, 1));
    snprintf(fields[REACH].usual, FORM_TEXT, "%g", reach_m);
    if (rig_two(grid, "cells", cells))
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
    fprintf(text.stream, "%s%s\n", line,
            so_far ? "   (other kernels are being simulated: the fastest so far)" : "");
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
    char path[64];
    int file = -1;
    Err err = {.what = "out of memory"};
    SceneModel *model = calloc(1, sizeof *model);
    bool ok = model && line_of(form, &line, &err) &&
              (file = rig_in_memory(&line.options, path, &err)) >= 0 &&
              open_rig(&line.options, path, 0, model, &err);
    if (file >= 0)
        close(file);
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
