/* SPDX-License-Identifier: MIT */
#include "src/run/cuda/ask_child.h"

#include "src/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child, which dies with its parent, prints nothing and runs no exit functions of its
 * parent. A pipe takes PIPE_BUF bytes at once. */
static void answer_parent(void (*work)(const void *context, void *answer), const void *context,
                          void *answer, size_t size, int to) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    work(context, answer);
    _exit(write(to, answer, size) == (ssize_t)size ? 0 : 1);
}

static AskEnd wait_for_answer(int from, void *answer, size_t size, int ms) {
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    double until = clock_ms() + ms, left;
    while ((left = until - clock_ms()) > 0) {
        int ready = poll(&waiting, 1, (int)left + 1);
        if (ready > 0)
            return read(from, answer, size) == (ssize_t)size ? ASK_ANSWERED : ASK_DIED;
        if (ready < 0 && errno != EINTR)
            return ASK_DIED;
    }
    return ASK_HUNG;
}

AskEnd ask_child(void (*work)(const void *context, void *answer), const void *context, void *answer,
                 size_t size, int ms) {
    int ends[2];
    assert(size <= PIPE_BUF);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return ASK_UNASKED;
    pid_t child = fork();
    if (child == 0)
        answer_parent(work, context, answer, size, ends[1]);
    int why = errno;
    close(ends[1]);
    AskEnd end = child < 0 ? ASK_UNASKED : wait_for_answer(ends[0], answer, size, ms);
    close(ends[0]);
    errno = why;
    if (child > 0 && end == ASK_HUNG)
        kill(child, SIGKILL);
    if (child > 0)
        waitpid(child, NULL, end == ASK_HUNG ? WNOHANG : 0);
    return end;
}
