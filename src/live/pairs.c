#include "src/live/pairs.h"

#include <string.h>

/* The middle half of the ratios lies within this factor; else their median is no result. */
static const double MIDDLE = 1.25;

void pairs_add(Pairs *pairs, bool is_baseline, double us) {
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
}

bool pairs_fill(const Pairs *pairs, LiveSpeedup *speedup) {
    double sorted[PAIRS_KEPT];
    int count = speedup->pairs = pairs->count;
    if (count < PAIRS_ENOUGH)
        return false;
    memcpy(sorted, pairs->ratios, (size_t)count * sizeof *sorted);
    sort_ascending(sorted, count);
    speedup->scatter = sorted[count - 1 - count / 4] > MIDDLE * sorted[count / 4];
    if (speedup->scatter)
        return false;
    speedup->ratio = reading((sorted[(count - 1) / 2] + sorted[count / 2]) / 2, SOURCE_MEASURED);
    speedup->least = sorted[0];
    speedup->most = sorted[count - 1];
    return true;
}
