/* SPDX-License-Identifier: MIT */
/* How the pipeline gets its inputs. Each inputs_... function fills its part of `next`. The function
 * reuses the previous input, `have`, while it is valid, and else makes a new input. `have` NULL:
 * there is no previous input. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/run/session.h"
#include "src/scene/problem.h"
#include "src/state/live_data.h"

/* ---- pipeline.c ------------------------------------------------------------------------------ */

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    float *values; /* (cell, c) */
    BevFootprint footprint;
    LiveScales scales;
    BevTraffic gather;
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values; /* (cell, c) */
} Fp64Grid;

/* A loss on some cells of a pooled grid, and the gradients that a kernel computes from it. */
typedef struct {
    PooledGrid *pooled;
    KernelConfig config; /* of a backward kernel */
    int kind;            /* LossKind, or LOSS_ALL */
    int64_t cell;        /* the cell of the grid */
    int64_t probe_cell;  /* the cell of the picture that shows the grid's cell */
    int slice;           /* the picture's slice of height */
    GridLoss loss;       /* empty for LOSS_ALL, and without a cell */
    float *grad_depth, *grad_feat;
    bool waits;     /* the gradients are still to be computed */
    char text[300]; /* why there are no gradients */
} Gradients;

/* Which steps are recorded. Equal requests have equal bytes. */
typedef struct {
    BuiltMap *map;
    BevShape shape;
    KernelConfig config, baseline;   /* baseline.kernel NULL: no baseline */
    const BevKernel *kernels[2];     /* kernels to follow instead of these two; NULL: none */
    int64_t probe_cell, block, warp; /* -1: none */
    BevGpuFacts gpu;                 /* decides which form V3 takes */
} StepsRequest;

/* Recorded steps and their request. The steps own a reference to the request's map. */
typedef struct {
    LiveSteps steps;
    StepsRequest request;
} RecordedSteps;

enum { FRAME_INPUTS = 8 };

/* The inputs of a frame. Each input is reference counted (src/base/ref.h), so that frames can share
 * an input. An input does not change once it is made. */
typedef union {
    struct {
        LoadedScene *scene;
        SeenFeatures *features;
        BuiltMap *map;
        PooledGrid *pooled, *baseline;
        Fp64Grid *fp64_original;
        RecordedSteps *steps;
        Gradients *gradients; /* NULL: forward */
    };
    void *each[FRAME_INPUTS]; /* the same inputs, for loops over all of them */
} FrameInputs;

/* frame_inputs_keep adds an owner to each input. frame_inputs_drop removes an owner from each, and
 * zeroes the struct. */
FrameInputs frame_inputs_keep(const FrameInputs *inputs);
void frame_inputs_drop(FrameInputs *inputs);

/* Replaces the inputs in `held` by scene, features and map of `inputs`. */
void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs);

/* Fills a frame that borrows these inputs. Its `baseline_fp64` is the FP64 grid of the selection: a
 * caller with a baseline of another rig or scene must clear it. */
void inputs_fill_frame(const FrameInputs *inputs, LiveFrame *frame);

/* Returns the problem of a kernel on these inputs, without memory for its tensors. */
BevProblem inputs_bare_problem(const FrameInputs *inputs, const KernelConfig *config);

/* Returns why the kernel cannot run on these inputs. NULL: the kernel can run. */
const char *inputs_unsupported(const FrameInputs *inputs, const KernelConfig *config);

/* Returns the kernel that pools the picture: the selection, or the default for a backward one. */
KernelConfig inputs_forward_config(const KernelConfig *config);

/* An encoded problem and the session that runs it. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    HostProblem problem;
    Session *session;
    double us[STAGE_COUNT]; /* the time of its stages, summed until the owner sets it to 0 */
} Runner;

void runner_clear(Runner *runner);

/* Encodes these inputs for the kernel of `config`. The problem borrows the map. A backward problem
 * gets a grad_out of zeros: the time of a launch does not depend on values. */
bool inputs_encode(HostProblem *problem, const SeenFeatures *features, const BuiltMap *map,
                   const KernelConfig *config, Err *err);

/* Encodes the features of `with` and opens the session of `config`. Keeps tensors and session if
 * only the values changed. Asks `give_up` after encoding. After a failure the caller clears the
 * runner. */
bool runner_prepare(Runner *runner, const FrameInputs *with, const KernelConfig *config,
                    const GiveUp *give_up, Err *err);

/* Whether the runner can keep its session for these inputs and this configuration. */
bool runner_goes_on(const Runner *runner, const FrameInputs *with, const KernelConfig *config);

/* Launches the kernel once. *us receives the time of the launch, *busy_us the time of its threads
 * by their CPU clocks. */
bool runner_launch(const Runner *runner, double *us, double *busy_us, Err *err);

/* Pools the features of `next` with its map. Asks `give_up` after encoding and after preparing. */
bool inputs_pool(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 const GiveUp *give_up, PooledGrid **pooled, Err *err);

/* Whether the display's grids fit into LIVE_BUDGET_MB. If not, `err` has the sizes. */
bool inputs_fit(const BevShape *shape, const char *scene, Err *err);

/* Returns the grid that the runner's session has just pooled from these inputs. NULL: failed. */
PooledGrid *inputs_read_grid(Runner *runner, const FrameInputs *from, const KernelConfig *config,
                             Err *err);

/* Returns the number of values of a grid, (cell, c). */
size_t inputs_grid_values(const BevShape *shape);

/* ---- grid_facts.c ---------------------------------------------------------------------------- */

/* Compares the selection's grid with the baseline's, where there is one. */
void inputs_difference(const FrameInputs *inputs, LiveDifference *difference);

/* Measures by range how far calibration faults move the objects in the grid. False: no memory. */
bool inputs_objects(const PooledGrid *pooled, ObjectBand bands[OBJECT_BANDS]);

/* Pools the grid of `next` in FP64. */
bool inputs_fp64(Fp64Grid *have, const GiveUp *give_up, FrameInputs *next, Err *err);

/* Frees the memory that is kept for more FP64 grids of the last size. */
void inputs_free_fp64_memory(void);

/* Fills `probe` for a cell (-1: none): its points, and its pooled value beside its FP64 value. */
bool inputs_probe(const FrameInputs *inputs, int64_t cell, LiveProbe *probe, Err *err);

/* Returns the cell of the grid that the job's cell of the picture shows; -1: none. */
int64_t inputs_probe_cell(const FrameInputs *inputs, const Job *job);

/* ---- inputs_gradients.c ---------------------------------------------------------------------- */

/* Returns the bytes of a selection that goes backward. */
LiveMemory inputs_backward_memory(const FrameInputs *inputs, const KernelConfig *config);

/* Counts the points of each pixel. Each pixel with points counts as an interval. */
bool inputs_pixel_runs(const FrameInputs *inputs, MapIntervals *intervals, Err *err);

/* Whether these gradients are of this grid, and of the job's loss, cell and kernel. */
bool inputs_gradients_fit(const Gradients *have, const PooledGrid *pooled, const Job *job);

/* Returns the pooled grid that a loss is over. */
GridContent inputs_content(const FrameInputs *with);

/* Make Gradients, whose values inputs_gradients computes later. inputs_gradients_new takes a loss
 * over all cells of the pooled grid of `with`, inputs_loss takes the job's loss. Without a loss,
 * `text` says why there is none. */
bool inputs_gradients_new(const FrameInputs *with, const KernelConfig *config, Gradients **out,
                          Err *err);
bool inputs_loss(const FrameInputs *with, const Job *job, Gradients **out, Err *err);

/* Computes the gradients if they wait. The runner keeps problem and session for the next loss.
 * After a failure made->text says why, too. */
bool inputs_gradients(Runner *runner, Gradients *made, Err *err);

/* ---- inputs_steps.c -------------------------------------------------------------------------- */

/* Records the steps of the selection, and of a pinned baseline, if the state asks for steps. Takes
 * a few ms; the longest cell of block_atomic takes 30. */
bool inputs_steps(RecordedSteps *have, const State *state, FrameInputs *next, Err *err);
