/* Results of earlier runs on named machines, kept under samples/recorded/ as `bench --format json`
 * wrote them, and hardware counters as `regime --counters --format json` does. They let a machine
 * without a GPU show GPU figures, labelled "recorded". */
#ifndef BEV_RECORDED_H
#define BEV_RECORDED_H

#include "src/run/bench.h"
#include "src/run/counters.h"
#include "src/cachesim/limits.h"

/* Figures that a file does not hold are NaN. */
typedef struct {
    char scene[64], kernel[32], dtype[16], align[16], cache[8];
    int64_t channels; /* 0: not said */
    double median_us, p95_us, p99_us;
    double effective_gbps, footprint_mb;
    double l2_carveout_mib, l2_left_mib; /* where a part of the L2 was set aside; see BenchPlan */
} RecordedRow;

/* Caches warm. */
typedef struct {
    char scene[64], kernel[32], dtype[16], align[16];
    double median_us; /* by bench's clock */
    Counters counters;
} CountedRow;

/* One file. */
typedef struct {
    char name[64];   /* file stem: "h200" */
    char label[160]; /* "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20" */
    Limits limits;   /* of the machine */
    RecordedRow *rows;
    int row_count;
    CountedRow *counted;
    int counted_count;
} Recording;

typedef struct {
    Recording *recordings;
    int count;
} RecordedSet;

/* Reads every *.json of the folder. A file that is no recording is an error that names it. */
bool recorded_load(RecordedSet *set, const char *folder, Err *err);

/* What comes with the program. Nothing where that cannot be read: then there is less to show, and
 * `bevscope bench --recorded` complains about it. */
void recorded_load_samples(RecordedSet *set);
void recorded_free(RecordedSet *set);

/* A row of an experiment that makes the L2 smaller says nothing about the GPU as it is. */
bool recorded_is_experiment(const RecordedRow *row);

/* What a selection took on a scene with so many channels, the L2 whole, and whose figure it is
 * (`from`); NULL when nobody recorded it. */
const RecordedRow *recorded_find(const RecordedSet *set, const char *scene, int64_t channels,
                                 const KernelConfig *config, CacheState cache,
                                 const Recording **from);

/* The recorded limits of a GPU of the facts table; all unknown when nobody recorded them. */
Limits recorded_limits(const RecordedSet *set, const Gpu *gpu);

#endif
