/* SPDX-License-Identifier: MIT */
/* Runs the gates, and backward the adjoint identity, over kernels, formats and aligns of scenes. */
#pragma once

#include "src/accuracy/gates.h"
#include "src/run/bench.h"

typedef struct {
    const char *scene;
    KernelConfig config;
    char scales[64];            /* the label of the format's scales: ranges_label() */
    char skipped[REFUSAL_SIZE]; /* why the kernel was skipped, or ""; no figure follows then */
    GateResult kernel;          /* gate A */
    FormatError format;         /* figures of gate B */
    GateVerdict format_verdict;
    GateResult exact;    /* gate C */
    GateAdjoint adjoint; /* judged on gate C's problem; skipped forward */
    BevShape shape;
    double time_s;    /* the time of the moment in the scene */
    double at_m[2];   /* centre of the cell with the largest error; NaN: not known */
    WorldClass class; /* class of the cell with the largest error; CLASS_COUNT: unknown */
    /* The errors of each class of cells, forward only. `judged` is 0 where none is known. */
    FormatError by_class[CLASS_COUNT];
    double prune_change; /* fp64_prune_change; NaN: nothing is pruned, or backward */
    bool same_bits;      /* a second run on gate A's problem gave the same output */
    bool passed;         /* gates and identity pass, and a deterministic kernel has same_bits */
} VerifyRow;

/* Calls `row` for each result in the order scene, moment, direction, align, dtype, kernel. Kernels
 * that are wrong on purpose are judged only if the plan names kernels. A kernel that refuses a
 * problem is a skipped row. The plan's timing options are not used. If moments in
 * succession share a map, gate C and the adjoint run at the first of these moments only. */
bool verify_run(const BenchPlan *plan, void (*row)(const VerifyRow *row, void *context),
                void *context, Err *err);

/* The references of a problem, on which several kernels are judged. */
typedef struct Gates Gates;

/* Opens the gates of a problem. The gates borrow the problem, which must not change before
 * gates_close. A gate computes its reference when the gate judges for the first time. NULL: no
 * memory. gates_close accepts NULL. */
Gates *gates_open(const HostProblem *problem, Err *err);
void gates_close(Gates *gates);

/* Gate B alone gives the error, and gate C comes with the adjoint identity. */
typedef enum { GATE_A = 1, GATE_B = 2, GATE_C = 4, GATES_ALL = 7 } GateSet;

/* Runs the gates `which` on the output of one launch, so that `same_bits` is not judged. False
 * without an error: `give_up` has ended the work. */
bool gates_judge(Gates *gates, const BevKernel *kernel, GateSet which, const GiveUp *give_up,
                 VerifyRow *row, Err *err);

extern const char *const verdict_names[]; /* by GateVerdict: "pass", "fail", "skip" */
