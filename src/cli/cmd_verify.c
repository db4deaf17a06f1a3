/* bevscope verify: every kernel through the three accuracy gates. */
#include "kernels/clean.h"
#include "src/accuracy/verify.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"

#include <string.h>

/* Explains a failed gate on standard error: the table only has room for the verdict. */
static void explain(const VerifyRow *row, char gate, const GateResult *result) {
    char scene[256], place[96];
    if (result->verdict != GATE_FAIL)
        return;
    clean_text(row->scene, scene, sizeof scene);
    fprintf(stderr, "bevscope: %s, %s, %s, %s: gate %c: ", scene, row->config.kernel->name,
            bev_dtypes[row->config.dtype].name, bev_aligns[row->config.align].name, gate);
    gate_describe_place(result, place, sizeof place);
    if (result->bad)
        fprintf(stderr, "%lld of %lld values wrong, first at %s: %.9g instead of %.9g\n",
                (long long)result->bad, (long long)result->checked, place, result->got,
                result->want);
    else
        fprintf(stderr, "nothing was compared: %s\n",
                result->nan_both ? "where cells have points, every value of FP64 is NaN"
                                 : "no cell has a point");
}

static void explain_adjoint(const VerifyRow *row) {
    char scene[256];
    const GateAdjoint *adjoint = &row->adjoint;
    if (adjoint->verdict != GATE_FAIL)
        return;
    clean_text(row->scene, scene, sizeof scene);
    fprintf(stderr,
            "bevscope: %s, %s, %s, %s: adjoint: sum(pool * grad_out) is %.17g, sum(depth * "
            "grad_depth) %.17g, sum(feat * grad_feat) %.17g\n",
            scene, row->config.kernel->name, bev_dtypes[row->config.dtype].name,
            bev_aligns[row->config.align].name, adjoint->pooled, adjoint->depth, adjoint->feat);
}

static Cell verdict_cell(const VerifyRow *row, GateVerdict verdict) {
    return cell_text(verdict_names[row->skipped[0] ? GATE_SKIP : verdict]);
}

/* The context of add_row. */
typedef struct {
    Report report;
    bool backward; /* the table has the way back in it */
} Table;

static void add_row(const VerifyRow *row, void *context) {
    Table *table = context;
    Report *report = &table->report;
    const FormatError *format = &row->format;
    bool ran = !row->skipped[0];
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    report_add(report, "direction", table->backward ? "direction" : NULL, 0,
               cell_text(bev_directions[row->config.kernel->direction].name));
    report_add(report, "stage", NULL, 0, cell_text(bev_stages[row->config.kernel->stage].name));
    report_add(report, "gate_a", "A kernel", 0, verdict_cell(row, row->kernel.verdict));
    report_add(report, "gate_b", "B format", 0, verdict_cell(row, row->format_verdict));
    report_add(report, "gate_c", "C exact", 0, verdict_cell(row, row->exact.verdict));
    report_add(report, "adjoint", table->backward ? "adjoint" : NULL, 0,
               verdict_cell(row, row->adjoint.verdict));
    report_add(report, "gate_a_output", table->backward ? "worse output" : NULL, 0,
               cell_text(ran ? row->kernel.output : NULL));
    report_add(report, "gate_a_values", "judged", 0, cell_if(ran, cell_int(row->kernel.judged)));
    report_add(report, "gate_b_values", NULL, 0, cell_if(ran, cell_int(format->judged)));
    report_add(report, "gate_c_values", NULL, 0, cell_if(ran, cell_int(row->exact.judged)));
    report_add(report, "nan_against_nan", "NaN = NaN", 0,
               cell_if(ran, cell_int(row->kernel.nan_both)));
    report_add(report, "error_over_bound", "error/bound", 2,
               cell_if(ran && row->kernel.judged > 0, cell_real(row->kernel.worst_ratio)));
    report_add(report, "max_abs", "max abs", 3, cell_if(ran, cell_real(format->max_abs)));
    report_add(report, "rel_l2", "rel L2", 3, cell_if(ran, cell_real(format->rel_l2)));
    report_add(report, "cosine", "cosine", 8, cell_if(ran, cell_real(format->cosine)));
    report_add(report, "within_atol_1e2", "atol 1e-2", 0,
               cell_if(ran, cell_bool(format->atol_1e2)));
    report_add(report, "nan_count", NULL, 0, cell_if(ran, cell_int(format->nan_count)));
    report_add(report, "inf_count", NULL, 0, cell_if(ran, cell_int(format->inf_count)));
    report_add(report, "same_bits", "same bits", 0, cell_if(ran, cell_bool(row->same_bits)));
    report_add(report, "skipped", NULL, 0, cell_text(ran ? NULL : row->skipped));
    if (ran) {
        explain(row, 'A', &row->kernel);
        explain(row, 'C', &row->exact);
        explain_adjoint(row);
    }
}

bool cmd_verify(const Options *options, Err *err) {
    static const char *const usual[] = {"canonical", "asymmetric", "toy"};
    bool named = options->argument_count > 0;
    BenchPlan plan;
    GradOutFile grad_out;
    if (!select_plan(options, (1u << BEV_DTYPE_COUNT) - 1, (1u << BEV_ALIGN_COUNT) - 1, &plan,
                     err) ||
        !select_plan_grad_out(options, &plan, &grad_out, err))
        return false;
    plan.scenes = named ? options->arguments : usual;
    plan.scene_count = named ? options->argument_count : (int)(sizeof usual / sizeof *usual);
    Table table = {.report = {.names_to = "direction"},
                   .backward = plan.directions >> BEV_BACKWARD & 1};
    VerifyCount count;
    bool ok = verify_run(&plan, add_row, &table, &count, err);
    grad_out_free(&grad_out);
    if (ok)
        ok = output_report(options, &table.report,
                           json_pack("{si si si}", "passed", count.passed, "failed", count.failed,
                                     "skipped", count.skipped),
                           err);
    report_free(&table.report);
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
