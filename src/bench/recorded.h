/* Results of earlier runs on named machines, kept under samples/recorded/ as `bench --format json`
 * wrote them. They let a machine without a GPU show GPU figures, labelled "recorded". */
#ifndef BEV_RECORDED_H
#define BEV_RECORDED_H

#include "src/bench/bench.h"

typedef struct {
    char scene[64], variant[32], dtype[16], align[16], cache[8];
    double median_us;
} RecordedRow;

/* One file. */
typedef struct {
    char name[64];   /* file stem: "h200" */
    char label[160]; /* "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20" */
    RecordedRow *rows;
    int row_count;
} Recording;

typedef struct {
    Recording *recordings;
    int count;
} RecordedSet;

/* Reads every *.json of the folder. A file that is no recording is an error that names it. */
bool recorded_load(RecordedSet *set, const char *folder, Err *err);
void recorded_free(RecordedSet *set);

/* The median of a selection on a scene, and whose it is (`from`); NULL when nobody recorded it. */
const RecordedRow *recorded_find(const RecordedSet *set, const char *scene,
                                 const Selection *selection, CacheState cache,
                                 const Recording **from);

#endif
