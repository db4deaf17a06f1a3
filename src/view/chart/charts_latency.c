/* SPDX-License-Identifier: MIT */
/* Charts of latencies: the selection in each number format, and why each kernel takes so long. */
#include "src/cachesim/findings.h"
#include "src/view/chart/charts_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats -------------------------------------------------------------------------------- */

/* " (recorded 24.3 µs)" on the chart's GPU, as it is; "": nothing was. */
static void recorded_text(const ChartInput *input, const PredictedKernel *kernel, char text[48]) {
    double recorded_us = kernel->recorded_us[input->gpu];
    char us[32];
    text[0] = '\0';
    if (!(recorded_us > 0) || !isfinite(recorded_us))
        return;
    figure_text(UNIT_US, recorded_us, us, sizeof us);
    snprintf(text, 48, " (recorded %s)", us);
}

/* Pieces of a bar's text that room decides about: the latency, its reason, and the rest. */
static void reason_text(const ChartInput *input, const PredictedKernel *kernel, BevDtype dtype,
                        PlotBar *bar) {
    Prediction p = chart_prediction(input, kernel, input->gpu);
    int64_t longest = input->model->formats[dtype].workload.longest;
    char us[32], recorded[48], reason[80];
    bar->parts[0] = p.latency_us;
    figure_text(UNIT_US, p.latency_us, us, sizeof us);
    recorded_text(input, kernel, recorded);
    findings_reason(kernel, &p, longest, reason, sizeof reason);
    if (strchr(reason, ':')) /* commas separate pieces */
        *strchr(reason, ':') = ',';
    snprintf(bar->text, sizeof bar->text, "%s%s, %s", us, recorded, limit_brief(reason));
}

/* "V4 is fastest in INT8, 9.12 us; FP16 takes 11.6 us" */
static void formats_finding(const ChartInput *input, int fastest, double fastest_us, double own_us,
                            char title[TEXT]) {
    const char *own = bev_dtypes[input->model->dtype].title;
    const char *kernel = chart_predicted(input, input->kernel, input->gpu)->title;
    char least[32], us[32];
    figure_text(UNIT_US, fastest_us, least, sizeof least);
    figure_text(UNIT_US, own_us, us, sizeof us);
    if (fastest == (int)input->model->dtype || input->room == ROOM_LOW)
        snprintf(title, TEXT, "%s is fastest in %s, %s", kernel, bev_dtypes[fastest].title, least);
    else
        snprintf(title, TEXT, "%s is fastest in %s, %s; %s takes %s", kernel,
                 bev_dtypes[fastest].title, least, own, us);
}

void fill_dtype(ChartData *data) {
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
        reason_text(input, kernel, (BevDtype)dtype, bar);
        size_t used = strlen(bar->text);
        if (isfinite(input->rel_l2[dtype]))
            snprintf(bar->text + used, sizeof bar->text - used, ", rel L2 %.1g",
                     input->rel_l2[dtype]);
        longest = fmax(longest, bar->parts[0]);
        fastest = bar->parts[0] < least ? dtype : fastest;
        least = fmin(least, bar->parts[0]);
        own_us = bar->strong ? bar->parts[0] : own_us;
    }
    chart_describe_on(data);
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

/* A kernel and its prediction on the chosen GPU. */
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
        const PredictedKernel *kernel = &input->model->kernels[r];
        if (kernel->name && !kernel->kernel->wrong_on_purpose)
            ranked[count++] = (Ranked){kernel, chart_prediction(input, kernel, input->gpu)};
    }
    qsort(ranked, (size_t)count, sizeof *ranked, faster_first);
    return count;
}

/* "V4 is 35 times as fast as V2 on RTX A6000, by the model" */
static void terms_finding(const ChartInput *input, const Ranked *ranked, int count,
                          char title[TEXT]) {
    const PredictedKernel *kernel = chart_predicted(input, input->kernel, input->gpu);
    const PredictedKernel *baseline = chart_predicted(input, input->baseline, input->gpu);
    const char *gpu = input->model->gpus[input->gpu].title;
    char us[32];
    if (kernel && baseline && kernel != baseline) {
        double times = chart_prediction(input, baseline, input->gpu).latency_us /
                       chart_prediction(input, kernel, input->gpu).latency_us;
        int used = snprintf(title, TEXT, "%s is %.3g times as fast as %s", kernel->title, times,
                            baseline->title);
        if (input->room != ROOM_LOW)
            snprintf(title + used, TEXT - (size_t)used, " on %s, by the model", gpu);
        return;
    }
    figure_text(UNIT_US, ranked[0].predicted.latency_us, us, sizeof us);
    snprintf(title, TEXT,
             input->room == ROOM_LOW ? "%s is the fastest of %d"
                                     : "%s is the fastest of %d kernels on %s, by the model: %s",
             ranked[0].kernel->title, count, gpu, us);
}

void fill_terms(ChartData *data) {
    const ChartInput *input = data->input;
    Ranked ranked[MODEL_KERNELS];
    ChartSpec *spec = &data->spec;
    int count = rank_kernels(input, ranked);
    for (int i = 0; i < count; i++) {
        const PredictedKernel *kernel = ranked[i].kernel;
        data->bars[i] = (PlotBar){.label = kernel->title,
                                  .strong = chart_is_kernel(input, kernel, input->kernel),
                                  .baseline = chart_is_kernel(input, kernel, input->baseline)};
        reason_text(input, kernel, input->model->dtype, &data->bars[i]);
    }
    chart_describe_on(data);
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
