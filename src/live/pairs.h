/* SPDX-License-Identifier: MIT */
/* The speed-up of the selection over the baseline. The two are timed in turns, so that a machine
 * that is slow for a while is slow for both. */
#pragma once

#include "src/state/live_data.h"

enum { PAIRS_ENOUGH = 5, PAIRS_KEPT = 15 };

typedef struct {
    double ratios[PAIRS_KEPT]; /* baseline over selection, the oldest first */
    int count;
    double half_us;        /* the first time of a pair; 0: no pair is half done */
    bool half_is_baseline; /* half_us is of the baseline */
    bool told;             /* a ratio was shown: a ratio stays, though doubtful at times */
} Pairs;

/* Adds a time of the baseline or of the selection. A time of each in a row is a pair and makes a
 * ratio. Of two times of the same kernel in a row the newer one counts. */
void pairs_add(Pairs *pairs, bool is_baseline, double us);

/* Fills in median, range and number of the ratios. If the ratios scatter, the median is doubtful.
 * False: there are fewer ratios than PAIRS_ENOUGH, or all ratios so far, fewer than PAIRS_KEPT,
 * scatter. Then only their number is filled in, and whether they scatter. */
bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup);
