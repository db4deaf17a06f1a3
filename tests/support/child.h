/* SPDX-License-Identifier: MIT */
/* Actions in a process of their own: with limits, users and libraries that the suite must not have.
 */
#pragma once

#include "tests/support/tap.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t start_child(bool (*action)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(!action());
    return child;
}

/* Whether its action returned true; false also where a signal ended it. */
static inline bool child_succeeds(pid_t child) {
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static inline bool in_child(bool (*action)(void)) {
    return child_succeeds(start_child(action));
}

/* Sets how much of a resource this process may have; returns how much it could have before. */
static inline rlim_t limit_to(int resource, rlim_t most) {
    struct rlimit limit;
    getrlimit(resource, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = most;
    setrlimit(resource, &limit);
    return before;
}
