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
    int gpu;      /* a row of gpus[], */
    GpuEdit edit; /* changed by the user */
    double known_us[RACE_KERNELS];
} LiveRace;

/* Returns a new race that is still to be made, of the state's format and GPU. NULL: no memory. */
LiveRace *live_race_new(const State *state, const FrameInputs *inputs, const LiveData *live);

/* Whether two races have the same subject. */
bool live_race_same(const LiveRace *a, const LiveRace *b);

/* Makes the schedules; takes some 100 ms. `model` must have replayed the kernels. */
bool live_race_make(LiveRace *race, const MemoryModel *model, Err *err);
