/* SPDX-License-Identifier: MIT */
#include "src/accuracy/verify.h"

#include "kernels/threads.h"
#include "src/accuracy/fp64.h"
#include "src/base/progress.h"

#include <math.h>
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
    void *codes, *again;         /* the outputs of two runs */
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
    gates->again = malloc(gates->code_bytes);
    gates->terms = gate_terms(gates->problem, err);
    if (gates->codes && gates->again && gates->terms)
        return gates;
    if (gates->terms)
        err_no_memory(err, "verify", "choose a smaller scene");
    gates_close(gates);
    return NULL;
}

/* Computes the missing references of these gates at the same time, each on a core. */
static bool make_references(Gates *gates, GateSet which, Err *err) {
    const size_t bytes = (size_t)gate_values(gates->problem) * sizeof(double);
    const bool lacks_a = which & GATE_A && !gates->reference;
    const bool lacks_b = which & GATE_B && !gates->fp64_original;
    const bool lacks_c = which & GATE_C && !gates->exact_reference;
    if (lacks_c && !gate_exact_like(&gates->exact, gates->problem, EXACT_SEED, err))
        return false;
    if (lacks_a) {
        gates->reference = malloc(bytes);
        gates->abs_sum = malloc(bytes);
    }
    if (lacks_c)
        gates->exact_reference = malloc(bytes);
    const bool has_a = !lacks_a || (gates->reference && gates->abs_sum);
    if (!has_a || (lacks_c && !gates->exact_reference))
        return err_no_memory(err, "verify", "choose a smaller scene");
#pragma omp parallel sections num_threads(bev_threads()) if (lacks_a + lacks_b + lacks_c > 1)
    {
#pragma omp section
        if (lacks_a)
            gate_reference(gates->problem, gates->reference, gates->abs_sum);
#pragma omp section
        if (lacks_b)
            gates->fp64_original = fp64_of(gates->host, err);
#pragma omp section
        if (lacks_c)
            gate_reference(&gates->exact.view, gates->exact_reference, NULL);
    }
    return gates->fp64_original || !lacks_b;
}

/* Runs the session's kernel and reads its output, which is overwritten with poison before. */
static bool run_once(Session *session, void *codes, Err *err) {
    return session_poison(session, err) && session_run(session, err) &&
           session_read(session, codes, err);
}

/* Runs the kernel and reads `codes`. Runs it a second time for `again`, unless that is NULL. */
static bool run_kernel(const BevKernel *kernel, const BevProblem *problem, void *codes, void *again,
                       VerifyRow *row, Err *err) {
    Session *session = NULL;
    row->config = (KernelConfig){kernel, problem->dtype, problem->align};
    bool ok = session_open_or_skip(&session, kernel, problem, row->skipped, err);
    if (ok && session)
        ok = run_once(session, codes, err) && (!again || run_once(session, again, err));
    session_close(session);
    return ok;
}

static void judge_gate_a(const Gates *gates, const BevKernel *kernel, VerifyRow *row) {
    const BevDtype accumulate = kernel->accumulate[gates->problem->dtype];
    row->kernel = gate_kernel(gates->problem, accumulate, gates->codes, gates->reference,
                              gates->abs_sum, gates->terms, NULL);
}

static void judge_gate_b(const Gates *gates, VerifyRow *row) {
    row->format = format_error(gates->problem, gates->codes, gates->fp64_original, gates->terms);
    row->format_verdict = gate_format(gates->problem->dtype, &row->format);
}

/* Runs gates A and B on the kernel's output, each on a core. */
static void judge_gates_a_and_b(const Gates *gates, const BevKernel *kernel, VerifyRow *row) {
#pragma omp parallel sections num_threads(bev_threads())
    {
#pragma omp section
        judge_gate_a(gates, kernel, row);
#pragma omp section
        {
            judge_gate_b(gates, row);
            if (gates->class)
                format_error_by_class(gates->problem, gates->codes, gates->fp64_original,
                                      gates->terms, gates->class, row->by_class, CLASS_COUNT);
        }
    }
    row->same_bits = !memcmp(gates->codes, gates->again, gates->code_bytes);
    row->class = CLASS_COUNT;
    row->at_m[0] = row->at_m[1] = NAN;
    if (gates->grid && gates->problem->direction == BEV_FORWARD && row->format.worst_cell >= 0)
        grid_center(gates->grid, row->format.worst_cell, row->at_m);
    if (gates->class && row->format.worst_cell >= 0)
        row->class = (WorldClass)gates->class[row->format.worst_cell];
}

/* Runs the kernel on the problem of gate C, then gate C and the adjoint identity. */
static bool judge_gate_c(Gates *gates, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *exact = &gates->exact.view;
    if (!run_kernel(kernel, exact, gates->codes, NULL, row, err))
        return false;
    if (row->skipped[0])
        return true;
    row->exact = gate_exact(exact, gates->codes, gates->exact_reference, gates->terms, NULL);
    row->adjoint.verdict = GATE_SKIP;
    return kernel->direction != BEV_BACKWARD ||
           gate_adjoint(exact, gates->codes, gates->exact_reference, &row->adjoint, err);
}

bool gates_judge(Gates *gates, const BevKernel *kernel, GateSet which, const GiveUp *give_up,
                 VerifyRow *row, Err *err) {
    static const GateSet order[] = {GATE_B, GATE_A, GATE_C};
    bool ok = !(which & (GATE_A | GATE_B)) ||
              run_kernel(kernel, gates->problem, gates->codes, NULL, row, err);
    for (int i = 0; ok && i < 3 && !row->skipped[0]; i++) {
        const GateSet gate = which & order[i];
        if (!gate)
            continue;
        ok = make_references(gates, gate, err) &&
             (gate != GATE_C || judge_gate_c(gates, kernel, row, err));
        if (ok && gate == GATE_B)
            judge_gate_b(gates, row);
        if (ok && gate == GATE_A)
            judge_gate_a(gates, kernel, row);
        ok = ok && !given_up(give_up);
    }
    return ok;
}

/* The verdicts of judge_gate_c. They depend on kernel, format and map, but not on the moment. */
typedef struct {
    BevShape shape;
    uint64_t map; /* scatter_hash of the map; 0: there are no verdicts */
    GateResult exact;
    GateAdjoint adjoint;
} ExactVerdict;

typedef struct {
    const BenchPlan *plan;
    void (*emit)(const VerifyRow *, void *);
    void *context;
    /* The verdicts of each kernel, which is a bit of a KernelSet, on its newest map. */
    ExactVerdict exact[8 * sizeof(KernelSet)][BEV_DTYPE_COUNT][BEV_ALIGN_COUNT];
} Verify;

/* Whether the verdict holds for this problem, whose map has the hash `map`. */
static bool is_verdict_of(const ExactVerdict *verdict, const BevProblem *problem, uint64_t map) {
    return verdict->map == map && !memcmp(&verdict->shape, &problem->shape, sizeof verdict->shape);
}

static bool is_chosen(const Verify *verify, const BevKernel *kernel, const BevProblem *problem) {
    const bool named = verify->plan->kernels != 0;
    const bool fits = kernel->direction == problem->direction && kernel->stage == problem->stage;
    return fits && plan_selects(verify->plan, kernel) && (named || !kernel->wrong_on_purpose);
}

/* Whether gate C has been judged for every kernel that gets the problem. */
static bool all_exact_known(const Verify *verify, const BevProblem *problem, uint64_t map) {
    for (int i = 0; bev_kernels[i]; i++) {
        const ExactVerdict *verdict = &verify->exact[i][problem->dtype][problem->align];
        const bool gets_problem =
            is_chosen(verify, bev_kernels[i], problem) && !bev_refuses(bev_kernels[i], problem);
        if (gets_problem && !is_verdict_of(verdict, problem, map))
            return false;
    }
    return true;
}

static bool verify_kernel(Verify *verify, int number, Gates *gates, uint64_t map, VerifyRow *row,
                          Err *err) {
    const BevKernel *kernel = bev_kernels[number];
    const BevProblem *view = gates->problem;
    ExactVerdict *verdict = &verify->exact[number][view->dtype][view->align];
    bool known = is_verdict_of(verdict, view, map);
    progress_part(kernel_config_label(&(KernelConfig){kernel, view->dtype, view->align}).text);
    if (known) {
        row->exact = verdict->exact;
        row->adjoint = verdict->adjoint;
    }
    if (!run_kernel(kernel, view, gates->codes, gates->again, row, err))
        return false;
    if (!row->skipped[0])
        judge_gates_a_and_b(gates, kernel, row);
    if (!known && !row->skipped[0] && !judge_gate_c(gates, kernel, row, err))
        return false;
    row->passed = !row->skipped[0] && row->kernel.verdict == GATE_PASS &&
                  row->format_verdict == GATE_PASS && row->exact.verdict == GATE_PASS &&
                  row->adjoint.verdict != GATE_FAIL && (row->same_bits || !kernel->deterministic);
    if (!row->skipped[0])
        *verdict = (ExactVerdict){row->shape, map, row->exact, row->adjoint};
    verify->emit(row, verify->context);
    progress_done(!row->skipped[0]);
    return true;
}

/* Finds the class of each cell from the FP64 grid. Only an embedding has classes. */
static bool find_cell_classes(Gates *gates, const Workload *workload, Err *err) {
    const BevTensor *out = &gates->problem->out;
    const Embedding *embedding = &workload->seen->embedding;
    if (gates->problem->direction == BEV_BACKWARD || !embedding->channels)
        return true;
    gates->class = malloc((size_t)out->rows);
    float *vector = malloc((size_t)out->row_len * sizeof *vector);
    const bool ok =
        (gates->class && vector) || err_no_memory(err, "verify", "choose a smaller scene");
    for (int64_t cell = 0; ok && cell < out->rows; cell++) {
        const double *row = gates->fp64_original + cell * out->row_len;
        for (int64_t c = 0; c < out->row_len; c++)
            vector[c] = (float)row[c];
        gates->class[cell] =
            gates->terms[cell] ? (uint8_t)embedding_class(embedding, vector) : CLASS_COUNT;
    }
    free(vector);
    return ok;
}

static bool verify_problem(void *context, const char *scene, Workload *workload,
                           const HostProblem *problem, Err *err) {
    Verify *verify = context;
    const uint64_t map = scatter_hash(&problem->view.map);
    const bool exact_known = all_exact_known(verify, &problem->view, map);
    Gates *gates = gates_open(problem, err);
    bool ok = gates && make_references(gates, exact_known ? GATE_A | GATE_B : GATES_ALL, err) &&
              find_cell_classes(gates, workload, err);
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
    static Verify verify;
    memset(&verify, 0, sizeof verify);
    verify.plan = plan;
    verify.emit = row;
    verify.context = context;
    return plan_each_problem(plan, verify_problem, &verify, err);
}
