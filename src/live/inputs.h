/* SPDX-License-Identifier: MIT */
/* How the pipeline gets its inputs. Each inputs_... function fills its part of `next`. It reuses
 * the previous input, `have` (NULL: none), where that is still valid, and makes a new one
 * otherwise. */
#pragma once

#include "src/live/frame_inputs.h"
#include "src/run/session.h"
#include "src/scene/problem.h"

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

/* False with an error: the display's grids would break LIVE_BUDGET_MB. */
bool inputs_fit(const BevShape *shape, const char *scene, Err *err);

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

/* ---- difference.c ---------------------------------------------------------------------------- */

/* Compares the selection's grid with the baseline's, where there is one. */
void inputs_difference(const FrameInputs *inputs, LiveDifference *difference);

/* The frame of these inputs, which it borrows. `baseline_fp64` is the FP64 grid of the selection,
 * which another rig or scene does not have. */
void inputs_fill_frame(const FrameInputs *inputs, LiveFrame *frame);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Frees the memory that is kept for more grids of the last size. */
void inputs_free_grid_memory(void);
