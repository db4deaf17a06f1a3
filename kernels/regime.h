/* Memory regimes: where do the arrays of a problem live while it runs, and which form of V3
 * is faster then? Plain arithmetic, so that a machine without a GPU can ask "what if". */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Three regimes, not two: the L2 of a large GPU has two halves, and a line read from both sides is
 * kept twice. Beyond half its size such an L2 may not hold everything. */
typedef enum { REGIME_RESIDENT, REGIME_CONTESTED, REGIME_STREAMING, REGIME_COUNT } BevRegime;

typedef struct {
    const char *name, *meaning;
} BevRegimeInfo;

extern const BevRegimeInfo bev_regimes[REGIME_COUNT];

/* `footprint_bytes` <= L2 / 2, <= L2, or more. An unknown L2 (0) counts as streaming. */
BevRegime bev_regime(double footprint_bytes, double l2_bytes);

/* Latencies in cycles, measured on an H200 (samples/experiments/model.md): of L1 and of L2; of a
 * warp's instruction that needs the result of the one before. And the share of four instructions a
 * cycle that a multiprocessor issues. */
static const double BEV_L1_CYCLES = 50, BEV_L2_CYCLES = 288, BEV_CHAIN_CYCLES = 3;
static const double BEV_ISSUE_SHARE = 0.6;

/* A GPU as an estimate sees it. */
typedef struct {
    double l2_bytes;
    int multiprocessors;
    bool converts_fp8, decodes_fp4; /* in hardware */
} BevGpuFacts;

/* What a problem's time depends on, apart from the GPU. */
typedef struct {
    BevDtype dtype;
    int64_t channels, points, longest; /* longest: points of the longest interval */
    double footprint_bytes;            /* each array whole and once */
    double gathered_bytes;  /* as the article counts, with an FP32 output: 49 MB on canonical */
} BevWorkload;

/* `longest`: the result of bev_longest_interval. The map is not read here. */
BevWorkload bev_workload(const BevProblem *problem, int64_t longest);

/* Points of the longest interval, 0 without any. The map's arrays lie on the host. */
int64_t bev_longest_interval(const BevMap *map);

/* The number of each cell's interval, -1 without points. The caller frees it. NULL: no memory. */
int32_t *bev_intervals_of_cells(const BevMap *map, int64_t cells);

/* Instructions of a warp for each channel and point beside the load: conversion and
 * multiply-add. */
double bev_channel_instructions(const BevAccess *access, BevDtype dtype, const BevGpuFacts *gpu);

/* A first estimate, in cycles, for kernels whose owners are cells or intervals: the root of the
 * sum of squares of two terms. The first is the chain of the longest interval, whose points wait
 * for the L2; the second the instructions of all points. Good for ranking the forms of one
 * kernel only. */
double bev_estimated_cycles(const BevAccess *access, const BevWorkload *workload,
                            const BevGpuFacts *gpu);

/* Which form of V3 a problem gets on a GPU: the form with the shorter estimate. `published`: the
 * form by the article's rule, for small L2s where the footprint exceeds the L2. `by_gather`: by the
 * same rule on gathered bytes, which the article counts. `why`: the comparison in one line. */
typedef struct {
    BevRegime regime;
    const BevKernel *kernel, *published, *by_gather;
    char why[448];
} BevV3Choice;

/* The row that has two forms: V3. */
const BevKernel *bev_v3(void);

BevV3Choice bev_v3_choose(const BevWorkload *workload, const BevGpuFacts *gpu);

#ifdef __cplusplus
}
#endif
