/* A line on standard error that says how far long work has come and how long it may still take:
 *
 *     bevscope: report: the scene at other sizes, 71 %, 42 s, about 17 s left
 *
 * Only where standard error is the terminal of the foreground; elsewhere nothing is written. The
 * line is drawn by a thread of its own, twice a second, and removed at the end. Without a
 * progress_begin() the other functions do nothing, so that library code may report what it does. */
#pragma once

#include <stdbool.h>

/* `what` (a command's name) is borrowed. */
void progress_begin(const char *what, bool quiet);
void progress_end(void);

/* From now on `name` (borrowed) is done, which takes the whole from share `from` to share `to`,
 * both from 0 to 1. */
void progress_step(const char *name, double from, double to);

/* The step consists of so much work, in any unit, in all. */
void progress_plan(double work);

/* So much work begins; adds to what is known of a step without a plan. */
void progress_expect(double work);

/* So much work of the step is done. May be called by any thread. */
void progress_done(double work);

/* Removes the line until it is drawn again: before something else is written there. */
void progress_hide(void);
