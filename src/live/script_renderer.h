/* A frame for a script: computed at once, on this thread, and the same on every machine. Nothing is
 * measured; timings come from recordings, or stand as unknown. */
#ifndef BEV_SCRIPT_RENDERER_H
#define BEV_SCRIPT_RENDERER_H

#include "src/live/pipeline.h"

typedef struct ScriptRenderer ScriptRenderer;

bool script_renderer_open(ScriptRenderer **still, Err *err);
void script_renderer_close(ScriptRenderer *still); /* accepts NULL */

/* Fills `live` for the state: pictures, model figures, accuracy, recorded timings; *facts of the
 * scene. live->frame holds until the next run. When only time has passed, accuracy stays as it was
 * judged: the gates take longer than the frame. */
bool script_renderer_run(ScriptRenderer *still, const State *state, LiveData *live,
                         SceneFacts *facts, Err *err);

/* Judges the accuracy at the moment that the last run showed: before a control changes something,
 * so that what it changed can be said of the same street. */
bool still_catch_up(ScriptRenderer *still, const State *state, LiveData *live, Err *err);

#endif
