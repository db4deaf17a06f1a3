/* SPDX-License-Identifier: MIT */
#include "src/try/job.h"

#include "kernels/clean.h"

#include "src/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 20, NO_WAIT = 0, MOST_READS = 64, NO_EXEC = 127 };

/* Turns this process, a child of `parent`, into the other program. The program ends with its
 * parent, and both of its output streams go to `output`. */
static void become_program(const char *program, const char *const *words, int output,
                           pid_t parent) {
    sigset_t none;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigemptyset(&none);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(program, (char *const *)words);
    }
    _exit(NO_EXEC);
}

/* Reads the available bytes, and keeps those below the limit. False: the pipe has ended. */
static bool read_output(int fd, size_t limit, ChildEnd *end) {
    char bytes[16384];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t room = limit - end->length, kept = (size_t)got < room ? (size_t)got : room;
    memcpy(end->output + end->length, bytes, kept);
    end->length += kept;
    end->output_length += (uint64_t)got;
    return got > 0;
}

static void watch_child(pid_t pid, int output, double limit_s, size_t output_limit, ChildEnd *end) {
    double start = clock_us();
    bool open = true; /* the pipe */
    while (!end->timed_out) {
        siginfo_t info = {.si_pid = 0};
        /* WNOWAIT keeps a child that has ended as a zombie: no other process gets its number. */
        int failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (failed || info.si_pid)
            break;
        struct pollfd ready = {.fd = open ? output : -1, .events = POLLIN};
        if (poll(&ready, 1, open ? TICK_MS : 1) > 0)
            open = read_output(output, output_limit, end);
        end->timed_out = clock_us() - start > limit_s * 1e6;
    }
    kill(-pid, SIGKILL); /* the child and all processes that it started */
    kill(pid, SIGKILL);
    while (waitpid(pid, &end->status, 0) < 0 && errno == EINTR)
        ;
    /* Reads the rest of the pipe, but not for ever: a process that escaped may keep writing. */
    fcntl(output, F_SETFL, O_NONBLOCK);
    for (int i = 0; open && i < MOST_READS; i++) {
        struct pollfd ready = {.fd = output, .events = POLLIN};
        open = poll(&ready, 1, NO_WAIT) > 0 && read_output(output, output_limit, end);
    }
}

/* Replaces control characters, which could reach the terminal. Newlines stay. */
static void clean_output(ChildEnd *end) {
    for (size_t i = 0; i < end->length; i++)
        if (end->output[i] == '\0')
            end->output[i] = '?';
        else if (end->output[i] == '\t')
            end->output[i] = ' ';
    char *line = end->output;
    while (line) { /* clean_text() ends at a zero, so each line ends with a zero meanwhile */
        char *newline = strchr(line, '\n');
        if (newline)
            *newline = '\0';
        clean_text(line, line, strlen(line) + 1);
        if (newline)
            *newline = '\n';
        line = newline ? newline + 1 : NULL;
    }
}

bool child_run(const char *program, const char *const *words, double limit_s, size_t output_limit,
               ChildEnd *end, Err *err) {
    *end = (ChildEnd){.output = calloc(1, output_limit + 1)};
    int output[2];
    pid_t parent = getpid(), pid = -1;
    if (end->output && pipe2(output, O_CLOEXEC) == 0) {
        if ((pid = fork()) == 0)
            become_program(program, words, output[1], parent);
        close(output[1]);
        if (pid > 0)
            watch_child(pid, output[0], limit_s, output_limit, end);
        close(output[0]);
    }
    if (pid > 0)
        clean_output(end);
    else
        err_set(err, ERR_FAILED, program, "", "cannot be started: %s", strerror(errno));
    return pid > 0;
}
