/* The live display: terminal and window on the main thread, the engine on its own threads.
 *
 *     keys, mouse, signals --> loop_key(), loop_step() --> state_step() --> State
 *     State --> engine_request() ... engine_take() --> EngineFrame --> loop_draw() --> screens
 *
 * The main thread pools and decodes nothing: it waits for input, signals and frames, applies events
 * to the State, asks the engine for a frame of it, and lays out and draws the screens. */
#pragma once

#include "src/ui/lesson_desk.h"
#include "src/ui/term.h"

enum { LOOP_MAX_WORDS = 16 };

typedef struct {
    const char *scene; /* a name or a path */
    const char *other; /* the scene that it is compared with; NULL: none */
    unsigned where;    /* backends that run here: a mask of 1u << BevWhere */
    TermColor color;
    bool ascii;
    bool no_window, no_terminal, no_mouse;
    double time_s; /* moment of the moving world to begin with */
    const char *lesson; /* opened first, by number, name or path; "": the next one; NULL: none */
    DeskMemory memory;  /* whether its progress is kept */
    /* Controls applied before the first frame, as scripts write them: "dtype fp8". */
    int word_count;
    char words[LOOP_MAX_WORDS][80];
} LoopOptions;

/* How the display ended, when the terminal is as it was before. */
typedef struct {
    int signal;        /* that ended it, else 0: the caller then dies of the same signal */
    bool threads_left; /* some still compute: the process can only be left with _exit() */
} LoopEnd;

/* Runs until the user quits. */
bool loop_run(const LoopOptions *options, LoopEnd *end, Err *err);
