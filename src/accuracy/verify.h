/* Runs the three gates over kernels, formats and aligns of a scene. */
#ifndef BEV_VERIFY_H
#define BEV_VERIFY_H

#include "src/run/bench.h"
#include "src/accuracy/gates.h"

typedef struct {
    const char *scene;
    KernelConfig config;
    const char *skipped; /* a reason, or NULL */
    GateResult kernel;   /* gate A */
    FormatError format;  /* gate B's figures */
    GateVerdict format_verdict;
    GateResult exact; /* gate C */
    bool same_bits;   /* a second run of gate A's problem gave the same output */
    bool passed;      /* all three gates, and same bits where the row promises them */
} VerifyRow;

typedef struct {
    int passed, failed, skipped;
} VerifyCount;

/* Calls `row` for each result in the order scene, align, dtype, kernel. Rows that are wrong on
 * purpose are left out. Uses the plan's scenes, `only`, where, dtypes, aligns and workload. */
bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *row, void *context),
                void *context, VerifyCount *count, Err *err);

/* One row on a workload that is open: all gates of one selection. Gate B's truth is `truth`
 * (nx * ny * channels, FP64 over the original inputs). */
bool verify_one(Workload *workload, const KernelConfig *config, double *fp64_original,
                VerifyRow *row, Err *err);

extern const char *const verdict_names[]; /* by GateVerdict: "pass", "fail", "skip" */

#endif
