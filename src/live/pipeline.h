/* From a State to everything a frame shows: scene, features, map, pooled output, truth, one cell
 * looked at closely. Computes only what changed since the last call. No threads of its own, no
 * measurements but the stages' times: the live engine, scripts and tests run the same one. */
#ifndef BEV_PIPELINE_H
#define BEV_PIPELINE_H

#include "src/live/frame_inputs.h"

typedef struct Pipeline Pipeline;

typedef struct {
    bool fp64_original; /* FP64 is needed for the picture */
    bool draft;         /* fewer rays: the world is moving, and the next frame comes soon */
    bool sharp;         /* camera views worth looking at */
    /* Pools in the place of the selection, of the baseline, where no grid of its own is there;
     * NULL: each pools itself. */
    const BevKernel *stand_in, *baseline_stand_in;
    GiveUp give_up; /* asked between the stages and within the long ones */
} PipelineNeeds;

/* What was made before a run was given up is kept for the next one. */
typedef enum { PIPELINE_FAILED, PIPELINE_GIVEN_UP, PIPELINE_DONE } PipelineEnd;

bool pipeline_open(Pipeline **pipeline, Err *err);
void pipeline_close(Pipeline *pipeline); /* accepts NULL */

/* Fills what depends on the job into `live` (the job itself, memory, intervals, stages, probe,
 * frame); figures of measurements stay. live->frame borrows from pipeline_parts, which hold until
 * the next run; keep them to have them longer. Unless it is done `live` still shows the last good
 * frame. */
PipelineEnd pipeline_run(Pipeline *pipeline, const State *state, PipelineNeeds needs,
                         LiveData *live, Err *err);

const FrameInputs *pipeline_parts(const Pipeline *pipeline);

/* The choice whose grid the last frame lacks, because another kernel stood in; NULL: none. */
const KernelConfig *pipeline_lacks(const Pipeline *pipeline);

/* A grid made elsewhere, for the next run to take where it fits. Takes over the caller's share. */
void pipeline_offer(Pipeline *pipeline, PooledGrid *grid);

/* Reads the scene again next time: its file has changed. */
void pipeline_forget_scene(Pipeline *pipeline);

#endif
