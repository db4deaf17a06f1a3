/* One self-contained page about a scene: pictures inside, tables, the machine and the command
 * lines. */
#include "src/cli/agreement.h"
#include "src/cli/choices.h"
#include "src/cli/html.h"
#include "src/cli/output.h"
#include "src/cli/plots.h"
#include "src/cli/regime_table.h"
#include "src/cli/selection.h"
#include "src/cli/small_l2.h"
#include "src/base/data.h"
#include "src/base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const Options *options;
    const char *scene;
    Lab lab;
    LabGpus gpus;
    Comparison comparison;
    FILE *out;
} Page;

/* ---- parts ---------------------------------------------------------------------------------- */

static void put_head(const Page *page) {
    const BevProblem *problem = &page->lab.problem.view;
    FILE *out = page->out;
    char title[256], points[32], intervals[32];
    unit_text(UNIT_COUNT, (double)problem->map.points, points, sizeof points);
    unit_text(UNIT_COUNT, (double)problem->map.intervals, intervals, sizeof intervals);
    snprintf(title, sizeof title, "%s: memory regimes of BEV pooling", page->scene);
    html_begin(out, title,
               page->options->theme ? (FigureTheme)choices_find(CHOICE_THEME, page->options->theme)
                                    : THEME_LIGHT);
    fprintf(out,
            "<p>%s, %s, C = %lld, %s points, %s intervals. Footprint (distinct bytes) %.1f MB, "
            "gather traffic (the published way of counting) %.1f MB.</p>\n",
            bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
            (long long)problem->shape.channels, points, intervals,
            bev_footprint_total(bev_footprint(problem)) * 1e-6,
            bev_traffic_total(bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits)) *
                1e-6);
    fputs(
        "<p>Every figure here is one of four, and never a mixture: <b>model</b> (computed, no GPU "
        "needed), <b>recorded</b> (measured earlier on the GPU named), <b>published</b> (from the "
        "article), <b>measured</b> (now, on this machine: ceilings of its own GPU at most). "
        "Hardware "
        "counters are recorded ones; none was read for this page.</p>\n<ul>\n",
        out);
    for (int g = 0; g < page->gpus.count; g++) {
        const Gpu *gpu = &page->gpus.gpus[g];
        fprintf(out, "<li>V3 on ");
        html_text(out, gpu->title);
        fprintf(out, " takes %s</li>\n", bev_v3_choose(problem, gpu->l2_bytes).why);
        char v4[160];
        lab_v4_choice(&page->lab, gpu, v4, sizeof v4);
        if (v4[0])
            fprintf(out, "<li>V4 there takes %s</li>\n", v4);
    }
    fputs("</ul>\n", out);
}

static bool put_picture(const Page *page, const char *kind_name, Err *err) {
    const PlotKind *kind = plot_kind_find(kind_name, err);
    PlotRequest request = {.scene = page->scene,
                           .lab = &page->lab,
                           .gpus = &page->gpus,
                           .comparison = &page->comparison,
                           .options = page->options};
    uint8_t *bytes;
    size_t length;
    if (!kind->draw(&request, &bytes, &length, err))
        return false;
    html_image(page->out, kind->summary, bytes, length);
    free(bytes);
    return true;
}

static void put_traffic(const Page *page) {
    Report report = regime_traffic_table();
    regime_add_traffic(&report, &page->lab, page->scene);
    fputs(
        "<h2>What the kernels ask for</h2>\n<p>Model: counted along each kernel's accesses in the "
        "order of its blocks and warps, and beside it from a formula. Equal addresses in one warp "
        "instruction count once.</p>\n",
        page->out);
    html_table(page->out, &report, NULL);
    report_free(&report);
}

static void put_predictions(const Page *page) {
    Report report = regime_prediction_table();
    regime_add_predictions(&report, &page->lab, &page->gpus, page->scene);
    fprintf(
        page->out,
        "<h2>What a GPU makes of it</h2>\n<p>Model: the four parts overlap, the longest binds, a "
        "launch comes on top. L2 warm unless a column says cold.%s</p>\n",
        lab_sampling(&page->lab));
    html_table(page->out, &report, "gpu");
    report_free(&report);
}

static void put_small_l2(const Page *page) {
    static SmallL2 found;
    char verdict[256];
    small_l2_find(&found, &page->lab, &page->gpus, page->scene);
    fputs("<h2>With less L2</h2>\n<p>", page->out);
    if (found.count == 0) {
        fputs("No such experiment was recorded of this problem; <code>bevscope bench --recorded "
              "--l2-carveout all</code> shows those that were.</p>\n",
              page->out);
        return;
    }
    small_l2_verdict(&found, verdict, sizeof verdict);
    fprintf(page->out,
            "A part of the L2 set aside and filled with lines that nobody uses. %s</p>\n", verdict);
    Report report = small_l2_table(&found);
    html_table(page->out, &report, "l2_carveout_mib");
    report_free(&report);
}

static void put_agreement(const Page *page) {
    static Agreement agreement;
    char verdict[640];
    agreement = (Agreement){0};
    agreement_add(&agreement, &page->lab, &page->gpus, page->scene);
    fputs("<h3>Against hardware counters</h3>\n<p>", page->out);
    if (agreement.count == 0) {
        fputs("None were recorded of this problem on these GPUs; <code>bevscope agreement</code> "
              "shows what was.</p>\n",
              page->out);
        return;
    }
    agreement_verdict(&agreement, verdict, sizeof verdict);
    fprintf(
        page->out,
        "Recorded counters and latencies, L2 warm. %s <code>bevscope agreement</code> shows all "
        "scenes that were counted.</p>\n",
        verdict);
    Report report = agreement_table(&agreement);
    html_table(page->out, &report, NULL);
    report_free(&report);
}

enum {
    CMP_CONFIG,
    CMP_KERNEL,
    CMP_DTYPE,
    CMP_GPU,
    CMP_SOURCE,
    CMP_KNOWN,
    CMP_MODEL,
    CMP_ERROR,
    CMP_BINDING,
    CMP_CALIBRATED,
    CMP_CALIBRATED_ERROR,
    CMP_COUNT
};

static const ReportColumn compared_columns[CMP_COUNT] = {
    [CMP_CONFIG] = {"config", "config", 0},
    [CMP_KERNEL] = {"kernel", "kernel", 0},
    [CMP_DTYPE] = {"dtype", "dtype", 0},
    [CMP_GPU] = {"gpu", "GPU", 0},
    [CMP_SOURCE] = {"source", "source", 0},
    [CMP_KNOWN] = {"known_us", "known us", 4},
    [CMP_MODEL] = {"model_us", "model us", 3},
    [CMP_ERROR] = {"ratio", "model / known", 3},
    [CMP_BINDING] = {"binding", "binding", 0},
    [CMP_CALIBRATED] = {"calibrated_us", "calibrated us", 3},
    [CMP_CALIBRATED_ERROR] = {"calibrated_ratio", "calibrated / known", 3},
};

static void put_errors(const Page *page) {
    const Comparison *comparison = &page->comparison;
    int of, off = comparison_off(comparison, false, false, 1.5, &of);
    fprintf(page->out, "<p>Published: %d of %d are off by more than 1.5 times", off, of);
    off = comparison_off(comparison, false, true, 1.5, &of);
    fprintf(
        page->out,
        "; with walks times %.2f, so that the column V2+DO of the RTX PRO 6000 is met in the "
        "mean, %d of %d. The article's map is not published: how long its longest interval is, "
        "only V2+DO tells, which waits for little else. V2 as published is a model of its own, "
        "with an addition in memory for each point and channel: no walk is in it, and it goes by "
        "points, of which only canonical's were published.</p>\n<p>",
        comparison->calibration, off, of);
    off = comparison_off(comparison, true, false, 1.3, &of);
    if (of == 0) {
        fputs("Recorded: nothing to compare with.</p>\n", page->out);
        return;
    }
    fprintf(page->out, "Recorded: %d of %d are off by more than 1.3 times", off, of);
    int right = comparison_order(comparison, &of);
    fprintf(page->out,
            "; the order of two kernels on one configuration is right in %d of %d "
            "pairs.</p>\n",
            right, of);
}

static void put_comparison(const Page *page) {
    Report report = {.columns = compared_columns, .column_count = CMP_COUNT, .folds = true};
    for (int i = 0; i < page->comparison.count; i++) {
        const ComparisonRow *row = &page->comparison.rows[i];
        report_add(&report,
                   (Cell[CMP_COUNT]){
                       [CMP_CONFIG] = cell_text(row->config),
                       [CMP_KERNEL] = cell_text(row->kernel),
                       [CMP_DTYPE] = cell_text(bev_dtypes[row->dtype].name),
                       [CMP_GPU] = cell_text(row->gpu->title),
                       [CMP_SOURCE] = cell_text(row->recorded ? "recorded" : "published"),
                       [CMP_KNOWN] = cell_real(row->known_us),
                       [CMP_MODEL] = cell_real(row->model.latency_us),
                       [CMP_ERROR] = cell_real(row->model.latency_us / row->known_us),
                       [CMP_BINDING] = cell_text(term_names[row->model.binding]),
                       [CMP_CALIBRATED] = cell_real(row->calibrated_us),
                       [CMP_CALIBRATED_ERROR] = cell_real(row->calibrated_us / row->known_us)});
    }
    html_table(page->out, &report, "config");
    report_free(&report);
}

/* The options that shaped the page, as they were given. */
static void put_options(const Page *page, bool drawn) {
    const Options *options = page->options;
    const struct {
        const char *name, *value;
    } given[] = {{"dtype", options->dtype},
                 {"align", options->align},
                 {"gpu", options->gpu},
                 {"gpu-file", options->gpu_file},
                 {"theme", drawn ? options->theme : NULL}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].value) {
            fprintf(page->out, " --%s ", given[i].name);
            html_text(page->out, given[i].value);
        }
    if (options->l2_mb > 0)
        fprintf(page->out, " --l2-mb %g", options->l2_mb);
    if (options->channels > 0)
        fprintf(page->out, " --channels %lld", (long long)options->channels);
}

static void put_machine(const Page *page) {
    Machine machine;
    FILE *out = page->out;
    machine_read(&machine);
    fputs("<h2>How this page was made</h2>\n<p class=\"muted\">", out);
    fprintf(out, "bevscope %s, %s, on ", machine.version, machine.date);
    html_text(out, machine.cpu);
    fputs(", ", out);
    html_text(out, machine.system);
    fprintf(out, "; GPU: %s.</p>\n<ul>\n", machine.gpu[0] ? machine.gpu : "none");
    fputs("<li><code>bevscope report ", out);
    html_text(out, page->scene);
    put_options(page, true);
    fputs(page->options->quick ? " --quick -o " : " -o ", out);
    html_text(out, page->options->output);
    fputs("</code></li>\n<li><code>bevscope regime ", out);
    html_text(out, page->scene);
    put_options(page, false);
    fputs("</code></li>\n", out);
    for (int i = 0; i < plot_kind_count; i++) {
        fprintf(out, "<li><code>bevscope plot %s ", plot_kinds[i].name);
        html_text(out, page->scene);
        put_options(page, true);
        fprintf(out, " -o %s.png</code></li>\n", plot_kinds[i].name);
    }
    fputs("</ul>\n", out);
    html_end(out);
}

static bool put_page(const Page *page, Err *err) {
    put_head(page);
    fputs("<h2>Does it fit?</h2>\n", page->out);
    if (!put_picture(page, "working-set", err) || !put_picture(page, "mrc", err))
        return false;
    put_traffic(page);
    put_predictions(page);
    fputs("<h2>What binds</h2>\n", page->out);
    if (!put_picture(page, "roofline", err) || !put_picture(page, "dtype", err))
        return false;
    if (page->lab.workload.scene.has_rig && !put_picture(page, "sweep", err))
        return false;
    put_small_l2(page);
    fputs("<h2>How far off is the model?</h2>\n", page->out);
    put_agreement(page);
    fputs("<h3>Against latencies, published and recorded</h3>\n", page->out);
    put_errors(page);
    if (!put_picture(page, "published", err))
        return false;
    put_comparison(page);
    put_machine(page);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool make_folder(const char *path, Err *err) {
    struct stat status;
    if (mkdir(path, 0777) == 0 || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    return err_set(err, ERR_FAILED, path, "", "cannot be made: %s", strerror(errno));
}

static bool write_page(Page *page, Err *err) {
    char path[4096];
    Output output;
    snprintf(path, sizeof path, "%s/report.html", page->options->output);
    if (!output_open(&output, err))
        return false;
    page->out = output.stream;
    if (put_page(page, err))
        return output_close(&output, path, err);
    fclose(output.stream);
    free(output.text);
    return false;
}

bool cmd_report(const Options *options, Err *err) {
    static Page page;
    BevDtype dtype;
    BevAlign align;
    WorkloadOptions workload = select_workload(options);
    unsigned demo = 1u << (gpu_find("a6000") - gpus) | 1u << (gpu_find("pro6000") - gpus) |
                    1u << (gpu_find("h200") - gpus);
    if (!options->output)
        return err_set(err, ERR_USAGE, "report", "add -o FOLDER", "no folder is named");
    if (!lab_selection(options, &dtype, &align, err))
        return false;
    page = (Page){.options = options, .scene = options->arguments[0]};
    bool ok = lab_gpus(options, demo, &page.gpus, err) &&
              lab_open(&page.lab, page.scene, &workload, dtype, align, LAB_ALL_KERNELS, err) &&
              make_folder(options->output, err) &&
              comparison_make(&page.gpus, options->quick, &page.comparison, err) &&
              write_page(&page, err);
    lab_close(&page.lab);
    lab_gpus_free(&page.gpus);
    if (ok)
        printf("%s/report.html\n", options->output);
    return ok;
}
