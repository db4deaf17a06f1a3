/* Times every selected kernel on every selected scene, format, align and cache state. */
#ifndef BEV_BENCH_H
#define BEV_BENCH_H

#include "src/base/kernel_config.h"
#include "src/run/session.h"
#include "src/scene/workload.h"

/* What to run: sets of rows as bit masks, plus the options they share. */
typedef struct {
    const char *const *scenes;
    int scene_count;
    const BevKernel *only; /* NULL: every kernel of `where` */
    unsigned where;        /* 1u << BEV_CPU | 1u << BEV_CUDA */
    unsigned dtypes, aligns, caches;
    const double
        *carveouts_mib; /* of the L2 to set aside, one after the other; see l2_carveout.h */
    int carveout_count; /* 0: the L2 stays whole, and nothing is said about it */
    TimingOptions timing;
    WorkloadOptions workload;
} BenchPlan;

typedef struct {
    const char *scene;
    KernelConfig config;
    CacheState cache;
    int64_t channels, points, intervals;
    const char *skipped; /* a reason, or NULL; figures below are then meaningless */
    Timing timing;
    double prepare_us, map_us;
    double traffic_mb; /* the kernel's own traffic model, 10^6 bytes */
    double footprint_mb;
    double effective_gbps; /* traffic_mb / median */
    double speedup;        /* median of V2 on the same device / median; 0: V2 was not run */
    /* Of the L2, 2^20 bytes: what the driver set aside, and what was left to the kernel, by what
     * the unused lines still held after its last sample. NaN: not asked for. */
    double l2_carveout_mib, l2_left_mib;
} BenchRow;

/* Calls `row` for each result in plan order: scene, align, dtype, set-aside, kernel, cache. The
 * speed-up needs V2, which is timed even when the plan names another kernel, but then not reported.
 * Fails on the first scene or run that cannot be done at all. */
bool bench_run(const BenchPlan *plan, void (*row)(const BenchRow *row, void *context),
               void *context, Err *err);

extern const char *const cache_names[]; /* by CacheState: "warm", "cold" */
extern const char *const where_names[]; /* by BevWhere: "cpu", "cuda" */

#endif
