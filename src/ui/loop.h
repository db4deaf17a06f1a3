/* SPDX-License-Identifier: MIT */
/* The live display: terminal and window on the main thread, the engine on threads of its own. The
 * main thread never pools or decodes. It waits for input, signals and frames, gives events to the
 * App, and draws the screens. src/README.md draws the way of a key. */
#pragma once

#include "src/app/app.h"
#include "src/ui/term.h"

typedef struct {
    AppOptions app;
    unsigned where; /* backends that run here: a mask of 1u << BevWhere */
    TermColor color;
    Pixels pixels;
    bool ascii;
    bool no_window, no_terminal, no_mouse;
} LoopOptions;

/* How the display ended. The terminal is then as it was before. */
typedef struct {
    int signal;        /* the signal that ended it, by which the caller then dies; 0: none */
    bool threads_left; /* some still compute: the process can only be left with _exit() */
} LoopEnd;

/* Runs the display until the user or a signal ends it. */
bool loop_run(const LoopOptions *options, LoopEnd *end, Err *err);
