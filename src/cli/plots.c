/* bevscope plot: the kinds of charts of the memory model, by name. */
#include "src/base/progress.h"
#include "src/cli/model.h"

#include "src/cachesim/memory_model.h"
#include "src/accuracy/fp64.h"
#include "src/cli/selection.h"
#include "src/base/data.h"
#include "src/base/nearest.h"
#include "src/run/recorded.h"

#include <math.h>
#include <string.h>

enum { TEXT = 200 };

/* ---- charts of the memory model -------------------------------------------------------------- */

/* The GPUs that were asked for, then all others that are known. */
static int list_gpus(const ChosenGpus *asked, Gpu list[MODEL_GPUS]) {
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

/* Adds every kernel that was replayed, and what was recorded of it. */
static void add_profiles(MemoryModel *memory, const ChosenGpus *chosen, const SceneModel *model) {
    for (int i = 0; i < model->profile_count; i++) {
        const BevKernel *kernel = model->profiles[i].kernel;
        model_add(memory, &model->problem.view, &model->profiles[i]);
        for (int gpu = 0; gpu < chosen->count; gpu++)
            model_set_recorded(memory, kernel, model->problem.view.dtype, gpu,
                               chosen_recorded_us(chosen, &chosen->gpus[gpu], model, kernel->name,
                                                  CACHE_WARM, NULL));
    }
}

/* The memory model of the request's problem, with every kernel that was replayed. Free it. */
static MemoryModel *memory_model(const PlotRequest *request, Err *err) {
    const SceneModel *model = request->model;
    Gpu list[MODEL_GPUS];
    MemoryModel *memory = malloc(sizeof *memory);
    if (!memory) {
        err_set(err, ERR_FAILED, "plot", "", "out of memory");
        return NULL;
    }
    model_begin(memory, &model->problem.view, list, list_gpus(request->chosen, list));
    for (int i = 0; i < memory->gpu_count; i++) {
        FigureSource source;
        Limits limits = chosen_limits(request->options, request->chosen, &list[i], &source);
        model_set_ceilings(memory, i, &limits, source);
    }
    add_profiles(memory, request->chosen, model);
    RecordedSet recorded;
    if (networks_open(request->options->network, &memory->networks, err) &&
        recorded_load_samples(&recorded, err)) {
        memory->timelines = recorded_timelines(&recorded);
        recorded_free(&recorded);
        return memory;
    }
    free(memory);
    return NULL;
}

static bool draw_chart(const PlotRequest *request, Chart chart, const MemoryModel *memory,
                       const double rel_l2[BEV_DTYPE_COUNT], Err *err) {
    ChartInput input = {.chart = chart,
                        .scene = request->model->label,
                        .model = memory,
                        .kernel = bev_default(BEV_CPU, BEV_FORWARD),
                        .baseline = bev_baseline(BEV_CPU, BEV_FORWARD),
                        .asked = (1u << request->chosen->count) - 1,
                        .scales = ranges_label(request->model->workload.features->scales, BEV_FP8)};
    for (int dtype = 0; rel_l2 && dtype < BEV_DTYPE_COUNT; dtype++)
        input.rel_l2[dtype] = rel_l2[dtype];
    ChartSpec *spec = chart_make(&input, err);
    bool ok = spec && plots_chart(request, spec, err);
    free(spec);
    return ok;
}

/* The format's cost in accuracy: the relative L2 error of V3, as the CPU computes it, against FP64
 * over the FP32 originals. `*fp64_original` is computed for the first format, for all. */
static bool dtype_error(SceneModel *model, double **fp64_original, double *rel_l2, Err *err) {
    const BevProblem *problem = &model->problem.view;
    KernelConfig config = {bev_twin(bev_v3(), BEV_CPU), problem->dtype, problem->align};
    Pooled pooled = {0};
    bool ok = pooled_run(&pooled, &model->workload, "", config, LATENCY_OFF, NULL, err);
    if (ok && !*fp64_original)
        ok = (*fp64_original = fp64_of(&pooled.problem, err)) != NULL;
    int32_t *points = ok ? gate_terms(problem, err) : NULL;
    ok = points != NULL;
    if (ok) {
        const FormatError error =
            format_error(&pooled.problem.view, pooled.codes, *fp64_original, points);
        *rel_l2 =
            error.left_out ? NAN : error.rel_l2; /* a chart has no room for what is left out */
    }
    free(points);
    pooled_free(&pooled);
    return ok;
}

static bool draw_dtype(const PlotRequest *request, Err *err) {
    Job workload = request->model->workload.job;
    BevAlign align = request->model->problem.view.align;
    unsigned kernels = kernel_bits(bev_v3());
    double *fp64_original = NULL, rel_l2[BEV_DTYPE_COUNT] = {0};
    MemoryModel *memory = memory_model(request, err);
    bool ok = memory != NULL;
    progress_plan(BEV_DTYPE_COUNT * __builtin_popcount(kernels) *
                  shape_work(&request->model->problem.view.shape));
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        SceneModel model;
        ok = scene_model_open(&model, request->model->scene, &workload, (BevDtype)dtype, align,
                              kernels, err) &&
             dtype_error(&model, &fp64_original, &rel_l2[dtype], err);
        if (ok)
            add_profiles(memory, request->chosen, &model);
        scene_model_close(&model);
    }
    free(fp64_original);
    ok = ok && draw_chart(request, CHART_DTYPE, memory, rel_l2, err);
    free(memory);
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
    char text[32];
    figure_text(UNIT_US, us, text, sizeof text);
    if (part < MODELLED)
        snprintf(bar.text, sizeof bar.text, "%s", text);
    else
        snprintf(bar.text, sizeof bar.text, "%s (%.2f times)", text, us / known_us);
    return bar;
}

/* The bars of one configuration; a chart of all six would be too long to read. */
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

static bool draw_published(const PlotRequest *request, Err *err) {
    enum { MAX_BARS = 64 };
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][TEXT], note[800];
    const char *config = request->model->scene;
    int count = compared_bars(request, config, bars, groups, MAX_BARS);
    if (count == 0)
        count = compared_bars(request, config = "canonical", bars, groups, MAX_BARS);
    snprintf(
        note, sizeof note,
        "The article timed a TensorRT plugin. Calibrated: longest intervals times %.2f, one "
        "factor from its figures of V2+DO on the RTX PRO 6000 (%d size%s).\n"
        "The model replays our map, whose longest intervals bind; the article's map is not "
        "published.\n"
        "RTX PRO 6000: %s. V3 on the RTX A6000: the form for small L2s. In the model its longest "
        "interval binds, in the article DRAM does: agreement would prove nothing. "
        "README and regime show the model without that factor.",
        request->comparison->calibration, request->comparison->calibrated_from,
        request->comparison->calibrated_from == 1 ? "" : "s", gpu_find("pro6000")->note);
    ChartSpec spec = {
        .title = "Published and recorded latencies beside the model",
        .subtitle = config,
        .note = note,
        .x = {.title = "µs", .log = true, .lo = 1, .hi = 5000},
        .part_names = compared_parts,
        .part_count = COMPARED_PARTS,
        .bars = bars,
        .bar_count = count,
    };
    return plots_chart(request, &spec, err);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

const PlotKind plot_kinds[] = {
    {"mrc", "which reads miss an L2 of each size, with every GPU's L2", true, false, CHART_MRC,
     NULL},
    {"roofline", "every kernel under the ceilings of a GPU", true, false, CHART_ROOFLINE, NULL},
    {"working-set", "the footprint against each GPU's L2", false, false, CHART_WORKING_SET, NULL},
    {"sweep", "latency against grid, channels or points, marked at L2 and half of it", false, false,
     CHART_NONE, plot_sweep},
    {"dtype", "the parts of the latency for each number format", false, false, CHART_DTYPE,
     draw_dtype},
    {"terms", "what binds each kernel on a GPU, the fastest first", true, false, CHART_TERMS, NULL},
    {"network", "pooling within two published networks, or that of --network; Amdahl's bound", true,
     false, CHART_NETWORK, NULL},
    {"timeline", "when launches begin and end: one by one, in a graph, with copies", false, false,
     CHART_TIMELINE, NULL},
    {"objects", "how many metres the mass of each true object is off, by range", false, false,
     CHART_NONE, plot_objects},
    {"prune", "how few points hold how much of the mass", false, false, CHART_NONE, plot_prune},
    {"calibration", "where each method cuts a tensor's magnitudes off, and what that costs", false,
     false, CHART_NONE, plot_calibration},
    {"published", "published latencies beside the model", false, true, CHART_NONE, draw_published},
};
const int plot_kind_count = sizeof plot_kinds / sizeof *plot_kinds;

static const PlotKind *plot_kind_find(const char *name, Err *err) {
    enum { MAX_KINDS = 16 };
    const char *names[MAX_KINDS];
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

static bool plot_kind_draw(const PlotKind *kind, const PlotRequest *request, Err *err) {
    if (kind->draw)
        return kind->draw(request, err);
    MemoryModel *memory = memory_model(request, err);
    bool ok = memory && draw_chart(request, kind->chart, memory, NULL, err);
    free(memory);
    return ok;
}

/* ---- the command ---------------------------------------------------------------------------- */

bool cmd_plot(const Options *options, Err *err) {
    const PlotKind *kind = plot_kind_find(options->arguments[0], err);
    Job workload = select_job(options);
    Comparison comparison = {0};
    ChosenGpus chosen = {0};
    SceneModel model = {0};
    BevDtype dtype;
    BevAlign align;
    uint8_t *bytes = NULL;
    size_t length = 0;
    if (!kind || !output_picture(options, "plot", err) ||
        !scene_model_formats(options, &dtype, &align, err))
        return false;
    bool fault;
    if (!select_fault(options, &fault, err))
        return false;
    if (fault && kind->draw != plot_objects)
        return err_set(err, ERR_USAGE, kind->name, "plot objects shows faults",
                       "this chart is of the rig without fault");
    PlotRequest request = {.model = &model,
                           .chosen = &chosen,
                           .comparison = &comparison,
                           .options = options,
                           .svg = output_is_svg(options->output),
                           .bytes = &bytes,
                           .length = &length};
    /* Charts of one GPU show the first; the working set is shown against every GPU. */
    unsigned usual =
        kind->chart == CHART_WORKING_SET ? (1u << gpu_count) - 1 : 1u << (gpu_find("a6000") - gpus);
    progress_begin("plot", options->quiet);
    progress_step("the scene", 0, kind->needs_profiles ? 0.95 : 0.05);
    bool ok = chosen_open(options, usual, &chosen, err) &&
              scene_model_open(&model, options->arguments[1], &workload, dtype, align,
                               kind->needs_profiles ? ALL_KERNELS : 0, err);
    progress_step(kind->name, kind->needs_profiles ? 0.95 : 0.05, 1);
    ok = ok && (!kind->needs_comparison || comparison_make(&chosen, &comparison, err)) &&
         plot_kind_draw(kind, &request, err) && data_write(options->output, bytes, length, err);
    progress_end();
    free(bytes);
    scene_model_close(&model);
    chosen_close(&chosen);
    return ok;
}
