/* SPDX-License-Identifier: MIT */
#include "src/try/job.h"

#include "kernels/cpu/cpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SEED = 1, MAP_COLUMNS = 60, MAP_ROWS = 20, TEXT = 200 };

/* ---- how a run ended, as a sentence ---------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void
set_verdict(TryResult *result, TryVerdict verdict, const char *hint, const char *what, ...) {
    va_list args;
    va_start(args, what);
    vsnprintf(result->what, sizeof result->what, what, args);
    va_end(args);
    snprintf(result->hint, sizeof result->hint, "%s", hint);
    result->verdict = verdict;
}

/* Describes a signal: an access outside an array, a write to an input, or another crash. */
static void describe_signal(const JobHeader *job, TryResult *result) {
    const JobReport *report = &job->report;
    const char *name = report->array < JOB_INPUTS ? job_inputs[report->array] : "out";
    const char *signal = strsignal(report->signal);
    const int64_t element = report->element;
    const bool wild = report->signal == SIGSEGV;
    if (report->access == ACCESS_INSIDE)
        set_verdict(result, TRY_WRONG, "inputs are shared by all kernels: only out may be written",
                    "it wrote to an input, %s[%" PRId64 "]", name, element);
    else if (report->access == ACCESS_BEFORE)
        set_verdict(result, TRY_WRONG, "", "it accessed %s[%" PRId64 "], before the start of %s",
                    name, element, name);
    else if (report->access == ACCESS_AFTER)
        set_verdict(result, TRY_WRONG, "",
                    "it accessed %s[%" PRId64 "], after the end of %s: it has %zu elements", name,
                    element, name, job->arrays[report->array].bytes / 4);
    else if (report->access == ACCESS_NULL)
        set_verdict(result, TRY_STOPPED, "malloc may have returned NULL",
                    "it crashed: %s, through a NULL pointer", signal);
    else
        set_verdict(result, TRY_STOPPED,
                    wild ? "a wild pointer, or a large array on the stack" : "", "it crashed: %s%s",
                    signal, wild ? ", an address outside of every array" : "");
}

/* Whether the kernel returned from all calls. Otherwise the result says what happened. */
static bool kernel_has_run(const Job *job, TryResult *result) {
    const JobReport *report = &job->header.report;
    const ChildEnd *end = &job->end;
    if (end->timed_out || (report->state == JOB_SIGNAL && report->signal == SIGXCPU))
        set_verdict(result, TRY_STOPPED, "is there a loop without end?",
                    "it did not end within %g s", job->header.limit_s);
    else if (report->state == JOB_SIGNAL)
        describe_signal(&job->header, result);
    else if (report->state == JOB_CRASHED)
        set_verdict(result, TRY_STOPPED, "", "it crashed on the GPU: %.*s", TEXT, report->text);
    else if (report->state == JOB_TRESPASSED)
        set_verdict(result, TRY_WRONG, "", "%.*s", TEXT, report->text);
    else if (report->state == JOB_DONE)
        return true;
    else if (WIFSIGNALED(end->status))
        set_verdict(result, TRY_STOPPED, "", "it was ended by a signal: %s",
                    strsignal(WTERMSIG(end->status)));
    else
        set_verdict(result, TRY_STOPPED, "a kernel returns to its caller",
                    "it ended the program itself, with exit status %d", WEXITSTATUS(end->status));
    return false;
}

/* Runs the job. False: the kernel did not run at all, and `err` has the reason. */
static bool run_kernel(Job *job, const TryKernel *kernel, Err *err) {
    const JobReport *report = &job->header.report;
    if (!job_run(job, job->header.instead[0] ? -1 : kernel->library, err))
        return false;
    if (report->state == JOB_NO_FUNCTION)
        return err_set(err, ERR_FAILED, kernel->file,
                       "bevscope try --new FILE writes one that runs",
                       "has no function void pool(const Pool *p)");
    if (report->state == JOB_NO_LIBRARY)
        return err_set(err, ERR_FAILED, kernel->file, "", "cannot be loaded: %.*s", TEXT,
                       report->text);
    if (report->state == JOB_FAILED)
        return err_set(err, ERR_FAILED, "runner", "", "%.*s", TEXT, report->text);
    return report->state != JOB_BEGUN || job->end.timed_out ||
           err_set(err, ERR_FAILED, "runner", "", "does not start: exit status %d",
                   WEXITSTATUS(job->end.status));
}

/* Returns the beginning of the output and the amount that was cut. The caller frees. NULL: none. */
static char *printed_text(const ChildEnd *end) {
    const uint64_t more = end->output_length - end->length;
    char *text = NULL;
    if (!more)
        return end->output_length ? strdup(end->output) : NULL;
    int length = asprintf(&text, "%s\n(%" PRIu64 " more bytes are cut)\n", end->output, more);
    return length < 0 ? NULL : text;
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void describe_gate(TryResult *result, char gate, const GateResult *g, const char *which) {
    const char *hint = "";
    const ShortText got = isnan(g->got) ? (ShortText){"NaN"} : short_text("%.9g", g->got);
    const ShortText bound = gate == 'A' ? short_text(" +- %.2g", g->bound) : (ShortText){""};
    if (isnan(g->got))
        hint = "out is NaN before the call: was this element written?";
    else if (g->got == 0 && g->want != 0)
        hint = "cleared, and then no point came";
    else if (gate == 'C')
        hint = "small whole numbers, exact in any order: a point is missing, double or misplaced";
    set_verdict(result, TRY_WRONG, hint,
                "gate %c%s: %lld of %lld values wrong, the first at cell %lld, channel %lld: %s "
                "instead of %.9g%s",
                gate, which, (long long)g->bad, (long long)g->checked, (long long)g->cell,
                (long long)g->channel, got.text, g->want, bound.text);
}

/* Judges the output of one call by gate A, or by gate C: `abs_sum` is NULL then. */
static bool passes_gate(const Job *job, int call, const double *reference, const double *abs_sum,
                        const int32_t *points, uint8_t *bad, TryResult *result) {
    const BevProblem *problem = &job->header.problem;
    const GateResult gate =
        gate_kernel(problem, BEV_FP32, job_output(job, call), reference, abs_sum, points, bad);
    if (call == 0 && abs_sum) /* once for a case */
        result->nan_both += gate.nan_both;
    if (gate_passes(&gate, &problem->map))
        return true;
    describe_gate(result, abs_sum ? 'A' : 'C', &gate, call ? ", second run" : "");
    result->bad_cells =
        bad_cells_map(bad, problem->shape.nx, problem->shape.ny, MAP_COLUMNS, MAP_ROWS);
    return false;
}

/* Judges the outputs of all calls. The band before an output must be unchanged, and the output must
 * pass its gate. FP64 is computed here, after the run, so that no kernel can read the result. */
static bool judge_job(const Job *job, bool exact, TryResult *result, Err *err) {
    const BevProblem *problem = &job->header.problem;
    const int64_t cells = problem->out.rows, values = cells * problem->out.row_len;
    int32_t *points = gate_terms(problem, err);
    CpuArrays arrays = {0};
    double *reference = cpu_take(&arrays, values, sizeof *reference);
    double *abs_sum = exact ? NULL : cpu_take(&arrays, values, sizeof *abs_sum);
    uint8_t *bad = cpu_take(&arrays, cells, sizeof *bad);
    bool ok = points && (!arrays.failed || err_no_memory(err, "try", "choose a smaller scene"));
    if (ok)
        bev_reference(problem, reference, abs_sum);
    for (int call = 0; ok && result->verdict == TRY_RIGHT && call < job->header.calls; call++) {
        const int64_t before = job_band_broken(job, call);
        if (before)
            set_verdict(result, TRY_WRONG, "", "it wrote out[%" PRId64 "], before the start of out",
                        -before);
        else if (passes_gate(job, call, reference, abs_sum, points, bad, result) && call)
            result->varies = memcmp(job_output(job, 0), job_output(job, 1),
                                    job->header.arrays[JOB_INPUTS].bytes);
    }
    cpu_free(&arrays);
    free(points);
    return ok;
}

/* Runs the kernel `calls` times on one problem. A single call is judged by gate C, more calls by
 * gate A. A correct kernel leaves the result unchanged. */
static bool run_and_judge(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                          int calls, TryResult *result, Err *err) {
    Job job = {
        .header = {.problem = *problem, .cuda = kernel->cuda, .calls = calls, .limit_s = limit_s}};
    bool ok = run_kernel(&job, kernel, err);
    if (ok && !result->printed)
        result->printed = printed_text(&job.end);
    if (ok && kernel_has_run(&job, result))
        ok = judge_job(&job, calls == 1, result, err);
    job_close(&job);
    return ok;
}

bool try_problem(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                 TryResult *result, Err *err) {
    HostProblem exact = {0};
    *result = (TryResult){.verdict = TRY_RIGHT};
    bool ok = run_and_judge(kernel, problem, limit_s, JOB_CALLS, result, err);
    if (ok && result->verdict == TRY_RIGHT)
        ok = gate_exact_like(&exact, problem, SEED, err) &&
             run_and_judge(kernel, &exact.view, limit_s, 1, result, err);
    problem_free(&exact);
    return ok;
}

bool try_case(const TryKernel *kernel, const Case *c, double limit_s, TryResult *result, Err *err) {
    CaseData data;
    HostProblem host = {0};
    *result = (TryResult){.verdict = TRY_RIGHT};
    if (!case_build(c, BEV_NEAREST, CASE_SHORTENED, SEED, &data, err))
        return false;
    bool ok =
        problem_encode(&host, &data.shape, BEV_FP32, BEV_NEAREST, &data.features, &data.map, err) &&
        try_problem(kernel, &host.view, limit_s, result, err);
    problem_free(&host);
    case_free(&data);
    return ok;
}

void try_result_free(TryResult *result) {
    free(result->bad_cells);
    free(result->printed);
    *result = (TryResult){.verdict = TRY_RIGHT};
}

/* ---- timing ---------------------------------------------------------------------------------- */

bool try_time(const TryKernel *kernel, const BevKernel *instead, const BevProblem *problem,
              const TimingOptions *options, double limit_s, Timing *timing, Err *err) {
    Job job = {
        .header = {
            .problem = *problem, .cuda = kernel->cuda, .timing = *options, .limit_s = limit_s}};
    TryResult result = {.verdict = TRY_RIGHT};
    snprintf(job.header.instead, sizeof job.header.instead, "%s", instead ? instead->name : "");
    bool ok = run_kernel(&job, kernel, err);
    if (ok && !kernel_has_run(&job, &result))
        ok = err_set(err, ERR_FAILED, instead ? instead->name : kernel->file, result.hint,
                     "while it was timed: %s", result.what);
    *timing = job.header.report.timing;
    job_close(&job);
    return ok;
}
