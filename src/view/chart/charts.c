/* SPDX-License-Identifier: MIT */
/* The charts of the memory model: one function a chart fills its spec; the table is at the end. */
#include "src/view/chart/live_chart.h"

#include "kernels/regime.h"
#include "src/cachesim/findings.h"
#include "src/view/chart/charts_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

void chart_describe(const ChartInput *input, char text[TEXT]) {
    const MemoryModel *model = input->model;
    char points[32];
    unit_text(UNIT_COUNT, (double)model->points, points, sizeof points);
    snprintf(text, TEXT, "%s, %s, %s, C = %lld, %s points", input->scene,
             bev_dtypes[model->dtype].title, bev_aligns[model->align].name,
             (long long)model->channels, points);
}

void chart_describe_gpu(const ChartInput *input, char *text, size_t size) {
    char changed[96];
    gpu_edit_text(&input->edit, changed, sizeof changed);
    snprintf(text, size, "%s%s", input->model->gpus[input->gpu].title, changed);
}

void chart_describe_on(ChartData *data) {
    char what[TEXT], on[128];
    chart_describe(data->input, what);
    chart_describe_gpu(data->input, on, sizeof on);
    snprintf(data->subtitle, sizeof data->subtitle, "%s, on %s", what, on);
}

static bool is_asked(const ChartInput *input, int gpu) {
    return input->asked >> gpu & 1;
}

/* Returns the changes to a GPU of the model: only the chosen one has any. NULL: none. */
static const GpuEdit *edit_of(const ChartInput *input, int gpu) {
    return gpu == input->gpu ? &input->edit : NULL;
}

Gpu chart_gpu(const ChartInput *input, int gpu) {
    return model_gpu(input->model, gpu, edit_of(input, gpu));
}

static double l2_bytes(const ChartInput *input, int gpu) {
    return chart_gpu(input, gpu).l2_bytes;
}

Prediction chart_prediction(const ChartInput *input, const PredictedKernel *kernel, int gpu) {
    return model_predict(input->model, kernel, gpu, edit_of(input, gpu));
}

double chart_round_up(double value) {
    double step = pow(10, floor(log10(value)));
    return ceil(value / step) * step;
}

const PredictedKernel *chart_predicted(const ChartInput *input, const BevKernel *kernel, int gpu) {
    Gpu on = chart_gpu(input, gpu);
    return kernel ? model_of_kernel(input->model, kernel, &on) : NULL;
}

bool chart_is_kernel(const ChartInput *input, const PredictedKernel *row, const BevKernel *kernel) {
    const PredictedKernel *predicted = chart_predicted(input, kernel, input->gpu);
    return predicted && !strcmp(predicted->name, row->name);
}

/* Series `count` of the chart: of a kernel by its place in the model. */
static PlotSeries *add_series(ChartData *data, int count, int kernel, const double *x,
                              const double *y, int points) {
    const ChartInput *input = data->input;
    const PredictedKernel *row = &input->model->kernels[kernel];
    PlotSeries *series = &data->series[count];
    *series = plot_series(row->title, x, y, points, kernel);
    series->strong = chart_is_kernel(input, row, input->kernel);
    series->baseline = chart_is_kernel(input, row, input->baseline);
    series->peer = true;
    return series;
}

/* ---- DRAM traffic by L2 size ----------------------------------------------------------------- */

static int l2_marks(ChartData *data) {
    const ChartInput *input = data->input;
    int count = input->model->gpu_count;
    for (int gpu = 0; gpu < count; gpu++) {
        double mib = l2_bytes(input, gpu) / MIB;
        const char *title = input->model->gpus[gpu].title;
        snprintf(data->labels[gpu], TEXT, "%s, %g%s", title, mib, gpu == input->gpu ? " MiB" : "");
        data->marks[gpu] = (PlotMark){mib, data->labels[gpu], gpu == input->gpu};
    }
    chart_sort_marks(data->marks, count);
    return count;
}

static void bytes_text(const ChartInput *input, const PredictedKernel *kernel, char text[32]) {
    unit_text(UNIT_BYTES, prediction_dram_bytes(chart_prediction(input, kernel, input->gpu)), text,
              32);
}

/* "V4 moves 5.38 MB to and from DRAM on RTX A6000, V2 12.4 MB" */
static void traffic_finding(const ChartInput *input, char title[TEXT]) {
    const PredictedKernel *kernel = chart_predicted(input, input->kernel, input->gpu);
    const PredictedKernel *baseline = chart_predicted(input, input->baseline, input->gpu);
    const char *gpu = input->model->gpus[input->gpu].title;
    char bytes[32], before[32];
    if (!kernel)
        return;
    bytes_text(input, kernel, bytes);
    int used = input->room == ROOM_LOW
                   ? snprintf(title, TEXT, "DRAM moves %s for %s", bytes, kernel->title)
                   : snprintf(title, TEXT, "%s moves %s to and from DRAM on %s", kernel->title,
                              bytes, gpu);
    if (!baseline || baseline == kernel)
        return;
    bytes_text(input, baseline, before);
    snprintf(title + used, TEXT - (size_t)used, ", %s %s", baseline->title, before);
}

/* Computes the MB of a launch on the chosen GPU for each size of L2. Values below `least` are drawn
 * there. */
static void traffic_line(ChartData *data, const PredictedKernel *kernel, double least, double *y) {
    for (int i = 0; i < MRC_SIZES; i++) {
        GpuEdit edit = data->input->edit;
        edit.l2_mib = data->x[i];
        Prediction p = model_predict(data->input->model, kernel, data->input->gpu, &edit);
        y[i] = fmax(1e-6 * prediction_dram_bytes(p), least);
    }
}

/* Returns the lower edge in MB: ten times less than any kernel moves with the smallest L2 of the
 * chart. */
static double least_traffic(const ChartInput *input) {
    double least = INFINITY;
    for (int r = 0; r < input->model->kernel_count; r++) {
        const PredictedKernel *kernel = &input->model->kernels[r];
        GpuEdit edit = input->edit;
        edit.l2_mib = model_l2_mib(MODEL_L2S - MRC_SIZES);
        if (kernel->name && !kernel->kernel->wrong_on_purpose)
            least =
                fmin(least,
                     prediction_dram_bytes(model_predict(input->model, kernel, input->gpu, &edit)));
    }
    return least > 0 && isfinite(least) ? pow(10, floor(log10(1e-6 * least)) - 1) : 0.1;
}

static void fill_mrc(ChartData *data) {
    const ChartInput *input = data->input;
    double most = 1, least = least_traffic(input);
    bool sampled = false;
    int count = 0;
    for (int i = 0; i < MRC_SIZES; i++)
        data->x[i] = model_l2_mib(MODEL_L2S - MRC_SIZES + i);
    for (int r = 0; r < input->model->kernel_count; r++) {
        const PredictedKernel *predicted = &input->model->kernels[r];
        if (!predicted->name || predicted->kernel->wrong_on_purpose)
            continue;
        traffic_line(data, predicted, least, data->y[r]);
        for (int i = 0; i < MRC_SIZES; i++)
            most = fmax(most, data->y[r][i]);
        sampled = sampled || predicted->sampled;
        add_series(data, count++, r, data->x, data->y[r], MRC_SIZES);
    }
    chart_describe_on(data);
    snprintf(
        data->note, sizeof data->note,
        "Model: %s reuse distances of each kernel's access trace, behind the L1s, in lines of "
        "four 32-byte sectors; L2 warm, LRU. The other facts are those of the GPU named above. "
        "A line on the lower edge moves nothing: its working set stays in the L2.",
        sampled ? "sampled" : "exact");
    ChartSpec *spec = &data->spec;
    traffic_finding(input, data->title);
    spec->x = (PlotAxis){"size of the L2, MiB", true, data->x[0], data->x[MRC_SIZES - 1], "MiB"};
    spec->y = (PlotAxis){"MB to and from DRAM, a launch", true, least, 1.3 * most, "MB"};
    spec->series_count = count;
    spec->mark_count = l2_marks(data);
    spec->meets = spec->zero = true;
}

/* ---- roofline ------------------------------------------------------------------------------- */

/* Draws roof `i` from (x0, y0) up to (x1, top), and flat from there on. It is dashed except for the
 * first. The colour is that of the latency term that the roof limits. */
static void add_roof(ChartData *data, int series, int i, int term, double x0, double y0, double x1,
                     double top) {
    double *x = data->roof_x[i], *y = data->roof_y[i];
    x[0] = x0, y[0] = y0;
    x[1] = x1, y[1] = top;
    x[2] = data->spec.x.hi, y[2] = top;
    data->series[series] = plot_series(data->labels[i], x, y, 3, term);
    data->series[series].faint = i > 0;
}

/* Draws the roof of a memory: it rises by `gflops_a_flop` for each FLOP a byte, up to `gflops`, the
 * rate of the FP32 units. */
static void memory_roof(ChartData *data, int series, int i, int term, double gflops_a_flop,
                        double gflops) {
    double lo = data->spec.x.lo, ridge = gflops / gflops_a_flop;
    double x1 = fmax(fmin(ridge, data->spec.x.hi), lo);
    add_roof(data, series, i, term, lo, fmin(lo * gflops_a_flop, gflops) * 1e-3, x1,
             fmin(x1 * gflops_a_flop, gflops) * 1e-3);
}

/* The label that holds the note's sentence about the roof of DRAM; "" without that roof. */
enum { DRAM_NOTE = ROOFS + 1 };

/* Draws the roof of DRAM for the selection, on an axis of L2's bytes: only some of these come from
 * DRAM. False: so few do that the roof would lie above the chart. */
static bool dram_roof(ChartData *data, int series, const ModelCeilings *ceilings) {
    const int i = 1;
    const ChartInput *input = data->input;
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, input->gpu);
    if (!predicted)
        return false;
    Prediction p = chart_prediction(input, predicted, input->gpu);
    double from_dram = prediction_dram_bytes(p);
    double times = from_dram > 0 ? predicted->l2_sectors * SECTOR / from_dram : INFINITY;
    if (data->spec.x.lo * ceilings->dram_gb_s * times > ceilings->fp32_gflops)
        return false;
    snprintf(data->labels[i], TEXT, "DRAM for %s, %.1f TB/s", predicted->title,
             ceilings->dram_gb_s * 1e-3);
    snprintf(data->labels[DRAM_NOTE], TEXT,
             " The roof of DRAM is that of %s, which asks L2 for %.1f bytes a byte of DRAM.",
             predicted->title, times);
    memory_roof(data, series, i, TERM_DRAM, ceilings->dram_gb_s * times, ceilings->fp32_gflops);
    return true;
}

/* Draws the roof of the tensor cores: the L2's slope goes on above the FP32 roof, up to their rate.
 */
static void tensor_roof(ChartData *data, int series, int i, const ModelCeilings *ceilings) {
    double low = ceilings->fp32_gflops, high = ceilings->tensor_gflops;
    snprintf(data->labels[i], TEXT, "tensor, %.0f TFLOP/s", high * 1e-3);
    add_roof(data, series, i, TERM_ISSUE, low / ceilings->l2_gb_s, low * 1e-3,
             high / ceilings->l2_gb_s, high * 1e-3);
}

/* "V4 reaches 12 % of its L2 roof on RTX A6000: latency-bound" */
static void roofline_finding(const ChartInput *input, const ModelCeilings *ceilings, double flops,
                             char title[TEXT]) {
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, input->gpu);
    if (!predicted)
        return;
    Prediction p = chart_prediction(input, predicted, input->gpu);
    double intensity = flops / (predicted->l2_sectors * SECTOR);
    char reason[80];
    findings_reason(predicted, &p, 0, reason, sizeof reason);
    double limit = fmin(ceilings->fp32_gflops, intensity * ceilings->l2_gb_s);
    snprintf(title, TEXT, "%s reaches %.0f %% of its L2 roof on %s: %.*s", predicted->title,
             100 * flops / (p.latency_us * 1e3) / limit, input->model->gpus[input->gpu].title,
             (int)strcspn(reason, ":"), reason);
}

static void ceilings_text(const ModelCeilings *ceilings, const Gpu *gpu, char text[TEXT]) {
    if (ceilings->source == SOURCE_MODEL)
        snprintf(text, TEXT, "Ceilings: model; DRAM %.0f %% of the data sheet's, L2 as %s.",
                 100 * ceilings->dram_gb_s / gpu->dram_gb_s,
                 isfinite(gpu->l2_gb_s) ? "measured on such a GPU"
                                        : "an H200's, by multiprocessors and clock");
    else
        snprintf(text, TEXT, "Ceilings: %s GPU by probes of its DRAM, L2, FP32 and tensor units.",
                 ceilings->source == SOURCE_MEASURED ? "measured on this" : "recorded on such a");
}

static double flops_of(const ChartInput *input) {
    return 2 * (double)input->model->points * (double)input->model->channels;
}

/* Adds a dot for each kernel, widens the axes to them, and returns how many there are. */
static int kernel_dots(ChartData *data, PlotAxis *x, PlotAxis *y) {
    const ChartInput *input = data->input;
    const MemoryModel *model = input->model;
    double flops = flops_of(input);
    int count = 0;
    for (int r = 0; r < model->kernel_count; r++) {
        const PredictedKernel *predicted = &model->kernels[r];
        if (!predicted->name || predicted->kernel->wrong_on_purpose)
            continue;
        double us = chart_prediction(input, predicted, input->gpu).latency_us;
        data->x[r] = flops / (predicted->l2_sectors * SECTOR);
        data->y[r][0] = flops / (us * 1e6);
        x->lo = fmin(x->lo, 0.6 * data->x[r]);
        x->hi = fmax(x->hi, 2 * data->x[r]);
        y->lo = fmin(y->lo, 0.5 * data->y[r][0]);
        add_series(data, count++, r, &data->x[r], data->y[r], 1)->dots = true;
    }
    return count;
}

static void fill_roofline(ChartData *data) {
    const ChartInput *input = data->input;
    const ModelCeilings found = model_ceilings(input->model, input->gpu, &input->edit);
    const ModelCeilings *ceilings = &found;
    ChartSpec *spec = &data->spec;
    const Gpu gpu = model_gpu(input->model, input->gpu, &input->edit);
    char whence[TEXT];
    bool tensor = ceilings->tensor_gflops > 0;
    double ridge = ceilings->fp32_gflops / ceilings->l2_gb_s;
    double most = tensor ? ceilings->tensor_gflops : ceilings->fp32_gflops;
    spec->x = (PlotAxis){"FLOP per byte read or written in L2", true, ridge / 2,
                         3e-3 * most * 1e3 / ceilings->l2_gb_s, "FLOP/byte"};
    spec->y = (PlotAxis){"TFLOP/s", true, 1e-3 * ceilings->fp32_gflops, 1.5e-3 * most, NULL};
    int count = kernel_dots(data, &spec->x, &spec->y);
    snprintf(data->labels[0], TEXT, "L2, %.1f TB/s", ceilings->l2_gb_s * 1e-3);
    memory_roof(data, count, 0, TERM_L2, ceilings->l2_gb_s, ceilings->fp32_gflops);
    int roofs = 1 + dram_roof(data, count + 1, ceilings);
    spec->y.lo = fmin(spec->y.lo, 0.8 * fmin(data->roof_y[0][0], data->roof_y[roofs - 1][0]));
    if (tensor)
        tensor_roof(data, count + roofs, roofs, ceilings), roofs++;
    spec->series_count = count + roofs;
    snprintf(data->labels[ROOFS], TEXT, "FP32, %.1f TFLOP/s", ceilings->fp32_gflops * 1e-3);
    data->marks[0] = (PlotMark){ridge, data->labels[ROOFS], false};
    spec->mark_count = 1;
    chart_describe_on(data);
    ceilings_text(ceilings, &gpu, whence);
    snprintf(data->note, sizeof data->note,
             "%s Dots: model, FLOP counted as one multiply-add a point and channel, latency "
             "predicted with a warm L2.\nA dot far below its roof is held by what no roof shows: "
             "dependent loads, the issue of instructions, additions in L2, or the launch.%s",
             whence, data->labels[DRAM_NOTE]);
    if (input->room == ROOM_LOW)
        snprintf(data->title, TEXT, "%s; roofs: %s", chart_title(CHART_ROOFLINE),
                 source_names[ceilings->source]);
    else
        roofline_finding(input, ceilings, flops_of(input), data->title);
}

/* ---- working set ---------------------------------------------------------------------------- */

enum { WORKING_SET_MOST = 300 }; /* percent: the end of the axis at most */

/* Draws the bar of a GPU: the footprint, and what the selection would take there. */
static void footprint_bar(ChartData *data, int gpu, const double touched[ARRAYS], double gathered,
                          PlotBar *bar, char *label) {
    const ChartInput *input = data->input;
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, gpu);
    double l2 = l2_bytes(input, gpu), sum = 0;
    snprintf(label, TEXT, "%s, %g MiB", input->model->gpus[gpu].title, l2 / MIB);
    *bar = (PlotBar){.label = label, .strong = gpu == input->gpu, .tick = 100 * gathered / l2};
    for (int i = 0; i < ARRAYS; i++) {
        bar->parts[i] = 100 * touched[i] / l2;
        sum += touched[i];
    }
    int used = snprintf(bar->text, sizeof bar->text, "%.0f %% %s", 100 * sum / l2,
                        sum <= l2 ? "smaller" : "larger than the L2");
    if (bar->tick > WORKING_SET_MOST)
        used += snprintf(bar->text + used, sizeof bar->text - (size_t)used, ", gathers %.0f %%",
                         bar->tick);
    char us[32];
    if (!predicted)
        return;
    figure_text(UNIT_US, chart_prediction(input, predicted, gpu).latency_us, us, sizeof us);
    snprintf(bar->text + used, sizeof bar->text - (size_t)used, ", %s takes %s", predicted->title,
             us);
}

/* Sorts the GPUs, those with the least L2 first. */
static void by_l2(const ChartInput *input, int order[MODEL_GPUS]) {
    for (int i = 0; i < input->model->gpu_count; i++) {
        int at = i;
        for (; at > 0 && l2_bytes(input, order[at - 1]) > l2_bytes(input, i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* "The working set of 9.7 MiB fits the L2 of 9 of 12 GPUs" */
static void fits_finding(const ChartInput *input, double bytes, char title[TEXT]) {
    int fits = 0;
    for (int gpu = 0; gpu < input->model->gpu_count; gpu++)
        fits += bytes <= l2_bytes(input, gpu);
    char size[32];
    unit_text(UNIT_BYTES, bytes, size, sizeof size);
    snprintf(title, TEXT,
             input->room == ROOM_LOW
                 ? "%s: as large as %d of %d L2s, or less"
                 : "The footprint of %s is no larger than the L2 of %d of %d GPUs",
             size, fits, input->model->gpu_count);
}

static void fill_working_set(ChartData *data) {
    static const char *const arrays[ARRAYS] = {"features", "depth", "indices and weights",
                                               "output"};
    static const PlotMark full[] = {{100, "L2 is full", true}};
    const ChartInput *input = data->input;
    const BevFootprint *f = &input->model->footprint;
    const double touched[ARRAYS] = {f->feat, f->depth, f->index + f->weight, f->out};
    const double gathered = bev_traffic_total(input->model->gather);
    ChartSpec *spec = &data->spec;
    double bytes = 0, most = 125;
    int count = 0, order[MODEL_GPUS];
    spec->part_count = ARRAYS;
    by_l2(input, order);
    for (int i = 0; i < ARRAYS; i++)
        bytes += touched[i];
    for (int i = 0; i < input->model->gpu_count; i++)
        if (input->room != ROOM_PAGE || is_asked(input, order[i])) {
            footprint_bar(data, order[i], touched, gathered, &data->bars[count],
                          data->labels[count]);
            most = fmax(most, chart_bar_end(spec, &data->bars[count++]));
        }
    for (int i = 0; i < ARRAYS; i++) {
        char size[32];
        unit_text(UNIT_BYTES, touched[i], size, sizeof size);
        snprintf(data->labels[MODEL_GPUS + i], TEXT, "%s %s", arrays[i], size);
        data->parts[i] = data->labels[MODEL_GPUS + i];
    }
    char gather[32];
    unit_text(UNIT_BYTES, gathered, gather, sizeof gather);
    snprintf(data->labels[MODEL_GPUS + ARRAYS], TEXT, "gather traffic %s", gather);
    chart_describe(input, data->subtitle);
    snprintf(data->note, sizeof data->note,
             "Working set: each array whole, once (1 MiB = 1.049 MB). Gather traffic: features and "
             "depth "
             "once a point, as published, but the output in its own format. What is gathered again "
             "comes from the L2 where the working set fits. Latencies: model.");
    fits_finding(input, bytes, data->title);
    spec->x = (PlotAxis){"% of the L2", false, 0, fmin(1.05 * most, WORKING_SET_MOST), "%"};
    spec->part_names = input->room == ROOM_LOW ? arrays : data->parts;
    spec->bar_count = count;
    spec->tick_name = data->labels[MODEL_GPUS + ARRAYS];
    spec->marks = full;
    spec->mark_count = 1;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The title is that of the smallest form; fill() may write a longer one. */
static const struct {
    const char *title;
    void (*fill)(ChartData *data);
} charts[CHART_COUNT] = {
    [CHART_MRC] = {"DRAM traffic by L2 size", fill_mrc},
    [CHART_ROOFLINE] = {"Roofline, TFLOP/s", fill_roofline},
    [CHART_WORKING_SET] = {"Working set in each L2", fill_working_set},
    [CHART_DTYPE] = {"Each format: latency and why", fill_dtype},
    [CHART_TERMS] = {"Each kernel: latency and why", fill_terms},
    [CHART_NETWORK] = {"Pooling within a network (published)", fill_network},
    [CHART_TIMELINE] = {"Launches and when they end", fill_timeline},
};

const char *chart_title(Chart chart) {
    return charts[chart].title;
}

ChartInput chart_live_input(const State *state, const LiveData *live, ChartRoom room,
                            FigureTheme theme) {
    const KernelConfig *config = &live->job.config, *baseline = &live->job.baseline;
    bool comparable = baseline->dtype == config->dtype && baseline->align == config->align;
    ChartInput input = {.chart = state->chart,
                        .room = room,
                        .scene = state->scene.name,
                        .model = live->model,
                        .gpu = state->gpu,
                        .edit = state->edit,
                        .asked = 1u << state->gpu,
                        .kernel = config->kernel,
                        .baseline = comparable ? baseline->kernel : NULL,
                        .scales = scales_name(state, live->job.scales),
                        .theme = theme};
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        input.rel_l2[dtype] =
            live->accuracy[dtype].source != SOURCE_UNKNOWN ? live->accuracy[dtype].rel_l2 : NAN;
    return input;
}

ChartSpec *chart_make(const ChartInput *input, Err *err) {
    ChartData *data = calloc(1, sizeof *data);
    if (!data) {
        err_set(err, ERR_FAILED, "chart", "", "out of memory");
        return NULL;
    }
    data->input = input;
    data->spec = (ChartSpec){.title = chart_title(input->chart),
                             .subtitle = data->subtitle,
                             .note = data->note,
                             .series = data->series,
                             .bars = data->bars,
                             .marks = data->marks,
                             .theme = input->theme};
    charts[input->chart].fill(data);
    if (data->title[0])
        data->spec.title = data->title;
    return &data->spec;
}
