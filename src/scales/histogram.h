/* A histogram of magnitudes, of one tensor over any number of frames. Its buckets are those of FP32
 * with ten bits of fraction: 1024 to an octave, over the whole range, so that the order of frames
 * does not matter and nothing is known beforehand. */
#pragma once

#include "kernels/err.h"

#include <stdint.h>

enum { OCTAVES = 255, OCTAVE_BUCKETS = 1024, LINEAR_BINS = 2048 };

/* Begins empty: (Histogram){0}. */
typedef struct {
    int64_t *octaves[OCTAVES]; /* [OCTAVE_BUCKETS] counts; NULL: no value in that octave */
    int64_t values, zeros;     /* finite values, and how many of them are 0 */
    int64_t not_finite;        /* NaN and infinite values, which stand in no bucket */
    float largest;
} Histogram;

/* Counts `count` values that lie `stride` apart. False: out of memory. */
bool histogram_add(Histogram *histogram, const float *values, int64_t count, int64_t stride);
bool histogram_merge(Histogram *into, const Histogram *from);
void histogram_free(Histogram *histogram); /* accepts NULL */

/* The values of a histogram without a bucket: "0", "NaN or infinite", "0, NaN or infinite". */
const char *histogram_kinds(const Histogram *histogram);

/* Visits the buckets in rising order: magnitudes from `low` up to below `high`. `at` begins as 0.
 * False: there are no more. */
typedef struct {
    float low, high;
    int64_t count; /* above 0 */
} Bucket;
bool histogram_next(const Histogram *histogram, int *at, Bucket *bucket);

/* The same counts, without zeros, in bins of equal width from 0 to `limit`, the least power of two
 * above the largest magnitude. Every bucket lies in one bin. The histogram must not be empty. */
typedef struct {
    double limit;
    int64_t counts[LINEAR_BINS];
    int bins; /* up to the last one with a value */
} LinearHistogram;
void histogram_linear(const Histogram *histogram, LinearHistogram *linear);

/* The three tensors of pooling; features by channel, from which those of the tensor follow. */
typedef struct {
    Histogram depth, out, *channels; /* [channel_count] */
    int64_t channel_count;
    int64_t moments;
} TensorHistograms;

bool tensor_histograms_init(TensorHistograms *histograms, int64_t channels, Err *err);
void tensor_histograms_free(TensorHistograms *histograms);

/* Counts (row, channel) features. */
bool tensor_histograms_add_feat(TensorHistograms *histograms, const float *feat, int64_t rows);

/* All channels in one histogram, which the caller frees. False: out of memory. */
bool tensor_histograms_feat(const TensorHistograms *histograms, Histogram *feat);
