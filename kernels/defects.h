/* The bug museum: a right pooling, or right gradients, with one mistake of a kind that kernels
 * really have. Defects are no rows of the table: nobody times or deploys them. The live display
 * shows a defect for the reader to find; tests plant defects to prove that the gates bite. */
#pragma once

#include "kernels/bevpool.h"

/* Whether a gate fails a defect: never, in formats whose rounding does not hide it (FP32 at least),
 * or in all. */
typedef enum { CAUGHT_NEVER, CAUGHT_FINE, CAUGHT_ALWAYS } DefectCaught;

typedef struct {
    const char *name;            /* in scripts: "dropped-point" */
    const char *what;            /* the mistake, in a sentence */
    DefectCaught gate_a, gate_c; /* by which it is caught */
    const char *output;          /* backward: the only gradient that is wrong; NULL: both */
    BevKernel kernel;            /* runs on the CPU; its title does not name the mistake */
} Defect;

extern const Defect defects[], grad_defects[];
extern const int defect_count, grad_defect_count;

/* The defects of a direction, and their number. */
const Defect *defects_of(BevDirection direction, int *count);

/* The defect of a kernel; NULL: none. */
const Defect *defect_of(const BevKernel *kernel);
