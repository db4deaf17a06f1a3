/* SPDX-License-Identifier: MIT */
#include "src/live/pairs.h"

#include <string.h>

/* If the middle half of the ratios spreads by more than this factor, the ratios scatter. */
static const double MIDDLE = 1.25;

static void sorted_ratios(const Pairs *pairs, double sorted[PAIRS_KEPT]) {
    memcpy(sorted, pairs->ratios, (size_t)pairs->count * sizeof *sorted);
    sort_ascending(sorted, pairs->count);
}

static bool ratios_scatter(const double *sorted, int count) {
    return sorted[count - 1 - count / 4] > MIDDLE * sorted[count / 4];
}

void pairs_add(Pairs *pairs, bool is_baseline, double us) {
    double sorted[PAIRS_KEPT];
    if (!(pairs->half_us > 0) || pairs->half_is_baseline == is_baseline) {
        pairs->half_us = us;
        pairs->half_is_baseline = is_baseline;
        return;
    }
    if (pairs->count == PAIRS_KEPT)
        memmove(pairs->ratios, pairs->ratios + 1, (PAIRS_KEPT - 1) * sizeof *pairs->ratios);
    else
        pairs->count++;
    pairs->ratios[pairs->count - 1] = is_baseline ? us / pairs->half_us : pairs->half_us / us;
    pairs->half_us = 0;
    sorted_ratios(pairs, sorted);
    if (pairs->count == PAIRS_KEPT ||
        (pairs->count >= PAIRS_ENOUGH && !ratios_scatter(sorted, pairs->count)))
        pairs->told = true;
}

bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup) {
    double sorted[PAIRS_KEPT];
    int count = speedup->pairs = pairs->count;
    if (count < PAIRS_ENOUGH)
        return false;
    sorted_ratios(pairs, sorted);
    speedup->scatter = ratios_scatter(sorted, count);
    if (!pairs->told)
        return false;
    speedup->ratio = reading((sorted[(count - 1) / 2] + sorted[count / 2]) / 2, SOURCE_MEASURED);
    speedup->ratio.doubtful = speedup->scatter;
    speedup->least = sorted[0];
    speedup->most = sorted[count - 1];
    return true;
}
