/* SPDX-License-Identifier: MIT */
/* Prepares the limits of the process that would end it without a message: stack, CPU time,
 * threads. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

/* Raises a small stack as far as allowed. Arranges a message one second before the limit of CPU
 * time ends the process. False: the stack stays too small, or OpenMP's library cannot take
 * OMP_NUM_THREADS. */
bool environment_prepare(Err *err);
