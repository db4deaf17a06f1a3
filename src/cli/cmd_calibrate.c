/* SPDX-License-Identifier: MIT */
/* bevscope calibrate: counts histograms of all moments of all scenes. Shows where each method cuts
 * a histogram off, and the error that follows. Writes a file of ranges for --scales. */
#include "kernels/clean.h"
#include "kernels/threads.h"
#include "src/base/progress.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"

#include <math.h>
#include <string.h>

enum { WORLD_MOMENTS = 12 }; /* counted of a world, which has no last moment */

static bool read_request(const Options *options, RangesRequest *request, Err *err) {
    *request = (RangesRequest){
        .method = (ScaleMethod)choices_or(CHOICE_METHOD, options->method, SCALE_MAX),
        .percentile = options->percentile > 0 ? options->percentile : 99.99,
        .dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP8),
        .per_channel = options->per_channel};
    return scale_is_single(request->dtype) ||
           err_set(err, ERR_USAGE, "--dtype",
                   "fp8 or int8; a file holds ranges, which serve all formats",
                   "%s has no scale that one tensor has", bev_dtypes[request->dtype].title);
}

/* Adds the values of the scene's moments to the histograms of its tensors. */
static bool count_scene(const Options *options, const char *scene, TensorHistograms *histograms,
                        Err *err) {
    const unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    Workload workload;
    if (!select_open(&workload, scene, options, err))
        return false;
    int64_t channels = workload.seen->shape.channels;
    bool ok = histograms->channel_count || tensor_histograms_init(histograms, channels, err);
    if (ok && histograms->channel_count != channels)
        ok = err_set(err, ERR_USAGE, scene, "calibrate it by itself",
                     "%lld channels, but %s has %lld", (long long)channels, options->arguments[0],
                     (long long)histograms->channel_count);
    int all = workload_moments(&workload), wanted = (int)options->moments;
    if (!wanted)
        wanted = workload.loaded->scene.clip ? all : WORLD_MOMENTS;
    int count = wanted < all ? wanted : all;
    progress_plan(count);
    for (int i = 0; ok && i < count; i++) {
        ok = workload_move(&workload, i, err) && workload_count(&workload, aligns, histograms, err);
        progress_done(1);
    }
    workload_close(&workload);
    return ok;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { CUTS = 7 }; /* the most methods that are compared */
typedef struct {
    ScaleMethod method;
    double percentile; /* for SCALE_PERCENTILE only */
} CutMethod;

/* The cost of a method on a tensor. The tensor has one histogram, or one for each channel. */
typedef struct {
    ShortText name;     /* "percentile 99.9" */
    double least, most; /* the smallest and the largest cut of all histograms */
    double crest;       /* cut / RMS, the mean over the histograms with a value that is not 0 */
    CutCost cost;
} Judged;

/* Cuts each histogram by one method, and adds up the costs. */
static Judged judge_method(const Histogram *each, int64_t count, BevDtype element,
                           CutMethod method) {
    static CutCost costs[RANGES_MAX_CHANNELS];
    static double cuts[RANGES_MAX_CHANNELS];
    Judged judged = {ranges_describe(method.method, method.percentile), .least = INFINITY};
    int64_t filled = 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic)
    for (int64_t i = 0; i < count; i++) {
        costs[i] = (CutCost){0};
        cuts[i] = scale_cut(&each[i], method.method, method.percentile, element);
        if (cuts[i] > 0)
            scale_cut_cost(&each[i], cuts[i], element, &costs[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        judged.cost.values += costs[i].values;
        judged.cost.non_zero += costs[i].non_zero;
        judged.cost.saturated += costs[i].saturated;
        judged.cost.underflow += costs[i].underflow;
        judged.cost.error += costs[i].error;
        judged.cost.norm += costs[i].norm;
        judged.least = fmin(judged.least, cuts[i]);
        judged.most = fmax(judged.most, cuts[i]);
        if (costs[i].norm > 0) {
            judged.crest += cuts[i] / sqrt(costs[i].norm / costs[i].values);
            filled++;
        }
    }
    judged.crest /= filled;
    return judged;
}

static double cut_rel_l2(const CutCost *cost) {
    return sqrt(cost->error / cost->norm);
}

static void add_method(Report *report, const char *tensor, const Histogram *each, int64_t count,
                       BevDtype element, CutMethod method) {
    Judged judged = judge_method(each, count, element, method);
    const CutCost *cost = &judged.cost;
    int64_t not_finite = 0;
    for (int64_t i = 0; i < count; i++)
        not_finite += each[i].not_finite;
    report_row(report);
    add_text(report, "tensor", "tensor", tensor);
    add_text(report, "format", "format", bev_dtypes[element].name);
    add_text(report, "method", "method", judged.name.text);
    add_real(report, "kept", "keeps up to", 5, judged.most);
    add_real(report, "kept_least", count > 1 ? "least" : NULL, 5, judged.least);
    add_real(report, "kept_over_rms", "kept / RMS", 3, judged.crest);
    add_real(report, "saturated_percent", "saturated %", 3, 100 * cost->saturated / cost->values);
    add_real(report, "underflow_percent", "underflow to 0 %", 3,
             100 * cost->underflow / cost->non_zero);
    add_real(report, "rel_l2", "rel L2", 3, cut_rel_l2(cost));
    add_int(report, "not_finite", NULL, not_finite);
}

/* Lists the methods that are compared, with the percentile of the options. Returns their number. */
static int list_methods(const Options *options, CutMethod methods[CUTS]) {
    static const CutMethod usual[] = {{SCALE_MAX, 0},
                                      {SCALE_PERCENTILE, 99.9},
                                      {SCALE_PERCENTILE, 99.99},
                                      {SCALE_PERCENTILE, 99.999},
                                      {SCALE_ENTROPY, 0},
                                      {SCALE_MSE, 0}};
    int count = sizeof usual / sizeof *usual;
    bool own = options->percentile > 0;
    for (int i = 0; i < count; i++) {
        methods[i] = usual[i];
        own = own && usual[i].percentile != options->percentile;
    }
    if (own)
        methods[count++] = (CutMethod){SCALE_PERCENTILE, options->percentile};
    return count;
}

enum { TENSOR_FEAT = 1, TENSORS = 3 }; /* in the order of list_tensors() */
typedef struct {
    const char *name;
    const Histogram *histogram;
    BevDtype element;
} Tensor;

/* Lists the tensors. Warns on standard error of values that are NaN or infinite. */
static bool list_tensors(const TensorHistograms *histograms, const char *scenes, BevDtype dtype,
                         Tensor tensors[TENSORS], Err *err) {
    static Histogram feat; /* of all channels */
    char name[256];
    if (!tensor_histograms_feat(histograms, &feat))
        return err_no_memory(err, "calibrate", "");
    tensors[0] = (Tensor){"depth", &histograms->depth, bev_dtypes[dtype].depth};
    tensors[1] = (Tensor){"feat", &feat, dtype};
    tensors[2] = (Tensor){"out", &histograms->out, bev_dtypes[dtype].out};
    clean_text(scenes, name, sizeof name);
    for (int t = 0; t < TENSORS; t++) {
        const Histogram *histogram = tensors[t].histogram;
        if (histogram->not_finite)
            fprintf(stderr,
                    "bevscope: %s: %s: %lld of %lld values are NaN or infinite: they have no part "
                    "in its range\n",
                    name, tensors[t].name, (long long)histogram->not_finite,
                    (long long)(histogram->not_finite + histogram->values));
    }
    return true;
}

/* ---- the curve of a histogram ---------------------------------------------------------------- */

enum { STEPS = 4, POINTS = 40 * STEPS }; /* STEPS for each octave */

/* The data that the ChartSpec borrows: the share of values for each octave, and the cuts. */
typedef struct {
    double x[POINTS], y[POINTS];
    char labels[CUTS][96], title[160], subtitle[400], note[512];
    PlotSeries series;
    PlotMark marks[CUTS];
    int mark_count;
} CalibrationChart;

/* Makes the points of the curve. Each octave of magnitudes has STEPS points of equal width. The
 * last octave holds the largest magnitude. */
static void make_curve(const Histogram *histogram, CalibrationChart *chart) {
    int largest_exponent, exponent; /* an octave begins at 2^(exponent - 1) */
    Bucket bucket;
    frexp(histogram->largest, &largest_exponent);
    for (int point = 0; point < POINTS; point++) {
        const int octaves_below = (POINTS - 1 - point) / STEPS;
        const double middle = 1 + (point % STEPS + 0.5) / STEPS;
        chart->x[point] = ldexp(middle, largest_exponent - 1 - octaves_below);
        chart->y[point] = 0;
    }
    for (int at = 0; histogram_next(histogram, &at, &bucket);) {
        const double mantissa = 2 * frexp(bucket.low, &exponent); /* from 1 to 2 */
        const int step = (int)((mantissa - 1) * STEPS);
        const int octaves_below = largest_exponent - exponent;
        const int octave_begin = POINTS - STEPS * (octaves_below + 1);
        const int point = octave_begin + step;
        const double width_octaves = log2((STEPS + step + 1.0) / (STEPS + step));
        if (point >= 0)
            chart->y[point] += (double)bucket.count / (double)histogram->values / width_octaves;
    }
}

/* Marks the cut of each method. Methods with the same cut have one mark, of the first method. The
 * title names the methods with the smallest and the largest error. */
static void mark_cuts(CalibrationChart *chart, const Options *options, const Tensor *tensor) {
    CutMethod methods[CUTS];
    Judged best = {.least = 0}, worst = {.least = 0};
    int count = list_methods(options, methods);
    for (int i = 0; i < count; i++) {
        Judged judged = judge_method(tensor->histogram, 1, tensor->element, methods[i]);
        double error = cut_rel_l2(&judged.cost);
        snprintf(chart->labels[i], sizeof chart->labels[i], "%s: %.3g", judged.name.text, error);
        bool marked = false;
        for (int k = 0; k < chart->mark_count; k++)
            marked = marked || chart->marks[k].x == judged.most;
        if (!marked)
            chart->marks[chart->mark_count++] = (PlotMark){judged.most, chart->labels[i], false};
        if (!i || error < cut_rel_l2(&best.cost))
            best = judged;
        if (!i || error > cut_rel_l2(&worst.cost))
            worst = judged;
    }
    chart_sort_marks(chart->marks, chart->mark_count);
    double least = cut_rel_l2(&best.cost), most = cut_rel_l2(&worst.cost);
    const char *format = bev_dtypes[tensor->element].title;
    if (most < 1.01 * least)
        snprintf(chart->title, sizeof chart->title, "%s in %s: all methods cost the same, %.3g",
                 tensor->name, format, least);
    else
        snprintf(chart->title, sizeof chart->title, "%s in %s: %s costs least, %.3g, %s most, %.3g",
                 tensor->name, format, best.name.text, least, worst.name.text, most);
}

static bool draw_calibration(const PlotRequest *request, const TensorHistograms *histograms,
                             const Tensor *tensor, Err *err) {
    const Histogram *histogram = tensor->histogram;
    static CalibrationChart data, *const chart = &data;
    mark_cuts(chart, request->options, tensor);
    make_curve(histogram, chart);
    double smallest = histogram->largest, least_share = 1;
    for (int i = 0; i < POINTS; i++)
        if (chart->y[i] > 0) {
            smallest = fmin(smallest, chart->x[i]);
            least_share = fmin(least_share, chart->y[i]);
        } else
            chart->y[i] = NAN; /* the logarithmic axis has no 0 */
    chart->series = plot_series(tensor->name, chart->x, chart->y, POINTS, 1);
    snprintf(chart->subtitle, sizeof chart->subtitle, "%s, %lld moments", request->model->label,
             (long long)histograms->moments);
    snprintf(chart->note, sizeof chart->note,
             "Computed from the FP32 values; %.3g %% of them are 0 and not drawn. Above the line "
             "of a method values saturate; beside its name: relative L2 error after quantisation.\n"
             "Below half a step values become 0: the smaller the range, the fewer.",
             100 * (double)histogram->zeros / (double)histogram->values);
    ChartSpec spec = {
        .title = chart->title,
        .subtitle = chart->subtitle,
        .note = chart->note,
        .x = {"magnitude", true, smallest / 1.2, histogram->largest * 1.2, NULL},
        .y = {"share of the values, an octave", true, pow(10, floor(log10(least_share))), 1, NULL},
        .series = &chart->series,
        .series_count = 1,
        .marks = chart->marks,
        .mark_count = chart->mark_count};
    return output_chart(request->options, &spec, request->options->output, err);
}

bool plot_calibration(const PlotRequest *request, Err *err) {
    const Options *options = request->options;
    const char *scene = request->model->scene;
    static TensorHistograms histograms;
    RangesRequest shown;
    Tensor tensors[TENSORS];
    if (!read_request(options, &shown, err) || !count_scene(options, scene, &histograms, err) ||
        !list_tensors(&histograms, scene, shown.dtype, tensors, err))
        return false;
    const Tensor *tensor = &tensors[choices_or(CHOICE_TENSOR, options->tensor, TENSOR_FEAT)];
    if (!scale_is_single(tensor->element))
        return err_set(err, ERR_USAGE, "--tensor", "choose another, or another --dtype",
                       "%s is stored in %s, which has no scale", tensor->name,
                       bev_dtypes[tensor->element].title);
    if (!(tensor->histogram->largest > 0))
        return err_set(err, ERR_FAILED, scene, "nothing can be drawn",
                       "an empty histogram: all values of %s are %s", tensor->name,
                       histogram_kinds(tensor->histogram));
    return draw_calibration(request, &histograms, tensor, err);
}

static bool print_calibration(const Options *options, const TensorHistograms *histograms,
                              const ScaleRanges *ranges, BevDtype dtype, Err *err) {
    Report rows = {.names_to = "method"}, channels = {.names_to = "method"};
    CutMethod methods[CUTS];
    Tensor tensors[TENSORS];
    Options to_screen = *options; /* -o names the file of ranges, not of the tables */
    char above[sizeof ranges->scenes + 64];
    const int count = list_methods(options, methods);
    if (!list_tensors(histograms, ranges->scenes, dtype, tensors, err))
        return false;
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < count && scale_is_single(tensors[t].element); i++)
            add_method(&rows, tensors[t].name, tensors[t].histogram, 1, tensors[t].element,
                       methods[i]);
    for (int i = 0; i < count && options->per_channel; i++)
        add_method(&channels, "feat, each channel", histograms->channels, histograms->channel_count,
                   dtype, methods[i]);
    to_screen.output = NULL;
    snprintf(above, sizeof above, "%s: %lld moments, %lld channels\n\n", ranges->scenes,
             (long long)ranges->moments, (long long)ranges->channels);
    const OutputTable tables[] = {{.above = above, .report = &rows},
                                  {.above = "\n", .report = &channels, .key = "channels"}};
    return output_tables(
        &to_screen, tables, 2,
        json_pack("{ss sI}", "scenes", ranges->scenes, "moments", (json_int_t)ranges->moments),
        err);
}

bool cmd_calibrate(const Options *options, Err *err) {
    static ScaleRanges ranges;
    static TensorHistograms histograms;
    RangesRequest request;
    if (!read_request(options, &request, err))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < options->argument_count; i++) {
        double share = 1.0 / options->argument_count;
        progress_step(options->arguments[i], i * share, (i + 1) * share);
        ok = count_scene(options, options->arguments[i], &histograms, err);
    }
    progress_end();
    if (!ok || !ranges_choose(&ranges, &histograms, &request, options->arguments[0], err))
        return false;
    options_arguments(options, ", ", ranges.scenes, sizeof ranges.scenes);
    clean_text(ranges.scenes, ranges.scenes, sizeof ranges.scenes);
    const bool ranges_on_stdout = options->output && !strcmp(options->output, "-");
    if (!ranges_on_stdout && !print_calibration(options, &histograms, &ranges, request.dtype, err))
        return false;
    return !options->output || ranges_write(&ranges, options->output, err);
}
