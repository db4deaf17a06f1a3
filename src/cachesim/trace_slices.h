/* Additions to sums in memory, from many threads at once. The slices of the L2 serve them side by
 * side; but warps under way add to few cells, whose rows lie in few slices, and the others wait for
 * the busiest. Where a sum is read and stored by a plain +=, the next load of its line also waits
 * until the store is done: one warp after the other.
 *
 * Counted in windows: what is under way at a time. A turn of all warps that the multiprocessors
 * hold is less than that, as slices have queues: with windows of three turns for additions, which
 * go out and are forgotten, and of two for a plain +=, whose loads a warp waits for, the busiest
 * slice explains what was probed on an H200 (samples/experiments/model.md, "L2 slices"). */
#ifndef BEV_TRACE_SLICES_H
#define BEV_TRACE_SLICES_H

#include "kernels/err.h"

#include <stdbool.h>
#include <stdint.h>

/* 96, of 640 KiB each. A kibibyte lies in two, that take turns by 256 bytes; which two is not
 * published, here a hash. The wait for a store holds up a slice for as long as 14 additions. */
enum { SLICES = 96, SLICE_LINE = 4, SLICE_SECTORS = 8, SLICE_PAIR_SECTORS = 32 };
enum { SLICE_TURNS_PLAIN = 2, SLICE_TURNS_ATOMIC = 3, SLICE_WAIT = 14 };

/* Requests for a line, in the window of that number. */
typedef struct {
    uint32_t window, requests;
} SliceLine;

/* Of a slice in a window: additions to a sector, by an instruction each; and requests for its line
 * most in demand, that a plain += makes. */
typedef struct {
    double additions;
    uint32_t requests;
} Slice;

typedef struct {
    Slice slices[SLICES];
    SliceLine *lines; /* of the sums */
    uint32_t window;
    int turns, turn; /* of a window; so far */
    double busiest; /* of windows before: SLICES times the additions and waits of the busiest one */
} Slices;

/* A window is so many turns of the warps. False: no memory. */
bool slices_start(Slices *slices, uint64_t lines, int turns, const char *where, Err *err);
void slices_stop(Slices *slices);

/* `adds` instructions of a warp add to a sector; and ask for its line, one after the other. */
void slices_add(Slices *slices, uint64_t sector, int adds);
void slices_ask(Slices *slices, uint64_t sector, int adds);

/* All warps have had a turn; the window is over. */
void slices_turn(Slices *slices);
void slices_close(Slices *slices);

#endif
