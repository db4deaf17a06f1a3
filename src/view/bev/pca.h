/* Principal components of pooled features: three numbers that say most about a vector. */
#ifndef BEV_PCA_H
#define BEV_PCA_H

#include "kernels/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PCA_COMPONENTS = 3,
    PCA_SAMPLES = 2048 /* more vectors than this do not change a picture: take every n-th */
};

typedef struct {
    int64_t channels;
    double *mean;                     /* (c) */
    double *axes;                     /* (PCA_COMPONENTS, c), unit length; the largest entry of
                                         each is positive. 0 where the data has fewer dimensions */
    double explained[PCA_COMPONENTS]; /* share of the variance; NaN without any variance */
    double sigma[PCA_COMPONENTS];     /* standard deviation along the axis */
} Pca;

/* Of `count` finite vectors (count, c). Deterministic. */
bool pca_fit(const float *vectors, int64_t count, int64_t channels, Pca *pca, Err *err);
void pca_free(Pca *pca);

/* Coordinates of one vector, in standard deviations (0 along an axis without variance). */
void pca_project(const Pca *pca, const float *vector, double coordinates[PCA_COMPONENTS]);

#endif
