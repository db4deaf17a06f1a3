/* From the model's values to lines and bars. */
#include "src/view/chart/chart.h"

#include "kernels/regime.h"
#include "src/base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

enum { TEXT = 200, ARRAYS = 4, MAX_BARS = 2 * MODEL_GPUS, ROOFS = 3 };

/* What a chart is drawn with; its texts and values in one place. */
typedef union {
    PlotLines lines;
    PlotBars bars;
} Plot;

typedef struct {
    const ChartSpec *spec;
    Plot plot;
    char subtitle[TEXT + 80], note[2 * TEXT];
    double x[MODEL_SIZES], y[MODEL_KERNELS][MODEL_SIZES];
    double roof_x[ROOFS][3], roof_y[ROOFS][3];
    PlotSeries series[ROOFS + MODEL_KERNELS];
    PlotMark marks[MODEL_GPUS];
    PlotBar bars[MAX_BARS];
    char labels[MAX_BARS][TEXT];
} Drawing;

/* "canonical, FP16, nearest, C = 80, 209,019 points" */
static void describe(const ChartSpec *spec, char text[TEXT]) {
    const MemoryModel *model = spec->model;
    char points[32];
    unit_text(UNIT_COUNT, (double)model->points, points, sizeof points);
    snprintf(text, TEXT, "%s, %s, %s, C = %lld, %s points", spec->scene,
             bev_dtypes[model->dtype].title, bev_aligns[model->align].name,
             (long long)model->channels, points);
}

/* The GPU that charts of one GPU are about. */
static void describe_gpu(const ChartSpec *spec, char *text, size_t size) {
    const Gpu *gpu = &spec->model->gpus[spec->gpu];
    if (spec->l2)
        snprintf(text, size, "%s with an L2 of %g MiB", gpu->title,
                 model_l2_bytes(gpu, spec->l2) / MIB);
    else
        snprintf(text, size, "%s", gpu->title);
}

static bool is_asked(const ChartSpec *spec, int gpu) {
    return spec->asked >> gpu & 1;
}

/* The L2 that the chart takes a GPU to have: the what-if is for one of them. */
static double l2_bytes(const ChartSpec *spec, int gpu) {
    return model_l2_bytes(&spec->model->gpus[gpu], gpu == spec->gpu ? spec->l2 : 0);
}

static double round_up(double value) {
    double step = pow(10, floor(log10(value)));
    return ceil(value / step) * step;
}

static PlotSeries series_of(const ChartSpec *spec, int kernel) {
    const PredictedKernel *row = &spec->model->kernels[kernel];
    return (PlotSeries){.name = row->title,
                        .color = kernel,
                        .strong = spec->selected && !strcmp(row->name, spec->selected)};
}

/* ---- miss-ratio curve ----------------------------------------------------------------------- */

static int by_x(const void *a, const void *b) {
    double x = ((const PlotMark *)a)->x, y = ((const PlotMark *)b)->x;
    return (x > y) - (x < y);
}

static int l2_marks(Drawing *drawing) {
    const ChartSpec *spec = drawing->spec;
    int count = spec->model->gpu_count;
    for (int gpu = 0; gpu < count; gpu++) {
        double mib = l2_bytes(spec, gpu) / MIB;
        const char *title = spec->model->gpus[gpu].title;
        if (!spec->brief || (gpu == spec->gpu && spec->l2))
            snprintf(drawing->labels[gpu], TEXT, "%s, %g MiB", title, mib);
        else
            snprintf(drawing->labels[gpu], TEXT, "%s", title);
        drawing->marks[gpu] = (PlotMark){mib, drawing->labels[gpu], is_asked(spec, gpu)};
    }
    qsort(drawing->marks, (size_t)count, sizeof *drawing->marks, by_x);
    return count;
}

static void make_mrc(Drawing *drawing) {
    const ChartSpec *spec = drawing->spec;
    const char *how = "exact";
    double most = 1;
    int count = 0;
    for (int i = 0; i < MODEL_SIZES; i++)
        drawing->x[i] = model_size_mib(i);
    for (int r = 0; r < spec->model->kernel_count; r++) {
        const PredictedKernel *predicted = &spec->model->kernels[r];
        if (!predicted->name)
            continue;
        for (int i = 0; i < MODEL_SIZES; i++) {
            drawing->y[r][i] = 100 * predicted->miss_ratio[i];
            most = fmax(most, drawing->y[r][i]);
        }
        how = predicted->sampled ? "sampled" : how;
        PlotSeries *series = &drawing->series[count++];
        *series = series_of(spec, r);
        series->x = drawing->x;
        series->y = drawing->y[r];
        series->count = MODEL_SIZES;
    }
    describe(spec, drawing->subtitle);
    snprintf(drawing->note, sizeof drawing->note,
             "Model: %s reuse distances of each kernel's access stream, behind the L1s, in lines "
             "of four 32-byte sectors; L2 warm, LRU, in one piece. Lines: GPUs.",
             how);
    drawing->plot.lines = (PlotLines){
        .title = "Which reads miss an L2 of each size?",
        .x = {"L2 size, MiB", true, model_size_mib(0), model_size_mib(MODEL_SIZES - 1)},
        .y = {"reads that miss, %", false, 0, round_up(most)},
        .series_count = count,
        .marks = drawing->marks,
        .mark_count = l2_marks(drawing),
    };
}

/* ---- roofline ------------------------------------------------------------------------------- */

static void make_roof(Drawing *drawing, int i, const char *name, double gbps, double gflops,
                      const PlotAxis *axis) {
    double *x = drawing->roof_x[i], *y = drawing->roof_y[i];
    x[0] = axis->lo, y[0] = axis->lo * gbps;
    x[1] = gflops / gbps, y[1] = gflops;
    x[2] = axis->hi, y[2] = gflops;
    snprintf(drawing->labels[i], TEXT, "%s, %.1f TB/s", name, gbps * 1e-3);
    drawing->series[i] = (PlotSeries){
        .name = drawing->labels[i], .x = x, .y = y, .count = 3, .color = 7, .faint = i > 0};
}

/* Beyond the FP32 units' roof, from where L2 reaches it up to the tensor cores'. */
static void make_tensor_roof(Drawing *drawing, int i, const ModelCeilings *ceilings,
                             const PlotAxis *axis) {
    double *x = drawing->roof_x[i], *y = drawing->roof_y[i];
    x[0] = ceilings->fp32_gflops / ceilings->l2_gbps, y[0] = ceilings->fp32_gflops;
    x[1] = ceilings->tensor_gflops / ceilings->l2_gbps, y[1] = ceilings->tensor_gflops;
    x[2] = axis->hi, y[2] = ceilings->tensor_gflops;
    snprintf(drawing->labels[i], TEXT, "tensor, %.0f TFLOP/s", ceilings->tensor_gflops * 1e-3);
    drawing->series[i] = (PlotSeries){
        .name = drawing->labels[i], .x = x, .y = y, .count = 3, .color = 7, .faint = true};
}

/* The power of ten below the smaller one. */
static double decade_below(double value, double usual) {
    return fmin(usual, pow(10, floor(log10(value))));
}

static const char *ceilings_words(FigureSource source) {
    switch (source) {
    case SOURCE_MEASURED:
        return "Ceilings: measured on this GPU by probes of its DRAM, L2, FP32 and tensor units.";
    case SOURCE_RECORDED:
        return "Ceilings: recorded on such a GPU by probes of its DRAM, L2, FP32 and tensor units.";
    default:
        return "Ceilings: model, from the data sheet; L2 as measured by others, or as an H200's.";
    }
}

static double latency_of(const ChartSpec *spec, int kernel) {
    return spec->model->kernels[kernel].predicted[spec->gpu][spec->l2].latency_us;
}

static void make_roofline(Drawing *drawing) {
    const ChartSpec *spec = drawing->spec;
    const MemoryModel *model = spec->model;
    const ModelCeilings *ceilings = &model->ceilings[spec->gpu];
    double flops = 2.0 * (double)model->points * (double)model->channels;
    PlotAxis intensity = {"FLOP per byte that L2 delivers", true, 0.01, 100};
    char what[TEXT], on[64];
    bool tensor = ceilings->tensor_gflops > 0;
    int count = 2 + tensor;
    double most = tensor ? ceilings->tensor_gflops : ceilings->fp32_gflops, least = 10;
    for (int r = 0; r < model->kernel_count; r++)
        if (model->kernels[r].name)
            least = decade_below(flops / (latency_of(spec, r) * 1e3), least);
    make_roof(drawing, 0, "L2", ceilings->l2_gbps, ceilings->fp32_gflops, &intensity);
    make_roof(drawing, 1, "DRAM", ceilings->dram_gbps, ceilings->fp32_gflops, &intensity);
    if (tensor)
        make_tensor_roof(drawing, 2, ceilings, &intensity);
    for (int r = 0; r < model->kernel_count; r++) {
        const PredictedKernel *predicted = &model->kernels[r];
        if (!predicted->name)
            continue;
        drawing->x[r] = flops / (predicted->l2_sectors * MODEL_SECTOR);
        drawing->y[r][0] = flops / (latency_of(spec, r) * 1e3);
        PlotSeries *series = &drawing->series[count++];
        *series = series_of(spec, r);
        series->x = &drawing->x[r];
        series->y = drawing->y[r];
        series->count = 1;
        series->dots = true;
    }
    describe(spec, what);
    describe_gpu(spec, on, sizeof on);
    snprintf(drawing->subtitle, sizeof drawing->subtitle, "%s, on %s", what, on);
    snprintf(drawing->note, sizeof drawing->note,
             "%s Dots: model, FLOP counted as one multiply-add a point and channel, latency "
             "predicted with a warm L2.\nA dot far below its roof waits: for the longest interval, "
             "or for a launch.",
             ceilings_words(ceilings->source));
    drawing->plot.lines = (PlotLines){
        .title = spec->brief ? "Roofline: how far from the ceilings?"
                             : "Roofline: how far is each kernel from the ceilings?",
        .x = intensity,
        .y = {"GFLOP/s", true, least, 3 * most},
        .series_count = count,
    };
}

/* ---- working set ---------------------------------------------------------------------------- */

static void share_of(const double array_bytes[ARRAYS], double of_bytes, PlotBar *bar) {
    double sum = 0;
    for (int i = 0; i < ARRAYS; i++) {
        bar->parts[i] = 100 * array_bytes[i] / of_bytes;
        sum += array_bytes[i];
    }
    snprintf(bar->text, sizeof bar->text, "%.0f %% (%.1f MB)", 100 * sum / of_bytes, sum * 1e-6);
}

static void make_working_set(Drawing *drawing) {
    static const char *const arrays[ARRAYS] = {"features", "depth", "indices and weights",
                                               "output"};
    static const PlotMark marks[] = {{50, "half", false}, {100, "L2 is full", true}};
    static const PlotMark short_marks[] = {{50, "half", false}, {100, "full", true}};
    const ChartSpec *spec = drawing->spec;
    const BevFootprint *f = &spec->model->footprint;
    const BevTraffic *t = &spec->model->gather;
    const double touched[ARRAYS] = {f->feat, f->depth, f->index + f->weight, f->out};
    const double gathered[ARRAYS] = {t->feat, t->depth, t->index + t->weight, t->out_write};
    int count = 0;
    for (int gpu = 0; gpu < spec->model->gpu_count; gpu++) {
        if (!spec->brief && !is_asked(spec, gpu))
            continue;
        double bytes = l2_bytes(spec, gpu);
        const char *title = spec->model->gpus[gpu].title;
        const char *regime = bev_regimes[bev_regime(bev_footprint_total(*f), bytes)].name;
        char *label = drawing->labels[count];
        PlotBar *bar = &drawing->bars[count++];
        if (spec->brief)
            snprintf(label, TEXT, "%s, %g", title, bytes / MIB);
        else
            snprintf(label, TEXT, "%s, %g MiB: %s", title, bytes / MIB, regime);
        *bar = (PlotBar){.group = spec->brief ? NULL : label,
                         .label = spec->brief ? label : "footprint"};
        share_of(touched, bytes, bar);
        if (spec->low)
            continue;
        bar = &drawing->bars[count++];
        *bar = (PlotBar){.label = spec->brief ? "gathered" : "gather traffic", .faint = true};
        share_of(gathered, bytes, bar);
    }
    describe(spec, drawing->subtitle);
    snprintf(drawing->note, sizeof drawing->note,
             "Footprint: distinct bytes, each array once. Gather traffic: the published way of "
             "counting, features and depth once a point. Which of the two is compared with L2 "
             "decides what a GPU is said to be; what stays in a cache is the footprint.");
    drawing->plot.bars = (PlotBars){
        .title = spec->brief ? "Working set against each L2, MiB" : "Working set against L2",
        .x = {"% of L2", false, 0, 200},
        .part_names = arrays,
        .part_count = ARRAYS,
        .bar_count = count,
        .marks = spec->low ? short_marks : marks,
        .mark_count = 2,
    };
}

/* ---- formats -------------------------------------------------------------------------------- */

/* What the format comes to, in one line. */
static void describe_format(const ChartSpec *spec, int dtype, const PredictedKernel *v3,
                            char *text) {
    const ModelFormat *format = &spec->model->formats[dtype];
    double us = v3->predicted[spec->gpu][spec->l2].latency_us, mb = format->footprint_bytes * 1e-6;
    char error[32] = "n/a";
    if (isfinite(spec->rel_l2[dtype]))
        snprintf(error, sizeof error, "%.1g", spec->rel_l2[dtype]);
    if (spec->brief)
        snprintf(text, TEXT, "%s: %.1f µs, %s, %.1f MB, error %s", bev_dtypes[dtype].title, us,
                 v3->title, mb, error);
    else
        snprintf(text, TEXT, "%s: %.1f µs with %s, footprint %.1f MB, %.1f M sectors, error %s",
                 bev_dtypes[dtype].title, us, v3->name, mb, v3->l2_sectors * 1e-6, error);
}

/* The four parts of one format, and in the heading what they come to. */
static void format_bars(Drawing *drawing, int dtype, PlotBar bars[TERM_COUNT], double *longest) {
    const ChartSpec *spec = drawing->spec;
    const ModelFormat *format = &spec->model->formats[dtype];
    const PredictedKernel *v3 = format->known ? model_v3(format, spec->gpu, spec->l2) : NULL;
    char *group = drawing->labels[dtype];
    if (v3)
        describe_format(spec, dtype, v3, group);
    else
        snprintf(group, TEXT, "%s: not modelled yet", bev_dtypes[dtype].title);
    for (int part = 0; part < TERM_COUNT; part++) {
        bars[part] = (PlotBar){.group = part ? NULL : group, .label = term_names[part]};
        for (int other = 0; other < PLOT_PARTS; other++)
            bars[part].parts[other] = NAN;
        if (!v3)
            continue;
        const Prediction *p = &v3->predicted[spec->gpu][spec->l2];
        bars[part].parts[part] = p->term_us[part];
        snprintf(bars[part].text, sizeof bars[part].text, "%.1f µs%s", p->term_us[part],
                 part == (int)p->binding ? " (binds)" : "");
        *longest = fmax(*longest, p->term_us[part]);
    }
}

/* One bar a format: the whole latency, in the colour of the part that binds. */
static void format_bar(Drawing *drawing, int dtype, double *longest) {
    const ChartSpec *spec = drawing->spec;
    const ModelFormat *format = &spec->model->formats[dtype];
    const PredictedKernel *v3 = format->known ? model_v3(format, spec->gpu, spec->l2) : NULL;
    PlotBar *bar = &drawing->bars[dtype];
    *bar = (PlotBar){.label = bev_dtypes[dtype].title, .text = "n/a"};
    for (int part = 0; part < PLOT_PARTS; part++)
        bar->parts[part] = NAN;
    if (!v3)
        return;
    const Prediction *p = &v3->predicted[spec->gpu][spec->l2];
    bar->parts[p->binding] = p->latency_us;
    snprintf(bar->text, sizeof bar->text, "%.1f µs, %s binds", p->latency_us,
             term_names[p->binding]);
    *longest = fmax(*longest, p->latency_us);
}

static void make_dtype(Drawing *drawing) {
    const ChartSpec *spec = drawing->spec;
    char on[64];
    double longest = 1;
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        if (spec->low)
            format_bar(drawing, dtype, &longest);
        else
            format_bars(drawing, dtype, &drawing->bars[dtype * TERM_COUNT], &longest);
    describe_gpu(spec, on, sizeof on);
    snprintf(drawing->subtitle, sizeof drawing->subtitle, "%s, V3 as chosen for %s", spec->scene,
             on);
    snprintf(
        drawing->note, sizeof drawing->note,
        "Latencies: model, L2 warm; the parts overlap, the longest one binds. Error: relative "
        "L2 against FP64 over the FP32 originals, computed on the CPU.\nWhere the chain or the "
        "issue of instructions binds, fewer bytes buy nothing; NVFP4 pays for its decoding "
        "with instructions.");
    drawing->plot.bars = (PlotBars){
        .title = spec->low     ? "Formats: latency, and what binds"
                 : spec->brief ? "Formats: parts of the latency"
                               : "Formats: what each part of the latency costs",
        .x = {"µs", false, 0, round_up(longest)},
        .part_names = term_names,
        .part_count = TERM_COUNT,
        .bar_count = BEV_DTYPE_COUNT * (spec->low ? 1 : TERM_COUNT),
    };
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct {
    void (*make)(Drawing *drawing);
    bool bars; /* else lines */
} makers[CHART_COUNT] = {
    [CHART_MRC] = {make_mrc, false},
    [CHART_ROOFLINE] = {make_roofline, false},
    [CHART_WORKING_SET] = {make_working_set, true},
    [CHART_DTYPE] = {make_dtype, true},
};

static bool is_bars(const ChartSpec *spec) {
    return makers[spec->chart].bars;
}

/* False: no memory. */
static Drawing *make(const ChartSpec *spec) {
    Drawing *drawing = calloc(1, sizeof *drawing);
    if (!drawing)
        return NULL;
    drawing->spec = spec;
    makers[spec->chart].make(drawing);
    if (is_bars(spec)) {
        PlotBars *bars = &drawing->plot.bars;
        bars->subtitle = drawing->subtitle;
        bars->note = drawing->note;
        bars->bars = drawing->bars;
        bars->theme = spec->theme;
    } else {
        PlotLines *lines = &drawing->plot.lines;
        lines->subtitle = drawing->subtitle;
        lines->note = drawing->note;
        lines->series = drawing->series;
        lines->theme = spec->theme;
    }
    return drawing;
}

static bool no_memory(Err *err) {
    return err_set(err, ERR_FAILED, "chart", "", "out of memory");
}

bool chart_image(const ChartSpec *spec, Image *image, Err *err) {
    Drawing *drawing = make(spec);
    if (!drawing)
        return no_memory(err);
    bool ok = is_bars(spec) ? plot_bars_image(&drawing->plot.bars, image, err)
                            : plot_lines_image(&drawing->plot.lines, image, err);
    free(drawing);
    return ok;
}

bool chart_svg(const ChartSpec *spec, uint8_t **bytes, size_t *length, Err *err) {
    Drawing *drawing = make(spec);
    if (!drawing)
        return no_memory(err);
    bool ok = is_bars(spec) ? plot_bars_svg(&drawing->plot.bars, bytes, length, err)
                            : plot_lines_svg(&drawing->plot.lines, bytes, length, err);
    free(drawing);
    return ok;
}

void chart_draw(Pen *pen, Box box, const ChartSpec *spec) {
    Drawing *drawing = make(spec);
    if (!drawing) {
        pen->failed = true;
        no_memory(&pen->err);
        return;
    }
    if (is_bars(spec))
        plot_bars_draw(pen, box, &drawing->plot.bars);
    else
        plot_lines_draw(pen, box, &drawing->plot.lines);
    free(drawing);
}
