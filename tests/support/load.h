/* SPDX-License-Identifier: MIT */
/* A check of how long something took says nothing while others take much of the cores. */
#pragma once

#include "src/base/load.h"
#include "tests/support/tap.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Loops that keep a core each busy, in processes of their own. */
enum { BUSY_MOST = 256 };
static pid_t busy_loops[BUSY_MOST];

static inline void busy_begin(int count) {
    for (int i = 0; i < count && i < BUSY_MOST; i++)
        if ((busy_loops[i] = fork()) == 0)
            for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) {
            }
}

/* Sends all of them a signal, as SIGSTOP and SIGCONT. */
static inline void busy_signal(int number) {
    for (int i = 0; i < BUSY_MOST && busy_loops[i]; i++)
        kill(busy_loops[i], number);
}

static inline void busy_end(void) {
    busy_signal(SIGKILL);
    for (int i = 0; i < BUSY_MOST && busy_loops[i]; i++)
        waitpid(busy_loops[i], NULL, 0);
    memset(busy_loops, 0, sizeof busy_loops);
}

/* As tap_ok; a failure while others had more than a quarter of the cores is a skip that says so. */
__attribute__((format(printf, 3, 4))) static inline bool
tap_ok_unless_loaded(bool passed, const Load *since, const char *name, ...) {
    char text[200], reason[64];
    double share = load_of_others(since);
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof text, name, args);
    va_end(args);
    if (passed || share <= LOAD_BUSY)
        return tap_ok(passed, "%s", text);
    snprintf(reason, sizeof reason, "missed, but others had %.0f%% of the cores", 100 * share);
    tap_skip(text, reason);
    return true;
}
