/* SPDX-License-Identifier: MIT */
/* Memory regimes: where the arrays of a problem lie while it runs, and which form of V3 is faster
 * then. Plain arithmetic, so that a machine without a GPU can ask "what if". */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* There are three regimes because the L2 of a large GPU has two halves. An L2 of two halves keeps a
 * line that both sides read twice. So a problem beyond half the size of the L2 may not fit. */
typedef enum { REGIME_FITS, REGIME_CONTESTED, REGIME_STREAMING, REGIME_COUNT } BevRegime;

typedef struct {
    const char *name, *meaning;
} BevRegimeInfo;

extern const BevRegimeInfo bev_regimes[REGIME_COUNT];

/* Returns the regime: fits up to half the L2, contested up to the L2, streaming beyond. An
 * unknown L2 (0) counts as streaming. */
BevRegime bev_regime(double footprint_bytes, double l2_bytes);

/* Latencies in cycles, measured on an H200 (samples/experiments/model.md): of an L1 hit, of an L2
 * hit, and of an instruction that needs the result of the one before. BEV_ISSUE_SHARE is the issued
 * share of the four instructions a cycle that a multiprocessor can issue. */
static const double BEV_L1_CYCLES = 50, BEV_L2_CYCLES = 288, BEV_CHAIN_CYCLES = 3;
static const double BEV_ISSUE_SHARE = 0.6;

/* The facts of a GPU that an estimate needs. */
typedef struct {
    double l2_bytes;
    int multiprocessors;
    bool converts_fp8, decodes_fp4; /* the GPU has instructions for it */
} BevGpuFacts;

/* The facts of a problem that an estimate needs. */
typedef struct {
    BevDtype dtype;
    int64_t channels, points, longest; /* longest: number of points of the longest interval */
    double footprint_bytes;            /* bytes of all arrays, each counted once */
    double gathered_bytes;  /* gather traffic as the article counts it, with an FP32 output: 49 MB
                               on canonical */
} BevWorkload;

/* Collects these facts of a problem. `longest` is the result of bev_longest_interval; the map's
 * arrays are not read. */
BevWorkload bev_workload(const BevProblem *problem, int64_t longest);

/* Returns the number of points of the longest interval, 0 without intervals. The map's arrays must
 * lie on the host. */
int64_t bev_longest_interval(const BevMap *map);

/* Returns an array with the number of each cell's interval, -1 for a cell without points. The
 * caller frees it. NULL: out of memory. */
int32_t *bev_intervals_of_cells(const BevMap *map, int64_t cells);

/* Returns the instructions of a warp per channel and point for conversion and multiply-add, without
 * the load. */
double bev_channel_instructions(const BevAccess *access, BevDtype dtype, const BevGpuFacts *gpu);

/* Returns all instructions of a warp for a point whose threads own `tile` channels each. */
double bev_step_instructions(const BevAccess *access, int tile, BevDtype dtype,
                             const BevGpuFacts *gpu);

/* Estimates the cycles of kernels whose owners are cells or intervals: the root of the sum of
 * squares of two terms. The first term is the latency of the longest interval, whose points wait
 * for the L2. The second is the issue time of all points' instructions. The estimate serves only to
 * rank the forms of one kernel. */
double bev_estimated_cycles(const BevAccess *access, const BevWorkload *workload,
                            const BevGpuFacts *gpu);

/* The form of V3 that a problem gets on a GPU. `kernel` is the form with the shorter estimate.
 * `published` is the form by the article's rule: small_l2 where the footprint exceeds the L2.
 * `by_gather` is the form by the same rule on gathered bytes, which the article counts. `why` is
 * the comparison in one line. */
typedef struct {
    BevRegime regime;
    const BevKernel *kernel, *published, *by_gather;
    char why[448];
} BevV3Choice;

/* Returns the row of V3, which has two forms. */
const BevKernel *bev_v3(void);

BevV3Choice bev_v3_choose(const BevWorkload *workload, const BevGpuFacts *gpu);

#ifdef __cplusplus
}
#endif
