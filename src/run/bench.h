/* SPDX-License-Identifier: MIT */
/* Times every selected kernel on every selected scene, format, align and cache state. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/run/session.h"
#include "src/inputs/workload.h"

/* The caller's part in a plan of many moments. `moment` counts from 0 within scene `scene`. */
typedef struct {
    /* Whether the moment is to be timed. A scene without a wanted moment is opened only if the
     * number of its moments is unknown. */
    bool (*wants)(void *context, int scene, int moment);
    /* Ends a moment after its last row. `failed` says why the moment failed; NULL: the moment is
     * complete. Returns whether the plan goes on. Where the plan ends, fills `err`. */
    bool (*ends)(void *context, int scene, int moment, const Err *failed, Err *err);
    void *context;
} PlanMoments;

/* The selection of what to time, with sets as bit masks, and the options of all rows. */
typedef struct {
    const char *const *scenes;
    int scene_count;
    int moments;       /* moments of each scene, spread over a clip; 0: all moments of a clip, one
                          moment of other scenes */
    KernelSet kernels; /* 0: every kernel of `where` */
    unsigned where;    /* 1u << BEV_CPU | 1u << BEV_CUDA */
    unsigned dtypes, aligns, caches;
    unsigned directions; /* bits by BevDirection; 0: forward */
    unsigned stages;     /* bits by BevStage; 0: pool */
    bool once;           /* launch each kernel twice and time nothing; the second launch has
                            an NVTX range if this build has CUDA */
    TimingOptions timing;
    Job job;                      /* the job of all scenes */
    const GradOutFile *grad_file; /* backward: the grad_out, borrowed; NULL: a random one */
    const PlanMoments *each; /* NULL: all moments are wanted, and the first failure ends the plan */
} BenchPlan;

typedef struct {
    const char *scene;
    KernelConfig config;
    CacheState cache;
    int64_t channels, points, intervals;
    Pruned pruned;              /* what pruning left out of the map */
    char range[128];            /* the NVTX range of plan->once; "": none */
    char skipped[REFUSAL_SIZE]; /* why the kernel was skipped, or ""; no figure follows then */
    Timing timing;
    double prepare_us, map_us;
    double traffic_mb;     /* bytes that the kernel requests (bev_traffic), in 10^6 bytes */
    double footprint_mb;   /* bytes of each array, counted once, in 10^6 bytes */
    double effective_gb_s; /* traffic_mb / median */
    Timing baseline;       /* bev_baseline() on the same device (forward V2), timed right before
                              and right after this row */
    double speedup;        /* timing_ratio(&baseline, &timing); NaN without a baseline */
} BenchRow;

/* Calls `row` for each result in the order scene, direction, align, dtype, kernel, cache. The
 * baseline is timed beside every row, but reported only if the plan selects it. A kernel that does
 * not support a problem, or refuses it, is a skipped row. Stops at the first failure. */
bool bench_run(const BenchPlan *plan, void (*row)(const BenchRow *row, void *context),
               void *context, Err *err);

/* Whether the plan selects the kernel. */
bool plan_selects(const BenchPlan *plan, const BevKernel *kernel);

/* Calls `visit` for each problem that the plan selects, until a call fails. The order is scene,
 * moment, stage, direction, align, dtype. Formats that backward or stage VIEW does not have are
 * left out. The arguments are valid during the call. */
typedef bool PlanVisit(void *context, const char *scene, Workload *workload,
                       const HostProblem *problem, Err *err);
bool plan_each_problem(const BenchPlan *plan, PlanVisit *visit, void *context, Err *err);

extern const char *const cache_names[]; /* by CacheState: "warm", "cold" */
extern const char *const where_names[]; /* by BevWhere: "cpu", "cuda" */
