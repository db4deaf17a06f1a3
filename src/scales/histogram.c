/* SPDX-License-Identifier: MIT */
#include "src/scales/histogram.h"

#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bits of a float, shifted right, are the number of its bucket or of its octave. */
enum { BUCKET_SHIFT = 13, OCTAVE_SHIFT = 23 };

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns the counts of an octave, allocated at its first use. NULL: out of memory. */
static int64_t *make_octave(Histogram *histogram, uint32_t octave) {
    if (!histogram->octaves[octave])
        histogram->octaves[octave] = calloc(OCTAVE_BUCKETS, sizeof(int64_t));
    return histogram->octaves[octave];
}

bool histogram_add(Histogram *histogram, const float *values, int64_t count, int64_t stride) {
    uint32_t largest = 0;
    int64_t zeros = 0, not_finite = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t magnitude; /* the bits of |value|, in the order of the magnitudes */
        memcpy(&magnitude, values + i * stride, sizeof magnitude);
        magnitude &= 0x7fffffff;
        const bool is_zero = magnitude == 0, is_finite = magnitude >> OCTAVE_SHIFT < OCTAVES;
        zeros += is_zero;
        not_finite += !is_finite;
        if (is_zero || !is_finite)
            continue;
        int64_t *octave = make_octave(histogram, magnitude >> OCTAVE_SHIFT);
        if (!octave)
            return false;
        octave[magnitude >> BUCKET_SHIFT & (OCTAVE_BUCKETS - 1)]++;
        largest = magnitude > largest ? magnitude : largest;
    }
    histogram->values += count - not_finite;
    histogram->zeros += zeros;
    histogram->not_finite += not_finite;
    histogram->largest = fmaxf(histogram->largest, float_of(largest));
    return true;
}

void histogram_free(Histogram *histogram) {
    for (int i = 0; i < OCTAVES; i++)
        free(histogram->octaves[i]);
    *histogram = (Histogram){0};
}

bool histogram_next(const Histogram *histogram, int *at, Bucket *bucket) {
    while (*at < OCTAVES * OCTAVE_BUCKETS) {
        const int octave = *at / OCTAVE_BUCKETS;
        const int64_t *counts = histogram->octaves[octave];
        if (!counts) {
            *at = (octave + 1) * OCTAVE_BUCKETS;
            continue;
        }
        const uint32_t number = (uint32_t)(*at)++;
        *bucket = (Bucket){.low = float_of(number << BUCKET_SHIFT),
                           .high = float_of((number + 1) << BUCKET_SHIFT),
                           .count = counts[number % OCTAVE_BUCKETS]};
        if (bucket->count)
            return true;
    }
    return false;
}

void histogram_linear(const Histogram *histogram, LinearHistogram *linear) {
    int exponent, at = 0;
    Bucket bucket;
    memset(linear, 0, sizeof *linear);
    frexp(histogram->largest, &exponent);
    linear->limit = ldexp(1, exponent);
    while (histogram_next(histogram, &at, &bucket)) {
        int bin = (int)(bucket.low * (LINEAR_BINS / linear->limit));
        linear->counts[bin] += bucket.count;
        linear->bins = bin + 1;
    }
}

/* ---- the three tensors ----------------------------------------------------------------------- */

bool tensor_histograms_init(TensorHistograms *histograms, int64_t channels, Err *err) {
    *histograms = (TensorHistograms){.channel_count = channels};
    histograms->channels = calloc((size_t)channels, sizeof *histograms->channels);
    return histograms->channels || err_no_memory(err, "histograms", "");
}

void tensor_histograms_free(TensorHistograms *histograms) {
    for (int64_t c = 0; histograms->channels && c < histograms->channel_count; c++)
        histogram_free(&histograms->channels[c]);
    histogram_free(&histograms->depth);
    histogram_free(&histograms->out);
    free(histograms->channels);
    *histograms = (TensorHistograms){0};
}

bool tensor_histograms_add_feat(TensorHistograms *histograms, const float *feat, int64_t rows) {
    bool ok = true;
    int64_t channels = histograms->channel_count;
#pragma omp parallel for num_threads(bev_threads()) schedule(static) reduction(&& : ok)
    for (int64_t c = 0; c < channels; c++)
        ok = histogram_add(&histograms->channels[c], feat + c, rows, channels) && ok;
    return ok;
}

bool tensor_histograms_feat(const TensorHistograms *histograms, Histogram *feat) {
    *feat = (Histogram){0};
    for (int64_t c = 0; c < histograms->channel_count; c++) {
        const Histogram *from = &histograms->channels[c];
        for (uint32_t i = 0; i < OCTAVES; i++) {
            int64_t *octave = from->octaves[i] ? make_octave(feat, i) : NULL;
            for (int j = 0; octave && j < OCTAVE_BUCKETS; j++)
                octave[j] += from->octaves[i][j];
            if (from->octaves[i] && !octave) {
                histogram_free(feat);
                return false;
            }
        }
        feat->values += from->values;
        feat->zeros += from->zeros;
        feat->not_finite += from->not_finite;
        feat->largest = fmaxf(feat->largest, from->largest);
    }
    return true;
}
