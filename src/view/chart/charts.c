/* SPDX-License-Identifier: MIT */
/* The charts of the memory model: one function a chart fills its spec; the table is at the end. */
#include "src/view/chart/live_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200, ARRAYS = 4, MAX_BARS = 2 * MODEL_GPUS, ROOFS = 3 };
enum { MRC_SIZES = 293 }; /* the last ones of what_if_l2: from 0.5 MiB on */

/* A spec with the room for its texts and values, so that one free() frees all. */
typedef struct {
    ChartSpec spec; /* first: chart_make() returns its address */
    const ChartInput *input;
    char title[TEXT], subtitle[TEXT + 144], note[4 * TEXT], source[TEXT];
    double x[MRC_SIZES], y[MODEL_KERNELS][MRC_SIZES];
    double roof_x[ROOFS][3], roof_y[ROOFS][3];
    PlotSeries series[ROOFS + MODEL_KERNELS];
    PlotMark marks[MODEL_GPUS];
    PlotBar bars[MAX_BARS];
    PlotSpan spans[TIMELINE_WAYS][LANE_COUNT][TIMELINE_LAUNCHES];
    char labels[MAX_BARS][TEXT];
    const char *parts[ARRAYS];
} ChartData;

#define MIB 1048576.0

/* Writes what is modelled: "canonical, FP16, nearest, C = 80, 209,019 points". */
static void describe_problem(const ChartInput *input, char text[TEXT]) {
    const MemoryModel *model = input->model;
    snprintf(text, TEXT, "%s, %s, %s, C = %lld, %s points", input->scene,
             bev_dtypes[model->dtype].title, bev_aligns[model->align].name,
             (long long)model->channels, text_of_unit(UNIT_COUNT, (double)model->points).text);
}

/* Writes the subtitle of charts of one GPU, which others replace: the problem, the GPU and the
 * user's changes to it. */
static void describe_problem_on_gpu(ChartData *data) {
    const ChartInput *input = data->input;
    char problem[TEXT];
    describe_problem(input, problem);
    snprintf(data->subtitle, sizeof data->subtitle, "%s, on %s%s", problem,
             input->model->gpus[input->gpu].title, gpu_edit_text(&input->edit).text);
}

/* Returns the changes to a GPU of the model: only the chosen one has any. NULL: none. */
static const GpuEdit *edit_of(const ChartInput *input, int gpu) {
    return gpu == input->gpu ? &input->edit : NULL;
}

static Gpu chart_gpu(const ChartInput *input, int gpu) {
    return model_gpu(input->model, gpu, edit_of(input, gpu));
}

/* Returns a kernel of the model that charts of all kernels show; NULL: an empty or a wrong one. */
static const PredictedKernel *shown_kernel(const MemoryModel *model, int row) {
    const PredictedKernel *kernel = &model->kernels[row];
    return kernel->name && !kernel->kernel->wrong_on_purpose ? kernel : NULL;
}

static Prediction chart_prediction(const ChartInput *input, const PredictedKernel *kernel,
                                   int gpu) {
    return model_predict(input->model, kernel, gpu, edit_of(input, gpu));
}

/* Writes a figure that is derived from a kernel's prediction, a first estimate as "~402 us". */
static ShortText chart_figure(Unit unit, const PredictedKernel *kernel, double value) {
    ShortText text;
    snprintf(text.text, sizeof text.text, "%s%s", kernel->estimate ? "~" : "",
             unit == UNIT_US ? text_of_figure(unit, value).text : text_of_unit(unit, value).text);
    return text;
}

/* Returns the end of an axis: the value, rounded up in its first digit. */
static double chart_round_up(double value) {
    double step = pow(10, floor(log10(value)));
    return ceil(value / step) * step;
}

/* Returns the model's row for the kernel on a GPU. NULL: there is none yet. */
static const PredictedKernel *chart_predicted(const ChartInput *input, const BevKernel *kernel,
                                              int gpu) {
    Gpu on = chart_gpu(input, gpu);
    return kernel ? model_of_kernel(input->model, kernel, &on) : NULL;
}

/* Whether `row` stands for the kernel on the chosen GPU. */
static bool chart_is_kernel(const ChartInput *input, const PredictedKernel *row,
                            const BevKernel *kernel) {
    const PredictedKernel *predicted = chart_predicted(input, kernel, input->gpu);
    return predicted && !strcmp(predicted->name, row->name);
}

/* Fills series `count` of the chart with the points of a kernel, given by its row in the model. */
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
        double mib = chart_gpu(input, gpu).l2_bytes / MIB;
        const char *title = input->model->gpus[gpu].title;
        snprintf(data->labels[gpu], TEXT, "%s, %g%s", title, mib, gpu == input->gpu ? " MiB" : "");
        data->marks[gpu] = (PlotMark){mib, data->labels[gpu], gpu == input->gpu};
    }
    chart_sort_marks(data->marks, count);
    return count;
}

static ShortText moved_text(const ChartInput *input, const PredictedKernel *kernel) {
    return chart_figure(UNIT_BYTES, kernel,
                        prediction_dram_bytes(chart_prediction(input, kernel, input->gpu)));
}

/* Writes the finding: "V4 moves 5.38 MB to and from DRAM on RTX A6000, V2 12.4 MB". */
static void traffic_finding(const ChartInput *input, char title[TEXT]) {
    const PredictedKernel *kernel = chart_predicted(input, input->kernel, input->gpu);
    const PredictedKernel *baseline = chart_predicted(input, input->baseline, input->gpu);
    const char *gpu = input->model->gpus[input->gpu].title;
    if (!kernel)
        return;
    const ShortText bytes = moved_text(input, kernel);
    if (input->room == ROOM_LOW)
        snprintf(title, TEXT, "DRAM moves %s for %s", bytes.text, kernel->title);
    else
        snprintf(title, TEXT, "%s moves %s to and from DRAM on %s", kernel->title, bytes.text, gpu);
    if (baseline && baseline != kernel)
        text_add(title, TEXT, ", %s %s", baseline->title, moved_text(input, baseline).text);
}

static void fill_mrc(ChartData *data) {
    const ChartInput *input = data->input;
    double most = 1, least = INFINITY;
    bool sampled = false;
    int count = 0;
    for (int i = 0; i < MRC_SIZES; i++)
        data->x[i] = model_l2_mib(MODEL_L2S - MRC_SIZES + i);
    for (int r = 0; r < input->model->kernel_count; r++) {
        const PredictedKernel *predicted = shown_kernel(input->model, r);
        if (!predicted)
            continue;
        for (int i = 0; i < MRC_SIZES; i++) {
            GpuEdit edit = input->edit;
            edit.l2_mib = data->x[i];
            data->y[r][i] = 1e-6 * prediction_dram_bytes(
                                       model_predict(input->model, predicted, input->gpu, &edit));
        }
        least = fmin(least, data->y[r][0]);
        sampled = sampled || predicted->sampled;
        add_series(data, count++, r, data->x, data->y[r], MRC_SIZES);
    }
    /* The lower edge is ten times less than any kernel moves with the smallest L2; values below it
     * are drawn there. */
    least = least > 0 && isfinite(least) ? pow(10, floor(log10(least)) - 1) : 0.1;
    for (int r = 0; r < input->model->kernel_count; r++)
        for (int i = 0; i < MRC_SIZES; i++) {
            data->y[r][i] = fmax(data->y[r][i], least);
            most = fmax(most, data->y[r][i]);
        }
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

/* Draws roof `i` from (x0, y0) up to (x1, top), and flat from there on. All but the first are
 * dashed. The colour is that of `term`, the part of the latency that the roof limits. */
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

/* The position in data->labels of the note's sentence about the roof of DRAM. */
enum { DRAM_NOTE = ROOFS + 1 };

/* Draws the roof of DRAM for the selection. The axis counts bytes of L2, of which only some come
 * from DRAM. False: so few come from DRAM that the roof would lie above the chart. */
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

/* Writes the finding: "V4 reaches 12 % of its L2 roof on RTX A6000: latency-bound". */
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

/* Adds a dot for each kernel, widens the axes to them, and returns how many there are. */
static int kernel_dots(ChartData *data, double flops, PlotAxis *x, PlotAxis *y) {
    const ChartInput *input = data->input;
    const MemoryModel *model = input->model;
    int count = 0;
    for (int r = 0; r < model->kernel_count; r++) {
        const PredictedKernel *predicted = shown_kernel(model, r);
        if (!predicted)
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
    const double flops = 2 * (double)input->model->points * (double)input->model->channels;
    int count = kernel_dots(data, flops, &spec->x, &spec->y);
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
    ceilings_text(ceilings, &gpu, whence);
    snprintf(data->note, sizeof data->note,
             "%s Dots: model, FLOP counted as one multiply-add a point and channel, latency "
             "predicted with a warm L2.\nA dot far below its roof is held by what no roof shows: "
             "dependent loads, the issue of instructions, additions in L2, or the launch.%s",
             whence, data->labels[DRAM_NOTE]);
    if (input->room == ROOM_LOW)
        snprintf(data->title, TEXT, "%s; roofs: %s", charts[CHART_ROOFLINE].title,
                 source_names[ceilings->source]);
    else
        roofline_finding(input, ceilings, flops, data->title);
}

/* ---- working set ---------------------------------------------------------------------------- */

enum { WORKING_SET_MOST = 300 }; /* percent: the end of the axis at most */

/* Draws the bar of a GPU: the footprint, and what the selection would take there. */
static void footprint_bar(ChartData *data, int gpu, const double touched[ARRAYS], double gathered,
                          PlotBar *bar, char *label) {
    const ChartInput *input = data->input;
    const PredictedKernel *predicted = chart_predicted(input, input->kernel, gpu);
    double l2 = chart_gpu(input, gpu).l2_bytes, sum = 0;
    snprintf(label, TEXT, "%s, %g MiB", input->model->gpus[gpu].title, l2 / MIB);
    *bar = (PlotBar){.label = label, .strong = gpu == input->gpu, .tick = 100 * gathered / l2};
    for (int i = 0; i < ARRAYS; i++) {
        bar->parts[i] = 100 * touched[i] / l2;
        sum += touched[i];
    }
    snprintf(bar->text, sizeof bar->text, "%.0f %% %s", 100 * sum / l2,
             sum <= l2 ? "smaller" : "larger than the L2");
    if (bar->tick > WORKING_SET_MOST)
        text_add(bar->text, sizeof bar->text, ", gathers %.0f %%", bar->tick);
    if (predicted)
        text_add(
            bar->text, sizeof bar->text, ", %s takes %s", predicted->title,
            chart_figure(UNIT_US, predicted, chart_prediction(input, predicted, gpu).latency_us)
                .text);
}

/* Sorts the model's GPUs by the size of their L2, the smallest first. */
static void order_by_l2(const ChartInput *input, int order[MODEL_GPUS]) {
    for (int gpu = 0; gpu < input->model->gpu_count; gpu++) {
        double bytes = chart_gpu(input, gpu).l2_bytes;
        int at = gpu;
        for (; at > 0 && chart_gpu(input, order[at - 1]).l2_bytes > bytes; at--)
            order[at] = order[at - 1];
        order[at] = gpu;
    }
}

/* Writes the finding: "The footprint of 9.7 MB is no larger than the L2 of 9 of 12 GPUs". */
static void footprint_finding(const ChartInput *input, double bytes, char title[TEXT]) {
    int fits = 0;
    for (int gpu = 0; gpu < input->model->gpu_count; gpu++)
        fits += bytes <= chart_gpu(input, gpu).l2_bytes;
    snprintf(title, TEXT,
             input->room == ROOM_LOW
                 ? "%s: as large as %d of %d L2s, or less"
                 : "The footprint of %s is no larger than the L2 of %d of %d GPUs",
             text_of_unit(UNIT_BYTES, bytes).text, fits, input->model->gpu_count);
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
    order_by_l2(input, order);
    for (int i = 0; i < ARRAYS; i++)
        bytes += touched[i];
    for (int i = 0; i < input->model->gpu_count; i++)
        if (input->room != ROOM_PAGE || input->asked >> order[i] & 1) {
            footprint_bar(data, order[i], touched, gathered, &data->bars[count],
                          data->labels[count]);
            most = fmax(most, chart_bar_end(spec, &data->bars[count++]));
        }
    for (int i = 0; i < ARRAYS; i++) {
        snprintf(data->labels[MODEL_GPUS + i], TEXT, "%s %s", arrays[i],
                 text_of_unit(UNIT_BYTES, touched[i]).text);
        data->parts[i] = data->labels[MODEL_GPUS + i];
    }
    snprintf(data->labels[MODEL_GPUS + ARRAYS], TEXT, "gather traffic %s",
             text_of_unit(UNIT_BYTES, gathered).text);
    describe_problem(input, data->subtitle);
    snprintf(data->note, sizeof data->note,
             "Working set: each array whole, once (1 MiB = 1.049 MB). Gather traffic: features and "
             "depth "
             "once a point, as published, but the output in its own format. What is gathered again "
             "comes from the L2 where the working set fits. Latencies: model.");
    footprint_finding(input, bytes, data->title);
    spec->x = (PlotAxis){"% of the L2", false, 0, fmin(1.05 * most, WORKING_SET_MOST), "%"};
    spec->part_names = input->room == ROOM_LOW ? arrays : data->parts;
    spec->bar_count = count;
    spec->tick_name = data->labels[MODEL_GPUS + ARRAYS];
    spec->marks = full;
    spec->mark_count = 1;
}

/* ---- formats -------------------------------------------------------------------------------- */

/* Fills a bar with a kernel's latency. Its text has pieces, which are dropped from the end where
 * room is short: the latency, its reason, and the evidence. */
static void latency_bar(const ChartInput *input, const PredictedKernel *kernel, BevDtype dtype,
                        PlotBar *bar) {
    Prediction p = chart_prediction(input, kernel, input->gpu);
    int64_t longest = input->model->formats[dtype].workload.longest;
    const double recorded_us = kernel->recorded_us[input->gpu];
    char recorded[48] = "", reason[80];
    bar->parts[0] = p.latency_us;
    if (recorded_us > 0 && isfinite(recorded_us))
        snprintf(recorded, sizeof recorded, " (recorded %.30s)",
                 text_of_figure(UNIT_US, recorded_us).text);
    findings_reason(kernel, &p, longest, reason, sizeof reason);
    if (strchr(reason, ':')) /* commas separate pieces */
        *strchr(reason, ':') = ',';
    snprintf(bar->text, sizeof bar->text, "%s%s, %s",
             chart_figure(UNIT_US, kernel, p.latency_us).text, recorded, limit_brief(reason));
}

/* Writes the finding: "V4 is fastest in INT8, 9.12 us; FP16 takes 11.6 us". */
static void formats_finding(const ChartInput *input, int fastest, double fastest_us, double own_us,
                            char title[TEXT]) {
    const char *own = bev_dtypes[input->model->dtype].title;
    const char *kernel = chart_predicted(input, input->kernel, input->gpu)->title;
    const ShortText least = text_of_figure(UNIT_US, fastest_us);
    if (fastest == (int)input->model->dtype || input->room == ROOM_LOW)
        snprintf(title, TEXT, "%s is fastest in %s, %s", kernel, bev_dtypes[fastest].title,
                 least.text);
    else
        snprintf(title, TEXT, "%s is fastest in %s, %s; %s takes %s", kernel,
                 bev_dtypes[fastest].title, least.text, own, text_of_figure(UNIT_US, own_us).text);
}

static void fill_dtype(ChartData *data) {
    const ChartInput *input = data->input;
    ChartSpec *spec = &data->spec;
    Gpu gpu = chart_gpu(input, input->gpu);
    double longest = 1, least = INFINITY, own_us = NAN;
    int fastest = 0, missing = 0;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        PlotBar *bar = &data->bars[dtype];
        const PredictedKernel *kernel =
            input->kernel ? model_in_format(input->model, (BevDtype)dtype, input->kernel, &gpu)
                          : NULL;
        *bar = (PlotBar){.label = bev_dtypes[dtype].title,
                         .text = "follows",
                         .strong = dtype == (int)input->model->dtype};
        const bool possible = input->kernel && input->kernel->dtypes >> dtype & 1;
        if (!possible)
            snprintf(bar->text, sizeof bar->text, "not in this kernel");
        missing += possible && !kernel;
        if (!kernel)
            continue;
        latency_bar(input, kernel, (BevDtype)dtype, bar);
        if (isfinite(input->rel_l2[dtype]))
            text_add(bar->text, sizeof bar->text, ", rel L2 %.1g", input->rel_l2[dtype]);
        longest = fmax(longest, bar->parts[0]);
        fastest = bar->parts[0] < least ? dtype : fastest;
        least = fmin(least, bar->parts[0]);
        own_us = bar->strong ? bar->parts[0] : own_us;
    }
    snprintf(data->note, sizeof data->note,
             "Model, L2 warm. In brackets, where known: recorded on such a GPU. Error: relative L2 "
             "against FP64 over the FP32 originals, computed on the CPU; scales: %s.\n"
             "Where dependent loads or the issue of instructions limit a kernel, decoding counts, "
             "not the bytes: a smaller format can take longer.",
             input->scales);
    if (isfinite(own_us) && !missing) /* a title compares only what is all there */
        formats_finding(input, fastest, least, own_us, data->title);
    spec->x = (PlotAxis){"µs", false, 0, chart_round_up(longest), "µs"};
    spec->part_count = 1;
    spec->bar_count = BEV_DTYPE_COUNT;
}

/* ---- what limits each kernel ---------------------------------------------------------------- */

typedef struct {
    const PredictedKernel *kernel;
    Prediction predicted;
} Ranked;

static int faster_first(const void *a, const void *b) {
    double x = ((const Ranked *)a)->predicted.latency_us;
    double y = ((const Ranked *)b)->predicted.latency_us;
    return (x > y) - (x < y);
}

/* Sorts the correct kernels by latency; returns how many there are. */
static int rank_kernels(const ChartInput *input, Ranked ranked[MODEL_KERNELS]) {
    int count = 0;
    for (int r = 0; r < input->model->kernel_count; r++) {
        const PredictedKernel *kernel = shown_kernel(input->model, r);
        if (kernel)
            ranked[count++] = (Ranked){kernel, chart_prediction(input, kernel, input->gpu)};
    }
    qsort(ranked, (size_t)count, sizeof *ranked, faster_first);
    return count;
}

/* Writes the finding: "V4 is 35 times as fast as V2 on RTX A6000, by the model". */
static void terms_finding(const ChartInput *input, const Ranked *ranked, int count,
                          char title[TEXT]) {
    const PredictedKernel *kernel = chart_predicted(input, input->kernel, input->gpu);
    const PredictedKernel *baseline = chart_predicted(input, input->baseline, input->gpu);
    const char *gpu = input->model->gpus[input->gpu].title;
    if (kernel && baseline && kernel != baseline) {
        double times = chart_prediction(input, baseline, input->gpu).latency_us /
                       chart_prediction(input, kernel, input->gpu).latency_us;
        snprintf(title, TEXT, "%s is %s%.3g times as fast as %s", kernel->title,
                 kernel->estimate || baseline->estimate ? "~" : "", times, baseline->title);
        if (input->room != ROOM_LOW)
            text_add(title, TEXT, " on %s, by the model", gpu);
        return;
    }
    snprintf(title, TEXT,
             input->room == ROOM_LOW ? "%s is the fastest of %d"
                                     : "%s is the fastest of %d kernels on %s, by the model: %s",
             ranked[0].kernel->title, count, gpu,
             chart_figure(UNIT_US, ranked[0].kernel, ranked[0].predicted.latency_us).text);
}

static void fill_terms(ChartData *data) {
    const ChartInput *input = data->input;
    Ranked ranked[MODEL_KERNELS];
    ChartSpec *spec = &data->spec;
    int count = rank_kernels(input, ranked);
    for (int i = 0; i < count; i++) {
        const PredictedKernel *kernel = ranked[i].kernel;
        data->bars[i] = (PlotBar){.label = kernel->title,
                                  .strong = chart_is_kernel(input, kernel, input->kernel),
                                  .baseline = chart_is_kernel(input, kernel, input->baseline)};
        latency_bar(input, kernel, input->model->dtype, &data->bars[i]);
    }
    snprintf(data->note, sizeof data->note,
             "Model, L2 warm, the fastest first. The reason is the longest of four times that "
             "overlap: DRAM, L2, issue, dependent loads. A latency is the root of the sum of their "
             "squares (of grad_v4 the sum), and the launch. In brackets, where known: recorded on "
             "such a GPU.");
    if (count)
        terms_finding(input, ranked, count, data->title);
    spec->x =
        (PlotAxis){"µs", false, 0, count ? 1.02 * ranked[count - 1].predicted.latency_us : 1, "µs"};
    spec->part_count = 1;
    spec->bar_count = count;
}

/* ---- pooling within a network: Amdahl's law with published times ----------------------------- */

/* Returns how many times as fast as the network's kernel the selection is, on the chosen GPU by the
 * model. NaN: unknown, or the selection goes backward, which no deployed network does. */
static double pooling_gain(const ChartInput *input, const Network *network) {
    if (!input->kernel || input->kernel->direction != BEV_FORWARD)
        return NAN;
    const PredictedKernel *from =
        chart_predicted(input, bev_kernel_find(network->kernel), input->gpu);
    const PredictedKernel *to = chart_predicted(input, input->kernel, input->gpu);
    if (!from || !to)
        return NAN;
    return chart_prediction(input, from, input->gpu).latency_us /
           chart_prediction(input, to, input->gpu).latency_us;
}

/* Makes the bar of the network with its pooling `gain` times as fast. */
static PlotBar network_bar(const Network *network, const char *label, double gain) {
    PlotBar bar = {.label = label};
    for (int part = 0; part < NETWORK_PARTS; part++)
        bar.parts[part] = network->part_ms[part] / (part == NETWORK_POOLING ? gain : 1);
    snprintf(bar.text, sizeof bar.text, "%.2f ms, %.2f times as fast",
             network_ms(network) / network_speedup(network, gain), network_speedup(network, gain));
    return bar;
}

/* Makes the bars of a network: as published, with the selection in V2's place, and if pooling took
 * no time. */
static int network_bars(ChartData *data, const Network *network, double gain, PlotBar *bars,
                        char labels[2][TEXT]) {
    int count = 0;
    double pooling = network->part_ms[NETWORK_POOLING];
    snprintf(labels[0], TEXT, "%s on %s (published)", network->title, network->gpu);
    bars[count] = network_bar(network, "as published", 1);
    bars[count].group = labels[0];
    snprintf(bars[count++].text, BAR_TEXT, "%.2f ms, pooling %.2f", network_ms(network), pooling);
    if (isfinite(gain)) {
        snprintf(labels[1], TEXT, "with %s",
                 chart_predicted(data->input, data->input->kernel, data->input->gpu)->title);
        bars[count] = network_bar(network, labels[1], gain);
        bars[count++].strong = true;
    }
    bars[count] = network_bar(network, "pooling free", INFINITY);
    snprintf(bars[count++].text, BAR_TEXT, "%.2f ms, at most %.2f times",
             network_ms(network) - pooling, network_speedup(network, INFINITY));
    return count;
}

/* Writes the finding: "Pooling is 1.2 % of BEVDet-R50: V4 makes the whole 1.01 times as fast". */
static void network_finding(const ChartInput *input, const Network *network, double gain,
                            char title[TEXT]) {
    double share = 100 * network->part_ms[NETWORK_POOLING] / network_ms(network);
    if (input->room == ROOM_LOW || !isfinite(gain))
        snprintf(title, TEXT, "Pooling is %.1f %% of %s", share, network->title);
    else
        snprintf(title, TEXT, "Pooling is %.1f %% of %s: %s makes the whole %.2f times as fast",
                 share, network->title, chart_predicted(input, input->kernel, input->gpu)->title,
                 network_speedup(network, gain));
}

static void network_note(ChartData *data, const double *gains) {
    const Networks *networks = &data->input->model->networks;
    const ChartInput *input = data->input;
    char *note = data->note;
    const size_t size = sizeof data->note;
    for (int i = 0; i < networks->count; i++)
        if (isfinite(gains[i]))
            text_add(note, size,
                     note[0] ? "; %s's by %.1f, %s over it"
                             : "The published pooling is divided: %s's by %.1f, %s over the "
                               "selection",
                     networks->list[i].title, gains[i],
                     bev_kernel_find(networks->list[i].kernel)->title);
    if (note[0])
        text_add(note, size,
                 " (model of %s%s). Softmax and transpositions are within other stages.",
                 input->model->gpus[input->gpu].title, gpu_edit_text(&input->edit).text);
    for (int i = 0; i < networks->count; i++)
        text_add(note, size, "%s%s: %s.", note[0] ? "\n" : "", networks->list[i].title,
                 networks->list[i].source);
}

static void fill_network(ChartData *data) {
    /* Pooling has the accent: the chart is about pooling. */
    static const Ink inks[PLOT_COLORS] = {INK_RULE, INK_MUTED, INK_ACCENT, INK_RULE, INK_MUTED};
    const Networks *networks = &data->input->model->networks;
    ChartSpec *spec = &data->spec;
    double gains[NETWORKS], longest = 1, budget = 0;
    int count = 0;
    for (int i = 0; i < networks->count; i++) {
        const Network *network = &networks->list[i];
        gains[i] = pooling_gain(data->input, network);
        count += network_bars(data, network, gains[i], &data->bars[count], &data->labels[2 * i]);
        longest = fmax(longest, network_ms(network));
        budget = fmax(budget, network->budget_ms);
    }
    describe_problem(data->input, data->subtitle);
    spec->source = "published, and model";
    network_note(data, gains);
    if (networks->count)
        network_finding(data->input, &networks->list[0], gains[0], data->title);
    snprintf(data->labels[2 * NETWORKS], TEXT, "ms of a frame's budget of %g", budget);
    spec->x = (PlotAxis){data->labels[2 * NETWORKS], false, 0,
                         fmax(chart_round_up(longest), budget), "ms"};
    spec->part_names = network_parts;
    spec->part_inks = inks;
    spec->part_count = NETWORK_PARTS;
    spec->bar_count = count;
}

/* ---- launches over time: a lane for the host's calls, for copies and for kernels ------------- */

/* Makes the bars of one way to launch, one for each lane. In a low room only the lane of the
 * kernels has a bar. */
static int way_bars(ChartData *data, const Timeline *t, int way, int count) {
    const TimelineRun *run = &t->runs[way];
    bool low = data->input->room == ROOM_LOW;
    int first = count;
    for (int lane = low ? LANE_KERNEL : 0; lane < LANE_COUNT; lane++) {
        if (!run->count[lane])
            continue;
        PlotBar *bar = &data->bars[count++];
        PlotSpan *spans = data->spans[way][lane];
        for (int i = 0; i < run->count[lane]; i++)
            spans[i] = (PlotSpan){lane, run->spans[lane][i].begin_us, run->spans[lane][i].end_us};
        *bar = (PlotBar){
            .label = timeline_lanes[lane].title, .spans = spans, .span_count = run->count[lane]};
        const ShortText calls = text_of_figure(UNIT_US, run->calls_us);
        if (lane == LANE_HOST)
            snprintf(bar->text, BAR_TEXT, "%s, calls returned", calls.text);
        else if (lane == LANE_KERNEL)
            snprintf(bar->text, BAR_TEXT, "%s in all, %s a launch%s%s",
                     text_of_figure(UNIT_US, run->end_us).text,
                     text_of_figure(UNIT_US, run->end_us / t->launches).text, low ? ", calls " : "",
                     low ? calls.text : "");
    }
    if (low && count > first)
        data->bars[first].label = timeline_ways[way].word;
    else if (count > first)
        data->bars[first].group = timeline_ways[way].title;
    return count;
}

static const TimelineRun *run_of(const Timeline *t, TimelineWay way) {
    return t->runs[way].end_us > 0 ? &t->runs[way] : NULL;
}

/* Writes the finding: "8 launches: 105 us if each is waited for, 46.5 us in a graph". */
static void timeline_finding(const Timeline *t, char title[TEXT]) {
    const TimelineRun *waited = run_of(t, TIMELINE_WAITED), *graph = run_of(t, TIMELINE_GRAPH);
    if (waited && graph)
        snprintf(title, TEXT, "%d launches: %s if each is waited for, %s in a graph", t->launches,
                 text_of_figure(UNIT_US, waited->end_us).text,
                 text_of_figure(UNIT_US, graph->end_us).text);
}

static void timeline_note(ChartData *data, const Timeline *t) {
    const TimelineRun *row = run_of(t, TIMELINE_ROW);
    snprintf(data->note, sizeof data->note, "recorded: %s.", t->label);
    if (row)
        text_add(
            data->note, sizeof data->note,
            " Without a synchronise a clock says %.1f µs for the %d launches in a row, with one "
            "%.1f.",
            row->calls_us, t->launches, row->end_us);
    text_add(
        data->note, sizeof data->note,
        "\nEnds are measured. A launch begins when the one before it ends, or %.1f µs (in a graph "
        "from end to end) before its end; beside copies begins are measured, too. Host and "
        "GPU have clocks of their own, some µs apart.",
        t->kernel_us);
}

/* Writes "V2 CHW, recorded: H200, 2026-11-20" of a label such as "NVIDIA H200, ..., 2026-11-20". A
 * GPU that is known has its short title, another one the label's text up to the comma. */
static void timeline_source(ChartData *data, const Timeline *t) {
    const Gpu *gpu = gpu_of_device(t->label);
    const BevKernel *kernel = bev_kernel_find(t->kernel);
    const char *device = gpu ? gpu->title : t->label, *date = strrchr(t->label, ' ');
    snprintf(data->source, sizeof data->source, "%s, recorded: %.*s,%s",
             kernel ? kernel->title : t->kernel, (int)strcspn(device, ","), device,
             date ? date : "");
    data->spec.source = data->source;
}

static void fill_timeline(ChartData *data) {
    static const char *const parts[] = {"host: a call", "copy to the GPU", "kernel"};
    const ChartInput *input = data->input;
    const BevKernel *kernel = input->kernel ? model_row(input->kernel) : NULL;
    const Timeline *t =
        timeline_find(&input->model->timelines, input->scene, kernel ? kernel->name : NULL);
    ChartSpec *spec = &data->spec;
    double longest = 1;
    int count = 0;
    spec->x = (PlotAxis){"µs since the run began", false, 0, 1, "µs"};
    spec->part_names = parts;
    spec->part_count = LANE_COUNT;
    data->subtitle[0] = '\0';
    if (!t) {
        data->bars[count] = (PlotBar){.label = "n/a"};
        spec->source = "not recorded";
        snprintf(data->bars[count++].text, BAR_TEXT, "%s", spec->source);
        snprintf(data->note, sizeof data->note,
                 "Not recorded: no file in samples/recorded has time lines. On a GPU, nsys profile "
                 "shows those of bevscope bench --once.");
    }
    for (int way = 0; t && way < TIMELINE_WAYS; way++) {
        if (!run_of(t, (TimelineWay)way))
            continue;
        count = way_bars(data, t, way, count);
        longest = fmax(longest, t->runs[way].end_us);
    }
    if (t) {
        const BevKernel *row = bev_kernel_find(t->kernel);
        snprintf(data->subtitle, sizeof data->subtitle, "%s, %s, %s, %s", t->scene,
                 row ? row->title : t->kernel, t->dtype, t->align);
        timeline_note(data, t);
        timeline_source(data, t);
        if (input->room != ROOM_LOW)
            timeline_finding(t, data->title);
    }
    spec->x.hi = chart_round_up(longest);
    spec->bar_count = count;
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
    data->spec = (ChartSpec){.title = charts[input->chart].title,
                             .subtitle = data->subtitle,
                             .note = data->note,
                             .series = data->series,
                             .bars = data->bars,
                             .marks = data->marks,
                             .theme = input->theme};
    describe_problem_on_gpu(data);
    fill_chart[input->chart](data);
    if (data->title[0])
        data->spec.title = data->title;
    return &data->spec;
}
