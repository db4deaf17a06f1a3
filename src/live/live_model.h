/* SPDX-License-Identifier: MIT */
/* The cache simulation behind the display: the memory model of the shown problem, one step at a
 * time. The models of the problems shown before are kept, so that going back costs nothing. One
 * thread at a time may use it. */
#pragma once

#include "src/cachesim/memory_model.h"
#include "src/cachesim/schedule.h"
#include "src/live/inputs.h"
#include "src/run/recorded.h"

typedef struct LiveModel LiveModel;

/* How much to simulate. Each depth includes the depths before it. */
typedef enum {
    DEPTH_ESTIMATE,  /* estimates of the selection and of the kernels with a bar on the screen */
    DEPTH_PRUNED,    /* the ladder on the pruned map, by live_model_prune() */
    DEPTH_SELECTION, /* complete replays of the same kernels as DEPTH_ESTIMATE */
    DEPTH_KERNELS,   /* complete replays of every kernel */
    DEPTH_FORMATS    /* the selection in every format */
} ModelDepth;

/* Returns how much must be simulated for the chart of this state. */
ModelDepth live_model_depth(const State *state);

/* Opens a model. The recorded results are borrowed. */
bool live_model_open(LiveModel **live_model, const RecordedSet *recorded, Err *err);
void live_model_close(LiveModel *live_model); /* accepts NULL */

/* Selects the problem of this shape, map, format and align. The kernel of `config` is simulated
 * first. From DEPTH_SELECTION on the kernels `wanted` are simulated, too. */
bool live_model_aim(LiveModel *live_model, const BevShape *shape, BuiltMap *map,
                    const KernelConfig *config, KernelSet wanted, Err *err);

/* Replaces the ceilings of a GPU, recorded or from the data sheet, by measured ceilings. */
void live_model_measured(LiveModel *live_model, int gpu, const Limits *limits);

/* Whether the model has at least estimates of all kernels with a bar on the screen. */
bool live_model_tells(const LiveModel *live_model);

/* Replays one missing access trace. The selection's trace comes first, then the traces of other
 * kernels, quick replays before slow replays. False: no trace is missing. A replay that fails is
 * not tried again on this problem. `watch` (or NULL) may end a replay early. A replay that ended
 * early is done again later. */
bool live_model_step(LiveModel *live_model, ModelDepth depth, const TraceWatch *watch);

/* Replays the kernels of the ladder on the map without its light points: those whose depth at the
 * features' moment is below LIGHT. Adds the result to the model, once for each problem unless
 * `again`. False: there was nothing to do, or the replay ended early. */
bool live_model_prune(LiveModel *live_model, const SeenFeatures *features, bool again,
                      const TraceWatch *watch);

/* Returns the model so far, borrowed; NULL: none. A model never changes: a later step makes a new
 * model. */
MemoryModel *live_model_known(const LiveModel *live_model);

/* ---- the race of kernels (schedule.h) on the map of a frame ---------------------------------- */

/* A race and its subject. Reference counted. */
typedef struct {
    Race race;
    bool made; /* `race` is filled */
    BuiltMap *map;
    BevShape shape;
    BevDtype dtype;
    BevAlign align;
    int gpu;      /* the row in gpus[] */
    GpuEdit edit; /* the user's changes of the GPU */
    double known_us[RACE_KERNELS];
} LiveRace;

/* Returns a new race of the state's format and GPU, for live_race_make. NULL: no memory. */
LiveRace *live_race_new(const State *state, const FrameInputs *inputs, const LiveData *live);

/* Whether two races have the same subject. */
bool live_race_same(const LiveRace *a, const LiveRace *b);

/* Makes the schedules, which takes some 100 ms. `model` must have replayed the kernels. */
bool live_race_make(LiveRace *race, const MemoryModel *model, Err *err);
