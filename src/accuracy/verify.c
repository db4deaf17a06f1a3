#include "src/accuracy/verify.h"

#include "kernels/codec.h"
#include "src/accuracy/fp64.h"

#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {
    [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_SKIP] = "skip"};

enum { EXACT_SEED = 2026 };

/* What the gates compare the kernels of one format and align with. Arrays are (nx * ny, channels).
 */
typedef struct {
    HostProblem problem, exact;  /* of gates A and B; of gate C */
    double *reference, *abs_sum; /* FP64 over the stored inputs, and gate A's S */
    const double *fp64_original; /* FP64 over the original inputs; the caller's */
    double *exact_reference;     /* FP64 over the inputs of `exact` */
    void *codes, *again;         /* two outputs as read back */
    size_t code_bytes;           /* of each */
} Gates;

static void gates_free(Gates *gates) {
    problem_free(&gates->problem);
    problem_free(&gates->exact);
    free(gates->reference);
    free(gates->abs_sum);
    free(gates->exact_reference);
    free(gates->codes);
    free(gates->again);
}

static bool gates_init(Gates *gates, Workload *workload, BevDtype dtype, BevAlign align,
                       const double *fp64_original, Err *err) {
    memset(gates, 0, sizeof *gates);
    gates->fp64_original = fp64_original;
    const BevMap *map = workload_map(workload, align, err);
    if (!map || !workload_problem(workload, dtype, align, &gates->problem, err) ||
        !gate_exact_problem(&gates->exact, &workload->scene.shape, dtype, align, map, EXACT_SEED,
                            err))
        return false;
    const BevProblem *view = &gates->problem.view;
    size_t n = (size_t)(view->out.rows * view->out.row_len);
    gates->code_bytes = bev_code_bytes(view->out.dtype, view->out.rows, view->out.row_len);
    gates->reference = malloc(n * sizeof(double));
    gates->abs_sum = malloc(n * sizeof(double));
    gates->exact_reference = malloc(n * sizeof(double));
    gates->codes = malloc(gates->code_bytes);
    gates->again = malloc(gates->code_bytes);
    if (!gates->reference || !gates->abs_sum || !gates->exact_reference || !gates->codes ||
        !gates->again)
        return err_set(err, ERR_FAILED, "verify", "choose a smaller scene", "out of memory");
    bev_reference(view, gates->reference, gates->abs_sum);
    bev_reference(&gates->exact.view, gates->exact_reference, NULL);
    return true;
}

/* Launches on a poisoned output and reads `codes`. */
static bool run_once(Session *session, void *codes, Err *err) {
    return session_poison(session, err) && session_run(session, err) &&
           session_read(session, codes, err);
}

/* Runs `kernel` once, or, if `again` is given, twice. */
static bool run(const BevKernel *kernel, const BevProblem *problem, void *codes, void *again,
                Err *err) {
    Session *session = NULL;
    bool ok = session_open(&session, kernel, problem, err) && run_once(session, codes, err) &&
              (!again || run_once(session, again, err));
    session_close(session);
    return ok;
}

static bool apply_gates(Gates *gates, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *view = &gates->problem.view;
    row->config = (KernelConfig){kernel, view->dtype, view->align};
    row->skipped = bev_unsupported(kernel, view);
    if (row->skipped)
        return true;
    if (!run(kernel, view, gates->codes, gates->again, err))
        return false;
    row->same_bits = !memcmp(gates->codes, gates->again, gates->code_bytes);
    row->kernel = gate_kernel(view, kernel->accumulate[view->dtype], gates->codes, gates->reference,
                              gates->abs_sum, NULL);
    row->format = format_error(view, gates->codes, gates->fp64_original);
    row->format_verdict = gate_format(view->dtype, &row->format);
    if (!run(kernel, &gates->exact.view, gates->codes, NULL, err))
        return false;
    row->exact = gate_exact(&gates->exact.view, gates->codes, gates->exact_reference, NULL);
    row->passed = row->kernel.verdict == GATE_PASS && row->format_verdict == GATE_PASS &&
                  row->exact.verdict == GATE_PASS && (row->same_bits || !kernel->deterministic);
    return true;
}

bool verify_one(Workload *workload, const KernelConfig *config, const double *fp64_original,
                VerifyRow *row, Err *err) {
    Gates gates;
    *row = (VerifyRow){.scene = workload->scene.name};
    bool ok = gates_init(&gates, workload, config->dtype, config->align, fp64_original, err) &&
              apply_gates(&gates, config->kernel, row, err);
    gates_free(&gates);
    return ok;
}

/* The state of verify_run; `row.scene` is the current scene. */
typedef struct {
    const BenchPlan *plan;
    VerifyRow row;
    VerifyCount *count;
    void (*emit)(const VerifyRow *, void *);
    void *context;
} Verify;

static bool verify_problem(Verify *verify, Gates *gates, Err *err) {
    const BenchPlan *plan = verify->plan;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (!(plan->where & 1u << kernel->where) || (plan->only && plan->only != kernel) ||
            kernel->wrong_on_purpose)
            continue;
        const char *scene = verify->row.scene;
        verify->row = (VerifyRow){.scene = scene};
        if (!apply_gates(gates, kernel, &verify->row, err))
            return false;
        if (verify->row.skipped)
            verify->count->skipped++;
        else if (verify->row.passed)
            verify->count->passed++;
        else
            verify->count->failed++;
        verify->emit(&verify->row, verify->context);
    }
    return true;
}

static bool verify_align(Verify *verify, Workload *workload, BevAlign align, Err *err) {
    double *fp64_original = fp64_of(workload, align, err);
    bool ok = fp64_original != NULL;
    for (int dtype = 0; ok && dtype < BEV_DTYPE_COUNT; dtype++) {
        if (!(verify->plan->dtypes & 1u << dtype))
            continue;
        Gates gates;
        ok = gates_init(&gates, workload, (BevDtype)dtype, align, fp64_original, err) &&
             verify_problem(verify, &gates, err);
        gates_free(&gates);
    }
    free(fp64_original);
    return ok;
}

bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *, void *), void *context,
                VerifyCount *count, Err *err) {
    *count = (VerifyCount){0};
    for (int i = 0; i < plan->scene_count; i++) {
        Workload workload;
        if (!workload_open(&workload, plan->scenes[i], &plan->workload, err))
            return false;
        Verify verify = {plan, {.scene = plan->scenes[i]}, count, row, context};
        bool ok = true;
        for (int align = 0; ok && align < BEV_ALIGN_COUNT; align++)
            if ((plan->aligns & 1u << align) && workload_has_align(&workload, (BevAlign)align))
                ok = verify_align(&verify, &workload, (BevAlign)align, err);
        workload_close(&workload);
        if (!ok)
            return false;
    }
    return true;
}
