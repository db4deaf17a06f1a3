/* Limits of the surroundings that would end the program without a message: stack, CPU time,
 * threads. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

/* Raises a small stack as far as allowed, and arranges a message one second before the limit of CPU
 * time kills. False: the stack stays too small, or OMP_NUM_THREADS is beyond what OpenMP's library
 * survives. */
bool environment_prepare(Err *err);
