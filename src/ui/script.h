/* SPDX-License-Identifier: MIT */
/* The display without terminal or window: reads a script and writes frames. The script sets the
 * time, and all timings come from recordings, so that the same input gives the same bytes.
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

#include "src/app/app.h"
#include "src/view/term/cells.h"
#include "src/view/window/window_image.h"

typedef struct {
    AppOptions app;
    const char *file;   /* the script; "-": standard input */
    const char *frames; /* folder for the frames; is made where it is missing */
    int columns, rows;
    bool ascii, no_color, quiet; /* quiet: no progress is shown */
} ScriptOptions;

/* Parses "200x60" into columns and rows, each 1 to 1000. */
bool script_size(const char *text, int *columns, int *rows, Err *err);

bool script_run(const ScriptOptions *options, Err *err);

/* ---- lessons as text: nothing is measured; figures come from formulas, recordings, the model - */

/* Prints the title and the rows of a pane, without its keys. */
void lesson_text_print(const LessonPane *pane);

/* Prints the lesson of `options`. Reads answers, controls and the words next, back, skip and quit
 * from standard input, one a line. An empty line goes on. `options->file` is not read. */
bool lesson_plain(const ScriptOptions *options, Err *err);

/* Writes the lesson with its answers as Markdown to `path`. Its pictures go to the same folder. */
bool lesson_export(const ScriptOptions *options, const char *path, Err *err);

/* ---- what the test of lessons shares --------------------------------------------------------- */

typedef struct {
    const ScriptOptions *options;
    App app;
    Cells cells;
    int frames, line;
    bool quit;
} Script;

/* Opens everything and renders the first frame. script_close must follow, also after an error. */
bool script_open(Script *script, const ScriptOptions *options, Err *err);
void script_close(Script *script);

/* Carries out what events and inputs have asked for. False: the first error of these. */
bool script_serve(Script *script, Err *err);

bool script_lesson_input(Script *script, const LessonInput *input, Err *err);
bool script_lesson_tick(Script *script, Err *err);
