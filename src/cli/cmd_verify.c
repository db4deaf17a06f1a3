/* SPDX-License-Identifier: MIT */
/* bevscope verify: judges every kernel by the three accuracy gates, at one moment or at many. */
#include "kernels/clean.h"
#include "src/accuracy/verify.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of several moments, joined --------------------------------------------------------- */

/* The worst errors of one class of cells, over all moments. */
typedef struct {
    FormatError error;
    double time_s, cosine; /* the moment of error.max_abs; the lowest cosine of all moments */
} ClassError;

/* A kernel, format and align on a scene, over all its moments. */
typedef struct {
    char scene[300];
    VerifyRow worst; /* the moment that fails; otherwise the moment with the larger rel L2 */
    int moments, failed;
    int moments_left_out; /* number of moments at which gate B left values out */
    int64_t left_out;     /* number of values that were left out at the first such moment */
    double left_out_s;
    ClassError by_class[CLASS_COUNT];
} Selected;

/* The rows so far: the context of add_moment. */
typedef struct {
    double cosine, max_abs; /* the limits of --cosine and --max-abs; 0: no limit */
    bool backward;          /* the table has backward kernels */
    bool many;              /* a row stands for several moments */
    int expected;           /* failed rows of kernels that are wrong on purpose */
    Selected *selected;
    int count, passed, failed, skipped;
    Report moments;
    bool out_of_memory;
} Verified;

/* Returns the worst cell as X,Y, or as X,Y,Z with height. A backward error has no cell. */
static Cell worst_cell(const VerifyRow *row) {
    const int64_t cell = row->format.worst_cell;
    bool has = !row->skipped[0] && cell >= 0 && row->config.kernel->direction != BEV_BACKWARD;
    static CellPlace place; /* valid until the next call; report_add copies the text */
    if (has)
        place = cell_place(&row->shape, cell, ",");
    return cell_text(has ? place.text : NULL);
}

static const char *class_name(const VerifyRow *row) {
    return row->skipped[0] || row->class == CLASS_COUNT ? NULL : world_classes[row->class].name;
}

/* Returns the lowest cosine of the output and of its classes. */
static double lowest_cosine(const VerifyRow *row) {
    double lowest = row->format.cosine;
    for (int i = 0; i < CLASS_COUNT; i++)
        if (row->by_class[i].judged && row->by_class[i].cosine < lowest)
            lowest = row->by_class[i].cosine;
    return lowest;
}

static bool is_within(const Verified *verified, double max_abs, double cosine) {
    return !(cosine < verified->cosine) && !(verified->max_abs > 0 && max_abs > verified->max_abs);
}

static bool passes_all(const Verified *verified, const VerifyRow *row) {
    return row->passed && is_within(verified, row->format.max_abs, lowest_cosine(row));
}

static bool is_worse(const Verified *verified, const VerifyRow *a, const VerifyRow *b) {
    bool a_holds = passes_all(verified, a), b_holds = passes_all(verified, b);
    if (a_holds != b_holds)
        return b_holds;
    return !(a->format.rel_l2 <= b->format.rel_l2);
}

/* Returns the row's selection, which is new for its first moment. NULL: no memory. */
static Selected *find_selected(Verified *verified, const VerifyRow *row) {
    for (int i = verified->count; i-- > 0;) {
        Selected *known = &verified->selected[i];
        if (known->worst.config.kernel == row->config.kernel &&
            known->worst.config.dtype == row->config.dtype &&
            known->worst.config.align == row->config.align && !strcmp(known->scene, row->scene))
            return known;
    }
    Selected *more = realloc(verified->selected, (size_t)(verified->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    verified->selected = more;
    Selected *added = &more[verified->count++];
    *added = (Selected){.worst = *row};
    snprintf(added->scene, sizeof added->scene, "%s", row->scene);
    return added;
}

static void add_classes(Selected *selected, const VerifyRow *row) {
    for (int i = 0; i < CLASS_COUNT; i++) {
        const FormatError *part = &row->by_class[i];
        ClassError *all = &selected->by_class[i];
        if (!part->judged)
            continue;
        bool first = !all->error.judged;
        if (first)
            all->error.worst_cell = -1;
        if (first || part->max_abs > all->error.max_abs)
            all->time_s = row->time_s;
        if (first || part->cosine < all->cosine)
            all->cosine = part->cosine;
        format_error_add(&all->error, part);
    }
}

/* Adds a single moment to the table of all moments, which JSON prints. */
static void report_moment(Report *report, const VerifyRow *row, bool passed) {
    report_row(report);
    report_add_config(report, row->scene, &row->config);
    report_add(report, "scales", "scales", 0, cell_text(row->scales));
    report_add(report, "time_s", "s", 4, cell_real(row->time_s));
    report_add(report, "passed", "passed", 0, cell_bool(passed));
    report_add(report, "max_abs", "max abs", 3, cell_real(row->format.max_abs));
    report_add(report, "rel_l2", "rel L2", 3, cell_real(row->format.rel_l2));
    report_add(report, "channels_l2", "of channels", 3, cell_real(row->format.channels_l2));
    report_add(report, "cosine", "cosine", 8, cell_real(row->format.cosine));
    report_add(report, "left_out", "left out", 0, cell_int(row->format.left_out));
    report_add(report, "lowest_cosine", "least of classes", 8, cell_real(lowest_cosine(row)));
    report_add(report, "cell", "cell", 0, worst_cell(row));
    report_add(report, "x_m", "x m", 3, cell_real(row->at_m[0]));
    report_add(report, "y_m", "y m", 3, cell_real(row->at_m[1]));
    report_add(report, "class", "class", 0, cell_text(class_name(row)));
}

/* Counts a moment's verdict, and keeps the worst moment of each kernel and format. */
static void add_moment(const VerifyRow *row, void *context) {
    Verified *verified = context;
    Selected *selected = find_selected(verified, row);
    bool ran = !row->skipped[0], passed = ran && passes_all(verified, row);
    if (!selected) {
        verified->out_of_memory = true;
        return;
    }
    verified->skipped += !ran;
    verified->passed += passed;
    verified->failed += ran && !passed;
    verified->expected += ran && !passed && row->config.kernel->wrong_on_purpose;
    if (!ran)
        return;
    if (!selected->moments || is_worse(verified, row, &selected->worst))
        selected->worst = *row;
    selected->worst.scene = NULL; /* the caller owns the name */
    selected->moments++;
    selected->failed += !passed;
    if (row->format.left_out && !selected->moments_left_out++) {
        selected->left_out = row->format.left_out;
        selected->left_out_s = row->time_s;
    }
    add_classes(selected, row);
    report_moment(&verified->moments, row, passed);
}

/* ---- what failed ----------------------------------------------------------------------------- */

/* Begins a line on standard error, because the table only has room for the verdict. */
static void begin_line(const Verified *verified, const VerifyRow *row) {
    char scene[256];
    clean_text(row->scene, scene, sizeof scene);
    fprintf(stderr, "bevscope: %s, %s, %s, %s: ", scene, row->config.kernel->name,
            bev_dtypes[row->config.dtype].name, bev_aligns[row->config.align].name);
    if (verified->many)
        fprintf(stderr, "at %g s: ", row->time_s);
}

static void explain_gate(const Verified *verified, const VerifyRow *row, char gate,
                         const GateResult *result) {
    char place[96];
    if (result->verdict != GATE_FAIL)
        return;
    begin_line(verified, row);
    gate_describe_place(result, place, sizeof place);
    if (result->bad)
        fprintf(stderr,
                "gate %c: %lld of %lld values of all cells wrong, first at %s: %.9g instead of "
                "%.9g\n",
                gate, (long long)result->bad, (long long)result->checked, place, result->got,
                result->want);
    else
        fprintf(stderr, "gate %c: nothing was compared: %s\n", gate,
                result->nan_both ? "where cells have points, every value of FP64 is NaN"
                                 : "no cell has a point");
}

/* Explains failures of gate B that no figure of the table shows. */
static void explain_format(const Verified *verified, const VerifyRow *row) {
    const FormatError *error = &row->format;
    const int64_t not_finite = error->nan_count + error->inf_count;
    if (error->finite_count) {
        begin_line(verified, row);
        fprintf(stderr,
                "gate B: %lld values are numbers where FP64 over the original inputs is NaN or "
                "infinite; bevscope info counts those of the scene\n",
                (long long)error->finite_count);
    }
    if (not_finite) {
        begin_line(verified, row);
        fprintf(stderr,
                "gate B: %lld values are NaN or infinite where FP64 over the original "
                "inputs is not\n",
                (long long)not_finite);
    }
}

static void explain_adjoint(const Verified *verified, const VerifyRow *row) {
    const GateAdjoint *adjoint = &row->adjoint;
    if (adjoint->verdict != GATE_FAIL)
        return;
    begin_line(verified, row);
    fprintf(stderr,
            "adjoint: sum(pool * grad_out) is %.17g, sum(depth * grad_depth) %.17g, sum(feat * "
            "grad_feat) %.17g\n",
            adjoint->pooled, adjoint->depth, adjoint->feat);
}

static Cell verdict_cell(const VerifyRow *row, GateVerdict verdict) {
    return cell_text(verdict_names[row->skipped[0] ? GATE_SKIP : verdict]);
}

/* Explains why a selection fails. */
static void explain_all(const Verified *verified, const VerifyRow *row) {
    if (row->skipped[0])
        return;
    explain_gate(verified, row, 'A', &row->kernel);
    explain_format(verified, row);
    explain_gate(verified, row, 'C', &row->exact);
    explain_adjoint(verified, row);
    if (!row->passed || passes_all(verified, row))
        return;
    bool below = lowest_cosine(row) < verified->cosine;
    begin_line(verified, row);
    fprintf(stderr, "%s %.6g is %s the line %g\n", below ? "cosine" : "max abs",
            below ? lowest_cosine(row) : row->format.max_abs, below ? "below" : "above",
            below ? verified->cosine : verified->max_abs);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Adds the moment and the place of the worst error. `many`: people see the moment too. */
static void add_place(Report *report, const Selected *selected, bool many) {
    const VerifyRow *row = &selected->worst;
    bool ran = selected->moments > 0;
    report_add(report, "moments", many ? "moments" : NULL, 0, cell_int(selected->moments));
    report_add(report, "moments_failed", many ? "fail" : NULL, 0, cell_int(selected->failed));
    report_add(report, "time_s", many ? "worst at s" : NULL, 4,
               cell_if(ran, cell_real(row->time_s)));
    report_add(report, "cell", many ? "cell of max abs" : NULL, 0, worst_cell(row));
    report_add(report, "x_m", many ? "x m" : NULL, 3, cell_if(ran, cell_real(row->at_m[0])));
    report_add(report, "y_m", many ? "y m" : NULL, 3, cell_if(ran, cell_real(row->at_m[1])));
    report_add(report, "class", many ? "its class" : NULL, 0, cell_text(class_name(row)));
    report_add(report, "lowest_cosine", many ? "least of classes" : NULL, 8,
               cell_if(ran, cell_real(lowest_cosine(row))));
}

/* Adds a kernel's worst moment to the table of verdicts. */
static void add_row(Report *report, const Verified *verified, const Selected *selected) {
    const VerifyRow *row = &selected->worst;
    const FormatError *format = &row->format;
    bool ran = !row->skipped[0];
    report_row(report);
    report_add_config(report, selected->scene, &row->config);
    report_add(report, "scales", "scales", 0, cell_text(row->scales));
    report_add(report, "direction", verified->backward ? "direction" : NULL, 0,
               cell_text(bev_directions[row->config.kernel->direction].name));
    report_add(report, "stage", NULL, 0, cell_text(bev_stages[row->config.kernel->stage].name));
    report_add(report, "gate_a", "A kernel", 0, verdict_cell(row, row->kernel.verdict));
    report_add(report, "gate_b", "B format", 0, verdict_cell(row, row->format_verdict));
    report_add(report, "gate_c", "C exact", 0, verdict_cell(row, row->exact.verdict));
    report_add(report, "adjoint", verified->backward ? "adjoint" : NULL, 0,
               verdict_cell(row, row->adjoint.verdict));
    report_add(report, "gate_a_output", verified->backward ? "worse output" : NULL, 0,
               cell_text(ran ? row->kernel.output : NULL));
    report_add(report, "gate_a_values", "judged", 0, cell_if(ran, cell_int(row->kernel.judged)));
    report_add(report, "gate_b_values", NULL, 0, cell_if(ran, cell_int(format->judged)));
    report_add(report, "gate_c_values", NULL, 0, cell_if(ran, cell_int(row->exact.judged)));
    report_add(report, "nan_against_nan", NULL, 0, cell_if(ran, cell_int(row->kernel.nan_both)));
    report_add(report, "left_out", "left out", 0, cell_if(ran, cell_int(format->left_out)));
    report_add(report, "error_over_bound", "error/bound", 2,
               cell_if(ran && row->kernel.judged > 0, cell_real(row->kernel.worst_ratio)));
    report_add(report, "max_abs", "max abs", 3, cell_if(ran, cell_real(format->max_abs)));
    report_add(report, "rel_l2", "rel L2", 3, cell_if(ran, cell_real(format->rel_l2)));
    report_add(report, "rel_l2_limit", "limit B", 2,
               cell_if(ran, cell_real(format->slack * gate_b_limits[row->config.dtype].rel_l2)));
    report_add(report, "channels_l2", "of channels", 3,
               cell_if(ran, cell_real(format->channels_l2)));
    report_add(report, "cosine", "cosine", 8, cell_if(ran, cell_real(format->cosine)));
    report_add(report, "within_atol_1e2", "atol 1e-2", 0,
               cell_if(ran, cell_bool(format->atol_1e2)));
    report_add(report, "nan_count", NULL, 0, cell_if(ran, cell_int(format->nan_count)));
    report_add(report, "inf_count", NULL, 0, cell_if(ran, cell_int(format->inf_count)));
    report_add(report, "finite_count", NULL, 0, cell_if(ran, cell_int(format->finite_count)));
    report_add(report, "same_bits", "2 runs equal", 0, cell_if(ran, cell_bool(row->same_bits)));
    report_add(report, "expected", verified->expected ? "expected" : NULL, 0,
               cell_text(row->config.kernel->wrong_on_purpose ? "to fail" : "to pass"));
    report_add(report, "skipped", NULL, 0, cell_text(ran ? NULL : row->skipped));
    add_place(report, selected, verified->many);
}

/* Adds a row for each class of a scene, with the kernel that has the largest error. */
static void add_class_rows(Report *report, const Verified *verified, int number) {
    const Selected *own = &verified->selected[number];
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const ClassError *error = &own->by_class[class];
        bool largest = error->error.judged > 0;
        for (int i = 0; largest && i < verified->count; i++) {
            const Selected *other = &verified->selected[i];
            double other_abs = other->by_class[class].error.max_abs;
            largest = strcmp(other->scene, own->scene) ||
                      other->worst.config.dtype != own->worst.config.dtype ||
                      other->worst.config.align != own->worst.config.align ||
                      other_abs < error->error.max_abs ||
                      (other_abs == error->error.max_abs && i >= number);
        }
        if (!largest)
            continue;
        report_row(report);
        report_add(report, "class", "class", 0, cell_text(world_classes[class].name));
        report_add_config(report, own->scene, &own->worst.config);
        report_add(report, "moments", "moments", 0, cell_int(own->moments));
        report_add(report, "max_abs", "max abs", 3, cell_real(error->error.max_abs));
        report_add(report, "time_s", "at s", 4, cell_real(error->time_s));
        report_add(report, "rel_l2", "rel L2", 3, cell_real(error->error.rel_l2));
        report_add(report, "cosine", "lowest cosine", 8, cell_real(error->cosine));
        report_add(report, "within_atol_1e2", "atol 1e-2", 0, cell_bool(error->error.atol_1e2));
        report_add(report, "within_lines", verified->cosine || verified->max_abs ? "lines" : NULL,
                   0, cell_bool(is_within(verified, error->error.max_abs, error->cosine)));
    }
}

/* Whether --kernel and --device leave all kernels in, but there is no GPU for CUDA kernels. */
static bool cuda_left_out(const Options *options, const BenchPlan *plan) {
    return !options->kernel && !strcmp(options->device, "auto") && !(plan->where >> BEV_CUDA & 1);
}

static int compare_worst(const void *a, const void *b) {
    const Selected *first = a, *second = b;
    if (!first->moments || !second->moments)
        return (second->moments > 0) - (first->moments > 0);
    if ((first->failed > 0) != (second->failed > 0))
        return (second->failed > 0) - (first->failed > 0);
    double x = first->worst.format.max_abs, y = second->worst.format.max_abs;
    return (x < y) - (x > y);
}

static bool print_verified(const Options *options, Verified *verified, Err *err) {
    Report report = {.names_to = "direction"}, classes = {.names_to = "align"};
    for (int i = 0; i < verified->count; i++) {
        const Selected *selected = &verified->selected[i];
        output_left_out(selected->scene, selected->left_out,
                        verified->many ? selected->left_out_s : NAN, selected->moments_left_out);
    }
    if (verified->many)
        qsort(verified->selected, (size_t)verified->count, sizeof *verified->selected,
              compare_worst);
    for (int i = 0; i < verified->count; i++) {
        Selected *selected = &verified->selected[i];
        selected->worst.scene = selected->scene;
        add_row(&report, verified, selected);
        explain_all(verified, &selected->worst);
    }
    for (int i = 0; i < verified->count; i++)
        add_class_rows(&classes, verified, i);
    json_t *root = json_pack("{si si si sf sf so so}", "passed", verified->passed, "failed",
                             verified->failed, "skipped", verified->skipped, "cosine_line",
                             verified->cosine, "max_abs_line", verified->max_abs, "classes",
                             report_json(&classes), "moments", report_json(&verified->moments));
    static const char gates_said[] =
        "\nGate A allows the rounding of the output and of the sums: 1.00 of the bound is what a "
        "correct kernel's rounding takes at most. Gate B holds rel L2 to limit B, above what "
        "that format costs on the shipped scenes by scales fitted to the frame. A pass says no "
        "more than that, not that the format is enough for a network. Where all correct kernels "
        "fail "
        "it alike, as in INT8 at a few moments or by calibrated scales, the format is at fault. "
        "Gate C looks for wrong sums that such an error hides. Of several moments a row shows the "
        "one of the largest rel L2, of those that fail if any does: other values may be larger at "
        "others. atol 1e-2 is NVIDIA's tolerance, an absolute bound on max abs that judges nothing "
        "here: "
        "formats of few bits break it. Judged are the values of cells with points (backward: those "
        "of the gradients that points reach); of the others only a value that is not 0 counts, as "
        "wrong. Left out are the values whose FP64 over the original inputs is NaN or infinite: "
        "gate B fails where the output is a number there. Of channels: rel L2 of "
        "each channel by itself, the root of their mean square; beside an outlier channel the rel "
        "L2 of all is that channel's.\n";
    const OutputTable tables[] = {{.report = &report},
                                  {.above = gates_said},
                                  {"\nBy scene and class: the largest error and the lowest "
                                   "cosine of any moment, rel L2 of all moments together:\n\n",
                                   &classes, NULL}};
    bool ok = output_tables(options, tables, verified->many ? 3 : 2, root, err);
    report_free(&report);
    report_free(&classes);
    return ok;
}

static bool judge_rows(const Options *options, const BenchPlan *plan, Verified *verified,
                       Err *err) {
    VerifyCount count;
    if (!verify_run(plan, add_moment, verified, &count, err))
        return false;
    if (verified->out_of_memory)
        return err_set(err, ERR_FAILED, "verify", "choose fewer moments", "out of memory");
    verified->many = options->moments > 0;
    for (int i = 0; i < verified->count; i++)
        verified->many = verified->many || verified->selected[i].moments > 1;
    const int passed = verified->passed, failed = verified->failed;
    if (!print_verified(options, verified, err))
        return false;
    if (strcmp(options->format, "json"))
        fprintf(stderr, "%d passed, %d failed, %d skipped%s\n", passed, failed, verified->skipped,
                cuda_left_out(options, plan) ? "; CUDA kernels left out: no GPU here" : "");
    char expected[64] = "";
    if (verified->expected)
        snprintf(expected, sizeof expected, ", %d as expected: wrong on purpose",
                 verified->expected);
    if (failed)
        return err_set(err, ERR_GATE, "verify", "", "%d of %d %s fail a gate%s%s", failed,
                       passed + failed, verified->many ? "moments of selections" : "selections",
                       verified->cosine > 0 || verified->max_abs > 0 ? " or a line" : "", expected);
    return passed > 0 ||
           err_set(err, ERR_GATE, "verify", "see bevscope --list", "nothing was verified: %s",
                   verified->skipped ? "every selection was skipped" : "nothing was selected");
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
    plan.moments = options->moments ? (int)options->moments : options->time_s > 0;
    Verified verified = {.cosine = options->cosine,
                         .max_abs = options->max_abs,
                         .backward = plan.directions >> BEV_BACKWARD & 1};
    bool ok = judge_rows(options, &plan, &verified, err);
    grad_out_free(&grad_out);
    report_free(&verified.moments);
    free(verified.selected);
    return ok;
}
