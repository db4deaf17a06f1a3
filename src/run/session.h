/* SPDX-License-Identifier: MIT */
/* A session runs one kernel on one problem, on the CPU or on a GPU. It holds the problem on the
 * kernel's device, prepares the kernel and launches it. Checks and timings use sessions. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Session Session;

/* Copies `host` to the kernel's device and runs the kernel's prepare step once. The CPU uses `host`
 * in place, so `host` must outlive the session. Fails with ERR_DEVICE if the device is missing, and
 * with ERR_FAILED if the kernel does not support the problem (bev_unsupported). */
bool session_open(Session **session, const BevKernel *kernel, const BevProblem *host, Err *err);

enum { REFUSAL_SIZE = 512 }; /* the bytes of a reason for refusing a problem */

/* Opens a session for a row of a table. A kernel that does not support the problem is no failure,
 * nor is a prepare step that refuses the problem (ERR_USAGE). *session is then NULL, and `skipped`
 * (REFUSAL_SIZE bytes) has the reason. Otherwise `skipped` is empty. */
bool session_open_or_skip(Session **session, const BevKernel *kernel, const BevProblem *host,
                          char *skipped, Err *err);

void session_close(Session *session); /* accepts NULL */

/* Gives the time of the kernel's prepare step in microseconds, or 0 if the kernel has none. The
 * time is the median of three runs, or of two if a run takes milliseconds. session_open made the
 * first run. Later calls give the same figure. */
bool session_prepare_us(Session *session, double *us, Err *err);

/* Copies the host problem's current depth, features, scales and, backward, grad_out. Map, shape and
 * formats must be those of session_open. The plan depends on these alone and is kept. The next
 * launch gives the same bits as a new session would. */
bool session_update(Session *session, Err *err);

/* Fills the outputs and the kernel's workspace with 0xff bytes: NaN in every output format. */
bool session_poison(Session *session, Err *err);

/* Launches the kernel once and waits for it. */
bool session_run(Session *session, Err *err);

/* Copies the outputs to `codes`, bev_output_bytes(host) long, one after the other in the order of
 * bev_outputs. Channels come last, whatever layout the kernel writes. */
bool session_read(Session *session, void *codes, Err *err);

/* Gives the outputs as session_read, but without a copy where possible. *codes points to memory of
 * the session or of the host problem. It is valid until the next call on this session. */
bool session_output(Session *session, const void **codes, Err *err);

/* Checks that no launch changed an input or wrote outside its buffers. Returns false with an error
 * where a launch did. On the CPU only the workspace is checked, because the other arrays are the
 * caller's. */
bool session_inputs_untouched(Session *session, Err *err);

/* A CUDA function (a __global__ function), and the sizes with which a launch starts it. */
typedef struct {
    char name[96];        /* with template arguments: "v2_kernel<1, false>" */
    int64_t blocks;       /* in the grid */
    int threads;          /* per block */
    int registers;        /* per thread */
    int64_t local_bytes;  /* per thread: spilled registers and stack */
    int64_t shared_bytes; /* per block, static and dynamic */
    int resident_blocks;  /* that fit on a multiprocessor at the same time */
    double occupancy;     /* theoretical: resident warps / the most a multiprocessor can hold */
} CudaFunction;

/* Lists the CUDA functions that one launch starts, in order, and runs none of them. *count is at
 * most `capacity`. On the CPU there are none. A clear by the driver (a memset) does not count. */
bool session_functions(Session *session, CudaFunction *functions, int capacity, int *count,
                       Err *err);

typedef struct {
    int samples;        /* how many to take; 100 by default */
    double min_warm_ms; /* length of the warm-up before the first sample */
    double max_s;       /* the time limit in seconds; at least 5 samples are taken */
    bool single;        /* CUDA: a sample is one launch without a graph, and the host waits */
} TimingOptions;

extern const TimingOptions timing_default, timing_quick;

typedef struct {
    double median_us, p95_us, p99_us, min_us;
    double noise; /* interquartile range / median */
    /* Three conditions: the medians of the two halves differ by at most `drift_limit`. The least
     * sample is no less than a third of the median. On the CPU the calling thread, or its team on
     * average, ran nearly all the time: other programs did not have the cores. */
    bool settled;
    double drift_limit; /* 0.05 (GPU) or 0.15 (CPU) */
    int samples;
    int inner; /* launches in each sample, whose time is divided by this number */
} Timing;

/* Returns the time of `a` divided by the time of `b`. NaN: a time did not settle or is zero. No
 * verdict or exit status may depend on a time that did not settle. */
double timing_ratio(const Timing *a, const Timing *b);

typedef enum { CACHE_WARM, CACHE_COLD } CacheState;

/* Joins two timings of the same kernel. If both settled and their medians differ by at most the
 * limit, the result is a settled average. If the medians differ more, the result is the faster
 * timing, not settled. */
Timing timing_join(const Timing *a, const Timing *b);

/* Times launches. Warm launches are back to back. Before a cold launch the caches are flushed; the
 * flush is not timed. On a GPU CUDA graphs and events measure the time, on the CPU the monotonic
 * clock. A cold launch is alone in its graph. The start of such a graph takes 2.3 us more on an
 * H200 (samples/experiments/model.md, *Cold caches*). */
bool session_time(Session *session, CacheState cache, const TimingOptions *options, Timing *timing,
                  Err *err);

#ifdef __cplusplus
}
#endif
