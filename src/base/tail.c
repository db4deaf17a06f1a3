#include "src/base/tail.h"

#include <assert.h>
#include <math.h>

static const double FIRST_US = 1.0 / 16; /* where the first bin begins */

const TailQuantile tail_quantiles[TAIL_QUANTILES] = {{"p50_us", "p50 us", "p50", 0.5},
                                                     {"p90_us", "p90 us", "p90", 0.9},
                                                     {"p99_us", "p99 us", "p99", 0.99},
                                                     {"p999_us", "p99.9 us", "p99.9", 0.999},
                                                     {"max_us", "max us", "max", 1}};

static int bin_of(double us) {
    double bin = floor(TAIL_OCTAVE_BINS * log2(us / FIRST_US));
    return (int)fmin(fmax(bin, 0), TAIL_BINS - 1);
}

void tail_add(Tail *tail, double us) {
    assert(us >= 0);
    tail->least_us = tail->count ? fmin(tail->least_us, us) : us;
    tail->most_us = fmax(tail->most_us, us);
    tail->count++;
    tail->bins[bin_of(us)]++;
}

double tail_quantile(const Tail *tail, double part) {
    uint64_t rank = (uint64_t)ceil(part * (double)tail->count), below = 0;
    if (!tail->count)
        return NAN;
    if (rank >= tail->count)
        return tail->most_us;
    int bin = 0;
    while ((below += tail->bins[bin]) < rank)
        bin++;
    double middle_us = FIRST_US * exp2((bin + 0.5) / TAIL_OCTAVE_BINS);
    return fmin(fmax(middle_us, tail->least_us), tail->most_us);
}
