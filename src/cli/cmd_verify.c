/* SPDX-License-Identifier: MIT */
/* bevscope verify: judges every kernel by the three accuracy gates, at one moment or at many. */
#include "kernels/clean.h"
#include "src/accuracy/verify.h"
#include "src/base/json_fields.h"
#include "src/cli/records.h"
#include "src/cli/selection.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rows of a moment -------------------------------------------------------------------- */

/* The rows so far: the context of add_verify_row. */
typedef struct {
    Records records;
    json_t *classes; /* errors of each class of cells over all moments, by selection and class */
    bool many;       /* a row stands for several moments */
    int expected;    /* failed rows of kernels that are wrong on purpose */
} Verified;

static double lowest_cosine(const VerifyRow *row) {
    double lowest = row->format.cosine;
    for (int i = 0; i < CLASS_COUNT; i++)
        if (row->by_class[i].judged && row->by_class[i].cosine < lowest)
            lowest = row->by_class[i].cosine;
    return lowest;
}

/* Adds a line that says why a row fails. The table has only the verdict. */
static void add_failure(json_t *failures, const char *format, ...) {
    char line[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    json_array_append_new(failures, fields_text(line));
}

static void explain_gate(json_t *failures, char gate, const GateResult *result) {
    char place[96];
    if (result->verdict != GATE_FAIL)
        return;
    gate_describe_place(result, place, sizeof place);
    if (result->bad)
        add_failure(failures,
                    "gate %c: %lld of %lld values of all cells wrong, first at %s: %.9g instead of "
                    "%.9g",
                    gate, (long long)result->bad, (long long)result->checked, place, result->got,
                    result->want);
    else
        add_failure(failures, "gate %c: nothing was compared: %s", gate,
                    result->nan_both ? "where cells have points, every value of FP64 is NaN"
                                     : "no cell has a point");
}

static json_t *explain_row(const VerifyRow *row) {
    json_t *failures = json_array();
    const GateAdjoint *adjoint = &row->adjoint;
    const FormatError *format = &row->format;
    const int64_t not_finite = format->nan_count + format->inf_count;
    explain_gate(failures, 'A', &row->kernel);
    if (format->finite_count) /* no figure of the table shows these failures of gate B */
        add_failure(failures,
                    "gate B: %lld values are numbers where FP64 over the original inputs is NaN or "
                    "infinite; bevscope info counts those of the scene",
                    (long long)format->finite_count);
    if (not_finite)
        add_failure(failures,
                    "gate B: %lld values are NaN or infinite where FP64 over the original "
                    "inputs is not",
                    (long long)not_finite);
    explain_gate(failures, 'C', &row->exact);
    if (adjoint->verdict == GATE_FAIL)
        add_failure(failures,
                    "adjoint: sum(pool * grad_out) is %.17g, sum(depth * grad_depth) %.17g, "
                    "sum(feat * grad_feat) %.17g",
                    adjoint->pooled, adjoint->depth, adjoint->feat);
    return failures;
}

/* Returns the errors of each class of cells, with the sums from which rel_l2 follows. */
static json_t *list_classes(const VerifyRow *row) {
    json_t *classes = json_array();
    for (int i = 0; i < CLASS_COUNT; i++) {
        const FormatError *error = &row->by_class[i];
        if (error->judged)
            json_array_append_new(
                classes, json_pack("{ss so so so so sb}", "class", world_classes[i].name, "max_abs",
                                   cell_real(error->max_abs), "error2", cell_real(error->error2),
                                   "want2", cell_real(error->want2), "cosine",
                                   cell_real(error->cosine), "within_atol_1e2", error->atol_1e2));
    }
    return classes;
}

static void add_verdict(Report *report, const char *key, const char *heading, const VerifyRow *row,
                        GateVerdict verdict) {
    add_text(report, key, heading, verdict_names[row->skipped[0] ? GATE_SKIP : verdict]);
}

/* Adds the moment and the place of the worst error. The error of a gradient has no cell. */
static void add_worst_columns(Report *report, const VerifyRow *row) {
    const bool forward = row->config.kernel->direction != BEV_BACKWARD;
    const bool has_cell = !row->skipped[0] && forward && row->format.worst_cell >= 0;
    ShortText place = {""};
    if (has_cell)
        place = cell_place(&row->shape, row->format.worst_cell, ",");
    add_real(report, "time_s", "rel L2 at s", 4, row->time_s);
    add_real(report, "max_abs_at_s", "max abs at s", 4, row->time_s); /* most_keys[] changes it */
    add_text(report, "cell", "cell of max abs", has_cell ? place.text : NULL);
    add_real(report, "x_m", "x m", 3, row->at_m[0]);
    add_real(report, "y_m", "y m", 3, row->at_m[1]);
    add_text(report, "class", "its class",
             row->class == CLASS_COUNT ? NULL : world_classes[row->class].name);
    add_real(report, "lowest_cosine", "least of classes", 8, lowest_cosine(row));
}

/* Adds the columns of a kernel at a moment. The figures of a skipped kernel are unknown. */
static void add_verify_columns(Report *report, const VerifyRow *row) {
    const FormatError *format = &row->format;
    const BevKernel *kernel = row->config.kernel;
    const bool ran = !row->skipped[0];
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    add_text(report, "scales", "scales", row->scales);
    add_text(report, "direction", "direction", bev_directions[kernel->direction].name);
    add_text(report, "stage", NULL, bev_stages[kernel->stage].name);
    add_verdict(report, "gate_a", "A kernel", row, row->kernel.verdict);
    add_verdict(report, "gate_b", "B format", row, row->format_verdict);
    add_verdict(report, "gate_c", "C exact", row, row->exact.verdict);
    add_verdict(report, "adjoint", "adjoint", row, row->adjoint.verdict);
    report->unknown = !ran;
    add_text(report, "gate_a_output", "worse output", row->kernel.output);
    add_int(report, "gate_a_values", "judged", row->kernel.judged);
    add_int(report, "gate_b_values", NULL, format->judged);
    add_int(report, "gate_c_values", NULL, row->exact.judged);
    add_int(report, "nan_against_nan", NULL, row->kernel.nan_both);
    add_int(report, "left_out", "left out", format->left_out);
    add_real(report, "error_over_bound", "error/bound", 2,
             row->kernel.judged > 0 ? row->kernel.worst_ratio : NAN);
    add_real(report, "max_abs", "max abs", 3, format->max_abs);
    add_real(report, "rel_l2", "rel L2", 3, format->rel_l2);
    add_real(report, "rel_l2_limit", "limit B", 2,
             format->slack * gate_b_limits[row->config.dtype].rel_l2);
    add_real(report, "channels_l2", "L2 by channel", 3, format->channels_l2);
    add_real(report, "cosine", "cosine", 8, format->cosine);
    add_bool(report, "within_atol_1e2", "atol 1e-2", format->atol_1e2);
    add_real(report, "prune_change", "by pruning", 3, row->prune_change);
    add_int(report, "nan_count", NULL, format->nan_count);
    add_int(report, "inf_count", NULL, format->inf_count);
    add_int(report, "finite_count", NULL, format->finite_count);
    add_bool(report, "same_bits", "2 runs equal", row->same_bits);
    add_bool(report, "passed", NULL, row->passed);
    report->unknown = false;
    add_text(report, "expected", "expected", kernel->wrong_on_purpose ? "to fail" : "to pass");
    add_text(report, "skipped", NULL, ran ? NULL : row->skipped);
    add_int(report, "moments", "moments", ran);
    add_int(report, "moments_failed", "fail", ran && !row->passed);
    report->unknown = !ran;
    add_worst_columns(report, row);
}

static void add_verify_row(const VerifyRow *row, void *context) {
    Verified *verified = context;
    add_verify_columns(&verified->records.row, row);
    json_t *added = records_row(&verified->records);
    if (!row->skipped[0]) {
        json_object_set_new(added, "failures", explain_row(row));
        json_object_set_new(added, "classes", list_classes(row));
    }
}

/* ---- the rows of all moments ----------------------------------------------------------------- */

/* Whether the figures are within --cosine and --max-abs. NaN is within every limit. */
static bool is_within(const Options *options, double max_abs, double cosine) {
    return !(cosine < options->cosine) && !(options->max_abs > 0 && max_abs > options->max_abs);
}

/* Adds the error of a class at the moment of a row to the error of the class over all moments.
 * `is_copy`: `all` is a copy of `error`, which has its sums already. */
static void add_class_error(json_t *all, bool is_copy, const json_t *error, const json_t *row) {
    static const char *const sums[] = {"error2", "want2"};
    static const char *const places[] = {"scene", "kernel", "where", "dtype", "align", "time_s"};
    json_int_t moments = json_integer_value(json_object_get(all, "moments"));
    json_object_set_new(all, "moments", json_integer(moments + 1));
    for (int i = 0; !is_copy && i < 2; i++)
        json_object_set_new(all, sums[i],
                            json_real(row_number(all, sums[i]) + row_number(error, sums[i])));
    if (is_copy || row_number(error, "max_abs") > row_number(all, "max_abs")) {
        json_object_set(all, "max_abs", json_object_get(error, "max_abs"));
        for (int i = 0; i < 6; i++)
            json_object_set(all, places[i], json_object_get(row, places[i]));
    }
    if (row_number(error, "cosine") < row_number(all, "cosine"))
        json_object_set(all, "cosine", json_object_get(error, "cosine"));
    if (json_is_false(json_object_get(error, "within_atol_1e2")))
        json_object_set_new(all, "within_atol_1e2", json_false());
}

/* Adds the errors of a row's classes of cells to the errors over all moments. */
static void add_classes(json_t *classes, const Records *records, const json_t *row) {
    size_t class;
    const json_t *error;
    json_array_foreach(json_object_get(row, "classes"), class, error) {
        char key[SELECTION_KEY + 32];
        records_key(records, row, key);
        strcat(strcat(key, "/"), row_text(error, "class"));
        json_t *all = json_object_get(classes, key);
        const bool first = !all;
        if (first)
            json_object_set_new(classes, key, all = json_copy((json_t *)error));
        add_class_error(all, first, error, row);
    }
}

/* Judges a row by its gates and by the limits of --cosine and --max-abs. */
static RowVerdict judge_verify_row(void *context, json_t *row) {
    Verified *verified = context;
    const Options *options = verified->records.options;
    if (!json_is_null(json_object_get(row, "skipped")))
        return ROW_SKIPPED;
    double max_abs = row_number(row, "max_abs"), cosine = row_number(row, "lowest_cosine");
    bool passed = json_is_true(json_object_get(row, "passed"));
    if (passed && !is_within(options, max_abs, cosine)) {
        json_t *failures = json_object_get(row, "failures");
        if (cosine < options->cosine)
            add_failure(failures, "cosine %.6g is below the line %g", cosine, options->cosine);
        else
            add_failure(failures, "max abs %.6g is above the line %g", max_abs, options->max_abs);
        passed = false;
        json_object_set_new(row, "passed", json_false());
    }
    verified->expected += !passed && !strcmp(row_text(row, "expected"), "to fail");
    add_classes(verified->classes, &verified->records, row);
    return passed ? ROW_PASSED : ROW_FAILED;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Adds a row for each class of a scene, format and align: the kernel with the largest error. */
static void report_classes(Report *report, const Verified *verified) {
    static const ReportColumn columns[] = {
        {"class", "class", 0},          {"scene", "scene", 0},
        {"kernel", "kernel", 0},        {"where", "where", 0},
        {"dtype", "dtype", 0},          {"align", "align", 0},
        {"moments", "moments", 0},      {"max_abs", "max abs", 3},
        {"time_s", "at s", 4},          {"rel_l2", "rel L2", 3},
        {"cosine", "lowest cosine", 8}, {"within_atol_1e2", "atol 1e-2", 0},
        {"within_lines", "lines", 0}};
    const Options *options = verified->records.options;
    json_t *largest = json_object(), *error;
    const char *key;
    report_columns(report, columns, sizeof columns / sizeof *columns);
    if (!options->cosine && !options->max_abs)
        report_hide(report, "within_lines");
    json_object_foreach(verified->classes, key, error) {
        const char *any_kernel = strchr(key, '/'); /* the key without the name of the kernel */
        double max_abs = row_number(json_object_get(largest, any_kernel), "max_abs");
        if (!(max_abs >= row_number(error, "max_abs"))) /* max_abs NaN: no kernel so far */
            json_object_set(largest, any_kernel, error);
    }
    json_object_foreach(largest, key, error) {
        double error2 = row_number(error, "error2"), want2 = row_number(error, "want2");
        bool within = is_within(options, row_number(error, "max_abs"), row_number(error, "cosine"));
        json_object_set_new(error, "rel_l2", cell_real(error2 == 0 ? 0 : sqrt(error2 / want2)));
        json_object_set_new(error, "within_lines", json_boolean(within));
        report_add_object(report, error);
    }
    json_decref(largest);
}

/* Sorts selections: failed ones first, those without a run last, then by the largest error. */
static int compare_worst(const void *a, const void *b) {
    const Selection *first = a, *second = b;
    const bool first_ran = first->moments > 0, second_ran = second->moments > 0;
    if (first_ran != second_ran)
        return second_ran ? 1 : -1;
    const bool first_failed = first->failed > 0, second_failed = second->failed > 0;
    if (first_failed != second_failed)
        return second_failed ? 1 : -1;
    double x = row_number(first->most, "max_abs"), y = row_number(second->most, "max_abs");
    return (x < y) - (x > y);
}

/* The keys that a row of several moments copies from the moment of the largest max abs: each key
 * with the key in that moment. */
static const char *const most_keys[][2] = {{"max_abs", "max_abs"},
                                           {"within_atol_1e2", "within_atol_1e2"},
                                           {"max_abs_at_s", "time_s"},
                                           {"cell", "cell"},
                                           {"x_m", "x_m"},
                                           {"y_m", "y_m"},
                                           {"class", "class"},
                                           {NULL, NULL}};

/* Prints on standard error how many values were left out, and why the shown rows fail. */
static void explain_shown_rows(const Verified *verified) {
    for (int i = 0; i < verified->records.selection_count; i++) {
        const Selection *selection = &verified->records.selections[i];
        const json_t *row = selection->left_out;
        if (row)
            output_left_out(row_text(row, "scene"), (int64_t)row_number(row, "left_out"),
                            verified->many ? row_number(row, "time_s") : NAN,
                            selection->moments_left_out);
    }
    for (int i = 0; i < verified->records.selection_count; i++) {
        const Selection *selection = &verified->records.selections[i];
        const json_t *row = selection->row, *why;
        char scene[256];
        size_t line;
        clean_text(row_text(row, "scene"), scene, sizeof scene);
        json_array_foreach(json_object_get(row, "failures"), line, why) {
            fprintf(stderr, "bevscope: %s, %s, %s, %s: ", scene, row_text(row, "kernel"),
                    row_text(row, "dtype"), row_text(row, "align"));
            if (verified->many)
                fprintf(stderr, "at %g s: ", row_number(row, "time_s"));
            fprintf(stderr, "%s\n", json_string_value(why));
        }
    }
}

/* Hides from people the columns that this run does not need. */
static void hide_columns(const Verified *verified, Report *report, bool backward) {
    static const char *const of_many[] = {"moments",      "moments_failed", "time_s",
                                          "max_abs_at_s", "cell",           "x_m",
                                          "y_m",          "class",          "lowest_cosine"};
    static const char *const of_backward[] = {"direction", "adjoint", "gate_a_output"};
    for (size_t i = 0; !verified->many && i < sizeof of_many / sizeof *of_many; i++)
        report_hide(report, of_many[i]);
    for (size_t i = 0; !backward && i < sizeof of_backward / sizeof *of_backward; i++)
        report_hide(report, of_backward[i]);
    if (!verified->expected)
        report_hide(report, "expected");
    if (prune_is_off(&verified->records.options->prune))
        report_hide(report, "prune_change");
}

static bool print_verified(Verified *verified, bool backward, Err *err) {
    Records *records = &verified->records;
    const Options *options = records->options;
    Report classes = {.names_to = "align"};
    records->row.names_to = "direction";
    for (int i = 0; i < records->selection_count; i++)
        verified->many |= records->selections[i].moments > 1;
    if (verified->many)
        qsort(records->selections, (size_t)records->selection_count, sizeof *records->selections,
              compare_worst);
    explain_shown_rows(verified);
    records_list_rows(records);
    hide_columns(verified, &records->row, backward);
    report_classes(&classes, verified);
    json_t *root =
        json_pack("{ss si si si si sf sf so sO?}", "command", "verify", "passed", records->passed,
                  "failed", records->failed, "skipped", records->skipped, "broken", records->broken,
                  "cosine_line", options->cosine, "max_abs_line", options->max_abs, "classes",
                  report_json(&classes), "moments", records->all);
    static const char explanation[] =
        "\nA pass of gate B says that the format costs no more than on the shipped scenes, not "
        "that it is enough for a network. Where all correct kernels fail it alike, the format is "
        "at fault. Of several moments a row shows the largest max abs of all, with its moment and "
        "place, and all other figures at the moment of the largest rel L2, of those that fail if "
        "any does. atol 1e-2 is NVIDIA's tolerance, an absolute bound on max abs, which "
        "judges nothing here. The display judges a moving scene at the moment of FP16's "
        "largest error, verify at that of --time. By pruning: the most that an output changes "
        "by the points that --prune leaves out, which no error and no gate here counts. Left out "
        "are the values whose FP64 over the original inputs is NaN or infinite. Of channels: rel "
        "L2 of each channel by itself, the root of their mean square. verify --help explains the "
        "gates.\n";
    const OutputTable tables[] = {{.report = &records->row},
                                  {.above = explanation},
                                  {"\nBy scene and class: the largest error and the lowest "
                                   "cosine of any moment, rel L2 of all moments together:\n\n",
                                   &classes, NULL, NULL}};
    return records_print(records, tables, verified->many ? 3 : 2, root, err);
}

/* Prints the rows and judges them. `plan` NULL: they were read from files. */
static bool judge_rows(Verified *verified, const BenchPlan *plan, Err *err) {
    const Records *records = &verified->records;
    const Options *options = records->options;
    const int passed = records->passed, failed = records->failed;
    if (!print_verified(verified, plan && plan->directions >> BEV_BACKWARD & 1, err))
        return false;
    const bool wants_all = plan && !options->kernel && !strcmp(options->device, "auto");
    const bool no_gpu = wants_all && !(plan->where >> BEV_CUDA & 1);
    if (strcmp(options->format, "json"))
        fprintf(stderr, "%d passed, %d failed, %d skipped%s\n", passed, failed, records->skipped,
                no_gpu ? "; CUDA kernels left out: no GPU here" : "");
    ShortText expected = {""};
    if (verified->expected)
        expected = short_text(", %d as expected: wrong on purpose", verified->expected);
    if (failed)
        return err_set(err, ERR_GATE, "verify", "", "%d of %d %s fail a gate%s%s", failed,
                       passed + failed, verified->many ? "moments of selections" : "selections",
                       options->cosine > 0 || options->max_abs > 0 ? " or a line" : "",
                       expected.text);
    return records_judge(records, err) &&
           (passed > 0 || records->shards > 1 ||
            err_set(err, ERR_GATE, "verify", "see bevscope --list", "nothing was verified: %s",
                    records->skipped ? "every selection was skipped" : "nothing was selected"));
}

bool verify_results(const Options *options, RecordFile *files, int count, Err *err) {
    static const char *const usual[] = {"canonical", "asymmetric", "toy"};
    static Verified verified;
    Records *records = &verified.records;
    BenchPlan plan;
    verified = (Verified){.records = {.options = options,
                                      .command = "verify",
                                      .worst_by = "rel_l2",
                                      .most_of = "max_abs",
                                      .most_keys = most_keys,
                                      .judge = judge_verify_row,
                                      .context = &verified,
                                      .all = strcmp(options->format, "json") ? NULL : json_array()},
                          .classes = json_object(),
                          .many = options->moments > 0};
    if (files) { /* an empty row defines the columns */
        const VerifyRow none = {.scene = "", .config.kernel = bev_kernels[0], .skipped = "not run"};
        add_verify_columns(&records->row, &none);
        return records_open_files(records, files, count, err) && judge_rows(&verified, NULL, err);
    }
    if (!select_plan_with_files(options, BEV_ALL_DTYPES, BEV_ALL_ALIGNS, usual, 3, &plan, err))
        return false;
    plan.each = &records->each;
    return records_open(records, &plan, err) && verify_run(&plan, add_verify_row, &verified, err) &&
           records_end(records, err) && judge_rows(&verified, &plan, err);
}

bool cmd_verify(const Options *options, Err *err) {
    return verify_results(options, NULL, 0, err);
}
