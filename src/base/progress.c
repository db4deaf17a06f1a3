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

enum { LINE = 160, FIRST_MS = 400, EACH_MS = 500, ESTIMATE_MS = 1500 };

static struct {
    Worker worker;
    bool open;
    const char *what;
    double begun_ms;
    int drawn; /* characters of the line that is on the terminal now */
    /* The step, read and written under the lock. */
    struct Step {
        const char *name;
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

/* Draws the line. The caller holds the lock. */
static void draw_line(void) {
    char text[LINE], shown[LINE], left[48] = "";
    const struct Step *step = &progress.step;
    const double done_of_step = step->expected > 0 ? fmin(step->done / step->expected, 1) : 0;
    const double done = step->from + (step->to - step->from) * done_of_step;
    const double passed_ms = clock_ms() - progress.begun_ms;
    if (passed_ms > ESTIMATE_MS && done > 0.02)
        snprintf(left, sizeof left, ", about %.0f s left",
                 ceil(passed_ms * (1 - done) / done * 1e-3));
    snprintf(text, sizeof text, "bevscope: %s: %s, %.0f %%, %.0f s%s", progress.what, step->name,
             floor(100 * done), passed_ms * 1e-3, left);
    clean_text(text, shown, sizeof shown); /* scene names come from outside */
    if (tcgetpgrp(STDERR_FILENO) == getpgrp())
        replace_line(shown);
}

/* Draws the line twice a second. Short work ends before the first drawing. */
static void *draw_often(void *unused) {
    Worker *worker = &progress.worker;
    worker_lock(worker);
    worker_sleep(worker, FIRST_MS);
    while (!worker->stop) {
        draw_line();
        worker_sleep(worker, EACH_MS);
    }
    worker_unlock(worker);
    return unused;
}

void progress_begin(const char *what, bool quiet) {
    if (progress.open || quiet || !isatty(STDERR_FILENO))
        return;
    progress.what = what;
    progress.step = (struct Step){.name = "begins"};
    progress.begun_ms = clock_ms();
    progress.drawn = 0;
    progress.open = worker_start(&progress.worker, draw_often, NULL, "progress", NULL);
}

void progress_end(void) {
    if (!progress.open)
        return;
    progress.open = false;
    worker_stop(&progress.worker);
    if (progress.drawn)
        replace_line("");
}

void progress_step(const char *name, double from, double to) {
    worker_lock(&progress.worker);
    progress.step = (struct Step){.name = name, .from = from, .to = to};
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
