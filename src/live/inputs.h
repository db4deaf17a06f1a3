/* SPDX-License-Identifier: MIT */
/* How the pipeline gets its inputs. Each inputs_... function fills its part of `next`. It reuses
 * the previous input, `have` (NULL: none), where that is still valid, and makes a new one
 * otherwise. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/run/session.h"
#include "src/scene/problem.h"
#include "src/state/live_data.h"

/* ---- frame_inputs.c -------------------------------------------------------------------------- */

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
    KernelConfig config; /* goes backward */
    int kind;            /* LossKind, or LOSS_ALL */
    int64_t cell;                 /* of the grid; */
    int64_t probe_cell; int slice; /* cell of the picture in front of it */
    GridLoss loss; /* empty of LOSS_ALL, and where there is none */
    float *grad_depth, *grad_feat;
    bool waits;     /* the gradients are still to be computed */
    char text[300]; /* why there are none */
} Gradients;

/* The recorded steps, and their subject. */
typedef struct {
    LiveSteps steps;
    BuiltMap *map;
    BevShape shape;
    KernelConfig config, baseline; /* baseline.kernel NULL: none */
    const BevKernel *kernels[2]; /* instead of theirs; NULL: theirs */
    int64_t probe_cell, block; /* -1: none */
    int warp;
    BevGpuFacts gpu; /* V3 takes one of its forms by it */
} RecordedSteps;

enum { FRAME_INPUTS = 8 };

/* The inputs of a frame. Each is reference counted (src/base/ref.h): frames with the same input
 * share it. An input does not change once it is made. */
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
    void *each[FRAME_INPUTS]; /* the same, for what is done to all of them */
} FrameInputs;

/* Adds an owner to each input; removes one from each and zeroes the struct. */
FrameInputs frame_inputs_keep(const FrameInputs *inputs);
void frame_inputs_drop(FrameInputs *inputs);

/* Holds scene, features and map of `inputs` in place of those held before. */
void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs);

/* Compares the selection's grid with the baseline's, where there is one. */
void inputs_difference(const FrameInputs *inputs, LiveDifference *difference);

/* The frame of these inputs, which it borrows. `baseline_fp64` is the FP64 grid of the selection,
 * which another rig or scene does not have. */
void inputs_fill_frame(const FrameInputs *inputs, LiveFrame *frame);

/* ---- map_gpu.c ------------------------------------------------------------------------------- */

/* Device memory for the next maps of the same size: a comparison of two aligns builds two maps for
 * every change of calibration. A zeroed MapBuilder is empty. */
typedef struct {
    struct ScatterGpu *gpu[BEV_ALIGN_COUNT];
    BevShape shape;
} MapBuilder;

/* Builds maps on the GPU for a kernel of `where` that runs there. */
MapMaker map_builder_maker(MapBuilder *builder, BevWhere where);
void map_builder_clear(MapBuilder *builder);

/* Returns the problem of a kernel on these inputs, without memory for its tensors. */
BevProblem inputs_bare_problem(const FrameInputs *inputs, const KernelConfig *config);

/* Returns why the kernel cannot run on these inputs; NULL: it can. */
const char *inputs_unsupported(const FrameInputs *inputs, const KernelConfig *config);

/* ---- inputs_grids.c -------------------------------------------------------------------------- */

/* An encoded problem and the session that runs it. */
typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    HostProblem problem;
    Session *session;
} Runner;

void runner_clear(Runner *runner);

/* Encodes these inputs for the kernel of `config`, which the problem borrows. Backward grad_out is
 * zero: what a launch takes does not depend on values. */
bool inputs_encode(HostProblem *problem, const SeenFeatures *features, const BuiltMap *map,
                   const KernelConfig *config, Err *err);

/* Stage times of one run; a stage that was not needed took 0. */
typedef struct {
    double us[STAGE_COUNT];
} StageTimes;

/* Encodes the features of `with` and opens the session of `config`. Tensors and session are kept
 * where only the values changed. Adds to `times`, and asks `give_up` after encoding. After a
 * failure the caller clears the runner. */
bool runner_prepare(Runner *runner, const FrameInputs *with, const KernelConfig *config,
                    const GiveUp *give_up, StageTimes *times, Err *err);

/* Whether it keeps the session. */
bool runner_goes_on(const Runner *runner, const FrameInputs *with, const KernelConfig *config);

/* Pools the features of `next` with its map, and adds to `times`. Asks `give_up` after encoding and
 * after preparing. */
bool inputs_pool(Runner *runner, const FrameInputs *next, const KernelConfig *config,
                 const GiveUp *give_up, PooledGrid **pooled, StageTimes *times, Err *err);

/* Whether the display's grids fit into LIVE_BUDGET_MB. False: `err` says by how much not. */
bool inputs_fit(const BevShape *shape, const char *scene, Err *err);

/* Measures by range how far faults of the calibration move the objects in the grid. False: no
 * memory. */
bool inputs_objects(const PooledGrid *pooled, ObjectBand bands[OBJECT_BANDS]);

/* Reads back what the runner's session has just pooled from these inputs. NULL: failed. */
PooledGrid *inputs_read_grid(Runner *runner, const FrameInputs *from, const KernelConfig *config,
                             Err *err);

bool inputs_fp64(Fp64Grid *have, const GiveUp *give_up, FrameInputs *next, Err *err);

/* Fills `probe` for `cell` (-1: none): the points that fell into it, and its pooled value beside
 * the one in FP64. */
bool inputs_probe(const FrameInputs *inputs, int64_t cell, LiveProbe *probe, Err *err);

/* Returns the cell of the grid that the job's cell of the picture shows; -1: none. */
int64_t inputs_probe_cell(const FrameInputs *inputs, const Job *job);

/* ---- inputs_gradients.c ---------------------------------------------------------------------- */

/* Returns the kernel that pools the picture: the selection, or the default kernel where the
 * selection goes backward. */
KernelConfig inputs_forward_config(const KernelConfig *config);

/* Returns the bytes of a selection that goes backward. */
LiveMemory inputs_backward_memory(const FrameInputs *inputs, const KernelConfig *config);

/* Counts the points of each pixel, and writes them as lengths of intervals. */
bool inputs_pixel_runs(const FrameInputs *inputs, MapIntervals *intervals, Err *err);

/* Whether these gradients are of that grid and of the job's loss, cell and kernel. */
bool inputs_gradients_fit(const Gradients *have, const PooledGrid *pooled, const Job *job);

/* Returns the pooled grid that a loss is over. */
GridContent inputs_content(const FrameInputs *with);

/* Gradients that wait for a loss on the pooled grid of `with`; and with the job's loss, or with the
 * reason in `text` why there is none. */
bool inputs_gradients_new(const FrameInputs *with, const KernelConfig *config, Gradients **out,
                          Err *err);
bool inputs_loss(const FrameInputs *with, const Job *job, Gradients **out, Err *err);

/* Computes the gradients that wait; `runner` keeps problem and session for the next loss. False:
 * failed, as `err` says, and inputs_gradients in `text`. */
bool inputs_gradients_run(Runner *runner, Gradients *made, Err *err);
void inputs_gradients(Runner *runner, Gradients *made);

/* ---- inputs_steps.c -------------------------------------------------------------------------- */

/* Records the steps of the selection, and of a pinned baseline, where the state asks for them.
 * Takes a few ms, the longest cell of block_atomic 30. */
bool inputs_steps(RecordedSteps *have, const State *state, FrameInputs *next, Err *err);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Frees the memory that is kept for more grids of the last size. */
void inputs_free_grid_memory(void);
