/* Times every selected kernel on every selected scene, format, align and cache state. */
#pragma once

#include "src/base/kernel_config.h"
#include "src/run/session.h"
#include "src/inputs/workload.h"

/* What to time: sets as bit masks, and the options of all rows. */
typedef struct {
    const char *const *scenes;
    int scene_count;
    int moments; /* of each scene; of a clip as far as it has them, spread over it; 0: one, of a
                    clip all */
    KernelSet kernels; /* 0: every kernel of `where` */
    unsigned where;    /* 1u << BEV_CPU | 1u << BEV_CUDA */
    unsigned dtypes, aligns, caches;
    unsigned directions;         /* bits by BevDirection; 0: forward */
    unsigned stages;             /* bits by BevStage; 0: pool */
    bool once;                   /* nothing is timed: a warm-up and one launch of each kernel, the
                                    latter in an NVTX range where this build has CUDA */
    TimingOptions timing;
    Job job; /* of all scenes */
    const GradOutFile *grad_file; /* backward: instead of a random one; borrowed; or NULL */
} BenchPlan;

typedef struct {
    const char *scene;
    KernelConfig config;
    CacheState cache;
    int64_t channels, points, intervals;
    Pruned pruned; /* of the map */
    char range[128];            /* NVTX, of `once`; "": this build has none */
    char skipped[REFUSAL_SIZE]; /* a reason, or ""; the figures below are then meaningless */
    Timing timing;
    double prepare_us, map_us;
    double traffic_mb;      /* what the kernel requests (bev_traffic), 10^6 bytes */
    double footprint_mb;    /* each array once, 10^6 bytes */
    double effective_gbps;  /* traffic_mb / median */
    Timing baseline;        /* of bev_baseline() on the same device (forward V2), right before and
                               after this row */
    /* timing_ratio(&baseline, &timing); `baseline` is zero where there is none */
    double speedup;
} BenchRow;

/* Calls `row` for each result in the order scene, direction, align, dtype, kernel,
 * cache. The baseline is timed beside every row, for the speed-up, but reported only if the plan
 * selects it. Stops at the first failure; a kernel that
 * does not support a problem, or refuses it, is a skipped row. */
bool bench_run(const BenchPlan *plan, void (*row)(const BenchRow *row, void *context),
               void *context, Err *err);

/* Whether the plan selects the kernel. */
bool plan_selects(const BenchPlan *plan, const BevKernel *kernel);

/* Calls `visit` for each problem that the plan selects, in the order scene, moment, direction,
 * align, dtype, until a call fails; problems of pooling come before views. Backward and of views,
 * formats that they do not have are left out. The arguments are valid during the call. */
typedef bool PlanVisit(void *context, const char *scene, Workload *workload,
                       const HostProblem *problem, Err *err);
bool plan_each_problem(const BenchPlan *plan, PlanVisit *visit, void *context, Err *err);

extern const char *const cache_names[]; /* by CacheState: "warm", "cold" */
extern const char *const where_names[]; /* by BevWhere: "cpu", "cuda" */
