/* A problem resident where a kernel runs, prepared and ready to launch: the one way in which
 * checks, timings and pictures run a kernel, on the CPU and on a GPU alike. */
#ifndef BEV_SESSION_H
#define BEV_SESSION_H

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Session Session;

/* Copies `host` to where `kernel` runs (the CPU shares it) and runs its prepare step. Fails with
 * ERR_DEVICE when the device is not there, ERR_FAILED with the reason of bev_unsupported. The host
 * problem must outlive the session. */
bool session_open(Session **session, const BevKernel *kernel, const BevProblem *host, Err *err);

/* The same for one picture: prepares once, and keeps nothing to compare inputs with. Neither its
 * prepare time nor session_inputs_untouched is to be asked for. */
bool session_open_once(Session **session, const BevKernel *kernel, const BevProblem *host,
                       Err *err);

void session_close(Session *session); /* accepts NULL */

/* Median over a few repetitions of the prepare step, microseconds; one that takes milliseconds is
 * taken once. 0 where there is none. */
double session_prepare_us(const Session *session);

/* Goes on with the values that are in the host problem's depth and features by now, and with its
 * scales. Map, shape and formats are those the session was opened with, and so is what `prepare`
 * built, which depends on nothing else: the next launch gives the bits of a fresh session. */
bool session_update(Session *session, Err *err);

/* Fills the output where it lives with a NaN pattern (0xff bytes). */
bool session_poison(Session *session, Err *err);

/* One launch, waited for. */
bool session_run(Session *session, Err *err);

/* The output's codes into `codes`, bev_code_bytes() of host->out (plus block scales: none of the
 * output formats has them). */
bool session_read(Session *session, void *codes, Err *err);

/* The same codes where the host can read them, without a copy where the backend can: theirs until
 * the next call on this session. */
bool session_output(Session *session, const void **codes, Err *err);

/* Compares all inputs where they live with the host originals. */
bool session_inputs_untouched(Session *session, Err *err);

/* A kernel as one launch starts it on a GPU. */
typedef struct {
    char name[96];        /* with template arguments: "v2_kernel<(BevDtype)1, false>" */
    int64_t blocks;       /* in the grid */
    int threads;          /* a block */
    int registers;        /* a thread */
    int64_t local_bytes;  /* a thread: spilled registers and stack */
    int64_t shared_bytes; /* a block, static and dynamic */
    int resident_blocks;  /* a multiprocessor can hold */
    double occupancy;     /* theoretical: resident warps / most possible */
} CudaFunction;

/* The kernels that one launch starts, in order; none on the CPU, and clears by the copy engine are
 * no kernels. Runs nothing. At most `capacity`; *count is how many. */
bool session_functions(Session *session, CudaFunction *functions, int capacity, int *count, Err *err);

typedef struct {
    int samples;        /* 100 */
    double min_warm_ms; /* warm-up before the first sample */
    double max_s;       /* give up collecting after this long; at least 5 samples are taken */
    bool single;        /* CUDA: one launch a sample from the host, waited for, no graph */
} TimingOptions;

extern const TimingOptions timing_default, timing_quick;

typedef struct {
    double median_us, p95_us, p99_us, min_us;
    double noise; /* interquartile range / median */
    bool settled; /* false: the two halves of the samples differ by more than 5 % (GPU) / 15 % */
    int samples;
    int inner; /* launches per sample, each sample divided by it */
} Timing;

typedef enum { CACHE_WARM, CACHE_COLD } CacheState;

/* Times launches. Warm: back to back. Cold: the caches flushed before every launch, outside the
 * timed region. CUDA: graphs and events; CPU: the monotonic clock. */
bool session_time(Session *session, CacheState cache, const TimingOptions *options, Timing *timing,
                  Err *err);

#ifdef __cplusplus
}
#endif
#endif
