/* SPDX-License-Identifier: MIT */
/* Declarations for the two parts of the runner: runner.c, and runner_gpu.c for CUDA kernels. */
#pragma once

#include "src/try/job.h"

#include "samples/try/pool.h"

/* Converts a problem to the struct that a learner's kernel gets. Pointers are copied unchanged. */
Pool runner_pool(const BevProblem *problem);

/* Whether this build has CUDA. False: `err` says why kernels cannot run on a GPU. */
bool gpu_possible(Err *err);

/* The descriptor of a process that compiles: it writes the machine code there. */
enum { TRY_CODE = CHILD_FIRST_FILE };

/* Compiles the file `name` for a GPU. Prints the compiler's messages, or why there is no GPU.
 * Returns the exit status. */
int gpu_compile(const char *name);

/* Opens the first GPU and loads the machine code from a descriptor. */
bool gpu_load(int fd, Err *err);

/* The learner's kernel as a BevKernel, once it is loaded. */
extern const BevKernel gpu_learner;

/* Runs the kernel once, in a session of its own. `out`, (nx * ny, channels), receives its output.
 * Returns JOB_DONE, or why the kernel stopped, with an error. */
JobState gpu_call(const BevProblem *problem, float *out, Err *err);
