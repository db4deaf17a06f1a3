/* SPDX-License-Identifier: MIT */
#include "src/scales/cuts.h"

#include "kernels/codec.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define METHODS(name) name("max"), name("percentile"), name("entropy"), name("mse"), NULL
#define PLAIN(word)   word
#define CHANNEL(word) word "-channel"
const char *const scale_method_names[] = {METHODS(PLAIN)};
const char *const scale_channel_names[] = {METHODS(CHANNEL)};

enum { FIRST_CANDIDATE = 128, CODES = 256 };

bool scale_exists(BevDtype element) {
    return bev_tensor_scale(element, FLT_MAX) != 1;
}

bool scale_is_single(BevDtype element) {
    return scale_exists(element) && !bev_block_scale_bytes(element, 1, 1);
}

/* ---- percentile ------------------------------------------------------------------------------ */

/* Returns the number of bins that hold at least this percentage of all values. */
static int percentile_bin(const LinearHistogram *linear, const Histogram *histogram,
                          double percentile) {
    double wanted = percentile / 100 * (double)histogram->values;
    int64_t below = histogram->zeros;
    for (int i = 0; i < linear->bins; i++) {
        below += linear->counts[i];
        if ((double)below >= wanted)
            return i + 1;
    }
    return linear->bins;
}

/* ---- entropy --------------------------------------------------------------------------------- */

/* The ranges of magnitudes that share a code of a format. Code i has the magnitudes from starts[i]
 * to starts[i + 1], and the last code those up to `end`. Magnitudes are in units of code values. */
typedef struct {
    double starts[CODES], end;
    int count;
} Steps;

/* Returns the ranges of a format. Codes of equal steps get equal ranges, as TensorRT defines the
 * entropy method for INT8. A code of other formats gets the magnitudes that round to it. */
static Steps steps_of(BevDtype element) {
    Steps steps = {.end = bev_dtypes[element].largest};
    const bool equal_steps = bev_dtypes[element].smallest == 1;
    uint8_t codes[CODES];
    for (int i = 0; i < CODES; i++)
        codes[i] = (uint8_t)i;
    BevTensor tensor = {.dtype = element, .rows = 1, .row_len = CODES, .data = codes, .scale = 1};
    double below = 0;
    for (int i = 0; i < CODES; i++) {
        double value = bev_tensor_at(&tensor, 0, i);
        if (!(value >= below && value <= bev_dtypes[element].largest)) /* NaN, or negative codes */
            break;
        steps.starts[steps.count++] = equal_steps ? i : (below + value) / 2;
        below = value;
    }
    steps.end += equal_steps ? 1 : 0;
    return steps;
}

/* Returns the first of `bins` equal bins from 0 to `end` whose lower edge is at or above
 * `start`. */
static int first_bin(double start, double end, int bins) {
    int bin = (int)(start * bins / end);
    while (bin > 0 && (bin - 1) * end >= start * bins)
        bin--;
    while (bin * end < start * bins)
        bin++;
    return bin;
}

/* Prefix sums of a linear histogram: element i sums the bins before bin i. */
typedef struct {
    int64_t counts[LINEAR_BINS + 1], filled[LINEAR_BINS + 1];
    double p_log_p[LINEAR_BINS + 1]; /* sum of p log(p), p the count of a bin */
} BinSums;

static void make_bin_sums(const LinearHistogram *linear, BinSums *sums) {
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < linear->bins; i++) {
        double p = (double)linear->counts[i ? i : 1]; /* the first bin counts as the second does */
        sums->counts[i + 1] = sums->counts[i] + (int64_t)p;
        sums->filled[i + 1] = sums->filled[i] + (p > 0);
        sums->p_log_p[i + 1] = sums->p_log_p[i] + (p > 0 ? p * log(p) : 0);
    }
}

/* Returns the Kullback-Leibler divergence of the quantised values q from the values p, if the first
 * `bins` bins are kept: sum(p log(p / q)) / P + log(Q / P), where P and Q are the sums of p and q.
 * Values beyond the kept bins saturate, and p counts them in the last kept bin. */
static double divergence(const LinearHistogram *linear, const BinSums *sums, const Steps *steps,
                         int bins) {
    const int64_t total = sums->counts[linear->bins], kept = sums->counts[bins];
    const int64_t saturated = total - kept, last = kept - sums->counts[bins - 1];
    if (!kept || (saturated && !last)) /* q is 0 in a bin where p is not */
        return INFINITY;
    const double last_p = (double)(last + saturated);
    double sum = sums->p_log_p[bins - 1] + (last_p > 0 ? last_p * log(last_p) : 0);
    for (int code = 0, from = 0; code < steps->count; code++) {
        const bool last_code = code + 1 == steps->count;
        const int to = last_code ? bins : first_bin(steps->starts[code + 1], steps->end, bins);
        const int64_t count = sums->counts[to] - sums->counts[from];
        if (count) {
            const double q = (double)count / (double)(sums->filled[to] - sums->filled[from]);
            sum -= (double)(count + (to == bins ? saturated : 0)) * log(q);
        }
        from = to;
    }
    return sum / (double)total + log((double)kept / (double)total);
}

static int entropy_bin(const LinearHistogram *linear, BevDtype element) {
    Steps steps = steps_of(element);
    BinSums sums;
    int best = linear->bins;
    double least = INFINITY;
    make_bin_sums(linear, &sums);
    for (int bins = FIRST_CANDIDATE; bins <= linear->bins; bins++) {
        double value = divergence(linear, &sums, &steps, bins);
        if (value <= least) {
            least = value;
            best = bins;
        }
    }
    return best;
}

/* ---- least squares --------------------------------------------------------------------------- */

/* Encodes and decodes values, in place, with the scale that keeps magnitudes up to `cut`. */
static void quantise(BevDtype element, double cut, float *values, int64_t count) {
    uint8_t codes[LINEAR_BINS];
    BevTensor tensor = {.dtype = element, .rows = 1, .row_len = count, .data = codes};
    tensor.scale = bev_tensor_scale(element, (float)cut);
    bev_tensor_encode(&tensor, values);
    bev_tensor_decode(&tensor, 0, 1, values);
}

static int mse_bin(const LinearHistogram *linear, BevDtype element) {
    double centres[LINEAR_BINS], counts[LINEAR_BINS]; /* of the `filled` bins with values */
    int best = linear->bins, filled = 0;
    double least = INFINITY, width = linear->limit / LINEAR_BINS;
    for (int i = 0; i < linear->bins; i++) {
        centres[filled] = (i + 0.5) * width;
        counts[filled] = (double)linear->counts[i];
        filled += linear->counts[i] > 0; /* the next bin overwrites an empty bin */
    }
    for (int bins = FIRST_CANDIDATE; bins <= linear->bins; bins++) {
        float stored[LINEAR_BINS];
        double sum = 0;
        for (int i = 0; i < filled; i++)
            stored[i] = (float)centres[i];
        quantise(element, bins * width, stored, filled);
        for (int i = 0; i < filled; i++) {
            double error = stored[i] - centres[i];
            sum += counts[i] * error * error;
        }
        if (sum < least) {
            least = sum;
            best = bins;
        }
    }
    return best;
}

/* ---- all methods ----------------------------------------------------------------------------- */

double scale_cut(const Histogram *histogram, ScaleMethod method, double percentile,
                 BevDtype element) {
    LinearHistogram linear;
    const bool needs_single_scale = method == SCALE_ENTROPY || method == SCALE_MSE;
    if (method == SCALE_MAX || !(histogram->largest > 0) ||
        (needs_single_scale && !scale_is_single(element)))
        return histogram->largest;
    histogram_linear(histogram, &linear);
    const int bins = method == SCALE_PERCENTILE ? percentile_bin(&linear, histogram, percentile)
                     : method == SCALE_ENTROPY  ? entropy_bin(&linear, element)
                                                : mse_bin(&linear, element);
    return fmin(bins * (linear.limit / LINEAR_BINS), histogram->largest);
}

void scale_cut_cost(const Histogram *histogram, double cut, BevDtype element, CutCost *cost) {
    Bucket bucket;
    cost->values += (double)histogram->values;
    cost->non_zero += (double)(histogram->values - histogram->zeros);
    int at = 0;
    while (histogram_next(histogram, &at, &bucket)) {
        const float middle = bucket.low + (bucket.high - bucket.low) / 2;
        float stored = middle;
        quantise(element, cut, &stored, 1);
        const double count = (double)bucket.count, error = (double)stored - middle;
        if (bucket.low >= cut && cut < histogram->largest)
            cost->saturated += count;
        if (stored == 0)
            cost->underflow += count;
        cost->error += count * error * error;
        cost->norm += count * (double)middle * middle;
    }
}
