/* SPDX-License-Identifier: MIT */
/* The live display on a terminal, as the real program: however it ends, the terminal has its old
 * modes again, and the last line says what happened. */
#include "tests/support/folder.h"
#include "tests/support/pty_check.h"

#include <signal.h>

/* The display of the smallest scene, without a window, further options behind it. */
static bool start(Pty *pty, int columns, int rows, const char *option, char *const environment[]) {
    return pty_bevscope(pty, columns, rows, environment, "toy --no-window --device cpu %s", option);
}

static const struct {
    int signal;
    const char *name, *last_line; /* a key is typed in place of the signal */
} signals[] = {
    {SIGINT, "Ctrl-C", "interrupted"},      {SIGQUIT, "Ctrl-\\", "quit signal"},
    {SIGINT, "SIGINT", "interrupted"},      {SIGTERM, "SIGTERM", "terminated"},
    {SIGHUP, "SIGHUP", "hung up"},          {SIGQUIT, "SIGQUIT", "quit signal"},
    {SIGSEGV, "SIGSEGV", "(SIGSEGV); the"}, {SIGABRT, "SIGABRT", "(SIGABRT); the"},
    {SIGBUS, "SIGBUS", "(SIGBUS); the"},    {SIGFPE, "SIGFPE", "(SIGFPE); the"},
    {SIGPIPE, "SIGPIPE", "bevscope: "},
};

TAP_WAITING_SUITE(term_pty_signals) {
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        Pty pty;
        int status = 0;
        bool ok = open_toy(&pty, "", NULL) && !pty_same_modes(&pty);
        if (!strncmp(signals[i].name, "Ctrl-", 5))
            pty_type(&pty, (char[]){signals[i].name[5] & 31, '\0'});
        else
            kill(pty.program, signals[i].signal);
        ok = ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFSIGNALED(status) &&
             WTERMSIG(status) == signals[i].signal;
        check_end(&pty, signals[i].name, signals[i].last_line, ok);
        pty_end(&pty);
    }
}

TAP_WAITING_SUITE(term_pty_suspend) {
    Pty pty;
    int status = 0;
    bool ok = open_toy(&pty, "", NULL);
    pty_type(&pty, "\032");
    ok = ok && pty_wait_status(&pty, &status, PATIENCE_S) && WIFSTOPPED(status);
    tap_ok(ok && came_back(&pty), "Ctrl-Z: stopped, and the shell finds its terminal as before");
    size_t stopped = pty.length;
    kill(pty.program, SIGCONT);
    ok = pty_wait_text(&pty, READY, stopped, PATIENCE_S);
    tap_ok(ok && !pty_same_modes(&pty) && pty_last(&pty, MOUSE_ON) > stopped,
           "continued: drawn again, and the mouse is reported");
    pty_wait_status(&pty, &status, PATIENCE_S); /* continued */
    quits(&pty, "quit after a suspension", ok);
}

/* The terminal disappears, so the last line is read from a file: standard error goes there. */
TAP_WAITING_SUITE(term_pty_gone) {
    char errors[] = "/tmp/bevscope-XXXXXX", redirected[64], said[256] = "";
    int file = mkstemp(errors), status = 0;
    Pty pty;
    snprintf(redirected, sizeof redirected, "2>'%s'", errors);
    bool ok = file >= 0 && start(&pty, 100, 30, redirected, NULL) &&
              pty_wait_text(&pty, READY, 0, PATIENCE_S);
    close(pty.slave);
    close(pty.master);
    pty.slave = pty.master = -1;
    ok = ok && pty_wait_status(&pty, &status, PATIENCE_S);
    ok = ok && read(file, said, sizeof said - 1) > 0;
    tap_ok(ok && WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP &&
               (strstr(said, "bevscope: hung up") || strstr(said, "the terminal is gone")),
           "the terminal is gone: ends as hung up, and soon, and says so where it can");
    pty_end(&pty);
    close(file);
    unlink(errors);
}

static bool has_bytes_above_ascii(const Pty *pty) {
    for (size_t i = 0; i < pty->length; i++)
        if ((unsigned char)pty->output[i] >= 0x80)
            return true;
    return false;
}

/* Runs until the screen is there, quits, and says whether all went well. */
static bool visit(Pty *pty, const char *option, char *const environment[]) {
    bool ok = start(pty, 100, 30, option, environment) && pty_wait_text(pty, READY, 0, PATIENCE_S);
    pty_read(pty, 0.3);
    pty_type(pty, "q");
    return exits_with(pty, 0) && ok;
}

TAP_WAITING_SUITE(term_pty_colors) {
    enum { ANY = -1 };
    static const struct {
        char *type, *locale;
        const char *option, *colors; /* the bytes that colours begin with here */
        int colored, above_ascii;
        const char *title;
    } kinds[] = {{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "", ";38;5;", true, true,
                  "256 colours where the terminal has them, block characters in a UTF-8 locale"},
                 {"TERM=xterm-256color", "NO_COLOR=1", "", ";5;", false, ANY, "NO_COLOR: none"},
                 {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "--color=never", ";5;", false, ANY,
                  "--color=never: none"},
                 {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "--ascii", ";5;", ANY, false,
                  "--ascii: nothing beyond ASCII"},
                 {"TERM=xterm", "LC_ALL=C", "", ";5;", ANY, false,
                  "locale C, 8 colours: nothing beyond ASCII"},
                 {"TERM=vt100", "LC_ALL=C", "", ";5;", false, ANY, "a terminal without colours"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Pty pty;
        char *const environment[] = {kinds[i].type, kinds[i].locale, NULL};
        bool ok = visit(&pty, kinds[i].option, environment) && pty_same_modes(&pty);
        bool colored = strstr(pty.output, kinds[i].colors) != NULL;
        tap_ok(ok && (kinds[i].colored == ANY || colored == kinds[i].colored) &&
                   (kinds[i].above_ascii == ANY ||
                    has_bytes_above_ascii(&pty) == kinds[i].above_ascii),
               "%s", kinds[i].title);
        pty_end(&pty);
    }
}

TAP_WAITING_SUITE(term_pty_refusals) {
    static char *const vt100[] = {"TERM=vt100", "LC_ALL=C", NULL};
    static char *const dumb[] = {"TERM=dumb", "LC_ALL=C", NULL};
    Pty pty;
    bool ok = start(&pty, 80, 24, "--color=always", vt100) && exits_with(&pty, 2);
    tap_ok(ok && pty_same_modes(&pty) && strstr(pty.output, "no colours"),
           "--color=always without colours: one line, exit 2");
    pty_end(&pty);
    ok = start(&pty, 80, 24, "", dumb);
    pty_type(&pty, "dtype fp8\n\004");
    ok = exits_with(&pty, 0) && ok;
    tap_ok(ok && !strchr(pty.output, '\033') && strstr(pty.output, "FP8") && pty_same_modes(&pty),
           "TERM=dumb: plain lines, words for keys");
    tap_ok(strstr(pty.output, "TERM=dumb cannot move its cursor (TERM=xterm-256color"),
           "and TERM is named as the cause");
    pty_end(&pty);
}

/* A scene file whose name would set the terminal's title. */
TAP_WAITING_SUITE(term_pty_file) {
    folder_open();
    const char *path = in_folder("\033]0;evil\007x.json");
    char copy[512];
    snprintf(copy, sizeof copy, "cp '%s/samples/toy.json' '%s'", getenv("SRCDIR"), path);
    bool ok = system(copy) == 0;
    Pty pty;
    ok = ok && pty_bevscope(&pty, 100, 30, NULL, "'%s' --no-window --device cpu", path) &&
         pty_wait_text(&pty, READY, 0, PATIENCE_S);
    tap_ok(ok, "a scene of a file with control characters in its name");
    pty_type(&pty, "q");
    check_end(&pty, "quit", "bevscope: quit", exits_with(&pty, 0));
    tap_ok(!strstr(pty.output, "\033]0;evil"), "control characters in its name stay out");
    pty_end(&pty);
    folder_remove();
}
