/* bevscope: options and subcommands. Only this file decides the exit status. */
#include "config.h"

#include "src/cli/options.h"
#include "src/try/try.h"

#include <locale.h>
#include <string.h>

/* The version, and what this build can do. */
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

static int print_error(const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    fprintf(stderr, "bevscope: %s\n", line);
    return err->kind;
}

/* Handles --help, --version, --list and --man; false when `word` is none of them. */
static bool answer(const char *word, int *status) {
    Err err = {0};
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        help_program(stdout);
    else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        print_version();
    else if (!strcmp(word, "--list") || !strcmp(word, "-l"))
        *status = help_list(stdout, &err) ? 0 : print_error(&err);
    else if (!strcmp(word, "--man"))
        help_man(stdout);
    else
        return false;
    if (fflush(stdout) != 0) {
        perror("bevscope: standard output");
        *status = ERR_FAILED;
    }
    return true;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], try_runner_word))
        return try_runner(argc, argv);
    setlocale(LC_CTYPE, ""); /* not LC_NUMERIC: numbers in files keep their decimal point */
    int status = 0;
    if (argc > 1 && answer(argv[1], &status))
        return status;
    Options options;
    Err err = {0};
    if (!options_parse(&options, argc, argv, &err))
        return print_error(&err);
    if (options.help) {
        help_command(options.command, stdout);
        return 0;
    }
    return commands[options.command].run(&options, &err) ? 0 : print_error(&err);
}
