/* Quantiles of a histogram of bounded size, against those of all latencies sorted; durations. */
#include "src/base/random.h"
#include "src/base/tail.h"
#include "src/base/units.h"
#include "tests/support/tap.h"

#include <math.h>
#include <stdlib.h>

enum { N = 20000 };

/* Latencies of `typical_us` with a long tail: each hundredth is up to 1,000 times as long. */
static void draw(double latencies[N], double typical_us, uint64_t seed) {
    for (int i = 0; i < N; i++) {
        double slow = random_unit(&seed) < 0.01 ? pow(1000, random_unit(&seed)) : 1;
        latencies[i] = typical_us * slow * (1 + 0.1 * random_unit(&seed));
    }
}

/* The largest relative error of a quantile. */
static double worst_error(double typical_us, uint64_t seed) {
    static double latencies[N];
    Tail tail = {0};
    double worst = 0;
    draw(latencies, typical_us, seed);
    for (int i = 0; i < N; i++)
        tail_add(&tail, latencies[i]);
    sort_ascending(latencies, N);
    for (int i = 0; i < TAIL_QUANTILES; i++) {
        double part = tail_quantiles[i].part, exact = latencies[(int)ceil(part * N) - 1];
        double error = fabs(tail_quantile(&tail, part) / exact - 1);
        if (part == 1 && error > 0)
            return INFINITY;
        worst = fmax(worst, error);
    }
    return worst;
}

TAP_SUITE(tail) {
    const double limit = exp2(0.5 / TAIL_OCTAVE_BINS) - 1 + 1e-12;
    const double typical[] = {0.3, 5.1, 1200, 2e5};
    double worst = 0;
    for (int i = 0; i < 4; i++)
        worst = fmax(worst, worst_error(typical[i], (uint64_t)i));
    tap_ok(worst <= limit && worst > limit / 10,
           "p50 to p99.9 of 0.3 us to minutes are off by %.2f %% at most, the largest is exact",
           100 * worst);
    Tail none = {0};
    tap_ok(isnan(tail_quantile(&none, 0.5)) && isnan(tail_quantile(&none, 1)),
           "of no latency there is no quantile");
    Tail one = {0};
    tail_add(&one, 7.3);
    tap_ok(tail_quantile(&one, 0.5) == 7.3 && tail_quantile(&one, 0.999) == 7.3,
           "of one latency all are that one");
    Tail outside = {0};
    tail_add(&outside, 0);
    tail_add(&outside, 1e12);
    tap_ok(outside.count == 2 && tail_quantile(&outside, 0.5) < 0.1 &&
               tail_quantile(&outside, 1) == 1e12,
           "latencies outside of the bins count");
}

TAP_SUITE(duration) {
    double s[4] = {0}, ignored;
    bool read = duration_seconds("90s", &s[0]) && duration_seconds("1.5m", &s[1]) &&
                duration_seconds("60min", &s[2]) && duration_seconds("2h", &s[3]);
    tap_ok(read && s[0] == 90 && s[1] == 90 && s[2] == 3600 && s[3] == 7200,
           "90s, 1.5m, 60min and 2h are durations");
    static const char *const no[] = {"", "60", "m", "60 m", "1d", "60mm", "h1"};
    int taken = 0;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        taken += duration_seconds(no[i], &ignored);
    tap_ok(taken == 0, "a number without unit and another unit are none");
}
