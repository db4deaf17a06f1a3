/* SPDX-License-Identifier: MIT */
/* The functions that a session needs of a backend. Each BevWhere has a table of these functions. */
#pragma once

#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function does the work of session_<name> in session.h, on the backend's own `state`. */
typedef struct {
    /* The caller has asked bev_unsupported before. */
    bool (*open)(void **state, const BevKernel *kernel, const BevProblem *host, Err *err);
    void (*close)(void *state);
    /* Releases the kernel's plan and builds the plan again. *us receives the time of building. Only
     * called if the kernel has a prepare step. */
    bool (*prepare)(void *state, double *us, Err *err);
    bool (*update)(void *state, Err *err);
    bool (*poison)(void *state, Err *err);
    bool (*run)(void *state, Err *err);
    bool (*read)(void *state, void *codes, Err *err);
    bool (*output)(void *state, const void **codes, Err *err);
    bool (*inputs_untouched)(void *state, Err *err);
    /* May be NULL: launches then start no CUDA functions. */
    bool (*functions)(void *state, CudaFunction *functions, int capacity, int *count, Err *err);
    bool (*time)(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                 Err *err);
} SessionBackend;

extern const SessionBackend session_cuda_backend; /* session_cuda.cu, only in builds with CUDA */

/* Takes options->samples samples and summarizes them. Stops earlier, after at least 5 samples, if
 * options->max_s have passed since begun_us. `sample` sets *us to the time of one launch. */
bool timing_collect(const TimingOptions *options, double begun_us, double settle,
                    bool (*sample)(void *context, double *us, Err *err), void *context,
                    Timing *timing, Err *err);

/* Fills *timing, except `inner`, from the times of `count` >= 1 launches in the order they were
 * taken, and sorts the times. The result counts as settled if the medians of the two halves differ
 * by at most `settle`, as a share of the smaller one. */
void timing_summarize(double *samples_us, int count, double settle, Timing *timing);

/* Whether launches on the CPU waited for a core that another program had. Some thread always has
 * work in a launch. The threads' CPU time (clock_team_since_us) is thus at least the elapsed time,
 * unless they waited. */
bool timing_waited(double busy_us, double elapsed_us);

/* Returns the median of `count` >= 1 values, and sorts them. */
double timing_median(double *values, int count);

#ifdef __cplusplus
}
#endif
