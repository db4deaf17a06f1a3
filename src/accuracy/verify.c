#include "src/accuracy/verify.h"

#include "kernels/codec.h"
#include "src/accuracy/fp64.h"

#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {
    [GATE_PASS] = "pass", [GATE_FAIL] = "fail", [GATE_SKIP] = "skip"};

enum { EXACT_SEED = 2026 };

/* The truths a problem is judged by: one element a (cell, channel). */
typedef struct {
    HostProblem problem, exact;
    double *reference, *abs_sum; /* FP64 over the stored inputs, and S */
    double *fp64_original;       /* FP64 over the original inputs; shared by all formats */
    double *exact_reference;
    void *codes, *again; /* outputs as read back */
    size_t code_bytes;
} Judge;

static size_t elements(const BevProblem *problem) {
    return (size_t)(problem->out.rows * problem->out.row_len);
}

static void judge_free(Judge *judge) {
    problem_free(&judge->problem);
    problem_free(&judge->exact);
    free(judge->reference);
    free(judge->abs_sum);
    free(judge->exact_reference);
    free(judge->codes);
    free(judge->again);
}

static bool judge_init(Judge *judge, Workload *workload, BevDtype dtype, BevAlign align,
                       double *fp64_original, Err *err) {
    memset(judge, 0, sizeof *judge);
    judge->fp64_original = fp64_original;
    const BevMap *map = workload_map(workload, align, err);
    if (!map || !workload_problem(workload, dtype, align, &judge->problem, err) ||
        !gate_exact_problem(&judge->exact, &workload->scene.shape, dtype, align, map, EXACT_SEED,
                            err))
        return false;
    const BevProblem *view = &judge->problem.view;
    size_t n = elements(view);
    judge->code_bytes = bev_code_bytes(view->out.dtype, view->out.rows, view->out.row_len);
    judge->reference = malloc(n * sizeof(double));
    judge->abs_sum = malloc(n * sizeof(double));
    judge->exact_reference = malloc(n * sizeof(double));
    judge->codes = malloc(judge->code_bytes);
    judge->again = malloc(judge->code_bytes);
    if (!judge->reference || !judge->abs_sum || !judge->exact_reference || !judge->codes ||
        !judge->again)
        return err_set(err, ERR_FAILED, "verify", "choose a smaller scene", "out of memory");
    bev_reference(view, judge->reference, judge->abs_sum);
    bev_reference(&judge->exact.view, judge->exact_reference, NULL);
    return true;
}

/* One poisoned run of `problem`; with `again`, a second one. */
static bool run(const BevKernel *kernel, const BevProblem *problem, void *codes, void *again,
                Err *err) {
    Session *session = NULL;
    if (!session_open(&session, kernel, problem, err))
        return false;
    bool ok = session_poison(session, err) && session_run(session, err) &&
              session_read(session, codes, err);
    if (ok && again)
        ok = session_poison(session, err) && session_run(session, err) &&
             session_read(session, again, err);
    session_close(session);
    return ok;
}

static bool judge_kernel(Judge *judge, const BevKernel *kernel, VerifyRow *row, Err *err) {
    const BevProblem *view = &judge->problem.view;
    row->config = (KernelConfig){kernel, view->dtype, view->align};
    row->skipped = bev_unsupported(kernel, view);
    if (row->skipped)
        return true;
    if (!run(kernel, view, judge->codes, judge->again, err))
        return false;
    row->same_bits = !memcmp(judge->codes, judge->again, judge->code_bytes);
    row->kernel = gate_kernel(view, kernel->accumulate[view->dtype], judge->codes, judge->reference,
                              judge->abs_sum, NULL);
    row->format = format_error(view, judge->codes, judge->fp64_original);
    row->format_verdict = gate_format(view->dtype, &row->format);
    if (!run(kernel, &judge->exact.view, judge->codes, NULL, err))
        return false;
    row->exact = gate_exact(&judge->exact.view, judge->codes, judge->exact_reference, NULL);
    row->passed = row->kernel.verdict == GATE_PASS && row->format_verdict == GATE_PASS &&
                  row->exact.verdict == GATE_PASS && (row->same_bits || !kernel->deterministic);
    return true;
}

bool verify_one(Workload *workload, const KernelConfig *config, double *fp64_original,
                VerifyRow *row, Err *err) {
    Judge judge;
    *row = (VerifyRow){.scene = workload->scene.name};
    bool ok = judge_init(&judge, workload, config->dtype, config->align, fp64_original, err) &&
              judge_kernel(&judge, config->kernel, row, err);
    judge_free(&judge);
    return ok;
}

/* What verify_run hands down. */
typedef struct {
    const BenchPlan *plan;
    VerifyRow row;
    VerifyCount *count;
    void (*emit)(const VerifyRow *, void *);
    void *context;
} Verify;

static bool verify_problem(Verify *verify, Judge *judge, Err *err) {
    const BenchPlan *plan = verify->plan;
    for (int i = 0; bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (!(plan->where & 1u << kernel->where) || (plan->only && plan->only != kernel) ||
            kernel->wrong_on_purpose || !kernel->launch)
            continue;
        const char *scene = verify->row.scene;
        verify->row = (VerifyRow){.scene = scene};
        if (!judge_kernel(judge, kernel, &verify->row, err))
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
        Judge judge;
        ok = judge_init(&judge, workload, (BevDtype)dtype, align, fp64_original, err) &&
             verify_problem(verify, &judge, err);
        judge_free(&judge);
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
