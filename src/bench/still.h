/* A frame for a script: computed at once, on this thread, and the same on every machine. Nothing is
 * measured; timings come from recordings, or stand as unknown. */
#ifndef BEV_STILL_H
#define BEV_STILL_H

#include "src/bench/pipeline.h"

typedef struct Still Still;

bool still_open(Still **still, Err *err);
void still_close(Still *still); /* accepts NULL */

/* Fills `live` for the state: pictures, model figures, accuracy (the gates run when the selection
 * or its map changes), recorded timings. live->frame holds until the next run. *facts of the scene.
 */
bool still_run(Still *still, const State *state, LiveData *live, SceneFacts *facts, Err *err);

#endif
