/* The charts of the memory model: one function a chart fills its spec; the table is at the end. */
#include "src/view/chart/live_chart.h"

#include "kernels/regime.h"
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

/* The changes to a GPU of the model: only the chosen one has any. NULL: none. */
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

/* ---- miss-ratio curve ----------------------------------------------------------------------- */

static int l2_marks(ChartData *data) {
    const ChartInput *input = data->input;
    int count = input->model->gpu_count;
    for (int gpu = 0; gpu < count; gpu++) {
        double mib = l2_bytes(input, gpu) / MIB;
        const char *title = input->model->gpus[gpu].title;
        if (input->room == ROOM_PAGE || (gpu == input->gpu && input->edit.l2_mib > 0))
            snprintf(data->labels[gpu], TEXT, "%s, %g MiB", title, mib);
        else
            snprintf(data->labels[gpu], TEXT, "%s", title);
        data->marks[gpu] = (PlotMark){mib, data->labels[gpu], is_asked(input, gpu)};
    }
    chart_sort_marks(data->marks, count);
    return count;
}

/* "V4 reads 0 B from DRAM and writes 5.4 MB on RTX A6000". */
static void misses_finding(const ChartInput *input, char title[TEXT]) {
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, input->gpu);
    char bytes[32], read[32], written[32];
    if (!predicted)
        return;
    Prediction p = chart_prediction(input, predicted, input->gpu);
    unit_text(UNIT_BYTES, p.dram_read_bytes + p.dram_write_bytes, bytes, sizeof bytes);
    unit_text(UNIT_BYTES, p.dram_read_bytes, read, sizeof read);
    unit_text(UNIT_BYTES, p.dram_write_bytes, written, sizeof written);
    if (input->room == ROOM_BOX) /* beside a note */
        snprintf(title, TEXT, "%s: DRAM moves %s", predicted->title, bytes);
    else
        snprintf(title, TEXT, "%s reads %s from DRAM and writes %s on %s", predicted->title, read,
                 written, input->model->gpus[input->gpu].title);
}

static void fill_mrc(ChartData *data) {
    const ChartInput *input = data->input;
    const char *how = "exact";
    double most = 1;
    int count = 0;
    for (int i = 0; i < MODEL_SIZES; i++)
        data->x[i] = model_size_mib(i);
    for (int r = 0; r < input->model->kernel_count; r++) {
        const PredictedKernel *predicted = &input->model->kernels[r];
        if (!predicted->name)
            continue;
        for (int i = 0; i < MODEL_SIZES; i++) {
            data->y[r][i] = 100 * predicted->miss_ratio[i];
            most = fmax(most, data->y[r][i]);
        }
        how = predicted->sampled ? "sampled" : how;
        add_series(data, count++, r, data->x, data->y[r], MODEL_SIZES);
    }
    chart_describe(input, data->subtitle);
    snprintf(data->note, sizeof data->note,
             "Model: %s reuse distances of each kernel's access trace, behind the L1s, in lines "
             "of four 32-byte sectors; L2 warm, LRU, in one piece. Lines: GPUs.",
             how);
    ChartSpec *spec = &data->spec;
    if (input->room != ROOM_LOW)
        misses_finding(input, data->title);
    spec->x = (PlotAxis){"L2 size, MiB", true, data->x[0], data->x[MODEL_SIZES - 1], "MiB"};
    spec->y = (PlotAxis){"L2 miss rate, %", false, 0, chart_round_up(most), "%"};
    spec->series_count = count;
    spec->mark_count = l2_marks(data);
}

/* ---- roofline ------------------------------------------------------------------------------- */

/* Roof `i` from (x0, y0) up to (x1, top), and flat from there on; dashed except for the first. The
 * colour is that of the latency term that the roof limits. */
static void roof(ChartData *data, int i, int term, double x0, double y0, double x1, double top) {
    double *x = data->roof_x[i], *y = data->roof_y[i];
    x[0] = x0, y[0] = y0;
    x[1] = x1, y[1] = top;
    x[2] = data->spec.x.hi, y[2] = top;
    data->series[i] = plot_series(data->labels[i], x, y, 3, term);
    data->series[i].faint = i > 0;
}

/* From the rate a FLOP per byte of L2 up to that of the FP32 units. */
static void memory_roof(ChartData *data, int i, int term, double gflops_a_flop, double gflops) {
    double lo = data->spec.x.lo, ridge = gflops / gflops_a_flop;
    if (ridge > lo)
        roof(data, i, term, lo, lo * gflops_a_flop * 1e-3, ridge, gflops * 1e-3);
    else
        roof(data, i, term, lo, gflops * 1e-3, lo, gflops * 1e-3);
}

/* The label that the note has for the roof of DRAM; "" where there is none. */
enum { DRAM_NOTE = ROOFS + 1 };

/* The roof of DRAM on an axis of L2's bytes: of the selection, which takes only some from DRAM.
 * None where it takes so little that the roof would lie above the chart. */
static bool dram_roof(ChartData *data, int i, const ModelCeilings *ceilings) {
    const ChartInput *input = data->input;
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, input->gpu);
    if (!predicted)
        return false;
    Prediction p = chart_prediction(input, predicted, input->gpu);
    double from_dram = p.dram_read_bytes + p.dram_write_bytes;
    double times = from_dram > 0 ? predicted->l2_sectors * SECTOR / from_dram : INFINITY;
    if (data->spec.x.lo * ceilings->dram_gbps * times > ceilings->fp32_gflops)
        return false;
    snprintf(data->labels[i], TEXT, "DRAM for %s, %.1f TB/s", predicted->title,
             ceilings->dram_gbps * 1e-3);
    snprintf(data->labels[DRAM_NOTE], TEXT,
             " The roof of DRAM is that of %s, which asks L2 for %.1f bytes a byte of DRAM.",
             predicted->title, times);
    memory_roof(data, i, TERM_DRAM, ceilings->dram_gbps * times, ceilings->fp32_gflops);
    return true;
}

/* Above the roof of the FP32 units, from where L2 reaches that up to the tensor cores' rate. */
static void tensor_roof(ChartData *data, int i, const ModelCeilings *ceilings) {
    double low = ceilings->fp32_gflops, high = ceilings->tensor_gflops;
    snprintf(data->labels[i], TEXT, "tensor, %.0f TFLOP/s", high * 1e-3);
    roof(data, i, TERM_ISSUE, low / ceilings->l2_gbps, low * 1e-3, high / ceilings->l2_gbps,
         high * 1e-3);
}

/* "V4 reaches 12 % of its roof; latency-bound" */
static void roofline_finding(const ChartInput *input, const ModelCeilings *ceilings, double flops,
                             char title[TEXT]) {
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, input->gpu);
    if (!predicted)
        return;
    Prediction p = chart_prediction(input, predicted, input->gpu);
    double intensity = flops / (predicted->l2_sectors * SECTOR);
    double limit = fmin(ceilings->fp32_gflops, intensity * ceilings->l2_gbps);
    double share = 100 * flops / (p.latency_us * 1e3) / limit;
    if (input->room == ROOM_BOX)
        snprintf(title, TEXT, "%s: %.0f %% of its L2 roof", predicted->title, share);
    else
        snprintf(title, TEXT, "%s reaches %.0f %% of its L2 roof; %s", predicted->title, share,
                 limit_names[p.limiter]);
}

/* The power of ten below the smaller one. */
static double decade_below(double value, double usual) {
    return fmin(usual, pow(10, floor(log10(value))));
}

static void ceilings_text(const ModelCeilings *ceilings, const Gpu *gpu, char text[TEXT]) {
    if (ceilings->source == SOURCE_MODEL)
        snprintf(text, TEXT, "Ceilings: model; DRAM %.0f %% of the data sheet's, L2 as %s.",
                 100 * ceilings->dram_gbps / gpu->dram_gbps,
                 isfinite(gpu->l2_gbps) ? "measured on such a GPU"
                                        : "an H200's, by multiprocessors and clock");
    else
        snprintf(text, TEXT, "Ceilings: %s GPU by probes of its DRAM, L2, FP32 and tensor units.",
                 ceilings->source == SOURCE_MEASURED ? "measured on this" : "recorded on such a");
}

static double flops_of(const ChartInput *input) {
    return 2 * (double)input->model->points * (double)input->model->channels;
}

/* A dot a kernel from series `count` on; returns the number of series. `*least` becomes the power
 * of ten below the lowest dot. */
static int kernel_dots(ChartData *data, int count, double *least) {
    const ChartInput *input = data->input;
    const MemoryModel *model = input->model;
    double flops = flops_of(input);
    for (int r = 0; r < model->kernel_count; r++) {
        const PredictedKernel *predicted = &model->kernels[r];
        if (!predicted->name)
            continue;
        double us = chart_prediction(input, predicted, input->gpu).latency_us;
        data->x[r] = flops / (predicted->l2_sectors * SECTOR);
        data->y[r][0] = flops / (us * 1e6);
        *least = decade_below(data->y[r][0], *least);
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
    double least = 0.01, ridge = ceilings->fp32_gflops / ceilings->l2_gbps;
    spec->x = (PlotAxis){"FLOP per byte read or written in L2", true, 0.01, 100, "FLOP/byte"};
    snprintf(data->labels[0], TEXT, "L2, %.1f TB/s", ceilings->l2_gbps * 1e-3);
    memory_roof(data, 0, TERM_L2, ceilings->l2_gbps, ceilings->fp32_gflops);
    int roofs = 1 + dram_roof(data, 1, ceilings);
    if (tensor)
        tensor_roof(data, roofs++, ceilings);
    spec->series_count = kernel_dots(data, roofs, &least);
    double most = tensor ? ceilings->tensor_gflops : ceilings->fp32_gflops;
    spec->y = (PlotAxis){"TFLOP/s", true, least, 3e-3 * most, NULL};
    snprintf(data->labels[ROOFS], TEXT, "FP32 ridge, %.0f FLOP/byte", ridge);
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

/* Fills the parts; returns the sum in percent of `of_bytes`. */
static double share_of(const double array_bytes[ARRAYS], double of_bytes, PlotBar *bar) {
    double sum = 0;
    for (int i = 0; i < ARRAYS; i++) {
        bar->parts[i] = 100 * array_bytes[i] / of_bytes;
        sum += array_bytes[i];
    }
    snprintf(bar->text, sizeof bar->text, "%.0f %% (%.1f MiB)", 100 * sum / of_bytes, sum / MIB);
    return 100 * sum / of_bytes;
}

/* The footprint on a GPU, and what the selection would take there. */
static void footprint_bar(ChartData *data, int gpu, const double touched[ARRAYS], PlotBar *bar,
                          char *label) {
    const ChartInput *input = data->input;
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, gpu);
    double bytes = l2_bytes(input, gpu);
    const char *title = input->model->gpus[gpu].title;
    *bar = (PlotBar){.label = "footprint", .strong = gpu == input->gpu};
    double percent = share_of(touched, bytes, bar);
    const char *regime = bev_regimes[bev_regime(percent / 100 * bytes, bytes)].name;
    if (input->room == ROOM_PAGE) {
        snprintf(label, TEXT, "%s, %g MiB: %s", title, bytes / MIB, regime);
        bar->group = label;
        return;
    }
    snprintf(label, TEXT, "%s, %g", title, bytes / MIB);
    bar->label = label;
    if (input->room == ROOM_BOX || !predicted)
        return;
    char us[32];
    figure_text(UNIT_US, chart_prediction(input, predicted, gpu).latency_us, us, sizeof us);
    snprintf(bar->text, sizeof bar->text, "%.0f %%, %s, %s", percent, us, regime);
}

/* The GPUs, those with the least L2 first. */
static void by_l2(const ChartInput *input, int order[MODEL_GPUS]) {
    for (int i = 0; i < input->model->gpu_count; i++) {
        int at = i;
        for (; at > 0 && l2_bytes(input, order[at - 1]) > l2_bytes(input, i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* "The footprint of 9.7 MiB fits the L2 of 9 of 12 GPUs" */
static void fits_finding(const ChartInput *input, double bytes, char title[TEXT]) {
    int fits = 0;
    for (int gpu = 0; gpu < input->model->gpu_count; gpu++)
        fits += bytes <= l2_bytes(input, gpu);
    snprintf(title, TEXT, "%.1f MiB fit the L2 of %d of %d GPUs", bytes / MIB, fits,
             input->model->gpu_count);
}

static void fill_working_set(ChartData *data) {
    static const char *const arrays[] = {"features", "depth", "indices and weights", "output"};
    static const PlotMark marks[] = {{50, "half", false}, {100, "L2 is full", true}};
    static const PlotMark short_marks[] = {{50, "half", false}, {100, "full", true}};
    const ChartInput *input = data->input;
    const BevFootprint *f = &input->model->footprint;
    const BevTraffic *t = &input->model->gather;
    const double touched[ARRAYS] = {f->feat, f->depth, f->index + f->weight, f->out};
    ChartSpec *spec = &data->spec;
    bool page = input->room == ROOM_PAGE, low = input->room == ROOM_LOW;
    int count = 0, order[MODEL_GPUS];
    by_l2(input, order);
    for (int i = 0; i < input->model->gpu_count; i++) {
        int gpu = order[i];
        if (page && !is_asked(input, gpu))
            continue;
        footprint_bar(data, gpu, touched, &data->bars[count], data->labels[count]);
        count++;
        if (low)
            continue;
        const double accessed[ARRAYS] = {t->feat, t->depth, t->index + t->weight,
                                         t->out_read + t->out_write};
        PlotBar *bar = &data->bars[count++];
        *bar = (PlotBar){.label = "gather traffic", .faint = true};
        share_of(accessed, l2_bytes(input, gpu), bar);
    }
    chart_describe(input, data->subtitle);
    snprintf(
        data->note, sizeof data->note,
        "Footprint: each array whole, once (1 MiB = 1.049 MB; gold: the chosen GPU). Gather "
        "traffic: features and depth once a point, as published, but the output in its own "
        "format. An L2 need not hold more than the footprint; what is read again may be less.");
    if (!low) {
        double bytes = 0;
        for (int i = 0; i < ARRAYS; i++)
            bytes += touched[i];
        fits_finding(input, bytes, data->title);
    }
    spec->x = (PlotAxis){"% of L2", false, 0, 200, "%"};
    spec->part_names = arrays;
    spec->part_count = ARRAYS;
    spec->bar_count = count;
    spec->marks = low ? short_marks : marks;
    spec->mark_count = 2;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The title is that of the smallest form; fill() may write a longer one. */
static const struct {
    const char *title;
    void (*fill)(ChartData *data);
} charts[CHART_COUNT] = {
    [CHART_MRC] = {"L2 miss rate, by L2 size", fill_mrc},
    [CHART_ROOFLINE] = {"Roofline, TFLOP/s", fill_roofline},
    [CHART_WORKING_SET] = {"Footprint, each L2 (MiB), latency", fill_working_set},
    [CHART_DTYPE] = {"V3 in each format: latency, its limit", fill_dtype},
    [CHART_TERMS] = {"What limits each kernel", fill_terms},
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
