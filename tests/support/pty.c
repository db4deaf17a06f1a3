/* SPDX-License-Identifier: MIT */
#include "tests/support/pty.h"
#include "tests/support/tap.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double pty_now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the other side -------------------------------------------------------------------------- */

static void run_program(int slave, char *const argv[], char *const environment[]) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (int i = 0; environment[i]; i++)
        putenv(environment[i]);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    /* nohup and background shells ignore some, which an exec would hand down. */
    const int signals[] = {SIGTTOU, SIGTTIN, SIGTSTP, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    execv(argv[0], argv);
    _exit(127);
}

/* What a shell does with a job. */
static void lead(int slave, int reports, char *const argv[], char *const environment[]) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the leader's end the program is hung up */
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    pid_t program = fork();
    if (program == 0) {
        setpgid(0, 0);
        tcsetpgrp(slave, getpid());
        run_program(slave, argv, environment);
    }
    setpgid(program, program);
    tcsetpgrp(slave, program);
    ssize_t n = write(reports, &program, sizeof program);
    for (int status; n > 0 && waitpid(program, &status, WUNTRACED | WCONTINUED) == program;) {
        n = write(reports, &status, sizeof status);
        if (WIFEXITED(status) || WIFSIGNALED(status))
            break;
    }
    _exit(0);
}

bool pty_start(Pty *pty, int columns, int rows, char *const argv[], char *const environment[]) {
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    int reports[2];
    *pty = (Pty){.output = calloc(1, 1)};
    if (openpty(&pty->master, &pty->slave, NULL, NULL, &size) < 0 || pipe(reports) < 0)
        return false;
    tcgetattr(pty->slave, &pty->before);
    fflush(stdout);
    pty->leader = fork();
    if (pty->leader == 0) {
        close(pty->master);
        close(reports[0]);
        lead(pty->slave, reports[1], argv, environment);
    }
    close(reports[1]);
    pty->reports = reports[0];
    return read(pty->reports, &pty->program, sizeof pty->program) == sizeof pty->program;
}

bool pty_shell(Pty *pty, int columns, int rows, char *const environment[], const char *line) {
    static char *const xterm[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    char *argv[] = {"/bin/sh", "-c", (char *)line, NULL};
    if (!getenv("BEVSCOPE"))
        tap_skip_suite("BEVSCOPE names the program: use make check");
    signal(SIGPIPE, SIG_IGN);
    return pty_start(pty, columns, rows, argv, environment ? environment : xterm);
}

bool pty_bevscope(Pty *pty, int columns, int rows, char *const environment[], const char *words,
                  ...) {
    char line[2048];
    const char *program = getenv("BEVSCOPE"); /* `environment` need not have it */
    int used = snprintf(line, sizeof line, "exec '%s' ", program ? program : "");
    va_list args;
    va_start(args, words);
    vsnprintf(line + used, sizeof line - (size_t)used, words, args);
    va_end(args);
    return pty_shell(pty, columns, rows, environment, line);
}

/* ---- this side ------------------------------------------------------------------------------- */

/* What is there within `seconds`; false: nothing. */
static bool read_some(Pty *pty, double seconds) {
    struct pollfd waiting = {.fd = pty->master, .events = POLLIN};
    char block[65536];
    if (poll(&waiting, 1, (int)(seconds * 1e3)) <= 0)
        return false;
    ssize_t n = read(pty->master, block, sizeof block);
    if (n <= 0)
        return false;
    pty->output = realloc(pty->output, pty->length + (size_t)n + 1);
    memcpy(pty->output + pty->length, block, (size_t)n);
    pty->length += (size_t)n;
    pty->output[pty->length] = '\0';
    return true;
}

void pty_read(Pty *pty, double seconds) {
    double end = pty_now_s() + seconds;
    for (double left = seconds; left > 0; left = end - pty_now_s())
        if (!read_some(pty, left))
            usleep(1000);
}

bool pty_wait_text(Pty *pty, const char *text, size_t from, double seconds) {
    double end = pty_now_s() + seconds;
    while (!memmem(pty->output + from, pty->length - from, text, strlen(text))) {
        if (pty_now_s() > end)
            return false;
        read_some(pty, 0.05);
    }
    return true;
}

bool pty_wait_status(Pty *pty, int *status, double seconds) {
    double end = pty_now_s() + seconds;
    while (pty_now_s() < end) {
        struct pollfd waiting = {.fd = pty->reports, .events = POLLIN};
        if (pty->master >= 0)
            read_some(pty, 0.01);
        if (poll(&waiting, 1, 10) > 0) {
            bool told = read(pty->reports, status, sizeof *status) == sizeof *status;
            /* What it said last; one that goes on drawing never falls silent. */
            double drained = pty_now_s() + 1;
            while (pty->master >= 0 && pty_now_s() < drained && read_some(pty, 0.05)) {
            }
            return told;
        }
    }
    return false;
}

void pty_type(Pty *pty, const char *keys) {
    ssize_t n = write(pty->master, keys, strlen(keys));
    (void)n;
}

void pty_resize(Pty *pty, int columns, int rows) {
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    ioctl(pty->master, TIOCSWINSZ, &size);
}

bool pty_same_modes(const Pty *pty) {
    struct termios now;
    memset(&now, 0, sizeof now);
    if (tcgetattr(pty->slave, &now) < 0)
        return false;
    return now.c_iflag == pty->before.c_iflag && now.c_oflag == pty->before.c_oflag &&
           now.c_cflag == pty->before.c_cflag && now.c_lflag == pty->before.c_lflag &&
           memcmp(now.c_cc, pty->before.c_cc, sizeof now.c_cc) == 0;
}

size_t pty_last(const Pty *pty, const char *text) {
    size_t length = strlen(text);
    for (size_t at = pty->length; at >= length; at--)
        if (!memcmp(pty->output + at - length, text, length))
            return at;
    return 0;
}

void pty_last_line(const Pty *pty, char *line, size_t size) {
    size_t end = pty->length, start, n = 0;
    while (end && strchr("\r\n", pty->output[end - 1]))
        end--;
    for (start = end; start && !strchr("\r\n", pty->output[start - 1]);)
        start--;
    for (size_t i = start; i < end && n + 1 < size; i++)
        if ((unsigned char)pty->output[i] >= ' ')
            line[n++] = pty->output[i];
    line[n] = '\0';
}

void pty_end(Pty *pty) {
    if (pty->program > 0)
        kill(pty->program, SIGKILL);
    if (pty->leader > 0) {
        kill(pty->leader, SIGKILL);
        waitpid(pty->leader, NULL, 0);
    }
    if (pty->master >= 0)
        close(pty->master);
    if (pty->slave >= 0)
        close(pty->slave);
    close(pty->reports);
    free(pty->output);
}
