#include "src/accuracy/verify.h"

#include "kernels/codec.h"
#include "src/accuracy/fp64.h"

#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {
    [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_SKIP] = "skip"};

enum { EXACT_SEED = 2026 };

/* What the gates compare a kernel's outputs with. */
typedef struct {
    const BevProblem *problem;   /* of gates A and B; the caller's */
    HostProblem exact;           /* of gate C */
    double *reference, *abs_sum; /* FP64 over the stored inputs, and gate A's S */
    const double *fp64_original; /* FP64 over the original inputs; the caller's */
    double *exact_reference;     /* FP64 over the inputs of `exact` */
    int32_t *terms;              /* of each row; `exact` has the same map */
    void *codes, *again;         /* the outputs of two runs as read back */
    size_t code_bytes;           /* of each */
} Gates;

static void gates_free(Gates *gates) {
    problem_free(&gates->exact);
    free(gates->reference);
    free(gates->abs_sum);
    free(gates->exact_reference);
    free(gates->terms);
    free(gates->codes);
    free(gates->again);
}

static bool gates_init(Gates *gates, const BevProblem *problem, const double *fp64_original,
                       Err *err) {
    *gates = (Gates){.problem = problem, .fp64_original = fp64_original};
    bool backward = problem->direction == BEV_BACKWARD, view = problem->stage == BEV_VIEW;
    if (!(backward ? gate_exact_backward : view ? gate_exact_view : gate_exact_problem)(
            &gates->exact, &problem->shape, problem->dtype, problem->align, &problem->map,
            EXACT_SEED, err))
        return false;
    size_t n = (size_t)gate_values(problem);
    gates->code_bytes = bev_output_bytes(problem);
    gates->reference = malloc(n * sizeof(double));
    gates->abs_sum = malloc(n * sizeof(double));
    gates->exact_reference = malloc(n * sizeof(double));
    gates->codes = malloc(gates->code_bytes);
    gates->again = malloc(gates->code_bytes);
    if (!gates->reference || !gates->abs_sum || !gates->exact_reference || !gates->codes ||
        !gates->again)
        return err_set(err, ERR_FAILED, "verify", "choose a smaller scene", "out of memory");
    gates->terms = gate_terms(problem, err);
    if (!gates->terms)
        return false;
    gate_reference(problem, gates->reference, gates->abs_sum);
    gate_reference(&gates->exact.view, gates->exact_reference, NULL);
    return true;
}

/* Launches on poisoned outputs and reads `codes`. */
static bool run_once(Session *session, void *codes, Err *err) {
    return session_poison(session, err) && session_run(session, err) &&
           session_read(session, codes, err);
}

/* Runs `kernel` once, or, if `again` is given, twice. */
static bool run(const BevKernel *kernel, const BevProblem *problem, void *codes, void *again,
                char *skipped, Err *err) {
    Session *session = NULL;
    bool ok = session_open_or_skip(&session, kernel, problem, skipped, err);
    ok = ok &&
         (!session || (run_once(session, codes, err) && (!again || run_once(session, again, err))));
    session_close(session);
    return ok;
}

static bool apply_gates(Gates *gates, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *view = gates->problem;
    const int32_t *terms = gates->terms;
    row->config = (KernelConfig){kernel, view->dtype, view->align};
    if (!run(kernel, view, gates->codes, gates->again, row->skipped, err))
        return false;
    if (row->skipped[0])
        return true;
    row->same_bits = !memcmp(gates->codes, gates->again, gates->code_bytes);
    row->kernel = gate_kernel(view, kernel->accumulate[view->dtype], gates->codes, gates->reference,
                              gates->abs_sum, terms, NULL);
    row->format = format_error(view, gates->codes, gates->fp64_original, terms);
    row->format_verdict = gate_format(view->dtype, &row->format);
    if (!run(kernel, &gates->exact.view, gates->codes, NULL, row->skipped, err))
        return false;
    if (row->skipped[0])
        return true;
    row->exact = gate_exact(&gates->exact.view, gates->codes, gates->exact_reference, terms, NULL);
    row->adjoint.verdict = GATE_SKIP;
    if (kernel->direction == BEV_BACKWARD &&
        !gate_adjoint(&gates->exact.view, gates->codes, gates->exact_reference, &row->adjoint, err))
        return false;
    row->passed = row->kernel.verdict == GATE_PASS && row->format_verdict == GATE_PASS &&
                  row->exact.verdict == GATE_PASS && row->adjoint.verdict != GATE_FAIL &&
                  (row->same_bits || !kernel->deterministic);
    return true;
}

bool verify_one(Workload *workload, const KernelConfig *config, const double *fp64_original,
                VerifyRow *row, Err *err) {
    HostProblem problem = {0};
    Gates gates = {0};
    *row = (VerifyRow){.scene = workload->scene.name};
    bool backward = config->kernel->direction == BEV_BACKWARD;
    bool ok = (backward ? workload_problem_backward : workload_problem)(
                  workload, config->dtype, config->align, &problem, err) &&
              gates_init(&gates, &problem.view, fp64_original, err) &&
              apply_gates(&gates, config->kernel, row, err);
    gates_free(&gates);
    problem_free(&problem);
    return ok;
}

/* The state of verify_run. */
typedef struct {
    const BenchPlan *plan;
    VerifyCount *count;
    void (*emit)(const VerifyRow *, void *);
    void *context;
} Verify;

static bool verify_kernels(const Verify *verify, const char *scene, Gates *gates, Err *err) {
    for (int i = 0; bev_kernels[i]; i++) {
        if (!plan_selects(verify->plan, bev_kernels[i]) || bev_kernels[i]->wrong_on_purpose ||
            bev_kernels[i]->direction != gates->problem->direction ||
            bev_kernels[i]->stage != gates->problem->stage)
            continue;
        VerifyRow row = {.scene = scene};
        if (!apply_gates(gates, bev_kernels[i], &row, err))
            return false;
        bool skipped = row.skipped[0] != '\0';
        verify->count->skipped += skipped;
        verify->count->passed += !skipped && row.passed;
        verify->count->failed += !skipped && !row.passed;
        verify->emit(&row, verify->context);
    }
    return true;
}

static bool verify_problem(void *context, const char *scene, Workload *workload,
                           const HostProblem *problem, Err *err) {
    Gates gates = {0};
    double *(*fp64)(Workload *, BevAlign, Err *) =
        problem->view.direction == BEV_BACKWARD ? fp64_gradients_of
        : problem->view.stage == BEV_VIEW       ? fp64_view_of
                                                : fp64_of;
    double *fp64_original = fp64(workload, problem->view.align, err);
    bool ok = fp64_original && gates_init(&gates, &problem->view, fp64_original, err) &&
              verify_kernels(context, scene, &gates, err);
    gates_free(&gates);
    free(fp64_original);
    return ok;
}

bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *, void *), void *context,
                VerifyCount *count, Err *err) {
    Verify verify = {plan, count, row, context};
    *count = (VerifyCount){0};
    return plan_each_problem(plan, verify_problem, &verify, err);
}
