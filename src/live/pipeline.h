/* SPDX-License-Identifier: MIT */
/* The way from a State to all contents of a frame: scene, features, scatter map, pooled grid, FP64
 * grid, probed cell. A run computes only what changed since the last run. The pipeline has no
 * threads of its own and measures only the time of its stages. The live engine, scripts and tests
 * all use it. */
#pragma once

#include "src/live/inputs.h"

typedef struct Pipeline Pipeline;

typedef struct {
    bool fp64_original; /* the picture needs the FP64 grid */
    bool draft;         /* use fewer rays: the world is moving, and the next frame comes soon */
    /* Kernels that pool in place of the selection and the baseline, whose own grids come later.
     * NULL: the selection or the baseline pools. */
    const BevKernel *stand_in, *baseline_stand_in;
    bool gradients_later;         /* the kernel is slow: its gradients are offered later */
    GiveUp give_up;               /* asked between the stages and within the long ones */
    _Atomic(const char *) *doing; /* set to the name of the stage in hand; NULL: nobody asks */
} PipelineNeeds;

/* A run that was given up leaves its results for the next run. */
typedef enum { PIPELINE_FAILED, PIPELINE_GIVEN_UP, PIPELINE_DONE } PipelineEnd;

bool pipeline_open(Pipeline **pipeline, Err *err);
void pipeline_close(Pipeline *pipeline); /* accepts NULL */

/* Fills the parts of `live` that depend on the job: the job itself, memory, intervals, stage times,
 * probe, frame. The measured figures stay. live->frame borrows from pipeline_inputs() until the
 * next run; frame_inputs_keep() holds these inputs longer. Unless the run ends with PIPELINE_DONE,
 * `live` still shows the last good frame. Where the scene has no map for an align of the selection
 * or the baseline, another align replaces it in *state. */
PipelineEnd pipeline_run(Pipeline *pipeline, State *state, PipelineNeeds needs, LiveData *live,
                         Err *err);

/* Returns the inputs of the last frame, borrowed. */
const FrameInputs *pipeline_inputs(const Pipeline *pipeline);

/* Returns the configuration whose grid the last frame lacks, because another kernel stood in. NULL:
 * no grid is lacking. */
const KernelConfig *pipeline_lacks(const Pipeline *pipeline);

/* Whether the last frame lacks its gradients. */
bool pipeline_lacks_gradients(const Pipeline *pipeline);

/* Offers the next run what was computed elsewhere: the gradients in `made`, or without gradients
 * the pooled grid. The run uses an offer only if the offer has the run's inputs. */
void pipeline_offer(Pipeline *pipeline, const FrameInputs *made);
