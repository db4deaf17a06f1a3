/* SPDX-License-Identifier: MIT */
/* The charts of the memory model: one function a chart fills its spec; the table is at the end. */
#include "src/view/chart/live_chart.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 4, MAX_BARS = 2 * MODEL_GPUS, ROOFS = 3, TEXTS = 16384, NOTE = 800 };
enum { MRC_SIZES = 293 }; /* the model's sizes of an L2 from 0.5 MiB on */

/* A spec together with its texts and values, so that one free() frees all. */
typedef struct {
    ChartSpec spec; /* stays first: the caller frees the whole by the address of the spec */
    const ChartInput *input;
    const MemoryModel *model;
    Gpu gpu;                                  /* the chosen GPU, with the user's changes */
    const PredictedKernel *kernel, *baseline; /* on that GPU; NULL: not predicted */
    bool low;                                 /* the room is ROOM_LOW */
    char texts[TEXTS];                        /* one behind the other */
    size_t texts_used;
    double x[MRC_SIZES], y[MODEL_KERNELS][MRC_SIZES];
    int roofs;
    double roof_x[ROOFS][3], roof_y[ROOFS][3];
    PlotSeries series[ROOFS + MODEL_KERNELS];
    PlotMark marks[MODEL_GPUS];
    PlotBar bars[MAX_BARS];
    const char *parts[ARRAYS];
} ChartData;

#define MIB 1048576.0

/* Formats a text that lives as long as the spec. */
__attribute__((format(printf, 2, 3))) static const char *add_text(ChartData *data,
                                                                  const char *format, ...) {
    char *text = data->texts + data->texts_used;
    va_list values;
    va_start(values, format);
    vsnprintf(text, TEXTS - data->texts_used, format, values);
    va_end(values);
    data->texts_used += strlen(text) + 1;
    assert(data->texts_used < TEXTS);
    return text;
}

/* Returns what is modelled: "canonical, FP16, nearest, C = 80, 209,019 points". */
static const char *problem_text(ChartData *data) {
    const MemoryModel *model = data->model;
    return add_text(data, "%s, %s, %s, C = %lld, %s points", data->input->scene,
                    bev_dtypes[model->dtype].title, bev_aligns[model->align].name,
                    (long long)model->channels,
                    text_of_unit(UNIT_COUNT, (double)model->points).text);
}

/* Returns the user's changes to a GPU. Only the chosen GPU can be changed. NULL: no changes. */
static const GpuEdit *edit_of(const ChartData *data, int gpu) {
    return gpu == data->input->gpu ? &data->input->edit : NULL;
}

static Gpu chart_gpu(const ChartData *data, int gpu) {
    return model_gpu(data->model, gpu, edit_of(data, gpu));
}

/* Returns the next kernel that charts of all kernels show. `kernel` NULL: returns the first one. */
static const PredictedKernel *next_shown(const ChartData *data, const PredictedKernel *kernel) {
    do
        kernel = model_next(data->model, kernel);
    while (kernel && kernel->kernel->wrong_on_purpose);
    return kernel;
}

static Prediction chart_prediction(const ChartData *data, const PredictedKernel *kernel) {
    return model_predict(data->model, kernel, data->input->gpu, &data->input->edit);
}

static double latency_us(const ChartData *data, const PredictedKernel *kernel) {
    return chart_prediction(data, kernel).latency_us;
}

/* Writes a figure from a kernel's prediction. A first estimate is marked: "~402 us". */
static ShortText chart_figure(Unit unit, const PredictedKernel *kernel, double value) {
    const ShortText text =
        unit == UNIT_US ? text_of_figure(unit, value) : text_of_unit(unit, value);
    return short_text("%s%s", kernel->estimate ? "~" : "", text.text);
}

/* Returns the end of an axis: the value, rounded up in its first digit. */
static double chart_round_up(double value) {
    double step = pow(10, floor(log10(value)));
    return ceil(value / step) * step;
}

/* Returns the model's row for a kernel on a GPU. NULL: the model has no such row yet. */
static const PredictedKernel *chart_predicted(const ChartData *data, const BevKernel *kernel,
                                              const Gpu *gpu) {
    return kernel ? model_of_kernel(data->model, kernel, gpu) : NULL;
}

/* Whether `row` is `of_kernel`, the row of the selection or of the baseline; NULL: no row. */
static bool is_row(const PredictedKernel *of_kernel, const PredictedKernel *row) {
    return of_kernel && !strcmp(of_kernel->name, row->name);
}

/* Adds a series of a kernel. The kernel's row in the model chooses the colour. */
static PlotSeries *add_series(ChartData *data, const PredictedKernel *row, const double *x,
                              const double *y, int points) {
    PlotSeries *series = &data->series[data->spec.series_count++];
    *series = plot_series(row->title, x, y, points, (int)(row - data->model->kernels));
    series->strong = is_row(data->kernel, row);
    series->baseline = is_row(data->baseline, row);
    series->peer = true;
    return series;
}

static void add_mark(ChartData *data, double x, const char *label, bool strong) {
    data->marks[data->spec.mark_count++] = (PlotMark){x, label, strong};
}

/* ---- DRAM traffic by L2 size ----------------------------------------------------------------- */

static ShortText moved_text(const ChartData *data, const PredictedKernel *kernel) {
    return chart_figure(UNIT_BYTES, kernel, prediction_dram_bytes(chart_prediction(data, kernel)));
}

/* Writes the finding: "V4 moves 5.38 MB to and from DRAM on RTX A6000, V2 12.4 MB". */
static void traffic_title(ChartData *data) {
    const PredictedKernel *kernel = data->kernel, *other = data->baseline;
    ShortText than = {""};
    if (!kernel)
        return;
    if (other && other != kernel)
        than = short_text(", %s %s", other->title, moved_text(data, other).text);
    const ShortText bytes = moved_text(data, kernel);
    data->spec.title =
        data->low ? add_text(data, "DRAM moves %s for %s%s", bytes.text, kernel->title, than.text)
                  : add_text(data, "%s moves %s to and from DRAM on %s%s", kernel->title,
                             bytes.text, data->gpu.title, than.text);
}

/* A line for each kernel: its DRAM traffic by the size of the L2. Each GPU's L2 has a mark. */
static void fill_mrc(ChartData *data) {
    ChartSpec *spec = &data->spec;
    GpuEdit edit = data->input->edit;
    double most = 1, least = INFINITY;
    bool sampled = false;
    for (int i = 0; i < MRC_SIZES; i++)
        data->x[i] = model_l2_mib(MODEL_L2S - MRC_SIZES + i);
    for (const PredictedKernel *row = next_shown(data, NULL); row; row = next_shown(data, row)) {
        double *y = data->y[spec->series_count];
        for (int i = 0; i < MRC_SIZES; i++) {
            edit.l2_mib = data->x[i];
            y[i] = 1e-6 *
                   prediction_dram_bytes(model_predict(data->model, row, data->input->gpu, &edit));
            most = fmax(most, y[i]);
        }
        least = fmin(least, y[0]);
        sampled = sampled || row->sampled;
        add_series(data, row, data->x, y, MRC_SIZES);
    }
    /* No kernel moves so little with the smallest L2. Lesser values are drawn on the edge. */
    least = least > 0 && isfinite(least) ? pow(10, floor(log10(least)) - 1) : 0.1;
    for (int line = 0; line < spec->series_count; line++)
        for (int i = 0; i < MRC_SIZES; i++)
            data->y[line][i] = fmax(data->y[line][i], least);
    for (int gpu = 0; gpu < data->model->gpu_count; gpu++) {
        double mib = chart_gpu(data, gpu).l2_bytes / MIB;
        bool chosen = gpu == data->input->gpu;
        const char *title = data->model->gpus[gpu].title, *unit = chosen ? " MiB" : "";
        add_mark(data, mib, add_text(data, "%s, %g%s", title, mib, unit), chosen);
    }
    chart_sort_marks(data->marks, spec->mark_count);
    spec->note = add_text(
        data,
        "Model: %s reuse distances of each kernel's access trace, behind the L1s, in lines of "
        "four 32-byte sectors; L2 warm, LRU. The other facts are those of the GPU named above. "
        "A line on the lower edge moves nothing: its working set stays in the L2.",
        sampled ? "sampled" : "exact");
    traffic_title(data);
    spec->x = (PlotAxis){"size of the L2, MiB", true, data->x[0], data->x[MRC_SIZES - 1], "MiB"};
    spec->y = (PlotAxis){"MB to and from DRAM, a launch", true, least, 1.3 * most, "MB"};
    spec->meets = spec->zero = true;
}

/* ---- roofline ------------------------------------------------------------------------------- */

/* Adds a roof from (x0, y0) up to (x1, top), and flat from there on. All roofs but the first are
 * dashed. `term`, the part of the latency that the roof limits, chooses the colour. */
static void add_roof(ChartData *data, const char *name, int term, double x0, double y0, double x1,
                     double top) {
    double *x = data->roof_x[data->roofs], *y = data->roof_y[data->roofs];
    PlotSeries *series = &data->series[data->spec.series_count++];
    x[0] = x0, y[0] = y0;
    x[1] = x1, y[1] = top;
    x[2] = data->spec.x.hi, y[2] = top;
    *series = plot_series(name, x, y, 3, term);
    series->faint = data->roofs++ > 0;
}

/* Adds the roof of a memory. The roof rises by `gflops_a_flop` for each FLOP per byte, up to
 * `gflops`, the rate of the FP32 units. */
static void add_memory_roof(ChartData *data, const char *name, int term, double gflops_a_flop,
                            double gflops) {
    double lo = data->spec.x.lo, ridge = gflops / gflops_a_flop;
    double x1 = fmax(fmin(ridge, data->spec.x.hi), lo);
    double y0 = fmin(lo * gflops_a_flop, gflops) * 1e-3;
    add_roof(data, name, term, lo, y0, x1, fmin(x1 * gflops_a_flop, gflops) * 1e-3);
    data->spec.y.lo = fmin(data->spec.y.lo, 0.8 * y0);
}

/* Adds the roof of DRAM for the selection. The axis counts bytes of L2, of which only some come
 * from DRAM. Returns the note's sentence about the roof. "": no roof, because so few bytes come
 * from DRAM that the roof would lie above the chart. */
static const char *add_dram_roof(ChartData *data, const ModelCeilings *ceilings) {
    const PredictedKernel *kernel = data->kernel;
    if (!kernel)
        return "";
    double from_dram = prediction_dram_bytes(chart_prediction(data, kernel));
    double times = from_dram > 0 ? kernel->l2_sectors * SECTOR / from_dram : INFINITY;
    if (data->spec.x.lo * ceilings->dram_gb_s * times > ceilings->fp32_gflops)
        return "";
    add_memory_roof(
        data, add_text(data, "DRAM for %s, %.1f TB/s", kernel->title, ceilings->dram_gb_s * 1e-3),
        TERM_DRAM, ceilings->dram_gb_s * times, ceilings->fp32_gflops);
    return add_text(data,
                    " The roof of DRAM is that of %s, which asks L2 for %.1f bytes a byte of DRAM.",
                    kernel->title, times);
}

/* Writes the finding: "V4 reaches 12 % of its L2 roof on RTX A6000: latency-bound". */
static void roofline_title(ChartData *data, const ModelCeilings *ceilings, double flops) {
    const PredictedKernel *kernel = data->kernel;
    char reason[80];
    if (data->low)
        data->spec.title = add_text(data, "%s; roofs: %s", charts[CHART_ROOFLINE].title,
                                    source_names[ceilings->source]);
    if (data->low || !kernel)
        return;
    Prediction p = chart_prediction(data, kernel);
    double intensity = flops / (kernel->l2_sectors * SECTOR);
    double limit = fmin(ceilings->fp32_gflops, intensity * ceilings->l2_gb_s);
    findings_reason(kernel, &p, 0, reason, sizeof reason);
    data->spec.title = add_text(data, "%s reaches %.0f %% of its L2 roof on %s: %.*s",
                                kernel->title, 100 * flops / (p.latency_us * 1e3) / limit,
                                data->gpu.title, (int)strcspn(reason, ":"), reason);
}

static const char *ceilings_text(ChartData *data, const ModelCeilings *ceilings) {
    if (ceilings->source != SOURCE_MODEL)
        return add_text(data, "Ceilings: %s GPU by probes of its DRAM, L2, FP32 and tensor units.",
                        ceilings->source == SOURCE_MEASURED ? "measured on this"
                                                            : "recorded on such a");
    return add_text(data, "Ceilings: model; DRAM %.0f %% of the data sheet's, L2 as %s.",
                    100 * ceilings->dram_gb_s / data->gpu.dram_gb_s,
                    isfinite(data->gpu.l2_gb_s) ? "measured on such a GPU"
                                                : "an H200's, by multiprocessors and clock");
}

/* Adds a dot for each kernel, and widens the axes so that all dots lie within. */
static void add_kernel_dots(ChartData *data, double flops) {
    PlotAxis *x = &data->spec.x, *y = &data->spec.y;
    for (const PredictedKernel *row = next_shown(data, NULL); row; row = next_shown(data, row)) {
        double *at = data->y[data->spec.series_count];
        at[0] = flops / (row->l2_sectors * SECTOR);
        at[1] = flops / (latency_us(data, row) * 1e6);
        x->lo = fmin(x->lo, 0.6 * at[0]);
        x->hi = fmax(x->hi, 2 * at[0]);
        y->lo = fmin(y->lo, 0.5 * at[1]);
        add_series(data, row, &at[0], &at[1], 1)->dots = true;
    }
}

/* A dot for each kernel under the roofs of L2, DRAM and tensor cores. FP32's rate is a mark. */
static void fill_roofline(ChartData *data) {
    const ModelCeilings found = model_ceilings(data->model, data->input->gpu, &data->input->edit);
    const ModelCeilings *ceilings = &found;
    ChartSpec *spec = &data->spec;
    const double fp32 = ceilings->fp32_gflops, tensor = ceilings->tensor_gflops;
    double ridge = fp32 / ceilings->l2_gb_s, most = tensor > 0 ? tensor : fp32;
    spec->x = (PlotAxis){"FLOP per byte read or written in L2", true, ridge / 2,
                         3e-3 * most * 1e3 / ceilings->l2_gb_s, "FLOP/byte"};
    spec->y = (PlotAxis){"TFLOP/s", true, 1e-3 * fp32, 1.5e-3 * most, NULL};
    const double flops = 2 * (double)data->model->points * (double)data->model->channels;
    add_kernel_dots(data, flops);
    add_memory_roof(data, add_text(data, "L2, %.1f TB/s", ceilings->l2_gb_s * 1e-3), TERM_L2,
                    ceilings->l2_gb_s, fp32);
    const char *dram_note = add_dram_roof(data, ceilings);
    if (tensor > 0) /* the L2's slope goes on above the FP32 roof, up to the tensor cores' rate */
        add_roof(data, add_text(data, "tensor, %.0f TFLOP/s", tensor * 1e-3), TERM_ISSUE, ridge,
                 fp32 * 1e-3, tensor / ceilings->l2_gb_s, tensor * 1e-3);
    add_mark(data, ridge, add_text(data, "FP32, %.1f TFLOP/s", fp32 * 1e-3), false);
    spec->note =
        add_text(data,
                 "%s Dots: model, FLOP counted as one multiply-add a point and channel, latency "
                 "predicted with a warm L2.\nA dot far below its roof is held by what no roof "
                 "shows: dependent loads, the issue of instructions, additions in L2, or the "
                 "launch.%s",
                 ceilings_text(data, ceilings), dram_note);
    roofline_title(data, ceilings, flops);
}

/* ---- working set ---------------------------------------------------------------------------- */

enum { WORKING_SET_MOST = 300 }; /* percent: the end of the axis at most */

/* Adds the bar of a GPU: the footprint as a share of the L2, and the selection's latency. */
static void add_footprint_bar(ChartData *data, int gpu, const double touched[ARRAYS],
                              double gathered) {
    const ChartInput *input = data->input;
    const Gpu on = chart_gpu(data, gpu);
    const PredictedKernel *kernel = chart_predicted(data, input->kernel, &on);
    PlotBar *bar = &data->bars[data->spec.bar_count++];
    double l2 = on.l2_bytes, sum = 0;
    *bar = (PlotBar){.label = add_text(data, "%s, %g MiB", data->model->gpus[gpu].title, l2 / MIB),
                     .strong = gpu == input->gpu,
                     .tick = 100 * gathered / l2};
    for (int i = 0; i < ARRAYS; i++) {
        bar->parts[i] = 100 * touched[i] / l2;
        sum += touched[i];
    }
    snprintf(bar->text, sizeof bar->text, "%.0f %% %s", 100 * sum / l2,
             sum <= l2 ? "smaller" : "larger than the L2");
    if (bar->tick > WORKING_SET_MOST)
        text_add(bar->text, sizeof bar->text, ", gathers %.0f %%", bar->tick);
    if (kernel) {
        double us = model_predict(data->model, kernel, gpu, edit_of(data, gpu)).latency_us;
        text_add(bar->text, sizeof bar->text, ", %s takes %s", kernel->title,
                 chart_figure(UNIT_US, kernel, us).text);
    }
}

static int shorter_first(const void *a, const void *b) {
    double x = ((const PlotBar *)a)->parts[0], y = ((const PlotBar *)b)->parts[0];
    return (x > y) - (x < y);
}

static int longer_first(const void *a, const void *b) {
    return shorter_first(b, a);
}

/* A bar for each GPU: the footprint in percent of its L2. A page has bars only of asked GPUs. */
static void fill_working_set(ChartData *data) {
    static const char *const arrays[ARRAYS] = {"features", "depth", "indices and weights",
                                               "output"};
    const ChartInput *input = data->input;
    const BevFootprint *f = &data->model->footprint;
    const double touched[ARRAYS] = {f->feat, f->depth, f->index + f->weight, f->out};
    const double gathered = bev_traffic_total(data->model->gather);
    ChartSpec *spec = &data->spec;
    double bytes = 0, most = 125;
    int fits = 0;
    spec->part_count = ARRAYS;
    for (int i = 0; i < ARRAYS; i++) {
        bytes += touched[i];
        data->parts[i] =
            add_text(data, "%s %s", arrays[i], text_of_unit(UNIT_BYTES, touched[i]).text);
    }
    for (int gpu = 0; gpu < data->model->gpu_count; gpu++) {
        fits += bytes <= chart_gpu(data, gpu).l2_bytes;
        if (input->room != ROOM_PAGE || input->asked >> gpu & 1)
            add_footprint_bar(data, gpu, touched, gathered);
    }
    qsort(data->bars, (size_t)spec->bar_count, sizeof *data->bars, longer_first);
    for (int i = 0; i < spec->bar_count; i++)
        most = fmax(most, chart_bar_end(spec, &data->bars[i]));
    add_mark(data, 100, "L2 is full", true);
    spec->subtitle = problem_text(data);
    spec->note =
        "Working set: each array whole, once (1 MiB = 1.049 MB). Gather traffic: features and "
        "depth once a point, as published, but the output in its own format. What is gathered "
        "again comes from the L2 where the working set fits. Latencies: model.";
    spec->title =
        add_text(data,
                 data->low ? "%s: as large as %d of %d L2s, or less"
                           : "The footprint of %s is no larger than the L2 of %d of %d GPUs",
                 text_of_unit(UNIT_BYTES, bytes).text, fits, data->model->gpu_count);
    spec->x = (PlotAxis){"% of the L2", false, 0, fmin(1.05 * most, WORKING_SET_MOST), "%"};
    spec->part_names = data->low ? arrays : data->parts;
    spec->tick_name = add_text(data, "gather traffic %s", text_of_unit(UNIT_BYTES, gathered).text);
}

/* ---- formats -------------------------------------------------------------------------------- */

/* Fills a bar with a kernel's latency. The text has three pieces: the latency, the reason, and the
 * evidence. Where room is short, the last pieces are left out. */
static void fill_latency_bar(const ChartData *data, const PredictedKernel *kernel, BevDtype dtype,
                             PlotBar *bar) {
    Prediction p = chart_prediction(data, kernel);
    const double recorded_us = kernel->recorded_us[data->input->gpu];
    ShortText recorded = {""};
    char reason[80];
    bar->parts[0] = p.latency_us;
    if (recorded_us > 0 && isfinite(recorded_us))
        recorded = short_text(" (recorded %.30s)", text_of_figure(UNIT_US, recorded_us).text);
    findings_reason(kernel, &p, data->model->formats[dtype].workload.longest, reason,
                    sizeof reason);
    if (strchr(reason, ':')) /* commas separate pieces */
        *strchr(reason, ':') = ',';
    snprintf(bar->text, sizeof bar->text, "%s%s, %s",
             chart_figure(UNIT_US, kernel, p.latency_us).text, recorded.text, limit_brief(reason));
}

/* Writes the finding: "V4 is fastest in INT8, 9.12 us; FP16 takes 11.6 us". */
static void formats_title(ChartData *data, int fastest) {
    const int own = (int)data->model->dtype;
    const double *us = data->bars[fastest].parts, *own_us = data->bars[own].parts;
    ShortText than = {""};
    if (fastest != own && !data->low)
        than = short_text("; %s takes %s", bev_dtypes[own].title,
                          text_of_figure(UNIT_US, own_us[0]).text);
    data->spec.title =
        add_text(data, "%s is fastest in %s, %s%s", data->kernel->title, bev_dtypes[fastest].title,
                 text_of_figure(UNIT_US, us[0]).text, than.text);
}

/* A bar for each format: the selection's latency. Once all are known, the title names the least. */
static void fill_dtype(ChartData *data) {
    const ChartInput *input = data->input;
    ChartSpec *spec = &data->spec;
    double longest = 1, least = INFINITY;
    int fastest = 0, missing = 0;
    spec->bar_count = BEV_DTYPE_COUNT;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        const bool possible = input->kernel && input->kernel->dtypes >> dtype & 1;
        const PredictedKernel *kernel =
            input->kernel ? model_in_format(data->model, (BevDtype)dtype, input->kernel, &data->gpu)
                          : NULL;
        PlotBar *bar = &data->bars[dtype];
        *bar =
            (PlotBar){.label = bev_dtypes[dtype].title, .strong = dtype == (int)data->model->dtype};
        snprintf(bar->text, sizeof bar->text, possible ? "follows" : "not in this kernel");
        missing += !kernel && (possible || bar->strong);
        if (!kernel)
            continue;
        fill_latency_bar(data, kernel, (BevDtype)dtype, bar);
        if (isfinite(input->rel_l2[dtype]))
            text_add(bar->text, sizeof bar->text, ", rel L2 %.1g", input->rel_l2[dtype]);
        longest = fmax(longest, bar->parts[0]);
        fastest = bar->parts[0] < least ? dtype : fastest;
        least = fmin(least, bar->parts[0]);
    }
    spec->note = add_text(
        data,
        "Model, L2 warm. In brackets, where known: recorded on such a GPU. Error: relative L2 "
        "against FP64 over the FP32 originals, computed on the CPU; scales: %s.\n"
        "Where dependent loads or the issue of instructions limit a kernel, decoding counts, "
        "not the bytes: a smaller format can take longer.",
        input->scales);
    if (!missing)
        formats_title(data, fastest);
    spec->x = (PlotAxis){"µs", false, 0, chart_round_up(longest), "µs"};
    spec->part_count = 1;
}

/* ---- what limits each kernel ---------------------------------------------------------------- */

/* Writes the finding: "V4 is 35 times as fast as V2 on RTX A6000, by the model". */
static void terms_title(ChartData *data, const PredictedKernel *fastest) {
    const PredictedKernel *kernel = data->kernel, *other = data->baseline;
    const ShortText where =
        data->low ? (ShortText){""} : short_text(" on %s, by the model", data->gpu.title);
    if (kernel && other && kernel != other)
        data->spec.title =
            add_text(data, "%s is %s%.3g times as fast as %s%s", kernel->title,
                     kernel->estimate || other->estimate ? "~" : "",
                     latency_us(data, other) / latency_us(data, kernel), other->title, where.text);
    else if (data->low)
        data->spec.title =
            add_text(data, "%s is the fastest of %d", fastest->title, data->spec.bar_count);
    else
        data->spec.title = add_text(data, "%s is the fastest of %d kernels%s: %s", fastest->title,
                                    data->spec.bar_count, where.text,
                                    chart_figure(UNIT_US, fastest, latency_us(data, fastest)).text);
}

static void fill_terms(ChartData *data) {
    ChartSpec *spec = &data->spec;
    const PredictedKernel *fastest = NULL;
    double longest_us = 0;
    for (const PredictedKernel *row = next_shown(data, NULL); row; row = next_shown(data, row)) {
        PlotBar *bar = &data->bars[spec->bar_count++];
        *bar = (PlotBar){.label = row->title,
                         .strong = is_row(data->kernel, row),
                         .baseline = is_row(data->baseline, row)};
        fill_latency_bar(data, row, data->model->dtype, bar);
        if (!fastest || bar->parts[0] < latency_us(data, fastest))
            fastest = row;
        longest_us = fmax(longest_us, bar->parts[0]);
    }
    qsort(data->bars, (size_t)spec->bar_count, sizeof *data->bars, shorter_first);
    if (fastest)
        terms_title(data, fastest);
    spec->note =
        "Model, L2 warm, the fastest first. The reason is the longest of four times that "
        "overlap: DRAM, L2, issue, dependent loads. A latency is the root of the sum of their "
        "squares (of grad_v4 the sum), and the launch. In brackets, where known: recorded on "
        "such a GPU.";
    spec->x = (PlotAxis){"µs", false, 0, fastest ? 1.02 * longest_us : 1, "µs"};
    spec->part_count = 1;
}

/* ---- pooling within a network: Amdahl's law with published times ----------------------------- */

/* Returns how many times as fast as the network's kernel the selection is, by the model of the
 * chosen GPU. NaN: unknown, or the selection goes backward: no deployed network does so. */
static double pooling_gain(const ChartData *data, const Network *network) {
    const PredictedKernel *from =
        chart_predicted(data, bev_kernel_find(network->kernel), &data->gpu);
    if (!data->kernel || !from || data->input->kernel->direction != BEV_FORWARD)
        return NAN;
    return latency_us(data, from) / latency_us(data, data->kernel);
}

/* Adds a bar of the network with its pooling `gain` times as fast. */
static PlotBar *add_network_bar(ChartData *data, const Network *network, const char *label,
                                double gain) {
    PlotBar *bar = &data->bars[data->spec.bar_count++];
    *bar = (PlotBar){.label = label};
    for (int part = 0; part < NETWORK_PARTS; part++)
        bar->parts[part] = network->part_ms[part] / (part == NETWORK_POOLING ? gain : 1);
    snprintf(bar->text, sizeof bar->text, "%.2f ms, %.2f times as fast",
             network_ms(network) / network_speedup(network, gain), network_speedup(network, gain));
    return bar;
}

/* Adds the bars of a network: as published, with the selection in place of V2, and with pooling
 * that takes no time. */
static void add_network_bars(ChartData *data, const Network *network, double gain) {
    double pooling = network->part_ms[NETWORK_POOLING];
    PlotBar *bar = add_network_bar(data, network, "as published", 1);
    bar->group = add_text(data, "%s on %s (published)", network->title, network->gpu);
    snprintf(bar->text, BAR_TEXT, "%.2f ms, pooling %.2f", network_ms(network), pooling);
    if (isfinite(gain))
        add_network_bar(data, network, add_text(data, "with %s", data->kernel->title), gain)
            ->strong = true;
    bar = add_network_bar(data, network, "pooling free", INFINITY);
    snprintf(bar->text, BAR_TEXT, "%.2f ms, at most %.2f times", network_ms(network) - pooling,
             network_speedup(network, INFINITY));
}

/* Writes the finding: "Pooling is 1.2 % of BEVDet-R50: V4 makes the whole 1.01 times as fast". */
static void network_title(ChartData *data, const Network *network, double gain) {
    double share = 100 * network->part_ms[NETWORK_POOLING] / network_ms(network);
    ShortText whole = {""};
    if (!data->low && isfinite(gain))
        whole = short_text(": %s makes the whole %.2f times as fast", data->kernel->title,
                           network_speedup(network, gain));
    data->spec.title =
        add_text(data, "Pooling is %.1f %% of %s%s", share, network->title, whole.text);
}

/* Returns by how much each network's pooling is divided, if known, and each network's source. */
static const char *network_note(ChartData *data, const double *gains) {
    const Networks *networks = &data->model->networks;
    char note[NOTE] = "";
    for (int i = 0; i < networks->count; i++)
        if (isfinite(gains[i]))
            text_add(note, sizeof note,
                     note[0] ? "; %s's by %.1f, %s over it"
                             : "The published pooling is divided: %s's by %.1f, %s over the "
                               "selection",
                     networks->list[i].title, gains[i],
                     bev_kernel_find(networks->list[i].kernel)->title);
    if (note[0])
        text_add(note, sizeof note,
                 " (model of %s%s). Softmax and transpositions are within other stages.",
                 data->gpu.title, gpu_edit_text(&data->input->edit).text);
    for (int i = 0; i < networks->count; i++)
        text_add(note, sizeof note, "%s%s: %s.", note[0] ? "\n" : "", networks->list[i].title,
                 networks->list[i].source);
    return add_text(data, "%s", note);
}

static void fill_network(ChartData *data) {
    /* Pooling has the accent: the chart is about pooling. */
    static const Ink inks[PLOT_COLORS] = {INK_RULE, INK_MUTED, INK_ACCENT, INK_RULE, INK_MUTED};
    const Networks *networks = &data->model->networks;
    ChartSpec *spec = &data->spec;
    double gains[NETWORKS], longest = 1, budget = 0;
    for (int i = 0; i < networks->count; i++) {
        const Network *network = &networks->list[i];
        gains[i] = pooling_gain(data, network);
        add_network_bars(data, network, gains[i]);
        longest = fmax(longest, network_ms(network));
        budget = fmax(budget, network->budget_ms);
    }
    if (networks->count)
        network_title(data, &networks->list[0], gains[0]);
    spec->subtitle = problem_text(data);
    spec->note = network_note(data, gains);
    spec->source = "published, and model";
    spec->x = (PlotAxis){add_text(data, "ms of a frame's budget of %g", budget), false, 0,
                         fmax(chart_round_up(longest), budget), "ms"};
    spec->part_names = network_parts;
    spec->part_inks = inks;
    spec->part_count = NETWORK_PARTS;
}

/* ---- launches over time: lanes for the host's calls, for copies and for kernels -------------- */

/* Adds the bars of one way to launch: a bar for each lane, or in a low room only for the lane of
 * the kernels. */
static void add_way_bars(ChartData *data, const Timeline *t, int way) {
    const TimelineRun *run = &t->runs[way];
    const ShortText calls = text_of_figure(UNIT_US, run->calls_us);
    const char *group = timeline_ways[way].title;
    for (int lane = data->low ? LANE_KERNEL : 0; lane < LANE_COUNT; lane++) {
        if (!run->count[lane])
            continue;
        PlotBar *bar = &data->bars[data->spec.bar_count++];
        *bar = (PlotBar){.group = data->low ? NULL : group,
                         .label = data->low ? timeline_ways[way].word : timeline_lanes[lane].title,
                         .spans = run->spans[lane],
                         .span_count = run->count[lane],
                         .span_part = lane};
        group = NULL; /* only the first bar of the group has the heading */
        if (lane == LANE_HOST)
            snprintf(bar->text, BAR_TEXT, "%s, calls returned", calls.text);
        else if (lane == LANE_KERNEL)
            snprintf(bar->text, BAR_TEXT, "%s in all, %s a launch%s%s",
                     text_of_figure(UNIT_US, run->end_us).text,
                     text_of_figure(UNIT_US, run->end_us / t->launches).text,
                     data->low ? ", calls " : "", data->low ? calls.text : "");
    }
}

static const char *timeline_note(ChartData *data, const Timeline *t) {
    const TimelineRun *row = &t->runs[TIMELINE_ROW];
    char note[NOTE];
    snprintf(note, sizeof note, "recorded: %s.", t->label);
    if (row->end_us > 0)
        text_add(note, sizeof note,
                 " Without a synchronise a clock says %.1f µs for the %d launches in a row, with "
                 "one %.1f.",
                 row->calls_us, t->launches, row->end_us);
    text_add(
        note, sizeof note,
        "\nEnds are measured. A launch begins when the one before it ends, or %.1f µs (in a graph "
        "from end to end) before its end; beside copies begins are measured, too. Host and "
        "GPU have clocks of their own, some µs apart.",
        t->kernel_us);
    return add_text(data, "%s", note);
}

/* Writes the texts about a time line with the label "NVIDIA H200, ..., 2026-11-20". The source is
 * "V2 CHW, recorded: H200, 2026-11-20". An unknown GPU is called as in the label, up to the comma.
 * The title is "8 launches: 105 us if each is waited for, 46.5 us in a graph". */
static void describe_timeline(ChartData *data, const Timeline *t) {
    const Gpu *gpu = gpu_of_device(t->label);
    const BevKernel *row = bev_kernel_find(t->kernel);
    const char *kernel = row ? row->title : t->kernel, *device = gpu ? gpu->title : t->label;
    const char *date = strrchr(t->label, ' ');
    const double waited_us = t->runs[TIMELINE_WAITED].end_us;
    const double graph_us = t->runs[TIMELINE_GRAPH].end_us;
    data->spec.subtitle = add_text(data, "%s, %s, %s, %s", t->scene, kernel, t->dtype, t->align);
    data->spec.note = timeline_note(data, t);
    data->spec.source = add_text(data, "%s, recorded: %.*s,%s", kernel, (int)strcspn(device, ","),
                                 device, date ? date : "");
    if (!data->low && waited_us > 0 && graph_us > 0)
        data->spec.title = add_text(data, "%d launches: %s if each is waited for, %s in a graph",
                                    t->launches, text_of_figure(UNIT_US, waited_us).text,
                                    text_of_figure(UNIT_US, graph_us).text);
}

static void fill_timeline(ChartData *data) {
    static const char *const parts[] = {"host: a call", "copy to the GPU", "kernel"};
    const ChartInput *input = data->input;
    const BevKernel *kernel = input->kernel ? model_row(input->kernel) : NULL;
    const Timeline *t =
        timeline_find(&data->model->timelines, input->scene, kernel ? kernel->name : NULL);
    ChartSpec *spec = &data->spec;
    double longest = 1;
    for (int way = 0; t && way < TIMELINE_WAYS; way++)
        if (t->runs[way].end_us > 0) {
            add_way_bars(data, t, way);
            longest = fmax(longest, t->runs[way].end_us);
        }
    if (t)
        describe_timeline(data, t);
    else {
        spec->source = "not recorded";
        spec->subtitle = "";
        spec->note = "Not recorded: no file in samples/recorded has time lines. On a GPU, nsys "
                     "profile shows those of bevscope bench --once.";
        data->bars[spec->bar_count++] = (PlotBar){.label = "n/a", .text = "not recorded"};
    }
    spec->x = (PlotAxis){"µs since the run began", false, 0, chart_round_up(longest), "µs"};
    spec->part_names = parts;
    spec->part_count = LANE_COUNT;
}

/* ---- the table ------------------------------------------------------------------------------ */

static void (*const fill_chart[CHART_COUNT])(ChartData *data) = {
    [CHART_MRC] = fill_mrc,
    [CHART_ROOFLINE] = fill_roofline,
    [CHART_WORKING_SET] = fill_working_set,
    [CHART_DTYPE] = fill_dtype,
    [CHART_TERMS] = fill_terms,
    [CHART_NETWORK] = fill_network,
    [CHART_TIMELINE] = fill_timeline,
};

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
        err_no_memory(err, "chart", "");
        return NULL;
    }
    data->input = input;
    data->model = input->model;
    data->gpu = chart_gpu(data, input->gpu);
    data->kernel = chart_predicted(data, input->kernel, &data->gpu);
    data->baseline = chart_predicted(data, input->baseline, &data->gpu);
    data->low = input->room == ROOM_LOW;
    data->spec = (ChartSpec){.title = charts[input->chart].title,
                             .series = data->series,
                             .bars = data->bars,
                             .marks = data->marks,
                             .theme = input->theme};
    data->spec.subtitle = add_text(data, "%s, on %s%s", problem_text(data), data->gpu.title,
                                   gpu_edit_text(&input->edit).text);
    fill_chart[input->chart](data);
    return &data->spec;
}
