/* From a State to everything a frame shows: scene, features, map, pooled output, truth, one cell
 * looked at closely. Computes only what changed since the last call. No threads of its own, no
 * measurements but the stages' times: the live engine, scripts and tests run the same one. */
#ifndef BEV_PIPELINE_H
#define BEV_PIPELINE_H

#include "src/bench/parts.h"

typedef struct Pipeline Pipeline;

typedef struct {
    bool truth; /* FP64 is needed for the picture */
    bool draft; /* fewer rays: the world is moving, and the next frame comes soon */
    bool sharp; /* camera views worth looking at */
} PipelineNeeds;

bool pipeline_open(Pipeline **pipeline, Err *err);
void pipeline_close(Pipeline *pipeline); /* accepts NULL */

/* Fills what depends on the job into `live` (the job itself, memory, intervals, stages, probe,
 * frame); figures of measurements stay. live->frame borrows from pipeline_parts, which hold until
 * the next run; keep them to have them longer. On failure `live` still shows the last good frame.
 */
bool pipeline_run(Pipeline *pipeline, const State *state, PipelineNeeds needs, LiveData *live,
                  Err *err);

const FrameParts *pipeline_parts(const Pipeline *pipeline);

/* Reads the scene again next time: its file has changed. */
void pipeline_forget_scene(Pipeline *pipeline);

#endif
