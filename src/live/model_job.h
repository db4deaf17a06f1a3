/* The memory model on a thread of its own: walks take tenths of a second that no picture can wait
 * for. A walk rests while timings are taken and ends early when another problem is shown. */
#ifndef BEV_MODEL_JOB_H
#define BEV_MODEL_JOB_H

#include "src/live/live_model.h"

typedef struct ModelLane ModelLane;

/* Calls `wake` from the lane's thread whenever more is known. */
bool model_lane_open(ModelLane **lane, void (*wake)(void *context), void *context, Err *err);
void model_lane_close(ModelLane *lane); /* accepts NULL; a walk ends early */

/* What to model from now on. Keeps the parts. */
void model_lane_aim(ModelLane *lane, SeenFeatures *features, BuiltMap *map,
                    const KernelConfig *config, ModelDepth depth);

/* The ceilings of a GPU of the table, as its own probes found them. */
void model_lane_measured(ModelLane *lane, int gpu, const Limits *limits);

/* Whether what stands for the selection is still to be walked. */
bool model_lane_first(ModelLane *lane);

/* Whether walks rest. */
void model_lane_hold(ModelLane *lane, bool hold);

/* What is known of the problem aimed at (shared.h; drop it), NULL: nothing yet. True where that is
 * not what the last call told. */
bool model_lane_take(ModelLane *lane, MemoryModel **model);

#endif
