/* Times every selected variant on every selected scene, format, align and cache state. */
#ifndef BEV_BENCH_H
#define BEV_BENCH_H

#include "src/bench/session.h"
#include "src/model/workload.h"

typedef struct {
    const BevVariant *variant;
    BevDtype dtype;
    BevAlign align;
} Selection;

/* What to run: sets of rows as bit masks, plus the options they share. */
typedef struct {
    const char *const *scenes;
    int scene_count;
    const BevVariant *only; /* NULL: every variant of `where` */
    unsigned where;         /* 1u << BEV_CPU | 1u << BEV_CUDA */
    unsigned dtypes, aligns, caches;
    TimingOptions timing;
    WorkloadOptions workload;
} BenchPlan;

typedef struct {
    const char *scene;
    Selection selection;
    CacheState cache;
    int64_t channels, points, intervals;
    const char *skipped; /* a reason, or NULL; figures below are then meaningless */
    Timing timing;
    double prepare_us, map_us;
    double traffic_mb;     /* the variant's own traffic model, 10^6 bytes */
    double footprint_mb;
    double effective_gbps; /* traffic_mb / median */
    double speedup;        /* median of V2 on the same device / median; 0: V2 was not run */
} BenchRow;

/* Calls `row` for each result in plan order: scene, align, dtype, variant, cache. The speed-up
 * needs V2, which is timed even when the plan names another variant, but then not reported.
 * Fails on the first scene or run that cannot be done at all. */
bool bench_run(const BenchPlan *plan, void (*row)(const BenchRow *row, void *context),
               void *context, Err *err);

/* The row that speed-ups refer to: the variant titled V2 on that device. NULL if there is none. */
const BevVariant *bench_baseline(BevWhere where);

extern const char *const cache_names[]; /* by CacheState: "warm", "cold" */
extern const char *const where_names[]; /* by BevWhere: "cpu", "cuda" */

#endif
