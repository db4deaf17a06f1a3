/* What leaving out points of small depth costs and saves in a frame, by how many there are, in
 * times of V4, which reads every point. */
#pragma once

#include "src/cachesim/gpus.h"
#include "src/scene/workload.h"

enum { SPARSITY_LEVELS = 8, SPARSITY_USUAL = 2 /* the level 0.001 */ };

/* Depths up to these are left out. */
extern const double sparsity_levels[SPARSITY_LEVELS];

typedef struct {
    double share[SPARSITY_LEVELS]; /* of the points that are kept, percent */
    /* Times of V4: points left out inside; a smaller map in each frame, with all that makes it; V4
     * on such a map, made before. NaN: not recorded. */
    double inside[SPARSITY_LEVELS], compact[SPARSITY_LEVELS], ready[SPARSITY_LEVELS];
    bool settled;     /* false: other programs were in the way */
    char source[200]; /* a sentence: where the times are from */
} Sparsity;

/* Measures the CPU's kernels; seconds. The workload is not pruned. */
bool sparsity_measure(Workload *workload, BevDtype dtype, BevAlign align, Sparsity *sparsity,
                      Err *err);

/* The same of a GPU from a recording of `scene`, as samples/recorded/README.md says. Fails where
 * there is none. */
bool sparsity_recorded(Workload *workload, const char *scene, BevDtype dtype, BevAlign align,
                       const Gpu *gpu, Sparsity *sparsity, Err *err);
