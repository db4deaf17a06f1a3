#include "src/try/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define NOT_A_TIME                                                                                 \
    "times are taken in the kernel's own process: does it write to memory that is not its own?"

enum { SEED = 1, MAP_COLUMNS = 60, MAP_ROWS = 20, TEXT = 200 };

/* ---- how a run ended, in words --------------------------------------------------------------- */

static void say(TryResult *result, TryVerdict verdict, const char *hint, const char *what, ...)
    __attribute__((format(printf, 4, 5)));

static void say(TryResult *result, TryVerdict verdict, const char *hint, const char *what, ...) {
    va_list args;
    va_start(args, what);
    vsnprintf(result->what, sizeof result->what, what, args);
    va_end(args);
    snprintf(result->hint, sizeof result->hint, "%s", hint);
    result->verdict = verdict;
}

/* An access outside an array, or a write to an input. */
static void say_access(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    const JobArray *array = &job->arrays[report->array];
    const char *did = report->writes < 0 ? "accessed" : report->writes ? "wrote" : "read";
    int64_t count = (int64_t)(array->bytes / 4), element = report->element;
    if (report->access == ACCESS_INSIDE)
        say(result, TRY_WRONG, "inputs are shared by all kernels: only out may be written",
            "it wrote to an input, %s[%" PRId64 "]", array->name, element);
    else if (report->access == ACCESS_BEFORE)
        say(result, TRY_WRONG, "", "it %s %s[%" PRId64 "], before the start of %s", did,
            array->name, element, array->name);
    else
        say(result, TRY_WRONG, "",
            "it %s %s[%" PRId64 "], after the end of %s: it has %" PRId64 " elements", did,
            array->name, element, array->name, count);
}

static void say_signal(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    if (report->access >= ACCESS_BEFORE && report->access <= ACCESS_INSIDE)
        say_access(job, result);
    else if (report->signal == SIGXCPU)
        say(result, TRY_STOPPED, "is there a loop without end?", "it did not end within %g s",
            job->header.limit_s);
    else if (report->access == ACCESS_STACK)
        say(result, TRY_STOPPED, "large arrays go to malloc, and recursion needs an end",
            "the stack overflowed");
    else if (report->access == ACCESS_NULL)
        say(result, TRY_STOPPED, "malloc may have returned NULL",
            "it crashed: %s, through a NULL pointer", strsignal(report->signal));
    else
        say(result, TRY_STOPPED, "", "it crashed: %s%s", strsignal(report->signal),
            report->signal == SIGSEGV ? ", an address outside of every array" : "");
}

/* Whether the kernel returned from all calls; else the result says what happened. */
static bool ran(const Job *job, TryResult *result) {
    const JobReport *report = &job->report;
    const ChildEnd *end = &job->end;
    if (end->timed_out)
        say(result, TRY_STOPPED, "is there a loop without end?", "it did not end within %g s",
            job->header.limit_s);
    else if (report->state == JOB_SIGNAL)
        say_signal(job, result);
    else if (report->state == JOB_CRASHED)
        say(result, TRY_STOPPED, "", "it crashed on the GPU: %.*s", TEXT, report->text);
    else if (report->state == JOB_TRESPASSED)
        say(result, TRY_WRONG, "", "%.*s", TEXT, report->text);
    else if (report->state == JOB_DONE)
        return true;
    else if (WIFSIGNALED(end->status))
        say(result, TRY_STOPPED, "", "it was ended by a signal: %s",
            strsignal(WTERMSIG(end->status)));
    else
        say(result, TRY_STOPPED, "a kernel returns to its caller",
            "it ended the program itself, with exit status %d", WEXITSTATUS(end->status));
    return false;
}

/* The reason why a kernel did not run at all. */
static bool loaded(const Job *job, const TryKernel *kernel, Err *err) {
    const JobReport *report = &job->report;
    if (report->state == JOB_NO_FUNCTION)
        return err_set(err, ERR_FAILED, kernel->file,
                       "bevscope try --new FILE writes one that runs",
                       "has no function void pool(const Pool *p)");
    if (report->state == JOB_NO_LIBRARY)
        return err_set(err, ERR_FAILED, kernel->file,
                       kernel->cuda ? "" : "programs must be allowed to run from TMPDIR",
                       "cannot be loaded: %.*s", TEXT, report->text);
    if (report->state == JOB_FAILED)
        return err_set(err, ERR_FAILED, "runner", "", "%.*s", TEXT, report->text);
    if (report->state == JOB_BEGUN && !job->end.timed_out)
        return err_set(err, ERR_FAILED, "runner", "", "does not start: exit status %d",
                       WEXITSTATUS(job->end.status));
    return true;
}

/* ---- what it printed ------------------------------------------------------------------------- */

enum { SHOWN_LINES = 12, SHOWN_BYTES = 1000 };

/* The first lines, and how much was cut. The caller frees it; NULL: nothing was printed. */
static char *printed(const ChildEnd *end) {
    size_t shown = 0;
    if (!end->output_length)
        return NULL;
    for (int lines = 0; shown < end->length && shown < SHOWN_BYTES && lines < SHOWN_LINES; shown++)
        lines += end->output[shown] == '\n';
    char *text = malloc(shown + 80);
    if (!text)
        return NULL;
    memcpy(text, end->output, shown);
    bool ends = shown > 0 && text[shown - 1] == '\n';
    if (end->output_length > shown)
        snprintf(text + shown, 80, "%s(%" PRIu64 " more bytes are cut)\n", ends ? "" : "\n",
                 end->output_length - shown);
    else
        snprintf(text + shown, 80, "%s", ends ? "" : "\n");
    return text;
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void say_gate(TryResult *result, char gate, const GateResult *g, const char *which) {
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
    say(result, TRY_WRONG, hint,
        "gate %c%s: %lld of %lld values wrong, the first at cell %lld, channel %lld: %s "
        "instead of %.9g%s",
        gate, which, (long long)g->bad, (long long)g->checked, (long long)g->cell,
        (long long)g->channel, got, g->want, bound);
}

/* A problem and its result in FP64. */
typedef struct {
    const BevProblem *problem;
    double *reference, *abs_sum;
    uint8_t *bad;
    int32_t *points; /* of each cell */
} Truth;

static void truth_free(Truth *truth) {
    free(truth->reference);
    free(truth->abs_sum);
    free(truth->bad);
    free(truth->points);
}

static bool truth_init(Truth *truth, const BevProblem *problem, Err *err) {
    size_t cells = (size_t)problem->out.rows;
    size_t bytes = cells * (size_t)problem->out.row_len * sizeof(double);
    *truth = (Truth){problem, malloc(bytes), malloc(bytes), malloc(cells),
                     gate_terms(problem, err)};
    if (!truth->points)
        return false;
    if (!truth->reference || !truth->abs_sum || !truth->bad)
        return err_set(err, ERR_FAILED, "try", "choose a smaller scene", "out of memory");
    bev_reference(problem, truth->reference, truth->abs_sum);
    return true;
}

/* Applies gate A (`exact`: C) to the output of one call. */
static bool passes(const Truth *truth, const Job *job, int call, bool exact, TryResult *result) {
    const BevProblem *problem = truth->problem;
    const void *codes = job_output(job, call);
    GateResult g =
        exact ? gate_exact(problem, codes, truth->reference, truth->points, truth->bad)
              : gate_kernel(problem, BEV_FP32, codes, truth->reference, truth->abs_sum,
                            truth->points, truth->bad);
    result->nan_both += call || exact ? 0 : g.nan_both;
    if (gate_passes(&g, &problem->map))
        return true;
    say_gate(result, exact ? 'C' : 'A', &g, call ? ", second run" : "");
    result->bad_cells =
        bad_cells_map(truth->bad, problem->shape.nx, problem->shape.ny, MAP_COLUMNS, MAP_ROWS);
    return false;
}

/* The band, the gate and the bits of a job that ran. */
static void judge(const Truth *truth, const Job *job, bool exact, TryResult *result) {
    size_t bytes = job->arrays[JOB_INPUTS].bytes;
    for (int call = 0; call < job->header.calls; call++) {
        int64_t before = job_band_broken(job, call);
        if (before) {
            say(result, TRY_WRONG, "", "it wrote out[%" PRId64 "], before the start of out",
                -before);
            return;
        }
        if (!passes(truth, job, call, exact, result))
            return;
    }
    if (job->header.calls > 1 && memcmp(job_output(job, 0), job_output(job, 1), bytes) != 0)
        result->varies = true;
}

/* Runs the kernel on one problem and judges it. The result stays as it is where all is right. */
static bool run_and_judge(const TryKernel *kernel, const BevProblem *problem, const JobHeader *task,
                          bool exact, TryResult *result, Err *err) {
    Truth truth = {0};
    Job job;
    bool ok = job_open(&job, problem, task, err) && job_run(&job, kernel->library, err) &&
              loaded(&job, kernel, err) &&
              truth_init(&truth, problem, err); /* after the run: nobody can look it up */
    if (ok) {
        result->run_s += job.end.wall_s;
        if (!result->printed)
            result->printed = printed(&job.end);
        if (ran(&job, result))
            judge(&truth, &job, exact, result);
    }
    truth_free(&truth);
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
    bool ok = gate_exact_problem(&exact, &problem->shape, BEV_FP32, BEV_NEAREST, &problem->map,
                                 SEED, err) &&
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

/* A kernel can write to the memory in which its time is taken. */
static bool check_timing(const TryKernel *kernel, const BevKernel *instead, const Timing *timing,
                         Err *err) {
    const double *times[] = {&timing->median_us, &timing->p95_us, &timing->p99_us, &timing->min_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!(*times[i] > 0 && *times[i] < 1e12))
            return err_set(err, ERR_FAILED, instead ? instead->name : kernel->file, NOT_A_TIME,
                           "%g us is no time", *times[i]);
    return true;
}

/* Seconds that a process takes for 1 + `repeats` calls, by the clock of this process. The last
 * output is judged. */
static bool time_outside(const TryKernel *kernel, const BevProblem *problem, int repeats,
                         double limit_s, double *seconds, Err *err) {
    const JobHeader task = {.calls = 1, .repeats = repeats, .limit_s = limit_s};
    TryResult result = {.verdict = TRY_RIGHT};
    bool ok = run_and_judge(kernel, problem, &task, false, &result, err);
    *seconds = result.run_s;
    if (ok && result.verdict != TRY_RIGHT)
        ok = err_set(err, ERR_FAILED, kernel->file, result.hint, "when called %d times: %s",
                     repeats + 1, result.what);
    try_result_free(&result);
    return ok;
}

/* Whether calls take about as long as the runner says, and stay right. Other programs may have the
 * cores, and printing takes longer than a median says. */
static bool confirm(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                    double median_us, Err *err) {
    const double long_enough_us = 2e5, slack_us = 3e5, most = 4e6, factor = 20;
    int repeats = (int)fmin(fmax(long_enough_us / median_us, 3), most);
    double once_s, all_s;
    if (!time_outside(kernel, problem, 0, limit_s, &once_s, err) ||
        !time_outside(kernel, problem, repeats, limit_s, &all_s, err))
        return false;
    double each_us = ((all_s - once_s) * 1e6 - slack_us) / repeats;
    return each_us < factor * median_us ||
           err_set(err, ERR_FAILED, kernel->file, NOT_A_TIME,
                   "its time is given as %.3g us, but %d calls took %.3g us each", median_us,
                   repeats, each_us);
}

bool try_time(const TryKernel *kernel, const BevKernel *instead, const BevProblem *problem,
              const TimingOptions *options, double limit_s, Timing *timing, Err *err) {
    JobHeader task = {.cuda = kernel->cuda, .timing = *options, .limit_s = limit_s};
    TryResult result = {.verdict = TRY_RIGHT};
    Job job;
    snprintf(task.instead, sizeof task.instead, "%s", instead ? instead->name : "");
    bool ok = job_open(&job, problem, &task, err) &&
              job_run(&job, instead ? -1 : kernel->library, err) && loaded(&job, kernel, err);
    if (ok && !ran(&job, &result))
        ok = err_set(err, ERR_FAILED, instead ? instead->name : kernel->file, result.hint,
                     "while it was timed: %s", result.what);
    if (ok)
        *timing = job.report.timing;
    job_close(&job);
    return ok && check_timing(kernel, instead, timing, err) &&
           (instead || kernel->cuda || confirm(kernel, problem, limit_s, timing->median_us, err));
}
