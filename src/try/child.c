/* SPDX-License-Identifier: MIT */
#include "src/try/child.h"

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

enum { TICK_MS = 20, NO_EXEC = 127, HIGH_FD = 100 };

/* ---- the child, until it becomes the other program ------------------------------------------ */

/* Moves the files to the child's descriptors. The caller's descriptors may already have these
 * numbers, so all are first moved up. exec closes every other file. */
static bool give_files_to_child(const ChildPlan *plan, int output) {
    int moved[CHILD_FILES], null = open("/dev/null", O_RDONLY);
    output = fcntl(output, F_DUPFD, HIGH_FD);
    for (int i = 0; i < plan->file_count; i++)
        moved[i] = fcntl(plan->files[i], F_DUPFD_CLOEXEC, HIGH_FD);
    bool ok = dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2;
    for (int i = 0; ok && i < plan->file_count; i++)
        ok = dup2(moved[i], CHILD_FIRST_FILE + i) >= 0;
    if (null > 2)
        fcntl(null, F_SETFD, FD_CLOEXEC);
    close(output);
    return ok;
}

static void become_program(const ChildPlan *plan, int output, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !give_files_to_child(plan, output))
        _exit(NO_EXEC);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(plan->program, (char *const *)plan->words);
    _exit(NO_EXEC);
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* Reads the available bytes. False: the pipe has ended. */
static bool read_output(int fd, const ChildPlan *plan, ChildEnd *end) {
    char bytes[16384];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t room = plan->output_limit - end->length;
    size_t kept = (size_t)got < room ? (size_t)got : room;
    memcpy(end->output + end->length, bytes, kept);
    end->length += kept;
    end->output_length += (uint64_t)got;
    return got > 0;
}

static void watch_child(pid_t pid, int output, const ChildPlan *plan, ChildEnd *end) {
    double start = clock_us(), limit_us = plan->limit_s * 1e6;
    bool open = true;
    siginfo_t info = {.si_pid = 0};
    /* A child that has ended stays a zombie: no other process gets its number. */
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid) {
        struct pollfd ready = {.fd = open ? output : -1, .events = POLLIN};
        if (poll(&ready, 1, open ? TICK_MS : 1) > 0)
            open = read_output(output, plan, end);
        end->timed_out = clock_us() - start > limit_us;
        if (end->timed_out)
            break;
    }
    kill(-pid, SIGKILL); /* the child and all processes that it started */
    kill(pid, SIGKILL);
    while (waitpid(pid, &end->status, 0) < 0 && errno == EINTR)
        ;
    /* Reads the rest of the pipe. A process that escaped may hold the pipe open for ever. */
    fcntl(output, F_SETFL, O_NONBLOCK);
    for (int i = 0; open && i < 64; i++) {
        struct pollfd ready = {.fd = output, .events = POLLIN};
        open = poll(&ready, 1, 0) > 0 && read_output(output, plan, end);
    }
}

/* Replaces control characters, which could reach the terminal. Newlines stay. */
static void clean_output(ChildEnd *end) {
    for (size_t i = 0; i < end->length; i++)
        if (end->output[i] == '\0' || end->output[i] == '\t')
            end->output[i] = end->output[i] ? ' ' : '?';
    for (char *line = end->output; line; line++) {
        char *newline = strchr(line, '\n');
        if (newline)
            *newline = '\0';
        clean_text(line, line, strlen(line) + 1);
        if (!newline)
            return;
        *newline = '\n';
        line = newline;
    }
}

bool child_run(const ChildPlan *plan, ChildEnd *end, Err *err) {
    *end = (ChildEnd){.output = calloc(1, plan->output_limit + 1)};
    int output[2] = {-1, -1};
    pid_t parent = getpid(), pid = -1;
    bool ok = end->output && pipe2(output, O_CLOEXEC) == 0;
    if (ok && (pid = fork()) == 0)
        become_program(plan, output[1], parent);
    if (output[1] >= 0)
        close(output[1]);
    if (pid > 0)
        watch_child(pid, output[0], plan, end);
    if (pid > 0)
        clean_output(end);
    else
        err_set(err, ERR_FAILED, plan->program, "", "cannot be started: %s", strerror(errno));
    if (output[0] >= 0)
        close(output[0]);
    return pid > 0;
}
