/* The chart of bevscope try: where a learner's kernel stands beside the kernels of the CPU. */
#pragma once

#include "src/cli/options.h"
#include "src/try/try.h"

/* Times both on the problem, each in a process of its own, prints the chart, and draws it into
 * --output where that is given. No launch of the kernel takes longer than limit_s. */
bool try_ladder(const Options *options, const TryKernel *kernel, const char *scene,
                const BevProblem *problem, double limit_s, bool svg, Err *err);

/* On a terminal: names the current work on standard error; "" at its end. */
void try_progress(const char *what);
