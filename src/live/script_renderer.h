/* A frame for a script: computed at once, on this thread, and the same on every machine. Nothing is
 * measured; timings come from recordings, or stand as unknown. */
#ifndef BEV_SCRIPT_RENDERER_H
#define BEV_SCRIPT_RENDERER_H

#include "src/live/pipeline.h"

typedef struct Still Still;

bool still_open(Still **still, Err *err);
void still_close(Still *still); /* accepts NULL */

/* Fills `live` for the state: pictures, model figures, accuracy, recorded timings; *facts of the
 * scene. live->frame holds until the next run. When only time has passed, accuracy stays as it was
 * judged: the gates take longer than the frame. */
bool still_run(Still *still, const State *state, LiveData *live, SceneFacts *facts, Err *err);

/* Judges the accuracy at the moment that the last run showed: before a control changes something,
 * so that what it changed can be said of the same street. */
bool still_catch_up(Still *still, const State *state, LiveData *live, Err *err);

#endif
