/* SPDX-License-Identifier: MIT */
/* Shared by the files of the gates: the outputs of a problem, and their rounding. */
#pragma once

#include "src/accuracy/gates.h"

/* One output as it was read back. In grad_depth each element is a row of `tensor`. */
typedef struct {
    const char *name;
    BevTensor tensor;
    int64_t first_row, first_value; /* places in arrays of all outputs' rows and values */
} GateOutput;

/* Lists the outputs of a problem and returns their number. `codes` may be NULL: no data. */
int gate_outputs(const BevProblem *problem, const void *codes, GateOutput *outputs);

/* Rounds the next values of a row, at most GATE_COLUMNS of the `left` ones, to the format of an
 * output. */
enum { GATE_COLUMNS = 64 };
void gate_round(const BevTensor *out, const double *reference, int64_t left,
                double stored[GATE_COLUMNS]);
