#include "src/cli/plots.h"

#include "src/cachesim/memory_model.h"
#include "src/accuracy/fp64.h"
#include "src/cli/ceilings.h"
#include "src/cli/choices.h"
#include "src/cli/pooled.h"
#include "src/base/nearest.h"
#include "src/view/chart/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200 };

static FigureTheme theme_of(const PlotRequest *request) {
    int theme = request->options->theme ? choices_find(CHOICE_THEME, request->options->theme) : 0;
    return (FigureTheme)theme;
}

static bool png_of(Image *image, bool drawn, uint8_t **bytes, size_t *length, Err *err) {
    bool ok = drawn && image_png(image, bytes, length, err);
    image_free(image);
    return ok;
}

bool plots_lines(const PlotRequest *request, PlotLines *spec, uint8_t **bytes, size_t *length,
                 Err *err) {
    Image image = {0};
    spec->theme = theme_of(request);
    if (request->svg)
        return plot_lines_svg(spec, bytes, length, err);
    return png_of(&image, plot_lines_image(spec, &image, err), bytes, length, err);
}

bool plots_bars(const PlotRequest *request, PlotBars *spec, uint8_t **bytes, size_t *length,
                Err *err) {
    Image image = {0};
    spec->theme = theme_of(request);
    if (request->svg)
        return plot_bars_svg(spec, bytes, length, err);
    return png_of(&image, plot_bars_image(spec, &image, err), bytes, length, err);
}

/* ---- charts of the memory model -------------------------------------------------------------- */

/* The GPUs that were asked for, then all others that are known. */
static int list_gpus(const LabGpus *asked, Gpu list[MODEL_GPUS]) {
    int count = 0;
    for (; count < asked->count; count++)
        list[count] = asked->gpus[count];
    for (int i = 0; i < gpu_count && count < MODEL_GPUS; i++) {
        bool known = false;
        for (int j = 0; j < asked->count; j++)
            known = known || !strcmp(asked->gpus[j].title, gpus[i].title);
        if (!known)
            list[count++] = gpus[i];
    }
    return count;
}

/* Of the lab's problem, with what was walked there. Free it. */
static MemoryModel *model_of(const PlotRequest *request, Err *err) {
    const Lab *lab = request->lab;
    Gpu list[MODEL_GPUS];
    MemoryModel *model = malloc(sizeof *model);
    if (!model) {
        err_set(err, ERR_FAILED, "plot", "", "out of memory");
        return NULL;
    }
    model_begin(model, &lab->problem.view, list, list_gpus(request->gpus, list));
    for (int i = 0; i < model->gpu_count; i++) {
        FigureSource source;
        Limits limits = ceilings_of(request->options, request->gpus, &list[i], &source);
        model_set_ceilings(model, i, &limits, source);
    }
    for (int i = 0; i < lab->profile_count; i++)
        model_add(model, &lab->problem.view, &lab->profiles[i]);
    return model;
}

static bool draw_chart(const PlotRequest *request, Chart chart, const MemoryModel *model,
                       const double rel_l2[BEV_DTYPE_COUNT], uint8_t **bytes, size_t *length,
                       Err *err) {
    Image image = {0};
    ChartSpec spec = {.chart = chart,
                      .scene = request->scene,
                      .model = model,
                      .asked = (1u << request->gpus->count) - 1,
                      .theme = theme_of(request)};
    for (int dtype = 0; rel_l2 && dtype < BEV_DTYPE_COUNT; dtype++)
        spec.rel_l2[dtype] = rel_l2[dtype];
    if (request->svg)
        return chart_svg(&spec, bytes, length, err);
    return png_of(&image, chart_image(&spec, &image, err), bytes, length, err);
}

static bool draw_known(const PlotRequest *request, Chart chart, uint8_t **bytes, size_t *length,
                       Err *err) {
    MemoryModel *model = model_of(request, err);
    bool ok = model && draw_chart(request, chart, model, NULL, bytes, length, err);
    free(model);
    return ok;
}

static bool draw_mrc(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    return draw_known(request, CHART_MRC, bytes, length, err);
}

static bool draw_roofline(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    return draw_known(request, CHART_ROOFLINE, bytes, length, err);
}

static bool draw_working_set(const PlotRequest *request, uint8_t **bytes, size_t *length,
                             Err *err) {
    return draw_known(request, CHART_WORKING_SET, bytes, length, err);
}

/* What the format costs in accuracy: relative L2 error against FP64 over the FP32 originals, of V3
 * as the CPU computes it. `*truth` is made for the first format and serves all. */
static bool dtype_error(Lab *lab, double **fp64_original, double *rel_l2, Err *err) {
    const BevProblem *problem = &lab->problem.view;
    KernelConfig config = {bev_twin(bev_v3(), BEV_CPU), problem->dtype, problem->align};
    Pooled pooled = {0};
    if (!*fp64_original && !(*fp64_original = fp64_of(&lab->workload, problem->align, err)))
        return false;
    bool ok = pooled_run(&pooled, &lab->workload, "", config, LATENCY_OFF, NULL, err);
    if (ok)
        *rel_l2 = format_error(&pooled.problem.view, pooled.codes, *fp64_original).rel_l2;
    pooled_free(&pooled);
    return ok;
}

static bool draw_dtype(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    WorkloadOptions workload = request->lab->workload.options;
    BevAlign align = request->lab->problem.view.align;
    unsigned kernels = lab_kernel(bev_v3());
    double *fp64_original = NULL, rel_l2[BEV_DTYPE_COUNT] = {0};
    MemoryModel *model = model_of(request, err);
    bool ok = model != NULL;
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        Lab lab;
        ok = lab_open(&lab, request->scene, &workload, (BevDtype)dtype, align, kernels, err) &&
             dtype_error(&lab, &fp64_original, &rel_l2[dtype], err);
        for (int i = 0; ok && i < lab.profile_count; i++)
            model_add(model, &lab.problem.view, &lab.profiles[i]);
        lab_close(&lab);
    }
    free(fp64_original);
    ok = ok && draw_chart(request, CHART_DTYPE, model, rel_l2, bytes, length, err);
    free(model);
    return ok;
}

/* ---- published tables ----------------------------------------------------------------------- */

enum { PUBLISHED, RECORDED, MODELLED, CALIBRATED, COMPARED_PARTS };
static const char *const compared_parts[COMPARED_PARTS] = {"published", "recorded", "model",
                                                           "model, calibrated"};

static PlotBar compared_bar(const char *group, int part, double us, double known_us) {
    PlotBar bar = {.group = group, .label = compared_parts[part]};
    for (int i = 0; i < PLOT_PARTS; i++)
        bar.parts[i] = i == part ? us : NAN;
    if (part < MODELLED)
        snprintf(bar.text, sizeof bar.text, "%.1f µs", us);
    else
        snprintf(bar.text, sizeof bar.text, "%.1f µs (%.2f times)", us, us / known_us);
    return bar;
}

/* Rows of one configuration; a chart of all six would be too long to read. */
static int compared_bars(const PlotRequest *request, const char *config, PlotBar *bars,
                         char groups[][TEXT], int max) {
    int count = 0, group = 0;
    for (int i = 0; i < request->comparison->count && count + COMPARED_PARTS <= max; i++) {
        const ComparisonRow *row = &request->comparison->rows[i];
        if (strcmp(row->config, config))
            continue;
        snprintf(groups[group], TEXT, "%s %s, %s", row->kernel, bev_dtypes[row->dtype].title,
                 row->gpu->title);
        bars[count++] = compared_bar(groups[group++], row->recorded ? RECORDED : PUBLISHED,
                                     row->known_us, row->known_us);
        bars[count++] = compared_bar(NULL, MODELLED, row->model.latency_us, row->known_us);
        if (isfinite(row->calibrated_us))
            bars[count++] = compared_bar(NULL, CALIBRATED, row->calibrated_us, row->known_us);
    }
    return count;
}

static bool draw_published(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    enum { MAX_BARS = 64 };
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][TEXT], note[400];
    const char *config = request->scene;
    int count = compared_bars(request, config, bars, groups, MAX_BARS);
    if (count == 0)
        count = compared_bars(request, config = "canonical", bars, groups, MAX_BARS);
    snprintf(
        note, sizeof note,
        "The article timed a TensorRT plugin. Calibrated: walks times %.2f, one factor from its "
        "figures of V2+DO on the RTX PRO 6000 (%d sizes).\nThe model walks our map, whose "
        "longest intervals bind; the article's map is not published.",
        request->comparison->calibration, request->comparison->calibrated_from);
    PlotBars spec = {
        .title = "Published and recorded latencies beside the model",
        .subtitle = config,
        .note = note,
        .x = {"µs", true, 1, 5000},
        .part_names = compared_parts,
        .part_count = COMPARED_PARTS,
        .bars = bars,
        .bar_count = count,
    };
    return plots_bars(request, &spec, bytes, length, err);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

const PlotKind plot_kinds[] = {
    {"mrc", "which reads miss an L2 of each size, with every GPU's L2", true, false, draw_mrc},
    {"roofline", "every kernel under the ceilings of a GPU", true, false, draw_roofline},
    {"working-set", "footprint and gather traffic against each GPU's L2", false, false,
     draw_working_set},
    {"sweep", "latency against grid, channels or points, with the knee", false, false, plot_sweep},
    {"dtype", "the parts of the latency for each number format", false, false, draw_dtype},
    {"published", "published latencies beside the model", false, true, draw_published},
};
const int plot_kind_count = sizeof plot_kinds / sizeof *plot_kinds;

const PlotKind *plot_kind_find(const char *name, Err *err) {
    enum { MAX_KINDS = 16 };
    const char *names[MAX_KINDS];
    char hint[96];
    for (int i = 0; i < plot_kind_count; i++) {
        names[i] = plot_kinds[i].name;
        if (!strcmp(names[i], name))
            return &plot_kinds[i];
    }
    snprintf(hint, sizeof hint, "did you mean %s?",
             nearest_name(name, names, (size_t)plot_kind_count));
    err_set(err, ERR_USAGE, "plot", hint, "'%s' is not a kind of chart", name);
    return NULL;
}
