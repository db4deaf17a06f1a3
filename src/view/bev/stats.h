/* SPDX-License-Identifier: MIT */
/* Numbers about many values: a place in their sorted order, and their principal components. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the value that would stand at [n], 0 <= n < count, if `values` were sorted in ascending
 * order. Changes the order of the values: Hoare's FIND (CACM 4/7, 1961), linear time on average. */
float nth_smallest(float *values, size_t count, size_t n);

/* Returns the L2 norm. */
double vector_norm(const float *vector, int64_t count);

/* ---- principal components: three numbers that say most about a vector ----------------------- */

enum {
    PCA_COMPONENTS = 3,
    PCA_SAMPLES = 2048 /* more vectors than this do not change a picture */
};

typedef struct {
    int64_t channels;
    double *mean;                     /* (c), and the memory of all */
    double *axes;                     /* (PCA_COMPONENTS, c), unit length; the largest entry of
                                         each is positive. 0 where the data has fewer dimensions */
    double explained[PCA_COMPONENTS]; /* share of the variance; NaN without any variance */
    double sigma[PCA_COMPONENTS];     /* standard deviation along the axis */
} Pca;

/* Fits the components of `count` finite vectors (count, c). The same input gives the same result.
 * Free with pca_free. */
bool pca_fit(const float *vectors, int64_t count, int64_t channels, Pca *pca, Err *err);
void pca_free(Pca *pca);

/* Computes the coordinates of a vector, divided by `length`, in standard deviations; 0 along an
 * axis without variance. */
void pca_project(const Pca *pca, const float *vector, double length,
                 double coordinates[PCA_COMPONENTS]);
