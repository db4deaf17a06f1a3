/* A line on standard error that says how far long work has come and how long it may still take:
 *
 *     bevscope: report: the scene at other sizes, 71 %, 42 s, about 17 s left
 *
 * Only where standard error is the terminal of the foreground; elsewhere nothing is written. The
 * line is drawn by a thread of its own, twice a second, and removed at the end. Without a
 * progress_begin() the other functions do nothing, so that library code may report what it does. */
#pragma once

#include <stdbool.h>

/* `what`, a command's name, is borrowed. */
void progress_begin(const char *what, bool quiet);
void progress_end(void);

/* Begins a step: `name`, borrowed. The step leads from share `from` to share `to` of the whole,
 * both from 0 to 1. */
void progress_step(const char *name, double from, double to);

/* Plans a step: the amount of its work, in any unit. */
void progress_plan(double work);

/* Adds to the planned work of a step. */
void progress_expect(double work);

/* Reports an amount of work of the step as done. May be called by any thread. */
void progress_done(double work);

/* Removes the line until the next drawing. Call it before other output to standard error. */
void progress_hide(void);
