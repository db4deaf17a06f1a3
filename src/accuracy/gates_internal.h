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

/* Counts the elements of a row of an output, and returns whether one is bad. */
typedef bool GateJudge(const void *context, const GateOutput *output, int64_t row,
                       GateResult *result);

/* Judges every row of all outputs; `bad` (gate_rows, may be NULL) receives one flag per row. */
GateResult gate_judge(const BevProblem *problem, const void *codes, GateJudge *judge,
                      const void *context, uint8_t *bad);
