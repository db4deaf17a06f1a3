/* Renders a frame for a script: at once, on the caller's thread, and the same on every machine.
 * Nothing is measured; timings come from recordings or stay unknown. */
#pragma once

#include "src/live/pipeline.h"

typedef struct ScriptRenderer ScriptRenderer;

bool script_renderer_open(ScriptRenderer **renderer, Err *err);
void script_renderer_close(ScriptRenderer *renderer); /* accepts NULL */

/* Fills `live` for the state asked for (pictures, model figures, accuracy, recorded timings) and
 * *facts for the scene. live->frame holds until the next run. Where only time has passed, the
 * accuracy figures stay as they were: the gates take longer than the frame. */
bool script_renderer_run(ScriptRenderer *renderer, const State *asked, LiveData *live,
                         SceneFacts *facts, Err *err);

/* Checks the accuracy at the moment that the last run showed. Called before a control changes
 * something, so that both figures, before and after, are of the same moment. */
bool script_renderer_check_accuracy(ScriptRenderer *renderer, const State *state, LiveData *live,
                                    Err *err);
