/* What a place where kernels run has to offer the session: one table of functions a BevWhere. */
#ifndef BEV_BACKEND_H
#define BEV_BACKEND_H

#include "src/run/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The meaning of each function is that of its namesake in session.h; `state` is the backend's own.
 * `open` need not ask bev_unsupported, and reports the prepare step's time; `once` as in
 * session_open_once. */
typedef struct {
    bool (*open)(void **state, const BevKernel *kernel, const BevProblem *host, bool once,
                 double *prepare_us, Err *err);
    void (*close)(void *state);
    bool (*update)(void *state, Err *err);
    bool (*poison)(void *state, Err *err);
    bool (*run)(void *state, Err *err);
    bool (*read)(void *state, void *codes, Err *err);
    bool (*output)(void *state, const void **codes, Err *err);
    bool (*inputs_untouched)(void *state, Err *err);
    /* NULL: launches start none. */
    bool (*functions)(void *state, CudaFunction *functions, int capacity, int *count, Err *err);
    bool (*time)(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                 Err *err);
} SessionBackend;

extern const SessionBackend session_cpu_backend;  /* session_cpu.c */
extern const SessionBackend session_cuda_backend; /* session_cuda.cu, only in builds with CUDA */

/* Median, percentiles and noise of `count` >= 1 samples in the order they were taken, launches
 * already divided out. `settle` is the relative difference of the halves' medians that still counts
 * as settled. Sorts `samples_us`. Leaves `inner` alone. */
void timing_summarize(double *samples_us, int count, double settle, Timing *timing);

/* Median of a few values; sorts them. */
double timing_median(double *values, int count);

#ifdef __cplusplus
}
#endif
#endif
