/* One kernel run made ready to be shown: its output decoded, with the figures that go beside it. */
#ifndef BEV_POOLED_H
#define BEV_POOLED_H

#include "src/run/bench.h"
#include "src/accuracy/gates.h"
#include "src/run/recorded.h"

typedef enum { LATENCY_RECORDED, LATENCY_MEASURED, LATENCY_OFF } LatencyWanted;

typedef struct {
    KernelConfig config;
    HostProblem problem;
    void *codes;       /* the output as stored */
    float *values;     /* (cell, c), decoded */
    double latency_us; /* 0: unknown */
    bool latency_recorded;
} Pooled;

/* Runs `selection` once on the workload and, as `latency` asks, times it or looks it up. The
 * workload must outlive the result. */
bool pooled_run(Pooled *pooled, Workload *workload, const char *scene, KernelConfig config,
                LatencyWanted latency, const RecordedSet *recorded, Err *err);
void pooled_free(Pooled *pooled);

#endif
