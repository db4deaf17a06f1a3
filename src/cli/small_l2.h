/* The experiment with a smaller L2 (`bench --l2-carveout`) as it was recorded, beside the model. */
#ifndef BEV_SMALL_L2_H
#define BEV_SMALL_L2_H

#include "src/cli/laboratory.h"
#include "src/cli/report.h"

enum { SMALL_L2_ROWS = 256 };

/* A kernel with a part of the L2 set aside; what the lab knows of is borrowed. */
typedef struct {
    const Gpu *gpu;
    const RecordedRow *recorded;
    double model_us; /* with an L2 of the size that was left */
} SmallL2Row;

typedef struct {
    SmallL2Row rows[SMALL_L2_ROWS];
    int count;
} SmallL2;

/* What was recorded of the lab's problem, warm, on one of the GPUs asked for, by kernels that have
 * a stream. */
void small_l2_find(SmallL2 *found, const Lab *lab, const LabGpus *known, const char *scene);

Report small_l2_table(const SmallL2 *found);

/* Whether the form of V3 that is made for small L2s won, and whether the model says so: a sentence.
 */
void small_l2_verdict(const SmallL2 *found, char *text, size_t size);

#endif
