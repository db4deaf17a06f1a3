/* Charts of latencies: V3 in each number format, and what limits each kernel. */
#include "src/view/chart/charts_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- formats -------------------------------------------------------------------------------- */

/* " (recorded 24.3 µs)" on the chart's GPU, as it is; "": nothing was. */
static void recorded_text(const ChartInput *input, const PredictedKernel *kernel, char text[48]) {
    double recorded_us = kernel->recorded_us[input->gpu];
    char us[32];
    text[0] = '\0';
    if (!isfinite(recorded_us))
        return;
    figure_text(UNIT_US, recorded_us, us, sizeof us);
    snprintf(text, 48, " (recorded %s)", us);
}

/* The effect of the format, in one line. */
static void describe_format(const ChartInput *input, int dtype, const PredictedKernel *v3,
                            char *text) {
    const ModelFormat *format = &input->model->formats[dtype];
    char error[32] = "n/a", bytes[32], us[32], recorded[48];
    figure_text(UNIT_US, chart_prediction(input, v3, input->gpu).latency_us, us, sizeof us);
    unit_text(UNIT_BYTES, format->workload.footprint_bytes, bytes, sizeof bytes);
    recorded_text(input, v3, recorded);
    if (isfinite(input->rel_l2[dtype]))
        snprintf(error, sizeof error, "%.1g", input->rel_l2[dtype]);
    if (input->room == ROOM_BOX)
        snprintf(text, TEXT, "%s: %s, %s, %s, error %s", bev_dtypes[dtype].title, us, v3->title,
                 bytes, error);
    else
        snprintf(text, TEXT, "%s: %s%s with %s, footprint %s, %.1f M sectors, error %s",
                 bev_dtypes[dtype].title, us, recorded, v3->name, bytes, v3->l2_sectors * 1e-6,
                 error);
}

/* A bar for each term of the latency, under a heading with the latency. */
static void term_bars(ChartData *data, int place, int dtype, const PredictedKernel *v3,
                      double *longest) {
    const ChartInput *input = data->input;
    PlotBar *bars = &data->bars[place * TERM_COUNT];
    char *group = data->labels[place];
    if (v3)
        describe_format(input, dtype, v3, group);
    else
        snprintf(group, TEXT, "%s: waits for the simulation", bev_dtypes[dtype].title);
    for (int term = 0; term < TERM_COUNT; term++) {
        PlotBar *bar = &bars[term];
        *bar = (PlotBar){.group = term ? NULL : group, .label = term_names[term]};
        if (!v3)
            continue;
        Prediction p = chart_prediction(input, v3, input->gpu);
        bar->parts[term] = p.term_us[term];
        char us[32];
        figure_text(UNIT_US, p.term_us[term], us, sizeof us);
        snprintf(bar->text, sizeof bar->text, "%s%s", us,
                 term == (int)p.limiter ? " (the longest)" : "");
        *longest = fmax(*longest, p.term_us[term]);
    }
}

/* One bar for the whole latency, in the colour of the longest term. */
static void latency_bar(ChartData *data, int place, int dtype, const PredictedKernel *v3,
                        double *longest) {
    const ChartInput *input = data->input;
    PlotBar *bar = &data->bars[place];
    char us[32], bytes[32];
    *bar = (PlotBar){.label = bev_dtypes[dtype].title,
                     .text = "n/a",
                     .strong = dtype == (int)input->model->dtype};
    if (!v3)
        return;
    Prediction p = chart_prediction(input, v3, input->gpu);
    bar->parts[p.limiter] = p.latency_us;
    figure_text(UNIT_US, p.latency_us, us, sizeof us);
    unit_text(UNIT_BYTES, input->model->formats[dtype].workload.footprint_bytes, bytes,
              sizeof bytes);
    snprintf(bar->text, sizeof bar->text, "%s, %s, %s, %s", us, limit_names[p.limiter], bytes,
             v3->title);
    *longest = fmax(*longest, p.latency_us);
}

void fill_dtype(ChartData *data) {
    const ChartInput *input = data->input;
    ChartSpec *spec = &data->spec;
    char on[128];
    double longest = 1;
    bool low = input->room == ROOM_LOW;
    Gpu gpu = chart_gpu(input, input->gpu);
    int places = 0, most = MAX_BARS / (low ? 1 : TERM_COUNT);
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT && places < most; dtype++) {
        const ModelFormat *format = &input->model->formats[dtype];
        const PredictedKernel *v3 = format->known ? model_v3(format, &gpu) : NULL;
        (low ? latency_bar : term_bars)(data, places++, dtype, v3, &longest);
    }
    chart_describe_gpu(input, on, sizeof on);
    snprintf(data->subtitle, sizeof data->subtitle, "%s, V3 as chosen for %s", input->scene, on);
    snprintf(
        data->note, sizeof data->note,
        "Latencies: model, L2 warm: the root of the parts' sum of squares, and the launch. "
        "In brackets, where known: recorded on such a GPU, of the same kernel. Error: "
        "relative L2 against FP64 over the FP32 originals, computed on the CPU; scales: %s.\n"
        "Where a format is latency-bound or issue-bound, decoding and the loads under way "
        "count, not the bytes: NVFP4 often takes longest. L2: a store to a part of a sector, as "
        "NVFP4's, takes as long as an addition.",
        input->scales);
    if (!low)
        spec->title = input->room == ROOM_BOX ? "Formats: parts of the latency"
                                              : "Formats: what each part of the latency costs";
    spec->x = (PlotAxis){"µs", false, 0, chart_round_up(longest), "µs"};
    spec->part_names = term_names;
    spec->part_count = TERM_COUNT;
    spec->bar_count = places * (low ? 1 : TERM_COUNT);
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

/* The correct kernels, by latency; returns how many. */
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

/* One bar for the latency, in the colour of the longest term: terms overlap and do not add
 * up. */
static void rank_bar(const ChartInput *input, const Ranked *ranked, PlotBar *bar) {
    const Prediction *p = &ranked->predicted;
    char us[32], recorded[48];
    *bar = (PlotBar){.label = ranked->kernel->title,
                     .strong = chart_is_kernel(input, ranked->kernel, input->kernel),
                     .baseline = chart_is_kernel(input, ranked->kernel, input->baseline)};
    bar->parts[p->limiter] = p->latency_us;
    figure_text(UNIT_US, p->latency_us, us, sizeof us);
    recorded_text(input, ranked->kernel, recorded);
    snprintf(bar->text, sizeof bar->text, "%s%s, %s", us, recorded, limit_names[p->limiter]);
}

/* "V4 is the fastest of 9 correct kernels (model); 5 are latency-bound" */
static void terms_finding(ChartRoom room, const Ranked *ranked, int count, char title[TEXT]) {
    int limited[TERM_COUNT] = {0}, most = 0;
    for (int i = 0; i < count; i++)
        limited[ranked[i].predicted.limiter]++;
    for (int term = 1; term < TERM_COUNT; term++)
        most = limited[term] > limited[most] ? term : most;
    if (room == ROOM_BOX)
        snprintf(title, TEXT, "%d of %d simulated are %s", limited[most], count, limit_names[most]);
    else
        snprintf(title, TEXT, "%s is the fastest of %d correct kernels (model); %d are %s",
                 ranked[0].kernel->title, count, limited[most], limit_names[most]);
}

void fill_terms(ChartData *data) {
    const ChartInput *input = data->input;
    Ranked ranked[MODEL_KERNELS];
    ChartSpec *spec = &data->spec;
    int count = rank_kernels(input, ranked);
    for (int i = 0; i < count; i++)
        rank_bar(input, &ranked[i], &data->bars[i]);
    /* Twice the median kernel: one very slow kernel must not flatten all bars. */
    double most = count ? fmin(ranked[count - 1].predicted.latency_us,
                               2 * ranked[count / 2].predicted.latency_us)
                        : 1;
    chart_describe_on(data);
    snprintf(data->note, sizeof data->note,
             "Model, L2 warm, the fastest first; a bar has the colour of the longest term. The "
             "terms overlap: a latency is the root of the sum of their squares (of grad_v4 the "
             "sum), and the launch. In brackets, where known: recorded on such a GPU. Gold: the "
             "selection; violet: the baseline.");
    if (input->room != ROOM_LOW && count)
        terms_finding(input->room, ranked, count, data->title);
    spec->x = (PlotAxis){"µs", false, 0, chart_round_up(most), "µs"};
    spec->in_order = true;
    spec->part_names = term_names;
    spec->part_count = TERM_COUNT;
    spec->bar_count = count;
}
