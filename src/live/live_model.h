/* SPDX-License-Identifier: MIT */
/* The cache simulation behind the display: the memory model of the shown problem, one step at a
 * time. The models of the problems shown before are kept, so that going back costs nothing. One
 * thread at a time may use it. */
#pragma once

#include "src/cachesim/memory_model.h"
#include "src/live/inputs.h"
#include "src/run/recorded.h"

typedef struct LiveModel LiveModel;

/* How much to simulate: estimates of the selection and of the kernels that the screen tells of; the
 * same and the ladder on the pruned map, as live_model_prune() says; the selection and the kernels
 * that the screen tells of; every kernel; V3 in every format as well. */
typedef enum {
    DEPTH_ESTIMATE,
    DEPTH_PRUNED,
    DEPTH_SELECTION,
    DEPTH_KERNELS,
    DEPTH_FORMATS
} ModelDepth;

/* Returns how much must be simulated for the chart of this state. */
ModelDepth live_model_depth(const State *state);

/* Opens a model. The recorded results are borrowed. */
bool live_model_open(LiveModel **live_model, const RecordedSet *recorded, Err *err);
void live_model_close(LiveModel *live_model); /* accepts NULL */

/* Selects the problem of this shape, map, format and align. The kernel is the one to simulate
 * first; `wanted` are simulated at every depth. */
bool live_model_aim(LiveModel *live_model, const BevShape *shape, BuiltMap *map,
                    const KernelConfig *config, KernelSet wanted, Err *err);

/* Uses these measured ceilings for a GPU of the table, instead of recorded ones or those of the
 * data sheet. */
void live_model_measured(LiveModel *live_model, int gpu, const Limits *limits);

/* Whether the model has at least estimates of all kernels that the screen tells of. */
bool live_model_tells(const LiveModel *live_model);

/* Replays one missing access trace: the selection's first, then the other kernels', quick ones
 * before slow ones. False: no trace is missing. A replay that fails is not tried again on this
 * problem. `watch` (or NULL) may end a replay early; such a replay is done again later. */
bool live_model_step(LiveModel *live_model, ModelDepth depth, const TraceWatch *watch);

/* Replays the kernels of the ladder on the map without the points of `depth` below LIGHT, once for
 * each problem, and adds the result to the model. False: nothing was to do, or it ended early. */
bool live_model_prune(LiveModel *live_model, const float *depth, const TraceWatch *watch);

/* Returns the model so far, borrowed; NULL: none. A model never changes: a later step makes a new
 * one. */
MemoryModel *live_model_known(const LiveModel *live_model);
