/* SPDX-License-Identifier: MIT */
/* bevscope try: judges a kernel of the learner, and compares its time with the kernels here. */
#include "kernels/clean.h"
#include "src/base/data.h"
#include "src/cli/report.h"
#include "src/cli/selection.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 80, SHOWN_CASES = 3, MAX_CASES = 64, MESSAGE_LINES = 40, MAX_TEMPLATE = 1 << 16 };

static const char default_scene[] = "canonical";
static const double DEFAULT_LIMIT_S = 10;

static double time_limit(const Options *options) {
    return options->limit_s > 0 ? options->limit_s : DEFAULT_LIMIT_S;
}

/* ---- judging --------------------------------------------------------------------------------- */

typedef struct {
    const Options *options;
    TryKernel kernel;
    char file[128], scene[64]; /* names that are safe to print */
    int cases, wrong;
    int column;                     /* column in the line of right cases; 0: no line has begun */
    const char *unshown[MAX_CASES]; /* names of the wrong cases that are not shown */
    int unshown_count;
    bool varies; /* the result varies between runs of some case */
    bool printed;
} Trial;

/* Adds a name to a line that begins with `head`. */
static void list_name(Trial *trial, const char *head, const char *name) {
    int length = (int)strlen(name);
    if (trial->column == 0)
        trial->column = printf("%s  %s", head, name);
    else if (trial->column + 2 + length < COLUMNS)
        trial->column += printf(", %s", name);
    else
        trial->column = printf(",\n       %s", name) - 2;
}

static void end_line(Trial *trial) {
    if (trial->column)
        putchar('\n');
    trial->column = 0;
}

static void print_indented(const char *text) {
    for (const char *line = text; *line;) {
        int length = (int)strcspn(line, "\n");
        printf("       %.*s\n", length, line);
        line += length + (line[length] != '\0');
    }
}

static void show_wrong(Trial *trial, const char *name, const TryResult *result) {
    end_line(trial);
    printf("WRONG  %s: %s\n", name, result->what);
    if (result->hint[0])
        printf("       (%s)\n", result->hint);
    if (result->bad_cells && trial->wrong == 1) {
        puts("       Wrong cells, x forward up, y to the left:");
        print_indented(result->bad_cells);
    }
}

/* Shows a result; of many wrong cases only the first few. False with an error: the kernel did not
 * return, and no other case can be judged. `name` must live as long as the trial. */
static bool show_result(Trial *trial, const char *name, const TryResult *result, Err *err) {
    trial->cases++;
    trial->wrong += result->verdict == TRY_WRONG;
    trial->varies = trial->varies || result->varies;
    if (result->verdict == TRY_RIGHT)
        list_name(trial, "right", name);
    else if (result->verdict == TRY_WRONG && trial->wrong <= SHOWN_CASES)
        show_wrong(trial, name, result);
    else if (result->verdict == TRY_WRONG && trial->unshown_count < MAX_CASES)
        trial->unshown[trial->unshown_count++] = name;
    if (result->nan_both) {
        end_line(trial);
        printf("       %lld values of FP64 are NaN, and those of out, too: they are not compared\n",
               (long long)result->nan_both);
    }
    if (result->printed && !trial->printed) {
        end_line(trial);
        printf("What it printed in case %s, and in others perhaps:\n", name);
        print_indented(result->printed);
        trial->printed = true;
    }
    return result->verdict != TRY_STOPPED ||
           err_set(err, ERR_FAILED, trial->kernel.file, result->hint, "case %s: %s", name,
                   result->what);
}

static bool judge_cases(Trial *trial, Err *err) {
    bool ok = true;
    for (int i = 0; ok && i < case_count(); i++) {
        Case c = case_at(i);
        TryResult result = {.verdict = TRY_RIGHT};
        try_progress(c.name);
        ok = try_case(&trial->kernel, &c, time_limit(trial->options), &result, err);
        try_progress("");
        ok = ok && show_result(trial, c.name, &result, err);
        try_result_free(&result);
    }
    return ok;
}

/* Judges the scene that will be timed, with all its channels. */
static bool judge_scene(Trial *trial, const BevProblem *problem, Err *err) {
    static char name[96]; /* the trial borrows names */
    TryResult result = {.verdict = TRY_RIGHT};
    snprintf(name, sizeof name, "%s with C = %lld", trial->scene,
             (long long)problem->shape.channels);
    try_progress(name);
    bool ok = try_problem(&trial->kernel, problem, time_limit(trial->options), &result, err);
    try_progress("");
    ok = ok && show_result(trial, name, &result, err);
    try_result_free(&result);
    end_line(trial);
    return ok;
}

static bool judge_all(Trial *trial, const BevProblem *problem, Err *err) {
    printf("%s: compiled by %s; judged in FP32, nearest, by gates A and C\n", trial->file,
           trial->kernel.command);
    bool ok = judge_cases(trial, err) && judge_scene(trial, problem, err);
    end_line(trial);
    for (int i = 0; i < trial->unshown_count; i++)
        list_name(trial, "WRONG", trial->unshown[i]);
    end_line(trial);
    fflush(stdout); /* so that the text comes before the error's line */
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

/* ---- one try --------------------------------------------------------------------------------- */

/* Prints the compiler's messages on standard error, as a compiler does. */
static void print_messages(const char *messages) {
    int lines = 0;
    for (const char *line = messages ? messages : ""; *line; lines++) {
        int length = (int)strcspn(line, "\n");
        if (lines < MESSAGE_LINES)
            fprintf(stderr, "%.*s\n", length, line);
        line += length + (line[length] != '\0');
    }
    if (lines > MESSAGE_LINES)
        fprintf(stderr, "(%d more lines)\n", lines - MESSAGE_LINES);
}

/* Compiles the user's kernel, judges it, and times it beside the ladder. */
static bool try_once(const Options *options, Err *err) {
    const char *file = options->arguments[0];
    const char *scene = options->argument_count > 1 ? options->arguments[1] : default_scene;
    const Job wanted = select_job(options);
    Trial trial = {.options = options};
    PictureFile picture;
    Workload workload = {0};
    HostProblem host = {0};
    clean_text(file, trial.file, sizeof trial.file);
    clean_text(scene, trial.scene, sizeof trial.scene);
    if (options->output && !output_picture(options, options->output, "try", &picture, err))
        return false;
    bool ok = try_compile(file, &trial.kernel, err);
    print_messages(trial.kernel.messages);
    if (ok && select_open(&workload, scene, &wanted, err)) {
        ok = workload_problem(&workload, BEV_FP32, BEV_NEAREST, &host, err) &&
             judge_all(&trial, &host.view, err) &&
             try_ladder(options, &trial.kernel, trial.scene, &host.view, time_limit(options), err);
        problem_free(&host);
        workload_close(&workload);
    } else
        ok = false;
    if (fflush(stdout) != 0 && ok)
        ok = err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
    try_kernel_free(&trial.kernel);
    return ok;
}

/* ---- files and the editor -------------------------------------------------------------------- */

static bool check_name(const char *file, Err *err) {
    return data_has_suffix(file, ".c") || data_has_suffix(file, ".cu") ||
           err_set(err, ERR_USAGE, file, "such as pool.c",
                   "a kernel is a file in C or CUDA, whose "
                   "name ends in .c or .cu");
}

static bool write_template(const char *file, Err *err) {
    char path[4096], *text = NULL;
    const char *sample = data_has_suffix(file, ".c") ? "samples/try/pool.c" : "samples/try/pool.cu";
    size_t length;
    if (access(file, F_OK) == 0)
        return err_set(err, ERR_FAILED, file, "choose another name",
                       "there is such a file already");
    bool ok = data_path(sample, path, sizeof path, err) &&
              data_read(path, MAX_TEMPLATE, &text, &length, err) &&
              data_write(file, text, length, err);
    free(text);
    if (ok && clean_for_shell(file, path, sizeof path))
        printf("%s is written. Next: bevscope try %s\n", path, path);
    return ok;
}

static bool run_editor(const char *editor, const char *file, Err *err) {
    char command[1100];
    snprintf(command, sizeof command, "%s \"$1\"", editor);
    fflush(stdout);
    /* While the editor runs, it alone handles the keys that interrupt. */
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    int status = 0, why = errno;
    if (pid == 0) {
        signal(SIGINT, interrupt);
        signal(SIGQUIT, quit);
        execl("/bin/sh", "sh", "-c", command, "sh", file, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        ;
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    if (pid < 0)
        return err_set(err, ERR_FAILED, editor, "", "cannot be started: %s", strerror(why));
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           err_set(err, ERR_FAILED, editor, "set VISUAL or EDITOR", "the editor did not end well");
}

/* Returns the learner's editor. NULL with an error: there is none, or no terminal for it. */
static const char *find_editor(Err *err) {
    const char *editor = getenv("VISUAL");
    if (!editor || !editor[0])
        editor = getenv("EDITOR");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        err_set(err, ERR_USAGE, "--edit", "leave it out", "it needs a terminal");
    else if (!editor || !editor[0])
        err_set(err, ERR_USAGE, "--edit", "such as EDITOR=nano",
                "neither VISUAL nor EDITOR names an editor");
    else
        return editor;
    return NULL;
}

/* Edits and tries until the learner ends. The last verdict counts. */
static bool edit_and_try(const Options *options, const char *editor, Err *err) {
    for (;;) {
        char line[1024], answer[64];
        *err = (Err){0};
        if (!run_editor(editor, options->arguments[0], err))
            return false;
        bool ok = try_once(options, err);
        err_line(err, line, sizeof line);
        printf("\n%s%sEnter: edit again. q: quit. ", ok ? "" : line, ok ? "" : "\n");
        fflush(stdout);
        if (!fgets(answer, sizeof answer, stdin) || answer[0] == 'q')
            return ok;
    }
}

bool cmd_try(const Options *options, Err *err) {
    const char *file = options->arguments[0], *editor = NULL;
    if (!check_name(file, err) || (options->edit && !(editor = find_editor(err))) ||
        (options->create && !write_template(file, err)))
        return false;
    if (editor)
        return edit_and_try(options, editor, err);
    return options->create || try_once(options, err);
}
