/* Runs the three gates, and backward the adjoint identity, over kernels, formats and aligns of
 * scenes. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/run/bench.h"

typedef struct {
    const char *scene;
    KernelConfig config;
    char scales[64];            /* by which the format is scaled: ranges_label() */
    char skipped[REFUSAL_SIZE]; /* a reason, or ""; the figures below are then empty */
    GateResult kernel;          /* gate A */
    FormatError format;         /* figures of gate B */
    GateVerdict format_verdict;
    GateResult exact;    /* gate C */
    GateAdjoint adjoint; /* on gate C's problem; forward it is skipped */
    BevShape shape;
    double time_s;       /* the moment */
    double at_m[2];      /* centre of the cell with the largest error; NaN: not known */
    WorldClass class;    /* of the cell with the largest error; CLASS_COUNT: unknown */
    /* forward, of cells of each class; judged 0: none, unknown */
    FormatError by_class[CLASS_COUNT];
    bool same_bits;      /* a second run on gate A's problem gave the same output */
    bool passed; /* all gates and the identity, and same_bits where the kernel is deterministic */
} VerifyRow;

typedef struct {
    int passed, failed, skipped;
} VerifyCount;

/* Calls `row` for each result in the order scene, moment, direction, align, dtype, kernel. Kernels
 * that are wrong on purpose are judged where the plan names kernels; a kernel that refuses a
 * problem is a skipped row. Of the plan it uses scenes, moments, kernels, where, dtypes, aligns and
 * workload. Where moments share a map, gate C and the adjoint, which depend on nothing else, run at
 * the first of them. */
bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *row, void *context),
                void *context, VerifyCount *count, Err *err);

/* All gates of one kernel on an encoded problem. */
bool verify_one(const HostProblem *problem, const BevKernel *kernel, VerifyRow *row, Err *err);

extern const char *const verdict_names[]; /* by GateVerdict: "pass", "fail", "skip" */
