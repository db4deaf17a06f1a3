/* What a session needs of a backend: one table of functions for each BevWhere. */
#pragma once

#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each function does for the backend's own `state` what its namesake in session.h does. */
typedef struct {
    /* bev_unsupported has been asked before. */
    bool (*open)(void **state, const BevKernel *kernel, const BevProblem *host, Err *err);
    void (*close)(void *state);
    /* Releases the kernel's plan and builds it again; *us is the time of building. Called only if
     * the kernel has a prepare step. */
    bool (*prepare)(void *state, double *us, Err *err);
    bool (*update)(void *state, Err *err);
    bool (*poison)(void *state, Err *err);
    bool (*run)(void *state, Err *err);
    bool (*read)(void *state, void *codes, Err *err);
    bool (*output)(void *state, const void **codes, Err *err);
    bool (*inputs_untouched)(void *state, Err *err);
    /* NULL: launches start no CUDA functions. */
    bool (*functions)(void *state, CudaFunction *functions, int capacity, int *count, Err *err);
    bool (*time)(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                 Err *err);
} SessionBackend;

extern const SessionBackend session_cpu_backend;  /* session_cpu.c */
extern const SessionBackend session_cuda_backend; /* session_cuda.cu, only in builds with CUDA */

/* Takes samples until there are options->samples of them, or, after at least 5, until
 * options->max_s have passed since begun_us, and summarizes them. `sample` sets *us to the time of
 * one launch. */
bool timing_collect(const TimingOptions *options, double begun_us, double settle,
                    bool (*sample)(void *context, double *us, Err *err), void *context,
                    Timing *timing, Err *err);

/* Fills *timing, except `inner`, from the times of `count` >= 1 launches in the order they were
 * taken, and sorts them. `settle` is the relative difference between the medians of the two halves
 * up to which the result counts as settled. */
void timing_summarize(double *samples_us, int count, double settle, Timing *timing);

/* Whether launches on the CPU waited for a core that another program had. In a launch some thread
 * always has work, so that the threads' CPU time (clock_team_since_us) is at least the elapsed
 * time: it waited where it is far less. */
bool timing_waited(double busy_us, double elapsed_us);

/* The median of `count` >= 1 values; sorts them. */
double timing_median(double *values, int count);

#ifdef __cplusplus
}
#endif
