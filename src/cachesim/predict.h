/* From a kernel's accesses and a GPU's published facts to DRAM bytes and a latency: four terms that
 * overlap, and the launch. It is a model and must be shown as one. Constants that data sheets do
 * not give are in predict.c, each with its source.
 *
 * The terms overlap, but not perfectly: the latency is the root of the sum of their squares, which
 * lies between the longest term and their sum. That form was chosen by 18 recorded H200 latencies
 * (samples/experiments/ladder.md): the longest term alone was off by more than 30 % on three of
 * them, this form on none. One constant comes from a recorded latency, none from the published ones
 * of the other two GPUs. */
#pragma once

#include "src/cachesim/gpus.h"
#include "src/cachesim/trace.h"

typedef enum { TERM_DRAM, TERM_L2, TERM_ISSUE, TERM_DEPENDENT_LOADS, TERM_COUNT } LatencyTerm;
extern const char *const term_names[TERM_COUNT]; /* "DRAM", "L2", "issue", "chain" */

typedef struct {
    double hit_rate; /* of sectors looked up in L2, as counters have it; NaN: there are none */
    double dram_read_bytes, dram_write_bytes;
    double term_us[TERM_COUNT];
    double instructions_us; /* the issue term without the L1 lines that are touched */
    LatencyTerm limiter;    /* the longest term */
    double launch_us;  /* an empty launch, a clear or encoding in launches of their own included */
    double latency_us; /* the terms, combined, and the launch */
} Prediction;

/* What a kernel does with a problem, on any GPU. */
typedef struct {
    const BevKernel *kernel;
    BevDtype dtype;
    int tile;
    TraceCounts counts;
    ReuseCurves whole, divided; /* in an L2 of one partition, and of two */
    double cleared_bytes;       /* that a launch before the kernel clears; 0: there is none */
    double encoded;             /* sums that a launch after it encodes; 0: there is none */
    double encoded_bytes;       /* bytes that encoding writes */
} Profile;

/* Replays the accesses: at most a tenth of a second for a million of them. `watch` may be NULL.
 * Free the profile with profile_free, which accepts NULL. */
bool profile_make(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  Profile *profile, Err *err);
void profile_free(Profile *profile);

/* `warm`: the L2 is as the run before left it, and launches follow each other in a graph; else the
 * L2 is empty, and the launch is alone in its graph, as `bench` times it. */
Prediction predict(const Profile *profile, const Gpu *gpu, bool warm);

/* What an L2 of one size does with a kernel's accesses. */
typedef struct {
    double hit_rate;           /* as in Prediction */
    double misses, writebacks; /* sectors that DRAM reads and writes */
    double missed, crossed;    /* shares of the fetches: from DRAM, from the other partition */
    bool cold;                 /* first accesses come from DRAM, too; `missed` is without them */
} L2Answer;

L2Answer profile_l2(const Profile *profile, int partitions, double bytes, bool warm);

/* The prediction for a GPU whose L2 gives that answer. The profile's curves are not used. */
Prediction predict_at(const Profile *profile, const Gpu *gpu, const L2Answer *l2);

/* The ceilings that the model takes a GPU to have. */
double predict_dram_gbps(const Gpu *gpu);
double predict_l2_gbps(const Gpu *gpu);
double predict_fp32_gflops(const Gpu *gpu);

/* The latency if the chain, the longest interval, took `factor` times as long. */
double predict_latency_us(const Prediction *prediction, double factor);

/* The factor with which V2+DO takes as long as published, in the geometric mean over `count`
 * configurations: the only fit to published figures. The model replays our maps; the longest
 * interval of the article's maps was not published, and V2+DO is the kernel that waits for nothing
 * else. Between 0 and 16; NaN if `count` is 0. */
double predict_calibration(const Prediction *predictions, const double *known_us, int count);
