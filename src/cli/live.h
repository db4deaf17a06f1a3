/* What the commands that open the live display share. */
#pragma once

#include "src/ui/loop.h"

/* Runs the display to its end. Does not return where a signal ended it, or where work in hand is
 * left to the end of the process. */
bool live_run(const LoopOptions *options, Err *err);
