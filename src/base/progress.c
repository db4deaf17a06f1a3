/* SPDX-License-Identifier: MIT */
#include "src/base/progress.h"

#include "kernels/clean.h"
#include "src/base/clock.h"
#include "src/base/worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <unistd.h>

enum { LINE = 160 };
static const double ESTIMATE_S = 1.5;
static const double pauses_ms[2][2] = {{5000, 15000}, {400, 500}}; /* in a file, on a terminal */

static struct {
    Worker worker;
    bool open, terminal; /* terminal: the line is replaced; otherwise lines are added */
    const char *what;
    double begun_ms;
    int drawn; /* characters of the line that is on the terminal now */
    /* The step, read and written under the lock. */
    struct Step {
        char name[64], part[64];
        double from, to, expected, done;
        bool planned;
    } step;
} progress = {.worker = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Replaces the line on the terminal. The text is cut to the terminal's columns, because a line that
 * wraps cannot be replaced. Spaces overwrite the rest of a longer old line. */
static void replace_line(const char *text) {
    char line[2 * LINE + 8];
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    const int width = MIN(known ? size.ws_col : 80, LINE) - 1;
    const int length = MIN((int)strlen(text), width);
    const int rest = MAX(progress.drawn - length, 0);
    const char *back = length ? "" : "\r"; /* an empty line leaves the cursor at its begin */
    int used = snprintf(line, sizeof line, "\r%.*s%*s%s", length, text, rest, "", back);
    if (write(STDERR_FILENO, line, (size_t)used) == used)
        progress.drawn = length;
}

/* Draws or adds the line. The caller holds the lock. */
static void put_line(void) {
    char text[LINE + 80], times[64];
    const struct Step *step = &progress.step;
    const double done_of_step = step->expected > 0 ? fmin(step->done / step->expected, 1) : 0;
    const double done = step->from + (step->to - step->from) * done_of_step;
    const double passed_s = (clock_ms() - progress.begun_ms) * 1e-3;
    if (passed_s > ESTIMATE_S && done > 0.02)
        snprintf(times, sizeof times, "%.0f %%, %.0f s, about %.0f s left", floor(100 * done),
                 passed_s, ceil(passed_s * (1 - done) / done));
    else if (step->to > 0)
        snprintf(times, sizeof times, "%.0f %%, %.0f s so far", floor(100 * done), passed_s);
    else
        snprintf(times, sizeof times, "%.0f s so far", passed_s);
    snprintf(text, sizeof text, "bevscope: %s: %s%s%s", progress.what, step->name, step->part,
             times);
    clean_text(text, text, sizeof text); /* scene names come from outside */
    if (!progress.terminal)
        dprintf(STDERR_FILENO, "%s\n", text);
    else if (tcgetpgrp(STDERR_FILENO) == getpgrp())
        replace_line(text);
}

/* Short work ends before the first line. */
static void *put_lines(void *unused) {
    Worker *worker = &progress.worker;
    worker_lock(worker);
    worker_sleep(worker, pauses_ms[progress.terminal][0]);
    while (!worker->stop) {
        put_line();
        worker_sleep(worker, pauses_ms[progress.terminal][1]);
    }
    worker_unlock(worker);
    return unused;
}

void progress_begin(const char *what, bool quiet) {
    if (progress.open || quiet)
        return;
    progress.what = what;
    progress.terminal = isatty(STDERR_FILENO);
    progress.step = (struct Step){.from = 0};
    progress.begun_ms = clock_ms();
    progress.open = worker_start(&progress.worker, put_lines, NULL, "progress", NULL);
}

void progress_end(void) {
    if (!progress.open)
        return;
    progress.open = false;
    worker_stop(&progress.worker);
    progress_hide();
}

void progress_step(const char *name, double from, double to) {
    worker_lock(&progress.worker);
    progress.step = (struct Step){.from = from, .to = to};
    snprintf(progress.step.name, sizeof progress.step.name, "%.60s, ", name);
    worker_unlock(&progress.worker);
}

void progress_part(const char *name) {
    worker_lock(&progress.worker);
    snprintf(progress.step.part, sizeof progress.step.part, "%.60s, ", name);
    worker_unlock(&progress.worker);
}

void progress_expect(double work) {
    worker_lock(&progress.worker);
    if (!progress.step.planned)
        progress.step.expected += work;
    worker_unlock(&progress.worker);
}

void progress_plan(double work) {
    worker_lock(&progress.worker);
    progress.step.planned = true;
    progress.step.expected = work;
    progress.step.done = 0;
    worker_unlock(&progress.worker);
}

void progress_hide(void) {
    worker_lock(&progress.worker);
    if (progress.drawn)
        replace_line("");
    worker_unlock(&progress.worker);
}

void progress_done(double work) {
    worker_lock(&progress.worker);
    progress.step.done += work;
    worker_unlock(&progress.worker);
}
