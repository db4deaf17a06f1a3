/* What each kernel asks of the memory system, and what a model makes of it on GPUs that need not be
 * here. */
#include "src/cli/choices.h"
#include "src/cli/counted.h"
#include "src/cli/output.h"
#include "src/cli/regime_table.h"
#include "src/cli/selection.h"
#include "src/cli/small_l2.h"
#include "src/base/units.h"
#include "src/view/draw/text.h"

#include <string.h>

enum { MAX_LABS = BEV_DTYPE_COUNT * BEV_ALIGN_COUNT };

typedef struct {
    const Options *options;
    const char *scene;
    Lab labs[MAX_LABS];
    int lab_count;
    LabGpus gpus;
    Report counted; /* --counters; no columns without it */
    Machine machine;
    char label[160]; /* of the machine */
} Regime;

static bool open_labs(Regime *regime, Err *err) {
    unsigned dtypes = choices_mask(CHOICE_DTYPE, regime->options->dtype, 1u << BEV_FP16);
    unsigned aligns = choices_mask(CHOICE_ALIGN, regime->options->align, 1u << BEV_NEAREST);
    WorkloadOptions workload = select_workload(regime->options);
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            if (aligns >> align & 1 && dtypes >> dtype & 1 &&
                !lab_open(&regime->labs[regime->lab_count++], regime->scene, &workload,
                          (BevDtype)dtype, (BevAlign)align, LAB_ALL_KERNELS, err))
                return false;
    return true;
}

/* ---- counters ------------------------------------------------------------------------------- */

static void read_machine(Regime *regime) {
    Machine *machine = &regime->machine;
    machine_read(machine);
    snprintf(regime->label, sizeof regime->label, "%.64s, driver %.16s, CUDA %.16s, %.10s",
             machine->gpu, machine->driver, machine->cuda, machine->date);
}

static bool measure_counters(Regime *regime, Err *err) {
    CounterReader *reader;
    if (!counters_open(&reader, COUNTERS_FULL, err))
        return false;
    read_machine(regime);
    bool ok = true;
    for (int i = 0; ok && i < regime->lab_count; i++)
        ok = counted_measure(&regime->counted, reader, &regime->labs[i], regime->scene,
                             regime->label, err);
    counters_close(reader);
    return ok;
}

static void recall_counters(Regime *regime) {
    report_free(&regime->counted);
    regime->counted = counted_table();
    for (int i = 0; i < regime->lab_count; i++)
        counted_recall(&regime->counted, &regime->labs[i], &regime->gpus, regime->scene);
}

/* Measured; or, with the reason why not, what was recorded. */
static bool take_counters(Regime *regime, Err *err) {
    const char *device = regime->options->device;
    unsigned where = 1u << BEV_CUDA;
    Err why = {0};
    if (!regime->options->counters)
        return true;
    regime->counted = counted_table();
    if (strcmp(device, "auto") && !select_devices(device, &where, err))
        return false;
    if (!(where & 1u << BEV_CUDA)) {
        recall_counters(regime);
    } else if (!measure_counters(regime, &why)) {
        char line[1024];
        err_line(&why, line, sizeof line);
        fprintf(stderr, "bevscope: %s; recorded counters take their place\n", line);
        recall_counters(regime);
    }
    return true;
}

static void print_counters(const Regime *regime, void (*print)(const Report *, FILE *), FILE *out) {
    if (!regime->options->counters)
        return;
    fputs(
        "\nHardware counters of one launch and its clear, L2 warm, beside the model; off: model - "
        "counted\n",
        out);
    counted_sources(&regime->counted, out);
    fputs(regime->counted.row_count > 0 ? "\n" : "n/a: nothing was recorded on these GPUs\n", out);
    if (regime->counted.row_count > 0)
        print(&regime->counted, out);
}

/* ---- output --------------------------------------------------------------------------------- */

static void print_head(const Regime *regime, FILE *out) {
    char scene[256], points[32];
    text_clean(regime->scene, scene, sizeof scene);
    for (int i = 0; i < regime->lab_count; i++) {
        const BevProblem *problem = &regime->labs[i].problem.view;
        double gather =
            bev_traffic_total(bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits));
        unit_text(UNIT_COUNT, (double)problem->map.points, points, sizeof points);
        fprintf(out, "%s, %s, %s, C = %lld: %s points, footprint %.1f MB, gather traffic %.1f MB\n",
                scene, bev_dtypes[problem->dtype].title, bev_aligns[problem->align].name,
                (long long)problem->shape.channels, points,
                bev_footprint_total(bev_footprint(problem)) * 1e-6, gather * 1e-6);
        for (int g = 0; g < regime->gpus.count; g++) {
            const Gpu *gpu = &regime->gpus.gpus[g];
            char v4[160];
            fprintf(out, "V3 on %s takes %s\n", gpu->title,
                    bev_v3_choose(problem, gpu->l2_bytes).why);
            lab_v4_choice(&regime->labs[i], gpu, v4, sizeof v4);
            if (v4[0])
                fprintf(out, "V4 on %s takes %s\n", gpu->title, v4);
        }
    }
}

/* Where the experiment with a smaller L2 was recorded. */
static void print_small_l2(const Regime *regime, const Lab *lab,
                           void (*print)(const Report *, FILE *), FILE *out) {
    static SmallL2 found;
    char verdict[256];
    small_l2_find(&found, lab, &regime->gpus, regime->scene);
    if (found.count == 0)
        return;
    small_l2_verdict(&found, verdict, sizeof verdict);
    fprintf(out,
            "\nWith less L2, a part of it set aside (recorded, and the model beside it). %s\n\n",
            verdict);
    Report report = small_l2_table(&found);
    print(&report, out);
    report_free(&report);
}

/* For people: tables of their own, as one would be too wide. */
static bool print_tables(const Regime *regime, bool markdown, Err *err) {
    void (*print)(const Report *, FILE *) = markdown ? report_markdown : report_text;
    Report traffic = regime_traffic_table(), predictions = regime_prediction_table();
    Output output;
    if (!output_open(&output, err))
        return false;
    for (int i = 0; i < regime->lab_count; i++) {
        regime_add_traffic(&traffic, &regime->labs[i], regime->scene);
        regime_add_predictions(&predictions, &regime->labs[i], &regime->gpus, regime->scene);
    }
    print_head(regime, output.stream);
    fputs("\nTraffic that the kernels ask for: counted along their access streams, and by "
          "formula\n\n",
          output.stream);
    print(&traffic, output.stream);
    fputs("\nPrediction (model; recorded and published beside it where known; L2 warm, cold where "
          "it says so).",
          output.stream);
    for (int i = 0; i < regime->lab_count; i++)
        fputs(lab_sampling(&regime->labs[i]), output.stream);
    fputs("\n\n", output.stream);
    print(&predictions, output.stream);
    for (int i = 0; i < regime->lab_count; i++)
        print_small_l2(regime, &regime->labs[i], print, output.stream);
    print_counters(regime, print, output.stream);
    report_free(&traffic);
    report_free(&predictions);
    return output_close(&output, regime->options->output, err);
}

static bool print_full(const Regime *regime, Err *err) {
    Report report = regime_full_table();
    for (int i = 0; i < regime->lab_count; i++)
        regime_add_full(&report, &regime->labs[i], &regime->gpus, regime->scene);
    json_t *root = json_object();
    if (regime->options->counters)
        json_object_set_new(root, "counters", report_json(&regime->counted));
    if (regime->label[0])
        json_object_set_new(root, "machine", output_machine(&regime->machine));
    bool csv = !strcmp(regime->options->format, "csv") && regime->options->counters;
    bool ok = output_report(regime->options, csv ? &regime->counted : &report, root, err);
    report_free(&report);
    return ok;
}

bool cmd_regime(const Options *options, Err *err) {
    Regime regime = {.options = options, .scene = options->arguments[0]};
    unsigned demo = 1u << (gpu_find("a6000") - gpus) | 1u << (gpu_find("pro6000") - gpus) |
                    1u << (gpu_find("h200") - gpus);
    const char *format = choices_name(CHOICE_FORMAT, choices_find(CHOICE_FORMAT, options->format));
    bool for_people = format[0] == 't' || format[0] == 'm';
    bool ok =
        lab_gpus(options, demo, &regime.gpus, err) && open_labs(&regime, err) &&
        take_counters(&regime, err) &&
        (for_people ? print_tables(&regime, format[0] == 'm', err) : print_full(&regime, err));
    for (int i = 0; i < regime.lab_count; i++)
        lab_close(&regime.labs[i]);
    lab_gpus_free(&regime.gpus);
    report_free(&regime.counted);
    return ok;
}
