/* bevscope report: one self-contained page about a scene, with its pictures and tables, the machine
 * and the command lines. */
#include "kernels/clean.h"
#include "src/base/data.h"
#include "src/base/markup.h"
#include "src/base/progress.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/base/units.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const Options *options;
    SceneModel model;
    SceneModel back; /* --direction both: the way back of the same scene */
    ChosenGpus chosen;
    Comparison comparison;
    FILE *out;
    bool incomplete; /* some table ran out of memory */
} Page;

/* ---- parts ---------------------------------------------------------------------------------- */

static void put_head(const Page *page) {
    const BevProblem *problem = &page->model.problem.view;
    FILE *out = page->out;
    char title[360], points[32], intervals[32], footprint[32], gathered[32];
    scene_model_bytes(&page->model, footprint, gathered);
    unit_text(UNIT_COUNT, (double)problem->map.points, points, sizeof points);
    unit_text(UNIT_COUNT, (double)problem->map.intervals, intervals, sizeof intervals);
    snprintf(title, sizeof title, "%s: memory regimes of BEV pooling", page->model.label);
    html_begin(out, title, (FigureTheme)choices_find(CHOICE_THEME, page->options->theme));
    fprintf(out,
            "<p>%s, %s, C = %lld, %s points, %s intervals. Footprint (each array once) %s, "
            "gather traffic (counted as published, the output in its own format) %s.</p>\n",
            bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
            (long long)problem->shape.channels, points, intervals, footprint, gathered);
    fputs("<p>Latencies here are <b>model</b> (computed, no GPU needed), <b>calibrated</b> (the "
          "model with one factor from published figures), <b>recorded</b> (measured earlier on the "
          "GPU named), <b>published</b> (from the article), <b>measured</b> (now, on this machine: "
          "ceilings of its own GPU at most). "
          "Hardware counters are recorded ones; none was read for this page.</p>\n<ul>\n",
          out);
    for (int g = 0; g < page->chosen.count && problem->direction == BEV_FORWARD; g++) {
        const Gpu *gpu = &page->chosen.gpus[g];
        fprintf(out, "<li>V3 on ");
        markup_text(out, gpu->title);
        fprintf(out, " takes %s</li>\n", scene_model_v3_choice(&page->model, gpu).why);
        char v4[160];
        scene_model_v4_choice(&page->model, gpu, v4, sizeof v4);
        if (v4[0])
            fprintf(out, "<li>V4 there takes %s</li>\n", v4);
    }
    fputs("</ul>\n", out);
}

/* Where the long parts of a page begin and end, as shares of the whole; measured on canonical. */
#define SCENE_SHARE      0, 0.1
#define COMPARISON_SHARE 0.1, 0.6
#define DTYPE_SHARE      0.6, 0.7
#define SWEEP_SHARE      0.7, 1

static bool put_picture_of(const Page *page, const SceneModel *model, const char *kind_name,
                           Err *err) {
    const PlotKind *kind = plot_kind_find(kind_name, err);
    uint8_t *bytes;
    size_t length;
    PlotRequest request = {.model = model,
                           .chosen = &page->chosen,
                           .comparison = &page->comparison,
                           .options = page->options,
                           .bytes = &bytes,
                           .length = &length};
    if (!plot_kind_draw(kind, &request, err))
        return false;
    html_image(page->out, kind->summary, bytes, length);
    free(bytes);
    return true;
}

static bool put_picture(const Page *page, const char *kind_name, Err *err) {
    return put_picture_of(page, &page->model, kind_name, err);
}

/* Prints a table and frees it. */
static void put_table(Page *page, Report *report, const char *group) {
    page->incomplete = page->incomplete || report->out_of_memory;
    report->folds = true;
    html_table(page->out, report, group);
    report_free(report);
}

static void put_traffic(Page *page, const SceneModel *model) {
    Report report = {0};
    regime_add(&report, REGIME_TRAFFIC, model, &page->chosen);
    fputs("<h2>What the kernels ask for</h2>\n<p>Model: counted along each kernel's accesses in "
          "the order of its blocks and warps, and beside it from a formula. Equal addresses of an "
          "owner's threads in one warp instruction count once.</p>\n",
          page->out);
    put_table(page, &report, NULL);
}

static void put_predictions(Page *page, const SceneModel *model) {
    Report report = {0};
    regime_add(&report, REGIME_PREDICTIONS, model, &page->chosen);
    fprintf(page->out,
            "<h2>What a GPU makes of it</h2>\n<p>Model: the four parts overlap: the root "
            "of their sum of squares (of grad_v4 their sum), and a launch on top. L2 warm unless a "
            "column says cold.%s</p>\n",
            scene_model_sampling(model));
    put_table(page, &report, "gpu");
}

static void put_small_l2(Page *page) {
    char verdict[512];
    Report report = {0};
    fputs("<h2>With less L2</h2>\n<p>", page->out);
    if (!small_l2_add(&report, &page->model, &page->chosen, verdict, sizeof verdict)) {
        fputs("No such experiment was recorded of this problem on these GPUs; <code>bevscope bench "
              "--recorded --l2-carveout all</code> shows those that were.</p>\n",
              page->out);
        return;
    }
    fputs("A part of the L2 set aside and filled with lines that nobody uses. ", page->out);
    markup_text(page->out, verdict);
    fputs("</p>\n", page->out);
    put_table(page, &report, "l2_carveout_mib");
}

static void put_agreement(Page *page) {
    static Agreement agreement;
    char verdict[640];
    Report report = {0};
    agreement = (Agreement){0};
    agreement_add(&agreement, &page->model, &page->chosen);
    fputs("<h3>Against hardware counters</h3>\n<p>", page->out);
    if (agreement.count == 0) {
        fputs("None were recorded of this problem on these GPUs; <code>bevscope agreement</code> "
              "shows what was.</p>\n",
              page->out);
        return;
    }
    agreement_verdict(&agreement, verdict, sizeof verdict);
    fprintf(page->out,
            "Recorded counters and latencies, L2 warm. %s <code>bevscope agreement</code> shows "
            "all scenes that were counted.</p>\n",
            verdict);
    agreement_report(&agreement, &report);
    put_table(page, &report, NULL);
}

static void put_errors(const Page *page) {
    const Comparison *comparison = &page->comparison;
    int of, off = comparison_off(comparison, false, false, 1.5, &of);
    fprintf(page->out, "<p>Published: %d of %d are off by more than 1.5 times", off, of);
    off = comparison_off(comparison, false, true, 1.5, &of);
    fprintf(
        page->out,
        ". Calibrated: longest intervals times %.2f meet the article's V2+DO on the RTX PRO 6000 "
        "in the geometric mean; of the other rows that this moves, %d of %d are then off by more "
        "than 1.5 times. The article's map is not published: how long its longest interval is, "
        "only V2+DO tells, which waits for little else. V2 as published is a model of its own, "
        "with an addition in memory for each point and channel: no interval binds it, and its time "
        "follows the points, of which only canonical's were published.</p>\n<p>",
        comparison->calibration, off, of);
    off = comparison_off(comparison, true, false, 1.3, &of);
    if (of == 0) {
        fputs("Recorded: nothing to compare with.</p>\n", page->out);
        return;
    }
    fprintf(page->out,
            "Recorded (V2, V2+DO and the forms of V3): %d of %d are off by more than 1.3 times",
            off, of);
    int right = comparison_order(comparison, &of);
    fprintf(page->out,
            "; the order of two kernels on one configuration is right in %d of %d "
            "pairs. V3 and the form that it takes were timed apart.</p>\n",
            right, of);
}

static void put_comparison(Page *page) {
    Report report = {0};
    for (int i = 0; i < page->comparison.count; i++) {
        const ComparisonRow *row = &page->comparison.rows[i];
        double model = row->model.latency_us, known = row->known_us;
        const char *source = row->recorded ? "recorded" : "published";
        report_row(&report);
        report_add(&report, "config", "config", 0, cell_text(row->config));
        report_add(&report, "kernel", "kernel", 0, cell_text(row->kernel));
        report_add(&report, "dtype", "dtype", 0, cell_text(bev_dtypes[row->dtype].name));
        report_add(&report, "gpu", "GPU", 0, cell_text(row->gpu->title));
        report_add(&report, "source", "source", 0, cell_text(source));
        report_add(&report, "known_us", "known us", 4, cell_real(known));
        report_add(&report, "model_us", "model us", 3, cell_real(model));
        report_add(&report, "ratio", "model / known", 3, cell_real(model / known));
        report_add(&report, "binding", "binding", 0, cell_text(term_names[row->model.binding]));
        report_add(&report, "calibrated_us", "calibrated us", 3, cell_real(row->calibrated_us));
        report_add(&report, "calibrated_ratio", "calibrated / known", 3,
                   cell_real(row->calibrated_us / known));
    }
    put_table(page, &report, "config");
}

/* A word of a command that can be pasted. */
static void put_word(FILE *out, const char *word) {
    char quoted[2 * PATH_MAX];
    markup_text(out, clean_for_shell(word, quoted, sizeof quoted) ? quoted : "...");
}

/* A command on the page's scene with the options that shaped the page; a list item left open. */
static void put_command(const Page *page, const char *words, bool drawn) {
    const Options *options = page->options;
    bool shows_both = !strncmp(words, "plot", 4) && page->back.profile_count; /* a chart has one */
    const struct {
        const char *name, *value;
    } given[] = {{"dtype", options->dtype},
                 {"align", options->align},
                 {"direction", shows_both ? NULL : options->direction},
                 {"gpu", options->gpu},
                 {"gpu-file", options->gpu_file},
                 {"theme", drawn ? options->theme : NULL}};
    fprintf(page->out, "<li><code>bevscope %s ", words);
    put_word(page->out, page->model.scene);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].value) {
            fprintf(page->out, " --%s ", given[i].name);
            put_word(page->out, given[i].value);
        }
    if (options->l2_mb > 0)
        fprintf(page->out, " --l2-mb %g", options->l2_mb);
    if (options->dram_gbps > 0)
        fprintf(page->out, " --dram-gbps %g", options->dram_gbps);
    if (options->sms > 0)
        fprintf(page->out, " --sms %lld", (long long)options->sms);
    if (options->clock_ghz > 0)
        fprintf(page->out, " --clock-ghz %g", options->clock_ghz);
    if (options->evenness > 0)
        fprintf(page->out, " --evenness %g", options->evenness);
    if (!prune_is_off(&options->prune))
        fprintf(page->out, " --prune %s", prune_text(&options->prune).text);
    if (options->outlier > 0)
        fprintf(page->out, " --outlier %g", options->outlier);
    if (options->channels > 0)
        fprintf(page->out, " --channels %lld", (long long)options->channels);
}

static void put_machine(const Page *page) {
    Machine machine;
    FILE *out = page->out;
    machine_read(&machine);
    fputs("<h2>How this page was made</h2>\n<p class=\"muted\">", out);
    fprintf(out, "bevscope %s, %s, on ", machine.version, machine.date);
    markup_text(out, machine.cpu);
    fputs(", ", out);
    markup_text(out, machine.system);
    fputs("; GPU: ", out);
    markup_text(out, machine.gpu[0] ? machine.gpu : "none");
    fputs(".</p>\n<ul>\n", out);
    put_command(page, "report", true);
    fputs(page->options->quick ? " --quick -o " : " -o ", out);
    markup_text(out, page->options->output);
    fprintf(
        out,
        "</code></li>\n</ul>\n<p>Its table and its pictures alone, and other charts%s:</p>\n<ul>\n",
        page->options->quick ? " (plot calibrates by all sizes, --quick by canonical)" : "");
    put_command(page, "regime", false);
    fputs("</code></li>\n", out);
    for (int i = 0; i < plot_kind_count; i++) {
        char words[64];
        if (!plot_goes_back(&plot_kinds[i]) && page->model.problem.view.direction == BEV_BACKWARD)
            continue; /* it follows forward kernels only */
        snprintf(words, sizeof words, "plot %s", plot_kinds[i].name);
        put_command(page, words, true);
        fprintf(out, " -o %s.png</code></li>\n", plot_kinds[i].name);
    }
    fputs("</ul>\n", out);
    html_end(out);
}

/* Both gradients: the same tables, and the charts that follow any kernel. */
static bool put_way_back(Page *page, const SceneModel *model, Err *err) {
    char footprint[32], gathered[32];
    scene_model_bytes(model, footprint, gathered);
    fprintf(
        page->out,
        "<h2>The way back</h2>\n<p>Both gradients: grad_out is read, those of depth and features "
        "are written. Footprint %s, gather traffic %s.</p>\n",
        footprint, gathered);
    if (!put_picture_of(page, model, "working-set", err) ||
        !put_picture_of(page, model, "mrc", err))
        return false;
    put_traffic(page, model);
    put_predictions(page, model);
    return put_picture_of(page, model, "roofline", err) &&
           put_picture_of(page, model, "terms", err);
}

static bool put_page(Page *page, Err *err) {
    put_head(page);
    if (page->model.problem.view.direction == BEV_BACKWARD) {
        if (!put_way_back(page, &page->model, err))
            return false;
        put_machine(page);
        return true;
    }
    fputs("<h2>Does it fit?</h2>\n", page->out);
    if (!put_picture(page, "working-set", err) || !put_picture(page, "mrc", err))
        return false;
    put_traffic(page, &page->model);
    put_predictions(page, &page->model);
    fputs("<h2>What binds</h2>\n", page->out);
    progress_step("number formats", DTYPE_SHARE);
    if (!put_picture(page, "roofline", err) || !put_picture(page, "dtype", err))
        return false;
    progress_step("the scene at other sizes", SWEEP_SHARE);
    if (page->model.workload.scene.has_rig && !put_picture(page, "sweep", err))
        return false;
    put_small_l2(page);
    fputs("<h2>How far off is the model?</h2>\n", page->out);
    put_agreement(page);
    fputs("<h3>Against latencies, published and recorded</h3>\n", page->out);
    put_errors(page);
    if (!put_picture(page, "published", err))
        return false;
    put_comparison(page);
    if (page->back.profile_count && !put_way_back(page, &page->back, err))
        return false;
    put_machine(page);
    return true;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool names_a_file(const char *path) {
    static const char *const endings[] = {".html", ".htm", ".md", ".txt", ".pdf"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (data_has_suffix(path, endings[i]))
            return true;
    return false;
}

static bool make_folder(const char *path, Err *err) {
    struct stat status;
    if (mkdir(path, 0777) == 0 || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    return err_set(err, ERR_FAILED, path, "", "cannot be made: %s", strerror(errno));
}

static bool write_page(Page *page, Err *err) {
    char path[4096];
    MemoryStream output;
    snprintf(path, sizeof path, "%s/report.html", page->options->output);
    if (!memory_stream_open(&output, err))
        return false;
    page->out = output.stream;
    if (put_page(page, err))
        return output_close(&output, !page->incomplete, path, err);
    if (memory_stream_close(&output, path, NULL))
        free(output.bytes);
    return false;
}

bool cmd_report(const Options *options, Err *err) {
    static Page page;
    BevDtype dtype;
    BevAlign align;
    WorkloadOptions workload = select_workload(options);
    const char *way = options->direction ? options->direction : "forward";
    bool backward = !strcmp(way, "backward"), both = !strcmp(way, "both");
    if (!options->output)
        return err_set(err, ERR_USAGE, "report", "add -o FOLDER", "no folder is named");
    if (names_a_file(options->output))
        return err_set(err, ERR_USAGE, options->output, "name a folder: it gets report.html",
                       "-o takes a folder");
    if (!scene_model_formats(options, &dtype, &align, err))
        return false;
    page = (Page){.options = options};
    progress_begin("report", options->quiet);
    progress_step("the scene", SCENE_SHARE);
    bool ok = chosen_open(options, chosen_usual(), &page.chosen, err) &&
              scene_model_open(&page.model, options->arguments[0], &workload, dtype, align,
                               backward ? BEV_BACKWARD : BEV_FORWARD, ALL_KERNELS, err) &&
              (!both || scene_model_open(&page.back, options->arguments[0], &workload, dtype, align,
                                         BEV_BACKWARD, ALL_KERNELS, err));
    if (ok)
        select_say_if_empty(options->arguments[0], align, page.model.problem.view.map.points,
                            &page.model.workload.pruned[align]);
    ok = ok && make_folder(options->output, err);
    progress_step("latencies known", COMPARISON_SHARE);
    ok = ok &&
         (backward || comparison_make(&page.chosen, options->quick, &page.comparison, err)) &&
         write_page(&page, err);
    progress_end();
    scene_model_close(&page.model);
    scene_model_close(&page.back);
    chosen_close(&page.chosen);
    if (ok) {
        clean_print(stdout, options->output);
        puts("/report.html");
    }
    return ok;
}
