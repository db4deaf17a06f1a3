/* What the surroundings of the program ask for, and would end it without a word. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

/* Raises a small stack as far as it may be raised, and has the limit of CPU time say so one second
 * before it kills. False: the stack stays too small, or OMP_NUM_THREADS is beyond what OpenMP's
 * library survives. */
bool environment_prepare(Err *err);
