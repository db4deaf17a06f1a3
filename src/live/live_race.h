/* SPDX-License-Identifier: MIT */
/* The race of kernels (schedule.h) on the map of a frame. */
#pragma once

#include "src/cachesim/schedule.h"
#include "src/live/inputs.h"

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
