/* SPDX-License-Identifier: MIT */
#include "src/view/bev/stats.h"

#include "kernels/threads.h"
#include "kernels/vector.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

float nth_smallest(float *values, size_t count, size_t n) {
    assert(n < count);
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, wanted = (ptrdiff_t)n;
    while (low < high) {
        float pivot = values[wanted];
        ptrdiff_t i = low, j = high;
        do { /* then left of i nothing is larger than the pivot, right of j nothing smaller */
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j) {
                float keep = values[i];
                values[i++] = values[j];
                values[j--] = keep;
            }
        } while (i <= j);
        if (j < wanted)
            low = i;
        if (wanted < i)
            high = j;
    }
    return values[wanted];
}

double vector_norm(const float *vector, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)vector[i] * vector[i];
    return sqrt(sum);
}

/* ---- principal components ------------------------------------------------------------------- */

enum { PCA_STEPS = 300 };

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Computes row `r` of the upper triangle: sums over the samples, in their order. */
CPU_CLONES
static void covariance_row(const float *vectors, int64_t count, int64_t channels,
                           const double *mean, int64_t r, double *row) {
    for (int64_t i = 0; i < count; i++) {
        const float *vector = vectors + i * channels;
        double centred = vector[r] - mean[r];
        CPU_SIMD
        for (int64_t c = r; c < channels; c++)
            row[c] += centred * (vector[c] - mean[c]);
    }
}

static void covariance_of(const float *vectors, int64_t count, int64_t channels, const double *mean,
                          double *covariance) {
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1)
    for (int64_t r = 0; r < channels; r++)
        covariance_row(vectors, count, channels, mean, r, covariance + r * channels);
    for (int64_t r = 0; r < channels; r++)
        for (int64_t c = r; c < channels; c++) {
            covariance[r * channels + c] /= (double)(count ? count : 1);
            covariance[c * channels + r] = covariance[r * channels + c];
        }
}

static double normalise(double *v, int64_t n) {
    double length = sqrt(dot(v, v, n));
    for (int64_t i = 0; length > 0 && i < n; i++)
        v[i] /= length;
    return length;
}

/* Makes `v` orthogonal to the first `found` axes. */
static void orthogonalise(double *v, const double *axes, int found, int64_t n) {
    for (int k = 0; k < found; k++) {
        double along = dot(v, axes + k * n, n);
        for (int64_t i = 0; i < n; i++)
            v[i] -= along * axes[k * n + i];
    }
}

/* Computes product = symmetric * v column by column, so that the compiler can vectorise the sums.
 */
CPU_CLONES
static void multiply(const double *symmetric, const double *v, int64_t n, double *product) {
    memset(product, 0, (size_t)n * sizeof *product);
    for (int64_t c = 0; c < n; c++) {
        const double *column = symmetric + c * n;
        CPU_SIMD
        for (int64_t r = 0; r < n; r++)
            product[r] += column[r] * v[c];
    }
}

/* Finds, by power iteration, the direction of largest variance that is orthogonal to the `found`
 * axes. Returns the variance along this direction; 0: no variance is left. */
static double leading_axis(const double *covariance, const double *axes, int found, int64_t n,
                           double *axis, double *next) {
    for (int64_t i = 0; i < n; i++)
        axis[i] = 1 + 0.5 * sin(1.0 + (double)i); /* a start that is orthogonal to no likely axis */
    orthogonalise(axis, axes, found, n);
    if (normalise(axis, n) == 0)
        return 0;
    double variance = 0;
    for (int step = 0; step < PCA_STEPS; step++) {
        multiply(covariance, axis, n, next);
        orthogonalise(next, axes, found, n);
        variance = normalise(next, n);
        if (variance == 0)
            return 0;
        double moved = fabs(1 - dot(next, axis, n));
        memcpy(axis, next, (size_t)n * sizeof *axis);
        if (moved < 1e-15)
            break;
    }
    return variance;
}

/* Finds the axes one after the other. An axis without variance is all zeros. */
static void find_axes(Pca *pca, const double *covariance, double *scratch) {
    int64_t n = pca->channels;
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += covariance[i * n + i];
    for (int k = 0; k < PCA_COMPONENTS; k++) {
        double *axis = pca->axes + k * n;
        double variance = leading_axis(covariance, pca->axes, k, n, axis, scratch);
        if (variance <= 1e-14 * total) {
            memset(axis, 0, (size_t)n * sizeof *axis);
            variance = 0;
        }
        int64_t largest = 0; /* this entry becomes positive: an axis has no sign of its own */
        for (int64_t i = 1; i < n; i++)
            if (fabs(axis[i]) > fabs(axis[largest]))
                largest = i;
        const double sign = axis[largest] < 0 ? -1 : 1;
        for (int64_t i = 0; i < n; i++)
            axis[i] *= sign;
        pca->sigma[k] = sqrt(variance);
        pca->explained[k] = total > 0 ? variance / total : NAN;
    }
}

bool pca_fit(const float *vectors, int64_t count, int64_t channels, Pca *pca, Err *err) {
    const size_t n = (size_t)channels;
    *pca = (Pca){.channels = channels};
    pca->mean = calloc((1 + PCA_COMPONENTS + 1 + n) * n, sizeof *pca->mean);
    if (!pca->mean)
        return err_set(err, ERR_FAILED, "PCA", "", "no memory for %lld channels",
                       (long long)channels);
    pca->axes = pca->mean + n;
    double *scratch = pca->axes + PCA_COMPONENTS * n, *covariance = scratch + n;
    for (int64_t i = 0; i < count * channels; i++)
        pca->mean[i % channels] += vectors[i];
    for (int64_t c = 0; c < channels; c++)
        pca->mean[c] /= (double)(count ? count : 1);
    covariance_of(vectors, count, channels, pca->mean, covariance);
    find_axes(pca, covariance, scratch);
    return true;
}

void pca_free(Pca *pca) {
    if (!pca)
        return;
    free(pca->mean);
    *pca = (Pca){0};
}

void pca_project(const Pca *pca, const float *vector, double length,
                 double coordinates[PCA_COMPONENTS]) {
    double along[PCA_COMPONENTS] = {0};
    for (int64_t c = 0; c < pca->channels; c++) {
        double centred = (float)(vector[c] / length) - pca->mean[c];
        for (int k = 0; k < PCA_COMPONENTS; k++)
            along[k] += centred * pca->axes[k * pca->channels + c];
    }
    for (int k = 0; k < PCA_COMPONENTS; k++)
        coordinates[k] = pca->sigma[k] > 0 ? along[k] / pca->sigma[k] : 0;
}
