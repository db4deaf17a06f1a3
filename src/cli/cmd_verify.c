#include "src/accuracy/verify.h"
#include "src/cli/choices.h"
#include "src/cli/options.h"
#include "src/cli/output.h"
#include "src/cli/selection.h"
#include "src/view/draw/text.h"

#include <string.h>

enum {
    COL_SCENE,
    COL_KERNEL,
    COL_WHERE,
    COL_DTYPE,
    COL_ALIGN,
    COL_GATE_A,
    COL_GATE_B,
    COL_GATE_C,
    COL_WORST,
    COL_MAX_ABS,
    COL_REL_L2,
    COL_COSINE,
    COL_ATOL,
    COL_NAN,
    COL_INF,
    COL_SAME,
    COL_SKIPPED,
    COL_COUNT
};

static const ReportColumn columns[COL_COUNT] = {
    [COL_SCENE] = {"scene", "scene", 0},
    [COL_KERNEL] = {"kernel", "kernel", 0},
    [COL_WHERE] = {"where", "where", 0},
    [COL_DTYPE] = {"dtype", "dtype", 0},
    [COL_ALIGN] = {"align", "align", 0},
    [COL_GATE_A] = {"gate_a", "A kernel", 0},
    [COL_GATE_B] = {"gate_b", "B format", 0},
    [COL_GATE_C] = {"gate_c", "C exact", 0},
    [COL_WORST] = {"error_over_bound", "error/bound", 2},
    [COL_MAX_ABS] = {"max_abs", "max abs", 3},
    [COL_REL_L2] = {"rel_l2", "rel L2", 3},
    [COL_COSINE] = {"cosine", "cosine", 8},
    [COL_ATOL] = {"within_atol_1e2", "atol 1e-2", 0},
    [COL_NAN] = {"nan_count", NULL, 0},
    [COL_INF] = {"inf_count", NULL, 0},
    [COL_SAME] = {"same_bits", "same bits", 0},
    [COL_SKIPPED] = {"skipped", NULL, 0},
};

/* A failed gate is explained at once: the table only has room for the verdict. */
static void explain(const VerifyRow *row, char gate, const GateResult *result) {
    char scene[256];
    if (result->verdict != GATE_FAIL)
        return;
    text_clean(row->scene, scene, sizeof scene);
    fprintf(stderr,
            "bevscope: %s, %s, %s, %s: gate %c: %lld of %lld values wrong, first at cell %lld "
            "channel %lld: %.9g instead of %.9g\n",
            scene, row->config.kernel->name, bev_dtypes[row->config.dtype].name,
            bev_aligns[row->config.align].name, gate, (long long)result->bad,
            (long long)result->checked, (long long)result->cell, (long long)result->channel,
            result->got, result->want);
}

static void add_row(const VerifyRow *row, void *context) {
    Cell cells[COL_COUNT] = {
        [COL_SCENE] = cell_text(row->scene),
        [COL_KERNEL] = cell_text(row->config.kernel->name),
        [COL_WHERE] = cell_text(where_names[row->config.kernel->where]),
        [COL_DTYPE] = cell_text(bev_dtypes[row->config.dtype].name),
        [COL_ALIGN] = cell_text(bev_aligns[row->config.align].name),
        [COL_GATE_A] = cell_text(verdict_names[row->skipped ? GATE_SKIP : row->kernel.verdict]),
        [COL_GATE_B] = cell_text(verdict_names[row->skipped ? GATE_SKIP : row->format_verdict]),
        [COL_GATE_C] = cell_text(verdict_names[row->skipped ? GATE_SKIP : row->exact.verdict]),
        [COL_SKIPPED] = cell_text(row->skipped),
    };
    if (!row->skipped) {
        cells[COL_WORST] = cell_real(row->kernel.worst_ratio);
        cells[COL_MAX_ABS] = cell_real(row->format.max_abs);
        cells[COL_REL_L2] = cell_real(row->format.rel_l2);
        cells[COL_COSINE] = cell_real(row->format.cosine);
        cells[COL_ATOL] = cell_bool(row->format.atol_1e2);
        cells[COL_NAN] = cell_int(row->format.nan_count);
        cells[COL_INF] = cell_int(row->format.inf_count);
        cells[COL_SAME] = cell_bool(row->same_bits);
        explain(row, 'A', &row->kernel);
        explain(row, 'C', &row->exact);
    }
    report_add(context, cells);
}

bool cmd_verify(const Options *options, Err *err) {
    static const char *const usual[] = {"canonical", "asymmetric", "toy"};
    bool named = options->argument_count > 0;
    BenchPlan plan = {
        .scenes = named ? options->arguments : usual,
        .scene_count = named ? options->argument_count : (int)(sizeof usual / sizeof *usual),
        .dtypes = choices_mask(CHOICE_DTYPE, options->dtype, (1u << BEV_DTYPE_COUNT) - 1),
        .aligns = choices_mask(CHOICE_ALIGN, options->align, (1u << BEV_ALIGN_COUNT) - 1),
        .workload = select_workload(options),
    };
    if (!select_devices(options->device, &plan.where, err))
        return false;
    if (options->kernel && !(plan.only = select_kernel(options->kernel, plan.where, err)))
        return false;
    Report report = {.columns = columns, .column_count = COL_COUNT};
    VerifyCount count;
    bool ok = verify_run(&plan, add_row, &report, &count, err);
    if (ok)
        ok = output_report(options, &report,
                           json_pack("{si si si}", "passed", count.passed, "failed", count.failed,
                                     "skipped", count.skipped),
                           err);
    report_free(&report);
    if (ok && strcmp(options->format, "json"))
        fprintf(stderr, "%d passed, %d failed, %d skipped\n", count.passed, count.failed,
                count.skipped);
    if (ok && count.failed)
        return err_set(err, ERR_GATE, "verify", "", "%d of %d selections fail a gate", count.failed,
                       count.passed + count.failed);
    if (ok && count.passed == 0)
        return err_set(err, ERR_GATE, "verify", "see bevscope --list",
                       "nothing was verified: every selection was skipped");
    return ok;
}
