/* SPDX-License-Identifier: MIT */
/* The display without terminal or window: reads a script and writes frames. The script sets the
 * time, and timings are recorded ones. The same input thus gives the same bytes.
 *
 * A script has one word a line; # begins a comment:
 *     dtype fp8        any control of src/state/keys.h, by its word
 *     key k            any control, by the name of its key on the help screen ("Space", "F2")
 *     tick [S [N]]     S seconds pass (0.1), N times (1); each tick ends a frame
 *     size C R         the terminal has C columns and R rows now
 *     pixel I X Y      the mouse over a feature pixel of camera I, from 0
 *     answer 3         answers a lesson's question: a choice or a number; an order: 2 1 3
 *     say [TEXT]       a line of text on all later frames, in place of the key bar
 * A frame is frame-0001.txt and .png: the dashboard on a terminal of that size. The word
 * `snapshot` writes what a window would show, under the name that the log gives. */
#pragma once

#include "kernels/err.h"
#include "src/app/app.h"

#include <stdbool.h>

typedef struct {
    AppOptions app;
    const char *file;   /* the script; "-": standard input */
    const char *frames; /* folder for the frames; is made where it is missing */
    int columns, rows;
    bool ascii, no_color;
} ScriptOptions;

/* Parses "200x60" into columns and rows, each 1 to 1000. */
bool script_size(const char *text, int *columns, int *rows, Err *err);

bool script_run(const ScriptOptions *options, Err *err);
