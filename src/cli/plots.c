#include "src/cli/plots.h"

#include "src/bench/truth.h"
#include "src/cli/choices.h"
#include "src/cli/pooled.h"
#include "src/model/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

enum { SAMPLES = 240, MAX_MARKS = 16, TEXT = 200 };

static FigureTheme theme_of(const PlotRequest *request) {
    int theme = request->options->theme ? choices_find(CHOICE_THEME, request->options->theme) : 0;
    return (FigureTheme)theme;
}

static bool png_of(Image *image, bool drawn, uint8_t **bytes, size_t *length, Err *err) {
    bool ok = drawn && image_png(image, bytes, length, err);
    image_free(image);
    return ok;
}

bool plots_lines(const PlotRequest *request, PlotLines *spec, uint8_t **bytes, size_t *length,
                 Err *err) {
    Image image = {0};
    spec->theme = theme_of(request);
    if (request->svg)
        return plot_lines_svg(spec, bytes, length, err);
    return png_of(&image, plot_lines_image(spec, &image, err), bytes, length, err);
}

bool plots_bars(const PlotRequest *request, PlotBars *spec, uint8_t **bytes, size_t *length,
                Err *err) {
    Image image = {0};
    spec->theme = theme_of(request);
    if (request->svg)
        return plot_bars_svg(spec, bytes, length, err);
    return png_of(&image, plot_bars_image(spec, &image, err), bytes, length, err);
}

/* "canonical, FP16, nearest, C = 80, 209019 points" */
static void describe(const PlotRequest *request, char text[TEXT]) {
    const BevProblem *problem = &request->lab->problem.view;
    snprintf(text, TEXT, "%s, %s, %s, C = %lld, %lld points", request->scene,
             bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
             (long long)problem->shape.channels, (long long)problem->map.points);
}

/* ---- miss-ratio curve
 * ----------------------------------------------------------------------------- */

static int by_x(const void *a, const void *b) {
    double x = ((const PlotMark *)a)->x, y = ((const PlotMark *)b)->x;
    return (x > y) - (x < y);
}

static bool is_asked_for(const LabGpus *asked, const Gpu *gpu) {
    for (int i = 0; i < asked->count; i++)
        if (!strcmp(asked->gpus[i].title, gpu->title))
            return true;
    return false;
}

/* Every GPU that is known, those asked for strong. */
static int l2_marks(const LabGpus *asked, PlotMark marks[MAX_MARKS], char labels[MAX_MARKS][TEXT]) {
    int count = 0;
    for (int i = 0; i < gpu_count + asked->count && count < MAX_MARKS; i++) {
        const Gpu *gpu = i < gpu_count ? &gpus[i] : &asked->gpus[i - gpu_count];
        if (i < gpu_count && is_asked_for(asked, gpu))
            continue;
        marks[count].x = gpu->l2_bytes / MIB;
        snprintf(labels[count], TEXT, "%s, %g MiB", gpu->title, gpu->l2_bytes / MIB);
        marks[count].strong = i >= gpu_count;
        marks[count].label = labels[count];
        count++;
    }
    qsort(marks, (size_t)count, sizeof *marks, by_x);
    return count;
}

static double round_up(double value) {
    double step = pow(10, floor(log10(value)));
    return ceil(value / step) * step;
}

static bool draw_mrc(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    static double x[SAMPLES], y[LAB_RUNGS][SAMPLES];
    PlotSeries series[LAB_RUNGS];
    PlotMark marks[MAX_MARKS];
    char labels[MAX_MARKS][TEXT], subtitle[TEXT];
    const Lab *lab = request->lab;
    PlotAxis sizes = {"L2 size, MiB", true, 0.03125, 256};
    double most = 1;
    for (int i = 0; i < SAMPLES; i++)
        x[i] = sizes.lo * pow(sizes.hi / sizes.lo, (double)i / (SAMPLES - 1));
    for (int r = 0; r < lab->profile_count; r++) {
        const Profile *profile = &lab->profiles[r];
        for (int i = 0; i < SAMPLES; i++) {
            y[r][i] = 100 * reuse_miss_ratio(&profile->warm, x[i] * MIB);
            most = fmax(most, y[r][i]);
        }
        series[r] = (PlotSeries){.name = profile->rung->title,
                                 .x = x,
                                 .y = y[r],
                                 .count = SAMPLES,
                                 .color = (int)(profile->rung - stream_rungs)};
    }
    describe(request, subtitle);
    PlotLines spec = {
        .title = "Which reads miss an L2 of each size?",
        .subtitle = subtitle,
        .note =
            "Model: exact reuse distances of each kernel's access stream in 32-byte sectors, L2 "
            "warm and fully associative, LRU; L1 keeps neighbouring indices only. Lines: GPUs.",
        .x = sizes,
        .y = {"reads that miss, %", false, 0, round_up(most)},
        .series = series,
        .series_count = lab->profile_count,
        .marks = marks,
        .mark_count = l2_marks(request->gpus, marks, labels),
    };
    return plots_lines(request, &spec, bytes, length, err);
}

/* ---- roofline ------------------------------------------------------------------------------- */

static void roof(double x[2 + 1], double y[2 + 1], const PlotAxis *axis, double gbps,
                 double gflops) {
    double ridge = gflops / gbps;
    x[0] = axis->lo, y[0] = axis->lo * gbps;
    x[1] = ridge, y[1] = gflops;
    x[2] = axis->hi, y[2] = gflops;
}

static bool draw_roofline(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    PlotSeries series[2 + LAB_RUNGS];
    double roof_x[2][3], roof_y[2][3], x[LAB_RUNGS], y[LAB_RUNGS];
    char subtitle[TEXT + 80], what[TEXT], names[2][TEXT];
    const Lab *lab = request->lab;
    const Gpu *gpu = &request->gpus->gpus[0];
    const BevProblem *problem = &lab->problem.view;
    double flops = 2.0 * (double)problem->map.points * (double)problem->shape.channels;
    double bandwidths[2] = {predict_l2_gbps(gpu), predict_dram_gbps(gpu)};
    PlotAxis intensity = {"FLOP per byte that L2 delivers", true, 0.01, 100};
    for (int i = 0; i < 2; i++) {
        roof(roof_x[i], roof_y[i], &intensity, bandwidths[i], predict_fp32_gflops(gpu));
        snprintf(names[i], TEXT, "%s, %.1f TB/s", i ? "DRAM" : "L2", bandwidths[i] * 1e-3);
        series[i] = (PlotSeries){.name = names[i],
                                 .x = roof_x[i],
                                 .y = roof_y[i],
                                 .count = 3,
                                 .color = 7,
                                 .faint = i == 1};
    }
    for (int r = 0; r < lab->profile_count; r++) {
        const Profile *profile = &lab->profiles[r];
        x[r] = flops / (profile->counts.l2_sectors * SECTOR);
        y[r] = flops / (predict(profile, gpu, true).latency_us * 1e3);
        series[2 + r] = (PlotSeries){.name = profile->rung->title,
                                     .x = &x[r],
                                     .y = &y[r],
                                     .count = 1,
                                     .dots = true,
                                     .color = (int)(profile->rung - stream_rungs)};
    }
    describe(request, what);
    snprintf(subtitle, sizeof subtitle, "%s, on %s", what, gpu->title);
    PlotLines spec = {
        .title = "Roofline: how far is each kernel from the ceilings?",
        .subtitle = subtitle,
        .note =
            "Model: ceilings from the data sheet (DRAM at 90 %, L2 scaled from a copy measured on "
            "an H200), FLOP counted as one multiply-add a point and channel, latency predicted "
            "with a warm L2.\nA dot far below its roof waits: for the longest interval, or for a "
            "launch.",
        .x = intensity,
        .y = {"GFLOP/s", true, 10, 3 * predict_fp32_gflops(gpu)},
        .series = series,
        .series_count = 2 + lab->profile_count,
    };
    return plots_lines(request, &spec, bytes, length, err);
}

/* ---- working set ---------------------------------------------------------------------------- */

enum { ARRAYS = 4 };

static PlotBar share_of(const double array_bytes[ARRAYS], const char *label, double l2_bytes) {
    PlotBar bar = {.label = label};
    double sum = 0;
    for (int i = 0; i < ARRAYS; i++) {
        bar.parts[i] = 100 * array_bytes[i] / l2_bytes;
        sum += array_bytes[i];
    }
    snprintf(bar.text, sizeof bar.text, "%.0f %% (%.1f MB)", 100 * sum / l2_bytes, sum * 1e-6);
    return bar;
}

static bool draw_working_set(const PlotRequest *request, uint8_t **bytes, size_t *length,
                             Err *err) {
    static const char *const arrays[ARRAYS] = {"features", "depth", "indices and weights",
                                               "output"};
    const PlotMark marks[] = {{50, "half", false}, {100, "L2 is full", true}};
    const BevProblem *problem = &request->lab->problem.view;
    BevFootprint f = bev_footprint(problem);
    BevTraffic t = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    const double touched[ARRAYS] = {f.feat, f.depth, f.index + f.weight, f.out};
    const double gathered[ARRAYS] = {t.feat, t.depth, t.index + t.weight, t.out_write};
    PlotBar bars[2 * (LAB_GPUS + 1)];
    char groups[LAB_GPUS][TEXT], subtitle[TEXT];
    int count = 0;
    for (int g = 0; g < request->gpus->count; g++) {
        const Gpu *gpu = &request->gpus->gpus[g];
        BevRegime regime = bev_regime(bev_footprint_total(f), gpu->l2_bytes);
        snprintf(groups[g], TEXT, "%s, %g MiB: %s", gpu->title, gpu->l2_bytes / MIB,
                 bev_regimes[regime].name);
        bars[count] = share_of(touched, "footprint", gpu->l2_bytes);
        bars[count++].group = groups[g];
        bars[count] = share_of(gathered, "gather traffic", gpu->l2_bytes);
        bars[count++].faint = true;
    }
    describe(request, subtitle);
    PlotBars spec = {
        .title = "Working set against L2",
        .subtitle = subtitle,
        .note = "Footprint: distinct bytes, each array once. Gather traffic: the published way of "
                "counting, features and depth once a point. Which of the two is compared with L2 "
                "decides what a GPU is said to be; what stays in a cache is the footprint.",
        .x = {"% of L2", false, 0, 200},
        .part_names = arrays,
        .part_count = ARRAYS,
        .bars = bars,
        .bar_count = count,
        .marks = marks,
        .mark_count = 2,
    };
    return plots_bars(request, &spec, bytes, length, err);
}

/* ---- dtype ladder --------------------------------------------------------------------------- */

/* What the format costs in accuracy: relative L2 error against FP64 over the FP32 originals, of V3
 * as the CPU computes it. `*truth` is made for the first format and serves all. */
static bool dtype_error(Lab *lab, double **truth, double *rel_l2, Err *err) {
    const BevProblem *problem = &lab->problem.view;
    Selection selection = {bev_variant_find("cpu_v3"), problem->dtype, problem->align};
    Pooled pooled = {0};
    if (!*truth && !(*truth = truth_of(&lab->workload, problem->align, err)))
        return false;
    bool ok = pooled_run(&pooled, &lab->workload, "", selection, LATENCY_OFF, NULL, err);
    if (ok)
        *rel_l2 = format_error(&pooled.problem.view, pooled.codes, *truth).rel_l2;
    pooled_free(&pooled);
    return ok;
}

/* The four parts of one format, and in the heading what they come to. */
static void dtype_bars(const Lab *lab, const Gpu *gpu, double rel_l2, PlotBar bars[PART_COUNT],
                       char group[TEXT], double *longest) {
    const BevProblem *problem = &lab->problem.view;
    const char *choice = bev_v3_choose(problem, gpu->l2_bytes).variant;
    const Profile *profile = lab_profile(lab, choice);
    Prediction p = predict(profile, gpu, true);
    snprintf(group, TEXT, "%s: %.1f µs with %s, footprint %.1f MB, %.1f M sectors, error %.1g",
             bev_dtypes[problem->dtype].title, p.latency_us, choice,
             bev_footprint_total(bev_footprint(problem)) * 1e-6, profile->counts.l2_sectors * 1e-6,
             rel_l2);
    for (int part = 0; part < PART_COUNT; part++) {
        bars[part] = (PlotBar){.group = part ? NULL : group, .label = part_names[part]};
        for (int other = 0; other < PLOT_PARTS; other++)
            bars[part].parts[other] = other == part ? p.part_us[part] : NAN;
        snprintf(bars[part].text, sizeof bars[part].text, "%.1f µs%s", p.part_us[part],
                 part == (int)p.binding ? " (binds)" : "");
        *longest = fmax(*longest, p.part_us[part]);
    }
}

static bool draw_dtype(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    PlotBar bars[BEV_DTYPE_COUNT * PART_COUNT];
    char groups[BEV_DTYPE_COUNT][TEXT], subtitle[TEXT + 80];
    const Gpu *gpu = &request->gpus->gpus[0];
    WorkloadOptions workload = request->lab->workload.options;
    BevAlign align = request->lab->problem.view.align;
    unsigned rungs = lab_rung("v3_small_l2") | lab_rung("v3_large_l2");
    double longest = 0, rel_l2 = 0, *truth = NULL;
    bool ok = true;
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        Lab lab;
        ok = lab_open(&lab, request->scene, &workload, (BevDtype)dtype, align, rungs, err) &&
             dtype_error(&lab, &truth, &rel_l2, err);
        if (ok)
            dtype_bars(&lab, gpu, rel_l2, &bars[dtype * PART_COUNT], groups[dtype], &longest);
        lab_close(&lab);
    }
    free(truth);
    if (!ok)
        return false;
    snprintf(subtitle, sizeof subtitle, "%s, V3 as chosen for %s", request->scene, gpu->title);
    PlotBars spec = {
        .title = "Formats: what each part of the latency costs",
        .subtitle = subtitle,
        .note =
            "Latencies: model, L2 warm; the parts overlap, the longest one binds. Error: relative "
            "L2 "
            "against FP64 over the FP32 originals, computed on the CPU.\nWhere the chain or the "
            "issue of instructions binds, fewer bytes buy nothing; NVFP4 pays for its decoding "
            "with instructions.",
        .x = {"µs", false, 0, round_up(longest)},
        .part_names = part_names,
        .part_count = PART_COUNT,
        .bars = bars,
        .bar_count = BEV_DTYPE_COUNT * PART_COUNT,
    };
    return plots_bars(request, &spec, bytes, length, err);
}

/* ---- published tables ----------------------------------------------------------------------- */

enum { PUBLISHED, RECORDED, MODELLED, CALIBRATED, COMPARED_PARTS };
static const char *const compared_parts[COMPARED_PARTS] = {"published", "recorded", "model",
                                                           "model, calibrated"};

static PlotBar compared_bar(const char *group, int part, double us, double known_us) {
    PlotBar bar = {.group = group, .label = compared_parts[part]};
    for (int i = 0; i < PLOT_PARTS; i++)
        bar.parts[i] = i == part ? us : NAN;
    if (part < MODELLED)
        snprintf(bar.text, sizeof bar.text, "%.1f µs", us);
    else
        snprintf(bar.text, sizeof bar.text, "%.1f µs (%.2f times)", us, us / known_us);
    return bar;
}

/* Rows of one configuration; a chart of all six would be too long to read. */
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

static bool draw_published(const PlotRequest *request, uint8_t **bytes, size_t *length, Err *err) {
    enum { MAX_BARS = 64 };
    PlotBar bars[MAX_BARS];
    char groups[MAX_BARS][TEXT], note[400];
    const char *config = request->scene;
    int count = compared_bars(request, config, bars, groups, MAX_BARS);
    if (count == 0)
        count = compared_bars(request, config = "canonical", bars, groups, MAX_BARS);
    snprintf(note, sizeof note,
             "The article timed a TensorRT plugin. Calibrated: times %.2f, one factor from its "
             "figures of V2+DO on the RTX PRO 6000 (%d of six).\nThe model walks our map, whose "
             "longest intervals bind; the article's map is not published.",
             request->comparison->calibration, request->comparison->calibrated_from);
    PlotBars spec = {
        .title = "Published and recorded latencies beside the model",
        .subtitle = config,
        .note = note,
        .x = {"µs", true, 1, 5000},
        .part_names = compared_parts,
        .part_count = COMPARED_PARTS,
        .bars = bars,
        .bar_count = count,
    };
    return plots_bars(request, &spec, bytes, length, err);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

const PlotKind plot_kinds[] = {
    {"mrc", "which reads miss an L2 of each size, with every GPU's L2", true, false, draw_mrc},
    {"roofline", "every rung under the ceilings of a GPU", true, false, draw_roofline},
    {"working-set", "footprint and gather traffic against each GPU's L2", false, false,
     draw_working_set},
    {"sweep", "latency against grid, channels or points, with the knee", false, false, plot_sweep},
    {"dtype", "the parts of the latency for each number format", false, false, draw_dtype},
    {"published", "published latencies beside the model", false, true, draw_published},
};
const int plot_kind_count = sizeof plot_kinds / sizeof *plot_kinds;

const PlotKind *plot_kind_find(const char *name, Err *err) {
    enum { MAX_KINDS = 16 };
    const char *names[MAX_KINDS];
    char hint[96];
    for (int i = 0; i < plot_kind_count; i++) {
        names[i] = plot_kinds[i].name;
        if (!strcmp(names[i], name))
            return &plot_kinds[i];
    }
    snprintf(hint, sizeof hint, "did you mean %s?",
             nearest_name(name, names, (size_t)plot_kind_count));
    err_set(err, ERR_USAGE, "plot", hint, "'%s' is not a kind of chart", name);
    return NULL;
}
