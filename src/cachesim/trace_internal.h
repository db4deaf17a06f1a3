/* The two ways to walk a stream; each places its arrays, starts the memory and runs the launches.
 */
#ifndef BEV_TRACE_INTERNAL_H
#define BEV_TRACE_INTERNAL_H

#include "src/cachesim/trace_memory.h"

/* Kernels whose threads own points, intervals or cells, whole or in pieces. */
bool owners_walk(Memory *memory, bool with_reuse, const TraceWatch *watch, Err *err);

/* V4: on tensor cores where its map of tiles serves, else in pieces of the other row. */
bool tiles_walk(Memory *memory, bool with_reuse, const TraceWatch *watch, Err *err);
extern const AccessPattern access_pattern_pieces;

#endif
