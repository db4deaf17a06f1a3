/* How a stream is walked: places its arrays, starts the memory and runs the launches. */
#ifndef BEV_STREAM_WALKS_H
#define BEV_STREAM_WALKS_H

#include "src/bench/stream_memory.h"

/* Rungs whose threads own points, intervals or cells. */
bool owners_walk(Memory *memory, bool with_reuse, const StreamWatch *watch, Err *err);

#endif
