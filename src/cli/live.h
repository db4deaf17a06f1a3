/* What the commands that open the live display share. */
#pragma once

#include "src/ui/loop.h"

/* Runs the display to its end. Does not return after a signal, or where unfinished work is left to
 * the end of the process. */
bool live_run(const LoopOptions *options, Err *err);
