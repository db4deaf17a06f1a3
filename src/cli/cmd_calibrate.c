/* bevscope calibrate: histograms of all moments of all scenes, where each method cuts them off and
 * what that costs, and a file of ranges for --scales. */
#include "src/base/progress.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/scales/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_MOMENTS = 12 };

/* ---- counting -------------------------------------------------------------------------------- */

static bool count_moments(const Options *options, Workload *workload, TensorHistograms *histograms,
                          Err *err) {
    unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    int there = workload_moments(workload);
    int wanted = options->moments ? (int)options->moments
                                  : workload->scene.clip ? there : WORLD_MOMENTS;
    int count = wanted < there ? wanted : there;
    progress_plan(count);
    for (int i = 0; i < count; i++) {
        if (!workload_move(workload, i, err) || !workload_count(workload, aligns, histograms, err))
            return false;
        progress_done(1);
    }
    return true;
}

static bool count_scene(const Options *options, const char *scene, TensorHistograms *histograms,
                        Err *err) {
    const WorkloadOptions usual = select_workload(options);
    Workload workload;
    if (!select_open(&workload, scene, &usual, err))
        return false;
    int64_t channels = workload.scene.shape.channels;
    bool ok = histograms->channel_count || tensor_histograms_init(histograms, channels, err);
    if (ok && histograms->channel_count != channels)
        ok = err_set(err, ERR_USAGE, scene, "calibrate it by itself",
                     "%lld channels, but %s has %lld", (long long)channels, options->arguments[0],
                     (long long)histograms->channel_count);
    ok = ok && count_moments(options, &workload, histograms, err);
    workload_close(&workload);
    return ok;
}

static bool count_scenes(const Options *options, TensorHistograms *histograms, Err *err) {
    bool ok = true;
    for (int i = 0; ok && i < options->argument_count; i++) {
        double share = 1.0 / options->argument_count;
        progress_step(options->arguments[i], i * share, (i + 1) * share);
        ok = count_scene(options, options->arguments[i], histograms, err);
    }
    return ok;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { WAYS = 7 };

/* A method with its percentile. */
typedef struct {
    ScaleMethod method;
    double percentile;
} Way;

/* Of a tensor's histograms, one or one a channel. */
static void add_way(Report *report, const char *tensor, const Histogram *each, int64_t count,
                    BevDtype element, Way way) {
    double least = INFINITY, most = 0;
    CutCost all = {0};
    char name[32];
    for (int64_t i = 0; i < count; i++) {
        double cut = scale_cut(&each[i], way.method, way.percentile, element);
        if (cut > 0)
            scale_cut_cost(&each[i], cut, element, &all);
        least = fmin(least, cut);
        most = fmax(most, cut);
    }
    ranges_describe(way.method, way.percentile, name, sizeof name);
    report_row(report);
    report_add(report, "tensor", "tensor", 0, cell_text(tensor));
    report_add(report, "format", "format", 0, cell_text(bev_dtypes[element].name));
    report_add(report, "method", "method", 0, cell_text(name));
    report_add(report, "kept", "keeps up to", 5, cell_real(most));
    report_add(report, "kept_least", count > 1 ? "least" : NULL, 5, cell_real(least));
    report_add(report, "saturated_percent", "saturated %", 3,
               cell_real(100 * all.saturated / all.values));
    report_add(report, "lost_percent", "of non-zero lost %", 3,
               cell_real(100 * all.lost / all.non_zero));
    report_add(report, "rel_l2", "rel L2", 3, cell_real(sqrt(all.error / all.norm)));
}

static int ways_of(const Options *options, Way ways[WAYS]) {
    static const Way usual[] = {{SCALE_MAX, 0},
                                {SCALE_PERCENTILE, 99.9},
                                {SCALE_PERCENTILE, 99.99},
                                {SCALE_PERCENTILE, 99.999},
                                {SCALE_ENTROPY, 0},
                                {SCALE_MSE, 0}};
    int count = sizeof usual / sizeof *usual;
    bool own = options->percentile > 0;
    for (int i = 0; i < count; i++) {
        ways[i] = usual[i];
        own = own && usual[i].percentile != options->percentile;
    }
    if (own)
        ways[count++] = (Way){SCALE_PERCENTILE, options->percentile};
    return count;
}

static bool add_rows(const Options *options, const TensorHistograms *histograms, BevDtype dtype,
                     Report *tensors, Report *channels, Err *err) {
    Way ways[WAYS];
    int count = ways_of(options, ways);
    Histogram feat;
    if (!tensor_histograms_feat(histograms, &feat))
        return err_set(err, ERR_FAILED, "calibrate", "", "out of memory");
    const struct {
        const char *name;
        const Histogram *histogram;
        BevDtype element;
    } each[] = {{"depth", &histograms->depth, bev_dtypes[dtype].depth},
                {"feat", &feat, dtype},
                {"out", &histograms->out, bev_dtypes[dtype].out}};
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < count && scale_is_single(each[t].element); i++)
            add_way(tensors, each[t].name, each[t].histogram, 1, each[t].element, ways[i]);
    for (int i = 0; i < count && options->per_channel; i++)
        add_way(channels, "feat, each channel", histograms->channels, histograms->channel_count,
                dtype, ways[i]);
    histogram_free(&feat);
    return true;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool print_all(const Options *options, const TensorHistograms *histograms,
                      const ScaleRanges *ranges, BevDtype dtype, Err *err) {
    Report tensors = {.names_to = "method"}, channels = {.names_to = "method"};
    Options to_screen = *options; /* -o is the ranges' file */
    MemoryStream output = {0};
    to_screen.output = NULL;
    ReportPrinter *print = output_printer(options);
    bool ok = add_rows(options, histograms, dtype, &tensors, &channels, err);
    if (ok && !print)
        ok = output_report(&to_screen, &tensors,
                           json_pack("{ss sI so}", "scenes", ranges->scenes, "moments",
                                     (json_int_t)ranges->moments, "channels",
                                     report_json(&channels)),
                           err);
    else if (ok && (ok = memory_stream_open(&output, err))) {
        fprintf(output.stream, "%s: %lld moments, %lld channels\n\n", ranges->scenes,
                (long long)ranges->moments, (long long)ranges->channels);
        print(&tensors, output.stream);
        if (channels.row_count) {
            fputc('\n', output.stream);
            print(&channels, output.stream);
        }
        ok = output_close(&output, !tensors.out_of_memory && !channels.out_of_memory, NULL, err);
    }
    report_free(&tensors);
    report_free(&channels);
    return ok;
}

static void name_scenes(const Options *options, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < options->argument_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 options->arguments[i]);
}

bool cmd_calibrate(const Options *options, Err *err) {
    static ScaleRanges ranges;
    TensorHistograms histograms = {0};
    const RangesRequest request = {
        .method = options->method ? (ScaleMethod)choices_find(CHOICE_METHOD, options->method)
                                  : SCALE_MAX,
        .percentile = options->percentile > 0 ? options->percentile : 99.99,
        .dtype = options->dtype ? (BevDtype)choices_find(CHOICE_DTYPE, options->dtype) : BEV_FP8,
        .per_channel = options->per_channel};
    if (!scale_is_single(request.dtype))
        return err_set(err, ERR_USAGE, "--dtype", "fp8; a file holds ranges, which serve all formats",
                       "%s has no scale that one tensor has", bev_dtypes[request.dtype].title);
    progress_begin("calibrate", options->quiet);
    bool ok = count_scenes(options, &histograms, err);
    progress_end();
    ok = ok && ranges_choose(&ranges, &histograms, &request, options->arguments[0], err);
    if (ok) {
        name_scenes(options, ranges.scenes, sizeof ranges.scenes);
        ok = print_all(options, &histograms, &ranges, request.dtype, err);
    }
    ok = ok && (!options->output || ranges_write(&ranges, options->output, err));
    tensor_histograms_free(&histograms);
    return ok;
}
