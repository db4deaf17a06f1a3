/* The way back of a snapshot: a loss over cells of the pooled grid, both gradients by a kernel, and
 * what the figure shows of them. */
#pragma once

#include "src/cli/selection.h"
#include "src/scene/grid_loss.h"
#include "src/view/figure/figure.h"

typedef struct {
    const Options *options;
    const char *scene;
    Workload *workload;
    const Embedding *embedding; /* or NULL */
    KernelConfig forward;       /* the kernel that pooled */
    const float *pooled;        /* (cell, c) */
    unsigned where;             /* devices */
    LatencyWanted latency;
    const RecordedSet *recorded;
} BackwardInput;

/* The figure borrows from the rest. */
typedef struct {
    GridLoss loss;
    Pooled run; /* both gradients */
    float *strength;
    float *bins;      /* (2, depth): depth and its gradient, of the strongest pixel */
    uint8_t *reaches; /* its bins that fall into the loss */
    char kernels[96], subtitle[256], choice[64];
    FigureBackward figure;
} SnapshotBackward;

/* The forward kernel and, where `backward` is not NULL, the backward kernel of --kernel, in either
 * direction. The other one has the same title, else it is the default. NULL after an error. */
const BevKernel *snapshot_backward_kernels(const Options *options, unsigned where,
                                           const BevKernel **backward, Err *err);

/* Black camera pictures, a pixel for each feature, for tensors without a world. */
bool snapshot_backward_views(const BevShape *shape, CameraViews *views, Err *err);

/* Runs the way back and prints the result on standard output. Call snapshot_backward_free also
 * after a failure. */
bool snapshot_backward_make(SnapshotBackward *backward, const BackwardInput *input, Err *err);
void snapshot_backward_free(SnapshotBackward *backward);
