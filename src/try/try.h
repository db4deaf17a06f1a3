/* SPDX-License-Identifier: MIT */
/* A learner's own kernel is a file with one function. The kernel is compiled, judged on the cases
 * of checkbev, and timed as bench does.
 *
 * Each run of the kernel is a process with limits of time, memory and processes. The process has no
 * terminal, and its output is cut. It has the rights of the user, and can write to all of its own
 * memory, also to the report of the run. A report can thus be false: only the outputs are judged,
 * by values that are computed after the run. */
#pragma once

#include "src/accuracy/cases.h"
#include "src/accuracy/gates.h"
#include "src/run/session.h"

/* A compiled kernel. */
typedef struct {
    const char *file;  /* file name as the learner gave it; borrowed */
    bool cuda;         /* the kernel is for GPUs: its file name ends in .cu */
    int library;       /* machine code: an open file without a name; -1: none */
    char command[256]; /* compiler command: "cc -O2 -fopenmp" */
    char *messages;    /* compiler's messages, lines without control characters; or NULL */
} TryKernel;

/* Compiles `file`. The kernel stays open until the program ends. After a failure its messages say
 * why. ERR_DEVICE: there is no C compiler, or no GPU for a CUDA kernel. ERR_FAILED: the file cannot
 * be read or does not compile. */
bool try_compile(const char *file, TryKernel *kernel, Err *err);

/* The verdict on a kernel for one problem. */
typedef enum {
    TRY_RIGHT,
    /* a gate failed, or the kernel wrote outside its output; other cases can be judged */
    TRY_WRONG,
    TRY_STOPPED /* the kernel crashed, did not end, or ended the program */
} TryVerdict;

typedef struct {
    TryVerdict verdict;
    bool varies;      /* two runs gave different bits, both within the bound of gate A */
    int64_t nan_both; /* values that are NaN in FP64 and in the output: right, but not compared */
    char what[256];   /* the mistake in one sentence; "": right */
    char hint[256];   /* where to look; may be empty */
    char *bad_cells;  /* a map of the wrong cells (bad_cells_map), or NULL */
    char *printed;    /* the kernel's own output, cut, control characters replaced; NULL: nothing */
} TryResult;

/* Judges the kernel on a case: two runs on random inputs for gate A, one on exact inputs for gate
 * C. No run may take longer than limit_s. False with an error: the case could not be tried, or the
 * kernel could not be loaded. Free the result with try_result_free also after a failure. */
bool try_case(const TryKernel *kernel, const Case *c, double limit_s, TryResult *result, Err *err);

/* Judges the kernel on an FP32 problem without weights, as try_case does. */
bool try_problem(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                 TryResult *result, Err *err);
void try_result_free(TryResult *result);

/* Times the kernel, or the kernel `instead` of the table, on a problem in a process of its own. The
 * conditions are the same for all kernels, with warm caches. False: this run failed. */
bool try_time(const TryKernel *kernel, const BevKernel *instead, const BevProblem *problem,
              const TimingOptions *options, double limit_s, Timing *timing, Err *err);

/* With the word try_runner_word this program is the runner of a kernel. try_runner returns the exit
 * status. Only the functions above start a runner. */
extern const char try_runner_word[];
int try_runner(int argc, char **argv);
