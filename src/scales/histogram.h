/* SPDX-License-Identifier: MIT */
/* A histogram of the magnitudes of one tensor over any number of frames. A bucket has all FP32
 * numbers with the same exponent and the same ten upper bits of fraction: 1024 buckets an octave.
 * The order of frames does not matter, and no range must be known beforehand. */
#pragma once

#include "kernels/err.h"

#include <stdint.h>

enum { OCTAVES = 255, OCTAVE_BUCKETS = 1024, LINEAR_BINS = 2048 };

/* (Histogram){0} is an empty histogram. */
typedef struct {
    int64_t *octaves[OCTAVES]; /* [OCTAVE_BUCKETS] counts; NULL: no value in that octave */
    int64_t values, zeros;     /* number of finite values, and of zeros among them */
    int64_t not_finite;        /* number of NaN and infinite values, which have no bucket */
    float largest;
} Histogram;

/* Counts `count` values that lie `stride` elements apart. False: out of memory. */
bool histogram_add(Histogram *histogram, const float *values, int64_t count, int64_t stride);
void histogram_free(Histogram *histogram);

/* Names the kinds of values that have no bucket: "0", "NaN or infinite", "0, NaN or infinite". */
static inline const char *histogram_kinds(const Histogram *histogram) {
    return !histogram->not_finite ? "0"
           : histogram->zeros     ? "0, NaN or infinite"
                                  : "NaN or infinite";
}

/* Visits the filled buckets in rising order. A bucket holds magnitudes from `low` to below `high`.
 * `*at` must start as 0. Returns false after the last bucket. */
typedef struct {
    float low, high;
    int64_t count; /* above 0 */
} Bucket;
bool histogram_next(const Histogram *histogram, int *at, Bucket *bucket);

/* The counts of a histogram, without zeros, in bins of equal width from 0 to `limit`. `limit` is
 * the least power of two above the largest magnitude, so that no bucket lies in two bins. The
 * histogram must not be empty. */
typedef struct {
    double limit;
    int64_t counts[LINEAR_BINS];
    int bins; /* number of bins up to the last one with a value */
} LinearHistogram;
void histogram_linear(const Histogram *histogram, LinearHistogram *linear);

/* Histograms of the three tensors of pooling. Features have a histogram for each channel. */
typedef struct {
    Histogram depth, out, *channels; /* channels: [channel_count] */
    int64_t channel_count;
    int64_t moments; /* the number of counted moments */
} TensorHistograms;

bool tensor_histograms_init(TensorHistograms *histograms, int64_t channels, Err *err);
void tensor_histograms_free(TensorHistograms *histograms);

/* Counts features of shape (rows, channel_count). Returns false when out of memory. */
bool tensor_histograms_add_feat(TensorHistograms *histograms, const float *feat, int64_t rows);

/* Merges the channels into one histogram, which the caller frees. False: out of memory. */
bool tensor_histograms_feat(const TensorHistograms *histograms, Histogram *feat);
