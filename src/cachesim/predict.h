/* SPDX-License-Identifier: MIT */
/* Predicts DRAM bytes and a latency from a kernel's accesses and a GPU's published facts. A latency
 * has four terms that overlap, and the launch. Views must label a prediction as a model.
 *
 * The terms do not overlap perfectly. The latency is the root of the sum of their squares, which
 * lies between the longest term and the sum of the terms. 18 recorded H200 latencies decided for
 * this form (samples/experiments/ladder.md). With the longest term alone three predictions were
 * wrong by more than 30 %. With this form no prediction is. One constant comes from a recorded
 * latency. No constant comes from the latencies that were published for the other two GPUs. */
#pragma once

#include "src/cachesim/gpus.h"
#include "src/cachesim/trace.h"

/* TERM_DEPENDENT_LOADS is the time of the longest interval, whose loads wait for each other. */
typedef enum { TERM_DRAM, TERM_L2, TERM_ISSUE, TERM_DEPENDENT_LOADS, TERM_COUNT } LatencyTerm;
extern const char *const term_names[TERM_COUNT]; /* "DRAM", "L2", "issue", "dependent loads" */

/* Names for a kernel by its longest term: "issue-bound", "limited by L2 bandwidth". */
extern const char *const limit_names[TERM_COUNT];

/* Returns a text without "limited by " at its beginning: "L2 bandwidth: atomics". */
const char *limit_brief(const char *text);

typedef struct {
    double hit_rate; /* L2 hits / sectors looked up, as counters count; NaN: no lookups */
    double dram_read_bytes, dram_write_bytes;
    double term_us[TERM_COUNT];
    double instructions_us; /* the issue term without the L1 lines that are touched */
    LatencyTerm limiter;    /* the longest term */
    double launch_us;       /* an empty launch, and the launches that clear or encode */
    double latency_us;      /* the combined terms and the launch */
} Prediction;

static inline double prediction_dram_bytes(Prediction p) {
    return p.dram_read_bytes + p.dram_write_bytes;
}

/* The accesses of a kernel on a problem, counted by a replay. They hold for any GPU. */
typedef struct {
    const BevKernel *kernel;
    BevDtype dtype; /* the format of the problem */
    int tile;       /* the number of channels of a thread */
    TraceCounts counts;
    ReuseCurves whole, divided; /* reuse in an L2 of one partition, and of two partitions */
    bool estimate;              /* the counts are of a sample, and the curves a guess */
    double cleared_bytes;       /* bytes that a launch before the kernel clears; 0: no launch */
    double encoded;             /* sums that a launch after the kernel encodes; 0: no launch */
    double encoded_bytes;       /* bytes that the encoding launch writes */
} Profile;

/* Replays the accesses of a kernel. A million accesses take at most a tenth of a second. `watch`
 * may be NULL. With `watch->sample` the profile is an estimate, and the L2 is not simulated: an L2
 * that is smaller than the arrays misses each sector once. Free the profile with profile_free. */
bool profile_make(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  Profile *profile, Err *err);
void profile_free(Profile *profile);

/* Copies counts of a complete profile into an estimate: steps, the busiest multiprocessor, and the
 * slowest warp. No number format changes these. `whole` has the estimate's kernel and map. */
void profile_refine(Profile *estimate, const Profile *whole);

/* Corrects an estimate in proportion to `whole`, a complete profile of the kernel on another map:
 * the work of the busiest multiprocessor and the slowest warp's waits, which a sample lacks. */
void profile_resemble(Profile *estimate, const Profile *whole);

/* L2_WARM: launches follow each other in a graph, and each leaves its L2 to the next. L2_COLD: the
 * L2 is empty, and the launch is alone in its graph. `bench` times both in the same way. */
typedef enum { L2_COLD, L2_WARM } L2Start;

Prediction predict(const Profile *profile, const Gpu *gpu, L2Start start);

/* The result of a kernel's accesses in an L2 of one size. */
typedef struct {
    double hit_rate;           /* L2 hits / sectors looked up; NaN: no lookups */
    double misses, writebacks; /* sectors that DRAM reads and writes */
    double missed, crossed;    /* shares of fetches served by DRAM, by the other partition */
    bool cold;                 /* the L2 began empty; `missed` then leaves out first accesses */
} L2Answer;

/* Returns the result of the profile's accesses in an L2 of `bytes` in 1 or 2 partitions. */
L2Answer profile_l2(const Profile *profile, int partitions, double bytes, L2Start start);

/* Predicts the latency with the L2 result `l2`. The profile's curves are not used. */
Prediction predict_at(const Profile *profile, const Gpu *gpu, const L2Answer *l2);

/* Return the highest rates that the model assumes for a GPU. */
double predict_dram_gb_s(const Gpu *gpu);
double predict_l2_gb_s(const Gpu *gpu);
double predict_fp32_gflops(const Gpu *gpu);

/* Returns the latency that follows from the terms and the launch. */
double predict_latency_us(const Prediction *prediction);
