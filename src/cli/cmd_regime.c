/* SPDX-License-Identifier: MIT */
/* bevscope regime: shows each kernel's requests to the memory system. Shows a model's predictions,
 * also for GPUs that are not in this machine. */
#include "kernels/clean.h"
#include "src/base/progress.h"
#include "src/cli/model.h"
#include "src/cli/selection.h"
#include "src/base/units.h"

#include <string.h>

typedef struct {
    const Options *options;
    SceneModel models[MAX_FORMATS]; /* one model for each format and align */
    int model_count;
    ChosenGpus chosen;
    Report counted; /* filled by --counters */
    Machine machine;
    char label[160]; /* label of the machine; "": nothing was measured */
} Regime;

/* Returns the kernels of --kernel as model_bits. For a CPU kernel the corresponding CUDA kernel
 * counts. Without the option: all. */
static unsigned chosen_kernels(const Options *options) {
    KernelSet rows = choices_kernels(options->kernel, ~(KernelSet)0);
    unsigned kernels = 0;
    for (int i = 0; bev_kernels[i]; i++)
        if (rows >> i & 1)
            kernels |= model_bits(model_row(bev_kernels[i]));
    return kernels;
}

/* Opens a model for each of the chosen formats and aligns. */
static bool open_models(Regime *regime, Err *err) {
    KernelConfig formats[MAX_FORMATS];
    int count = select_formats(regime->options, formats);
    Job workload = select_job(regime->options);
    const char *scene = regime->options->arguments[0];
    unsigned kernels = chosen_kernels(regime->options);
    if (!kernels)
        return err_set(err, ERR_USAGE, "--kernel", "for example v2,v4",
                       "the model has no accesses of '%s'", regime->options->kernel);
    for (int i = 0; i < count; i++) {
        const KernelConfig *format = &formats[i];
        SceneModel *model = &regime->models[regime->model_count++];
        progress_step(bev_dtypes[format->dtype].title, i / (double)count, (i + 1) / (double)count);
        if (!scene_model_open(model, scene, &workload, format->dtype, format->align,
                              &regime->chosen, kernels, err))
            return false;
        select_say_if_empty(scene, format->align, model->problem.view.map.points,
                            &model->workload.maps[format->align]->intervals.pruned);
    }
    return true;
}

/* ---- counters ------------------------------------------------------------------------------- */

static bool measure_counters(Regime *regime, Err *err) {
    CounterReader *reader;
    Machine *machine = &regime->machine;
    if (!counters_open(&reader, COUNTERS_FULL, err))
        return false;
    machine_read(machine);
    snprintf(regime->label, sizeof regime->label, "%.64s, driver %.16s, CUDA %.16s, %.10s",
             machine->gpu, machine->driver, machine->cuda, machine->date);
    bool ok = true;
    for (int i = 0; ok && i < regime->model_count; i++)
        ok = counted_measure(&regime->counted, reader, &regime->models[i], regime->label,
                             regime->options->kernel != NULL, err);
    counters_close(reader);
    return ok;
}

/* Counts on this GPU. Where counting fails, says why and uses the recording. */
static bool read_counters(Regime *regime, Err *err) {
    const char *device = regime->options->device;
    unsigned where = 1u << BEV_CUDA;
    Err why = {0};
    if (!regime->options->counters)
        return true;
    if (strcmp(device, "auto") && !select_devices(device, &where, err))
        return false;
    if (where & 1u << BEV_CUDA) {
        char line[1024];
        if (measure_counters(regime, &why))
            return true;
        err_line(&why, line, sizeof line);
        fprintf(stderr, "bevscope: %s; recorded counters take their place\n", line);
        report_free(&regime->counted);
    }
    for (int i = 0; i < regime->model_count; i++)
        counted_recall(&regime->counted, &regime->models[i], &regime->chosen,
                       regime->options->kernel != NULL);
    if (regime->counted.row_count == 0)
        counted_columns(&regime->counted, &regime->models[0]);
    return true;
}

/* Prints the counters. False, as of the other printers: a table ran out of memory. */
static bool print_counters(const Regime *regime, ReportPrinter *print, FILE *out) {
    if (!regime->options->counters)
        return true;
    fputs("\nHardware counters of one launch and its clear, L2 warm, beside the model; off: model "
          "- counted\n",
          out);
    counted_sources(&regime->counted, out);
    fputs(regime->counted.row_count > 0 ? "\n" : "n/a: nothing was recorded on these GPUs\n", out);
    if (regime->counted.row_count > 0) {
        print(&regime->counted, out);
        counted_verdict(&regime->counted, out);
    }
    return !regime->counted.out_of_memory;
}

/* ---- output --------------------------------------------------------------------------------- */

static void print_head(const Regime *regime, const SceneModel *model, FILE *out) {
    const BevProblem *problem = &model->problem.view;
    char scene[320], points[32], footprint[32], gathered[32];
    clean_text(model->label, scene, sizeof scene);
    unit_text(UNIT_COUNT, (double)problem->map.points, points, sizeof points);
    scene_model_bytes(model, footprint, gathered);
    fprintf(out, "%s, %s, %s, C = %lld: %s points, footprint %s, gather traffic %s\n", scene,
            bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
            (long long)problem->shape.channels, points, footprint, gathered);
    for (int g = 0; g < regime->chosen.count; g++) {
        const Gpu *gpu = &regime->chosen.gpus[g];
        char v4[160];
        if (gpu->note)
            fprintf(out, "%s is %s\n", gpu->title, gpu->note);
        fprintf(out, "V3 on %s takes %s\n", gpu->title, scene_model_v3_choice(model, gpu).why);
        scene_model_v4_choice(model, gpu, v4, sizeof v4);
        if (v4[0])
            fprintf(out, "V4 on %s takes %s\n", gpu->title, v4);
    }
}

static void print_findings(const Regime *regime, FILE *out) {
    fprintf(out,
            "\nFindings (model, L2 warm; what would be gained without that alone, all else as it "
            "is; %s)\n\n",
            regime->options->kernel
                ? "a faster kernel comes last"
                : "of a kernel the largest gain, which another term than the longest may have; "
                  "with --kernel all of a kernel and their evidence");
    for (int i = 0; i < regime->model_count; i++)
        findings_print(&regime->models[i], &regime->chosen, regime->options->kernel != NULL, out);
}

/* Explains why hits may stay below 100 % although no DRAM is read. */
static void explain_l2_parts(const ChosenGpus *chosen, FILE *out) {
    const char *before = " The L2 of ";
    int count = 0;
    for (int i = 0; i < chosen->count; i++)
        if (chosen->gpus[i].l2_partitions == 2) {
            fprintf(out, "%s%s", before, chosen->gpus[i].title);
            before = ", ";
            count++;
        }
    if (count)
        fputs(" has two parts: what only the other part has is no hit, and no DRAM read.", out);
}

/* Prints several tables for people, because one table would be too wide. */
static bool print_tables(const Regime *regime, ReportPrinter *print, FILE *out) {
    Report traffic = {.folds = true}, predictions = {.folds = true};
    for (int i = 0; i < regime->model_count; i++) {
        regime_add(&traffic, REGIME_TRAFFIC, &regime->models[i], regime->chosen.count);
        regime_add(&predictions, REGIME_PREDICTIONS, &regime->models[i], regime->chosen.count);
        print_head(regime, &regime->models[i], out);
    }
    fputs("\nKernel traffic, the bytes that kernels ask for: counted along their access traces, "
          "and by "
          "formula. Longest sequence: the points that one owner adds one after the other, of V4 "
          "the turns of a warp: it finds its tile, takes steps, joins, stores. "
          "Owners: starts and lengths of intervals, of V4 its list of steps. Equal addresses of an "
          "owner's threads in one warp instruction count once. Sums read: of atomic additions, "
          "4 bytes each, and of the pass that encodes FP32 sums.\n\n",
          out);
    print(&traffic, out);
    fputs(
        "\nPrediction (model; recorded and published beside it where known; L2 warm, cold where "
        "it says so). Recorded: V3 and the form that it takes were timed apart. Published: other "
        "maps, through TensorRT: no test of the model. Regime: the footprint against L2, whichever "
        "kernel reads it. L2 hits: of all lookups, most of which read again what is in L2. DRAM: "
        "what misses, and the output as far as L2 writes it back. Dependent loads: a step takes "
        "longer where "
        "a thread adds more channels, divides (V2+DO) or loads fewer points ahead. Cold: what "
        "nobody has read before comes from DRAM, and dependent loads wait for it; the launch is "
        "timed "
        "alone, as bench --help says.",
        out);
    explain_l2_parts(&regime->chosen, out);
    for (int i = 0; i < regime->model_count; i++)
        fputs(scene_model_sampling(&regime->models[i]), out);
    fputs("\n\n", out);
    print(&predictions, out);
    fputs(
        "\nThe model's latency: the terms overlap, so the root of the sum of the squares of DRAM, "
        "L2, issue and dependent loads, and then the "
        "launch with its clear and encoding.\n",
        out);
    bool whole = !traffic.out_of_memory && !predictions.out_of_memory;
    whole = print_counters(regime, print, out) && whole;
    report_free(&traffic);
    report_free(&predictions);
    print_findings(regime, out);
    return whole;
}

/* Returns the parts of the report beside its rows. NULL: out of memory. */
static json_t *regime_json(const Regime *regime, const Report *findings) {
    bool whole = !regime->counted.out_of_memory && !findings->out_of_memory;
    json_t *root = whole ? json_pack("{so}", "findings", report_json(findings)) : NULL;
    if (root && regime->options->counters)
        json_object_set_new(root, "counters", report_json(&regime->counted));
    if (root && regime->label[0])
        json_object_set_new(root, "machine", output_machine(&regime->machine));
    return root;
}

static bool print_regime(const Regime *regime, Err *err) {
    ReportPrinter *print = output_printer(regime->options);
    if (print) {
        MemoryStream output;
        if (!memory_stream_open(&output, err))
            return false;
        bool whole = print_tables(regime, print, output.stream);
        return output_close(&output, whole, regime->options->output, err);
    }
    Report report = {0}, findings = {0};
    for (int i = 0; i < regime->model_count; i++) {
        regime_add(&report, REGIME_ALL, &regime->models[i], regime->chosen.count);
        findings_add(&findings, &regime->models[i], &regime->chosen);
    }
    json_t *root = regime_json(regime, &findings);
    bool csv = !strcmp(regime->options->format, "csv") && regime->options->counters;
    bool ok = output_report(regime->options, csv ? &regime->counted : &report, root, err);
    report_free(&report);
    report_free(&findings);
    return ok;
}

bool cmd_regime(const Options *options, Err *err) {
    Regime regime = {.options = options};
    /* By default these are the article's two GPUs and the GPU of the recordings. */
    unsigned usual = 1u << (gpu_find("a6000") - gpus) | 1u << (gpu_find("pro6000") - gpus) |
                     1u << (gpu_find("h200") - gpus);
    progress_begin("regime", options->quiet);
    bool ok = chosen_open(options, usual, &regime.chosen, err) && open_models(&regime, err);
    progress_end(); /* the report is printed afterwards */
    ok = ok && read_counters(&regime, err) && print_regime(&regime, err);
    for (int i = 0; i < regime.model_count; i++)
        scene_model_close(&regime.models[i]);
    chosen_close(&regime.chosen);
    report_free(&regime.counted);
    return ok;
}
