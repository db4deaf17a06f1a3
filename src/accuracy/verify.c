/* SPDX-License-Identifier: MIT */
#include "src/accuracy/verify.h"

#include "kernels/codec.h"
#include "kernels/threads.h"
#include "src/accuracy/fp64.h"
#include "src/scene/grid_loss.h"
#include "src/scene/scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {
    [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_SKIP] = "skip"};

enum { EXACT_SEED = 2026 };

struct Gates {
    const HostProblem *host;     /* the problem of gates A and B; the caller owns it */
    const BevProblem *problem;   /* its view */
    HostProblem exact;           /* the problem of gate C; empty until gate C is judged */
    double *reference, *abs_sum; /* FP64 over the quantised inputs, and gate A's S */
    double *fp64_original;       /* FP64 over the original inputs */
    double *exact_reference;     /* FP64 over the inputs of `exact` */
    int32_t *terms;              /* terms of each row, the same for both problems */
    const Grid *grid;            /* the grid of the cells; NULL: not known */
    uint8_t *class;              /* class of each cell; NULL: not known */
    void *codes, *again;         /* the outputs of two runs; `again` NULL: of one run */
    size_t code_bytes;           /* the size of each output */
};

void gates_close(Gates *gates) {
    if (!gates)
        return;
    problem_free(&gates->exact);
    free(gates->reference);
    free(gates->abs_sum);
    free(gates->fp64_original);
    free(gates->exact_reference);
    free(gates->terms);
    free(gates->class);
    free(gates->codes);
    free(gates->again);
    free(gates);
}

/* Makes the problem of gate C, without its reference. */
static bool make_exact(Gates *gates, Err *err) {
    if (!gate_exact_like(&gates->exact, gates->problem, EXACT_SEED, err))
        return false;
    gates->exact_reference = malloc((size_t)gate_values(gates->problem) * sizeof(double));
    return gates->exact_reference || err_no_memory(err, "verify", "choose a smaller scene");
}

/* Makes the memory for gate A's reference. */
static bool make_reference(Gates *gates, Err *err) {
    size_t bytes = (size_t)gate_values(gates->problem) * sizeof(double);
    gates->reference = malloc(bytes);
    gates->abs_sum = malloc(bytes);
    return (gates->reference && gates->abs_sum) ||
           err_no_memory(err, "verify", "choose a smaller scene");
}

static void take_reference(Gates *gates) {
    gate_reference(gates->problem, gates->reference, gates->abs_sum);
}

Gates *gates_open(const HostProblem *problem, Err *err) {
    Gates *gates = calloc(1, sizeof *gates);
    if (!gates) {
        err_no_memory(err, "verify", "");
        return NULL;
    }
    gates->host = problem;
    gates->problem = &problem->view;
    gates->code_bytes = bev_output_bytes(gates->problem);
    gates->codes = malloc(gates->code_bytes);
    gates->terms = gate_terms(gates->problem, err);
    if (gates->codes && gates->terms)
        return gates;
    if (gates->terms)
        err_no_memory(err, "verify", "choose a smaller scene");
    gates_close(gates);
    return NULL;
}

/* Computes all references at once, each on a core. `exact`: that of gate C, too. Two runs of each
 * kernel are compared. */
static Gates *open_gates(const HostProblem *problem, bool exact, Err *err) {
    Gates *gates = gates_open(problem, err);
    bool ok = gates && make_reference(gates, err) && (!exact || make_exact(gates, err));
    if (ok && !(gates->again = malloc(gates->code_bytes)))
        ok = err_no_memory(err, "verify", "choose a smaller scene");
#pragma omp parallel sections num_threads(bev_threads())
    {
#pragma omp section
        if (ok)
            take_reference(gates);
#pragma omp section
        if (ok)
            gates->fp64_original = fp64_of(problem, err);
#pragma omp section
        if (ok && exact)
            gate_reference(&gates->exact.view, gates->exact_reference, NULL);
    }
    if (ok && gates->fp64_original)
        return gates;
    gates_close(gates);
    return NULL;
}

static bool run_once(Session *session, void *codes, Err *err) {
    return session_poison(session, err) && session_run(session, err) &&
           session_read(session, codes, err);
}

/* Runs the kernel and reads `codes`. Runs it a second time for `again`, unless that is NULL. */
static bool run_kernel(const BevKernel *kernel, const BevProblem *problem, void *codes, void *again,
                       char *skipped, Err *err) {
    Session *session = NULL;
    bool ok = session_open_or_skip(&session, kernel, problem, skipped, err);
    ok = ok &&
         (!session || (run_once(session, codes, err) && (!again || run_once(session, again, err))));
    session_close(session);
    return ok;
}

/* Runs gate A on the kernel's output. */
static void judge_sums(const Gates *gates, const BevKernel *kernel, VerifyRow *row) {
    const BevProblem *view = gates->problem;
    row->kernel = gate_kernel(view, kernel->accumulate[view->dtype], gates->codes,
                              gates->reference, gates->abs_sum, gates->terms, NULL);
}

/* Runs gate B on the kernel's output. */
static void judge_format(const Gates *gates, VerifyRow *row) {
    row->format =
        format_error(gates->problem, gates->codes, gates->fp64_original, gates->terms);
    row->format_verdict = gate_format(gates->problem->dtype, &row->format);
}

/* Runs gates A and B on the kernel's output, each on a core. */
static void judge_output(const Gates *gates, const BevKernel *kernel, VerifyRow *row) {
    const BevProblem *view = gates->problem;
#pragma omp parallel sections num_threads(bev_threads())
    {
#pragma omp section
        judge_sums(gates, kernel, row);
#pragma omp section
        {
            judge_format(gates, row);
            if (gates->class)
                format_error_by_class(view, gates->codes, gates->fp64_original, gates->terms,
                                      gates->class, row->by_class, CLASS_COUNT);
        }
    }
    row->same_bits = !memcmp(gates->codes, gates->again, gates->code_bytes);
    row->class = CLASS_COUNT;
    row->at_m[0] = row->at_m[1] = NAN;
    if (gates->grid && view->direction == BEV_FORWARD && row->format.worst_cell >= 0)
        grid_center(gates->grid, row->format.worst_cell, row->at_m);
    if (gates->class && row->format.worst_cell >= 0)
        row->class = (WorldClass)gates->class[row->format.worst_cell];
}

/* Runs the kernel on the exact problem, then gate C and the adjoint identity. */
static bool judge_exact(Gates *gates, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *exact = &gates->exact.view;
    if (!run_kernel(kernel, exact, gates->codes, NULL, row->skipped, err))
        return false;
    if (row->skipped[0])
        return true;
    row->exact = gate_exact(exact, gates->codes, gates->exact_reference, gates->terms, NULL);
    row->adjoint.verdict = GATE_SKIP;
    return kernel->direction != BEV_BACKWARD ||
           gate_adjoint(exact, gates->codes, gates->exact_reference, &row->adjoint, err);
}

/* Runs the kernel on the problem of gates A and B. */
static bool run_problem(Gates *gates, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *view = gates->problem;
    row->config = (KernelConfig){kernel, view->dtype, view->align};
    return run_kernel(kernel, view, gates->codes, gates->again, row->skipped, err);
}

bool gates_judge(Gates *gates, const BevKernel *kernel, GateSet which, const GiveUp *give_up,
                 VerifyRow *row, Err *err) {
    if (which & (GATE_A | GATE_B) && !run_problem(gates, kernel, row, err))
        return false;
    if (which & GATE_B && !row->skipped[0]) {
        if (!gates->fp64_original && !(gates->fp64_original = fp64_of(gates->host, err)))
            return false;
        judge_format(gates, row);
    }
    if (given_up(give_up))
        return false;
    if (which & GATE_A && !row->skipped[0]) {
        if (!gates->reference) {
            if (!make_reference(gates, err))
                return false;
            take_reference(gates);
        }
        judge_sums(gates, kernel, row);
    }
    if (given_up(give_up))
        return false;
    if (!(which & GATE_C) || row->skipped[0])
        return true;
    if (!gates->exact_reference) {
        if (!make_exact(gates, err))
            return false;
        gate_reference(&gates->exact.view, gates->exact_reference, NULL);
    }
    return judge_exact(gates, kernel, row, err);
}

/* The verdicts of judge_exact. They depend on kernel, format and map alone, not on the moment. */
typedef struct {
    BevShape shape;
    uint64_t map; /* scatter_hash; 0: nothing is judged */
    GateResult exact;
    GateAdjoint adjoint;
} Judged;

/* The state of verify_run. */
typedef struct {
    const BenchPlan *plan;
    void (*emit)(const VerifyRow *, void *);
    void *context;
    Judged *judged; /* [kernel, dtype, align]: those of the newest map */
} Verify;

static Judged *judged_of(const Verify *verify, int kernel, const BevProblem *problem) {
    int format = kernel * BEV_DTYPE_COUNT + (int)problem->dtype;
    return &verify->judged[format * BEV_ALIGN_COUNT + (int)problem->align];
}

static bool is_judged(const Judged *judged, const BevProblem *problem, uint64_t map) {
    return judged->map == map && !memcmp(&judged->shape, &problem->shape, sizeof judged->shape);
}

static bool is_chosen(const Verify *verify, const BevKernel *kernel, const BevProblem *problem) {
    bool named = verify->plan->kernels != 0;
    return plan_selects(verify->plan, kernel) && (named || !kernel->wrong_on_purpose) &&
           kernel->direction == problem->direction && kernel->stage == problem->stage;
}

/* Whether gate C has been judged for every kernel that gets the problem. */
static bool all_judged(const Verify *verify, const BevProblem *problem, uint64_t map) {
    for (int i = 0; bev_kernels[i]; i++)
        if (is_chosen(verify, bev_kernels[i], problem) && !bev_refuses(bev_kernels[i], problem) &&
            !is_judged(judged_of(verify, i, problem), problem, map))
            return false;
    return true;
}

/* Runs all gates of a kernel, and emits the row. */
static bool verify_kernel(Verify *verify, int number, Gates *gates, uint64_t map, VerifyRow *row,
                          Err *err) {
    const BevKernel *kernel = bev_kernels[number];
    Judged *judged = judged_of(verify, number, gates->problem);
    bool known = is_judged(judged, gates->problem, map);
    if (known) {
        row->exact = judged->exact;
        row->adjoint = judged->adjoint;
    }
    if (!run_problem(gates, kernel, row, err))
        return false;
    if (!row->skipped[0])
        judge_output(gates, kernel, row);
    if (!known && !row->skipped[0] && !judge_exact(gates, kernel, row, err))
        return false;
    row->passed = !row->skipped[0] && row->kernel.verdict == GATE_PASS &&
                  row->format_verdict == GATE_PASS && row->exact.verdict == GATE_PASS &&
                  row->adjoint.verdict != GATE_FAIL && (row->same_bits || !kernel->deterministic);
    if (!row->skipped[0])
        *judged = (Judged){row->shape, map, row->exact, row->adjoint};
    verify->emit(row, verify->context);
    return true;
}

/* Finds the classes of the cells from the FP64 grid. Only an embedding as features has classes. */
static bool take_classes(Gates *gates, const Workload *workload, Err *err) {
    const BevTensor *out = &gates->problem->out;
    const Embedding *embedding = &workload->seen->embedding;
    if (gates->problem->direction == BEV_BACKWARD || !embedding->channels)
        return true;
    gates->class = malloc((size_t)out->rows);
    float *vector = malloc((size_t)out->row_len * sizeof *vector);
    for (int64_t cell = 0; gates->class && vector && cell < out->rows; cell++) {
        const double *row = gates->fp64_original + cell * out->row_len;
        for (int64_t c = 0; c < out->row_len; c++)
            vector[c] = (float)row[c];
        gates->class[cell] =
            gates->terms[cell] ? (uint8_t)embedding_class(embedding, vector) : CLASS_COUNT;
    }
    bool ok = (gates->class && vector) || err_no_memory(err, "verify", "choose a smaller scene");
    free(vector);
    return ok;
}

static bool verify_problem(void *context, const char *scene, Workload *workload,
                           const HostProblem *problem, Err *err) {
    Verify *verify = context;
    const uint64_t map = scatter_hash(&problem->view.map);
    Gates *gates = open_gates(problem, !all_judged(verify, &problem->view, map), err);
    bool ok = gates && take_classes(gates, workload, err);
    if (ok)
        gates->grid = workload->scene->has_rig ? &workload->scene->rig.grid : NULL;
    const bool pools = problem->view.direction == BEV_FORWARD && problem->view.stage == BEV_POOL;
    const double change =
        pools ? fp64_prune_change(workload->maps[problem->view.align], workload->seen) : NAN;
    for (int i = 0; ok && bev_kernels[i]; i++) {
        VerifyRow row = {.scene = scene,
                         .shape = problem->view.shape,
                         .time_s = workload->job.time_s,
                         .prune_change = change};
        snprintf(row.scales, sizeof row.scales, "%s",
                 ranges_label(workload->features->scales, problem->view.dtype));
        ok = !is_chosen(verify, bev_kernels[i], &problem->view) ||
             verify_kernel(verify, i, gates, map, &row, err);
    }
    gates_close(gates);
    return ok;
}

bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *, void *), void *context,
                Err *err) {
    Verify verify = {.plan = plan, .emit = row, .context = context};
    size_t kernels = 0;
    while (bev_kernels[kernels])
        kernels++;
    verify.judged = calloc(kernels * BEV_DTYPE_COUNT * BEV_ALIGN_COUNT, sizeof *verify.judged);
    bool ok = verify.judged ? plan_each_problem(plan, verify_problem, &verify, err)
                            : err_no_memory(err, "verify", "");
    free(verify.judged);
    return ok;
}
