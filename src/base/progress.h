/* SPDX-License-Identifier: MIT */
/* A line on standard error that says how far long work has come and how long it may still take:
 *
 *     bevscope: bench: canonical, V3 FP8 nearest, 71 %, 42 s, about 17 s left
 *
 * In the foreground of a terminal the line is replaced twice a second and removed at the end. Into
 * a file a line goes after 5 s, and then every 15 s. main() begins it for every command. Without a
 * progress_begin() the other functions do nothing, so that library code may report its work. */
#pragma once

#include <stdbool.h>

/* Starts the line. `what`, a command's name, is borrowed. `quiet`: nothing is ever written. */
void progress_begin(const char *what, bool quiet);
void progress_end(void);

/* Begins a step of this name. The step leads from share `from` to share `to` of the whole work,
 * both 0 to 1. */
void progress_step(const char *name, double from, double to);

/* Names the part of the step that begins now. */
void progress_part(const char *name);

/* Sets the amount of work in the current step, in any unit. */
void progress_plan(double work);

/* Adds to the amount of work in the current step. */
void progress_expect(double work);

/* Reports that an amount of the step's work is done. Any thread may call this. */
void progress_done(double work);

/* Removes the line until the next drawing. Call it before other output to standard error. */
void progress_hide(void);
