/* The kernels that run where the selection runs: what keys 1 to 9 pick, in that order, and the
 * scale on which bars compare them. */
#ifndef BEV_LADDER_H
#define BEV_LADDER_H

#include "src/state/live_data.h"

typedef struct {
    const LiveKernel *kernels[LIVE_MAX_KERNELS]; /* borrowed from the LiveData */
    int count;
    double scale_us; /* where bars end; slower kernels run off. 0: none is known */
} Ladder;

Ladder ladder_of(const State *state, const LiveData *live);

/* The mark beside a median, one character: "r" recorded, "~" stale, "b" timed beside pictures, "?"
 * unsettled, "s" single launches; "" for a warm series, the protocol of `bench`. */
const char *ladder_mark(const LiveKernel *row);

/* Explains the marks beside the medians: "measured, r recorded, ~ stale, ? unsettled", of these
 * only what there is. */
void ladder_note(const Ladder *ladder, char *note, size_t size);

#endif
