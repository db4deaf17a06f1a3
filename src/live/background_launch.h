/* The slow lane: launches that take longer than a picture may wait are timed on a thread of their
 * own, one after the other, while pictures go on. */
#ifndef BEV_BACKGROUND_LAUNCH_H
#define BEV_BACKGROUND_LAUNCH_H

#include "src/live/pipeline.h"

typedef struct Lane Lane;

typedef struct {
    KernelConfig config;
    double launch_us, prepare_us, own_bytes;
    double
        busy_us; /* of launch_us, that the lane's thread had a core: what others took is left out */
    PooledGrid *grid; /* where it was asked for: the taker's share */
    bool failed;      /* `err` says why */
    Err err;
} LaneSample;

/* Calls `wake` from the lane's thread whenever a sample is ready. */
bool lane_open(Lane **lane, void (*wake)(void *context), void *context, Err *err);
void lane_close(Lane *lane); /* accepts NULL; waits for the launch that runs */

/* One launch of a CPU kernel, and if `grid` what it pooled. False while the last one runs or was
 * not taken. Keeps the parts. */
bool lane_ask(Lane *lane, SeenFeatures *features, BuiltMap *map, const KernelConfig *config,
              bool grid);

bool lane_take(Lane *lane, LaneSample *sample);

/* Lets go of the problem that was run last: no other launch of it will be asked for. */
void lane_forget(Lane *lane);

/* Whether a launch runs: timings taken meanwhile would be off. */
bool lane_busy(Lane *lane);

#endif
