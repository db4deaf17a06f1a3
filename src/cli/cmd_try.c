/* SPDX-License-Identifier: MIT */
/* bevscope try: judges a learner's kernel, and times it beside the kernels of this program. */
#include "kernels/clean.h"
#include "src/base/progress.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"
#include "src/try/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_CASES = 3, MESSAGE_LINES = 40, MAX_TEMPLATE = 1 << 16 };

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct {
    const Options *options;
    TryKernel kernel;
    char file[128], scene[64]; /* names that are safe to print */
    int cases, wrong;
    bool varies; /* the result varies between runs of some case */
    bool printed;
} Trial;

/* Prints the first `most` lines of a text, with an indent. Returns the number of all its lines. */
static int print_lines(const char *text, const char *indent, int most, FILE *out) {
    int lines = 0;
    for (const char *line = text; *line; lines++) {
        int length = (int)strcspn(line, "\n");
        if (lines < most)
            fprintf(out, "%s%.*s\n", indent, length, line);
        line += length + (line[length] != '\0');
    }
    return lines;
}

/* Prints a wrong case. Only the first SHOWN_CASES wrong cases are explained. */
static void show_wrong(const Trial *trial, const char *name, const TryResult *result) {
    if (trial->wrong > SHOWN_CASES) {
        printf("WRONG  %s\n", name);
        return;
    }
    printf("WRONG  %s: %s\n", name, result->what);
    if (result->hint[0])
        printf("       (%s)\n", result->hint);
    if (result->bad_cells && trial->wrong == 1) {
        puts("       Wrong cells, x forward up, y to the left:");
        print_lines(result->bad_cells, "       ", INT_MAX, stdout);
    }
}

/* Counts a result, and shows a wrong one. False: the kernel did not return, and judging ends. */
static bool show_result(Trial *trial, const char *name, const TryResult *result, Err *err) {
    trial->cases++;
    trial->wrong += result->verdict == TRY_WRONG;
    trial->varies = trial->varies || result->varies;
    if (result->verdict == TRY_WRONG)
        show_wrong(trial, name, result);
    if (result->nan_both)
        printf("%s: %lld values of FP64 are NaN, and those of out, too: they are not compared\n",
               name, (long long)result->nan_both);
    if (result->printed && !trial->printed) {
        printf("What it printed in case %s, and in others perhaps:\n", name);
        print_lines(result->printed, "       ", INT_MAX, stdout);
        trial->printed = true;
    }
    return result->verdict != TRY_STOPPED ||
           err_set(err, ERR_FAILED, trial->kernel.file, result->hint, "case %s: %s", name,
                   result->what);
}

/* Judges a case. `c` NULL: the problem of the scene that will be timed. */
static bool judge_case(Trial *trial, const char *name, const Case *c, const BevProblem *problem,
                       Err *err) {
    TryResult result = {.verdict = TRY_RIGHT};
    const double limit_s = trial->options->limit_s;
    progress_part(name);
    bool ok = c ? try_case(&trial->kernel, c, limit_s, &result, err)
                : try_problem(&trial->kernel, problem, limit_s, &result, err);
    progress_hide();
    ok = ok && show_result(trial, name, &result, err);
    try_result_free(&result);
    return ok;
}

static bool judge_all(Trial *trial, const BevProblem *problem, Err *err) {
    progress_hide();
    printf("%s: compiled by %s; judged in FP32, nearest, by gates A and C\n", trial->file,
           trial->kernel.command);
    bool ok = true;
    for (int i = 0; ok && i < case_count(); i++) {
        const Case c = case_at(i);
        ok = judge_case(trial, c.name, &c, NULL, err);
    }
    const ShortText scene =
        short_text("%s with C = %lld", trial->scene, (long long)problem->shape.channels);
    ok = ok && judge_case(trial, scene.text, NULL, problem, err);
    fflush(stdout); /* the text must come before the line of an error */
    if (!ok)
        return false;
    if (trial->wrong)
        return err_set(err, ERR_GATE, trial->kernel.file, "it is timed once it is right",
                       "%d of %d cases wrong", trial->wrong, trial->cases);
    printf("All %d cases are right; two runs gave %s.\n\n", trial->cases,
           trial->varies ? "different bits, within the bound: the order of the additions changes"
                         : "the same bits");
    return true;
}

/* ---- the ladder ------------------------------------------------------------------------------ */

enum { LADDER = 16 };
typedef struct {
    const BevKernel *kernel; /* NULL: the learner's kernel */
    Timing timing;
} TimedRow;

/* Whether the learner's kernel is compared with this one: it is correct, on the same device. */
static bool is_compared(const TryKernel *own, const BevKernel *kernel, const BevProblem *problem) {
    const BevWhere device = own->cuda ? BEV_CUDA : BEV_CPU;
    if (kernel->where != device || (device == BEV_CPU && !kernel->counterpart))
        return false; /* the ladder of the CPU has the kernels that exist on both devices */
    return bev_is_listed(kernel) && !kernel->wrong_on_purpose && !bev_unsupported(kernel, problem);
}

/* Times the learner's kernel and the kernels of the same device, each in a process of its own. No
 * launch of the learner's kernel may exceed the limit. Returns their number; 0: failed. */
static int time_ladder(const Trial *trial, const BevProblem *problem, TimedRow rows[LADDER],
                       Err *err) {
    const double launches = 8; /* the fewest launches of a timing, warm-up included */
    const TimingOptions *timing = trial->options->quick ? &timing_quick : &timing_default;
    double limit_s = launches * trial->options->limit_s + timing->max_s;
    int count = 0;
    for (int i = 0; bev_kernels[i] && count < LADDER - 1; i++)
        if (is_compared(&trial->kernel, bev_kernels[i], problem))
            rows[count++].kernel = bev_kernels[i];
    rows[count++].kernel = NULL;
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        progress_part(rows[i].kernel ? rows[i].kernel->title : "yours");
        ok = try_time(&trial->kernel, rows[i].kernel, problem, timing, limit_s, &rows[i].timing,
                      err);
    }
    progress_end();
    return ok ? count : 0;
}

static int compare_latencies(const void *a, const void *b) {
    const TimedRow *first = a, *second = b;
    const double first_us = first->timing.median_us, second_us = second->timing.median_us;
    return (first_us > second_us) - (first_us < second_us);
}

/* Prints the ladder with the learner's kernel in its place, the fastest first. */
static bool print_ladder(const Trial *trial, const BevProblem *problem, Err *err) {
    TimedRow rows[LADDER];
    Report report = {0};
    Machine machine;
    const Timing *v2 = NULL;
    int count = time_ladder(trial, problem, rows, err);
    machine_read(&machine);
    qsort(rows, (size_t)count, sizeof *rows, compare_latencies);
    for (int i = 0; i < count; i++)
        if (rows[i].kernel && rows[i].kernel->is_baseline)
            v2 = &rows[i].timing;
    for (int i = 0; i < count; i++) {
        const Timing *timing = &rows[i].timing;
        report_row(&report);
        add_text(&report, "kernel", "kernel", rows[i].kernel ? rows[i].kernel->title : "yours");
        add_real(&report, "median_us", "median us", 4, timing->median_us);
        add_real(&report, "times_v2", "times V2", 3, v2 ? timing_ratio(v2, timing) : NAN);
        add_bool(&report, "settled", "settled", timing->settled);
    }
    if (count)
        printf("%s, C = %lld, FP32, nearest, caches warm; measured on %s. Medians of launches in a "
               "row.\nTimes V2: the speed as a multiple of V2's, where both have settled.\n\n",
               trial->scene, (long long)problem->shape.channels,
               trial->kernel.cuda ? machine.gpu : machine.cpu);
    report_text(&report, stdout);
    return count;
}

/* ---- one try --------------------------------------------------------------------------------- */

static bool try_once(const Options *options, Err *err) {
    const char *file = options->arguments[0];
    const char *scene = options->argument_count > 1 ? options->arguments[1] : "canonical";
    static Trial trial;
    static Workload workload;
    static HostProblem host;
    trial.options = options;
    clean_text(file, trial.file, sizeof trial.file);
    clean_text(scene, trial.scene, sizeof trial.scene);
    const bool ok = try_compile(file, &trial.kernel, err);
    const char *messages = trial.kernel.messages; /* warnings, also after a success */
    progress_hide();
    int lines = messages ? print_lines(messages, "", MESSAGE_LINES, stderr) : 0;
    if (lines > MESSAGE_LINES)
        fprintf(stderr, "(%d more lines)\n", lines - MESSAGE_LINES);
    return ok && select_open(&workload, scene, options, err) &&
           workload_problem(&workload, BEV_FP32, BEV_NEAREST, &host, err) &&
           judge_all(&trial, &host.view, err) && print_ladder(&trial, &host.view, err);
}

static bool write_template(const char *file, Err *err) {
    static char *text;
    char path[4096];
    const char *sample = data_has_suffix(file, ".c") ? "samples/try/pool.c" : "samples/try/pool.cu";
    size_t length;
    if (access(file, F_OK) == 0)
        return err_set(err, ERR_FAILED, file, "choose another name",
                       "there is such a file already");
    if (!data_path(sample, path, sizeof path, err) ||
        !data_read(path, MAX_TEMPLATE, &text, &length, err) || !data_write(file, text, length, err))
        return false;
    if (clean_for_shell(file, path, sizeof path))
        printf("%s is written. Next: bevscope try %s\n", path, path);
    return true;
}

bool cmd_try(const Options *options, Err *err) {
    const char *file = options->arguments[0];
    if (!data_has_suffix(file, ".c") && !data_has_suffix(file, ".cu"))
        return err_set(err, ERR_USAGE, file, "such as pool.c",
                       "a kernel is a file in C or CUDA, whose name ends in .c or .cu");
    return options->create ? write_template(file, err) : try_once(options, err);
}
