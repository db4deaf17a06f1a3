/* The display without terminal or window: reads a script, writes frames. Time comes from the
 * script, timings come from recorded results: the same input gives the same bytes.
 *
 * A script has one word a line; # begins a comment:
 *     dtype fp8        any control of src/state/keys.h, by its word
 *     key k            the same, by its key as the help screen names it ("Space", "F2")
 *     tick [S [N]]     S seconds pass (0.1), N times (1); each tick ends a frame
 *     size C R         the terminal has C columns and R rows now
 *     pixel I X Y      the mouse over a feature pixel of camera I, from 0
 *     answer 3         to the question of a lesson: a choice or a number; an order: answer 2 1 3
 *     say [TEXT]       a line of text on the frames that follow, in the place of the key bar
 * A frame is frame-0001.txt and .png: the dashboard as a terminal of that size shows it. The word
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
