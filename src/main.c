/* SPDX-License-Identifier: MIT */
/* bevscope: options and subcommands. Only this file decides the exit status. */
#include "config.h"
#include "src/base/progress.h"
#include "src/cli/report.h"
#include "src/try/try.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- the process ----------------------------------------------------------------------------- */

enum { STACK_KB = 1024, MORE_STACK_KB = 8192, MOST_THREADS = 1024 };

/* Raises a small stack as far as allowed. Without room the process would end without a message. */
static bool prepare_stack(Err *err) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= (rlim_t)STACK_KB << 10)
        return true;
    const rlim_t wanted = (rlim_t)MORE_STACK_KB << 10;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return (limit.rlim_cur >= (rlim_t)STACK_KB << 10 && setrlimit(RLIMIT_STACK, &limit) == 0) ||
           err_set(err, ERR_FAILED, "stack", "ulimit -s 8192", "%llu kB, needs %d",
                   (unsigned long long)limit.rlim_max >> 10, STACK_KB);
}

/* Checks OMP_NUM_THREADS. A list ("4,2") has a number for each level; the first counts here. */
static bool check_threads(Err *err) {
    const char *threads = getenv("OMP_NUM_THREADS");
    return !threads || strtoll(threads, NULL, 10) <= MOST_THREADS ||
           err_set(err, ERR_USAGE, "OMP_NUM_THREADS", "unset it: one for each core",
                   "%.20s threads, must be at most %d", threads, MOST_THREADS);
}

/* Prints the version, and what this build can do. */
static void print_version(void) {
    bool cuda = false, window = false, dashboard = false;
#ifdef HAVE_CUDA
    cuda = true;
#endif
#ifdef HAVE_SDL
    window = true;
#endif
#ifdef HAVE_NCURSES
    dashboard = true;
#endif
    printf("%s\nCUDA kernels: %s\nWindow: %s\nDashboard: %s\nLicence: MIT\n", PACKAGE_STRING,
           cuda ? "yes" : "no", window ? "yes" : "no", dashboard ? "yes" : "no");
}

/* Prints an error, and returns the exit status of its kind. */
static int print_error(const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    fprintf(stderr, "bevscope: %s\n", line);
    return err->kind;
}

/* If a scene file cannot be loaded, --list still prints the rest, and then reports the error. */
static int print_list(void) {
    MemoryStream list;
    Err err = {0}, broken = {0};
    if (!memory_stream_open(&list, &err))
        return print_error(&err);
    bool whole = help_list(list.stream, &broken);
    report_screen_columns = output_screen_columns();
    if (!output_close(&list, NULL, &err))
        return print_error(&err);
    return whole ? 0 : print_error(&broken);
}

/* Handles --help, --version, --list, --man and --complete. False: the first word is another. */
static bool run_help_word(int count, char **words, int *status) {
    const char *word = words[0];
    Err err = {0};
    *status = 0;
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        help_program(stdout);
    else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        print_version();
    else if (!strcmp(word, "--list") || !strcmp(word, "-l"))
        *status = print_list();
    else if (!strcmp(word, "--man"))
        *status = help_man(count > 1 ? words[1] : NULL, stdout, &err) ? 0 : print_error(&err);
    else if (!strcmp(word, "--complete"))
        help_complete(count - 1, words + 1, stdout);
    else
        return false;
    return true;
}

/* Opens /dev/null for each standard file that the parent has closed. Otherwise the next file that
 * the program opens would take the number, and messages would go into that file. */
static void hold_standard_files(void) {
    const int modes[] = {O_RDONLY, O_RDONLY, O_RDWR}; /* a closed standard output stays an error */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", modes[fd]); /* takes the lowest number that is free, which is fd */
}

/* Does nothing. With this handler a write beyond the limit of file sizes does not end the program,
 * but fails with an error. SIG_IGN would do the same, but child processes would inherit it. */
static void outlive_file_limit(int signal) {
    (void)signal;
}

/* Takes memory for JSON. Without memory the program ends, so that no table lacks a cell. */
static void *json_memory(size_t bytes) {
    void *memory = malloc(bytes);
    Err err;
    if (!memory) {
        err_no_memory(&err, "JSON", "choose fewer scenes or moments");
        exit(print_error(&err));
    }
    return memory;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], try_runner_word))
        return try_runner(argc, argv);
    json_set_alloc_funcs(json_memory, free);
    hold_standard_files();
    signal(SIGXFSZ, outlive_file_limit);
    setlocale(LC_CTYPE, ""); /* not LC_NUMERIC: numbers in files keep their decimal point */
    int status = 0;
    if (argc > 1 && run_help_word(argc - 1, argv + 1, &status))
        return output_check(status);
    Options options;
    Err err = {0};
    if (!prepare_stack(&err) || !check_threads(&err) || !options_parse(&options, argc, argv, &err))
        return print_error(&err);
    if (options.help) {
        help_command(options.command, stdout);
        return output_check(0);
    }
    progress_begin(commands[options.command].name, options.quiet);
    const bool ok = commands[options.command].run(&options, &err);
    progress_end();
    return output_check(ok ? 0 : print_error(&err));
}
