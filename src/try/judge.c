/* SPDX-License-Identifier: MIT */
#include "src/try/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

/* Describes an access outside an array, or a write to an input. */
static void describe_access(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    const char *name = report->array < JOB_INPUTS ? job_inputs[report->array] : "out";
    int64_t count = (int64_t)(job->header.arrays[report->array].bytes / 4);
    int64_t element = report->element;
    if (report->access == ACCESS_INSIDE)
        set_verdict(result, TRY_WRONG, "inputs are shared by all kernels: only out may be written",
                    "it wrote to an input, %s[%" PRId64 "]", name, element);
    else if (report->access == ACCESS_BEFORE)
        set_verdict(result, TRY_WRONG, "", "it accessed %s[%" PRId64 "], before the start of %s",
                    name, element, name);
    else
        set_verdict(result, TRY_WRONG, "",
                    "it accessed %s[%" PRId64 "], after the end of %s: it has %" PRId64 " elements",
                    name, element, name, count);
}

static void describe_signal(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    if (report->access >= ACCESS_BEFORE && report->access <= ACCESS_INSIDE)
        describe_access(job, result);
    else if (report->access == ACCESS_NULL)
        set_verdict(result, TRY_STOPPED, "malloc may have returned NULL",
                    "it crashed: %s, through a NULL pointer", strsignal(report->signal));
    else
        set_verdict(result, TRY_STOPPED,
                    report->signal == SIGSEGV ? "a wild pointer, or a large array on the stack"
                                              : "",
                    "it crashed: %s%s", strsignal(report->signal),
                    report->signal == SIGSEGV ? ", an address outside of every array" : "");
}

/* Whether the kernel returned from all calls. Otherwise the result says what happened. */
static bool kernel_has_run(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    const ChildEnd *end = &job->end;
    if (end->timed_out || (report->state == JOB_SIGNAL && report->signal == SIGXCPU))
        set_verdict(result, TRY_STOPPED, "is there a loop without end?",
                    "it did not end within %g s", job->header.limit_s);
    else if (report->state == JOB_SIGNAL)
        describe_signal(job, result);
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

/* Whether the kernel ran at all. Otherwise `err` has the reason. */
static bool kernel_has_loaded(const Job *job, const TryKernel *kernel, Err *err) {
    const JobReport *report = &job->report;
    if (report->state == JOB_NO_FUNCTION)
        return err_set(err, ERR_FAILED, kernel->file,
                       "bevscope try --new FILE writes one that runs",
                       "has no function void pool(const Pool *p)");
    if (report->state == JOB_NO_LIBRARY)
        return err_set(err, ERR_FAILED, kernel->file, "", "cannot be loaded: %.*s", TEXT,
                       report->text);
    if (report->state == JOB_FAILED)
        return err_set(err, ERR_FAILED, "runner", "", "%.*s", TEXT, report->text);
    if (report->state == JOB_BEGUN && !job->end.timed_out)
        return err_set(err, ERR_FAILED, "runner", "", "does not start: exit status %d",
                       WEXITSTATUS(job->end.status));
    return true;
}

/* Returns the beginning of the output and the amount that was cut. The caller frees. NULL: none. */
static char *printed_text(const ChildEnd *end) {
    char *text = NULL;
    const uint64_t more = end->output_length - end->length;
    int length = !end->output_length ? 0
                 : more
                     ? asprintf(&text, "%s\n(%" PRIu64 " more bytes are cut)\n", end->output, more)
                     : asprintf(&text, "%s", end->output);
    return length < 0 ? NULL : text;
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void describe_gate(TryResult *result, char gate, const GateResult *g, const char *which) {
    char bound[40] = "", got[40] = "NaN";
    const char *hint = "";
    if (!isnan(g->got))
        snprintf(got, sizeof got, "%.9g", g->got);
    if (gate == 'A')
        snprintf(bound, sizeof bound, " +- %.2g", g->bound);
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
                (long long)g->channel, got, g->want, bound);
}

/* A problem and its FP64 result. */
typedef struct {
    const BevProblem *problem;
    double *reference, *abs_sum;
    uint8_t *bad;
    int32_t *points; /* number of points of each cell */
} Truth;

static bool compute_truth(Truth *truth, const BevProblem *problem, Err *err) {
    size_t cells = (size_t)problem->out.rows;
    size_t bytes = cells * (size_t)problem->out.row_len * sizeof(double);
    *truth =
        (Truth){problem, malloc(bytes), malloc(bytes), malloc(cells), gate_terms(problem, err)};
    if (!truth->points)
        return false;
    if (!truth->reference || !truth->abs_sum || !truth->bad)
        return err_no_memory(err, "try", "choose a smaller scene");
    bev_reference(problem, truth->reference, truth->abs_sum);
    return true;
}

/* Applies gate A (`exact`: gate C) to the output of one call. */
static bool passes_gate(const Truth *truth, const Job *job, int call, bool exact,
                        TryResult *result) {
    const BevProblem *problem = truth->problem;
    const void *codes = job_output(job, call);
    GateResult g = exact ? gate_exact(problem, codes, truth->reference, truth->points, truth->bad)
                         : gate_kernel(problem, BEV_FP32, codes, truth->reference, truth->abs_sum,
                                       truth->points, truth->bad);
    result->nan_both += call || exact ? 0 : g.nan_both;
    if (gate_passes(&g, &problem->map))
        return true;
    describe_gate(result, exact ? 'C' : 'A', &g, call ? ", second run" : "");
    result->bad_cells =
        bad_cells_map(truth->bad, problem->shape.nx, problem->shape.ny, MAP_COLUMNS, MAP_ROWS);
    return false;
}

/* Judges a job that ran: the band, the gate and the bits of all calls. */
static void judge_job(const Truth *truth, const Job *job, bool exact, TryResult *result) {
    size_t bytes = job->header.arrays[JOB_INPUTS].bytes;
    for (int call = 0; call < job->header.calls; call++) {
        int64_t before = job_band_broken(job, call);
        if (before) {
            set_verdict(result, TRY_WRONG, "", "it wrote out[%" PRId64 "], before the start of out",
                        -before);
            return;
        }
        if (!passes_gate(truth, job, call, exact, result))
            return;
    }
    if (job->header.calls > 1 && memcmp(job_output(job, 0), job_output(job, 1), bytes) != 0)
        result->varies = true;
}

/* Runs the kernel on one problem and judges it. A correct kernel leaves the result unchanged. */
static bool run_and_judge(const TryKernel *kernel, const BevProblem *problem, const JobHeader *task,
                          bool exact, TryResult *result, Err *err) {
    Truth truth = {0};
    Job job;
    bool ok =
        job_open(&job, problem, task, err) && job_run(&job, kernel->library, err) &&
        kernel_has_loaded(&job, kernel, err) &&
        compute_truth(&truth, problem, err); /* after the run, so that no kernel can read it */
    if (ok) {
        if (!result->printed)
            result->printed = printed_text(&job.end);
        if (kernel_has_run(&job, result))
            judge_job(&truth, &job, exact, result);
    }
    free(truth.reference);
    free(truth.abs_sum);
    free(truth.bad);
    free(truth.points);
    job_close(&job);
    return ok;
}

bool try_problem(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                 TryResult *result, Err *err) {
    HostProblem exact = {0};
    *result = (TryResult){.verdict = TRY_RIGHT};
    JobHeader task = {.cuda = kernel->cuda, .calls = JOB_CALLS, .limit_s = limit_s};
    if (!run_and_judge(kernel, problem, &task, false, result, err))
        return false;
    if (result->verdict != TRY_RIGHT)
        return true;
    task.calls = 1;
    bool ok = gate_exact_like(&exact, problem, SEED, err) &&
              run_and_judge(kernel, &exact.view, &task, true, result, err);
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
    JobHeader task = {.cuda = kernel->cuda, .timing = *options, .limit_s = limit_s};
    TryResult result = {.verdict = TRY_RIGHT};
    Job job;
    snprintf(task.instead, sizeof task.instead, "%s", instead ? instead->name : "");
    bool ok = job_open(&job, problem, &task, err) &&
              job_run(&job, instead ? -1 : kernel->library, err) &&
              kernel_has_loaded(&job, kernel, err);
    if (ok && !kernel_has_run(&job, &result))
        ok = err_set(err, ERR_FAILED, instead ? instead->name : kernel->file, result.hint,
                     "while it was timed: %s", result.what);
    if (ok)
        *timing = job.report.timing;
    job_close(&job);
    return ok;
}
