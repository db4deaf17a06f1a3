/* SPDX-License-Identifier: MIT */
/* bevscope rig: shows whether a rig is a large or a small problem, on each GPU. A rig is a scene of
 * an empty world, in JSON. The options change some of its fields (rig_change.c). */
#include "src/base/data.h"
#include "src/base/progress.h"
#include "src/base/units.h"
#include "src/cachesim/findings.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void print_rig(const SceneModel *model, FILE *out) {
    const Scene *scene = model->workload.scene;
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
        "%s, nearest\n%s points, %s intervals, longest %lld; footprint %s, gather %s\n\n",
        scene->title, scene->rig.camera_count, (long long)problem->shape.feat_w,
        (long long)problem->shape.feat_h, (long long)problem->shape.depth_bins, grid->nx, grid->ny,
        (grid->x_max_m - grid->x_min_m) / grid->nx, (long long)problem->shape.channels,
        bev_dtypes[problem->dtype].title, points, intervals, (long long)stats.longest, footprint,
        gathered);
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
    report_add(report, "gpu", "GPU", 0, cell_text(gpu->title));
    report_add(report, "l2_mib", "L2 MiB", 3, cell_real(gpu->l2_bytes / 1048576));
    report_add(report, "footprint_percent", "% of L2", 3, cell_real(100 * bytes / gpu->l2_bytes));
    report_add(report, "regime", "regime", 0,
               cell_text(bev_regimes[bev_regime(bytes, gpu->l2_bytes)].name));
    report_add(report, "fastest", "fastest", 0, cell_text(kernel ? kernel->title : NULL));
    report_add(report, "model_us", "model us", 3, cell_real(best.latency_us));
    report_add(report, "limiter", "limited by", 0,
               cell_text(kernel ? term_names[best.limiter] : NULL));
    static char over[48]; /* lives as long as the report */
    snprintf(over, sizeof over, "over %s", v2->name);
    report_add(report, "over_v2", over, 3, cell_real(v2_us / best.latency_us));
}

static bool print_rig_report(const Options *options, const SceneModel *model,
                             const ChosenGpus *chosen, Err *err) {
    Report report = {0};
    for (int i = 0; i < chosen->count; i++)
        add_gpu(&report, model, i);
    Options to_screen = *options; /* -o names the rig's file */
    to_screen.output = NULL;
    if (output_printer(options))
        print_rig(model, stdout);
    bool ok = output_report(&to_screen, &report, json_object(), err);
    report_free(&report);
    return ok;
}

/* Opens a model of the rig in `path`, with all kernels. */
static bool open_rig(const Options *options, const char *path, const ChosenGpus *chosen,
                     SceneModel *model, Err *err) {
    const Job usual = select_job(options);
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    return scene_model_open(model, path, &usual, dtype, BEV_NEAREST, chosen, MODEL_ALL, err) &&
           (model->problem.view.map.points ||
            err_set(err, ERR_FAILED, "rig", "look at --depth, --reach and the cameras' poses",
                    "no camera sees a cell"));
}

static bool describe_rig(const Options *options, const char *path, Err *err) {
    ChosenGpus chosen = {0};
    SceneModel model = {0};
    progress_begin("rig", options->quiet);
    bool ok = chosen_open(options, (1u << gpu_count) - 1, &chosen, err) &&
              open_rig(options, path, &chosen, &model, err);
    progress_end();
    ok = ok && print_rig_report(options, &model, &chosen, err);
    scene_model_close(&model);
    chosen_close(&chosen);
    return ok;
}

/* Describes the rig from a file in memory, which no signal can leave behind. */
static bool describe_text(const Options *options, const char *text, Err *err) {
    char path[64];
    int file = memfd_create("rig", MFD_CLOEXEC);
    bool written = file >= 0 && data_write_all(file, text, strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool ok = written
                  ? describe_rig(options, path, err)
                  : err_set(err, ERR_FAILED, "rig", "", "no file in memory: %s", strerror(errno));
    if (file >= 0)
        close(file);
    return ok;
}

bool cmd_rig(const Options *options, Err *err) {
    const char *path = options->output;
    char *text;
    if (!rig_changed_text(options, &text, err))
        return false;
    bool ok = !path || data_write(path, text, strlen(text), err);
    if (!path || strcmp(path, "-")) /* not beside the rig on standard output */
        ok = ok && describe_text(options, text, err);
    free(text);
    return ok;
}
