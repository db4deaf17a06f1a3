/* What the gates share: the outputs of a problem, and the counting of results. */
#pragma once

#include "src/accuracy/gates.h"

/* One output as read back. `tensor` has the gates' rows: those of grad_depth are its elements. */
typedef struct {
    const char *name;
    BevTensor tensor;
    int64_t first_row, first_value; /* of all rows and values of the problem's outputs */
} GateOutput;

/* The outputs of a problem; their number. `codes` NULL: shapes only. */
int gate_outputs(const BevProblem *problem, const void *codes, GateOutput *outputs);

/* Counts an element of a row with (`pooled`) or without terms; `ratio` > 1 is bad. Notes the first
 * bad one. Returns whether it is bad. */
bool gate_count_element(GateResult *result, bool pooled, int64_t cell, int64_t channel, double got,
                        double want, double bound, double ratio);

/* The result with its verdict. */
GateResult gate_verdict(GateResult result);

/* Two outputs' results as one: counts are added, figures are those of the worse one. */
GateResult gate_worse(GateResult a, GateResult b);
