/* SPDX-License-Identifier: MIT */
/* Shared by the files of the gates: the outputs of a problem, and the counting of elements. */
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

/* Counts an element. `pooled`: the row of the element has terms. A `ratio` above 1 makes the
 * element bad. The result keeps the first bad element. Returns whether the element is bad. */
bool gate_count_element(GateResult *result, bool pooled, int64_t cell, int64_t channel, double got,
                        double want, double bound, double ratio);

/* Counts the elements of a row of an output, and returns whether one is bad. */
typedef bool GateJudge(const void *context, const GateOutput *output, int64_t row,
                       GateResult *result);

/* Judges every row of all outputs; `bad` (gate_rows, may be NULL) receives one flag per row. */
GateResult gate_judge(const BevProblem *problem, const void *codes, GateJudge *judge,
                      const void *context, uint8_t *bad);
