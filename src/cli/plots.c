/* SPDX-License-Identifier: MIT */
/* bevscope plot: draws charts of the memory model, by their names. */
#include "src/base/progress.h"
#include "src/cli/model.h"

#include "src/accuracy/fp64.h"
#include "src/base/nearest.h"
#include "src/cli/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- charts of the memory model -------------------------------------------------------------- */

/* Whether more than the L2 of a GPU of the table is changed. */
static bool is_changed(const Gpu *gpu) {
    const Gpu *row = gpu_find(gpu->name);
    const GpuEdit l2 = {.l2_mib = gpu->l2_bytes / 1048576};
    Gpu own = row ? gpu_edited(row, &l2) : *gpu;
    return !gpu_same(&own, gpu);
}

/* Gives each GPU the ceilings that were recorded of it (info --probe). */
static void set_ceilings(SceneModel *model, const ChosenGpus *chosen) {
    for (int i = 0; i < model->memory->gpu_count; i++) {
        const Gpu *gpu = &model->memory->gpus[i];
        if (is_changed(gpu)) /* no probe has measured such a GPU */
            continue;
        Limits limits = recorded_limits(&chosen->recorded, gpu);
        model_set_ceilings(model->memory, i, &limits, SOURCE_RECORDED);
    }
}

static bool draw_chart(const PlotRequest *request, Chart chart,
                       const double rel_l2[BEV_DTYPE_COUNT], Err *err) {
    SceneModel *model = request->model;
    ChartInput input = {.chart = chart,
                        .scene = model->label,
                        .model = model->memory,
                        .kernel = request->kernel,
                        .baseline = bev_baseline(BEV_CPU, BEV_FORWARD),
                        .asked = (1u << request->chosen->count) - 1,
                        .scales = ranges_label(model->workload.features->scales, BEV_FP8)};
    for (int dtype = 0; rel_l2 && dtype < BEV_DTYPE_COUNT; dtype++)
        input.rel_l2[dtype] = rel_l2[dtype];
    if (!networks_open(request->options->network, &model->memory->networks, err))
        return false;
    set_ceilings(model, request->chosen);
    model->memory->timelines = recorded_timelines(&request->chosen->recorded);
    ChartSpec *spec = chart_make(&input, err);
    bool ok = spec && output_chart(request->options, spec, request->options->output, err);
    free(spec);
    return ok;
}

/* Computes the relative L2 error of a format on the CPU against FP64 over the FP32 originals.
 * The first call computes `*fp64_original`, which the other formats share. */
static bool dtype_error(SceneModel *model, BevDtype dtype, double **fp64_original, double *rel_l2,
                        Err *err) {
    KernelConfig config = {bev_default(BEV_CPU, BEV_FORWARD), dtype, model->problem.view.align};
    Pooled pooled = {.config = config};
    bool ok = workload_problem(&model->workload, dtype, config.align, &pooled.problem, err) &&
              pooled_launch(&pooled, err);
    if (ok && !*fp64_original)
        ok = (*fp64_original = fp64_of(&pooled.problem, err)) != NULL;
    int32_t *points = ok ? gate_terms(&pooled.problem.view, err) : NULL;
    if (points) {
        const FormatError error =
            format_error(&pooled.problem.view, pooled.codes, *fp64_original, points);
        /* a chart has no room for values that are left out */
        *rel_l2 = error.left_out ? NAN : error.rel_l2;
    }
    ok = points != NULL;
    free(points);
    pooled_free(&pooled);
    return ok;
}

static bool draw_dtype(const PlotRequest *request, Err *err) {
    SceneModel *model = request->model;
    const BevProblem *own = &model->problem.view;
    unsigned kernels = model_bits(model_row(request->kernel));
    double *fp64_original = NULL, rel_l2[BEV_DTYPE_COUNT] = {0};
    bool ok = true;
    progress_plan(BEV_DTYPE_COUNT * __builtin_popcount(kernels) * model_work(&own->shape));
    for (int i = 0; ok && i < BEV_DTYPE_COUNT; i++) {
        const BevDtype dtype = (BevDtype)i;
        const BevProblem problem =
            bev_bare_problem(&own->shape, &own->map, BEV_FORWARD, dtype, own->align);
        ok = scene_model_replay(model, request->chosen, &problem, kernels, err) &&
             dtype_error(model, dtype, &fp64_original, &rel_l2[i], err);
    }
    free(fp64_original);
    return ok && draw_chart(request, CHART_DTYPE, rel_l2, err);
}

int plot_rank(const double *values, int count, int i) {
    int rank = 0;
    for (int other = 0; other < count; other++)
        rank += values[other] > values[i] || (values[other] == values[i] && other < i);
    return rank;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

#define CHART(id, word, title, idea, replays, topic) {word, idea, CHART_##id, NULL},
const PlotKind plot_kinds[] = {
    CHARTS(CHART) /* as in the live display; the others follow */
    {"sweep", "latency against grid, channels or points, marked at L2 and half of it",
     .draw = plot_sweep},
    {"objects", "how many metres the mass of each true object is off, by range",
     .draw = plot_objects},
    {"calibration", "where each method cuts a tensor's magnitudes off, and what that costs",
     .draw = plot_calibration},
    {"race", "how four kernels fill the grid, at the moments when each is done", .draw = plot_race},
    {"straggler", "when each multiprocessor works: one block runs on, or all end together",
     .draw = plot_race},
    {"published", "published latencies beside the model", .draw = plot_published},
};
#undef CHART
const int plot_kind_count = sizeof plot_kinds / sizeof *plot_kinds;

static const PlotKind *plot_kind_find(const char *name, Err *err) {
    const char *names[sizeof plot_kinds / sizeof *plot_kinds];
    char hint[256];
    for (int i = 0; i < plot_kind_count; i++) {
        names[i] = plot_kinds[i].name;
        if (!strcmp(names[i], name))
            return &plot_kinds[i];
    }
    nearest_hint(name, names, (size_t)plot_kind_count, NULL, hint, sizeof hint);
    err_set(err, ERR_USAGE, "plot", hint, "'%s' is not a kind of chart", name);
    return NULL;
}

/* ---- the command ---------------------------------------------------------------------------- */

bool cmd_plot(const Options *options, Err *err) {
    const PlotKind *kind = plot_kind_find(options->arguments[0], err);
    ChosenGpus chosen = {0};
    SceneModel model = {0};
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    BevAlign align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, BEV_NEAREST);
    bool fault, all_kernels = kind && charts[kind->chart].replays == REPLAYS_KERNELS;
    PictureFile file;
    /* the kernel that titles speak of: any row of the table, as the model needs no GPU */
    const BevKernel *kernel =
        options->kernel ? bev_kernel_find(options->kernel) : bev_default(BEV_CPU, BEV_FORWARD);
    if (!kernel)
        kernel = select_kernel(options->kernel, 1u << BEV_CPU, err);
    if (!kernel || !kind || !output_picture(options, options->output, "plot", &file, err) ||
        !select_single(options, "a chart shows one", "draw one chart for each", err) ||
        !select_fault(options, &fault, err))
        return false;
    if (fault && kind->draw != plot_objects)
        return err_set(err, ERR_USAGE, kind->name, "plot objects shows faults",
                       "this chart is of the rig without fault");
    PlotRequest request = {&model, &chosen, options, kernel};
    /* A chart of one GPU shows the first. The working set is shown for every GPU. */
    unsigned usual =
        kind->chart == CHART_WORKING_SET ? (1u << gpu_count) - 1 : 1u << (gpu_find("a6000") - gpus);
    progress_begin("plot", options->quiet);
    progress_step("the scene", 0, all_kernels ? 0.95 : 0.05);
    bool ok = chosen_open(options, usual, &chosen, err) &&
              scene_model_open(&model, options->arguments[1], options, dtype, align, &chosen,
                               all_kernels ? MODEL_ALL : 0, err);
    progress_step(kind->name, all_kernels ? 0.95 : 0.05, 1);
    ok = ok && (kind->draw ? kind->draw(&request, err)
                : charts[kind->chart].replays == REPLAYS_FORMATS
                    ? draw_dtype(&request, err)
                    : draw_chart(&request, kind->chart, NULL, err));
    progress_end();
    scene_model_close(&model);
    chosen_close(&chosen);
    return ok;
}
