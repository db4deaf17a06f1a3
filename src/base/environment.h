/* SPDX-License-Identifier: MIT */
/* Prepares the limits of the process that would end it without a message: stack and threads. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

/* Raises a small stack as far as allowed. False: the stack stays too small, or OpenMP's library
 * cannot take OMP_NUM_THREADS. */
bool environment_prepare(Err *err);
