/* Memory regimes: where do the distinct bytes of a problem live while it runs? Plain arithmetic, so
 * that a machine without a GPU can ask "what if". */
#pragma once

#include "kernels/bevpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Three, not two: the L2 of large GPUs is two halves, and lines read from both sides are kept
 * twice, so that beyond half its size it may no longer hold everything. */
typedef enum { REGIME_RESIDENT, REGIME_CONTESTED, REGIME_STREAMING, REGIME_COUNT } BevRegime;

typedef struct {
    const char *name, *meaning;
} BevRegimeInfo;

extern const BevRegimeInfo bev_regimes[REGIME_COUNT];

/* `footprint_bytes` <= L2 / 2, <= L2, or more. An unknown L2 (0) counts as streaming. */
BevRegime bev_regime(double footprint_bytes, double l2_bytes);

/* Which form of V3 suits a problem on a GPU with that L2, and why, in one line. */
typedef struct {
    BevRegime regime;
    const BevKernel *kernel;
    char why[160];
} BevV3Choice;

/* The row that has two forms, one for each side of the L2: V3. */
const BevKernel *bev_v3(void);

/* The form of V3 for that footprint and L2. */
const BevKernel *bev_v3_form(double footprint_bytes, double l2_bytes);

BevV3Choice bev_v3_choose(const BevProblem *problem, double l2_bytes);

#ifdef __cplusplus
}
#endif
