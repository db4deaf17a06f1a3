/* SPDX-License-Identifier: MIT */
/* Injected bugs: a correct pooling, or correct gradients, with one mistake of a kind that kernels
 * really have. They are no rows of the table: nobody times or deploys them. The live display shows
 * such a bug for the reader to find; tests prove with them that the gates catch mistakes. */
#pragma once

#include "kernels/bevpool.h"

/* Where a gate catches an injected bug. NEVER: in no format. FINE: in formats whose rounding does
 * not hide it (FP32 at least). ALWAYS: in all formats. */
typedef enum { CAUGHT_NEVER, CAUGHT_FINE, CAUGHT_ALWAYS } BugCaught;

typedef struct {
    const char *name;            /* in scripts: "dropped-point" */
    const char *what;            /* the mistake, in a sentence */
    BugCaught gate_a, gate_c; /* where gates A and C catch it */
    const char *output;          /* backward: the wrong gradient's name; NULL: both are wrong */
    BevKernel kernel;            /* runs on the CPU; its title does not name the mistake */
} InjectedBug;

extern const InjectedBug injected_bugs[], injected_grad_bugs[];
extern const int injected_bug_count, injected_grad_bug_count;

/* Returns the injected bugs of a direction; `*count` receives their number. */
const InjectedBug *injected_bugs_of(BevDirection direction, int *count);

/* Returns the injected bug whose kernel this is, or NULL. */
const InjectedBug *injected_bug_of(const BevKernel *kernel);

/* ---- for the two files with bugs ------------------------------------------------------------- */

/* The data that a bug may change: the map before the kernel runs, or the outputs, in FP32, after
 * it. The outputs have the order of bev_outputs. Forward they are sums before their encoding. */
typedef struct {
    const BevProblem *problem;
    BevMap map; /* a copy of the problem's map */
    float *values[BEV_MAX_OUTPUTS];
    bool halves;  /* forward: sums are rounded to FP16 after every point */
} Spoilt;

typedef void Spoil(Spoilt *spoilt);

/* A bug of both directions: cell (x, y) lies at x * ny + y in place of y * nx + x. */
Spoil injected_transpose_grid;

/* Functions of the rows. Either bug may be NULL. A problem without points is computed correctly. */
bool injected_prepare(const BevProblem *problem, Spoil *in_map, Spoil *in_values, BevPlan **plan,
                      Err *err);
void injected_release(BevPlan *plan);
size_t injected_workspace_bytes(const BevProblem *problem, const BevPlan *plan);
bool injected_launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err);

/* Defines `prepare_NUMBER` of a row of a table of bugs. */
#define PREPARE(number, name, what, in_map, in_values, ...)                                        \
    static bool prepare_##number(const BevProblem *problem, BevPlan **plan, Err *err) {            \
        return injected_prepare(problem, in_map, in_values, plan, err);                            \
    }
