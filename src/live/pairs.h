/* SPDX-License-Identifier: MIT */
/* How many times as long the baseline takes as the selection: figures of the two taken in turns, so
 * that a machine that is slow for a while is slow for both. */
#pragma once

#include "src/state/live_data.h"

enum { PAIRS_ENOUGH = 5, PAIRS_KEPT = 15 };

typedef struct {
    double ratios[PAIRS_KEPT]; /* baseline over selection, the oldest first */
    int count;
    double half_us; /* the first figure of a pair; 0: none waits for the second */
    bool half_is_baseline;
    bool told; /* there is a ratio: it stays, though doubtful at times */
} Pairs;

/* Adds a time of the baseline or of the selection. Two of different sides in a row are a pair and
 * make a ratio; of two of the same side the newer one counts. */
void pairs_add(Pairs *pairs, bool is_baseline, double us);

/* Median, range and number; the median is doubtful where the ratios scatter. False: there are fewer
 * than PAIRS_ENOUGH, or those first ones, up to PAIRS_KEPT, scatter; only the number is filled, and
 * whether they scatter. */
bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup);
