/* A session runs one kernel on one problem, on the CPU or on a GPU: it holds the problem where the
 * kernel runs, prepares the kernel and launches it. Checks, timings and pictures all use it. */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Session Session;

/* Copies `host`, which must outlive the session, to where `kernel` runs (the CPU uses it in place)
 * and runs the kernel's prepare step once. Fails with ERR_DEVICE if the device is missing, with
 * ERR_FAILED and the reason if the kernel does not support the problem (bev_unsupported). */
bool session_open(Session **session, const BevKernel *kernel, const BevProblem *host, Err *err);

enum { REFUSAL_SIZE = 512 }; /* bytes of a reason */

/* The same for tables of many kernels: one that does not support the problem, or whose prepare step
 * refuses it (ERR_USAGE), gives true, no session and the reason in `skipped` (REFUSAL_SIZE bytes,
 * else left empty). */
bool session_open_or_skip(Session **session, const BevKernel *kernel, const BevProblem *host,
                          char *skipped, Err *err);

void session_close(Session *session); /* accepts NULL */

/* The time of the kernel's prepare step, microseconds: the median of a few repetitions, or one run
 * if it takes milliseconds. 0 if the kernel has none. The first call repeats the step, beginning
 * with the run that opened the session; later calls give the same figure. */
bool session_prepare_us(Session *session, double *us, Err *err);

/* Takes over the host problem's current depth, features, scales and, backward, grad_out. Map, shape
 * and formats must be those of session_open: the plan depends on them alone and is kept. The next
 * launch gives the same bits as a new session would. */
bool session_update(Session *session, Err *err);

/* Fills the outputs and the kernel's workspace with 0xff bytes: NaN in every output format. */
bool session_poison(Session *session, Err *err);

/* Launches the kernel once and waits for it. */
bool session_run(Session *session, Err *err);

/* Copies the outputs to `codes`, bev_output_bytes(host) long, one after the other in the order of
 * bev_outputs. Channels come last, whatever layout the kernel writes. */
bool session_read(Session *session, void *codes, Err *err);

/* As session_output, without a copy where possible: *codes points to memory of the session or of
 * the host problem, valid until the next call on this session. */
bool session_output(Session *session, const void **codes, Err *err);

/* Checks that no launch changed an input or wrote outside its buffers; false with an error if one
 * did. On the CPU only the workspace is checked: there the other arrays are the caller's own. */
bool session_inputs_untouched(Session *session, Err *err);

/* One CUDA function (a __global__ function) as a launch of a kernel starts it. */
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

/* Lists the CUDA functions that one launch starts, in order, and runs none of them; *count is at
 * most `capacity`. There are none on the CPU, and a clear by the driver (a memset) is none. */
bool session_functions(Session *session, CudaFunction *functions, int capacity, int *count,
                       Err *err);

typedef struct {
    int samples;        /* how many to take; 100 by default */
    double min_warm_ms; /* length of the warm-up before the first sample */
    double max_s;       /* stop after this long, but not before 5 samples are taken */
    bool single;        /* CUDA: each sample is one launch from the host, waited for; no graph */
} TimingOptions;

extern const TimingOptions timing_default, timing_quick;

typedef struct {
    double median_us, p95_us, p99_us, min_us;
    double noise; /* interquartile range / median */
    /* The medians of the two halves differ by at most `drift_limit`, the least sample is no less
     * than a third of the median and, on the CPU, the calling thread or its team on average ran
     * nearly all the time: other programs did not have the cores. */
    bool settled;
    double drift_limit; /* 0.05 (GPU) or 0.15 (CPU) */
    int samples;
    int inner; /* launches in each sample; its time is divided by them */
} Timing;

/* How many times as long as `b` takes `a`. NaN where one of them did not settle or is zero: no
 * ratio, verdict or exit status is built on such a figure. */
double timing_ratio(const Timing *a, const Timing *b);

typedef enum { CACHE_WARM, CACHE_COLD } CacheState;

/* Joins two timings of the same kernel. Both settled, and medians within the limit: a settled
 * average. Else the faster of the two, unsettled. */
Timing timing_join(const Timing *a, const Timing *b);

/* Times launches. Warm: back to back. Cold: the caches are flushed before every launch, outside the
 * timed part. On a GPU by CUDA graphs and events, on the CPU by the monotonic clock. A cold launch
 * is alone in its graph, whose start between the events takes 2.3 us more on an H200
 * (samples/experiments/model.md, *Cold caches*). */
bool session_time(Session *session, CacheState cache, const TimingOptions *options, Timing *timing,
                  Err *err);

#ifdef __cplusplus
}
#endif
