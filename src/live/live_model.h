/* The memory model of the problem that is shown, one walk at a time, and the models of the problems
 * shown before it: going back to one of them costs nothing. Belongs to one thread. */
#ifndef BEV_LIVE_MODEL_H
#define BEV_LIVE_MODEL_H

#include "src/cachesim/memory_model.h"
#include "src/live/pipeline.h"

typedef struct LiveModel LiveModel;

/* How much is wanted: what stands for the selection; every kernel; V3 in every format as well. */
typedef enum { DEPTH_SELECTION, DEPTH_KERNELS, DEPTH_FORMATS } ModelDepth;

/* As much as the state's chart shows. */
ModelDepth live_model_depth(const State *state);

bool live_model_open(LiveModel **live_model, Err *err);
void live_model_close(LiveModel *live_model); /* accepts NULL */

/* From now on about the problem that `choice` is on this map with so many channels. */
bool live_model_aim(LiveModel *live_model, const BevShape *shape, BuiltMap *map,
                    const KernelConfig *config, Err *err);

/* From now on a GPU of the table has the ceilings that its own probes found, instead of recorded
 * ones or the data sheet's. */
void live_model_measured(LiveModel *live_model, int gpu, const Limits *limits);

/* Walks what is missing first: the selection, then the other kernels, quick ones before slow ones.
 * False: nothing is missing. What fails is not tried again on this problem. `watch` (or NULL) may
 * end the walk, which then counts as not begun. */
bool live_model_step(LiveModel *live_model, ModelDepth depth, const TraceWatch *watch);

/* What is known so far: never changes, a later step makes a new one; keep it with ref_keep(). */
MemoryModel *live_model_known(const LiveModel *live_model);

#endif
