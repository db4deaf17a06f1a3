/* The live display: terminal and window on the main thread, the engine on its own. */
#ifndef BEV_LOOP_H
#define BEV_LOOP_H

#include "src/ui/term.h"

enum { LOOP_MAX_WORDS = 8 };

typedef struct {
    const char *scene; /* a name or a path */
    unsigned where;    /* backends that run here */
    TermColor color;
    bool ascii;
    bool no_window, no_terminal;
    double time_s; /* of the moving world */
    /* Controls applied before the first frame, as scripts write them: "dtype fp8". */
    int word_count;
    char words[LOOP_MAX_WORDS][80];
} LoopOptions;

/* Runs until the user quits. `*signal` is what ended it from outside, else 0: the caller dies of
 * it, after everything is in order again. */
bool loop_run(const LoopOptions *options, int *signal, Err *err);

#endif
