/* What the two parts of the runner share: runner.c, and runner_gpu.c for kernels in CUDA. */
#pragma once

#include "src/try/job.h"

#include "samples/try/pool.h"

/* The problem as a kernel gets it; the pointers stay where they point. */
Pool runner_pool(const BevProblem *problem);

/* Whether this build has CUDA. */
bool gpu_possible(Err *err);

/* Compiles descriptor GPU_SOURCE, named `name`, and writes the machine code to GPU_IMAGE. Prints
 * what the compiler says, or why there is no GPU. Returns the exit status. */
enum { GPU_SOURCE = CHILD_FIRST_FILE, GPU_IMAGE };
int gpu_compile(const char *name);

/* Opens the first GPU and loads that code from a descriptor. */
bool gpu_load(int fd, Err *err);

/* The learner's kernel as a row, once it is loaded. */
extern const BevKernel gpu_learner;

/* Runs it `calls` times; outs[i] (nx * ny, channels) receives an output each. Returns JOB_DONE, or
 * why it stopped, with an error. */
JobState gpu_call_all(const BevProblem *problem, int calls, float *const *outs, Err *err);
