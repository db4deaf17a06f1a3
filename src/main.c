/* bevscope: options and subcommands. The only file that exits. */
#include "config.h"

#include "src/cli/list.h"
#include "src/cli/options.h"

#include <locale.h>
#include <string.h>

/* What this build has. */
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

/* Words that stand in place of a command; false when `word` is none of them. */
static bool answer(const char *word, int *status) {
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
        options_help(stdout);
    else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
        print_version();
    else if (!strcmp(word, "--list") || !strcmp(word, "-l"))
        list_everything(stdout);
    else if (!strcmp(word, "--man"))
        options_man(stdout);
    else
        return false;
    if (fflush(stdout) != 0) {
        perror("bevscope: standard output");
        *status = ERR_FAILED;
    }
    return true;
}

static int complain(const Err *err) {
    char line[1024];
    err_line(err, line, sizeof line);
    fprintf(stderr, "bevscope: %s\n", line);
    return err->kind;
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, ""); /* numbers stay as they are in files: LC_NUMERIC is left alone */
    int status = 0;
    if (argc > 1 && answer(argv[1], &status))
        return status;
    Options options;
    Err err = {0};
    if (!options_parse(&options, argc, argv, &err))
        return complain(&err);
    if (options.help) {
        options_help_command(options.command, stdout);
        return 0;
    }
    return commands[options.command].run(&options, &err) ? 0 : complain(&err);
}
