/* A learner's own kernel: a file with one function, compiled here, run in a process of its own,
 * judged on the cases of checkbev and timed as bench does.
 *
 * A run ends at a time limit. Its process has no terminal, limits of time, memory and processes,
 * and an output that is cut. It has the rights of the user, and can write to all of its own memory,
 * the runner's page of results included. So results are judged from the outputs alone, by values
 * that are computed after the run, and times are confirmed by the clock of the judge. */
#pragma once

#include "src/accuracy/cases.h"
#include "src/accuracy/gates.h"
#include "src/run/session.h"

/* A compiled kernel. */
typedef struct {
    const char *file;  /* as the learner named it; borrowed */
    bool cuda;         /* a kernel for GPUs: its name ends in .cu */
    int library;       /* the code: an open file without a name; -1: none */
    char command[256]; /* what compiled it: "cc -O2 -fopenmp" */
    char *messages;    /* what the compiler said, lines without control characters; or NULL */
} TryKernel;

/* Compiles `file` in a private folder, which is gone on return, also when a signal ends the program
 * meanwhile. Free the kernel also after a failure: its messages say why. ERR_DEVICE: there is no C
 * compiler, or for a kernel in CUDA no GPU; ERR_FAILED: the file cannot be read or does not
 * compile. */
bool try_compile(const char *file, TryKernel *kernel, Err *err);
void try_kernel_free(TryKernel *kernel);

/* How a kernel did on one problem. */
typedef enum {
    TRY_RIGHT,
    TRY_WRONG,  /* a gate failed, or it wrote where it must not: other cases can still be judged */
    TRY_STOPPED /* crashed, did not end, or ended the program */
} TryVerdict;

typedef struct {
    TryVerdict verdict;
    bool varies;     /* two runs gave different bits, both within the bound of gate A */
    int64_t nan_both; /* values that are NaN in FP64 and in out: right, but nothing was compared */
    char what[256];  /* the mistake, in one sentence; "" where right */
    char hint[256];  /* what to look at; may be empty */
    char *bad_cells; /* a map of the wrong cells (bad_cells_map), or NULL */
    char *printed;   /* what it printed, cut, control characters replaced; NULL: nothing */
    double run_s;    /* wall time of its process */
} TryResult;

/* Judges the kernel on a case: two runs on random inputs for gate A, one on exact inputs for gate
 * C. No run may take longer than limit_s. False with an error only if the case could not be tried,
 * or the kernel not be loaded. Free the result with try_result_free in any case. */
bool try_case(const TryKernel *kernel, const Case *c, double limit_s, TryResult *result, Err *err);

/* As try_case, on an FP32 problem without weights. */
bool try_problem(const TryKernel *kernel, const BevProblem *problem, double limit_s,
                 TryResult *result, Err *err);
void try_result_free(TryResult *result);

/* Times the kernel, or the row `instead` of the table, on that problem in a process of its own: all
 * under the same conditions, caches warm. False: it ended in another way than in try_problem. */
bool try_time(const TryKernel *kernel, const BevKernel *instead, const BevProblem *problem,
              const TimingOptions *options, double limit_s, Timing *timing, Err *err);

/* The word that makes this program the runner of a kernel, and the runner itself, which returns the
 * exit status. Only the functions above start it. */
extern const char try_runner_word[];
int try_runner(int argc, char **argv);
