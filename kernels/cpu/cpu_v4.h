/* V4 on the CPU: the work list that cpu_v4_build.c makes of a map and cpu_v4.c walks. */
#ifndef BEV_CPU_V4_H
#define BEV_CPU_V4_H

#include "kernels/cpu/cpu.h"

/* Points of one cell that step down an image column at one depth: from each to the next, ranks_feat
 * and ranks_depth grow by feat_w. Any map can be cut into entries, at worst one for every point. */
typedef struct {
    int32_t feat, depth; /* ranks of the first point */
    int32_t rows;        /* points, >= 1 */
    int32_t first_weight;
} V4Entry;

/* A cell with points. Its entries end where those of the next owner begin. */
typedef struct {
    int32_t cell, first_entry;
} V4Owner;

struct BevPlan {
    CpuStage stage;
    CpuEmpty empty;
    int64_t step_count;
    int32_t *steps;   /* [step_count + 1]: first owner */
    V4Owner *owners;  /* [intervals + 1], cells that see the same columns side by side */
    V4Entry *entries; /* in the order of the owners; one more at the end */
    float *weights;   /* [points], in the order of the entries; NULL: all 1 */
};

bool cpu_v4_prepare(const BevProblem *problem, BevPlan **plan, Err *err);
void cpu_v4_release(BevPlan *plan); /* accepts NULL */

#endif
